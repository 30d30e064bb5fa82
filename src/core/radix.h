/* Sorting triples of numbers by two of them. */
#ifndef KITH_CORE_RADIX_H
#define KITH_CORE_RADIX_H

#include <stddef.h>
#include <stdint.h>

#include "core/pool.h"

typedef struct kith__item {
    uint32_t major, minor, index;
} kith__item;

/* Sort by (major, minor), keeping the order of equal items; the result is in `items`, and `spare`
 * must have the same size. There are fewer than 2^32 items; `majors` and `minors` are upper bounds
 * of the values. */
void kith__radix_sort(kith__item *items, kith__item *spare, size_t count, uint64_t majors,
                      uint64_t minors);

/* Sort on the pool's threads, with the same result. */
void kith__radix_sort_on(kith__pool *pool, kith__item *items, kith__item *spare, size_t count,
                         uint64_t majors, uint64_t minors);

#endif
