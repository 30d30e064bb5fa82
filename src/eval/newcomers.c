#include "eval/newcomers.h"

#include <stdatomic.h>
#include <string.h>

#include "core/mem.h"
#include "graph/directions.h"
#include "graph/graph.h"
#include "model/idle_pools.h"

enum { RELATIONS = 64, MOST_NAME = 32 };

/* ---- a model that knows only train ---- */

static void apart_free(kith_model *m)
{
    if (!m)
        return;
    kith__candidate_cache_free(m->cache);
    kith__idle_pools_free(m);
    if (m->fused) {
        kith__evidence_free(m->fused->evidence);
        kith__free(m->fused->log_degree);
    }
    kith__free(m->fused);
    pthread_mutex_destroy(&m->sweeping);
    pthread_mutex_destroy(&m->lock);
    kith__free(m);
}

static void copy_model(kith_model *to, kith_model *model)
{
    pthread_mutex_lock(&model->lock); /* guards the cache and idle threads */
    *to = *model;
    pthread_mutex_unlock(&model->lock);
}

/* A model that borrows everything learned. The caller holds `sweeping`, because the model's threads
 * do the work. */
static kith_status make_apart(kith_model **out, kith_model *model, kith_error *error)
{
    kith_model *m = kith__alloc(1, sizeof *m);
    kith_status status = KITH_OK;

    if (!m)
        return kith__no_memory(error);
    copy_model(m, model);
    m->cache = NULL;
    m->idle_count = 0; /* idle threads are those of the model itself */
    pthread_mutex_init(&m->sweeping, NULL);
    pthread_mutex_init(&m->lock, NULL);
    if (!(m->fused = kith__calloc(1, sizeof *m->fused)))
        TRY(kith__no_memory(error));
    m->fused->fusion = model->fused->fusion;
    m->fused->embedding = model->fused->embedding;
    TRY(kith__evidence_over(&m->fused->evidence, model->graph, false, model->fused->evidence->rules,
                            true, model->pool, error));
    if (!(m->fused->log_degree = kith__log_degrees(m->fused->evidence->base->index)))
        TRY(kith__no_memory(error));
    *out = m;
    m = NULL;
cleanup:
    apart_free(m);
    return status;
}

kith_status kith__newcomers_init(kith__newcomers *n, kith_model *model,
                                 const kith__descriptions *described, kith_error *error)
{
    *n = (kith__newcomers){.model = model, .described = described, .count = described->count};
    pthread_mutex_lock(&model->sweeping);
    kith_status status = make_apart(&n->apart, model, error);
    pthread_mutex_unlock(&model->sweeping);
    return status;
}

void kith__newcomers_release(kith__newcomers *n)
{
    apart_free(n->apart);
    memset(n, 0, sizeof *n);
}

bool kith__newcomer_hides(const kith__newcomers *n, size_t newcomer, uint32_t query,
                          uint32_t answer)
{
    const kith__descriptions *d = n->described;

    for (size_t i = d->first[newcomer]; i < d->first[newcomer + 1]; i++)
        if (d->facts[i].hidden && d->facts[i].neighbor.relation == query &&
            d->facts[i].neighbor.entity == answer)
            return true;
    return false;
}

bool kith__newcomer_hides_any(const kith__newcomers *n, size_t newcomer, uint32_t query)
{
    const kith__descriptions *d = n->described;

    for (size_t i = d->first[newcomer]; i < d->first[newcomer + 1]; i++)
        if (d->facts[i].hidden && d->facts[i].neighbor.relation == query)
            return true;
    return false;
}

/* ---- questions ---- */

typedef struct {
    const kith__newcomers *newcomers;
    char name[MOST_NAME]; /* the name of a newcomer in its session */
    double least_has;
    kith__watch *watch;
    kith__newcomer_call call;
    void *context;
    pthread_mutex_t lock; /* guards the members below */
    kith_status status;
    kith_error error;
} newcomer_queries;

/* Choose a name that the graph lacks. */
static void choose_name(char name[MOST_NAME], const kith_graph *graph)
{
    uint32_t found;

    strcpy(name, "newcomer");
    while (kith_graph_find_entity(&found, graph, name) == KITH_OK && strlen(name) + 1 < MOST_NAME)
        strcat(name, "'");
}

static kith_status describe(kith_session **session, const newcomer_queries *k, size_t newcomer,
                            kith_error *error)
{
    const kith__newcomers *n = k->newcomers;
    const kith__descriptions *d = n->described;
    const kith_graph *g = n->model->graph;
    kith_status status = kith_session_new(session, n->apart, error);

    for (size_t i = d->first[newcomer]; status == KITH_OK && i < d->first[newcomer + 1]; i++) {
        kith_neighbor fact = d->facts[i].neighbor;
        bool subject = fact.relation < g->seen_relations;
        uint32_t relation = subject ? fact.relation : fact.relation - g->seen_relations;
        const char *other = kith_graph_entity_name(g, fact.entity);
        if (!d->facts[i].hidden)
            status = kith_session_add(NULL, *session, subject ? k->name : other,
                                      kith_graph_relation_name(g, relation),
                                      subject ? other : k->name, error);
    }
    return status;
}

static kith_status ask_side(const newcomer_queries *k, size_t newcomer, kith_session *s,
                            kith__workspace *a, const kith__query_entity *queried,
                            bool subject_asked, kith_error *error)
{
    uint32_t m = a->model->graph->seen_relations;
    size_t count = m < RELATIONS ? m : RELATIONS;
    uint32_t queries[RELATIONS];
    kith__likely *order = kith__alloc(m, sizeof *order);
    kith_status status = KITH_OK;

    if (!order)
        TRY(kith__no_memory(error));
    TRY(kith__order_queries(order, s, a, queried, subject_asked, error));
    while (count > 0 && order[count - 1].has < k->least_has)
        count--;
    for (size_t i = 0; i < count; i++)
        queries[i] = order[i].query;
    for (size_t i = 0; i < count; i++) {
        TRY(kith__answer_scores(a->scores, s->cache, a, queried, 1, queries + i, count - i, error));
        kith__newcomer_question q = {
            newcomer, queries[i], {a->scores, &a->shares[0], queried->entity, queries[i], {0}}, a};
        TRY(kith__chances_of(&q.row.chances, s->cache, a, order[i].has, queries[i], error));
        TRY(k->call(k->context, &q, error));
    }
cleanup:
    kith__free(order);
    return status;
}

static kith_status ask_newcomer(const newcomer_queries *k, size_t newcomer, kith_error *error)
{
    kith_session *s = NULL;
    kith__workspace *a = NULL;
    kith__query_entity queried;
    kith_status status;

    TRY(describe(&s, k, newcomer, error));
    uint32_t entity = kith__session_find(s, k->name);
    if (!(a = kith__workspace_take(s->cache)))
        TRY(kith__no_memory(error));
    a->watch = k->watch;
    TRY(kith__choose_candidates(a, s, KITH_ANSWERS_SEEN, error));
    TRY(kith__gather_facts(&queried, NULL, s, a, &entity, 1, error));
    if (kith__workspace_reserve(a, 1))
        TRY(kith__no_memory(error));
    for (int side = 0; side < 2; side++)
        TRY(ask_side(k, newcomer, s, a, &queried, side, error));
cleanup:
    if (a)
        kith__workspace_give(s->cache, a);
    kith_session_free(s);
    return status;
}

static void ask_piece(void *context, size_t newcomer)
{
    newcomer_queries *k = context;
    kith_error error;

    if (kith__watch_add(k->watch, 1))
        return;
    kith_status status = ask_newcomer(k, newcomer, &error);
    if (status == KITH_OK)
        return;
    pthread_mutex_lock(&k->lock);
    k->status = status;
    k->error = error;
    pthread_mutex_unlock(&k->lock);
}

kith_status kith__newcomers_ask(const kith__newcomers *n, double least_has, kith__watch *watch,
                                kith__newcomer_call call, void *context, kith_error *error)
{
    newcomer_queries k = {
        .newcomers = n, .least_has = least_has, .watch = watch, .call = call, .context = context};
    kith__pool *pool;
    kith_status status;

    pthread_mutex_init(&k.lock, NULL);
    choose_name(k.name, n->model->graph);
    TRY(kith__watch_begin(watch, "querying unseen entities", n->count, error));
    /* Do not use the model's own threads, because questions may need them. */
    if (!(pool = kith__model_take_pool(n->model, kith__pool_size(n->model->pool))))
        TRY(kith__no_memory(error));
    kith__pool_run(pool, ask_piece, &k, n->count);
    kith__model_give_pool(n->model, pool);
    if (k.status != KITH_OK && error)
        *error = k.error;
    TRY(k.status);
    TRY(kith__watch_status(watch, error));
cleanup:
    pthread_mutex_destroy(&k.lock);
    return status;
}
