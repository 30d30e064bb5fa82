/* The candidates that all queries of a batch share, packed for the kernels, with their
 * gradients. */
#ifndef KITH_TRAIN_SHARED_CANDIDATES_H
#define KITH_TRAIN_SHARED_CANDIDATES_H

#include "embed/panels.h"
#include "train/scorer.h"

/* `count` vectors, scaled to length 1 if the decoder needs it, and zeros up to `stride`. */
typedef struct kith__shared_candidates {
    /* inverse: 1 / length; gradient: `pieces` blocks of rows */
    kith__floats rows, inverse, gradient;
    kith__panels panels;
    size_t count, stride, pieces;
} kith__shared_candidates;

/* Reserve `count` candidates, with gradients of 0; -1 if out of memory. */
int kith__shared_candidates_reserve(kith__shared_candidates *shared, const kith__scoring *scoring,
                                    size_t count, size_t pieces);
void kith__shared_candidates_release(kith__shared_candidates *shared);
void kith__shared_candidate_set(kith__shared_candidates *shared, const kith__scoring *scoring,
                                size_t j, const float *from);
/* After all rows are set. */
void kith__shared_candidates_pack(kith__shared_candidates *shared, const kith__scoring *scoring);

/* The block of gradients of a piece. */
float *kith__shared_gradient(const kith__shared_candidates *shared, const kith__scoring *scoring,
                             size_t piece);
/* Add up the pieces in order, in place of the first one. */
void kith__shared_candidates_sum(kith__shared_candidates *shared, const kith__scoring *scoring);
/* to += the gradient of the vector that candidate j was made from, using the first piece's
 * gradients. */
void kith__shared_candidate_backward(float *to, const kith__shared_candidates *shared,
                                     const kith__scoring *scoring, size_t j);

#endif
