/* Adding facts to a session, one by one or all of a graph, and removing them. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/options.h"
#include "core/stages.h"
#include "core/utf8.h"
#include "graph/graph.h"
#include "session/answer.h"
#include "session/session.h"

enum { TICK = 1024 }; /* facts or names after which progress is reported */

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

/* Whether an entity is usable as a neighbour: any entity is if facts between unseen entities count,
 * otherwise only a seen one. */
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
        if (!(d = kith__session_describe(s, t.subject)))
            return -1;
        kith__session_link(s, d, 2 * fact, (kith_neighbor){t.relation, t.object});
    }
    if (is_neighbor(s, t.subject)) {
        if (!(d = kith__session_describe(s, t.object))) {
            if (is_neighbor(s, t.object))
                kith__session_unlink(s, t.subject);
            return -1;
        }
        kith__session_link(s, d, 2 * fact + 1, (kith_neighbor){t.relation + m, t.subject});
    }
    return 0;
}

static int reserve_fact(kith_session *s)
{
    size_t n = s->fact_count + 1;

    return kith__reserve(&s->facts, &s->fact_capacity, n, sizeof *s->facts) ||
           kith__reserve(&s->uses, &s->use_capacity, n, 1) ||
           kith__reserve(&s->news, &s->news_capacity, n, sizeof *s->news) ||
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

static void unlink_fact(kith_session *s, kith_triple t)
{
    /* In reverse order, so that a loop is removed link by link. */
    if (is_neighbor(s, t.subject))
        kith__session_unlink(s, t.object);
    if (is_neighbor(s, t.object))
        kith__session_unlink(s, t.subject);
    kith__triple_set_remove(&s->used, t);
    s->loops -= t.subject == t.object;
}

/* The state of a session, to return to if adding facts fails. */
typedef struct {
    size_t facts, described, newcomers;
    uint32_t entities, relations;
} mark;

static mark mark_of(const kith_session *s)
{
    return (mark){s->fact_count, s->described_count, s->newcomer_count, s->entities.count,
                  s->relations.count};
}

/* What has been introduced since; `shared` if several facts may have introduced it. */
static kith__news news_since(const kith_session *s, const mark *before, bool shared)
{
    const mark now = mark_of(s);

    if (shared)
        return (kith__news){.shared = now.entities > before->entities ||
                                      now.relations > before->relations ||
                                      now.described > before->described};
    return (kith__news){(uint8_t)(now.entities - before->entities),
                        (uint8_t)(now.relations - before->relations),
                        (uint8_t)(now.described - before->described),
                        (uint8_t)(now.newcomers - before->newcomers), false};
}

static void drop_fact(kith_session *s);

static void forget(kith_session *s, const mark *to)
{
    kith__session_forget(s, to->described, to->newcomers);
    kith__names_truncate(&s->entities, to->entities);
    kith__names_truncate(&s->relations, to->relations);
}

static void go_back(kith_session *s, const mark *to)
{
    while (s->fact_count > to->facts)
        drop_fact(s);
    forget(s, to);
}

/* Everything except the index of added facts. */
static kith_status add_fact(kith_fact_use *use, kith_session *s, kith_triple t, const mark *before,
                            bool shared, kith_error *error)
{
    kith_fact_use found = use_of(s, t);

    /* Entities that are not in train are listed even if no usable fact describes them. */
    if (reserve_fact(s) || (!is_seen(s, t.subject) && !kith__session_describe(s, t.subject)) ||
        (!is_seen(s, t.object) && !kith__session_describe(s, t.object)))
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
    s->news[s->fact_count] = news_since(s, before, shared);
    s->uses[s->fact_count++] = (uint8_t)found;
    *use = found;
    return KITH_OK;
}

/* Remove the last fact, but not what it introduced. */
static void drop_fact(kith_session *s)
{
    kith_triple t = s->facts[--s->fact_count];

    if (s->uses[s->fact_count] != KITH_FACT_USED)
        return;
    unlink_fact(s, t);
    if (kith__session_indexes(s->model))
        kith__overlay_remove(&s->added, t, NULL);
}

kith_status kith_session_add(kith_fact_use *use, kith_session *s, const char *subject,
                             const char *relation, const char *object, kith_error *error)
{
    if (!s || !subject || !relation || !object)
        return kith__null_argument(error, __func__);

    const mark before = mark_of(s);
    kith_fact_use found;
    kith_status status;

    TRY(check_name(subject, "subject", error));
    TRY(check_name(relation, "relation", error));
    TRY(check_name(object, "object", error));
    kith_triple t = {kith__session_add_entity(s, subject), kith__session_add_relation(s, relation),
                     kith__session_add_entity(s, object)};
    if (t.subject == KITH__NO_ID || t.relation == KITH__NO_ID || t.object == KITH__NO_ID)
        TRY(kith__no_memory(error));
    TRY(add_fact(&found, s, t, &before, false, error));
    if (found == KITH_FACT_USED && kith__session_indexes(s->model) &&
        kith__overlay_add(&s->added, t, NULL, error) != KITH_OK)
        TRY(kith__no_memory(error));
    if (use)
        *use = found;
cleanup:
    if (status != KITH_OK)
        go_back(s, &before);
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

/* Index the used facts from index `from` on. In this order nearly all are appended to the lists of
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

/* A graph's facts while they are added to a session, and the session's ids for its names. */
typedef struct {
    kith_session *session;
    const kith_graph *graph;
    uint32_t *entities, *relations;
    mark before;
    kith__watch watch;
} adding;

/* Look each name up once, not once per fact. */
static kith_status map_names(uint32_t **out, adding *a, const kith__names *from,
                             uint32_t (*add)(kith_session *, const char *), kith_error *error)
{
    uint32_t *ids = *out = kith__alloc(from->count, sizeof *ids);

    if (!ids)
        return kith__no_memory(error);
    for (uint32_t i = 0; i < from->count; i++) {
        ids[i] = add(a->session, kith__names_get(from, i));
        if (ids[i] == KITH__NO_ID)
            return kith__no_memory(error);
        if (i % TICK == 0 && kith__watch_add(&a->watch, 0))
            return kith__watch_status(&a->watch, error);
    }
    return KITH_OK;
}

static kith_status add_split(adding *a, kith_split split, kith_error *error)
{
    kith_facts facts = kith_graph_facts(a->graph, split);
    kith_fact_use use;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < facts.count; i++) {
        kith_triple t = facts.at[i];
        if (i % TICK == 0 && kith__watch_add(&a->watch, TICK))
            TRY(kith__watch_status(&a->watch, error));
        if (facts.truth && !facts.truth[i])
            continue;
        t = (kith_triple){a->entities[t.subject], a->relations[t.relation], a->entities[t.object]};
        TRY(add_fact(&use, a->session, t, &a->before, true, error));
    }
cleanup:
    return status;
}

static kith_status add_all(adding *a, kith_error *error)
{
    kith_session *s = a->session;
    const kith_graph *added = a->graph;
    size_t from = s->fact_count;
    uint64_t count = kith_graph_facts(added, KITH_TRAIN).count +
                     kith_graph_facts(added, KITH_AUX).count;
    kith_status status;

    TRY(kith__watch_begin(&a->watch, "adding facts", count, error));
    TRY(map_names(&a->entities, a, &added->entities, kith__session_add_entity, error));
    TRY(map_names(&a->relations, a, &added->relations, kith__session_add_relation, error));
    TRY(add_split(a, KITH_TRAIN, error));
    TRY(add_split(a, KITH_AUX, error));
    if (!kith__session_indexes(s->model) || s->fact_count == from)
        return KITH_OK;
    TRY(kith__watch_begin(&a->watch, "indexing added facts", s->fact_count - from, error));
    TRY(index_facts(s, from, &a->watch, error));
cleanup:
    return status;
}

kith_status kith_session_add_graph(kith_session *s, const kith_graph *graph,
                                   const kith_work_options *caller, kith_error *error)
{
    if (!s || !graph)
        return kith__null_argument(error, __func__);

    kith_work_options options = {0};
    adding a = {.session = s, .graph = graph, .before = mark_of(s)};
    kith_status status =
        kith__options_copy(&options, sizeof options, sizeof options, caller, error);

    kith__watch_init(&a.watch, options.watch, options.context);
    TRY(status);
    TRY(add_all(&a, error));
cleanup:
    if (status != KITH_OK)
        go_back(s, &a.before);
    kith__watch_release(&a.watch);
    kith__free(a.entities);
    kith__free(a.relations);
    return status;
}

/* ---- removing facts ---- */

/* Add all facts except one to an empty session. */
static kith_status add_others(kith_session *to, const kith_session *s, size_t but,
                              kith_error *error)
{
    kith_fact_use use;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < s->fact_count; i++) {
        const mark before = mark_of(to);
        kith_session_fact f = kith_session_fact_at(s, i);
        if (i == but)
            continue;
        kith_triple t = {kith__session_add_entity(to, f.subject),
                         kith__session_add_relation(to, f.relation),
                         kith__session_add_entity(to, f.object)};
        if (t.subject == KITH__NO_ID || t.relation == KITH__NO_ID || t.object == KITH__NO_ID)
            TRY(kith__no_memory(error));
        TRY(add_fact(&use, to, t, &before, false, error));
    }
    if (kith__session_indexes(to->model) && to->fact_count > 0)
        TRY(index_facts(to, 0, NULL, error));
cleanup:
    return status;
}

/* The last fact is removed in place, with what it introduced. */
static void remove_last(kith_session *s)
{
    const kith__news news = s->news[s->fact_count - 1];
    mark to = mark_of(s);

    drop_fact(s);
    to.entities -= news.entities;
    to.relations -= news.relations;
    to.described -= news.described;
    to.newcomers -= news.newcomers;
    forget(s, &to);
}

/* Names are removed with the fact that introduced them, and a repetition of the fact may become
 * usable: unless the fact is the last one, all others are added again. */
static kith_status remove_fact(kith_session *s, size_t fact, kith_error *error)
{
    kith_session *fresh = NULL;
    kith_status status = KITH_OK;

    if (fact + 1 == s->fact_count && !s->news[fact].shared) {
        remove_last(s);
        return KITH_OK;
    }
    TRY(kith_session_new(&fresh, s->model, error));
    TRY(add_others(fresh, s, fact, error));
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
    return s->fact_count == 0 ? KITH_ERR_NOT_FOUND : remove_fact(s, s->fact_count - 1, NULL);
}

kith_status kith_session_remove(kith_session *s, const char *subject, const char *relation,
                                const char *object, kith_error *error)
{
    if (!s || !subject || !relation || !object)
        return kith__null_argument(error, __func__);

    kith_triple t = {kith__session_find(s, subject),
                     kith__session_find_relation(s, relation),
                     kith__session_find(s, object)};

    for (size_t i = s->fact_count; i-- > 0;)
        if (s->facts[i].subject == t.subject && s->facts[i].relation == t.relation &&
            s->facts[i].object == t.object)
            return remove_fact(s, i, error);
    return kith__fail(error, KITH_ERR_NOT_FOUND, "no such fact was added");
}
