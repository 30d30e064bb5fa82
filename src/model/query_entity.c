/* Entities as queries see them: their facts and their encodings. */
#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "model/score.h"

kith_status kith__add_graph_facts(size_t *count, kith__workspace *a, uint32_t entity,
                                  kith_error *error)
{
    return kith__read_graph_facts(count, &a->facts, &a->fact_count, &a->fact_capacity,
                                  a->model->graph, kith__model_facts(a->model), entity, error);
}

kith_status kith__place_facts(kith__query_entity *queried, size_t count, kith__workspace *a,
                              kith_error *error)
{
    size_t start = 0;

    if (kith__reserve(&a->sorted, &a->sorted_capacity, a->fact_count, sizeof *a->sorted))
        return kith__no_memory(error);
    if (a->fact_count > 0)
        memcpy(a->sorted, a->facts, a->fact_count * sizeof *a->sorted);
    for (size_t i = 0; i < count; start += queried[i++].count) {
        queried[i].facts = a->facts + start;
        queried[i].sorted = (kith__span){a->sorted + start,
                                       kith__sort_facts(a->sorted + start, queried[i].count)};
    }
    return KITH_OK;
}

kith_status kith__graph_entity(kith__query_entity *queried, kith__workspace *a, uint32_t entity,
                               kith_error *error)
{
    kith_status status;

    a->fact_count = 0;
    *queried = (kith__query_entity){.entity = entity};
    TRY(kith__add_graph_facts(&queried->count, a, entity, error));
    TRY(kith__place_facts(queried, 1, a, error));
cleanup:
    return status;
}

kith_status kith__encode_entities(kith__workspace *a, const kith__query_entity *queried,
                                  size_t count, uint32_t query, kith_error *error)
{
    uint32_t queries[KITH__QUERIES_TOGETHER];

    for (size_t i = 0; i < count; i++)
        queries[i] = query;
    return kith__encode_queried(&a->entities, a->known.base ? &a->known : NULL, queried, queries,
                                count, error);
}
