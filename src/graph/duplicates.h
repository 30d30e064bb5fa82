/* Facts that stand twice in a split: the first of equal ones stays, in the order of the file. */
#ifndef KITH_GRAPH_DUPLICATES_H
#define KITH_GRAPH_DUPLICATES_H

#include "graph/graph.h"

/* Drop them on the pool's threads; the result does not depend on how many there are. How many were
 * dropped is added to *dropped. */
kith_status kith__drop_duplicates(size_t *dropped, kith__facts *facts, kith__pool *pool,
                                  kith_error *error);

/* What a reader keeps beside the facts that it collects, so that a file of equal lines does not
 * fill the memory. All zero at first. */
typedef struct kith__collector {
    size_t check_at; /* when so many facts are there, duplicates are looked for */
    size_t dropped;
} kith__collector;

/* Add a fact; `truth` is NULL where facts have no labels. Whenever the facts have doubled, a
 * sample of them tells whether there are many duplicates, and only then are these dropped:
 * memory stays within a few times what the distinct facts take, and files without duplicates are
 * read as fast as ever. -1 where memory is short. */
int kith__collect(kith__facts *facts, kith__collector *collector, kith_triple triple,
                  const int8_t *truth);

#endif
