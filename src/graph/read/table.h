/* Files with one fact per line in columns, and the two files that name ids. */
#ifndef KITH_GRAPH_READ_TABLE_H
#define KITH_GRAPH_READ_TABLE_H

#include "graph/graph.h"
#include "graph/read/input.h"
#include "graph/read/shape.h"

/* What a column's text is. */
typedef enum kith__column {
    KITH__NEW_NAMES,   /* names, given ids as they are met */
    KITH__KNOWN_NAMES, /* names that the graph must have already */
    KITH__IDS          /* ids below the number of names that the graph has */
} kith__column;

typedef struct kith__table_form {
    kith__column entities, relations;
    bool object_second; /* OpenKE's order: subject, object, relation */
    bool counted;       /* the first line says how many facts follow */
    bool may_label;     /* a fourth column may say 1, 0 or -1 */
    bool any_shape;     /* columns may be separated by commas or semicolons, and have a header row */
} kith__table_form;

/* Read the facts of an open file into a part of the graph. What any_shape found is in `shape`, which may
 * be NULL. */
kith_status kith__read_table(kith__loader *loader, kith__input *input, kith_split split,
                             const kith__table_form *form, kith__shape *shape);

/* Read `name id` lines into names so that the ids are those given: 0..n-1, each once. A first line
 * with a count is checked. */
kith_status kith__read_vocabulary(kith__loader *loader, const char *path, kith__names *names,
                                  const char *what);

/* Look at the first lines of a file and tell whether a column holds names of the vocabulary or
 * ids. */
kith_status kith__recognise_columns(kith__table_form *form, kith__loader *loader,
                                    kith__input *input, bool entities_named, bool relations_named);

/* Prefixes of IRIs from `prefix: IRI` lines. */
kith_status kith__read_relation_labels(kith__loader *loader, const char *path);
kith_status kith__read_prefixes(kith__loader *loader, const char *path);

/* Entity labels from `name label` lines; names that the graph lacks are passed over. */
kith_status kith__read_labels(kith__loader *loader, const char *path);

#endif
