/* Compiled with its own flags (see meson.build): no errno, no traps, no NaN or signed zero to respect,
 * which is what lets clamps become min and max. Callers look for NaN in what comes out. */
#include "nn/kernels.h"

#include <math.h>
#include <string.h>

/* Sanitizers see the plain version, which takes a fraction of the time to compile. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CLONES
#endif
#define INLINE static inline __attribute__((always_inline))

/* Eight floats; where the machine has no such register gcc takes two or more. */
typedef float lanes __attribute__((vector_size(32)));
enum { WIDE = 8 };

INLINE float sum_eight(lanes a)
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

INLINE lanes at(const float *x)
{
    return *(const lanes *)x;
}

/* Four sums, so that one addition need not wait for the one before. */
CLONES float kith__dot(const float *restrict a, const float *restrict b, size_t width)
{
    lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    size_t j = 0;
    for (; j + 4 * WIDE <= width; j += 4 * WIDE) {
        s0 += at(a + j) * at(b + j);
        s1 += at(a + j + WIDE) * at(b + j + WIDE);
        s2 += at(a + j + 2 * WIDE) * at(b + j + 2 * WIDE);
        s3 += at(a + j + 3 * WIDE) * at(b + j + 3 * WIDE);
    }
    if (j < width) {
        s0 += at(a + j) * at(b + j);
        s1 += at(a + j + WIDE) * at(b + j + WIDE);
    }
    return sum_eight((s0 + s1) + (s2 + s3));
}

CLONES void kith__axpy(float *restrict y, float a, const float *restrict x, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] += a * x[j + k];
}

CLONES void kith__axpy2(float *restrict y, float a, const float *restrict x, float b,
                        const float *restrict z, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] += a * x[j + k] + b * z[j + k];
}

CLONES float kith__spread(float *restrict y, float *restrict z, float a, const float *restrict x,
                          const float *restrict w, size_t width)
{
    lanes s0 = {0}, s1 = {0};
    for (size_t j = 0; j < width; j += 2 * WIDE) {
        lanes x0 = at(x + j), x1 = at(x + j + WIDE);
        *(lanes *)(y + j) += x0;
        *(lanes *)(y + j + WIDE) += x1;
        *(lanes *)(z + j) += a * x0;
        *(lanes *)(z + j + WIDE) += a * x1;
        s0 += x0 * at(w + j);
        s1 += x1 * at(w + j + WIDE);
    }
    return sum_eight(s0 + s1);
}

INLINE lanes distance(const float *a, const float *b)
{
    typedef int32_t bits __attribute__((vector_size(32)));
    return (lanes)((bits)(at(a) - at(b)) & INT32_MAX);
}

CLONES float kith__l1(const float *restrict a, const float *restrict b, size_t width)
{
    lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    size_t j = 0;
    for (; j + 4 * WIDE <= width; j += 4 * WIDE) {
        s0 += distance(a + j, b + j);
        s1 += distance(a + j + WIDE, b + j + WIDE);
        s2 += distance(a + j + 2 * WIDE, b + j + 2 * WIDE);
        s3 += distance(a + j + 3 * WIDE, b + j + 3 * WIDE);
    }
    if (j < width) {
        s0 += distance(a + j, b + j);
        s1 += distance(a + j + WIDE, b + j + WIDE);
    }
    return sum_eight((s0 + s1) + (s2 + s3));
}

/* A rational minimax approximation, odd of degree 13 over even of degree 6, on the range where
 * tanh differs from 1 in single precision. */
INLINE float tanh_one(float x)
{
    const float most = 7.90531110763549805f;
    x = x > most ? most : x;
    x = x < -most ? -most : x;
    float y = x * x;
    float p = -2.76076847742355e-16f;
    p = p * y + 2.00018790482477e-13f;
    p = p * y - 8.60467152213735e-11f;
    p = p * y + 5.12229709037114e-08f;
    p = p * y + 1.48572235717979e-05f;
    p = p * y + 6.37261928875436e-04f;
    p = p * y + 4.89352455891786e-03f;
    float q = 1.19825839466702e-06f;
    q = q * y + 1.18534705686654e-04f;
    q = q * y + 2.26843463243900e-03f;
    q = q * y + 4.89352518554385e-03f;
    return p * x / q;
}

CLONES void kith__tanh(float *restrict y, const float *restrict x, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] = tanh_one(x[j + k]);
}

CLONES void kith__minus(float *restrict y, const float *restrict a, float c,
                        const float *restrict b, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] = a[j + k] - c * b[j + k];
}

/* exp(2 x) = 2^n 2^f: n is what adding 1.5 2^23 rounds to, f is left for a polynomial, and 2^n is
 * made from the bits of the sum. Multiplying by it keeps a NaN. */
INLINE float exp_twice(float x)
{
    /* ln 2 / 2 in two parts; the first has so few bits that n times it is exact, with or without
     * fused multiplication. */
    const float magic = 12582912, scale = 2.885390082f;
    const float high = 0.3465728759765625f, low = 7.14303407e-07f;
    float sum = x * scale + magic, n = sum - magic, f = ((x - n * high) - n * low) * scale, power;
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    bits = (bits << 23) + 0x3f800000u;
    memcpy(&power, &bits, sizeof power);
    float p = 1.327647154e-03f;
    p = p * f + 9.675541371e-03f;
    p = p * f + 5.550713276e-02f;
    p = p * f + 2.402211972e-01f;
    p = p * f + 6.931469671e-01f;
    p = p * f + 1.000000072e+00f;
    return p * power;
}

INLINE float larger(float a, float b)
{
    return a > b ? a : b;
}

INLINE float largest(const float a[KITH__LANES])
{
    float eight[WIDE], four[4];
    for (int k = 0; k < 8; k++)
        eight[k] = larger(a[k], a[k + 8]);
    for (int k = 0; k < 4; k++)
        four[k] = larger(eight[k], eight[k + 4]);
    return larger(larger(four[0], four[2]), larger(four[1], four[3]));
}

CLONES float kith__exp_twice(float *restrict y, const float *restrict x, size_t width)
{
    float most[KITH__LANES] = {0};
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++) {
            most[k] = larger(fabsf(x[j + k]), most[k]);
            y[j + k] = exp_twice(x[j + k]);
        }
    return largest(most);
}

CLONES float kith__exp_twice_minus(float *restrict y, const float *restrict a, float c,
                                   const float *restrict b, size_t width)
{
    float most[KITH__LANES] = {0};
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++) {
            float x = a[j + k] - c * b[j + k];
            most[k] = larger(fabsf(x), most[k]);
            y[j + k] = exp_twice(x);
        }
    return largest(most);
}

CLONES float kith__logit(const float *restrict z, const float *restrict p, const float *restrict u,
                         size_t width)
{
    _Alignas(32) float acc[KITH__LANES] = {0};
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            acc[k] += u[j + k] * tanh_one(z[j + k] + p[j + k]);
    return sum_eight(at(acc) + at(acc + WIDE));
}

/* Where ez ep is larger, 2 / (ez ep + 1) is nothing beside 1; so cut, products of two stay finite. */
#define DIVISOR_MOST 1e18f

INLINE lanes least(lanes x)
{
    for (int k = 0; k < WIDE; k++)
        x[k] = x[k] < DIVISOR_MOST ? x[k] : DIVISOR_MOST;
    return x;
}

/* Divisions are the dearest part: u / a + v / b takes one as (u b + v a) / (a b). */
CLONES float kith__logit_of_exp(const float *restrict ez, const float *restrict ep,
                                const float *restrict u, float u_sum, size_t width)
{
    lanes sum = {0};
    for (size_t j = 0; j < width; j += 2 * WIDE) {
        lanes a = least(1 + at(ez + j) * at(ep + j));
        lanes b = least(1 + at(ez + j + WIDE) * at(ep + j + WIDE));
        sum += (at(u + j) * b + at(u + j + WIDE) * a) / (a * b);
    }
    return u_sum - 2 * sum_eight(sum);
}

CLONES void kith__logit_backward(float *restrict gz, float *restrict gp, float *restrict gu,
                                 float g, const float *restrict z, const float *restrict p,
                                 const float *restrict u, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++) {
            float t = tanh_one(z[j + k] + p[j + k]);
            float v = g * u[j + k] * (1 - t * t);
            gz[j + k] += v;
            gp[j + k] += v;
            gu[j + k] += g * t;
        }
}

/* With r = 1 / (ez ep + 1): t = 1 - 2 r and 1 - t^2 = 4 r (1 - r). Here too two share a division. */
CLONES void kith__logit_backward_of_exp(float *restrict gp, float *restrict gu,
                                        const kith__meeting *met, size_t count,
                                        const float *restrict ep, const float *restrict u,
                                        size_t width)
{
    float g_sum = 0;
    for (size_t m = 0; m < count; m++)
        g_sum += met[m].g;
    for (size_t j = 0; j < width; j += 2 * WIDE) {
        lanes p0 = at(ep + j), p1 = at(ep + j + WIDE);
        lanes u0 = 4 * at(u + j), u1 = 4 * at(u + j + WIDE);
        lanes v0 = {0}, v1 = {0}, w0 = {0}, w1 = {0};
        for (size_t m = 0; m < count; m++) {
            const float *ez = met[m].ez + j;
            float *gz = met[m].gz + j;
            lanes a = least(1 + at(ez) * p0), b = least(1 + at(ez + WIDE) * p1);
            lanes both = 1 / (a * b), r0 = both * b, r1 = both * a;
            lanes gr0 = met[m].g * r0, gr1 = met[m].g * r1;
            lanes gv0 = gr0 - gr0 * r0, gv1 = gr1 - gr1 * r1;
            *(lanes *)gz += u0 * gv0;
            *(lanes *)(gz + WIDE) += u1 * gv1;
            v0 += gv0, v1 += gv1, w0 += gr0, w1 += gr1;
        }
        *(lanes *)(gp + j) += u0 * v0;
        *(lanes *)(gp + j + WIDE) += u1 * v1;
        *(lanes *)(gu + j) += g_sum - 2 * w0;
        *(lanes *)(gu + j + WIDE) += g_sum - 2 * w1;
    }
}

/* `n` registers hold that many columns of the sum while the rows go by; the first block also asks
 * for the rows a few further on, which are all over the table. */
INLINE void gather_block(float *restrict out, const float *restrict a, const float *restrict rows,
                         const uint32_t *restrict ids, size_t step, size_t count, size_t width,
                         size_t j, int n)
{
    enum { AHEAD = 6 };
    lanes sum[WIDE];
#pragma GCC unroll 8
    for (int k = 0; k < n; k++)
        sum[k] = *(const lanes *)(out + j + k * WIDE);
    for (size_t i = 0; i < count; i++) {
        const float *row = rows + ids[i * step] * width + j;
        if (j == 0 && i + AHEAD < count) {
            const float *next = rows + ids[(i + AHEAD) * step] * width;
            for (size_t line = 0; line < width; line += 16)
                __builtin_prefetch(next + line);
        }
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            sum[k] += a[i] * *(const lanes *)(row + k * WIDE);
    }
#pragma GCC unroll 8
    for (int k = 0; k < n; k++)
        *(lanes *)(out + j + k * WIDE) = sum[k];
}

CLONES void kith__gather_sum(float *restrict out, const float *restrict a,
                             const float *restrict rows, const uint32_t *restrict ids, size_t step,
                             size_t count, size_t width)
{
    size_t j = 0;
    for (; j + 8 * WIDE <= width; j += 8 * WIDE)
        gather_block(out, a, rows, ids, step, count, width, j, 8);
    if (j + 4 * WIDE <= width) {
        gather_block(out, a, rows, ids, step, count, width, j, 4);
        j += 4 * WIDE;
    }
    if (j < width)
        gather_block(out, a, rows, ids, step, count, width, j, 2);
}

/* Six rows by sixteen columns stay in registers while the inner index runs. */
enum { ROWS = 6 };

INLINE void block_times(float *restrict out, const float *const *rows, int count,
                        const float *restrict matrix, size_t inner, size_t width, int add)
{
    for (size_t j = 0; j < width; j += 2 * WIDE) {
        lanes sum[ROWS][2];
        for (int r = 0; r < count; r++) {
            if (add) {
                sum[r][0] = *(const lanes *)(out + r * width + j);
                sum[r][1] = *(const lanes *)(out + r * width + j + WIDE);
            } else {
                sum[r][0] = sum[r][1] = (lanes){0};
            }
        }
        for (size_t k = 0; k < inner; k++) {
            lanes b0 = *(const lanes *)(matrix + k * width + j);
            lanes b1 = *(const lanes *)(matrix + k * width + j + WIDE);
#pragma GCC unroll 6
            for (int r = 0; r < count; r++) {
                sum[r][0] += b0 * rows[r][k];
                sum[r][1] += b1 * rows[r][k];
            }
        }
        for (int r = 0; r < count; r++) {
            *(lanes *)(out + r * width + j) = sum[r][0];
            *(lanes *)(out + r * width + j + WIDE) = sum[r][1];
        }
    }
}

CLONES void kith__rows_times(float *restrict out, const float *const *rows, size_t count,
                             const float *restrict matrix, size_t inner, size_t width, int add)
{
    size_t i = 0;
    for (; i + ROWS <= count; i += ROWS)
        block_times(out + i * width, rows + i, ROWS, matrix, inner, width, add);
    for (; i < count; i++)
        block_times(out + i * width, rows + i, 1, matrix, inner, width, add);
}

INLINE void block_outer(float *restrict matrix, const float *restrict left, size_t stride,
                        const float *const *right, size_t count, size_t width, int height)
{
    for (size_t j = 0; j < width; j += 2 * WIDE) {
        lanes sum[ROWS][2];
        for (int r = 0; r < height; r++)
            sum[r][0] = sum[r][1] = (lanes){0};
        for (size_t i = 0; i < count; i++) {
            lanes b0 = *(const lanes *)(right[i] + j);
            lanes b1 = *(const lanes *)(right[i] + j + WIDE);
#pragma GCC unroll 6
            for (int r = 0; r < height; r++) {
                sum[r][0] += b0 * left[i * stride + r];
                sum[r][1] += b1 * left[i * stride + r];
            }
        }
        for (int r = 0; r < height; r++) {
            *(lanes *)(matrix + r * width + j) += sum[r][0];
            *(lanes *)(matrix + r * width + j + WIDE) += sum[r][1];
        }
    }
}

/* Rows are taken a few hundred at a time, so that they are still in the cache for the next block of
 * the result. */
CLONES void kith__outer_sum(float *restrict matrix, const float *restrict left,
                            const float *const *right, size_t count, size_t height, size_t width)
{
    enum { CHUNK = 256 };
    for (size_t from = 0; from < count; from += CHUNK) {
        size_t size = count - from < CHUNK ? count - from : CHUNK, h = 0;
        const float *l = left + from * height;
        for (; h + ROWS <= height; h += ROWS)
            block_outer(matrix + h * width, l + h, height, right + from, size, width, ROWS);
        for (; h < height; h++)
            block_outer(matrix + h * width, l + h, height, right + from, size, width, 1);
    }
}

INLINE void adam_lanes(float *restrict value, float *restrict m, float *restrict v,
                       const float *restrict gradient, const kith__adam_rates r, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++) {
            float g = gradient ? gradient[j + k] : 0;
            float mean = r.beta1 * m[j + k] + (1 - r.beta1) * g;
            float square = r.beta2 * v[j + k] + (1 - r.beta2) * g * g;
            m[j + k] = mean;
            v[j + k] = square;
            value[j + k] -= r.step * mean / (sqrtf(square * r.v_scale) + r.epsilon);
        }
}

CLONES void kith__adam_row(float *restrict value, float *restrict m, float *restrict v,
                           const float *restrict gradient, const kith__adam_rates *rates,
                           size_t width)
{
    if (gradient)
        adam_lanes(value, m, v, gradient, *rates, width);
    else
        adam_lanes(value, m, v, NULL, *rates, width);
}
