/* Fitting the calibration: the probability that an answer with a given score is true. */
#ifndef KITH_TRAIN_FIT_CALIBRATION_H
#define KITH_TRAIN_FIT_CALIBRATION_H

#include "train/fit_rows.h"

/* Fit on the calibration split; `fusion` must not have been fitted on its queries. */
kith_status kith__calibrate_fusion(kith__calibration *calibration, const kith__fit_data *data,
                                   const kith__fusion *fusion, kith_error *error);

/* The calibration of a model without rule evidence, fitted on a sample of dev. Does nothing if dev
 * is labelled or empty, or if there are so many candidates that it would take too long. */
kith_status kith__calibrate_on_dev(kith_model *model, kith_error *error);

#endif
