#include "run/classifier_file.h"

#include <math.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "graph/graph.h"
#include "run/json_file.h"

enum { FORMAT = 1 };
static const char file_name[] = "classifier.json";
/* For the embedding alone, because the scores of the other classifiers are log-odds. */
static const char slope_name[] = "embedding_slope";
/* Names for infinite thresholds. */
static const char always[] = "always true", never[] = "never true";

/* ---- writing ---- */

static json_t *threshold_json(float threshold)
{
    if (isinf(threshold))
        return json_string(threshold < 0 ? always : never);
    return json_real((double)threshold);
}

static json_t *judgement_json(const kith__judgement *j, uint32_t relations)
{
    json_t *list = json_array();

    for (uint32_t r = 0; r < relations; r++) {
        json_t *weights = json_object();
        for (int k = 0; k < KITH__FACT_FEATURES_COUNT; k++)
            kith__json_set(&weights, kith__fact_feature_name(k),
                           json_real((double)j->weight[r][k]));
        kith__json_append(&list, json_pack("{so so}", "weights", weights, "threshold",
                                           threshold_json(j->threshold[r])));
    }
    return list;
}

kith_status kith__classifier_save(const char *folder, const kith__classifier *c, kith_error *error)
{
    json_t *object = json_pack("{si sI}", "format", FORMAT, "relations", (json_int_t)c->relations);

    for (int by = 0; object && by < KITH__CLASSIFY_BY; by++)
        if (c->by[by].weight)
            kith__json_set(&object, kith__classify_by_name(by),
                           judgement_json(&c->by[by], c->relations));
    if (object && c->by[KITH__BY_EMBEDDING].weight)
        kith__json_set(&object, slope_name, json_real(c->by[KITH__BY_EMBEDDING].slope));
    return kith__json_save(folder, file_name, object, error);
}

/* ---- reading ---- */

static bool read_threshold(float *threshold, const json_t *value)
{
    const char *text = json_string_value(value);

    if (text && strcmp(text, always) == 0)
        *threshold = -INFINITY;
    else if (text && strcmp(text, never) == 0)
        *threshold = INFINITY;
    else
        *threshold = json_is_number(value) ? (float)json_number_value(value) : NAN;
    return text ? isinf(*threshold) : isfinite(*threshold);
}

static bool read_judgement(kith__judgement *j, const json_t *list, uint32_t relations)
{
    bool good = json_array_size(list) == relations;

    for (uint32_t r = 0; good && r < relations; r++) {
        const json_t *one = json_array_get(list, r), *weights = json_object_get(one, "weights");
        for (int k = 0; k < KITH__FACT_FEATURES_COUNT; k++) {
            const json_t *value = json_object_get(weights, kith__fact_feature_name(k));
            j->weight[r][k] = (float)json_number_value(value);
            good &= json_is_number(value) && isfinite(j->weight[r][k]);
        }
        good &= read_threshold(&j->threshold[r], json_object_get(one, "threshold"));
    }
    return good;
}

/* Read the slopes. Runs of earlier versions have none: their verdicts have no probability. */
static bool read_slopes(kith__classifier *c, const json_t *object)
{
    const json_t *value = json_object_get(object, slope_name);

    c->by[KITH__BY_ALL].slope = c->by[KITH__BY_RULES].slope = 1;
    c->by[KITH__BY_EMBEDDING].slope = (float)json_number_value(value);
    return !value || (json_is_number(value) && isfinite(c->by[KITH__BY_EMBEDDING].slope) &&
                      c->by[KITH__BY_EMBEDDING].slope >= 0);
}

static kith_status load(kith_model *model, const char *folder, kith_error *error)
{
    uint32_t relations = kith_graph_seen_relation_count(model->graph);
    kith__classifier *c = NULL;
    json_t *object = NULL;
    bool good;
    kith_status status;

    TRY(kith__json_load(&object, NULL, folder, file_name, true, error));
    TRY(kith__classifier_new(&c, relations, error));
    good = json_integer_value(json_object_get(object, "format")) == FORMAT;
    for (int by = 0; by < KITH__CLASSIFY_BY && good; by++) {
        const json_t *list = json_object_get(object, kith__classify_by_name(by));
        if (list && kith__classifier_add(c, (kith__classify_by)by))
            TRY(kith__no_memory(error));
        good = !list || read_judgement(&c->by[by], list, relations);
    }
    if (!good || !read_slopes(c, object))
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s/%s: is not a classifier of format %d for %u relations", folder,
                       file_name, FORMAT, relations));
    model->classifier = c;
    c = NULL;
cleanup:
    kith__classifier_free(c);
    json_decref(object);
    return status;
}

kith_status kith__classifier_open(kith_model *model, const char *folder, bool other_graph,
                                  kith_error *error)
{
    if (kith__path_exists(folder, file_name))
        return load(model, folder, error);
    if (!kith_graph_facts(model->graph, KITH_DEV).truth)
        return KITH_OK;
    if (other_graph)
        kith__model_warn(model,
                         "%s: was not fitted on labels, so its classifier was fitted on dev of the "
                         "graph that it is used on", folder);
    else
        kith__model_warn(model,
                         "%s: has no %s, so it is fitted on dev now; kith train --resume %s keeps "
                         "it", folder, file_name, folder);
    return kith__classifier_fit(model, error);
}
