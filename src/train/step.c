#include "train/step.h"

#include <string.h>

#include "core/mem.h"
#include "embed/query_vector.h"
#include "nn/kernels.h"

enum { PIECES = 8, MOST_ADDERS = 4, ROWS_DEALT = 16 };

kith_status kith__step_init(kith__step *s, kith__encoder *encoder, const kith__params *params,
                            const kith_settings *settings, kith_error *error)
{
    memset(s, 0, sizeof *s);
    s->encoder = encoder;
    s->settings = settings;
    s->params = params;
    s->d = settings->dim;
    s->ds = kith__encoder_stride(encoder);
    kith__softmax_init(&s->softmax, encoder, params, settings);
    s->relation_slot = kith__calloc(kith__rel(params)->rows, sizeof *s->relation_slot);
    if (!s->relation_slot)
        return kith__no_memory(error);
    return kith__gradients_init(&s->gradients, params, error);
}

static void release_scaled(kith__scaled *v)
{
    kith__free(v->row.at);
    kith__free(v->inverse.at);
    kith__free(v->gradient.at);
    kith__free(v->touched);
}

void kith__step_release(kith__step *s)
{
    kith__gradients_release(&s->gradients);
    kith__softmax_release(&s->softmax);
    release_scaled(&s->encodings);
    release_scaled(&s->inputs);
    release_scaled(&s->relations);
    kith__free(s->relation);
    kith__free(s->relation_slot);
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

/* ---- encodings ---- */

/* The side that a false fact shares with its true one is encoded for both at once, so where the
 * true fact is hidden from its ends it is hidden there too. */
static void request_fact(kith__step *s, size_t f)
{
    uint32_t m = (uint32_t)kith__trans(s->params)->rows / 2;
    kith_triple t = fact_at(s, f), p = f < s->count ? t : s->positive[(f - s->count) / s->per];
    kith_neighbor from_subject = {p.relation, p.object}, from_object = {p.relation + m, p.subject};
    bool mask = s->settings->mask;

    s->request[2 * f] = kith__encoder_request(
        s->encoder, t.subject, t.relation, mask && t.subject == p.subject ? &from_subject : NULL);
    s->request[2 * f + 1] = kith__encoder_request(
        s->encoder, t.object, t.relation + m, mask && t.object == p.object ? &from_object : NULL);
}

static kith_status encode(kith__step *s, kith_error *error)
{
    size_t facts = facts_of(s);

    if (kith__renew(&s->request, &s->request_capacity, 2 * facts, sizeof *s->request) ||
        kith__renew(&s->out.at, &s->out.capacity, facts, sizeof(float)) ||
        kith__renew(&s->in.at, &s->in.capacity, facts, sizeof(float)) ||
        kith__renew(&s->by_out.at, &s->by_out.capacity, facts, sizeof(float)) ||
        kith__renew(&s->by_in.at, &s->by_in.capacity, facts, sizeof(float)) ||
        kith__renew(&s->relation, &s->relation_capacity, facts, sizeof *s->relation) ||
        kith__renew(&s->scratch.at, &s->scratch.capacity, MOST_ADDERS * 3 * s->ds,
                    sizeof(float)))
        return kith__no_memory(error);
    kith__encoder_begin(s->encoder);
    kith__encoder_keep(s->encoder);
    for (size_t f = 0; f < facts; f++)
        request_fact(s, f);
    return kith__encoder_forward(s->encoder, error);
}

static size_t encoding_of(const kith__step *s, size_t f, int side)
{
    return kith__encoder_find(s->encoder, s->request[2 * f + (size_t)side]);
}

/* ---- vectors ---- */

static int room_for(kith__scaled *v, size_t count, size_t width)
{
    v->count = count;
    if (kith__renew(&v->row.at, &v->row.capacity, count * width, sizeof(float)) ||
        kith__renew(&v->gradient.at, &v->gradient.capacity, count * width, sizeof(float)) ||
        kith__renew(&v->inverse.at, &v->inverse.capacity, count, sizeof(float)) ||
        kith__renew(&v->touched, &v->touched_capacity, count, 1))
        return -1;
    memset(v->touched, 0, count);
    return 0;
}

/* The relations of the batch, each once. */
static void find_relations(kith__step *s)
{
    size_t count = 0;

    for (size_t f = 0; f < facts_of(s); f++) {
        uint32_t relation = fact_at(s, f).relation;
        if (s->relation_slot[relation] == 0) {
            s->relation[count++] = relation;
            s->relation_slot[relation] = (uint32_t)count;
        }
    }
    s->relations.count = count;
}

static void forget_relations(kith__step *s)
{
    for (size_t k = 0; k < s->relations.count; k++)
        s->relation_slot[s->relation[k]] = 0;
}

static void scale_row(const kith__step *s, kith__scaled *v, size_t i, const float *from)
{
    float *to = v->row.at + i * s->ds;

    if (kith__is_unit(s->settings))
        v->inverse.at[i] = kith__normalize(to, from, s->d);
    else
        memcpy(to, from, s->ds * sizeof *to);
}

static void scale_piece(void *context, size_t piece)
{
    kith__step *s = context;
    const kith__encoder *e = s->encoder;

    for (size_t i = s->encodings.count * piece / PIECES; i < s->encodings.count * (piece + 1) / PIECES; i++) {
        if (s->settings->subtask && i + 6 < s->encodings.count)
            kith__fetch_row(kith__row(kith__ent(s->params), kith__encoder_entity(e, i + 6)), s->ds);
        scale_row(s, &s->encodings, i, kith__encoder_vector(e, i));
        if (s->settings->subtask)
            scale_row(s, &s->inputs, i, kith__row(kith__ent(s->params), kith__encoder_entity(e, i)));
    }
    size_t count = s->relations.count;
    for (size_t k = count * piece / PIECES; k < count * (piece + 1) / PIECES; k++)
        scale_row(s, &s->relations, k, kith__row(kith__rel(s->params), s->relation[k]));
}

static int make_vectors(kith__step *s)
{
    size_t count = kith__encoder_count(s->encoder), width = s->ds;

    find_relations(s);
    if (room_for(&s->relations, s->relations.count, width) ||
        room_for(&s->encodings, count, width) ||
        (s->settings->subtask && room_for(&s->inputs, count, width)))
        return -1;
    kith__pool_run(kith__encoder_pool(s->encoder), scale_piece, s, PIECES);
    return 0;
}

/* ---- scores ---- */

/* A fact's rows: subject, relation, object. */
typedef struct {
    size_t row[3];
} places;

static places places_of(const kith__step *s, size_t f)
{
    size_t relation = s->relation_slot[fact_at(s, f).relation] - 1;
    return (places){{encoding_of(s, f, 0), relation, encoding_of(s, f, 1)}};
}

static float score_of(const kith__step *s, const kith__scaled *ends, places at)
{
    size_t ds = s->ds;
    return kith__decoder_get(s->settings->decoder)
        ->score(ends->row.at + at.row[0] * ds, s->relations.row.at + at.row[1] * ds,
                ends->row.at + at.row[2] * ds, s->d);
}

static void score_piece(void *context, size_t piece)
{
    kith__step *s = context;
    size_t facts = facts_of(s);

    for (size_t f = facts * piece / PIECES; f < facts * (piece + 1) / PIECES; f++) {
        places at = places_of(s, f);
        s->out.at[f] = score_of(s, &s->encodings, at);
        if (s->settings->subtask)
            s->in.at[f] = score_of(s, &s->inputs, at);
    }
}

/* ---- gradients ---- */

typedef struct {
    kith__step *step;
    kith__scaled *ends; /* encodings or inputs */
    const float *by;    /* the loss's derivative by the score, per fact */
    size_t adders;
} deriving;

/* Rows are dealt out to the threads a few at a time, so that each row belongs to one of them, which
 * meets the facts in their order: sums do not depend on how many threads there are. */
static bool owns(const deriving *c, size_t piece, size_t row)
{
    return row / ROWS_DEALT % c->adders == piece;
}

static float *gradient_row(const kith__step *s, kith__scaled *v, size_t row)
{
    float *at = v->gradient.at + row * s->ds;

    if (!v->touched[row])
        memset(at, 0, s->ds * sizeof *at);
    v->touched[row] = 1;
    return at;
}

/* What a fact's score adds to the gradients of those rows that are this thread's; `others` takes the
 * rest. */
static void add_fact(const deriving *c, size_t f, size_t piece, float *others)
{
    kith__step *s = c->step;
    kith__scaled *of[3] = {c->ends, &s->relations, c->ends};
    size_t ds = s->ds;
    places at = places_of(s, f);
    float *to[3];
    bool any = false;

    for (size_t k = 0; k < 3; k++) {
        bool own = owns(c, piece, at.row[k]);
        to[k] = own ? gradient_row(s, of[k], at.row[k]) : others + k * ds;
        any |= own;
    }
    if (!any)
        return;
    bool loop = to[0] == to[2]; /* decoders take them for different rows */
    if (loop) {
        to[2] = others + 2 * ds;
        memset(to[2], 0, ds * sizeof *to[2]);
    }
    kith__decoder_get(s->settings->decoder)
        ->backward(to[0], to[1], to[2], c->by[f], c->ends->row.at + at.row[0] * ds,
                   s->relations.row.at + at.row[1] * ds, c->ends->row.at + at.row[2] * ds,
                   s->d);
    if (loop)
        kith__axpy(to[0], 1, to[2], ds);
}

static void add_piece(void *context, size_t piece)
{
    const deriving *c = context;
    size_t facts = facts_of(c->step), ds = c->step->ds;
    float *others = c->step->scratch.at + piece * 3 * ds;

    memset(others, 0, 3 * ds * sizeof *others);
    for (size_t f = 0; f < facts; f++)
        if (c->by[f] != 0)
            add_fact(c, f, piece, others);
}

/* to += the gradient by a row as it is, from that by the row as scores take it. */
static void unscale(const kith__step *s, float *to, const kith__scaled *v, size_t row)
{
    size_t ds = s->ds;
    const float *gradient = v->gradient.at + row * ds;

    if (kith__is_unit(s->settings))
        kith__normalize_backward(to, gradient, v->row.at + row * ds, v->inverse.at[row],
                                 s->d);
    else
        kith__axpy(to, 1, gradient, ds);
}

static void unscale_encodings(void *context, size_t piece)
{
    const kith__step *s = context;
    size_t count = s->encodings.count;

    for (size_t i = count * piece / PIECES; i < count * (piece + 1) / PIECES; i++)
        if (s->encodings.touched[i])
            unscale(s, kith__encoder_grad(s->encoder, i), &s->encodings, i);
}

/* From the derivatives by scores to the gradients by rows. */
static deriving derive(kith__step *s, kith__scaled *ends, const float *by)
{
    deriving c = {s, ends, by, kith__pool_size(kith__encoder_pool(s->encoder))};

    c.adders = c.adders < MOST_ADDERS ? c.adders : MOST_ADDERS;
    kith__pool_run(kith__encoder_pool(s->encoder), add_piece, &c, c.adders);
    return c;
}

static void scatter_out(kith__step *s)
{
    derive(s, &s->encodings, s->by_out.at);
    kith__pool_run(kith__encoder_pool(s->encoder), unscale_encodings, s, PIECES);
}

/* Of encodings with the same entity, each thread takes all or none. */
static void unscale_inputs(void *context, size_t piece)
{
    const deriving *c = context;
    const kith__step *s = c->step;

    for (size_t i = 0; i < s->inputs.count; i++)
        if (s->inputs.touched[i] && owns(c, piece, kith__encoder_entity(s->encoder, i)))
            unscale(s, kith__gradient_of(&s->gradients, kith__encoder_entity(s->encoder, i)), &s->inputs, i);
}

static int scatter_in(kith__step *s)
{
    deriving c = derive(s, &s->inputs, s->by_in.at);

    for (size_t i = 0; i < s->inputs.count; i++)
        if (s->inputs.touched[i] && kith__gradient_make(&s->gradients, kith__encoder_entity(s->encoder, i)))
            return -1;
    kith__pool_run(kith__encoder_pool(s->encoder), unscale_inputs, &c, c.adders);
    return 0;
}

static void scatter_relations(kith__step *s)
{
    for (size_t k = 0; k < s->relations.count; k++)
        if (s->relations.touched[k])
            unscale(s, kith__gradient_row(&s->gradients, kith__rel(&s->gradients.dense),
                                          s->relation[k]),
                    &s->relations, k);
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
    s->relations.count = 0;
    TRY(encode(s, error));
    if (make_vectors(s))
        TRY(kith__no_memory(error));
    kith__pool_run(kith__encoder_pool(s->encoder), score_piece, s, PIECES);
    s->loss_out = loss(s->by_out.at, s->by_out.at + count, s->out.at, s->out.at + count, count, per,
                       s->settings->margin);
    scatter_out(s);
    TRY(kith__encoder_backward(s->encoder, &s->gradients, error));
    s->loss_in = 0;
    if (s->settings->subtask) {
        s->loss_in = loss(s->by_in.at, s->by_in.at + count, s->in.at, s->in.at + count, count, per,
                          s->settings->margin);
        if (scatter_in(s))
            TRY(kith__no_memory(error));
    }
    scatter_relations(s);
    add_penalty(s);
cleanup:
    forget_relations(s);
    return status;
}

kith_status kith__step_ask(kith__step *s, const kith__softmax_query *asked, size_t count,
                           const kith__softmax_negatives *negatives, kith_error *error)
{
    kith_status status =
        kith__softmax_run(&s->softmax, &s->gradients, asked, count, negatives, error);

    s->loss_out = s->softmax.loss_out;
    s->loss_in = s->softmax.loss_in;
    if (status == KITH_OK)
        add_penalty(s);
    return status;
}
