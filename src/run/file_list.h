/* Which files a finished run has: config.json lists them, so that a missing file is noticed. The
 * list is made when training ends, and again after resuming; runs of kith 0.1 have none. */
#ifndef KITH_RUN_FILE_LIST_H
#define KITH_RUN_FILE_LIST_H

#include <jansson.h>

#include "core/status.h"

/* Write the list of existing files into FOLDER/config.json, unless it is already there. */
kith_status kith__run_list_files(const char *folder, kith_error *error);

typedef enum kith__file_use {
    KITH__TO_OPEN,  /* answering: everything except the checkpoint and the classifier */
    KITH__TO_RESUME /* continuing training: what it cannot make again */
} kith__file_use;

/* Whether the files that the list in `config` names exist. */
kith_status kith__run_check_files(const json_t *config, const char *folder, kith__file_use use,
                                  kith_error *error);

#endif
