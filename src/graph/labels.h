/* Labels found while reading, by the names they belong to. They are kept apart from the graph's
 * names, so that a label does not add an entity that no fact mentions. */
#ifndef KITH_GRAPH_LABELS_H
#define KITH_GRAPH_LABELS_H

#include "graph/graph.h"

typedef struct kith__label {
    uint64_t start; /* offset in `bytes` */
    int rank;
} kith__label;

typedef struct kith__label_set {
    kith__names names;
    kith__label *at; /* per name */
    size_t capacity;
    char *bytes; /* labels, each with a NUL */
    size_t used, byte_capacity;
    size_t met; /* labels in the source, kept or not */
} kith__label_set;

/* All zero is an empty set. */
void kith__label_set_release(kith__label_set *set);
/* Add a label for a name: the label of the highest rank is kept, the first of equal ones. -1 if out
 * of memory. */
int kith__label_set_add(kith__label_set *set, const char *name, size_t name_length,
                        const char *label, size_t length, int rank);
/* Add all labels of another set, as if they came after those of this set. */
int kith__label_set_merge(kith__label_set *set, const kith__label_set *more);
/* Give the entities and relations of a graph their labels; labels of other names are dropped. */
int kith__label_set_apply(kith_graph *graph, const kith__label_set *set);

/* The label of a name, or NULL if it has none; the set may be NULL. */
const char *kith__label_find(const kith__label_set *set, const char *name, size_t length);
/* Collects entity labels for a graph that has none yet. */
typedef struct kith__entity_labels {
    kith_graph *graph;
    size_t used, capacity; /* of the graph's label_bytes */
} kith__entity_labels;

/* Both return -1 if out of memory. */
int kith__entity_labels_begin(kith__entity_labels *labels, kith_graph *graph);
int kith__entity_label_set(kith__entity_labels *labels, uint32_t entity, const char *label,
                           size_t length);

/* Label a relation of the graph that has no label yet; -1 if out of memory. */
int kith__relation_label_add(kith_graph *graph, const char *name, size_t length, const char *label,
                             size_t label_length);
/* Label a relation; a label of a higher rank replaces one of a lower rank. -1 if out of memory. */
int kith__relation_label_set(kith_graph *graph, const char *name, size_t length, const char *label,
                             int rank);
/* Copy the labels of another graph for the relations that this graph has. */
int kith__relation_labels_copy(kith_graph *graph, const kith_graph *from);
void kith__relation_labels_free(kith_graph *graph);

#endif
