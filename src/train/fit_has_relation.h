/* Learning P(has r) (model/has_relation.h) from entities of whose facts a random share between 10 and 90 %
 * is hidden (graph/make/descriptions.h): held-out ones first, and where they are few also entities of train,
 * each of which is left out of the counts of the graph, so that it is judged as if it had come later. */
#ifndef KITH_TRAIN_FIT_HAS_RELATION_H
#define KITH_TRAIN_FIT_HAS_RELATION_H

#include "graph/make/descriptions.h"
#include "model/has_relation.h"

/* The counts are of the graph that the index is of; `held_out`, which may be NULL, are unseen there. */
kith_status kith__has_relation_fit(kith__has_relation *model, const kith__relation_counts *counts,
                                   const kith__index *index, const kith__descriptions *held_out,
                                   uint64_t seed, kith_error *error);

#endif
