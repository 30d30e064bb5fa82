/* Fitting the second calibration (model/overall.h) on held-out entities with some of their facts
 * hidden (train/holdout.h). Queries are included whether or not a hidden fact answers them. */
#ifndef KITH_TRAIN_FIT_OVERALL_H
#define KITH_TRAIN_FIT_OVERALL_H

#include "graph/make/descriptions.h"
#include "model/model.h"

/* `model` has not seen these entities. Unless there are too few of them, neither its weights nor
 * its first calibration were fitted on them; only then `tables` (may be NULL) receives how well
 * such probabilities are calibrated, measured on each half of the entities with a calibration that
 * was fitted on the other half. Otherwise it has no entities. */
kith_status kith__overall_fit(kith__overall *overall, kith__probability_tables *tables,
                              kith_model *model, const kith__descriptions *described,
                              kith_error *error);

/* An answer to fit on. */
typedef struct kith__overall_example {
    double inputs[KITH__OVERALL_INPUTS];
    uint32_t description; /* examples of one description follow each other */
    uint32_t query;       /* examples of one query follow each other */
    uint32_t entity;      /* the described entity, counted from 0 */
    bool right;
    bool answered; /* a hidden fact answers the query */
} kith__overall_example;
/* Fit on the examples of `entities` entities. */
kith_status kith__overall_fit_examples(kith__overall *overall,
                                       const kith__overall_example *examples,
                                       size_t count, uint32_t entities, kith_error *error);
/* Measure on examples as kith__overall_fit does; entities are 0 .. entities - 1. Answers that are
 * all but impossible are not among the examples. */
kith_status kith__overall_measure(kith__probability_tables *tables,
                                  const kith__overall_example *examples, size_t count,
                                  uint32_t entities, kith_error *error);

#endif
