/* The fusion for whole new graphs: fitted on hidden facts of train whose entities are seen, as all
 * entities of a new graph are where it is asked about. */
#ifndef KITH_TRAIN_FIT_NEW_GRAPHS_H
#define KITH_TRAIN_FIT_NEW_GRAPHS_H

#include "model/model.h"

/* Facts are hidden several times where there are few, each time a fusion is fitted, and weights are
 * averaged. `exists` is false where no fact can be hidden. Relations have the ids of the model's
 * graph; `watch` may be NULL. */
kith_status kith__fit_for_new_graphs(kith__fusion *fusion, kith__calibration *calibration,
                                     bool *exists, const kith_model *model, uint32_t threads,
                                     kith__watch *watch, kith_error *error);

#endif
