/* metrics.json: what training measured on held-out entities (model/held_out.h). */
#ifndef KITH_RUN_HELD_OUT_FILE_H
#define KITH_RUN_HELD_OUT_FILE_H

#include "model/model.h"

/* Writes nothing if nothing was measured. */
kith_status kith__held_out_save(const char *folder, const kith__held_out *held_out,
                                kith_error *error);
/* If the run lacks the file, the model has no such metrics. */
kith_status kith__held_out_open(kith_model *model, const char *folder, kith_error *error);

#endif
