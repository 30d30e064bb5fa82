/* Batches of training: true facts with false ones, or queries with shared negatives. */
#ifndef KITH_TRAIN_BATCH_H
#define KITH_TRAIN_BATCH_H

#include "embed/settings.h"
#include "train/order.h"
#include "train/shared_negatives.h"

/* Which members are set depends on the negatives that the loss needs (embed/losses/loss.h). */
typedef struct kith__batch {
    size_t count; /* true facts, or queries */
    /* KITH__CORRUPTED: `per` false facts for each true one. */
    const kith_triple *positive, *negative;
    size_t per;
    /* KITH__SHARED */
    const kith__train_query *queries;
    const kith__shared_negatives *shared;
} kith__batch;

/* Draws the batches of an epoch. */
typedef struct kith__batches {
    const kith_settings *settings;
    bool shared_negatives;        /* whether the loss needs shared negatives */
    uint32_t entities, relations; /* those of train */
    kith_triple *positive, *negative;
    kith__train_query *queries;
    kith__shared_negatives shared;
    kith__batch batch; /* the batch drawn last */
    size_t facts;      /* drawn from this many facts */
} kith__batches;

kith_status kith__batches_init(kith__batches *batches, const kith_graph *graph,
                               const kith_settings *settings, kith_error *error);
void kith__batches_release(kith__batches *batches);
/* Draw the batch with this number, in the epoch's order. */
kith_status kith__batches_draw(kith__batches *batches, const kith__order *order, uint64_t number,
                               kith__rng *rng, kith_error *error);

#endif
