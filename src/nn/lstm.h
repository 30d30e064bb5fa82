/* The steps of an LSTM, and their matrix products. Widths are padded as in kernels.h. z = Wx x + Wh
 * h + b; i, f, o = sigmoid, g = tanh; c = f c + i g; h = o tanh(c). The gates of eight units lie
 * side by side: i of the eight, then f, g and o (kith__gate_place). What the sigmoids take is
 * halved, because sigmoid(x) = (1 + tanh(x / 2)) / 2: matrices and biases are multiplied by
 * kith__gate_scale before, and so are their gradients afterwards. Both are exact. */
#ifndef KITH_NN_LSTM_H
#define KITH_NN_LSTM_H

#include <stdbool.h>
#include <stddef.h>

enum { KITH__GATES = 4, KITH__OUTER_ROWS = 128, KITH__LSTM_WIDE_MOST = 512 };

static inline size_t kith__gate_place(size_t gate, size_t unit)
{
    return unit / 8 * 32 + gate * 8 + unit % 8;
}

static inline float kith__gate_scale(size_t gate)
{
    return gate == 2 ? 1 : .5f;
}

/* One step of one sequence. */
typedef struct kith__lstm_row {
    const float *input; /* Wx x + b */
    float *gates;       /* gets i, f, g, o; may be the input */
    const float *h_before, *c_before;
    float *h, *c, *out; /* out += share h */
    float share;
} kith__lstm_row;

/* `packed` is Wh, transposed, d x 4 width, in panels of one block. With `first`, h_before counts as
 * 0 and is not read. */
void kith__lstm_forward(const kith__lstm_row *rows, size_t count, const float *packed, size_t d,
                        size_t width, int first);

/* The gradients of a step: from those of h and c to those of z and of the previous c. */
typedef struct kith__lstm_back {
    const float *gates, *c, *c_before;
    const float *gh, *grad; /* the gradient of h is gh + share grad */
    float *gc;              /* gradient of c; becomes that of the previous c */
    float *gz, *sum;        /* gz may be the gates; sum += gz */
    float share;
} kith__lstm_back;

void kith__lstm_backward(const kith__lstm_back *rows, size_t count, size_t width);

/* A matrix of `inner` rows and `width` columns in panels of 16 columns, `block` rows at a time, so
 * that a product reads contiguous memory. The last panel may have 8 columns. */
void kith__pack_panels(float *packed, const float *matrix, size_t inner, size_t width,
                       size_t block);
/* out[i] = row[i] . matrix */
void kith__panels_times(float *out, const float *const *rows, size_t count, const float *packed,
                        size_t inner, size_t width, size_t block);
/* matrix += sum_i left[i]^T right[i], height x width; rows are given by pointers. `scratch` holds
 * KITH__OUTER_ROWS (height + width) floats. */
void kith__outer_add(float *matrix, const float *const *left, const float *const *right,
                     size_t count, size_t height, size_t width, float *scratch);

/* The same with registers of eight floats (narrow) and of sixteen (wide). The functions above use
 * wide registers where the processor has them; results have the same bits. d, or a block, of the
 * wide ones is at most KITH__LSTM_WIDE_MOST. */
bool kith__lstm_has_wide(void);
void kith__lstm_forward_narrow(const kith__lstm_row *rows, size_t count, const float *packed,
                               size_t d, size_t width, int first);
void kith__lstm_forward_wide(const kith__lstm_row *rows, size_t count, const float *packed,
                             size_t d, size_t width, int first);
void kith__panels_times_narrow(float *out, const float *const *rows, size_t count,
                               const float *packed, size_t inner, size_t width, size_t block);
void kith__panels_times_wide(float *out, const float *const *rows, size_t count,
                             const float *packed, size_t inner, size_t width, size_t block);
void kith__outer_add_narrow(float *matrix, const float *const *left, const float *const *right,
                            size_t count, size_t height, size_t width, float *scratch);
void kith__outer_add_wide(float *matrix, const float *const *left, const float *const *right,
                          size_t count, size_t height, size_t width, float *scratch);

#endif
