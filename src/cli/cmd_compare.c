#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "report/compare.h"

enum { MOST_RUNS = 32 };

typedef struct {
    kith_eval_options eval;
    unsigned threads;
    bool json;
    char **runs;
    size_t count;
} arguments;

typedef struct {
    outcomes of[MOST_RUNS];
    size_t evaluated[MOST_RUNS]; /* queries, before only those that all have were kept */
    size_t shared;
    bool classification;
} comparison;

/* The metrics that are shown, in this order; those of the other task are left out. */
static bool applies(const comparison *c, int m)
{
    return (m == METRIC_ACCURACY) == c->classification;
}

static int group_count(grouping by)
{
    return by == GROUP_ALL ? 1 : by == GROUP_KIND ? KITH_RELATION_KINDS : KITH_FACT_BUCKETS;
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
    kith_model *model = NULL;
    kith_eval result = {0};
    kith_status status = open_run(&model, a->runs[run], a->threads, error);

    if (status == KITH_OK)
        status = kith_evaluate(&result, model, &a->eval, error);
    if (status == KITH_OK && run > 0 && (result.classification != 0) != c->classification)
        status = kith__fail(
            error, KITH_ERR_ARGUMENT, "%s is ranked and %s is classified: they cannot be compared",
            a->runs[result.classification ? 0 : run], a->runs[result.classification ? run : 0]);
    c->classification = result.classification != 0;
    if (status == KITH_OK)
        status = outcomes_of_eval(&c->of[run], &result, kith_model_graph(model), error);
    c->evaluated[run] = c->of[run].count;
    kith_eval_release(&result);
    kith_model_free(model);
    return status;
}

/* ---- for people ---- */

enum { FIRST = 12, OTHERS = 29 }; /* widths of columns */

static const char *stars(const estimate *difference)
{
    int level = significance(difference);
    return level == 3 ? "**" : level == 2 ? "*" : "";
}

/* "0.387" of the first run, "0.399 +0.012 (0.004)**" of the others. */
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

/* A name that is too long shows its end, which tells runs apart. */
static void print_names(const char *title, const arguments *a)
{
    say("%-26s", title);
    for (size_t run = 0; run < a->count; run++) {
        int width = run == 0 ? FIRST : OTHERS - 3;
        size_t length = strlen(a->runs[run]), most = (size_t)width - 1;
        const char *name = a->runs[run] + (length > most ? length - most : 0);
        if (run == 0)
            say("%*s", width, name);
        else
            say("   %-*s", width, name);
    }
    say("\n");
}

static void print_overall(const comparison *c, const arguments *a)
{
    print_names("", a);
    for (int m = 0; m < METRICS; m++) {
        if (!applies(c, m))
            continue;
        say("  %-24s", metric_table[m].title);
        for (size_t run = 0; run < a->count; run++)
            print_value(c, run, (metric)m, GROUP_ALL, 0);
        say("\n");
    }
}

static void print_groups(const comparison *c, const arguments *a, grouping by, const char *title)
{
    metric m = c->classification ? METRIC_ACCURACY : METRIC_MRR;
    char text[GROUPED];

    say("\n%s by %s\n", metric_table[m].title, title);
    for (int group = 0; group < group_count(by); group++) {
        size_t queries = outcomes_estimate(&c->of[0], m, by, group).queries;
        if (queries == 0)
            continue;
        say("  %-6s%10s queries", group_name(by, group), grouped(text, queries));
        for (size_t run = 0; run < a->count; run++)
            print_value(c, run, m, by, group);
        say("\n");
    }
}

static void print_comparison(const comparison *c, const arguments *a)
{
    say("%zu %s of %s that all runs have. Differences from the first run are paired, with\n"
        "their standard errors in brackets; * beyond two of them, ** beyond three.\n\n",
        c->shared, c->classification ? "facts" : "queries",
        a->eval.split == KITH_DEV ? "dev" : "test");
    print_overall(c, a);
    print_groups(c, a, GROUP_KIND, "kind of relation");
    print_groups(c, a, GROUP_FACTS, "facts of the known entity");
    for (size_t run = 0; run < a->count; run++)
        if (c->evaluated[run] > c->shared)
            put(stderr, "kith: %s: %zu of its %zu queries are not in every run\n", a->runs[run],
                c->evaluated[run] - c->shared, c->evaluated[run]);
}

/* ---- for programs ---- */

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *group_json(const comparison *c, size_t run, grouping by, int group)
{
    json_t *object = json_object();
    estimate e = {0};

    for (int m = 0; m < METRICS; m++) {
        if (!applies(c, m))
            continue;
        e = outcomes_estimate(&c->of[run], (metric)m, by, group);
        json_t *one =
            json_pack("{so so}", "mean", number(e.mean), "standard_error", number(e.error));
        if (run > 0) {
            estimate d = outcomes_difference(&c->of[0], &c->of[run], (metric)m, by, group);
            json_object_set_new(one, "difference", number(d.mean));
            json_object_set_new(one, "paired_standard_error", number(d.error));
            json_object_set_new(one, "significance", json_integer(significance(&d)));
        }
        json_object_set_new(object, metric_table[m].key, one);
    }
    json_object_set_new(object, "queries", json_integer((json_int_t)e.queries));
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

    for (size_t run = 0; run < a->count; run++) {
        json_t *one = group_json(c, run, GROUP_ALL, 0);
        json_object_set_new(one, "run", text_json(a->runs[run]));
        json_object_set_new(one, "evaluated", json_integer((json_int_t)c->evaluated[run]));
        json_object_set_new(one, "by_relation_kind", groups_json(c, run, GROUP_KIND));
        json_object_set_new(one, "by_known_facts", groups_json(c, run, GROUP_FACTS));
        json_array_append_new(runs, one);
    }
    return json_pack("{ss ss sI ss so}", "split", a->eval.split == KITH_DEV ? "dev" : "test",
                     "task", c->classification ? "classification" : "ranking", "queries",
                     (json_int_t)c->shared, "baseline", a->runs[0], "runs", runs);
}

/* ---- the command ---- */

static int compare(const arguments *a)
{
    comparison c = {0};
    kith_error error;
    kith_status status = KITH_OK;
    int result = EXIT_FAILED;

    for (size_t run = 0; status == KITH_OK && run < a->count; run++)
        status = evaluate_run(&c, run, a, &error);
    c.shared = status == KITH_OK ? outcomes_intersect(c.of, a->count) : 0;
    if (status == KITH_OK && c.shared == 0)
        status = kith__fail(&error, KITH_ERR_ARGUMENT, "the runs have no query in common");
    if (status != KITH_OK) {
        result = failure(&error);
    } else if (a->json) {
        result = print_json(comparison_json(&c, a));
    } else {
        print_comparison(&c, a);
        result = EXIT_SUCCESS;
    }
    for (size_t run = 0; run < a->count; run++)
        outcomes_release(&c.of[run]);
    return result;
}

enum { SPLIT = 256, CANDIDATES, THREADS, JSON };

static int take_option(arguments *a, const command *self, int option, char **argv)
{
    uint64_t number_given;

    switch (option) {
    case SPLIT:
        if (strcmp(optarg, "dev") != 0 && strcmp(optarg, "test") != 0)
            return usage_error(self, "--split: '%s' is neither dev nor test", optarg);
        a->eval.split = optarg[0] == 'd' ? KITH_DEV : KITH_TEST;
        return 0;
    case CANDIDATES:
        if (strcmp(optarg, "seen") != 0 && strcmp(optarg, "all") != 0)
            return usage_error(self, "--candidates: '%s' is neither seen nor all", optarg);
        a->eval.all_candidates = optarg[0] == 'a';
        return 0;
    case THREADS:
        if (!parse_count(&number_given, optarg) || number_given > 1024)
            return usage_error(self, "--threads: '%s' is not a number up to 1024", optarg);
        a->threads = (unsigned)number_given;
        return 0;
    case JSON:
        a->json = true;
        return 0;
    default:
        return bad_option(self, option, argv);
    }
}

static int run(const command *self, int argc, char **argv)
{
    static const struct option options[] = {{"split", required_argument, NULL, SPLIT},
                                            {"candidates", required_argument, NULL, CANDIDATES},
                                            {"threads", required_argument, NULL, THREADS},
                                            {"json", no_argument, NULL, JSON},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    arguments a = {.eval = {.split = KITH_TEST}};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == 'h')
            return print_help(self);
        int status = take_option(&a, self, option, argv);
        if (status)
            return status;
    }
    a.runs = argv + optind;
    a.count = (size_t)(argc - optind);
    if (a.count < 2 || a.count > MOST_RUNS)
        return usage_error(self, "found %zu runs, expected 2 to %d", a.count, MOST_RUNS);
    return compare(&a);
}

const command cmd_compare = {
    .name = "compare",
    .summary = "compare trained models over the same queries",
    .usage = "RUN RUN... [--split dev|test] [--candidates seen|all] [--json]",
    .help = "Evaluates every run and shows its metrics beside those of the first one, over the\n"
            "queries that all of them have, by kind of relation and by how many facts the known\n"
            "entity has. Differences are paired, query by query; their standard errors stand in\n"
            "brackets, * marks a difference beyond two standard errors and ** one beyond three.\n\n"
            "  --split dev|test        what to evaluate on (default: test)\n"
            "  --candidates seen|all   what to rank: entities of train (default), or all\n"
            "  --threads N             use N threads (default: one per core)\n"
            "  --json                  print one JSON object\n"
            "  -h, --help              print this help\n\n"
            "examples:\n"
            "  kith compare mean lan\n"
            "  kith compare rules kith --split dev --json\n",
    .run = run,
};
