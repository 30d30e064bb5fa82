/* Random numbers. */
#include "support.h"

static void rng__the_same_seed_gives_the_same_numbers(void **state)
{
    kith__rng a, b, other_seed, other_stream;
    unsigned same_seed = 0, same_stream = 0;

    (void)state;
    kith__rng_init(&a, 7, 0);
    kith__rng_init(&b, 7, 0);
    kith__rng_init(&other_seed, 8, 0);
    kith__rng_init(&other_stream, 7, 1);
    for (int i = 0; i < 1000; i++) {
        uint64_t x = kith__rng_next(&a);
        assert_true(x == kith__rng_next(&b));
        same_seed += x == kith__rng_next(&other_seed);
        same_stream += x == kith__rng_next(&other_stream);
    }
    assert_int_equal(same_seed, 0);
    assert_int_equal(same_stream, 0);
}

/* The sequence is part of what "the same seed gives the same bytes" promises from one version to
 * the next: xoshiro256** of a splitmix64 state, worked out by hand in Python. */
static void rng__the_sequence_is_xoshiro256(void **state)
{
    kith__rng rng = {{1, 2, 3, 4}};
    static const uint64_t expected[] = {11520u, 0u, 1509978240u, 1215971899390074240u};

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_true(kith__rng_next(&rng) == expected[i]);
}

static void rng__below_is_even_and_stays_below(void **state)
{
    enum { BOUND = 7, DRAWS = 70000 };
    unsigned counts[BOUND] = {0};
    kith__rng rng;
    double chi = 0;

    (void)state;
    kith__rng_init(&rng, 1, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t x = kith__rng_below(&rng, BOUND);
        assert_in_range(x, 0, BOUND - 1);
        counts[x]++;
    }
    for (int i = 0; i < BOUND; i++) {
        double off = counts[i] - (double)DRAWS / BOUND;
        chi += off * off / ((double)DRAWS / BOUND);
    }
    /* 6 degrees of freedom: above 22.5 once in a thousand seeds. */
    if (chi > 22.5)
        fail_msg("found chi square %g, expected at most 22.5", chi);
}

/* Without redrawing, a bound of 3 * 2^62 would give multiples of three twice as often as others. */
static void rng__below_is_even_for_bounds_near_2_64(void **state)
{
    const uint64_t bound = UINT64_C(3) << 62;
    unsigned counts[3] = {0};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 1, 0);
    for (int i = 0; i < 30000; i++) {
        uint64_t x = kith__rng_below(&rng, bound);
        assert_true(x < bound);
        counts[x % 3]++;
    }
    for (int i = 0; i < 3; i++)
        assert_in_range(counts[i], 9500, 10500);
    assert_int_equal(kith__rng_below(&rng, 1), 0);
}

static void rng__unit_is_below_one(void **state)
{
    kith__rng rng;
    double sum = 0;

    (void)state;
    kith__rng_init(&rng, 1, 0);
    for (int i = 0; i < 10000; i++) {
        double x = kith__rng_unit(&rng);
        assert_true(x >= 0 && x < 1);
        sum += x;
    }
    assert_true(sum > 4850 && sum < 5150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rng__the_same_seed_gives_the_same_numbers),
        cmocka_unit_test(rng__the_sequence_is_xoshiro256),
        cmocka_unit_test(rng__below_is_even_and_stays_below),
        cmocka_unit_test(rng__below_is_even_for_bounds_near_2_64),
        cmocka_unit_test(rng__unit_is_below_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
