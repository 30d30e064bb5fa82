/* A graph renumbered to the relations of another graph, so that a model learned there can be used
 * on it. */
#ifndef KITH_GRAPH_ALIGN_H
#define KITH_GRAPH_ALIGN_H

#include "graph/graph.h"

enum { KITH__DROPPED_NAMED = 3 };

typedef struct kith__alignment {
    size_t shared;            /* relations in both graphs */
    size_t dropped_relations; /* relations of the source that train of the other graph lacks */
    size_t dropped_facts;     /* facts of the source's train and aux with such a relation */
    uint32_t first_dropped[KITH__DROPPED_NAMED]; /* ids in the source */
} kith__alignment;

/* The facts of `source` whose relations occur in train of `like`, with the relation ids of `like`;
 * relations are matched by name. Train and aux of the source become train; dev and test stay,
 * with facts of other relations, which are then not seen. Relations that the source lacks have no
 * facts. Fails with KITH_ERR_INPUT if no relation is shared. `report` may be NULL. The pool's watch
 * can stop it. */
kith_status kith__graph_align(kith_graph **graph, kith__alignment *report, const kith_graph *source,
                              const kith_graph *like, kith__pool *pool, kith_error *error);

#endif
