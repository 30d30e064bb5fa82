/* Files of other kinds that people try. */
#ifndef KITH_GRAPH_READ_FOREIGN_H
#define KITH_GRAPH_READ_FOREIGN_H

#include "graph/read/input.h"

/* An error for what begins as a file of a kind that no reader takes, with what to do. Where `columns`, the
 * file is to be read in columns; Turtle may begin as JSON does. */
kith_status kith__refuse_foreign(kith__input *input, bool columns, kith_error *error);

#endif
