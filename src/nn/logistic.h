/* Logistic regression over a few features: P(true) = 1 / (1 + exp(-w . x)). */
#ifndef KITH_NN_LOGISTIC_H
#define KITH_NN_LOGISTIC_H

#include <stdbool.h>
#include <stddef.h>

enum { KITH__MOST_LOGISTIC = 10 };

typedef struct kith__sample {
    double x[KITH__MOST_LOGISTIC]; /* the first n count */
    bool truth;
} kith__sample;

/* Weights are regularised towards what `w` holds on entry, each with the strength `pull`. */
void kith__logistic_fit(double *w, size_t n, const double *pull, const kith__sample *samples,
                        size_t count);

#endif
