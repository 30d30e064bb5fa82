#include "train/evidence.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "core/mem.h"
#include "graph/make/holdout.h"
#include "run/config.h"
#include "run/fusion_files.h"
#include "run/has_relation_file.h"
#include "run/held_out_file.h"
#include "run/lock.h"
#include "run/overall_file.h"
#include "train/fit.h"
#include "train/fit_has_relation.h"
#include "train/fit_new_graphs.h"
#include "train/fit_overall.h"

static kith_status hold_out(kith_graph **graph, const kith_model *model, kith_error *error)
{
    const kith_settings *s = &model->settings;
    const kith__holdout_options options = {.subjects = s->predict != KITH_PREDICT_SUBJECT,
                                           .objects = s->predict != KITH_PREDICT_OBJECT,
                                           .between = s->unseen_neighbors,
                                           .share = .1,
                                           .most_hidden = 8,
                                           .most_queries = 8000,
                                           .seed = s->seed};
    return kith__graph_hold_out(graph, model->graph, &options, model->pool, error);
}

/* Training may be continued only as it was begun: another run here would give other weights. */
static kith_status check_continues(const char *folder, const kith_graph *graph,
                                   const kith_settings *settings, kith_error *error)
{
    const char *differs;
    kith_status status = KITH_OK;

    if (!kith__run_removable(folder))
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s: is a link or holds files that kith did not make; move it away first",
                       folder));
    TRY(kith__config_compare(&differs, folder, graph, settings, error));
    if (differs)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s: is not the run that training began there: it has another %s; move it "
                       "away, and it is trained again",
                       folder, differs));
cleanup:
    return status;
}

/* Train on the held-out graph, or resume that training, and open the result. */
static kith_status train_held_out(kith_model **model, kith_train_end *end, const char *folder,
                                  const kith_graph *graph, const kith_settings *settings,
                                  const kith_train_options *options, kith__train_call train,
                                  kith__watch *watch, kith_error *error)
{
    kith_model *started = NULL;
    kith__run_lock lock = KITH__NO_LOCK;
    kith_status status;

    const kith_work_options work = kith__watched_by(watch, options ? options->threads : 0);
    const kith__run_options make = {
        .watch = work.watch, .watch_context = work.context, .lock = &lock};
    if (kith__path_exists(folder, "config.json")) {
        TRY(check_continues(folder, graph, settings, error));
        TRY(kith__run_lock_take(&lock, folder, error));
    } else {
        TRY(kith__run_create(folder, graph, settings, &make, error));
    }
    TRY(kith__run_open(&started, folder, &work, error));
    kith__pool_set_watch(started->pool, watch);
    TRY(train(end, folder, started, options, error));
    if (*end != KITH_TRAIN_STOPPED)
        TRY(kith_model_open(model, folder, &work, error));
cleanup:
    kith__run_lock_release(&lock);
    return status;
}

/* If the graph has too many pairs of relations to count, there is no model of P(has r). */
static kith_status learn_has_relation(kith__has_relation *has, const kith_model *model,
                                      const kith__index *index, const kith__descriptions *held_out,
                                      kith_error *error)
{
    kith__implications *counted = NULL;
    kith__relation_counts counts = {0};
    kith_status status = KITH_OK;

    *has = (kith__has_relation){.fitted = false};
    if (!model->rules)
        status = kith__implications_new(&counted, model->graph, KITH__MOST_IMPLICATIONS,
                                        model->pool, error);
    if (status == KITH_ERR_ARGUMENT)
        return KITH_OK;
    TRY(status);
    TRY(kith__relation_counts_init(&counts, index, counted ? counted : model->rules, error));
    TRY(kith__has_relation_fit(has, &counts, index, held_out, model->settings.seed, error));
cleanup:
    kith__relation_counts_release(&counts);
    kith__implications_free(counted);
    return status;
}

/* A fusion for whole new graphs is fitted if train has at least this many facts, a tenth of which
 * are hidden. */
enum { FEWEST_FACTS = 2000 };

/* What is fitted on held-out entities. */
typedef struct {
    kith__fitted_fusion run;
    kith__has_relation has;
    kith__overall overall;
    kith__held_out held_out;
} fitted;

/* Fit overall probabilities with the model that has not seen these entities, and with the weights
 * `some`, which were not fitted on its calibration split. Takes ownership of evidence and weights.
 * P(has r) is learned over the facts of train alone: support facts are those of held-out entities,
 * some of which are hidden. */
static kith_status fit_overall(fitted *out, kith_model *held_out, const kith__holdout *holdout,
                               kith__evidence **evidence, kith__fusion *some, bool embedding,
                               kith_error *error)
{
    kith__index *index = NULL;
    kith_status status;

    TRY(kith__fused_give(held_out, *evidence, some, &out->run.calibration, error));
    *evidence = NULL;
    some->own = NULL;
    held_out->fused->embedding = embedding;
    TRY(kith__index_new(&index, held_out->graph, held_out->pool, error));
    TRY(learn_has_relation(&out->has, held_out, index, &holdout->fitting, error));
    held_out->has = out->has;
    TRY(kith__overall_fit(&out->overall, &out->held_out.probabilities, held_out,
                          &holdout->calibration, error));
cleanup:
    kith__index_free(index);
    return status;
}

static kith_status fit(fitted *out, const kith_model *model, kith_model *held_out, bool embedding,
                       kith_error *error)
{
    const kith_settings *s = &held_out->settings;
    kith__holdout holdout = {0};
    kith__evidence *evidence = NULL;
    kith__fusion some = {0};
    kith_status status;

    TRY(kith__holdout_init(&holdout, held_out->graph, s->predict, s->seed, error));
    TRY(kith__evidence_new(&evidence, held_out->graph, s->unseen_neighbors, held_out->pool, error));
    TRY(kith__fusion_fit_both(&out->run.fusion, &some, &out->run.calibration, &out->held_out,
                              held_out, evidence, &holdout, embedding, error));
    TRY(fit_overall(out, held_out, &holdout, &evidence, &some, embedding, error));
    TRY(kith__fusion_translate(&out->run.fusion, held_out->graph, model->graph, error));
cleanup:
    kith__fusion_release(&some);
    kith__evidence_free(evidence);
    kith__holdout_release(&holdout);
    return status;
}

/* `has` is what was learned on held-out entities; if NULL, it is learned on entities of train
 * instead. */
static kith_status mine(const char *folder, const kith_model *model, const kith__has_relation *has,
                        kith_error *error)
{
    kith__evidence *evidence = NULL;
    kith__has_relation learned = {.fitted = false};
    kith_status status;

    TRY(kith__evidence_new(&evidence, model->graph, false, model->pool, error));
    TRY(kith__rules_save(folder, evidence->rules, error));
    if (has)
        learned = *has;
    else
        TRY(learn_has_relation(&learned, model, evidence->base->index, NULL, error));
    if (learned.fitted)
        TRY(kith__has_relation_save(folder, &learned, error));
cleanup:
    kith__evidence_free(evidence);
    return status;
}

void kith__run_drop_held_out(const char *folder)
{
    char *inner = kith__path_join(folder, "heldout");

    if (inner && kith__run_removable(inner))
        kith__run_remove(inner);
    kith__free(inner);
}

/* Use the fusion of the run that this one started from, with rules mined here. */
static kith_status take_carried(kith_train_end *end, const char *folder, const kith_model *model,
                                kith_error *error)
{
    kith__fitted_fusion carried = {0}, new_graphs = {0};
    kith__has_relation has;
    bool exists;
    kith_status status;

    TRY(kith__carried_fusion_load(&carried, &new_graphs, &exists, folder, error));
    TRY(kith__has_relation_load(&has, folder, true, error));
    TRY(mine(folder, model, has.fitted ? &has : NULL, error));
    TRY(kith__fusion_save(folder, &carried, exists ? &new_graphs : NULL, error));
    kith__carried_fusion_drop(folder);
    *end = KITH_TRAIN_FINISHED;
cleanup:
    kith__fusion_release(&carried.fusion);
    kith__fusion_release(&new_graphs.fusion);
    return status;
}

kith_status kith__run_add_evidence(kith_train_end *end, const char *folder, kith_model *model,
                                   const kith_train_options *options, kith__train_call train,
                                   kith_error *error)
{
    bool embedding = model->settings.evidence == KITH_EVIDENCE_FUSED;
    kith_settings settings = model->settings;
    kith__watch *watch = kith__pool_watch(model->pool);
    const kith_work_options work = kith__watched_by(watch, options ? options->threads : 0);
    kith_graph *graph = NULL;
    kith_model *held_out = NULL;
    fitted found = {0};
    kith__fitted_fusion other = {0};
    bool exists = false;
    char *inner = kith__path_join(folder, "heldout");
    kith_status status = KITH_OK;

    if (!inner)
        TRY(kith__no_memory(error));
    if (kith__carried_fusion_saved(folder)) {
        status = take_carried(end, folder, model, error);
        goto cleanup;
    }
    settings.evidence = embedding ? KITH_EVIDENCE_NONE : KITH_EVIDENCE_RULES;
    settings.eval_every = 0;
    TRY(kith__watch_begin(watch, "holding out entities", 0, error));
    TRY(hold_out(&graph, model, error));
    /* Train has no facts left if all of them involve held-out entities, as in a star-shaped
     * graph. */
    bool trains = embedding && kith_graph_facts(graph, KITH_TRAIN).count > 0;
    if (trains)
        TRY(train_held_out(&held_out, end, inner, graph, &settings, options, train, watch,
                           error));
    else
        TRY(kith_model_new(&held_out, graph, &settings, &work, error));
    if (trains && *end == KITH_TRAIN_STOPPED)
        goto cleanup;
    kith__pool_set_watch(held_out->pool, watch);
    TRY(fit(&found, model, held_out, embedding, error));
    TRY(mine(folder, model, &found.has, error));
    TRY(kith__overall_save(folder, &found.overall, error));
    TRY(kith__held_out_save(folder, &found.held_out, error));
    if (kith_graph_facts(model->graph, KITH_TRAIN).count >= FEWEST_FACTS)
        TRY(kith__fit_for_new_graphs(&other.fusion, &other.calibration, &exists, model,
                                     options ? options->threads : 0, watch, error));
    TRY(kith__fusion_save(folder, &found.run, exists ? &other : NULL, error));
    kith__run_remove(inner);
    *end = KITH_TRAIN_FINISHED;
cleanup:
    kith__fusion_release(&found.run.fusion);
    kith__fusion_release(&other.fusion);
    kith_model_free(held_out);
    kith_graph_free(graph);
    kith__free(inner);
    return status;
}
