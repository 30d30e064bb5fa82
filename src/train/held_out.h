/* Measures a fusion on queries about held-out entities that it was not fitted on. */
#ifndef KITH_TRAIN_HELD_OUT_H
#define KITH_TRAIN_HELD_OUT_H

#include "model/held_out.h"
#include "model/query.h"
#include "model/shares.h"
#include "model/model.h"

/* One query: its rank, and its best answers. */
typedef struct kith__held_out_query {
    uint32_t entity;
    double rank; /* mean rank among ties */
    size_t samples;
    kith__sample sample[KITH__JUDGED];
} kith__held_out_query;

/* The data that a fusion is measured on, filled in by the fitting code. */
typedef struct kith__held_out_data {
    kith_model *model;
    const kith__evidence *evidence;
    bool embedding;
    size_t candidates;
    const kith__known *known; /* [subject hidden] */
} kith__held_out_data;

/* Rank the hidden sides of queries; `out` holds `count`. */
kith_status kith__held_out_rank(kith__held_out_query *out, const kith__held_out_data *data,
                                const kith__fusion *fusion, const kith__query *queries,
                                size_t count, kith_error *error);

/* Metrics over all queries, which are sorted by entity. The probabilities of each half of the
 * entities are calibrated on the other half. */
kith_status kith__held_out_sum_up(kith__held_out *out, kith__held_out_query *queries, size_t count,
                                  kith_error *error);

#endif
