#include "graph/read/merge.h"

#include <string.h>

#include "core/mem.h"

enum { BATCH = 64 };

kith_status kith__line_start(uint64_t *start, const kith__input *input, uint64_t place,
                             kith_error *error)
{
    char block[4096];
    uint64_t size = kith__input_size(input), at = place == 0 ? 0 : place - 1;

    *start = size;
    if (place == 0)
        *start = 0;
    while (place > 0 && at < size) {
        size_t got;
        kith_status status = kith__input_read_at(&got, input, block, sizeof block, at, error);
        if (status != KITH_OK || got == 0)
            return status;
        char *newline = memchr(block, '\n', got);
        if (newline) {
            *start = at + (uint64_t)(newline - block) + 1;
            return KITH_OK;
        }
        at += got;
    }
    return KITH_OK;
}

/* The graph's ids of a piece's own names, adding new names. NULL if out of memory. */
static uint32_t *adopt_names(kith__names *names, const kith__names *own)
{
    uint32_t *ids = kith__alloc(own->count, sizeof *ids);
    uint64_t hashes[BATCH];

    for (uint32_t from = 0; ids && from < own->count; from += BATCH) {
        uint32_t size = own->count - from < BATCH ? own->count - from : BATCH;
        for (uint32_t i = 0; i < size; i++) {
            hashes[i] = kith__names_hash(kith__names_get(own, from + i),
                                         kith__names_length(own, from + i));
            kith__names_prefetch(names, hashes[i], 0);
        }
        for (uint32_t i = 0; i < size; i++)
            kith__names_prefetch(names, hashes[i], 1);
        for (uint32_t i = 0; i < size; i++) {
            ids[from + i] = kith__names_add(names, kith__names_get(own, from + i),
                                            kith__names_length(own, from + i), hashes[i]);
            if (ids[from + i] == KITH__NO_ID) {
                kith__free(ids);
                return NULL;
            }
        }
    }
    return ids;
}

/* Facts on their way into the graph; their ids are translated if the piece has its own. */
typedef struct {
    kith_triple *to;
    const kith_triple *from;
    size_t count;
    const uint32_t *entities, *relations;
} moving;

enum { MOVING_PIECES = 16 };

static void move_piece(void *context, size_t piece)
{
    const moving *m = context;
    size_t to = m->count * (piece + 1) / MOVING_PIECES;

    for (size_t i = m->count * piece / MOVING_PIECES; i < to; i++) {
        kith_triple t = m->from[i];
        if (m->entities) {
            t.subject = m->entities[t.subject];
            t.object = m->entities[t.object];
        }
        if (m->relations)
            t.relation = m->relations[t.relation];
        m->to[i] = t;
    }
}

static int append_facts(kith__facts *to, kith__facts *from, const uint32_t *entities,
                        const uint32_t *relations, kith__pool *pool)
{
    bool first = to->count == 0 && to->capacity == 0;

    if (!first && kith__reserve(&to->at, &to->capacity, to->count + from->count, sizeof *to->at))
        return -1;
    if (!first && from->truth) {
        if (kith__reserve(&to->truth, &to->truth_capacity, to->count + from->count, 1))
            return -1;
        memcpy(to->truth + to->count, from->truth, from->count);
    }
    moving m = {first ? from->at : to->at + to->count, from->at, from->count, entities, relations};
    if (from->count > 0 && (!first || entities || relations))
        kith__pool_run(pool, move_piece, &m, MOVING_PIECES);
    if (first) { /* its array is simply moved */
        *to = *from;
        memset(from, 0, sizeof *from);
        return 0;
    }
    to->count += from->count;
    kith__facts_release(from);
    return 0;
}

kith_status kith__merge_piece(kith__loader *loader, kith_split split, const kith__names *entities,
                              const kith__names *relations, kith__facts *facts)
{
    kith_graph *graph = loader->graph;
    uint32_t *entity_ids = NULL, *relation_ids = NULL;
    kith_status status = KITH_OK;

    if (entities && !(entity_ids = adopt_names(&graph->entities, entities)))
        TRY(kith__no_memory(loader->error));
    if (relations && !(relation_ids = adopt_names(&graph->relations, relations)))
        TRY(kith__no_memory(loader->error));
    if (append_facts(&graph->splits[split], facts, entity_ids, relation_ids, loader->pool))
        TRY(kith__no_memory(loader->error));
cleanup:
    kith__free(entity_ids);
    kith__free(relation_ids);
    return status;
}
