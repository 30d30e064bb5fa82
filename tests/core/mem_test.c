/* Allocation, and buffers that grow. */
#include "core/buffers.h"
#include "core/mem.h"
#include "support.h"

typedef struct {
    kith__buffers buffers;
    uint32_t *numbers;
    double *reals;
} owner;

static void buffers__grow_aligned_and_keep_what_they_are_asked_to(void **state)
{
    owner a = {0};

    (void)state;
    for (size_t count = 0; count < 5000; count = 2 * count + 7) {
        assert_int_equal(KITH__EXTEND(&a, numbers, count + 1), 0);
        assert_int_equal(KITH__GROW(&a, reals, count), 0);
        assert_int_equal((uintptr_t)a.numbers % 64, 0);
        assert_int_equal((uintptr_t)a.reals % 64, 0);
        a.numbers[count] = (uint32_t)count;
        for (size_t before = 0; before <= count; before = 2 * before + 7)
            assert_int_equal(a.numbers[before], before);
        memset(a.reals, 1, count * sizeof *a.reals);
    }
    uint32_t *there = a.numbers;
    assert_int_equal(KITH__EXTEND(&a, numbers, 10), 0); /* enough is left alone */
    assert_ptr_equal(a.numbers, there);
    assert_int_equal(KITH__GROW(&a, reals, SIZE_MAX / 4), -1);
    kith__buffers_release(&a.buffers);
    assert_null(a.buffers.first);
}

static void buffers__of_two_owners_may_change_places(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        owner a = {0}, b = {0};
        assert_int_equal(KITH__GROW(&a, numbers, 3), 0);
        assert_int_equal(KITH__GROW(&a, reals, 3), 0);
        assert_int_equal(KITH__GROW(&b, numbers, 3), 0);
        uint32_t *swap = a.numbers;
        a.numbers = b.numbers;
        b.numbers = swap;
        assert_int_equal(KITH__GROW(&a, numbers, 1000), 0);
        assert_int_equal(KITH__GROW(&b, numbers, 1000), 0);
        kith__buffers_release(first ? &a.buffers : &b.buffers);
        kith__buffers_release(first ? &b.buffers : &a.buffers);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers__grow_aligned_and_keep_what_they_are_asked_to),
        cmocka_unit_test(buffers__of_two_owners_may_change_places),
        cmocka_unit_test(mem__products_that_overflow_are_refused),
        cmocka_unit_test(mem__reserve_keeps_what_is_there),
        cmocka_unit_test(mem__reserve_leaves_the_array_where_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
