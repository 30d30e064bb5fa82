#include "model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/options.h"
#include "model/candidate_cache.h"
#include "model/classify.h"
#include "model/idle_pools.h"
#include "model/sweep.h"

kith_predict kith__resolve_predict(const kith_settings *settings, const kith_graph *graph)
{
    uint32_t seen = kith_graph_seen_entity_count(graph);
    kith_facts test = kith_graph_facts(graph, KITH_TEST);
    bool subjects = false, objects = false;

    if (settings->predict != KITH_PREDICT_AUTO)
        return settings->predict;
    for (size_t i = 0; i < test.count; i++) {
        subjects |= test.at[i].subject >= seen;
        objects |= test.at[i].object >= seen;
    }
    if (subjects == objects) /* mixed or none */
        return KITH_PREDICT_BOTH;
    return subjects ? KITH_PREDICT_OBJECT : KITH_PREDICT_SUBJECT;
}

/* Classification distinguishes true and false facts by both sides, so both are corrupted. */
static kith_corrupt resolve_corrupt(const kith_settings *settings, const kith_graph *graph)
{
    bool classifies = kith_graph_facts(graph, KITH_DEV).truth != NULL;

    if (settings->corrupt != KITH_CORRUPT_PREDICTED)
        return settings->corrupt;
    if (settings->predict == KITH_PREDICT_BOTH || classifies)
        return KITH_CORRUPT_EITHER;
    return settings->predict == KITH_PREDICT_OBJECT ? KITH_CORRUPT_OBJECT : KITH_CORRUPT_SUBJECT;
}

static kith_status fill_model(kith_model *model, unsigned threads, kith__watch *watch,
                              kith_error *error)
{
    const kith_graph *graph = model->graph;
    kith_settings *settings = &model->settings;
    kith_status status;

    TRY(kith__watch_begin(watch, "preparing the model", 0, error));
    TRY(kith__settings_check(settings, error));
    model->candidates = kith_graph_seen_entity_count(graph);
    settings->predict = kith__resolve_predict(settings, graph);
    settings->corrupt = resolve_corrupt(settings, graph);
    model->pool = kith__pool_new(threads);
    if (!model->pool)
        TRY(kith__no_memory(error));
    kith__pool_set_watch(model->pool, watch);
    if (kith__aggregator_get(settings->aggregator)->logic && !model->rules)
        TRY(kith__implications_new(&model->rules, graph, KITH__MOST_IMPLICATIONS, model->pool,
                                   error));
    if (!model->lists)
        TRY(kith__neighbor_lists_new(&model->lists, graph, model->rules, settings, watch, error));
    if (settings->evidence == KITH_EVIDENCE_RULES)
        goto cleanup; /* a model without an embedding */
    TRY(kith__params_init(&model->params, settings, kith_graph_seen_entity_count(graph),
                          kith_graph_seen_relation_count(graph),
                          model->rules ? (size_t)model->rules->offset[model->rules->relations] : 0,
                          error));
    TRY(kith__encoder_new(&model->encoder, settings, model->lists, model->rules, &model->params,
                           model->pool, error));
cleanup:
    if (model->pool)
        kith__pool_set_watch(model->pool, NULL);
    return status;
}

kith_status kith__model_make(kith_model **out, const kith_graph *graph,
                             const kith_settings *settings, unsigned threads, kith__watch *watch,
                             kith__implications *rules, kith__neighbor_lists *lists,
                             kith_error *error)
{
    kith_model *model = kith__calloc(1, sizeof *model);

    if (!model) {
        kith__implications_free(rules);
        kith__neighbor_lists_free(lists);
        return kith__no_memory(error);
    }
    model->rules = rules;
    model->lists = lists;
    pthread_mutex_init(&model->lock, NULL);
    pthread_mutex_init(&model->sweeping, NULL);
    model->settings = *settings;
    model->graph = graph;
    kith_status status = fill_model(model, threads, watch, error);
    if (status == KITH_OK)
        *out = model;
    else
        kith_model_free(model);
    return status;
}

kith_status kith_model_new(kith_model **out, const kith_graph *graph, const kith_settings *settings,
                           const kith_work_options *given, kith_error *error)
{
    if (!out || !graph || !settings)
        return kith__null_argument(error, __func__);

    kith_model *model = NULL;
    kith_work_options options = {0};
    kith__watch watch;
    kith_status status =
        kith__options_copy(&options, sizeof options, sizeof options, given, error);

    kith__watch_init(&watch, options.watch, options.context);
    TRY(status);
    TRY(kith__model_make(&model, graph, settings, options.threads, &watch, NULL, NULL, error));
    TRY(kith__params_start(&model->params, settings->seed, &watch, error));
    *out = model;
    model = NULL;
cleanup:
    kith_model_free(model);
    kith__watch_release(&watch);
    return status;
}

void kith_model_free(kith_model *model)
{
    if (!model)
        return;
    kith__candidate_cache_free(model->cache); /* it uses the members freed below */
    kith__fused_free(model->fused);
    kith__index_free(model->own_facts);
    kith__classifier_free(model->classifier);
    pthread_mutex_destroy(&model->lock);
    pthread_mutex_destroy(&model->sweeping);
    kith__encoder_free(model->encoder);
    kith__params_release(&model->params);
    kith__neighbor_lists_free(model->lists);
    kith__implications_free(model->rules);
    kith__idle_pools_free(model);
    kith__pool_free(model->pool);
    kith_graph_free(model->own_graph);
    kith__free(model);
}

void kith__model_warn(kith_model *model, const char *format, ...)
{
    va_list arguments;

    if (model->warnings == sizeof model->warning / sizeof *model->warning)
        return;
    va_start(arguments, format);
    vsnprintf(model->warning[model->warnings], sizeof *model->warning, format, arguments);
    va_end(arguments);
    model->warnings++;
}

const char *kith_model_warning(const kith_model *model, size_t index)
{
    if (!model)
        return NULL;
    return index < model->warnings ? model->warning[index] : NULL;
}

const kith_graph *kith_model_graph(const kith_model *model)
{
    if (!model)
        return NULL;
    return model->graph;
}

const kith_settings *kith_model_settings(const kith_model *model)
{
    if (!model)
        return NULL;
    return &model->settings;
}

bool kith__only_embedding(const kith_model *model, unsigned without)
{
    return !model->fused ||
           (model->fused->embedding && kith__existing_parts(without | KITH_PART_EMBEDDING) ==
                                            kith__existing_parts(KITH_PART_ALL));
}

kith_status kith__need_embedding(const kith_model *model, kith_error *error)
{
    if (kith__model_embeds(model))
        return KITH_OK;
    return kith__fail(error, KITH_ERR_ARGUMENT,
                      "the run has rules alone and no embedding, so it has no vectors");
}
