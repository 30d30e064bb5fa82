/* A graph with pseudo-unseen entities: some seen entities are removed from train with all their
 * facts, as if they had been added later, and some of their facts are hidden to be predicted. */
#ifndef KITH_GRAPH_MAKE_HOLDOUT_H
#define KITH_GRAPH_MAKE_HOLDOUT_H

#include "graph/graph.h"

typedef struct kith__holdout_options {
    bool subjects, objects; /* which ends of facts may be held out */
    bool between;           /* whether held-out entities keep facts among themselves */
    double share;           /* the share of seen entities to hold out */
    uint32_t most_hidden;   /* facts hidden per entity: a fifth of them, at least 1, at most this */
    size_t most_queries;      /* hidden facts in total; between held-out entities a 16th of that */
    uint64_t seed;
} kith__holdout_options;

/* Train keeps the facts without held-out entities, aux those that link a held-out to a seen entity,
 * test the hidden ones. With `between`, aux also has the facts between held-out entities that are
 * linked to seen ones, and test has one in five of these; without it they are dropped. Entities are
 * drawn as ends of random facts, so entities with many facts are drawn more often, as in the data
 * sets of Wang et al. 2019. If that leaves train less than a quarter of its facts, entities are
 * drawn uniformly instead. The pool's watch can stop it. */
kith_status kith__graph_hold_out(kith_graph **graph, const kith_graph *source,
                                 const kith__holdout_options *options, kith__pool *pool,
                                 kith_error *error);

#endif
