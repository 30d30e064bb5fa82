/* log(sum of exp(x)): the largest x is factored out first, so that no exponential overflows. NaNs
 * do not count. */
#ifndef KITH_NN_LOG_SUM_H
#define KITH_NN_LOG_SUM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* The exponentials add up to exp(top) * sum. */
typedef struct kith__exp_sum {
    float top;
    double sum;
} kith__exp_sum;

static inline double kith__log_sum(kith__exp_sum s)
{
    return s.top + log(s.sum + 1e-30); /* finite for an empty sum too */
}

/* Over all x that are not masked (marks, or NULL). */
kith__exp_sum kith__exp_sum_of(const float *x, size_t count, const uint8_t *left_out);

/* The same piece by piece: first show all pieces, beginning with {.top = -INFINITY}, then add all
 * of them, in the same order. */
void kith__exp_sum_show(kith__exp_sum *s, const float *x, size_t count, const uint8_t *left_out);
void kith__exp_sum_add(kith__exp_sum *s, const float *x, size_t count, const uint8_t *left_out);

/* x = exp(x - top) in place, in double precision; returns the sum and sets *top. */
double kith__exp_all(double *x, size_t count, double *top);

#endif
