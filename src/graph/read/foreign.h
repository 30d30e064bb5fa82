/* Common file formats that kith does not read. */
#ifndef KITH_GRAPH_READ_FOREIGN_H
#define KITH_GRAPH_READ_FOREIGN_H

#include "graph/read/input.h"

/* An error, with advice, if the content begins like a file of such a format. `columns` says that
 * the file is to be read in columns; Turtle may begin as JSON does. */
kith_status kith__refuse_foreign(kith__input *input, bool columns, kith_error *error);

#endif
