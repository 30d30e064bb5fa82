/* Fitting the weights of a fusion: common ones, and those of each relation. */
#ifndef KITH_TRAIN_FIT_WEIGHTS_H
#define KITH_TRAIN_FIT_WEIGHTS_H

#include "train/fit_rows.h"

/* Some of the queries, by relation. */
typedef struct kith__query_list {
    uint32_t *at;
    size_t count;
} kith__query_list;

/* Which queries; halves are of the entities. */
enum {
    KITH__ALL_QUERIES,
    KITH__FITTING_SPLIT,
    KITH__CALIBRATION_SPLIT,
    KITH__ONE_HALF,
    KITH__OTHER_HALF,
    KITH__QUERY_LISTS
};

typedef struct kith__weight_fit {
    kith__rows rows;   /* with all features, seen candidates only */
    kith__rows bare;   /* the same without those of the embedding */
    kith__rows unseen; /* without them too, all candidates */
    double scale[KITH__FEATURES_COUNT], unseen_scale[KITH__FEATURES_COUNT];
    bool embedding, with_unseen; /* which sets of weights differ */
    bool every;                  /* all of them are fitted, not just the first */
    kith__pool *pool;
    kith__query_list lists[KITH__QUERY_LISTS];
} kith__weight_fit;

/* Candidates with this offset have no share. Kernels may count on finite numbers. */
static const float kith__no_share = -1e30f;

/* `rows` must outlive it. To be released even if it failed. */
kith_status kith__weight_fit_init(kith__weight_fit *fit, const kith__rows *rows,
                                  const kith__fit_data *data, kith_error *error);
void kith__weight_fit_release(kith__weight_fit *fit);

/* Weights to begin with: good enough to choose the first rows, and where there is nothing to fit
 * on. */
void kith__default_weights(kith__weights *weights, bool embedding);
/* The weights that all relations have in common, fitted on one of the lists. */
kith_status kith__fit_common(kith__fusion *fusion, const kith__weight_fit *fit, int which,
                             kith_error *error);
/* The weights of each relation, regularised towards common ones that are fitted already. */
kith_status kith__fit_own(kith__fusion *fusion, const kith__weight_fit *fit, int which,
                          float strength, kith_error *error);
/* Both; only common ones if `strength` is 0. An empty list leaves the weights as they are. */
kith_status kith__fit_weights(kith__fusion *fusion, const kith__weight_fit *fit, int which,
                              float strength, kith_error *error);

#endif
