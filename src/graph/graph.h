/* What a kith_graph is made of, shared by the readers, the splitter and the statistics. */
#ifndef KITH_GRAPH_GRAPH_H
#define KITH_GRAPH_GRAPH_H

#include <stdbool.h>

#include "core/pool.h"
#include "core/stages.h"
#include "core/status.h"
#include "graph/names.h"
#include "graph/prefixes.h"

typedef struct kith__facts {
    kith_triple *at;
    int8_t *truth; /* NULL, or one per fact */
    size_t count, capacity, truth_capacity;
} kith__facts;

struct kith_graph {
    kith__names entities, relations;
    /* labels, each with a NUL; label_start[e] is one past the beginning of e's label */
    char *label_bytes;
    uint64_t *label_start;   /* NULL if no entity has a label; 0 if this one has none */
    kith__prefixes prefixes; /* of IRIs; not part of the map below */
    struct kith__label_set *relation_labels; /* by name; NULL: none; also not in the map */
    kith__facts splits[KITH_SPLITS];
    uint64_t *offset;
    kith_neighbor *neighbors;
    uint32_t seen_entities, seen_relations;
    uint32_t fixed_relations; /* relations below this id count as seen even if train lacks them */
    char layout[160];
    kith_load_report report;
    char first_bad[1024];
    /* device and inode of the folder it was read from; zeros if there is none */
    uint64_t source[2];
    const char *map; /* the mapped file that all arrays point into; NULL if they are allocated */
    size_t map_bytes;
};

/* An empty graph, freed by kith_graph_free. */
kith_graph *kith__graph_new(void);

/* Append a fact; -1 if out of memory. */
int kith__facts_add(kith__facts *facts, kith_triple triple);
int kith__facts_add_labelled(kith__facts *facts, kith_triple triple, int8_t truth);
void kith__facts_release(kith__facts *facts);

/* After all splits are read: drop duplicates, give train's entities and relations the first ids,
 * build the neighbourhoods. */
kith_status kith__graph_finish(kith_graph *graph, kith__pool *pool, kith__watch *watch,
                               kith_error *error);

/* A graph of these facts, given in the ids of `source`, with the names and labels that they need.
 * Takes ownership of the facts. The pool's watch can stop it. */
kith_status kith__graph_adopt(kith_graph **graph, const kith_graph *source,
                              kith__facts splits[KITH_SPLITS], kith__pool *pool,
                              kith_error *error);

/* Free everything except the neighbourhoods and the counts: names, labels and facts are gone. */
void kith__graph_keep_neighborhoods(kith_graph *graph);

/* The state of loading, passed from reader to reader. */
typedef struct kith__loader {
    kith_graph *graph;
    kith__pool *pool;
    kith__watch *watch;
    bool skip_bad;
    const char *columns; /* the columns to read of a file in columns; NULL: detect them */
    struct kith__label_set *labels;
    kith_row_call row; /* for each line of a single file in columns; NULL: none */
    void *row_context;
    kith_error *error;
} kith__loader;

/* Report a malformed line: fails, or with skip_bad counts the line. `line` 0 means the whole
 * file. */
kith_status kith__bad_line(kith__loader *loader, const char *path, size_t line, const char *format,
                           ...) __attribute__((format(printf, 4, 5)));

/* Write text and a line end to a file in a folder; a NULL text means that memory ran out. */
kith_status kith__write_text(const char *folder, const char *name, const char *text,
                             kith_error *error);
/* "FOLDER/NAME", to be freed by the caller; NULL if out of memory. */
char *kith__path_join(const char *folder, const char *name);
bool kith__path_exists(const char *folder, const char *name);
/* Whether a folder has a file with any of these names; the list ends with NULL. */
bool kith__path_any(const char *folder, const char *const *names);

#endif
