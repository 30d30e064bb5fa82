/* The sequences of an lstm, sorted by length and cut into groups. All sequences of a group make their t-th
 * step together, longest first, so that a step is one matrix product. */
#ifndef KITH_EMBED_AGGREGATORS_SEQUENCES_H
#define KITH_EMBED_AGGREGATORS_SEQUENCES_H

#include "embed/encoder/state.h"

enum {
    KITH__SEQUENCES_A_GROUP = 96 /* a multiple of what the kernels take; a step fits the cache */
};

typedef struct kith__sequence_group kith__sequence_group;

typedef struct {
    size_t encoding, steps, degree;
    const kith__sequence_group *home; /* where its gates and states are */
    size_t place;                     /* in its home */
    size_t gradient;                  /* its first row of visit_gradient, where it is not kept */
} kith__sequence;

/* One row for each step of each sequence. */
typedef struct {
    kith__buffers buffers;
    float *gates, *c, *h;
} kith__sequence_rows;

struct kith__sequence_group {
    size_t first, count; /* of the sequences */
    size_t steps, rows;
    size_t *begin;                 /* the first row of each step */
    const kith__sequence_rows *in; /* NULL until the piece that runs it lends its own */
    size_t row;                    /* the first of them that is the group's */
};

/* Sequences and how they are cut. */
typedef struct {
    kith__buffers buffers;
    kith__sequence *sequences;
    kith__sequence_group *groups;
    size_t *begin;
    size_t count, group_count;
} kith__sequences;

/* For qsort: longer ones first. */
int kith__sequence_longer(const void *a, const void *b);
/* Cut sorted sequences into groups; -1 where memory is short. Kept ones and others are not mixed. */
int kith__sequences_cut(kith__sequences *plan);
/* How many sequences of a group are still running at a step, where at most so many are. */
size_t kith__sequences_running(const kith__sequences *plan, const kith__sequence_group *group,
                               size_t step, size_t at_most);
/* From now on the group has the gates and states of its sequences. */
void kith__sequences_settle(kith__sequences *plan, kith__sequence_group *group);
/* The row of a sequence's step. */
static inline size_t kith__sequence_row(const kith__sequence *q, size_t t)
{
    return q->home->row + q->home->begin[t] + q->place;
}
/* Make place for so many rows; -1 where memory is short. */
int kith__sequence_rows_reserve(kith__sequence_rows *rows, const kith__encoder *encoder,
                                size_t count);

#endif
