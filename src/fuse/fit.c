#include "fuse/fit.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "fuse/linear.h"
#include "graph/known.h"

/* A query brings its BEST candidates, and OTHERS drawn from the rest, which stand for all of it. */
enum { BEST = 100, OTHERS = 24, MOST_ROWS = BEST + OTHERS + 1, FOLDS = 5, CALIBRATED = 10 };
_Static_assert((int)MOST_ROWS <= (int)KITH__MOST_ROWS, "a query's rows must fit");

/* Per query. Weights that are held back much do better on entities that are unlike those fitted on;
 * chosen on graphs held out from train within held-out graphs. */
static const double ridge = .25;

typedef struct {
    kith_model *model;
    const kith__evidence *evidence;
    bool embedding;
    kith__query *queries;
    size_t count, candidates;
    kith__known known[2];
    /* Room for MOST_ROWS of each query, and how many it took. */
    float *feature, *offset;
    size_t *taken;
    uint32_t *right;
} collecting;

static bool is_known(const collecting *c, const kith__query *q, uint32_t candidate)
{
    return candidate != kith__hidden_side(q) &&
           kith__known_has(&c->known[q->subject_hidden], kith__known_side(q), q->fact.relation,
                           candidate);
}

static void add_row(collecting *c, size_t query, const kith__fusing *f, uint32_t candidate,
                    float offset)
{
    size_t row = query * MOST_ROWS + c->taken[query];

    if (candidate == kith__hidden_side(&c->queries[query]))
        c->right[query] = (uint32_t)c->taken[query];
    kith__case_features(c->feature + row * KITH__FEATURES_COUNT, &f->at, candidate, f->without);
    c->offset[row] = offset;
    c->taken[query]++;
}

static bool is_among(const uint32_t *list, size_t count, uint32_t candidate)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == candidate)
            return true;
    return false;
}

static void collect(void *context, size_t query, kith__fusing *f)
{
    collecting *c = context;
    const kith__query *q = &c->queries[query];
    uint32_t best[BEST], gold = kith__hidden_side(q);
    size_t listed = kith__fused_best(best, BEST, f);
    size_t rest = c->candidates - listed - f->known.count;
    float offset = logf((float)(rest + 1) / OTHERS);
    kith__rng rng;

    c->taken[query] = 0;
    for (size_t i = 0; i < listed; i++)
        if (!is_known(c, q, best[i]))
            add_row(c, query, f, best[i], 0);
    if (!is_among(best, listed, gold))
        add_row(c, query, f, gold, 0);
    kith__rng_init(&rng, c->model->settings.seed, UINT64_C(1) << 44 | query);
    for (int i = 0; rest > 2 * OTHERS && rest < c->candidates && i < OTHERS; i++) {
        uint32_t e = (uint32_t)kith__rng_below(&rng, c->candidates);
        if (e != gold && !is_among(best, listed, e) && !is_known(c, q, e))
            add_row(c, query, f, e, offset);
    }
}

/* ---- rows ---- */

static uint8_t is_aside(const kith__query *q)
{
    uint64_t hash = (kith__known_side(q) + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash >> 40) % FOLDS == 0;
}

static void rows_release(kith__rows *r)
{
    kith__free(r->first);
    kith__free(r->right);
    kith__free(r->feature);
    kith__free(r->offset);
    kith__free(r->aside);
    memset(r, 0, sizeof *r);
}

/* All queries' rows, one after the other. */
static int gather_rows(kith__rows *r, const collecting *c)
{
    size_t total = 0;

    memset(r, 0, sizeof *r);
    for (size_t q = 0; q < c->count; q++)
        total += c->taken[q];
    r->first = kith__calloc(c->count + 1, sizeof *r->first);
    r->right = kith__alloc(c->count, sizeof *r->right);
    r->aside = kith__alloc(c->count, 1);
    r->feature = kith__alloc(total * KITH__FEATURES_COUNT, sizeof *r->feature);
    r->offset = kith__alloc(total, sizeof *r->offset);
    if (!r->first || !r->right || !r->aside || !r->feature || !r->offset)
        return -1;
    for (size_t q = 0; q < c->count; q++) {
        memcpy(r->feature + r->rows * KITH__FEATURES_COUNT,
               c->feature + q * MOST_ROWS * KITH__FEATURES_COUNT,
               c->taken[q] * KITH__FEATURES_COUNT * sizeof *r->feature);
        memcpy(r->offset + r->rows, c->offset + q * MOST_ROWS, c->taken[q] * sizeof *r->offset);
        r->right[r->queries] = (uint32_t)r->rows + c->right[q];
        r->aside[r->queries++] = is_aside(&c->queries[q]);
        r->first[r->queries] = r->rows += c->taken[q];
    }
    return 0;
}

static kith_status collect_rows(kith__rows *rows, collecting *c, const kith__fusion *fusion,
                                kith_error *error)
{
    kith_status status = kith__fuse_each(c->model, fusion, c->evidence, c->queries, c->count,
                                         c->candidates, NULL, c->embedding, collect, c, error);
    if (status == KITH_OK && gather_rows(rows, c))
        status = kith__no_memory(error);
    return status;
}

/* ---- calibration ---- */

typedef struct {
    const collecting *from;
    kith__sample *samples; /* CALIBRATED per query */
    size_t *count;   /* per query */
} calibrating;

/* What the best candidates' share is, and which of them are true. */
static void take_samples(void *context, size_t query, kith__fusing *f)
{
    calibrating *c = context;
    const kith__query *q = &c->from->queries[query];
    uint32_t best[CALIBRATED];
    size_t listed = kith__fused_best(best, CALIBRATED, f);

    for (size_t i = 0; i < listed && is_aside(q); i++) {
        if (is_known(c->from, q, best[i]))
            continue;
        double share = kith__share_logit(f->scores[best[i]] - f->log_sum);
        c->samples[query * CALIBRATED + c->count[query]++] =
            (kith__sample){{share, f->at.log_known, 1}, best[i] == kith__hidden_side(q)};
    }
}

/* `fusion` must not have been fitted on the queries that are set aside. */
static kith_status calibrate(float *calibration, const collecting *from, const kith__fusion *fusion,
                             kith_error *error)
{
    calibrating c = {.from = from,
                     .samples = kith__alloc(from->count * CALIBRATED, sizeof *c.samples),
                     .count = kith__calloc(from->count, sizeof *c.count)};
    kith_status status = KITH_OK;

    if (!c.samples || !c.count)
        TRY(kith__no_memory(error));
    TRY(kith__fuse_each(from->model, fusion, from->evidence, from->queries, from->count,
                        from->candidates, NULL, from->embedding, take_samples, &c, error));
    size_t count = 0;
    for (size_t i = 0; i < from->count * CALIBRATED; i++)
        if (i % CALIBRATED < c.count[i / CALIBRATED])
            c.samples[count++] = c.samples[i];
    kith__calibration_fit(calibration, c.samples, count);
cleanup:
    kith__free(c.samples);
    kith__free(c.count);
    return status;
}

/* ---- all of it ---- */

static kith_status collecting_init(collecting *c, kith_error *error)
{
    const kith_graph *graph = c->model->graph;
    kith_facts test = kith_graph_facts(graph, KITH_TEST);
    uint32_t m = kith_graph_seen_relation_count(graph);
    kith_status status = KITH_OK;

    c->candidates = kith_graph_seen_entity_count(graph);
    c->queries = kith__alloc(test.count, sizeof *c->queries);
    for (size_t i = 0; c->queries && i < test.count; i++)
        if (test.at[i].relation < m)
            c->queries[c->count++] =
                (kith__query){test.at[i], test.at[i].object >= c->candidates};
    for (int side = 0; side < 2; side++)
        TRY(kith__known_init(&c->known[side], graph, NULL, side, error));
    c->feature = kith__alloc(c->count * MOST_ROWS * KITH__FEATURES_COUNT, sizeof *c->feature);
    c->offset = kith__alloc(c->count * MOST_ROWS, sizeof *c->offset);
    c->taken = kith__alloc(c->count, sizeof *c->taken);
    c->right = kith__alloc(c->count, sizeof *c->right);
    if (!c->queries || !c->feature || !c->offset || !c->taken || !c->right)
        TRY(kith__no_memory(error));
cleanup:
    return status;
}

static void collecting_release(collecting *c)
{
    kith__known_release(&c->known[0]);
    kith__known_release(&c->known[1]);
    kith__free(c->queries);
    kith__free(c->feature);
    kith__free(c->offset);
    kith__free(c->taken);
    kith__free(c->right);
}

/* Weights that are good enough to find the first rows by. */
static void start_weights(kith__fusion *f, bool embedding)
{
    f->weight[KITH__F_BEST_LOG] = f->alone[KITH__F_BEST_LOG] = 1;
    f->weight[KITH__F_ALL] = f->alone[KITH__F_ALL] = 1;
    f->weight[KITH__F_PRIOR] = f->alone[KITH__F_PRIOR] = .3f;
    f->weight[KITH__F_E_SCORE] = embedding ? .5f : 0;
}

/* Both sets of weights, on all queries or on those that are not set aside. The second is fitted to rows
 * without what the embedding says. */
static kith_status fit(kith__fusion *f, const collecting *c, kith__rows *rows, bool all,
                       kith_error *error)
{
    double held = ridge * (double)c->count;
    kith__rows bare = *rows;
    size_t floats = rows->rows * KITH__FEATURES_COUNT;
    kith_status status = KITH_OK;

    bare.feature = kith__alloc(floats, sizeof *bare.feature);
    if (!bare.feature)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < floats; i++) {
        bool by_embedding = kith__feature_part((int)(i % KITH__FEATURES_COUNT)) == 'E';
        bare.feature[i] = by_embedding ? 0 : rows->feature[i];
    }
    TRY(kith__linear_fit(f->weight, rows, held, all, c->model->pool, error));
    TRY(kith__linear_fit(f->alone, &bare, held, all, c->model->pool, error));
cleanup:
    kith__free(bare.feature);
    return status;
}

kith_status kith__fusion_fit(kith__fusion *out, kith_model *model, const kith__evidence *evidence,
                             bool embedding, kith_error *error)
{
    collecting c = {.model = model, .evidence = evidence, .embedding = embedding};
    kith__rows rows = {0};
    kith__fusion fusion = {0}, some = {0};
    kith_status status;

    TRY(collecting_init(&c, error));
    start_weights(&fusion, embedding);
    some = fusion;
    TRY(collect_rows(&rows, &c, &fusion, error));
    fusion.queries = (uint32_t)c.count;
    for (size_t q = 0; q < rows.queries; q++)
        fusion.set_aside += rows.aside[q];
    /* Start weights are better than none where there is nothing to fit on. */
    if (fusion.set_aside < fusion.queries)
        TRY(fit(&some, &c, &rows, false, error));
    fusion.loss = (float)kith__linear_loss(some.weight, &rows);
    TRY(calibrate(fusion.calibration, &c, &some, error));
    if (fusion.queries > 0)
        TRY(fit(&fusion, &c, &rows, true, error));
    *out = fusion;
cleanup:
    rows_release(&rows);
    collecting_release(&c);
    return status;
}
