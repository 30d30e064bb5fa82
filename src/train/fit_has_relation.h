/* Learning P(has r) (model/has_relation.h) from entities of train of whose facts a random share between
 * 10 and 90 % is hidden. The counts of the graph leave the entity itself out, so that it is judged as if
 * it had come later. This assumes that what is missing about a newcomer is missing at random. */
#ifndef KITH_TRAIN_FIT_HAS_RELATION_H
#define KITH_TRAIN_FIT_HAS_RELATION_H

#include "model/has_relation.h"

kith_status kith__has_relation_fit(kith__has_relation *model, const kith__relation_counts *counts,
                                   const kith__index *index, uint64_t seed, kith_error *error);

#endif
