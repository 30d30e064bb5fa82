/* The candidates that all queries of a batch share, packed for the kernels, and the gradients by them. */
#ifndef KITH_TRAIN_SHARED_CANDIDATES_H
#define KITH_TRAIN_SHARED_CANDIDATES_H

#include "embed/panels.h"
#include "train/scorer.h"

/* Rows are `count` vectors, scaled to length 1 where the decoder wants that, and zeros up to `stride`. */
typedef struct kith__shared_candidates {
    kith__floats rows, inverse, gradient; /* inverse: 1 / length; gradient: `pieces` blocks of rows */
    kith__panels panels;
    size_t count, stride, pieces;
} kith__shared_candidates;

/* Make place for `count` candidates, with gradients of 0; -1 where memory is short. */
int kith__shared_candidates_reserve(kith__shared_candidates *shared, const kith__scoring *scoring,
                                    size_t count, size_t pieces);
void kith__shared_candidates_release(kith__shared_candidates *shared);
void kith__shared_candidate_set(kith__shared_candidates *shared, const kith__scoring *scoring,
                                size_t j, const float *from);
/* After all were set. */
void kith__shared_candidates_pack(kith__shared_candidates *shared, const kith__scoring *scoring);

/* The block of gradients of a piece. */
float *kith__shared_gradient(const kith__shared_candidates *shared, const kith__scoring *scoring,
                             size_t piece);
/* Add up the pieces in order, in the first one's place. */
void kith__shared_candidates_sum(kith__shared_candidates *shared, const kith__scoring *scoring);
/* to += the gradient by the vector that candidate j was made from, by the first piece's gradients. */
void kith__shared_candidate_backward(float *to, const kith__shared_candidates *shared,
                                     const kith__scoring *scoring, size_t j);

#endif
