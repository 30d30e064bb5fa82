#include "report/jobs.h"
#include "report/section.h"

static void add_machine(json_t *row, const json_t *results)
{
    const json_t *machine = json_object_get(results, "machine");
    double threads = number_of(results, "threads");

    if (threads > 0)
        row_text(row, "%s, %.0f of %.0f cores", text_of(machine, "processor"), threads,
                 number_of(machine, "cores"));
    else
        row_text(row, "%s, %.0f cores", text_of(machine, "processor"), number_of(machine, "cores"));
}

/* The commands in the order in which they were run. */
static void add_commands(json_t *row, const json_t *results)
{
    const json_t *command;
    text_buffer line = {0};
    size_t i;

    json_array_foreach(json_object_get(results, "commands"), i, command)
        text_add(&line, "%s%s", i > 0 ? "; " : "", json_string_value(command));
    json_array_append_new(
        row, json_pack("{so sb}", "text", safe_string(line.at ? line.at : ""), "code", 1));
    text_release(&line);
}

static void runs_table(json_t *details, const plan *p, const json_t *experiment, json_t *runs)
{
    json_t *table = table_new("", "model|data|#seed|#epochs|#training|#in all|machine|commands");
    const json_t *cell;
    size_t i;

    json_array_foreach(json_object_get(experiment, "cells"), i, cell) {
        const job *j = cell_job(p, cell);
        json_t *results = job_results(j->kind == JOB_EXPLAIN ? &p->jobs[j->needs] : j);
        if (!results)
            continue;
        json_t *row = table_row(table);
        char seed[64], time[32];
        row_text(row, "%s", text_of(cell, "model"));
        row_text(row, "%s", text_of(cell, "data"));
        row_text(row, "%s", value_text(seed, json_object_get(cell, "seed")));
        row_text(row, "%.0f", number_of(results, "epochs"));
        row_text(row, "%s", duration_text(time, number_of(results, "training_seconds")));
        row_text(row, "%s", duration_text(time, number_of(results, "seconds")));
        add_machine(row, results);
        add_commands(row, results);
        json_array_append_new(runs, json_pack("{sO* sO* sO* sO* sO* sO* sO* sO* sO*}", "identity",
                                              json_object_get(results, "identity"), "model",
                                              json_object_get(cell, "model"), "data",
                                              json_object_get(cell, "data"), "seed",
                                              json_object_get(cell, "seed"), "seconds",
                                              json_object_get(results, "seconds"), "epochs",
                                              json_object_get(results, "epochs"), "machine",
                                              json_object_get(results, "machine"), "commands",
                                              json_object_get(results, "commands"), "eval",
                                              json_object_get(results, "eval")));
        json_decref(results);
    }
    document_add(details, table);
}

/* A table of all settings of all models, on the first data set of each. */
static void settings_table(json_t *details, const plan *p, const json_t *experiment)
{
    json_t *table = table_new("Settings", "setting"), *columns = json_array();
    const json_t *cell, *settings;
    json_t *seen = json_array();
    const char *name;
    size_t i, k;

    json_array_foreach(json_object_get(experiment, "cells"), i, cell) {
        const job *j = cell_job(p, cell);
        settings = json_object_get(
            j->kind == JOB_EXPLAIN ? json_object_get(j->identity, "of") : j->identity, "settings");
        if (!settings || has_text(seen, text_of(cell, "model")))
            continue;
        json_array_append_new(seen, safe_string(text_of(cell, "model")));
        table_add_column(table, text_of(cell, "model"), 0);
        json_array_append(columns, (json_t *)settings);
    }
    for (i = 0; (name = kith_settings_name(i, NULL, NULL)); i++) {
        json_t *row = table_row(table);
        row_text(row, "%s", name);
        json_array_foreach(columns, k, settings)
            row_text(row, "%s", text_of(settings, name));
    }
    json_decref(columns);
    json_decref(seen);
    document_add(details, table);
}

void section_runs(section *s, json_t *runs)
{
    json_t *details = details_new("Settings, seeds, commands and times");

    runs_table(details, s->p, s->experiment, runs);
    settings_table(details, s->p, s->experiment);
    document_add(s->document, details);
}
