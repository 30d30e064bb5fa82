#include "train/order.h"

#include <string.h>

#include "core/mem.h"

enum { BLOCK = 4096 /* swaps */ };

kith_status kith__order_init(kith__order *o, const kith_graph *graph, kith_error *error)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);

    *o = (kith__order){.graph = graph, .facts = train.at, .count = train.count};
    o->at = kith__alloc(o->count, sizeof *o->at);
    o->draw = kith__alloc(o->count / BLOCK + 1, sizeof *o->draw);
    if (!o->at || !o->draw) {
        kith__order_release(o);
        return kith__no_memory(error);
    }
    return KITH_OK;
}

void kith__order_release(kith__order *o)
{
    kith__free(o->at);
    kith__free(o->draw);
    memset(o, 0, sizeof *o);
}

/* ---- places ---- */

kith_status kith__order_by_place(kith__order *o, kith_error *error)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(o->graph);
    uint32_t seen = kith_graph_seen_entity_count(o->graph);
    uint32_t *next;

    if (hood.offset[seen] > UINT32_MAX)
        return KITH_OK;
    next = kith__alloc(seen, sizeof *next);
    if (!next)
        return kith__no_memory(error);
    for (uint32_t e = 0; e < seen; e++)
        next[e] = (uint32_t)hood.offset[e];
    /* Lists are in the order of the facts; each fact is in two lists. */
    for (size_t i = 0; i < o->count; i++) {
        o->at[i] = next[o->facts[i].subject]++;
        next[o->facts[i].object]++;
    }
    kith__free(next);
    o->facts = NULL;
    return KITH_OK;
}

/* The entity whose neighbourhood contains a place: the last one whose list begins there or
 * before. */
static uint32_t owner_of(uint32_t place, const kith__order *o)
{
    const uint64_t *offset = kith_graph_neighborhoods(o->graph).offset;
    uint32_t low = 0, high = kith_graph_seen_entity_count(o->graph);

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (offset[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

kith_triple kith__order_fact(const kith__order *o, size_t i)
{
    uint32_t at = o->at[i];

    if (o->facts)
        return o->facts[at];
    kith_neighbor next = kith_graph_neighborhoods(o->graph).at[at];
    return (kith_triple){owner_of(at, o), next.relation, next.entity};
}

/* ---- shuffling ---- */

static void swap(uint32_t *at, size_t i, size_t other)
{
    uint32_t value = at[i];
    at[i] = at[other];
    at[other] = value;
}

/* Undo the swaps of the last shuffle in reverse order. Only places need this, because their file
 * order is stored nowhere else. */
static void take_back(kith__order *o)
{
    uint32_t other[BLOCK];

    for (size_t block = o->count < 2 ? 0 : (o->count - 2) / BLOCK + 1; block-- > 0;) {
        kith__rng rng = o->draw[block];
        size_t first = o->count - block * BLOCK; /* swaps count down to 2 */
        size_t swaps = first - 1 < BLOCK ? first - 1 : BLOCK;
        for (size_t k = 0; k < swaps; k++)
            other[k] = (uint32_t)kith__rng_below(&rng, first - k);
        for (size_t k = swaps; k-- > 0;)
            swap(o->at, first - k - 1, other[k]);
    }
}

void kith__order_shuffle(kith__order *o, uint64_t seed, uint64_t stream)
{
    kith__rng rng;

    for (size_t i = 0; o->facts && i < o->count; i++)
        o->at[i] = (uint32_t)i;
    if (!o->facts && o->shuffled)
        take_back(o);
    kith__rng_init(&rng, seed, stream);
    for (size_t i = o->count; i > 1; i--) {
        if ((o->count - i) % BLOCK == 0)
            o->draw[(o->count - i) / BLOCK] = rng;
        swap(o->at, i - 1, (size_t)kith__rng_below(&rng, i));
    }
    o->shuffled = true;
}
