#include "eval/newcomers.h"

#include <stdatomic.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "graph/directions.h"
#include "graph/graph.h"

enum { RELATIONS = 64, LEAST_FACTS = 2, MOST_NAME = 32 };

/* ---- choosing entities ---- */

/* The newcomer of a usable fact, and the fact from its side; KITH__NO_ID for other facts. */
static uint32_t newcomer_of(kith_neighbor *seen_so, const kith_graph *g, const kith_facts *facts,
                            size_t i)
{
    kith_triple t = facts->at[i];
    bool subject = t.subject >= g->seen_entities;
    uint32_t other = subject ? t.object : t.subject;

    if (t.relation >= g->seen_relations || other >= g->seen_entities ||
        (!subject && t.object < g->seen_entities) || (facts->truth && facts->truth[i] == 0))
        return KITH__NO_ID;
    *seen_so = (kith_neighbor){t.relation + (subject ? 0 : g->seen_relations), other};
    return subject ? t.subject : t.object;
}

static const kith_split described_in[] = {KITH_AUX, KITH_TEST};

static void count_facts(uint32_t *count, const kith_graph *g)
{
    for (int s = 0; s < 2; s++) {
        kith_facts facts = kith_graph_facts(g, described_in[s]);
        for (size_t i = 0; i < facts.count; i++) {
            kith_neighbor seen_so;
            uint32_t e = newcomer_of(&seen_so, g, &facts, i);
            if (e != KITH__NO_ID)
                count[e - g->seen_entities]++;
        }
    }
}

/* `place`, per unseen entity, is its index among the drawn ones, or KITH__NO_ID. */
static void place_facts(kith__newcomers *n, const uint32_t *place)
{
    const kith_graph *g = n->model->graph;

    for (int s = 0; s < 2; s++) {
        kith_facts facts = kith_graph_facts(g, described_in[s]);
        for (size_t i = 0; i < facts.count; i++) {
            kith_neighbor seen_so;
            uint32_t e = newcomer_of(&seen_so, g, &facts, i);
            if (e != KITH__NO_ID && place[e - g->seen_entities] != KITH__NO_ID)
                n->facts[n->first[place[e - g->seen_entities]]++] =
                    (kith__newcomer_fact){seen_so, false};
        }
    }
    memmove(n->first + 1, n->first, n->count * sizeof *n->first);
    n->first[0] = 0;
}

static void hide(kith__newcomer_fact *facts, size_t count, kith__rng *rng)
{
    double share = .1 + .8 * kith__rng_unit(rng);
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        facts[i].hidden = kith__rng_unit(rng) < share;
        kept += !facts[i].hidden;
    }
    if (kept == 0)
        facts[kith__rng_below(rng, count)].hidden = false;
}

/* Shuffle, then take the first ones that have enough facts. */
static void draw(kith__newcomers *n, const uint32_t *count, bool (*is_wanted)(uint32_t),
                 size_t most, kith__rng *rng)
{
    uint32_t seen = n->model->graph->seen_entities;
    uint32_t unseen = n->model->graph->entities.count - seen;

    for (uint32_t i = 0; i < unseen; i++) {
        uint32_t other = (uint32_t)kith__rng_below(rng, i + 1);
        n->entities[i] = n->entities[other];
        n->entities[other] = seen + i;
    }
    for (uint32_t i = 0; i < unseen && n->count < most; i++) {
        uint32_t e = n->entities[i];
        if (count[e - seen] >= LEAST_FACTS && (!is_wanted || is_wanted(e)))
            n->entities[n->count++] = e;
    }
}

/* ---- a model that knows only train ---- */

static void apart_free(kith_model *m)
{
    if (!m)
        return;
    kith__candidate_cache_free(m->cache);
    if (m->fused) {
        kith__evidence_free(m->fused->evidence);
        kith__free(m->fused->log_degree);
    }
    kith__free(m->fused);
    pthread_mutex_destroy(&m->sweeping);
    pthread_mutex_destroy(&m->lock);
    kith__free(m);
}

/* It borrows everything that was learned. */
static kith_status make_apart(kith_model **out, const kith_model *model, kith_error *error)
{
    kith_model *m = kith__alloc(1, sizeof *m);
    kith_status status = KITH_OK;

    if (!m)
        return kith__no_memory(error);
    *m = *model;
    m->cache = NULL;
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
                                 bool (*is_wanted)(uint32_t entity), size_t most, uint64_t seed,
                                 kith_error *error)
{
    uint32_t seen = model->graph->seen_entities, unseen = model->graph->entities.count - seen;
    uint32_t *count = kith__calloc(unseen, sizeof *count), *place = NULL;
    kith__rng rng;
    kith_status status = KITH_OK;

    *n = (kith__newcomers){.model = model, .entities = kith__alloc(unseen, sizeof *n->entities)};
    kith__rng_init(&rng, seed, UINT64_C(1) << 46);
    if (!count || !n->entities)
        TRY(kith__no_memory(error));
    TRY(make_apart(&n->apart, model, error));
    count_facts(count, model->graph);
    draw(n, count, is_wanted, most, &rng);
    place = kith__alloc(unseen, sizeof *place);
    n->first = kith__calloc(n->count + 1, sizeof *n->first);
    if (!place || !n->first)
        TRY(kith__no_memory(error));
    memset(place, 0xff, unseen * sizeof *place);
    size_t total = 0;
    for (size_t i = 0; i < n->count; i++) {
        place[n->entities[i] - seen] = (uint32_t)i;
        n->first[i] = total;
        total += count[n->entities[i] - seen];
    }
    n->facts = kith__alloc(total, sizeof *n->facts);
    if (!n->facts)
        TRY(kith__no_memory(error));
    place_facts(n, place);
    for (size_t i = 0; i < n->count; i++)
        hide(n->facts + n->first[i], n->first[i + 1] - n->first[i], &rng);
cleanup:
    kith__free(count);
    kith__free(place);
    if (status != KITH_OK)
        kith__newcomers_release(n);
    return status;
}

void kith__newcomers_release(kith__newcomers *n)
{
    apart_free(n->apart);
    kith__free(n->entities);
    kith__free(n->first);
    kith__free(n->facts);
    memset(n, 0, sizeof *n);
}

bool kith__newcomer_hides(const kith__newcomers *n, size_t newcomer, uint32_t query,
                          uint32_t answer)
{
    for (size_t i = n->first[newcomer]; i < n->first[newcomer + 1]; i++)
        if (n->facts[i].hidden && n->facts[i].neighbor.relation == query &&
            n->facts[i].neighbor.entity == answer)
            return true;
    return false;
}

/* ---- questions ---- */

typedef struct {
    const kith__newcomers *newcomers;
    char name[MOST_NAME]; /* the name of each newcomer in its session */
    double least_has;
    kith__watch *watch;
    kith__newcomer_call call;
    void *context;
    pthread_mutex_t lock; /* of what follows */
    kith_status status;
    kith_error error;
} newcomer_queries;

/* Chooses a name that the graph lacks. */
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
    const kith_graph *g = n->model->graph;
    kith_status status = kith_session_new(session, n->apart, error);

    for (size_t i = n->first[newcomer]; status == KITH_OK && i < n->first[newcomer + 1]; i++) {
        kith_neighbor fact = n->facts[i].neighbor;
        bool subject = fact.relation < g->seen_relations;
        uint32_t relation = subject ? fact.relation : fact.relation - g->seen_relations;
        const char *other = kith_graph_entity_name(g, fact.entity);
        if (!n->facts[i].hidden)
            status = kith_session_add(NULL, *session, subject ? k->name : other,
                                      kith_graph_relation_name(g, relation),
                                      subject ? other : k->name, error);
    }
    return status;
}

static kith_status ask_side(const newcomer_queries *k, size_t newcomer, kith_session *s,
                            kith__workspace *a, const kith__query_entity *asked, bool subject_asked,
                            kith_error *error)
{
    uint32_t m = a->model->graph->seen_relations;
    size_t count = m < RELATIONS ? m : RELATIONS;
    uint32_t queries[RELATIONS];
    kith__likely *order = kith__alloc(m, sizeof *order);
    kith_status status = KITH_OK;

    if (!order)
        TRY(kith__no_memory(error));
    TRY(kith__order_queries(order, s, a, asked, subject_asked, error));
    while (count > 0 && order[count - 1].has < k->least_has)
        count--;
    for (size_t i = 0; i < count; i++)
        queries[i] = order[i].query;
    for (size_t i = 0; i < count; i++) {
        TRY(kith__answer_scores(a->scores, s->cache, a, asked, 1, queries + i, count - i, error));
        TRY(k->call(k->context, &(kith__newcomer_question){newcomer, queries[i], order[i].has, a},
                    error));
    }
cleanup:
    kith__free(order);
    return status;
}

static kith_status ask_newcomer(const newcomer_queries *k, size_t newcomer, kith_error *error)
{
    kith_session *s = NULL;
    kith__workspace *a = NULL;
    kith__query_entity asked;
    kith_status status;

    TRY(describe(&s, k, newcomer, error));
    uint32_t entity = kith__session_find(s, k->name);
    if (!(a = kith__workspace_take(s->cache)))
        TRY(kith__no_memory(error));
    TRY(kith__choose_candidates(a, s, KITH_ANSWERS_SEEN, error));
    TRY(kith__gather_facts(&asked, NULL, s, a, &entity, 1, error));
    if (kith__workspace_reserve(a, 1))
        TRY(kith__no_memory(error));
    for (int side = 0; side < 2; side++)
        TRY(ask_side(k, newcomer, s, a, &asked, side, error));
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
    kith__candidate_cache *cache;
    kith__pool *pool;
    kith_status status;

    pthread_mutex_init(&k.lock, NULL);
    choose_name(k.name, n->model->graph);
    TRY(kith__watch_begin(watch, "querying unseen entities", n->count, error));
    TRY(kith__candidate_cache_of(&cache, n->apart, error));
    /* Not the model's own threads, because questions may need those. */
    if (!(pool = kith__cache_take_pool(cache, kith__pool_size(n->model->pool))))
        TRY(kith__no_memory(error));
    kith__pool_run(pool, ask_piece, &k, n->count);
    kith__cache_give_pool(cache, pool);
    if (k.status != KITH_OK && error)
        *error = k.error;
    TRY(k.status);
    TRY(kith__watch_status(watch, error));
cleanup:
    pthread_mutex_destroy(&k.lock);
    return status;
}
