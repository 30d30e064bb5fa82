#include "run/fusion_files.h"
#include "run/has_relation_file.h"
#include "run/overall_file.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json.h"
#include "core/mem.h"
#include "embed/tensors.h"
#include "graph/graph.h"
#include "run/json_file.h"

enum { FORMAT = 3, BY_POSITION = 1 }; /* formats 1 and 2 have former names */
/* the bound for a weight: with larger ones, scores might not be finite */
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

/* A row has the conclusion, the relations of the body, support and body count. */
static size_t columns_of(const kith__rule_kind *kind)
{
    return kind->steps + 3;
}

static uint32_t *flatten(const kith__rules *p, const kith__rule_kind *kind)
{
    size_t count = (size_t)p->offset[p->relations];
    uint32_t *at = kith__alloc(count * columns_of(kind), sizeof *at), *to = at;

    for (uint32_t q = 0; at && q < p->relations; q++)
        for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++) {
            *to++ = q;
            for (size_t k = 0; k < kind->steps; k++)
                *to++ = p->at[i].relation[k];
            *to++ = p->at[i].support;
            *to++ = p->at[i].body_count;
        }
    return at;
}

/* List the arrays of the kinds that are mined; returns their number. */
static size_t list_arrays(kith__array arrays[KITH__RULE_KINDS], size_t kind[KITH__RULE_KINDS])
{
    size_t count = 0;

    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i]->mine) {
            arrays[count] = (kith__array){.name = kith__rule_kinds[i]->array,
                                          .cols = columns_of(kith__rule_kinds[i]),
                                          .optional = i > KITH__PATH_KIND};
            kind[count++] = i;
        }
    return count;
}

static void free_arrays(kith__array *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kith__free(arrays[i].at);
}

kith_status kith__rules_save(const char *folder, const kith__rule_set *e, kith_error *error)
{
    kith__array arrays[KITH__RULE_KINDS];
    size_t kind[KITH__RULE_KINDS], count = list_arrays(arrays, kind);
    kith__note note = {"relations", ""};
    char *path = kith__path_join(folder, "rules.safetensors");
    kith_status status = KITH_OK;

    snprintf(note.value, sizeof note.value, "%u", e->relations);
    for (size_t i = 0; i < count; i++) {
        const kith__rules *rules = &e->of[kind[i]];
        arrays[i].at = flatten(rules, kith__rule_kinds[kind[i]]);
        arrays[i].rows = (size_t)rules->offset[rules->relations];
        if (!arrays[i].at)
            status = kith__no_memory(error);
    }
    if (status == KITH_OK)
        status = path ? kith__arrays_save(path, arrays, count, &note, 1, error)
                      : kith__no_memory(error);
    kith__free(path);
    free_arrays(arrays, count);
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

static bool relations_valid(const uint32_t *row, size_t count, uint32_t relations)
{
    for (size_t k = 0; k < count; k++)
        if (row[k] >= relations)
            return false;
    return true;
}

static kith__rule rule_of(const uint32_t *row, size_t steps)
{
    const uint32_t *counts = row + 1 + steps;
    kith__rule made = {.support = counts[0],
                       .body_count = counts[1],
                       .confidence = kith__shrunk(counts[0], counts[1])};

    for (size_t k = 0; k < KITH__MOST_STEPS; k++)
        made.relation[k] = k < steps ? row[1 + k] : KITH__NO_RELATION;
    return made;
}

/* Rules are found by binary search, so their order must be right. */
static kith_status unflatten(kith__rules *p, const kith__array *a, uint32_t relations,
                             const char *path, kith__watch *watch, kith_error *error)
{
    enum { TICK = 1 << 16 };
    size_t steps = a->cols - 3;
    uint32_t head = 0;

    p->relations = relations;
    p->offset = kith__calloc((size_t)relations + 1, sizeof *p->offset);
    p->at = kith__alloc(a->rows, sizeof *p->at);
    if (!p->offset || !p->at)
        return kith__no_memory(error);
    for (size_t i = 0; i < a->rows; i++) {
        const uint32_t *row = a->at + i * a->cols;
        if (i % TICK == 0 && kith__watch_add(watch, 0))
            return kith__watch_status(watch, error);
        bool in_order = i == 0 || compare_rows(row - a->cols, row, 1 + steps) < 0;
        p->at[i] = rule_of(row, steps);
        if (!in_order || !relations_valid(row, 1 + steps, relations) ||
            p->at[i].support > p->at[i].body_count)
            return bad_rule(path, a->name, i, error);
        while (head < row[0])
            p->offset[++head] = i;
    }
    while (head < relations)
        p->offset[++head] = a->rows;
    return KITH_OK;
}

static kith_status load_rules(kith__rule_set **out, uint32_t relations, bool required,
                              const char *folder, kith__watch *watch, kith_error *error)
{
    kith__array arrays[KITH__RULE_KINDS];
    size_t kind[KITH__RULE_KINDS], count = list_arrays(arrays, kind);
    kith__note note = {"relations", ""};
    char *path = kith__path_join(folder, "rules.safetensors");
    kith__rule_set *rules = kith__calloc(1, sizeof *rules);
    kith_status status = KITH_OK;

    if (!path || !rules)
        TRY(kith__no_memory(error));
    rules->relations = relations;
    TRY(kith__arrays_load(path, arrays, count, &note, 1, required, watch, error));
    if (strtoul(note.value, NULL, 10) != relations)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s: was made for %s relations and inverses, but the run has %u", path,
                       note.value[0] ? note.value : "other", relations));
    for (size_t i = 0; i < count; i++)
        TRY(unflatten(&rules->of[kind[i]], &arrays[i], relations, path, watch, error));
    *out = rules;
    rules = NULL;
cleanup:
    kith__free(path);
    free_arrays(arrays, count);
    kith__rule_set_free(rules);
    return status;
}

/* ---- fusion.json ---- */

static json_t *weights_json(const float *weight)
{
    json_t *weights = json_object();

    for (int i = 0; i < KITH__FEATURES_COUNT; i++)
        kith__json_set(&weights, kith__feature_name(i), json_real((double)weight[i]));
    return weights;
}

static json_t *list_json(const float *at, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        kith__json_append(&list, json_real((double)at[i]));
    return list;
}

static json_t *own_json(const kith__fusion *f)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < f->own_count; i++) {
        const kith__own_weights *own = &f->own[i];
        kith__json_append(&list,
                          json_pack("{sI so so so}", "query", (json_int_t)own->query, "weights",
                                    weights_json(own->weights.all), "weights_without_embedding",
                                    weights_json(own->weights.bare), "weights_with_unseen",
                                    weights_json(own->weights.unseen)));
    }
    return list;
}

static json_t *fusion_json(const kith__fusion *f, const kith__calibration *calibration)
{
    return json_pack("{si sI sI sf so so so so sf so}", "format", FORMAT, "queries",
                     (json_int_t)f->queries, "calibration_queries",
                     (json_int_t)f->calibration_queries, "loss", (double)f->loss, "weights",
                     weights_json(f->common.all), "weights_without_embedding",
                     weights_json(f->common.bare), "weights_with_unseen",
                     weights_json(f->common.unseen), "calibration",
                     list_json(calibration->weight, KITH__CALIBRATION), "regularization",
                     (double)f->regularization, "by_relation", own_json(f));
}

static const char FUSION[] = "fusion.json";
static const char NEW_GRAPHS[] = "new_graphs"; /* the member with the weights for new graphs */

static kith_status save_fusion(const char *folder, const char *file,
                               const kith__fitted_fusion *fusion,
                               const kith__fitted_fusion *new_graphs, kith_error *error)
{
    json_t *object = fusion_json(&fusion->fusion, &fusion->calibration);

    if (new_graphs)
        kith__json_set(&object, NEW_GRAPHS,
                       fusion_json(&new_graphs->fusion, &new_graphs->calibration));
    return kith__json_save(folder, file, object, error);
}

kith_status kith__fusion_save(const char *folder, const kith__fitted_fusion *fusion,
                              const kith__fitted_fusion *new_graphs, kith_error *error)
{
    return save_fusion(folder, FUSION, fusion, new_graphs, error);
}

/* The features that every file has, with their names in formats 1 and 2. Later features have weight
 * 0 in files that lack them. Files of format 1 list the weights of relations in this order. */
static const struct {
    const char *former_name;
    kith__feature_id feature;
} first_features[] = {
    {"a", KITH__F_DIRECT_BEST},
    {"log a", KITH__F_DIRECT_LOG},
    {"a all", KITH__F_DIRECT_ALL},
    {"a mined", KITH__F_DIRECT_MINED},
    {"a count", KITH__F_DIRECT_COUNT},
    {"links", KITH__F_LINKS},
    {"b", KITH__F_PATH_BEST},
    {"log b", KITH__F_PATH_LOG},
    {"b all", KITH__F_PATH_ALL},
    {"b count", KITH__F_PATH_COUNT},
    {"c", KITH__F_CONSTANT_BEST},
    {"log c", KITH__F_CONSTANT_LOG},
    {"c second", KITH__F_CONSTANT_SECOND},
    {"c all", KITH__F_CONSTANT_ALL},
    {"c count", KITH__F_CONSTANT_COUNT},
    {"d", KITH__F_SHARED_BEST},
    {"log d", KITH__F_SHARED_LOG},
    {"d shared", KITH__F_SHARED_SHARE},
    {"d sum", KITH__F_SHARED_SUM},
    {"best", KITH__F_BEST},
    {"log best", KITH__F_BEST_LOG},
    {"all", KITH__F_ALL},
    {"answers often", KITH__F_PRIOR},
    {"facts of it", KITH__F_DEGREE},
    {"fits", KITH__F_TYPE},
    {"fits by known answers", KITH__F_TYPE_KNOWN},
    {"fits in all", KITH__F_TYPE_ALL},
    {"near", KITH__F_PROXIMITY},
    {"near and not linked", KITH__F_PROXIMITY_UNLINKED},
    {"near by known answers", KITH__F_PROXIMITY_KNOWN},
    {"embedding", KITH__F_E_SCORE},
    {"embedding log p", KITH__F_E_LOGP},
    {"embedding without a", KITH__F_E_GATED},
    {"embedding log p without a", KITH__F_E_LOGP_GATED},
    {"embedding log p of linked", KITH__F_E_LINKED},
    {"log best by known answers", KITH__F_BEST_LOG_KNOWN},
    {"all by known answers", KITH__F_ALL_KNOWN},
    {"log c by known answers", KITH__F_CONSTANT_LOG_KNOWN},
    {"log d by known answers", KITH__F_SHARED_LOG_KNOWN},
    {"d shared by known answers", KITH__F_SHARED_SHARE_KNOWN},
    {"answers often by known answers", KITH__F_PRIOR_KNOWN},
    {"embedding log p by known answers", KITH__F_E_KNOWN},
    {"log best by facts", KITH__F_BEST_LOG_FACTS},
    {"all by facts", KITH__F_ALL_FACTS},
    {"log c by facts", KITH__F_CONSTANT_LOG_FACTS},
    {"log d by facts", KITH__F_SHARED_LOG_FACTS},
    {"answers often by facts", KITH__F_PRIOR_FACTS},
    {"embedding log p by facts", KITH__F_E_FACTS},
};
enum { FIRST_FEATURES = sizeof first_features / sizeof *first_features };

static const char *name_in(int format, size_t first)
{
    return format < FORMAT ? first_features[first].former_name
                           : kith__feature_name((int)first_features[first].feature);
}

static int find_feature(const char *name, int format)
{
    int i = 0;

    for (size_t k = 0; format < FORMAT && k < FIRST_FEATURES; k++)
        if (strcmp(first_features[k].former_name, name) == 0)
            return (int)first_features[k].feature;
    while (i < KITH__FEATURES_COUNT && strcmp(kith__feature_name(i), name) != 0)
        i++;
    return i;
}

static bool read_weight(float *weight, int feature, const json_t *value)
{
    if (feature == KITH__FEATURES_COUNT || !json_is_number(value))
        return false;
    weight[feature] = (float)json_number_value(value);
    return fabsf(weight[feature]) <= LARGEST;
}

/* Read weights by name or, in format 1, from a list by position. An unknown name is a feature of a
 * later version. */
static bool read_weights(float *weight, const json_t *weights, int format)
{
    const char *name;
    json_t *value;
    bool good = true;

    memset(weight, 0, KITH__FEATURES_COUNT * sizeof *weight);
    for (size_t i = 0; i < FIRST_FEATURES && json_is_array(weights); i++)
        good &= read_weight(weight, (int)first_features[i].feature, json_array_get(weights, i));
    if (json_is_array(weights))
        return good && json_array_size(weights) == FIRST_FEATURES;
    for (size_t i = 0; i < FIRST_FEATURES; i++)
        good &= json_object_get(weights, name_in(format, i)) != NULL;
    json_object_foreach((json_t *)weights, name, value)
        good &= read_weight(weight, find_feature(name, format), value);
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

static bool weighs_embedding(const float *weight)
{
    for (int k = 0; k < KITH__FEATURES_COUNT; k++)
        if (kith__feature_part(k) == KITH_PART_EMBEDDING && weight[k] != 0)
            return true;
    return false;
}

/* Files of version 0.1 have one set of weights without the embedding, for seen and unseen
 * candidates alike. Without an embedding, the first set is then used for seen ones. */
static bool read_sets(kith__weights *w, const json_t *from, int format)
{
    const json_t *bare = json_object_get(from, "weights_without_embedding");
    const json_t *unseen = json_object_get(from, "weights_with_unseen");

    if (!read_weights(w->all, json_object_get(from, "weights"), format) ||
        !read_weights(w->bare, bare, format) ||
        !read_weights(w->unseen, unseen ? unseen : bare, format))
        return false;
    if (!unseen && !weighs_embedding(w->all))
        memcpy(w->bare, w->all, sizeof w->bare);
    return true;
}

static bool read_numbers(kith__fusion *f, kith__calibration *calibration, const json_t *object,
                         int format)
{
    if (!read_sets(&f->common, object, format) ||
        !read_list(calibration->weight, KITH__CALIBRATION, json_object_get(object, "calibration")))
        return false;
    for (uint32_t i = 0; i < f->own_count; i++) {
        const json_t *from = json_array_get(json_object_get(object, "by_relation"), i);
        json_int_t query = json_integer_value(json_object_get(from, "query"));
        kith__own_weights *own = &f->own[i];
        own->query = (uint32_t)query;
        if (!json_is_integer(json_object_get(from, "query")) || query < 0 || query > UINT32_MAX ||
            (i > 0 && own->query <= own[-1].query) ||
            !read_sets(&own->weights, from, format))
            return false;
    }
    calibration->fitted = true;
    f->regularization = (float)json_number_value(
        json_object_get(object, format < FORMAT ? "pull" : "regularization"));
    f->queries = (uint32_t)json_integer_value(json_object_get(object, "queries"));
    f->calibration_queries = (uint32_t)json_integer_value(
        json_object_get(object, format < FORMAT ? "set_aside" : "calibration_queries"));
    f->loss = (float)json_number_value(json_object_get(object, "loss"));
    return true;
}

/* If `for_new` is not NULL, the weights for new graphs are read if the file has them, else the
 * usual ones; it is set to whether the file has them. */
static kith_status load_fusion(kith__fusion *f, kith__calibration *calibration, bool *for_new,
                               bool required, const char *folder, const char *file,
                               kith_error *error)
{
    json_t *object = NULL;
    kith_status status;

    TRY(kith__json_load(&object, NULL, folder, file, required, error));
    int format = (int)json_integer_value(json_object_get(object, "format"));
    if (format < BY_POSITION || format > FORMAT)
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s/%s: has format %d, expected up to %d", folder,
                       file, format, FORMAT));
    const json_t *other = for_new ? json_object_get(object, NEW_GRAPHS) : NULL;
    const json_t *from = other ? other : object;
    if (for_new)
        *for_new = other != NULL;
    f->own_count = (uint32_t)json_array_size(json_object_get(from, "by_relation"));
    f->own = kith__calloc(f->own_count, sizeof *f->own);
    if (!f->own)
        TRY(kith__no_memory(error));
    if (!read_numbers(f, calibration, from, format))
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s/%s: lacks a weight or the calibration, or one is no "
                       "finite number",
                       folder, file));
cleanup:
    json_decref(object);
    return status;
}

kith_status kith__fusion_for_new_graphs(kith__fitted_fusion *fusion, bool *exists,
                                        const char *folder, kith_error *error)
{
    return load_fusion(&fusion->fusion, &fusion->calibration, exists, false, folder, FUSION, error);
}

static const char CARRIED[] = "carried_fusion.json";

kith_status kith__carried_fusion_save(const char *folder, const kith__fitted_fusion *fusion,
                                      const kith__fitted_fusion *new_graphs, kith_error *error)
{
    return save_fusion(folder, CARRIED, fusion, new_graphs, error);
}

bool kith__carried_fusion_saved(const char *folder)
{
    return kith__path_exists(folder, CARRIED);
}

kith_status kith__carried_fusion_load(kith__fitted_fusion *fusion, kith__fitted_fusion *new_graphs,
                                      bool *exists, const char *folder, kith_error *error)
{
    kith_status status;

    TRY(load_fusion(&fusion->fusion, &fusion->calibration, NULL, true, folder, CARRIED, error));
    TRY(load_fusion(&new_graphs->fusion, &new_graphs->calibration, exists, true, folder, CARRIED,
                    error));
cleanup:
    return status;
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
                         "the graph is small: the weights were fitted on %u fact%s of held-out "
                         "entities, so probabilities are rough estimates",
                         fusion->queries, fusion->queries == 1 ? "" : "s");
}

kith_status kith__fused_open(kith_model *model, const char *folder, bool new_graph,
                             kith_error *error)
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
    TRY(load_fusion(&fusion, &calibration, new_graph ? &new_graph : NULL, required, folder, FUSION,
                    error));
    warn_of_few(model, &fusion);
    TRY(kith__has_relation_load(&model->has, folder, required, error));
    TRY(kith__overall_open(model, folder, required, error));
    TRY(load_rules(&rules, relations, required, folder, kith__pool_watch(model->pool), error));
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
