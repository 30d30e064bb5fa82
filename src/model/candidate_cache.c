#include "model/candidate_cache.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "model/candidates.h"
#include "model/workspace.h"
#include "embed/query_vector.h"

/* Used in place of a query for input embeddings, which are the same for all queries. */
#define INPUTS UINT32_MAX

enum { PIECES = 16, MEGABYTE = 1 << 20, ROWS_A_TICK = 256, WAIT = 20 /* milliseconds */ };

static const size_t usual_bytes = (size_t)256 * MEGABYTE;

/* ---- creating and freeing ---- */

void kith__candidate_cache_free(kith__candidate_cache *s)
{
    if (!s)
        return;
    for (kith__candidates *c = s->first, *next; c; c = next) {
        next = c->next;
        kith__free(c->rows);
        kith__free(c);
    }
    kith__encoder_free(s->encoder);
    kith__panels_release(&s->inputs);
    kith__workspaces_free(s->workspaces);
    kith__relation_counts_release(&s->counts);
    kith__free(s->loops);
    kith__implications_free(s->rules);
    kith__pool_free(s->pool);
    pthread_mutex_destroy(&s->making);
    pthread_mutex_destroy(&s->lock);
    kith__free(s);
}

static kith_status new_shared(kith__candidate_cache **out, const kith_model *model,
                              kith_error *error)
{
    kith__candidate_cache *s = kith__calloc(1, sizeof *s);
    kith_status status = KITH_OK;

    if (!s)
        return kith__no_memory(error);
    s->model = model;
    s->most_bytes = usual_bytes;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->making, NULL);
    s->pool = kith__pool_new(kith__pool_size(model->pool));
    if (!s->pool)
        TRY(kith__no_memory(error));
    if (kith__model_embeds(model)) {
        TRY(kith__encoder_new(&s->encoder, &model->settings, model->lists, model->rules,
                              &model->params, s->pool, error));
        s->stride = kith__encoder_stride(s->encoder);
    }
    *out = s;
    s = NULL;
cleanup:
    kith__candidate_cache_free(s);
    return status;
}

kith_status kith__candidate_cache_of(kith__candidate_cache **out, const kith_model *shown,
                                     kith_error *error)
{
    kith_model *model = (kith_model *)shown; /* its lock guards what is changed here */
    kith__candidate_cache *made = NULL;
    kith_status status = KITH_OK;

    pthread_mutex_lock(&model->lock);
    if (!model->cache) {
        status = new_shared(&made, model, error);
        model->cache = made;
    }
    if (status == KITH_OK)
        *out = model->cache;
    pthread_mutex_unlock(&model->lock);
    return status;
}

/* Lock `making`. Its holder may be encoding all candidates, so a thread that waits for it can be
 * stopped. */
static kith_status lock_making(kith__candidate_cache *s, kith__watch *watch, kith_error *error)
{
    for (;;) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_mutex_timedlock(&s->making, &until) != ETIMEDOUT)
            return KITH_OK;
        if (kith__watch_add(watch, 0))
            return kith__watch_status(watch, error);
    }
}

/* ---- candidates ---- */

/* A classifier of encoded candidates was fitted with entities outside train as candidates too. */
static size_t row_count(const kith__candidate_cache *s)
{
    const kith_model *model = s->model;

    return kith__classifies_encoded(model) ? kith_graph_entity_count(model->graph)
                                           : model->lists->seen;
}

static size_t row_bytes(const kith__candidate_cache *s)
{
    return row_count(s) * s->stride * sizeof(float);
}

/* With `lock` held: drop the least recently used candidates while the cache is too large. */
static void evict(kith__candidate_cache *s)
{
    while (s->bytes > s->most_bytes) {
        kith__candidates **oldest = NULL;
        for (kith__candidates **c = &s->first; *c; c = &(*c)->next)
            if ((*c)->pins == 0 && (!oldest || (*c)->used < (*oldest)->used))
                oldest = c;
        if (!oldest)
            return;
        kith__candidates *gone = *oldest;
        *oldest = gone->next;
        s->bytes -= row_bytes(s);
        kith__free(gone->rows);
        kith__free(gone);
    }
}

static const kith__candidates *find_and_pin(kith__candidate_cache *s, uint32_t query)
{
    kith__candidates *found;

    pthread_mutex_lock(&s->lock);
    for (found = s->first; found && found->query != query; found = found->next)
        ;
    if (found) {
        found->pins++;
        found->used = ++s->clock;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

static kith_status encode_all(kith__candidate_cache *s, const uint32_t *queries, size_t count,
                              kith__watch *watch, kith_error *error)
{
    kith__encoder *e = s->encoder;
    kith_status status = KITH_OK;

    kith__encoder_set_watch(e, watch);
    if (s->encoded) {
        s->encoded = false; /* stays false unless everything succeeds */
        if (count > 1 && !kith__encoder_has_prefetched(e, queries[0]))
            TRY(kith__encoder_prefetch(e, queries, count, error));
        TRY(kith__encoder_reencode(e, queries[0], error));
        s->encoded = true;
        goto cleanup;
    }
    kith__encoder_begin(e);
    for (uint32_t i = 0; i < row_count(s); i++)
        kith__encoder_request(e, i, queries[0], NULL);
    TRY(kith__encoder_forward(e, error));
    s->encoded = true;
cleanup:
    kith__encoder_set_watch(e, NULL);
    return status;
}

typedef struct {
    const kith__candidate_cache *shared;
    float *rows;
    bool inputs; /* input embeddings instead of encodings */
    kith__watch *watch;
} copying;

static void copy_piece(void *context, size_t piece)
{
    const copying *c = context;
    const kith__encoder *e = c->shared->encoder;
    size_t ds = c->shared->stride;
    size_t n = c->inputs ? c->shared->model->lists->seen : row_count(c->shared);
    bool unit = kith__is_unit(&c->shared->model->settings);

    for (size_t i = n * piece / PIECES; i < n * (piece + 1) / PIECES; i++) {
        if (i % ROWS_A_TICK == 0 && kith__watch_add(c->watch, 0))
            return;
        const float *from = c->inputs ? kith__row(kith__ent(&c->shared->model->params), i)
                                      : kith__encoder_answer(e, i);
        if (unit)
            kith__normalize(c->rows + i * ds, from, c->shared->model->settings.dim);
        else
            memcpy(c->rows + i * ds, from, ds * sizeof *from);
    }
}

/* With `making` held. */
static kith_status make_candidates(kith__candidates **out, kith__candidate_cache *s,
                                   const uint32_t *queries, size_t count, kith__watch *watch,
                                   kith_error *error)
{
    kith__candidates *made = kith__calloc(1, sizeof *made);
    kith_status status = KITH_OK;

    if (!made)
        return kith__no_memory(error);
    made->rows = kith__calloc_aligned(row_bytes(s), 1);
    if (!made->rows)
        TRY(kith__no_memory(error));
    bool inputs = queries[0] == INPUTS;
    if (!inputs)
        TRY(encode_all(s, queries, count, watch, error));
    copying copy = {s, made->rows, inputs, watch};
    kith__pool_run(s->pool, copy_piece, &copy, PIECES);
    TRY(kith__watch_status(watch, error));
    made->query = queries[0];
    *out = made;
    made = NULL;
cleanup:
    if (made)
        kith__free(made->rows);
    kith__free(made);
    return status;
}

static void keep(kith__candidate_cache *s, kith__candidates *made)
{
    pthread_mutex_lock(&s->lock);
    made->pins = 1;
    made->used = ++s->clock;
    made->next = s->first;
    s->first = made;
    s->bytes += row_bytes(s);
    evict(s);
    pthread_mutex_unlock(&s->lock);
}

kith_status kith__candidates_pin(const kith__candidates **out, kith__candidate_cache *s,
                                 const uint32_t *queries, size_t count, kith__watch *watch,
                                 kith_error *error)
{
    /* if encodings do not depend on the query, all queries share one entry */
    static const uint32_t any = 0;
    kith__candidates *made = NULL;
    kith_status status = KITH_OK;

    if (queries[0] != INPUTS && !kith__encoder_query_aware(s->encoder)) {
        queries = &any;
        count = 1;
    }
    if ((*out = find_and_pin(s, queries[0])))
        return KITH_OK;
    if ((status = lock_making(s, watch, error)) != KITH_OK)
        return status;
    /* another thread may have added it in the meantime */
    if (!(*out = find_and_pin(s, queries[0]))) {
        status = make_candidates(&made, s, queries, count, watch, error);
        if (status == KITH_OK)
            keep(s, made);
        *out = made;
    }
    pthread_mutex_unlock(&s->making);
    return status;
}

kith_status kith__candidates_pin_inputs(const kith__candidates **out, kith__candidate_cache *s,
                                        kith__watch *watch, kith_error *error)
{
    static const uint32_t inputs = INPUTS;
    return kith__candidates_pin(out, s, &inputs, 1, watch, error);
}

void kith__candidates_unpin(kith__candidate_cache *s, const kith__candidates *candidates)
{
    if (!candidates)
        return;
    pthread_mutex_lock(&s->lock);
    ((kith__candidates *)candidates)->pins--; /* the list owns it; readers only see it as const */
    evict(s);
    pthread_mutex_unlock(&s->lock);
}

kith_status kith_model_set_cache(kith_model *model, size_t bytes, kith_error *error)
{
    if (!model)
        return kith__null_argument(error, __func__);

    kith__candidate_cache *s;
    kith_status status = kith__candidate_cache_of(&s, model, error);

    if (status != KITH_OK)
        return status;
    pthread_mutex_lock(&s->lock);
    s->most_bytes = bytes;
    evict(s);
    pthread_mutex_unlock(&s->lock);
    return KITH_OK;
}

/* ---- input embeddings and rules ---- */

/* Whether something that never changes once created exists. If so, a reader need not wait while
 * something else is being created. */
static bool is_made(kith__candidate_cache *s, const bool *made)
{
    pthread_mutex_lock(&s->lock);
    bool has = *made;
    pthread_mutex_unlock(&s->lock);
    return has;
}

static void set_made(kith__candidate_cache *s, bool *made)
{
    pthread_mutex_lock(&s->lock);
    *made = true;
    pthread_mutex_unlock(&s->lock);
}

kith_status kith__candidate_cache_inputs(const kith__panels **inputs, kith__candidate_cache *s,
                                         kith__watch *watch, kith_error *error)
{
    kith_status status = KITH_OK;

    *inputs = &s->inputs;
    if (is_made(s, &s->has_inputs))
        return KITH_OK;
    if ((status = lock_making(s, watch, error)) != KITH_OK)
        return status;
    if (!is_made(s, &s->has_inputs))
        status = kith__pack_inputs(&s->inputs, s->model, kith__ent(&s->model->params)->rows, error);
    if (status == KITH_OK)
        set_made(s, &s->has_inputs);
    pthread_mutex_unlock(&s->making);
    return status;
}

kith_status kith__candidate_cache_implications(const kith__implications **rules,
                                               kith__candidate_cache *s, kith__watch *watch,
                                               kith_error *error)
{
    kith_status status = KITH_OK;

    if (s->model->rules) {
        *rules = s->model->rules;
        return KITH_OK;
    }
    if ((status = lock_making(s, watch, error)) != KITH_OK)
        return status;
    if (s->too_many_rules)
        status = KITH_ERR_ARGUMENT;
    else if (!s->rules)
        status = kith__implications_new(&s->rules, s->model->graph, KITH__MOST_IMPLICATIONS,
                                        s->pool, error);
    if (status == KITH_OK)
        *rules = s->rules;
    s->too_many_rules = status == KITH_ERR_ARGUMENT;
    pthread_mutex_unlock(&s->making);
    if (status == KITH_ERR_ARGUMENT)
        kith__fail(error, status,
                   "entities of the graph have more than %zu pairs of relations, too many to find "
                   "out which "
                   "relations are likely; ask with a relation",
                   KITH__MOST_IMPLICATIONS);
    return status;
}

kith_status kith__candidate_cache_counts(const kith__relation_counts **counts,
                                         kith__candidate_cache *s, kith__watch *watch,
                                         kith_error *error)
{
    const kith__implications *rules;
    kith_status status;

    *counts = NULL;
    if (!s->model->has.fitted || !s->model->fused)
        return KITH_OK;
    status = kith__candidate_cache_implications(&rules, s, watch, error);
    if (status == KITH_ERR_ARGUMENT) /* a graph other than that of training may have too many */
        return KITH_OK;
    if (status != KITH_OK)
        return status;
    if ((status = lock_making(s, watch, error)) != KITH_OK)
        return status;
    if (!s->counts.at_least)
        status = kith__relation_counts_init(&s->counts, s->model->fused->evidence->base->index,
                                            rules, error);
    if (status == KITH_OK)
        *counts = &s->counts;
    pthread_mutex_unlock(&s->making);
    return status;
}

static void mark_loops(uint8_t *loops, const kith_graph *graph, kith_split split)
{
    kith_facts facts = kith_graph_facts(graph, split);

    for (size_t i = 0; i < facts.count; i++)
        if (facts.at[i].subject == facts.at[i].object &&
            facts.at[i].relation < kith_graph_seen_relation_count(graph) &&
            (!facts.truth || facts.truth[i] > 0))
            loops[facts.at[i].relation] = 1;
}

kith_status kith__candidate_cache_loops(const uint8_t **loops, kith__candidate_cache *s,
                                        kith_error *error)
{
    const kith_graph *graph = s->model->graph;

    pthread_mutex_lock(&s->making);
    if (!s->loops) {
        s->loops = kith__calloc(kith_graph_seen_relation_count(graph), 1);
        if (s->loops) {
            mark_loops(s->loops, graph, KITH_TRAIN);
            mark_loops(s->loops, graph, KITH_AUX);
        }
    }
    *loops = s->loops;
    pthread_mutex_unlock(&s->making);
    return *loops ? KITH_OK : kith__no_memory(error);
}
