/* A model: settings, graph, neighbour lists, parameters and the encoder that uses them. */
#ifndef KITH_MODEL_MODEL_H
#define KITH_MODEL_MODEL_H

#include <pthread.h>

#include "embed/encoder/encoder.h"
#include "model/fusion.h"
#include "model/has_relation.h"
#include "model/held_out.h"
#include "model/overall.h"

/* How many pools of threads a model keeps: for callers at the same time, or with several numbers of
 * threads. */
enum { KITH__IDLE_POOLS = 8 };

struct kith_model {
    kith_settings settings; /* predict and corrupt are resolved: never auto or predicted */
    const kith_graph *graph;
    kith_graph *own_graph; /* the graph, if the model owns it; else NULL */
    uint32_t candidates;   /* the entities 0 .. candidates - 1, those of train, are candidates */
    kith__pool *pool;
    kith__implications *rules; /* NULL without logic weights */
    kith__neighbor_lists *lists;
    kith__params params;
    kith__encoder *encoder;
    kith__calibration calibration; /* turns scores into probabilities */
    kith__has_relation has;        /* P(has r) */
    kith__overall overall;         /* combines both into overall probabilities */
    kith__held_out held_out;       /* measured in training; 0 entities if nothing was measured */
    struct kith__classifier *classifier; /* of true and false facts, if dev has labels; else NULL */
    /* rule evidence and its fusion with the embedding; NULL for a model without rules */
    kith__fused *fused;
    /* for an embedding without rules that uses facts between unseen entities; else NULL */
    kith__index *own_facts;
    /* only one evaluation runs at a time, because it uses the pool and the encoder */
    pthread_mutex_t sweeping;
    pthread_mutex_t lock;                /* guards the members below */
    struct kith__candidate_cache *cache; /* shared by all sessions, created by the first one */
    kith__pool *idle[KITH__IDLE_POOLS];  /* threads that no call uses (model/idle_pools.h) */
    size_t idle_count;
    int run_format; /* format of the run that the model was read from; 0: none */
    char warning[4][400];
    size_t warnings;
};

/* Whether it has an embedding; a run with rules only has none. */
static inline bool kith__model_embeds(const kith_model *model)
{
    return model->encoder != NULL;
}
/* Whether the embedding contributes to its scores. */
static inline bool kith__model_scores_vectors(const kith_model *model)
{
    return kith__model_embeds(model) && (!model->fused || model->fused->embedding);
}

/* All known facts, including those of unseen entities if the setting says so; NULL if nothing uses
 * them. */
static inline const kith__index *kith__model_facts(const kith_model *model)
{
    return model->fused ? model->fused->evidence->base->index : model->own_facts;
}

/* Whether facts between unseen entities count. */
static inline bool kith__model_knows_unseen(const kith_model *model)
{
    return kith__model_facts(model) && model->settings.unseen_neighbors;
}

/* Whether unseen entities may be answers, which rules then rank. */
static inline bool kith__model_answers_unseen(const kith_model *model)
{
    return model->fused && kith__model_knows_unseen(model);
}

/* Fails, giving the reason, if the model has no embedding. */
kith_status kith__need_embedding(const kith_model *model, kith_error *error);

/* Resolve what to predict from the side of test facts that unseen entities are on. */
kith_predict kith__resolve_predict(const kith_settings *settings, const kith_graph *graph);

/* Like kith_model_new, but all parameters are 0; `watch` (may be NULL) is not kept. `rules` and
 * `lists` are created if NULL; otherwise the model takes ownership of them, even on failure. */
kith_status kith__model_make(kith_model **model, const kith_graph *graph,
                             const kith_settings *settings, unsigned threads, kith__watch *watch,
                             kith__implications *rules, kith__neighbor_lists *lists,
                             kith_error *error);

/* Add a warning for the user who opened the model (kith_model_warning). */
void kith__model_warn(kith_model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether `without` leaves only the embedding. */
bool kith__only_embedding(const kith_model *model, unsigned without);

#endif
