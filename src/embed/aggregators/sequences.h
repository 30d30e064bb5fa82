/* The sequences of an LSTM, sorted by length and cut into groups. All sequences of a group take
 * their t-th step together, longest first, so that a step is one matrix product. */
#ifndef KITH_EMBED_AGGREGATORS_SEQUENCES_H
#define KITH_EMBED_AGGREGATORS_SEQUENCES_H

#include "embed/encoder/state.h"

enum {
    /* a multiple of the kernels' block size; a step fits in the cache */
    KITH__SEQUENCES_A_GROUP = 96
};

typedef struct kith__sequence_group kith__sequence_group;

typedef struct {
    size_t encoding, steps, degree;
    const kith__sequence_group *home; /* the group that holds its gates and states */
    size_t place;                     /* in its home */
    size_t gradient;                  /* its first row of visit_gradient, if it is not kept */
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
    const kith__sequence_rows *in; /* NULL until the piece that runs the group lends its rows */
    size_t row;                    /* the group's first row in `in` */
};

/* Sequences and how they are cut. */
typedef struct {
    kith__buffers buffers;
    kith__sequence *sequences;
    kith__sequence_group *groups;
    size_t *begin;
    size_t count, group_count;
} kith__sequences;

/* For qsort: longer sequences first. */
int kith__sequence_longer(const void *a, const void *b);
/* Cut sorted sequences into groups; -1 if out of memory. Kept and other sequences are not mixed. */
int kith__sequences_cut(kith__sequences *plan);
/* How many sequences of a group are still running at a step, given an upper bound. */
size_t kith__sequences_running(const kith__sequences *plan, const kith__sequence_group *group,
                               size_t step, size_t at_most);
/* Make the group the home of its sequences' gates and states. */
void kith__sequences_settle(kith__sequences *plan, kith__sequence_group *group);
/* The row of step t of a sequence. */
static inline size_t kith__sequence_row(const kith__sequence *q, size_t t)
{
    return q->home->row + q->home->begin[t] + q->place;
}
/* Reserve this many rows; -1 if out of memory. */
int kith__sequence_rows_reserve(kith__sequence_rows *rows, const kith__encoder *encoder,
                                size_t count);

#endif
