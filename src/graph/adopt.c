/* A new graph made of some facts of another graph. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "graph/labels.h"

static uint32_t adopt(kith__names *to, const kith__names *from, uint32_t *ids, uint32_t old)
{
    if (ids[old] == KITH__NO_ID) {
        const char *name = kith__names_get(from, old);
        size_t length = kith__names_length(from, old);
        ids[old] = kith__names_add(to, name, length, kith__names_hash(name, length));
    }
    return ids[old];
}

/* Names get their ids in the order of the splits, as they would if the folder were read again. */
static int adopt_facts(kith_graph *graph, const kith_graph *old, kith__facts *splits, uint32_t *ids)
{
    uint32_t *relation_ids = ids + old->entities.count;

    for (int split = 0; split < KITH_SPLITS; split++) {
        kith__facts *facts = &splits[split];
        for (size_t i = 0; i < facts->count; i++) {
            kith_triple *t = &facts->at[i];
            t->subject = adopt(&graph->entities, &old->entities, ids, t->subject);
            t->relation = adopt(&graph->relations, &old->relations, relation_ids, t->relation);
            t->object = adopt(&graph->entities, &old->entities, ids, t->object);
            if (t->subject == KITH__NO_ID || t->relation == KITH__NO_ID || t->object == KITH__NO_ID)
                return -1;
        }
        graph->splits[split] = *facts;
        memset(facts, 0, sizeof *facts);
    }
    return 0;
}

static int adopt_labels(kith_graph *graph, const kith_graph *old, const uint32_t *ids)
{
    kith__entity_labels labels;

    if (!old->label_start)
        return 0;
    if (kith__entity_labels_begin(&labels, graph))
        return -1;
    for (uint32_t e = 0; e < old->entities.count; e++) {
        if (ids[e] == KITH__NO_ID || old->label_start[e] == 0)
            continue;
        const char *label = old->label_bytes + old->label_start[e] - 1;
        if (kith__entity_label_set(&labels, ids[e], label, strlen(label)))
            return -1;
    }
    return 0;
}

kith_status kith__graph_adopt(kith_graph **out, const kith_graph *source,
                              kith__facts splits[KITH_SPLITS], kith__pool *pool,
                              kith_error *error)
{
    size_t count = (size_t)source->entities.count + source->relations.count;
    uint32_t *ids = kith__alloc(count, sizeof *ids);
    kith_graph *graph = kith__graph_new();
    kith_status status = KITH_OK;

    if (!ids || !graph)
        TRY(kith__no_memory(error));
    memset(ids, 0xff, count * sizeof *ids);
    snprintf(graph->layout, sizeof graph->layout, "split made from: %.120s", source->layout);
    memcpy(graph->source, source->source, sizeof graph->source);
    if (adopt_facts(graph, source, splits, ids) || adopt_labels(graph, source, ids) ||
        kith__relation_labels_copy(graph, source) ||
        kith__prefixes_copy(&graph->prefixes, &source->prefixes))
        TRY(kith__no_memory(error));
    TRY(kith__graph_finish(graph, pool, kith__pool_watch(pool), error));
    *out = graph;
    graph = NULL;
cleanup:
    kith__free(ids);
    kith_graph_free(graph);
    return status;
}
