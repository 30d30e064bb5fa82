/* Vectors as the decoder needs them, scaled to length 1 if necessary, with their gradients. */
#ifndef KITH_TRAIN_SCALED_ROWS_H
#define KITH_TRAIN_SCALED_ROWS_H

#include "train/scorer.h"

typedef struct kith__scaled_rows {
    const kith__scoring *scoring;
    kith__floats row, inverse, gradient; /* inverse: 1 / length */
    uint8_t *touched;                    /* whether a row has a gradient */
    size_t count, touched_capacity;
} kith__scaled_rows;

/* Reserve `count` rows without a gradient; -1 if out of memory. */
int kith__scaled_rows_reserve(kith__scaled_rows *rows, size_t count);
void kith__scaled_rows_release(kith__scaled_rows *rows);
void kith__scaled_row_set(kith__scaled_rows *rows, size_t i, const float *from);
static inline const float *kith__scaled_row(const kith__scaled_rows *rows, size_t i)
{
    return rows->row.at + i * rows->scoring->ds;
}
/* The gradient of a row, which marks it as touched. */
float *kith__scaled_row_gradient(kith__scaled_rows *rows, size_t i);
/* to += the gradient of the vector that row i was made from. */
void kith__scaled_row_backward(float *to, const kith__scaled_rows *rows, size_t i);

#endif
