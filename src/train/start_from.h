/* Initial values from an earlier run on the same graph or a smaller version of it: what it learned
 * about entities and relations that both have, matched by name. */
#ifndef KITH_TRAIN_START_FROM_H
#define KITH_TRAIN_START_FROM_H

#include "run/fusion_files.h"

/* What is carried over in addition to the parameters. */
typedef struct kith__carried {
    bool fused; /* the earlier run has a fusion */
    kith__fitted_fusion fusion;
    bool for_new_graphs; /* and one for whole new graphs */
    kith__fitted_fusion new_graphs;
    kith__has_relation has;
    kith__overall overall;
} kith__carried;

/* Set the parameters of a new model. Entities that the earlier run had not seen start from their
 * encodings by it, if facts link them to entities that it had seen. Fails with KITH_ERR_ARGUMENT if
 * the settings do not match or the graphs have nothing in common. */
kith_status kith__start_from(kith__carried *carried, kith_model *model, const char *folder,
                             const kith_work_options *options, kith_error *error);
/* Save what is carried over to the folder of the new run. */
kith_status kith__carried_save(const char *folder, const kith__carried *carried, kith_error *error);
void kith__carried_release(kith__carried *carried);

#endif
