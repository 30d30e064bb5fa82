/* A run's graph, rules and lists in one file that is mapped, not read: RUN/cache.bin. It is written
 * at the first use of a run, and rewritten if it no longer matches what it was made from. A run
 * works without it, only more slowly. Nothing in it is trusted: names and facts must have the run's
 * hash, everything derived from them the hash in config.json, and every index is checked. */
#ifndef KITH_RUN_CACHE_H
#define KITH_RUN_CACHE_H

#include "model/model.h"

/* What a cache must match. */
typedef struct kith__cache_wanted {
    uint64_t key;       /* by kith__cache_key */
    uint64_t data_hash; /* of the graph */
    uint64_t derived;   /* kith__derived_hash, 0 if the run does not have it */
    bool rules;         /* whether the model has implications */
    kith__watch *watch; /* may stop the check, as if there were no cache; NULL: none */
} kith__cache_wanted;

/* A hash of everything a cache is made from: settings, the hash of the data, and the names, sizes
 * and times of the files in graph/. */
uint64_t kith__cache_key(const char *graph_folder, const kith_settings *settings, uint64_t hash);

/* Whether there is a complete, matching cache. The graph owns the mapping; rules and lists (NULL if
 * the model has no rules) point into it and must be freed first. */
bool kith__cache_load(kith_graph **graph, kith__implications **rules, kith__neighbor_lists **lists,
                      const char *folder, const kith__cache_wanted *wanted);

/* Try to write a cache; does nothing if the folder is read-only or the watch stops it. */
void kith__cache_save(const char *folder, uint64_t key, const kith_model *model,
                      kith__watch *watch);

#endif
