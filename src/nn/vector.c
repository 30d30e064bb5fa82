/* Sums, products and functions of one or a few vectors. */
#include "nn/kernels.h"

#include <math.h>

#include "nn/lanes.h"

/* Four sums, so that one addition need not wait for the previous one. */
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
    for (; j < width; j += WIDE)
        s0 += at(a + j) * at(b + j);
    return sum_eight((s0 + s1) + (s2 + s3));
}

CLONES void kith__axpy(float *restrict y, float a, const float *restrict x, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] += a * x[j + k];
}

CLONES void kith__scale(float *restrict y, float a, const float *restrict x, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] = a * x[j + k];
}

CLONES void kith__axpy2(float *restrict y, float a, const float *restrict x, float b,
                        const float *restrict z, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] += a * x[j + k] + b * z[j + k];
}

INLINE lanes distance(const float *a, const float *b)
{
    return (lanes)((bits)(at(a) - at(b)) & 0x7fffffffu);
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
    for (; j < width; j += WIDE)
        s0 += distance(a + j, b + j);
    return sum_eight((s0 + s1) + (s2 + s3));
}

/* Four rows of b at a time share the loads of a. */
INLINE void l1_four(float *restrict sum, size_t step, const float *restrict a,
                    const float *restrict b, size_t width, int rows)
{
    lanes s[4] = {{0}, {0}, {0}, {0}};
    for (size_t j = 0; j < width; j += WIDE)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
            s[r] += distance(a + j, b + r * width + j);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
        sum[r * step] = sum_eight(s[r]);
}

CLONES void kith__l1_rows(float *restrict sum, size_t step, const float *restrict a,
                          const float *restrict b, size_t count, size_t width)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        l1_four(sum + i * step, step, a, b + i * width, width, 4);
    for (; i < count; i++)
        l1_four(sum + i * step, step, a, b + i * width, width, 1);
}

CLONES float kith__l1_of_sum(const float *restrict a, const float *restrict b,
                             const float *restrict c, size_t width)
{
    lanes sum = {0};
    for (size_t j = 0; j < width; j += WIDE)
        sum += (lanes)((bits)(at(a + j) + at(b + j) - at(c + j)) & 0x7fffffffu);
    return sum_eight(sum);
}

CLONES void kith__l1_of_sum_backward(float *restrict ga, float *restrict gb, float *restrict gc,
                                     float g, const float *restrict a, const float *restrict b,
                                     const float *restrict c, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        float x = a[j] + b[j] - c[j], v = x < 0 ? g : -g;
        v = x == 0 ? 0 : v;
        ga[j] += v;
        gb[j] += v;
        gc[j] -= v;
    }
}

CLONES void kith__tanh(float *y, const float *x, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES) {
        lanes to;
        for (int k = 0; k < KITH__LANES; k++)
            to[k] = tanh_one(x[j + k]);
        *(lanes *)(y + j) = to;
    }
}

CLONES void kith__minus(float *restrict y, const float *restrict a, float c,
                        const float *restrict b, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] = a[j + k] - c * b[j + k];
}

INLINE void power_at(float *restrict y, const float *restrict x, int n)
{
    lanes from[ABREAST], to[ABREAST];
    EACH(k, n) from[k] = at(x + k * WIDE);
    power(to, from, n);
    EACH(k, n) * (lanes *)(y + k * WIDE) = to[k];
}

CLONES void kith__power(float *restrict y, const float *restrict x, size_t width)
{
    size_t j = 0;
    for (; j + ABREAST * WIDE <= width; j += ABREAST * WIDE)
        power_at(y + j, x + j, ABREAST);
    for (; j < width; j += WIDE)
        power_at(y + j, x + j, 1);
}

CLONES float kith__largest(const float *restrict x, size_t width)
{
    float most[WIDE] = {0}, all = 0;
    for (size_t j = 0; j < width; j += WIDE)
        for (int k = 0; k < WIDE; k++)
            most[k] = fabsf(x[j + k]) > most[k] ? fabsf(x[j + k]) : most[k];
    for (int k = 0; k < WIDE; k++)
        all = most[k] > all ? most[k] : all;
    return all;
}
