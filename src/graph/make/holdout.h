/* A graph with pseudo-unseen entities: some seen entities are taken out of train with all their
 * facts, as if they had come later, and some of their facts are hidden to be asked for. */
#ifndef KITH_GRAPH_MAKE_HOLDOUT_H
#define KITH_GRAPH_MAKE_HOLDOUT_H

#include "graph/graph.h"

typedef struct kith__holdout_options {
    bool subjects, objects; /* which ends of facts may be held out */
    bool between;           /* whether held-out entities keep facts among themselves */
    double share;           /* of the seen entities to hold out */
    uint32_t most_hidden;   /* facts hidden per entity: a fifth of them, at least 1, at most this */
    size_t most_asked;      /* hidden facts in all; of those between held-out entities, an eighth */
    uint64_t seed;
} kith__holdout_options;

/* Train keeps the facts that touch no held-out entity, aux those that link one to a seen entity,
 * test the hidden ones. With `between`, facts between held-out entities that are also linked to seen ones
 * are in aux too, and one in five of them in test; the others are dropped. Entities are drawn as ends of
 * random facts, so those with many facts are drawn more often, as in the data sets of Wang et al. 2019. */
kith_status kith__graph_hold_out(kith_graph **graph, const kith_graph *source,
                                 const kith__holdout_options *options, kith_error *error);

#endif
