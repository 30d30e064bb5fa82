/* The loops that training and ranking spend their time in. All widths are padded to KITH__LANES
 * floats, rows are aligned to 64 bytes, and padding is zero on input and stays zero on output, so
 * no kernel has a tail. None of them allocates. tests/kernels_test.c holds each to its plain twin. */
#ifndef KITH_NN_KERNELS_H
#define KITH_NN_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum { KITH__LANES = 16 };

static inline size_t kith__padded(size_t width)
{
    return (width + KITH__LANES - 1) / KITH__LANES * KITH__LANES;
}

/* a . b */
float kith__dot(const float *a, const float *b, size_t width);
/* y += a x */
void kith__axpy(float *y, float a, const float *x, size_t width);
/* y += a x + b z */
void kith__axpy2(float *y, float a, const float *x, float b, const float *z, size_t width);
/* sum |a - b| */
float kith__l1(const float *a, const float *b, size_t width);

/* The largest absolute error of the tanh below, measured over [-10, 10]. */
#define KITH__TANH_ERROR 4e-7f
void kith__tanh(float *y, const float *x, size_t width);

/* y += x, z += a x; returns x . w */
float kith__spread(float *y, float *z, float a, const float *x, const float *w, size_t width);
/* y = a - c b */
void kith__minus(float *y, const float *a, float c, const float *b, size_t width);
/* y = exp(2 x) and y = exp(2 (a - c b)); both return the largest |x|. The relative error is below
 * KITH__EXP_ERROR where that is at most KITH__EXP_MOST; what is beyond it means nothing. */
#define KITH__EXP_MOST 40.0f
#define KITH__EXP_ERROR 3e-7f
float kith__exp_twice(float *y, const float *x, size_t width);
float kith__exp_twice_minus(float *y, const float *a, float c, const float *b, size_t width);

/* out += sum_i a[i] row[i], rows being reached through their numbers ids[i * step]. */
void kith__gather_sum(float *out, const float *a, const float *rows, const uint32_t *ids,
                      size_t step, size_t count, size_t width);

/* u . tanh(z + p): a neighbour's attention logit (paper, eq. 8). */
float kith__logit(const float *z, const float *p, const float *u, size_t width);
/* The same from ez = exp(2 z) and ep = exp(2 p), u_sum being the sum of u: tanh(z + p) is
 * 1 - 2 / (ez ep + 1), so that a p met with several z costs one exponential and no more. */
float kith__logit_of_exp(const float *ez, const float *ep, const float *u, float u_sum,
                         size_t width);
/* The logit's gradient: with t = tanh(z + p) and v = g u (1 - t^2), gz += v, gp += v, gu += g t. */
void kith__logit_backward(float *gz, float *gp, float *gu, float g, const float *z, const float *p,
                          const float *u, size_t width);
/* The same from exponentials, for all the queries that one p meets: a query has its ez, the
 * gradient g of the logit, and gz. */
typedef struct kith__meeting {
    const float *ez;
    float *gz;
    float g;
} kith__meeting;
void kith__logit_backward_of_exp(float *gp, float *gu, const kith__meeting *met, size_t count,
                                 const float *ep, const float *u, size_t width);

/* out[i] = row[i] . matrix, for `count` rows of `inner` floats (padded) reached through pointers;
 * matrix has `inner` rows of `width` floats. With `add`, out += . */
void kith__rows_times(float *out, const float *const *rows, size_t count, const float *matrix,
                      size_t inner, size_t width, int add);
/* matrix += sum_i left[i]^T right[i]: left rows of `height` floats, right rows of `width`. */
void kith__outer_sum(float *matrix, const float *left, const float *const *right, size_t count,
                     size_t height, size_t width);

/* One Adam step over a row. `gradient` NULL means zeros. `rate` holds the bias corrections. */
typedef struct kith__adam_rates {
    float beta1, beta2, step, epsilon, v_scale; /* p -= step m / (sqrt(v v_scale) + epsilon) */
} kith__adam_rates;
void kith__adam_row(float *value, float *m, float *v, const float *gradient,
                    const kith__adam_rates *rates, size_t width);

#endif
