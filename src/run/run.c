#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "core/mem.h"
#include "core/numbers.h"
#include "graph/graph.h"
#include "embed/tensors.h"
#include "run/cache.h"

enum { FORMAT = 2, OLDEST_FORMAT = 1 };

/* ---- config.json ---- */

static json_t *config_of(const kith_graph *graph, const kith_settings *settings, uint64_t derived)
{
    json_t *values = json_object(), *config;
    char text[64], hash[32];
    const char *name;

    for (size_t i = 0; (name = kith_settings_name(i, NULL, NULL)); i++)
        json_object_set_new(values, name,
                            json_string(kith_settings_get(text, sizeof text, settings, name)));
    snprintf(hash, sizeof hash, "%016" PRIx64, kith_graph_hash(graph));
    config = json_pack("{si ss ss so}", "format", FORMAT, "kith", kith_version(), "data_hash", hash,
                       "settings", values);
    snprintf(hash, sizeof hash, "%016" PRIx64, derived);
    if (derived != 0)
        json_object_set_new(config, "derived_hash", json_string(hash));
    return config;
}

static kith_status write_config(const char *folder, const kith_graph *graph,
                                const kith_settings *settings, uint64_t derived,
                                kith_error *error)
{
    json_t *config = config_of(graph, settings, derived);
    char *text = config ? json_dumps(config, JSON_INDENT(2)) : NULL;
    kith_status status = kith__write_text(folder, "config.json", text, error);

    free(text);
    json_decref(config);
    return status;
}

static kith_status check_target(const char *folder, kith_error *error)
{
    struct stat info;

    if (stat(folder, &info) != 0)
        return KITH_OK; /* making the folder will say what is wrong, if anything */
    if (kith__path_exists(folder, "config.json"))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%s: holds a run already; resume it, or choose another name", folder);
    return KITH_OK;
}

kith_status kith__run_create(const char *folder, const kith_graph *graph,
                             const kith_settings *settings, uint64_t derived, kith_error *error)
{
    const kith_save_options ids = {.ids = 1};
    char *work = kith__name_beside(folder), *inner = work ? kith__path_join(work, "graph") : NULL;
    bool made = false;
    kith_status status = KITH_OK;

    if (!inner)
        TRY(kith__no_memory(error));
    TRY(check_target(folder, error));
    made = mkdir(work, 0777) == 0;
    if (!made && errno == EEXIST) { /* left by a process with the same number that was killed */
        kith__remove_folder(inner);
        kith__remove_folder(work);
        made = mkdir(work, 0777) == 0;
    }
    if (!made)
        TRY(kith__fail(error, KITH_ERR_IO, "%s: cannot make a folder: %s", folder,
                       strerror(errno)));
    TRY(kith_graph_save(graph, inner, &ids, error));
    TRY(write_config(work, graph, settings, derived, error));
    TRY(kith__sync_folder(work, error));
    TRY(kith__place_folder(work, folder, false, error));
cleanup:
    if (status != KITH_OK && made) {
        kith__remove_folder(inner);
        kith__remove_folder(work);
    }
    kith__free(work);
    kith__free(inner);
    return status;
}

/* Settings that runs of format 1 do not have: there they are as the preset has them. */
static bool is_newer(const char *name)
{
    static const char *const names[] = {"evidence",   "directions",       "reciprocal",
                                        "candidate-vectors", "shared-negatives",
                                        "hard-negatives", "scale", "schedule", "table-lr"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static kith_status read_settings(kith_settings *settings, const json_t *values, int format,
                                 const char *path, kith_error *error)
{
    kith_error why;
    const char *name;
    kith_status status = kith__settings_init(settings, "release", error);

    for (size_t i = 0; status == KITH_OK && (name = kith_settings_name(i, NULL, NULL)); i++) {
        const char *former = kith__settings_former_name(name);
        const char *value = json_string_value(json_object_get(values, name));
        if (!value)
            value = json_string_value(json_object_get(values, former));
        if (!value && format == 1 && is_newer(name))
            continue;
        if (!value)
            return kith__fail(error, KITH_ERR_INPUT, "%s: lacks the setting '%s'", path, name);
        if (kith_settings_set(settings, name, value, &why) != KITH_OK)
            return kith__fail(error, KITH_ERR_INPUT, "%s: %s", path, why.message);
    }
    return status;
}

/* What config.json says. */
typedef struct {
    kith_settings settings;
    uint64_t data_hash, derived; /* derived is 0 where it is not said */
} run_config;

static kith_status read_config(run_config *out, const char *path, kith_error *error)
{
    json_error_t why;
    json_t *config = json_load_file(path, 0, &why), *values;
    const char *text, *version;
    int format;
    kith_status status = KITH_OK;

    if (!config)
        return kith__fail(error, KITH_ERR_INPUT, "%s:%d: %s, expected the settings of a run", path,
                          why.line, why.text);
    if (json_unpack(config, "{si ss ss so}", "format", &format, "kith", &version, "data_hash",
                    &text, "settings", &values) != 0)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s: lacks format, kith, data_hash or settings, expected the settings of a "
                       "run", path));
    if (format < OLDEST_FORMAT || format > FORMAT)
        TRY(kith__fail(
            error, KITH_ERR_INPUT,
            "%s: has format %d, made by kith %.32s; this is kith %s, which knows formats "
            "up to %d",
            path, format, version, kith_version(), FORMAT));
    out->data_hash = strtoull(text, NULL, 16);
    text = json_string_value(json_object_get(config, "derived_hash"));
    out->derived = text ? strtoull(text, NULL, 16) : 0;
    TRY(read_settings(&out->settings, values, format, path, error));
cleanup:
    json_decref(config);
    return status;
}

/* Names are files of their own; without them the graph could be read, but nobody would understand
 * it. */
static kith_status check_names(const char *graph_folder, kith_error *error)
{
    static const char *const files[] = {"entity2id.txt", "relation2id.txt"};

    for (int i = 0; i < 2; i++)
        if (!kith__path_exists(graph_folder, files[i]))
            return kith__fail(error, KITH_ERR_INPUT,
                              "%s: has no %s, so its names are lost; expected the folder as kith "
                              "train made it", graph_folder, files[i]);
    return KITH_OK;
}

static kith_status open_graph(kith_graph **out, const char *path, uint64_t hash, unsigned threads,
                              kith_error *error)
{
    const kith_open_options open = {.threads = threads};
    kith_graph *graph = NULL;
    kith_status status;

    TRY(check_names(path, error));
    TRY(kith_graph_open(&graph, path, &open, error));
    if (kith_graph_hash(graph) != hash)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s: is not the graph that config.json was made for (its hash differs)",
                       path));
    *out = graph;
    graph = NULL;
cleanup:
    kith_graph_free(graph);
    return status;
}

/* From the cache where it is good; else from the folder, and then there is a cache for the next. */
static kith_status make_trained(kith_model **model, kith_graph **graph, const char *folder,
                                const char *inner, const run_config *config, unsigned threads,
                                kith_error *error)
{
    const kith_settings *settings = &config->settings;
    const kith__cache_wanted wanted = {
        .key = kith__cache_key(inner, settings, config->data_hash),
        .data_hash = config->data_hash,
        .derived = config->derived,
        .rules = kith__aggregator_get(settings->aggregator)->logic,
    };
    kith__implications *rules = NULL;
    kith__neighbor_lists *lists = NULL;
    bool cached = kith__cache_load(graph, &rules, &lists, folder, &wanted);
    kith_status status = KITH_OK;

    if (cached)
        lists->cap = kith__list_cap(settings);
    else
        TRY(open_graph(graph, inner, config->data_hash, threads, error));
    TRY(kith__model_make(model, *graph, settings, threads, rules, lists, error));
    if (!cached)
        kith__cache_save(folder, wanted.key, *model);
cleanup:
    return status;
}

static kith_status open_run(kith_model **model, const char *folder, unsigned threads, bool trained,
                            kith_error *error)
{
    char *path = kith__path_join(folder, "config.json"), *inner = kith__path_join(folder, "graph");
    run_config config;
    kith_graph *graph = NULL;
    kith_status status = KITH_OK;

    if (!path || !inner)
        TRY(kith__no_memory(error));
    if (!kith__path_exists(folder, "config.json"))
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s: is no run, expected a folder with config.json, as kith train makes it",
                       folder));
    TRY(read_config(&config, path, error));
    if (trained) {
        TRY(make_trained(model, &graph, folder, inner, &config, threads, error));
    } else {
        TRY(open_graph(&graph, inner, config.data_hash, threads, error));
        TRY(kith_model_new(model, graph, &config.settings, threads, error));
    }
    (*model)->own_graph = graph;
    graph = NULL;
cleanup:
    kith_graph_free(graph);
    kith__free(path);
    kith__free(inner);
    return status;
}

kith_status kith__run_open(kith_model **model, const char *folder, unsigned threads,
                           kith_error *error)
{
    return open_run(model, folder, threads, false, error);
}

kith_status kith__run_open_trained(kith_model **model, const char *folder, unsigned threads,
                                   kith_error *error)
{
    return open_run(model, folder, threads, true, error);
}

/* ---- weights and positions ---- */

kith_status kith__run_save_model(const char *folder, const kith_model *model, kith_error *error)
{
    const kith__tensor_group group = {"", &model->params};
    kith__note note = {.key = "kith"};
    char *path = kith__path_join(folder, "model.safetensors");

    snprintf(note.value, sizeof note.value, "%s", kith_version());
    kith_status status = path ? kith__tensors_save(path, &group, 1, &note, 1, error)
                              : kith__no_memory(error);
    kith__free(path);
    return status;
}

kith_status kith__run_load_model(const char *folder, kith_model *model, kith_error *error)
{
    const kith__tensor_group group = {"", &model->params};
    char *path = kith__path_join(folder, "model.safetensors");
    kith_status status = path ? kith__tensors_load(path, &group, 1, NULL, 0, error)
                              : kith__no_memory(error);
    kith__free(path);
    if (status == KITH_ERR_IO)
        return kith__fail(
            error, KITH_ERR_INPUT,
            "%s: has no model.safetensors yet; train it first: kith train --resume %s", folder,
            folder);
    const kith__table *broken = status == KITH_OK ? kith__params_broken(&model->params) : NULL;
    if (broken)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s/model.safetensors: the table '%s' has values that are not finite",
                          folder, broken->spec->name);
    return status;
}

enum { EPOCH, BATCH, LOSS_SUM, FACTS, SECONDS, BEST, BEST_EPOCH, LOOKS, FINISHED, STEPS, NOTES };

static void name_notes(kith__note notes[NOTES])
{
    static const char *const keys[NOTES] = {"epoch", "batch", "loss_sum", "facts", "seconds",
                                            "best", "best_epoch", "looks", "finished", "steps"};
    for (int i = 0; i < NOTES; i++)
        snprintf(notes[i].key, sizeof notes[i].key, "%s", keys[i]);
}

kith_status kith__run_save_position(const char *folder, const kith__position *p,
                                    const kith_model *model, const kith__adam_state *adam,
                                    kith_error *error)
{
    const kith__tensor_group groups[] = {{"", &model->params}, {"m.", &adam->m}, {"v.", &adam->v}};
    const double values[NOTES] = {p->epoch, (double)p->batch, p->loss_sum, (double)p->facts,
                                  p->seconds, p->best, p->best_epoch, p->looks, p->finished,
                                  (double)adam->steps};
    kith__note notes[NOTES];
    char *path = kith__path_join(folder, "checkpoint.safetensors");

    name_notes(notes);
    locale_t before = kith__plain_numbers();
    for (int i = 0; i < NOTES; i++)
        snprintf(notes[i].value, sizeof notes[i].value, "%.17g", values[i]);
    kith__usual_numbers(before);
    kith_status status = path ? kith__tensors_save(path, groups, 3, notes, NOTES, error)
                              : kith__no_memory(error);
    kith__free(path);
    return status;
}

/* What the run's settings leave room for; figures of dev may be -1, for none. */
static kith_status read_notes(double *values, const kith__note *notes, const kith_model *model,
                              const char *path, kith_error *error)
{
    size_t facts = kith_graph_facts(model->graph, KITH_TRAIN).count, batch = model->settings.batch;
    double most[NOTES];

    for (int i = 0; i < NOTES; i++)
        most[i] = i == LOSS_SUM || i == SECONDS ? HUGE_VAL : 1e15;
    most[EPOCH] = most[BEST_EPOCH] = most[LOOKS] = model->settings.epochs;
    most[BATCH] = (double)((facts + batch - 1) / batch);
    most[FACTS] = (double)facts;
    most[BEST] = most[FINISHED] = 1;
    for (int i = 0; i < NOTES; i++) {
        if (!notes[i].value[0])
            return kith__fail(error, KITH_ERR_INPUT, "%s: does not say its %s", path, notes[i].key);
        if (!kith__parse_real(&values[i], notes[i].value, i == BEST ? -1 : 0, most[i]))
            return kith__fail(
                error, KITH_ERR_INPUT,
                "%s: its %s is '%s', expected a number up to %g as config.json has it", path,
                notes[i].key, notes[i].value, most[i]);
    }
    double done = values[BATCH] * (double)batch;
    if (values[FACTS] != (done < (double)facts ? done : (double)facts))
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: has done %g facts in %g batches, which are not batches of %zu as "
                          "config.json has it", path, values[FACTS], values[BATCH], batch);
    return KITH_OK;
}

kith_status kith__run_load_position(kith__position *p, const char *folder, kith_model *model,
                                    kith__adam_state *adam, kith_error *error)
{
    const kith__tensor_group groups[] = {{"", &model->params}, {"m.", &adam->m}, {"v.", &adam->v}};
    kith__note notes[NOTES];
    double values[NOTES];
    char *path = kith__path_join(folder, "checkpoint.safetensors");
    kith_status status = KITH_OK;

    memset(p, 0, sizeof *p);
    p->best = -1;
    if (!path)
        return kith__no_memory(error);
    if (kith__path_exists(folder, "checkpoint.safetensors")) {
        name_notes(notes);
        TRY(kith__tensors_load(path, groups, 3, notes, NOTES, error));
        TRY(read_notes(values, notes, model, path, error));
        *p = (kith__position){(uint32_t)values[EPOCH], (uint64_t)values[BATCH], values[LOSS_SUM],
                              (uint64_t)values[FACTS], values[SECONDS], values[BEST],
                              (uint32_t)values[BEST_EPOCH], (uint32_t)values[LOOKS],
                              values[FINISHED] != 0};
        adam->steps = (uint64_t)values[STEPS];
    }
cleanup:
    kith__free(path);
    return status;
}

/* ---- history.jsonl ---- */

kith_status kith__run_log(const char *folder, const kith_progress *progress, const char *metric,
                          kith_error *error)
{
    char *path = kith__path_join(folder, "history.jsonl");
    FILE *out = path ? fopen(path, "ae") : NULL;
    kith_status status = KITH_OK;

    if (!path)
        return kith__no_memory(error);
    locale_t before = kith__plain_numbers();
    if (out) {
        fprintf(out, "{\"epoch\": %u, \"loss\": %.9g, \"seconds\": %.6g", progress->epoch,
                progress->loss, progress->seconds);
        if (progress->evaluated)
            fprintf(out, ", \"%s\": %.9g", metric, progress->dev);
        fprintf(out, "}\n");
    }
    kith__usual_numbers(before);
    bool failed = !out || ferror(out);
    if ((out && fclose(out) != 0) || failed)
        status = kith__fail(error, KITH_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    kith__free(path);
    return status;
}

kith_status kith__run_cut_log(const char *folder, uint32_t epoch, kith_error *error)
{
    char *path = kith__path_join(folder, "history.jsonl"), *line = NULL;
    size_t capacity = 0;
    kith__new_file file = {0};
    FILE *in = path ? fopen(path, "re") : NULL;
    kith_status status = KITH_OK;

    if (!path)
        return kith__no_memory(error);
    if (!in)
        goto cleanup; /* nothing was logged yet */
    TRY(kith__new_file_open(&file, path, error));
    while (getline(&line, &capacity, in) > 0) {
        json_t *entry = json_loads(line, 0, NULL);
        json_int_t at = json_integer_value(json_object_get(entry, "epoch"));
        line[strcspn(line, "\n")] = '\0';
        if (entry && at > 0 && at <= epoch) /* a line that was cut off is no entry */
            fprintf(file.stream, "%s\n", line);
        json_decref(entry);
    }
    TRY(kith__new_file_commit(&file, error));
cleanup:
    if (in)
        fclose(in);
    free(line);
    kith__new_file_abandon(&file);
    kith__free(path);
    return status;
}

/* ---- calibration.json ---- */

kith_status kith__run_save_calibration(const char *folder, const kith_model *model,
                                       kith_error *error)
{
    json_t *object =
        json_pack("{si s[fff]}", "format", FORMAT, "calibration", (double)model->calibration[0],
                  (double)model->calibration[1], (double)model->calibration[2]);
    char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    kith_status status = kith__write_text(folder, "calibration.json", text, error);

    free(text);
    json_decref(object);
    return status;
}

kith_status kith__run_load_calibration(const char *folder, kith_model *model, kith_error *error)
{
    char *path = kith__path_join(folder, "calibration.json");
    json_error_t why;
    json_t *object = NULL;
    double w[3];
    kith_status status = KITH_OK;

    if (!path)
        return kith__no_memory(error);
    if (!kith__path_exists(folder, "calibration.json"))
        goto cleanup; /* answers have scores alone */
    object = json_load_file(path, 0, &why);
    if (!object || json_unpack(object, "{s[FFF]}", "calibration", &w[0], &w[1], &w[2]) != 0 ||
        !isfinite(w[0]) || !isfinite(w[1]) || !isfinite(w[2]))
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s: has no three finite numbers of calibration",
                       path));
    for (int i = 0; i < 3; i++)
        model->calibration[i] = (float)w[i];
    model->calibrated = true;
cleanup:
    json_decref(object);
    kith__free(path);
    return status;
}
