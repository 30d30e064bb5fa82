/* Fitting the second calibration (model/overall.h) on held-out entities with some of their facts
 * hidden (eval/newcomers.h), whether or not any hidden fact has the relation of the question. */
#ifndef KITH_TRAIN_FIT_OVERALL_H
#define KITH_TRAIN_FIT_OVERALL_H

#include "model/model.h"

/* `model` has not seen these entities, and neither its weights nor its first calibration were
 * fitted on those of the calibration split; where that is too small, all of them are asked
 * about. */
kith_status kith__overall_fit(kith__overall *overall, kith_model *model, kith_error *error);

/* An answer to fit on. */
typedef struct kith__overall_example {
    double inputs[KITH__OVERALL_INPUTS];
    uint32_t entity; /* which it is about, counted from 0 */
    bool right;
} kith__overall_example;
/* From the examples of `entities` entities. */
kith_status kith__overall_fit_examples(kith__overall *overall,
                                       const kith__overall_example *examples,
                                       size_t count, uint32_t entities, kith_error *error);

#endif
