/* Experiments are data: one JSON file each; docs/EXPERIMENTS.md describes the form. */
#ifndef KITH_REPORT_EXPERIMENT_H
#define KITH_REPORT_EXPERIMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "core/status.h"

/* Read and check one file. Lists that are missing are there and empty afterwards, "name" too. */
kith_status experiment_load(json_t **experiment, const char *path, kith_error *error);
/* By name from a folder, or by path where the name has a '/' or ends in .json. */
kith_status experiment_find(json_t **experiment, const char *folder, const char *name,
                            kith_error *error);
/* The names in a folder, sorted, as a JSON array. */
kith_status experiment_names(json_t **names, const char *folder, kith_error *error);
/* Where experiments are: beside the program, installed with it, or `compiled_in`; to be freed, NULL
 * where there are none. */
char *experiment_folder(const char *compiled_in);

/* What applies with --quick: the value under "quick" instead of the one beside it. */
const json_t *experiment_choice(const json_t *object, const char *key, bool quick);

#endif
