/* How a batch is scored: the interface between the engine (train/step.c) and the two ways to score,
 * facts by the decoder (train/fact_scores.h) and queries against shared candidates
 * (train/query_scores.h). */
#ifndef KITH_TRAIN_SCORER_H
#define KITH_TRAIN_SCORER_H

#include "embed/decoders/decoder.h"
#include "embed/encoder/encoder.h"
#include "embed/losses/loss.h"
#include "train/batch.h"

/* What a scorer needs. */
typedef struct kith__scoring {
    kith__encoder *encoder;
    const kith_settings *settings;
    const kith__params *params;
    const kith__decoder *decoder;
    const kith__loss *loss;
    size_t d, ds; /* width of vectors, and their stride */
    bool unit;    /* scores compare vectors of length 1 */
} kith__scoring;

/* Each batch is scored on encodings, and with the setting `subtask` on input embeddings too. */
typedef enum { KITH__BY_ENCODINGS, KITH__BY_INPUTS } kith__pass;

/* In the order of the calls; `self` is the scorer's state. */
typedef struct kith__scorer {
    /* Request the vectors that the batch needs from the encoder. */
    kith_status (*request)(void *self, const kith__batch *batch, kith_error *error);
    /* After the forward pass, before scoring. */
    kith_status (*prepare)(void *self, kith_error *error);
    /* Computes scores and derivatives; returns the loss. */
    double (*run)(void *self, kith__pass pass);
    /* Gradients of encodings to the encoder; before its backward pass. */
    void (*to_encodings)(void *self, kith__gradients *gradients);
    /* Gradients of input embeddings and the rest; after the encoder's backward pass, which must
     * make the first rows of gradients. */
    kith_status (*to_inputs)(void *self, kith__gradients *gradients, kith_error *error);
} kith__scorer;

#endif
