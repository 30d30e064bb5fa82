#include "graph/labels.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"

void kith__label_set_release(kith__label_set *set)
{
    kith__names_release(&set->names);
    kith__free(set->at);
    kith__free(set->bytes);
    memset(set, 0, sizeof *set);
}

static int store(kith__label_set *set, uint32_t id, const char *label, size_t length, int rank)
{
    if (kith__reserve(&set->bytes, &set->byte_capacity, set->used + length + 1, 1))
        return -1;
    if (length > 0)
        memcpy(set->bytes + set->used, label, length);
    set->bytes[set->used + length] = '\0';
    set->at[id] = (kith__label){set->used, rank};
    set->used += length + 1;
    return 0;
}

int kith__label_set_add(kith__label_set *set, const char *name, size_t name_length,
                        const char *label, size_t length, int rank)
{
    if (!set->names.slots && kith__names_init(&set->names))
        return -1;
    uint32_t before = set->names.count;
    uint32_t id =
        kith__names_add(&set->names, name, name_length, kith__names_hash(name, name_length));
    if (id == KITH__NO_ID ||
        kith__reserve(&set->at, &set->capacity, (size_t)id + 1, sizeof *set->at))
        return -1;
    set->met++;
    if (id < before && set->at[id].rank >= rank)
        return 0;
    return store(set, id, label, length, rank);
}

int kith__label_set_merge(kith__label_set *set, const kith__label_set *more)
{
    for (uint32_t i = 0; i < more->names.count; i++) {
        const char *label = more->bytes + more->at[i].start;
        if (kith__label_set_add(set, kith__names_get(&more->names, i),
                                kith__names_length(&more->names, i), label, strlen(label),
                                more->at[i].rank))
            return -1;
    }
    set->met += more->met - more->names.count;
    return 0;
}

const char *kith__label_find(const kith__label_set *set, const char *name, size_t length)
{
    uint32_t id = set && set->names.slots
                      ? kith__names_find(&set->names, name, length, kith__names_hash(name, length))
                      : KITH__NO_ID;

    return id == KITH__NO_ID ? NULL : set->bytes + set->at[id].start;
}

/* ---- labels of entities ---- */

int kith__entity_labels_begin(kith__entity_labels *l, kith_graph *graph)
{
    *l = (kith__entity_labels){.graph = graph};
    graph->label_start = kith__calloc(graph->entities.count, sizeof *graph->label_start);
    return graph->label_start ? 0 : -1;
}

int kith__entity_label_set(kith__entity_labels *l, uint32_t entity, const char *label,
                           size_t length)
{
    kith_graph *graph = l->graph;

    if (kith__reserve(&graph->label_bytes, &l->capacity, l->used + length + 1, 1))
        return -1;
    memcpy(graph->label_bytes + l->used, label, length);
    graph->label_bytes[l->used + length] = '\0';
    graph->label_start[entity] = l->used + 1;
    l->used += length + 1;
    return 0;
}

static int apply_to_entities(kith_graph *graph, const kith__label_set *set)
{
    kith__entity_labels labels;

    if (graph->label_start)
        return 0;
    if (kith__entity_labels_begin(&labels, graph))
        return -1;
    for (uint32_t i = 0; i < set->names.count; i++) {
        const char *name = kith__names_get(&set->names, i);
        const char *label = set->bytes + set->at[i].start;
        size_t length = kith__names_length(&set->names, i);
        uint32_t id =
            kith__names_find(&graph->entities, name, length, kith__names_hash(name, length));
        if (id != KITH__NO_ID && kith__entity_label_set(&labels, id, label, strlen(label)))
            return -1;
    }
    return 0;
}

/* ---- labels of relations ---- */

static int add_relation_label(kith_graph *graph, const char *name, size_t length,
                              const char *label, size_t label_length, int rank)
{
    if (!graph->relation_labels &&
        !(graph->relation_labels = kith__calloc(1, sizeof *graph->relation_labels)))
        return -1;
    return kith__label_set_add(graph->relation_labels, name, length, label, label_length, rank);
}

int kith__relation_label_add(kith_graph *graph, const char *name, size_t length, const char *label,
                             size_t label_length)
{
    if (kith__names_find(&graph->relations, name, length, kith__names_hash(name, length)) ==
        KITH__NO_ID)
        return 0;
    return add_relation_label(graph, name, length, label, label_length, 0);
}

int kith__relation_label_set(kith_graph *graph, const char *name, size_t length, const char *label,
                             int rank)
{
    return add_relation_label(graph, name, length, label, strlen(label), rank);
}

/* Wikidata labels the property wd:P31, while statements have the relation wdt:P31. */
static const char *find_relation_label(const kith__label_set *set, const char *name, size_t length)
{
    static const char direct[] = "http://www.wikidata.org/prop/direct/";
    static const char entity[] = "http://www.wikidata.org/entity/";
    const char *label = kith__label_find(set, name, length);
    char iri[128];

    if (label || strncmp(name, direct, sizeof direct - 1) != 0)
        return label;
    int found = snprintf(iri, sizeof iri, "%s%s", entity, name + sizeof direct - 1);
    return found < (int)sizeof iri ? kith__label_find(set, iri, (size_t)found) : NULL;
}

static int apply_to_relations(kith_graph *graph, const kith__label_set *set)
{
    for (uint32_t r = 0; r < graph->relations.count; r++) {
        const char *name = kith__names_get(&graph->relations, r);
        size_t length = kith__names_length(&graph->relations, r);
        const char *label = find_relation_label(set, name, length);
        if (label && kith__relation_label_add(graph, name, length, label, strlen(label)))
            return -1;
    }
    return 0;
}

int kith__relation_labels_copy(kith_graph *graph, const kith_graph *from)
{
    return from->relation_labels ? apply_to_relations(graph, from->relation_labels) : 0;
}

void kith__relation_labels_free(kith_graph *graph)
{
    if (graph->relation_labels)
        kith__label_set_release(graph->relation_labels);
    kith__free(graph->relation_labels);
    graph->relation_labels = NULL;
}

/* ---- applying a set of labels ---- */

int kith__label_set_apply(kith_graph *graph, const kith__label_set *set)
{
    if (set->names.count == 0)
        return 0;
    return apply_to_entities(graph, set) || apply_to_relations(graph, set) ? -1 : 0;
}
