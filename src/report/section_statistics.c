#include "report/section.h"

#include <math.h>
#include <string.h>

/* `key` is the key of published values and of report.json, `printed` that of `kith stats --json`,
 * in the object `inside` if that is not NULL. */
typedef struct statistic {
    const char *key, *printed, *inside, *title;
    int decimals;
} statistic;

static const statistic statistics[] = {
    {"relations", "relations", NULL, "relations", 0},
    {"seen", "seen_entities", NULL, "seen entities", 0},
    {"unseen", "unseen_entities", NULL, "unseen entities", 0},
    {"min", "min", "neighbors", "neighbours, min", 0},
    {"max", "max", "neighbors", "neighbours, max", 0},
    {"mean", "mean", "neighbors", "neighbours, mean", 1},
};
enum { STATISTICS = sizeof statistics / sizeof *statistics };

static double statistic_of(const json_t *stats, const statistic *s)
{
    return number_of(s->inside ? json_object_get(stats, s->inside) : stats, s->printed);
}

static double published_statistic(const json_t *experiment, const char *data, const char *key)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(experiment, "published"), i, entry)
        if (strcmp(text_of(entry, "data"), data) == 0)
            return number_of(entry, key);
    return NAN;
}

static void statistics_row(section *s, json_t *table, const char *data, const json_t *stats)
{
    json_t *row = table_row(table), *one = json_pack("{so}", "data", safe_string(data));

    row_text(row, "%s", data);
    for (size_t i = 0; i < STATISTICS; i++) {
        double ours = statistic_of(stats, &statistics[i]);
        double published = published_statistic(s->experiment, data, statistics[i].key);
        int decimals = statistics[i].decimals;
        json_t *cell = json_pack("{so s[]}", "text",
                                 isfinite(ours) ? format_string("%.*f", decimals, ours)
                                                : json_string("\xe2\x80\x93"),
                                 "small");
        bool same = fabs(ours - published) < .5 * pow(10, -decimals) + 1e-9;
        if (isfinite(published) && !same)
            json_array_append_new(json_object_get(cell, "small"),
                                  format_string("published %.*f", decimals, published));
        else if (isfinite(published))
            json_array_append_new(json_object_get(cell, "small"), json_string("as published"));
        json_array_append_new(row, cell);
        json_object_set_new(
            one, statistics[i].key,
            json_pack("{so so}", "ours", real_or_null(ours), "published", real_or_null(published)));
    }
    json_array_append_new(s->figures, one);
}

void section_statistics(section *s)
{
    json_t *table = table_new("", "data set");
    const json_t *cell;
    size_t i;

    for (i = 0; i < STATISTICS; i++)
        table_add_column(table, statistics[i].title, 1);
    json_array_foreach(json_object_get(s->experiment, "cells"), i, cell) {
        const job *j = cell_job(s->p, cell);
        json_t *results = job_results(j);
        if (results)
            statistics_row(s, table, text_of(cell, "data"), json_object_get(results, "stats"));
        json_decref(results);
    }
    document_add(s->document, table);
}
