/* The neighbours that the encoder reads. */
#include "model/model.h"
#include "support.h"
#include "models.h"

/* ---- neighbour lists ---- */

enum { HUB = 200 };

/* Entities n0, n1 ... around a hub, and a chain, so that lists of many lengths exist. */

/* ---- packed lists ---- */

static void check_packed(const kith_graph *graph, const kith_settings *s)
{
    kith_model *plain = model_with(graph, s), *packed = model_with(graph, s);
    const kith__neighbor_lists *a = plain->lists, *b = packed->lists;
    size_t other_than_1 = 0;

    kith__neighbor_lists_pack(packed->lists, packed->rules, s, packed->pool);
    assert_null(b->denominator);
    for (uint32_t e = 0; e < a->entities; e++)
        for (size_t k = 0; k < kith__list_count(a, e); k++) {
            float x = kith__denominator(a, a->offset[e] + k);
            float y = kith__denominator(b, b->offset[e] + k);
            other_than_1 += x != 1;
            assert_memory_equal(&x, &y, sizeof x);
        }
    assert_true(other_than_1 > 0);
    kith_model_free(plain);
    kith_model_free(packed);
}

static void lists__packed_denominators_are_the_same_to_the_last_bit(void **state)
{
    static const char *const modes[] = {"one-plus-max", "max"};
    static const char *const choices[] = {"first", "random", "all"};
    const random_shape shape = {
        .entities = 60, .relations = 9, .train = 500, .test = 20, .aux = 40};

    (void)state;
    for (int i = 0; i < 6; i++) {
        kith_settings s = preset("release");
        kith__rng rng;
        kith__rng_init(&rng, 3, (uint64_t)i);
        kith_graph *graph = opened(random_folder(&rng, &shape));
        set(&s, "logic-denominator", modes[i % 2]);
        set(&s, "neighbors", choices[i / 2]);
        s.max_neighbors = 5;
        check_packed(graph, &s);
        kith_graph_free(graph);
    }
}

/* The hub's list under a setting, and whether it is a part of the graph's in the same order. */
static size_t hub_list(uint32_t *entities, const kith_graph *graph, const char *kept, uint64_t seed)
{
    kith_settings s = small("mean");
    uint32_t hub = entity(graph, "hub");
    kith_neighborhoods all = kith_graph_neighborhoods(graph);

    set(&s, "neighbors", kept);
    s.seed = seed;
    kith_model *model = model_with(graph, &s);
    const kith__neighbor_lists *lists = model->lists;
    size_t count = 0, at = all.offset[hub];
    uint64_t from = lists->offset[hub];
    for (uint64_t i = from; i < from + kith__list_count(lists, hub); i++) {
        while (at < all.offset[hub + 1] && all.at[at].entity != lists->at[i].entity)
            at++;
        assert_true(at < all.offset[hub + 1]);
        entities[count++] = lists->at[i].entity;
    }
    for (uint32_t e = 0; e < lists->entities; e++) /* short lists are never cut */
        if (all.offset[e + 1] - all.offset[e] <= s.max_neighbors)
            assert_int_equal(kith__list_count(lists, e), all.offset[e + 1] - all.offset[e]);
    kith_model_free(model);
    return count;
}

static void neighbors__first_takes_the_first_in_file_order(void **state)
{
    kith_graph *graph = hub_graph(HUB);
    uint32_t kept[HUB];

    (void)state;
    assert_int_equal(hub_list(kept, graph, "first", 1), 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(kept[i], entity(graph, format("n%d", i)));
    kith_graph_free(graph);
}

static void neighbors__all_cuts_nothing(void **state)
{
    kith_graph *graph = hub_graph(HUB);
    uint32_t kept[HUB];

    (void)state;
    assert_int_equal(hub_list(kept, graph, "all", 1), HUB);
    kith_graph_free(graph);
}

static void neighbors__random_takes_any_and_the_seed_decides(void **state)
{
    kith_graph *graph = hub_graph(HUB);
    uint32_t first[HUB], again[HUB], other[HUB];
    size_t late = 0;

    (void)state;
    assert_int_equal(hub_list(first, graph, "random", 1), 64);
    assert_int_equal(hub_list(again, graph, "random", 1), 64);
    assert_int_equal(hub_list(other, graph, "random", 2), 64);
    assert_memory_equal(first, again, 64 * sizeof *first);
    assert_memory_not_equal(first, other, 64 * sizeof *first);
    for (int i = 0; i < 64; i++)
        for (int k = HUB / 2; k < HUB; k++)
            late += first[i] == entity(graph, format("n%d", k));
    if (late < 20 || late > 44) /* half of them, give or take three deviations */
        fail_msg("found %zu of 64 in the second half, expected about 32", late);
    kith_graph_free(graph);
}

static void neighbors__random_takes_each_equally_often(void **state)
{
    enum { SEEDS = 300, CAP = 64 };
    kith_graph *graph = hub_graph(HUB);
    uint32_t kept[HUB], times[HUB + 1] = {0};
    double square = 0, mean = SEEDS * (double)CAP / HUB;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (size_t i = 0, count = hub_list(kept, graph, "random", seed); i < count; i++)
            times[kept[i]]++;
    for (uint32_t e = 0; e <= HUB; e++)
        if (e != entity(graph, "hub"))
            square += (times[e] - mean) * (times[e] - mean);
    /* Each count is binomial; chi-square over 200 cells is 200 (1 - .32), give or take. */
    if (square / mean > 200)
        fail_msg("found a chi-square of %.1f, expected about 136", square / mean);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists__packed_denominators_are_the_same_to_the_last_bit),
        cmocka_unit_test(neighbors__first_takes_the_first_in_file_order),
        cmocka_unit_test(neighbors__all_cuts_nothing),
        cmocka_unit_test(neighbors__random_takes_any_and_the_seed_decides),
        cmocka_unit_test(neighbors__random_takes_each_equally_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
