/* Statistics against an oracle that counts by looking at every pair. */
#include "support.h"

static bool same(kith_triple a, kith_triple b)
{
    return a.subject == b.subject && a.relation == b.relation && a.object == b.object;
}

static bool in_train(const kith_graph *graph, uint32_t entity)
{
    kith_facts f = kith_graph_facts(graph, KITH_TRAIN);

    for (size_t i = 0; i < f.count; i++)
        if (f.at[i].subject == entity || f.at[i].object == entity)
            return true;
    return false;
}

static size_t facts_with(const kith_graph *graph, uint32_t relation)
{
    kith_facts f = kith_graph_facts(graph, KITH_TRAIN);
    size_t count = 0;

    for (size_t i = 0; i < f.count; i++)
        count += f.at[i].relation == relation;
    return count;
}

static bool in_test_with_known_relation(const kith_graph *graph, uint32_t entity)
{
    kith_facts f = kith_graph_facts(graph, KITH_TEST);

    for (size_t i = 0; i < f.count; i++)
        if ((f.at[i].subject == entity || f.at[i].object == entity) &&
            facts_with(graph, f.at[i].relation) > 0)
            return true;
    return false;
}

static bool in_any_fact(const kith_graph *graph, uint32_t entity)
{
    for (int split = 0; split < KITH_SPLITS; split++) {
        kith_facts f = kith_graph_facts(graph, split);
        for (size_t i = 0; i < f.count; i++)
            if (f.at[i].subject == entity || f.at[i].object == entity)
                return true;
    }
    return false;
}

/* Training facts in both directions for who is in train; aux facts towards seen entities, with
 * relations that train has, for the others. */
static uint64_t degree_of(const kith_graph *graph, uint32_t entity)
{
    bool seen = in_train(graph, entity);
    kith_facts f = kith_graph_facts(graph, seen ? KITH_TRAIN : KITH_AUX);
    uint64_t degree = 0;

    for (size_t i = 0; i < f.count; i++) {
        kith_triple t = f.at[i];
        if (!seen && facts_with(graph, t.relation) == 0)
            continue;
        degree += t.subject == entity && (seen || in_train(graph, t.object));
        degree += t.object == entity && (seen || in_train(graph, t.subject));
    }
    return degree;
}

static bool is_duplicate(kith_facts f, size_t i)
{
    for (size_t k = 0; k < f.count; k++)
        if (f.at[k].subject == f.at[i].subject && f.at[k].object == f.at[i].object &&
            f.at[k].relation != f.at[i].relation)
            return true;
    return false;
}

static bool is_inverse(kith_facts f, size_t i)
{
    for (size_t k = 0; k < f.count; k++)
        if (k != i && f.at[k].subject == f.at[i].object && f.at[k].object == f.at[i].subject &&
            f.at[i].subject != f.at[i].object)
            return true;
    return false;
}

static void count_entities(kith_stats *s, const kith_graph *graph)
{
    uint64_t sum = 0;

    for (uint32_t e = 0; e < kith_graph_entity_count(graph); e++) {
        uint64_t degree = degree_of(graph, e);
        s->seen += in_train(graph, e);
        s->unseen += !in_train(graph, e) && in_test_with_known_relation(graph, e);
        s->isolated += !in_any_fact(graph, e);
        if (degree == 0)
            continue;
        sum += degree;
        if (s->connected++ == 0 || degree < s->neighbors_min)
            s->neighbors_min = degree;
        if (degree > s->neighbors_max)
            s->neighbors_max = degree;
    }
    s->neighbors_mean = s->connected ? (double)sum / (double)s->connected : 0;
}

static void count_facts(kith_stats *s, const kith_graph *graph)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);

    static kith_split_stats counted[KITH_SPLITS];
    static const kith_split_stats *const list[KITH_SPLITS] = {&counted[0], &counted[1],
                                                              &counted[2], &counted[3]};

    memset(counted, 0, sizeof counted);
    s->splits = list;
    s->split_count = KITH_SPLITS;
    for (int split = 0; split < KITH_SPLITS; split++) {
        kith_facts f = kith_graph_facts(graph, split);
        counted[split].facts = f.count;
        for (size_t i = 0; i < f.count; i++) {
            bool untrue = f.truth && !f.truth[i], leaked = false;
            for (size_t k = 0; split != KITH_TRAIN && k < train.count; k++)
                leaked |= same(f.at[i], train.at[k]);
            counted[split].untrue += untrue;
            counted[split].leaked += leaked && !untrue;
            counted[split].unusable += facts_with(graph, f.at[i].relation) == 0;
        }
    }
}

static void count_relations(kith_stats *s, const kith_graph *graph)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);

    for (uint32_t r = 0; r < kith_graph_relation_count(graph); r++) {
        size_t all = 0, duplicate = 0, inverse = 0;
        for (size_t i = 0; i < train.count; i++) {
            if (train.at[i].relation != r)
                continue;
            all++;
            duplicate += is_duplicate(train, i);
            inverse += is_inverse(train, i);
        }
        s->relations += all > 0;
        s->duplicate_facts += duplicate;
        s->inverse_facts += inverse;
        s->duplicate_relations += all > 0 && 5 * duplicate >= 4 * all;
        s->inverse_relations += all > 0 && 5 * inverse >= 4 * all;
    }
}

static void check_buckets(const kith_stats *s, const kith_graph *graph)
{
    static const uint64_t bounds[][2] = {{1, 1},  {2, 2},   {3, 5},    {6, 10},
                                         {11, 20}, {21, 50}, {51, 100}, {101, 200}};
    size_t all = 0;

    for (size_t i = 0; i < s->bucket_count; i++) {
        size_t inside = 0;
        for (uint32_t e = 0; e < kith_graph_entity_count(graph); e++) {
            uint64_t degree = degree_of(graph, e);
            inside += degree >= bounds[i][0] && degree <= bounds[i][1];
        }
        assert_int_equal(s->buckets[i]->low, bounds[i][0]);
        assert_int_equal(s->buckets[i]->high, bounds[i][1]);
        assert_int_equal(s->buckets[i]->entities, inside);
        all += inside;
    }
    assert_int_equal(all, s->connected);
    if (s->bucket_count > 0) /* the last one is needed */
        assert_in_range(s->neighbors_max, s->buckets[s->bucket_count - 1]->low,
                        s->buckets[s->bucket_count - 1]->high);
}

static void check_common(const kith_stats *s, const kith_graph *graph)
{
    assert_int_equal(s->common_count, s->relations < 10 ? s->relations : 10);
    for (size_t i = 0; i < s->common_count; i++) {
        assert_int_equal(s->common[i]->facts, facts_with(graph, s->common[i]->relation));
        if (i > 0)
            assert_true(s->common[i - 1]->facts >= s->common[i]->facts);
    }
    for (uint32_t r = 0; r < kith_graph_relation_count(graph); r++) {
        bool listed = false;
        for (size_t i = 0; i < s->common_count; i++)
            listed |= s->common[i]->relation == r;
        if (!listed && s->common_count > 0)
            assert_true(facts_with(graph, r) <= s->common[s->common_count - 1]->facts);
    }
}

typedef void (*check)(const kith_stats *found, const kith_stats *expected, const kith_graph *graph);

/* Run a check over random graphs of many shapes. */
static void over_random_graphs(check verify)
{
    kith__rng rng;

    kith__rng_init(&rng, 21, 0);
    for (unsigned round = 0; round < 120; round++) {
        random_shape shape = {.entities = 2 + round % 30,
                              .relations = 1 + round % 14,
                              .train = 1 + round * 2 % 170,
                              .dev = round % 11,
                              .test = round % 17,
                              .aux = round % 23,
                              .labels = round % 2,
                              .overlap = round % 3 == 0,
                              .maps = round % 5 == 0};
        kith_graph *graph = opened_with(random_folder(&rng, &shape), 1, false);
        kith_stats found, expected = {0};
        found = stats_of(graph);
        count_entities(&expected, graph);
        count_facts(&expected, graph);
        count_relations(&expected, graph);
        verify(&found, &expected, graph);
        kith_graph_free(graph);
    }
}

static void verify_entities(const kith_stats *found, const kith_stats *expected,
                            const kith_graph *graph)
{
    (void)graph;
    assert_int_equal(found->seen, expected->seen);
    assert_int_equal(found->unseen, expected->unseen);
    assert_int_equal(found->isolated, expected->isolated);
}

static void stats__seen_unseen_and_isolated_entities_are_those_of_the_oracle(void **state)
{
    (void)state;
    over_random_graphs(verify_entities);
}

static void verify_neighbors(const kith_stats *found, const kith_stats *expected,
                             const kith_graph *graph)
{
    (void)graph;
    assert_int_equal(found->connected, expected->connected);
    assert_int_equal(found->neighbors_min, expected->neighbors_min);
    assert_int_equal(found->neighbors_max, expected->neighbors_max);
    if (found->neighbors_mean != expected->neighbors_mean)
        fail_msg("found a mean of %.17g, expected %.17g", found->neighbors_mean,
                 expected->neighbors_mean);
}

static void stats__neighbors_min_max_and_mean_are_those_of_the_oracle(void **state)
{
    (void)state;
    over_random_graphs(verify_neighbors);
}

static void verify_facts(const kith_stats *found, const kith_stats *expected,
                         const kith_graph *graph)
{
    (void)graph;
    assert_int_equal(found->split_count, KITH_SPLITS);
    for (int split = 0; split < KITH_SPLITS; split++) {
        const kith_split_stats *a = found->splits[split], *b = expected->splits[split];
        assert_int_equal(a->facts, b->facts);
        assert_int_equal(a->untrue, b->untrue);
        assert_int_equal(a->unusable, b->unusable);
        assert_int_equal(a->leaked, b->leaked);
    }
}

static void stats__facts_untrue_unusable_and_leaked_are_those_of_the_oracle(void **state)
{
    (void)state;
    over_random_graphs(verify_facts);
}

static void verify_relations(const kith_stats *found, const kith_stats *expected,
                             const kith_graph *graph)
{
    (void)graph;
    assert_int_equal(found->relations, expected->relations);
    assert_int_equal(found->duplicate_facts, expected->duplicate_facts);
    assert_int_equal(found->inverse_facts, expected->inverse_facts);
    assert_int_equal(found->duplicate_relations, expected->duplicate_relations);
    assert_int_equal(found->inverse_relations, expected->inverse_relations);
}

static void stats__duplicates_and_inverses_are_those_of_the_oracle(void **state)
{
    (void)state;
    over_random_graphs(verify_relations);
}

static void verify_buckets(const kith_stats *found, const kith_stats *expected,
                           const kith_graph *graph)
{
    (void)expected;
    check_buckets(found, graph);
}

static void stats__buckets_hold_each_connected_entity_once(void **state)
{
    (void)state;
    over_random_graphs(verify_buckets);
}

static void verify_common(const kith_stats *found, const kith_stats *expected,
                          const kith_graph *graph)
{
    (void)expected;
    check_common(found, graph);
}

static void stats__the_most_common_relations_come_first(void **state)
{
    (void)state;
    over_random_graphs(verify_common);
}

/* By hand, so that the oracle is not the only witness. */
static void stats__a_small_graph_counted_by_hand(void **state)
{
    const char *folder = new_folder();
    kith_stats s;

    (void)state;
    put(folder, "entity2id.txt", "a\t0\nb\t1\nc\t2\nx\t3\ny\t4\nlonely\t5\n");
    put(folder, "relation2id.txt", "r\t0\ns\t1\nunknown\t2\n");
    put(folder, "train", "a\tr\tb\nb\ts\ta\na\ts\tb\nb\tr\tc\n");
    put(folder, "dev", "a\tr\tb\t1\nb\tr\tc\t0\n");
    put(folder, "test", "x\tr\ta\ny\tunknown\ta\n");
    put(folder, "aux", "x\ts\tb\nx\tunknown\tb\nx\tr\ty\n");
    kith_graph *graph = opened(folder);
    s = stats_of(graph);
    assert_int_equal(s.relations, 2);
    assert_int_equal(s.seen, 3);
    assert_int_equal(s.unseen, 1); /* y is asked about with a relation that train lacks */
    assert_int_equal(s.isolated, 1);
    assert_int_equal(s.connected, 4); /* a 3, b 4, c 1, x 1 */
    assert_int_equal(s.neighbors_min, 1);
    assert_int_equal(s.neighbors_max, 4);
    assert_true(s.neighbors_mean == 9 / 4.);
    assert_int_equal(s.splits[KITH_DEV]->facts, 2);
    assert_int_equal(s.splits[KITH_DEV]->untrue, 1);
    assert_int_equal(s.splits[KITH_DEV]->leaked, 1);
    assert_int_equal(s.splits[KITH_TEST]->unusable, 1);
    assert_int_equal(s.splits[KITH_AUX]->unusable, 1);
    assert_int_equal(s.duplicate_facts, 2); /* a r b and a s b */
    assert_int_equal(s.inverse_facts, 3);   /* those and b s a */
    assert_int_equal(s.inverse_relations, 1); /* s */
    assert_int_equal(s.duplicate_relations, 0);
    kith_graph_free(graph);
}

static void stats__a_loop_is_not_its_own_inverse(void **state)
{
    kith_graph *graph = opened(file("g.tsv", "a\tr\ta\n"));
    kith_stats s;

    (void)state;
    s = stats_of(graph);
    assert_int_equal(s.inverse_facts, 0);
    assert_int_equal(s.duplicate_facts, 0);
    assert_int_equal(s.neighbors_max, 2);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stats__seen_unseen_and_isolated_entities_are_those_of_the_oracle),
        cmocka_unit_test(stats__neighbors_min_max_and_mean_are_those_of_the_oracle),
        cmocka_unit_test(stats__facts_untrue_unusable_and_leaked_are_those_of_the_oracle),
        cmocka_unit_test(stats__duplicates_and_inverses_are_those_of_the_oracle),
        cmocka_unit_test(stats__buckets_hold_each_connected_entity_once),
        cmocka_unit_test(stats__the_most_common_relations_come_first),
        cmocka_unit_test(stats__a_small_graph_counted_by_hand),
        cmocka_unit_test(stats__a_loop_is_not_its_own_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
