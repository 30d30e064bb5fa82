#include "rules/incidence.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "rules/implication.h"

enum { TICK = 1 << 12 };

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static size_t distinct(uint32_t *ids, size_t count)
{
    size_t kept = 0;

    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            ids[kept++] = ids[i];
    return kept;
}

static int list_relations(kith__incidence *in, const kith_graph *graph, kith__watch *watch)
{
    uint32_t n = in->entities;
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    size_t used = 0;

    in->entity_offset = kith__alloc((size_t)n + 1, sizeof *in->entity_offset);
    in->relation = kith__alloc(hood.offset[n], sizeof *in->relation);
    if (!in->entity_offset || !in->relation)
        return -1;
    for (uint32_t e = 0; e < n; e++) {
        size_t count = (size_t)(hood.offset[e + 1] - hood.offset[e]);
        if (e % TICK == 0 && kith__watch_add(watch, 0))
            return 0;
        in->entity_offset[e] = used;
        for (size_t i = 0; i < count; i++)
            in->relation[used + i] = kith__directed(graph, hood.at[hood.offset[e] + i].relation);
        used += distinct(in->relation + used, count);
    }
    in->entity_offset[n] = used;
    return 0;
}

static int list_entities(kith__incidence *in)
{
    size_t total = (size_t)in->entity_offset[in->entities];

    in->relation_offset = kith__calloc((size_t)in->relations + 2, sizeof *in->relation_offset);
    in->entity = kith__alloc(total, sizeof *in->entity);
    if (!in->relation_offset || !in->entity)
        return -1;
    /* Counts are stored one place further than needed; filling then turns each into the right
     * offset. */
    for (size_t i = 0; i < total; i++)
        in->relation_offset[in->relation[i] + 2]++;
    for (uint32_t r = 0; r < in->relations; r++)
        in->relation_offset[r + 1] += in->relation_offset[r];
    for (uint32_t e = 0; e < in->entities; e++)
        for (uint64_t i = in->entity_offset[e]; i < in->entity_offset[e + 1]; i++)
            in->entity[in->relation_offset[in->relation[i] + 1]++] = e;
    return 0;
}

kith_status kith__incidence_init(kith__incidence *in, const kith_graph *graph, kith__watch *watch,
                                 kith_error *error)
{
    kith_status status = KITH_OK;

    *in = (kith__incidence){.entities = kith_graph_seen_entity_count(graph),
                            .relations = 2 * kith_graph_seen_relation_count(graph)};
    if (list_relations(in, graph, watch))
        TRY(kith__no_memory(error));
    TRY(kith__watch_status(watch, error));
    if (list_entities(in))
        TRY(kith__no_memory(error));
cleanup:
    if (status != KITH_OK)
        kith__incidence_release(in);
    return status;
}

void kith__incidence_release(kith__incidence *in)
{
    kith__free(in->entity_offset);
    kith__free(in->relation);
    kith__free(in->relation_offset);
    kith__free(in->entity);
    memset(in, 0, sizeof *in);
}

int kith__tally_init(kith__tally *t, uint32_t relations)
{
    *t = (kith__tally){.count = kith__calloc(relations, sizeof *t->count),
                       .met = kith__alloc(relations, sizeof *t->met)};
    return t->count && t->met ? 0 : -1;
}

void kith__tally_release(kith__tally *t)
{
    kith__free(t->count);
    kith__free(t->met);
    *t = (kith__tally){0};
}

void kith__count_together(kith__tally *t, const kith__incidence *in, uint32_t implied)
{
    t->met_count = 0;
    for (uint64_t i = in->relation_offset[implied]; i < in->relation_offset[implied + 1]; i++) {
        uint32_t e = in->entity[i];
        for (uint64_t k = in->entity_offset[e]; k < in->entity_offset[e + 1]; k++)
            if (t->count[in->relation[k]]++ == 0)
                t->met[t->met_count++] = in->relation[k];
    }
}
