/* The sigmoid, and logistic regression over a few features: P(true) = sigmoid(w . x). */
#ifndef KITH_NN_LOGISTIC_H
#define KITH_NN_LOGISTIC_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static inline double kith__sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

enum { KITH__MOST_LOGISTIC = 10 };

typedef struct kith__sample {
    double x[KITH__MOST_LOGISTIC]; /* only the first n are used */
    bool truth;
} kith__sample;

/* Each weight is regularised towards its value on entry, with its own strength. */
void kith__logistic_fit(double *w, size_t n, const double *strength, const kith__sample *samples,
                        size_t count);

#endif
