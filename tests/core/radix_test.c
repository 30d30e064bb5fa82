/* Sorting by two keys. */
#include <pthread.h>

#include "core/mem.h"
#include "core/pool.h"
#include "core/radix.h"
#include "support.h"

static int by_both_keys(const void *a, const void *b)
{
    const kith__item *x = a, *y = b;

    if (x->major != y->major)
        return x->major < y->major ? -1 : 1;
    if (x->minor != y->minor)
        return x->minor < y->minor ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

typedef struct {
    kith__pool *pool; /* NULL: on the calling thread alone */
    uint64_t majors, minors;
    size_t count;
    bool same;
} sorting;

static void *sort_and_compare(void *context)
{
    sorting *s = context;
    kith__item *found = malloc(s->count * sizeof *found),
               *wanted = malloc(s->count * sizeof *found);
    kith__item *spare = malloc(s->count * sizeof *spare);
    kith__rng rng;

    kith__rng_init(&rng, s->count, s->majors);
    for (size_t i = 0; i < s->count; i++)
        found[i] = (kith__item){(uint32_t)kith__rng_below(&rng, s->majors),
                                (uint32_t)kith__rng_below(&rng, s->minors), (uint32_t)i};
    memcpy(wanted, found, s->count * sizeof *wanted);
    qsort(wanted, s->count, sizeof *wanted, by_both_keys);
    if (s->pool)
        kith__radix_sort_on(s->pool, found, spare, s->count, s->majors, s->minors);
    else
        kith__radix_sort(found, spare, s->count, s->majors, s->minors);
    s->same = memcmp(found, wanted, s->count * sizeof *found) == 0;
    free(found);
    free(wanted);
    free(spare);
    return NULL;
}

/* With as little stack as a thread may have, and with no memory for counts. */
static void radix__sorts_on_a_small_stack_and_without_memory(void **state)
{
    static const uint64_t bounds[] = {1, 2, 300, 5000, 16384, 70000, UINT64_C(1) << 32};
    enum { BOUNDS = sizeof bounds / sizeof *bounds };
    kith__pool *pools[] = {NULL, kith__pool_new(4)};
    pthread_attr_t small;
    pthread_t thread;

    (void)state;
    pthread_attr_init(&small);
    assert_int_equal(pthread_attr_setstacksize(&small, 48 << 10), 0);
    for (size_t i = 0; i < 2 * 2 * BOUNDS * BOUNDS; i++) {
        sorting s = {.pool = pools[i % 2],
                     .majors = bounds[i / 4 % BOUNDS],
                     .minors = bounds[i / 4 / BOUNDS],
                     .count = 20000};
        kith__mem_fail_at(i / 2 % 2);
        assert_int_equal(pthread_create(&thread, &small, sort_and_compare, &s), 0);
        pthread_join(thread, NULL);
        kith__mem_fail_at(0);
        if (!s.same)
            fail_msg("found another order for numbers below %llu and %llu",
                     (unsigned long long)s.majors, (unsigned long long)s.minors);
    }
    pthread_attr_destroy(&small);
    kith__pool_free(pools[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(radix__sorts_on_a_small_stack_and_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
