/* A hash of a graph's content: names and facts. */
#include <string.h>

#include "graph/graph.h"

static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
    const char *at = bytes;

    for (; count > 0; at += 8, count -= count < 8 ? count : 8) {
        uint64_t word = 0;
        memcpy(&word, at, count < 8 ? count : 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash * 0xbf58476d1ce4e5b9u + 1;
}

static uint64_t mix_names(uint64_t hash, const kith__names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        hash = mix(hash, kith__names_get(names, i), kith__names_length(names, i));
    return hash;
}

uint64_t kith_graph_hash(const kith_graph *graph)
{
    if (!graph)
        return 0;
    uint64_t hash = mix_names(mix_names(1, &graph->entities), &graph->relations);

    for (int split = 0; split < KITH_SPLITS; split++) {
        const kith__facts *facts = &graph->splits[split];
        hash = mix(hash, facts->at, facts->count * sizeof *facts->at);
        if (facts->truth)
            hash = mix(hash, facts->truth, facts->count);
    }
    return hash;
}
