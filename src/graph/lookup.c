/* Public lookup functions of a graph. */
#include <string.h>

#include "graph/labels.h"

const char *kith_graph_layout(const kith_graph *graph)
{
    return graph ? graph->layout : "";
}

const kith_load_report *kith_graph_report(const kith_graph *graph)
{
    static const kith_load_report nothing = {.first_bad = ""};

    return graph && graph->report.first_bad ? &graph->report : &nothing;
}

uint32_t kith_graph_entity_count(const kith_graph *graph)
{
    return graph ? graph->entities.count : 0;
}

uint32_t kith_graph_relation_count(const kith_graph *graph)
{
    return graph ? graph->relations.count : 0;
}

uint32_t kith_graph_seen_entity_count(const kith_graph *graph)
{
    return graph ? graph->seen_entities : 0;
}

uint32_t kith_graph_seen_relation_count(const kith_graph *graph)
{
    return graph ? graph->seen_relations : 0;
}

/* ---- names ---- */

/* A graph that training reduced to its neighbourhoods has counts but no names. */
static const char *name_of(const kith__names *names, uint32_t id)
{
    return id < names->count && names->start ? kith__names_get(names, id) : NULL;
}

const char *kith_graph_entity_name(const kith_graph *graph, uint32_t entity)
{
    return graph ? name_of(&graph->entities, entity) : NULL;
}

const char *kith_graph_relation_name(const kith_graph *graph, uint32_t relation)
{
    return graph ? name_of(&graph->relations, relation) : NULL;
}

const char *kith_graph_entity_label(const kith_graph *graph, uint32_t entity)
{
    if (graph && entity < graph->entities.count && graph->label_start &&
        graph->label_start[entity] > 0)
        return graph->label_bytes + graph->label_start[entity] - 1;
    return kith_graph_entity_name(graph, entity);
}

static kith_name_list list_of(const kith__names *names)
{
    return (kith_name_list){names->bytes, names->start, names->start ? names->count : 0};
}

kith_name_list kith_graph_entity_names(const kith_graph *graph)
{
    return graph ? list_of(&graph->entities) : (kith_name_list){0};
}

kith_name_list kith_graph_relation_names(const kith_graph *graph)
{
    return graph ? list_of(&graph->relations) : (kith_name_list){0};
}

const char *kith_graph_relation_label(const kith_graph *graph, uint32_t relation)
{
    const char *name = kith_graph_relation_name(graph, relation);
    const char *label = name ? kith__label_find(graph->relation_labels, name, strlen(name)) : NULL;
    return label ? label : name;
}

kith_name_list kith_graph_entity_labels(const kith_graph *graph)
{
    if (!graph || !graph->label_start)
        return (kith_name_list){0};
    return (kith_name_list){graph->label_bytes, graph->label_start, graph->entities.count};
}

static kith_status find(uint32_t *id, const kith__names *names, const char *name)
{
    size_t length = strlen(name);
    uint32_t found = KITH__NO_ID;

    if (names->start)
        found = kith__names_find(names, name, length, kith__names_hash(name, length));
    if (found == KITH__NO_ID)
        return KITH_ERR_NOT_FOUND;
    *id = found;
    return KITH_OK;
}

kith_status kith_graph_find_entity(uint32_t *entity, const kith_graph *graph, const char *name)
{
    return entity && graph && name ? find(entity, &graph->entities, name) : KITH_ERR_ARGUMENT;
}

kith_status kith_graph_find_relation(uint32_t *relation, const kith_graph *graph, const char *name)
{
    return relation && graph && name ? find(relation, &graph->relations, name) : KITH_ERR_ARGUMENT;
}

/* ---- facts ---- */

kith_facts kith_graph_facts(const kith_graph *graph, kith_split split)
{
    if (!graph || (unsigned)split >= KITH_SPLITS)
        return (kith_facts){0};
    const kith__facts *facts = &graph->splits[split];
    return (kith_facts){facts->at, facts->truth, facts->count};
}

kith_neighborhoods kith_graph_neighborhoods(const kith_graph *graph)
{
    return graph ? (kith_neighborhoods){graph->offset, graph->neighbors} : (kith_neighborhoods){0};
}
