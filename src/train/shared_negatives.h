/* The negatives of the softmax loss: entities that all queries of a batch share. For each query,
 * those that are answers in train are excluded. */
#ifndef KITH_TRAIN_SHARED_NEGATIVES_H
#define KITH_TRAIN_SHARED_NEGATIVES_H

#include <stdbool.h>

#include "core/radix.h"
#include "core/rng.h"
#include "core/status.h"

/* Asks which entity `query`, one of the 2m relations, leads to from `known`. */
typedef struct kith__train_query {
    uint32_t known, query, answer;
} kith__train_query;

typedef struct kith__shared_negatives {
    /* Drawn for a batch. */
    uint32_t *shared;
    size_t shared_count;
    uint32_t *left_out; /* indices of shared negatives that are correct answers of query i: */
    size_t *left_start; /* these are left_out[left_start[i]] .. left_out[left_start[i + 1] - 1] */
    size_t left_capacity, start_capacity;
    uint32_t seed; /* for random choices in the batch's gradients */
    /* Of the graph: answers by (known, query); those of entity e begin at first[e]. */
    kith__item *answers;
    size_t *first;
    uint32_t seen;
    uint32_t *place; /* per entity: its index among the shared ones + 1 */
    bool drawn;
} kith__shared_negatives;

/* `shared` is limited to the number of seen entities. */
kith_status kith__shared_negatives_init(kith__shared_negatives *negatives,
                                         const kith_graph *graph, size_t shared,
                                         kith_error *error);
void kith__shared_negatives_release(kith__shared_negatives *negatives);
/* Draw for a batch of queries. */
kith_status kith__shared_negatives_draw(kith__shared_negatives *negatives,
                                         const kith__train_query *queries, size_t count,
                                         kith__rng *rng, kith_error *error);

#endif
