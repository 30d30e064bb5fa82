/* Entities as they are asked about: their facts, and their encodings. */
#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "model/score.h"

/* Facts with unseen entities, which the graph's neighbourhoods lack and rules read. */
static kith_status add_aux_facts(size_t *count, kith__workspace *a, uint32_t entity,
                                 kith_error *error)
{
    uint32_t seen = kith_graph_seen_entity_count(a->model->graph);
    const kith__fused *fused = a->model->fused;
    kith__span known = {NULL, 0};

    if (fused && entity < fused->evidence->base->index->entities)
        known = kith__facts_of(fused->evidence->base->index, entity);
    if (known.count <= *count)
        return KITH_OK;
    if (kith__reserve(&a->facts, &a->fact_capacity, a->fact_count + known.count, sizeof *a->facts))
        return kith__no_memory(error);
    for (size_t i = 0; i < known.count; i++)
        if (known.at[i].entity >= seen) {
            a->facts[a->fact_count++] = known.at[i];
            ++*count;
        }
    return KITH_OK;
}

kith_status kith__add_graph_facts(size_t *count, kith__workspace *a, uint32_t entity,
                                  kith_error *error)
{
    const kith_graph *g = a->model->graph;
    uint64_t from = entity < g->entities.count ? g->offset[entity] : 0;

    *count = entity < g->entities.count ? (size_t)(g->offset[entity + 1] - from) : 0;
    if (kith__reserve(&a->facts, &a->fact_capacity, a->fact_count + *count, sizeof *a->facts))
        return kith__no_memory(error);
    for (size_t i = 0; i < *count; i++) {
        kith_neighbor next = g->neighbors[from + i];
        a->facts[a->fact_count++] = (kith_neighbor){kith__directed(g, next.relation), next.entity};
    }
    return add_aux_facts(count, a, entity, error);
}

kith_status kith__place_facts(kith__query_entity *asked, size_t count, kith__workspace *a,
                              kith_error *error)
{
    size_t start = 0;

    if (kith__reserve(&a->sorted, &a->sorted_capacity, a->fact_count, sizeof *a->sorted))
        return kith__no_memory(error);
    if (a->fact_count > 0)
        memcpy(a->sorted, a->facts, a->fact_count * sizeof *a->sorted);
    for (size_t i = 0; i < count; start += asked[i++].count) {
        asked[i].facts = a->facts + start;
        asked[i].sorted = (kith__span){a->sorted + start,
                                       kith__sort_facts(a->sorted + start, asked[i].count)};
    }
    return KITH_OK;
}

kith_status kith__graph_entity(kith__query_entity *asked, kith__workspace *a, uint32_t entity,
                               kith_error *error)
{
    kith_status status;

    a->fact_count = 0;
    *asked = (kith__query_entity){.entity = entity};
    TRY(kith__add_graph_facts(&asked->count, a, entity, error));
    TRY(kith__place_facts(asked, 1, a, error));
cleanup:
    return status;
}

/* Those of the facts whose neighbour has an input embedding; returns how many. */
static size_t copy_seen(kith_neighbor *to, const kith__query_entity *asked, uint32_t seen)
{
    size_t count = 0;

    for (size_t i = 0; i < asked->count; i++)
        if (asked->facts[i].entity < seen)
            to[count++] = asked->facts[i];
    return count;
}

/* The neighbours that the model looks at, of each entity. */
static int cut_lists(kith__workspace *a, const kith__query_entity *asked, size_t count)
{
    const kith_model *model = a->model;
    kith__neighbor_lists *lists = &a->lists;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        size_t need = used + asked[i].count;
        if (kith__reserve(&lists->own_at, &a->at_capacity, need, sizeof *lists->own_at) ||
            kith__reserve(&a->kept, &a->kept_capacity, asked[i].count, 1) ||
            (model->rules && kith__reserve(&lists->denominator, &a->denominator_capacity, need,
                                           sizeof *lists->denominator)))
            return -1;
        size_t read = copy_seen(lists->own_at + used, &asked[i], lists->seen);
        lists->own_offset[i] = used;
        used += kith__list_cut(
            lists->own_at + used, model->rules ? lists->denominator + used : NULL, read,
            asked[i].entity, model->rules, &model->settings, a->kept, a->relations);
    }
    lists->own_offset[count] = used;
    lists->at = lists->own_at;
    lists->entities = (uint32_t)count;
    return 0;
}

kith_status kith__encode_entities(kith__workspace *a, const kith__query_entity *asked,
                                  size_t count, uint32_t query, kith_error *error)
{
    if (cut_lists(a, asked, count))
        return kith__no_memory(error);
    kith__encoder_begin(a->encoder);
    for (size_t i = 0; i < count; i++)
        kith__encoder_request(a->encoder, (uint32_t)i, query, NULL);
    return kith__encoder_forward(a->encoder, error);
}
