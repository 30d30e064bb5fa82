#include "run/overall_file.h"

#include <math.h>

#include "core/json.h"
#include "graph/graph.h"
#include "run/json_file.h"

static const char file_name[] = "overall.json";

/* Inputs are stored by name, so that one can be added or dropped. */
static const char *const inputs[KITH__OVERALL_INPUTS] = {
    "constant", "product", "has relation", "known answers", "known facts", "candidate's facts"};

/* ---- writing ---- */

static json_t *knots_json(const kith__overall *o)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < o->knots; i++)
        kith__json_append(&rows, json_pack("{sf sf sI sI}", "at", o->knot[i].at, "probability",
                                           o->knot[i].probability, "answers",
                                           (json_int_t)o->knot[i].answers, "entities",
                                           (json_int_t)o->knot[i].entities));
    return rows;
}

kith_status kith__overall_save(const char *folder, const kith__overall *o, kith_error *error)
{
    json_t *weights = json_object();

    for (int k = 0; k < KITH__OVERALL_INPUTS; k++)
        kith__json_set(&weights, inputs[k], json_real(o->weight[k]));
    return kith__json_save(folder, file_name,
                           json_pack("{sI sI so so}", "entities", (json_int_t)o->entities,
                                     "answers", (json_int_t)o->answers, "weights", weights,
                                     "knots", knots_json(o)),
                           error);
}

/* ---- reading ---- */

static bool read_number(double *number, const json_t *object, const char *name, double most)
{
    const json_t *value = json_object_get(object, name);

    *number = json_number_value(value);
    return json_is_number(value) && isfinite(*number) && fabs(*number) <= most;
}

static bool read_count(uint32_t *count, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    json_int_t number = json_integer_value(value);

    *count = (uint32_t)number;
    return json_is_integer(value) && number >= 0 && number <= UINT32_MAX;
}

/* Runs of earlier versions lack the last weight, which is then 0. */
static bool read_weights(kith__overall *o, const json_t *weights)
{
    for (int k = 0; k < KITH__OVERALL_INPUTS; k++)
        if ((k < KITH__OVERALL_INPUTS - 1 || json_object_get(weights, inputs[k])) &&
            !read_number(&o->weight[k], weights, inputs[k], 1e6))
            return false;
    return o->entities == 0 || kith__overall_is_monotone(o);
}

/* Knots must not decrease, so that a more likely answer never gets a lower probability.
 * Neighbouring knots may be equal, because many answers have the same score, shares near 0 are
 * bounded, and digits are rounded. */
static bool read_knots(kith__overall *o, const json_t *rows)
{
    size_t i;
    json_t *row;

    if (!json_is_array(rows) || json_array_size(rows) > KITH__MOST_KNOTS)
        return false;
    json_array_foreach(rows, i, row) {
        kith__knot *knot = &o->knot[o->knots++];
        if (!read_number(&knot->at, row, "at", 1e6) ||
            !read_number(&knot->probability, row, "probability", 1) || knot->probability <= 0 ||
            knot->probability >= 1 || !read_count(&knot->answers, row, "answers") ||
            !read_count(&knot->entities, row, "entities") ||
            (i > 0 && (knot->at < knot[-1].at || knot->probability < knot[-1].probability)))
            return false;
    }
    return true;
}

static bool read_overall(kith__overall *o, const json_t *object)
{
    return read_count(&o->entities, object, "entities") &&
           read_count(&o->answers, object, "answers") &&
           read_weights(o, json_object_get(object, "weights")) &&
           read_knots(o, json_object_get(object, "knots"));
}

kith_status kith__overall_open(kith_model *model, const char *folder, bool required,
                               kith_error *error)
{
    json_t *object = NULL;
    kith_status status;

    model->overall = (kith__overall){.fitted = false};
    if (!kith__path_exists(folder, file_name)) {
        if (model->has.fitted)
            kith__model_warn(
                model,
                "%s lacks overall.json, so its overall probabilities are not calibrated; "
                "train it again to calibrate them",
                folder);
        return KITH_OK;
    }
    TRY(kith__json_load(&object, NULL, folder, file_name, required, error));
    if (!read_overall(&model->overall, object))
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s/%s: a number is missing or cannot be used",
                       folder, file_name));
    model->overall.fitted = model->overall.entities > 0;
cleanup:
    json_decref(object);
    return status;
}
