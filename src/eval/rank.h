/* Filtered ranks of the correct answers among all candidates. */
#ifndef KITH_EVAL_RANK_H
#define KITH_EVAL_RANK_H

#include "model/answer_set.h"
#include "model/shares.h"
#include "model/sweep.h"

/* The rank of `gold` among the scores: 1 + those better, and those better or equal. Candidates
 * whose byte is set in `known` do not count; gold always does. */
void kith__rank_of(uint32_t *optimistic, uint32_t *pessimistic, uint32_t *candidates,
                   const float *scores, size_t count, uint32_t gold, const uint8_t *known);

/* The caller's rank, and the arrays it points to. */
typedef struct kith__ranked {
    kith_rank shown;
    kith_ranked_answer answers[KITH__JUDGED];
    const kith_ranked_answer *list[KITH__JUDGED];
} kith__ranked;

/* Rank the hidden sides; `ranks` holds `count`, in the order of the queries. The options' split,
 * sample and candidates are ignored. */
kith_status kith__rank_all(kith__ranked *ranks, kith_model *model, const kith__query *queries,
                           size_t count, const kith__answer_set *among,
                           const kith_eval_options *options, kith_error *error);

#endif
