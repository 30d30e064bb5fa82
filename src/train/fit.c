#include "train/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/flag.h"
#include "core/mem.h"
#include "core/rng.h"
#include "model/fusion_sweep.h"
#include "model/linear.h"
#include "graph/known.h"
#include "train/held_out.h"

/* A query brings its BEST candidates, and OTHERS drawn from the rest, which stand for all of it. */
enum {
    BEST = 100,
    OTHERS = 24,
    MOST_ROWS = BEST + OTHERS + 1,
    CALIBRATED = KITH__JUDGED,
    ROUNDS = 2
};
_Static_assert((int)MOST_ROWS <= (int)KITH__MOST_ROWS, "a query's rows must fit");

/* Per query. Weights that are held back much do better on entities that are unlike those fitted on;
 * chosen on graphs held out from train within held-out graphs. */
static const double ridge = .25;
/* With fewer queries than FEW, weights are also regularised towards default ones, more with fewer:
 * .74 instead of .71 mean MRR over 60 small generated graphs. */
enum { FEW = 200 };
static const double guess_pull = 100;

typedef struct {
    kith_model *model;
    const kith__evidence *evidence;
    bool embedding;
    const kith__query *queries;
    size_t count;
    kith__answer_set
        among; /* seen entities, and held-out ones where facts between these are known */
    kith__known known[2];
    /* Room for MOST_ROWS of each query, and how many it took. */
    float *feature, *offset;
    uint8_t *unseen;
    size_t *taken;
    uint32_t *right;
} collecting;

static bool is_known(const collecting *c, const kith__query *q, uint32_t candidate)
{
    return candidate != kith__hidden_side(q) &&
           kith__known_has(&c->known[q->subject_hidden], kith__known_side(q), q->fact.relation,
                           candidate);
}

static void add_row(collecting *c, size_t query, const kith__fusion_workspace *f,
                    uint32_t candidate, float offset)
{
    size_t row = query * MOST_ROWS + c->taken[query];

    if (candidate == kith__hidden_side(&c->queries[query]))
        c->right[query] = (uint32_t)c->taken[query];
    kith__fusion_features(c->feature + row * KITH__FEATURES_COUNT, f, candidate);
    c->offset[row] = offset;
    c->unseen[row] = candidate >= c->among.candidates;
    c->taken[query]++;
}

static bool is_among(const uint32_t *list, size_t count, uint32_t candidate)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == candidate)
            return true;
    return false;
}

static uint32_t draw_candidate(const kith__answer_set *among, kith__rng *rng)
{
    size_t i = (size_t)kith__rng_below(rng, among->candidates + among->unseen_count);
    return i < among->candidates ? (uint32_t)i : among->unseen[i - among->candidates];
}

static void collect(void *context, size_t query, kith__fusion_workspace *f)
{
    collecting *c = context;
    const kith__query *q = &c->queries[query];
    uint32_t best[BEST], gold = kith__hidden_side(q);
    size_t listed = kith__best_unknown(best, BEST, f->scores, c->among.width, f->shares.known);
    size_t all = c->among.candidates + c->among.unseen_count;
    size_t rest = all - listed - f->shares.known.count;
    float offset = logf((float)(rest + 1) / OTHERS);
    kith__rng rng;

    c->taken[query] = 0;
    for (size_t i = 0; i < listed; i++)
        if (!is_known(c, q, best[i]))
            add_row(c, query, f, best[i], 0);
    if (!is_among(best, listed, gold))
        add_row(c, query, f, gold, 0);
    kith__rng_init(&rng, c->model->settings.seed, UINT64_C(1) << 44 | query);
    for (int i = 0; rest > 2 * OTHERS && rest < all && i < OTHERS; i++) {
        uint32_t e = draw_candidate(&c->among, &rng);
        if (e != gold && !isnan(f->scores[e]) && !is_among(best, listed, e) && !is_known(c, q, e))
            add_row(c, query, f, e, offset);
    }
}

/* ---- rows ---- */

static uint8_t is_aside(const kith__query *q)
{
    return kith__is_calibration_entity(kith__known_side(q));
}

static void rows_release(kith__rows *r)
{
    kith__free(r->first);
    kith__free(r->right);
    kith__free(r->feature);
    kith__free(r->offset);
    kith__free(r->unseen);
    kith__free(r->aside);
    kith__free(r->relation);
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
    r->relation = kith__alloc(c->count, sizeof *r->relation);
    r->feature = kith__alloc(total * KITH__FEATURES_COUNT, sizeof *r->feature);
    r->offset = kith__alloc(total, sizeof *r->offset);
    r->unseen = kith__alloc(total, 1);
    if (!r->first || !r->right || !r->aside || !r->relation || !r->feature || !r->offset ||
        !r->unseen)
        return -1;
    for (size_t q = 0; q < c->count; q++) {
        memcpy(r->feature + r->rows * KITH__FEATURES_COUNT,
               c->feature + q * MOST_ROWS * KITH__FEATURES_COUNT,
               c->taken[q] * KITH__FEATURES_COUNT * sizeof *r->feature);
        memcpy(r->offset + r->rows, c->offset + q * MOST_ROWS, c->taken[q] * sizeof *r->offset);
        memcpy(r->unseen + r->rows, c->unseen + q * MOST_ROWS, c->taken[q]);
        r->right[r->queries] = (uint32_t)r->rows + c->right[q];
        r->relation[r->queries] = kith__directed_query(c->model->graph, &c->queries[q]);
        r->aside[r->queries++] = is_aside(&c->queries[q]);
        r->first[r->queries] = r->rows += c->taken[q];
    }
    return 0;
}

static kith_status collect_rows(kith__rows *rows, collecting *c, const kith__fusion *fusion,
                                kith_error *error)
{
    kith__watch *watch = kith__pool_watch(c->model->pool);
    kith_status status;

    TRY(kith__watch_begin(watch, "collecting evidence", c->count, error));
    TRY(kith__fusion_sweep(c->model, fusion, c->evidence, c->queries, c->count, &c->among, 0,
                           c->embedding, collect, c, error));
    if (gather_rows(rows, c))
        TRY(kith__no_memory(error));
    TRY(kith__watch_begin(watch, "fitting weights", 0, error));
cleanup:
    return status;
}

/* ---- calibration ---- */

typedef struct {
    const collecting *from;
    kith__query *queries;  /* of the calibration split, with a seen answer */
    kith__sample *samples; /* CALIBRATED per query */
    size_t *count;         /* per query */
} calibrating;

static void take_samples(void *context, size_t query, kith__fusion_workspace *f)
{
    calibrating *c = context;
    const kith__query *q = &c->queries[query];

    c->count[query] = kith__judge_samples(
        c->samples + query * CALIBRATED, f->scores, f->at.candidates, &f->shares,
        &c->from->known[q->subject_hidden], kith__known_side(q), q->fact.relation,
        kith__hidden_side(q));
}

static size_t choose_queries(kith__query *to, const collecting *c)
{
    size_t count = 0;

    for (size_t i = 0; i < c->count; i++)
        if (is_aside(&c->queries[i]) && kith__hidden_side(&c->queries[i]) < c->among.candidates)
            to[count++] = c->queries[i];
    return count;
}

/* Samples one after the other, where each query has room for CALIBRATED; returns how many. */
static size_t pack_samples(kith__sample *samples, const size_t *count, size_t queries)
{
    size_t packed = 0;

    for (size_t i = 0; i < queries * CALIBRATED; i++)
        if (i % CALIBRATED < count[i / CALIBRATED])
            samples[packed++] = samples[i];
    return packed;
}

/* `fusion` must not have been fitted on the queries of the calibration split. */
static kith_status calibrate(kith__calibration *calibration, const collecting *from,
                             const kith__fusion *fusion, kith_error *error)
{
    calibrating c = {.from = from,
                     .queries = kith__alloc(from->count, sizeof *c.queries),
                     .samples = kith__alloc(from->count * CALIBRATED, sizeof *c.samples),
                     .count = kith__calloc(from->count, sizeof *c.count)};
    kith_status status = KITH_OK;

    if (!c.queries || !c.samples || !c.count)
        TRY(kith__no_memory(error));
    size_t count = choose_queries(c.queries, from);
    TRY(kith__watch_begin(kith__pool_watch(from->model->pool), "calibrating probabilities", count,
                          error));
    const kith__answer_set among = kith__answers_below(from->among.candidates);
    TRY(kith__fusion_sweep(from->model, fusion, from->evidence, c.queries, count, &among, 0,
                           from->embedding, take_samples, &c, error));
    kith__calibration_fit(calibration, c.samples, pack_samples(c.samples, c.count, count));
cleanup:
    kith__free(c.queries);
    kith__free(c.samples);
    kith__free(c.count);
    return status;
}

/* ---- queries ---- */

/* Held-out entities are candidates where a fact between two of them is asked for. */
static bool asks_for_unseen(const collecting *c)
{
    uint32_t seen = kith_graph_seen_entity_count(c->model->graph);

    for (size_t i = 0; i < c->count; i++)
        if (kith__hidden_side(&c->queries[i]) >= seen)
            return true;
    return false;
}

static kith_status collecting_init(collecting *c, const kith__holdout *holdout, kith_error *error)
{
    kith_status status = KITH_OK;

    c->queries = holdout->queries;
    c->count = holdout->query_count;
    TRY(kith__answer_set_init(&c->among, c->model, c->evidence,
                              asks_for_unseen(c) ? KITH_ANSWERS_ALL : KITH_ANSWERS_SEEN, error));
    for (int side = 0; side < 2; side++)
        TRY(kith__known_init(&c->known[side], holdout->graph, NULL, side, error));
    c->feature = kith__alloc(c->count * MOST_ROWS * KITH__FEATURES_COUNT, sizeof *c->feature);
    c->offset = kith__alloc(c->count * MOST_ROWS, sizeof *c->offset);
    c->unseen = kith__alloc(c->count * MOST_ROWS, 1);
    c->taken = kith__alloc(c->count, sizeof *c->taken);
    c->right = kith__alloc(c->count, sizeof *c->right);
    if (!c->feature || !c->offset || !c->unseen || !c->taken || !c->right)
        TRY(kith__no_memory(error));
cleanup:
    return status;
}

static void collecting_release(collecting *c)
{
    kith__answer_set_release(&c->among);
    kith__known_release(&c->known[0]);
    kith__known_release(&c->known[1]);
    kith__free(c->feature);
    kith__free(c->offset);
    kith__free(c->unseen);
    kith__free(c->taken);
    kith__free(c->right);
}

/* ---- weights ---- */

/* A guess, times `factor`: good enough to find the first rows by, and where little can be
 * fitted. */
static void start_weights(kith__weights *w, bool embedding, float factor)
{
    w->bare[KITH__F_BEST_LOG] = factor;
    w->bare[KITH__F_ALL] = factor;
    w->bare[KITH__F_PRIOR] = .3f * factor;
    memcpy(w->unseen, w->bare, sizeof w->unseen);
    memcpy(w->all, w->bare, sizeof w->all);
    w->all[KITH__F_E_SCORE] = embedding ? .5f * factor : 0;
}

/* Some of the queries, by relation. */
typedef struct {
    uint32_t *at;
    size_t count;
} list;

enum {
    ALL,
    NOT_ASIDE,
    ASIDE,
    ONE_HALF,
    OTHER_HALF,
    LISTS
}; /* which queries; halves are of the entities */

typedef struct {
    kith__rows rows; /* with all features, seen candidates only */
    kith__rows bare;   /* the same without those of the embedding */
    kith__rows unseen; /* without them too, all candidates */
    double scale[KITH__FEATURES_COUNT], unseen_scale[KITH__FEATURES_COUNT];
    bool embedding, with_unseen; /* which sets of weights differ; */
    bool every; /* all of them are fitted, not just the first */
    kith__pool *pool;
    list lists[LISTS];
} fitting;

static int list_queries(fitting *f, const collecting *c)
{
    size_t n = f->rows.queries, relations = c->evidence->base->index->relations;
    size_t *start = kith__calloc(relations + 1, sizeof *start);
    bool failed = !start;

    for (int k = 0; k < LISTS; k++)
        failed |= !(f->lists[k].at = kith__alloc(n, sizeof *f->lists[k].at));
    for (size_t q = 0; !failed && q < n; q++)
        start[f->rows.relation[q] + 1]++;
    for (size_t r = 1; !failed && r <= relations; r++)
        start[r] += start[r - 1];
    for (size_t q = 0; !failed && q < n; q++)
        f->lists[ALL].at[start[f->rows.relation[q]]++] = (uint32_t)q;
    for (size_t i = 0; !failed && i < n; i++) {
        uint32_t q = f->lists[ALL].at[i];
        list *half = &f->lists[kith__is_first_half(kith__known_side(&c->queries[q])) ? ONE_HALF
                                                                                     : OTHER_HALF];
        half->at[half->count++] = q;
        list *split = &f->lists[f->rows.aside[q] ? ASIDE : NOT_ASIDE];
        split->at[split->count++] = q;
    }
    f->lists[ALL].count = n;
    kith__free(start);
    return failed;
}

/* Candidates with this offset have no share. Kernels may count on finite numbers. */
static const float no_share = -1e30f;

/* Offsets with which unseen candidates have no share, and queries whose answer is unseen no
 * loss. */
static float *offsets_of_seen(const kith__rows *rows)
{
    float *offset = kith__alloc(rows->rows, sizeof *offset);

    for (size_t q = 0; offset && q < rows->queries; q++) {
        size_t right = rows->right[q];
        for (size_t i = rows->first[q]; i < rows->first[q + 1]; i++) {
            bool counts = i == right || !(rows->unseen[i] || rows->unseen[right]);
            offset[i] = counts ? rows->offset[i] : no_share;
        }
    }
    return offset;
}

/* The features, with zeros for those of the embedding. */
static float *features_without_embedding(const kith__rows *rows)
{
    size_t floats = rows->rows * KITH__FEATURES_COUNT;
    float *feature = kith__alloc(floats, sizeof *feature);

    for (size_t i = 0; feature && i < floats; i++) {
        bool by_embedding =
            kith__feature_part((int)(i % KITH__FEATURES_COUNT)) == KITH_PART_EMBEDDING;
        feature[i] = by_embedding ? 0 : rows->feature[i];
    }
    return feature;
}

static kith_status fitting_init(fitting *f, const kith__rows *rows, const collecting *c,
                                kith_error *error)
{
    *f = (fitting){.rows = *rows,
                   .bare = *rows,
                   .unseen = *rows,
                   .embedding = c->embedding,
                   .with_unseen = c->among.unseen_count > 0,
                   .every = true,
                   .pool = c->model->pool};
    f->rows.offset = f->bare.offset = offsets_of_seen(rows);
    f->bare.feature = f->unseen.feature = features_without_embedding(rows);
    if (!f->rows.offset || !f->bare.feature || list_queries(f, c))
        return kith__no_memory(error);
    double least = rows->queries < FEW ? .05 : .005;
    kith__linear_scales(f->scale, &f->rows, least);
    kith__linear_scales(f->unseen_scale, &f->unseen, least);
    return KITH_OK;
}

static void fitting_release(fitting *f)
{
    kith__free(f->rows.offset);
    kith__free(f->bare.feature);
    for (int k = 0; k < LISTS; k++)
        kith__free(f->lists[k].at);
    memset(f, 0, sizeof *f);
}

/* The sets of weights, each regularised towards what it is on entry. Those that would be the same
 * are fitted once: without an embedding the first two, without unseen candidates the last two. */
static kith_status fit(kith__weights *w, const fitting *f, list g, double pull, kith__pool *pool,
                       kith_error *error)
{
    kith_status status;

    TRY(kith__linear_fit(w->all, &f->rows, f->scale, g.at, g.count, pull, pool, error));
    if (f->every && f->embedding)
        TRY(kith__linear_fit(w->bare, &f->bare, f->scale, g.at, g.count, pull, pool, error));
    else
        memcpy(w->bare, w->all, sizeof w->bare);
    if (f->every && f->with_unseen)
        TRY(kith__linear_fit(w->unseen, &f->unseen, f->unseen_scale, g.at, g.count, pull, pool,
                             error));
    else
        memcpy(w->unseen, w->bare, sizeof w->unseen);
cleanup:
    return status;
}

static kith_status fit_common(kith__fusion *fusion, const fitting *f, int which, kith_error *error)
{
    double n = (double)f->lists[ALL].count, to_zero = ridge * n;
    double to_guess = n < FEW ? guess_pull * (1 - n / FEW) : 0;

    kith__fusion_release(fusion);
    fusion->pull = 0;
    memset(&fusion->common, 0, sizeof fusion->common);
    start_weights(&fusion->common, f->embedding, (float)(to_guess / (to_guess + to_zero)));
    return fit(&fusion->common, f, f->lists[which], to_guess + to_zero, f->pool, error);
}

typedef struct {
    const fitting *f;
    const list *groups;
    kith__fusion *fusion;
    kith__flag no_memory;
} fitting_own;

static void fit_one(void *context, size_t index)
{
    fitting_own *o = context;
    kith__own_weights *own = &o->fusion->own[index];
    list g = o->groups[index];

    own->query = o->f->rows.relation[g.at[0]];
    own->weights = o->fusion->common;
    if (kith__watch_add(kith__pool_watch(o->f->pool), 1))
        return;
    if (fit(&own->weights, o->f, g, (double)o->fusion->pull, NULL, NULL) != KITH_OK)
        kith__flag_raise(&o->no_memory);
}

/* What each relation has of its own, beside common weights that are fitted already. */
static kith_status fit_own(kith__fusion *fusion, const fitting *f, int which, float pull,
                           kith_error *error)
{
    const uint32_t *relation = f->rows.relation;
    list all = f->lists[which], *groups = kith__alloc(all.count, sizeof *groups);
    fitting_own o = {.f = f, .groups = groups, .fusion = fusion};
    kith_status status = KITH_OK;

    kith__fusion_release(fusion);
    fusion->pull = pull;
    if (!groups)
        TRY(kith__no_memory(error));
    for (size_t from = 0, to; from < all.count; from = to) {
        for (to = from; to < all.count && relation[all.at[to]] == relation[all.at[from]]; to++)
            ;
        groups[fusion->own_count++] = (list){all.at + from, to - from};
    }
    fusion->own = kith__alloc(fusion->own_count, sizeof *fusion->own);
    if (!fusion->own)
        TRY(kith__no_memory(error));
    kith__pool_run(f->pool, fit_one, &o, fusion->own_count);
    if (kith__flag_raised(&o.no_memory))
        TRY(kith__no_memory(error));
    TRY(kith__watch_status(kith__pool_watch(f->pool), error));
cleanup:
    if (status != KITH_OK)
        kith__fusion_release(fusion);
    kith__free(groups);
    return status;
}

/* ---- how free relations are of the common weights ---- */

/* How well a query is answered: -log share of the right row, and 1 / its rank among the rows. */
typedef struct {
    double loss, reciprocal;
} mark;

static mark mark_of(const kith__fusion *fusion, const kith__rows *rows, size_t query)
{
    const float *weight = kith__fusion_weights(fusion, rows->relation[query])->all;
    float right = kith__linear(weight, rows->feature + rows->right[query] * KITH__FEATURES_COUNT);
    double rank = .5; /* it ties with itself, which counts half */

    for (size_t i = rows->first[query]; i < rows->first[query + 1]; i++) {
        float score = kith__linear(weight, rows->feature + i * KITH__FEATURES_COUNT);
        if (rows->offset[i] == no_share)
            continue;
        rank += score > right ? 1 : score == right ? .5 : 0;
    }
    return (mark){kith__linear_loss(weight, rows, query), 1 / rank};
}

static double mean_loss(const mark *marks, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += marks[i].loss;
    return sum / (double)count;
}

/* Whether reciprocal ranks rose by more than two standard errors. */
static bool has_risen(const mark *now, const mark *before, size_t count)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        double by = now[i].reciprocal - before[i].reciprocal;
        sum += by;
        squares += by * by;
    }
    return sum > 2 * sqrt(fmax(squares - sum * sum / (double)count, 0));
}

/* Each half of the entities is scored with weights that are fitted on the other, of which the
 * common ones are fitted already; a strength of 0 stands for these alone. */
static kith_status cross_validate(mark *marks, kith__fusion fusions[2], const fitting *f,
                                  float pull, kith_error *error)
{
    kith_status status = KITH_OK;

    for (int k = 0; k < 2; k++) {
        const list *judged = &f->lists[k ? ONE_HALF : OTHER_HALF];
        if (pull > 0)
            TRY(fit_own(&fusions[k], f, k ? OTHER_HALF : ONE_HALF, pull, error));
        for (size_t i = 0; i < judged->count; i++)
            marks[judged->at[i]] = mark_of(&fusions[k], &f->rows, judged->at[i]);
    }
cleanup:
    return status;
}

/* The pull with the least loss; 0 where weights of their own do not rank better than common
 * ones. */
static kith_status choose_pull(float *pull, const fitting *all, kith_error *error)
{
    static const float pulls[] = {300, 100, 30, 10, 3};
    fitting first = *all, *f = &first;
    size_t n = f->rows.queries;
    mark *common = kith__alloc(3 * n, sizeof *common), *best = common + n, *next = best + n;
    kith__fusion fusions[2] = {{.pull = 0}, {.pull = 0}};
    kith_status status = KITH_OK;

    *pull = 0;
    first.every = false;
    if (!common)
        TRY(kith__no_memory(error));
    TRY(fit_common(&fusions[0], f, ONE_HALF, error));
    TRY(fit_common(&fusions[1], f, OTHER_HALF, error));
    TRY(cross_validate(common, fusions, f, 0, error));
    memcpy(best, common, n * sizeof *best);
    for (size_t i = 0; i < sizeof pulls / sizeof *pulls; i++) {
        TRY(cross_validate(next, fusions, f, pulls[i], error));
        if (!(mean_loss(next, n) < mean_loss(best, n)))
            break;
        memcpy(best, next, n * sizeof *best);
        *pull = pulls[i];
    }
    if (!has_risen(best, common, n))
        *pull = 0;
cleanup:
    kith__fusion_release(&fusions[0]);
    kith__fusion_release(&fusions[1]);
    kith__free(common);
    return status;
}

/* On the rows at hand. Where there is nothing to fit on, weights stay. */
static kith_status fit_weights(kith__fusion *fusion, const fitting *f, int which, float pull,
                               kith_error *error)
{
    kith_status status = KITH_OK;

    if (f->lists[which].count == 0)
        return KITH_OK;
    TRY(fit_common(fusion, f, which, error));
    if (pull > 0)
        TRY(fit_own(fusion, f, which, pull, error));
cleanup:
    return status;
}

/* ---- how good it is ---- */

/* Rank the queries of a list that have a seen answer, with weights that were not fitted on them;
 * `ranked` grows by how many. */
static kith_status rank_list(kith__held_out_query *out, size_t *ranked, const collecting *c,
                             const list *g, const kith__fusion *fusion, kith_error *error)
{
    size_t seen = c->among.candidates, count = 0;
    const kith__held_out_data data = {c->model, c->evidence, c->embedding, seen, c->known};
    kith__query *queries = kith__alloc(g->count, sizeof *queries);

    if (!queries)
        return kith__no_memory(error);
    for (size_t i = 0; i < g->count; i++)
        if (kith__hidden_side(&c->queries[g->at[i]]) < seen)
            queries[count++] = c->queries[g->at[i]];
    kith_status status =
        kith__held_out_rank(out + *ranked, &data, fusion, queries, count, error);
    *ranked += count;
    kith__free(queries);
    return status;
}

/* Each half of the entities with weights fitted on the other. */
static kith_status rank_halves(kith__held_out_query *out, size_t *ranked, const collecting *c,
                               const fitting *f, float pull, kith_error *error)
{
    kith_status status = KITH_OK;

    for (int k = 0; k < 2 && status == KITH_OK; k++) {
        kith__fusion half = {0};
        start_weights(&half.common, c->embedding, 1);
        status = fit_weights(&half, f, k ? OTHER_HALF : ONE_HALF, pull, error);
        if (status == KITH_OK)
            status = rank_list(out, ranked, c, &f->lists[k ? ONE_HALF : OTHER_HALF], &half, error);
        kith__fusion_release(&half);
    }
    return status;
}

/* By the calibration split; by all queries in two halves where that has fewer than ENOUGH. */
static kith_status measure(kith__held_out *held_out, const collecting *c, const fitting *f,
                           const kith__fusion *some, float pull, kith_error *error)
{
    enum { ENOUGH = 200 };
    const list *aside = &f->lists[ASIDE];
    bool halves = aside->count < ENOUGH;
    size_t count = halves ? c->count : aside->count, ranked = 0;
    kith__held_out_query *queries = kith__alloc(count, sizeof *queries);
    kith_status status;

    TRY(queries ? KITH_OK : kith__no_memory(error));
    TRY(kith__watch_begin(kith__pool_watch(c->model->pool), "measuring on held-out entities", count,
                          error));
    TRY(halves ? rank_halves(queries, &ranked, c, f, pull, error)
               : rank_list(queries, &ranked, c, aside, some, error));
    TRY(kith__held_out_sum_up(held_out, queries, ranked, error));
cleanup:
    kith__free(queries);
    return status;
}

/* ---- all of it ---- */

static float loss_aside(const kith__fusion *fusion, const kith__rows *rows)
{
    double sum = 0;
    size_t count = 0;

    for (size_t q = 0; q < rows->queries; q++)
        if (rows->aside[q] && !rows->unseen[rows->right[q]]) {
            sum += mark_of(fusion, rows, q).loss;
            count++;
        }
    return count ? (float)(sum / (double)count) : 0;
}

/* Rows are first collected by weights that are a guess, then by those that were fitted to them:
 * only then do all candidates that the weights are wrong about have a part in the fit. */
static kith_status fit_rounds(kith__fusion *fusion, kith__fusion *some, kith__held_out *held_out,
                              collecting *c, kith_error *error)
{
    kith__rows rows = {0};
    fitting f = {0};
    float pull = 0;
    kith_status status = KITH_OK;

    for (int round = 0; round < ROUNDS; round++) {
        fitting_release(&f);
        rows_release(&rows);
        TRY(collect_rows(&rows, c, fusion, error));
        TRY(fitting_init(&f, &rows, c, error));
        f.every = round > 0;
        if (round > 0)
            TRY(choose_pull(&pull, &f, error));
        TRY(fit_weights(fusion, &f, ALL, pull, error));
    }
    /* What follows asks for seen answers only. */
    f.every = false;
    TRY(fit_weights(some, &f, NOT_ASIDE, pull, error));
    fusion->queries = (uint32_t)f.lists[ALL].count;
    fusion->calibration_queries = (uint32_t)f.lists[ASIDE].count;
    fusion->loss = loss_aside(some, &f.rows);
    if (held_out)
        TRY(measure(held_out, c, &f, some, pull, error));
cleanup:
    fitting_release(&f);
    rows_release(&rows);
    return status;
}

kith_status kith__fusion_fit_both(kith__fusion *out, kith__fusion *out_some,
                                  kith__calibration *calibration, kith__held_out *held_out,
                                  kith_model *model, const kith__evidence *evidence,
                                  const kith__holdout *holdout, bool embedding,
                                  kith_error *error)
{
    collecting c = {.model = model, .evidence = evidence, .embedding = embedding};
    kith__fusion fusion = {0}, some = {0};
    kith_status status;

    TRY(collecting_init(&c, holdout, error));
    start_weights(&fusion.common, embedding, 1);
    some = fusion;
    TRY(fit_rounds(&fusion, &some, held_out, &c, error));
    TRY(calibrate(calibration, &c, &some, error));
    *out = fusion;
    *out_some = some;
    fusion.own = some.own = NULL;
cleanup:
    collecting_release(&c);
    kith__fusion_release(&some);
    kith__fusion_release(&fusion);
    return status;
}

kith_status kith__fusion_fit(kith__fusion *out, kith__calibration *calibration, kith_model *model,
                             const kith__evidence *evidence, bool embedding, kith_error *error)
{
    kith__fusion some = {0};
    kith__holdout holdout;
    kith_status status;

    TRY(kith__holdout_init(&holdout, model->graph, model->settings.predict, model->settings.seed,
                           error));
    status = kith__fusion_fit_both(out, &some, calibration, NULL, model, evidence, &holdout,
                                   embedding, error);
    kith__fusion_release(&some);
    kith__holdout_release(&holdout);
cleanup:
    return status;
}

static int by_query(const void *a, const void *b)
{
    const kith__own_weights *x = a, *y = b;
    return x->query < y->query ? -1 : x->query > y->query;
}

kith_status kith__fusion_translate(kith__fusion *fusion, const kith_graph *from,
                                   const kith_graph *to, kith_error *error)
{
    uint32_t m = kith_graph_seen_relation_count(from), id = 0;

    for (uint32_t i = 0; i < fusion->own_count; i++) {
        uint32_t query = fusion->own[i].query;
        const char *name = kith_graph_relation_name(from, query < m ? query : query - m);
        if (kith_graph_find_relation(&id, to, name) != KITH_OK)
            return kith__fail(error, KITH_ERR_NOT_FOUND, "no relation of the run: %s", name);
        fusion->own[i].query = id + (query < m ? 0 : kith_graph_seen_relation_count(to));
    }
    if (fusion->own_count > 1)
        qsort(fusion->own, fusion->own_count, sizeof *fusion->own, by_query);
    return KITH_OK;
}

/* ---- the calibration of an embedding alone ---- */

enum { CALIBRATED_ON = 256, MOST_CANDIDATES = 200000 };

typedef struct {
    const kith_model *model;
    const kith__query *queries;
    size_t candidates;
    kith__known filter[2];
    kith__known_room known[KITH__SCORED_TOGETHER];
    kith__sample *samples; /* CALIBRATED per query */
    size_t *count;
    kith__flag no_memory;
} calibrating_plain;

static void take_plain_samples(void *context, size_t query, size_t slot, const float *scores)
{
    calibrating_plain *c = context;
    const kith__query *q = &c->queries[query];
    kith__span known;

    if (kith__known_answers(&known, &c->known[slot], c->model->graph, q)) {
        kith__flag_raise(&c->no_memory);
        return;
    }
    kith__shares shares =
        kith__shares_of(scores, c->candidates, known, kith__directed_query(c->model->graph, q));
    c->count[query] = kith__judge_samples(
        c->samples + query * CALIBRATED, scores, c->candidates, &shares,
        &c->filter[q->subject_hidden], kith__known_side(q), q->fact.relation,
        kith__hidden_side(q));
}

static kith_status calibrate_on(kith_model *model, const kith__query *queries, size_t count,
                                kith_error *error)
{
    calibrating_plain c = {.model = model,
                           .queries = queries,
                           .candidates = kith_graph_seen_entity_count(model->graph),
                           .samples = kith__alloc(count * CALIBRATED, sizeof *c.samples),
                           .count = kith__calloc(count, sizeof *c.count)};
    kith_status status = KITH_OK;

    if (!c.samples || !c.count)
        TRY(kith__no_memory(error));
    for (int side = 0; side < 2; side++)
        TRY(kith__known_init(&c.filter[side], model->graph, NULL, side, error));
    TRY(kith__score_all(model, queries, count, c.candidates, NULL, take_plain_samples, &c, error));
    if (kith__flag_raised(&c.no_memory))
        TRY(kith__no_memory(error));
    kith__calibration_fit(&model->calibration, c.samples, pack_samples(c.samples, c.count, count));
cleanup:
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++)
        kith__free(c.known[i].at);
    kith__known_release(&c.filter[0]);
    kith__known_release(&c.filter[1]);
    kith__free(c.samples);
    kith__free(c.count);
    return status;
}

kith_status kith__calibrate_on_dev(kith_model *model, kith_error *error)
{
    kith_facts dev = kith_graph_facts(model->graph, KITH_DEV);
    uint32_t candidates = kith_graph_seen_entity_count(model->graph);
    kith_triple facts[CALIBRATED_ON];
    kith__query queries[2 * CALIBRATED_ON];
    size_t count = 0, taken = dev.count < CALIBRATED_ON ? dev.count : CALIBRATED_ON;

    if (dev.truth || candidates > MOST_CANDIDATES)
        return KITH_OK;
    for (size_t i = 0; i < taken; i++) {
        facts[count] = dev.at[i * dev.count / taken];
        count += facts[count].relation < kith_graph_seen_relation_count(model->graph);
    }
    count = kith__queries_of(queries, facts, count, model->settings.predict, candidates);
    return count > 0 ? calibrate_on(model, queries, count, error) : KITH_OK;
}
