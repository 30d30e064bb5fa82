#include "report/section.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "report/measure.h"
#include "report/pages.h"

/* Adds one line of a chart for a model, from its results on one data set. */
typedef void (*add_series)(json_t *chart, const measurement *m, const plan *p, const char *model);

static const job *job_with(const plan *p, const json_t *results)
{
    for (size_t i = 0; i < p->count; i++)
        if (json_equal(p->jobs[i].identity, json_object_get(results, "identity")))
            return &p->jobs[i];
    return NULL;
}

/* The metric on dev by epoch, for the first seed. */
static void training_series(json_t *chart, const measurement *m, const plan *p, const char *model)
{
    const job *j = job_with(p, json_array_get(m->results, 0));
    char *path = j ? job_path(j, "model/history.jsonl") : NULL, *line = NULL;
    FILE *in = path ? kith__regular_open(path, false) : NULL;
    json_t *points = json_array();
    size_t capacity = 0;

    while (in && getline(&line, &capacity, in) > 0) {
        json_t *epoch = json_loads(line, 0, NULL);
        double dev = number_of(epoch, "mrr");
        points_add(points, number_of(epoch, "epoch"),
                   isfinite(dev) ? dev : number_of(epoch, "accuracy"));
        json_decref(epoch);
    }
    if (json_array_size(points) > 1)
        json_array_extend(lines_series(chart, model), points);
    json_decref(points);
    if (in)
        fclose(in);
    free(line);
    free(path);
}

static void facts_series(json_t *chart, const measurement *m, const plan *p, const char *model)
{
    const json_t *results;
    json_t *evals = json_array();
    size_t i;

    (void)p;
    json_array_foreach(m->results, i, results)
        json_array_append(evals, json_object_get(results, "eval"));
    eval_add_facts_series(chart, evals, model);
    json_decref(evals);
}

/* A model has the same colour in every chart, even if other models have no line there. */
static void add_colored(json_t *chart, add_series add, const measurement *m, const plan *p,
                        const char *model, size_t place)
{
    const json_t *series = json_object_get(chart, "series");
    size_t before = json_array_size(series);

    add(chart, m, p, model);
    if (json_array_size(series) > before)
        lines_color(chart, place);
}

static kith_status add_line_chart(section *s, json_t *figures, json_t *chart, const json_t *models,
                                  const char *data, add_series add, kith_error *error)
{
    const json_t *model;
    kith_status status = KITH_OK;
    size_t i;

    json_array_foreach(models, i, model) {
        measurement m = {0};
        if (status == KITH_OK)
            status = measure(&m, s->p, s->experiment, json_string_value(model), data, error);
        if (status == KITH_OK && measured_eval(&m))
            add_colored(chart, add, &m, s->p, json_string_value(model), i);
        measurement_release(&m);
    }
    if (json_array_size(json_object_get(chart, "series")) > 0)
        figures_add(figures, chart);
    else
        json_decref(chart);
    return status;
}

static kith_status add_reliabilities(section *s, json_t *figures, const json_t *models,
                                     const char *data, kith_error *error)
{
    const json_t *model;
    kith_status status = KITH_OK;
    size_t i;

    json_array_foreach(models, i, model) {
        measurement m = {0};
        if (status == KITH_OK)
            status = measure(&m, s->p, s->experiment, json_string_value(model), data, error);
        json_t *title =
            format_string("Reliability: %s, %s, first seed", json_string_value(model), data);
        json_t *chart = status == KITH_OK
                            ? eval_reliability(measured_eval(&m), json_string_value(title))
                            : NULL;
        if (chart)
            figures_add(figures, chart);
        json_decref(title);
        measurement_release(&m);
    }
    return status;
}

/* Add charts of the metric over the data sets' "x": one chart for each group of data sets, one line
 * for each model. */
static kith_status add_x_chart(section *s, json_t *figures, const json_t *models, const char *group,
                               kith_error *error)
{
    metric metrics[METRICS];
    chosen_metrics(metrics, s->experiment);
    metric which = metrics[0];
    json_t *title = format_string("%s on %s", metric_table[which].title, group);
    json_t *chart =
        lines_new(json_string_value(title), text_of(s->experiment, "x"), metric_table[which].title);
    const json_t *model, *data;
    kith_status status = KITH_OK;
    size_t i, k;

    json_array_foreach(models, i, model) {
        json_t *points = json_array();
        json_array_foreach(json_object_get(s->experiment, "data"), k, data) {
            measurement m = {0};
            if (status != KITH_OK || strcmp(text_of(data, "group"), group) != 0)
                continue;
            status = measure(&m, s->p, s->experiment, json_string_value(model),
                             text_of(data, "name"), error);
            if (status == KITH_OK)
                points_add(points, number_of(data, "x"),
                           metric_table[which].scale * measured(&m, which).mean);
            measurement_release(&m);
        }
        if (json_array_size(points) > 0) {
            json_array_extend(lines_series(chart, json_string_value(model)), points);
            lines_color(chart, i);
        }
        json_decref(points);
    }
    json_decref(title);
    if (json_array_size(json_object_get(chart, "series")) > 0)
        figures_add(figures, chart);
    else
        json_decref(chart);
    return status;
}

static kith_status add_x_charts(section *s, json_t *figures, const json_t *models,
                                kith_error *error)
{
    json_t *groups = json_array();
    const json_t *data, *group;
    kith_status status = KITH_OK;
    size_t i;

    json_array_foreach(json_object_get(s->experiment, "data"), i, data)
        if (isfinite(number_of(data, "x")) && !has_text(groups, text_of(data, "group")))
            json_array_append_new(groups, safe_string(text_of(data, "group")));
    json_array_foreach(groups, i, group)
        if (status == KITH_OK)
            status = add_x_chart(s, figures, models, json_string_value(group), error);
    json_decref(groups);
    return status;
}

/* Whether the facts of a data set have labels: training then evaluates the accuracy on dev. */
static bool is_classified(const section *s, const char *data)
{
    const json_t *cell;
    size_t i;

    json_array_foreach(json_object_get(s->experiment, "cells"), i, cell) {
        if (strcmp(text_of(cell, "data"), data) != 0)
            continue;
        json_t *results = job_results(cell_job(s->p, cell));
        bool labels =
            strcmp(text_of(json_object_get(results, "eval"), "task"), "classification") == 0;
        json_decref(results);
        if (labels)
            return true;
    }
    return false;
}

static kith_status add_data_charts(section *s, json_t *figures, const json_t *models,
                                   const char *data, kith_error *error)
{
    const json_t *charts = json_object_get(s->experiment, "charts");
    kith_status status = KITH_OK;

    if (has_text(charts, "training")) {
        json_t *title = format_string("Training on %s, first seed", data);
        json_t *chart = lines_new(json_string_value(title), "epoch",
                                  is_classified(s, data) ? "accuracy on dev" : "MRR on dev");
        status = add_line_chart(s, figures, chart, models, data, training_series, error);
        json_decref(title);
    }
    if (status == KITH_OK && has_text(charts, "facts")) {
        json_t *title = format_string("MRR on %s by facts of the unseen entity", data);
        json_t *chart = lines_new(json_string_value(title), "known facts of the entity", "MRR");
        status = add_line_chart(s, figures, chart, models, data, facts_series, error);
        json_decref(title);
    }
    if (status == KITH_OK && has_text(charts, "reliability"))
        status = add_reliabilities(s, figures, models, data, error);
    return status;
}

static void add_figures(json_t *document, json_t *figures)
{
    if (json_array_size(json_object_get(figures, "items")) > 0)
        document_add(document, figures);
    else
        json_decref(figures);
}

/* The charts of a data set are placed together. */
kith_status section_charts(section *s, const json_t *models, const json_t *datas, kith_error *error)
{
    json_t *figures = figures_new();
    const json_t *data;
    kith_status status = KITH_OK;
    size_t i;

    if (has_text(json_object_get(s->experiment, "charts"), "x"))
        status = add_x_charts(s, figures, models, error);
    add_figures(s->document, figures);
    json_array_foreach(datas, i, data) {
        figures = figures_new();
        if (status == KITH_OK)
            status = add_data_charts(s, figures, models, json_string_value(data), error);
        add_figures(s->document, figures);
    }
    return status;
}
