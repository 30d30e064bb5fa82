/* Keeps the best `top` items of a stream, holding at most about four times as many at once. */
#ifndef KITH_RULES_BEST_H
#define KITH_RULES_BEST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct kith__best {
    void *at;
    size_t count, capacity;
    size_t size, top;                           /* size of an item, and how many to keep */
    int (*compare)(const void *, const void *); /* better ones first; a total order */
    bool full; /* the item at top - 1 is a bound: only better items are added */
} kith__best;

/* -1 if out of memory. */
int kith__best_add(kith__best *best, const void *item);
/* Sort the items best first and keep at most `top` of them. */
void kith__best_sort(kith__best *best);
void kith__best_release(kith__best *best);

#endif
