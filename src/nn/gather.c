/* Sums and products over rows addressed by index. */
#include "nn/kernels.h"

#include <stdbool.h>

#include "nn/lanes.h"

/* `n` registers hold that many columns of the sum during the loop over the rows; the first block
 * also prefetches later rows, which are scattered over the table. */
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
    switch ((width - j) / WIDE) {
    case 1: gather_block(out, a, rows, ids, step, count, width, j, 1); break;
    case 2: gather_block(out, a, rows, ids, step, count, width, j, 2); break;
    case 3: gather_block(out, a, rows, ids, step, count, width, j, 3); break;
    case 4: gather_block(out, a, rows, ids, step, count, width, j, 4); break;
    case 5: gather_block(out, a, rows, ids, step, count, width, j, 5); break;
    case 6: gather_block(out, a, rows, ids, step, count, width, j, 6); break;
    case 7: gather_block(out, a, rows, ids, step, count, width, j, 7); break;
    }
}

/* `n` rows share the loads of g. */
INLINE void dots_block(float *restrict out, const float *restrict g, const float *const *rows,
                       size_t width, int n)
{
    lanes even[4], odd[4];
    EACH(k, n) even[k] = odd[k] = (lanes){0};
    size_t j = 0;
    for (; j + 2 * WIDE <= width; j += 2 * WIDE) {
        EACH(k, n) even[k] += at(g + j) * at(rows[k] + j);
        EACH(k, n) odd[k] += at(g + j + WIDE) * at(rows[k] + j + WIDE);
    }
    if (j < width)
        EACH(k, n) even[k] += at(g + j) * at(rows[k] + j);
    EACH(k, n) out[k] = sum_eight(even[k] + odd[k]);
}

CLONES void kith__gather_dots(float *restrict out, const float *restrict g,
                              const float *restrict rows, const uint32_t *restrict ids, size_t step,
                              size_t count, size_t width)
{
    enum { AHEAD = 8 };
    const float *at_once[4];
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (size_t k = i + AHEAD; k < i + AHEAD + 4 && k < count; k++)
            for (size_t line = 0; line < width; line += 16)
                __builtin_prefetch(rows + ids[k * step] * width + line);
        EACH(k, 4) at_once[k] = rows + ids[(i + (size_t)k) * step] * width;
        dots_block(out + i, g, at_once, width, 4);
    }
    for (; i < count; i++) {
        at_once[0] = rows + ids[i * step] * width;
        dots_block(out + i, g, at_once, width, 1);
    }
}

/* Some sums by some columns stay in registers during the loop over the rows. */
INLINE void gather_lanes(float *const *out, const float *restrict a, const float *restrict rows,
                         const uint32_t *restrict ids, size_t step, size_t count, size_t width,
                         size_t j, int sums, int columns, bool first)
{
    enum { AHEAD = 6 };
    lanes sum[4][3];
    for (int q = 0; q < sums; q++)
        for (int k = 0; k < columns; k++)
            sum[q][k] = at(out[q] + j + k * WIDE);
    for (size_t i = 0; i < count; i++) {
        const float *row = rows + ids[i * step] * width + j;
        if (first && j == 0 && i + AHEAD < count)
            for (size_t line = 0; line < width; line += 16)
                __builtin_prefetch(rows + ids[(i + AHEAD) * step] * width + line);
#pragma GCC unroll 4
        for (int q = 0; q < sums; q++)
#pragma GCC unroll 3
            for (int k = 0; k < columns; k++)
                sum[q][k] += a[i * WIDE + q] * at(row + k * WIDE);
    }
    for (int q = 0; q < sums; q++)
        for (int k = 0; k < columns; k++)
            *(lanes *)(out[q] + j + k * WIDE) = sum[q][k];
}

INLINE void gather_columns(float *const *out, const float *restrict a, const float *restrict rows,
                           const uint32_t *restrict ids, size_t step, size_t count, size_t width,
                           int sums, bool first)
{
    size_t j = 0;
    for (; j + 3 * WIDE <= width; j += 3 * WIDE)
        gather_lanes(out, a, rows, ids, step, count, width, j, sums, 3, first);
    for (; j < width; j += WIDE)
        gather_lanes(out, a, rows, ids, step, count, width, j, sums, 1, first);
}

CLONES void kith__gather_sums(float *const *out, size_t lane_count, const float *restrict a,
                              const float *restrict rows, const uint32_t *restrict ids, size_t step,
                              size_t count, size_t width)
{
    size_t q = 0;
    for (; q + 4 <= lane_count; q += 4)
        gather_columns(out + q, a + q, rows, ids, step, count, width, 4, q == 0);
    for (; q < lane_count; q++)
        gather_columns(out + q, a + q, rows, ids, step, count, width, 1, q == 0);
}

CLONES void kith__transform_backward(float *restrict ge, float *restrict gw,
                                     const float *restrict a, const float *restrict rows,
                                     const uint32_t *restrict ids, size_t count,
                                     const float *restrict e, const float *restrict w, float c,
                                     float gc, float *restrict scratch, size_t width)
{
    lanes dot = {0};
    for (size_t j = 0; j < width; j += WIDE) {
        lanes sum = a[0] * at(rows + ids[0] * width + j);
        for (size_t i = 1; i < count; i++)
            sum += a[i] * at(rows + ids[i] * width + j);
        *(lanes *)(scratch + j) = sum;
        dot += sum * at(w + j);
    }
    float k = gc - sum_eight(dot);
    for (size_t j = 0; j < width; j += WIDE) {
        *(lanes *)(ge + j) += at(scratch + j) + k * at(w + j);
        *(lanes *)(gw + j) += k * at(e + j) - c * at(scratch + j);
    }
}
