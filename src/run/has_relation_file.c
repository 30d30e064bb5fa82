#include "run/has_relation_file.h"

#include <math.h>

#include "core/json.h"
#include "graph/graph.h"
#include "run/json_file.h"

static const char file_name[] = "has_relation.json";

/* Inputs are stored by name, so that one can be added or dropped. */
static const char *const inputs[KITH__HAS_INPUTS] = {
    "constant",          "known facts",         "has some",
    "number of them",    "one more of so many", "has some by known facts",
    "share of entities", "implied most",        "implied by all",
    "implied most by known facts"};

kith_status kith__has_relation_save(const char *folder, const kith__has_relation *has,
                                    kith_error *error)
{
    json_t *weights = json_object();

    for (int k = 0; k < KITH__HAS_INPUTS; k++)
        kith__json_set(&weights, inputs[k], json_real(has->weight[k]));
    return kith__json_save(folder, file_name,
                           json_pack("{sI sI so}", "entities", (json_int_t)has->entities, "samples",
                                     (json_int_t)has->samples, "weights", weights),
                           error);
}

static bool read_weights(kith__has_relation *has, const json_t *weights)
{
    for (int k = 0; k < KITH__HAS_INPUTS; k++) {
        const json_t *weight = json_object_get(weights, inputs[k]);
        has->weight[k] = json_number_value(weight);
        if (!json_is_number(weight) || !isfinite(has->weight[k]) || fabs(has->weight[k]) > 1e6)
            return false;
    }
    return true;
}

kith_status kith__has_relation_load(kith__has_relation *has, const char *folder, bool required,
                                    kith_error *error)
{
    json_t *object = NULL;
    kith_status status;

    *has = (kith__has_relation){.fitted = false};
    if (!kith__path_exists(folder, file_name))
        return KITH_OK;
    TRY(kith__json_load(&object, NULL, folder, file_name, required, error));
    if (!read_weights(has, json_object_get(object, "weights")))
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s/%s: a weight is missing or not a usable number",
                       folder, file_name));
    has->entities = (uint32_t)json_integer_value(json_object_get(object, "entities"));
    has->samples = (uint32_t)json_integer_value(json_object_get(object, "samples"));
    has->fitted = true;
cleanup:
    json_decref(object);
    return status;
}
