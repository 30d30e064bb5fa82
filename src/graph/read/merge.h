/* Files that several threads read in pieces, put together in order, so that ids and facts are those
 * of one thread. */
#ifndef KITH_GRAPH_READ_MERGE_H
#define KITH_GRAPH_READ_MERGE_H

#include "graph/graph.h"
#include "graph/read/input.h"

/* The first line start at or after a place of a plain file; its size where there is none. */
kith_status kith__line_start(uint64_t *start, const kith__input *input, uint64_t place,
                             kith_error *error);

/* Add a piece's facts to a part. Names that the piece has numbered for itself are given; NULL where
 * its facts have the graph's ids already. The facts are left empty. */
kith_status kith__merge_piece(kith__loader *loader, kith_split split, const kith__names *entities,
                              const kith__names *relations, kith__facts *facts);

#endif
