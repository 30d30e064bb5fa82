#include "session/session.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "session/answer.h"

/* ---- creating and freeing ---- */

bool kith__session_indexes(const kith_model *model)
{
    return kith__model_knows_unseen(model) || (model->fused && model->classifier);
}

kith_status kith_session_new(kith_session **out, kith_model *model, kith_error *error)
{
    if (!out || !model)
        return kith__null_argument(error, __func__);

    kith_session *s = kith__calloc(1, sizeof *s);
    kith_status status = KITH_OK;

    if (!s)
        return kith__no_memory(error);
    s->model = model;
    if (kith__names_init(&s->entities) || kith__names_init(&s->relations) ||
        kith__triple_set_init(&s->used, 16))
        TRY(kith__no_memory(error));
    if (kith__session_indexes(model))
        TRY(kith__overlay_init(&s->added, kith__model_facts(model), error));
    TRY(kith__candidate_cache_of(&s->cache, model, error));
    *out = s;
    s = NULL;
cleanup:
    kith_session_free(s);
    return status;
}

void kith_session_free(kith_session *s)
{
    if (!s)
        return;
    kith__names_release(&s->entities);
    kith__names_release(&s->relations);
    kith__triple_set_release(&s->used);
    kith__free(s->facts);
    kith__free(s->uses);
    kith__free(s->news);
    kith__overlay_release(&s->added);
    kith__free(s->links);
    kith__free(s->described);
    kith__free(s->newcomers);
    kith__free(s->slots);
    kith__free(s);
}

void kith_session_set_suggestions(kith_session *s, int suggest)
{
    if (s)
        s->no_suggestions = !suggest;
}

/* ---- names ---- */

static uint32_t find_name(const kith__names *graph, const kith__names *own, const char *name)
{
    size_t length = strlen(name);
    uint64_t hash = kith__names_hash(name, length);
    uint32_t id = kith__names_find(graph, name, length, hash);

    if (id != KITH__NO_ID)
        return id;
    id = kith__names_find(own, name, length, hash);
    return id == KITH__NO_ID ? id : graph->count + id;
}

static uint32_t add_name(const kith__names *graph, kith__names *own, const char *name)
{
    size_t length = strlen(name);
    uint64_t hash = kith__names_hash(name, length);
    uint32_t id = kith__names_find(graph, name, length, hash);

    if (id != KITH__NO_ID)
        return id;
    id = kith__names_add(own, name, length, hash);
    return id == KITH__NO_ID || id >= KITH__NO_ID - 1 - graph->count ? KITH__NO_ID
                                                                     : graph->count + id;
}

static const char *name_of(const kith__names *graph, const kith__names *own, uint32_t id)
{
    return id < graph->count ? kith__names_get(graph, id) : kith__names_get(own, id - graph->count);
}

/* A new entity whose name is the same IRI in another form: <IRI>, or with a prefix. */
static uint32_t find_same_iri(const kith_session *s, const char *name)
{
    enum { LONGEST = 4096 };
    const kith_graph *graph = s->model->graph;
    size_t length = strlen(name);
    char iri[LONGEST], other[LONGEST + 2];
    uint32_t id;

    if (length >= LONGEST || s->entities.count == 0)
        return KITH__NO_ID;
    if (length > 2 && name[0] == '<' && name[length - 1] == '>')
        snprintf(iri, sizeof iri, "%.*s", (int)(length - 2), name + 1);
    else if (kith__prefixes_expand(iri, sizeof iri, &graph->prefixes, name) == 0)
        memcpy(iri, name, length + 1);
    id = find_name(&graph->entities, &s->entities, iri);
    if (id == KITH__NO_ID && kith__prefixes_shorten(other, sizeof other, &graph->prefixes, iri) > 0)
        id = find_name(&graph->entities, &s->entities, other);
    if (id == KITH__NO_ID) {
        snprintf(other, sizeof other, "<%s>", iri);
        id = find_name(&graph->entities, &s->entities, other);
    }
    return id < graph->entities.count ? KITH__NO_ID : id;
}

uint32_t kith__session_find(const kith_session *s, const char *name)
{
    uint32_t id = find_name(&s->model->graph->entities, &s->entities, name);

    return id == KITH__NO_ID ? find_same_iri(s, name) : id;
}

uint32_t kith__session_find_relation(const kith_session *s, const char *name)
{
    return find_name(&s->model->graph->relations, &s->relations, name);
}

uint32_t kith__session_add_entity(kith_session *s, const char *name)
{
    uint32_t id = kith__session_find(s, name);

    return id == KITH__NO_ID ? add_name(&s->model->graph->entities, &s->entities, name) : id;
}

uint32_t kith__session_add_relation(kith_session *s, const char *name)
{
    return add_name(&s->model->graph->relations, &s->relations, name);
}

const char *kith__session_name(const kith_session *s, uint32_t entity)
{
    return name_of(&s->model->graph->entities, &s->entities, entity);
}

uint32_t kith_session_entity_count(const kith_session *s)
{
    return s ? s->model->graph->entities.count + s->entities.count : 0;
}

kith_status kith_session_find_entity(uint32_t *entity, const kith_session *s, const char *name)
{
    if (!entity || !s || !name)
        return KITH_ERR_ARGUMENT;

    uint32_t id = kith__session_find(s, name);

    if (id == KITH__NO_ID)
        return KITH_ERR_NOT_FOUND;
    *entity = id;
    return KITH_OK;
}

const char *kith_session_entity_name(const kith_session *s, uint32_t entity)
{
    if (!s)
        return NULL;
    return entity < kith_session_entity_count(s) ? kith__session_name(s, entity) : NULL;
}

/* ---- the content of a session ---- */

size_t kith_session_fact_count(const kith_session *s)
{
    if (!s)
        return 0;
    return s->fact_count;
}

kith_session_fact kith_session_fact_at(const kith_session *s, size_t i)
{
    if (!s)
        return (kith_session_fact){0};
    if (i >= s->fact_count)
        return (kith_session_fact){0};
    kith_triple t = s->facts[i];
    return (kith_session_fact){
        kith__session_name(s, t.subject),
        name_of(&s->model->graph->relations, &s->relations, t.relation),
        kith__session_name(s, t.object), (kith_fact_use)s->uses[i]};
}

size_t kith_session_newcomer_count(const kith_session *s)
{
    if (!s)
        return 0;
    return s->newcomer_count;
}

kith_newcomer kith_session_newcomer_at(const kith_session *s, size_t i)
{
    if (!s)
        return (kith_newcomer){0};
    if (i >= s->newcomer_count)
        return (kith_newcomer){0};
    const kith__described *d = &s->described[s->newcomers[i]];
    return (kith_newcomer){kith__session_name(s, d->entity), d->facts};
}
