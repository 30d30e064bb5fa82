#include <string.h>

#include "graph/graph.h"
#include "session/answer.h"

static kith_status resolve_entity(uint32_t *entity, const kith_session *s, const char *name,
                                  kith_error *error)
{
    char text[KITH__QUOTED], meant[KITH__MEANT];
    const kith_graph *g = s->model->graph;

    *entity = kith__session_find(s, name);
    if (*entity == KITH__NO_ID)
        return kith__fail(error, KITH_ERR_NOT_FOUND,
                          "nothing is known about %s: neither the graph nor a fact that was given "
                          "has this name%s", kith__quote(text, name, strlen(name)),
                          kith__did_you_mean(meant, g, name, false));
    const kith__described *d = kith__session_described(s, *entity);
    bool has = *entity < g->entities.count && g->offset[*entity + 1] > g->offset[*entity];
    if (!has && (!d || d->facts == 0))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "no usable fact tells about %s; a usable one has a relation and a "
                          "neighbour that training has seen",
                          kith__quote(text, name, strlen(name)));
    return KITH_OK;
}

static kith_status resolve_relation(uint32_t *relation, const kith_session *s, const char *name,
                                    kith_error *error)
{
    char text[KITH__QUOTED], meant[KITH__MEANT];
    const kith_graph *g = s->model->graph;

    if (kith_graph_find_relation(relation, g, name) == KITH_OK && *relation < g->seen_relations)
        return KITH_OK;
    return kith__fail(error, KITH_ERR_NOT_FOUND, "training has no fact with the relation %s%s",
                      kith__quote(text, name, strlen(name)),
                      kith__did_you_mean(meant, g, name, true));
}

kith_status kith__resolve(kith__resolved *r, const kith_session *s, const kith_question *q,
                          kith_error *error)
{
    uint32_t relation = 0;
    kith_status status = KITH_OK;

    if (q->subject && q->object)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the question names both a subject and an object, "
                       "expected '?' for one of them"));
    if (!q->subject && !q->object)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the question names no entity, expected a subject "
                       "or an object"));
    if (q->relation)
        TRY(resolve_relation(&relation, s, q->relation, error));
    r->subject_asked = !q->subject;
    TRY(resolve_entity(&r->entity, s, q->subject ? q->subject : q->object, error));
    r->query = !q->relation ? KITH__NO_ID
                            : relation + (r->subject_asked ? s->model->graph->seen_relations : 0);
cleanup:
    return status;
}
