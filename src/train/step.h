/* One step of training: the loss of a batch and its gradients. */
#ifndef KITH_TRAIN_STEP_H
#define KITH_TRAIN_STEP_H

#include "train/fact_scores.h"
#include "train/query_scores.h"

typedef struct kith__engine {
    kith__scoring scoring;
    kith__gradients gradients;
    const kith__scorer *scorer; /* one of the next two, depending on the loss */
    void *scorer_state;
    kith__fact_scores facts;
    kith__query_scores queries;
    double loss_out, loss_in, penalty; /* on encodings, on input embeddings, and of weight decay */
} kith__engine;

kith_status kith__engine_init(kith__engine *engine, kith__encoder *encoder,
                              const kith__params *params, const kith_settings *settings,
                              kith_error *error);
void kith__engine_release(kith__engine *engine);

/* Compute the batch's losses; gradients are added to engine->gradients, which must be clear before.
 * If the encoder's watch stops it, losses and gradients mean nothing. */
kith_status kith__engine_run(kith__engine *engine, const kith__batch *batch, kith_error *error);
double kith__engine_loss(const kith__engine *engine);

#endif
