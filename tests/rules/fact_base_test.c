/* Tables by relation, and facts of other graphs with the same relations. */
#include <math.h>

#include "graph/align.h"
#include "support.h"
#include "worlds.h"

/* ---- other graphs with the same relations ---- */

static void align__relations_have_the_ids_they_were_learned_by(void **state)
{
    const char *folder = new_folder();
    kith__pool *pool = kith__pool_new(2);
    kith__alignment report;
    kith_graph *graph, *source;
    kith_error error;
    uint32_t id;
    world w;

    (void)state;
    world_open(&w, file("g.tsv", "a\tr\tb\nb\ts\tc\nc\tt\td\n"), 1);
    put(folder, "train", "x\tother\ty\nx\tt\ty\nx\tt\ty\n");
    put(folder, "aux", "u\tr\tx\nv\tr\tu\nu\tmore\tx\n");
    put(folder, "test", "u\tt\ty\nu\tother\ty\n");
    source = opened(folder);
    assert_int_equal(kith__graph_align(&graph, &report, source, w.graph, pool, &error), KITH_OK);
    assert_int_equal(report.shared, 2);
    assert_int_equal(report.dropped_relations, 2);
    assert_int_equal(report.dropped_facts, 2);
    assert_string_equal(kith_graph_relation_name(source, report.first_dropped[0]), "other");
    assert_string_equal(kith_graph_relation_name(source, report.first_dropped[1]), "more");
    assert_int_equal(kith_graph_relation_count(graph), 4); /* one of test, which is not seen */
    assert_int_equal(kith_graph_seen_relation_count(graph), 3);
    for (uint32_t r = 0; r < 3; r++)
        assert_string_equal(kith_graph_relation_name(graph, r),
                            kith_graph_relation_name(w.graph, r));
    assert_int_equal(kith_graph_seen_entity_count(graph), 4);
    assert_string_equal(facts(graph, KITH_TRAIN), "x t y;u r x;v r u;");
    assert_string_equal(facts(graph, KITH_TEST), "u t y;u other y;");
    assert_int_equal(kith_graph_facts(graph, KITH_AUX).count, 0);
    assert_int_equal(kith_graph_find_entity(&id, graph, "u"), KITH_OK);
    kith__evidence *other;
    assert_int_equal(
        kith__evidence_over(&other, graph, false, w.evidence->rules, true, pool, &error), KITH_OK);
    assert_int_equal(other->base->index->relations, 6);
    assert_int_equal(kith__facts_of(other->base->index, id).count, 2); /* of x and, inverse, of v */
    kith__evidence_free(other);
    kith_graph_free(graph);
    kith_graph_free(source);
    source = opened(file("h.tsv", "x\tq\ty\n"));
    assert_int_equal(kith__graph_align(&graph, NULL, source, w.graph, pool, &error),
                     KITH_ERR_INPUT);
    assert_contains(error.message, "none of the 1 relations");
    kith_graph_free(source);
    kith__pool_free(pool);
    world_close(&w);
}

/* Rules learned on one graph answer about strangers. */
static void align__learned_rules_answer_about_strangers(void **state)
{
    kith__evidence *other;
    kith__evidence_query a;
    kith_graph *graph, *source;
    kith_error error;
    uint32_t x, y;
    draft t = {0};
    world w;

    (void)state;
    for (int i = 0; i < 6; i++)
        add(&t, "p%d\tborn_in\tc%d\nc%d\tin\tn%d\np%d\tcitizen_of\tn%d\n", i, i, i, i % 2, i,
            i % 2);
    world_open(&w, file("g.tsv", t.at), 1);
    source = opened(file("h.tsv", "k\tin\tj\nm\tborn_in\tk\nl\tcitizen_of\tj\n"));
    assert_int_equal(kith__graph_align(&graph, NULL, source, w.graph, w.pool, &error), KITH_OK);
    assert_int_equal(
        kith__evidence_over(&other, graph, false, w.evidence->rules, true, w.pool, &error),
        KITH_OK);
    kith__evidence_query_init(&a, other, NULL);
    assert_int_equal(kith_graph_find_entity(&x, graph, "m"), KITH_OK);
    assert_int_equal(kith_graph_find_entity(&y, graph, "j"), KITH_OK);
    ask_rules(&a, kith__facts_of(other->base->index, x), x, 2);
    assert_non_null(query_row(&a, y));
    assert_float_equal(query_row(&a, y)[KITH__PATH_BEST], 6. / 11, 1e-6);
    kith__evidence_query_release(&a);
    kith__evidence_free(other);
    kith_graph_free(graph);
    kith_graph_free(source);
    world_close(&w);
    draft_release(&t);
}

/* ---- memory of a query ---- */

static void tables__of_relations_are_bounded_and_shared(void **state)
{
    const kith__relation_table *held, *again, *other;
    kith_error error;
    kith__rng rng;
    world w;

    (void)state;
    kith__rng_init(&rng, 740, 0);
    random_world(&w, &rng);
    kith__fact_base *base = w.evidence->base;
    base->most_tables = 2;
    assert_int_equal(kith__fact_base_take(&held, base, 0, false, &error), KITH_OK);
    for (uint32_t r = 1; r < w.relations; r++) {
        assert_int_equal(kith__fact_base_take(&other, base, r, r % 2, &error), KITH_OK);
        assert_int_equal(other->relation, r);
        kith__fact_base_give(base, other);
        assert_true(base->tables <= 2);
    }
    assert_int_equal(kith__fact_base_take(&again, base, 0, false, &error), KITH_OK);
    assert_ptr_equal(again, held);
    kith__fact_base_give(base, again);
    kith__fact_base_give(base, held);
    world_close(&w);
}

/* x has in, y has not: here one of two with in is an answer of lives, there three of three. */
static void tables__facts_of_another_graph_count_for_types_only(void **state)
{
    const kith__relation_table *t;
    float alone, together;
    kith_graph *other;
    kith__index *there = NULL;
    kith__pool *pool = kith__pool_new(1);
    world here;

    (void)state;
    world_open(&here, file("g.tsv", "a\tlives\tx\nx\tin\tz\ny\tin\tz\n"), 1);
    other = opened(file("h.tsv", "b\tlives\tp\nb\tlives\tq\nb\tlives\tr\n"
                                     "p\tin\ts\nq\tin\ts\nr\tin\ts\n"));
    assert_int_equal(kith__index_new(&there, other, pool, NULL), KITH_OK);
    kith__fact_base *base = here.evidence->base;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kith__fact_base_take(&t, base, 0, i, NULL), KITH_OK);
        *(i ? &together : &alone) = t->type_score[world_entity(&here, "y")];
        assert_int_equal(t->answered[world_entity(&here, "x")], 1);
        assert_int_equal(t->answered[world_entity(&here, "y")], 0);
        kith__fact_base_give(base, t);
        if (i == 0)
            kith__fact_base_learn(base, there);
    }
    assert_true(fabsf(alone - logf(1 + 100 * kith__shrunk(1, 2))) < 1e-5f);
    assert_true(fabsf(together - logf(1 + 100 * kith__shrunk(4, 5))) < 1e-5f);
    kith__pool_free(pool);
    kith_graph_free(other);
    world_close(&here);
}

/* Queries on many threads, all of other relations, with room for two tables that nobody uses. */
typedef struct {
    const world *w;
    size_t rows[64];
} crowd;

static void ask_in_crowd(void *context, size_t piece)
{
    crowd *c = context;
    kith__evidence_query a;
    kith_error error;

    query_open(&a, c->w);
    for (uint32_t i = 0; i < 2 * c->w->relations; i++) {
        uint32_t s = (uint32_t)piece % c->w->entities;
        kith__span facts = kith__facts_of(c->w->evidence->base->index, s);
        uint32_t relation = (i + (uint32_t)piece) % c->w->relations;
        if (kith__evidence_query_run(&a, facts, s, relation, &error) == KITH_OK)
            c->rows[piece] += a.count * (relation + 1);
    }
    kith__evidence_query_release(&a);
}

static void tables__threads_share_them(void **state)
{
    kith__pool *many = kith__pool_new(4), *one = kith__pool_new(1);
    kith__rng rng;
    world w;

    (void)state;
    kith__rng_init(&rng, 741, 0);
    random_world(&w, &rng);
    w.evidence->base->most_tables = 2;
    crowd alone = {.w = &w}, together = {.w = &w};
    kith__pool_run(one, ask_in_crowd, &alone, 64);
    for (int round = 0; round < 5; round++) {
        memset(together.rows, 0, sizeof together.rows);
        kith__pool_run(many, ask_in_crowd, &together, 64);
        assert_memory_equal(alone.rows, together.rows, sizeof alone.rows);
    }
    assert_true(w.evidence->base->tables <= 2 + 4);
    kith__pool_free(one);
    kith__pool_free(many);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(align__relations_have_the_ids_they_were_learned_by),
        cmocka_unit_test(align__learned_rules_answer_about_strangers),
        cmocka_unit_test(tables__of_relations_are_bounded_and_shared),
        cmocka_unit_test(tables__facts_of_another_graph_count_for_types_only),
        cmocka_unit_test(tables__threads_share_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
