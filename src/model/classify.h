/* Triplet classification: true where phi reaches the relation's threshold, chosen on dev; or, for a model
 * with rule evidence, where that is likelier than not by a mix, fitted on dev for each relation, of phi and
 * of what evidence says about each side as the answer to a question about the other. */
#ifndef KITH_MODEL_CLASSIFY_H
#define KITH_MODEL_CLASSIFY_H

#include "model/model.h"

/* `without`: parts of the evidence to leave out, or NULL. Sets accuracy, no_neighbors and the number of queries. */
kith_status kith__classify(kith_eval *result, kith_model *model, const kith_triple *facts,
                           const int8_t *truth, size_t count, unsigned without, kith_error *error);

/* The threshold that classifies most of the scores right; the lowest such where several do. The
 * arrays are sorted by score on return. */
typedef struct kith__scored {
    float score;
    int8_t truth;
} kith__scored;
float kith__best_threshold(kith__scored *scored, size_t count);

#endif
