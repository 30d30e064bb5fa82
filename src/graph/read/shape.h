/* The layout of a file of facts in columns: the separator, whether the first row is a header, and
 * which columns are subject, relation and object. */
#ifndef KITH_GRAPH_READ_SHAPE_H
#define KITH_GRAPH_READ_SHAPE_H

#include "graph/graph.h"
#include "graph/read/csv.h"

enum { KITH__MOST_COLUMNS = 64 };
#define KITH__NO_COLUMN SIZE_MAX

typedef struct kith__shape {
    char separator; /* '\t', ',', ';', or ' ' for runs of spaces */
    bool quotes;    /* fields may be quoted */
    bool chosen;    /* read only the three columns in `place`; else all, in order */
    bool header;
    size_t columns;  /* of the first row */
    size_t place[3]; /* subject, relation, object */
    size_t label[3]; /* columns with the labels, KITH__NO_COLUMN if there is none */
    size_t skipped;  /* bytes and lines before the first fact */
    size_t skipped_lines;
    char names[3][48]; /* from the header, for messages */
} kith__shape;

/* Inspect the beginning of a file, without a byte order mark. `wanted` lists three columns by their
 * names in the header row or by number, separated by commas; if NULL, a header row is detected, and
 * without one there must be three columns. */
kith_status kith__find_shape(kith__shape *shape, kith__loader *loader, const char *path,
                             const char *text, size_t length, const char *wanted);

/* Cut a row according to the shape. Cells beyond the limit are only counted. */
kith__cut_problem kith__cut_row(kith__cell *cells, size_t *count, kith__field line,
                                const kith__shape *shape);

/* "commas", for messages. */
const char *kith__separator_name(const kith__shape *shape);
/* A description of the layout, for kith_graph_layout. */
void kith__shape_text(char *text, size_t size, const char *name, const kith__shape *shape);

#endif
