/* Fitting a fusion on the hidden facts of held-out entities (train/holdout.h). */
#ifndef KITH_TRAIN_FIT_H
#define KITH_TRAIN_FIT_H

#include "model/model.h"
#include "train/holdout.h"

/* `model` has the graph with held-out entities, whose test facts are the queries. Weights are first
 * fitted without one in five of the entities, on which probabilities are then calibrated, and after
 * that on all entities. */
kith_status kith__fusion_fit(kith__fusion *fusion, kith__calibration *calibration,
                             kith_model *model, const kith__evidence *evidence, bool embedding,
                             kith_error *error);
/* The same with the queries of a hold-out of the model's graph; `some` is the fusion that was
 * fitted without the calibration split. `held_out` (may be NULL) receives how well hidden facts
 * with a seen answer are found by weights that were not fitted on their entities. It is measured on
 * the calibration split, or, if that is small, on all entities by two-fold cross-validation. */
kith_status kith__fusion_fit_both(kith__fusion *fusion, kith__fusion *some,
                                  kith__calibration *calibration, kith__held_out *held_out,
                                  kith_model *model, const kith__evidence *evidence,
                                  const kith__holdout *holdout, bool embedding,
                                  kith_error *error);

#endif
