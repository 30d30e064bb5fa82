#include "train/fact_scores.h"

#include <string.h>

#include "core/mem.h"
#include "nn/kernels.h"

enum { PIECES = 8, MOST_ADDERS = 4, ROWS_DEALT = 16, FACTS_A_TICK = 1024 };

kith_status kith__fact_scores_init(kith__fact_scores *s, const kith__scoring *scoring,
                                   kith_error *error)
{
    s->scoring = scoring;
    s->encodings.scoring = s->inputs.scoring = s->relations.scoring = scoring;
    s->relation_slot = kith__calloc(kith__rel(scoring->params)->rows, sizeof *s->relation_slot);
    return s->relation_slot ? KITH_OK : kith__no_memory(error);
}

void kith__fact_scores_release(kith__fact_scores *s)
{
    kith__scaled_rows_release(&s->encodings);
    kith__scaled_rows_release(&s->inputs);
    kith__scaled_rows_release(&s->relations);
    kith__free(s->relation);
    kith__free(s->relation_slot);
    kith__free(s->request);
    kith__free(s->out.at);
    kith__free(s->in.at);
    kith__free(s->by_out.at);
    kith__free(s->by_in.at);
    kith__free(s->scratch.at);
}

static size_t facts_of(const kith__fact_scores *s)
{
    return s->batch->count * (1 + s->batch->per);
}

static kith_triple fact_at(const kith__fact_scores *s, size_t f)
{
    const kith__batch *b = s->batch;
    return f < b->count ? b->positive[f] : b->negative[f - b->count];
}

/* ---- encodings ---- */

/* The side that a false fact shares with its true one is encoded once for both, so if the true fact
 * is masked in the neighbourhoods of its ends, it is masked for the false one too. */
static void request_fact(kith__fact_scores *s, size_t f)
{
    const kith__batch *b = s->batch;
    uint32_t m = (uint32_t)kith__trans(s->scoring->params)->rows / 2;
    kith_triple t = fact_at(s, f), p = f < b->count ? t : b->positive[(f - b->count) / b->per];
    kith_neighbor from_subject = {p.relation, p.object}, from_object = {p.relation + m, p.subject};
    bool mask = s->scoring->settings->mask;

    s->request[2 * f] =
        kith__encoder_request(s->scoring->encoder, t.subject, t.relation,
                              mask && t.subject == p.subject ? &from_subject : NULL);
    s->request[2 * f + 1] =
        kith__encoder_request(s->scoring->encoder, t.object, t.relation + m,
                              mask && t.object == p.object ? &from_object : NULL);
}

static void forget_relations(kith__fact_scores *s)
{
    for (size_t k = 0; k < s->relations.count; k++)
        s->relation_slot[s->relation[k]] = 0;
    s->relations.count = 0;
}

static kith_status request(void *self, const kith__batch *batch, kith_error *error)
{
    kith__fact_scores *s = self;

    s->batch = batch;
    forget_relations(s);
    size_t facts = facts_of(s);
    if (kith__renew(&s->request, &s->request_capacity, 2 * facts, sizeof *s->request) ||
        kith__renew(&s->relation, &s->relation_capacity, facts, sizeof *s->relation) ||
        kith__floats_reserve(&s->out, facts) || kith__floats_reserve(&s->in, facts) ||
        kith__floats_reserve(&s->by_out, facts) || kith__floats_reserve(&s->by_in, facts) ||
        kith__floats_reserve(&s->scratch, MOST_ADDERS * 3 * s->scoring->ds))
        return kith__no_memory(error);
    for (size_t f = 0; f < facts; f++)
        request_fact(s, f);
    return KITH_OK;
}

static size_t encoding_of(const kith__fact_scores *s, size_t f, int side)
{
    return kith__encoder_find(s->scoring->encoder, s->request[2 * f + (size_t)side]);
}

/* ---- vectors ---- */

/* The distinct relations of the batch. */
static void find_relations(kith__fact_scores *s)
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

static void scale_piece(void *self, size_t piece)
{
    kith__fact_scores *s = self;
    const kith__encoder *e = s->scoring->encoder;
    const kith__table *ent = kith__ent(s->scoring->params), *rel = kith__rel(s->scoring->params);
    bool subtask = s->scoring->settings->subtask;
    size_t count = s->encodings.count, relations = s->relations.count;

    for (size_t i = count * piece / PIECES; i < count * (piece + 1) / PIECES; i++) {
        if (subtask && i + 6 < count)
            kith__fetch_row(kith__row(ent, kith__encoder_entity(e, i + 6)), s->scoring->ds);
        kith__scaled_row_set(&s->encodings, i, kith__encoder_vector(e, i));
        if (subtask)
            kith__scaled_row_set(&s->inputs, i, kith__row(ent, kith__encoder_entity(e, i)));
    }
    for (size_t k = relations * piece / PIECES; k < relations * (piece + 1) / PIECES; k++)
        kith__scaled_row_set(&s->relations, k, kith__row(rel, s->relation[k]));
}

static kith_status prepare(void *self, kith_error *error)
{
    kith__fact_scores *s = self;
    size_t count = kith__encoder_count(s->scoring->encoder);

    find_relations(s);
    if (kith__scaled_rows_reserve(&s->relations, s->relations.count) ||
        kith__scaled_rows_reserve(&s->encodings, count) ||
        (s->scoring->settings->subtask && kith__scaled_rows_reserve(&s->inputs, count)))
        return kith__no_memory(error);
    kith__pool_run(kith__encoder_pool(s->scoring->encoder), scale_piece, s, PIECES);
    return KITH_OK;
}

/* ---- scores and their loss ---- */

/* One pass over the facts. */
typedef struct {
    kith__fact_scores *scores;
    kith__scaled_rows *ends; /* encodings or inputs */
    /* per fact: its score; the derivative of the loss with respect to it */
    float *score, *by;
    size_t adders;
} pass;

static pass pass_of(kith__fact_scores *s, kith__pass which)
{
    if (which == KITH__BY_INPUTS)
        return (pass){s, &s->inputs, s->in.at, s->by_in.at, 0};
    return (pass){s, &s->encodings, s->out.at, s->by_out.at, 0};
}

/* A fact's rows: subject, relation, object. */
typedef struct {
    size_t row[3];
} places;

static places places_of(const kith__fact_scores *s, size_t f)
{
    size_t relation = s->relation_slot[fact_at(s, f).relation] - 1;
    return (places){{encoding_of(s, f, 0), relation, encoding_of(s, f, 1)}};
}

static void score_piece(void *context, size_t piece)
{
    const pass *p = context;
    const kith__fact_scores *s = p->scores;
    size_t facts = facts_of(s);

    for (size_t f = facts * piece / PIECES; f < facts * (piece + 1) / PIECES; f++) {
        places at = places_of(s, f);
        if (f % FACTS_A_TICK == 0 && kith__encoder_tick(s->scoring->encoder))
            return;
        p->score[f] = s->scoring->decoder->score(kith__scaled_row(p->ends, at.row[0]),
                                                 kith__scaled_row(&s->relations, at.row[1]),
                                                 kith__scaled_row(p->ends, at.row[2]),
                                                 s->scoring->d);
    }
}

static double run(void *self, kith__pass which)
{
    kith__fact_scores *s = self;
    pass p = pass_of(s, which);
    size_t count = s->batch->count, per = s->batch->per;
    double sum = 0;

    kith__pool_run(kith__encoder_pool(s->scoring->encoder), score_piece, &p, PIECES);
    memcpy(p.by, p.score, facts_of(s) * sizeof *p.by);
    for (size_t i = 0; i < count; i++)
        sum += s->scoring->loss->run(&(kith__scores){.positive = p.by + i,
                                                     .negative = p.by + count + i * per,
                                                     .count = per,
                                                     .groups = count,
                                                     .settings = s->scoring->settings,
                                                     .factor = 1});
    return sum / (double)count;
}

/* ---- gradients ---- */

/* Rows are assigned to the threads a few at a time, so that each row belongs to one thread, which
 * processes the facts in order: sums do not depend on the number of threads. */
static bool owns(const pass *p, size_t piece, size_t row)
{
    return row / ROWS_DEALT % p->adders == piece;
}

/* Adds a fact's part of the gradients to the rows of this thread; `others` receives the rest. */
static void add_fact(const pass *p, size_t f, size_t piece, float *others)
{
    kith__fact_scores *s = p->scores;
    kith__scaled_rows *of[3] = {p->ends, &s->relations, p->ends};
    size_t ds = s->scoring->ds;
    places at = places_of(s, f);
    float *to[3];
    bool any = false;

    for (size_t k = 0; k < 3; k++) {
        bool own = owns(p, piece, at.row[k]);
        to[k] = own ? kith__scaled_row_gradient(of[k], at.row[k]) : others + k * ds;
        any |= own;
    }
    if (!any)
        return;
    /* a loop needs a scratch row, because decoders expect different rows */
    bool loop = to[0] == to[2];
    if (loop) {
        to[2] = others + 2 * ds;
        memset(to[2], 0, ds * sizeof *to[2]);
    }
    s->scoring->decoder->backward(to[0], to[1], to[2], p->by[f],
                                  kith__scaled_row(p->ends, at.row[0]),
                                  kith__scaled_row(&s->relations, at.row[1]),
                                  kith__scaled_row(p->ends, at.row[2]), s->scoring->d);
    if (loop)
        kith__axpy(to[0], 1, to[2], ds);
}

static void add_piece(void *context, size_t piece)
{
    const pass *p = context;
    size_t facts = facts_of(p->scores), ds = p->scores->scoring->ds;
    float *others = p->scores->scratch.at + piece * 3 * ds;

    memset(others, 0, 3 * ds * sizeof *others);
    for (size_t f = 0; f < facts; f++) {
        if (f % FACTS_A_TICK == 0 && kith__encoder_tick(p->scores->scoring->encoder))
            return;
        if (p->by[f] != 0)
            add_fact(p, f, piece, others);
    }
}

/* From the derivatives with respect to scores to the gradients of rows. */
static pass derive(kith__fact_scores *s, kith__pass which)
{
    kith__pool *pool = kith__encoder_pool(s->scoring->encoder);
    pass p = pass_of(s, which);

    p.adders = kith__pool_size(pool) < MOST_ADDERS ? kith__pool_size(pool) : MOST_ADDERS;
    kith__pool_run(pool, add_piece, &p, p.adders);
    return p;
}

static void encoding_piece(void *self, size_t piece)
{
    const kith__fact_scores *s = self;
    size_t count = s->encodings.count;

    for (size_t i = count * piece / PIECES; i < count * (piece + 1) / PIECES; i++)
        if (s->encodings.touched[i])
            kith__scaled_row_backward(kith__encoder_grad(s->scoring->encoder, i), &s->encodings, i);
}

static void to_encodings(void *self, kith__gradients *gradients)
{
    kith__fact_scores *s = self;

    (void)gradients;
    derive(s, KITH__BY_ENCODINGS);
    kith__pool_run(kith__encoder_pool(s->scoring->encoder), encoding_piece, s, PIECES);
}

typedef struct {
    pass pass;
    kith__gradients *gradients;
} closing;

/* Encodings of the same entity all belong to one thread. */
static void input_piece(void *context, size_t piece)
{
    const closing *c = context;
    const kith__fact_scores *s = c->pass.scores;

    for (size_t i = 0; i < s->inputs.count; i++) {
        uint32_t entity = kith__encoder_entity(s->scoring->encoder, i);
        if (s->inputs.touched[i] && owns(&c->pass, piece, entity))
            kith__scaled_row_backward(kith__gradient_of(c->gradients, entity), &s->inputs, i);
    }
}

static int close_inputs(kith__fact_scores *s, kith__gradients *gradients)
{
    const kith__encoder *e = s->scoring->encoder;
    closing c = {derive(s, KITH__BY_INPUTS), gradients};

    for (size_t i = 0; i < s->inputs.count; i++)
        if (s->inputs.touched[i] && kith__gradient_make(gradients, kith__encoder_entity(e, i)))
            return -1;
    kith__pool_run(kith__encoder_pool(e), input_piece, &c, c.pass.adders);
    return 0;
}

static kith_status to_inputs(void *self, kith__gradients *gradients, kith_error *error)
{
    kith__fact_scores *s = self;

    if (s->scoring->settings->subtask && close_inputs(s, gradients))
        return kith__no_memory(error);
    for (size_t k = 0; k < s->relations.count; k++)
        if (s->relations.touched[k])
            kith__scaled_row_backward(
                kith__gradient_row(gradients, kith__rel(&gradients->dense), s->relation[k]),
                &s->relations, k);
    return KITH_OK;
}

const kith__scorer kith__fact_scorer = {request, prepare, run, to_encodings, to_inputs};
