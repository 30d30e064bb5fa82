/* What all sessions of a model share: the candidates' encodings, rules, workspaces.
 * Created by the first session and freed with the model; any thread may use it at any time. */
#ifndef KITH_MODEL_CANDIDATE_CACHE_H
#define KITH_MODEL_CANDIDATE_CACHE_H

#include "model/model.h"
#include "embed/panels.h"

/* The candidates, encoded for one query and ready to be compared with query vectors: row c, of the
 * encoder's stride, is entity c, scaled to length 1 if the decoder needs it. */
typedef struct kith__candidates {
    uint32_t query;
    float *rows;
    size_t pins;   /* number of current readers */
    uint64_t used; /* when it was last pinned */
    struct kith__candidates *next;
} kith__candidates;

typedef struct kith__candidate_cache {
    const kith_model *model;
    pthread_mutex_t lock; /* guards the list, its pins and sizes */
    kith__candidates *first;
    size_t bytes, most_bytes; /* of all rows, and the limit for rows that nobody reads */
    uint64_t clock;
    bool has_inputs;
    struct kith__workspace *workspaces; /* workspaces not in use; also guarded by `lock` */

    /* guards the members below; its holder may take `lock`, but not the other way round */
    pthread_mutex_t making;
    kith__pool *pool;
    kith__encoder *encoder;
    size_t stride;             /* of vectors */
    bool encoded;              /* the encoder holds all candidates, for some query */
    kith__panels inputs;       /* the candidates' input embeddings, if these are scored */
    kith__implications *rules; /* counted if the model has none of its own */
    /* there are too many relation pairs to count; remembered, so that this is checked only once */
    bool too_many_rules;
    kith__relation_counts counts; /* counts of the current graph; empty until needed */
    uint8_t *loops; /* per relation, whether it links an entity to itself; NULL until needed */
} kith__candidate_cache;

/* Whether the model's classifier needs the encodings of entities outside train as candidates: then
 * those of all entities of the graph are kept. */
static inline bool kith__classifies_encoded(const kith_model *model)
{
    return model->classifier && model->fused && model->fused->embedding &&
           model->settings.candidate_vectors == KITH_CANDIDATES_ENCODED;
}

/* The model's cache, created if it does not exist yet; readers may treat the model as const. */
void kith__candidate_cache_free(kith__candidate_cache *cache);
kith_status kith__candidate_cache_of(kith__candidate_cache **shared, const kith_model *model,
                                     kith_error *error);

/* The candidates for `queries[0]`, from the cache or encoded now; the other queries are those
 * expected soon. They stay valid until unpinned. Like the calls below, this takes the watch of the
 * question (NULL: none), which can stop it while it encodes or waits for another thread. */
kith_status kith__candidates_pin(const kith__candidates **candidates, kith__candidate_cache *shared,
                                 const uint32_t *queries, size_t count, kith__watch *watch,
                                 kith_error *error);
/* The same with the candidates' input embeddings. */
kith_status kith__candidates_pin_inputs(const kith__candidates **candidates,
                                        kith__candidate_cache *shared, kith__watch *watch,
                                        kith_error *error);
void kith__candidates_unpin(kith__candidate_cache *shared, const kith__candidates *candidates);

/* The candidates' input embeddings in panels, as ranking compares them. */
kith_status kith__candidate_cache_inputs(const kith__panels **inputs, kith__candidate_cache *shared,
                                         kith__watch *watch, kith_error *error);

/* The model's implications, or counted now if it has none; KITH_ERR_ARGUMENT above
 * KITH__MOST_IMPLICATIONS. */
kith_status kith__candidate_cache_implications(const kith__implications **rules,
                                               kith__candidate_cache *shared, kith__watch *watch,
                                               kith_error *error);

/* The graph's counts that P(has r) needs, created on first use. NULL for a model without P(has
 * r). */
kith_status kith__candidate_cache_counts(const kith__relation_counts **counts,
                                         kith__candidate_cache *shared, kith__watch *watch,
                                         kith_error *error);

/* For each relation that training has seen, whether a fact of train or aux links an entity to
 * itself. */
kith_status kith__candidate_cache_loops(const uint8_t **loops, kith__candidate_cache *shared,
                                        kith_error *error);

#endif
