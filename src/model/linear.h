/* Fits a linear combination of features: weights that maximise the softmax share of the correct
 * rows. */
#ifndef KITH_MODEL_LINEAR_H
#define KITH_MODEL_LINEAR_H

#include <stdbool.h>

#include "core/pool.h"
#include "model/features.h"

/* Rows of candidates, query by query. */
typedef struct kith__row_table {
    size_t queries, rows;
    size_t *first;           /* per query, its first row; then the end */
    uint32_t *right;         /* per query: the row of the correct answer */
    float *feature;          /* rows x KITH__FEATURES_COUNT */
    float *offset;           /* per row: log of the number of candidates it represents */
    uint8_t *unseen;         /* per row: 1 if the candidate is unseen; the calls below ignore it */
    uint8_t *in_calibration; /* per query: 1 if it is in the calibration split */
    uint32_t *relation;      /* per query: the directed relation */
} kith__row_table;

enum { KITH__MOST_ROWS = 256 }; /* maximum per query */

/* The inverse standard deviation of each feature over all rows, at most 1 / `least`; 0 for features
 * that do not vary. */
void kith__linear_scales(double scale[KITH__FEATURES_COUNT], const kith__row_table *rows,
                         double least);
/* Newton's method on the sum of -log share over the listed queries. A ridge penalty regularises
 * weights, in units of their features' deviation, towards their values on entry. Weights of
 * features that are the same in all rows do not change. `pool` may be NULL. */
kith_status kith__linear_fit(float weight[KITH__FEATURES_COUNT], const kith__row_table *rows,
                             const double scale[KITH__FEATURES_COUNT], const uint32_t *queries,
                             size_t count, double ridge, kith__pool *pool, kith_error *error);
/* The negative log share of a query's correct row. */
double kith__linear_loss(const float weight[KITH__FEATURES_COUNT], const kith__row_table *rows,
                         size_t query);

static inline float kith__linear(const float *weight, const float *feature)
{
    float sum = 0;

    for (int k = 0; k < KITH__FEATURES_COUNT; k++)
        sum += weight[k] * feature[k];
    return sum;
}

#endif
