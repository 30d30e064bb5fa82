/* Fitting a fusion on the hidden facts of held-out entities (train/holdout.h). */
#ifndef KITH_TRAIN_FIT_H
#define KITH_TRAIN_FIT_H

#include "model/model.h"
#include "train/holdout.h"

/* `model` is of the graph with held-out entities, whose test facts are asked for. Weights are first
 * fitted without one in five of the entities, on which probabilities are then calibrated, and after
 * that on all. */
kith_status kith__fusion_fit(kith__fusion *fusion, kith__calibration *calibration,
                             kith_model *model, const kith__evidence *evidence, bool embedding,
                             kith_error *error);
/* The same with the queries of a hold-out of the model's graph; `some` is the fusion that was
 * fitted without the calibration split. `held_out` (may be NULL) is how well hidden facts with a
 * seen answer are found by weights that were not fitted on their entities: those of the calibration
 * split, or where they are few all, each half with weights fitted on the other. */
kith_status kith__fusion_fit_both(kith__fusion *fusion, kith__fusion *some,
                                  kith__calibration *calibration, kith__held_out *held_out,
                                  kith_model *model, const kith__evidence *evidence,
                                  const kith__holdout *holdout, bool embedding,
                                  kith_error *error);
/* Weights of relations come from the ids of the graph that was fitted on to those of another graph,
 * which must have the relations too. */
kith_status kith__fusion_translate(kith__fusion *fusion, const kith_graph *from,
                                   const kith_graph *to, kith_error *error);

/* Fit the calibration of a model without rule evidence on some facts of dev, where there are any
 * without labels and candidates are not too many to look at for so little. */
kith_status kith__calibrate_on_dev(kith_model *model, kith_error *error);

#endif
