/* Reading experiments. Each is a JSON file; docs/EXPERIMENTS.md describes the format. */
#ifndef KITH_REPORT_EXPERIMENT_H
#define KITH_REPORT_EXPERIMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "core/status.h"

/* Read and check one file. Missing lists become empty ones, and a missing "name" is filled in. */
kith_status experiment_load(json_t **experiment, const char *path, kith_error *error);
/* Load an experiment by its name in a folder, or by path if the name contains a '/' or ends in
 * .json. */
kith_status experiment_find(json_t **experiment, const char *folder, const char *name,
                            kith_error *error);
/* The names in a folder, sorted, as a JSON array. */
kith_status experiment_names(json_t **names, const char *folder, kith_error *error);
/* The folder of experiments: next to the program, installed with it, or `compiled_in`; to be freed;
 * NULL if there is none. */
char *experiment_folder(const char *compiled_in);

/* The value of a key that applies: with --quick the one under "quick", if present. */
const json_t *experiment_choice(const json_t *object, const char *key, bool quick);

#endif
