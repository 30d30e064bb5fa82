/* From scores to probabilities: P(true) = 1 / (1 + exp(-(a x + b k + c))), where x = log(p / (1 -
 * p)) of the candidate's share p in the softmax over all that are not known answers, and k = log(1
 * + known answers). */
#ifndef KITH_MODEL_CALIBRATE_H
#define KITH_MODEL_CALIBRATE_H

#include "nn/logistic.h"

enum { KITH__CALIBRATION = 3 };

/* The calibration of a model. */
typedef struct kith__calibration {
    bool fitted;
    float weight[KITH__CALIBRATION]; /* a, b and c */
} kith__calibration;

/* Samples hold x, k and 1. Weights are slightly regularised towards (1, 0, 0). */
void kith__calibration_fit(kith__calibration *calibration, const kith__sample *samples,
                           size_t count);

/* log(p / (1 - p)) from the logarithm of a share, clamped to what calibration can handle. */
double kith__share_logit(double log_share);
double kith__calibrated(const float calibration[KITH__CALIBRATION], double log_share,
                        double log_known);

#endif
