/* The best `top` of a stream of items. At most about four times as many are held at once. */
#ifndef KITH_RULES_BEST_H
#define KITH_RULES_BEST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct kith__best {
    void *at;
    size_t count, capacity;
    size_t size, top;                        /* of an item; how many are wanted */
    int (*compare)(const void *, const void *); /* better ones first; a total order */
    bool full; /* the item at top - 1 is a bound: what is not better is not taken */
} kith__best;

/* -1 if out of memory. */
int kith__best_add(kith__best *best, const void *item);
/* The items so far, best first, and no more than `top`. */
void kith__best_sort(kith__best *best);
void kith__best_release(kith__best *best);

#endif
