#include "model/fusion_sweep.h"

#include <pthread.h>
#include <string.h>

#include "core/mem.h"
#include "core/radix.h"
#include "model/entity_encoder.h"

enum { MOST_WORKSPACES = KITH__SCORED_TOGETHER };

typedef struct {
    kith_model *model;
    const kith__evidence *evidence;
    const kith__query *queries;
    const uint32_t *order; /* without an embedding: queries by relation */
    size_t count, candidates;
    kith__fusion_call call;
    void *context;
    /* Workspaces that are not in use. */
    pthread_mutex_t lock;
    pthread_cond_t given;
    kith__fusion_workspace *free[MOST_WORKSPACES];
    size_t free_count;
    kith_status status;
    kith_error error;
} fusion_sweep;

static kith__fusion_workspace *take_workspace(fusion_sweep *a)
{
    kith__fusion_workspace *workspace;

    pthread_mutex_lock(&a->lock);
    while (a->free_count == 0)
        pthread_cond_wait(&a->given, &a->lock);
    workspace = a->free[--a->free_count];
    pthread_mutex_unlock(&a->lock);
    return workspace;
}

static void return_workspace(fusion_sweep *a, kith__fusion_workspace *workspace)
{
    pthread_mutex_lock(&a->lock);
    a->free[a->free_count++] = workspace;
    pthread_cond_signal(&a->given);
    pthread_mutex_unlock(&a->lock);
}

static void fuse_one(void *context, size_t query, size_t slot, const float *embedding)
{
    fusion_sweep *a = context;
    const kith__query *q = &a->queries[query];
    const kith__index *x = a->evidence->base->index;
    uint32_t s = kith__known_side(q);
    uint32_t relation = kith__directed_query(a->model->graph, q);
    kith__fusion_workspace *workspace = take_workspace(a);
    kith_error error;

    (void)slot;
    kith__span facts = kith__facts_of(x, s);
    if (embedding && !kith__has_seen_neighbor(facts, a->model->lists->seen))
        embedding = NULL;
    kith_status status =
        kith__fusion_run(workspace, facts, s, relation, embedding, a->candidates, &error);
    if (status == KITH_OK) {
        a->call(a->context, query, workspace);
    } else {
        pthread_mutex_lock(&a->lock);
        a->status = status;
        a->error = error;
        pthread_mutex_unlock(&a->lock);
    }
    return_workspace(a, workspace);
}

enum { PIECES = 64 };

static void fuse_piece(void *context, size_t piece)
{
    fusion_sweep *a = context;
    kith__watch *watch = kith__pool_watch(a->model->pool);

    for (size_t i = a->count * piece / PIECES; i < a->count * (piece + 1) / PIECES; i++)
        if (!kith__watch_add(watch, 1))
            fuse_one(a, a->order[i], 0, NULL);
}

static kith_status fuse_without_embedding(fusion_sweep *a, kith_error *error)
{
    kith__item *items = kith__alloc(2 * a->count, sizeof *items);
    uint32_t *order = kith__alloc(a->count, sizeof *order);

    if (items && order) {
        for (size_t i = 0; i < a->count; i++)
            items[i] = (kith__item){a->queries[i].fact.relation, a->queries[i].subject_hidden,
                                    (uint32_t)i};
        kith__radix_sort(items, items + a->count, a->count, a->evidence->base->index->relations, 2);
        for (size_t i = 0; i < a->count; i++)
            order[i] = items[i].index;
        a->order = order;
        kith__pool_run(a->model->pool, fuse_piece, a, PIECES);
    }
    bool failed = !items || !order;
    kith__free(items);
    kith__free(order);
    return failed ? kith__no_memory(error)
                  : kith__watch_status(kith__pool_watch(a->model->pool), error);
}

/* Whether the embedding scores every candidate. Only seen entities have an input embedding, and
 * scores by encodings are not comparable with scores by input embeddings. */
static bool has_scores(const kith_model *model, size_t candidates)
{
    return model->settings.candidate_vectors == KITH_CANDIDATES_ENCODED ||
           candidates <= kith_graph_seen_entity_count(model->graph);
}

kith_status kith__fusion_sweep(kith_model *model, const kith__fusion *fusion,
                               const kith__evidence *evidence, const kith__query *queries,
                               size_t count, const kith__answer_set *among, unsigned without,
                               bool embedding, kith__fusion_call call, void *context,
                               kith_error *error)
{
    fusion_sweep a = {.model = model,
                      .evidence = evidence,
                      .queries = queries,
                      .count = count,
                      .candidates = among->candidates,
                      .call = call,
                      .context = context,
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .given = PTHREAD_COND_INITIALIZER};
    float *degrees = kith__log_degrees(evidence->base->index);
    size_t wanted = kith__pool_size(model->pool), made = 0; /* one for each thread */
    kith__fusion_workspace *workspaces = kith__calloc(wanted, sizeof *workspaces);
    kith_status status = KITH_OK;

    /* An embedding that scores only some of the candidates would be unfair to the others. */
    if ((without & KITH_PART_EMBEDDING) || !has_scores(model, among->candidates))
        embedding = false;
    if (!degrees || !workspaces)
        TRY(kith__no_memory(error));
    for (; made < wanted && made < MOST_WORKSPACES; made++) {
        a.free[a.free_count++] = &workspaces[made];
        TRY(kith__fusion_workspace_init(&workspaces[made], fusion, evidence, degrees, without,
                                        error));
        workspaces[made].number = made;
        if (among->width > among->candidates)
            workspaces[made].unseen =
                (kith__unseen_set){among->unseen, among->unseen_count, among->width, among->only};
    }
    TRY(embedding ? kith__score_all(model, queries, count, among->candidates, evidence->base->index,
                                    fuse_one, &a, error)
                  : fuse_without_embedding(&a, error));
    if (a.status != KITH_OK) {
        if (error)
            *error = a.error;
        status = a.status;
    }
cleanup:
    for (size_t i = 0; workspaces && i < wanted; i++)
        kith__fusion_workspace_release(&workspaces[i]);
    kith__free(workspaces);
    kith__free(degrees);
    return status;
}
