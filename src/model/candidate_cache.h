/* What all sessions of a model share: the candidates' encodings, rules, workspaces, threads. Made by the
 * first session and freed with the model; any thread may use it at any time. */
#ifndef KITH_MODEL_CANDIDATE_CACHE_H
#define KITH_MODEL_CANDIDATE_CACHE_H

#include "model/model.h"
#include "embed/panels.h"

/* The candidates, encoded for one query and ready to be compared with query vectors: row c, of the encoder's
 * stride, is entity c, scaled to length 1 where the decoder asks for it. */
typedef struct kith__candidates {
    uint32_t query;
    float *rows;
    size_t pins;   /* who reads it now */
    uint64_t used; /* when it was pinned last */
    struct kith__candidates *next;
} kith__candidates;

typedef struct kith__candidate_cache {
    const kith_model *model;
    pthread_mutex_t lock; /* of the list, its pins and sizes */
    kith__candidates *first;
    size_t bytes, most_bytes; /* of all rows, and what they may be when nobody reads them */
    uint64_t clock;
    bool has_inputs;
    struct kith__workspace *workspaces; /* that nobody uses; also under `lock` */
    kith__pool *idle; /* threads for many questions at once, while nobody uses them; likewise */

    pthread_mutex_t
        making; /* of what follows; whoever holds it may take `lock`, never the reverse */
    kith__pool *pool;
    kith__encoder *encoder;
    size_t stride; /* of vectors */
    bool encoded; /* the encoder has all candidates, for one query or another */
    kith__panels inputs;  /* the candidates' input embeddings, where scores take them */
    kith__implications *rules;   /* where the model has none of its own */
    kith__relation_counts counts; /* of the graph at hand; empty until they are needed */
} kith__candidate_cache;

/* Whether the model's classifier needs the encodings of entities that train lacks, as candidates: then those
 * of all the graph's entities are kept. */
static inline bool kith__classifies_encoded(const kith_model *model)
{
    return model->classifier && model->fused && model->fused->embedding &&
           model->settings.candidate_vectors == KITH_CANDIDATES_ENCODED;
}

/* The model's, made where it is not there yet; the model is as good as const for whoever reads it. */
void kith__candidate_cache_free(kith__candidate_cache *cache);
kith_status kith__candidate_cache_of(kith__candidate_cache **shared, const kith_model *model,
                                     kith_error *error);

/* The candidates for `queries[0]`, from the cache or made now; the other queries are those that will
 * be asked for soon. They stay until unpinned. */
kith_status kith__candidates_pin(const kith__candidates **candidates, kith__candidate_cache *shared,
                                 const uint32_t *queries, size_t count, kith_error *error);
/* The same with the candidates' input embeddings. */
kith_status kith__candidates_pin_inputs(const kith__candidates **candidates,
                                        kith__candidate_cache *shared, kith_error *error);
void kith__candidates_unpin(kith__candidate_cache *shared, const kith__candidates *candidates);

/* The candidates' input embeddings in panels, as ranking compares them. */
kith_status kith__candidate_cache_inputs(const kith__panels **inputs, kith__candidate_cache *shared,
                                kith_error *error);

/* The model's rules, or counted now where it has none; KITH_ERR_ARGUMENT above KITH__MOST_IMPLICATIONS. */
kith_status kith__candidate_cache_implications(const kith__implications **rules,
                                               kith__candidate_cache *shared, kith_error *error);

/* What P(has r) needs to know about the graph, counted now where it was not yet. NULL for a model that
 * has learned nothing to do with it. */
kith_status kith__candidate_cache_counts(const kith__relation_counts **counts,
                                         kith__candidate_cache *shared, kith_error *error);

/* A pool of as many threads (0: one per core), which is the caller's until it gives it back. The one
 * that was given back last is kept, so that repeated calls make no threads. NULL where memory or threads
 * are short. */
kith__pool *kith__cache_take_pool(kith__candidate_cache *cache, unsigned threads);
void kith__cache_give_pool(kith__candidate_cache *cache, kith__pool *pool);

#endif
