/* Mining, against a brute-force twin that looks at every triple of a small random graph. */
#include <math.h>

#include "support.h"
#include "worlds.h"

/* Rules with fewer hits, or with less confidence, are not kept. */
enum { LEAST_HITS = 2 };

static const float least_confidence = .004f;

static void count_pair(uint32_t *support, uint32_t *body_count, const world *w, uint32_t q,
                       uint32_t r)
{
    *support = *body_count = 0;
    for (uint32_t s = 0; s < w->seen; s++)
        for (uint32_t o = 0; has_relation(w, q, s) && o < w->entities; o++) {
            if (is_same_fact(w, q, r, s, o))
                continue;
            *body_count += is_fact(w, r, s, o);
            *support += is_fact(w, r, s, o) && is_fact(w, q, s, o);
        }
}

static void count_path(uint32_t *support, uint32_t *body_count, const world *w, uint32_t q,
                       uint32_t r1, uint32_t r2)
{
    *support = *body_count = 0;
    for (uint32_t s = 0; s < w->seen; s++)
        for (uint32_t x = 0; has_relation(w, q, s) && x < w->seen; x++)
            for (uint32_t o = 0; is_fact(w, r1, s, x) && o < w->seen; o++) {
                if (!is_fact(w, r2, x, o) || o == s || o == x || x == s)
                    continue;
                ++*body_count;
                *support += is_fact(w, q, s, o);
            }
}

static void check_rule(const kith__rules *p, uint32_t q, uint32_t first, uint32_t second,
                       uint32_t support, uint32_t body_count)
{
    const kith__rule *rule = find_rule(p, q, first, second);
    float confidence = (float)((double)support / (body_count + 5));

    if (support < LEAST_HITS || confidence < least_confidence) {
        assert_null(rule);
        return;
    }
    if (!rule)
        fail_msg("found no rule %u, %u => %u, expected one with %u hits", first, second, q,
                 support);
    assert_int_equal(rule->support, support);
    assert_int_equal(rule->body_count, body_count);
    assert_float_equal(rule->confidence, confidence, 0);
}

static void check_order(const kith__rules *p)
{
    assert_int_equal(p->offset[0], 0);
    for (uint32_t q = 0; q < p->relations; q++)
        for (uint64_t i = p->offset[q] + 1; i < p->offset[q + 1]; i++)
            assert_true(kith__rule_compare(&p->at[i - 1], &p->at[i]) < 0);
}

static void check_pairs(world *w, kith__rng *rng)
{
    const kith__rules *p = &w->evidence->rules->of[KITH__DIRECT_KIND];

    (void)rng;
    assert_int_equal(p->relations, w->relations);
    check_order(p);
    for (uint32_t q = 0; q < w->relations; q++)
        for (uint32_t r = 0; r < w->relations; r++) {
            uint32_t support, body_count;
            count_pair(&support, &body_count, w, q, r);
            check_rule(p, q, r, KITH__NO_RELATION, q == r ? 0 : support, body_count);
        }
}

static void mine__pairs_are_counted_as_by_brute_force(void **state)
{
    (void)state;
    in_worlds(201, check_pairs);
}

static void check_paths(world *w, kith__rng *rng)
{
    const kith__rules *p = &w->evidence->rules->of[KITH__PATH_KIND];

    (void)rng;
    check_order(p);
    for (uint32_t q = 0; q < w->relations; q++)
        for (uint32_t r1 = 0; r1 < w->relations; r1++)
            for (uint32_t r2 = 0; r2 < w->relations; r2++) {
                uint32_t support, body_count;
                count_path(&support, &body_count, w, q, r1, r2);
                check_rule(p, q, r1, r2, support, body_count);
            }
}

static void mine__paths_are_counted_as_by_brute_force(void **state)
{
    (void)state;
    in_worlds(202, check_paths);
}

static void count_path3(uint32_t *support, uint32_t *body_count, const world *w, uint32_t q,
                        const uint32_t *r)
{
    *support = *body_count = 0;
    for (uint32_t s = 0; s < w->seen; s++)
        for (uint32_t x = 0; has_relation(w, q, s) && x < w->seen; x++)
            for (uint32_t y = 0; x != s && is_fact(w, r[0], s, x) && y < w->seen; y++)
                for (uint32_t o = 0; y != s && y != x && is_fact(w, r[1], x, y) && o < w->seen;
                     o++) {
                    if (!is_fact(w, r[2], y, o) || o == s || o == x || o == y)
                        continue;
                    ++*body_count;
                    *support += is_fact(w, q, s, o);
                }
}

static const kith__rule *find_path3(const kith__rules *p, uint32_t q, const uint32_t *r)
{
    for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++)
        if (memcmp(p->at[i].relation, r, sizeof p->at[i].relation) == 0)
            return &p->at[i];
    return NULL;
}

/* All bodies of a few conclusions; where a conclusion has 100 rules, the others are no stronger. */
static void check_paths3(world *w, kith__rng *rng)
{
    const kith__rules *p = &w->evidence->rules->of[KITH__PATH3_KIND];
    uint32_t q = below(rng, w->relations), n = w->relations;
    uint64_t kept = p->offset[q + 1] - p->offset[q];
    float weakest = 1;

    check_order(p);
    assert_true(kept <= 100);
    for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++)
        weakest = fminf(weakest, p->at[i].confidence);
    for (uint32_t body = 0; body < n * n * n; body++) {
        const uint32_t r[] = {body / n / n, body / n % n, body % n};
        const kith__rule *rule = find_path3(p, q, r);
        uint32_t support, body_count;
        count_path3(&support, &body_count, w, q, r);
        float confidence = kith__shrunk(support, body_count);
        bool good = support >= LEAST_HITS && confidence >= least_confidence;
        assert_true(rule ? good : !good || (kept == 100 && confidence <= weakest));
        if (rule) {
            assert_int_equal(rule->support, support);
            assert_int_equal(rule->body_count, body_count);
        }
    }
}

static void mine__paths_of_three_steps_are_counted_as_by_brute_force(void **state)
{
    (void)state;
    in_worlds(205, check_paths3);
}

/* A hub that everything is linked with has too many paths of three steps. */
static void mine__paths_of_three_steps_are_bounded(void **state)
{
    kith__rng rng;
    draft t = {0};
    kith_error error;

    (void)state;
    kith__rng_init(&rng, 206, 0);
    for (int i = 0; i < 6000; i++)
        add(&t, "e%d\tin\thub\ne%d\tnext\te%u\n", i, i, below(&rng, 6000));
    kith_graph *graph = opened(file("hub.tsv", t.at));
    kith__pool *pool = kith__pool_new(2);
    kith__index *index = NULL;
    kith__rule_set *rules = NULL;
    assert_int_equal(kith__index_new(&index, graph, pool, &error), KITH_OK);
    assert_int_equal(kith__rule_set_new(&rules, index, pool, &error), KITH_OK);
    check_order(&rules->of[KITH__PATH3_KIND]);
    kith__rule_set_free(rules);
    kith__index_free(index);
    kith__pool_free(pool);
    kith_graph_free(graph);
    draft_release(&t);
}

static void mine__paths_that_come_back_or_stay_are_no_paths(void **state)
{
    draft t = {0};
    world w;

    (void)state;
    /* Each has a loop, and a friend who is one back: neither makes a path to anyone else. */
    for (int i = 0; i < 10; i++)
        add(&t, "a%d\tloop\ta%d\na%d\tfriend\tb%d\nb%d\tfriend\ta%d\nb%d\tloop\tb%d\n", i, i, i, i,
            i, i, i, i);
    world_open(&w, file("g.tsv", t.at), 1);
    assert_int_equal(w.evidence->rules->of[KITH__PATH_KIND].offset[w.relations], 0);
    check_paths(&w, NULL);
    world_close(&w);
    draft_release(&t);
}

static void check_threads(world *w, kith__rng *rng)
{
    (void)rng;
    for (unsigned threads = 1; threads < 8; threads += 2) {
        kith__pool *pool = kith__pool_new(threads);
        kith__rule_set *rules = NULL;
        kith_error error;
        assert_int_equal(kith__rule_set_new(&rules, w->evidence->base->index, pool, &error),
                         KITH_OK);
        check_same_rules(rules, w->evidence->rules);
        kith__rule_set_free(rules);
        kith__pool_free(pool);
    }
}

static void mine__threads_do_not_matter(void **state)
{
    (void)state;
    in_worlds(203, check_threads);
}

/* So dense that nearly every two relations make a rule for every third. */
static const char *crowded(kith__rng *rng)
{
    draft t = {0};

    for (int i = 0; i < 500; i++)
        add(&t, "e%u\tr%u\te%u\n", below(rng, 8), below(rng, 12), below(rng, 8));
    const char *path = file("g.tsv", t.at);
    draft_release(&t);
    return path;
}

static void mine__only_the_most_confident_paths_of_a_conclusion_are_kept(void **state)
{
    kith__rng rng;
    world w;

    (void)state;
    kith__rng_init(&rng, 204, 0);
    world_open(&w, crowded(&rng), 2);
    const kith__rules *p = &w.evidence->rules->of[KITH__PATH_KIND];
    check_order(p);
    for (uint32_t q = 0; q < w.relations; q++) {
        float weakest = 1;
        assert_int_equal(p->offset[q + 1] - p->offset[q], KITH__MOST_PATH_RULES);
        for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++)
            weakest = fminf(weakest, p->at[i].confidence);
        for (uint32_t body = 0; body < w.relations * w.relations; body++) {
            uint32_t support, body_count, first = body / w.relations, second = body % w.relations;
            count_path(&support, &body_count, &w, q, first, second);
            if (find_rule(p, q, first, second))
                check_rule(p, q, first, second, support, body_count);
            else
                assert_true(kith__shrunk(support, body_count) <= weakest);
        }
    }
    world_close(&w);
}

static void mine__a_graph_without_rules_has_none(void **state)
{
    world w;

    (void)state;
    world_open(&w, file("g.tsv", "a\tr\tb\n"), 1);
    assert_int_equal(w.evidence->rules->of[KITH__DIRECT_KIND].offset[w.relations], 0);
    assert_int_equal(w.evidence->rules->of[KITH__PATH_KIND].offset[w.relations], 0);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mine__pairs_are_counted_as_by_brute_force),
        cmocka_unit_test(mine__paths_are_counted_as_by_brute_force),
        cmocka_unit_test(mine__paths_of_three_steps_are_counted_as_by_brute_force),
        cmocka_unit_test(mine__paths_of_three_steps_are_bounded),
        cmocka_unit_test(mine__paths_that_come_back_or_stay_are_no_paths),
        cmocka_unit_test(mine__threads_do_not_matter),
        cmocka_unit_test(mine__only_the_most_confident_paths_of_a_conclusion_are_kept),
        cmocka_unit_test(mine__a_graph_without_rules_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
