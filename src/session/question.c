#include <string.h>

#include "graph/graph.h"
#include "session/answer.h"

typedef kith_status (*resolver)(uint32_t *id, const kith_graph *graph, const char *text,
                                kith_error *error);

/* Whether a name that does not exist is a label of several entities or relations, with a message
 * that lists them. */
static bool is_ambiguous(resolver resolve, const kith_session *s, const char *name,
                         kith_error *error)
{
    uint32_t id;
    kith_error found;

    if (s->no_suggestions || resolve(&id, s->model->graph, name, &found) != KITH_ERR_ARGUMENT)
        return false;
    kith__fail(error, KITH_ERR_NOT_FOUND, "%s; give one of these names to mean it", found.message);
    return true;
}

static kith_status find_entity(uint32_t *entity, const kith_session *s, const char *name,
                               uint32_t id, kith_error *error)
{
    char text[KITH__QUOTED], meant[KITH__MEANT];

    *entity = name ? kith__session_find(s, name) : id;
    if (!name && id >= kith_session_entity_count(s))
        return kith__fail(error, KITH_ERR_NOT_FOUND, "no entity has the id %u; there are %u", id,
                          kith_session_entity_count(s));
    if (*entity == KITH__NO_ID && is_ambiguous(kith_graph_resolve_entity, s, name, error))
        return KITH_ERR_NOT_FOUND;
    if (*entity == KITH__NO_ID)
        return kith__fail(error, KITH_ERR_NOT_FOUND,
                          "nothing is known about %s: neither the graph nor any given fact "
                          "has this name%s", kith__quote(text, name, strlen(name)),
                          kith__did_you_mean(meant, s, name, false));
    return KITH_OK;
}

/* Whether an entity has the facts that a query needs; an embedding without rules needs a seen
 * entity nearby. */
bool kith__has_facts(const kith_session *s, uint32_t entity)
{
    const kith_graph *g = s->model->graph;
    const kith__described *d = kith__session_described(s, entity);
    bool known = entity < g->entities.count && g->offset[entity + 1] > g->offset[entity];

    if (known || !kith__model_knows_unseen(s->model))
        return known || (d && d->facts > 0);
    const kith__view view = {kith__model_facts(s->model), &s->added};
    kith__spans facts = kith__view_facts(&view, entity);
    if (s->model->fused)
        return facts.count > 0;
    return kith__leads_to_seen(&view, facts.base, s->model->lists->seen) ||
           kith__leads_to_seen(&view, facts.added, s->model->lists->seen);
}

/* Whether an entity has usable facts, but none that leads an embedding without rules to a seen
 * entity. */
static bool is_far(const kith_session *s, uint32_t entity)
{
    const kith__view view = {kith__model_facts(s->model), &s->added};

    return !s->model->fused && kith__model_knows_unseen(s->model) &&
           kith__view_facts(&view, entity).count > 0;
}

static kith_status check_facts(const kith_session *s, uint32_t entity, kith_error *error)
{
    char text[KITH__QUOTED];
    const char *name = kith__session_name(s, entity);

    if (kith__has_facts(s, entity))
        return KITH_OK;
    if (is_far(s, entity))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "no entity that training has seen is within two facts of %s, so that the "
                          "embedding has no vector for it; add a fact that leads to one",
                          kith__quote(text, name, strlen(name)));
    return kith__fail(error, KITH_ERR_ARGUMENT,
                          "no usable fact tells about %s; a usable one has a relation%s that "
                          "training has seen", kith__quote(text, name, strlen(name)),
                          kith__model_knows_unseen(s->model) ? "" : " and a neighbour");
}

kith_status kith__resolve_relation(uint32_t *relation, const kith_session *s, const char *name,
                                   kith_error *error)
{
    char text[KITH__QUOTED], meant[KITH__MEANT];
    const kith_graph *g = s->model->graph;

    if (kith_graph_find_relation(relation, g, name) == KITH_OK && *relation < g->seen_relations)
        return KITH_OK;
    if (is_ambiguous(kith_graph_resolve_relation, s, name, error))
        return KITH_ERR_NOT_FOUND;
    return kith__fail(error, KITH_ERR_NOT_FOUND, "training has no fact with the relation %s%s",
                      kith__quote(text, name, strlen(name)),
                      kith__did_you_mean(meant, s, name, true));
}

static kith_status find_relation(uint32_t *relation, const kith_session *s,
                                 const kith__question *q, kith_error *error)
{
    const kith_graph *g = s->model->graph;
    const char *name = q->names.relation;

    if (!name && !(name = kith_graph_relation_name(g, q->ids.relation)))
        return kith__fail(error, KITH_ERR_NOT_FOUND, "no relation has the id %u; there are %u",
                          q->ids.relation, kith_graph_relation_count(g));
    return kith__resolve_relation(relation, s, name, error);
}

static bool is_seen_candidate(const kith_session *s, kith_candidate_set set, uint32_t entity)
{
    return entity < s->model->candidates && set != KITH_ANSWERS_NEW;
}

/* Rules can also score unseen entities by their facts, but not as answers to queries about
 * themselves. */
static bool is_unseen_candidate(const kith_session *s, kith_candidate_set set, uint32_t entity,
                                uint32_t other)
{
    return entity >= s->model->candidates && kith__model_answers_unseen(s->model) &&
           set != KITH_ANSWERS_SEEN && entity != other && kith__has_facts(s, entity);
}

/* Whether one of the ends of a fact has no other fact. */
static bool only_fact(const kith_session *s, uint32_t entity, uint32_t query, uint32_t other)
{
    const kith__index *base = kith__model_facts(s->model);

    if (!base)
        return false;
    const kith__view view = {base, &s->added};
    kith__spans facts = kith__view_facts(&view, entity);
    kith_neighbor first = facts.count > 0 ? kith__spans_at(&facts, 0) : (kith_neighbor){0};
    return facts.count == 1 && first.relation == query && first.entity == other;
}

/* Which of two entities is queried: the other must be a candidate, a seen one if possible. If both
 * are, it is the subject, unless the fact is the only one of the subject. `relation` may be
 * unknown. */
static kith_status choose_side(kith__resolved *r, const kith_session *s, kith_candidate_set set,
                               kith_triple fact, kith_error *error)
{
    uint32_t subject = fact.subject, object = fact.object, m = s->model->graph->seen_relations;
    bool subject_fits = is_seen_candidate(s, set, subject);
    bool object_fits = is_seen_candidate(s, set, object);

    if (!subject_fits && !object_fits) {
        subject_fits = is_unseen_candidate(s, set, subject, object);
        object_fits = is_unseen_candidate(s, set, object, subject);
    }
    if (!subject_fits && !object_fits)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "neither the subject nor the object is among the candidates: %s",
                          set == KITH_ANSWERS_NEW ? "entities that training has not seen, with a "
                                                    "usable fact"
                          : kith__model_answers_unseen(s->model) && set == KITH_ANSWERS_ALL
                              ? "entities with a usable fact"
                              : "entities that training has seen");
    r->subject_asked =
        subject_fits && (!object_fits || s->model->settings.predict == KITH_PREDICT_SUBJECT);
    if (subject_fits && object_fits && fact.relation != KITH__NO_ID)
        r->subject_asked ^= r->subject_asked
                                ? only_fact(s, object, fact.relation + m, subject) &&
                                      !only_fact(s, subject, fact.relation, object)
                                : only_fact(s, subject, fact.relation, object) &&
                                      !only_fact(s, object, fact.relation + m, subject);
    r->entity = r->subject_asked ? object : subject;
    r->other = r->subject_asked ? subject : object;
    return check_facts(s, r->entity, error);
}

static kith_status find_subject(uint32_t *entity, const kith_session *s, const kith__question *q,
                                kith_error *error)
{
    return find_entity(entity, s, q->names.subject, q->ids.subject, error);
}

static kith_status find_object(uint32_t *entity, const kith_session *s, const kith__question *q,
                               kith_error *error)
{
    return find_entity(entity, s, q->names.object, q->ids.object, error);
}

static kith_status resolve_both(kith__resolved *r, const kith_session *s, kith_candidate_set set,
                                const kith__question *q, uint32_t relation, kith_error *error)
{
    kith_triple fact = {.relation = relation};
    kith_status status;

    TRY(find_subject(&fact.subject, s, q, error));
    TRY(find_object(&fact.object, s, q, error));
    TRY(choose_side(r, s, set, fact, error));
cleanup:
    return status;
}

static bool has_subject(const kith__question *q)
{
    return q->names.subject || q->ids.subject != KITH__NO_ID;
}

static bool has_relation(const kith__question *q)
{
    return q->names.relation || q->ids.relation != KITH__NO_ID;
}

static bool has_object(const kith__question *q)
{
    return q->names.object || q->ids.object != KITH__NO_ID;
}

bool kith__is_fact(const kith__question *q)
{
    return has_subject(q) && has_relation(q) && has_object(q);
}

static kith_status resolve_one(kith__resolved *r, const kith_session *s, const kith__question *q,
                               kith_error *error)
{
    kith_status status;

    r->subject_asked = !has_subject(q);
    r->other = KITH__NO_ID;
    TRY(r->subject_asked ? find_object(&r->entity, s, q, error)
                         : find_subject(&r->entity, s, q, error));
    TRY(check_facts(s, r->entity, error));
cleanup:
    return status;
}

static uint32_t directed_query(const kith__resolved *r, const kith_session *s, uint32_t relation)
{
    return relation + (r->subject_asked ? s->model->graph->seen_relations : 0);
}

kith_status kith__resolve(kith__resolved *r, const kith_session *s, const kith__question *q,
                          kith_candidate_set set, kith_error *error)
{
    uint32_t relation = 0;
    bool both = has_subject(q) && has_object(q);
    kith_status status = KITH_OK;

    *r = (kith__resolved){0};
    if (kith__is_fact(q))
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the question names a subject, a relation and an "
                       "object, expected '?' for one of them"));
    if (!has_subject(q) && !has_object(q))
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the question names no entity, expected a subject "
                       "or an object"));
    if (has_relation(q))
        TRY(find_relation(&relation, s, q, error));
    TRY(both ? resolve_both(r, s, set, q, has_relation(q) ? relation : KITH__NO_ID, error)
             : resolve_one(r, s, q, error));
    r->query = has_relation(q) ? directed_query(r, s, relation) : KITH__NO_ID;
cleanup:
    return status;
}

kith_status kith__resolve_fact(kith__resolved *r, const kith_session *s, const kith__question *q,
                               kith_candidate_set set, kith_error *error)
{
    uint32_t relation = 0;
    kith_status status = KITH_OK;

    *r = (kith__resolved){0};
    if (!kith__is_fact(q))
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the %s of the fact is missing",
                       !has_subject(q)    ? "subject"
                       : !has_relation(q) ? "relation"
                                          : "object"));
    TRY(find_relation(&relation, s, q, error));
    TRY(resolve_both(r, s, set, q, relation, error));
    r->is_fact = true;
    r->query = directed_query(r, s, relation);
cleanup:
    return status;
}

kith_status kith__resolve_unranked(kith__resolved *r, const kith_session *s,
                                   const kith__question *q, kith_error *error)
{
    uint32_t relation = 0, ends[2] = {0, 0};
    kith_status status;

    TRY(find_relation(&relation, s, q, error));
    TRY(find_subject(&ends[0], s, q, error));
    TRY(find_object(&ends[1], s, q, error));
    for (int i = 0; i < 2; i++)
        if (ends[i] >= kith_graph_entity_count(s->model->graph))
            TRY(check_facts(s, ends[i], error));
    *r = (kith__resolved){ends[0], relation, .other = ends[1], .is_fact = true, .unranked = true};
cleanup:
    return status;
}
