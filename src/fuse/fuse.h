/* Fusion of rule evidence and the embedding's score: a linear mix of figures about a candidate
 * (features.h), calibrated as a probability (docs/MODEL.md). */
#ifndef KITH_FUSE_FUSE_H
#define KITH_FUSE_FUSE_H

#include <stdbool.h>

#include "fuse/calibrate.h"
#include "fuse/features.h"
#include "model/score.h"

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
    uint32_t queries, set_aside;
    float loss; /* -log share of the right answer, on those set aside, when they were not fitted on */
} kith__fusion;

void kith__fusion_release(kith__fusion *fusion);
const kith__weights *kith__fusion_weights(const kith__fusion *fusion, uint32_t query);

/* What a query asks for: a relation, or its inverse. */
static inline uint32_t kith__asked_relation(const kith__query *q, const kith__index *index)
{
    return q->fact.relation + (q->subject_hidden ? index->relations / 2 : 0);
}

/* Room for fusing one query at a time. */
typedef struct kith__fusing {
    size_t room; /* number among those of kith__fuse_each */
    const kith__fusion *fusion;
    kith__asking asking;
    kith__case at;
    const float *log_degree;
    const char *without;
    const float *weight; /* for the query at hand */
    float *scores;       /* of all candidates */
    size_t score_capacity;
    kith__span known;
    double log_sum; /* of the exponentials of the scores of all that are no known answers */
} kith__fusing;

kith_status kith__fusing_init(kith__fusing *fusing, const kith__fusion *fusion,
                              const kith__evidence *evidence, const float *log_degree,
                              const char *without, kith_error *error);
void kith__fusing_release(kith__fusing *fusing);

/* Fuse one query: `facts` are those of the entity, sorted, and must live as long as the result is
 * looked at; `self` its id or UINT32_MAX; `embedding` the scores of all candidates, or NULL. The result
 * is in fusing->scores. */
kith_status kith__fuse(kith__fusing *fusing, kith__span facts, uint32_t self, uint32_t query,
                       const float *embedding, size_t candidates, kith_error *error);

/* After kith__fuse: up to `most` of the candidates that are no known answers, best first. */
size_t kith__fused_best(uint32_t *best, size_t most, const kith__fusing *fusing);
/* How likely a candidate is true, calibrated on held-out entities. */
float kith__fused_probability(const kith__fusing *fusing, uint32_t candidate);

/* log(1 + facts) per entity. */
float *kith__log_degrees(const kith__index *index);

/* Called once for each query, on any thread, after it was fused: as kith__score_all calls, for a graph
 * whose evidence is given; without an embedding the model lends only its threads. */
typedef void (*kith__fused_call)(void *context, size_t query, kith__fusing *fusing);
kith_status kith__fuse_each(kith_model *model, const kith__fusion *fusion,
                            const kith__evidence *evidence, const kith__query *queries,
                            size_t count, size_t candidates, const char *without, bool embedding,
                            kith__fused_call call, void *context, kith_error *error);

#endif
