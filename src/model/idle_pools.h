/* Threads of a model that calls borrow, so that repeated calls create none. */
#ifndef KITH_MODEL_IDLE_POOLS_H
#define KITH_MODEL_IDLE_POOLS_H

#include "model/model.h"

/* A pool of this many threads (0: one per core), owned by the caller until it returns it. Those
 * returned last are kept with the model. NULL if memory or threads run out. */
kith__pool *kith__model_take_pool(const kith_model *model, unsigned threads);
/* Takes the watch off the pool; it may be NULL. */
void kith__model_give_pool(const kith_model *model, kith__pool *pool);
/* For who frees the model. */
void kith__idle_pools_free(kith_model *model);

#endif
