/* Fitting P(has r) (model/has_relation.h) on entities with 10 to 90 % of their facts hidden at
 * random (graph/make/descriptions.h): first on held-out entities and, if there are few of these,
 * also on entities of train. Each of the latter is excluded from the counts of the graph, as if it
 * had been added later. */
#ifndef KITH_TRAIN_FIT_HAS_RELATION_H
#define KITH_TRAIN_FIT_HAS_RELATION_H

#include "graph/make/descriptions.h"
#include "model/has_relation.h"

/* The counts are those of the index's graph; the entities of `held_out` (may be NULL) are unseen in
 * it. */
kith_status kith__has_relation_fit(kith__has_relation *model, const kith__relation_counts *counts,
                                   const kith__index *index, const kith__descriptions *held_out,
                                   uint64_t seed, kith_error *error);

#endif
