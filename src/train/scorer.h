/* How a batch is scored: what the engine (train/step.c) asks of the two ways there are, facts by the
 * decoder (train/fact_scores.h) and queries against shared candidates (train/query_scores.h). */
#ifndef KITH_TRAIN_SCORER_H
#define KITH_TRAIN_SCORER_H

#include "embed/decoders/decoder.h"
#include "embed/encoder/encoder.h"
#include "embed/losses/loss.h"
#include "train/batch.h"

/* What a scorer works with. */
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
    /* Ask the encoder for the vectors that the batch needs. */
    kith_status (*request)(void *self, const kith__batch *batch, kith_error *error);
    /* After the forward pass, before scoring. */
    kith_status (*prepare)(void *self, kith_error *error);
    /* Scores, their loss, which is returned, and its derivatives. */
    double (*run)(void *self, kith__pass pass);
    /* Gradients by encodings to the encoder; before its backward pass. */
    void (*to_encodings)(void *self, kith__gradients *gradients);
    /* Gradients by input embeddings and the rest; after it, because the encoder's backward pass has to
     * be the first to make rows of gradients. */
    kith_status (*to_inputs)(void *self, kith__gradients *gradients, kith_error *error);
} kith__scorer;

#endif
