#include "report/plan.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "report/cases.h"
#include "report/document.h"

/* ---- jobs ---- */

char *path_in(const char *folder, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

char *job_path(const job *j, const char *name)
{
    return path_in(j->folder, name);
}

json_t *job_title(const job *j)
{
    const char *model = text_of(j->info, "model"), *data = text_of(j->info, "data");
    char seed[64];

    if (j->kind == JOB_STATISTICS)
        return format_string("statistics of %s", data);
    if (j->kind == JOB_EXPLAIN)
        return format_string("cases of %s, %s", model, data);
    return format_string("%s, %s, seed %s", model, data,
                         value_text(seed, json_object_get(j->info, "seed")));
}

json_t *job_results(const job *j)
{
    char *path = job_path(j, "results.json");
    json_t *results = path ? json_read(path, NULL) : NULL;

    free(path);
    if (results && !json_equal(json_object_get(results, "identity"), j->identity)) {
        json_decref(results);
        return NULL;
    }
    return results;
}

static void job_release(job *j)
{
    free(j->folder);
    free(j->source);
    free(j->on);
    free(j->message);
    json_decref(j->identity);
    json_decref(j->info);
    json_decref(j->commands);
}

/* A hash of a JSON value, for folder names. */
static uint64_t hash_json(const json_t *value)
{
    char *text = json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT);
    uint64_t hash = UINT64_C(14695981039346656037);

    for (const char *c = text; c && *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    free(text);
    return hash;
}

/* Letters, digits, '-' and '.' of the texts. */
static json_t *slug(const char *first, const char *second, const char *third, uint64_t hash)
{
    json_t *made = format_string("%s.%s.%s.%08" PRIx64, first, second, third, hash >> 32);
    char *copy = strdup(json_string_value(made));

    for (char *c = copy; c && *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-.", *c))
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : '-';
    json_decref(made);
    made = json_string(copy ? copy : "run");
    free(copy);
    return made;
}

/* The job with this identity, added if it is missing. Takes ownership of identity and info. */
static kith_status add_job(size_t *index, plan *p, job_kind kind, json_t *identity, json_t *info,
                           const char *name, kith_error *error)
{
    for (size_t i = 0; i < p->count; i++)
        if (json_equal(p->jobs[i].identity, identity)) {
            json_decref(identity);
            json_decref(info);
            *index = i;
            return KITH_OK;
        }
    if (kith__reserve(&p->jobs, &p->capacity, p->count + 1, sizeof *p->jobs)) {
        json_decref(identity);
        json_decref(info);
        return kith__no_memory(error);
    }
    job *j = &p->jobs[p->count];
    *j = (job){.kind = kind, .identity = identity, .info = info, .needs = SIZE_MAX};
    if (asprintf(&j->folder, "%s/runs/%s", p->options.output, name) < 0)
        j->folder = NULL;
    *index = p->count++;
    return j->folder ? KITH_OK : kith__no_memory(error);
}

/* ---- data sets ---- */

static char *data_path(const plan *p, const char *path)
{
    return path[0] == '/' ? strdup(path) : path_in(p->options.data, path);
}

/* Hash, numbers of facts and task of a source, read once; NULL if it is missing. */
static kith_status look_at_source(const json_t **source, plan *p, const char *path,
                                  kith_error *error)
{
    const kith_open_options options = {.threads = p->options.threads};
    kith_graph *graph;
    char hash[32];

    *source = json_object_get(p->sources, path);
    if (*source || access(path, F_OK) != 0)
        return KITH_OK;
    kith_status status = kith_graph_open(&graph, path, &options, error);
    if (status != KITH_OK)
        return status;
    snprintf(hash, sizeof hash, "%016" PRIx64, kith_graph_hash(graph));
    json_t *made = json_pack("{ss sI sI sb sb}", "hash", hash, "facts",
                             (json_int_t)kith_graph_facts(graph, KITH_TRAIN).count, "test",
                             (json_int_t)kith_graph_facts(graph, KITH_TEST).count, "labels",
                             kith_graph_facts(graph, KITH_DEV).truth != NULL, "test_labels",
                             kith_graph_facts(graph, KITH_TEST).truth != NULL);
    kith_graph_free(graph);
    json_object_set_new(p->sources, path, made);
    *source = made;
    return KITH_OK;
}

static void note_missing(json_t *experiment, const json_t *data, const char *path)
{
    const char *form = text_of(data, "form");

    if (!*form)
        form = text_of(experiment, "form");
    json_array_append_new(
        json_object_get(experiment, "missing"),
        json_pack("{so so sb so}", "data", safe_string(text_of(data, "name")), "path",
                  safe_string(path), "optional", json_is_true(json_object_get(data, "optional")),
                  "form",
                  safe_string(*form ? form
                                    : "a folder with train, dev, test and aux: one fact per line, "
                                      "subject, relation and object, separated by tabs")));
}

/* A data set that is there but cannot be used, even if it is optional. */
static void note_unusable(json_t *experiment, const json_t *data, const char *path,
                          const char *message)
{
    json_array_append_new(json_object_get(experiment, "missing"),
                          json_pack("{so so sb so}", "data", safe_string(text_of(data, "name")),
                                    "path", safe_string(path), "optional", 0, "message",
                                    safe_string(message)));
}

/* Reads the source at one of a data set's paths. If that fails, the reason is noted, and the other
 * data sets are still run. */
static kith_status find_source(const json_t **source, plan *p, json_t *experiment,
                               const json_t *data, const char *key, kith_error *error)
{
    char *path = data_path(p, text_of(data, key));
    kith_status status = path ? look_at_source(source, p, path, error) : kith__no_memory(error);

    if (status == KITH_OK && !*source) {
        note_missing(experiment, data, path);
    } else if (status != KITH_OK && status != KITH_ERR_MEMORY) {
        note_unusable(experiment, data, path, error->message);
        status = KITH_OK;
    }
    free(path);
    return status;
}

/* Models are evaluated on test, and questions are sampled from it. */
static bool needs_test(const json_t *experiment)
{
    return strcmp(text_of(experiment, "kind"), "statistics") != 0 &&
           !json_object_get(json_object_get(experiment, "cases"), "questions");
}

/* Case studies do not use "on". */
static const char *evaluated_key(const json_t *experiment, const json_t *data)
{
    bool cases = strcmp(text_of(experiment, "kind"), "cases") == 0;
    return *text_of(data, "on") && !cases ? "on" : "path";
}

/* Whether the data set can be used. If not, the experiment has a note that says why. */
static kith_status is_usable(bool *usable, plan *p, json_t *experiment, const json_t *data,
                             kith_error *error)
{
    const char *evaluated = evaluated_key(experiment, data);
    const json_t *source = NULL, *on = NULL;
    kith_status status = find_source(&source, p, experiment, data, "path", error);

    if (status == KITH_OK && *text_of(data, "on"))
        status = find_source(&on, p, experiment, data, "on", error);
    *usable = status == KITH_OK && source && (on || !*text_of(data, "on"));
    if (*usable && needs_test(experiment) &&
        !(number_of(strcmp(evaluated, "on") == 0 ? on : source, "test") > 0)) {
        char *path = data_path(p, text_of(data, evaluated));
        json_t *message =
            format_string("%s has no test facts; make some with `kith split`", path ? path : "");
        note_unusable(experiment, data, path ? path : "", json_string_value(message));
        json_decref(message);
        free(path);
        *usable = false;
    }
    return status;
}

/* Whether evaluation classifies the facts of the data set instead of ranking their entities. */
static bool is_classified(const plan *p, const json_t *experiment, const json_t *data)
{
    char *path = data_path(p, text_of(data, evaluated_key(experiment, data)));
    const json_t *source = path ? json_object_get(p->sources, path) : NULL;

    free(path);
    return json_is_true(json_object_get(source, "test_labels"));
}

/* Labelled facts have an accuracy and no ranks, so that is their default. */
static void choose_metrics(json_t *experiment, size_t used, size_t classified)
{
    static const char *const names[] = {"mrr", "hits1", "hits3", "hits10", "accuracy"};
    json_t *metrics = json_array();

    for (size_t i = used == classified ? 4 : 0; i < 5; i++)
        json_array_append_new(metrics, json_string(names[i]));
    if (classified > 0 && json_array_size(json_object_get(experiment, "metrics")) == 0)
        json_object_set(experiment, "metrics", metrics);
    json_decref(metrics);
}

/* ---- settings ---- */

const char *value_text(char out[64], const json_t *value)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        snprintf(out, 64, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        snprintf(out, 64, "%.10g", json_number_value(value));
    return out;
}

static kith_status set_all(kith_settings *s, const json_t *settings, kith_error *error)
{
    const char *name;
    json_t *value;
    char text[64];
    kith_status status = KITH_OK;

    json_object_foreach((json_t *)settings, name, value)
        if (status == KITH_OK)
            status = kith_settings_set(s, name, value_text(text, value), error);
    return status;
}

/* Every setting of a training by name: the preset's, then the model's, then the seed. */
static kith_status resolve(json_t **out, const char *preset, const json_t *settings,
                           const json_t *seed, kith_error *error)
{
    kith_settings *s = NULL;
    char text[64];
    const char *name;
    kith_status status = kith_settings_new(&s, preset, error);

    if (status == KITH_OK)
        status = set_all(s, settings, error);
    if (status == KITH_OK)
        status = kith_settings_set(s, "seed", value_text(text, seed), error);
    if (status == KITH_OK)
        *out = json_object();
    for (size_t i = 0; status == KITH_OK && (name = kith_settings_name(i, NULL, NULL)); i++)
        json_object_set_new(*out, name, json_string(kith_settings_get(text, sizeof text, s, name)));
    kith_settings_free(s);
    return status;
}

/* Settings of version 0.1 that were dropped, with the value that all results have. Identities
 * include them, so that finished runs stay valid. */
static void add_dropped(json_t *settings)
{
    json_object_set_new(settings, "hard-negatives", json_string("0"));
}

/* The model's settings, overridden by those of --quick. */
static json_t *chosen_settings(const json_t *model, bool quick)
{
    const json_t *settings = json_object_get(model, "settings");
    const json_t *other = json_object_get(json_object_get(model, "quick"), "settings");
    json_t *merged = settings ? json_copy((json_t *)settings) : json_object();

    if (quick && other)
        json_object_update(merged, (json_t *)other);
    return merged;
}

/* ---- cells ---- */

/* The model's preset, or the default of kith train. */
static const char *preset_of(const json_t *model, const json_t *source)
{
    const char *preset = text_of(model, "preset");

    if (*preset)
        return preset;
    return json_is_true(json_object_get(source, "labels")) ? "triplets" : "kith";
}

/* Measured seconds of CPU time of an epoch over 100,000 facts, with TransE and 100 dimensions. */
static double usual_epoch(const json_t *settings)
{
    static const struct {
        const char *aggregator;
        double seconds;
    } measured[] = {
        {"mean", .65}, {"sum", .65}, {"max", .65}, {"logic", .7}, {"attention-global", 1.7},
        {"lstm", 73}};
    double slower = strcmp(text_of(settings, "decoder"), "transe") == 0 ? 1 : 2.4;
    double seconds = 2;

    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        if (strcmp(text_of(settings, "aggregator"), measured[i].aggregator) == 0)
            seconds = measured[i].seconds;
    if (strcmp(text_of(settings, "loss"), "softmax") == 0)
        seconds += 14; /* shared negatives */
    return seconds * slower * atof(text_of(settings, "dim")) / 100;
}

static double usual_fixed(const char *evidence)
{
    return strcmp(evidence, "none") == 0 ? 3 : strcmp(evidence, "rules") == 0 ? 60 : 90;
}

/* Seconds of CPU time per 100,000 facts, as given by the model, or else as usual for what it
 * trains. */
static void set_estimate(job *j, const json_t *model, const json_t *source)
{
    const json_t *settings = json_object_get(j->identity, "settings");
    const char *evidence = text_of(settings, "evidence");
    double facts = number_of(source, "facts") / 1e5;
    double epoch = number_of(model, "epoch_seconds"), fixed = number_of(model, "fixed_seconds");
    bool given = isfinite(epoch) || isfinite(fixed);

    if (!isfinite(epoch))
        epoch = given ? 0 : usual_epoch(settings);
    if (!isfinite(fixed))
        fixed = given ? 0 : usual_fixed(evidence);
    j->epochs = strcmp(evidence, "rules") == 0 ? 0 : atof(text_of(settings, "epochs"));
    j->estimate = 1 + facts * (j->epochs * epoch + fixed);
}

static kith_status add_training(size_t *index, plan *p, const json_t *experiment,
                                const json_t *model, const json_t *data, const json_t *seed,
                                kith_error *error)
{
    char *path = data_path(p, text_of(data, "path"));
    char *on = *text_of(data, "on") ? data_path(p, text_of(data, "on")) : NULL;
    json_t *given = chosen_settings(model, p->options.quick), *settings = NULL;
    const json_t *source = NULL, *other = NULL;
    kith_status status = KITH_OK;

    TRY(look_at_source(&source, p, path, error));
    if (on)
        TRY(look_at_source(&other, p, on, error));
    const char *preset = preset_of(model, source);
    TRY(resolve(&settings, preset, given, seed, error));
    add_dropped(settings);
    json_t *identity = json_pack("{ss si ss sO}", "kind", "train", "version", RESULTS_VERSION,
                                 "data", text_of(source, "hash"), "settings", settings);
    if (other)
        json_object_set(identity, "on", json_object_get(other, "hash"));
    if (RULES_VERSION > 1 && strcmp(text_of(settings, "evidence"), "none") != 0)
        json_object_set_new(identity, "rules_version", json_integer(RULES_VERSION));
    char digits[64];
    json_t *info =
        json_pack("{sO so so sO ss sO}", "experiment", json_object_get(experiment, "name"), "model",
                  safe_string(text_of(model, "name")), "data", safe_string(text_of(data, "name")),
                  "seed", seed, "preset", preset, "given", given);
    json_t *seed_text = format_string("seed%s", value_text(digits, seed));
    json_t *name = slug(text_of(data, "name"), text_of(model, "name"), json_string_value(seed_text),
                        hash_json(identity));
    size_t before = p->count;
    status = add_job(index, p, JOB_TRAIN, identity, info, json_string_value(name), error);
    json_decref(name);
    json_decref(seed_text);
    if (status == KITH_OK && p->count > before) {
        job *j = &p->jobs[*index];
        j->source = strdup(path);
        j->on = on ? strdup(on) : NULL;
        set_estimate(j, model, source);
    }
cleanup:
    json_decref(settings);
    json_decref(given);
    free(path);
    free(on);
    return status;
}

static kith_status add_statistics(size_t *index, plan *p, const json_t *data, kith_error *error)
{
    char *path = data_path(p, text_of(data, "path"));
    const json_t *source = NULL;
    kith_status status = look_at_source(&source, p, path, error);

    if (status == KITH_OK) {
        json_t *identity = json_pack("{ss si ss}", "kind", "statistics", "version", RESULTS_VERSION,
                                     "data", text_of(source, "hash"));
        json_t *info = json_pack("{so}", "data", safe_string(text_of(data, "name")));
        json_t *name = slug("statistics", text_of(data, "name"), "", hash_json(identity));
        status = add_job(index, p, JOB_STATISTICS, identity, info, json_string_value(name), error);
        json_decref(name);
    }
    if (status == KITH_OK && !p->jobs[*index].source) {
        p->jobs[*index].source = strdup(path);
        p->jobs[*index].estimate = 1;
    }
    free(path);
    return status;
}

/* Questions are sampled once per data set, so that all models answer the same ones. */
static kith_status add_cases(size_t *index, plan *p, json_t *experiment, const json_t *data,
                             size_t training, kith_error *error)
{
    const char *data_name = text_of(data, "name");
    json_t *all = json_object_get(experiment, "questions");
    const job *trained = &p->jobs[training];
    kith_status status = KITH_OK;

    if (!all)
        json_object_set_new(experiment, "questions", all = json_object());
    if (!json_object_get(all, data_name)) {
        json_t *questions = NULL;
        status = cases_sample(&questions, trained->source, json_object_get(experiment, "cases"),
                              p->options.threads, error);
        if (status != KITH_OK)
            return status;
        json_object_set_new(all, data_name, questions);
    }
    json_t *identity =
        json_pack("{ss si sO sO}", "kind", "explain", "version", RESULTS_VERSION, "of",
                  trained->identity, "questions", json_object_get(all, data_name));
    json_t *info = json_copy(trained->info);
    json_t *name = slug("cases", data_name, text_of(info, "model"), hash_json(identity));
    status = add_job(index, p, JOB_EXPLAIN, identity, info, json_string_value(name), error);
    json_decref(name);
    if (status == KITH_OK) {
        p->jobs[*index].needs = training;
        p->jobs[*index].estimate = 2;
    }
    return status;
}

static void add_cell(json_t *experiment, const char *model, const char *data, const json_t *seed,
                     size_t index)
{
    json_array_append_new(json_object_get(experiment, "cells"),
                          json_pack("{so so sO* sI}", "model", safe_string(model), "data",
                                    safe_string(data), "seed", seed, "job", (json_int_t)index));
}

/* Adds the experiment and the model to the message about a wrong setting, seed list or data set. */
static kith_status in_model(kith_status status, const json_t *experiment, const json_t *model,
                            kith_error *error)
{
    kith_error why = *error;
    return kith__fail(error, status, "experiment %s, model %s: %.800s", text_of(experiment, "name"),
                      text_of(model, "name"), why.message);
}

static bool names_data(const json_t *list, const char *name)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(list, i, entry)
        if (json_is_string(entry) && strcmp(json_string_value(entry), name) == 0)
            return true;
    return !list;
}

static kith_status add_seeds(plan *p, json_t *experiment, const json_t *model, const json_t *data,
                             kith_error *error)
{
    const json_t *seeds = experiment_choice(model, "seeds", p->options.quick), *seed;
    bool cases = strcmp(text_of(experiment, "kind"), "cases") == 0;
    json_t *one = json_pack("[i]", 1);
    kith_status status = KITH_OK;
    size_t i, index;

    json_array_foreach(json_array_size(seeds) > 0 ? seeds : one, i, seed) {
        status = add_training(&index, p, experiment, model, data, seed, error);
        if (status == KITH_OK && cases)
            status = add_cases(&index, p, experiment, data, index, error);
        if (status != KITH_OK)
            break;
        add_cell(experiment, text_of(model, "name"), text_of(data, "name"), seed, index);
    }
    json_decref(one);
    return status == KITH_OK ? status : in_model(status, experiment, model, error);
}

static kith_status add_experiment(plan *p, json_t *experiment, kith_error *error)
{
    const json_t *wanted = experiment_choice(experiment, "only", p->options.quick);
    const json_t *data, *model;
    bool statistics = strcmp(text_of(experiment, "kind"), "statistics") == 0;
    kith_status status = KITH_OK;
    size_t i, k, index, used = 0, classified = 0;
    bool usable;

    json_object_set_new(experiment, "cells", json_array());
    json_object_set_new(experiment, "missing", json_array());
    json_array_foreach(json_object_get(experiment, "data"), i, data) {
        if (!names_data(wanted, text_of(data, "name")))
            continue;
        status = is_usable(&usable, p, experiment, data, error);
        if (status == KITH_OK && !usable)
            continue;
        used++;
        classified += is_classified(p, experiment, data);
        if (status == KITH_OK && statistics) {
            status = add_statistics(&index, p, data, error);
            if (status == KITH_OK)
                add_cell(experiment, "", text_of(data, "name"), NULL, index);
        }
        json_array_foreach(json_object_get(experiment, "models"), k, model)
            if (status == KITH_OK && names_data(experiment_choice(model, "data", p->options.quick),
                                                text_of(data, "name")))
                status = add_seeds(p, experiment, model, data, error);
        if (status != KITH_OK)
            return status;
    }
    choose_metrics(experiment, used, classified);
    return KITH_OK;
}

/* ---- finished runs ---- */

/* Takes over a folder of runs/ if it holds the finished results of the job. */
static bool use_folder(job *j, const char *runs, const char *name)
{
    char *own = j->folder, *path = path_in(runs, name);
    struct stat found;
    json_t *results = NULL;

    if (path && lstat(path, &found) == 0 && S_ISDIR(found.st_mode)) {
        j->folder = path;
        results = job_results(j);
    }
    j->folder = results ? path : own;
    free(results ? own : path);
    json_decref(results);
    return results != NULL;
}

/* Another experiment may have run the same under another name: names differ, but folders end in the
 * hash of the identity. */
static bool is_done_elsewhere(job *j)
{
    const char *hash = strrchr(j->folder, '.');
    char *runs = strndup(j->folder, (size_t)(strrchr(j->folder, '/') - j->folder));
    DIR *entries = runs ? opendir(runs) : NULL;
    bool done = false;

    for (const struct dirent *e; entries && !done && (e = readdir(entries));) {
        const char *end = strrchr(e->d_name, '.');
        if (end && strcmp(end, hash) == 0)
            done = use_folder(j, runs, e->d_name); /* if so, it has freed the hash */
    }
    if (entries)
        closedir(entries);
    free(runs);
    return done;
}

static bool is_done(job *j)
{
    json_t *results = job_results(j);

    json_decref(results);
    return results || is_done_elsewhere(j);
}

/* ---- the plan ---- */

void plan_update(plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->jobs[i].was_done = is_done(&p->jobs[i]);
        p->jobs[i].state = p->jobs[i].was_done ? JOB_DONE : JOB_WAITING;
    }
}

kith_status plan_make(plan *p, json_t *experiments, const plan_options *options, kith_error *error)
{
    json_t *experiment;
    kith_status status = KITH_OK;
    size_t i;

    *p = (plan){.options = *options, .experiments = experiments, .sources = json_object()};
    json_array_foreach(experiments, i, experiment)
        if (status == KITH_OK)
            status = add_experiment(p, experiment, error);
    if (status == KITH_OK)
        plan_update(p);
    if (status != KITH_OK)
        plan_release(p);
    return status;
}

void plan_release(plan *p)
{
    for (size_t i = 0; i < p->count; i++)
        job_release(&p->jobs[i]);
    kith__free(p->jobs);
    json_decref(p->experiments);
    json_decref(p->sources);
    *p = (plan){0};
}
