#include "report/report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/jobs.h"
#include "report/section.h"

/* List what was not measured, and why. */
static void add_gaps(section *s)
{
    const json_t *missing, *cell;
    json_t *items = json_array();
    size_t i;

    json_array_foreach(json_object_get(s->experiment, "missing"), i, missing)
        json_array_append_new(
            items,
            *text_of(missing, "message")
                ? format_string("%s: %s", text_of(missing, "data"), text_of(missing, "message"))
                : format_string("%s is not at %s", text_of(missing, "data"),
                                text_of(missing, "path")));
    json_array_foreach(json_object_get(s->experiment, "cells"), i, cell) {
        const job *j = cell_job(s->p, cell);
        if (j->state == JOB_DONE)
            continue;
        json_t *title = job_title(j);
        json_array_append_new(items, format_string("%s: %s", json_string_value(title),
                                                   j->message ? j->message : "not run yet"));
        json_decref(title);
    }
    if (json_array_size(items) > 0)
        document_add(s->document, json_pack("{ss sO}", "type", "list", "items", items));
    json_decref(items);
}

static kith_status add_results(section *s, json_t *pairs, kith_error *error)
{
    json_t *models = model_names(s->experiment), *datas = data_names(s->experiment), *questions;
    const char *kind = text_of(s->experiment, "kind"), *data;
    kith_status status = KITH_OK;

    if (strcmp(kind, "statistics") == 0) {
        section_statistics(s);
    } else if (strcmp(kind, "cases") == 0) {
        json_object_foreach(json_object_get(s->experiment, "questions"), data, questions)
            section_cases(s, data, questions);
    } else {
        status = section_tables(s, models, datas, error);
        if (status == KITH_OK && json_array_size(models) > 1)
            status = section_pairs(s, models, datas, pairs, error);
        if (status == KITH_OK)
            status = section_charts(s, models, datas, error);
    }
    json_decref(models);
    json_decref(datas);
    return status;
}

static kith_status add_experiment(json_t *document, json_t *list, const plan *p,
                                  const json_t *experiment, kith_error *error)
{
    section s = {p, experiment, document, json_array()};
    json_t *pairs = json_array(), *runs = json_array();

    if (json_array_size(p->experiments) > 1)
        document_heading(document, 2, text_of(experiment, "title"));
    if (*text_of(experiment, "about"))
        document_text(document, "%s", text_of(experiment, "about"));
    if (*text_of(experiment, "source"))
        document_text(document, "%s: %s.",
                      strcmp(text_of(experiment, "kind"), "cases") == 0 ? "Source"
                                                                        : "Published results",
                      text_of(experiment, "source"));
    kith_status status = add_results(&s, pairs, error);
    add_gaps(&s);
    if (strcmp(text_of(experiment, "kind"), "statistics") != 0)
        section_runs(&s, runs);
    json_array_append_new(
        list, json_pack("{sO sO so so so sO}", "name", json_object_get(experiment, "name"), "title",
                        json_object_get(experiment, "title"), "results", s.figures, "comparisons",
                        pairs, "runs", runs, "missing", json_object_get(experiment, "missing")));
    return status;
}

static kith_status write_page(const json_t *document, void (*put)(text_buffer *, const json_t *),
                              const char *folder, const char *name, kith_error *error)
{
    char *path = path_in(folder, name);
    text_buffer out = {0};

    put(&out, document);
    kith_status status = path ? text_replace(&out, path, error) : kith__no_memory(error);
    text_release(&out);
    free(path);
    return status;
}

static kith_status write_all(const json_t *document, const json_t *report, const char *folder,
                             kith_error *error)
{
    char *json = path_in(folder, "report.json");
    kith_status status = write_page(document, html_put, folder, "report.html", error);

    if (status == KITH_OK)
        status = write_page(document, markdown_put, folder, "report.md", error);
    if (status == KITH_OK)
        status = json ? json_write(report, json, error) : kith__no_memory(error);
    free(json);
    return status;
}

/* Whether there are results with standard errors to explain. */
static bool has_measurements(const plan *p)
{
    const json_t *experiment;
    size_t i;

    json_array_foreach(p->experiments, i, experiment) {
        const char *kind = text_of(experiment, "kind");
        if (!*kind || strcmp(kind, "train") == 0)
            return true;
    }
    return false;
}

/* Whether --quick changed anything. */
static bool is_quicker(const plan *p)
{
    const json_t *experiment, *model;
    bool found = false;
    size_t i, k;

    json_array_foreach(p->experiments, i, experiment) {
        found |= json_object_get(experiment, "quick") != NULL;
        json_array_foreach(json_object_get(experiment, "models"), k, model)
            found |= json_object_get(model, "quick") != NULL;
    }
    return p->options.quick && found;
}

static json_t *subtitle(const plan *p, const json_t *machine)
{
    time_t today = time(NULL);
    struct tm day;
    char date[32] = "";

    if (gmtime_r(&today, &day))
        strftime(date, sizeof date, "%Y-%m-%d", &day);
    return format_string("kith %s, %s, on %s with %.0f cores%s", kith_version(), date,
                         text_of(machine, "processor"), number_of(machine, "cores"),
                         is_quicker(p) && has_measurements(p)
                             ? ". Quick runs: few epochs, to show the shape; the "
                               "published results are from full training"
                             : "");
}

kith_status report_write(const plan *p, kith_error *error)
{
    json_t *machine = machine_json(), *under = subtitle(p, machine), *list = json_array();
    json_t *document = document_new(json_array_size(p->experiments) == 1
                                        ? text_of(json_array_get(p->experiments, 0), "title")
                                        : "Experiments: measured and published",
                                    json_string_value(under));
    const json_t *experiment;
    kith_status status = KITH_OK;
    size_t i;

    if (has_measurements(p))
        document_text(
            document,
            "The first number of a cell is kith's, the mean over seeds; below it are the "
            "published one, the difference, and after \xc2\xb1 the standard error over queries. "
            "A difference beyond two standard errors has a *, green where kith is better "
            "and red where it is worse. MR is the mean rank, where less is better.");
    json_array_foreach(p->experiments, i, experiment)
        if (status == KITH_OK)
            status = add_experiment(document, list, p, experiment, error);
    json_t *report =
        json_pack("{ss sO sb sO sO}", "kith", kith_version(), "machine", machine, "quick",
                  p->options.quick, "experiments", list, "document", document);
    if (status == KITH_OK)
        status = write_all(document, report, p->options.output, error);
    json_decref(report);
    json_decref(document);
    json_decref(list);
    json_decref(under);
    json_decref(machine);
    return status;
}
