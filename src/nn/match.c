/* Compiled with the flags of kernels.c. */
#include "nn/match.h"

#include "nn/kernels.h"
#include "nn/lanes.h"

/* The result of comparing lanes: all bits set, or none. */
typedef int32_t masks __attribute__((vector_size(32)));
enum { ROWS = 4 };

INLINE lanes magnitude(lanes x)
{
    return (lanes)((bits)x & INT32_MAX);
}

INLINE lanes where(masks mask, lanes x)
{
    return (lanes)(mask & (masks)x);
}

/* A product with ones compiles to a single broadcast instruction. */
static const lanes ones = {1, 1, 1, 1, 1, 1, 1, 1};

/* ---- distances ---- */

/* Four rows by sixteen columns stay in registers during the inner loop. */
INLINE void block_l1(float *restrict out, const float *const *rows, int count,
                     const float *restrict matrix, size_t inner, size_t width)
{
    for (size_t j = 0; j < width; j += 2 * WIDE) {
        lanes sum[ROWS][2];
#pragma GCC unroll 4
        for (int r = 0; r < count; r++)
            sum[r][0] = sum[r][1] = (lanes){0};
        for (size_t k = 0; k < inner; k++) {
            lanes b0 = at(matrix + k * width + j), b1 = at(matrix + k * width + j + WIDE);
#pragma GCC unroll 4
            for (int r = 0; r < count; r++) {
                sum[r][0] += magnitude(rows[r][k] - b0);
                sum[r][1] += magnitude(rows[r][k] - b1);
            }
        }
#pragma GCC unroll 4
        for (int r = 0; r < count; r++) {
            *(lanes *)(out + (size_t)r * width + j) = sum[r][0];
            *(lanes *)(out + (size_t)r * width + j + WIDE) = sum[r][1];
        }
    }
}

CLONES void kith__rows_l1(float *restrict out, const float *const *rows, size_t count,
                          const float *restrict matrix, size_t inner, size_t width)
{
    size_t i = 0;
    for (; i + ROWS <= count; i += ROWS)
        block_l1(out + i * width, rows + i, ROWS, matrix, inner, width);
    for (; i < count; i++)
        block_l1(out + i * width, rows + i, 1, matrix, inner, width);
}

/* With m = [row < x] the gradients are (2 m - 1) g and (1 - 2 m) g. So the loop sums m g, and the
 * sums of g, which are the same for all columns, are added at the end. Eight columns of the rows
 * and of their sums stay in registers during the loop over the candidates. */
INLINE void block_l1_backward(float *restrict grows, float *restrict gcandidates,
                              const float *restrict rows, int count,
                              const float *restrict candidates, const uint32_t *restrict ids,
                              size_t id_count, const float *restrict g, size_t stride, size_t width)
{
    float by_row[ROWS] = {0}, by_candidate[KITH__L1_CANDIDATES];

    for (size_t n = 0; n < id_count; n++) {
        by_candidate[n] = 0;
        for (int r = 0; r < count; r++) {
            by_row[r] += g[(size_t)r * stride + ids[n]];
            by_candidate[n] += g[(size_t)r * stride + ids[n]];
        }
    }
    for (size_t k = 0; k < width; k += WIDE) {
        lanes row[ROWS], sum[ROWS];
#pragma GCC unroll 4
        for (int r = 0; r < count; r++) {
            row[r] = at(rows + (size_t)r * width + k);
            sum[r] = (lanes){0};
        }
        for (size_t n = 0; n < id_count; n++) {
            size_t j = ids[n];
            lanes x = at(candidates + j * width + k), below = {0};
#pragma GCC unroll 4
            for (int r = 0; r < count; r++) {
                lanes split = where(row[r] < x, g[(size_t)r * stride + j] * ones);
                sum[r] += split;
                below += split;
            }
            *(lanes *)(gcandidates + j * width + k) += by_candidate[n] - 2 * below;
        }
#pragma GCC unroll 4
        for (int r = 0; r < count; r++)
            *(lanes *)(grows + (size_t)r * width + k) += 2 * sum[r] - by_row[r];
    }
}

CLONES void kith__l1_backward(float *restrict grows, float *restrict gcandidates,
                              const float *restrict rows, size_t count,
                              const float *restrict candidates, const uint32_t *restrict ids,
                              size_t id_count, const float *restrict g, size_t stride, size_t width)
{
    if (count == ROWS)
        block_l1_backward(grows, gcandidates, rows, ROWS, candidates, ids, id_count, g, stride,
                          width);
    else
        for (size_t r = 0; r < count; r++)
            block_l1_backward(grows + r * width, gcandidates, rows + r * width, 1, candidates, ids,
                              id_count, g + r * stride, stride, width);
}

CLONES void kith__sign_axpy(float *restrict y, float g, const float *restrict a,
                            const float *restrict b, size_t width)
{
    for (size_t j = 0; j < width; j += WIDE) {
        lanes up = where(at(a + j) > at(b + j), g * ones);
        lanes down = where(at(a + j) < at(b + j), g * ones);
        *(lanes *)(y + j) += up - down;
    }
}

/* ---- softmax ---- */

CLONES float kith__row_most(const float *row, size_t width)
{
    float most[KITH__LANES];
    for (int k = 0; k < KITH__LANES; k++)
        most[k] = row[k];
    for (size_t j = KITH__LANES; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            most[k] = row[j + k] > most[k] ? row[j + k] : most[k];
    for (int k = 1; k < KITH__LANES; k++)
        most[0] = most[k] > most[0] ? most[k] : most[0];
    return most[0];
}

#define LOWEST -115.0f /* the power of 2 of this is still a normal number */

/* row - most as exponents of 2, clamped so that the powers do not underflow. */
CLONES static void lower(float *restrict power, const float *restrict row, float most, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++) {
            float x = 1.44269504f * (row[j + k] - most);
            power[j + k] = x > LOWEST ? x : LOWEST;
        }
}

/* Masked values, and values that small, are at the lower limit of `lower`. */
CLONES static float sum_up(float *restrict row, const float *restrict power, size_t width)
{
    _Alignas(32) float sum[KITH__LANES] = {0};
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++) {
            row[j + k] = power[j + k] > LOWEST ? row[j + k] : 0;
            sum[k] += row[j + k];
        }
    for (int k = 1; k < KITH__LANES; k++)
        sum[0] += sum[k];
    return sum[0];
}

float kith__row_exp(float *row, float most, size_t width, float *scratch)
{
    lower(scratch, row, most, width);
    kith__power(row, scratch, width);
    return sum_up(row, scratch, width);
}

CLONES void kith__row_scale(float *row, float a, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            row[j + k] *= a;
}

/* A well-mixed hash (the last steps of MurmurHash3). */
INLINE uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

CLONES size_t kith__row_thin(float *restrict row, uint32_t *restrict ids, float a, float least,
                             uint32_t seed, size_t width)
{
    size_t used = 0;
    for (size_t j = 0; j < width; j += KITH__LANES) {
        for (int k = 0; k < KITH__LANES; k++) {
            float x = row[j + k] * a;
            int32_t draw = (int32_t)(mixed(((uint32_t)j + (uint32_t)k) * 0x9e3779b9u + seed) >> 8);
            float small = (float)draw * 0x1p-24f * least < x ? least : 0;
            row[j + k] = x < least ? small : x;
        }
        for (uint32_t k = 0; k < KITH__LANES; k++) {
            ids[used] = (uint32_t)j + k;
            used += row[j + k] != 0;
        }
    }
    return used;
}

/* Test several values at a time, because most are 0. */
CLONES size_t kith__rows_used(uint32_t *restrict ids, const float *restrict rows, size_t count,
                              size_t stride, size_t width)
{
    size_t used = 0;
    for (size_t j = 0; j < width; j += KITH__LANES) {
        float sum[KITH__LANES] = {0}, any = 0;
        for (size_t r = 0; r < count; r++)
            for (int k = 0; k < KITH__LANES; k++)
                sum[k] += rows[r * stride + j + k] < 0 ? -rows[r * stride + j + k]
                                                       : rows[r * stride + j + k];
        for (int k = 0; k < KITH__LANES; k++)
            any += sum[k];
        for (uint32_t k = 0; any > 0 && k < KITH__LANES; k++) {
            ids[used] = (uint32_t)j + k;
            used += sum[k] > 0;
        }
    }
    return used;
}

/* Compare bits, because these files are compiled as if all numbers were finite. */
CLONES int kith__row_broken(const float *row, size_t width)
{
    const uint32_t exponent = 0x7f800000;
    uint32_t broken = 0;
    for (size_t j = 0; j < width; j++) {
        uint32_t word;
        __builtin_memcpy(&word, row + j, sizeof word);
        broken |= (word & exponent) == exponent;
    }
    return broken != 0;
}
