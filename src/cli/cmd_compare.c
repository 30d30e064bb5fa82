#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "report/compare.h"

enum { MOST_RUNS = 32 };

typedef struct {
    common_arguments common;
    int split, candidates; /* indices of the choices */
} arguments;

static const char *split_name(const arguments *a)
{
    return a->split ? "test" : "dev";
}

typedef struct {
    outcomes of[MOST_RUNS];
    size_t evaluated[MOST_RUNS]; /* queries of each run, before the shared ones were selected */
    size_t shared;
    bool classification;
} comparison;

/* Whether a metric is shown: it must belong to the task, ranking or classification. */
static bool applies(const comparison *c, int m)
{
    return (m == METRIC_ACCURACY) == c->classification;
}

static int group_count(grouping by)
{
    int count = 0;

    if (by == GROUP_ALL)
        return 1;
    while (by == GROUP_KIND ? kith_eval_kind_name(count) : kith_eval_bucket_name(count))
        count++;
    return count;
}

static const char *group_name(grouping by, int group)
{
    return by == GROUP_ALL    ? "all"
           : by == GROUP_KIND ? kith_eval_kind_name(group)
                              : kith_eval_bucket_name(group);
}

/* ---- evaluating ---- */

static kith_status evaluate_run(comparison *c, size_t run, const arguments *a, kith_error *error)
{
    const kith_eval_options options = {.split = a->split ? KITH_TEST : KITH_DEV,
                                       .candidates = candidate_set_at(a->candidates),
                                       .watch = show_stage,
                                       .context = watching(&a->common)};
    kith_model *model = NULL;
    kith_eval *result = NULL;
    kith_status status = open_run(&model, a->common.operands.at[run], &a->common, error);

    kith_error why;
    if (status == KITH_OK && (status = kith_evaluate(&result, model, &options, &why)) != KITH_OK)
        kith__fail(error, status, "%s: %s", a->common.operands.at[run], why.message);
    if (status == KITH_OK && run > 0 && (result->classification != 0) != c->classification)
        status = kith__fail(error, KITH_ERR_ARGUMENT,
                            "%s is ranked and %s is classified: they cannot be compared",
                            a->common.operands.at[result->classification ? 0 : run],
                            a->common.operands.at[result->classification ? run : 0]);
    if (result)
        c->classification = result->classification != 0;
    if (status == KITH_OK)
        status = outcomes_of_eval(&c->of[run], result, kith_model_graph(model), error);
    c->evaluated[run] = c->of[run].count;
    kith_eval_free(result);
    kith_model_free(model);
    return status;
}

/* ---- as text ---- */

enum { FIRST = 12, OTHERS = 29 }; /* column widths */

static const char *stars(const estimate *difference)
{
    int level = significance(difference);
    return level == 3 ? "**" : level == 2 ? "*" : "";
}

/* What is counted: queries, or facts that are classified. */
static const char *counted(const comparison *c, size_t count)
{
    if (c->classification)
        return count == 1 ? "fact" : "facts";
    return count == 1 ? "query" : "queries";
}

/* "0.387" for the first run, "0.399 +0.012 (0.004)**" for the others. */
static void print_value(const comparison *c, size_t run, metric m, grouping by, int group)
{
    const metric_info *info = &metric_table[m];
    estimate e = outcomes_estimate(&c->of[run], m, by, group);
    char text[64], error[32] = "";

    if (run == 0) {
        say("%*.*f", FIRST, info->decimals, info->scale * e.mean);
        return;
    }
    estimate d = outcomes_difference(&c->of[0], &c->of[run], m, by, group);
    if (isfinite(d.error))
        snprintf(error, sizeof error, " (%.*f)", info->decimals, info->scale * d.error);
    snprintf(text, sizeof text, "%+.*f%s%s", info->decimals, info->scale * d.mean, error,
             stars(&d));
    say("  %8.*f %-*s", info->decimals, info->scale * e.mean, OTHERS - 11, text);
}

/* The length of a run's path without slashes at its end, and without the "/model" of `kith
 * reproduce`. */
static size_t name_length(const char *path)
{
    static const char model[] = "/model";
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t before = length > strlen(model) ? length - strlen(model) : 0;
    return before > 0 && strncmp(path + before, model, strlen(model)) == 0 ? before : length;
}

/* If a name is too long, its end is shown, because the ends of paths differ. */
static void print_names(const char *title, const arguments *a)
{
    say("%-26s", title);
    for (size_t run = 0; run < a->common.operands.count; run++) {
        const char *path = a->common.operands.at[run];
        size_t width = run == 0 ? FIRST : OTHERS - 3, length = name_length(path), most = width - 1;
        size_t cut = length > most ? length - most : 0;
        char name[OTHERS];
        snprintf(name, sizeof name, "%.*s", (int)(length - cut), path + cut);
        if (run == 0)
            say("%*s", (int)width, name);
        else
            say("   %-*s", (int)width, name);
    }
    putchar('\n');
}

static void print_overall(const comparison *c, const arguments *a)
{
    char title[32];

    print_names("", a);
    for (int m = 0; m < METRICS; m++) {
        if (!applies(c, m))
            continue;
        snprintf(title, sizeof title, "%s%s", metric_table[m].title,
                 metric_table[m].scale == 100 ? " (%)" : "");
        say("  %-24s", title);
        for (size_t run = 0; run < a->common.operands.count; run++)
            print_value(c, run, (metric)m, GROUP_ALL, 0);
        putchar('\n');
    }
}

static void print_groups(const comparison *c, const arguments *a, grouping by, const char *title)
{
    metric m = c->classification ? METRIC_ACCURACY : METRIC_MRR;
    char text[GROUPED];

    say("\n%s%s by %s\n", metric_table[m].title, c->classification ? " (%)" : "", title);
    for (int group = 0; group < group_count(by); group++) {
        size_t queries = outcomes_estimate(&c->of[0], m, by, group).queries;
        if (queries == 0)
            continue;
        say("  %-6s%10s %-7s", group_name(by, group), grouped(text, queries), counted(c, queries));
        for (size_t run = 0; run < a->common.operands.count; run++)
            print_value(c, run, m, by, group);
        putchar('\n');
    }
}

static void print_comparison(const comparison *c, const arguments *a)
{
    say("%zu %s of %s that all runs have. Differences from the first run are paired, with\n"
        "their standard errors in brackets; * beyond two of them, ** beyond three.\n\n",
        c->shared, counted(c, c->shared), split_name(a));
    print_overall(c, a);
    print_groups(c, a, GROUP_KIND, "kind of relation");
    print_groups(c, a, GROUP_FACTS, "facts of the known entity");
    for (size_t run = 0; run < a->common.operands.count; run++)
        if (c->evaluated[run] > c->shared)
            put(stderr, "kith: %s: %zu of its %zu %s are not in every run\n",
                a->common.operands.at[run], c->evaluated[run] - c->shared, c->evaluated[run],
                counted(c, c->evaluated[run]));
}

/* ---- as JSON ---- */

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* The mean of a metric, and for runs after the first the difference from the first. */
static json_t *estimate_json(const comparison *c, size_t run, metric m, grouping by, int group)
{
    estimate e = outcomes_estimate(&c->of[run], m, by, group);
    json_t *one = json_pack("{so so}", "mean", number(e.mean), "standard_error", number(e.error));

    if (run > 0) {
        estimate d = outcomes_difference(&c->of[0], &c->of[run], m, by, group);
        json_object_set_new(one, "difference", number(d.mean));
        json_object_set_new(one, "paired_standard_error", number(d.error));
        json_object_set_new(one, "significance", json_integer(significance(&d)));
    }
    return one;
}

static json_t *group_json(const comparison *c, size_t run, grouping by, int group)
{
    size_t queries = outcomes_estimate(&c->of[run], METRIC_MR, by, group).queries;
    json_t *object = json_pack("{sI}", "queries", (json_int_t)queries), *hits = json_object();

    for (int m = 0; m < METRICS && queries > 0; m++)
        if (applies(c, m)) {
            const char *at = hits_at((metric)m);
            json_object_set_new(at ? hits : object, at ? at : metric_table[m].key,
                                estimate_json(c, run, (metric)m, by, group));
        }
    if (json_object_size(hits) > 0)
        json_object_set(object, "hits", hits);
    json_decref(hits);
    return object;
}

static json_t *groups_json(const comparison *c, size_t run, grouping by)
{
    json_t *object = json_object();

    for (int group = 0; group < group_count(by); group++)
        json_object_set_new(object, group_name(by, group), group_json(c, run, by, group));
    return object;
}

static json_t *comparison_json(const comparison *c, const arguments *a)
{
    json_t *runs = json_array();

    for (size_t run = 0; run < a->common.operands.count; run++) {
        json_t *one = group_json(c, run, GROUP_ALL, 0);
        json_object_set_new(one, "run", text_json(a->common.operands.at[run]));
        json_object_set_new(one, "evaluated", json_integer((json_int_t)c->evaluated[run]));
        json_object_set_new(one, "by_relation_kind", groups_json(c, run, GROUP_KIND));
        json_object_set_new(one, "by_known_facts", groups_json(c, run, GROUP_FACTS));
        json_array_append_new(runs, one);
    }
    return json_pack("{ss ss sI ss so}", "split", split_name(a), "task",
                     c->classification ? "classification" : "ranking", "queries",
                     (json_int_t)c->shared, "baseline", a->common.operands.at[0], "runs", runs);
}

/* ---- the command ---- */

static int compare(const arguments *a)
{
    comparison c = {0};
    kith_error error;
    kith_status status = KITH_OK;
    int result = EXIT_FAILED;

    for (size_t run = 0; status == KITH_OK && run < a->common.operands.count; run++)
        status = evaluate_run(&c, run, a, &error);
    c.shared = status == KITH_OK ? outcomes_intersect(c.of, a->common.operands.count) : 0;
    if (status == KITH_OK && c.shared == 0)
        status = kith__fail(&error, KITH_ERR_ARGUMENT, "the runs have no query in common");
    if (status != KITH_OK) {
        result = failure(&error);
    } else if (a->common.json) {
        result = print_json(comparison_json(&c, a));
    } else {
        print_comparison(&c, a);
        result = EXIT_SUCCESS;
    }
    for (size_t run = 0; run < a->common.operands.count; run++)
        outcomes_release(&c.of[run]);
    return result;
}

static int run(const command *self, void *given)
{
    (void)self;
    return compare(given);
}

static const option_row options[] = {
    OPTION_SPLIT(arguments, split),
    OPTION_CANDIDATES(arguments, candidates, "seen", ""),
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_JSON,
};

const command cmd_compare = {
    .name = "compare",
    .group = GROUP_MODELS,
    .summary = "compare trained models on the same queries",
    .operand = "RUN RUN...",
    .most_operands = MOST_RUNS,
    .about =
        "Evaluates every run and compares its metrics with those of the first run, on the queries\n"
        "that all runs share. Tables also group the queries by kind of relation and by the number\n"
        "of facts of the known entity. Differences are paired, query by query, with their\n"
        "standard errors in brackets. * marks a difference of more than two standard errors, **\n"
        "one of more than three.",
    OPTIONS(options),
    .arguments_size = sizeof(arguments),
    .examples = "  kith compare mean lan\n"
                "  kith compare rules kith --split dev --json\n",
    .run = run,
};
