/* How a file of facts in columns is laid out: what separates its columns, whether its first row names
 * them, and which of them are subject, relation and object. */
#ifndef KITH_GRAPH_READ_SHAPE_H
#define KITH_GRAPH_READ_SHAPE_H

#include "graph/graph.h"
#include "graph/read/csv.h"

enum { KITH__MOST_COLUMNS = 64 };
#define KITH__NO_COLUMN SIZE_MAX

typedef struct kith__shape {
    char separator;  /* '\t', ',', ';', or ' ' for runs of spaces */
    bool quotes;     /* fields may be quoted */
    bool chosen;     /* three of the columns are read, by `place`; else all, in their order */
    bool header;
    size_t columns;  /* of the first row */
    size_t place[3]; /* subject, relation, object */
    size_t label[3]; /* columns with their labels, KITH__NO_COLUMN where there is none */
    size_t skipped;  /* bytes and lines before the first fact */
    size_t skipped_lines;
    char names[3][48]; /* of the header, for people */
} kith__shape;

/* Look at the beginning of a file, without a byte order mark. `wanted` names three columns by their names
 * in the header row or their numbers, separated by commas; NULL: a header row is looked for, and else the
 * columns are three. */
kith_status kith__find_shape(kith__shape *shape, kith__loader *loader, const char *path,
                             const char *text, size_t length, const char *wanted);

/* Cut a row as the shape says. Cells beyond the most columns are counted only. */
kith__cut_problem kith__cut_row(kith__cell *cells, size_t *count, kith__field line,
                                const kith__shape *shape);

/* "commas" */
const char *kith__separator_name(const kith__shape *shape);
/* What it is, for kith_graph_layout. */
void kith__shape_text(char *text, size_t size, const char *name, const kith__shape *shape);

#endif
