/* overall.json: the second calibration (model/overall.h). */
#ifndef KITH_RUN_OVERALL_FILE_H
#define KITH_RUN_OVERALL_FILE_H

#include "model/model.h"

kith_status kith__overall_save(const char *folder, const kith__overall *overall, kith_error *error);
/* A run that lacks it multiplies both probabilities, and the model has a warning. */
kith_status kith__overall_open(kith_model *model, const char *folder, bool required,
                               kith_error *error);

#endif
