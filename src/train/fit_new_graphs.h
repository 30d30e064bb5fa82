/* The fusion for whole new graphs. It is fitted on hidden facts of train whose entities are seen,
 * because all entities of a new graph are seen when it is queried. */
#ifndef KITH_TRAIN_FIT_NEW_GRAPHS_H
#define KITH_TRAIN_FIT_NEW_GRAPHS_H

#include "model/model.h"

/* If there are few facts, a fusion is fitted on each of several draws of hidden facts, and the
 * weights are averaged. `exists` is set to false if no fact can be hidden. Relations have the ids
 * of the model's graph; `watch` may be NULL. */
kith_status kith__fit_for_new_graphs(kith__fusion *fusion, kith__calibration *calibration,
                                     bool *exists, const kith_model *model, uint32_t threads,
                                     kith__watch *watch, kith_error *error);

#endif
