/* A sum of small decision trees, fitted listwise: each query has candidates, one of which is right,
 * and trees are added to a given score so that the right one's share in the softmax grows (Friedman
 * 2001 with the gradient of Cao et al. 2007). */
#ifndef KITH_FUSE_TREES_H
#define KITH_FUSE_TREES_H

#include <stdbool.h>

#include "core/pool.h"
#include "fuse/features.h"

typedef struct kith__node {
    int32_t feature;      /* -1: a leaf */
    uint32_t left, right; /* below the threshold, and not below */
    float threshold;
    float value; /* of a leaf; elsewhere what it would be if the tree ended here */
} kith__node;

typedef struct kith__trees {
    size_t count;
    uint32_t *root; /* count + 1: where each tree's nodes begin */
    kith__node *node;
} kith__trees;

/* Rows of candidates, query by query. A query whose right answer is not among its rows teaches the
 * trees nothing, for it would only show them how it got there. */
#define KITH__NOT_LISTED UINT32_MAX
typedef struct kith__lists_of_rows {
    size_t queries, rows;
    size_t *first;   /* queries + 1 */
    uint32_t *right; /* per query: the row of the right answer, or KITH__NOT_LISTED */
    float *feature;  /* rows x KITH__FEATURES_COUNT */
    float *score;    /* per row: what the trees are added to */
    uint8_t *fold;   /* per query: 1 where it is set aside to choose by */
} kith__lists_of_rows;

typedef struct kith__trees_options {
    size_t most, leaves;
    double rate, ridge, least; /* learning rate; added to, and least sum of, second derivatives */
} kith__trees_options;

/* Fit on the queries of fold 0, or on all of them where `all`. With `choose`, stop at the number of
 * trees that does best on fold 1. */
kith_status kith__trees_fit(kith__trees *trees, const kith__lists_of_rows *rows,
                            const kith__trees_options *options, bool all, bool choose,
                            kith__pool *pool, kith_error *error);
void kith__trees_release(kith__trees *trees);

float kith__trees_value(const kith__trees *trees, const float *feature);
/* What each feature adds, so that these and the return value sum to the trees' value: going down a
 * tree, a step's change of value belongs to the feature that the step looked at. */
float kith__trees_parts(float part[KITH__FEATURES_COUNT], const kith__trees *trees,
                        const float *feature);

#endif
