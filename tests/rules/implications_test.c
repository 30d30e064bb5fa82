/* Implications between relations: the table, lists of the strongest, the limit of pairs. */
#include "core/mem.h"
#include "rules/implication.h"
#include "support.h"
#include "worlds.h"

/* A hub with so many relations: each implies all others. */
static kith_graph *hub_of(unsigned relations)
{
    const char *folder = new_folder();
    draft train = {0};

    for (unsigned r = 0; r < relations; r++)
        add(&train, "hub\tr%u\te%u\n", r, r % 7);
    put(folder, "train", train.at);
    draft_release(&train);
    return opened(folder);
}

static void implications__a_list_keeps_no_more_than_it_returns(void **state)
{
    enum { RELATIONS = 1500, TOP = 20 };
    kith_graph *graph = hub_of(RELATIONS);
    kith_implications *list;
    kith_error error;

    (void)state;
    kith__mem_count(1);
    assert_int_equal(kith_graph_implications(
                         &list, graph,
                         &(kith_rules_options){
                             .conclusion = UINT32_MAX, .min_support = 1, .top = TOP, .threads = 2},
                         &error),
                     KITH_OK);
    kith__mem_count(0);
    assert_int_equal(list->count, TOP);
    assert_true(kith__mem_counted() < 1 << 20); /* all pairs would be 27 MB */
    kith_implications_free(list);
    kith_graph_free(graph);
}

static void check_same_implications(const kith_implications *list,
                                    const kith__implications *table)
{
    uint32_t m = table->relations / 2;

    for (size_t i = 0; i < list->count; i++) {
        const kith_implication *a = list->at[i];
        uint32_t q = a->conclusion + (a->conclusion_inverse ? m : 0);
        uint32_t r = a->premise + (a->premise_inverse ? m : 0);
        uint64_t k = table->offset[q];
        while (k < table->offset[q + 1] && table->at[k].relation != r)
            k++;
        assert_true(k < table->offset[q + 1]);
        assert_int_equal(a->support, table->at[k].support);
        assert_true(a->confidence == (double)table->at[k].confidence);
        if (i > 0)
            assert_true(list->at[i - 1]->confidence >= a->confidence);
    }
}

static void check_same_implication(const kith_implication *a, const kith_implication *b)
{
    assert_int_equal(a->premise, b->premise);
    assert_int_equal(a->premise_inverse, b->premise_inverse);
    assert_int_equal(a->conclusion, b->conclusion);
    assert_int_equal(a->conclusion_inverse, b->conclusion_inverse);
    assert_int_equal(a->support, b->support);
    assert_true(a->confidence == b->confidence);
}

/* The best of a list are the same whether or not the rest is asked for. */
static void check_listed(world *w, kith__rng *rng)
{
    kith__implications *table;
    kith_implications *all, *some;
    kith_error error;

    (void)rng;
    assert_int_equal(
        kith__implications_new(&table, w->graph, KITH__MOST_IMPLICATIONS, w->pool, &error),
        KITH_OK);
    assert_int_equal(kith_graph_implications(&all, w->graph,
                                             &(kith_rules_options){.conclusion = UINT32_MAX,
                                                                   .min_support = 0,
                                                                   .top = SIZE_MAX,
                                                                   .threads = 2},
                                             &error),
                     KITH_OK);
    assert_int_equal(all->count, table->offset[table->relations]);
    check_same_implications(all, table);
    for (size_t top = 0; top < 40; top += 13) {
        assert_int_equal(kith_graph_implications(&some, w->graph,
                                                 &(kith_rules_options){.conclusion = UINT32_MAX,
                                                                       .min_support = 0,
                                                                       .top = top,
                                                                       .threads = 3},
                                                 &error),
                         KITH_OK);
        assert_int_equal(some->count, top < all->count ? top : all->count);
        for (size_t i = 0; i < some->count; i++)
            check_same_implication(some->at[i], all->at[i]);
        kith_implications_free(some);
    }
    kith_implications_free(all);
    kith__implications_free(table);
}

static void implications__a_list_is_the_top_of_the_table(void **state)
{
    (void)state;
    in_worlds(120, check_listed);
}

static void implications__too_many_pairs_are_refused_by_name(void **state)
{
    kith_graph *graph = hub_of(100); /* 100 * 99 pairs at the hub, and those of the objects */
    kith__pool *pool = kith__pool_new(2);
    kith__implications *table = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith__implications_new(&table, graph, 12000, pool, &error), KITH_OK);
    kith__implications_free(table);
    table = NULL;
    assert_int_equal(kith__implications_new(&table, graph, 5000, pool, &error),
                     KITH_ERR_ARGUMENT);
    assert_null(table);
    assert_contains(error.message, "5000 pairs");
    assert_contains(error.message, "'hub' has 100");
    assert_contains(error.message, "--preset rules");
    kith__pool_free(pool);
    kith_graph_free(graph);
}

static void implications__refusing_takes_no_more_memory_than_the_limit(void **state)
{
    kith_graph *graph = hub_of(1500);
    kith__pool *pool = kith__pool_new(1);
    kith__implications *table = NULL;
    kith_error error;

    (void)state;
    kith__mem_count(1);
    assert_int_equal(kith__implications_new(&table, graph, 10000, pool, &error),
                     KITH_ERR_ARGUMENT);
    kith__mem_count(0);
    assert_true(kith__mem_counted() < 1 << 19);
    kith__pool_free(pool);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(implications__a_list_keeps_no_more_than_it_returns),
        cmocka_unit_test(implications__a_list_is_the_top_of_the_table),
        cmocka_unit_test(implications__too_many_pairs_are_refused_by_name),
        cmocka_unit_test(implications__refusing_takes_no_more_memory_than_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
