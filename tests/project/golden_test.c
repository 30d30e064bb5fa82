/* Compare kith with exact values from an independent implementation.
 *   golden_test DIR
 * DIR holds graph.json, params.json, encode_*.json, case_*.json, adam.json and ranking.json; its
 * README says what they are. Prints TAP; exit status 0 only if every file was compared and
 * passed. */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "eval/rank.h"
#include "embed/decoders/decoder.h"
#include "model/model.h"
#include "nn/kernels.h"
#include "train/adam.h"
#include "train/step.h"

static const double tolerance = 1e-5;

static const char *folder;
static json_t *graph_json, *params_json;
static kith_graph *graph;
static int number, failures;
static char why[512];

/* ---- reporting ---- */

static void report(const char *what, bool passed)
{
    printf("%s %d - %s%s%s\n", passed ? "ok" : "not ok", ++number, what, passed ? "" : ": ",
           passed ? "" : why);
    failures += !passed;
}

static void stop(const char *what, const char *message)
{
    printf("not ok %d - %s: %s\n", number + 1, what, message);
    exit(1);
}

static json_t *load(const char *name)
{
    char path[4096];
    json_error_t error;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    json_t *json = json_load_file(path, 0, &error);
    if (!json)
        stop(path, error.text);
    return json;
}

static void must(kith_status status, const kith_error *error)
{
    if (status != KITH_OK)
        stop("kith", error->message);
}

/* ---- comparing ---- */

/* Numbers of nested lists, one after the other. */
static size_t flatten(double *out, const json_t *json)
{
    size_t count = 0;

    if (json_is_number(json)) {
        out[0] = json_number_value(json);
        return 1;
    }
    for (size_t i = 0; i < json_array_size(json); i++)
        count += flatten(out + count, json_array_get(json, i));
    return count;
}

static size_t size_of(const json_t *json)
{
    size_t count = 0;

    if (json_is_number(json))
        return 1;
    for (size_t i = 0; i < json_array_size(json); i++)
        count += size_of(json_array_get(json, i));
    return count;
}

/* Every entry within the tolerance of the table's largest. */
static bool close_to(const char *what, const double *found, const json_t *json, size_t count)
{
    double *expected = malloc((size_of(json) + 1) * sizeof *expected), most = 0, worst = 0;
    size_t size = flatten(expected, json), at = 0;

    if (size != count)
        snprintf(why, sizeof why, "%s has %zu values, expected %zu", what, count, size);
    for (size_t i = 0; i < size; i++)
        most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; size == count && i < count; i++) {
        double off = fabs(found[i] - expected[i]);
        if (!(off <= worst)) {
            worst = off;
            at = i;
        }
    }
    bool good = size == count && worst <= tolerance * most + 1e-9;
    if (!good && size == count)
        snprintf(why, sizeof why, "%s[%zu] is %.9g, expected %.9g (largest %.3g)", what, at,
                 found[at], expected[at], most);
    free(expected);
    return good;
}

static bool floats_close(const char *what, const float *found, const json_t *json, size_t count)
{
    double *copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = found[i];
    bool good = close_to(what, copy, json, count);
    free(copy);
    return good;
}

static bool table_close(const char *what, const kith__table *t, const float *at, const json_t *json)
{
    double *copy = calloc(t->rows * t->cols + 1, sizeof *copy);
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < t->cols; c++)
            copy[r * t->cols + c] = at[r * t->stride + c];
    bool good = close_to(what, copy, json, t->rows * t->cols);
    free(copy);
    return good;
}

/* ---- the graph, through the reader of folders ---- */

static long whole(const json_t *json, const char *key)
{
    return (long)json_integer_value(json_object_get(json, key));
}

static void write_part(const char *at, const char *name, const json_t *facts)
{
    char path[4096];

    if (json_array_size(facts) == 0)
        return;
    snprintf(path, sizeof path, "%s/%s", at, name);
    FILE *out = fopen(path, "w");
    for (size_t i = 0; i < json_array_size(facts); i++) {
        double t[3];
        flatten(t, json_array_get(facts, i));
        fprintf(out, "%.0f\t%.0f\t%.0f\n", t[0], t[1], t[2]);
    }
    fclose(out);
}

static void write_names(const char *at, const char *name, const char *prefix, long count)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", at, name);
    FILE *out = fopen(path, "w");
    for (long i = 0; i < count; i++)
        fprintf(out, "%s%ld\t%ld\n", prefix, i, i);
    fclose(out);
}

static long most_relations(void)
{
    static const char *const splits[] = {"train", "aux", "test"};
    long most = whole(graph_json, "relations");

    for (int p = 0; p < 3; p++) {
        const json_t *facts = json_object_get(graph_json, splits[p]);
        for (size_t i = 0; i < json_array_size(facts); i++) {
            double t[3];
            flatten(t, json_array_get(facts, i));
            if (t[1] + 1 > most)
                most = (long)t[1] + 1;
        }
    }
    return most;
}

static void open_graph(void)
{
    char at[] = "/tmp/kith-golden-XXXXXX", path[128];
    static const char *const files[] = {"train", "aux", "test", "entity2id.txt", "relation2id.txt"};
    kith_error error;

    if (!mkdtemp(at))
        stop("mkdtemp", "cannot make a folder");
    for (int i = 0; i < 3; i++)
        write_part(at, files[i], json_object_get(graph_json, files[i]));
    write_names(at, files[3], "e", whole(graph_json, "entities"));
    write_names(at, files[4], "r", most_relations());
    must(kith_graph_open(&graph, at, NULL, &error), &error);
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", at, files[i]);
        unlink(path);
    }
    rmdir(at);
    if ((long)kith_graph_seen_entity_count(graph) != whole(graph_json, "seen_entities") ||
        (long)kith_graph_seen_relation_count(graph) != whole(graph_json, "relations"))
        stop("graph.json", "seen entities or relations are not the first ids");
}

/* ---- models as the files describe them ---- */

static const char *text(const json_t *json, const char *key)
{
    const char *value = json_string_value(json_object_get(json, key));
    return value ? value : "";
}

static void set(kith_settings *s, const char *name, const char *value)
{
    kith_error error;
    must(kith_settings_set(s, name, value, &error), &error);
}

static kith_settings settings_of(const json_t *encode)
{
    static const char *const names[][2] = {{"global", "attention-global"},
                                           {"query", "attention-query"},
                                           {"mean-pad", "mean"}};
    const char *aggregator = text(encode, "aggregator");
    kith_settings s;
    kith_error error;
    char number_text[32];

    must(kith__settings_init(&s, "release", &error), &error);
    set(&s, "padding", strcmp(aggregator, "mean-pad") == 0 ? "on" : "off");
    for (int i = 0; i < 3; i++)
        if (strcmp(aggregator, names[i][0]) == 0)
            aggregator = names[i][1];
    set(&s, "aggregator", aggregator);
    snprintf(number_text, sizeof number_text, "%zu",
             json_array_size(json_array_get(json_object_get(params_json, "ent"), 0)));
    set(&s, "dim", number_text);
    if (json_is_integer(json_object_get(encode, "hidden"))) {
        snprintf(number_text, sizeof number_text, "%ld", whole(encode, "hidden"));
        set(&s, "attention-width", number_text);
    }
    set(&s, "logic-denominator", strcmp(text(encode, "logic"), "paper") == 0 ? "max"
                                                                             : "one-plus-max");
    set(&s, "self-confidence", strcmp(text(encode, "self_confidence"), "one") == 0 ? "one"
                                                                                   : "row-mean");
    return s;
}

static void fill_table(kith__table *t, const json_t *json)
{
    double *values = malloc((size_of(json) + 1) * sizeof *values);

    if (flatten(values, json) != t->rows * t->cols)
        stop(t->spec->name, "the table has another size");
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < t->cols; c++)
            kith__row(t, r)[c] = (float)values[r * t->cols + c];
    free(values);
}

static kith_model *model_of(const kith_settings *s, const json_t *encode)
{
    const json_t *tables = json_object_get(encode, "tables");
    kith_model *model;
    kith_error error;

    must(kith_model_new(&model, graph, s, &(kith_work_options){.threads = 2}, &error), &error);
    for (size_t i = 0; i < model->params.tables; i++) {
        kith__table *t = &model->params.table[i];
        const char *source = text(tables, t->spec->name);
        if (!*source)
            stop(t->spec->name, "the file does not name this table");
        fill_table(t, json_object_get(params_json, source));
    }
    return model;
}

static void set_decoder(kith_settings *s, const char *decoder)
{
    bool raw = strcmp(decoder, "transe_raw") == 0;
    set(s, "decoder", strncmp(decoder, "transe", 6) == 0 ? "transe" : decoder);
    set(s, "normalize", raw ? "off" : "on");
}

static json_t *encode_of(const char *variant)
{
    char name[256];
    snprintf(name, sizeof name, "encode_%s.json", variant);
    return load(name);
}

/* ---- graph.json ---- */

static bool check_confidence(const char *key, kith_self_confidence self)
{
    size_t n = 2 * kith_graph_seen_relation_count(graph);
    double *p = calloc(n * n, sizeof *p);
    kith__implications *rules;
    kith_error error;
    kith__pool *pool = kith__pool_new(2);

    must(kith__implications_new(&rules, graph, KITH__MOST_IMPLICATIONS, pool, &error), &error);
    for (uint32_t r = 0; r < n; r++) {
        p[r * n + r] = kith__implications_self(rules, r, (kith__self)self);
        for (uint64_t i = rules->offset[r]; i < rules->offset[r + 1]; i++)
            p[rules->at[i].relation * n + r] = rules->at[i].confidence;
    }
    bool good = close_to(key, p, json_object_get(graph_json, key), n * n);
    for (uint32_t r = 0; r < n; r++)
        p[r] = rules->frequency[r];
    good = good && close_to("relation_frequency", p,
                            json_object_get(graph_json, "relation_frequency"), n);
    kith__implications_free(rules);
    kith__pool_free(pool);
    free(p);
    return good;
}

/* Lists and denominators, in the order of the file. */
static bool check_lists(const char *lists_key, const char *denominator_key, uint32_t cap,
                        const char *denominator)
{
    const json_t *lists = json_object_get(graph_json, lists_key);
    const json_t *denominators = json_object_get(graph_json, denominator_key);
    kith_settings s;
    kith_model *model;
    kith_error error;
    bool good = true;

    must(kith__settings_init(&s, "release", &error), &error);
    set(&s, "logic-denominator", denominator);
    s.max_neighbors = cap;
    must(kith_model_new(&model, graph, &s, &(kith_work_options){.threads = 1}, &error), &error);
    for (uint32_t e = 0; e < model->lists->entities && good; e++) {
        uint64_t from = model->lists->offset[e], count = kith__list_count(model->lists, e);
        double *flat = malloc((2 * count + 1) * sizeof *flat);
        for (uint64_t i = 0; i < count; i++) {
            flat[2 * i] = model->lists->at[from + i].relation;
            flat[2 * i + 1] = model->lists->at[from + i].entity;
        }
        good = close_to(lists_key, flat, json_array_get(lists, e), 2 * count);
        json_t *cut = json_array();
        for (uint64_t i = 0; i < count; i++)
            json_array_append(cut, json_array_get(json_array_get(denominators, e), i));
        good = good && floats_close(denominator_key, model->lists->denominator + from, cut, count);
        json_decref(cut);
        free(flat);
    }
    kith_model_free(model);
    return good;
}

/* ---- encode_*.json ---- */

static bool check_visits(const kith__encoder *e, size_t d, const json_t *record)
{
    static const char *const keys[] = {"softmax", "logic", "weight"};
    size_t count;
    kith__encoder_neighbors(&count, e, 0);
    float *flat = malloc((count * d + 1) * sizeof *flat), *got = malloc((count + 1) * sizeof *got),
          *t = kith__calloc_aligned(kith__encoder_stride(e), sizeof *t);

    for (size_t v = 0; v < count; v++) {
        kith__encoder_neighbor_vector(t, e, 0, v);
        memcpy(flat + v * d, t, d * sizeof *t);
    }
    bool good =
        floats_close("transformed", flat, json_object_get(record, "transformed"), count * d);
    for (int k = 0; k < 3; k++) {
        for (size_t v = 0; v < count; v++) {
            kith__neighbor_weight w = kith__encoder_weight(e, 0, v);
            got[v] = k == 0 ? w.attention : k == 1 ? w.logic : w.weight;
        }
        if (json_object_get(record, keys[k]))
            good = good && floats_close(keys[k], got, json_object_get(record, keys[k]), count);
    }
    free(flat);
    free(got);
    free(t);
    return good;
}

/* The weight of each neighbour as a session explains it, found by its fact. */
static bool check_explained(kith_model *model, const kith__encoder *e, const json_t *record)
{
    static const char *const keys[] = {"logic", "softmax", "weight"};
    uint32_t m = model->lists->relations / 2, query = (uint32_t)whole(record, "query");
    const char *entity = kith_graph_entity_name(graph, (uint32_t)whole(record, "entity"));
    const kith_question question = {query < m ? entity : NULL,
                                    kith_graph_relation_name(graph, query % m),
                                    query < m ? NULL : entity};
    size_t visits;
    const kith_neighbor *at = kith__encoder_neighbors(&visits, e, 0);
    float *found = calloc(3 * (visits + 1), sizeof *found);
    kith_explanation *told;
    kith_session *session;
    kith_error error;
    bool good = true;

    must(kith_session_new(&session, model, &error), &error);
    must(kith_session_explain(&told, session, &question, NULL, &error), &error);
    for (size_t i = 0; i < told->neighbor_count; i++) {
        const kith_weighted_neighbor *n = told->neighbors[i];
        uint32_t relation = n->relation + (n->inverse ? m : 0);
        for (size_t v = 0; v < visits; v++)
            if (at[v].relation == relation && at[v].entity == n->entity) {
                found[v] = (float)n->logic;
                found[visits + v] = (float)n->attention;
                found[2 * visits + v] = (float)n->weight;
            }
    }
    for (int k = 0; k < 3 && good; k++)
        if (json_object_get(record, keys[k]))
            good = floats_close(keys[k], found + (size_t)k * visits,
                                json_object_get(record, keys[k]), visits);
    kith_explanation_free(told);
    kith_session_free(session);
    free(found);
    return good;
}

static bool check_encoded(kith_model *model, const json_t *record)
{
    kith__encoder *e = model->encoder;
    kith_error error;

    kith__encoder_begin(e);
    kith__encoder_request(e, (uint32_t)whole(record, "entity"), (uint32_t)whole(record, "query"),
                          NULL);
    must(kith__encoder_forward(e, &error), &error);
    size_t visits, d = model->settings.dim;
    kith__encoder_neighbors(&visits, e, 0);
    return floats_close("vector", kith__encoder_vector(e, 0), json_object_get(record, "vector"),
                        d) &&
           check_visits(e, d, record) && (visits == 0 || check_explained(model, e, record));
}

static void check_encode_file(const char *name)
{
    json_t *file = load(name);
    const json_t *records = json_object_get(file, "encoded");
    kith_settings s = settings_of(file);
    kith_model *model = model_of(&s, file);
    bool good = json_array_size(records) > 0;

    snprintf(why, sizeof why, "no records");
    for (size_t i = 0; i < json_array_size(records) && good; i++)
        good = check_encoded(model, json_array_get(records, i));
    report(name, good);
    kith_model_free(model);
    json_decref(file);
}

/* ---- case_*.json ---- */

static size_t read_batch(kith_triple *positive, kith_triple *negative)
{
    const json_t *batch = json_object_get(graph_json, "batch");

    for (size_t i = 0; i < json_array_size(batch); i++) {
        const json_t *b = json_array_get(batch, i);
        positive[i] = (kith_triple){(uint32_t)whole(b, "s"), (uint32_t)whole(b, "q"),
                                    (uint32_t)whole(b, "o")};
        negative[i] = (kith_triple){(uint32_t)whole(b, "s_neg"), (uint32_t)whole(b, "q"),
                                    (uint32_t)whole(b, "o_neg")};
    }
    return json_array_size(batch);
}

static bool check_gradients(const kith__engine *step, const json_t *expected)
{
    const kith__gradients *g = &step->gradients;
    const kith__params *params = step->scoring.params;
    const kith__table *ent = kith__ent(params);
    float *dense = calloc(ent->rows * ent->stride, sizeof *dense);
    size_t compared = 1;

    for (size_t i = 0; i < g->rows; i++)
        memcpy(dense + g->entity[i] * ent->stride, g->ent.at + i * g->stride,
               ent->stride * sizeof *dense);
    bool good = table_close("gradient of ent", ent, dense, json_object_get(expected, "ent"));
    free(dense);
    for (size_t i = 1; i < params->tables && good; i++) {
        const kith__table *t = &params->table[i];
        const json_t *json = json_object_get(expected, t->spec->name);
        good = json && table_close(t->spec->name, t, g->dense.table[i].at, json);
        compared++;
    }
    if (good && compared != json_object_size(expected)) {
        snprintf(why, sizeof why, "%zu tables compared of %zu", compared,
                 json_object_size(expected));
        good = false;
    }
    return good;
}

static bool check_losses(const kith__engine *step, const json_t *losses)
{
    double total = kith__engine_loss(step);
    return close_to("losses.output", &step->loss_out, json_object_get(losses, "output"), 1) &&
           close_to("losses.input", &step->loss_in, json_object_get(losses, "input"), 1) &&
           close_to("losses.total", &total, json_object_get(losses, "total"), 1);
}

static bool check_scores(const kith__engine *step, const json_t *scores)
{
    const kith__fact_scores *f = &step->facts;
    size_t n = f->batch->count;
    return floats_close("out_positive", f->out.at, json_object_get(scores, "out_positive"), n) &&
           floats_close("out_negative", f->out.at + n, json_object_get(scores, "out_negative"),
                        n) &&
           floats_close("in_positive", f->in.at, json_object_get(scores, "in_positive"), n) &&
           floats_close("in_negative", f->in.at + n, json_object_get(scores, "in_negative"), n);
}

static kith_settings case_settings(const json_t *file, const json_t *encode)
{
    kith_settings s = settings_of(encode);

    set_decoder(&s, text(file, "decoder"));
    set(&s, "loss", strcmp(text(file, "loss"), "bce") == 0 ? "logistic" : "margin");
    if (json_is_number(json_object_get(file, "margin")))
        s.margin = json_number_value(json_object_get(file, "margin"));
    s.l2 = json_number_value(json_object_get(file, "l2"));
    return s;
}

static void check_case_file(const char *name)
{
    json_t *file = load(name), *encode = encode_of(text(file, "variant"));
    kith_settings s = case_settings(file, encode);
    kith_model *model = model_of(&s, encode);
    kith_triple positive[4096], negative[4096];
    const kith__batch batch = {read_batch(positive, negative), positive, negative, 1, NULL, NULL};
    kith__engine step;
    kith_error error;

    must(kith__engine_init(&step, model->encoder, &model->params, &model->settings, &error),
         &error);
    must(kith__engine_run(&step, &batch, &error), &error);
    report(name, check_scores(&step, json_object_get(file, "scores")) &&
                     check_losses(&step, json_object_get(file, "losses")) &&
                     check_gradients(&step, json_object_get(file, "gradients")));
    kith__engine_release(&step);
    kith_model_free(model);
    json_decref(encode);
    json_decref(file);
}

/* ---- adam.json ---- */

static bool check_adam_form(const json_t *file, const char *key, const char *epsilon)
{
    json_t *encode = encode_of(text(file, "variant"));
    kith_settings s = case_settings(file, encode);
    const json_t *steps = json_object_get(file, key);
    kith_triple positive[4096], negative[4096];
    const kith__batch batch = {read_batch(positive, negative), positive, negative, 1, NULL, NULL};
    kith__engine step;
    kith__adam_state adam;
    kith_error error;
    bool good = json_array_size(steps) > 0;

    s.lr = json_number_value(json_object_get(file, "lr"));
    s.margin = 1;
    set(&s, "epsilon", epsilon);
    kith_model *model = model_of(&s, encode);
    must(kith__engine_init(&step, model->encoder, &model->params, &model->settings, &error),
         &error);
    must(kith__adam_init(&adam, &model->params, &error), &error);
    for (size_t i = 0; i < json_array_size(steps) && good; i++) {
        const json_t *after = json_array_get(steps, i), *nested = json_object_get(after, "params");
        if (nested)
            after = nested;
        must(kith__engine_run(&step, &batch, &error), &error);
        kith__adam_step(&adam, &model->params, &step.gradients, &model->settings, 1, model->pool);
        kith__gradients_clear(&step.gradients);
        for (size_t t = 0; t < model->params.tables && good; t++) {
            const kith__table *table = &model->params.table[t];
            const json_t *json = json_object_get(after, table->spec->name);
            snprintf(why, sizeof why, "%s is not in the file", table->spec->name);
            good = json && table_close(table->spec->name, table, table->at, json);
        }
    }
    kith__adam_release(&adam);
    kith__engine_release(&step);
    kith_model_free(model);
    json_decref(encode);
    return good;
}

/* ---- ranking.json ---- */

static bool check_tie(const json_t *tie)
{
    const json_t *scores = json_object_get(tie, "scores"),
                 *filtered = json_object_get(tie, "filtered");
    size_t count = json_array_size(scores);
    float *values = calloc(count + 1, sizeof *values);
    uint8_t *known = calloc(count + 1, 1);
    uint32_t optimistic, pessimistic, candidates;

    for (size_t i = 0; i < count; i++)
        values[i] = (float)json_number_value(json_array_get(scores, i));
    for (size_t i = 0; i < json_array_size(filtered); i++)
        known[json_integer_value(json_array_get(filtered, i))] = 1;
    kith__rank_of(&optimistic, &pessimistic, &candidates, values, count,
                  (uint32_t)whole(tie, "gold"), known);
    free(values);
    free(known);
    snprintf(why, sizeof why, "ranks %u and %u", optimistic, pessimistic);
    return optimistic == whole(tie, "optimistic") && pessimistic == whole(tie, "pessimistic") &&
           (optimistic + pessimistic) / 2.0 ==
               json_number_value(json_object_get(tie, "realistic"));
}

static bool check_query(kith_model *model, const json_t *query, const kith_rank *rank)
{
    const json_t *scores = json_object_get(query, "scores");
    size_t count = json_array_size(scores);
    float *found = malloc((count + 1) * sizeof *found);
    kith_error error;

    for (uint32_t c = 0; c < count; c++) {
        kith_triple t = {rank->fact.subject, rank->fact.relation, c};
        must(kith_model_score(&found[c], model, t, &error), &error);
    }
    bool good = floats_close("scores", found, scores, count);
    free(found);
    if (good && (rank->optimistic != whole(query, "optimistic") ||
                 rank->pessimistic != whole(query, "pessimistic"))) {
        snprintf(why, sizeof why, "ranks %u to %u, expected %ld to %ld", rank->optimistic,
                 rank->pessimistic, whole(query, "optimistic"), whole(query, "pessimistic"));
        good = false;
    }
    return good;
}

static void check_ranking_model(const json_t *entry)
{
    json_t *encode = encode_of(text(entry, "variant"));
    const json_t *list = json_object_get(entry, "queries");
    kith_settings s = settings_of(encode);
    size_t count = json_array_size(list);
    kith__query *queries = calloc(count + 1, sizeof *queries);
    kith__ranked *ranks = calloc(count + 1, sizeof *ranks);
    double mr = 0, mrr = 0, support[3] = {0};
    static const int levels[] = {1, 3, 10};
    char name[256];
    kith_error error;
    bool good = count > 0;

    set_decoder(&s, text(entry, "decoder"));
    kith_model *model = model_of(&s, encode);
    for (size_t i = 0; i < count; i++) {
        const json_t *q = json_array_get(list, i);
        queries[i].fact = (kith_triple){(uint32_t)whole(q, "s"), (uint32_t)whole(q, "q"),
                                        (uint32_t)whole(q, "o")};
    }
    const kith__answer_set among = kith__answers_below(model->candidates);
    must(kith__rank_all(ranks, model, queries, count, &among, &(kith_eval_options){0}, &error),
         &error);
    for (size_t i = 0; i < count && good; i++) {
        good = check_query(model, json_array_get(list, i), &ranks[i].shown);
        mr += ranks[i].shown.realistic / (double)count;
        mrr += 1 / ranks[i].shown.realistic / (double)count;
        for (int k = 0; k < 3; k++)
            support[k] += (ranks[i].shown.realistic <= levels[k]) / (double)count;
    }
    good = good && close_to("MR", &mr, json_object_get(entry, "MR"), 1) &&
           close_to("MRR", &mrr, json_object_get(entry, "MRR"), 1) &&
           close_to("hits_1", &support[0], json_object_get(entry, "hits_1"), 1) &&
           close_to("hits_3", &support[1], json_object_get(entry, "hits_3"), 1) &&
           close_to("hits_10", &support[2], json_object_get(entry, "hits_10"), 1);
    snprintf(name, sizeof name, "ranking.json %s %s", text(entry, "variant"),
             text(entry, "decoder"));
    report(name, good);
    kith_model_free(model);
    free(queries);
    free(ranks);
    json_decref(encode);
}

static void check_ranking_file(void)
{
    json_t *file = load("ranking.json");
    const json_t *ties = json_object_get(file, "ties"), *models = json_object_get(file, "models");
    bool good = json_array_size(ties) > 0;

    for (size_t i = 0; i < json_array_size(ties) && good; i++)
        good = check_tie(json_array_get(ties, i));
    report("ranking.json ties", good);
    for (size_t i = 0; i < json_array_size(models); i++)
        check_ranking_model(json_array_get(models, i));
    json_decref(file);
}

/* ---- all files ---- */

static int is_wanted(const struct dirent *entry)
{
    const char *name = entry->d_name, *end = strrchr(name, '.');
    return end && strcmp(end, ".json") == 0 &&
           (strncmp(name, "encode_", 7) == 0 || strncmp(name, "case_", 5) == 0);
}

static void check_graph_file(void)
{
    report("graph.json confidences with self 1",
           check_confidence("confidence_self_one", KITH_SELF_ONE));
    report("graph.json confidences with row means",
           check_confidence("confidence_self_row_mean", KITH_SELF_ROW_MEAN));
    report("graph.json lists and denominators of the release",
           check_lists("neighbours", "denominator_release", 1 << 20, "one-plus-max"));
    report("graph.json lists and denominators of the paper",
           check_lists("neighbours", "denominator_paper", 1 << 20, "max"));
}

int main(int argc, char **argv)
{
    struct dirent **entries;

    if (argc != 2) {
        fprintf(stderr, "usage: golden_test DIR\n");
        return 2;
    }
    folder = argv[1];
    graph_json = load("graph.json");
    params_json = load("params.json");
    open_graph();
    check_graph_file();
    int count = scandir(folder, &entries, is_wanted, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] == 'e')
            check_encode_file(entries[i]->d_name);
        else
            check_case_file(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    json_t *adam = load("adam.json");
    report("adam.json epsilon outside", check_adam_form(adam, "eps_outside", "outside"));
    report("adam.json epsilon inside", check_adam_form(adam, "eps_inside", "inside"));
    json_decref(adam);
    check_ranking_file();
    printf("1..%d\n", number);
    kith_graph_free(graph);
    json_decref(graph_json);
    json_decref(params_json);
    return failures > 0 || count <= 0;
}
