/* Which files a finished run has: config.json lists them, so that one that is deleted is noticed. The
 * list is made when training ends, and anew when it is resumed; runs of kith 0.1 have none. */
#ifndef KITH_RUN_FILE_LIST_H
#define KITH_RUN_FILE_LIST_H

#include <jansson.h>

#include "core/status.h"

/* Write the list into FOLDER/config.json: the files that are there now. Nothing is written where the list
 * is right already. */
kith_status kith__run_list_files(const char *folder, kith_error *error);

typedef enum kith__file_use {
    KITH__TO_OPEN,  /* answering: everything but the checkpoint and the classifier */
    KITH__TO_RESUME /* training on: what it cannot make again */
} kith__file_use;

/* Whether the files are there that the list in `config` names. */
kith_status kith__run_check_files(const json_t *config, const char *folder, kith__file_use use,
                                  kith_error *error);

#endif
