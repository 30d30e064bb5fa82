/* The candidates of held-out queries that weights are fitted on, as rows of features. */
#ifndef KITH_TRAIN_FIT_ROWS_H
#define KITH_TRAIN_FIT_ROWS_H

#include "model/answer_set.h"
#include "model/linear.h"
#include "model/model.h"
#include "train/holdout.h"

/* The queries of a hold-out, and what scores them. The caller sets the first three members. */
typedef struct kith__fit_data {
    kith_model *model;
    const kith__evidence *evidence;
    bool embedding;
    const kith__query *queries;
    size_t count;
    /* The candidates: seen entities, and also held-out ones if facts between these are known. */
    kith__answer_set among;
    kith__known known[2]; /* [subject hidden] */
    /* Buffers for the maximum number of rows per query, and each query's number of rows. */
    float *feature, *offset;
    uint8_t *unseen;
    size_t *taken;
    uint32_t *right;
} kith__fit_data;

/* Must be released even if it failed. */
kith_status kith__fit_data_init(kith__fit_data *data, const kith__holdout *holdout,
                                kith_error *error);
void kith__fit_data_release(kith__fit_data *data);

/* For each query: the candidates that `fusion` scores highest, the correct answer, and a sample of
 * the others. */
kith_status kith__fit_rows(kith__row_table *rows, kith__fit_data *data, const kith__fusion *fusion,
                           kith_error *error);
void kith__fit_rows_release(kith__row_table *rows);

#endif
