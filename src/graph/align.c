#include "graph/align.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "graph/labels.h"

static int add_name(kith__names *names, const char *name)
{
    size_t length = strlen(name);
    return kith__names_add(names, name, length, kith__names_hash(name, length)) == KITH__NO_ID;
}

static int add_names(kith_graph *graph, const kith_graph *source, const kith_graph *like)
{
    for (uint32_t r = 0; r < kith_graph_seen_relation_count(like); r++)
        if (add_name(&graph->relations, kith_graph_relation_name(like, r)))
            return -1;
    for (uint32_t e = 0; e < kith_graph_entity_count(source); e++)
        if (add_name(&graph->entities, kith_graph_entity_name(source, e)))
            return -1;
    return 0;
}

static int add_labels(kith_graph *graph, const kith_graph *source)
{
    kith__entity_labels labels;

    if (!source->label_start)
        return 0;
    if (kith__entity_labels_begin(&labels, graph))
        return -1;
    for (uint32_t e = 0; e < graph->entities.count; e++) {
        if (source->label_start[e] == 0)
            continue;
        const char *label = source->label_bytes + source->label_start[e] - 1;
        if (kith__entity_label_set(&labels, e, label, strlen(label)))
            return -1;
    }
    return 0;
}

/* For each relation of the source, its id in the new graph or KITH__NO_ID. */
static uint32_t *match_relations(kith__alignment *report, const kith_graph *graph,
                                 const kith_graph *source)
{
    uint32_t count = kith_graph_relation_count(source);
    uint32_t *ids = kith__alloc(count, sizeof *ids);

    for (uint32_t r = 0; ids && r < count; r++) {
        const char *name = kith_graph_relation_name(source, r);
        size_t length = strlen(name);
        ids[r] = kith__names_find(&graph->relations, name, length, kith__names_hash(name, length));
        report->shared += ids[r] != KITH__NO_ID;
        if (ids[r] == KITH__NO_ID && report->dropped_relations < KITH__DROPPED_NAMED)
            report->first_dropped[report->dropped_relations] = r;
        report->dropped_relations += ids[r] == KITH__NO_ID;
    }
    return ids;
}

/* Add a relation of dev and test that training lacks, so that evaluation can count its facts. */
static int add_unseen(kith_graph *graph, uint32_t *id, const char *name)
{
    size_t length = strlen(name);

    *id = kith__names_add(&graph->relations, name, length, kith__names_hash(name, length));
    return *id == KITH__NO_ID;
}

static int add_facts(kith_graph *graph, kith__alignment *report, const kith_graph *source,
                     uint32_t *ids)
{
    for (int split = 0; split < KITH_SPLITS; split++) {
        bool known = split == KITH_TRAIN || split == KITH_AUX;
        kith__facts *to = &graph->splits[known ? KITH_TRAIN : split];
        kith_facts from = kith_graph_facts(source, (kith_split)split);
        for (size_t i = 0; i < from.count; i++) {
            kith_triple t = from.at[i];
            uint32_t *id = &ids[t.relation];
            if (known && *id >= graph->fixed_relations) {
                report->dropped_facts++;
                continue;
            }
            if (*id == KITH__NO_ID &&
                add_unseen(graph, id, kith_graph_relation_name(source, t.relation)))
                return -1;
            t.relation = *id;
            if (from.truth && !known ? kith__facts_add_labelled(to, t, from.truth[i])
                                     : kith__facts_add(to, t))
                return -1;
        }
    }
    return 0;
}

kith_status kith__graph_align(kith_graph **out, kith__alignment *report, const kith_graph *source,
                              const kith_graph *like, kith__pool *pool, kith_error *error)
{
    kith__alignment counts = {0};
    kith_graph *graph = kith__graph_new();
    uint32_t *ids = NULL;
    kith_status status = KITH_OK;

    if (!graph || add_names(graph, source, like) || add_labels(graph, source) ||
        kith__relation_labels_copy(graph, like) || kith__relation_labels_copy(graph, source) ||
        kith__prefixes_copy(&graph->prefixes, &source->prefixes) ||
        !(ids = match_relations(&counts, graph, source)))
        TRY(kith__no_memory(error));
    if (counts.shared == 0)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "none of the %zu relations was in the training graph; relations are matched "
                       "by name", counts.dropped_relations));
    graph->fixed_relations = graph->relations.count;
    if (add_facts(graph, &counts, source, ids))
        TRY(kith__no_memory(error));
    snprintf(graph->layout, sizeof graph->layout, "%.120s", source->layout);
    TRY(kith__graph_finish(graph, pool, kith__pool_watch(pool), error));
    if (report)
        *report = counts;
    *out = graph;
    graph = NULL;
cleanup:
    kith__free(ids);
    kith_graph_free(graph);
    return status;
}
