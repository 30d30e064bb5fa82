/* Fusion of rule evidence and the embedding's score: a linear combination of features of a
 * candidate (features.h), calibrated as a probability (docs/MODEL.md). */
#ifndef KITH_MODEL_FUSION_H
#define KITH_MODEL_FUSION_H

#include <stdbool.h>

#include "model/features.h"
#include "model/query.h"
#include "model/shares.h"

typedef struct kith__weights {
    float all[KITH__FEATURES_COUNT];  /* weights of all features, for seen candidates */
    float bare[KITH__FEATURES_COUNT]; /* without the embedding's features, for seen candidates */
    /* without the embedding's features, for seen and unseen candidates */
    float unseen[KITH__FEATURES_COUNT];
} kith__weights;

/* The weights of one relation in one direction. */
typedef struct kith__own_weights {
    uint32_t query;
    kith__weights weights;
} kith__own_weights;

typedef struct kith__fusion {
    kith__weights common;
    kith__own_weights *own; /* sorted by query; only for relations that occurred in fitting */
    uint32_t own_count;
    /* strength with which they are regularised towards the common weights; 0 if there are none */
    float regularization;
    /* The number of queries it was fitted on. */
    uint32_t queries, calibration_queries;
    /* Mean negative log share of the correct answer on the calibration split, measured before the
     * final weights were fitted on that split too. */
    float loss;
} kith__fusion;

void kith__fusion_release(kith__fusion *fusion);
const kith__weights *kith__fusion_weights(const kith__fusion *fusion, uint32_t query);
/* Translate relation ids from the graph that the fusion was fitted on to another graph, which must
 * have the same relations. */
kith_status kith__fusion_translate(kith__fusion *fusion, const kith_graph *from,
                                   const kith_graph *to, kith_error *error);

/* Entities that are candidates in addition to those with an input embedding, or instead of them. */
typedef struct kith__unseen_set {
    /* distinct ids above those of the other candidates; the entity of the query is skipped */
    const uint32_t *at;
    size_t count;
    /* scores are indexed by id, up to this; NAN for entities that are not candidates */
    size_t width;
    bool only; /* seen entities are not candidates */
} kith__unseen_set;

/* Workspace for the fusion of one query at a time. */
typedef struct kith__fusion_workspace {
    size_t number; /* index among the workspaces of a kith__fusion_sweep */
    const kith__fusion *fusion;
    kith__evidence_query evidence_query; /* its view's `added` may be set before any query */
    /* may be set before any query; all zero: no unseen candidates */
    kith__unseen_set unseen;
    kith__case at;
    const float *log_degree;
    unsigned without;
    const float *weight; /* weights for the current query */
    float *scores;       /* of all candidates */
    size_t score_capacity;
    /* scores of the seen candidates without the embedding, if unseen ones need them */
    float *alone;
    size_t alone_capacity;
    /* weights for unseen candidates; `shift` is added to their scores */
    const float *unseen_weight;
    kith__case unseen_at;
    float shift;
    kith__shares shares;
} kith__fusion_workspace;

kith_status kith__fusion_workspace_init(kith__fusion_workspace *workspace,
                                        const kith__fusion *fusion, const kith__evidence *evidence,
                                        const float *log_degree, unsigned without,
                                        kith_error *error);
void kith__fusion_workspace_release(kith__fusion_workspace *workspace);

/* Score one query by the fusion. `facts` are those of the entity, sorted; they must stay valid as
 * long as the result is used. `self` is its id or UINT32_MAX; `embedding` holds the scores of all
 * candidates, or is NULL. The result is in the workspace's `scores`. Added facts count like those
 * of the base.
 *
 * Unseen candidates have no score from the embedding. The total probability of the seen ones
 * relative to the unseen ones is therefore computed without it. The embedding then only
 * redistributes that total among the seen ones, so their order is the same with and without unseen
 * candidates. */
kith_status kith__fusion_run(kith__fusion_workspace *workspace, kith__span facts, uint32_t self,
                             uint32_t query, const float *embedding, size_t candidates,
                             kith_error *error);

/* After kith__fusion_run: all features of a candidate, which need not be in the unseen set. */
void kith__fusion_features(float feature[KITH__FEATURES_COUNT],
                           const kith__fusion_workspace *workspace, uint32_t candidate);

/* log(1 + facts) per entity. */
float *kith__log_degrees(const kith__index *index);

/* What a model with rule evidence has in addition to its embedding. */
typedef struct kith__fused {
    kith__evidence *evidence;
    kith__fusion fusion;
    float *log_degree;
    bool embedding; /* whether the embedding is part of the fusion */
} kith__fused;
void kith__fused_free(kith__fused *fused);

#endif
