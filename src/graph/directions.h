/* Directed relations. A model numbers the relations of train 0..m-1 and their inverses m..2m-1; the
 * graph's neighbourhoods number all R relations, and their inverses R..2R-1. */
#ifndef KITH_GRAPH_DIRECTIONS_H
#define KITH_GRAPH_DIRECTIONS_H

#include <kith/kith.h>

/* The inverse of one of the 2m directed relations. */
static inline uint32_t kith__flip(uint32_t directed, uint32_t m)
{
    return directed < m ? directed + m : directed - m;
}

/* The relation of a neighbour in the graph as one of the 2m directed relations. */
static inline uint32_t kith__directed(const kith_graph *graph, uint32_t relation)
{
    uint32_t all = kith_graph_relation_count(graph);
    return relation < all ? relation : relation - all + kith_graph_seen_relation_count(graph);
}

/* The relation's id, whatever its direction. */
static inline uint32_t kith__undirected(const kith_graph *graph, uint32_t directed)
{
    uint32_t m = kith_graph_seen_relation_count(graph);
    return directed < m ? directed : directed - m;
}

#endif
