/* classifier.json: the classifier of true and false facts, for a run whose dev has labels. */
#ifndef KITH_RUN_CLASSIFIER_FILE_H
#define KITH_RUN_CLASSIFIER_FILE_H

#include "model/classify.h"

kith_status kith__classifier_save(const char *folder, const kith__classifier *classifier,
                                  kith_error *error);
/* Give it to the model. If it is missing and dev of the model's graph has labels, it is fitted now,
 * with a warning; `other_graph` says that this is not the run's own graph. */
kith_status kith__classifier_open(kith_model *model, const char *folder, bool other_graph,
                                  kith_error *error);

#endif
