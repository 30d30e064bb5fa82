/* The logistic loss: -log sigmoid(positive), plus the mean of -log(1 - sigmoid(negative)). */
#include <math.h>

#include "embed/losses/loss.h"
#include "nn/logistic.h"

/* log(1 + exp(x)) without overflow */
static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double run(kith__scores *s)
{
    double yes = softplus(-(double)*s->positive), no = 0;

    *s->positive = (float)(-kith__sigmoid(-(double)*s->positive) / (double)s->groups);
    for (size_t k = 0; k < s->count; k++) {
        no += softplus(s->negative[k]);
        s->negative[k] = (float)(kith__sigmoid(s->negative[k]) / (double)(s->groups * s->count));
    }
    return yes + no / (double)s->count;
}

const kith__loss kith__loss_logistic = {
    .name = "logistic", .negatives = KITH__CORRUPTED, .run = run};
