/* checkpoint.safetensors: the tables, the optimiser's moments, and as metadata the state of
 * training. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/numbers.h"
#include "embed/tensors.h"
#include "graph/graph.h"
#include "run/run.h"

enum {
    EPOCH, BATCH, LOSS_SUM, FACTS, SECONDS, BEST, BEST_EPOCH, SINCE_BEST, FINISHED, STEPS, NOTES
};

static void name_notes(kith__note notes[NOTES])
{
    static const char *const keys[NOTES] = {"epoch", "batch", "loss_sum", "facts", "seconds",
                                            "best", "best_epoch", "looks", "finished", "steps"};
    for (int i = 0; i < NOTES; i++)
        snprintf(notes[i].key, sizeof notes[i].key, "%s", keys[i]);
}

kith_status kith__run_save_position(const char *folder, const kith__position *p,
                                    const kith_model *model, const kith__moments *moments,
                                    kith_error *error)
{
    const kith__tensor_group groups[] = {
        {"", &model->params}, {"m.", moments->m}, {"v.", moments->v}};
    const double values[NOTES] = {p->epoch, (double)p->batch, p->loss_sum, (double)p->facts,
                                  p->seconds, p->best, p->best_epoch, p->since_best, p->finished,
                                  (double)moments->steps};
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

/* Check values against the run's settings; metrics on dev may be -1 if there are none. */
static kith_status read_notes(double *values, const kith__note *notes, const kith_model *model,
                              const char *path, kith_error *error)
{
    size_t facts = kith_graph_facts(model->graph, KITH_TRAIN).count, batch = model->settings.batch;
    double most[NOTES];

    for (int i = 0; i < NOTES; i++)
        most[i] = 1e15;
    most[EPOCH] = most[BEST_EPOCH] = most[SINCE_BEST] = model->settings.epochs;
    most[BATCH] = (double)((facts + batch - 1) / batch);
    most[FACTS] = (double)facts;
    most[BEST] = most[FINISHED] = 1;
    for (int i = 0; i < NOTES; i++) {
        if (!notes[i].value[0])
            return kith__fail(error, KITH_ERR_INPUT, "%s: lacks its %s", path, notes[i].key);
        bool whole = i != LOSS_SUM && i != SECONDS && i != BEST;
        if (!kith__parse_real(&values[i], notes[i].value, i == BEST ? -1 : 0, most[i]) ||
            (whole && values[i] != floor(values[i])))
            return kith__fail(
                error, KITH_ERR_INPUT,
                "%s: its %s is '%s', expected a%s number up to %g as config.json has it", path,
                notes[i].key, notes[i].value, whole ? " whole" : "", most[i]);
    }
    if (values[EPOCH] == model->settings.epochs && values[FINISHED] == 0)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: has done all %u epochs, but is not marked as finished; train again",
                          path, model->settings.epochs);
    double done = values[BATCH] * (double)batch;
    if (values[FACTS] != (done < (double)facts ? done : (double)facts))
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: has done %g facts in %g batches, which are not batches of %zu as "
                          "config.json has it", path, values[FACTS], values[BATCH], batch);
    return KITH_OK;
}

kith_status kith__run_load_position(kith__position *p, const char *folder, kith_model *model,
                                    kith__moments *moments, kith_error *error)
{
    const kith__tensor_group groups[] = {
        {"", &model->params}, {"m.", moments->m}, {"v.", moments->v}};
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
        TRY(kith__tensors_load(path, groups, 3, notes, NOTES, model->run_format >= 3,
                               kith__pool_watch(model->pool), error));
        TRY(read_notes(values, notes, model, path, error));
        *p = (kith__position){(uint32_t)values[EPOCH], (uint64_t)values[BATCH], values[LOSS_SUM],
                              (uint64_t)values[FACTS], values[SECONDS], values[BEST],
                              (uint32_t)values[BEST_EPOCH], (uint32_t)values[SINCE_BEST],
                              values[FINISHED] != 0};
        moments->steps = (uint64_t)values[STEPS];
    }
cleanup:
    kith__free(path);
    return status;
}
