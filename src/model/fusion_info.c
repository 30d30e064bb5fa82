/* What people can see of a fusion. */
#include "model/model.h"

void kith_model_fusion(kith_fusion_info *info, const kith_model *model)
{
    if (!info || !model)
        return;

    const kith__fused *f = model->fused;

    *info = (kith_fusion_info){0};
    if (!f)
        return;
    const kith__rule_set *rules = f->evidence->rules;
    *info = (kith_fusion_info){.fused = 1,
                               .embedding = f->embedding,
                               .rules_a = rules->pairs.offset[rules->relations],
                               .rules_b = rules->paths.offset[rules->relations],
                               .queries = f->fusion.queries,
                               .calibration_queries = f->fusion.calibration_queries,
                               .loss = f->fusion.loss,
                               .own = f->fusion.own_count,
                               .pull = f->fusion.pull};
    for (int i = 0; i < KITH__CALIBRATION; i++)
        info->calibration[i] = model->calibration.weight[i];
}

const char *kith_model_fusion_weight(double *weight, kith_evidence_part *part,
                                     const kith_model *model, size_t index)
{
    if (!model || !model->fused || index >= KITH__FEATURES_COUNT)
        return NULL;
    if (weight)
        *weight = model->fused->fusion.common.all[index];
    if (part)
        *part = kith__feature_part((int)index);
    return kith__feature_name((int)index);
}

int kith_model_relation_weight(double *weight, const kith_model *model, uint32_t relation,
                               int subject_hidden, size_t index)
{
    if (!model)
        return 0;

    uint32_t m = kith_graph_seen_relation_count(model->graph);
    double unused;

    if (!weight)
        weight = &unused;
    *weight = 0;
    if (!model->fused || index >= KITH__FEATURES_COUNT || relation >= m)
        return 0;
    const kith__fusion *f = &model->fused->fusion;
    const kith__weights *weights = kith__fusion_weights(f, relation + (subject_hidden ? m : 0));
    *weight = weights->all[index];
    return weights != &f->common;
}
