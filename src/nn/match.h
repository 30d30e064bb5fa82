/* Kernels that hold many query vectors against many candidates at once. As in kernels.h
 * widths are padded, rows are aligned and padding is zero; plain twins are in tests/kernels_test.c. */
#ifndef KITH_NN_MATCH_H
#define KITH_NN_MATCH_H

#include <stddef.h>
#include <stdint.h>

/* out[i][j] = sum_k |row[i][k] - matrix[k][j]|, for `count` rows reached through pointers; matrix has
 * `inner` rows of `width` floats: candidates are its columns. */
void kith__rows_l1(float *out, const float *const *rows, size_t count, const float *matrix,
                   size_t inner, size_t width);

/* The gradient of -sum_k |row[i][k] - candidate[j][k]|, times g[i][j]: with s = sign(row - candidate),
 * where 0 counts as positive, grow[i] -= g s and gcandidate[j] += g s. At most KITH__L1_ROWS rows,
 * and KITH__L1_CANDIDATES candidates, those that `ids` lists; g's rows are `stride` apart. Padding
 * does not stay 0 in the gradients. */
enum { KITH__L1_ROWS = 4, KITH__L1_CANDIDATES = 32 };
void kith__l1_backward(float *grows, float *gcandidates, const float *rows, size_t count,
                       const float *candidates, const uint32_t *ids, size_t id_count,
                       const float *g, size_t stride, size_t width);

/* y += g sign(a - b), sign(0) being 0. */
void kith__sign_axpy(float *y, float g, const float *a, const float *b, size_t width);

/* The largest value of a row, whose width is a multiple of KITH__LANES. */
float kith__row_most(const float *row, size_t width);
/* row = exp(row - most), 0 where a value is KITH__LEFT_OUT; returns the sum. The relative error is
 * below KITH__EXP_ERROR and the rounding of row - most, the absolute one below 1e-34. `scratch` has
 * room for a row. */
#define KITH__LEFT_OUT (-1e30f)
float kith__row_exp(float *row, float most, size_t width, float *scratch);
/* row = row a. */
void kith__row_scale(float *row, float a, size_t width);
/* The same for a row that is not negative, thinned out: a value x below `least` becomes `least` with
 * the probability x / least and 0 else, which is x on average. The seed decides. Lists the places
 * that are not 0 in `ids`, which has room for `width` and one more, and returns how many. */
size_t kith__row_thin(float *row, uint32_t *ids, float a, float least, uint32_t seed, size_t width);
/* The places, ascending, where some of `count` rows is not 0; returns how many. `ids` has room for
 * `width` and one more. Rows are `stride` apart. */
size_t kith__rows_used(uint32_t *ids, const float *rows, size_t count, size_t stride, size_t width);
/* Whether a value is not finite. */
int kith__row_broken(const float *row, size_t width);

#endif
