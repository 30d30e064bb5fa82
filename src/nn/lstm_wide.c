/* The kernels of lstm.c with registers of sixteen floats, for processors that have them. Each sum
 * adds the same terms in the same order, so the results have the same bits. Compiled with the flags
 * of kernels.c. */
#include "nn/lstm.h"

#include "nn/kernels.h"
#include "nn/lanes.h"

#ifdef CLONED

#define WIDE_CODE __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))

typedef float sixteen __attribute__((vector_size(64), aligned(4), may_alias));

enum {
    LANES = 16,
    ROWS = 12,  /* by two registers: 24 sums */
    TALL = 8,   /* by three registers, in an outer product */
    MOST = KITH__LSTM_WIDE_MOST
};

INLINE WIDE_CODE sixteen load(const float *x)
{
    return *(const sixteen *)x;
}

INLINE WIDE_CODE void store(float *to, sixteen x)
{
    *(sixteen *)to = x;
}

INLINE WIDE_CODE sixteen tanh_sixteen(sixteen x)
{
    sixteen y;
#pragma GCC unroll 16
    for (int k = 0; k < LANES; k++)
        y[k] = tanh_one(x[k]);
    return y;
}

/* ---- products ---- */

/* The k-th numbers of some rows, side by side. */
INLINE WIDE_CODE void pack_rows(float *restrict packed, const float *const *rows, size_t from,
                                int count, size_t inner)
{
    for (int r = 0; r < count; r++)
        for (size_t k = 0; k < inner; k++)
            packed[k * (size_t)count + (size_t)r] = rows[r][from + k];
}

/* sum[r] += row[r] . panel, for one or two panels. */
INLINE WIDE_CODE void add_product(sixteen (*restrict sum)[2], const float *restrict packed,
                                  int count, const float *restrict panel,
                                  const float *restrict second, size_t inner)
{
    for (size_t k = 0; k < inner; k++, packed += count) {
        sixteen b0 = load(panel + k * LANES), b1 = second ? load(second + k * LANES) : b0;
#pragma GCC unroll 12
        for (int r = 0; r < count; r++) {
            sum[r][0] += b0 * packed[r];
            if (second)
                sum[r][1] += b1 * packed[r];
        }
    }
}

INLINE WIDE_CODE void panels_block(float *restrict out, const float *restrict packed, int count,
                                   bool first, const float *restrict panel,
                                   const float *restrict second, size_t inner, size_t width)
{
    sixteen sum[ROWS][2];
#pragma GCC unroll 12
    for (int r = 0; r < count; r++)
        for (int n = 0; n < (second ? 2 : 1); n++)
            sum[r][n] = first ? (sixteen){0} : load(out + r * width + n * LANES);
    add_product(sum, packed, count, panel, second, inner);
#pragma GCC unroll 12
    for (int r = 0; r < count; r++)
        for (int n = 0; n < (second ? 2 : 1); n++)
            store(out + r * width + n * LANES, sum[r][n]);
}

/* A last panel of eight columns. */
INLINE WIDE_CODE void narrow_block(float *restrict out, const float *restrict packed, int count,
                                   bool first, const float *restrict panel, size_t inner,
                                   size_t width)
{
    lanes sum[ROWS];
#pragma GCC unroll 12
    for (int r = 0; r < count; r++)
        sum[r] = first ? (lanes){0} : at(out + r * width);
    for (size_t k = 0; k < inner; k++, packed += count) {
        lanes b = at(panel + k * WIDE);
#pragma GCC unroll 12
        for (int r = 0; r < count; r++)
            sum[r] += b * packed[r];
    }
#pragma GCC unroll 12
    for (int r = 0; r < count; r++)
        *(lanes *)(out + r * width) = sum[r];
}

INLINE WIDE_CODE void rows_by_panels(float *restrict out, const float *const *rows, size_t from,
                                     int count, const float *restrict panel, size_t inner,
                                     size_t width)
{
    float packed[MOST * ROWS];
    size_t j = 0;

    pack_rows(packed, rows, from, count, inner);
    for (; j + 2 * LANES <= width; j += 2 * LANES, panel += 2 * inner * LANES)
        panels_block(out + j, packed, count, from == 0, panel, panel + inner * LANES, inner, width);
    for (; j + LANES <= width; j += LANES, panel += inner * LANES)
        panels_block(out + j, packed, count, from == 0, panel, NULL, inner, width);
    if (j < width)
        narrow_block(out + j, packed, count, from == 0, panel, inner, width);
}

WIDE_CODE void kith__panels_times_wide(float *restrict out, const float *const *rows, size_t count,
                                       const float *restrict packed, size_t inner, size_t width,
                                       size_t block)
{
    for (size_t from = 0, size, i; from < inner; from += size, packed += size * width) {
        size = inner - from < block ? inner - from : block;
        for (i = 0; i + ROWS <= count; i += ROWS)
            rows_by_panels(out + i * width, rows + i, from, ROWS, packed, size, width);
        for (; i + 4 <= count; i += 4)
            rows_by_panels(out + i * width, rows + i, from, 4, packed, size, width);
        for (; i < count; i++)
            rows_by_panels(out + i * width, rows + i, from, 1, packed, size, width);
    }
}

/* Eight rows by up to 48 columns of the result; `left` has eight rows side by side. */
INLINE WIDE_CODE void block_outer(float *restrict matrix, size_t width, const float *restrict left,
                                  const float *restrict right, size_t count, int columns)
{
    sixteen sum[TALL][3];
#pragma GCC unroll 8
    for (int r = 0; r < TALL; r++)
        for (int n = 0; n < columns; n++)
            sum[r][n] = load(matrix + r * width + n * LANES);
    for (size_t i = 0; i < count; i++, left += TALL, right += columns * LANES) {
        sixteen b[3];
#pragma GCC unroll 3
        for (int n = 0; n < columns; n++)
            b[n] = load(right + n * LANES);
#pragma GCC unroll 8
        for (int r = 0; r < TALL; r++)
#pragma GCC unroll 3
            for (int n = 0; n < columns; n++)
                sum[r][n] += b[n] * left[r];
    }
#pragma GCC unroll 8
    for (int r = 0; r < TALL; r++)
        for (int n = 0; n < columns; n++)
            store(matrix + r * width + n * LANES, sum[r][n]);
}

/* The last eight columns. */
INLINE WIDE_CODE void narrow_outer(float *restrict matrix, size_t width, const float *restrict left,
                                   const float *const *right, size_t j, size_t count)
{
    lanes sum[TALL];
#pragma GCC unroll 8
    for (int r = 0; r < TALL; r++)
        sum[r] = at(matrix + r * width);
    for (size_t i = 0; i < count; i++, left += TALL) {
        lanes b = at(right[i] + j);
#pragma GCC unroll 8
        for (int r = 0; r < TALL; r++)
            sum[r] += b * left[r];
    }
#pragma GCC unroll 8
    for (int r = 0; r < TALL; r++)
        *(lanes *)(matrix + r * width) = sum[r];
}

INLINE WIDE_CODE void columns_outer(float *restrict matrix, size_t height, size_t width,
                                    const float *restrict packed, const float *const *right,
                                    size_t j, size_t count, float *restrict scratch, int columns)
{
    for (size_t i = 0; i < count; i++)
        for (int n = 0; n < columns; n++)
            store(scratch + (i * (size_t)columns + (size_t)n) * LANES,
                  load(right[i] + j + n * LANES));
    for (size_t h = 0; h < height; h += TALL)
        block_outer(matrix + h * width + j, width, packed + h * count, scratch, count, columns);
}

WIDE_CODE void kith__outer_add_wide(float *restrict matrix, const float *const *left,
                                    const float *const *right, size_t count, size_t height,
                                    size_t width, float *restrict scratch)
{
    float *packed_right = scratch + KITH__OUTER_ROWS * height;

    for (size_t from = 0, size; from < count; from += size) {
        size = count - from < KITH__OUTER_ROWS ? count - from : KITH__OUTER_ROWS;
        for (size_t h = 0; h < height; h += TALL)
            for (size_t i = 0; i < size; i++)
                for (int r = 0; r < TALL; r++)
                    scratch[h * size + i * TALL + (size_t)r] = left[from + i][h + (size_t)r];
        size_t j = 0;
        for (size_t rest; (rest = (width - j) / LANES) > 0; j += rest * LANES) {
            rest = rest == 4 || rest == 2 ? 2 : rest == 1 ? 1 : 3;
            if (rest == 3)
                columns_outer(matrix, height, width, scratch, right + from, j, size, packed_right,
                              3);
            else if (rest == 2)
                columns_outer(matrix, height, width, scratch, right + from, j, size, packed_right,
                              2);
            else
                columns_outer(matrix, height, width, scratch, right + from, j, size, packed_right,
                              1);
        }
        for (size_t h = 0; j < width && h < height; h += TALL)
            narrow_outer(matrix + h * width + j, width, scratch + h * size, right + from, j, size);
    }
}

/* ---- steps ---- */

/* Eight units of a row: z[0] has those of i and f, z[1] those of g and o. */
INLINE WIDE_CODE void open_gates(const kith__lstm_row *row, size_t unit, const sixteen *z)
{
    static const float offset[LANES] = {0,   0,   0,   0,   0,   0,   0,   0,
                                        .5f, .5f, .5f, .5f, .5f, .5f, .5f, .5f};
    static const float factor[LANES] = {1,   1,   1,   1,   1,   1,   1,   1,
                                        .5f, .5f, .5f, .5f, .5f, .5f, .5f, .5f};
    float *gates = row->gates + KITH__GATES * unit;

    store(gates, .5f + .5f * tanh_sixteen(z[0]));
    store(gates + LANES, load(offset) + load(factor) * tanh_sixteen(z[1]));
    lanes i = at(gates), f = at(gates + WIDE), g = at(gates + 2 * WIDE), o = at(gates + 3 * WIDE);
    lanes c = f * at(row->c_before + unit) + i * g, y;
    for (int k = 0; k < WIDE; k++)
        y[k] = tanh_one(c[k]);
    lanes h = o * y;
    *(lanes *)(row->c + unit) = c;
    *(lanes *)(row->h + unit) = h;
    *(lanes *)(row->out + unit) = at(row->out + unit) + row->share * h;
}

INLINE WIDE_CODE void forward_block(const kith__lstm_row *rows, int count,
                                    const float *restrict packed_h, const float *restrict panel,
                                    size_t d, size_t unit, size_t inner)
{
    sixteen sum[ROWS][2];
#pragma GCC unroll 12
    for (int r = 0; r < count; r++) {
        sum[r][0] = load(rows[r].input + KITH__GATES * unit);
        sum[r][1] = load(rows[r].input + KITH__GATES * unit + LANES);
    }
    add_product(sum, packed_h, count, panel, panel + d * LANES, inner);
    for (int r = 0; r < count; r++)
        open_gates(&rows[r], unit, sum[r]);
}

INLINE WIDE_CODE void forward_rows(const kith__lstm_row *rows, int count,
                                   const float *restrict packed, size_t d, size_t width,
                                   size_t inner)
{
    float packed_h[MOST * ROWS];
    const float *h[ROWS];

    for (int r = 0; r < count; r++)
        h[r] = rows[r].h_before;
    pack_rows(packed_h, h, 0, count, inner);
    for (size_t unit = 0; unit < width; unit += WIDE, packed += 2 * d * LANES)
        forward_block(rows, count, packed_h, packed, d, unit, inner);
}

WIDE_CODE void kith__lstm_forward_wide(const kith__lstm_row *rows, size_t count,
                                       const float *packed, size_t d, size_t width, int first)
{
    size_t inner = first ? 0 : d, i = 0;

    for (; i + ROWS <= count; i += ROWS)
        forward_rows(rows + i, ROWS, packed, d, width, inner);
    for (; i + 4 <= count; i += 4)
        forward_rows(rows + i, 4, packed, d, width, inner);
    for (; i < count; i++)
        forward_rows(rows + i, 1, packed, d, width, inner);
}

#else /* other compilers and processors: nobody calls these */

void kith__panels_times_wide(float *restrict out, const float *const *rows, size_t count,
                             const float *restrict packed, size_t inner, size_t width, size_t block)
{
    kith__panels_times_narrow(out, rows, count, packed, inner, width, block);
}

void kith__outer_add_wide(float *restrict matrix, const float *const *left,
                          const float *const *right, size_t count, size_t height, size_t width,
                          float *restrict scratch)
{
    kith__outer_add_narrow(matrix, left, right, count, height, width, scratch);
}

void kith__lstm_forward_wide(const kith__lstm_row *rows, size_t count, const float *packed,
                             size_t d, size_t width, int first)
{
    kith__lstm_forward_narrow(rows, count, packed, d, width, first);
}

#endif
