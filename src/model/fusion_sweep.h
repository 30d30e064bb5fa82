/* Fusion scores of all candidates for many queries. */
#ifndef KITH_MODEL_FUSION_SWEEP_H
#define KITH_MODEL_FUSION_SWEEP_H

#include "model/answer_set.h"
#include "model/sweep.h"

/* Called once for each query, on any thread, after its fusion. kith__fusion_sweep scores like
 * kith__score_all, but with evidence from a given graph. Without an embedding, only the model's
 * threads are used. */
typedef void (*kith__fusion_call)(void *context, size_t query, kith__fusion_workspace *workspace);
kith_status kith__fusion_sweep(kith_model *model, const kith__fusion *fusion,
                               const kith__evidence *evidence, const kith__query *queries,
                               size_t count, const kith__answer_set *among, unsigned without,
                               bool embedding, kith__fusion_call call, void *context,
                               kith_error *error);

#endif
