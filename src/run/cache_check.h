/* Whether the arrays of a mapped cache are what they must be. A cache may come from a stranger, so
 * every index and offset is looked at before anything follows it. */
#ifndef KITH_RUN_CACHE_CHECK_H
#define KITH_RUN_CACHE_CHECK_H

#include "embed/neighbor_lists.h"
#include "graph/graph.h"

/* Everything that could lead outside an array, in one pass over each. `label_bytes` is the length of
 * the graph's; `rules` may be NULL. */
bool kith__cache_arrays_valid(const kith_graph *graph, size_t label_bytes,
                              const kith__implications *rules, const kith__neighbor_lists *lists);

/* A number for the labels and prefixes, which kith_graph_hash leaves out. */
uint64_t kith__labels_hash(const kith_graph *graph);

/* A number for all that follows from names, facts and settings: labels, neighbourhoods, rules and
 * lists. Runs keep it in config.json, so that a cache with other content is noticed. */
uint64_t kith__derived_hash(const kith_graph *graph, const kith__implications *rules,
                            const kith__neighbor_lists *lists);

#endif
