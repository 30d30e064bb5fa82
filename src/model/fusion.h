/* Fusion of rule evidence and the embedding's score: a linear mix of figures about a candidate
 * (features.h), calibrated as a probability (docs/MODEL.md). */
#ifndef KITH_MODEL_FUSION_H
#define KITH_MODEL_FUSION_H

#include <stdbool.h>

#include "model/calibrate.h"
#include "model/features.h"
#include "model/sweep.h"

/* Of figures; and of those that are left without the embedding. */
typedef struct kith__weights {
    float all[KITH__FEATURES_COUNT], alone[KITH__FEATURES_COUNT];
} kith__weights;

/* Those of one relation, asked for in one direction. */
typedef struct kith__own_weights {
    uint32_t query;
    kith__weights weights;
} kith__own_weights;

typedef struct kith__fusion {
    kith__weights common;
    kith__own_weights *own; /* by query; of relations that were met where the fusion was fitted */
    uint32_t own_count;
    float pull; /* how much those were pulled to the common ones; 0 where there are none */
    float calibration[KITH__CALIBRATION];
    /* What it was fitted on. */
    uint32_t queries, calibration_queries;
    float
        loss; /* -log share of the right answer, on those set aside, when they were not fitted on */
} kith__fusion;

void kith__fusion_release(kith__fusion *fusion);
const kith__weights *kith__fusion_weights(const kith__fusion *fusion, uint32_t query);

/* What a query asks for: a relation, or its inverse. */
static inline uint32_t kith__query_relation(const kith__query *q, const kith__index *index)
{
    return q->fact.relation + (q->subject_hidden ? index->relations / 2 : 0);
}

/* Room for fusing one query at a time. */
typedef struct kith__fusion_workspace {
    size_t room; /* number among those of kith__fusion_sweep */
    const kith__fusion *fusion;
    kith__evidence_query asking;
    kith__case at;
    const float *log_degree;
    unsigned without;
    const float *weight; /* for the query at hand */
    float *scores;       /* of all candidates */
    size_t score_capacity;
    kith__span known;
    double log_sum; /* of the exponentials of the scores of all that are no known answers */
} kith__fusion_workspace;

kith_status kith__fusion_workspace_init(kith__fusion_workspace *fusing, const kith__fusion *fusion,
                                        const kith__evidence *evidence, const float *log_degree,
                                        unsigned without, kith_error *error);
void kith__fusion_workspace_release(kith__fusion_workspace *fusing);

/* Fuse one query: `facts` are those of the entity, sorted, and must live as long as the result is
 * looked at; `self` its id or UINT32_MAX; `embedding` the scores of all candidates, or NULL. The result
 * is in fusing->scores. */
kith_status kith__fusion_run(kith__fusion_workspace *fusing, kith__span facts, uint32_t self,
                             uint32_t query, const float *embedding, size_t candidates,
                             kith_error *error);

/* After kith__fusion_run: up to `most` of the candidates that are no known answers, best first. */
size_t kith__fusion_best(uint32_t *best, size_t most, const kith__fusion_workspace *fusing);
/* How likely a candidate is true, calibrated on held-out entities. */
float kith__fusion_probability(const kith__fusion_workspace *fusing, uint32_t candidate);

/* log(1 + facts) per entity. */
float *kith__log_degrees(const kith__index *index);

/* Called once for each query, on any thread, after it was fused: as kith__score_all calls, for a graph
 * whose evidence is given; without an embedding the model lends only its threads. */
typedef void (*kith__fusion_call)(void *context, size_t query, kith__fusion_workspace *fusing);
kith_status kith__fusion_sweep(kith_model *model, const kith__fusion *fusion,
                               const kith__evidence *evidence, const kith__query *queries,
                               size_t count, size_t candidates, unsigned without, bool embedding,
                               kith__fusion_call call, void *context, kith_error *error);

#endif
