/* The files for what a model with fusion has in addition to its embedding:
 *   rules.safetensors   direct and path rules
 *   fusion.json         weights and calibration, also those for whole new graphs; written last */
#ifndef KITH_RUN_FUSION_FILES_H
#define KITH_RUN_FUSION_FILES_H

#include "model/model.h"

typedef struct kith__fitted_fusion {
    kith__fusion fusion;
    kith__calibration calibration;
} kith__fitted_fusion;

bool kith__fusion_saved(const char *folder);
/* `new_graphs` is the fusion for whole new graphs, or NULL. */
kith_status kith__fusion_save(const char *folder, const kith__fitted_fusion *fusion,
                              const kith__fitted_fusion *new_graphs, kith_error *error);
kith_status kith__rules_save(const char *folder, const kith__rule_set *rules, kith_error *error);

/* The fusion for whole new graphs, with the ids of the run's own graph; false if it has none. */
kith_status kith__fusion_for_new_graphs(kith__fitted_fusion *fusion, bool *exists,
                                        const char *folder, kith_error *error);

/* The fusion of an earlier run, for a run that does not have its own yet: carried_fusion.json,
 * which is removed when fusion.json exists. `new_graphs` is as for kith__fusion_save. */
kith_status kith__carried_fusion_save(const char *folder, const kith__fitted_fusion *fusion,
                                      const kith__fitted_fusion *new_graphs, kith_error *error);
bool kith__carried_fusion_saved(const char *folder);
kith_status kith__carried_fusion_load(kith__fitted_fusion *fusion, kith__fitted_fusion *new_graphs,
                                      bool *exists, const char *folder, kith_error *error);
void kith__carried_fusion_drop(const char *folder);

/* Read both files and give the model their content. For a whole new graph, the weights for new
 * graphs are read if the run has them. */
kith_status kith__fused_open(kith_model *model, const char *folder, bool new_graph,
                             kith_error *error);
/* Give the model evidence and a fusion, which it then owns. */
kith_status kith__fused_give(kith_model *model, kith__evidence *evidence,
                             const kith__fusion *fusion, const kith__calibration *calibration,
                             kith_error *error);

#endif
