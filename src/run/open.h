/* What opening a run shares with opening it on another graph. */
#ifndef KITH_RUN_OPEN_H
#define KITH_RUN_OPEN_H

#include "model/model.h"
#include "run/config.h"

/* Read the graph of a run from its folder, and check that it is the one that config.json was made
 * for. */
kith_status kith__run_open_graph(kith_graph **graph, const char *path, const kith__config *config,
                                 const kith_work_options *options, kith_error *error);
/* Warn if the run was made by a version of kith whose runs lack checksums. */
void kith__run_warn_of_age(kith_model *model, const char *folder, const kith__config *config);

#endif
