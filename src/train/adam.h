/* Adam (Kingma, Ba 2015). */
#ifndef KITH_TRAIN_ADAM_H
#define KITH_TRAIN_ADAM_H

#include "core/pool.h"
#include "embed/gradients.h"

typedef struct kith__adam_state {
    kith__params m, v;
    uint64_t steps;
} kith__adam_state;

kith_status kith__adam_init(kith__adam_state *adam, const kith__params *params, kith_error *error);
void kith__adam_release(kith__adam_state *adam);
/* One step, with `rate` times the setting's learning rate. Dense: rows without a gradient decay and
 * move too; lazy: they stay. */
void kith__adam_step(kith__adam_state *adam, kith__params *params, const kith__gradients *gradients,
                     const kith_settings *settings, double rate, kith__pool *pool);

#endif
