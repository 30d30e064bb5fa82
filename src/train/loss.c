#include "train/loss.h"

#include <math.h>
#include <stdbool.h>

/* mean of max(0, margin - positive + negative) */
static double margin_loss(float *by_positive, float *by_negative, const float *positive,
                          const float *negative, size_t count, size_t per, double margin)
{
    double sum = 0;
    float share = 1 / (float)(count * per);

    for (size_t i = 0; i < count; i++) {
        by_positive[i] = 0;
        for (size_t k = i * per; k < (i + 1) * per; k++) {
            double hinge = margin - positive[i] + negative[k];
            bool open = !(hinge <= 0); /* NaN counts as open, so that it is seen */
            by_negative[k] = open ? share : 0;
            by_positive[i] -= open ? share : 0;
            sum += open ? hinge : 0;
        }
    }
    return sum / (double)(count * per);
}

/* log(1 + exp(x)) without overflow */
static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double sigmoid(double x)
{
    return x > 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

/* mean of -log sigmoid(positive), plus mean of -log(1 - sigmoid(negative)) */
static double logistic_loss(float *by_positive, float *by_negative, const float *positive,
                            const float *negative, size_t count, size_t per, double margin)
{
    double yes = 0, no = 0;

    (void)margin;
    for (size_t i = 0; i < count; i++) {
        yes += softplus(-(double)positive[i]);
        by_positive[i] = (float)(-sigmoid(-(double)positive[i]) / (double)count);
    }
    for (size_t k = 0; k < count * per; k++) {
        no += softplus(negative[k]);
        by_negative[k] = (float)(sigmoid(negative[k]) / (double)(count * per));
    }
    return yes / (double)count + no / (double)(count * per);
}

kith__loss kith__loss_get(kith_loss loss)
{
    static const kith__loss losses[] = {[KITH_LOSS_MARGIN] = margin_loss,
                                        [KITH_LOSS_LOGISTIC] = logistic_loss};
    return losses[loss];
}
