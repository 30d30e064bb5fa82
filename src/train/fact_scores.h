/* True facts and false ones, each scored by the decoder from the vectors of its two ends: for
 * losses over corrupted facts. */
#ifndef KITH_TRAIN_FACT_SCORES_H
#define KITH_TRAIN_FACT_SCORES_H

#include "train/scaled_rows.h"

typedef struct kith__fact_scores {
    const kith__scoring *scoring;
    const kith__batch *batch;
    size_t *request; /* of subjects and objects, true facts first */
    size_t request_capacity;
    uint32_t *relation, *relation_slot; /* those of the batch; per relation, its slot + 1 */
    size_t relation_capacity;
    kith__scaled_rows encodings, inputs, relations; /* inputs: of the encodings' entities */
    /* Scores of true facts, then of false ones, and the loss's derivatives by them; on encodings
     * and on input embeddings. */
    kith__floats out, in, by_out, by_in, scratch;
} kith__fact_scores;

extern const kith__scorer kith__fact_scorer;

/* `scoring` must outlive it. */
kith_status kith__fact_scores_init(kith__fact_scores *scores, const kith__scoring *scoring,
                                   kith_error *error);
void kith__fact_scores_release(kith__fact_scores *scores);

#endif
