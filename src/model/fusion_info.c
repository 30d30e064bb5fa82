/* Describes a fusion for users. */
#include "core/mem.h"
#include "model/model.h"

static void describe(kith_fusion_info *info, const kith_model *model)
{
    const kith__fused *f = model->fused;

    *info = (kith_fusion_info){.fused = 1,
                               .embedding = f->embedding,
                               .queries = f->fusion.queries,
                               .calibration_queries = f->fusion.calibration_queries,
                               .loss = f->fusion.loss,
                               .own_weights = f->fusion.own_count,
                               .regularization = f->fusion.regularization};
    for (int i = 0; i < KITH__CALIBRATION; i++)
        info->calibration[i] = model->calibration.weight[i];
}

kith_status kith_model_fusion(kith_fusion_info **info, const kith_model *model, kith_error *error)
{
    if (!info || !model)
        return kith__null_argument(error, __func__);

    kith_fusion_info *out = kith__calloc(1, sizeof *out);

    if (!out)
        return kith__no_memory(error);
    if (model->fused)
        describe(out, model);
    *info = out;
    return KITH_OK;
}

void kith_fusion_info_free(kith_fusion_info *info)
{
    kith__free(info);
}

size_t kith_model_rule_count(const kith_model *model, kith_evidence_part kind)
{
    return model && model->fused ? kith__rule_set_count(model->fused->evidence->rules, kind) : 0;
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
