/* Merging the pieces of a file that several threads read, in order, so that ids and facts are the
 * same as with one thread. */
#ifndef KITH_GRAPH_READ_MERGE_H
#define KITH_GRAPH_READ_MERGE_H

#include "graph/graph.h"
#include "graph/read/input.h"

/* The first line start at or after an offset of a plain file; its size if there is none. */
kith_status kith__line_start(uint64_t *start, const kith__input *input, uint64_t place,
                             kith_error *error);

/* Add a piece's facts to a split. `entities` and `relations` are the piece's own names; NULL if its
 * facts already have the graph's ids. Leaves the facts empty. */
kith_status kith__merge_piece(kith__loader *loader, kith_split split, const kith__names *entities,
                              const kith__names *relations, kith__facts *facts);

#endif
