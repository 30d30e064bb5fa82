/* One step of training: the loss of a batch and its gradients. */
#ifndef KITH_TRAIN_STEP_H
#define KITH_TRAIN_STEP_H

#include "embed/encoder/encoder.h"
#include "train/loss.h"
#include "train/softmax.h"

/* Rows as scores take them, scaled to length 1 where the decoder wants that, and the gradients by them. */
typedef struct kith__scaled {
    kith__floats row, inverse, gradient; /* inverse: 1 / length */
    uint8_t *touched;                    /* whether a row has a gradient */
    size_t count, touched_capacity;
} kith__scaled;

typedef struct kith__step {
    kith__encoder *encoder;
    const kith_settings *settings;
    const kith__params *params;
    size_t d, ds; /* width of vectors, and their stride */
    kith__gradients gradients;
    /* The batch. */
    const kith_triple *positive, *negative;
    size_t count, per;
    size_t *request; /* of subjects and objects, true facts first */
    size_t request_capacity;
    uint32_t *relation, *relation_slot; /* those of the batch; per relation, its place there + 1 */
    size_t relation_capacity;
    kith__scaled encodings, inputs, relations; /* inputs: the rows of the encodings' entities */
    /* Scores and derivatives: true facts, then false ones; of encoded vectors and of input rows. */
    kith__floats out, in, by_out, by_in, scratch;
    kith__softmax softmax;
    double loss_out, loss_in, penalty;
} kith__step;

kith_status kith__step_init(kith__step *step, kith__encoder *encoder, const kith__params *params,
                            const kith_settings *settings, kith_error *error);
void kith__step_release(kith__step *step);

/* Compute the batch's losses; gradients are left in step->gradients, which must be clear before. */
kith_status kith__step_run(kith__step *step, const kith_triple *positive,
                           const kith_triple *negative, size_t count, size_t per,
                           kith_error *error);
/* The same for the softmax loss, over queries instead of facts. */
kith_status kith__step_ask(kith__step *step, const kith__softmax_query *asked, size_t count,
                           const kith__softmax_negatives *negatives, kith_error *error);
double kith__step_loss(const kith__step *step);

#endif
