/* The training loop. Random numbers depend only on (seed, epoch, batch), so a run resumed from a
 * checkpoint does exactly what it would have done without the interruption. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/files.h"
#include "core/mem.h"
#include "core/options.h"
#include "core/rng.h"
#include "eval/rank.h"
#include "run/cache_check.h"
#include "run/config.h"
#include "run/classifier_file.h"
#include "run/fusion_files.h"
#include "run/lock.h"
#include "graph/graph.h"
#include "train/adam.h"
#include "train/evidence.h"
#include "train/fit_calibration.h"
#include "train/order.h"
#include "train/start_from.h"
#include "run/run.h"
#include "train/step.h"

/* The streams of random numbers. */
enum { SHUFFLE = 1, NEGATIVES, ORDER, SAMPLE };
enum { MANY_NEIGHBORS = 1 << 22 };

typedef struct {
    const char *folder;
    const kith_train_options *options;
    kith_model *model;
    const kith_settings *settings;
    kith__engine step;
    kith__adam_state adam;
    kith__position at;
    kith__order order; /* of the epoch's facts */
    kith__batches batches;
    kith__neighbor_lists *sampled; /* the epoch's neighbours; NULL: all of the model's */
    double last_checkpoint;
    kith__watch *watch;
    bool stop, classifies, evaluates;
} training;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t stream(int kind, uint32_t epoch, uint64_t batch)
{
    return (uint64_t)kind << 60 | (uint64_t)epoch << 28 | batch;
}

/* ---- batches ---- */

/* The encoder's neighbours are drawn again for each epoch; evaluation uses those of the last
 * one. */
static void begin_epoch(training *t)
{
    kith__order_shuffle(&t->order, t->settings->seed, stream(SHUFFLE, t->at.epoch, 0));
    /* Never 0, which would mean file order. */
    uint64_t order = stream(ORDER, t->at.epoch, 0) ^ t->settings->seed;
    if (t->sampled)
        kith__neighbor_lists_draw(t->sampled, t->model->lists,
                                  stream(SAMPLE, t->at.epoch, 0) ^ t->settings->seed);
    kith__encoder_use(t->model->encoder, t->sampled ? t->sampled : t->model->lists, order);
}

/* Compute the loss and gradients of the next facts. */
static kith_status run_batch(training *t, kith_error *error)
{
    kith__rng rng;
    kith_status status;

    kith__rng_init(&rng, t->settings->seed, stream(NEGATIVES, t->at.epoch, t->at.batch));
    TRY(kith__batches_draw(&t->batches, &t->order, t->at.batch, &rng, error));
    kith__encoder_set_watch(t->model->encoder, t->watch);
    TRY(kith__engine_run(&t->step, &t->batches.batch, error));
cleanup:
    kith__encoder_set_watch(t->model->encoder, NULL);
    return status;
}

/* The learning rate of the next step, as a fraction of the setting's; it depends only on the state
 * of training. */
static double rate_now(const training *t)
{
    uint64_t batches = (t->order.count + t->settings->batch - 1) / t->settings->batch;
    double done = (double)(t->at.epoch * batches + t->at.batch) /
                  ((double)t->settings->epochs * (double)batches);

    return t->settings->schedule == KITH_SCHEDULE_LINEAR ? 1 - done : 1;
}

/* The tables with values that are not finite, as "'a', 'b'". */
static bool list_broken(char *text, size_t size, const kith__params *params)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < params->tables && used < size; i++)
        if (kith__table_broken(&params->table[i]))
            used += (size_t)snprintf(text + used, size - used, "%s'%s'", used ? ", " : "",
                                     params->table[i].spec->name);
    return used > 0;
}

/* Report that a step, counted from 1, produced a value that is not finite: in a table or, if all
 * tables are still finite, in the gradient of one. */
static kith_status broken(const training *t, uint64_t step, kith_error *error)
{
    const kith__gradients *g = &t->step.gradients;
    const kith__table ent = {.rows = g->rows, .stride = g->stride, .at = g->ent.at};
    char tables[256];
    const char *what = "the loss, but no table,";

    if (list_broken(tables, sizeof tables, &t->model->params))
        what = "the table ";
    else if (list_broken(tables, sizeof tables, &g->dense))
        what = "the gradient of the table ";
    else if (kith__table_broken(&ent)) {
        what = "the gradient of the table ";
        snprintf(tables, sizeof tables, "'%s'", kith__ent(&t->model->params)->spec->name);
    }
    return kith__fail(
        error, KITH_ERR_DIVERGED,
        "training diverged in epoch %u, step %llu: %s%s is not finite; a smaller lr or "
        "another loss may help",
        t->at.epoch + 1, (unsigned long long)step, what, tables);
}

static void tell(training *t, kith_progress *p)
{
    p->epochs = t->settings->epochs;
    p->facts_total = t->order.count;
    if (t->options->progress && t->options->progress(t->options->context, p))
        t->stop = true;
    if (kith__watch_tick(t->watch, t->at.epoch * (uint64_t)t->order.count + t->at.facts,
                         t->settings->epochs * (uint64_t)t->order.count))
        t->stop = true;
}

static kith_status train_batch(training *t, kith_error *error)
{
    double began = now();
    kith_status status;

    status = run_batch(t, error);
    if (status == KITH_ERR_STOPPED) { /* resuming computes this batch again */
        kith__gradients_clear(&t->step.gradients);
        t->stop = true;
        return KITH_OK;
    }
    TRY(status);
    size_t count = t->batches.facts;
    double loss = kith__engine_loss(&t->step);
    if (!isfinite(loss))
        TRY(broken(t, t->at.batch + 1, error));
    kith__adam_step(&t->adam, &t->model->params, &t->step.gradients, t->settings, rate_now(t),
                    t->model->pool);
    kith__gradients_clear(&t->step.gradients);
    t->at.batch++;
    t->at.loss_sum += loss * (double)count;
    t->at.facts += count;
    t->at.seconds += now() - began;
    kith_progress p = {.epoch = t->at.epoch + 1,
                       .facts = t->at.facts,
                       .loss = t->at.loss_sum / (double)t->at.facts,
                       .seconds = t->at.seconds};
    tell(t, &p);
cleanup:
    return status;
}

/* ---- the end of an epoch ---- */

static kith_status evaluate_dev(training *t, kith_progress *p, kith_error *error)
{
    kith_eval_options options = {.split = KITH_DEV,
                                 .sample = t->settings->eval_facts,
                                 .seed = t->settings->seed};
    kith_eval *result = NULL;

    kith__encoder_use(t->model->encoder, t->model->lists, 0);
    kith_status status = kith__watch_begin(t->watch, "evaluating on dev", 0, error);
    if (status == KITH_OK && kith_graph_facts(t->model->graph, KITH_DEV).truth)
        status = kith__classifier_fit(t->model, error);
    if (status == KITH_OK)
        status = kith_evaluate(&result, t->model, &options, error);
    if (status != KITH_OK)
        return status;
    p->evaluated = 1;
    p->dev = result->classification ? result->accuracy : result->realistic->mrr;
    kith_eval_free(result);
    p->best = p->dev > t->at.best;
    t->at.since_best = p->best ? 0 : t->at.since_best + 1;
    if (!p->best)
        return KITH_OK;
    t->at.best = p->dev;
    t->at.best_epoch = p->epoch;
    return kith__run_save_model(t->folder, t->model, error);
}

static kith_status checkpoint(training *t, kith_error *error)
{
    kith_status status = KITH_OK;

    /* The model first: a run killed in between repeats this epoch and writes it again. */
    if (!t->evaluates)
        TRY(kith__run_save_model(t->folder, t->model, error));
    const kith__moments moments = {&t->adam.m, &t->adam.v, t->adam.steps};
    TRY(kith__run_save_position(t->folder, &t->at, t->model, &moments, error));
    t->last_checkpoint = now();
cleanup:
    return status;
}

/* Never save a model that could not be opened. */
static kith_status check_weights(const training *t, kith_error *error)
{
    const kith__table *large = kith__run_unusable_table(t->model);

    if (!large)
        return KITH_OK;
    if (kith__params_broken(&t->model->params))
        return broken(t, t->at.batch, error);
    return kith__fail(error, KITH_ERR_DIVERGED,
                      "training diverged in epoch %u: the table '%s' has values so large that "
                      "scores are not reliable; a smaller lr or another loss may help",
                      t->at.epoch + 1, large->spec->name);
}

static kith_status finish_epoch(training *t, kith_error *error)
{
    const kith_settings *s = t->settings;
    kith_progress p = {.epoch = t->at.epoch + 1,
                       .facts = t->at.facts,
                       .loss = t->at.loss_sum / (double)t->at.facts,
                       .seconds = t->at.seconds,
                       .epoch_done = 1};
    kith_status status;

    TRY(check_weights(t, error));
    if (t->evaluates && (p.epoch % s->eval_every == 0 || p.epoch == s->epochs)) {
        status = evaluate_dev(t, &p, error);
        /* all batches are done: resuming evaluates on dev again */
        if (status == KITH_ERR_STOPPED) {
            t->stop = true;
            return KITH_OK;
        }
        TRY(status);
        /* a stop is seen at the next tick */
        (void)kith__watch_begin(t->watch, "training", 0, NULL);
    }
    TRY(kith__run_log(t->folder, &p, t->classifies ? "accuracy" : "mrr", error));
    t->at.epoch++;
    t->at.batch = t->at.facts = 0;
    t->at.loss_sum = t->at.seconds = 0;
    t->at.finished = t->at.epoch >= s->epochs ||
                     (s->patience > 0 && t->at.since_best >= s->patience);
    if (t->at.finished || p.evaluated ||
        now() - t->last_checkpoint >= t->options->checkpoint_seconds)
        TRY(checkpoint(t, error));
    tell(t, &p);
cleanup:
    return status;
}

static kith_status train_epochs(training *t, kith_error *error)
{
    kith_status status = KITH_OK;

    while (!t->at.finished && !t->stop) {
        size_t batches = (t->order.count + t->settings->batch - 1) / t->settings->batch;
        begin_epoch(t);
        while (t->at.batch < batches && !t->stop)
            TRY(train_batch(t, error));
        if (t->at.batch == batches)
            TRY(finish_epoch(t, error));
    }
    if (t->stop && !t->at.finished) {
        TRY(check_weights(t, error));
        TRY(checkpoint(t, error));
    }
cleanup:
    return status;
}

/* ---- entry points ---- */

/* Evaluation on dev needs facts and names; otherwise training needs only the neighbourhoods of a
 * graph. Called before larger buffers are allocated. */
static kith_status drop_facts(training *t, kith_error *error)
{
    kith_status status = KITH_OK;

    if (!t->model->own_graph || t->evaluates)
        return KITH_OK;
    TRY(kith__order_by_place(&t->order, error));
    if (!t->order.facts)
        kith__graph_keep_neighborhoods(t->model->own_graph);
cleanup:
    return status;
}

/* Pack the neighbour lists only if it saves enough memory, because packed lists are slower to
 * read. */
static void pack_lists(training *t)
{
    kith__neighbor_lists *lists = t->model->lists;

    if (lists->offset[lists->entities] >= MANY_NEIGHBORS)
        kith__neighbor_lists_pack(lists, t->model->rules, t->settings, t->model->pool);
}

static kith_status training_init(training *t, kith_error *error)
{
    const kith_settings *s = t->settings = &t->model->settings;
    kith_facts dev = kith_graph_facts(t->model->graph, KITH_DEV);
    kith_status status;

    t->classifies = dev.truth != NULL;
    t->evaluates = s->eval_every > 0 && dev.count > 0;
    TRY(kith__order_init(&t->order, t->model->graph, error));
    TRY(kith__batches_init(&t->batches, t->model->graph, s, error));
    TRY(drop_facts(t, error));
    pack_lists(t);
    TRY(kith__engine_init(&t->step, t->model->encoder, &t->model->params, s, error));
    TRY(kith__adam_init(&t->adam, &t->model->params, error));
    if (s->neighbors == KITH_NEIGHBORS_SAMPLED)
        TRY(kith__neighbor_lists_capped(&t->sampled, t->model->lists, s->max_neighbors, error));
    t->last_checkpoint = now();
cleanup:
    return status;
}

static void training_release(training *t)
{
    kith__engine_release(&t->step);
    kith__adam_release(&t->adam);
    kith__order_release(&t->order);
    kith__batches_release(&t->batches);
    kith__neighbor_lists_free(t->sampled);
    kith_model_free(t->model);
}

/* Load the checkpoint. The best weights are in another file: if training has found some, that file
 * must be sound, because they may remain the best. It is read first, for the checkpoint replaces
 * all values. */
static kith_status load_state(training *t, kith_error *error)
{
    kith__moments moments = {&t->adam.m, &t->adam.v, 0};
    kith_error why = {KITH_OK, ""};
    bool has_best = kith__path_exists(t->folder, "model.safetensors");
    kith_status status = KITH_OK, best = KITH_OK;

    if (has_best && kith__path_exists(t->folder, "checkpoint.safetensors"))
        best = kith__run_load_model(t->folder, t->model, &why);
    TRY(kith__run_load_position(&t->at, t->folder, t->model, &moments, error));
    t->adam.steps = moments.steps;
    if (!t->at.finished && t->at.best < 0)
        goto cleanup;
    if (!has_best)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s: its model.safetensors is missing, and with it the best weights; train "
                       "again",
                       t->folder));
    if (best != KITH_OK)
        TRY(kith__fail(error, best, "%s", why.message));
cleanup:
    return status;
}

/* Train the embedding; frees the model. */
static kith_status train_embedding(kith_train_end *end, const char *folder, kith_model *model,
                         const kith_train_options *options, kith_error *error)
{
    static const kith_train_options plain = {.checkpoint_seconds = 10};
    training t = {.folder = folder,
                  .options = options ? options : &plain,
                  .model = model,
                  .watch = kith__pool_watch(model->pool)};
    kith_status status;

    TRY(training_init(&t, error));
    TRY(load_state(&t, error));
    if (t.at.finished) {
        *end = KITH_TRAIN_WAS_FINISHED;
        goto cleanup;
    }
    TRY(kith__run_cut_log(folder, t.at.epoch, error));
    (void)kith__watch_begin(t.watch, "training", 0, NULL);
    TRY(train_epochs(&t, error));
    *end = t.at.finished ? KITH_TRAIN_FINISHED : KITH_TRAIN_STOPPED;
cleanup:
    training_release(&t);
    return status;
}

/* Calibrate a trained model without rules, if that was not done yet. */
static kith_status calibrate(const char *folder, unsigned threads, kith__watch *watch,
                             kith_error *error)
{
    kith_model *model = NULL;
    kith_status status = KITH_OK;

    if (kith__path_exists(folder, "calibration.json"))
        return KITH_OK;
    const kith_work_options work = kith__watched_by(watch, threads);
    TRY(kith__run_open(&model, folder, &work, error));
    kith__pool_set_watch(model->pool, watch);
    TRY(kith__run_load_model(folder, model, error));
    TRY(kith__watch_begin(watch, "calibrating probabilities", 0, error));
    TRY(kith__calibrate_on_dev(model, error));
    if (model->calibration.fitted)
        TRY(kith__run_save_calibration(folder, model, error));
cleanup:
    kith_model_free(model);
    return status;
}

/* Fit the classifier, if dev has labels and that was not done yet. Opening the run fits it. */
static kith_status fit_classifier(const char *folder, unsigned threads, kith__watch *watch,
                                  kith_error *error)
{
    kith_model *model = NULL;
    kith_status status = KITH_OK;

    if (kith__path_exists(folder, "classifier.json"))
        return KITH_OK;
    const kith_work_options work = kith__watched_by(watch, threads);
    TRY(kith_model_open(&model, folder, &work, error));
    TRY(kith__classifier_save(folder, model->classifier, error));
cleanup:
    kith_model_free(model);
    return status;
}

static kith_status go_through_stages(kith_train_end *end, const char *folder, kith_model *model,
                                     const kith_train_options *options, kith__watch *watch,
                                     kith_error *error)
{
    kith_evidence_mode evidence = model->settings.evidence;
    unsigned threads = options ? options->threads : 0;
    const kith_work_options work = kith__watched_by(watch, threads);
    bool labelled = kith_graph_facts(model->graph, KITH_DEV).truth != NULL;
    kith_status status = KITH_OK;

    *end = KITH_TRAIN_WAS_FINISHED;
    kith__remove_leftovers(folder);
    kith__pool_set_watch(model->pool, watch);
    if (evidence != KITH_EVIDENCE_RULES) {
        kith_model *embedding = model;
        model = NULL;
        TRY(train_embedding(end, folder, embedding, options, error));
    }
    if (*end == KITH_TRAIN_STOPPED)
        goto cleanup;
    if (evidence == KITH_EVIDENCE_NONE) {
        TRY(calibrate(folder, threads, watch, error));
    } else if (kith__fusion_saved(folder)) {
        kith__run_drop_held_out(folder);
    } else {
        if (!model)
            TRY(kith__run_open(&model, folder, &work, error));
        kith__pool_set_watch(model->pool, watch);
        TRY(kith__run_add_evidence(end, folder, model, options, train_embedding, error));
    }
    if (*end == KITH_TRAIN_STOPPED)
        goto cleanup;
    if (labelled)
        TRY(fit_classifier(folder, threads, watch, error));
    TRY(kith__run_list_files(folder, error));
cleanup:
    kith_model_free(model);
    return status;
}

/* If a stage is stopped, the run can be resumed. */
static kith_status say_end(kith_train_end *end, kith_train_end reached, kith_status status)
{
    if (status == KITH_ERR_STOPPED) {
        reached = KITH_TRAIN_STOPPED;
        status = KITH_OK;
    }
    if (status == KITH_OK && end)
        *end = reached;
    return status;
}

/* Train the model, continuing from the state in its folder, and free it. */
static kith_status go_on(kith_train_end *end, const char *folder, kith_model *model,
                         const kith_train_options *options, kith_error *error)
{
    kith_train_end reached = KITH_TRAIN_STOPPED;
    kith__watch watch;

    kith__watch_init(&watch, options ? options->watch : NULL,
                     options ? options->watch_context : NULL);
    kith_status status = go_through_stages(&reached, folder, model, options, &watch, error);
    kith__watch_release(&watch);
    return say_end(end, reached, status);
}

void(kith_train_options_init)(kith_train_options *options, size_t size)
{
    const kith_train_options defaults = {0};

    kith__options_give(options, size, &defaults, sizeof defaults);
}

kith_status kith_train_resume(kith_train_end *end, const char *folder,
                              const kith_train_options *given, kith_error *error)
{
    if (!folder)
        return kith__null_argument(error, __func__);

    kith__run_lock lock = KITH__NO_LOCK;
    kith_train_options options = {0};
    kith_model *model = NULL;
    kith_status status;

    TRY(kith__options_copy(&options, sizeof options, sizeof options, given, error));
    TRY(kith__run_check(folder, error));
    TRY(kith__run_lock_take(&lock, folder, error));
    const kith_work_options work = {.threads = options.threads,
                                    .watch = options.watch,
                                    .context = options.watch_context};
    status = kith__run_open(&model, folder, &work, error);
    if (status == KITH_ERR_STOPPED) {
        status = say_end(end, KITH_TRAIN_STOPPED, status);
        goto cleanup;
    }
    TRY(status);
    TRY(kith__run_list_files(folder, error)); /* excluding files that will be written again */
    status = go_on(end, folder, model, &options, error);
    model = NULL;
cleanup:
    kith__run_lock_release(&lock);
    kith_model_free(model);
    return status;
}

/* What training with --from starts from. */
typedef struct {
    const kith_model *model;
    const kith__carried *carried;
} start_values;

/* Save it as the first checkpoint, so that training can be resumed. */
static kith_status save_start(void *context, const char *folder, kith_error *error)
{
    const kith_model *model = ((const start_values *)context)->model;
    const kith__carried *carried = ((const start_values *)context)->carried;
    const kith__position begin = {.best = -1};
    kith__adam_state adam = {0};
    kith_status status;

    TRY(kith__adam_init(&adam, &model->params, error));
    TRY(kith__carried_save(folder, carried, error));
    TRY(kith__run_save_position(folder, &begin, model, &(kith__moments){&adam.m, &adam.v, 0},
                                error));
cleanup:
    kith__adam_release(&adam);
    return status;
}

/* `own` is the graph if the caller passed on its ownership, else NULL. */
static kith_status start(kith_train_end *end, const char *folder, const kith_graph *graph,
                         kith_graph *own, const kith_settings *settings,
                         const kith_train_options *given, kith_error *error)
{
    kith_settings resolved = *settings;
    kith__run_lock lock = KITH__NO_LOCK;
    kith_train_options options = {0};
    kith__carried carried = {0};
    kith_model *model = NULL;
    kith_status status;

    TRY(kith__options_copy(&options, sizeof options, sizeof options, given, error));
    const kith_work_options work = {.threads = options.threads,
                                    .watch = options.watch,
                                    .context = options.watch_context};
    TRY(kith__settings_check(settings, error));
    TRY(kith__settings_reduce(&resolved, error));
    resolved.predict = kith__resolve_predict(settings, graph);
    TRY(kith_model_new(&model, graph, &resolved, &work, error));
    if (options.from)
        TRY(kith__start_from(&carried, model, options.from, &work, error));
    start_values values = {model, &carried};
    const kith__run_options make = {.derived =
                                        kith__derived_hash(graph, model->rules, model->lists),
                                    .replace = options.replace,
                                    .watch = options.watch,
                                    .watch_context = options.watch_context,
                                    .fill = options.from ? save_start : NULL,
                                    .context = &values,
                                    .lock = &lock};
    TRY(kith__run_create(folder, graph, &resolved, &make, error));
    model->own_graph = own;
    own = NULL;
    status = go_on(end, folder, model, &options, error);
    model = NULL;
cleanup:
    kith__carried_release(&carried);
    kith__run_lock_release(&lock);
    kith_model_free(model);
    kith_graph_free(own);
    return status;
}

kith_status kith_train(kith_train_end *end, const char *folder, const kith_graph *graph,
                       const kith_settings *settings, const kith_train_options *options,
                       kith_error *error)
{
    if (!folder || !graph || !settings)
        return kith__null_argument(error, __func__);
    return start(end, folder, graph, NULL, settings, options, error);
}

kith_status kith_train_consuming(kith_train_end *end, const char *folder, kith_graph *graph,
                              const kith_settings *settings, const kith_train_options *options,
                              kith_error *error)
{
    if (!folder || !graph || !settings) {
        kith_graph_free(graph);
        return kith__null_argument(error, __func__);
    }
    return start(end, folder, graph, graph, settings, options, error);
}
