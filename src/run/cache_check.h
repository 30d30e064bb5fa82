/* Whether the arrays of a mapped cache are valid. A cache may come from an attacker, so every index
 * and offset is checked before it is used. */
#ifndef KITH_RUN_CACHE_CHECK_H
#define KITH_RUN_CACHE_CHECK_H

#include "core/stages.h"
#include "embed/neighbor_lists.h"
#include "graph/graph.h"

/* Checks everything that could lead outside an array, in one pass over each. `label_bytes` is the
 * length of the graph's labels; `rules` may be NULL. False too if the watch stops it. */
bool kith__cache_arrays_valid(const kith_graph *graph, size_t label_bytes,
                              const kith__implications *rules, const kith__neighbor_lists *lists,
                              kith__watch *watch);

/* A hash of the labels and prefixes, which kith_graph_hash ignores. */
uint64_t kith__labels_hash(const kith_graph *graph);

/* A hash of everything derived from names, facts and settings: labels, neighbourhoods, rules and
 * lists. Runs keep it in config.json, so that a cache with other content is noticed. */
uint64_t kith__derived_hash(const kith_graph *graph, const kith__implications *rules,
                            const kith__neighbor_lists *lists);

#endif
