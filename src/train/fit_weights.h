/* Fitting the weights of a fusion: the common weights, and those of each relation. */
#ifndef KITH_TRAIN_FIT_WEIGHTS_H
#define KITH_TRAIN_FIT_WEIGHTS_H

#include "train/fit_rows.h"

/* A subset of the queries, by relation. */
typedef struct kith__query_list {
    uint32_t *at;
    size_t count;
} kith__query_list;

/* Subsets of the queries; the halves divide the entities. */
enum {
    KITH__ALL_QUERIES,
    KITH__FITTING_SPLIT,
    KITH__CALIBRATION_SPLIT,
    KITH__ONE_HALF,
    KITH__OTHER_HALF,
    KITH__QUERY_LISTS
};

typedef struct kith__weight_fit {
    kith__row_table rows;   /* with all features, seen candidates only */
    kith__row_table bare;   /* the same rows without the embedding's features */
    kith__row_table unseen; /* also without the embedding's features; all candidates */
    double scale[KITH__FEATURES_COUNT], unseen_scale[KITH__FEATURES_COUNT];
    bool embedding, with_unseen; /* which sets of weights are fitted separately */
    bool every;                  /* fit all of these sets, not only the first */
    kith__pool *pool;
    kith__query_list lists[KITH__QUERY_LISTS];
} kith__weight_fit;

/* Candidates with this offset have a share of 0. It is finite because the kernels require finite
 * numbers. */
static const float kith__no_share = -1e30f;

/* `rows` must outlive it. Must be released even if it failed. */
kith_status kith__weight_fit_init(kith__weight_fit *fit, const kith__row_table *rows,
                                  const kith__fit_data *data, kith_error *error);
void kith__weight_fit_release(kith__weight_fit *fit);

/* Initial weights, good enough to choose the first rows. They are also used if there is nothing to
 * fit on. */
void kith__default_weights(kith__weights *weights, bool embedding);
/* Fit the weights that all relations share, on one of the subsets. */
kith_status kith__fit_common(kith__fusion *fusion, const kith__weight_fit *fit, int which,
                             kith_error *error);
/* Fit the weights of each relation, regularised towards the common weights, which must have been
 * fitted. */
kith_status kith__fit_own(kith__fusion *fusion, const kith__weight_fit *fit, int which,
                          float strength, kith_error *error);
/* Fit both; only the common weights if `strength` is 0. If the subset is empty, the weights do not
 * change. */
kith_status kith__fit_weights(kith__fusion *fusion, const kith__weight_fit *fit, int which,
                              float strength, kith_error *error);

#endif
