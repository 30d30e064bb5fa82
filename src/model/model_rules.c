/* Lists the learned rules of a model, with its current facts. */
#include "model/idle_pools.h"
#include "rules/list_rules.h"

kith_status kith_model_rules(kith_rules **rules, const kith_model *model,
                             const kith_rules_options *options, kith_error *error)
{
    if (!rules || !model)
        return kith__null_argument(error, __func__);
    if (!model->fused)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the model is an embedding alone, which has no rules");

    kith_rules_options used;
    kith_status status = kith__rules_options(&used, model->graph, options, error);

    if (status != KITH_OK)
        return status;
    kith__pool *pool = kith__model_take_pool(model, used.threads);
    status = kith__rules_list(rules, model->graph, model->fused->evidence, pool, &used, error);
    kith__model_give_pool(model, pool);
    return status;
}
