/* Fusion of rule evidence and the embedding's score: a linear mix of features of a candidate
 * (features.h), calibrated as a probability (docs/MODEL.md). */
#ifndef KITH_MODEL_FUSION_H
#define KITH_MODEL_FUSION_H

#include <stdbool.h>

#include "model/features.h"
#include "model/query.h"
#include "model/shares.h"

typedef struct kith__weights {
    float all[KITH__FEATURES_COUNT];    /* of all features, for seen candidates */
    float bare[KITH__FEATURES_COUNT];   /* the same without those of the embedding */
    float unseen[KITH__FEATURES_COUNT]; /* without them too, for seen and unseen candidates */
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
    float regularization; /* strength towards the common ones; 0 if there are none */
    /* What it was fitted on. */
    uint32_t queries, calibration_queries;
    /* Mean of -log share of the correct answer on the calibration split, before the weights were
     * fitted on that too. */
    float loss;
} kith__fusion;

void kith__fusion_release(kith__fusion *fusion);
const kith__weights *kith__fusion_weights(const kith__fusion *fusion, uint32_t query);
/* Change the relations' ids from those of one graph, which the fusion was fitted on, to those of
 * another, which must have the same relations. */
kith_status kith__fusion_translate(kith__fusion *fusion, const kith_graph *from,
                                   const kith_graph *to, kith_error *error);

/* Entities that may be answers beside those with an input embedding, or instead of them. */
typedef struct kith__unseen_set {
    const uint32_t
        *at; /* ids behind the candidates', each once; the entity asked about does not count */
    size_t count;
    size_t width; /* scores are by id, of those below; NAN where it is not a candidate */
    bool only;    /* the seen ones are none */
} kith__unseen_set;

/* Workspace for the fusion of one query at a time. */
typedef struct kith__fusion_workspace {
    size_t number; /* among the workspaces of a kith__fusion_sweep */
    const kith__fusion *fusion;
    kith__evidence_query evidence_query; /* its view's `added` may be set before any query */
    kith__unseen_set unseen;             /* may be set before any query; zero: none */
    kith__case at;
    const float *log_degree;
    unsigned without;
    const float *weight; /* for the query at hand */
    float *scores;       /* of all candidates */
    size_t score_capacity;
    float *alone; /* those of the seen ones without the embedding, where unseen ones need them */
    size_t alone_capacity;
    const float *unseen_weight; /* for unseen candidates, whose scores are theirs plus `shift` */
    kith__case unseen_at;
    float shift;
    kith__shares shares;
} kith__fusion_workspace;

kith_status kith__fusion_workspace_init(kith__fusion_workspace *workspace,
                                        const kith__fusion *fusion, const kith__evidence *evidence,
                                        const float *log_degree, unsigned without,
                                        kith_error *error);
void kith__fusion_workspace_release(kith__fusion_workspace *workspace);

/* Fuse one query: `facts` are those of the entity, sorted, and must live as long as the result is
 * looked at; `self` its id or UINT32_MAX; `embedding` the scores of all candidates, or NULL. The
 * result is in `scores` of the workspace. Added facts count as those of the base do. Unseen
 * candidates have no score by the embedding. How they stand to the seen ones together is decided
 * without it, and then the seen ones share what is theirs with it, so their order is the same with
 * unseen candidates and without. */
kith_status kith__fusion_run(kith__fusion_workspace *workspace, kith__span facts, uint32_t self,
                             uint32_t query, const float *embedding, size_t candidates,
                             kith_error *error);

/* Afterwards: all features of a candidate, of the unseen set or not. */
void kith__fusion_features(float feature[KITH__FEATURES_COUNT],
                           const kith__fusion_workspace *workspace, uint32_t candidate);

/* log(1 + facts) per entity. */
float *kith__log_degrees(const kith__index *index);

/* What a model with rule evidence has beside its embedding. */
typedef struct kith__fused {
    kith__evidence *evidence;
    kith__fusion fusion;
    float *log_degree;
    bool embedding; /* counts too */
} kith__fused;
void kith__fused_free(kith__fused *fused);

#endif
