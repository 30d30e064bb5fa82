/* A graph whose relations are those of another one, so that what was learned about relations there can
 * be used on it. */
#ifndef KITH_GRAPH_ALIGN_H
#define KITH_GRAPH_ALIGN_H

#include "graph/graph.h"

typedef struct kith__alignment {
    size_t shared;            /* relations that both have */
    size_t dropped_relations; /* of the source, that the other one's train lacks */
    size_t dropped_facts;     /* of the source's train and aux, with such a relation */
} kith__alignment;

/* The facts of `source` over the relations that train of `like` has, with the ids they have there;
 * relations go by name. Its train is all that is known of the source, train and aux; dev and test stay
 * what they are, without facts of other relations. Relations that the source lacks have no facts. Fails
 * with KITH_ERR_INPUT where no relation is shared. `report` may be NULL. */
kith_status kith__graph_align(kith_graph **graph, kith__alignment *report, const kith_graph *source,
                              const kith_graph *like, kith__pool *pool, kith_error *error);

#endif
