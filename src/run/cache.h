/* A run's graph, rules and lists in one file that is mapped, not read: RUN/cache.bin. It is made at
 * the first use of a run, and made anew where it no longer fits what it was made from. A run works
 * without it, only slower. */
#ifndef KITH_RUN_CACHE_H
#define KITH_RUN_CACHE_H

#include "model/model.h"

/* What a cache is made from: settings, the hash of the data, and the names, sizes and times of the
 * files in graph/. */
uint64_t kith__cache_key(const char *graph_folder, const kith_settings *settings, uint64_t hash);

/* Whether there is a cache with that key that is whole. The graph owns the mapping; rules and lists
 * (NULL where the model has no rules) point into it and must go first. */
bool kith__cache_load(kith_graph **graph, kith__implications **rules, kith__neighbor_lists **lists,
                      const char *folder, uint64_t key);

/* Try to write one; a folder that cannot be written to goes without. */
void kith__cache_save(const char *folder, uint64_t key, const kith_model *model);

#endif
