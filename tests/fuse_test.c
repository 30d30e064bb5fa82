/* Fusion of rules and embeddings: fitting, scores, probabilities, what is left out, the files that
 * it is kept in, and evaluation with it. */
#include <math.h>
#include <unistd.h>

#include "core/mem.h"
#include "eval/rank.h"
#include "graph/graph.h"
#include "graph/known.h"
#include "model/classify.h"
#include "model/fusion_sweep.h"
#include "model/linear.h"
#include "run/fusion_files.h"
#include "support.h"
#include "train/fit.h"
#include "train/held_out.h"
#include "train/holdout.h"

enum { N = KITH__FEATURES_COUNT };

/* In place of the C library's: small runs need not wait for the disk. */
int fsync(int file)
{
    (void)file;
    return 0;
}

static unsigned below(kith__rng *rng, unsigned bound)
{
    return (unsigned)kith__rng_below(rng, bound);
}

static float uniform(kith__rng *rng, float low, float high)
{
    return low + (high - low) * (float)kith__rng_unit(rng);
}

/* ---- choices to fit on ---- */

/* Features that vary, spread over the list; one is far larger than the others. */
static const int varied[] = {0, 3, 7, 20, N - 1};
static const double truth[] = {1.5, -2, .8, .02, 3};
enum { VARIED = 5, QUERIES = 4000 };

static kith__row_table rows_new(size_t queries, size_t per)
{
    kith__row_table r = {.queries = queries,
                    .rows = queries * per,
                    .first = calloc(queries + 1, sizeof *r.first),
                    .right = calloc(queries, sizeof *r.right),
                    .feature = calloc(queries * per * N, sizeof *r.feature),
                    .offset = calloc(queries * per, sizeof *r.offset),
                    .in_calibration = calloc(queries, 1),
                    .relation = calloc(queries, sizeof *r.relation)};

    for (size_t q = 0; q <= queries; q++)
        r.first[q] = q * per;
    return r;
}

static void rows_free(kith__row_table *r)
{
    free(r->first);
    free(r->right);
    free(r->feature);
    free(r->offset);
    free(r->in_calibration);
    free(r->relation);
}

static double true_score(const float *feature)
{
    double sum = 0;
    for (int k = 0; k < VARIED; k++)
        sum += truth[k] * feature[varied[k]];
    return sum;
}

/* The right row is drawn by its share under the true weights. */
static void draw_right(kith__row_table *r, size_t query, kith__rng *rng)
{
    double sum = 0, draw;
    size_t i = r->first[query];

    for (size_t k = i; k < r->first[query + 1]; k++)
        sum += exp(true_score(r->feature + k * N));
    draw = kith__rng_unit(rng) * sum;
    for (; i + 1 < r->first[query + 1]; i++) {
        draw -= exp(true_score(r->feature + i * N));
        if (draw < 0)
            break;
    }
    r->right[query] = (uint32_t)i;
}

static kith__row_table choices(uint64_t seed, size_t queries)
{
    kith__row_table r = rows_new(queries, 8);
    kith__rng rng;

    kith__rng_init(&rng, seed, 0);
    for (size_t i = 0; i < r.rows; i++) {
        for (int k = 0; k < VARIED; k++)
            r.feature[i * N + (size_t)varied[k]] =
                uniform(&rng, -1, 1) * (varied[k] == 20 ? 50 : 1);
        r.feature[i * N + 5] = 4; /* never varies */
    }
    for (size_t q = 0; q < queries; q++) {
        draw_right(&r, q, &rng);
        r.in_calibration[q] = q % 5 == 0;
    }
    return r;
}

/* From weights as they are on entry; without threads, without a pool. */
static void fit_from(float *weight, const kith__row_table *rows, double ridge, bool all,
                     unsigned threads)
{
    kith__pool *pool = threads ? kith__pool_new(threads) : NULL;
    uint32_t *queries = calloc(rows->queries + 1, sizeof *queries);
    double scale[N];
    size_t count = 0;
    kith_error error;

    for (uint32_t q = 0; q < rows->queries; q++)
        if (all || !rows->in_calibration[q])
            queries[count++] = q;
    kith__linear_scales(scale, rows, 0);
    assert_int_equal(kith__linear_fit(weight, rows, scale, queries, count, ridge, pool, &error),
                     KITH_OK);
    kith__pool_free(pool);
    free(queries);
}

static void fit(float *weight, const kith__row_table *rows, double ridge, bool all,
                unsigned threads)
{
    memset(weight, 0, N * sizeof *weight);
    fit_from(weight, rows, ridge, all, threads);
}

static void linear__weights_that_made_the_choices_are_found_again(void **state)
{
    kith__row_table rows = choices(1, QUERIES);
    float weight[N];

    (void)state;
    fit(weight, &rows, 1, true, 2);
    for (int k = 0; k < VARIED; k++)
        if (!(fabs(weight[varied[k]] - truth[k]) <= .1 * fabs(truth[k])))
            fail_msg("found %g, expected %g", (double)weight[varied[k]], truth[k]);
    for (int k = 0; k < N; k++)
        if (!memchr("\0\3\7\24", k, 4) && k != N - 1)
            assert_float_equal(weight[k], 0, 0);
    rows_free(&rows);
}

/* ---- the loss that is minimised ---- */

static double share_loss(const double *weight, const kith__row_table *r, size_t query)
{
    double sum = 0, right = 0;

    for (size_t i = r->first[query]; i < r->first[query + 1]; i++) {
        double score = r->offset[i];
        for (int k = 0; k < N; k++)
            score += weight[k] * r->feature[i * N + (size_t)k];
        sum += exp(score);
        if (i == r->right[query])
            right = score;
    }
    return log(sum) - right;
}

static double deviation(const kith__row_table *r, int k)
{
    double sum = 0, squares = 0, n = (double)r->rows;

    for (size_t i = 0; i < r->rows; i++)
        sum += r->feature[i * N + (size_t)k];
    for (size_t i = 0; i < r->rows; i++)
        squares += pow(r->feature[i * N + (size_t)k] - sum / n, 2);
    return sqrt(squares / n);
}

static double whole_loss(const double *weight, const kith__row_table *r, double ridge, bool all)
{
    double loss = 0;

    for (size_t q = 0; q < r->queries; q++)
        if (all || !r->in_calibration[q])
            loss += share_loss(weight, r, q);
    for (int k = 0; k < VARIED; k++)
        loss += ridge / 2 * pow(weight[varied[k]] * deviation(r, varied[k]), 2);
    return loss;
}

static void check_gradient(double ridge, bool all)
{
    kith__row_table rows = choices(2, 500);
    float weight[N];
    double w[N];

    fit(weight, &rows, ridge, all, 1);
    for (int k = 0; k < N; k++)
        w[k] = weight[k];
    for (int k = 0; k < VARIED; k++) {
        double unit = deviation(&rows, varied[k]), step = 1e-3 / unit, at = w[varied[k]], slope;
        w[varied[k]] = at + step;
        slope = whole_loss(w, &rows, ridge, all);
        w[varied[k]] = at - step;
        slope = (slope - whole_loss(w, &rows, ridge, all)) / (2 * step * unit);
        w[varied[k]] = at;
        /* Of 500 queries, each of which pulls by about 1. */
        if (!(fabs(slope) <= .05))
            fail_msg("ridge %g, feature %d: found the slope %g, expected 0", ridge, varied[k],
                     slope);
    }
    rows_free(&rows);
}

static void linear__the_slope_of_the_loss_is_0_at_the_result(void **state)
{
    (void)state;
    check_gradient(.01, true);
    check_gradient(2, true);
    check_gradient(2, false);
    check_gradient(200, true);
}

static void linear__threads_do_not_matter(void **state)
{
    kith__row_table rows = choices(3, 700);
    float one[N], more[N];

    (void)state;
    fit(one, &rows, 2, true, 1);
    for (unsigned threads = 2; threads < 6; threads++) {
        fit(more, &rows, 2, true, threads);
        assert_memory_equal(one, more, sizeof one);
    }
    rows_free(&rows);
}

static void linear__queries_that_are_set_aside_have_no_say(void **state)
{
    kith__row_table rows = choices(4, 500);
    float before[N], after[N], all[N];

    (void)state;
    fit(before, &rows, 2, false, 1);
    for (size_t q = 0; q < rows.queries; q += 5)
        rows.right[q] = (uint32_t)rows.first[q];
    fit(after, &rows, 2, false, 1);
    assert_memory_equal(before, after, sizeof before);
    fit(all, &rows, 2, true, 1);
    assert_memory_not_equal(all, after, sizeof all);
    rows_free(&rows);
}

static void linear__a_row_with_an_offset_stands_for_as_many_others(void **state)
{
    kith__row_table one = rows_new(300, 3), many = rows_new(300, 5);
    float short_way[N], long_way[N];
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 5, 0);
    for (size_t q = 0; q < 300; q++) {
        one.right[q] = (uint32_t)one.first[q] + (below(&rng, 4) ? 0 : 1);
        many.right[q] = (uint32_t)many.first[q] + one.right[q] % 3;
        for (size_t i = 0; i < 5; i++)
            for (size_t k = 0; k < 2; k++) {
                float *from = &one.feature[(3 * q + (i < 2 ? i : 2)) * N + k];
                if (i < 3)
                    *from = uniform(&rng, -1, 1) + (i == 0 && k == 0 ? .5f : 0);
                many.feature[(5 * q + i) * N + k] = *from;
            }
        one.offset[3 * q + 2] = logf(3);
    }
    fit(short_way, &one, 1e-6, true, 1);
    fit(long_way, &many, 1e-6, true, 1);
    for (int k = 0; k < 2; k++)
        assert_float_equal(short_way[k], long_way[k], 2e-3);
    rows_free(&one);
    rows_free(&many);
}

static void linear__choices_that_one_feature_decides_give_finite_weights(void **state)
{
    kith__row_table rows = rows_new(200, 4);
    float weight[N];

    (void)state;
    for (size_t i = 0; i < rows.rows; i++)
        rows.feature[i * N + 2] = i % 4 == 0 ? 1 : 0;
    for (size_t q = 0; q < rows.queries; q++)
        rows.right[q] = (uint32_t)rows.first[q];
    fit(weight, &rows, 2, true, 1);
    assert_true(isfinite(weight[2]) && weight[2] > 1);
    rows_free(&rows);
}

static void linear__no_rows_give_no_weights(void **state)
{
    kith__row_table rows = rows_new(0, 4);
    float weight[N];

    (void)state;
    fit(weight, &rows, 2, true, 1);
    for (int k = 0; k < N; k++)
        assert_float_equal(weight[k], 0, 0);
    rows_free(&rows);
}

static void linear__weights_are_pulled_to_where_they_begin(void **state)
{
    kith__row_table rows = choices(7, 400);
    float weight[N] = {0}, held[N], free_one[N], twice[N];

    (void)state;
    for (int k = 0; k < VARIED; k++)
        weight[varied[k]] = 1 / (varied[k] == 20 ? 50.f : 1);
    memcpy(held, weight, sizeof held);
    fit_from(held, &rows, 1e9, true, 1);
    for (int k = 0; k < N; k++)
        assert_float_equal(held[k], weight[k], 1e-4);
    fit(free_one, &rows, 1e-6, true, 1);
    memcpy(twice, weight, sizeof twice);
    fit_from(twice, &rows, 1e-6, true, 0);
    for (int k = 0; k < VARIED; k++)
        assert_float_equal(twice[varied[k]], free_one[varied[k]], 1e-4);
    rows_free(&rows);
}

static void linear__the_loss_is_that_of_the_right_row(void **state)
{
    kith__row_table rows = choices(6, 200);
    float weight[N] = {0};
    double w[N] = {0};

    (void)state;
    for (int k = 0; k < VARIED; k++)
        w[varied[k]] = weight[varied[k]] = (float)truth[k];
    for (size_t q = 0; q < 200; q++)
        assert_true(fabs(kith__linear_loss(weight, &rows, q) - share_loss(w, &rows, q)) < 1e-5);
    rows_free(&rows);
}

static void linear__the_loss_of_large_scores_is_a_number(void **state)
{
    kith__row_table rows = rows_new(2, 2);
    float weight[N] = {1};

    (void)state;
    rows.right[1] = 2;
    rows.feature[0] = 2000;
    rows.feature[N] = 2001;
    rows.feature[2 * N] = -2000;
    rows.feature[3 * N] = -2001;
    /* One right answer is 1 below the other candidate, the other 1 above. */
    assert_true(fabs(kith__linear_loss(weight, &rows, 0) - log(1 + exp(1))) < 1e-6);
    assert_true(fabs(kith__linear_loss(weight, &rows, 1) - log(1 + exp(-1))) < 1e-6);
    rows_free(&rows);
}

/* ---- graphs ---- */

/* Entities in groups: what holds for a group's members tends to hold for a newcomer in it. */
static const char *group_folder(uint64_t seed, unsigned entities, unsigned newcomers)
{
    const char *folder = new_folder();
    draft part[KITH_SPLITS] = {0};
    kith__rng rng;

    kith__rng_init(&rng, seed, 0);
    for (unsigned e = 0; e < entities + newcomers; e++) {
        unsigned group = below(&rng, 5), redundant_with = below(&rng, entities);
        bool new = e >= entities;
        draft *to = &part[new ? KITH_AUX : KITH_TRAIN];
        add(to, "e%u\tin\tg%u\n", e, group);
        add(to, "e%u\tlikes\tt%u\n", e, (group + below(&rng, 3)) % 7);
        add(to, "e%u\tlikes\tt%u\n", e, group);
        if (!new || below(&rng, 2)) {
            add(to, "e%u\tknows\te%u\n", e, redundant_with);
            if (new)
                add(&part[KITH_TEST], "e%u\tmet\te%u\n", e, redundant_with);
        }
        if (!new)
            add(to, "e%u\tmet\te%u\ng%u\thas\te%u\n", e, redundant_with, group, e);
        if (e % 4 == 0)
            add(&part[new ? KITH_TEST : KITH_DEV], "e%u\tspeaks\tl%u\n", e, group % 3);
        else
            add(to, "e%u\tspeaks\tl%u\n", e, group % 3);
        if (new)
            add(&part[KITH_TEST], "e%u\tlikes\tt%u\n", e, (group + 5) % 7);
    }
    put(folder, "train", part[KITH_TRAIN].at);
    put(folder, "dev", part[KITH_DEV].at);
    put(folder, "test", part[KITH_TEST].at);
    put(folder, "aux", part[KITH_AUX].at);
    for (int i = 0; i < KITH_SPLITS; i++)
        draft_release(&part[i]);
    return folder;
}

/* A graph with its evidence and a model over it, whose embedding has start values. */
typedef struct {
    kith_graph *graph;
    kith_model *model;
    kith__evidence *evidence;
    float *log_degree;
    uint32_t seen, relations; /* relations: 2m */
} setup;

static void setup_open(setup *s, const char *folder, const char *preset, unsigned threads)
{
    kith_settings settings;
    kith_error error;

    s->graph = opened(folder);
    assert_int_equal(kith__settings_init(&settings, preset, &error), KITH_OK);
    settings.dim = strcmp(preset, "rules") == 0 ? 1 : 8;
    if (kith_model_new(&s->model, s->graph, &settings, &(kith_work_options){.threads = threads},
                       &error) != KITH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(kith__evidence_new(&s->evidence, s->graph, false, s->model->pool, &error),
                     KITH_OK);
    s->log_degree = kith__log_degrees(s->evidence->base->index);
    s->seen = kith_graph_seen_entity_count(s->graph);
    s->relations = s->evidence->base->index->relations;
}

static void setup_close(setup *s)
{
    kith__evidence_free(s->evidence);
    kith__free(s->log_degree);
    kith_model_free(s->model);
    kith_graph_free(s->graph);
}

static void random_weights(kith__weights *w, kith__rng *rng)
{
    for (int k = 0; k < N; k++) {
        w->all[k] = uniform(rng, -1, 1);
        w->bare[k] = uniform(rng, -1, 1);
        w->unseen[k] = uniform(rng, -1, 1);
    }
}

static const kith__calibration some_calibration = {true, {.8f, -.3f, .2f}};

/* To be released. Some relations have weights of their own. */
static kith__fusion random_fusion(kith__rng *rng)
{
    static const uint32_t with_own[] = {0, 2, 3, 7};
    kith__fusion f = {.queries = 7,
                      .calibration_queries = 2,
                      .loss = .5f,
                      .regularization = 30,
                      .own_count = 4,
                      .own = kith__calloc(4, sizeof *f.own)};

    random_weights(&f.common, rng);
    for (size_t i = 0; i < 4; i++) {
        f.own[i].query = with_own[i];
        random_weights(&f.own[i].weights, rng);
    }
    return f;
}

static void check_same_fusion(const kith__fusion *a, const kith__fusion *b)
{
    kith__fusion x = *a, y = *b;

    x.own = y.own = NULL;
    assert_memory_equal(&x, &y, sizeof x);
    assert_memory_equal(a->own, b->own, a->own_count * sizeof *a->own);
}

static float *random_scores(kith__rng *rng, size_t count)
{
    float *scores = malloc(count * sizeof *scores);

    for (size_t i = 0; i < count; i++)
        scores[i] = uniform(rng, -12, -8);
    return scores;
}

/* ---- logistic regression ---- */

/* At the best weights the loss is flat: sum of (P - truth) x = pull (towards - w), for each
 * figure. */
static void logistic__the_loss_is_flat_at_its_weights(void **state)
{
    enum { COUNT = 300, FIGURES = 4 };
    static const double pull[FIGURES] = {10, .5, 1e-6, 2}, towards[FIGURES] = {1, 0, 0, -1};
    kith__sample samples[COUNT] = {0};
    double w[FIGURES], slope[FIGURES];
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 5, 0);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < FIGURES; k++)
            samples[i].x[k] = k == 2 ? 1 : uniform(&rng, -2, 2);
        samples[i].truth = samples[i].x[0] - 2 * samples[i].x[1] + uniform(&rng, -2, 2) > .3;
    }
    memcpy(w, towards, sizeof w);
    kith__logistic_fit(w, FIGURES, pull, samples, COUNT);
    for (int k = 0; k < FIGURES; k++)
        slope[k] = pull[k] * (w[k] - towards[k]);
    for (int i = 0; i < COUNT; i++) {
        double z = 0;
        for (int k = 0; k < FIGURES; k++)
            z += w[k] * samples[i].x[k];
        for (int k = 0; k < FIGURES; k++)
            slope[k] += (1 / (1 + exp(-z)) - samples[i].truth) * samples[i].x[k];
    }
    for (int k = 0; k < FIGURES; k++)
        assert_true(fabs(slope[k]) < 1e-6);
    assert_true(w[0] > .3 && w[1] < -.6);
}

static void logistic__samples_that_can_be_parted_leave_weights_finite(void **state)
{
    kith__sample samples[2] = {{{1000, 1}, true}, {{-1000, 1}, false}};
    static const double pull[2] = {1, 1};
    double w[2] = {0, 0};

    (void)state;
    kith__logistic_fit(w, 2, pull, samples, 2);
    assert_true(isfinite(w[0]) && isfinite(w[1]) && w[0] > 0);
}

/* ---- features ---- */

static void features__have_names_of_their_own_and_parts(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++) {
        assert_non_null(kith_part_name(kith__feature_part(i)));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(kith__feature_name(i), kith__feature_name(k));
    }
}

/* ---- scores ---- */

/* The sum of weight . feature, and of its absolute values. */
static double mixed(double *size, const kith__fusion_workspace *f, uint32_t candidate)
{
    const kith__weights *weights = &f->fusion->common;
    for (uint32_t i = 0; i < f->fusion->own_count; i++)
        if (f->fusion->own[i].query == f->evidence_query.query)
            weights = &f->fusion->own[i].weights;
    const float *weight = f->at.embedding ? weights->all : weights->bare;
    float feature[N];
    double sum = 0;

    *size = 0;
    kith__case_features(feature, &f->at, candidate, f->without);
    for (int k = 0; k < N; k++) {
        assert_true(isfinite(feature[k]));
        sum += (double)weight[k] * feature[k];
        *size += fabs((double)weight[k] * feature[k]);
    }
    return sum;
}

static void check_scores(const kith__fusion_workspace *f)
{
    for (uint32_t e = 0; e < f->at.candidates; e++) {
        double size, expected = mixed(&size, f, e);
        if (!(fabs(f->scores[e] - expected) <= 1e-5 * fmax(1, size)))
            fail_msg("candidate %u: found %.7g, expected %.7g (of parts that sum to %g)", e,
                     (double)f->scores[e], expected, size);
    }
}

static void fuse(kith__fusion_workspace *f, const setup *s, uint32_t entity, uint32_t query,
                 const float *embedding, size_t candidates)
{
    kith_error error;
    kith__span facts = kith__facts_of(s->evidence->base->index, entity);

    assert_int_equal(kith__fusion_run(f, facts, entity, query, embedding, candidates, &error),
                     KITH_OK);
}

typedef void (*fused_check)(const setup *s, kith__fusion_workspace *f, kith__rng *rng);

/* Random entities and queries with random weights, with and without an embedding, among seen
 * entities and among all. */
static void each_fused(uint64_t seed, unsigned without, fused_check check)
{
    kith__rng rng;
    setup s;

    kith__rng_init(&rng, seed, 0);
    setup_open(&s, group_folder(seed, 40, 8), "rules", 1);
    for (int i = 0; i < 40; i++) {
        kith__fusion fusion = random_fusion(&rng);
        kith__fusion_workspace f;
        kith_error error;
        uint32_t all = kith_graph_entity_count(s.graph);
        float *embedding = i % 2 ? random_scores(&rng, all) : NULL;
        assert_int_equal(
            kith__fusion_workspace_init(&f, &fusion, s.evidence, s.log_degree, without, &error),
            KITH_OK);
        fuse(&f, &s, below(&rng, all), below(&rng, s.relations), embedding, i % 3 ? s.seen : all);
        check(&s, &f, &rng);
        kith__fusion_workspace_release(&f);
        kith__fusion_release(&fusion);
        free(embedding);
    }
    setup_close(&s);
}

static void check_all_scores(const setup *s, kith__fusion_workspace *f, kith__rng *rng)
{
    (void)s;
    (void)rng;
    check_scores(f);
}

static void fuse__scores_are_weights_times_features(void **state)
{
    static const unsigned without[] = {KITH_PART_DIRECT,
                                       KITH_PART_PATH,
                                       KITH_PART_CONSTANT,
                                       KITH_PART_SHARED,
                                       KITH_PART_EMBEDDING,
                                       KITH_PART_RULES,
                                       KITH_PART_PATH | KITH_PART_EMBEDDING,
                                       KITH_PART_RULES | KITH_PART_EMBEDDING};

    (void)state;
    each_fused(11, 0, check_all_scores);
    for (size_t i = 0; i < 8; i++)
        each_fused(12 + i, without[i], check_all_scores);
}

static void fuse__scores_hold_where_embeddings_hardly_differ(void **state)
{
    kith__fusion fusion = {.common.all = {[KITH__F_E_SCORE] = 1, [KITH__F_PRIOR] = .1f}};
    kith__fusion_workspace f;
    kith_error error;
    kith__rng rng;
    setup s;

    (void)state;
    kith__rng_init(&rng, 30, 0);
    setup_open(&s, group_folder(30, 40, 8), "rules", 1);
    assert_int_equal(kith__fusion_workspace_init(&f, &fusion, s.evidence, s.log_degree, 0, &error),
                     KITH_OK);
    float *embedding = malloc(s.seen * sizeof *embedding);
    for (uint32_t e = 0; e < s.seen; e++)
        embedding[e] = 100 + uniform(&rng, -1e-3f, 1e-3f);
    fuse(&f, &s, s.seen, 0, embedding, s.seen);
    check_scores(&f);
    for (uint32_t e = 0; e < s.seen; e++)
        embedding[e] = .1f;
    fuse(&f, &s, s.seen, 0, embedding, s.seen);
    check_scores(&f);
    free(embedding);
    kith__fusion_workspace_release(&f);
    setup_close(&s);
}

/* What a case has in common stays as it is; only the candidate's own score rises. */
static void check_slopes(const setup *s, kith__fusion_workspace *f, kith__rng *rng)
{
    float before[N], after[N], slope[N];

    (void)s;
    (void)rng;
    for (uint32_t e = 0; f->at.embedding && e < f->at.candidates; e++) {
        float *score = (float *)&f->at.embedding[e];
        kith__case_features(before, &f->at, e, f->without);
        *score += 1;
        kith__case_features(after, &f->at, e, f->without);
        *score -= 1;
        kith__case_slopes(slope, &f->at, e, f->without);
        for (int k = 0; k < N; k++)
            if (!(fabsf(after[k] - before[k] - slope[k]) <= 2e-5f * (1 + fabsf(after[k]))))
                fail_msg("%s: found the slope %g, expected %g", kith__feature_name(k),
                         (double)slope[k], (double)(after[k] - before[k]));
    }
}

static void fuse__slopes_say_what_a_better_embedding_changes(void **state)
{
    (void)state;
    each_fused(31, 0, check_slopes);
    each_fused(32, KITH_PART_DIRECT, check_slopes);
    each_fused(33, KITH_PART_PATH | KITH_PART_SHARED, check_slopes);
}

/* ---- the best ---- */

static const kith__fusion_workspace *sorting;

static int best_first(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    float p = sorting->scores[x], q = sorting->scores[y];
    return p != q ? (p < q) - (p > q) : (x > y) - (x < y);
}

static void check_best(const setup *s, kith__fusion_workspace *f, kith__rng *rng)
{
    uint32_t *all = malloc(f->at.candidates * sizeof *all), *best = malloc(2000 * sizeof *best);
    size_t count = 0;

    (void)s;
    if (below(rng, 2)) /* many ties */
        for (size_t i = 0; i < f->at.candidates; i++)
            f->scores[i] = roundf(f->scores[i] / 2);
    for (uint32_t e = 0; e < f->at.candidates; e++)
        if (!kith__span_has(f->shares.known, e))
            all[count++] = e;
    sorting = f;
    qsort(all, count, sizeof *all, best_first);
    for (size_t most = 0; most < 2000; most = most * 2 + 1) {
        size_t found = kith__best_unknown(best, most, f->scores, f->at.candidates, f->shares.known);
        assert_int_equal(found, most < count ? most : count);
        if (found > 0)
            assert_memory_equal(best, all, found * sizeof *best);
    }
    free(all);
    free(best);
}

static void fuse__the_best_are_those_of_a_full_sort_without_known_answers(void **state)
{
    (void)state;
    each_fused(41, 0, check_best);
}

/* ---- probabilities ---- */

static void check_probabilities(const setup *s, kith__fusion_workspace *f, kith__rng *rng)
{
    double sum = 0;

    (void)s;
    (void)rng;
    for (uint32_t a = 0; a < f->at.candidates; a++) {
        float p = (float)kith__probability(&some_calibration, &f->shares, f->scores[a]);
        assert_true(p >= 0 && p <= 1);
        if (!kith__span_has(f->shares.known, a))
            sum += exp(f->scores[a] - f->shares.log_sum);
        for (uint32_t b = 0; b < a; b++) {
            float q = (float)kith__probability(&some_calibration, &f->shares, f->scores[b]);
            assert_true(f->scores[a] < f->scores[b] || p >= q);
            assert_true(f->scores[a] > f->scores[b] || p <= q);
        }
    }
    if (f->shares.known.count < f->at.candidates)
        assert_true(fabs(sum - 1) < 1e-4);
}

static void fuse__probabilities_follow_the_scores(void **state)
{
    (void)state;
    each_fused(51, 0, check_probabilities);
}

/* One known answer is so good that beside it no other would count. */
static void fuse__shares_are_of_what_is_not_known(void **state)
{
    const kith__calibration calibration = {true, {1, 0, 0}};
    kith__fusion fusion = {.common.all = {[KITH__F_E_SCORE] = 1000}};
    kith__fusion_workspace f;
    kith_error error;
    setup s;

    (void)state;
    setup_open(&s, group_folder(52, 40, 8), "rules", 1);
    assert_int_equal(kith__fusion_workspace_init(&f, &fusion, s.evidence, s.log_degree, 0, &error),
                     KITH_OK);
    float *embedding = calloc(s.seen, sizeof *embedding);
    kith__span known = {0};
    for (uint32_t r = 0; known.count == 0; r++)
        known = kith__reached(s.evidence->base->index, s.seen, r);
    uint32_t right = known.at[0].entity == 0 ? 1 : 0;
    embedding[known.at[0].entity] = 1000;
    embedding[right] = 100;
    fuse(&f, &s, s.seen, known.at[0].relation, embedding, s.seen);
    assert_true(kith__probability(&calibration, &f.shares, f.scores[right]) > .99f);
    free(embedding);
    kith__fusion_workspace_release(&f);
    setup_close(&s);
}

static void fuse__a_share_of_0_or_1_has_a_finite_logit(void **state)
{
    (void)state;
    assert_true(isfinite(kith__share_logit(-INFINITY)) && kith__share_logit(-INFINITY) < -10);
    assert_true(isfinite(kith__share_logit(0)) && kith__share_logit(0) > 10);
    assert_true(fabs(kith__share_logit(log(.5))) < 1e-12);
    assert_true(kith__share_logit(-3) < kith__share_logit(-2));
}

/* ---- leaving parts out ---- */

static bool in_part(int figure, unsigned without)
{
    return (without & kith__rule_feature_part((kith__rule_feature)figure)) != 0;
}

static void check_without(const setup *s, kith__fusion_workspace *f, kith__rng *rng)
{
    float before[N], after[N];
    kith__span facts =
        f->shares.known; /* any facts will do, as long as they have the known answers */

    (void)s;
    kith__case_init(&f->at, &f->evidence_query, facts, f->at.embedding, f->log_degree,
                    f->at.candidates, f->without);
    for (size_t i = 0; i < f->evidence_query.count; i++) {
        uint32_t e = f->evidence_query.rows[i].entity;
        if (e >= f->at.candidates)
            continue;
        kith__case_features(before, &f->at, e, f->without);
        for (size_t row = 0; row < f->evidence_query.count; row++)
            for (int k = 0; k < KITH__RULE_FEATURES; k++)
                if (in_part(k, f->without))
                    f->evidence_query.rows[row].feature[k] = uniform(rng, 0, 1);
        kith__case_init(&f->at, &f->evidence_query, facts, f->at.embedding, f->log_degree,
                        f->at.candidates, f->without);
        kith__case_features(after, &f->at, e, f->without);
        assert_memory_equal(before, after, sizeof before);
    }
}

static void without__parts_that_are_left_out_have_no_say(void **state)
{
    (void)state;
    each_fused(61, KITH_PART_DIRECT, check_without);
    each_fused(62, KITH_PART_PATH, check_without);
    each_fused(63, KITH_PART_CONSTANT, check_without);
    each_fused(64, KITH_PART_SHARED, check_without);
    each_fused(65, KITH_PART_DIRECT | KITH_PART_CONSTANT, check_without);
    each_fused(66, KITH_PART_RULES, check_without);
}

static void check_no_embedding(const setup *s, kith__fusion_workspace *f, kith__rng *rng)
{
    kith__fusion_workspace plain;
    kith_error error;

    (void)rng;
    assert_null(f->at.embedding);
    assert_int_equal(
        kith__fusion_workspace_init(&plain, f->fusion, s->evidence, s->log_degree, 0, &error),
        KITH_OK);
    for (uint32_t e = s->seen; e < s->seen + 3; e++) {
        float *scores = random_scores(rng, s->seen);
        fuse(f, s, e, 1, scores, s->seen);
        fuse(&plain, s, e, 1, NULL, s->seen);
        assert_memory_equal(f->scores, plain.scores, s->seen * sizeof *f->scores);
        free(scores);
    }
    kith__fusion_workspace_release(&plain);
}

static void without__the_embedding_is_as_if_there_were_none(void **state)
{
    (void)state;
    each_fused(67, KITH_PART_EMBEDDING, check_no_embedding);
}

/* ---- many queries ---- */

typedef struct {
    const setup *s;
    float *scores; /* queries x seen */
    unsigned *calls;
} many;

static void note_scores(void *context, size_t query, kith__fusion_workspace *f)
{
    many *m = context;

    m->calls[query]++;
    check_scores(f);
    memcpy(m->scores + query * m->s->seen, f->scores, m->s->seen * sizeof *m->scores);
}

static size_t test_queries(kith__query **out, const setup *s)
{
    kith_facts test = kith_graph_facts(s->graph, KITH_TEST);
    size_t count = 0;

    *out = malloc(2 * test.count * sizeof **out);
    for (size_t i = 0; i < test.count; i++)
        for (int hidden = 0; hidden < 2; hidden++)
            (*out)[count++] = (kith__query){test.at[i], hidden};
    return count;
}

static float *fuse_all(const setup *s, const kith__fusion *fusion, bool embedding)
{
    kith__query *queries;
    size_t count = test_queries(&queries, s);
    many m = {s, malloc(count * s->seen * sizeof *m.scores), calloc(count, sizeof *m.calls)};
    const kith__answer_set among = kith__answers_below(s->seen);
    kith_error error;

    assert_int_equal(kith__fusion_sweep(s->model, fusion, s->evidence, queries, count, &among, 0,
                                        embedding, note_scores, &m, &error),
                     KITH_OK);
    for (size_t q = 0; q < count; q++)
        assert_int_equal(m.calls[q], 1);
    free(queries);
    free(m.calls);
    return m.scores;
}

static void fuse_each__parts_add_up_for_every_query_at_any_number_of_threads(void **state)
{
    const char *folder = group_folder(71, 60, 12);
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 71, 0);
    kith__fusion fusion = random_fusion(&rng);
    for (int embedding = 0; embedding < 2; embedding++) {
        float *first = NULL;
        for (unsigned threads = 1; threads < 5; threads += 2) {
            setup s;
            setup_open(&s, folder, embedding ? "kith" : "rules", threads);
            float *scores = fuse_all(&s, &fusion, embedding);
            size_t count = 2 * kith_graph_facts(s.graph, KITH_TEST).count * s.seen;
            if (first)
                assert_memory_equal(first, scores, count * sizeof *first);
            free(first);
            first = scores;
            setup_close(&s);
        }
        free(first);
    }
    kith__fusion_release(&fusion);
}

/* ---- fitting on a graph ---- */

static void check_fusion_numbers(const kith__fusion *f, const kith__calibration *c)
{
    for (uint32_t i = 0; i <= f->own_count; i++) {
        const kith__weights *w = i == 0 ? &f->common : &f->own[i - 1].weights;
        for (int k = 0; k < N; k++) {
            assert_true(isfinite(w->all[k]) && isfinite(w->bare[k]) && isfinite(w->unseen[k]));
            if (kith__feature_part(k) == KITH_PART_EMBEDDING)
                assert_true(w->bare[k] == 0 && w->unseen[k] == 0);
        }
    }
    for (uint32_t i = 1; i < f->own_count; i++)
        assert_true(f->own[i].query > f->own[i - 1].query);
    assert_int_equal(f->regularization > 0, f->own_count > 0);
    for (int k = 0; k < KITH__CALIBRATION; k++)
        assert_true(c->fitted && isfinite(c->weight[k]));
    assert_true(isfinite(f->loss) && f->loss >= 0);
    assert_true(f->calibration_queries <= f->queries);
}

static void fit__is_the_same_at_any_number_of_threads(void **state)
{
    const char *folder = group_folder(81, 120, 40);

    (void)state;
    for (int embedding = 0; embedding < 2; embedding++) {
        kith__fusion first, more;
        kith__calibration c[2] = {{0}};
        for (unsigned threads = 1; threads < 4; threads++) {
            setup s;
            kith_error error;
            setup_open(&s, folder, embedding ? "kith" : "rules", threads);
            assert_int_equal(kith__fusion_fit(threads == 1 ? &first : &more, &c[threads > 1],
                                              s.model, s.evidence, embedding, &error),
                             KITH_OK);
            assert_int_equal(first.queries, kith_graph_facts(s.graph, KITH_TEST).count);
            if (threads > 1) {
                check_same_fusion(&first, &more);
                assert_memory_equal(c[0].weight, c[1].weight, sizeof c[0].weight);
                kith__fusion_release(&more);
            }
            setup_close(&s);
        }
        check_fusion_numbers(&first, &c[0]);
        assert_true(first.calibration_queries > 0 && first.calibration_queries < first.queries);
        kith__fusion_release(&first);
    }
}

static void fit__gives_no_weight_to_an_embedding_that_is_not_there(void **state)
{
    kith__fusion f;
    kith__calibration c = {0};
    kith_error error;
    setup s;

    (void)state;
    setup_open(&s, group_folder(82, 80, 30), "rules", 1);
    assert_int_equal(kith__fusion_fit(&f, &c, s.model, s.evidence, false, &error), KITH_OK);
    for (int k = 0; k < N; k++)
        if (kith__feature_part(k) == KITH_PART_EMBEDDING)
            assert_float_equal(f.common.all[k], 0, 0);
    kith__fusion_release(&f);
    setup_close(&s);
}

/* Releases them, too. */
static void put_drafts(const char *folder, draft *train, draft *test, draft *aux)
{
    put(folder, "train", train->at);
    put(folder, "test", test->at);
    put(folder, "aux", aux->at);
    draft_release(train);
    draft_release(test);
    draft_release(aux);
}

/* What is often answered to one question is right for newcomers too; to the other, where `split`,
 * it never is. Their own facts support no answer, so rules of any kind say nothing. */
static const char *contrary_folder_of(bool split, int unseen)
{
    const char *folder = new_folder();
    draft train = {0}, test = {0}, aux = {0};

    for (int i = 0; i < 200; i++)
        add(&train, "e%d\tin\tg%d\ne%d\tspeaks\tl%d\ne%d\tbears\tp%d\n", i, i % 5, i,
            i % 7 < 5 ? 0 : i % 7, i, i % 10);
    for (int i = 0; i < 20; i++)
        add(&train, "p%d\tis\tk\nl%d\tis\tk\nh%d\tnear\thub\n", i, i, i);
    for (int i = 0; i < unseen; i++) {
        add(&aux, "u%d\tnear\thub\n", i);
        add(&test, "u%d\tspeaks\tl%d\nu%d\tbears\tp%d\n", i, i % 7 < 5 ? 0 : i % 7, i,
            (split ? 10 : 0) + i % 10);
    }
    put_drafts(folder, &train, &test, &aux);
    return folder;
}

static const char *contrary_folder(bool split)
{
    return contrary_folder_of(split, 150);
}

static void fit__relations_that_differ_get_weights_of_their_own(void **state)
{
    (void)state;
    for (int split = 0; split < 2; split++) {
        kith__fusion f;
        kith__calibration c = {0};
        kith_error error;
        uint32_t speaks = 0, bears = 0;
        setup s;
        setup_open(&s, contrary_folder(split), "rules", 2);
        assert_int_equal(kith_graph_find_relation(&speaks, s.graph, "speaks"), KITH_OK);
        assert_int_equal(kith_graph_find_relation(&bears, s.graph, "bears"), KITH_OK);
        assert_int_equal(kith__fusion_fit(&f, &c, s.model, s.evidence, false, &error), KITH_OK);
        check_fusion_numbers(&f, &c);
        const kith__weights *one = kith__fusion_weights(&f, speaks);
        const kith__weights *other = kith__fusion_weights(&f, bears);
        if (split) {
            assert_true(f.own_count == 2 && one != other);
            assert_true(one->all[KITH__F_PRIOR] > other->all[KITH__F_PRIOR]);
        } else {
            assert_ptr_equal(kith__fusion_weights(&f, 2 * s.relations), &f.common);
        }
        kith__fusion_release(&f);
        setup_close(&s);
    }
}

/* Two graphs with the same relations in another order. */
static void fit__weights_follow_their_relation_to_another_graph(void **state)
{
    kith_graph *from = opened(file("from.tsv", "a\tr\tb\na\ts\tb\na\tt\tb\n"));
    kith_graph *to = opened(file("to.tsv", "a\tt\tb\na\tv\tb\na\ts\tb\na\tr\tb\n"));
    kith_graph *less = opened(file("less.tsv", "a\tr\tb\na\ts\tb\n"));
    kith__fusion f = {.own_count = 6, .own = kith__calloc(6, sizeof *f.own)};
    kith_error error;

    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        f.own[i].query = i;
        f.own[i].weights.all[0] = (float)i;
    }
    assert_int_equal(kith__fusion_translate(&f, from, to, &error), KITH_OK);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t id = 0;
        bool inverse = i >= 3;
        const char *name = kith_graph_relation_name(from, i % 3);
        assert_int_equal(kith_graph_find_relation(&id, to, name), KITH_OK);
        const kith__weights *found = kith__fusion_weights(&f, id + (inverse ? 4 : 0));
        assert_true(found != &f.common && found->all[0] == (float)i);
    }
    assert_int_equal(kith__fusion_translate(&f, to, less, &error), KITH_ERR_NOT_FOUND);
    assert_contains(error.message, "t");
    kith__fusion_release(&f);
    kith_graph_free(from);
    kith_graph_free(to);
    kith_graph_free(less);
}

/* Newcomers to ten groups whose members agree on an answer; where `fooled` says so, a newcomer's is
 * that of the next group. */
static const char *sure_folder(const uint8_t *fooled)
{
    enum { GROUPS = 10, MEMBERS = 30, NEWCOMERS = 200 };
    const char *folder = new_folder();
    draft train = {0}, test = {0}, aux = {0};

    for (int e = 0; e < GROUPS * MEMBERS; e++)
        add(&train, "e%d\tin\tg%d\ne%d\tspeaks\tl%d\n", e, e % GROUPS, e, e % GROUPS);
    for (int u = 0; u < NEWCOMERS; u++) {
        add(&aux, "u%d\tin\tg%d\n", u, u % GROUPS);
        add(&test, "u%d\tspeaks\tl%d\n", u, (u + (fooled && fooled[u])) % GROUPS);
    }
    put_drafts(folder, &train, &test, &aux);
    return folder;
}

static void fit__probabilities_are_calibrated_even_where_the_fit_was_far_too_sure(void **state)
{
    uint8_t fooled[200];
    kith__fusion f;
    kith__calibration c = {0};
    kith_error error;
    setup s;

    (void)state;
    setup_open(&s, sure_folder(NULL), "rules", 1);
    for (int u = 0; u < 200; u++) {
        uint32_t id = 0;
        assert_int_equal(kith_graph_find_entity(&id, s.graph, format("u%d", u)), KITH_OK);
        fooled[u] = ((id + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % 5 == 0;
    }
    setup_close(&s);
    setup_open(&s, sure_folder(fooled), "rules", 1);
    assert_int_equal(kith__fusion_fit(&f, &c, s.model, s.evidence, false, &error), KITH_OK);
    check_fusion_numbers(&f, &c);
    /* The fit is wrong about all that were set aside, so that shares must hardly count. */
    assert_true(f.loss > 2);
    for (int k = 0; k < KITH__CALIBRATION; k++)
        if (!(fabsf(c.weight[k]) < 5))
            fail_msg("calibration %d: found %g", k, (double)c.weight[k]);
    kith__fusion_release(&f);
    setup_close(&s);
}

/* The mean rank that a fusion gives the hidden objects of test. */
typedef struct {
    const kith__query *queries;
    double sum;
} rank_sum;

static void add_rank(void *context, size_t query, kith__fusion_workspace *f)
{
    rank_sum *r = context;
    uint32_t gold = kith__hidden_side(&r->queries[query]);

    for (uint32_t e = 0; e < f->at.candidates; e++)
        r->sum += f->scores[e] > f->scores[gold] ? 1 : f->scores[e] == f->scores[gold] ? .5 : 0;
}

static double mean_rank(const setup *s, const kith__fusion *f)
{
    kith__query *queries;
    size_t count = test_queries(&queries, s), used = 0;
    kith_error error;

    for (size_t i = 0; i < count; i++)
        if (!queries[i].subject_hidden)
            queries[used++] = queries[i];
    rank_sum r = {queries, 0};
    const kith__answer_set among = kith__answers_below(s->seen);
    assert_int_equal(kith__fusion_sweep(s->model, f, s->evidence, queries, used, &among, 0, false,
                                        add_rank, &r, &error),
                     KITH_OK);
    free(queries);
    return r.sum / (double)used;
}

static void fit__without_anything_to_fit_on_still_ranks_by_rules(void **state)
{
    const char *folder = group_folder(83, 80, 30);
    kith__fusion f, none = {0};
    kith__calibration c = {0};
    kith_error error;
    setup s, empty;

    (void)state;
    setup_open(&s, folder, "rules", 1);
    unlink(format("%s/test", folder));
    setup_open(&empty, folder, "rules", 1);
    assert_int_equal(kith__fusion_fit(&f, &c, empty.model, empty.evidence, false, &error), KITH_OK);
    check_fusion_numbers(&f, &c);
    assert_int_equal(f.queries, 0);
    assert_true(mean_rank(&s, &f) < .5 * mean_rank(&s, &none));
    setup_close(&s);
    setup_close(&empty);
}

/* ---- known answers ---- */

static bool holds(const kith_graph *graph, const char *s, const char *r, const char *o)
{
    for (int part = 0; part < KITH_SPLITS; part++) {
        kith_facts f = kith_graph_facts(graph, part);
        for (size_t i = 0; i < f.count; i++)
            if ((!f.truth || f.truth[i]) &&
                strcmp(kith_graph_entity_name(graph, f.at[i].subject), s) == 0 &&
                strcmp(kith_graph_relation_name(graph, f.at[i].relation), r) == 0 &&
                strcmp(kith_graph_entity_name(graph, f.at[i].object), o) == 0)
                return true;
    }
    return false;
}

static void check_known(const kith_graph *graph, const kith_graph *more, bool subject_hidden)
{
    uint32_t n = kith_graph_entity_count(graph);
    uint8_t *marks = calloc(n, 1);
    kith__known known;
    kith_error error;

    assert_int_equal(kith__known_init(&known, graph, more, subject_hidden, &error), KITH_OK);
    for (uint32_t e = 0; e < n; e++)
        for (uint32_t r = 0; r < kith_graph_relation_count(graph); r++) {
            kith__known_mark(marks, n, &known, e, r, 1);
            for (uint32_t a = 0; a < n; a++) {
                const char *s = kith_graph_entity_name(graph, subject_hidden ? a : e);
                const char *o = kith_graph_entity_name(graph, subject_hidden ? e : a);
                const char *name = kith_graph_relation_name(graph, r);
                bool expected = holds(graph, s, name, o) || (more && holds(more, s, name, o));
                assert_int_equal(kith__known_has(&known, e, r, a), expected);
                assert_int_equal(marks[a], expected);
            }
            kith__known_mark(marks, n, &known, e, r, 0);
            for (uint32_t a = 0; a < n; a++)
                assert_int_equal(marks[a], 0);
        }
    kith__known_release(&known);
    free(marks);
}

static void known__answers_are_those_of_both_graphs_by_name(void **state)
{
    random_shape shape = {.entities = 9,
                          .relations = 3,
                          .train = 25,
                          .dev = 5,
                          .test = 8,
                          .aux = 4,
                          .labels = true,
                          .overlap = true};
    random_shape other = {.entities = 14, .relations = 4, .train = 30, .test = 5};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 91, 0);
    for (int i = 0; i < 4; i++) {
        kith_graph *graph = opened(random_folder(&rng, &shape));
        kith_graph *more = opened(random_folder(&rng, &other));
        check_known(graph, i % 2 ? more : NULL, i & 2);
        check_known(graph, more, !(i & 2));
        kith_graph_free(graph);
        kith_graph_free(more);
    }
}

/* ---- evaluation ---- */

static void give(setup *s, const kith__fusion *fusion)
{
    kith_error error;
    assert_int_equal(kith__fused_give(s->model, s->evidence, fusion, &some_calibration, &error),
                     KITH_OK);
    s->evidence = NULL;
}

static kith_eval *evaluated(setup *s, const kith_eval_options *options)
{
    kith_eval *result;
    kith_error error;

    if (kith_graph_facts(s->graph, options->split).truth)
        assert_int_equal(kith__classifier_fit(s->model, &error), KITH_OK);
    if (kith_evaluate(&result, s->model, options, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return result;
}

/* ---- what training measures ---- */

/* The queries of test that hide a seen entity; returns how many. */
static size_t seen_queries(kith__query **queries, const setup *s)
{
    kith_facts test = kith_graph_facts(s->graph, KITH_TEST);

    *queries = calloc(test.count, sizeof **queries);
    for (size_t i = 0; i < test.count; i++)
        (*queries)[i] = (kith__query){test.at[i], test.at[i].object >= s->seen};
    return test.count;
}

static void held_out__ranks_are_those_of_evaluation(void **state)
{
    kith__known known[2];
    kith__query *queries;
    kith_error error;
    setup s;

    (void)state;
    setup_open(&s, contrary_folder(true), "rules", 2);
    for (int side = 0; side < 2; side++)
        assert_int_equal(kith__known_init(&known[side], s.graph, NULL, side, &error), KITH_OK);
    const kith__held_out_data data = {s.model, s.evidence, false, s.seen, known};
    kith__fusion fusion = {.regularization = 0};
    fusion.common.all[KITH__F_PRIOR] = fusion.common.bare[KITH__F_PRIOR] = .7f;
    fusion.common.all[KITH__F_ALL] = fusion.common.bare[KITH__F_ALL] = 1.3f;
    size_t count = seen_queries(&queries, &s);
    kith__held_out_query *ranked = calloc(count, sizeof *ranked);
    assert_int_equal(kith__held_out_rank(ranked, &data, &fusion, queries, count, &error), KITH_OK);
    give(&s, &fusion);
    kith_eval *e = evaluated(&s, &(kith_eval_options){.split = KITH_TEST});
    assert_int_equal(e->rank_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_memory_equal(&e->ranks[i]->fact, &queries[i].fact, sizeof queries[i].fact);
        assert_true(fabs(e->ranks[i]->realistic - ranked[i].rank) < 1e-9);
        assert_int_equal(e->ranks[i]->judgements, ranked[i].samples);
    }
    kith_eval_free(e);
    kith__known_release(&known[0]);
    kith__known_release(&known[1]);
    free(ranked);
    free(queries);
    setup_close(&s);
}

/* All queries where the calibration split is small, else that split alone. */
static void held_out__measures_the_calibration_split_or_both_halves(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        kith__fusion f, some;
        kith__calibration c = {0};
        kith__held_out h = {0}, again = {0};
        kith__holdout holdout;
        kith_error error;
        for (unsigned threads = 1; threads < (large ? 2 : 3); threads++) {
            setup s;
            setup_open(&s, contrary_folder_of(true, large ? 540 : 60), "rules", threads);
            assert_int_equal(kith__holdout_init(&holdout, s.graph, s.model->settings.predict, 1,
                                                &error), KITH_OK);
            assert_int_equal(kith__fusion_fit_both(&f, &some, &c, threads == 1 ? &h : &again,
                                                   s.model, s.evidence, &holdout, false, &error),
                             KITH_OK);
            assert_int_equal(h.metrics.queries, large ? f.calibration_queries : f.queries);
            kith__holdout_release(&holdout);
            kith__fusion_release(&f);
            kith__fusion_release(&some);
            setup_close(&s);
        }
        if (!large)
            assert_memory_equal(&h, &again, sizeof h);
        assert_int_equal(h.entities, h.metrics.queries / 2);
        assert_true(h.metrics.mrr > .1 && h.metrics.mrr <= 1 && h.metrics.mr >= 1);
        assert_true(h.calibration_error >= 0 && h.calibration_error < .2);
    }
}

static void held_out__sums_are_means_and_few_entities_have_no_probabilities(void **state)
{
    kith__held_out_query queries[] = {{.entity = 7, .rank = 4}, {.entity = 5, .rank = 1},
                                      {.entity = 7, .rank = 1.5}, {.entity = 6, .rank = 20}};
    kith__held_out h;
    kith_error error;

    (void)state;
    assert_int_equal(kith__held_out_sum_up(&h, queries, 4, &error), KITH_OK);
    assert_int_equal(h.entities, 3);
    assert_int_equal(h.metrics.queries, 4);
    assert_true(fabs(h.metrics.mrr - (1 / 4. + 1 + 1 / 1.5 + 1 / 20.) / 4) < 1e-12);
    assert_true(fabs(h.metrics.hits1 - .25) < 1e-12 && fabs(h.metrics.hits3 - .5) < 1e-12);
    assert_true(h.calibration_error < 0);
    assert_int_equal(kith__held_out_sum_up(&h, queries, 0, &error), KITH_OK);
    assert_int_equal(h.entities, 0);
}

static void check_sums(const kith_metrics *const *at, size_t count, const kith_metrics *total)
{
    double queries = 0, mr = 0, mrr = 0, hits1 = 0, hits10 = 0;

    for (size_t i = 0; i < count; i++) {
        double n = (double)at[i]->queries;
        queries += n;
        mr += n * at[i]->mr;
        mrr += n * at[i]->mrr;
        hits1 += n * at[i]->hits1;
        hits10 += n * at[i]->hits10;
    }
    assert_int_equal(queries, total->queries);
    assert_true(fabs(mr / queries - total->mr) < 1e-9);
    assert_true(fabs(mrr / queries - total->mrr) < 1e-9);
    assert_true(fabs(hits1 / queries - total->hits1) < 1e-9);
    assert_true(fabs(hits10 / queries - total->hits10) < 1e-9);
}

enum { RELIABILITY_BINS = 10 };

static void check_reliability(const kith_eval *e)
{
    size_t answers[RELIABILITY_BINS] = {0};
    double error = 0, total = 0;

    assert_int_equal(e->reliability_count, RELIABILITY_BINS);
    for (size_t i = 0; i < e->realistic->queries; i++)
        for (uint32_t k = 0; k < e->ranks[i]->judgements; k++)
            answers[(int)fmin(9, floor((double)e->ranks[i]->judged[k].probability_if_one * 10))]++;
    for (int i = 0; i < RELIABILITY_BINS; i++) {
        const kith_reliability *r = e->reliability[i];
        assert_int_equal(r->answers, answers[i]);
        assert_true(r->answers == 0 ||
                    (r->predicted >= i / 10. - 1e-6 && r->predicted <= (i + 1) / 10. + 1e-6));
        error += (double)r->answers * fabs(r->predicted - r->correct);
        total += (double)r->answers;
    }
    assert_true(fabs(e->calibration_error - error / total) < 1e-9);
}

/* Known answers and links, counted in the facts that the known side is known by. */
static void check_breakdown(const setup *s, const kith_eval *e)
{
    size_t linked = 0, without = 0;
    kith_facts train = kith_graph_facts(s->graph, KITH_TRAIN);
    kith_facts aux = kith_graph_facts(s->graph, KITH_AUX);

    for (size_t i = 0; i < e->realistic->queries; i++) {
        kith_triple t = e->ranks[i]->fact;
        size_t known = 0, links = 0;
        kith_facts f = t.subject < s->seen ? train : aux;
        for (size_t k = 0; k < f.count; k++) {
            kith_triple u = f.at[k];
            known += u.subject == t.subject && u.relation == t.relation;
            links += (u.subject == t.subject && u.object == t.object) ||
                     (u.subject == t.object && u.object == t.subject);
        }
        linked += links > 0;
        without += known == 0;
    }
    assert_true(linked > 0 && linked < e->realistic->queries);
    assert_int_equal(e->linked->queries, linked);
    assert_int_equal(e->by_known[0]->queries, without);
}

static void eval__breakdowns_sum_to_the_total(void **state)
{
    kith__rng rng;
    setup s;

    (void)state;
    kith__rng_init(&rng, 101, 0);
    kith__fusion fusion = random_fusion(&rng);
    setup_open(&s, group_folder(101, 60, 20), "rules", 2);
    give(&s, &fusion);
    kith_eval *e = evaluated(&s, &(kith_eval_options){.split = KITH_TEST});
    check_sums((const kith_metrics *[]){e->not_linked, e->linked}, 2, e->realistic);
    check_sums(e->by_known, e->bucket_count, e->realistic);
    check_sums(e->by_facts, e->bucket_count, e->realistic);
    check_sums(e->by_kind, e->kind_count, e->realistic);
    check_breakdown(&s, e);
    check_reliability(e);
    kith_eval_free(e);
    setup_close(&s);
}

/* Ranks by sorting nothing: every candidate is looked at, known ones by name. */
static void check_ranks(const setup *s, const kith_eval *e, const kith__fusion *fusion,
                        const kith_graph *filter)
{
    const kith__fused *fused = s->model->fused;
    kith__fusion_workspace f;
    kith_error error;

    assert_int_equal(
        kith__fusion_workspace_init(&f, fusion, fused->evidence, s->log_degree, 0, &error),
        KITH_OK);
    for (size_t i = 0; i < e->realistic->queries; i++) {
        kith_triple t = e->ranks[i]->fact;
        uint32_t better = 0, equal = 0, left = 0;
        kith__span facts = kith__facts_of(fused->evidence->base->index, t.subject);
        assert_int_equal(kith__fusion_run(&f, facts, t.subject, t.relation, NULL, s->seen, &error),
                         KITH_OK);
        for (uint32_t c = 0; c < s->seen; c++) {
            const char *names[] = {kith_graph_entity_name(s->graph, t.subject),
                                   kith_graph_relation_name(s->graph, t.relation),
                                   kith_graph_entity_name(s->graph, c)};
            if (c != t.object && (holds(s->graph, names[0], names[1], names[2]) ||
                                  (filter && holds(filter, names[0], names[1], names[2]))))
                continue;
            left++;
            better += f.scores[c] > f.scores[t.object];
            equal += f.scores[c] == f.scores[t.object];
        }
        assert_int_equal(e->ranks[i]->optimistic, 1 + better);
        assert_int_equal(e->ranks[i]->pessimistic, better + equal);
        assert_int_equal(e->ranks[i]->candidates, left);
    }
    kith__fusion_workspace_release(&f);
}

static void eval__a_filter_takes_away_what_it_knows_and_nothing_else(void **state)
{
    draft more = {0};
    kith__rng rng;
    setup s;

    (void)state;
    kith__rng_init(&rng, 102, 0);
    kith__fusion fusion = random_fusion(&rng);
    setup_open(&s, group_folder(102, 40, 12), "rules", 2);
    give(&s, &fusion);
    for (int i = 40; i < 52; i++)
        add(&more,
            "e%d\tspeaks\tl%d\ne%d\tlikes\tt%d\ne%d\tlikes\tunknown\ne%d\tnever\tt1\n"
            "nobody\tlikes\tt1\n",
            i, i % 3, i, i % 7, i, i);
    kith_graph *filter = opened(file("more.tsv", more.at));
    kith_eval *plain = evaluated(&s, &(kith_eval_options){.split = KITH_TEST});
    kith_eval *filtered = evaluated(&s, &(kith_eval_options){.split = KITH_TEST, .filter = filter});
    check_ranks(&s, plain, &fusion, NULL);
    check_ranks(&s, filtered, &fusion, filter);
    assert_true(filtered->realistic->mr < plain->realistic->mr);
    for (size_t i = 0; i < plain->realistic->queries; i++)
        assert_true(filtered->ranks[i]->realistic <= plain->ranks[i]->realistic);
    kith_eval_free(plain);
    kith_eval_free(filtered);
    kith_graph_free(filter);
    draft_release(&more);
    setup_close(&s);
}

/* Facts with a label: for one relation what is common in train is true, for the other it is
 * false. */
static void add_labelled(draft *to, char who, int from, int until)
{
    for (int i = from; i < until; i++)
        add(to,
            "%c%d\tspeaks\tl0\t1\n%c%d\tspeaks\tl%d\t-1\n%c%d\tbears\tp%d\t1\n"
            "%c%d\tbears\tp0\t-1\n",
            who, i, who, i, 1 + i % 3, who, i, 1 + i % 3, who, i);
}

static void eval__facts_are_judged_by_what_counts_for_their_relation(void **state)
{
    const char *folder = new_folder();
    draft train = {0}, dev = {0}, test = {0}, aux = {0};
    setup s;

    (void)state;
    for (int i = 0; i < 120; i++)
        add(&train, "e%d\tin\tg%d\ne%d\tspeaks\tl%d\ne%d\tbears\tp%d\n", i, i % 5, i,
            i % 8 ? 0 : 1 + i / 8 % 3, i, i % 8 ? 0 : 1 + i / 8 % 3);
    for (int i = 120; i < 200; i++)
        add(&train, "e%d\tin\tg%d\n", i, i % 5);
    for (int i = 0; i < 60; i++)
        add(&aux, "u%d\tin\tg%d\n", i, i % 5);
    add_labelled(&dev, 'e', 120, 200);
    add_labelled(&test, 'u', 0, 60);
    put(folder, "train", train.at);
    put(folder, "dev", dev.at);
    put(folder, "test", test.at);
    put(folder, "aux", aux.at);
    setup_open(&s, folder, "rules", 1);
    kith__fusion fusion = {.common.all = {[KITH__F_ALL] = 1}, .common.bare = {[KITH__F_ALL] = 1}};
    give(&s, &fusion);
    kith_eval *e = evaluated(&s, &(kith_eval_options){.split = KITH_TEST});
    assert_true(e->classification);
    if (!(e->accuracy > .95))
        fail_msg("found the accuracy %g", e->accuracy);
    kith_eval_free(e);
    setup_close(&s);
    draft_release(&train);
    draft_release(&dev);
    draft_release(&test);
    draft_release(&aux);
}

/* Only seen candidates have an input embedding. It orders them in the same way whether unseen ones
 * are candidates or not, and these only push ranks down. */
static void eval__the_embedding_counts_beside_unseen_candidates_too(void **state)
{
    kith__rng rng;
    setup s;

    (void)state;
    kith__rng_init(&rng, 105, 0);
    kith__fusion fusion = random_fusion(&rng);
    setup_open(&s, group_folder(105, 60, 20), "kith", 1);
    give(&s, &fusion);
    kith_eval_options options = {.split = KITH_TEST, .candidates = KITH_ANSWERS_ALL};
    kith_eval *all = evaluated(&s, &options);
    options.candidates = KITH_ANSWERS_SEEN;
    kith_eval *seen = evaluated(&s, &options);
    options.without = KITH_PART_EMBEDDING;
    kith_eval *without = evaluated(&s, &options);
    assert_true(seen->realistic->queries > 0);
    assert_int_equal(seen->realistic->queries, without->realistic->queries);
    assert_true(memcmp(seen->ranks[0], without->ranks[0], seen->rank_count * sizeof **seen->ranks));
    for (size_t i = 0, k = 0; i < all->realistic->queries && k < seen->realistic->queries; i++) {
        const kith_rank *a = all->ranks[i], *b = seen->ranks[k];
        if (memcmp(&a->fact, &b->fact, sizeof a->fact) || a->subject_hidden != b->subject_hidden)
            continue;
        assert_true(a->realistic >= b->realistic);
        assert_true(a->candidates > b->candidates);
        k++;
    }
    kith_eval_free(all);
    kith_eval_free(seen);
    kith_eval_free(without);
    setup_close(&s);
}

static void eval__parts_that_do_not_exist_are_refused(void **state)
{
    kith__fusion fusion = {0};
    kith_eval *result;
    kith_error error;
    setup s;

    (void)state;
    setup_open(&s, group_folder(103, 20, 6), "rules", 1);
    give(&s, &fusion);
    assert_int_equal(kith_evaluate(&result, s.model,
                                   &(kith_eval_options){.split = KITH_TEST,
                                                        .without = KITH_PART_DIRECT | 1 << 20},
                                   &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "no part 1048577");
    setup_close(&s);
}

/* ---- files ---- */

/* A finished run, made once. */
static const char *run;
static kith_graph *run_graph;

static int make_run(void **state)
{
    kith_settings settings;
    kith_train_end end;
    kith_error error;

    (void)state;
    run = keep(format("%s/run", new_folder()));
    run_graph = opened(group_folder(111, 60, 15));
    assert_int_equal(kith__settings_init(&settings, "rules", &error), KITH_OK);
    if (kith_train(&end, run, run_graph, &settings, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(end, KITH_TRAIN_FINISHED);
    return 0;
}

static int free_run(void **state)
{
    (void)state;
    kith_graph_free(run_graph);
    return 0;
}

static kith_model *opened_run(void)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_open(&model, run, &(kith_work_options){.threads = 1}, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return model;
}

static void check_same_patterns(const kith__rules *a, const kith__rules *b)
{
    assert_int_equal(a->relations, b->relations);
    assert_memory_equal(a->offset, b->offset, (a->relations + 1) * sizeof *a->offset);
    assert_true(a->offset[a->relations] > 0);
    assert_memory_equal(a->at, b->at, a->offset[a->relations] * sizeof *a->at);
}

static void files__hold_all_that_was_mined_and_fitted(void **state)
{
    kith_model *model = opened_run();
    kith__evidence *mined;
    kith_error error;

    (void)state;
    assert_int_equal(kith__evidence_new(&mined, model->graph, false, model->pool, &error), KITH_OK);
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i]->mine)
            check_same_patterns(&mined->rules->of[i], &model->fused->evidence->rules->of[i]);
    kith__evidence_free(mined);
    kith_model_free(model);
}

static void files__a_fusion_comes_back_bit_by_bit(void **state)
{
    kith_model *model = opened_run();
    kith__rng rng;
    kith_error error;

    (void)state;
    kith__rng_init(&rng, 112, 0);
    const char *folder = new_folder();
    assert_false(kith__fusion_saved(folder));
    assert_int_equal(kith__rules_save(folder, model->fused->evidence->rules, &error), KITH_OK);
    for (int i = 0; i < 20; i++) {
        kith__fusion f = random_fusion(&rng);
        f.common.all[0] = 0;
        f.common.all[1] = 1e-38f * f.common.all[1];
        f.own[1].weights.unseen[2] = 1e4f * f.own[1].weights.unseen[2];
        const kith__fitted_fusion fitted = {f, some_calibration};
        assert_int_equal(kith__fusion_save(folder, &fitted, NULL, &error), KITH_OK);
        assert_true(kith__fusion_saved(folder));
        setup s;
        s.graph = run_graph;
        kith_settings settings = *kith_model_settings(model);
        assert_int_equal(kith_model_new(&s.model, run_graph, &settings,
                                        &(kith_work_options){.threads = 1}, &error),
                         KITH_OK);
        assert_int_equal(kith__fused_open(s.model, folder, i % 2, &error), KITH_OK);
        check_same_fusion(&s.model->fused->fusion, &f);
        assert_memory_equal(s.model->calibration.weight, some_calibration.weight,
                            sizeof some_calibration.weight);
        kith_model_free(s.model);
        kith__fusion_release(&f);
    }
    kith_model_free(model);
}

static void check_opened(const kith_model *like, const char *folder, bool new_graph,
                         const kith__fitted_fusion *expected)
{
    kith_model *model;
    kith_error error;

    assert_int_equal(kith_model_new(&model, run_graph, kith_model_settings(like),
                                    &(kith_work_options){.threads = 1}, &error),
                     KITH_OK);
    assert_int_equal(kith__fused_open(model, folder, new_graph, &error), KITH_OK);
    check_same_fusion(&model->fused->fusion, &expected->fusion);
    assert_memory_equal(model->calibration.weight, expected->calibration.weight,
                        sizeof expected->calibration.weight);
    kith_model_free(model);
}

static void files__a_new_graph_has_a_fusion_of_its_own(void **state)
{
    kith_model *model = opened_run();
    const char *folder = new_folder();
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 113, 0);
    kith__fitted_fusion trained = {random_fusion(&rng), some_calibration};
    kith__fitted_fusion other = {random_fusion(&rng), some_calibration};
    other.calibration.weight[0] += 1;
    assert_int_equal(kith__rules_save(folder, model->fused->evidence->rules, NULL), KITH_OK);
    assert_int_equal(kith__fusion_save(folder, &trained, &other, NULL), KITH_OK);
    check_opened(model, folder, false, &trained);
    check_opened(model, folder, true, &other);
    kith__fusion_release(&trained.fusion);
    kith__fusion_release(&other.fusion);
    kith_model_free(model);
}

/* The first features, as they were called until format 2 and as they are now. */
static const char *const former[][2] = {
    {"a", "direct best"},
    {"log a", "direct log best"},
    {"a all", "direct noisy-or"},
    {"a mined", "direct best as mined"},
    {"a count", "direct count"},
    {"links", "linking facts"},
    {"b", "path best"},
    {"log b", "path log best"},
    {"b all", "path noisy-or"},
    {"b count", "path count"},
    {"c", "constant best"},
    {"log c", "constant log best"},
    {"c second", "constant second best"},
    {"c all", "constant noisy-or"},
    {"c count", "constant count"},
    {"d", "shared best"},
    {"log d", "shared log best"},
    {"d shared", "shared share of known answers"},
    {"d sum", "shared sum"},
    {"best", "rules best"},
    {"log best", "rules log best"},
    {"all", "rules noisy-or"},
    {"answers often", "answer frequency"},
    {"facts of it", "degree"},
    {"fits", "type score"},
    {"fits by known answers", "type score x known answers"},
    {"fits in all", "type score of all relations"},
    {"near", "proximity"},
    {"near and not linked", "proximity if not linked"},
    {"near by known answers", "proximity x known answers"},
    {"embedding", "embedding"},
    {"embedding log p", "embedding log p"},
    {"embedding without a", "embedding x no direct rule"},
    {"embedding log p without a", "embedding log p x no direct rule"},
    {"embedding log p of linked", "embedding log p if linked"},
    {"log best by known answers", "rules log best x known answers"},
    {"all by known answers", "rules noisy-or x known answers"},
    {"log c by known answers", "constant log best x known answers"},
    {"log d by known answers", "shared log best x known answers"},
    {"d shared by known answers", "shared share x known answers"},
    {"answers often by known answers", "answer frequency x known answers"},
    {"embedding log p by known answers", "embedding log p x known answers"},
    {"log best by facts", "rules log best x facts"},
    {"all by facts", "rules noisy-or x facts"},
    {"log c by facts", "constant log best x facts"},
    {"log d by facts", "shared log best x facts"},
    {"answers often by facts", "answer frequency x facts"},
    {"embedding log p by facts", "embedding log p x facts"},
};
enum { FORMER = sizeof former / sizeof *former };

static int feature_called(const char *name)
{
    int i = 0;

    while (i < N && strcmp(kith__feature_name(i), name) != 0)
        i++;
    if (i == N)
        fail_msg("found no feature '%s'", name);
    return i;
}

/* With names, or in a list by position. */
static void add_former(draft *t, const float *weight, bool named)
{
    for (int i = 0; i < FORMER; i++) {
        float one = weight[feature_called(former[i][1])];
        add(t, i ? ", " : named ? "{" : "[");
        if (named)
            add(t, "\"%s\": ", former[i][0]);
        add(t, "%.9g", one);
    }
    add(t, named ? "}" : "]");
}

static void write_former(draft *t, const kith__fusion *f, int format)
{
    add(t, "{\"format\": %d, \"queries\": 7, \"set_aside\": 2, \"loss\": 0.5, \"pull\": 30, "
           "\"calibration\": [0.8, -0.3, 0.2], \"weights\": ", format);
    add_former(t, f->common.all, true);
    add(t, ", \"weights_without_embedding\": ");
    add_former(t, f->common.unseen, true);
    for (uint32_t i = 0; i < f->own_count; i++) {
        add(t, "%s{\"query\": %u, \"weights\": ", i ? ", " : ", \"by_relation\": [",
            f->own[i].query);
        add_former(t, f->own[i].weights.all, format == 2);
        add(t, ", \"weights_without_embedding\": ");
        add_former(t, f->own[i].weights.unseen, format == 2);
        add(t, "}");
    }
    add(t, "]}");
}

/* Later features have no weight there. */
static void drop_later(float *weight)
{
    float kept[N] = {0};

    for (int i = 0; i < FORMER; i++)
        kept[feature_called(former[i][1])] = weight[feature_called(former[i][1])];
    memcpy(weight, kept, sizeof kept);
}

static void drop_embedding(float *weight)
{
    for (int k = 0; k < N; k++)
        if (kith__feature_part(k) == KITH_PART_EMBEDDING)
            weight[k] = 0;
}

/* Such files have one set without the embedding, which is for unseen candidates too; in those of
 * rules alone the first set holds for seen ones. */
static void make_former(kith__weights *w, bool embedding)
{
    drop_later(w->all);
    drop_later(w->unseen);
    if (!embedding)
        drop_embedding(w->all);
    memcpy(w->bare, embedding ? w->unseen : w->all, sizeof w->bare);
}

static void check_former(int format, bool embedding)
{
    kith_model *model = opened_run(), *other = NULL;
    const char *folder = new_folder();
    kith__rng rng;
    kith_error error;
    draft t = {0};

    kith__rng_init(&rng, 113, 0);
    kith__fusion f = random_fusion(&rng);
    make_former(&f.common, embedding);
    for (uint32_t i = 0; i < f.own_count; i++)
        make_former(&f.own[i].weights, embedding);
    write_former(&t, &f, format);
    put(folder, "fusion.json", t.at);
    assert_int_equal(kith__rules_save(folder, model->fused->evidence->rules, &error), KITH_OK);
    assert_int_equal(kith_model_new(&other, run_graph, kith_model_settings(model),
                                    &(kith_work_options){.threads = 1}, &error),
                     KITH_OK);
    if (kith__fused_open(other, folder, false, &error) != KITH_OK)
        fail_msg("%s", error.message);
    check_same_fusion(&other->fused->fusion, &f);
    kith__fusion_release(&f);
    draft_release(&t);
    kith_model_free(other);
    kith_model_free(model);
}

/* As version 0.1 wrote it, and the first of 0.2: former names of features, weights of relations by
 * position. */
static void files__former_names_of_features_are_still_read(void **state)
{
    (void)state;
    for (int format = 1; format <= 2; format++) {
        check_former(format, true);
        check_former(format, false);
    }
}

static void files__a_run_opened_twice_evaluates_the_same(void **state)
{
    kith_eval *e[2];
    kith_error error;

    (void)state;
    for (int i = 0; i < 2; i++) {
        kith_model *model = opened_run();
        const kith_eval_options options = {.split = KITH_TEST};
        assert_int_equal(kith_evaluate(&e[i], model, &options, &error), KITH_OK);
        kith_model_free(model);
    }
    assert_int_equal(e[0]->realistic->queries, e[1]->realistic->queries);
    assert_memory_equal(e[0]->ranks[0], e[1]->ranks[0], e[0]->rank_count * sizeof **e[0]->ranks);
    kith_eval_free(e[0]);
    kith_eval_free(e[1]);
}

/* Put bytes in a file's place, look what opening says, and put the file back. */
static void check_damaged(const char *name, const char *bytes, size_t length, const char *part)
{
    const char *path = keep(format("%s/%s", run, name));
    size_t size;
    char *good = contents(path, &size);
    kith_model *model = NULL;
    kith_error error = {KITH_OK, ""};

    put_bytes(run, name, bytes, length);
    if (memmem(bytes, length, "\"checksum\"", 10))
        reseal(run, name);
    kith_status status = kith_model_open(&model, run, &(kith_work_options){.threads = 1}, &error);
    put_bytes(run, name, good, size);
    free(good);
    if (status == KITH_OK)
        fail_msg("%s: found a model, expected \"%s\"", name, part);
    assert_null(model);
    assert_int_equal(status, KITH_ERR_INPUT);
    assert_contains(error.message, path);
    assert_contains(error.message, part);
}

static void check_damaged_text(const char *name, const char *old, const char *new, const char *part)
{
    size_t size;
    char *good = contents(format("%s/%s", run, name), &size), *at = strstr(good, old);
    draft t = {0};

    assert_non_null(at);
    add(&t, "%.*s%s%s", (int)(at - good), good, new, at + strlen(old));
    check_damaged(name, t.at, t.length, part);
    draft_release(&t);
    free(good);
}

static void files__a_damaged_fusion_is_refused(void **state)
{
    (void)state;
    check_damaged("fusion.json", "", 0, "expected");
    check_damaged("fusion.json", "[1]", 3, "checksum");
    check_damaged("fusion.json", "{}", 2, "checksum");
    check_damaged_text("fusion.json", "\"format\": 3", "\"format\": 4", "format 4");
    check_damaged_text("fusion.json", "\"format\": 3", "\"format\": \"3\"", "format");
    check_damaged_text("fusion.json", "\"direct log best\"", "\"direct log worst\"", "weight");
    check_damaged_text("fusion.json", "\"by_relation\": []", "\"by_relation\": [{\"query\": 0}]",
                       "weight");
    check_damaged_text("fusion.json",
                       "\"direct log best\": ", "\"direct log best\": NaN, \"x\": ", "expected");
    check_damaged_text("fusion.json",
                       "\"direct log best\": ", "\"direct log best\": \"1\", \"x\": ", "weight");
    check_damaged_text("fusion.json",
                       "\"direct log best\": ", "\"direct log best\": 1e39, \"x\": ", "finite");
    check_damaged_text("fusion.json",
                       "\"direct log best\": ", "\"direct log best\": null, \"x\": ", "weight");
    check_damaged_text("fusion.json", "\"calibration\"", "\"calibrated\"", "calibration");
}

static void files__a_fusion_cut_off_anywhere_is_refused(void **state)
{
    size_t size;
    char *good = contents(format("%s/fusion.json", run), &size);

    (void)state;
    for (size_t length = 0; length + 2 < size; length += 1 + size / 40)
        check_damaged("fusion.json", good, length, "fusion.json");
    free(good);
}

static void files__damaged_rules_are_refused(void **state)
{
    size_t size;
    char *good = contents(format("%s/rules.safetensors", run), &size);

    (void)state;
    for (size_t length = 0; length < size; length += 1 + size / 60)
        check_damaged("rules.safetensors", good, length, "rules.safetensors");
    check_damaged("rules.safetensors", good, size - 1, "rules.safetensors");
    memset(good, 0xff, 8); /* a header longer than anything */
    check_damaged("rules.safetensors", good, size, "rules.safetensors");
    free(good);
}

/* A rule whose number at `column` of its row is another. */
static void check_bad_rule(size_t from_end, uint32_t value)
{
    size_t size;
    char *bytes = contents(format("%s/rules.safetensors", run), &size);

    memcpy(bytes + size - 4 * from_end, &value, 4);
    check_damaged("rules.safetensors", bytes, size, "rule");
    free(bytes);
}

static void files__rules_that_cannot_be_are_refused(void **state)
{
    (void)state;
    /* The last row of kind B, from its end: bodies, hits, second, first, conclusion. */
    check_bad_rule(1, 0);
    check_bad_rule(2, UINT32_MAX);
    check_bad_rule(3, 4000);
    check_bad_rule(4, UINT32_MAX);
    check_bad_rule(5, 0);
    check_bad_rule(5, 4000);
}

static void files__rules_of_another_graph_are_refused(void **state)
{
    kith_model *model = opened_run();
    const char *folder = new_folder();
    kith_graph *other = opened(file("g.tsv", "a\tr\tb\nb\tr\tc\na\ts\tb\n"));
    kith_settings settings = *kith_model_settings(model);
    kith_model *foreign;
    kith_error error = {KITH_OK, ""};

    (void)state;
    assert_int_equal(kith__rules_save(folder, model->fused->evidence->rules, &error), KITH_OK);
    const kith__fitted_fusion fitted = {model->fused->fusion, model->calibration};
    assert_int_equal(kith__fusion_save(folder, &fitted, NULL, &error), KITH_OK);
    assert_int_equal(
        kith_model_new(&foreign, other, &settings, &(kith_work_options){.threads = 1}, &error),
        KITH_OK);
    assert_int_equal(kith__fused_open(foreign, folder, false, &error), KITH_ERR_INPUT);
    assert_contains(error.message, "rules.safetensors");
    assert_contains(error.message, "4");
    kith_model_free(foreign);
    kith_model_free(model);
    kith_graph_free(other);
}

static void files__a_run_without_a_fusion_is_not_finished(void **state)
{
    const char *path = keep(format("%s/fusion.json", run)), *aside = keep(format("%s/x", run));
    kith_model *model = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(rename(path, aside), 0);
    kith_status status = kith_model_open(&model, run, &(kith_work_options){.threads = 1}, &error);
    assert_int_equal(rename(aside, path), 0);
    assert_int_equal(status, KITH_ERR_INPUT);
    assert_contains(error.message, "kith train --resume");
}

/* ---- failing allocations ---- */

typedef kith_status (*attempt)(void *context, kith_error *error);

static void torture(attempt call, void *context)
{
    for (size_t n = 1;; n++) {
        kith_error error = {KITH_OK, ""};
        kith__mem_fail_at(n);
        kith_status status = call(context, &error);
        kith__mem_fail_at(0);
        if (status == KITH_OK && n > 1)
            return;
        if (status != KITH_ERR_MEMORY)
            fail_msg("allocation %zu: found status %d (%s)", n, status, error.message);
        assert_string_equal(error.message, "out of memory");
    }
}

static kith_status try_linear(void *context, kith_error *error)
{
    kith__pool *pool = kith__pool_new(1);
    static const uint32_t queries[] = {0, 1};
    float weight[N] = {0};
    double scale[N];
    kith_status status = KITH_ERR_MEMORY;

    if (pool) {
        kith__linear_scales(scale, context, 0);
        status = kith__linear_fit(weight, context, scale, queries, 2, 2, pool, error);
    }

    if (!pool)
        strcpy(error->message, "out of memory");
    kith__pool_free(pool);
    return status;
}

static kith_status try_fit(void *context, kith_error *error)
{
    setup *s = context;
    kith__fusion f = {0};
    kith__calibration c = {0};
    kith_status status =
        kith__fusion_fit(&f, &c, s->model, s->evidence, s->model->settings.dim > 1, error);

    kith__fusion_release(&f);
    return status;
}

static kith_status try_open(void *context, kith_error *error)
{
    kith_model *model = NULL;
    kith_status status =
        kith_model_open(&model, context, &(kith_work_options){.threads = 1}, error);

    assert_int_equal(model != NULL, status == KITH_OK);
    kith_model_free(model);
    return status;
}

static kith_status try_evaluate(void *context, kith_error *error)
{
    kith_eval *result = NULL;
    kith_status status =
        kith_evaluate(&result, context, &(kith_eval_options){.split = KITH_TEST}, error);

    kith_eval_free(result);
    return status;
}

static void torture__fitting_opening_and_evaluating(void **state)
{
    kith__row_table rows = choices(121, 30);
    setup s;

    (void)state;
    torture(try_linear, &rows);
    rows_free(&rows);
    for (int embedding = 0; embedding < 2; embedding++) {
        setup_open(&s, group_folder(121, 30, 8), embedding ? "kith" : "rules", 1);
        torture(try_fit, &s);
        setup_close(&s);
    }
    torture(try_open, (void *)run);
    kith_model *model = opened_run();
    torture(try_evaluate, model);
    kith_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear__weights_that_made_the_choices_are_found_again),
        cmocka_unit_test(linear__the_slope_of_the_loss_is_0_at_the_result),
        cmocka_unit_test(linear__threads_do_not_matter),
        cmocka_unit_test(linear__queries_that_are_set_aside_have_no_say),
        cmocka_unit_test(linear__a_row_with_an_offset_stands_for_as_many_others),
        cmocka_unit_test(linear__choices_that_one_feature_decides_give_finite_weights),
        cmocka_unit_test(linear__no_rows_give_no_weights),
        cmocka_unit_test(linear__weights_are_pulled_to_where_they_begin),
        cmocka_unit_test(linear__the_loss_is_that_of_the_right_row),
        cmocka_unit_test(linear__the_loss_of_large_scores_is_a_number),
        cmocka_unit_test(logistic__the_loss_is_flat_at_its_weights),
        cmocka_unit_test(logistic__samples_that_can_be_parted_leave_weights_finite),
        cmocka_unit_test(features__have_names_of_their_own_and_parts),
        cmocka_unit_test(fuse__scores_are_weights_times_features),
        cmocka_unit_test(fuse__scores_hold_where_embeddings_hardly_differ),
        cmocka_unit_test(fuse__slopes_say_what_a_better_embedding_changes),
        cmocka_unit_test(fuse__the_best_are_those_of_a_full_sort_without_known_answers),
        cmocka_unit_test(fuse__probabilities_follow_the_scores),
        cmocka_unit_test(held_out__ranks_are_those_of_evaluation),
        cmocka_unit_test(held_out__measures_the_calibration_split_or_both_halves),
        cmocka_unit_test(held_out__sums_are_means_and_few_entities_have_no_probabilities),
        cmocka_unit_test(fuse__shares_are_of_what_is_not_known),
        cmocka_unit_test(fuse__a_share_of_0_or_1_has_a_finite_logit),
        cmocka_unit_test(without__parts_that_are_left_out_have_no_say),
        cmocka_unit_test(without__the_embedding_is_as_if_there_were_none),
        cmocka_unit_test(fuse_each__parts_add_up_for_every_query_at_any_number_of_threads),
        cmocka_unit_test(fit__is_the_same_at_any_number_of_threads),
        cmocka_unit_test(fit__gives_no_weight_to_an_embedding_that_is_not_there),
        cmocka_unit_test(fit__relations_that_differ_get_weights_of_their_own),
        cmocka_unit_test(fit__weights_follow_their_relation_to_another_graph),
        cmocka_unit_test(fit__probabilities_are_calibrated_even_where_the_fit_was_far_too_sure),
        cmocka_unit_test(fit__without_anything_to_fit_on_still_ranks_by_rules),
        cmocka_unit_test(known__answers_are_those_of_both_graphs_by_name),
        cmocka_unit_test(eval__breakdowns_sum_to_the_total),
        cmocka_unit_test(eval__a_filter_takes_away_what_it_knows_and_nothing_else),
        cmocka_unit_test(eval__facts_are_judged_by_what_counts_for_their_relation),
        cmocka_unit_test(eval__the_embedding_counts_beside_unseen_candidates_too),
        cmocka_unit_test(eval__parts_that_do_not_exist_are_refused),
        cmocka_unit_test(files__hold_all_that_was_mined_and_fitted),
        cmocka_unit_test(files__a_fusion_comes_back_bit_by_bit),
        cmocka_unit_test(files__a_new_graph_has_a_fusion_of_its_own),
        cmocka_unit_test(files__former_names_of_features_are_still_read),
        cmocka_unit_test(files__a_run_opened_twice_evaluates_the_same),
        cmocka_unit_test(files__a_damaged_fusion_is_refused),
        cmocka_unit_test(files__a_fusion_cut_off_anywhere_is_refused),
        cmocka_unit_test(files__damaged_rules_are_refused),
        cmocka_unit_test(files__rules_that_cannot_be_are_refused),
        cmocka_unit_test(files__rules_of_another_graph_are_refused),
        cmocka_unit_test(files__a_run_without_a_fusion_is_not_finished),
        cmocka_unit_test(torture__fitting_opening_and_evaluating),
    };
    return cmocka_run_group_tests(tests, make_run, free_run);
}
