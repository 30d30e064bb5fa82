/* How strongly the weights of single relations are regularised towards the common weights. */
#ifndef KITH_TRAIN_FIT_REGULARIZATION_H
#define KITH_TRAIN_FIT_REGULARIZATION_H

#include "train/fit_weights.h"

/* The strength with the lowest loss in two-fold cross-validation; 0 if weights per relation do not
 * improve the ranking. */
kith_status kith__choose_regularization(float *strength, const kith__weight_fit *fit,
                                        kith_error *error);

#endif
