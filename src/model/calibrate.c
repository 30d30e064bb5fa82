#include "model/calibrate.h"

#include <math.h>

double kith__share_logit(double log_share)
{
    double share = fmin(fmax(exp(log_share), 1e-6), 1 - 1e-6);
    return log(share / (1 - share));
}

double kith__calibrated(const float w[KITH__CALIBRATION], double log_share, double log_known)
{
    return kith__sigmoid(w[0] * kith__share_logit(log_share) + w[1] * log_known + w[2]);
}

/* Shares are already good estimates, so the weights stay close to them unless the data suggests
 * otherwise. */
void kith__calibration_fit(kith__calibration *out, const kith__sample *samples, size_t count)
{
    static const double strength[KITH__CALIBRATION] = {1, 1, 1};
    double w[KITH__CALIBRATION] = {1, 0, 0};

    kith__logistic_fit(w, KITH__CALIBRATION, strength, samples, count);
    for (int k = 0; k < KITH__CALIBRATION; k++)
        out->weight[k] = (float)w[k];
    out->fitted = true;
}
