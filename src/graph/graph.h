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
    int8_t *truth; /* NULL, or as many as at has */
    size_t count, capacity, truth_capacity;
} kith__facts;

struct kith_graph {
    kith__names entities, relations;
    char *label_bytes; /* labels, each with a NUL; label_start[e] is one past where e's begins */
    uint64_t *label_start; /* NULL where no entity has a label; 0 where this one has none */
    kith__prefixes prefixes; /* of IRIs; not part of the map below */
    struct kith__label_set *relation_labels; /* by name; NULL: none; not part of it either */
    kith__facts splits[KITH_SPLITS];
    uint64_t *offset;
    kith_neighbor *neighbors;
    uint32_t seen_entities, seen_relations;
    uint32_t fixed_relations; /* those below count as seen even where train lacks them */
    char layout[160];
    kith_load_report report;
    char first_bad[1024];
    uint64_t source[2]; /* device and number of the folder it comes from;
        zeros where there is none */
    const char *map; /* the file that all arrays point into; NULL where they are its own */
    size_t map_bytes;
};

/* An empty graph: kith_graph_free frees it. */
kith_graph *kith__graph_new(void);

/* Room for one more fact and the fact; -1 where memory is short. */
int kith__facts_add(kith__facts *facts, kith_triple triple);
int kith__facts_add_labelled(kith__facts *facts, kith_triple triple, int8_t truth);
void kith__facts_release(kith__facts *facts);

/* After all parts are read: drop duplicates, give train's entities and relations the first ids,
 * build the neighbourhoods. */
kith_status kith__graph_finish(kith_graph *graph, kith__pool *pool, kith__watch *watch,
                               kith_error *error);

/* A graph of these facts, given in the ids of `source`, with the names and labels that they
 * need. The facts are taken over. */
kith_status kith__graph_adopt(kith_graph **graph, const kith_graph *source,
                              kith__facts splits[KITH_SPLITS], kith__watch *watch,
                              kith_error *error);

/* Free all but the neighbourhoods and the numbers: names and labels are gone, and facts are
 * counted but not there. */
void kith__graph_keep_neighborhoods(kith_graph *graph);

/* Reading, as passed from reader to reader. */
typedef struct kith__loader {
    kith_graph *graph;
    kith__pool *pool;
    kith__watch *watch;
    bool skip_bad;
    const char *columns; /* of a file in columns: which to read; NULL: found out */
    struct kith__label_set *labels;
    kith_error *error;
} kith__loader;

/* A line that is not what it must be: an error, or with skip_bad one more to count. `line` 0 means
 * the file as a whole. */
kith_status kith__bad_line(kith__loader *loader, const char *path, size_t line, const char *format,
                           ...) __attribute__((format(printf, 4, 5)));

/* Write text and a line end to a file of a folder; NULL for text means that memory was short. */
kith_status kith__write_text(const char *folder, const char *name, const char *text,
                             kith_error *error);
/* "FOLDER/NAME" to be freed, NULL where memory is short. */
char *kith__path_join(const char *folder, const char *name);
bool kith__path_exists(const char *folder, const char *name);
/* Whether a folder has any of these names, the last of which is NULL. */
bool kith__path_any(const char *folder, const char *const *names);

#endif
