#include <string.h>

#include "graph/graph.h"
#include "session/answer.h"

static kith_status find_entity(uint32_t *entity, const kith_session *s, const char *name,
                               kith_error *error)
{
    char text[KITH__QUOTED], meant[KITH__MEANT];

    *entity = kith__session_find(s, name);
    if (*entity == KITH__NO_ID)
        return kith__fail(error, KITH_ERR_NOT_FOUND,
                          "nothing is known about %s: neither the graph nor a fact that was given "
                          "has this name%s", kith__quote(text, name, strlen(name)),
                          kith__did_you_mean(meant, s, name, false));
    return KITH_OK;
}

static kith_status check_facts(const kith_session *s, uint32_t entity, kith_error *error)
{
    char text[KITH__QUOTED];
    const kith_graph *g = s->model->graph;
    const kith__described *d = kith__session_described(s, entity);
    bool has = entity < g->entities.count && g->offset[entity + 1] > g->offset[entity];
    const char *name = kith__session_name(s, entity);

    if (!has && (!d || d->facts == 0))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "no usable fact tells about %s; a usable one has a relation and a "
                          "neighbour that training has seen",
                          kith__quote(text, name, strlen(name)));
    return KITH_OK;
}

kith_status kith__resolve_relation(uint32_t *relation, const kith_session *s, const char *name,
                                   kith_error *error)
{
    char text[KITH__QUOTED], meant[KITH__MEANT];
    const kith_graph *g = s->model->graph;

    if (kith_graph_find_relation(relation, g, name) == KITH_OK && *relation < g->seen_relations)
        return KITH_OK;
    return kith__fail(error, KITH_ERR_NOT_FOUND, "training has no fact with the relation %s%s",
                      kith__quote(text, name, strlen(name)),
                      kith__did_you_mean(meant, s, name, true));
}

/* Of two entities, which one is asked about: the other must be a candidate. */
static kith_status choose_side(kith__resolved *r, const kith_session *s, uint32_t subject,
                               uint32_t object, kith_error *error)
{
    const kith_model *model = s->model;
    bool subject_fits = subject < model->candidates, object_fits = object < model->candidates;

    if (!subject_fits && !object_fits)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "training has seen neither the subject nor the object, expected one of "
                          "them among its entities");
    r->subject_asked =
        subject_fits && (!object_fits || model->settings.predict == KITH_PREDICT_SUBJECT);
    r->entity = r->subject_asked ? object : subject;
    r->other = r->subject_asked ? subject : object;
    return check_facts(s, r->entity, error);
}

static kith_status resolve_both(kith__resolved *r, const kith_session *s, const kith_question *q,
                                kith_error *error)
{
    uint32_t subject, object;
    kith_status status;

    TRY(find_entity(&subject, s, q->subject, error));
    TRY(find_entity(&object, s, q->object, error));
    TRY(choose_side(r, s, subject, object, error));
cleanup:
    return status;
}

static kith_status resolve_one(kith__resolved *r, const kith_session *s, const kith_question *q,
                               kith_error *error)
{
    kith_status status;

    r->subject_asked = !q->subject;
    r->other = KITH__NO_ID;
    TRY(find_entity(&r->entity, s, q->subject ? q->subject : q->object, error));
    TRY(check_facts(s, r->entity, error));
cleanup:
    return status;
}

static uint32_t directed_query(const kith__resolved *r, const kith_session *s, uint32_t relation)
{
    return relation + (r->subject_asked ? s->model->graph->seen_relations : 0);
}

kith_status kith__resolve(kith__resolved *r, const kith_session *s, const kith_question *q,
                          kith_error *error)
{
    uint32_t relation = 0;
    bool both = q->subject && q->object;
    kith_status status = KITH_OK;

    if (both && q->relation)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the question names a subject, a relation and an "
                       "object, expected '?' for one of them"));
    if (!q->subject && !q->object)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the question names no entity, expected a subject "
                       "or an object"));
    if (q->relation)
        TRY(kith__resolve_relation(&relation, s, q->relation, error));
    TRY(both ? resolve_both(r, s, q, error) : resolve_one(r, s, q, error));
    r->query = q->relation ? directed_query(r, s, relation) : KITH__NO_ID;
cleanup:
    return status;
}

kith_status kith__resolve_fact(kith__resolved *r, const kith_session *s, const kith_question *q,
                               kith_error *error)
{
    uint32_t relation = 0;
    kith_status status = KITH_OK;

    if (!q->subject || !q->relation || !q->object)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the %s of the fact is missing",
                       !q->subject    ? "subject"
                       : !q->relation ? "relation"
                                      : "object"));
    TRY(kith__resolve_relation(&relation, s, q->relation, error));
    TRY(resolve_both(r, s, q, error));
    r->query = directed_query(r, s, relation);
cleanup:
    return status;
}
