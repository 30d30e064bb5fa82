#include "run/fusion_files.h"
#include "run/has_relation_file.h"
#include "run/overall_file.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "embed/tensors.h"
#include "run/json_file.h"

enum { FORMAT = 2, BY_POSITION = 1 };
/* the largest weight; with larger ones, scores would not be finite */
static const float LARGEST = 1e6f;

kith_status kith__fused_give(kith_model *model, kith__evidence *evidence,
                             const kith__fusion *fusion, const kith__calibration *calibration,
                             kith_error *error)
{
    kith__fused *f = kith__calloc(1, sizeof *f);

    if (!f)
        return kith__no_memory(error);
    f->log_degree = kith__log_degrees(evidence->base->index);
    if (!f->log_degree) {
        kith__free(f);
        return kith__no_memory(error);
    }
    f->evidence = evidence;
    f->fusion = *fusion;
    f->embedding = model->settings.evidence == KITH_EVIDENCE_FUSED;
    model->calibration = *calibration;
    model->fused = f;
    return KITH_OK;
}

/* ---- rules.safetensors ---- */

static uint32_t *flatten(const kith__rules *p, size_t cols)
{
    size_t count = (size_t)p->offset[p->relations];
    uint32_t *at = kith__alloc(count * cols, sizeof *at), *to = at;

    for (uint32_t q = 0; at && q < p->relations; q++)
        for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++) {
            *to++ = q;
            *to++ = p->at[i].first;
            if (cols == 5)
                *to++ = p->at[i].second;
            *to++ = p->at[i].support;
            *to++ = p->at[i].body_count;
        }
    return at;
}

static kith__array array_of(const kith__rule_kind *kind)
{
    return (kith__array){kind->array, NULL, 0, kind->columns};
}

static kith__array rows_of(const kith__rules *p, const kith__rule_kind *kind)
{
    kith__array a = array_of(kind);

    a.at = flatten(p, a.cols);
    a.rows = (size_t)p->offset[p->relations];
    return a;
}

kith_status kith__rules_save(const char *folder, const kith__rule_set *e, kith_error *error)
{
    kith__array arrays[] = {rows_of(&e->pairs, &kith__rule_kinds[0]),
                            rows_of(&e->paths, &kith__rule_kinds[1])};
    kith__note note = {"relations", ""};
    char *path = kith__path_join(folder, "rules.safetensors");

    snprintf(note.value, sizeof note.value, "%u", e->relations);
    kith_status status = path && arrays[0].at && arrays[1].at
                             ? kith__arrays_save(path, arrays, 2, &note, 1, error)
                             : kith__no_memory(error);
    kith__free(path);
    kith__free(arrays[0].at);
    kith__free(arrays[1].at);
    return status;
}

static kith_status bad_rule(const char *path, const char *name, size_t row, kith_error *error)
{
    return kith__fail(error, KITH_ERR_INPUT,
                      "%s: row %zu of the table '%s' is not a rule of this run, expected rows by "
                      "relation, with relations that the run has", path, row + 1, name);
}

static int compare_rows(const uint32_t *a, const uint32_t *b, size_t columns)
{
    for (size_t k = 0; k < columns; k++)
        if (a[k] != b[k])
            return a[k] < b[k] ? -1 : 1;
    return 0;
}

/* Rules are found by binary search, so their order must be right. */
static kith_status unflatten(kith__rules *p, const kith__array *a, uint32_t relations,
                             const char *path, kith_error *error)
{
    bool two = a->cols == 5;
    uint32_t head = 0;

    p->relations = relations;
    p->offset = kith__calloc((size_t)relations + 1, sizeof *p->offset);
    p->at = kith__alloc(a->rows, sizeof *p->at);
    if (!p->offset || !p->at)
        return kith__no_memory(error);
    for (size_t i = 0; i < a->rows; i++) {
        const uint32_t *row = a->at + i * a->cols;
        kith__rule made = {row[1], two ? row[2] : KITH__NO_RELATION, row[2 + two], row[3 + two],
                              kith__shrunk(row[2 + two], row[3 + two])};
        bool in_order = i == 0 || compare_rows(row - a->cols, row, two ? 3 : 2) < 0;
        if (!in_order || row[0] >= relations || made.first >= relations ||
            (two && made.second >= relations) || made.support > made.body_count)
            return bad_rule(path, a->name, i, error);
        while (head < row[0])
            p->offset[++head] = i;
        p->at[i] = made;
    }
    while (head < relations)
        p->offset[++head] = a->rows;
    return KITH_OK;
}

static kith_status load_rules(kith__rule_set **out, uint32_t relations, bool required,
                              const char *folder, kith_error *error)
{
    kith__array arrays[] = {array_of(&kith__rule_kinds[0]), array_of(&kith__rule_kinds[1])};
    kith__note note = {"relations", ""};
    char *path = kith__path_join(folder, "rules.safetensors");
    kith__rule_set *rules = kith__calloc(1, sizeof *rules);
    kith_status status = KITH_OK;

    if (!path || !rules)
        TRY(kith__no_memory(error));
    rules->relations = relations;
    TRY(kith__arrays_load(path, arrays, 2, &note, 1, required, error));
    if (strtoul(note.value, NULL, 10) != relations)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s: was made for %s relations and inverses, but the run has %u", path,
                       note.value[0] ? note.value : "other", relations));
    TRY(unflatten(&rules->pairs, &arrays[0], relations, path, error));
    TRY(unflatten(&rules->paths, &arrays[1], relations, path, error));
    *out = rules;
    rules = NULL;
cleanup:
    kith__free(path);
    kith__free(arrays[0].at);
    kith__free(arrays[1].at);
    kith__rule_set_free(rules);
    return status;
}

/* ---- fusion.json ---- */

static json_t *weights_json(const float *weight)
{
    json_t *weights = json_object();

    for (int i = 0; i < KITH__FEATURES_COUNT; i++)
        json_object_set_new(weights, kith__feature_name(i), json_real((double)weight[i]));
    return weights;
}

static json_t *list_json(const float *at, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_real((double)at[i]));
    return list;
}

static json_t *own_json(const kith__fusion *f)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < f->own_count; i++) {
        const kith__own_weights *own = &f->own[i];
        json_array_append_new(
            list, json_pack("{sI so so}", "query", (json_int_t)own->query, "weights",
                            weights_json(own->weights.all), "weights_without_embedding",
                            weights_json(own->weights.alone)));
    }
    return list;
}

static json_t *fusion_json(const kith__fusion *f, const kith__calibration *calibration)
{
    return json_pack("{si sI sI sf so so so sf so}", "format", FORMAT, "queries",
                     (json_int_t)f->queries, "set_aside", (json_int_t)f->calibration_queries,
                     "loss", (double)f->loss, "weights", weights_json(f->common.all),
                     "weights_without_embedding", weights_json(f->common.alone), "calibration",
                     list_json(calibration->weight, KITH__CALIBRATION), "pull", (double)f->pull,
                     "by_relation", own_json(f));
}

kith_status kith__fusion_save(const char *folder, const kith__fusion *fusion,
                              const kith__calibration *calibration, kith_error *error)
{
    return kith__json_save(folder, "fusion.json", fusion_json(fusion, calibration), error);
}

/* The features that every file has; later features that a file lacks have the weight 0. Files of
 * format 1 have the weights of relations in this order. */
static const char *const first_features[] = {
    "a", "log a", "a all", "a mined", "a count", "links", "b", "log b", "b all", "b count", "c",
    "log c", "c second", "c all", "c count", "d", "log d", "d shared", "d sum", "best",
    "log best", "all", "answers often", "facts of it", "fits", "fits by known answers",
    "fits in all", "near", "near and not linked", "near by known answers", "embedding",
    "embedding log p", "embedding without a", "embedding log p without a",
    "embedding log p of linked", "log best by known answers", "all by known answers",
    "log c by known answers", "log d by known answers", "d shared by known answers",
    "answers often by known answers", "embedding log p by known answers", "log best by facts",
    "all by facts", "log c by facts", "log d by facts", "answers often by facts",
    "embedding log p by facts",
};
enum { FIRST_FEATURES = sizeof first_features / sizeof *first_features };

static int find_feature(const char *name)
{
    int i = 0;

    while (i < KITH__FEATURES_COUNT && strcmp(kith__feature_name(i), name) != 0)
        i++;
    return i;
}

static bool read_weight(float *weight, const char *name, const json_t *value)
{
    int feature = find_feature(name);

    if (feature == KITH__FEATURES_COUNT || !json_is_number(value))
        return false;
    weight[feature] = (float)json_number_value(value);
    return fabsf(weight[feature]) <= LARGEST;
}

/* By name, or in a list by position. An unknown name is a feature of a later version. */
static bool read_weights(float *weight, const json_t *weights)
{
    const char *name;
    json_t *value;
    bool good = true;

    memset(weight, 0, KITH__FEATURES_COUNT * sizeof *weight);
    for (int i = 0; i < FIRST_FEATURES && json_is_array(weights); i++)
        good &= read_weight(weight, first_features[i], json_array_get(weights, (size_t)i));
    if (json_is_array(weights))
        return good && json_array_size(weights) == FIRST_FEATURES;
    for (int i = 0; i < FIRST_FEATURES; i++)
        good &= json_object_get(weights, first_features[i]) != NULL;
    json_object_foreach((json_t *)weights, name, value)
        good &= read_weight(weight, name, value);
    return good;
}

static bool read_list(float *to, int count, const json_t *list)
{
    for (int i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        to[i] = (float)json_number_value(value);
        if (!json_is_number(value) || !(fabsf(to[i]) <= LARGEST))
            return false;
    }
    return json_array_size(list) == (size_t)count;
}

static bool read_numbers(kith__fusion *f, kith__calibration *calibration, const json_t *object)
{
    const char *alone = "weights_without_embedding";

    if (!read_weights(f->common.all, json_object_get(object, "weights")) ||
        !read_weights(f->common.alone, json_object_get(object, alone)) ||
        !read_list(calibration->weight, KITH__CALIBRATION, json_object_get(object, "calibration")))
        return false;
    for (uint32_t i = 0; i < f->own_count; i++) {
        const json_t *from = json_array_get(json_object_get(object, "by_relation"), i);
        json_int_t query = json_integer_value(json_object_get(from, "query"));
        kith__own_weights *own = &f->own[i];
        own->query = (uint32_t)query;
        if (!json_is_integer(json_object_get(from, "query")) || query < 0 || query > UINT32_MAX ||
            (i > 0 && own->query <= own[-1].query) ||
            !read_weights(own->weights.all, json_object_get(from, "weights")) ||
            !read_weights(own->weights.alone, json_object_get(from, alone)))
            return false;
    }
    calibration->fitted = true;
    f->pull = (float)json_number_value(json_object_get(object, "pull"));
    f->queries = (uint32_t)json_integer_value(json_object_get(object, "queries"));
    f->calibration_queries = (uint32_t)json_integer_value(json_object_get(object, "set_aside"));
    f->loss = (float)json_number_value(json_object_get(object, "loss"));
    return true;
}

static kith_status load_fusion(kith__fusion *f, kith__calibration *calibration, bool required,
                               const char *folder, const char *file, kith_error *error)
{
    json_t *object = NULL;
    kith_status status;

    TRY(kith__json_load(&object, NULL, folder, file, required, error));
    int format = (int)json_integer_value(json_object_get(object, "format"));
    if (format != FORMAT && format != BY_POSITION)
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s/%s: has format %d, expected up to %d", folder,
                       file, format, FORMAT));
    f->own_count = (uint32_t)json_array_size(json_object_get(object, "by_relation"));
    f->own = kith__calloc(f->own_count, sizeof *f->own);
    if (!f->own)
        TRY(kith__no_memory(error));
    if (!read_numbers(f, calibration, object))
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s/%s: lacks a weight or the calibration, or one is no "
                       "finite number",
                       folder, file));
cleanup:
    json_decref(object);
    return status;
}

static const char CARRIED[] = "carried_fusion.json";

kith_status kith__carried_fusion_save(const char *folder, const kith__fusion *fusion,
                                      const kith__calibration *calibration, kith_error *error)
{
    return kith__json_save(folder, CARRIED, fusion_json(fusion, calibration), error);
}

bool kith__carried_fusion_saved(const char *folder)
{
    return kith__path_exists(folder, CARRIED);
}

kith_status kith__carried_fusion_load(kith__fusion *fusion, kith__calibration *calibration,
                                      const char *folder, kith_error *error)
{
    return load_fusion(fusion, calibration, true, folder, CARRIED, error);
}

void kith__carried_fusion_drop(const char *folder)
{
    char *path = kith__path_join(folder, CARRIED);

    if (path)
        unlink(path);
    kith__free(path);
}

bool kith__fusion_saved(const char *folder)
{
    return kith__path_exists(folder, "fusion.json") &&
           kith__path_exists(folder, "rules.safetensors");
}

/* The same warning as at the end of kith train. */
static void warn_of_few(kith_model *model, const kith__fusion *fusion)
{
    enum { FEW = 50 };

    if (fusion->queries < FEW)
        kith__model_warn(model,
                         "the graph is small: the weights were fitted on %u facts of held-out "
                         "entities, so probabilities are rough estimates",
                         fusion->queries);
}

kith_status kith__fused_open(kith_model *model, const char *folder, kith_error *error)
{
    uint32_t relations = 2 * kith_graph_seen_relation_count(model->graph);
    kith__rule_set *rules = NULL;
    kith__evidence *evidence = NULL;
    kith__fusion fusion = {0};
    bool required = model->run_format >= 3; /* whether a checksum is required */
    kith__calibration calibration = {0};
    kith_status status;

    if (!kith__fusion_saved(folder))
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: lacks fusion.json or rules.safetensors; finish it first: kith train "
                          "--resume %s",
                          folder, folder);
    TRY(load_fusion(&fusion, &calibration, required, folder, "fusion.json", error));
    warn_of_few(model, &fusion);
    TRY(kith__has_relation_load(&model->has, folder, required, error));
    TRY(kith__overall_open(model, folder, required, error));
    TRY(load_rules(&rules, relations, required, folder, error));
    TRY(kith__evidence_over(&evidence, model->graph, model->settings.unseen_neighbors, rules, false,
                            model->pool, error));
    rules = NULL;
    TRY(kith__fused_give(model, evidence, &fusion, &calibration, error));
    evidence = NULL;
    fusion.own = NULL;
cleanup:
    kith__rule_set_free(rules);
    kith__evidence_free(evidence);
    kith__fusion_release(&fusion);
    return status;
}
