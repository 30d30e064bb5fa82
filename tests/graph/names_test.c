/* Names to ids and back. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names__ids_count_up_in_the_order_first_met),
        cmocka_unit_test(names__find_does_not_add),
        cmocka_unit_test(names__200_000_names_keep_their_ids_while_the_table_grows),
        cmocka_unit_test(names__what_is_cut_off_is_forgotten_and_can_be_added_again),
        cmocka_unit_test(names__any_bytes_make_a_name),
        cmocka_unit_test(names__long_names_differ_in_their_last_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
