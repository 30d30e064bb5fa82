/* The JSON files of a run. Each holds its own checksum: the first member is "checksum", the sum of
 * the whole file with '0' for those 16 digits. So a file and its sum are replaced together, and any
 * byte that changes is noticed when the file is read. */
#ifndef KITH_RUN_JSON_FILE_H
#define KITH_RUN_JSON_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "core/status.h"

/* Write FOLDER/NAME; the object is released, even on failure. A NULL object means that memory ran
 * out. */
kith_status kith__json_save(const char *folder, const char *name, json_t *object,
                            kith_error *error);

/* Read FOLDER/NAME, which must be an object. `checked` (or NULL) says whether there was a checksum;
 * a wrong one is an error, and with `required` a missing one too. */
kith_status kith__json_load(json_t **object, bool *checked, const char *folder, const char *name,
                            bool required, kith_error *error);

#endif
