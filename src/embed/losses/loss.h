/* Losses: how far the score of a true fact exceeds the scores of its negatives. To add one, write
 * <name>.c and add a row to KITH__LOSSES. */
#ifndef KITH_EMBED_LOSSES_LOSS_H
#define KITH_EMBED_LOSSES_LOSS_H

#include <stdbool.h>

#include "embed/settings.h"

typedef enum kith__negatives_kind {
    KITH__CORRUPTED, /* each true fact has its own false facts, with one side replaced */
    KITH__SHARED     /* entities that all queries of a batch share as false answers */
} kith__negatives_kind;

/* The score of a true fact, or of the answer to a query, and those of its negatives. A loss reads
 * the scores and replaces them by its derivatives. */
typedef struct kith__scores {
    float *positive, *negative;
    size_t count;  /* number of negatives; a shared one may be KITH__LEFT_OUT (nn/match.h) */
    /* groups in the batch: the batch's loss is their mean, and derivatives are those of the mean */
    size_t groups;
    const kith_settings *settings;
    float *scratch; /* as long as `negative`; for shared negatives only */
    /* 1 on entry; a loss may set a factor that all derivatives of negatives still need */
    float factor;
} kith__scores;

typedef struct kith__loss {
    const char *name;
    kith__negatives_kind negatives;
    bool margin; /* reads the setting `margin` */
    bool scaled; /* scores are the decoder's times the setting `scale` */
    /* Returns the loss of one group. A derivative of 0 skips the backward pass there; if a score is
     * not finite, neither is the loss. */
    double (*run)(kith__scores *scores);
} kith__loss;

/* The table: one row per loss, in the order of the setting's values. */
#define KITH__LOSSES(ROW) ROW(margin) ROW(logistic) ROW(softmax)

#define KITH__DECLARE(name) extern const kith__loss kith__loss_##name;
KITH__LOSSES(KITH__DECLARE)
#undef KITH__DECLARE

const kith__loss *kith__loss_get(int index);
const char *kith__loss_names(void); /* "a|b|c" */

#endif
