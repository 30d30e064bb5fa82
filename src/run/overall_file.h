/* overall.json: the second calibration (model/overall.h). */
#ifndef KITH_RUN_OVERALL_FILE_H
#define KITH_RUN_OVERALL_FILE_H

#include "model/model.h"

kith_status kith__overall_save(const char *folder, const kith__overall *overall, kith_error *error);
/* For a run without the file, the overall probability is the product of both probabilities, and the
 * model gets a warning. */
kith_status kith__overall_open(kith_model *model, const char *folder, bool required,
                               kith_error *error);

#endif
