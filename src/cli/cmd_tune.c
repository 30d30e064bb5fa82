#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "core/files.h"

enum { MOST_AXES = 16, MOST_VALUES = 64, MOST_RUNS = 100000 };

/* One setting and the values to try. */
typedef struct {
    char name[32];
    char text[1024]; /* the values, each terminated by NUL */
    const char *value[MOST_VALUES];
    size_t count;
} axis;

typedef struct {
    common_arguments common;
    const char *preset, *folder;
    text_list grid;
    axis axes[MOST_AXES];
    size_t axis_count;
} arguments;

/* The result of one point of the grid. */
typedef struct {
    size_t point;
    double dev; /* negative: none */
    long epoch;
    const char *state;
} outcome;

/* ---- the grid ---- */

static int add_axis(arguments *a, const command *self, const char *text)
{
    const char *equals = strchr(text, '=');
    kith_settings *check = NULL;
    kith_error error;
    axis *x = &a->axes[a->axis_count];

    if (a->axis_count == MOST_AXES)
        return usage_error(self, "found more than %d lists of values", MOST_AXES);
    if (!equals || equals[1] == '\0' || (size_t)(equals - text) >= sizeof x->name ||
        strlen(equals) >= sizeof x->text)
        return usage_error(self, "--grid is '%s', expected SETTING=VALUE,VALUE,...", text);
    *x = (axis){0};
    memcpy(x->name, text, (size_t)(equals - text));
    strcpy(x->text, equals + 1);
    for (char *next = x->text, *value; (value = strsep(&next, ","));) {
        kith_status status = kith_settings_new(&check, "release", &error);
        if (status == KITH_OK)
            status = kith_settings_set(check, x->name, value, &error);
        kith_settings_free(check);
        check = NULL;
        if (status != KITH_OK)
            return usage_error(self, "--grid: %s", error.message);
        if (x->count == MOST_VALUES)
            return usage_error(self, "--grid has more than %d values for %s", MOST_VALUES, x->name);
        x->value[x->count++] = value;
    }
    a->axis_count++;
    return 0;
}

/* The grid of the paper's experiments. */
static int add_default_axes(arguments *a, const command *self)
{
    static const char *const paper[] = {"lr=0.001,0.005,0.01,0.1", "dim=20,50,100,200",
                                        "margin=0.5,1,2,4"};
    int status = 0;
    for (size_t i = 0; i < 3 && !status && a->axis_count < 3; i++)
        status = add_axis(a, self, paper[i]);
    return status;
}

static size_t count_points(const arguments *a)
{
    size_t points = 1;
    for (size_t i = 0; i < a->axis_count; i++) {
        points *= a->axes[i].count;
        if (points > MOST_RUNS)
            return 0;
    }
    return points;
}

static const char *value_at(const arguments *a, size_t point, size_t axis_index)
{
    for (size_t i = a->axis_count; i-- > axis_index + 1;)
        point /= a->axes[i].count;
    return a->axes[axis_index].value[point % a->axes[axis_index].count];
}

/* Describe a point of the grid: "lr=0.001 dim=50", with another separator in names of folders. */
static void describe(char *out, size_t size, const arguments *a, size_t point, const char *between)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < a->axis_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s=%s", i ? between : "",
                                 a->axes[i].name, value_at(a, point, i));
}

static kith_status settings_at(kith_settings **s, const arguments *a, size_t point,
                               kith_error *error)
{
    kith_status status = make_settings(s, a->preset, &a->common.settings, error);

    for (size_t i = 0; i < a->axis_count && status == KITH_OK; i++)
        status = kith_settings_set(*s, a->axes[i].name, value_at(a, point, i), error);
    return status;
}

/* ---- one run ---- */

/* Read the best evaluation on dev from the history of a run. */
static void read_history(outcome *o, const char *run)
{
    char path[4200], *line = NULL;
    size_t capacity = 0;

    snprintf(path, sizeof path, "%s/history.jsonl", run);
    FILE *in = kith__regular_open(path, false);
    while (in && getline(&line, &capacity, in) > 0) {
        json_t *entry = json_loads(line, 0, NULL);
        const json_t *dev = json_object_get(entry, "mrr");
        if (!dev)
            dev = json_object_get(entry, "accuracy");
        if (dev && json_number_value(dev) > o->dev) {
            o->dev = json_number_value(dev);
            o->epoch = (long)json_integer_value(json_object_get(entry, "epoch"));
        }
        json_decref(entry);
    }
    if (in)
        fclose(in);
    free(line);
}

/* Check that an existing run has the settings of this point and the same data. */
static kith_status check_run(const char *run, const kith_settings *settings,
                             const kith_graph *graph, kith_error *error)
{
    char path[4200], hash[32], text[64];
    const char *name, *found, *differs = NULL;

    snprintf(path, sizeof path, "%s/config.json", run);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kith_graph_hash(graph));
    FILE *in = kith__regular_open(path, false);
    json_t *config = in ? json_loadf(in, 0, NULL) : NULL;
    json_t *values = json_object_get(config, "settings");
    found = json_string_value(json_object_get(config, "data_hash"));
    if (config && (!found || strcmp(found, hash) != 0))
        differs = "data";
    for (size_t i = 0; config && !differs && (name = kith_settings_name(i, NULL, NULL)); i++) {
        found = json_string_value(json_object_get(values, name));
        /* `predict` is derived from the data, which has been compared already. */
        if (strcmp(name, "predict") != 0 &&
            (!found || strcmp(found, kith_settings_get(text, sizeof text, settings, name)) != 0))
            differs = name;
    }
    json_decref(config);
    if (in)
        fclose(in);
    if (!differs)
        return KITH_OK;
    snprintf(error->message, sizeof error->message,
             "%.800s: holds a run with other %s; remove it, or choose another folder", run,
             differs);
    return error->status = KITH_ERR_ARGUMENT;
}

static kith_status train_point(outcome *o, const arguments *a, const kith_graph *graph,
                               size_t points, kith_error *error)
{
    char run[4096], name[2048], title[2176];
    struct stat info;
    kith_settings *settings = NULL;
    kith_train_options train = {.threads = (unsigned)a->common.threads, .checkpoint_seconds = 10};
    kith_train_end end = KITH_TRAIN_STOPPED;
    display d;
    kith_status status = settings_at(&settings, a, o->point, error);

    describe(name, sizeof name, a, o->point, ",");
    snprintf(run, sizeof run, "%s/%s", a->folder, name);
    snprintf(title, sizeof title, "%zu/%zu %s  ", o->point + 1, points, name);
    display_begin(&d, a->common.quiet || a->common.json, title);
    stop_gently();
    train.progress = show_progress;
    train.watch = show_stage;
    train.context = train.watch_context = &d;
    if (status == KITH_OK && stat(run, &info) == 0) {
        status = check_run(run, settings, graph, error);
        if (status == KITH_OK)
            status = kith_train_resume(&end, run, &train, error);
    } else if (status == KITH_OK)
        status = kith_train(&end, run, graph, settings, &train, error);
    display_end(&d);
    kith_settings_free(settings);
    o->state = end == KITH_TRAIN_STOPPED ? "stopped" : "finished";
    if (status == KITH_ERR_DIVERGED) {
        o->state = "diverged";
        status = KITH_OK;
    }
    read_history(o, run);
    return status;
}

/* ---- results ---- */

static int better_first(const void *a, const void *b)
{
    const outcome *x = a, *y = b;
    if (x->dev != y->dev)
        return x->dev < y->dev ? 1 : -1;
    return (x->point > y->point) - (x->point < y->point);
}

static json_t *results_json(const arguments *a, const outcome *outcomes, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        const outcome *o = &outcomes[i];
        json_t *settings = json_object();
        char name[2048];
        for (size_t k = 0; k < a->axis_count; k++)
            json_object_set_new(settings, a->axes[k].name, value_json(value_at(a, o->point, k)));
        describe(name, sizeof name, a, o->point, ",");
        json_array_append_new(list, json_pack("{ss so ss so si}", "run", name, "settings", settings,
                                              "state", o->state, "dev",
                                              o->dev < 0 ? json_null() : json_real(o->dev), "epoch",
                                              (int)o->epoch));
    }
    return json_pack("{so}", "results", list);
}

static int show_results(const arguments *a, outcome *outcomes, size_t count)
{
    char name[2048];

    qsort(outcomes, count, sizeof *outcomes, better_first);
    if (a->common.json)
        return print_json(results_json(a, outcomes, count));
    say("     dev  epoch  settings\n");
    for (size_t i = 0; i < count; i++) {
        describe(name, sizeof name, a, outcomes[i].point, "  ");
        if (outcomes[i].dev < 0)
            say("       -      -  %s  (%s)\n", name, outcomes[i].state);
        else
            say("  %.4f  %5ld  %s%s\n", outcomes[i].dev, outcomes[i].epoch, name,
                strcmp(outcomes[i].state, "diverged") == 0 ? "  (diverged later)" : "");
    }
    return EXIT_SUCCESS;
}

static int check_graph(const command *self, const arguments *a, const kith_graph *graph)
{
    kith_settings *s = NULL;
    kith_error error;
    char every[64];

    if (kith_graph_facts(graph, KITH_DEV).count == 0)
        return usage_error(self, "%s has no dev facts, expected some to compare settings on",
                           a->common.operand);
    kith_status status = settings_at(&s, a, 0, &error);
    if (status == KITH_OK)
        kith_settings_get(every, sizeof every, s, "eval-every");
    kith_settings_free(s);
    if (status != KITH_OK)
        return failure(&error);
    if (strcmp(every, "0") == 0)
        return usage_error(self,
                           "--eval-every is 0, expected evaluations on dev to compare settings by");
    return 0;
}

static int make_folder(const char *path)
{
    struct stat found;

    if (mkdir(path, 0777) == 0 ||
        (errno == EEXIST && stat(path, &found) == 0 && S_ISDIR(found.st_mode)))
        return EXIT_SUCCESS;
    put(stderr, "kith: %s: cannot create the folder: %s\n", path,
        errno == EEXIST ? "there is something else of that name" : strerror(errno));
    return EXIT_FAILED;
}

static int tune(const command *self, const arguments *a)
{
    size_t points = count_points(a), done = 0;
    outcome *outcomes = calloc(points + 1, sizeof *outcomes);
    kith_graph *graph = NULL;
    kith_error error;
    int status = 0;

    if (points == 0)
        status = usage_error(self, "the grid has more than %d points", MOST_RUNS);
    else if (open_source(&graph, a->common.operand, &a->common, &error) != KITH_OK)
        status = failure(&error);
    else
        status = check_graph(self, a, graph);
    if (!status)
        status = make_folder(a->folder);
    for (; !status && done < points && !was_stopped(); done++) {
        outcomes[done] = (outcome){.point = done, .dev = -1, .state = "stopped"};
        if (train_point(&outcomes[done], a, graph, points, &error) != KITH_OK)
            status = failure(&error);
    }
    if (!status) {
        status = show_results(a, outcomes, done);
        if (was_stopped()) {
            put(stderr, "kith: stopped; run the same command again to continue\n");
            status = status ? status : stopped_status();
        }
    }
    kith_graph_free(graph);
    free(outcomes);
    return status;
}

/* ---- the command line ---- */

static int run(const command *self, void *given)
{
    arguments *a = given;
    int status = 0;

    for (size_t i = 0; i < a->grid.count && !status; i++)
        status = add_axis(a, self, a->grid.at[i]);
    if (!status && a->axis_count == 0)
        status = add_default_axes(a, self);
    return status ? status : tune(self, a);
}

static const option_row options[] = {
    OPTION_OUTPUT("the folder for the runs, each in its own subfolder", arguments, folder,
                  .required = true),
    {"grid", 0, "SETTING=VALUE,...", "values to try for a setting; may be given several times",
     OPTION_TEXTS, offsetof(arguments, grid),
     .otherwise = "lr=0.001,0.005,0.01,0.1 dim=20,50,100,200 margin=0.5,1,2,4"},
    OPTION_PRESETS(arguments, preset, "release"),
    OPTION_SKIP_BAD,
    OPTION_COLUMNS,
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_JSON,
};

const command cmd_tune = {
    .name = "tune",
    .group = GROUP_MODELS,
    .summary = "grid search over settings on dev",
    .operand = "SOURCE",
    .most_operands = 1,
    .about =
        "Trains one run for each combination of the values, and prints a table with the best\n"
        "result of each on dev (the validation set), best first. The test split is never used.\n"
        "After an interruption, the same command continues.",
    OPTIONS(options),
    .takes_settings = true,
    .arguments_size = sizeof(arguments),
    .examples = "  kith tune subject-10 -o tuned --epochs 50 --eval-every 10\n"
                "  kith tune subject-10 -o agg --grid aggregator=mean,logic,lan --epochs 20\n",
    .run = run,
};
