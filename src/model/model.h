/* A model: settings, graph, lists, parameters and an encoder over them. */
#ifndef KITH_MODEL_MODEL_H
#define KITH_MODEL_MODEL_H

#include <pthread.h>

#include "embed/encoder/encoder.h"
#include "model/fusion.h"
#include "model/has_relation.h"
#include "model/held_out.h"
#include "model/overall.h"

struct kith_model {
    kith_settings settings; /* predict and corrupt resolved: never auto or predicted */
    const kith_graph *graph;
    kith_graph *own_graph; /* the same where the model must free it */
    uint32_t candidates;   /* the entities 0 .. candidates - 1 are answers: those that train has */
    kith__pool *pool;
    kith__implications *rules; /* NULL without logic weights */
    kith__neighbor_lists *lists;
    kith__params params;
    kith__encoder *encoder;
    kith__calibration calibration; /* what probabilities are made of scores by */
    kith__has_relation has; /* P(has r) */
    kith__overall overall;  /* what both together mean */
    kith__held_out held_out; /* what training measured; no entities where it did not */
    struct kith__classifier *classifier; /* of facts, where dev has labels; else NULL */
    kith__fused *fused; /* rule evidence and its fusion with the embedding; NULL without */
    kith__index *own_facts; /* of an embedding alone, which reads facts between unseen entities */
    pthread_mutex_t sweeping; /* evaluations take turns: they use the pool and the encoder */
    pthread_mutex_t lock; /* of what follows */
    struct kith__candidate_cache *cache; /* what sessions share, made by the first of them */
    int run_format; /* of the run that it was read from; 0: none */
    char warning[4][400];
    size_t warnings;
};

/* Whether it has an embedding: a run of rules alone has none. */
static inline bool kith__model_embeds(const kith_model *model)
{
    return model->encoder != NULL;
}
/* Whether that counts in its scores. */
static inline bool kith__model_scores_vectors(const kith_model *model)
{
    return kith__model_embeds(model) && (!model->fused || model->fused->embedding);
}

/* All facts that are known, those of unseen entities as the setting says; NULL where nothing reads
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

/* Whether unseen entities may be answers: rules rank them. */
static inline bool kith__model_answers_unseen(const kith_model *model)
{
    return model->fused && kith__model_knows_unseen(model);
}

/* Fails with the reason where it has none. */
kith_status kith__need_embedding(const kith_model *model, kith_error *error);

/* Which side the unseen entities of test stand on decides what is predicted. */
kith_predict kith__resolve_predict(const kith_settings *settings, const kith_graph *graph);

/* As kith_model_new, but all parameters are 0; `watch` (may be NULL) is not kept. `rules` and
 * `lists` are made where they are NULL, and else become the model's, also on failure. */
kith_status kith__model_make(kith_model **model, const kith_graph *graph,
                             const kith_settings *settings, unsigned threads, kith__watch *watch,
                             kith__implications *rules, kith__neighbor_lists *lists,
                             kith_error *error);

/* Something that whoever opened the model should know (kith_model_warning). */
void kith__model_warn(kith_model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the parts left out leave the embedding alone. */
bool kith__only_embedding(const kith_model *model, unsigned without);

#endif
