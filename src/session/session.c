#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/options.h"
#include "core/stages.h"
#include "core/utf8.h"
#include "graph/graph.h"
#include "session/answer.h"

enum { TICK = 1024 }; /* facts or names between two looks at the clock */

/* ---- making and freeing ---- */

/* Whether added facts are indexed: for all questions, or only to classify facts. */
static bool keeps_overlay(const kith_model *model)
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
    if (keeps_overlay(model))
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

static uint32_t add_entity(kith_session *s, const char *name)
{
    uint32_t id = kith__session_find(s, name);

    return id == KITH__NO_ID ? add_name(&s->model->graph->entities, &s->entities, name) : id;
}

const char *kith__session_name(const kith_session *s, uint32_t entity)
{
    return name_of(&s->model->graph->entities, &s->entities, entity);
}

const char *kith_session_entity_name(const kith_session *s, uint32_t entity)
{
    if (!s)
        return NULL;
    uint64_t count = (uint64_t)s->model->graph->entities.count + s->entities.count;
    return entity < count ? kith__session_name(s, entity) : NULL;
}

/* ---- described entities ---- */

static size_t slot_of(const kith_session *s, uint32_t entity)
{
    size_t mask = s->slot_count - 1, at = entity * UINT64_C(0x9e3779b97f4a7c15) >> 32 & mask;

    while (s->slots[at] != 0 && s->described[s->slots[at] - 1].entity != entity)
        at = (at + 1) & mask;
    return at;
}

static int grow_slots(kith_session *s)
{
    size_t wanted = s->slot_count ? 2 * s->slot_count : 64, *old = s->slots;
    size_t *slots = kith__calloc(wanted, sizeof *slots);

    if (!slots)
        return -1;
    s->slots = slots;
    s->slot_count = wanted;
    for (size_t i = 0; i < s->described_count; i++)
        s->slots[slot_of(s, s->described[i].entity)] = i + 1;
    kith__free(old);
    return 0;
}

static kith__described *describe(kith_session *s, uint32_t entity)
{
    if (s->described_count >= s->slot_count / 2 && grow_slots(s))
        return NULL;
    size_t at = slot_of(s, entity);
    if (s->slots[at] == 0) {
        if (kith__reserve(&s->described, &s->described_capacity, s->described_count + 1,
                          sizeof *s->described) ||
            kith__reserve(&s->newcomers, &s->newcomer_capacity, s->newcomer_count + 1,
                          sizeof *s->newcomers))
            return NULL;
        s->described[s->described_count++] =
            (kith__described){entity, KITH__NO_LINK, KITH__NO_LINK, 0};
        s->slots[at] = s->described_count;
        if (entity >= s->model->graph->seen_entities)
            s->newcomers[s->newcomer_count++] = s->described_count - 1;
    }
    return &s->described[s->slots[at] - 1];
}

const kith__described *kith__session_described(const kith_session *s, uint32_t entity)
{
    if (s->slot_count == 0)
        return NULL;
    size_t at = s->slots[slot_of(s, entity)];
    return at == 0 ? NULL : &s->described[at - 1];
}

static void append_link(kith_session *s, kith__described *d, size_t link, kith_neighbor neighbor)
{
    s->links[link] = (kith__link){neighbor, KITH__NO_LINK, d->last};
    if (d->last == KITH__NO_LINK)
        d->first = link;
    else
        s->links[d->last].next = link;
    d->last = link;
    d->facts++;
}

static void drop_link(kith_session *s, uint32_t entity)
{
    kith__described *d = (kith__described *)kith__session_described(s, entity);

    d->last = s->links[d->last].previous;
    if (d->last == KITH__NO_LINK)
        d->first = KITH__NO_LINK;
    else
        s->links[d->last].next = KITH__NO_LINK;
    d->facts--;
}

/* ---- adding facts ---- */

const char *kith_fact_use_text(kith_fact_use use)
{
    static const char *const texts[KITH_FACT_USES] = {
        "is used", "is known already", "training has no fact with this relation",
        "training has seen neither its subject nor its object"};
    return (unsigned)use < KITH_FACT_USES ? texts[use] : "";
}

static bool is_seen(const kith_session *s, uint32_t entity)
{
    return entity < s->model->graph->seen_entities;
}

/* Whether the graph has the fact in the neighbourhood of one of its ends. For an end that is not in
 * train, only its own list has it; else the shorter list is searched. */
static bool in_graph(const kith_session *s, kith_triple t)
{
    const kith_graph *g = s->model->graph;
    uint32_t all = g->entities.count;

    if (t.subject >= all || t.object >= all)
        return false;
    if (kith__model_knows_unseen(s->model))
        return kith__span_has(kith__reached(s->added.base, t.subject, t.relation), t.object);
    bool by_subject = !is_seen(s, t.subject) ||
                      (is_seen(s, t.object) && g->offset[t.subject + 1] - g->offset[t.subject] <
                                                   g->offset[t.object + 1] - g->offset[t.object]);
    uint32_t end = by_subject ? t.subject : t.object, other = by_subject ? t.object : t.subject;
    uint32_t relation = by_subject ? t.relation : t.relation + g->relations.count;
    for (uint64_t i = g->offset[end]; i < g->offset[end + 1]; i++)
        if (g->neighbors[i].relation == relation && g->neighbors[i].entity == other)
            return true;
    return false;
}

/* Whether an entity is usable as a neighbour: with rules, any is; an encoding needs a neighbour
 * that has seen neighbours itself. */
static bool is_neighbor(const kith_session *s, uint32_t entity)
{
    return kith__model_knows_unseen(s->model) || is_seen(s, entity);
}

static kith_fact_use use_of(const kith_session *s, kith_triple t)
{
    if (t.relation >= s->model->graph->seen_relations)
        return KITH_FACT_NO_RELATION;
    if (!is_neighbor(s, t.subject) && !is_neighbor(s, t.object))
        return KITH_FACT_NO_NEIGHBOR;
    if (kith__triple_set_has(&s->used, t) || in_graph(s, t))
        return KITH_FACT_REPEATED;
    return KITH_FACT_USED;
}

/* Each described end is described by the other end, which must be usable as a neighbour. */
static int link_fact(kith_session *s, kith_triple t, size_t fact)
{
    uint32_t m = s->model->graph->seen_relations;
    kith__described *d;

    if (is_neighbor(s, t.object)) {
        if (!(d = describe(s, t.subject)))
            return -1;
        append_link(s, d, 2 * fact, (kith_neighbor){t.relation, t.object});
    }
    if (is_neighbor(s, t.subject)) {
        if (!(d = describe(s, t.object))) {
            if (is_neighbor(s, t.object))
                drop_link(s, t.subject);
            return -1;
        }
        append_link(s, d, 2 * fact + 1, (kith_neighbor){t.relation + m, t.subject});
    }
    return 0;
}

static int room_for_fact(kith_session *s)
{
    size_t n = s->fact_count + 1;

    return kith__reserve(&s->facts, &s->fact_capacity, n, sizeof *s->facts) ||
           kith__reserve(&s->uses, &s->use_capacity, n, 1) ||
           kith__reserve(&s->news, &s->news_capacity, n, 1) ||
           kith__reserve(&s->links, &s->link_capacity, 2 * n, sizeof *s->links);
}

static kith_status check_name(const char *name, const char *what, kith_error *error)
{
    char text[KITH__QUOTED];
    size_t length = strlen(name);

    if (length == 0)
        return kith__fail(error, KITH_ERR_ARGUMENT, "the %s of a fact is empty, expected a name",
                          what);
    if (!kith__utf8_valid(name, length))
        return kith__fail(error, KITH_ERR_ARGUMENT, "the %s %s is not UTF-8", what,
                          kith__quote(text, name, length));
    return KITH_OK;
}

/* Names and described entities, which only grow while facts are added. */
static uint64_t known_names(const kith_session *s)
{
    return (uint64_t)s->entities.count + s->relations.count + s->described_count;
}

static void unlink_fact(kith_session *s, kith_triple t)
{
    /* In reverse order, so that a loop is removed link by link. */
    if (is_neighbor(s, t.subject))
        drop_link(s, t.object);
    if (is_neighbor(s, t.object))
        drop_link(s, t.subject);
    kith__triple_set_remove(&s->used, t);
    s->loops -= t.subject == t.object;
}

/* The state of a session, to return to if adding facts fails. */
typedef struct {
    size_t facts, described, newcomers;
} mark;

static mark mark_of(const kith_session *s)
{
    return (mark){s->fact_count, s->described_count, s->newcomer_count};
}

static void drop_fact(kith_session *s);

/* Names without facts stay in the tables, where they are invisible. */
static void go_back(kith_session *s, mark to)
{
    while (s->fact_count > to.facts)
        drop_fact(s);
    if (s->described_count == to.described)
        return;
    s->described_count = to.described;
    s->newcomer_count = to.newcomers;
    memset(s->slots, 0, s->slot_count * sizeof *s->slots);
    for (size_t i = 0; i < s->described_count; i++)
        s->slots[slot_of(s, s->described[i].entity)] = i + 1;
}

/* Everything except the index of added facts. */
static kith_status add_fact(kith_fact_use *use, kith_session *s, kith_triple t, uint64_t names,
                            kith_error *error)
{
    kith_fact_use found = use_of(s, t);

    /* Entities that are not in train are listed even if no usable fact describes them. */
    if (room_for_fact(s) || (!is_seen(s, t.subject) && !describe(s, t.subject)) ||
        (!is_seen(s, t.object) && !describe(s, t.object)))
        return kith__no_memory(error);
    if (found == KITH_FACT_USED) {
        if (kith__triple_set_add(&s->used, t) < 0)
            return kith__no_memory(error);
        if (link_fact(s, t, s->fact_count)) {
            kith__triple_set_remove(&s->used, t);
            return kith__no_memory(error);
        }
        s->loops += t.subject == t.object;
    }
    s->facts[s->fact_count] = t;
    s->news[s->fact_count] = known_names(s) > names;
    s->uses[s->fact_count++] = (uint8_t)found;
    *use = found;
    return KITH_OK;
}

/* The last fact, without its new names. */
static void drop_fact(kith_session *s)
{
    kith_triple t = s->facts[--s->fact_count];

    if (s->uses[s->fact_count] != KITH_FACT_USED)
        return;
    unlink_fact(s, t);
    if (keeps_overlay(s->model))
        kith__overlay_remove(&s->added, t, NULL);
}

kith_status kith_session_add(kith_fact_use *use, kith_session *s, const char *subject,
                             const char *relation, const char *object, kith_error *error)
{
    if (!s || !subject || !relation || !object)
        return kith__null_argument(error, __func__);

    const kith_graph *g = s->model->graph;
    const mark before = mark_of(s);
    uint64_t names = known_names(s);
    kith_fact_use found;
    kith_status status;

    TRY(check_name(subject, "subject", error));
    TRY(check_name(relation, "relation", error));
    TRY(check_name(object, "object", error));
    kith_triple t = {add_entity(s, subject), add_name(&g->relations, &s->relations, relation),
                     add_entity(s, object)};
    if (t.subject == KITH__NO_ID || t.relation == KITH__NO_ID || t.object == KITH__NO_ID)
        TRY(kith__no_memory(error));
    TRY(add_fact(&found, s, t, names, error));
    if (found == KITH_FACT_USED && keeps_overlay(s->model) &&
        kith__overlay_add(&s->added, t, NULL, error) != KITH_OK)
        TRY(kith__no_memory(error));
    if (use)
        *use = found;
cleanup:
    if (status != KITH_OK)
        go_back(s, before);
    return status;
}

static int by_relation(const void *a, const void *b)
{
    const kith_triple *x = a, *y = b;

    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    if (x->subject != y->subject)
        return x->subject < y->subject ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Index the used facts beginning with one. In this order nearly all are appended to the lists of
 * both ends. */
static kith_status index_facts(kith_session *s, size_t from, kith__watch *watch, kith_error *error)
{
    kith_triple *used = kith__alloc(s->fact_count - from, sizeof *used);
    size_t count = 0;
    kith_status status = KITH_OK;

    if (!used)
        return kith__no_memory(error);
    for (size_t i = from; i < s->fact_count; i++)
        if (s->uses[i] == KITH_FACT_USED)
            used[count++] = s->facts[i];
    if (count > 1)
        qsort(used, count, sizeof *used, by_relation);
    for (size_t i = 0; i < count; i++) {
        TRY(kith__overlay_add(&s->added, used[i], NULL, error));
        if (i % TICK == 0 && kith__watch_add(watch, TICK))
            TRY(kith__watch_status(watch, error));
    }
cleanup:
    kith__free(used);
    return status;
}

/* ---- all facts of a graph ---- */

/* A graph's facts on their way into a session, and its ids in the session. */
typedef struct {
    kith_session *session;
    const kith_graph *said;
    uint32_t *entities, *relations;
    uint64_t names; /* known before */
    kith__watch watch;
} adding;

/* Names are looked up once each, not once per fact. */
static kith_status map_names(uint32_t **out, adding *a, const kith__names *from,
                             const kith__names *graph, kith__names *own, kith_error *error)
{
    uint32_t *ids = *out = kith__alloc(from->count, sizeof *ids);

    if (!ids)
        return kith__no_memory(error);
    for (uint32_t i = 0; i < from->count; i++) {
        const char *name = kith__names_get(from, i);
        ids[i] = own == &a->session->entities ? add_entity(a->session, name)
                                              : add_name(graph, own, name);
        if (ids[i] == KITH__NO_ID)
            return kith__no_memory(error);
        if (i % TICK == 0 && kith__watch_add(&a->watch, 0))
            return kith__watch_status(&a->watch, error);
    }
    return KITH_OK;
}

static kith_status add_split(adding *a, kith_split split, kith_error *error)
{
    kith_facts facts = kith_graph_facts(a->said, split);
    kith_fact_use use;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < facts.count; i++) {
        kith_triple t = facts.at[i];
        if (i % TICK == 0 && kith__watch_add(&a->watch, TICK))
            TRY(kith__watch_status(&a->watch, error));
        if (facts.truth && !facts.truth[i])
            continue;
        t = (kith_triple){a->entities[t.subject], a->relations[t.relation], a->entities[t.object]};
        TRY(add_fact(&use, a->session, t, a->names, error));
    }
cleanup:
    return status;
}

static kith_status add_all(adding *a, kith_error *error)
{
    kith_session *s = a->session;
    const kith_graph *g = s->model->graph, *said = a->said;
    size_t from = s->fact_count;
    uint64_t count = kith_graph_facts(said, KITH_TRAIN).count +
                     kith_graph_facts(said, KITH_AUX).count;
    kith_status status;

    TRY(kith__watch_begin(&a->watch, "adding facts", count, error));
    TRY(map_names(&a->entities, a, &said->entities, &g->entities, &s->entities, error));
    TRY(map_names(&a->relations, a, &said->relations, &g->relations, &s->relations, error));
    TRY(add_split(a, KITH_TRAIN, error));
    TRY(add_split(a, KITH_AUX, error));
    if (!keeps_overlay(s->model) || s->fact_count == from)
        return KITH_OK;
    TRY(kith__watch_begin(&a->watch, "indexing added facts", s->fact_count - from, error));
    TRY(index_facts(s, from, &a->watch, error));
cleanup:
    return status;
}

kith_status kith_session_add_graph(kith_session *s, const kith_graph *said,
                                   const kith_work_options *caller, kith_error *error)
{
    if (!s || !said)
        return kith__null_argument(error, __func__);

    kith_work_options options = {0};
    adding a = {.session = s, .said = said, .names = known_names(s)};
    const mark before = mark_of(s);
    kith_status status =
        kith__options_copy(&options, sizeof options, sizeof options, caller, error);

    kith__watch_init(&a.watch, options.watch, options.context);
    TRY(status);
    TRY(add_all(&a, error));
cleanup:
    if (status != KITH_OK)
        go_back(s, before);
    kith__watch_release(&a.watch);
    kith__free(a.entities);
    kith__free(a.relations);
    return status;
}

/* ---- removing facts ---- */

/* Add all facts except one to an empty session. */
static kith_status say_but(kith_session *to, const kith_session *s, size_t but, kith_error *error)
{
    const kith_graph *g = s->model->graph;
    kith_fact_use use;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < s->fact_count; i++) {
        uint64_t names = known_names(to);
        kith_session_fact f = kith_session_fact_at(s, i);
        if (i == but)
            continue;
        kith_triple t = {add_name(&g->entities, &to->entities, f.subject),
                         add_name(&g->relations, &to->relations, f.relation),
                         add_name(&g->entities, &to->entities, f.object)};
        if (t.subject == KITH__NO_ID || t.relation == KITH__NO_ID || t.object == KITH__NO_ID)
            TRY(kith__no_memory(error));
        TRY(add_fact(&use, to, t, names, error));
    }
    if (keeps_overlay(to->model) && to->fact_count > 0)
        TRY(index_facts(to, 0, NULL, error));
cleanup:
    return status;
}

/* New names are removed with the fact that introduced them, and a repetition of the fact may become
 * usable: then all other facts are added again. */
static kith_status take_back(kith_session *s, size_t fact, kith_error *error)
{
    kith_session *fresh = NULL;
    kith_status status = KITH_OK;

    if (fact + 1 == s->fact_count && !s->news[fact]) {
        drop_fact(s);
        return KITH_OK;
    }
    TRY(kith_session_new(&fresh, s->model, error));
    TRY(say_but(fresh, s, fact, error));
    fresh->no_suggestions = s->no_suggestions;
    kith_session old = *s;
    *s = *fresh;
    *fresh = old;
cleanup:
    kith_session_free(fresh);
    return status;
}

kith_status kith_session_undo(kith_session *s)
{
    if (!s)
        return KITH_ERR_ARGUMENT;
    return s->fact_count == 0 ? KITH_ERR_NOT_FOUND : take_back(s, s->fact_count - 1, NULL);
}

kith_status kith_session_remove(kith_session *s, const char *subject, const char *relation,
                                const char *object, kith_error *error)
{
    if (!s || !subject || !relation || !object)
        return kith__null_argument(error, __func__);

    kith_triple t = {kith__session_find(s, subject),
                     find_name(&s->model->graph->relations, &s->relations, relation),
                     kith__session_find(s, object)};

    for (size_t i = s->fact_count; i-- > 0;)
        if (s->facts[i].subject == t.subject && s->facts[i].relation == t.relation &&
            s->facts[i].object == t.object)
            return take_back(s, i, error);
    return kith__fail(error, KITH_ERR_NOT_FOUND, "no such fact was added");
}

/* ---- looking ---- */

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
