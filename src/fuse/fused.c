#include "fuse/fused.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "core/mem.h"
#include "graph/graph.h"
#include "model/tensors.h"

enum { FORMAT = 1 };

static void fused_free(struct kith__fused *f)
{
    if (!f)
        return;
    kith__evidence_free(f->evidence);
    kith__fusion_release(&f->fusion);
    kith__free(f->log_degree);
    kith__free(f);
}

kith_status kith__fused_give(kith_model *model, kith__evidence *evidence, kith__fusion *fusion,
                             kith_error *error)
{
    struct kith__fused *f = kith__calloc(1, sizeof *f);

    if (!f)
        return kith__no_memory(error);
    f->log_degree = kith__log_degrees(evidence->index);
    if (!f->log_degree) {
        kith__free(f);
        return kith__no_memory(error);
    }
    f->evidence = evidence;
    f->fusion = *fusion;
    memset(fusion, 0, sizeof *fusion);
    f->embedding = model->settings.evidence == KITH_EVIDENCE_FUSED;
    model->fused = f;
    model->free_fused = fused_free;
    return KITH_OK;
}

/* ---- rules.safetensors ---- */

static uint32_t *flatten(const kith__patterns *p, size_t cols)
{
    size_t count = (size_t)p->offset[p->relations];
    uint32_t *at = kith__alloc(count * cols, sizeof *at), *to = at;

    for (uint32_t q = 0; at && q < p->relations; q++)
        for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++) {
            *to++ = q;
            *to++ = p->at[i].first;
            if (cols == 5)
                *to++ = p->at[i].second;
            *to++ = p->at[i].hits;
            *to++ = p->at[i].bodies;
        }
    return at;
}

kith_status kith__rules_save(const char *folder, const kith__evidence *e, kith_error *error)
{
    kith__array arrays[] = {{"a", flatten(&e->pairs, 4), e->pairs.offset[e->pairs.relations], 4},
                            {"b", flatten(&e->paths, 5), e->paths.offset[e->paths.relations], 5}};
    kith__note note = {"relations", ""};
    char *path = kith__path_join(folder, "rules.safetensors");

    snprintf(note.value, sizeof note.value, "%u", e->index->relations);
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
                      "%s: row %zu of the table '%s' is no rule of this run, expected rows by "
                      "relation, with relations that the run has", path, row + 1, name);
}

static kith_status unflatten(kith__patterns *p, const kith__array *a, uint32_t relations,
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
        kith__pattern made = {row[1], two ? row[2] : KITH__NO_RELATION, row[2 + two], row[3 + two],
                              kith__shrunk(row[2 + two], row[3 + two])};
        if (row[0] < head || row[0] >= relations || made.first >= relations ||
            (two && made.second >= relations) || made.hits > made.bodies)
            return bad_rule(path, a->name, i, error);
        while (head < row[0])
            p->offset[++head] = i;
        p->at[i] = made;
    }
    while (head < relations)
        p->offset[++head] = a->rows;
    return KITH_OK;
}

static kith_status load_rules(kith__evidence **out, const kith_model *model, const char *folder,
                              kith_error *error)
{
    kith__array arrays[] = {{"a", NULL, 0, 4}, {"b", NULL, 0, 5}};
    kith__note note = {"relations", ""};
    char *path = kith__path_join(folder, "rules.safetensors");
    kith__evidence *e = kith__calloc(1, sizeof *e);
    kith_status status = KITH_OK;

    if (!path || !e)
        TRY(kith__no_memory(error));
    TRY(kith__index_new(&e->index, model->graph, model->pool, error));
    TRY(kith__arrays_load(path, arrays, 2, &note, 1, error));
    if (strtoul(note.value, NULL, 10) != e->index->relations)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s: was made for %s relations and inverses, but the run has %u", path,
                       note.value[0] ? note.value : "other", e->index->relations));
    TRY(unflatten(&e->pairs, &arrays[0], e->index->relations, path, error));
    TRY(unflatten(&e->paths, &arrays[1], e->index->relations, path, error));
    *out = e;
    e = NULL;
cleanup:
    kith__free(path);
    kith__free(arrays[0].at);
    kith__free(arrays[1].at);
    kith__evidence_free(e);
    return status;
}

/* ---- fusion.json ---- */

static json_t *tree_json(const kith__trees *t, size_t tree)
{
    json_t *nodes = json_array();

    for (uint32_t i = t->root[tree]; i < t->root[tree + 1]; i++) {
        const kith__node *n = &t->node[i];
        json_array_append_new(
            nodes, n->feature < 0
                       ? json_pack("[f]", (double)n->value)
                       : json_pack("[f s f i i]", (double)n->value, kith__feature_name(n->feature),
                                   (double)n->threshold, (int)(n->left - t->root[tree]),
                                   (int)(n->right - t->root[tree])));
    }
    return nodes;
}

static json_t *fusion_json(const kith__fusion *f)
{
    json_t *weights = json_object(), *trees = json_array(), *calibration = json_array();

    for (int i = 0; i < KITH__LINEAR_FEATURES; i++)
        json_object_set_new(weights, kith__feature_name(i), json_real((double)f->weight[i]));
    for (size_t i = 0; i < f->trees.count; i++)
        json_array_append_new(trees, tree_json(&f->trees, i));
    for (int i = 0; i < KITH__CALIBRATION; i++)
        json_array_append_new(calibration, json_real((double)f->calibration[i]));
    return json_pack("{si sI sI s{sf sf} so so so}", "format", FORMAT, "queries",
                     (json_int_t)f->queries, "set_aside", (json_int_t)f->set_aside, "loss",
                     "linear", (double)f->loss_linear, "trees", (double)f->loss_trees, "weights",
                     weights, "calibration", calibration, "trees", trees);
}

kith_status kith__fusion_save(const char *folder, const kith__fusion *fusion, kith_error *error)
{
    json_t *object = fusion_json(fusion);
    char *text = object ? json_dumps(object, JSON_REAL_PRECISION(9)) : NULL;
    char *path = kith__path_join(folder, "fusion.json");
    kith__new_file file = {0};
    kith_status status = KITH_OK;

    if (!text || !path)
        TRY(kith__no_memory(error));
    TRY(kith__new_file_open(&file, path, error));
    fprintf(file.stream, "%s\n", text);
    TRY(kith__new_file_commit(&file, error));
cleanup:
    kith__new_file_abandon(&file);
    kith__free(path);
    free(text);
    json_decref(object);
    return status;
}

static int find_feature(const char *name)
{
    for (int i = 0; i < KITH__FEATURES_COUNT; i++)
        if (strcmp(kith__feature_name(i), name) == 0)
            return i;
    return -1;
}

/* A node of a tree that begins at `root`; steps go forward only, so that every walk ends. */
static bool read_node(kith__node *n, const json_t *entry, uint32_t root, size_t at, size_t count)
{
    double value, threshold;
    const char *name;
    int left, right;

    if (json_array_size(entry) == 1) {
        *n = (kith__node){.feature = -1,
                          .value = (float)json_number_value(json_array_get(entry, 0))};
        return isfinite(n->value);
    }
    if (json_unpack((json_t *)entry, "[F s F i i]", &value, &name, &threshold, &left, &right) != 0)
        return false;
    *n = (kith__node){find_feature(name), root + (uint32_t)left, root + (uint32_t)right,
                      (float)threshold, (float)value};
    return n->feature >= 0 && left > (int)at && right > (int)at && left < (int)count &&
           right < (int)count && isfinite(value) && isfinite(threshold);
}

static size_t count_nodes(const json_t *trees)
{
    size_t total = 0;
    for (size_t i = 0; i < json_array_size(trees); i++)
        total += json_array_size(json_array_get(trees, i));
    return total;
}

/* 0; -1 where memory is short; 1 where it is no list of trees. */
static int read_trees(kith__trees *t, const json_t *trees)
{
    size_t used = 0, count = json_array_size(trees);

    if (!json_is_array(trees))
        return 1;
    t->root = kith__alloc(count + 1, sizeof *t->root);
    t->node = kith__alloc(count_nodes(trees), sizeof *t->node);
    if (!t->root || !t->node)
        return -1;
    for (t->count = 0; t->count < count; t->count++) {
        const json_t *nodes = json_array_get(trees, t->count);
        size_t size = json_array_size(nodes);
        t->root[t->count] = (uint32_t)used;
        if (size == 0)
            return 1;
        for (size_t i = 0; i < size; i++)
            if (!read_node(&t->node[used++], json_array_get(nodes, i), t->root[t->count], i, size))
                return 1;
    }
    t->root[count] = (uint32_t)used;
    return 0;
}

static bool read_numbers(kith__fusion *f, const json_t *object)
{
    const json_t *weights = json_object_get(object, "weights");
    const json_t *calibration = json_object_get(object, "calibration");
    const json_t *loss = json_object_get(object, "loss");

    for (int i = 0; i < KITH__LINEAR_FEATURES; i++) {
        const json_t *value = json_object_get(weights, kith__feature_name(i));
        f->weight[i] = (float)json_number_value(value);
        if (!json_is_number(value) || !isfinite(f->weight[i]))
            return false;
    }
    for (int i = 0; i < KITH__CALIBRATION; i++) {
        const json_t *value = json_array_get(calibration, (size_t)i);
        f->calibration[i] = (float)json_number_value(value);
        if (!json_is_number(value) || !isfinite(f->calibration[i]))
            return false;
    }
    f->queries = (uint32_t)json_integer_value(json_object_get(object, "queries"));
    f->set_aside = (uint32_t)json_integer_value(json_object_get(object, "set_aside"));
    f->loss_linear = (float)json_number_value(json_object_get(loss, "linear"));
    f->loss_trees = (float)json_number_value(json_object_get(loss, "trees"));
    return true;
}

static kith_status load_fusion(kith__fusion *f, const char *folder, kith_error *error)
{
    char *path = kith__path_join(folder, "fusion.json");
    json_error_t why;
    json_t *object = path ? json_load_file(path, 0, &why) : NULL;
    kith_status status = KITH_OK;
    int trees;

    if (!path)
        TRY(kith__no_memory(error));
    if (!object)
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s:%d: %s, expected the fusion of a run", path,
                       why.line, why.text));
    if (json_integer_value(json_object_get(object, "format")) != FORMAT)
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s: has format %d, expected %d", path,
                       (int)json_integer_value(json_object_get(object, "format")), FORMAT));
    if (!read_numbers(f, object))
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s: lacks a weight or the calibration, or one is no "
                       "finite number", path));
    trees = read_trees(&f->trees, json_object_get(object, "trees"));
    if (trees < 0)
        TRY(kith__no_memory(error));
    if (trees > 0)
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s: tree %zu is damaged", path, f->trees.count + 1));
cleanup:
    json_decref(object);
    kith__free(path);
    return status;
}

bool kith__fusion_saved(const char *folder)
{
    return kith__path_exists(folder, "fusion.json");
}

kith_status kith__fused_open(kith_model *model, const char *folder, kith_error *error)
{
    kith__evidence *evidence = NULL;
    kith__fusion fusion = {0};
    kith_status status;

    if (!kith__fusion_saved(folder))
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: has no fusion.json yet; finish it first: kith train --resume %s",
                          folder, folder);
    TRY(load_fusion(&fusion, folder, error));
    TRY(load_rules(&evidence, model, folder, error));
    TRY(kith__fused_give(model, evidence, &fusion, error));
    evidence = NULL;
cleanup:
    kith__evidence_free(evidence);
    kith__fusion_release(&fusion);
    return status;
}
