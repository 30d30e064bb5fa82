/* Files with one fact per line in columns, and the two files that name ids. */
#ifndef KITH_GRAPH_READ_TABLE_H
#define KITH_GRAPH_READ_TABLE_H

#include "graph/graph.h"
#include "graph/read/input.h"
#include "graph/read/shape.h"

/* What a column's text is. */
typedef enum kith__column {
    KITH__NEW_NAMES,   /* names, given ids as they occur */
    KITH__KNOWN_NAMES, /* names that the graph must already have */
    KITH__IDS          /* ids below the number of names that the graph has */
} kith__column;

typedef struct kith__table_form {
    kith__column entities, relations;
    bool object_second; /* OpenKE's order: subject, object, relation */
    bool counted;       /* the first line says how many facts follow */
    bool may_label;     /* a fourth column may say 1, 0 or -1 */
    bool any_shape; /* columns may be separated by commas or semicolons, and have a header row */
} kith__table_form;

/* Read the facts of an open file into a split of the graph. With any_shape, `shape` gets the layout
 * found; it may be NULL. */
kith_status kith__read_table(kith__loader *loader, kith__input *input, kith_split split,
                             const kith__table_form *form, kith__shape *shape);

/* Read lines of `name id`, so that each name gets its given id: 0..n-1, each once. If the first
 * line is a count, it is checked. */
kith_status kith__read_vocabulary(kith__loader *loader, const char *path, kith__names *names,
                                  const char *what);

/* Inspect the first lines of a file and decide whether each column holds names of the vocabulary or
 * ids. */
kith_status kith__recognise_columns(kith__table_form *form, kith__loader *loader,
                                    kith__input *input, bool entities_named, bool relations_named);

/* Read relation labels from `name label` lines, and prefixes of IRIs from `prefix: IRI` lines. */
kith_status kith__read_relation_labels(kith__loader *loader, const char *path);
kith_status kith__read_prefixes(kith__loader *loader, const char *path);

/* Read entity labels from `name label` lines; names that the graph lacks are ignored. */
kith_status kith__read_labels(kith__loader *loader, const char *path);

#endif
