/* classifier.json: the classifier of true and false facts, for a run whose dev has labels. */
#ifndef KITH_RUN_CLASSIFIER_FILE_H
#define KITH_RUN_CLASSIFIER_FILE_H

#include "model/classify.h"

kith_status kith__classifier_save(const char *folder, const kith__classifier *classifier,
                                  kith_error *error);
/* Give it to the model; if a run with labels lacks it, it is fitted now, with a warning. */
kith_status kith__classifier_open(kith_model *model, const char *folder, kith_error *error);

#endif
