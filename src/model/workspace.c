#include "model/workspace.h"

#include "core/mem.h"

static void free_workspace(kith__workspace *a)
{
    kith__entity_encoder_release(&a->entities);
    kith__pool_free(a->pool);
    kith__free(a->facts);
    kith__free(a->sorted);
    kith__free(a->relations);
    kith__free(a->query_vectors);
    kith__free(a->scores);
    kith__free(a->block);
    kith__free(a->best);
    kith__free(a->groups);
    kith__free(a->unseen);
    if (a->fusion)
        kith__fusion_workspace_release(a->fusion);
    kith__free(a->fusion);
    kith__free(a);
}

void kith__workspaces_free(kith__workspace *workspaces)
{
    for (kith__workspace *next; workspaces; workspaces = next) {
        next = workspaces->next;
        free_workspace(workspaces);
    }
}

static int add_fusion(kith__workspace *a, const kith__fused *fused)
{
    a->fusion = kith__calloc(1, sizeof *a->fusion);
    return !a->fusion || kith__fusion_workspace_init(a->fusion, &fused->fusion, fused->evidence,
                                                     fused->log_degree, 0, NULL) != KITH_OK;
}

static int add_embedding(kith__workspace *a, const kith_model *model)
{
    size_t together = KITH__QUERIES_TOGETHER;

    a->pool = kith__pool_new(1);
    if (!a->pool || kith__entity_encoder_init(&a->entities, model, a->pool, NULL) != KITH_OK)
        return -1;
    a->encoder = a->entities.encoder;
    a->stride = kith__encoder_stride(a->encoder);
    a->query_vectors = kith__calloc_aligned((together + 2) * a->stride, sizeof *a->query_vectors);
    a->block = kith__calloc_aligned(together * KITH__PANEL, sizeof *a->block);
    return a->query_vectors && a->block ? 0 : -1;
}

static kith__workspace *new_workspace(const kith_model *model)
{
    kith__workspace *a = kith__calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->model = model;
    a->known.base = kith__model_facts(model);
    a->candidates = a->width = model->candidates;
    a->relations = kith__calloc(2 * (size_t)kith_graph_seen_relation_count(model->graph), 1);
    if (!a->relations || (model->fused && add_fusion(a, model->fused)) ||
        (kith__model_embeds(model) && add_embedding(a, model))) {
        free_workspace(a);
        return NULL;
    }
    return a;
}

/* Reset what the previous session set. */
static void begin_anew(kith__workspace *a)
{
    a->watch = NULL;
    a->width = a->candidates;
    a->unseen_count = 0;
    a->known.added = NULL;
    if (a->fusion) {
        a->fusion->evidence_query.view.added = NULL;
        a->fusion->unseen = (kith__unseen_set){0};
    }
}

kith__workspace *kith__workspace_take(kith__candidate_cache *cache)
{
    kith__workspace *a;

    pthread_mutex_lock(&cache->lock);
    a = cache->workspaces;
    if (a)
        cache->workspaces = a->next;
    pthread_mutex_unlock(&cache->lock);
    if (!a)
        return new_workspace(cache->model);
    begin_anew(a);
    return a;
}

void kith__workspace_give(kith__candidate_cache *cache, kith__workspace *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&cache->lock);
    a->next = cache->workspaces;
    cache->workspaces = a;
    pthread_mutex_unlock(&cache->lock);
}

size_t kith__queries_at_once(const kith_model *model)
{
    enum { MOST_SCORES = 4 << 20 };
    size_t rows = MOST_SCORES / ((size_t)kith_graph_entity_count(model->graph) + 1);

    if (!kith__model_scores_vectors(model) || rows < 1)
        return 1;
    return rows < KITH__QUERIES_TOGETHER ? rows : KITH__QUERIES_TOGETHER;
}

int kith__workspace_reserve(kith__workspace *a, size_t rows)
{
    size_t floats;

    if (__builtin_mul_overflow(rows, a->width, &floats))
        return -1;
    return kith__renew(&a->scores, &a->score_capacity, floats, sizeof *a->scores);
}
