/* Products of matrices. */
#include "nn/kernels.h"

#include "nn/lanes.h"

/* Six rows by sixteen columns stay in registers during the inner loop. */
enum { ROWS = 6 };

INLINE void block_times(float *restrict out, const float *const *rows, int count,
                        const float *restrict matrix, size_t inner, size_t width, int columns,
                        int add)
{
    lanes sum[ROWS][2];
    for (int r = 0; r < count; r++)
        for (int n = 0; n < columns; n++)
            sum[r][n] = add ? at(out + r * width + n * WIDE) : (lanes){0};
    for (size_t k = 0; k < inner; k++) {
        lanes b0 = at(matrix + k * width), b1 = columns > 1 ? at(matrix + k * width + WIDE) : b0;
#pragma GCC unroll 6
        for (int r = 0; r < count; r++) {
            sum[r][0] += b0 * rows[r][k];
            if (columns > 1)
                sum[r][1] += b1 * rows[r][k];
        }
    }
    for (int r = 0; r < count; r++)
        for (int n = 0; n < columns; n++)
            *(lanes *)(out + r * width + n * WIDE) = sum[r][n];
}

/* Some columns of the matrix stay in the first-level cache during the loop over all rows. */
INLINE void columns_times(float *restrict out, const float *const *rows, size_t count,
                          const float *restrict matrix, size_t inner, size_t width, int columns,
                          int add)
{
    size_t i = 0;
    for (; i + ROWS <= count; i += ROWS)
        block_times(out + i * width, rows + i, ROWS, matrix, inner, width, columns, add);
    if (i + 3 <= count) {
        block_times(out + i * width, rows + i, 3, matrix, inner, width, columns, add);
        i += 3;
    }
    for (; i < count; i++)
        block_times(out + i * width, rows + i, 1, matrix, inner, width, columns, add);
}

CLONES void kith__rows_times(float *restrict out, const float *const *rows, size_t count,
                             const float *restrict matrix, size_t inner, size_t width, int add)
{
    size_t j = 0;
    for (; j + 2 * WIDE <= width; j += 2 * WIDE)
        columns_times(out + j, rows, count, matrix + j, inner, width, 2, add);
    if (j < width)
        columns_times(out + j, rows, count, matrix + j, inner, width, 1, add);
}

INLINE void block_outer(float *restrict matrix, const float *restrict left, size_t stride,
                        const float *const *right, size_t count, size_t width, size_t j, int height,
                        int columns)
{
    lanes sum[ROWS][2];
    for (int r = 0; r < height; r++)
        sum[r][0] = sum[r][1] = (lanes){0};
    for (size_t i = 0; i < count; i++) {
        lanes b0 = at(right[i] + j), b1 = columns > 1 ? at(right[i] + j + WIDE) : b0;
#pragma GCC unroll 6
        for (int r = 0; r < height; r++) {
            sum[r][0] += b0 * left[i * stride + r];
            if (columns > 1)
                sum[r][1] += b1 * left[i * stride + r];
        }
    }
    for (int r = 0; r < height; r++)
        for (int n = 0; n < columns; n++)
            *(lanes *)(matrix + r * width + j + n * WIDE) += sum[r][n];
}

INLINE void outer_rows(float *restrict matrix, const float *restrict left, size_t stride,
                       const float *const *right, size_t count, size_t width, int height)
{
    size_t j = 0;
    for (; j + 2 * WIDE <= width; j += 2 * WIDE)
        block_outer(matrix, left, stride, right, count, width, j, height, 2);
    if (j < width)
        block_outer(matrix, left, stride, right, count, width, j, height, 1);
}

/* A few hundred rows at a time, so that they are still in the cache for the next block of the
 * result. */
CLONES void kith__outer_sum(float *restrict matrix, const float *restrict left,
                            const float *const *right, size_t count, size_t height, size_t width)
{
    enum { CHUNK = 128 };
    for (size_t from = 0; from < count; from += CHUNK) {
        size_t size = count - from < CHUNK ? count - from : CHUNK, h = 0;
        const float *l = left + from * height;
        for (; h + ROWS <= height; h += ROWS)
            outer_rows(matrix + h * width, l + h, height, right + from, size, width, ROWS);
        for (; h + 2 <= height; h += 2)
            outer_rows(matrix + h * width, l + h, height, right + from, size, width, 2);
        if (h < height)
            outer_rows(matrix + h * width, l + h, height, right + from, size, width, 1);
    }
}

/* Up to the diagonal and the rest of its block; four rows at a time to save loads of the sums. */
INLINE void add_rows(double *restrict square, const double *restrict a, const double *restrict x,
                     size_t n, int rows)
{
    for (size_t i = 0; i < n; i++) {
        double *to = square + i * n, by[4];
        size_t end = (i / KITH__LANES + 1) * KITH__LANES;
        for (int r = 0; r < rows; r++)
            by[r] = a[r] * x[(size_t)r * n + i];
        for (size_t j = 0; j < end; j++) {
            double sum = to[j];
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
                sum += by[r] * x[(size_t)r * n + j];
            to[j] = sum;
        }
    }
}

CLONES void kith__add_squares(double *restrict square, const double *restrict a,
                              const double *restrict x, size_t count, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        add_rows(square, a + i, x + i * n, n, 4);
    for (; i < count; i++)
        add_rows(square, a + i, x + i * n, n, 1);
}
