/* Fitting P(has r) (model/has_relation.h) on entities of train with 10 to 90 % of their facts
 * hidden at random. The counts of the graph exclude the entity itself, as if it had been added
 * later. This assumes that facts about a newcomer are missing at random. */
#ifndef KITH_TRAIN_FIT_HAS_RELATION_H
#define KITH_TRAIN_FIT_HAS_RELATION_H

#include "model/has_relation.h"

kith_status kith__has_relation_fit(kith__has_relation *model, const kith__relation_counts *counts,
                                   const kith__index *index, uint64_t seed, kith_error *error);

#endif
