#include "report/section.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/measure.h"
#include "report/pages.h"

static const char minus[] = "\xe2\x88\x92";

/* ---- measured and published results ---- */

static json_t *signed_text(double value, int decimals)
{
    bool zero = fabs(value) < .5 * pow(10, -decimals);
    return format_string("%s%.*f", zero ? "" : value < 0 ? minus : "+", decimals, fabs(value));
}

static const char *direction(metric m, const estimate *difference)
{
    if (significance(difference) == 0)
        return "";
    return (difference->mean > 0) == metric_table[m].higher_is_better ? "better" : "worse";
}

/* With a single query, there is no standard error. */
static json_t *error_text(double error, int decimals)
{
    return isfinite(error) ? format_string("\xc2\xb1 %.*f", decimals, error) : json_string("");
}

/* "0.387", below it "published 0.394" and the difference, marked if it exceeds two standard
 * errors. */
static json_t *metric_cell(metric m, const estimate *ours, double published)
{
    const metric_info *info = &metric_table[m];
    estimate difference = {ours->queries, ours->mean - published, ours->error};
    json_t *small = json_array(), *cell;

    if (isfinite(published))
        json_array_append_new(small,
                              format_string("published %.*f", m == METRIC_MR ? 0 : info->decimals,
                                            info->scale * published));
    if (isfinite(ours->mean)) {
        json_t *by = isfinite(published)
                         ? signed_text(info->scale * difference.mean, info->decimals)
                         : json_string("");
        const char *star = isfinite(published) && significance(&difference) ? "*" : "";
        json_t *error = error_text(info->scale * ours->error, info->decimals);
        bool both = json_string_length(by) > 0 && json_string_length(error) > 0;
        if (json_string_length(by) + json_string_length(error) > 0)
            json_array_append_new(small, format_string("%s%s%s%s", json_string_value(by), star,
                                                       both ? " " : "", json_string_value(error)));
        json_decref(by);
        json_decref(error);
        cell = json_pack("{so so ss}", "text",
                         format_string("%.*f", info->decimals, info->scale * ours->mean), "small",
                         small, "mark", isfinite(published) ? direction(m, &difference) : "");
    } else {
        cell =
            json_pack("{ss so}", "text", isfinite(published) ? "" : "\xe2\x80\x93", "small", small);
    }
    return cell;
}

static json_t *metric_json(metric m, const estimate *ours, double published)
{
    estimate difference = {ours->queries, ours->mean - published, ours->error};
    double scale = metric_table[m].scale;

    return json_pack("{so so so so sb}", "ours", real_or_null(scale * ours->mean), "standard_error",
                     real_or_null(scale * ours->error), "published",
                     real_or_null(scale * published), "difference",
                     real_or_null(scale * difference.mean), "beyond_two_errors",
                     isfinite(published) && significance(&difference) != 0);
}

static const char *metric_column(char out[32], metric m)
{
    snprintf(out, 32, "%s%s", metric_table[m].title, metric_table[m].scale == 100 ? " (%)" : "");
    return out;
}

/* Tables have a row for each model. Columns are metrics, or data sets if there is only one
 * metric. */
static kith_status add_cell(section *s, json_t *row, json_t *figures, const char *model,
                            const char *data, const metric *metrics, size_t count,
                            kith_error *error)
{
    measurement m;
    kith_status status = measure(&m, s->p, s->experiment, model, data, error);

    if (status != KITH_OK)
        return status;
    json_t *one = json_pack("{so so so}", "model", safe_string(model), "data", safe_string(data),
                            "seeds", json_integer((json_int_t)json_array_size(m.results)));
    bool any = json_array_size(m.results) > 0;
    for (size_t i = 0; i < count; i++) {
        estimate ours = measured(&m, metrics[i]);
        double published = published_metric(s->experiment, model, data, metrics[i]);
        json_array_append_new(row, metric_cell(metrics[i], &ours, published));
        json_object_set_new(one, metric_table[metrics[i]].key,
                            metric_json(metrics[i], &ours, published));
        any |= isfinite(published);
    }
    if (any)
        json_array_append_new(figures, one);
    else
        json_decref(one);
    measurement_release(&m);
    return KITH_OK;
}

static bool has_figures(const section *s, const char *model, const char *data)
{
    const json_t *lists[] = {json_object_get(s->experiment, "cells"),
                             json_object_get(s->experiment, "published")};
    const json_t *entry;
    size_t i;

    for (int k = 0; k < 2; k++)
        json_array_foreach(lists[k], i, entry)
            if (strcmp(text_of(entry, "model"), model) == 0 &&
                (!data || strcmp(text_of(entry, "data"), data) == 0))
                return true;
    return false;
}

/* "LAN", below it "3 seeds, 1000 epochs". */
static kith_status add_model(section *s, json_t *row, const char *model, const char *data,
                             kith_error *error)
{
    measurement m;
    kith_status status = measure(&m, s->p, s->experiment, model, data, error);

    if (status != KITH_OK)
        return status;
    size_t seeds = json_array_size(m.results);
    double epochs = number_of(json_array_get(m.results, 0), "epochs");
    json_t *small = json_array();
    if (seeds > 0 && epochs > 0)
        json_array_append_new(small,
                              format_string("%zu seed%s, %.0f epoch%s", seeds, seeds > 1 ? "s" : "",
                                            epochs, epochs > 1 ? "s" : ""));
    json_array_append_new(row, json_pack("{so so}", "text", safe_string(model), "small", small));
    measurement_release(&m);
    return KITH_OK;
}

static kith_status add_data_table(section *s, const char *data, const json_t *models,
                                  const metric *metrics, size_t count, kith_error *error)
{
    json_t *table = table_new(data, "model");
    const json_t *model;
    char title[32];
    kith_status status = KITH_OK;
    size_t i;

    for (i = 0; i < count; i++)
        table_add_column(table, metric_column(title, metrics[i]), 1);
    json_array_foreach(models, i, model) {
        if (status != KITH_OK || !has_figures(s, json_string_value(model), data))
            continue;
        json_t *row = table_row(table);
        status = add_model(s, row, json_string_value(model), data, error);
        if (status == KITH_OK)
            status =
                add_cell(s, row, s->figures, json_string_value(model), data, metrics, count, error);
    }
    document_add(s->document, table);
    return status;
}

static kith_status add_metric_table(section *s, const json_t *datas, const json_t *models, metric m,
                                    kith_error *error)
{
    char title[32];
    json_t *table = table_new(metric_column(title, m), "model");
    const json_t *model, *data;
    kith_status status = KITH_OK;
    size_t i, k;

    json_array_foreach(datas, i, data)
        table_add_column(table, json_string_value(data), 1);
    json_array_foreach(models, i, model) {
        json_t *row = table_row(table);
        row_text(row, "%s", json_string_value(model));
        json_array_foreach(datas, k, data)
            if (status == KITH_OK)
                status = add_cell(s, row, s->figures, json_string_value(model),
                                  json_string_value(data), &m, 1, error);
    }
    document_add(s->document, table);
    return status;
}

kith_status section_tables(section *s, const json_t *models, const json_t *datas, kith_error *error)
{
    metric metrics[METRICS];
    size_t i, count = chosen_metrics(metrics, s->experiment);
    const json_t *data;
    kith_status status = KITH_OK;

    if (count == 1)
        return add_metric_table(s, datas, models, metrics[0], error);
    json_array_foreach(datas, i, data)
        if (status == KITH_OK)
            status = add_data_table(s, json_string_value(data), models, metrics, count, error);
    return status;
}

/* ---- models against each other ---- */

static void pair_cell(json_t *row, json_t *figures, const measurement *first,
                      const measurement *other, const char *model, const char *data)
{
    static const char *const marks[] = {"", "", "*", "**"};
    const char *task = text_of(measured_eval(first), "task");
    metric m = strcmp(task, "classification") == 0 ? METRIC_ACCURACY : METRIC_MRR;
    const metric_info *info = &metric_table[m];
    estimate d = outcomes_difference(&first->of, &other->of, m, GROUP_ALL, 0);

    if (!isfinite(d.mean)) {
        row_text(row, "%s", "\xe2\x80\x93");
        return;
    }
    json_t *by = signed_text(info->scale * d.mean, info->decimals), *small = json_array();
    if (isfinite(d.error))
        json_array_append_new(small, error_text(info->scale * d.error, info->decimals));
    json_array_append_new(
        row, json_pack("{so so}", "text",
                       format_string("%s%s", json_string_value(by), marks[significance(&d)]),
                       "small", small));
    json_decref(by);
    json_array_append_new(figures,
                          json_pack("{so so so so si}", "model", safe_string(model), "data",
                                    safe_string(data), "difference", real_or_null(d.mean),
                                    "paired_standard_error", real_or_null(d.error), "significance",
                                    significance(&d)));
}

kith_status section_pairs(section *s, const json_t *models, const json_t *datas, json_t *figures,
                          kith_error *error)
{
    const char *first = json_string_value(json_array_get(models, 0));
    bool classified = has_text(json_object_get(s->experiment, "metrics"), "accuracy");
    json_t *caption =
        format_string("%s against %s over the same %s, with paired standard "
                      "errors; * beyond two of them, ** beyond three",
                      classified ? "Accuracy (%)" : "MRR", first, classified ? "facts" : "queries");
    json_t *table = table_new(json_string_value(caption), "model");
    const json_t *model, *data;
    kith_status status = KITH_OK;
    size_t i, k;

    json_array_foreach(datas, i, data)
        table_add_column(table, json_string_value(data), 1);
    json_array_foreach(models, i, model) {
        const char *name = json_string_value(model);
        if (i == 0 || i >= json_array_size(json_object_get(s->experiment, "models")))
            continue; /* models with only published results have no queries */
        json_t *row = table_row(table);
        row_text(row, "%s", name);
        json_array_foreach(datas, k, data) {
            measurement a = {0}, b = {0};
            if (status == KITH_OK)
                status = measure(&a, s->p, s->experiment, first, json_string_value(data), error);
            if (status == KITH_OK)
                status = measure(&b, s->p, s->experiment, name, json_string_value(data), error);
            if (status == KITH_OK)
                pair_cell(row, figures, &a, &b, name, json_string_value(data));
            measurement_release(&a);
            measurement_release(&b);
        }
    }
    json_decref(caption);
    if (json_array_size(figures) > 0)
        document_add(s->document, table);
    else
        json_decref(table);
    return status;
}
