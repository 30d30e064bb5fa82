#include "graph/labels.h"

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

int kith__label_set_apply(kith_graph *graph, const kith__label_set *set)
{
    size_t used = 0, capacity = 0;

    if (set->names.count == 0 || graph->label_start)
        return 0;
    graph->label_start = kith__calloc(graph->entities.count, sizeof *graph->label_start);
    if (!graph->label_start)
        return -1;
    for (uint32_t i = 0; i < set->names.count; i++) {
        const char *name = kith__names_get(&set->names, i);
        const char *label = set->bytes + set->at[i].start;
        size_t name_length = kith__names_length(&set->names, i), length = strlen(label) + 1;
        uint32_t id = kith__names_find(&graph->entities, name, name_length,
                                       kith__names_hash(name, name_length));
        if (id == KITH__NO_ID)
            continue;
        if (kith__reserve(&graph->label_bytes, &capacity, used + length, 1))
            return -1;
        memcpy(graph->label_bytes + used, label, length);
        graph->label_start[id] = used + 1;
        used += length;
    }
    return 0;
}
