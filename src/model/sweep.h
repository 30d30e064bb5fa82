/* Scores of all candidates for many queries, computing what queries have in common only once. */
#ifndef KITH_MODEL_SWEEP_H
#define KITH_MODEL_SWEEP_H

#include "model/model.h"
#include "model/query.h"

enum { KITH__SCORED_TOGETHER = 64 };

/* Called once for each query, on any thread, with one score per candidate. Calls that run at the
 * same time have different slots, below KITH__SCORED_TOGETHER. */
typedef void (*kith__scored_call)(void *context, size_t query, size_t slot, const float *scores);

/* The candidates are the entities 0 .. candidates - 1. Queries may be in any order. The setting
 * `candidates` says whether candidates with an input embedding are scored by it. `known` has the
 * facts of unseen neighbours; if NULL, unseen neighbours are not used. */
kith_status kith__score_all(kith_model *model, const kith__query *queries, size_t count,
                            size_t candidates, const kith__index *known, kith__scored_call call,
                            void *context, kith_error *error);

/* The score of a fact as ranking computes it, from the encodings of its subject and object for its
 * relation and the inverse. If either side is predicted, it is the mean of both. `scratch` holds 6
 * padded rows. */
float kith__score_fact(const kith_model *model, kith_triple fact, const float *subject,
                       const float *object, float *scratch);

#endif
