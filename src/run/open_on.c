/* Opens a run on a graph other than the one it was trained on. */
#include <stdio.h>
#include <string.h>

#include "core/files.h"
#include "core/options.h"
#include "graph/align.h"
#include "graph/read/table.h"
#include "model/new_inputs.h"
#include "run/classifier_file.h"
#include "run/fusion_files.h"
#include "run/open.h"
#include "run/run.h"

/* What is opened, and what is needed of the run until the model is complete. */
typedef struct {
    const char *folder;
    const kith_graph *graph; /* as the caller numbered it */
    kith__config config;
    kith_work_options options;
    kith__watch watch;
    kith_model *trained;     /* an embedding alone, on its own graph */
    kith_graph *trained_on;  /* of a run with rules */
    kith_graph *aligned;     /* `graph`, with the run's relation ids */
    kith__alignment report;
} opening;

static void release(opening *o)
{
    kith_model_free(o->trained);
    kith_graph_free(o->trained_on);
    kith_graph_free(o->aligned);
    kith__watch_release(&o->watch);
}

/* ---- the graph ---- */

static kith_status open_trained_on(opening *o, kith_error *error)
{
    char *inner = kith__path_join(o->folder, "graph");
    kith_status status =
        inner ? kith__run_open_graph(&o->trained_on, inner, &o->config, &o->options, error)
              : kith__no_memory(error);
    kith__free(inner);
    return status;
}

/* Renumber the graph to the relation ids of the run. `learned`, if not NULL, receives the facts of
 * the run. */
static kith_status align(kith__index **learned, opening *o, const kith_graph *like,
                         kith_error *error)
{
    kith__pool *pool = kith__pool_new(o->options.threads);
    kith_status status = KITH_OK;

    if (!pool)
        TRY(kith__no_memory(error));
    kith__pool_set_watch(pool, &o->watch);
    TRY(kith__watch_begin(&o->watch, "matching relations", 0, error));
    TRY(kith__graph_align(&o->aligned, &o->report, o->graph, like, pool, error));
    if (learned)
        TRY(kith__index_new(learned, like, pool, error));
cleanup:
    kith__pool_free(pool);
    return status;
}

/* The names come last, so that long ones do not cut off the rest. */
static void warn_of_dropped(kith_model *model, const char *folder, const kith__alignment *report,
                            const kith_graph *graph)
{
    char names[KITH__DROPPED_NAMED * (KITH__QUOTED + 2)] = "", more[32] = "", text[KITH__QUOTED];
    size_t count = report->dropped_relations, used = 0;

    for (size_t i = 0; i < count && i < KITH__DROPPED_NAMED; i++) {
        const char *name = kith_graph_relation_name(graph, report->first_dropped[i]);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 kith__quote(text, name, strlen(name)));
    }
    if (count > KITH__DROPPED_NAMED)
        snprintf(more, sizeof more, " and %zu more", count - KITH__DROPPED_NAMED);
    kith__model_warn(model,
                     "%s was not trained on %zu of the graph's relations; known facts with them "
                     "are ignored: %zu (%s%s)",
                     folder, count, report->dropped_facts, names, more);
}

/* ---- the model ---- */

/* A model on the aligned graph, without anything learned but `implications`, which it takes
 * ownership of. */
static kith_status make_model(kith_model **out, opening *o, kith__implications *implications,
                              kith_error *error)
{
    kith_model *model = NULL;
    kith_status status;

    o->config.settings.predict = KITH_PREDICT_BOTH;
    TRY(kith__model_make(&model, o->aligned, &o->config.settings, o->options.threads, &o->watch,
                         implications, NULL, error));
    model->own_graph = o->aligned;
    o->aligned = NULL;
    kith__run_warn_of_age(model, o->folder, &o->config);
    if (o->report.dropped_relations > 0)
        warn_of_dropped(model, o->folder, &o->report, o->graph);
    kith__pool_set_watch(model->pool, &o->watch);
    *out = model;
    status = kith__watch_begin(&o->watch, "reading the model", 0, error);
cleanup:
    return status;
}

/* Rules and fusion, without the embedding. */
static kith_status open_fused(kith_model **model, opening *o, kith_error *error)
{
    kith__index *learned = NULL;
    kith_status status;

    TRY(open_trained_on(o, error));
    TRY(align(&learned, o, o->trained_on, error));
    kith_graph_free(o->trained_on);
    o->trained_on = NULL;
    o->config.settings.evidence = KITH_EVIDENCE_RULES;
    TRY(make_model(model, o, NULL, error));
    (*model)->candidates = kith_graph_entity_count((*model)->graph);
    TRY(kith__fused_open(*model, o->folder, true, error));
    kith__fact_base_learn((*model)->fused->evidence->base, learned);
    learned = NULL;
cleanup:
    kith__index_free(learned);
    return status;
}

/* An embedding without rules. It has no calibration: that was fitted on trained vectors. */
static kith_status open_embedding(kith_model **model, opening *o, kith_error *error)
{
    kith__implications *implications = NULL;
    kith_status status;

    TRY(kith_model_open(&o->trained, o->folder, &o->options, error));
    TRY(align(NULL, o, o->trained->graph, error));
    if (o->trained->rules)
        TRY(kith__implications_copy(&implications, o->trained->rules, error));
    TRY(make_model(model, o, implications, error));
    TRY(kith__watch_begin(&o->watch, "encoding entities", 0, error));
    kith__encoder_set_watch((*model)->encoder, &o->watch);
    TRY(kith__adopt_embedding(*model, o->trained, error));
    kith__encoder_set_watch((*model)->encoder, NULL);
    if ((*model)->settings.unseen_neighbors)
        TRY(kith__index_new_with_aux(&(*model)->own_facts, (*model)->graph, (*model)->pool, error));
    kith__model_warn(*model,
                     "%s is an embedding alone, which has no trained vectors for the entities of "
                     "another graph: it ranks them from the relations around them, without "
                     "probabilities; a run with rules (--preset kith or rules) does much better",
                     o->folder);
cleanup:
    return status;
}

kith_status kith_model_open_on(kith_model **out, const char *folder, const kith_graph *graph,
                               const kith_work_options *given, kith_error *error)
{
    if (!out || !folder || !graph)
        return kith__null_argument(error, __func__);

    opening o = {.folder = folder, .graph = graph};
    kith_model *model = NULL;
    kith_status status =
        kith__options_copy(&o.options, sizeof o.options, sizeof o.options, given, error);

    kith__watch_init(&o.watch, o.options.watch, o.options.context);
    TRY(status);
    TRY(kith__run_check(folder, error));
    TRY(kith__config_load(&o.config, folder, KITH__TO_OPEN, error));
    TRY(o.config.settings.evidence == KITH_EVIDENCE_NONE ? open_embedding(&model, &o, error)
                                                         : open_fused(&model, &o, error));
    TRY(kith__classifier_open(model, folder, true, error));
    kith__pool_set_watch(model->pool, NULL);
    *out = model;
    model = NULL;
cleanup:
    kith_model_free(model);
    release(&o);
    return status;
}
