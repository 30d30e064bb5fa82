/* The fusion: features, scores, the best, probabilities, parts that are left out, many queries. */
#include <math.h>

#include "model/fusion_sweep.h"
#include "support.h"
#include "fusions.h"

/* ---- graphs ---- */

static float *random_scores(kith__rng *rng, size_t count)
{
    float *scores = malloc(count * sizeof *scores);

    for (size_t i = 0; i < count; i++)
        scores[i] = uniform(rng, -12, -8);
    return scores;
}

/* ---- features ---- */

static void features__have_names_of_their_own_and_parts(void **state)
{
    (void)state;
    for (int i = 0; i < N_FEATURES; i++) {
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
    float feature[N_FEATURES];
    double sum = 0;

    *size = 0;
    kith__case_features(feature, &f->at, candidate, f->without);
    for (int k = 0; k < N_FEATURES; k++) {
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

static void fuse(kith__fusion_workspace *f, const fusion_setup *s, uint32_t entity, uint32_t query,
                 const float *embedding, size_t candidates)
{
    kith_error error;
    kith__span facts = kith__facts_of(s->evidence->base->index, entity);

    assert_int_equal(kith__fusion_run(f, facts, entity, query, embedding, candidates, &error),
                     KITH_OK);
}

typedef void (*fused_check)(const fusion_setup *s, kith__fusion_workspace *f, kith__rng *rng);

/* Random entities and queries with random weights, with and without an embedding, among seen
 * entities and among all. */
static void each_fused(uint64_t seed, unsigned without, fused_check check)
{
    kith__rng rng;
    fusion_setup s;

    kith__rng_init(&rng, seed, 0);
    fusion_setup_open(&s, group_folder(seed, 40, 8), "rules", 1);
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
    fusion_setup_close(&s);
}

static void check_all_scores(const fusion_setup *s, kith__fusion_workspace *f, kith__rng *rng)
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
    fusion_setup s;

    (void)state;
    kith__rng_init(&rng, 30, 0);
    fusion_setup_open(&s, group_folder(30, 40, 8), "rules", 1);
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
    fusion_setup_close(&s);
}

/* What a case has in common stays as it is; only the candidate's own score rises. */
static void check_slopes(const fusion_setup *s, kith__fusion_workspace *f, kith__rng *rng)
{
    float before[N_FEATURES], after[N_FEATURES], slope[N_FEATURES];

    (void)s;
    (void)rng;
    for (uint32_t e = 0; f->at.embedding && e < f->at.candidates; e++) {
        float *score = (float *)&f->at.embedding[e];
        kith__case_features(before, &f->at, e, f->without);
        *score += 1;
        kith__case_features(after, &f->at, e, f->without);
        *score -= 1;
        kith__case_slopes(slope, &f->at, e, f->without);
        for (int k = 0; k < N_FEATURES; k++)
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

static void check_best(const fusion_setup *s, kith__fusion_workspace *f, kith__rng *rng)
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

static void check_probabilities(const fusion_setup *s, kith__fusion_workspace *f, kith__rng *rng)
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
    fusion_setup s;

    (void)state;
    fusion_setup_open(&s, group_folder(52, 40, 8), "rules", 1);
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
    fusion_setup_close(&s);
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

static void check_without(const fusion_setup *s, kith__fusion_workspace *f, kith__rng *rng)
{
    float before[N_FEATURES], after[N_FEATURES];
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

static void check_no_embedding(const fusion_setup *s, kith__fusion_workspace *f, kith__rng *rng)
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
    const fusion_setup *s;
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

static float *fuse_all(const fusion_setup *s, const kith__fusion *fusion, bool embedding)
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
            fusion_setup s;
            fusion_setup_open(&s, folder, embedding ? "kith" : "rules", threads);
            float *scores = fuse_all(&s, &fusion, embedding);
            size_t count = 2 * kith_graph_facts(s.graph, KITH_TEST).count * s.seen;
            if (first)
                assert_memory_equal(first, scores, count * sizeof *first);
            free(first);
            first = scores;
            fusion_setup_close(&s);
        }
        free(first);
    }
    kith__fusion_release(&fusion);
}

/* ---- known answers ---- */

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
                bool expected =
                    graph_holds(graph, s, name, o) || (more && graph_holds(more, s, name, o));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features__have_names_of_their_own_and_parts),
        cmocka_unit_test(fuse__scores_are_weights_times_features),
        cmocka_unit_test(fuse__scores_hold_where_embeddings_hardly_differ),
        cmocka_unit_test(fuse__slopes_say_what_a_better_embedding_changes),
        cmocka_unit_test(fuse__the_best_are_those_of_a_full_sort_without_known_answers),
        cmocka_unit_test(fuse__probabilities_follow_the_scores),
        cmocka_unit_test(fuse__shares_are_of_what_is_not_known),
        cmocka_unit_test(fuse__a_share_of_0_or_1_has_a_finite_logit),
        cmocka_unit_test(without__parts_that_are_left_out_have_no_say),
        cmocka_unit_test(without__the_embedding_is_as_if_there_were_none),
        cmocka_unit_test(fuse_each__parts_add_up_for_every_query_at_any_number_of_threads),
        cmocka_unit_test(known__answers_are_those_of_both_graphs_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
