/* Kernels that compare many query vectors with many candidates at once. As in kernels.h widths are
 * padded, rows are aligned and padding is zero; plain versions are in tests/nn. */
#ifndef KITH_NN_MATCH_H
#define KITH_NN_MATCH_H

#include <stddef.h>
#include <stdint.h>

/* out[i][j] = sum_k |row[i][k] - matrix[k][j]|, for `count` rows given by pointers; matrix has
 * `inner` rows of `width` floats: its columns are the candidates. */
void kith__rows_l1(float *out, const float *const *rows, size_t count, const float *matrix,
                   size_t inner, size_t width);

/* The gradient of -sum_k |row[i][k] - candidate[j][k]|, times g[i][j]: with s = sign(row -
 * candidate), where 0 counts as positive, grow[i] -= g s and gcandidate[j] += g s. For at most
 * KITH__L1_ROWS rows and the at most KITH__L1_CANDIDATES candidates in `ids`; g's rows are `stride`
 * apart. Padding does not stay 0 in the gradients. */
enum { KITH__L1_ROWS = 4, KITH__L1_CANDIDATES = 32 };
void kith__l1_backward(float *grows, float *gcandidates, const float *rows, size_t count,
                       const float *candidates, const uint32_t *ids, size_t id_count,
                       const float *g, size_t stride, size_t width);

/* y += g sign(a - b), where sign(0) is 0. */
void kith__sign_axpy(float *y, float g, const float *a, const float *b, size_t width);

/* The largest value of a row, whose width is a multiple of KITH__LANES. */
float kith__row_most(const float *row, size_t width);
/* row = exp(row - most), 0 for values of KITH__LEFT_OUT; returns the sum. The relative error is
 * below KITH__EXP_ERROR plus the rounding of row - most, the absolute error below 1e-34. `scratch`
 * holds one row. */
#define KITH__LEFT_OUT (-1e30f)
float kith__row_exp(float *row, float most, size_t width, float *scratch);
/* row = row a. */
void kith__row_scale(float *row, float a, size_t width);
/* row = row a, for a non-negative row, made sparse: a value x below `least` becomes `least` with
 * probability x / least and 0 otherwise, which keeps its expectation. The seed decides. Stores the
 * indices of the nonzero values in `ids`, which holds `width` + 1, and returns their number. */
size_t kith__row_thin(float *row, uint32_t *ids, float a, float least, uint32_t seed, size_t width);
/* Stores in `ids`, ascending, the indices where any of `count` rows is nonzero, and returns their
 * number. `ids` holds `width` + 1. Rows are `stride` apart. */
size_t kith__rows_used(uint32_t *ids, const float *rows, size_t count, size_t stride, size_t width);
/* Whether any value is not finite. */
int kith__row_broken(const float *row, size_t width);

#endif
