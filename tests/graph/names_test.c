/* core and the interner: what everything else stands on. */
#include <stdatomic.h>

#include "core/mem.h"
#include "core/pool.h"
#include "core/status.h"
#include "core/utf8.h"
#include "graph/names.h"
#include "support.h"

static uint32_t add_name(kith__names *names, const char *name, size_t length)
{
    return kith__names_add(names, name, length, kith__names_hash(name, length));
}

static uint32_t find_name(const kith__names *names, const char *name, size_t length)
{
    return kith__names_find(names, name, length, kith__names_hash(name, length));
}

static void names__ids_count_up_in_the_order_first_met(void **state)
{
    kith__names names;

    (void)state;
    assert_int_equal(kith__names_init(&names), 0);
    assert_int_equal(add_name(&names, "b", 1), 0);
    assert_int_equal(add_name(&names, "a", 1), 1);
    assert_int_equal(add_name(&names, "b", 1), 0);
    assert_int_equal(add_name(&names, "ab", 2), 2);
    assert_int_equal(names.count, 3);
    assert_string_equal(kith__names_get(&names, 2), "ab");
    kith__names_release(&names);
}

static void names__find_does_not_add(void **state)
{
    kith__names names;

    (void)state;
    assert_int_equal(kith__names_init(&names), 0);
    assert_int_equal(find_name(&names, "a", 1), KITH__NO_ID);
    assert_int_equal(add_name(&names, "a", 1), 0);
    assert_int_equal(find_name(&names, "a", 1), 0);
    assert_int_equal(find_name(&names, "b", 1), KITH__NO_ID);
    assert_int_equal(names.count, 1);
    kith__names_release(&names);
}

static void names__200_000_names_keep_their_ids_while_the_table_grows(void **state)
{
    enum { COUNT = 200000 };
    kith__names names;
    char name[32];

    (void)state;
    assert_int_equal(kith__names_init(&names), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        int length = sprintf(name, "/m/%x", i * 2654435761u);
        assert_int_equal(add_name(&names, name, (size_t)length), i);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        int length = sprintf(name, "/m/%x", i * 2654435761u);
        assert_int_equal(find_name(&names, name, (size_t)length), i);
        assert_string_equal(kith__names_get(&names, i), name);
        assert_int_equal(kith__names_length(&names, i), length);
    }
    assert_int_equal(names.count, COUNT);
    kith__names_release(&names);
}

/* Every name of one and of two bytes, NUL among them, and names that differ only behind a NUL or in
 * length. */
static void names__what_is_cut_off_is_forgotten_and_can_be_added_again(void **state)
{
    kith__names names;
    enum { ALL = 5000, KEPT = 1234 };

    (void)state;
    assert_int_equal(kith__names_init(&names), 0);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = round ? KEPT : 0; i < ALL; i++) {
            const char *name = format("n%d-%u", i < KEPT ? 0 : round, i);
            assert_int_equal(add_name(&names, name, strlen(name)), i);
        }
        kith__names_truncate(&names, KEPT);
        assert_int_equal(names.count, KEPT);
        for (uint32_t i = 0; i < ALL; i++) {
            const char *name = format("n%d-%u", i < KEPT ? 0 : round, i);
            assert_int_equal(find_name(&names, name, strlen(name)), i < KEPT ? i : KITH__NO_ID);
        }
    }
    kith__names_truncate(&names, 0);
    assert_int_equal(find_name(&names, "n0-0", 4), KITH__NO_ID);
    kith__names_release(&names);
}

static void names__any_bytes_make_a_name(void **state)
{
    kith__names names;
    char name[2];

    (void)state;
    assert_int_equal(kith__names_init(&names), 0);
    for (unsigned i = 0; i < 256; i++) {
        name[0] = (char)i;
        assert_int_equal(add_name(&names, name, 1), i);
    }
    for (unsigned i = 0; i < 65536; i++) {
        name[0] = (char)(i >> 8);
        name[1] = (char)i;
        assert_int_equal(add_name(&names, name, 2), 256 + i);
    }
    for (unsigned i = 0; i < 65536; i++) {
        name[0] = (char)(i >> 8);
        name[1] = (char)i;
        assert_int_equal(find_name(&names, name, 2), 256 + i);
        assert_memory_equal(kith__names_get(&names, 256 + i), name, 2);
    }
    assert_int_equal(add_name(&names, "", 0), 256 + 65536);
    kith__names_release(&names);
}

static void names__long_names_differ_in_their_last_byte(void **state)
{
    kith__names names;
    char name[100];

    (void)state;
    assert_int_equal(kith__names_init(&names), 0);
    for (size_t length = 1; length <= sizeof name; length++)
        for (char last = 'a'; last <= 'c'; last++) {
            memset(name, 'x', sizeof name);
            name[length - 1] = last;
            uint32_t before = names.count;
            assert_int_equal(add_name(&names, name, length), before);
        }
    kith__names_release(&names);
}

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

static bool valid(const char *text)
{
    return kith__utf8_valid(text, strlen(text));
}

static void utf8__well_formed_text_is_valid(void **state)
{
    (void)state;
    assert_true(valid(""));
    assert_true(valid("plain"));
    assert_true(valid("\xc2\x80 \xdf\xbf"));                       /* U+0080, U+07FF */
    assert_true(valid("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80"));  /* U+0800, U+D7FF, U+E000 */
    assert_true(valid("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"));       /* U+10000, U+10FFFF */
    assert_true(valid("a long enough text to be looked at by words \xe2\x82\xac and on"));
}

static void utf8__malformed_text_is_not(void **state)
{
    static const char *const bad[] = {
        "\x80",             /* a continuation alone */
        "\xc0\x80",         /* NUL in two bytes */
        "\xc1\xbf",         /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xf4\x90\x80\x80", /* past U+10FFFF */
        "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x90\x80", "\xc3(", "\xe2(\xac",
        "eight b\xff", "12345678\xff", "1234567\xe2\x82",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (valid(bad[i]))
            fail_msg("found text %zu valid, expected it to be malformed", i);
    assert_false(kith__utf8_valid("a\0b", 3));
    assert_false(kith__utf8_valid("12345678\0", 9));
    assert_false(kith__utf8_valid("1234\0" "678", 8));
}

/* Every place of a bad byte in short texts, so that looking at words at a time is no excuse. */
static void utf8__a_bad_byte_is_found_at_any_place(void **state)
{
    char text[40];

    (void)state;
    for (size_t length = 1; length <= sizeof text; length++)
        for (size_t i = 0; i < length; i++) {
            memset(text, 'a', sizeof text);
            assert_true(kith__utf8_valid(text, length));
            text[i] = '\xfe';
            assert_false(kith__utf8_valid(text, length));
            text[i] = '\0';
            assert_false(kith__utf8_valid(text, length));
        }
}

static void quote__escapes_and_cuts(void **state)
{
    char out[KITH__QUOTED], long_text[300];

    (void)state;
    assert_string_equal(kith__quote(out, "a\tb\xff\xe2\x82\xac", 7), "'a\\x09b\\xff\xe2\x82\xac'");
    memset(long_text, '\x01', sizeof long_text);
    kith__quote(out, long_text, sizeof long_text);
    assert_true(strlen(out) < KITH__QUOTED);
    assert_string_equal(out + strlen(out) - 4, "...'");
    /* A character of four bytes is never cut in two. */
    for (size_t lead = 0; lead < 4; lead++) {
        memset(long_text, 'x', lead);
        for (size_t i = lead; i + 4 <= sizeof long_text; i += 4)
            memcpy(long_text + i, "\xf0\x9f\x90\xb6", 4);
        kith__quote(out, long_text, sizeof long_text);
        assert_true(valid(out));
    }
}

static void mem__products_that_overflow_are_refused(void **state)
{
    (void)state;
    assert_null(kith__alloc(SIZE_MAX / 2, 3));
    assert_null(kith__calloc(SIZE_MAX, SIZE_MAX));
    assert_null(kith__realloc(NULL, SIZE_MAX / 8 + 2, 8));
}

static void mem__reserve_keeps_what_is_there(void **state)
{
    uint32_t *array = NULL;
    size_t capacity = 0;

    (void)state;
    /* Past the size from which blocks are moved to huge pages. */
    for (uint32_t i = 0; i < 3000000; i++) {
        assert_int_equal(kith__reserve(&array, &capacity, (size_t)i + 1, sizeof *array), 0);
        array[i] = i;
    }
    for (uint32_t i = 0; i < 3000000; i++)
        if (array[i] != i)
            fail_msg("found %u, expected %u", array[i], i);
    kith__free(array);
}

static void mem__reserve_leaves_the_array_where_memory_is_short(void **state)
{
    uint32_t *array = NULL;
    size_t capacity = 0;

    (void)state;
    assert_int_equal(kith__reserve(&array, &capacity, 1, sizeof *array), 0);
    array[0] = 42;
    size_t before = capacity;
    kith__mem_fail_at(1);
    assert_int_equal(kith__reserve(&array, &capacity, 1000, sizeof *array), -1);
    kith__mem_fail_at(0);
    assert_int_equal(capacity, before);
    assert_int_equal(array[0], 42);
    kith__free(array);
}

typedef struct {
    atomic_uint runs[1000];
} tally;

static void run_piece(void *context, size_t piece)
{
    atomic_fetch_add(&((tally *)context)->runs[piece], 1);
}

static void pool__runs_each_piece_once_at_any_number_of_threads(void **state)
{
    static const unsigned sizes[] = {1, 2, 3, 7};
    static const size_t pieces[] = {0, 1, 2, 3, 1000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        kith__pool *pool = kith__pool_new(sizes[i]);
        assert_non_null(pool);
        assert_int_equal(kith__pool_size(pool), sizes[i]);
        for (int round = 0; round < 50; round++)
            for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
                tally t = {0};
                kith__pool_run(pool, run_piece, &t, pieces[k]);
                for (size_t p = 0; p < 1000; p++)
                    assert_int_equal(t.runs[p], p < pieces[k]);
            }
        kith__pool_free(pool);
    }
}

static void pool__zero_threads_means_one_per_core(void **state)
{
    kith__pool *pool = kith__pool_new(0);

    (void)state;
    assert_non_null(pool);
    assert_true(kith__pool_size(pool) >= 1);
    kith__pool_free(pool);
    kith__pool_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names__ids_count_up_in_the_order_first_met),
        cmocka_unit_test(names__find_does_not_add),
        cmocka_unit_test(names__200_000_names_keep_their_ids_while_the_table_grows),
        cmocka_unit_test(names__what_is_cut_off_is_forgotten_and_can_be_added_again),
        cmocka_unit_test(names__any_bytes_make_a_name),
        cmocka_unit_test(names__long_names_differ_in_their_last_byte),
        cmocka_unit_test(rng__the_same_seed_gives_the_same_numbers),
        cmocka_unit_test(rng__the_sequence_is_xoshiro256),
        cmocka_unit_test(rng__below_is_even_and_stays_below),
        cmocka_unit_test(rng__below_is_even_for_bounds_near_2_64),
        cmocka_unit_test(rng__unit_is_below_one),
        cmocka_unit_test(utf8__well_formed_text_is_valid),
        cmocka_unit_test(utf8__malformed_text_is_not),
        cmocka_unit_test(utf8__a_bad_byte_is_found_at_any_place),
        cmocka_unit_test(quote__escapes_and_cuts),
        cmocka_unit_test(mem__products_that_overflow_are_refused),
        cmocka_unit_test(mem__reserve_keeps_what_is_there),
        cmocka_unit_test(mem__reserve_leaves_the_array_where_memory_is_short),
        cmocka_unit_test(pool__runs_each_piece_once_at_any_number_of_threads),
        cmocka_unit_test(pool__zero_threads_means_one_per_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
