/* Duplicate facts within a split: the first of equal facts stays, in file order. */
#ifndef KITH_GRAPH_DUPLICATES_H
#define KITH_GRAPH_DUPLICATES_H

#include "graph/graph.h"

/* Drop duplicates on the pool's threads; the result does not depend on their number. Adds the
 * number dropped to *dropped. */
kith_status kith__drop_duplicates(size_t *dropped, kith__facts *facts, kith__pool *pool,
                                  kith_error *error);

/* A reader's state in addition to the facts it collects, so that a file of repeated lines does not
 * fill the memory. All zero at first. */
typedef struct kith__collector {
    size_t check_at; /* the number of facts at which to check for duplicates */
    size_t dropped;
} kith__collector;

/* Add a fact; `truth` is NULL if facts have no labels. Whenever the number of facts has doubled, a
 * sample shows whether there are many duplicates, and only then are they dropped: memory stays
 * within a few times the size of the distinct facts, and files without duplicates are not slowed
 * down. Returns -1 if out of memory. */
int kith__collect(kith__facts *facts, kith__collector *collector, kith_triple triple,
                  const int8_t *truth);

#endif
