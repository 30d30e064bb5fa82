#include "report/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "report/pages.h"
#include "report/section.h"

static bool is_cell(const json_t *cell, const char *model, const char *data)
{
    return strcmp(text_of(cell, "model"), model) == 0 && strcmp(text_of(cell, "data"), data) == 0;
}

/* Read the ranks of one run, or the results of its labelled facts, which runs of earlier versions
 * do not have. */
static kith_status read_outcomes(outcomes *o, const job *j, const json_t *results,
                                 kith_error *error)
{
    bool ranked = strcmp(text_of(json_object_get(results, "eval"), "task"), "ranking") == 0;
    char *path = job_path(j, "ranks.tsv");
    kith_status status = KITH_OK;

    *o = (outcomes){0};
    if (path && (ranked || access(path, F_OK) == 0))
        status = outcomes_read(o, path, error);
    free(path);
    return status;
}

kith_status measure(measurement *m, const plan *p, const json_t *experiment, const char *model,
                    const char *data, kith_error *error)
{
    const json_t *cells = json_object_get(experiment, "cells"), *cell;
    outcomes *of = kith__calloc(json_array_size(cells) + 1, sizeof *of);
    kith_status status = of ? KITH_OK : kith__no_memory(error);
    size_t i, count = 0;

    *m = (measurement){.results = json_array()};
    json_array_foreach(cells, i, cell) {
        json_t *results =
            status == KITH_OK && is_cell(cell, model, data) ? job_results(cell_job(p, cell)) : NULL;
        if (!results)
            continue;
        status = read_outcomes(&of[count], cell_job(p, cell), results, error);
        count += status == KITH_OK;
        json_array_append_new(m->results, results);
    }
    if (status == KITH_OK)
        status = outcomes_average(&m->of, of, count, error);
    for (i = 0; i < count; i++)
        outcomes_release(&of[i]);
    kith__free(of);
    if (status != KITH_OK)
        measurement_release(m);
    return status;
}

void measurement_release(measurement *m)
{
    json_decref(m->results);
    outcomes_release(&m->of);
    m->results = NULL;
}

const json_t *measured_eval(const measurement *m)
{
    return json_object_get(json_array_get(m->results, 0), "eval");
}

/* An accuracy with its binomial error, which is known for one seed only. */
static estimate measured_share(const measurement *m, metric which)
{
    const json_t *results;
    double sum = 0, n = 0;
    size_t i, count = json_array_size(m->results);

    json_array_foreach(m->results, i, results) {
        sum += eval_metric(json_object_get(results, "eval"), which);
        n = eval_queries(json_object_get(results, "eval"));
    }
    double mean = count > 0 ? sum / (double)count : NAN;
    return (estimate){(size_t)n, mean, sqrt(mean * (1 - mean) / n)};
}

estimate measured(const measurement *m, metric which)
{
    if (m->of.count > 0 && which != METRIC_ACCURACY)
        return outcomes_estimate(&m->of, which, GROUP_ALL, 0);
    if (json_array_size(m->results) > 0 && which == METRIC_ACCURACY)
        return measured_share(m, which);
    return (estimate){0, NAN, NAN};
}

double published_metric(const json_t *experiment, const char *model, const char *data, metric which)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(experiment, "published"), i, entry)
        if (is_cell(entry, model, data) && which < METRICS &&
            isfinite(number_of(entry, metric_table[which].key)))
            return number_of(entry, metric_table[which].key) / metric_table[which].scale;
    return NAN;
}
