/* An entity is not proposed as an answer to a query about itself, unless a known fact of the
 * relation links an entity to itself. */
#include <math.h>

#include "graph/graph.h"
#include "session/answer.h"

static bool session_has_loop(const kith_session *s, uint32_t relation)
{
    for (size_t i = 0; s->loops > 0 && i < s->fact_count; i++)
        if (s->uses[i] == KITH_FACT_USED && s->facts[i].relation == relation &&
            s->facts[i].subject == s->facts[i].object)
            return true;
    return false;
}

kith_status kith__has_loops(bool *has, const kith_session *s, uint32_t query, kith_error *error)
{
    const uint8_t *loops;
    uint32_t relation = kith__undirected(s->model->graph, query);
    kith_status status = kith__candidate_cache_loops(&loops, s->cache, error);

    if (status == KITH_OK)
        *has = loops[relation] || session_has_loop(s, relation);
    return status;
}

/* Shares have already been computed over all candidates, as in evaluation. */
kith_status kith__leave_out_self(float *scores, const kith__workspace *a, const kith_session *s,
                                 uint32_t entity, uint32_t query, kith_error *error)
{
    bool loops = true;
    kith_status status = KITH_OK;

    if (entity < a->width)
        status = kith__has_loops(&loops, s, query, error);
    if (status == KITH_OK && !loops)
        scores[entity] = NAN;
    return status;
}
