/* Counters indexed by a 64-bit key, in a hash table that grows up to a bound. */
#ifndef KITH_RULES_COUNTER_H
#define KITH_RULES_COUNTER_H

#include <stddef.h>
#include <stdint.h>

typedef struct kith__count {
    uint64_t key; /* UINT64_MAX: an empty place */
    uint64_t count;
} kith__count;

typedef struct kith__counter {
    kith__count *at;
    size_t places, used, most; /* `most`: the maximum number of keys; 0: unlimited */
} kith__counter;

/* Add to a key's count. New keys beyond the bound are ignored. -1 if out of memory. */
int kith__counter_add(kith__counter *counter, uint64_t key, uint64_t count);
/* NULL if the key was not counted. */
kith__count *kith__counter_find(const kith__counter *counter, uint64_t key);
/* Move the counts to the front of the table, sorted by ascending key. After that, nothing can be
 * added or found. */
void kith__counter_sort(kith__counter *counter);
void kith__counter_release(kith__counter *counter);

#endif
