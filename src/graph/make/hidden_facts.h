/* A graph with some facts of train hidden. Its entities stay seen, each with at least one fact, so
 * queries for the hidden facts are like those about a whole new graph. */
#ifndef KITH_GRAPH_MAKE_HIDDEN_FACTS_H
#define KITH_GRAPH_MAKE_HIDDEN_FACTS_H

#include "graph/graph.h"

typedef struct kith__hidden_facts_options {
    double share; /* of the facts of train */
    size_t most;
    uint64_t seed, draw; /* each draw hides other facts */
} kith__hidden_facts_options;

/* Train keeps the facts that are not hidden, test has the hidden ones. The pool's watch can stop
 * it. */
kith_status kith__graph_hide_facts(kith_graph **graph, const kith_graph *source,
                                   const kith__hidden_facts_options *options, kith__pool *pool,
                                   kith_error *error);

#endif
