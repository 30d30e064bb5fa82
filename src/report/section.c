#include "report/section.h"

#include <math.h>
#include <string.h>

json_t *model_names(const json_t *experiment)
{
    json_t *names = json_array();
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(experiment, "models"), i, entry)
        json_array_append_new(names, safe_string(text_of(entry, "name")));
    json_array_foreach(json_object_get(experiment, "published"), i, entry)
        if (*text_of(entry, "model") && !has_text(names, text_of(entry, "model")))
            json_array_append_new(names, safe_string(text_of(entry, "model")));
    return names;
}

static bool in_cells(const json_t *experiment, const char *data)
{
    const json_t *cell;
    size_t i;

    json_array_foreach(json_object_get(experiment, "cells"), i, cell)
        if (strcmp(text_of(cell, "data"), data) == 0)
            return true;
    return false;
}

json_t *data_names(const json_t *experiment)
{
    json_t *names = json_array();
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(experiment, "data"), i, entry)
        if (in_cells(experiment, text_of(entry, "name")))
            json_array_append_new(names, safe_string(text_of(entry, "name")));
    return names;
}

size_t chosen_metrics(metric out[METRICS], const json_t *experiment)
{
    const json_t *entry;
    size_t i, count = 0;

    json_array_foreach(json_object_get(experiment, "metrics"), i, entry)
        if (count < METRICS)
            out[count++] = metric_by_key(json_string_value(entry));
    for (int m = METRIC_MRR; count == 0 && m <= METRIC_HITS10; m++)
        out[i++] = (metric)m;
    return count > 0 ? count : i;
}

const job *cell_job(const plan *p, const json_t *cell)
{
    return &p->jobs[json_integer_value(json_object_get(cell, "job"))];
}

json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}
