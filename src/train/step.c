#include "train/step.h"

#include <string.h>

#include "core/mem.h"
#include "model/decoder.h"
#include "nn/kernels.h"

enum { PIECES = 8, ADDERS = 2, ROWS_DEALT = 16 };

kith_status kith__step_init(kith__step *s, kith__encoder *encoder, const kith__params *params,
                            const kith_settings *settings, kith_error *error)
{
    memset(s, 0, sizeof *s);
    s->encoder = encoder;
    s->settings = settings;
    s->params = params;
    kith__softmax_init(&s->softmax, encoder, params, settings);
    return kith__gradients_init(&s->gradients, params, error);
}

void kith__step_release(kith__step *s)
{
    kith__gradients_release(&s->gradients);
    kith__softmax_release(&s->softmax);
    kith__free(s->request);
    kith__free(s->out.at);
    kith__free(s->in.at);
    kith__free(s->by_out.at);
    kith__free(s->by_in.at);
    kith__free(s->scratch.at);
    memset(s, 0, sizeof *s);
}

double kith__step_loss(const kith__step *s)
{
    return s->loss_out + s->loss_in + s->penalty;
}

static size_t facts_of(const kith__step *s)
{
    return s->count * (1 + s->per);
}

static kith_triple fact_at(const kith__step *s, size_t f)
{
    return f < s->count ? s->positive[f] : s->negative[f - s->count];
}

static const float *row_of(const kith__step *s, int table, size_t row)
{
    return kith__row(&s->params->table[table], row);
}

/* ---- encodings ---- */

/* The side that a false fact shares with its true one is encoded for both at once, so where the
 * true fact is hidden from its ends it is hidden there too. */
static void request_fact(kith__step *s, size_t f)
{
    uint32_t m = s->encoder->lists->relations / 2;
    kith_triple t = fact_at(s, f), p = f < s->count ? t : s->positive[(f - s->count) / s->per];
    kith_neighbor from_subject = {p.relation, p.object}, from_object = {p.relation + m, p.subject};
    bool mask = s->settings->mask;

    s->request[2 * f] = kith__encoder_request(s->encoder, t.subject, t.relation,
                                              mask && t.subject == p.subject ? &from_subject : NULL);
    s->request[2 * f + 1] = kith__encoder_request(s->encoder, t.object, t.relation + m,
                                                  mask && t.object == p.object ? &from_object : NULL);
}

static kith_status encode(kith__step *s, kith_error *error)
{
    size_t facts = facts_of(s), width = s->encoder->ds;

    if (kith__renew(&s->request, &s->request_capacity, 2 * facts, sizeof *s->request) ||
        kith__renew(&s->out.at, &s->out.capacity, facts, sizeof(float)) ||
        kith__renew(&s->in.at, &s->in.capacity, facts, sizeof(float)) ||
        kith__renew(&s->by_out.at, &s->by_out.capacity, facts, sizeof(float)) ||
        kith__renew(&s->by_in.at, &s->by_in.capacity, facts, sizeof(float)) ||
        kith__renew(&s->scratch.at, &s->scratch.capacity, (PIECES * 6 + facts * 3) * width,
                    sizeof(float)))
        return kith__no_memory(error);
    kith__encoder_begin(s->encoder);
    for (size_t f = 0; f < facts; f++)
        request_fact(s, f);
    return kith__encoder_forward(s->encoder, error);
}

static size_t encoding_of(const kith__step *s, size_t f, int side)
{
    return s->encoder->encoding_of[s->request[2 * f + (size_t)side]];
}

static const float *encoded(const kith__step *s, size_t f, int side)
{
    return s->encoder->out.at + encoding_of(s, f, side) * s->encoder->ds;
}

/* ---- scores ---- */

static void score_piece(void *context, size_t piece)
{
    kith__step *s = context;
    const kith__decoder *decoder = kith__decoder_get(s->settings->decoder);
    float *scratch = s->scratch.at + piece * 6 * s->encoder->ds;
    size_t facts = facts_of(s);

    for (size_t f = facts * piece / PIECES; f < facts * (piece + 1) / PIECES; f++) {
        kith_triple t = fact_at(s, f);
        const float *q = row_of(s, 1, t.relation);
        s->out.at[f] = kith__decode(decoder, s->settings->normalize, encoded(s, f, 0), q,
                                    encoded(s, f, 1), s->encoder->d, scratch);
        if (s->settings->subtask)
            s->in.at[f] = kith__decode(decoder, s->settings->normalize, row_of(s, 0, t.subject), q,
                                       row_of(s, 0, t.object), s->encoder->d, scratch);
    }
}

/* ---- gradients ---- */

/* What a fact's score adds to the gradients of its subject, relation and object: made for all facts
 * at once, each in its own place, and then added up in their order. */
static float *part_of(const kith__step *s, size_t f)
{
    return s->scratch.at + (PIECES * 6 + f * 3) * s->encoder->ds;
}

typedef struct {
    kith__step *step;
    const float *by; /* the loss's derivative by the score, per fact */
    bool encoded;    /* scores of encoded vectors, not of input rows */
} deriving;

static void derive_piece(void *context, size_t piece)
{
    const deriving *c = context;
    const kith__step *s = c->step;
    const kith__decoder *decoder = kith__decoder_get(s->settings->decoder);
    size_t facts = facts_of(s), ds = s->encoder->ds;

    for (size_t f = facts * piece / PIECES; f < facts * (piece + 1) / PIECES; f++) {
        kith_triple t = fact_at(s, f);
        float *part = part_of(s, f);
        if (c->by[f] == 0)
            continue;
        memset(part, 0, 3 * ds * sizeof *part);
        kith__decode_backward(decoder, s->settings->normalize, part, part + ds, part + 2 * ds,
                              c->by[f], c->encoded ? encoded(s, f, 0) : row_of(s, 0, t.subject),
                              row_of(s, 1, t.relation),
                              c->encoded ? encoded(s, f, 1) : row_of(s, 0, t.object),
                              s->encoder->d, s->scratch.at + piece * 6 * ds);
    }
}

/* Rows are dealt out to the pieces a few at a time, so that each row belongs to one of them, which
 * meets the facts in their order. */
static bool owns(size_t piece, size_t row)
{
    return row / ROWS_DEALT % ADDERS == piece;
}

static void add_end(const deriving *c, size_t f, int side, size_t piece)
{
    const kith__step *s = c->step;
    kith_triple t = fact_at(s, f);
    size_t row = c->encoded ? encoding_of(s, f, side) : side ? t.object : t.subject;

    if (owns(piece, row))
        kith__axpy(c->encoded ? kith__encoder_grad(s->encoder, row)
                              : kith__gradient_of(&s->gradients, (uint32_t)row),
                   1, part_of(s, f) + 2 * (size_t)side * s->encoder->ds, s->encoder->ds);
}

static void add_piece(void *context, size_t piece)
{
    const deriving *c = context;
    kith__step *s = c->step;
    const kith__table *rel = &s->gradients.dense.table[1];
    size_t facts = facts_of(s), ds = s->encoder->ds;

    for (size_t f = 0; f < facts; f++) {
        uint32_t relation = fact_at(s, f).relation;
        if (c->by[f] == 0)
            continue;
        add_end(c, f, 0, piece);
        add_end(c, f, 1, piece);
        if (owns(piece, relation))
            kith__axpy(kith__gradient_row(&s->gradients, rel, relation), 1, part_of(s, f) + ds, ds);
    }
}

/* From the derivatives by scores to the gradients by vectors and relations. */
static void scatter(kith__step *s, const float *by, bool encoded_vectors)
{
    deriving c = {s, by, encoded_vectors};
    kith__pool_run(s->encoder->pool, derive_piece, &c, PIECES);
    kith__pool_run(s->encoder->pool, add_piece, &c, ADDERS);
}

static int scatter_in(kith__step *s)
{
    for (size_t f = 0; f < facts_of(s); f++)
        if (s->by_in.at[f] != 0 && (kith__gradient_make(&s->gradients, fact_at(s, f).subject) ||
                                    kith__gradient_make(&s->gradients, fact_at(s, f).object)))
            return -1;
    scatter(s, s->by_in.at, false);
    return 0;
}

/* l2 / 2 times the squares of the encoder's own tables. */
static void add_penalty(kith__step *s)
{
    double sum = 0;

    s->penalty = 0;
    if (s->settings->l2 == 0)
        return;
    for (size_t i = 1; i < s->params->tables; i++) {
        const kith__table *t = &s->params->table[i];
        for (size_t r = 0; t->spec->decayed && r < t->rows; r++) {
            sum += kith__dot(kith__row(t, r), kith__row(t, r), t->stride);
            kith__axpy(kith__gradient_row(&s->gradients, &s->gradients.dense.table[i], r),
                       (float)s->settings->l2, kith__row(t, r), t->stride);
        }
    }
    s->penalty = s->settings->l2 / 2 * sum;
}

kith_status kith__step_run(kith__step *s, const kith_triple *positive, const kith_triple *negative,
                           size_t count, size_t per, kith_error *error)
{
    kith__loss loss = kith__loss_get(s->settings->loss);
    kith_status status;

    s->positive = positive;
    s->negative = negative;
    s->count = count;
    s->per = per;
    TRY(encode(s, error));
    kith__pool_run(s->encoder->pool, score_piece, s, PIECES);
    s->loss_out = loss(s->by_out.at, s->by_out.at + count, s->out.at, s->out.at + count, count, per,
                       s->settings->margin);
    scatter(s, s->by_out.at, true);
    TRY(kith__encoder_backward(s->encoder, &s->gradients, error));
    s->loss_in = 0;
    if (s->settings->subtask) {
        s->loss_in = loss(s->by_in.at, s->by_in.at + count, s->in.at, s->in.at + count, count, per,
                          s->settings->margin);
        if (scatter_in(s))
            TRY(kith__no_memory(error));
    }
    add_penalty(s);
cleanup:
    return status;
}

kith_status kith__step_ask(kith__step *s, const kith__asked *asked, size_t count,
                           const kith__contrast *contrast, kith_error *error)
{
    kith_status status = kith__softmax_run(&s->softmax, &s->gradients, asked, count, contrast, error);

    s->loss_out = s->softmax.loss_out;
    s->loss_in = s->softmax.loss_in;
    if (status == KITH_OK)
        add_penalty(s);
    return status;
}
