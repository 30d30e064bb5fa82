/* Fitting a fusion on the hidden facts of pseudo-unseen entities (graph/holdout.h). */
#ifndef KITH_FUSE_FIT_H
#define KITH_FUSE_FIT_H

#include "fuse/fuse.h"

/* `model` is of the graph with held-out entities, whose test facts are asked for. Entities are parted
 * in those that are fitted on and, one in five, those that choose the number of trees and calibrate;
 * then all are fitted on. */
kith_status kith__fusion_fit(kith__fusion *fusion, kith_model *model,
                             const kith__evidence *evidence, bool embedding, kith_error *error);

#endif
