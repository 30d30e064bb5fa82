/* Rule evidence in training: mining rules, holding entities out, and fitting the fusion on them. */
#ifndef KITH_TRAIN_EVIDENCE_H
#define KITH_TRAIN_EVIDENCE_H

#include "run/run.h"

/* Train a model in its own folder, continuing from its state; frees it. */
typedef kith_status (*kith__train_call)(kith_train_end *end, const char *folder, kith_model *model,
                                        const kith_train_options *options, kith_error *error);

/* Add rules and the fusion to a run whose embedding is trained, unless it has them. If the fusion
 * has an embedding, `train` first trains a second one on the graph without the held-out entities,
 * in RUN/heldout, which is removed at the end. `end` is STOPPED if that training was stopped. */
kith_status kith__run_add_evidence(kith_train_end *end, const char *folder, kith_model *model,
                                   const kith_train_options *options, kith__train_call train,
                                   kith_error *error);
/* Remove what a run killed at its very end may have left in RUN/heldout. */
void kith__run_drop_held_out(const char *folder);

#endif
