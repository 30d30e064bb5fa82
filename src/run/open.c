/* Opens a run: config.json, the graph or its cache, weights, rules and fusion. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files.h"
#include "core/mem.h"
#include "core/options.h"
#include "graph/read/table.h"
#include "run/cache.h"
#include "run/cache_check.h"
#include "run/classifier_file.h"
#include "run/config.h"
#include "run/fusion_files.h"
#include "run/held_out_file.h"
#include "run/open.h"
#include "run/run.h"

/* ---- the graph ---- */

/* A graph may be given as a pipe, but opening a pipe among the files of a run could block
 * forever. */
static kith_status check_regular(const char *graph_folder, kith_error *error)
{
    DIR *folder = opendir(graph_folder);
    struct dirent *entry;
    struct stat info;
    kith_status status = KITH_OK;

    while (status == KITH_OK && folder && (entry = readdir(folder)))
        if (fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && !S_ISREG(info.st_mode) &&
            !S_ISDIR(info.st_mode))
            status = kith__fail(error, KITH_ERR_INPUT, "%s/%s: is no regular file", graph_folder,
                                entry->d_name);
    if (folder)
        closedir(folder);
    return status;
}

/* Names are in separate files. Without them the graph could be read, but its ids would have no
 * meaning. */
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

static kith_status check_labels(const kith_graph *graph, const char *path,
                                const kith__config *config, kith_error *error)
{
    if (config->format < 3 || kith__labels_hash(graph) == config->labels)
        return KITH_OK;
    return kith__fail(
        error, KITH_ERR_INPUT,
        "%s/%s: does not have the labels that config.json was made for (their hash differs)", path,
        graph->prefixes.count > 0   ? "prefixes.txt, relation_name.txt or entity_name.txt"
        : graph->relation_labels ? "relation_name.txt or entity_name.txt"
                                 : "entity_name.txt");
}

kith_status kith__run_open_graph(kith_graph **out, const char *path, const kith__config *config,
                                 const kith_work_options *options, kith_error *error)
{
    const kith_open_options open = {
        .threads = options->threads, .watch = options->watch, .context = options->context};
    kith_graph *graph = NULL;
    kith_status status;

    TRY(check_regular(path, error));
    TRY(check_names(path, error));
    TRY(kith_graph_open(&graph, path, &open, error));
    if (kith_graph_hash(graph) != config->data_hash)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s: is not the graph that config.json was made for (its hash differs)",
                       path));
    TRY(check_labels(graph, path, config, error));
    *out = graph;
    graph = NULL;
cleanup:
    kith_graph_free(graph);
    return status;
}

static kith_status read_beside(bool *found, kith_graph *graph, const char *inner, const char *name,
                               kith_status (*read)(kith__loader *, const char *), kith_error *error)
{
    kith__loader loader = {.graph = graph, .error = error};
    char *path;
    kith_status status = check_regular(inner, error);

    if (status != KITH_OK || !kith__path_exists(inner, name))
        return status;
    *found = true;
    if (!(path = kith__path_join(inner, name)))
        return kith__no_memory(error);
    status = read(&loader, path);
    kith__free(path);
    return status;
}

/* Prefixes and labels of relations are few, so they are not in the cache. */
static kith_status read_uncached(kith_graph *graph, const char *inner, const kith__config *config,
                                 kith_error *error)
{
    bool found = false;
    kith_status status;

    TRY(read_beside(&found, graph, inner, "relation_name.txt", kith__read_relation_labels, error));
    TRY(read_beside(&found, graph, inner, "prefixes.txt", kith__read_prefixes, error));
    if (found)
        TRY(check_labels(graph, inner, config, error));
cleanup:
    return status;
}

/* Read the cache if it is valid. Otherwise read the folder, and write a cache for the next time. */
static kith_status make_trained(kith_model **model, kith_graph **graph, const char *folder,
                                const char *inner, const kith__config *config,
                                const kith_work_options *options, kith_error *error)
{
    const kith_settings *settings = &config->settings;
    kith__watch watch;
    const kith__cache_wanted wanted = {
        .key = kith__cache_key(inner, settings, config->data_hash),
        .data_hash = config->data_hash,
        .derived = config->derived,
        .rules = kith__aggregator_get(settings->aggregator)->logic,
        .watch = &watch,
    };
    kith__implications *rules = NULL;
    kith__neighbor_lists *lists = NULL;
    bool cached;
    kith_status status;

    kith__watch_init(&watch, options->watch, options->context);
    TRY(kith__watch_begin(&watch, "checking the cache", 0, error));
    cached = kith__cache_load(graph, &rules, &lists, folder, &wanted);
    if (cached) {
        lists->cap = kith__list_cap(settings);
        status = read_uncached(*graph, inner, config, error);
    } else if ((status = kith__watch_status(&watch, error)) == KITH_OK) {
        status = kith__run_open_graph(graph, inner, config, options, error);
    }
    if (status != KITH_OK) { /* arrays from a cache are in its map, which is freed with the graph */
        kith__free(rules);
        kith__free(lists);
        goto cleanup;
    }
    TRY(kith__model_make(model, *graph, settings, options->threads, &watch, rules, lists, error));
    if (!cached) {
        TRY(kith__watch_begin(&watch, "writing the cache", 0, error));
        kith__cache_save(folder, wanted.key, *model, &watch);
        TRY(kith__watch_status(&watch, error));
    }
cleanup:
    if (status != KITH_OK) { /* before the graph, which it does not own yet */
        kith_model_free(*model);
        *model = NULL;
    }
    kith__watch_release(&watch);
    return status;
}

/* ---- the model ---- */

void kith__run_warn_of_age(kith_model *model, const char *folder, const kith__config *config)
{
    model->run_format = config->format;
    if (config->format < KITH__RUN_FORMAT)
        kith__model_warn(
            model,
            "%s: was made by kith %s, without checksums: damage to its files would not "
            "be noticed; to have them, train it again",
            folder, config->version);
}

kith_status kith__run_check(const char *folder, kith_error *error)
{
    if (!kith__path_exists(folder, "config.json"))
        return kith__fail(
            error, KITH_ERR_INPUT,
            "%s: is not a run, expected a folder with config.json, as kith train writes it",
            folder);
    return KITH_OK;
}

static kith_status open_run(kith_model **model, const char *folder,
                            const kith_work_options *options, bool trained, kith_error *error)
{
    char *inner = kith__path_join(folder, "graph");
    kith__config config;
    kith_graph *graph = NULL;
    kith_status status = KITH_OK;

    if (!inner)
        TRY(kith__no_memory(error));
    TRY(kith__run_check(folder, error));
    TRY(kith__config_load(&config, folder, trained ? KITH__TO_OPEN : KITH__TO_RESUME, error));
    if (trained) {
        TRY(make_trained(model, &graph, folder, inner, &config, options, error));
    } else {
        TRY(kith__run_open_graph(&graph, inner, &config, options, error));
        TRY(kith_model_new(model, graph, &config.settings, options, error));
    }
    kith__run_warn_of_age(*model, folder, &config);
    (*model)->own_graph = graph;
    graph = NULL;
cleanup:
    kith_graph_free(graph);
    kith__free(inner);
    return status;
}

kith_status kith__run_open(kith_model **model, const char *folder,
                           const kith_work_options *options, kith_error *error)
{
    return open_run(model, folder, options, false, error);
}

/* Runs with rules warn of few facts themselves. */
static void warn_of_few(kith_model *model)
{
    enum { FEW = 50 };
    size_t count = model->graph->splits[KITH_DEV].count;

    if (!model->fused && model->calibration.fitted && count < FEW)
        kith__model_warn(model,
                         "the validation set is small: probabilities were fitted on %zu fact%s, so "
                         "they are rough estimates", count, count == 1 ? "" : "s");
}

/* Read what was learned beside the embedding; ticks the pool's watch. */
static kith_status read_learned(kith_model *model, const char *folder, kith_error *error)
{
    kith_status status = KITH_OK;

    if (model->settings.evidence != KITH_EVIDENCE_RULES)
        TRY(kith__run_load_model(folder, model, error));
    TRY(model->settings.evidence == KITH_EVIDENCE_NONE
            ? kith__run_load_calibration(folder, model, error)
            : kith__fused_open(model, folder, false, error));
    if (!model->fused && model->settings.unseen_neighbors)
        TRY(kith__index_new_with_aux(&model->own_facts, model->graph, model->pool, error));
    warn_of_few(model);
    TRY(kith__classifier_open(model, folder, false, error));
    TRY(kith__held_out_open(model, folder, error));
cleanup:
    return status;
}

kith_status kith_model_open(kith_model **out, const char *folder, const kith_work_options *given,
                            kith_error *error)
{
    if (!out || !folder)
        return kith__null_argument(error, __func__);

    kith_model *model = NULL;
    kith_work_options options = {0};
    kith__watch watch;
    kith_status status =
        kith__options_copy(&options, sizeof options, sizeof options, given, error);

    kith__watch_init(&watch, options.watch, options.context);
    TRY(status);
    TRY(open_run(&model, folder, &options, true, error));
    kith__pool_set_watch(model->pool, &watch);
    TRY(kith__watch_begin(&watch, "reading the model", 0, error));
    TRY(read_learned(model, folder, error));
    kith__pool_set_watch(model->pool, NULL);
    *out = model;
    model = NULL;
cleanup:
    kith_model_free(model);
    kith__watch_release(&watch);
    return status;
}
