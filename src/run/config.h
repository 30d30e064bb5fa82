/* config.json: what a run was made from. */
#ifndef KITH_RUN_CONFIG_H
#define KITH_RUN_CONFIG_H

#include <stdbool.h>

#include "core/status.h"
#include "embed/settings.h"
#include "run/file_list.h"

/* Format 3 has a checksum in every file of a run. Format 2, of kith 0.1, still opens. */
enum { KITH__RUN_FORMAT = 3, KITH__RUN_OLDEST = 2 };

typedef struct kith__config {
    int format;
    char version[32]; /* version of the kith that made the run */
    kith_settings settings;
    uint64_t data_hash; /* of the graph */
    uint64_t labels;    /* kith__labels_hash; since format 3 */
    uint64_t derived;   /* kith__derived_hash, 0 if it is unknown */
} kith__config;

/* Write FOLDER/config.json. */
kith_status kith__config_save(const char *folder, const kith_graph *graph,
                              const kith_settings *settings, uint64_t derived, kith_error *error);
/* Also fails if a file is missing that the run had and that this use needs. */
kith_status kith__config_load(kith__config *config, const char *folder, kith__file_use use,
                              kith_error *error);
/* What of a run's graph and settings differs, such as "graph" or the name of a setting; NULL if
 * nothing does. The text lives as long as the program. */
kith_status kith__config_compare(const char **differs, const char *folder, const kith_graph *graph,
                                 const kith_settings *settings, kith_error *error);

/* Whether a setting has an effect in a run with these settings: few have one in a run with rules
 * only. */
bool kith__setting_applies(const char *name, const kith_settings *settings);
/* Give settings without effect the values of their preset, which reading config.json gives them
 * too. */
kith_status kith__settings_reduce(kith_settings *settings, kith_error *error);

#endif
