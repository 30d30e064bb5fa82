/* The loops in which training and ranking spend their time. All widths are padded to KITH__LANES
 * floats, rows are aligned to 32 bytes, and padding is zero on input and stays zero on output, so
 * no kernel needs a tail loop. None of them allocates. tests/nn compares each with a plain
 * version. */
#ifndef KITH_NN_KERNELS_H
#define KITH_NN_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum { KITH__LANES = 8 };

static inline size_t kith__padded(size_t width)
{
    return (width + KITH__LANES - 1) / KITH__LANES * KITH__LANES;
}

/* The distance between the blocks of floats that several threads write to, such that no two threads
 * write to the same cache line or to a pair of lines that are fetched together. */
static inline size_t kith__apart(size_t floats)
{
    enum { TWO_LINES = 32 };
    return (floats + TWO_LINES - 1) / TWO_LINES * TWO_LINES;
}

/* Prefetch a whole row that will be read soon: a row of a table larger than the caches, read once,
 * which the hardware prefetcher cannot predict. Inlined by force, because gcc drops calls to
 * functions that only prefetch. */
static inline __attribute__((always_inline)) void kith__fetch_row(const float *row, size_t floats)
{
    for (size_t k = 0; k < floats; k += 64 / sizeof *row)
        __builtin_prefetch(row + k);
}

/* a . b */
float kith__dot(const float *a, const float *b, size_t width);
/* y += a x */
void kith__axpy(float *y, float a, const float *x, size_t width);
/* y = a x */
void kith__scale(float *y, float a, const float *x, size_t width);
/* y += a x + b z */
void kith__axpy2(float *y, float a, const float *x, float b, const float *z, size_t width);
/* sum |a - b| */
float kith__l1(const float *a, const float *b, size_t width);

/* The same for `count` consecutive rows of b; results at sum[i * step]. */
void kith__l1_rows(float *sum, size_t step, const float *a, const float *b, size_t count,
                   size_t width);
/* sum |a + b - c| */
float kith__l1_of_sum(const float *a, const float *b, const float *c, size_t width);
/* The gradient of -l1_of_sum: with v = -g sign(a + b - c), ga += v, gb += v, gc -= v. */
void kith__l1_of_sum_backward(float *ga, float *gb, float *gc, float g, const float *a,
                              const float *b, const float *c, size_t width);

/* The largest absolute error of the tanh below, measured over [-10, 10]. */
#define KITH__TANH_ERROR 4e-7f
void kith__tanh(float *y, const float *x, size_t width); /* y may be x */

/* y = a - c b */
void kith__minus(float *y, const float *a, float c, const float *b, size_t width);
/* The largest |x|. */
float kith__largest(const float *x, size_t width);
/* y = 2^x; the relative error is below KITH__POWER_ERROR if |x| is at most 120. */
#define KITH__POWER_ERROR 3e-7f
void kith__power(float *y, const float *x, size_t width);

/* out += sum_i a[i] row[i], where row i has the index ids[i * step]. */
void kith__gather_sum(float *out, const float *a, const float *rows, const uint32_t *ids,
                      size_t step, size_t count, size_t width);
/* out[i] = g . row[i], with rows addressed in the same way. */
void kith__gather_dots(float *out, const float *g, const float *rows, const uint32_t *ids,
                       size_t step, size_t count, size_t width);

/* Eight such sums at once: a has eight weights for each row; the first `lanes` of the eight sums
 * are added to out. */
void kith__gather_sums(float *const *out, size_t lanes, const float *a, const float *rows,
                       const uint32_t *ids, size_t step, size_t count, size_t width);
/* One softmax; returns the sum of the values, as below. */
float kith__softmax_row(float *x, size_t count);
/* Eight softmaxes side by side, each equal to the last bit to kith__softmax_row, over `count`
 * values that are eight floats apart. `total` gets the sums of the values, which reveal a NaN; the
 * result does not. */
void kith__softmax_lanes(float *x, float *total, size_t count);

/* u . tanh(z + p): a neighbour's attention logit (paper, eq. 8). */
float kith__logit(const float *z, const float *p, const float *u, size_t width);
/* The logit's gradient: with t = tanh(z + p) and v = g (1 - t^2), gz += v, gp += u v, gu += g t.
 * The factor u, common to all, is missing from gz; the caller multiplies by it. */
void kith__logit_backward(float *gz, float *gp, float *gu, float g, const float *z, const float *p,
                          const float *u, size_t width);

/* The same with powers of 2, for a pair of neighbour and relation and all queries it occurs with.
 * a, b and z are KITH__POWER_SCALE times B e, B w and A z, so that with p = B e - c B w tanh(A z +
 * p) is 1 - 2 / (2^z 2^(a - c b) + 1). Requires |z| + |a - c b| <= KITH__POWER_MOST. */
#define KITH__POWER_SCALE 2.885390082f /* 2 log2(e) */
#define KITH__POWER_MOST 60.0f
typedef struct kith__meeting {
    const float *ez; /* 2^z */
    float *gz;       /* as above; the forward pass needs neither gz nor g */
    float g;         /* the gradient of the logit */
} kith__meeting;
/* Logits of `count` queries; u_sum is the sum of u, and `scratch` holds `width` floats. */
void kith__pair_logits(float *logit, const kith__meeting *met, size_t count, const float *a,
                       float c, const float *b, const float *u, float u_sum, float *scratch,
                       size_t width);
/* Adds the gradients of B e, B w, u and the queries' z; returns gp . b. */
float kith__pair_backward(float *ga, float *gb, float *gu, const kith__meeting *met, size_t count,
                          const float *a, float c, const float *b, const float *u, float *scratch,
                          size_t width);

/* The gradient of the transform T = e - c w, c = w . e, of a pair: G is the sum of a[i] row[i],
 * addressed as above; with k = gc - G . w, ge += G + k w and gw += -c G + k e. `scratch` holds
 * `width` floats. */
void kith__transform_backward(float *ge, float *gw, const float *a, const float *rows,
                              const uint32_t *ids, size_t count, const float *e, const float *w,
                              float c, float gc, float *scratch, size_t width);

/* out[i] = row[i] . matrix, for `count` rows of `inner` floats (padded) given by pointers; matrix
 * has `inner` rows of `width` floats. With `add`, out += . */
void kith__rows_times(float *out, const float *const *rows, size_t count, const float *matrix,
                      size_t inner, size_t width, int add);
/* matrix += sum_i left[i]^T right[i]: left rows have `height` floats, right rows `width`. */
void kith__outer_sum(float *matrix, const float *left, const float *const *right, size_t count,
                     size_t height, size_t width);

/* One Adam step over a row. `gradient` NULL means zeros. `rate` holds the bias corrections. */
typedef struct kith__adam_rates {
    float beta1, beta2, step, epsilon, v_scale; /* p -= step m / (sqrt(v v_scale) + epsilon) */
} kith__adam_rates;
void kith__adam_row(float *value, float *m, float *v, const float *gradient,
                    const kith__adam_rates *rates, size_t width);

/* For each row of x, square += a row^T row, n x n with n a multiple of KITH__LANES; entries above
 * the diagonal may be skipped. */
void kith__add_squares(double *square, const double *a, const double *x, size_t count, size_t n);

#endif
