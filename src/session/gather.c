/* The facts about entities, from the graph and the session. */
#include "core/mem.h"
#include "session/answer.h"

/* Facts of the graph come first. */
static kith_status add_facts(size_t *count, size_t *of_graph, kith__workspace *workspace,
                             const kith_session *s, uint32_t entity, kith_error *error)
{
    const kith__described *d = kith__session_described(s, entity);
    size_t added = d ? d->facts : 0;
    kith_status status;

    TRY(kith__add_graph_facts(count, workspace, entity, error));
    if (of_graph)
        *of_graph = *count;
    if (kith__reserve(&workspace->facts, &workspace->fact_capacity, workspace->fact_count + added,
                      sizeof *workspace->facts))
        TRY(kith__no_memory(error));
    for (size_t link = d ? d->first : KITH__NO_LINK; link != KITH__NO_LINK;
         link = s->links[link].next)
        workspace->facts[workspace->fact_count++] = s->links[link].neighbor;
    *count += added;
cleanup:
    return status;
}

kith_status kith__gather_facts(kith__query_entity *queried, size_t *of_graph, const kith_session *s,
                               kith__workspace *a, const uint32_t *entities, size_t count,
                               kith_error *error)
{
    kith_status status = KITH_OK;

    a->fact_count = 0;
    a->known.added = s->used.count > 0 && kith__model_knows_unseen(s->model) ? &s->added : NULL;
    if (a->fusion)
        a->fusion->evidence_query.view.added = a->known.added;
    for (size_t i = 0; i < count; i++) {
        queried[i] = (kith__query_entity){.entity = entities[i]};
        TRY(add_facts(&queried[i].count, i == 0 ? of_graph : NULL, a, s, entities[i], error));
    }
    TRY(kith__place_facts(queried, count, a, error));
cleanup:
    return status;
}
