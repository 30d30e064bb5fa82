#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "report/document.h"
#include "report/jobs.h"
#include "report/report.h"

#ifndef KITH_EXPERIMENTS
#define KITH_EXPERIMENTS "/usr/local/share/kith/experiments"
#endif

typedef struct {
    common_arguments common;
    const char *experiments, *data, *output; /* folders; NULL experiments: installed ones */
    uint64_t jobs;
    int quick, list, dry_run;
} arguments;

/* ---- experiments ---- */

/* The number of experiments named; 0 for "all". */
static size_t count_named(const arguments *a)
{
    bool all = a->common.operands.count == 1 && strcmp(a->common.operand, "all") == 0;
    return all ? 0 : a->common.operands.count;
}

static bool is_quiet_run(const arguments *a)
{
    return a->common.quiet || a->common.json;
}

/* Load the experiments named, or all in the folder. */
static kith_status load(json_t **out, const arguments *a, const char *folder, kith_error *error)
{
    json_t *names = NULL, *list = json_array(), *experiment;
    kith_status status = KITH_OK;

    if (count_named(a) == 0 && !folder)
        status = kith__fail(error, KITH_ERR_NOT_FOUND,
                            "found no folder of experiments; say where "
                            "it is with --experiments DIR");
    else if (count_named(a) == 0)
        status = experiment_names(&names, folder, error);
    else
        names = json_array();
    for (size_t i = 0; i < count_named(a); i++)
        json_array_append_new(names, text_json(a->common.operands.at[i]));
    for (size_t i = 0; status == KITH_OK && i < json_array_size(names); i++) {
        status = experiment_find(&experiment, folder, json_string_value(json_array_get(names, i)),
                                 error);
        if (status == KITH_OK)
            json_array_append_new(list, experiment);
    }
    json_decref(names);
    if (status == KITH_OK)
        *out = list;
    else
        json_decref(list);
    return status;
}

static int print_list(const json_t *experiments, bool json)
{
    const json_t *e;
    json_t *list = json ? json_array() : NULL;
    size_t i;

    json_array_foreach(experiments, i, e) {
        if (json)
            json_array_append_new(
                list, json_pack("{sO sO sI sI}", "name", json_object_get(e, "name"), "title",
                                json_object_get(e, "title"), "data_sets",
                                (json_int_t)json_array_size(json_object_get(e, "data")), "models",
                                (json_int_t)json_array_size(json_object_get(e, "models"))));
        else
            say("%-16s %s\n", text_of(e, "name"), text_of(e, "title"));
    }
    return json ? print_json(json_pack("{so}", "experiments", list)) : EXIT_SUCCESS;
}

/* ---- missing data, and the plan ---- */

static void tell_form(const json_t *missing, const char **form)
{
    if (strcmp(*form, text_of(missing, "form")) != 0)
        put(stderr, "      expected %s\n      --data DIR says where data sets are\n",
            text_of(missing, "form"));
    *form = text_of(missing, "form");
}

/* The form is said unless another optional data set is there to show it. */
static void tell_one(const json_t *missing, const char **form, bool all_missing)
{
    const char *data = text_of(missing, "data"), *path = text_of(missing, "path");
    bool optional = json_is_true(json_object_get(missing, "optional"));

    if (*text_of(missing, "message"))
        put(stderr, "kith: %s cannot be used: %s\n", data, text_of(missing, "message"));
    else if (optional)
        put(stderr, "kith: %s is not at %s and is skipped\n", data, path);
    else
        put(stderr, "kith: %s is missing at %s\n", data, path);
    if (*text_of(missing, "form") && (!optional || all_missing))
        tell_form(missing, form);
}

/* Report each data set that is missing or unusable once; returns how many of them are an error. */
static size_t tell_missing(const plan *p)
{
    json_t *reported = json_object();
    const json_t *experiment, *missing;
    const char *form = "";
    size_t i, k, count = 0;

    json_array_foreach(p->experiments, i, experiment) {
        bool all_missing = json_array_size(json_object_get(experiment, "cells")) == 0;
        json_array_foreach(json_object_get(experiment, "missing"), k, missing) {
            const char *path = text_of(missing, "path");
            if (json_object_get(reported, path))
                continue;
            json_object_set_new(reported, path, json_true());
            tell_one(missing, &form, all_missing);
            count += !json_is_true(json_object_get(missing, "optional"));
        }
    }
    json_decref(reported);
    return count;
}

static double estimate_left(const plan *p, const arguments *a)
{
    return jobs_seconds(p, (unsigned)a->jobs);
}

static int print_plan(const plan *p, const arguments *a)
{
    static const char *const states[] = {"to do", "running", "done", "failed"};
    json_t *list = a->common.json ? json_array() : NULL;
    char text[32];

    for (size_t i = 0; i < p->count; i++) {
        const job *j = &p->jobs[i];
        json_t *title = job_title(j);
        double seconds = job_seconds(p, j, (unsigned)a->jobs);
        if (a->common.json)
            json_array_append_new(list, json_pack("{sO ss sf ss}", "run", title, "state",
                                                  states[j->state], "estimate_seconds", seconds,
                                                  "folder", j->folder));
        else
            say("%-8s %9s  %s\n", states[j->state],
                j->state == JOB_DONE ? "" : duration_text(text, seconds), json_string_value(title));
        json_decref(title);
    }
    if (a->common.json)
        return print_json(
            json_pack("{so sf}", "runs", list, "estimate_seconds", estimate_left(p, a)));
    say("\nabout %s in total, %u at once\n", duration_text(text, estimate_left(p, a)),
        (unsigned)a->jobs);
    return EXIT_SUCCESS;
}

/* ---- running ---- */

static int tell_end(const plan *p, const arguments *a, size_t missing)
{
    size_t failed = 0, done = 0;

    for (size_t i = 0; i < p->count; i++) {
        failed += p->jobs[i].state == JOB_FAILED;
        done += p->jobs[i].state == JOB_DONE;
    }
    int status = failed + missing > 0 ? EXIT_FAILED : EXIT_SUCCESS;
    if (a->common.json) {
        int printed = print_json(json_pack(
            "{so sI sI sI}", "report", format_string("%s/report.html", a->output), "done",
            (json_int_t)done, "failed", (json_int_t)failed, "missing", (json_int_t)missing));
        return status ? status : printed;
    }
    say("%zu of %zu runs done", done, p->count);
    if (failed > 0)
        say(", %zu failed", failed);
    if (missing > 0)
        say(", %zu data set%s missing or unusable", missing, missing > 1 ? "s" : "");
    say("; report: %s/report.html\n", a->output);
    return status;
}

/* ---- progress ---- */

enum { MINUTES_BETWEEN = 5 }; /* lines about running jobs, unless stderr is a terminal */

typedef struct job_display {
    bool terminal, quiet;
    time_t next; /* when the next such line is due */
} job_display;

/* "2 of 9 done, about 1:20 left: LAN, Subject-10, seed 1 40 %" */
static void put_state(const plan *p, double left)
{
    const char *mark = "";
    char text[32];

    put(stderr, "%zu of %zu done", jobs_count(p, JOB_DONE), p->count);
    if (jobs_count(p, JOB_FAILED) > 0)
        put(stderr, ", %zu failed", jobs_count(p, JOB_FAILED));
    put(stderr, ", about %s left: ", duration_text(text, left));
    for (size_t i = 0; i < p->count; i++)
        if (p->jobs[i].state == JOB_RUNNING) {
            json_t *title = job_title(&p->jobs[i]);
            put(stderr, "%s%s %.0f %%", mark, json_string_value(title),
                100 * job_fraction(&p->jobs[i]));
            json_decref(title);
            mark = "; ";
        }
}

/* On a terminal, one line is updated, cut at the edge; in a file, a line is added now and then. */
static void show_state(job_display *d, const plan *p, double left)
{
    if (d->terminal) {
        put(stderr, "\r\033[K\033[?7l");
        put_state(p, left);
        put(stderr, "\033[?7h");
    } else if (!d->quiet && time(NULL) >= d->next) {
        if (d->next > 0) {
            put_state(p, left);
            put(stderr, "\n");
        }
        d->next = time(NULL) + 60 * MINUTES_BETWEEN;
    }
}

static void show_end(const job_display *d, const plan *p, const job *ended, double seconds,
                     double left)
{
    json_t *title = job_title(ended);
    char text[32];

    if (d->terminal)
        put(stderr, "\r\033[K");
    if (ended->state == JOB_FAILED) {
        put(stderr, "kith: %s failed: %s (see %s/log.txt)\n", json_string_value(title),
            ended->message ? ended->message : "", ended->folder);
    } else if (!d->quiet) {
        put(stderr, "%s: done in %s (%zu of %zu", json_string_value(title),
            duration_text(text, seconds), jobs_count(p, JOB_DONE), p->count);
        if (left >= 1)
            put(stderr, ", about %s left", duration_text(text, left));
        put(stderr, ")\n");
    }
    json_decref(title);
}

/* A jobs_show; its context is a job_display. The report has what is done so far. */
static void show(void *context, const plan *p, const job *ended, double seconds, double left)
{
    kith_error error;

    if (!ended) {
        show_state(context, p, left);
        return;
    }
    show_end(context, p, ended, seconds, left);
    if (ended->state == JOB_DONE)
        report_write(p, &error); /* if this fails, so does the last one, which reports it */
}

static void show_wait(void *context)
{
    const job_display *d = context;

    if (!d->quiet)
        put(stderr, "kith: waiting for another kith reproduce that uses this folder\n");
}

static int run_plan(plan *p, const arguments *a, size_t missing)
{
    job_display d = {.terminal = isatty(STDERR_FILENO) && !is_quiet_run(a),
                     .quiet = is_quiet_run(a)};
    jobs_options options = {
        .at_once = (unsigned)a->jobs, .show = show, .wait = show_wait, .context = &d};
    kith_error error;
    int number = 0;
    char text[32];

    if (!is_quiet_run(a) && estimate_left(p, a) > 0)
        put(stderr, "kith: about %s of training and evaluation to do\n",
            duration_text(text, estimate_left(p, a)));
    kith_status status = jobs_run(p, &options, &number, &error);
    if (d.terminal)
        put(stderr, "\r\033[K");
    if (status != KITH_OK)
        return failure(&error);
    if (number) {
        report_write(p, &error);
        put(stderr, "kith: stopped; run the same command again to continue\n");
        return 128 + number;
    }
    if (report_write(p, &error) != KITH_OK)
        return failure(&error);
    return tell_end(p, a, missing);
}

static int reproduce(const arguments *a)
{
    char *folder = a->experiments ? strdup(a->experiments) : experiment_folder(KITH_EXPERIMENTS);
    const plan_options plans = {.data = a->data,
                                .output = a->output,
                                .quick = a->quick != 0,
                                .threads = (unsigned)a->common.threads};
    json_t *experiments = NULL;
    plan p = {0};
    kith_error error;
    int result = EXIT_FAILED;

    if (load(&experiments, a, folder, &error) != KITH_OK) {
        result = failure(&error);
    } else if (a->list) {
        result = print_list(experiments, a->common.json);
        json_decref(experiments);
    } else if (plan_make(&p, experiments, &plans, &error) != KITH_OK) {
        result = failure(&error);
    } else {
        size_t missing = tell_missing(&p);
        if (p.count == 0)
            put(stderr, "kith: nothing can be run, as no data set can be used\n");
        else
            result = a->dry_run ? print_plan(&p, a) : run_plan(&p, a, missing);
        plan_release(&p);
    }
    free(folder);
    return result;
}

/* ---- the command line ---- */

static int run(const command *self, void *given)
{
    const arguments *a = given;

    if (a->common.operands.count == 0 && !a->list && !a->dry_run)
        return usage_error(self, "missing NAME: one that --list shows, or all");
    return reproduce(a);
}

static const option_row options[] = {
    {"data", 0, "DIR", "the folder with the data sets", OPTION_TEXT, offsetof(arguments, data),
     "data"},
    OPTION_OUTPUT("the folder for runs and report", arguments, output, "reproduction"),
    {"quick", 0, NULL, "use few epochs and data sets: about ten minutes per experiment",
     OPTION_FLAG, offsetof(arguments, quick)},
    {"jobs", 0, "N", "run N training runs at the same time", OPTION_INTEGER,
     offsetof(arguments, jobs), "1", .low = 1, .high = 1024},
    {"list", 0, NULL, "list the experiments", OPTION_FLAG, offsetof(arguments, list)},
    {"dry-run", 0, NULL, "show what would run, and how long it would take", OPTION_FLAG,
     offsetof(arguments, dry_run)},
    {"experiments", 0, "DIR", "the folder with the experiments", OPTION_TEXT,
     offsetof(arguments, experiments), .otherwise = "those installed with kith"},
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_JSON,
};

const command cmd_reproduce = {
    .name = "reproduce",
    .group = GROUP_MODELS,
    .summary = "run published experiments and write a report",
    .operand = "NAME...",
    .most_operands = -1,
    .about =
        "Trains and evaluates the models of the named experiments, or of 'all', and writes\n"
        "report.html, report.md and report.json, which compare the results with published ones. A\n"
        "NAME is one that --list shows, or the path of your own JSON file (docs/EXPERIMENTS.md).\n"
        "After an interruption, the same command continues; finished runs are not repeated. A\n"
        "training run that fails does not stop the others.",
    OPTIONS(options),
    .arguments_size = sizeof(arguments),
    .examples = "  kith reproduce --list\n"
                "  kith reproduce link --data ~/data --quick\n"
                "  kith reproduce link ablation --data ~/data -o results --jobs 2 --threads 1\n"
                "  kith reproduce ./mine.json --data ~/data\n",
    .run = run,
};
