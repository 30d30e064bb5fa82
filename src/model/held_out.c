#include "core/mem.h"
#include "model/model.h"

/* The caller's result, and the arrays it points to. */
typedef struct {
    kith_held_out shown;
    kith__held_out own;
    const kith_reliability *bins[KITH__RELIABILITY_BINS];
    kith_probability_eval *probabilities;
} result;

kith_status kith_model_held_out(kith_held_out **held_out, const kith_model *model,
                                kith_error *error)
{
    if (!held_out || !model)
        return kith__null_argument(error, __func__);
    if (model->held_out.entities == 0)
        return kith__fail(error, KITH_ERR_NOT_FOUND,
                          "training measured nothing on held-out entities");

    result *r = kith__calloc(1, sizeof *r);

    if (!r)
        return kith__no_memory(error);
    r->own = model->held_out;
    if (r->own.probabilities.entities > 0 &&
        !(r->probabilities = kith__probability_eval_of(&r->own.probabilities))) {
        kith__free(r);
        return kith__no_memory(error);
    }
    for (int i = 0; i < KITH__RELIABILITY_BINS; i++)
        r->bins[i] = &r->own.bins[i];
    r->shown = (kith_held_out){.entities = r->own.entities,
                               .metrics = &r->own.metrics,
                               .reliability = r->bins,
                               .reliability_count =
                                   r->own.calibration_error < 0 ? 0 : KITH__RELIABILITY_BINS,
                               .calibration_error = r->own.calibration_error,
                               .probabilities = r->probabilities};
    *held_out = &r->shown;
    return KITH_OK;
}

void kith_held_out_free(kith_held_out *held_out)
{
    if (held_out)
        kith_probability_eval_free(((result *)held_out)->probabilities);
    kith__free(held_out);
}
