/* The index of facts and the counter, each against a brute-force twin. */
#include "rules/counter.h"
#include "support.h"
#include "worlds.h"

/* ---- index ---- */

static void check_lists(world *w, kith__rng *rng)
{
    const kith__index *x = w->evidence->base->index;

    (void)rng;
    assert_int_equal(x->entities, w->entities);
    assert_int_equal(x->seen, w->seen);
    assert_int_equal(x->relations, w->relations);
    for (uint32_t e = 0; e < w->entities; e++) {
        kith__span all = kith__facts_of(x, e);
        size_t k = 0;
        for (uint32_t r = 0; r < w->relations; r++) {
            kith__span some = kith__reached(x, e, r);
            assert_ptr_equal(some.at, all.at + k);
            for (uint32_t o = 0; o < w->entities; o++) {
                assert_int_equal(kith__span_has(some, o), is_fact(w, r, e, o));
                if (!is_fact(w, r, e, o))
                    continue;
                assert_true(k < all.count);
                assert_int_equal(all.at[k].relation, r);
                assert_int_equal(all.at[k++].entity, o);
            }
            assert_int_equal(some.count, all.at + k - some.at);
        }
        assert_int_equal(all.count, k);
    }
}

static void index__lists_hold_every_fact_once_by_relation_and_entity(void **state)
{
    (void)state;
    in_worlds(101, check_lists);
}

static void check_owners(world *w, kith__rng *rng)
{
    const kith__index *x = w->evidence->base->index;

    (void)rng;
    for (uint32_t r = 0; r < w->relations; r++) {
        uint64_t next = x->owner_offset[r], facts = 0;
        for (uint32_t e = 0; e < w->seen; e++) {
            for (uint32_t o = 0; o < w->entities; o++)
                facts += is_fact(w, r, e, o);
            if (has_relation(w, r, e))
                assert_int_equal(x->owner[next++], e);
        }
        assert_int_equal(next, x->owner_offset[r + 1]);
        assert_int_equal(kith__answer_count(x, r), facts);
        assert_int_equal(kith__inverse(x, kith__inverse(x, r)), r);
        assert_int_not_equal(kith__inverse(x, r), r);
    }
}

static void index__owners_are_the_seen_entities_that_have_a_relation(void **state)
{
    (void)state;
    in_worlds(102, check_owners);
}

static void index__facts_of_unseen_entities_come_from_aux_alone(void **state)
{
    const char *folder = new_folder();
    uint32_t u, a;
    world w;

    (void)state;
    put(folder, "train", "a\tr\tb\nb\ts\tc\n");
    put(folder, "dev", "u\tr\tb\n");
    put(folder, "test", "u\ts\tb\na\ts\tb\n");
    put(folder, "aux", "u\tr\ta\nv\tr\tu\na\ts\tc\nc\ts\tu\nu\tt\ta\n");
    world_open(&w, folder, 1);
    assert_int_equal(kith_graph_find_entity(&u, w.graph, "u"), KITH_OK);
    assert_int_equal(kith_graph_find_entity(&a, w.graph, "a"), KITH_OK);
    assert_int_equal(kith__facts_of(w.evidence->base->index, u).count, 2);
    assert_int_equal(kith__facts_of(w.evidence->base->index, a).count, 1);
    check_lists(&w, NULL);
    world_close(&w);
}

static void index__sorting_facts_drops_what_is_there_twice(void **state)
{
    kith_neighbor list[] = {{3, 1}, {0, 9}, {3, 0}, {0, 9}, {3, 1}, {1, 4}};
    const kith_neighbor expected[] = {{0, 9}, {1, 4}, {3, 0}, {3, 1}};

    (void)state;
    assert_int_equal(kith__sort_facts(list, 6), 4);
    assert_memory_equal(list, expected, sizeof expected);
    assert_int_equal(kith__sort_facts(NULL, 0), 0);
    assert_int_equal(kith__span_of((kith__span){NULL, 0}, 3).count, 0);
    assert_int_equal(kith__span_of((kith__span){list, 4}, 2).count, 0);
    assert_int_equal(kith__span_of((kith__span){list, 4}, 3).count, 2);
    assert_int_equal(kith__span_of((kith__span){list, 4}, 7).count, 0);
}

/* ---- counter ---- */

static void counter__counts_as_a_plain_array_does(void **state)
{
    enum { KEYS = 5000 };
    static uint64_t plain[KEYS];
    kith__counter c = {0};
    kith__rng rng;
    size_t used = 0, k = 0;

    (void)state;
    kith__rng_init(&rng, 7, 0);
    assert_null(kith__counter_find(&c, 3));
    for (int i = 0; i < 40000; i++) {
        /* Keys that are far apart and others that are next to each other. */
        unsigned key = below(&rng, below(&rng, KEYS) + 1), count = 1 + below(&rng, 3);
        used += plain[key] == 0;
        plain[key] += count;
        assert_int_equal(kith__counter_add(&c, (uint64_t)key << (key % 2 ? 42 : 0), count), 0);
    }
    assert_int_equal(c.used, used);
    for (uint64_t key = 0; key < KEYS; key++) {
        const kith__count *found = kith__counter_find(&c, key << (key % 2 ? 42 : 0));
        assert_int_equal(found ? found->count : 0, plain[key]);
    }
    kith__counter_sort(&c);
    for (k = 1; k < used; k++)
        assert_true(c.at[k - 1].key < c.at[k].key);
    for (k = 0; k < used; k++)
        assert_int_equal(c.at[k].count,
                         plain[c.at[k].key >= KEYS ? c.at[k].key >> 42 : c.at[k].key]);
    kith__counter_release(&c);
}

static void counter__takes_no_new_key_past_its_bound(void **state)
{
    kith__counter c = {.most = 1500};

    (void)state;
    for (uint64_t round = 0; round < 2; round++)
        for (uint64_t key = 0; key < 4000; key++)
            assert_int_equal(kith__counter_add(&c, key, 2), 0);
    assert_int_equal(c.used, 1500);
    for (uint64_t key = 0; key < 4000; key++) {
        const kith__count *found = kith__counter_find(&c, key);
        assert_int_equal(found ? found->count : 0, key < 1500 ? 4 : 0);
    }
    kith__counter_sort(&c);
    assert_int_equal(c.at[1499].key, 1499);
    kith__counter_release(&c);
    kith__counter_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index__lists_hold_every_fact_once_by_relation_and_entity),
        cmocka_unit_test(index__owners_are_the_seen_entities_that_have_a_relation),
        cmocka_unit_test(index__facts_of_unseen_entities_come_from_aux_alone),
        cmocka_unit_test(index__sorting_facts_drops_what_is_there_twice),
        cmocka_unit_test(counter__counts_as_a_plain_array_does),
        cmocka_unit_test(counter__takes_no_new_key_past_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
