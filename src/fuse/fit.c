#include "fuse/fit.h"

#include <math.h>
#include <string.h>
#include <stdlib.h>
#include <stdio.h>

#include "core/mem.h"
#include "core/rng.h"
#include "fuse/linear.h"
#include "graph/known.h"

/* Beside its shortlist a query brings OTHERS candidates drawn from the rest, which stand for all of
 * it. */
enum { OTHERS = 24, MOST_ROWS = KITH__SHORTLIST + KITH__SHORTLIST_KNOWN + OTHERS + 1, FOLDS = 5, CALIBRATED = 10 };

static const kith__trees_options tree_options = {
    .most = 300, .leaves = 12, .rate = .06, .ridge = 4, .least = 2};
static const double ridge = 2;

typedef struct {
    const kith_model *model;
    const kith__query *queries;
    size_t count;
    size_t candidates;
    bool others; /* take some of the rest */
    kith__known known[2];
    /* Room for MOST_ROWS of each query, and how many it took. */
    float *feature, *score;
    size_t *taken;
    uint32_t *right;
} collecting;

static bool is_known(const collecting *c, const kith__query *q, uint32_t candidate)
{
    const kith__known *k = &c->known[q->subject_hidden];
    return kith__known_has(k, kith__known_side(q), q->fact.relation, candidate);
}

static void add_row(collecting *c, size_t query, const float *feature, float score)
{
    size_t row = query * MOST_ROWS + c->taken[query]++;

    memcpy(c->feature + row * KITH__FEATURES_COUNT, feature,
           KITH__FEATURES_COUNT * sizeof *feature);
    c->score[row] = score;
}

static bool is_listed(const kith__fusing *f, uint32_t candidate)
{
    for (size_t i = 0; i < f->listed; i++)
        if (f->entity[i] == candidate)
            return true;
    return false;
}

/* The rows that are not on the shortlist weigh as much as all that they stand for. */
static void collect_others(collecting *c, size_t query, const kith__fusing *f)
{
    const kith__query *q = &c->queries[query];
    size_t rest = c->candidates > f->listed ? c->candidates - f->listed : 0;
    float feature[KITH__FEATURES_COUNT], offset = logf((float)(rest + 1) / OTHERS);
    kith__rng rng;

    kith__rng_init(&rng, c->model->settings.seed, UINT64_C(1) << 44 | query);
    for (int i = 0; rest > 2 * OTHERS && i < OTHERS; i++) {
        uint32_t e = (uint32_t)kith__rng_below(&rng, c->candidates);
        if (is_listed(f, e) || is_known(c, q, e))
            continue;
        kith__case_features(feature, &f->at, e, f->without);
        add_row(c, query, feature, offset);
    }
}

static void collect(void *context, size_t query, kith__fusing *f)
{
    collecting *c = context;
    const kith__query *q = &c->queries[query];
    uint32_t gold = kith__hidden_side(q);
    float feature[KITH__FEATURES_COUNT];

    c->taken[query] = 0;
    c->right[query] = KITH__NOT_LISTED;
    for (size_t i = 0; i < f->listed; i++) {
        if (f->entity[i] != gold && is_known(c, q, f->entity[i]))
            continue;
        if (f->entity[i] == gold)
            c->right[query] = (uint32_t)c->taken[query];
        add_row(c, query, f->feature[i], c->others ? 0 : f->linear[i]);
    }
    if (!c->others)
        return;
    if (c->right[query] == KITH__NOT_LISTED) {
        c->right[query] = (uint32_t)c->taken[query];
        kith__case_features(feature, &f->at, gold, f->without);
        add_row(c, query, feature, 0);
    }
    collect_others(c, query, f);
}

/* ---- rows ---- */

static uint8_t fold_of(const kith__query *q)
{
    uint64_t hash = (kith__known_side(q) + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash >> 40) % FOLDS == 0;
}

static void rows_release(kith__lists_of_rows *r)
{
    kith__free(r->first);
    kith__free(r->right);
    kith__free(r->feature);
    kith__free(r->score);
    kith__free(r->fold);
    memset(r, 0, sizeof *r);
}

/* All queries' rows, one after the other. */
static int gather_rows(kith__lists_of_rows *r, const collecting *c)
{
    size_t total = 0;

    memset(r, 0, sizeof *r);
    for (size_t q = 0; q < c->count; q++)
        total += c->taken[q];
    r->first = kith__calloc(c->count + 1, sizeof *r->first);
    r->right = kith__alloc(c->count, sizeof *r->right);
    r->fold = kith__alloc(c->count, 1);
    r->feature = kith__alloc(total * KITH__FEATURES_COUNT, sizeof *r->feature);
    r->score = kith__alloc(total, sizeof *r->score);
    if (!r->first || !r->right || !r->fold || !r->feature || !r->score)
        return -1;
    for (size_t q = 0; q < c->count; q++) {
        memcpy(r->feature + r->rows * KITH__FEATURES_COUNT,
               c->feature + q * MOST_ROWS * KITH__FEATURES_COUNT,
               c->taken[q] * KITH__FEATURES_COUNT * sizeof *r->feature);
        memcpy(r->score + r->rows, c->score + q * MOST_ROWS, c->taken[q] * sizeof *r->score);
        r->right[r->queries] = c->right[q] == KITH__NOT_LISTED ? KITH__NOT_LISTED
                                                               : (uint32_t)r->rows + c->right[q];
        r->fold[r->queries++] = fold_of(&c->queries[q]);
        r->first[r->queries] = r->rows += c->taken[q];
    }
    return 0;
}

static kith_status collect_rows(kith__lists_of_rows *rows, collecting *c, const kith__fusion *fusion,
                                const kith__evidence *evidence, bool embedding, kith_error *error)
{
    kith_status status =
        kith__fuse_each((kith_model *)c->model, fusion, evidence, c->queries, c->count,
                        c->candidates, NULL, embedding, collect, c, error);
    if (status == KITH_OK && gather_rows(rows, c))
        status = kith__no_memory(error);
    return status;
}

/* ---- what the trees are worth, and calibration ---- */

static double mean_loss(const kith__lists_of_rows *r, const kith__trees *trees)
{
    double loss = 0;
    size_t count = 0;

    for (size_t q = 0; q < r->queries; q++) {
        double sum = 0, right = 0;
        if (!r->fold[q] || r->right[q] == KITH__NOT_LISTED)
            continue;
        for (size_t i = r->first[q]; i < r->first[q + 1]; i++) {
            double e = exp(r->score[i] +
                           kith__trees_value(trees, r->feature + i * KITH__FEATURES_COUNT));
            sum += e;
            right = i == r->right[q] ? e : right;
        }
        loss += log(sum / right);
        count++;
    }
    return loss / (double)(count ? count : 1);
}

typedef struct {
    double x[KITH__CALIBRATION];
    bool truth;
} sample;

/* Logistic regression by Newton's method, with a slight pull towards (1, 0, 0). */
static void fit_calibration(float *out, const sample *samples, size_t count)
{
    double w[3] = {1, 0, 0};

    for (int step = 0; step < 30; step++) {
        double g[3] = {w[0] - 1, w[1], w[2]}, h[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        for (size_t i = 0; i < count; i++) {
            const double *x = samples[i].x;
            double p = 1 / (1 + exp(-(w[0] * x[0] + w[1] * x[1] + w[2] * x[2])));
            for (int k = 0; k < 3; k++) {
                g[k] += (p - samples[i].truth) * x[k];
                for (int j = 0; j < 3; j++)
                    h[k][j] += p * (1 - p) * x[k] * x[j];
            }
        }
        for (int k = 0; k < 3; k++) /* Gauss elimination; h is positive definite */
            for (int j = k + 1; j < 3; j++) {
                double by = h[j][k] / h[k][k];
                for (int i = k; i < 3; i++)
                    h[j][i] -= by * h[k][i];
                g[j] -= by * g[k];
            }
        for (int k = 2; k >= 0; k--) {
            for (int j = k + 1; j < 3; j++)
                g[k] -= h[k][j] * g[j];
            g[k] /= h[k][k];
            w[k] -= g[k];
        }
    }
    for (int k = 0; k < 3; k++)
        out[k] = (float)w[k];
}

/* On the queries that were set aside: what share of the softmax the best candidates have, and which
 * of them are true. */
static kith_status calibrate(kith__fusion *fusion, const kith__lists_of_rows *r,
                             const kith__trees *trees, kith_error *error)
{
    sample *samples = kith__alloc(r->queries * CALIBRATED, sizeof *samples);
    size_t count = 0;

    if (!samples)
        return kith__no_memory(error);
    for (size_t q = 0; q < r->queries; q++) {
        double score[MOST_ROWS], sum = 0;
        size_t from = r->first[q], rows = r->first[q + 1] - from;
        if (!r->fold[q])
            continue;
        for (size_t i = 0; i < rows; i++) {
            score[i] = r->score[from + i] +
                       kith__trees_value(trees, r->feature + (from + i) * KITH__FEATURES_COUNT);
            sum += exp(score[i]);
        }
        for (int k = 0; k < CALIBRATED && (size_t)k < rows; k++) {
            size_t best = 0;
            for (size_t i = 1; i < rows; i++)
                if (score[i] > score[best])
                    best = i;
            const float *feature = r->feature + (from + best) * KITH__FEATURES_COUNT;
            samples[count++] = (sample){{kith__share_logit(score[best] - log(sum)), feature[KITH__F_Q_KNOWN], 1},
                                        from + best == r->right[q]};
            score[best] = -INFINITY;
        }
    }
    fit_calibration(fusion->calibration, samples, count);
    kith__free(samples);
    return KITH_OK;
}

/* ---- all of it ---- */

static kith_status collecting_init(collecting *c, kith__query *queries, kith_error *error)
{
    const kith_graph *graph = c->model->graph;
    kith_facts test = kith_graph_facts(graph, KITH_TEST);
    uint32_t m = kith_graph_seen_relation_count(graph);
    kith_status status = KITH_OK;

    c->candidates = kith_graph_seen_entity_count(graph);
    c->queries = queries;
    for (size_t i = 0; i < test.count; i++)
        if (test.at[i].relation < m)
            queries[c->count++] = (kith__query){test.at[i], test.at[i].object >= c->candidates};
    for (int side = 0; side < 2; side++)
        TRY(kith__known_init(&c->known[side], graph, NULL, side, error));
    c->feature = kith__alloc(c->count * MOST_ROWS * KITH__FEATURES_COUNT, sizeof *c->feature);
    c->score = kith__alloc(c->count * MOST_ROWS, sizeof *c->score);
    c->taken = kith__alloc(c->count, sizeof *c->taken);
    c->right = kith__alloc(c->count, sizeof *c->right);
    if (!c->feature || !c->score || !c->taken || !c->right)
        TRY(kith__no_memory(error));
cleanup:
    return status;
}

static void collecting_release(collecting *c)
{
    kith__known_release(&c->known[0]);
    kith__known_release(&c->known[1]);
    kith__free(c->feature);
    kith__free(c->score);
    kith__free(c->taken);
    kith__free(c->right);
}

/* Weights to make the first shortlists by. */
static void start_weights(float *weight, bool embedding)
{
    weight[KITH__F_BEST_LOG] = 1;
    weight[KITH__F_ALL] = 1;
    weight[KITH__F_PRIOR] = .3f;
    weight[KITH__F_E_SCORE] = embedding ? .5f : 0;
}

static kith_status fit_trees(kith__fusion *fusion, const kith__lists_of_rows *rows,
                             kith__pool *pool, kith_error *error)
{
    kith__trees_options options = tree_options;
    if(getenv("TR"))sscanf(getenv("TR"),"%zu,%zu,%lf,%lf,%lf",&options.most,&options.leaves,&options.rate,&options.ridge,&options.least);
    kith__trees some = {0};
    static const kith__trees none = {0};
    kith_status status;

    TRY(kith__trees_fit(&some, rows, &options, false, true, pool, error));
    TRY(calibrate(fusion, rows, &some, error));
    fusion->loss_linear = (float)mean_loss(rows, &none);
    fusion->loss_trees = (float)mean_loss(rows, &some);
    options.most = some.count;
    TRY(kith__trees_fit(&fusion->trees, rows, &options, true, false, pool, error));
cleanup:
    kith__trees_release(&some);
    return status;
}

kith_status kith__fusion_fit(kith__fusion *out, kith_model *model, const kith__evidence *evidence,
                             bool embedding, kith_error *error)
{
    kith__query *queries =
        kith__alloc(kith_graph_facts(model->graph, KITH_TEST).count, sizeof *queries);
    collecting c = {.model = model, .others = true};
    kith__lists_of_rows rows = {0};
    kith__fusion fusion = {0};
    kith_status status = KITH_OK;

    if (!queries)
        TRY(kith__no_memory(error));
    TRY(collecting_init(&c, queries, error));
    start_weights(fusion.weight, embedding);
    TRY(collect_rows(&rows, &c, &fusion, evidence, embedding, error));
    TRY(kith__linear_fit(fusion.weight, &rows, ridge, true, model->pool, error));
    rows_release(&rows);
    c.others = false;
    TRY(collect_rows(&rows, &c, &fusion, evidence, embedding, error));
    TRY(fit_trees(&fusion, &rows, model->pool, error));
    fusion.queries = (uint32_t)c.count;
    for (size_t q = 0; q < rows.queries; q++)
        fusion.set_aside += rows.fold[q];
    *out = fusion;
    memset(&fusion, 0, sizeof fusion);
cleanup:
    rows_release(&rows);
    collecting_release(&c);
    kith__free(queries);
    kith__fusion_release(&fusion);
    return status;
}
