/* How strongly the weights of single relations are regularised towards the common ones. */
#ifndef KITH_TRAIN_FIT_REGULARIZATION_H
#define KITH_TRAIN_FIT_REGULARIZATION_H

#include "train/fit_weights.h"

/* The strength with the least loss in two-fold cross-validation; 0 if relations do not rank better
 * with weights of their own. */
kith_status kith__choose_regularization(float *strength, const kith__weight_fit *fit,
                                        kith_error *error);

#endif
