/* What training does for rule evidence: mine, hold entities out, fit the fusion on them. */
#ifndef KITH_TRAIN_EVIDENCE_H
#define KITH_TRAIN_EVIDENCE_H

#include "run/run.h"

/* Train a model in a folder of its own, from where it stands; frees it. */
typedef kith_status (*kith__train_call)(kith_train_end *end, const char *folder, kith_model *model,
                                        const kith_train_options *options, kith_error *error);

/* Give a run whose embedding is trained its rules and fusion, if it lacks them. Where the embedding
 * counts, one more is trained on the graph with held-out entities, by `train`, in RUN/heldout, which
 * goes when all is done. The end says STOPPED where that training was. */
kith_status kith__run_add_evidence(kith_train_end *end, const char *folder, kith_model *model,
                                   const kith_train_options *options, kith__train_call train,
                                   kith_error *error);
/* Remove what a run that was killed at its very end may have left in RUN/heldout. */
void kith__run_drop_held_out(const char *folder);

#endif
