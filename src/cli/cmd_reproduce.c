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
    plan_options plan;
    unsigned at_once;
    const char *experiments; /* a folder; NULL: the program's own */
    char **names;
    size_t count;
    bool list, dry_run, json, quiet;
} arguments;

/* ---- experiments ---- */

/* Those that are named, or all of the folder. */
static kith_status load(json_t **out, const arguments *a, const char *folder, kith_error *error)
{
    json_t *names = NULL, *list = json_array(), *experiment;
    kith_status status = KITH_OK;

    if (a->count == 0 && !folder)
        status = kith__fail(error, KITH_ERR_NOT_FOUND,
                            "found no folder of experiments; say where "
                            "it is with --experiments DIR");
    else if (a->count == 0)
        status = experiment_names(&names, folder, error);
    else
        names = json_array();
    for (size_t i = 0; i < a->count; i++)
        json_array_append_new(names, text_json(a->names[i]));
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

/* ---- what is missing, and what would run ---- */

static void tell_one(const json_t *missing, const char **form)
{
    const char *data = text_of(missing, "data"), *path = text_of(missing, "path");

    if (json_is_true(json_object_get(missing, "optional"))) {
        put(stderr, "kith: %s is not at %s and is left out\n", data, path);
        return;
    }
    put(stderr, "kith: %s is missing at %s\n", data, path);
    if (strcmp(*form, text_of(missing, "form")) != 0)
        put(stderr, "      expected %s\n      --data DIR says where data sets are\n",
            text_of(missing, "form"));
    *form = text_of(missing, "form");
}

/* Tells every set that is missing once; returns how many must be there. */
static size_t tell_missing(const plan *p)
{
    json_t *told = json_object();
    const json_t *experiment, *missing;
    const char *form = "";
    size_t i, k, count = 0;

    json_array_foreach(p->experiments, i, experiment) {
        json_array_foreach(json_object_get(experiment, "missing"), k, missing) {
            const char *path = text_of(missing, "path");
            if (json_object_get(told, path))
                continue;
            json_object_set_new(told, path, json_true());
            tell_one(missing, &form);
            count += !json_is_true(json_object_get(missing, "optional"));
        }
    }
    json_decref(told);
    return count;
}

static double estimate_left(const plan *p, const arguments *a)
{
    return jobs_estimate(p) / a->at_once;
}

static int print_plan(const plan *p, const arguments *a)
{
    static const char *const states[] = {"to do", "running", "done", "failed"};
    json_t *list = a->json ? json_array() : NULL;
    char text[32];

    for (size_t i = 0; i < p->count; i++) {
        const job *j = &p->jobs[i];
        json_t *title = job_title(j);
        if (a->json)
            json_array_append_new(list, json_pack("{sO ss sf ss}", "run", title, "state",
                                                  states[j->state], "estimate_seconds", j->estimate,
                                                  "folder", j->folder));
        else
            say("%-8s %9s  %s\n", states[j->state],
                j->state == JOB_DONE ? "" : duration_text(text, j->estimate),
                json_string_value(title));
        json_decref(title);
    }
    if (a->json)
        return print_json(
            json_pack("{so sf}", "runs", list, "estimate_seconds", estimate_left(p, a)));
    say("\nabout %s in all on two cores, %u at once\n", duration_text(text, estimate_left(p, a)),
        a->at_once);
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
    if (a->json) {
        int printed = print_json(json_pack(
            "{so sI sI sI}", "report", format_string("%s/report.html", a->plan.output), "done",
            (json_int_t)done, "failed", (json_int_t)failed, "missing", (json_int_t)missing));
        return status ? status : printed;
    }
    say("%zu of %zu runs done", done, p->count);
    if (failed > 0)
        say(", %zu failed", failed);
    if (missing > 0)
        say(", %zu data sets missing", missing);
    say("; report: %s/report.html\n", a->plan.output);
    return status;
}

/* ---- progress ---- */

typedef struct display {
    bool terminal, quiet;
    time_t when; /* the line was shown */
} display;

static void show_line(const plan *p, double left)
{
    const char *mark = "";
    char text[32];

    put(stderr, "\r\033[K%zu of %zu done", jobs_count(p, JOB_DONE), p->count);
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

/* A jobs_show; its context is a display. On a terminal one line is kept up to date. */
static void show(void *context, const plan *p, const job *ended, double seconds)
{
    display *d = context;
    char text[32];

    if (!ended) {
        if (d->terminal && time(NULL) != d->when)
            show_line(p, seconds);
        d->when = time(NULL);
        return;
    }
    json_t *title = job_title(ended);
    if (d->terminal)
        put(stderr, "\r\033[K");
    if (ended->state == JOB_FAILED)
        put(stderr, "kith: %s failed: %s (see %s/log.txt)\n", json_string_value(title),
            ended->message ? ended->message : "", ended->folder);
    else if (!d->quiet)
        put(stderr, "%s: done in %s (%zu of %zu)\n", json_string_value(title),
            duration_text(text, seconds), jobs_count(p, JOB_DONE), p->count);
    json_decref(title);
}

/* Whether `kith eval` can answer about another graph; asked of its help. */
static bool can_evaluate_on(void)
{
    return strstr(cmd_eval.help, "--on ") != NULL;
}

static void refuse_on(plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        job *j = &p->jobs[i];
        if (j->on && j->state == JOB_WAITING && !can_evaluate_on()) {
            j->state = JOB_FAILED;
            j->message = strdup("this version of kith cannot evaluate a run on another graph "
                                "(kith eval --on)");
            json_t *title = job_title(j);
            put(stderr, "kith: %s is left out: %s\n", json_string_value(title),
                j->message ? j->message : "");
            json_decref(title);
        }
    }
}

static int run_plan(plan *p, const arguments *a, size_t missing)
{
    display d = {.terminal = isatty(STDERR_FILENO) && !a->quiet, .quiet = a->quiet};
    jobs_options options = {.at_once = a->at_once, .show = show, .context = &d};
    kith_error error;
    int number = 0;
    char text[32];

    refuse_on(p);
    if (!a->quiet && estimate_left(p, a) > 0)
        put(stderr, "kith: about %s of training and evaluation to do\n",
            duration_text(text, estimate_left(p, a)));
    kith_status status = jobs_run(p, &options, &number, &error);
    if (d.terminal)
        put(stderr, "\r\033[K");
    if (status != KITH_OK)
        return failure(&error);
    if (number) {
        put(stderr, "kith: stopped; the same command goes on from here\n");
        return 128 + number;
    }
    if (report_write(p, &error) != KITH_OK)
        return failure(&error);
    return tell_end(p, a, missing);
}

static int reproduce(arguments *a)
{
    char *folder = a->experiments ? strdup(a->experiments) : experiment_folder(KITH_EXPERIMENTS);
    json_t *experiments = NULL;
    plan p = {0};
    kith_error error;
    int result = EXIT_FAILED;

    if (load(&experiments, a, folder, &error) != KITH_OK) {
        result = failure(&error);
    } else if (a->list) {
        result = print_list(experiments, a->json);
        json_decref(experiments);
    } else if (plan_make(&p, experiments, &a->plan, &error) != KITH_OK) {
        result = failure(&error);
    } else {
        size_t missing = tell_missing(&p);
        if (p.count == 0)
            put(stderr, "kith: nothing can be run, as every data set is missing\n");
        else
            result = a->dry_run ? print_plan(&p, a) : run_plan(&p, a, missing);
        plan_release(&p);
    }
    free(folder);
    return result;
}

/* ---- the command line ---- */

enum { DATA = 256, EXPERIMENTS, QUICK, JOBS, THREADS, LIST, DRY_RUN, QUIET, JSON };

static int take_number(unsigned *to, const command *self, const char *name)
{
    uint64_t number;

    if (!parse_count(&number, optarg) || number == 0 || number > 1024)
        return usage_error(self, "%s: '%s' is not a number from 1 to 1024", name, optarg);
    *to = (unsigned)number;
    return 0;
}

static int take_option(arguments *a, const command *self, int option, char **argv)
{
    switch (option) {
    case 'o':
        a->plan.output = optarg;
        return 0;
    case DATA:
        a->plan.data = optarg;
        return 0;
    case EXPERIMENTS:
        a->experiments = optarg;
        return 0;
    case QUICK:
        a->plan.quick = true;
        return 0;
    case JOBS:
        return take_number(&a->at_once, self, "--jobs");
    case THREADS:
        return take_number(&a->plan.threads, self, "--threads");
    case LIST:
        a->list = true;
        return 0;
    case DRY_RUN:
        a->dry_run = true;
        return 0;
    case QUIET:
        a->quiet = true;
        return 0;
    case JSON:
        a->json = a->quiet = true;
        return 0;
    default:
        return bad_option(self, option, argv);
    }
}

static int run(const command *self, int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"data", required_argument, NULL, DATA},
                                            {"experiments", required_argument, NULL, EXPERIMENTS},
                                            {"quick", no_argument, NULL, QUICK},
                                            {"jobs", required_argument, NULL, JOBS},
                                            {"threads", required_argument, NULL, THREADS},
                                            {"list", no_argument, NULL, LIST},
                                            {"dry-run", no_argument, NULL, DRY_RUN},
                                            {"quiet", no_argument, NULL, QUIET},
                                            {"json", no_argument, NULL, JSON},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    arguments a = {.plan = {.data = "data", .output = "reproduction"}, .at_once = 1};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
        if (option == 'h')
            return print_help(self);
        int status = take_option(&a, self, option, argv);
        if (status)
            return status;
    }
    a.names = argv + optind;
    a.count = (size_t)(argc - optind);
    if (a.count == 0 && !a.list && !a.dry_run)
        return usage_error(self, "found no experiment, expected names that --list shows, or 'all'");
    if (a.count == 1 && strcmp(a.names[0], "all") == 0)
        a.count = 0;
    return reproduce(&a);
}

const command cmd_reproduce = {
    .name = "reproduce",
    .summary = "run the paper's experiments and write a report",
    .usage = "NAME... [--data DIR] [-o DIR] [--quick] [--jobs N] | --list | --dry-run",
    .help =
        "Trains and evaluates the models of the named experiments, or of 'all', and writes\n"
        "report.html, report.md and report.json: our figures beside the published ones. A NAME is\n"
        "one that --list shows, or the path of a JSON file of your own (docs/EXPERIMENTS.md). The\n"
        "same command goes on where it was stopped or killed; finished runs are not repeated. A\n"
        "training that fails does not stop the others.\n\n"
        "  --data DIR          the folder with the data sets (default: data)\n"
        "  -o, --output DIR    the folder for runs and report (default: reproduction)\n"
        "  --quick             few epochs and sets: about ten minutes for each experiment\n"
        "  --jobs N            run N trainings side by side (default: 1)\n"
        "  --threads N         threads of each (default: one per core)\n"
        "  --list              show the experiments\n"
        "  --dry-run           show what would be run, and for how long\n"
        "  --experiments DIR   where the experiments are (default: those installed with kith)\n"
        "  --quiet             print only errors while running\n"
        "  --json              print one JSON object at the end\n"
        "  -h, --help          print this help\n\n"
        "examples:\n"
        "  kith reproduce --list\n"
        "  kith reproduce link --data ~/data --quick\n"
        "  kith reproduce link ablation --data ~/data -o results --jobs 2 --threads 1\n"
        "  kith reproduce ./mine.json --data ~/data\n",
    .run = run,
};
