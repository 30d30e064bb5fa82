/* Compiled with the flags of kernels.c. */
#include "nn/lstm.h"

#include "nn/kernels.h"
#include "nn/lanes.h"

enum { ROWS = 6, PANEL = 2 * WIDE, TALL = 4 /* rows of a block of an outer product */ };

INLINE void put(float *to, lanes x)
{
    *(lanes *)to = x;
}

/* tanh_one on eight values */
INLINE lanes tanh_eight(lanes x)
{
    lanes y;
    for (int k = 0; k < WIDE; k++)
        y[k] = tanh_one(x[k]);
    return y;
}

/* ---- products ---- */

/* sum[r] += row[r] . panel: six rows by sixteen columns stay in registers. */
INLINE void add_product(lanes (*restrict sum)[2], const float *const *rows, int count,
                        const float *restrict panel, size_t inner, int columns)
{
    for (size_t k = 0; k < inner; k++, panel += columns * WIDE) {
        lanes b0 = at(panel), b1 = columns > 1 ? at(panel + WIDE) : b0;
#pragma GCC unroll 6
        for (int r = 0; r < count; r++) {
            sum[r][0] += b0 * rows[r][k];
            if (columns > 1)
                sum[r][1] += b1 * rows[r][k];
        }
    }
}

INLINE void block_times(float *restrict out, const float *const *rows, size_t from, int count,
                        const float *restrict panel, size_t inner, size_t width, int columns)
{
    const float *at_block[ROWS];
    lanes sum[ROWS][2];
#pragma GCC unroll 6
    for (int r = 0; r < count; r++) {
        at_block[r] = rows[r] + from;
        for (int n = 0; n < columns; n++)
            sum[r][n] = from ? at(out + r * width + n * WIDE) : (lanes){0};
    }
    add_product(sum, at_block, count, panel, inner, columns);
#pragma GCC unroll 6
    for (int r = 0; r < count; r++)
        for (int n = 0; n < columns; n++)
            put(out + r * width + n * WIDE, sum[r][n]);
}

INLINE void panel_times(float *restrict out, const float *const *rows, size_t count, size_t from,
                        const float *restrict panel, size_t inner, size_t width, int columns)
{
    size_t i = 0;
    for (; i + ROWS <= count; i += ROWS)
        block_times(out + i * width, rows + i, from, ROWS, panel, inner, width, columns);
    if (i + 3 <= count) {
        block_times(out + i * width, rows + i, from, 3, panel, inner, width, columns);
        i += 3;
    }
    for (; i < count; i++)
        block_times(out + i * width, rows + i, from, 1, panel, inner, width, columns);
}

CLONES void kith__panels_times_narrow(float *restrict out, const float *const *rows, size_t count,
                                      const float *restrict packed, size_t inner, size_t width,
                                      size_t block)
{
    for (size_t from = 0; from < inner; from += block) {
        size_t size = inner - from < block ? inner - from : block, j = 0;
        for (; j + PANEL <= width; j += PANEL, packed += size * PANEL)
            panel_times(out + j, rows, count, from, packed, size, width, 2);
        if (j < width) {
            panel_times(out + j, rows, count, from, packed, size, width, 1);
            packed += size * WIDE;
        }
    }
}

void kith__pack_panels(float *restrict packed, const float *restrict matrix, size_t inner,
                       size_t width, size_t block)
{
    for (size_t from = 0; from < inner; from += block) {
        size_t to = inner - from < block ? inner : from + block;
        for (size_t j = 0; j < width; j += PANEL)
            for (size_t k = from; k < to; k++)
                for (size_t n = j; n < j + PANEL && n < width; n++)
                    *packed++ = matrix[k * width + n];
    }
}

/* Four rows by up to 24 columns of the result; `left` has eight rows side by side. */
INLINE void block_outer(float *restrict matrix, size_t width, const float *restrict left,
                        const float *restrict right, size_t count, int columns)
{
    lanes sum[TALL][3];
#pragma GCC unroll 4
    for (int r = 0; r < TALL; r++)
        for (int n = 0; n < columns; n++)
            sum[r][n] = at(matrix + r * width + n * WIDE);
    for (size_t i = 0; i < count; i++, left += WIDE, right += columns * WIDE) {
        lanes b[3];
#pragma GCC unroll 3
        for (int n = 0; n < columns; n++)
            b[n] = at(right + n * WIDE);
#pragma GCC unroll 4
        for (int r = 0; r < TALL; r++)
#pragma GCC unroll 3
            for (int n = 0; n < columns; n++)
                sum[r][n] += b[n] * left[r];
    }
#pragma GCC unroll 4
    for (int r = 0; r < TALL; r++)
        for (int n = 0; n < columns; n++)
            put(matrix + r * width + n * WIDE, sum[r][n]);
}

INLINE void columns_outer(float *restrict matrix, size_t height, size_t width,
                          const float *restrict packed, const float *const *right, size_t j,
                          size_t count, float *restrict scratch, int columns)
{
    for (size_t i = 0; i < count; i++)
        for (int n = 0; n < columns; n++)
            put(scratch + (i * (size_t)columns + (size_t)n) * WIDE, at(right[i] + j + n * WIDE));
    for (size_t h = 0; h < height; h += WIDE)
        for (size_t half = 0; half < WIDE; half += TALL)
            block_outer(matrix + (h + half) * width + j, width, packed + h * count + half, scratch,
                        count, columns);
}

CLONES void kith__outer_add_narrow(float *restrict matrix, const float *const *left,
                                   const float *const *right, size_t count, size_t height,
                                   size_t width, float *restrict scratch)
{
    float *packed_right = scratch + KITH__OUTER_ROWS * height;

    for (size_t from = 0, size; from < count; from += size) {
        size = count - from < KITH__OUTER_ROWS ? count - from : KITH__OUTER_ROWS;
        for (size_t i = 0; i < size; i++)
            for (size_t h = 0; h < height; h += WIDE)
                put(scratch + h * size + i * WIDE, at(left[from + i] + h));
        /* Three blocks of columns at a time, or two if one would be left over: a single one would
         * be too narrow. */
        for (size_t j = 0, rest; j < width; j += rest * WIDE) {
            rest = (width - j) / WIDE;
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
    }
}

/* ---- steps ---- */

/* Eight units of a row, from their halved z. */
INLINE void open_gates(const kith__lstm_row *row, size_t unit, const lanes *restrict z)
{
    float *gates = row->gates + KITH__GATES * unit;
    lanes i = .5f + .5f * tanh_eight(z[0]), f = .5f + .5f * tanh_eight(z[1]);
    lanes g = tanh_eight(z[2]), o = .5f + .5f * tanh_eight(z[3]);
    lanes c = f * at(row->c_before + unit) + i * g, h = o * tanh_eight(c);

    put(gates, i);
    put(gates + WIDE, f);
    put(gates + 2 * WIDE, g);
    put(gates + 3 * WIDE, o);
    put(row->c + unit, c);
    put(row->h + unit, h);
    put(row->out + unit, at(row->out + unit) + row->share * h);
}

/* Eight units of some rows: z of i and f, then of g and o, then the gates. */
INLINE void block_forward(const kith__lstm_row *rows, int count, const float *restrict panel,
                          size_t d, size_t unit, size_t inner)
{
    const float *h[ROWS];
    lanes z[ROWS][KITH__GATES];
#pragma GCC unroll 6
    for (int r = 0; r < count; r++)
        h[r] = rows[r].h_before;
#pragma GCC unroll 2
    for (int half = 0; half < KITH__GATES; half += 2) {
        lanes sum[ROWS][2];
#pragma GCC unroll 6
        for (int r = 0; r < count; r++)
            for (int n = 0; n < 2; n++)
                sum[r][n] = at(rows[r].input + KITH__GATES * unit + (half + n) * WIDE);
        add_product(sum, h, count, panel, inner, 2);
        panel += d * PANEL;
#pragma GCC unroll 6
        for (int r = 0; r < count; r++)
            for (int n = 0; n < 2; n++)
                z[r][half + n] = sum[r][n];
    }
    for (int r = 0; r < count; r++)
        open_gates(&rows[r], unit, z[r]);
}

CLONES void kith__lstm_forward_narrow(const kith__lstm_row *rows, size_t count, const float *packed,
                                      size_t d, size_t width, int first)
{
    size_t inner = first ? 0 : d;

    for (size_t unit = 0; unit < width; unit += WIDE, packed += 2 * d * PANEL) {
        size_t i = 0;
        for (; i + ROWS <= count; i += ROWS)
            block_forward(rows + i, ROWS, packed, d, unit, inner);
        if (i + 3 <= count) {
            block_forward(rows + i, 3, packed, d, unit, inner);
            i += 3;
        }
        for (; i < count; i++)
            block_forward(rows + i, 1, packed, d, unit, inner);
    }
}

/* With y = tanh(c): by_c += by_h o (1 - y^2). A halved z has twice the gradient: 2 i (1 - i). */
INLINE void close_gates(const kith__lstm_back *row, size_t unit)
{
    const float *gates = row->gates + KITH__GATES * unit;
    float *gz = row->gz + KITH__GATES * unit, *sum = row->sum + KITH__GATES * unit;
    lanes i = at(gates), f = at(gates + WIDE), g = at(gates + 2 * WIDE), o = at(gates + 3 * WIDE);
    lanes y = tanh_eight(at(row->c + unit));
    lanes by_h = at(row->gh + unit) + row->share * at(row->grad + unit);
    lanes by_c = at(row->gc + unit) + by_h * o * (1 - y * y);
    lanes z[KITH__GATES] = {2 * by_c * g * (i * (1 - i)),
                            2 * by_c * at(row->c_before + unit) * (f * (1 - f)),
                            by_c * i * (1 - g * g), 2 * by_h * y * (o * (1 - o))};

    put(row->gc + unit, by_c * f);
#pragma GCC unroll 4
    for (int n = 0; n < KITH__GATES; n++) {
        put(gz + n * WIDE, z[n]);
        put(sum + n * WIDE, at(sum + n * WIDE) + z[n]);
    }
}

CLONES void kith__lstm_backward(const kith__lstm_back *rows, size_t count, size_t width)
{
    for (size_t r = 0; r < count; r++)
        for (size_t unit = 0; unit < width; unit += WIDE)
            close_gates(&rows[r], unit);
}

/* ---- which registers ---- */

bool kith__lstm_has_wide(void)
{
#ifdef CLONED
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

void kith__lstm_forward(const kith__lstm_row *rows, size_t count, const float *packed, size_t d,
                        size_t width, int first)
{
    if (kith__lstm_has_wide() && d <= KITH__LSTM_WIDE_MOST)
        kith__lstm_forward_wide(rows, count, packed, d, width, first);
    else
        kith__lstm_forward_narrow(rows, count, packed, d, width, first);
}

void kith__panels_times(float *restrict out, const float *const *rows, size_t count,
                        const float *restrict packed, size_t inner, size_t width, size_t block)
{
    if (kith__lstm_has_wide() && (block <= KITH__LSTM_WIDE_MOST || inner <= KITH__LSTM_WIDE_MOST))
        kith__panels_times_wide(out, rows, count, packed, inner, width, block);
    else
        kith__panels_times_narrow(out, rows, count, packed, inner, width, block);
}

void kith__outer_add(float *restrict matrix, const float *const *left, const float *const *right,
                     size_t count, size_t height, size_t width, float *restrict scratch)
{
    if (kith__lstm_has_wide())
        kith__outer_add_wide(matrix, left, right, count, height, width, scratch);
    else
        kith__outer_add_narrow(matrix, left, right, count, height, width, scratch);
}
