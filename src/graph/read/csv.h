/* Columns separated by one character, with quoted fields as in RFC 4180. */
#ifndef KITH_GRAPH_READ_CSV_H
#define KITH_GRAPH_READ_CSV_H

#include "graph/read/fields.h"

typedef enum kith__cut_problem {
    KITH__CUT_WELL,
    KITH__QUOTE_OPEN,  /* a quoted field does not end on its line */
    KITH__QUOTE_STRAY, /* a quote inside an unquoted field */
    KITH__QUOTE_TEXT   /* text between the closing quote and the separator */
} kith__cut_problem;

typedef struct kith__cell {
    kith__field field; /* without the quotes around it */
    bool quoted;       /* quotes inside are still doubled */
} kith__cell;

/* Cut a line at `separator`; at most `limit` cells are stored, all are counted. Spaces around a
 * field are dropped. If `lenient`, as in tab-separated files, a field with malformed quotes is
 * plain text, and spaces stay. */
kith__cut_problem kith__cut_cells(kith__cell *cells, size_t limit, size_t *count, kith__field line,
                                  char separator, bool lenient);
/* The text of a cell, with doubled quotes made single; this changes the line it was cut from. */
kith__field kith__cell_text(kith__cell cell);
/* A description of the problem, for a message. */
const char *kith__cut_problem_text(kith__cut_problem problem);

#endif
