#include "train/fit_new_graphs.h"

#include <math.h>

#include "core/mem.h"
#include "graph/make/hidden_facts.h"
#include "train/fit.h"

/* Each draw hides a tenth of the facts. On small graphs, the gain of the mean over three draws is
 * half as much again as that of one draw (docs/TRIED.md). On larger graphs, one draw hides ENOUGH
 * facts. */
enum { DRAWS = 3, MOST_HIDDEN = 1000, ENOUGH = MOST_HIDDEN };
static const double share = .1;

typedef struct {
    kith__fusion fusion[DRAWS];
    kith__calibration calibration[DRAWS];
    int count;
} draws;

/* ---- one draw ---- */

/* Fit a fusion on the model of a graph with hidden facts; its relations then have the ids of
 * `like`. */
static kith_status fit_on(draws *d, kith_model *hidden, const kith__holdout *holdout,
                          const kith_graph *like, kith_error *error)
{
    kith__fusion *fusion = &d->fusion[d->count], some = {0};
    kith__evidence *evidence = NULL;
    kith_status status;

    TRY(kith__evidence_new(&evidence, hidden->graph, false, hidden->pool, error));
    TRY(kith__fusion_fit_both(fusion, &some, &d->calibration[d->count], NULL, hidden, evidence,
                              holdout, false, error));
    d->count++;
    TRY(kith__fusion_translate(fusion, hidden->graph, like, error));
cleanup:
    kith__fusion_release(&some);
    kith__evidence_free(evidence);
    return status;
}

/* `facts` is incremented by the number of hidden facts. A draw without queries adds no fusion. */
static kith_status add_draw(draws *d, size_t *facts, const kith_model *model, int draw,
                            uint32_t threads, kith__watch *watch, kith_error *error)
{
    const kith__hidden_facts_options options = {.share = share,
                                                .most = MOST_HIDDEN,
                                                .seed = model->settings.seed,
                                                .draw = (uint64_t)draw};
    const kith_work_options work = kith__watched_by(watch, threads);
    kith_settings settings = model->settings;
    kith_graph *graph = NULL;
    kith_model *hidden = NULL;
    kith__holdout holdout = {0};
    kith_status status;

    settings.evidence = KITH_EVIDENCE_RULES;
    settings.predict = KITH_PREDICT_BOTH;
    TRY(kith__graph_hide_facts(&graph, model->graph, &options, model->pool, error));
    TRY(kith__holdout_init_of_facts(&holdout, graph, error));
    *facts += kith_graph_facts(graph, KITH_TEST).count;
    if (holdout.query_count == 0)
        goto cleanup;
    TRY(kith_model_new(&hidden, graph, &settings, &work, error));
    kith__pool_set_watch(hidden->pool, watch);
    TRY(fit_on(d, hidden, &holdout, model->graph, error));
cleanup:
    kith__holdout_release(&holdout);
    kith_model_free(hidden);
    kith_graph_free(graph);
    return status;
}

/* ---- the mean of the draws ---- */

static void add_weights(kith__weights *to, const kith__weights *from, float factor)
{
    for (int k = 0; k < KITH__FEATURES_COUNT; k++) {
        to->all[k] += factor * from->all[k];
        to->bare[k] += factor * from->bare[k];
        to->unseen[k] += factor * from->unseen[k];
    }
}

static void average(kith__weights *to, const draws *d, uint32_t query)
{
    *to = (kith__weights){0};
    for (int i = 0; i < d->count; i++)
        add_weights(to, kith__fusion_weights(&d->fusion[i], query), 1 / (float)d->count);
}

/* The lowest query, not below `least`, with weights of its own in some draw, or UINT32_MAX. */
static uint32_t next_own(const draws *d, uint32_t least)
{
    uint32_t next = UINT32_MAX;

    for (int i = 0; i < d->count; i++)
        for (uint32_t k = 0; k < d->fusion[i].own_count; k++) {
            uint32_t query = d->fusion[i].own[k].query;
            if (query >= least && query < next)
                next = query;
        }
    return next;
}

/* Weights per relation are used if most draws have chosen them, because with few queries they may
 * be chosen by chance. If a relation has no weights in some draw, the common weights are used for
 * it. */
static kith_status average_own(kith__fusion *out, const draws *d, kith_error *error)
{
    size_t most = 0;
    int chosen = 0;

    for (int i = 0; i < d->count; i++) {
        most += d->fusion[i].own_count;
        chosen += d->fusion[i].own_count > 0;
        out->regularization = fmaxf(out->regularization, d->fusion[i].regularization);
    }
    if (2 * chosen <= d->count) {
        out->regularization = 0;
        return KITH_OK;
    }
    if (!(out->own = kith__alloc(most, sizeof *out->own)))
        return kith__no_memory(error);
    for (uint32_t q = next_own(d, 0); q != UINT32_MAX; q = next_own(d, q + 1)) {
        kith__own_weights *own = &out->own[out->own_count++];
        own->query = q;
        average(&own->weights, d, q);
    }
    return KITH_OK;
}

static kith_status average_all(kith__fusion *out, kith__calibration *calibration, const draws *d,
                               kith_error *error)
{
    float factor = 1 / (float)d->count;

    *out = (kith__fusion){0};
    *calibration = (kith__calibration){.fitted = true};
    for (int i = 0; i < d->count; i++) {
        const kith__fusion *f = &d->fusion[i];
        add_weights(&out->common, &f->common, factor);
        for (int k = 0; k < KITH__CALIBRATION; k++)
            calibration->weight[k] += factor * d->calibration[i].weight[k];
        out->queries += f->queries;
        out->calibration_queries += f->calibration_queries;
        out->loss += factor * f->loss;
    }
    return average_own(out, d, error);
}

kith_status kith__fit_for_new_graphs(kith__fusion *fusion, kith__calibration *calibration,
                                     bool *exists, const kith_model *model, uint32_t threads,
                                     kith__watch *watch, kith_error *error)
{
    draws d = {.count = 0};
    size_t facts = 0;
    kith_status status = KITH_OK;

    for (int i = 0; i < DRAWS && facts < ENOUGH; i++)
        TRY(add_draw(&d, &facts, model, i, threads, watch, error));
    *exists = d.count > 0;
    if (*exists)
        TRY(average_all(fusion, calibration, &d, error));
cleanup:
    for (int i = 0; i < DRAWS; i++)
        kith__fusion_release(&d.fusion[i]);
    return status;
}
