/* Scores true facts and false ones by the decoder from the vectors of their two ends, for losses
 * over corrupted facts. */
#ifndef KITH_TRAIN_FACT_SCORES_H
#define KITH_TRAIN_FACT_SCORES_H

#include "train/scaled_rows.h"

typedef struct kith__fact_scores {
    const kith__scoring *scoring;
    const kith__batch *batch;
    size_t *request; /* of subjects and objects, true facts first */
    size_t request_capacity;
    uint32_t *relation, *relation_slot; /* relations of the batch; per relation, its slot + 1 */
    size_t relation_capacity;
    kith__scaled_rows encodings, inputs, relations; /* inputs: those of the encodings' entities */
    /* Scores of true facts, then of false ones, and the derivatives of the loss with respect to
     * them: with encodings, and with input embeddings. */
    kith__floats out, in, by_out, by_in, scratch;
} kith__fact_scores;

extern const kith__scorer kith__fact_scorer;

/* `scoring` must outlive it. */
kith_status kith__fact_scores_init(kith__fact_scores *scores, const kith__scoring *scoring,
                                   kith_error *error);
void kith__fact_scores_release(kith__fact_scores *scores);

#endif
