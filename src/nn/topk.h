/* The best k of many scored candidates, best first. Among equal scores the smaller id wins; a NaN
 * is never among the best. */
#ifndef KITH_NN_TOPK_H
#define KITH_NN_TOPK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Candidates are offered one by one, in any order, between kith__topk_begin and kith__topk_sort. */
typedef struct kith__topk {
    /* owned by the caller, `most` entries; a heap with the worst entry first, until it is sorted */
    uint32_t *ids;
    size_t count, most;
    const float *scores; /* by id */
} kith__topk;

static inline kith__topk kith__topk_begin(uint32_t *ids, size_t most, const float *scores)
{
    return (kith__topk){ids, 0, most, scores};
}

void kith__topk_insert(kith__topk *topk, uint32_t id);

/* Most candidates are worse than all entries so far, so this test must be cheap. */
static inline void kith__topk_offer(kith__topk *t, uint32_t id)
{
    if (t->count == t->most && (t->most == 0 || !(t->scores[id] >= t->scores[t->ids[0]])))
        return;
    if (!isnan(t->scores[id]))
        kith__topk_insert(t, id);
}

/* Best first. */
void kith__topk_sort(kith__topk *topk);

/* The best of `count` candidates that are not masked (marks by id, or NULL); returns how many. */
size_t kith__topk_of(uint32_t *ids, size_t most, const float *scores, size_t count,
                     const uint8_t *left_out);

#endif
