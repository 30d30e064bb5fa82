/* Losses over the scores of true and false facts. To add one, write it in loss.c and add a row to its
 * table and a value to kith_loss. The softmax loss has no such scores: see train/softmax.h. */
#ifndef KITH_TRAIN_LOSS_H
#define KITH_TRAIN_LOSS_H

#include "embed/settings.h"

/* `per` false facts belong to each of the `count` true ones. Returns the loss and sets the
 * derivatives by each score; a derivative of 0 means that nothing has to be taken back there. */
typedef double (*kith__loss)(float *by_positive, float *by_negative, const float *positive,
                             const float *negative, size_t count, size_t per, double margin);

kith__loss kith__loss_get(kith_loss loss);

#endif
