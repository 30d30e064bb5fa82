#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/eval_probabilities.h"
#include "cli/held_out.h"
#include "cli/progress.h"
#include "cli/run_files.h"
#include "report/pages.h"

typedef struct {
    common_arguments common;
    int split, candidates; /* indices of the choices */
    unsigned without;      /* flags of kith_evidence_part */
    const char *ranks, *filter, *html;
    uint64_t newcomers;
} arguments;

/* The results; `overall` is NULL if the run has no overall probabilities to measure. */
typedef struct {
    kith_eval *eval;
    kith_probability_eval *overall;
    bool rules; /* the run has rules */
} measured;

static const char *split_name(const arguments *a)
{
    return a->split ? "test" : "dev";
}

/* ---- parts of the evidence ---- */

static unsigned existing_parts(void)
{
    unsigned parts = 0;

    for (unsigned part = 1; part < KITH_PART_ALL; part <<= 1)
        parts |= kith_part_name((kith_evidence_part)part) ? part : 0;
    return parts;
}

/* "direct,embedding" as flags; false for names that are not parts. */
static bool parse_parts(void *to, const char *text)
{
    unsigned *parts = to;

    while (*text) {
        size_t length = strcspn(text, ",");
        kith_evidence_part part = kith_part_find(text, length);
        if (part == KITH_PART_NONE)
            return false;
        *parts |= (unsigned)part & existing_parts();
        text += length;
        if (text[0] == ',' && !text[1])
            return false;
        text += text[0] == ',';
    }
    return *parts != 0 && *parts != existing_parts();
}

/* Flags as text, for users and for JSON. */
static const char *name_parts(char text[128], unsigned parts)
{
    unsigned rules = KITH_PART_RULES & existing_parts();

    text[0] = '\0';
    if ((parts & rules) == rules) {
        strcat(text, kith_part_name(KITH_PART_RULES));
        parts &= ~rules;
    }
    for (unsigned part = 1; part < KITH_PART_ALL; part <<= 1)
        if (parts & part)
            strcat(strcat(text, text[0] ? "," : ""), kith_part_name((kith_evidence_part)part));
    return text;
}

/* ---- as text ---- */

static void print_ranking(const kith_eval *e)
{
    print_metrics_head("Ties");
    print_metrics("realistic", e->realistic);
    print_metrics("optimistic", e->optimistic);
    print_metrics("pessimistic", e->pessimistic);
    print_metrics_head("Relations");
    for (size_t i = 0; i < e->kind_count; i++)
        print_metrics(kith_eval_kind_name((int)i), e->by_kind[i]);
    print_metrics_head("Known facts");
    for (size_t i = 0; i < e->bucket_count; i++)
        print_metrics(kith_eval_bucket_name((int)i), e->by_facts[i]);
    print_metrics_head("Known answers");
    for (size_t i = 0; i < e->bucket_count; i++)
        print_metrics(kith_eval_bucket_name((int)i), e->by_known[i]);
    print_metrics_head("Linked by");
    print_metrics("some fact", e->linked);
    print_metrics("no fact", e->not_linked);
    print_reliability(e->reliability, e->reliability_count, e->calibration_error);
}

static void print_eval(const measured *m, const arguments *a)
{
    const kith_eval *e = m->eval;

    say("%s: %s, %zu facts\n", a->common.operand, split_name(a), e->facts);
    if (e->unusable > 0)
        say("  %zu left out: train lacks their relation\n", e->unusable);
    if (e->no_candidate > 0)
        say("  %zu hidden sides not ranked: they are not among the candidates%s\n", e->no_candidate,
            candidate_set_at(a->candidates) == KITH_ANSWERS_SEEN
                ? ", because they are unseen; --candidates all ranks them too"
                : "");
    if (e->no_neighbors > 0)
        say("  %zu with an entity that has no usable neighbour%s\n", e->no_neighbors,
            m->rules ? "" : ", scored with zeros");
    char text[128];
    if (a->without)
        say("  without %s of the evidence\n", name_parts(text, a->without));
    if (a->filter && !e->classification)
        say("  filtered by the facts of %s as well\n", a->filter);
    if (e->classification)
        say("\n  accuracy %.4f over %zu facts, threshold tuned on the validation set\n",
            e->accuracy, e->realistic->queries);
    else
        print_ranking(e);
    if (m->overall)
        print_probabilities(m->overall);
    else if (a->common.on && e->calibration_error >= 0 && !e->classification)
        say("\n  The percentages of kith predict are not measured on another graph.\n");
    say("\n  %.2f seconds\n", e->seconds);
}

/* ---- as JSON ---- */

static json_t *eval_json(const kith_eval *e, const arguments *a)
{
    json_t *object = e->classification
                         ? json_pack("{sI}", "queries", (json_int_t)e->realistic->queries)
                         : metrics_json(e->realistic);
    json_t *kinds = json_object(), *facts = json_object(), *known = json_object();

    if (!object)
        return NULL;
    if (e->classification && e->realistic->queries > 0)
        json_object_set_new(object, "accuracy", json_real(e->accuracy));
    json_object_set_new(object, "split", json_string(split_name(a)));
    json_object_set_new(object, "task",
                        json_string(e->classification ? "classification" : "ranking"));
    json_object_set_new(object, "fact_count", json_integer((json_int_t)e->facts));
    json_object_set_new(object, "unknown_relation", json_integer((json_int_t)e->unusable));
    json_object_set_new(object, "not_candidates", json_integer((json_int_t)e->no_candidate));
    json_object_set_new(object, "without_neighbors", json_integer((json_int_t)e->no_neighbors));
    json_object_set_new(object, "seconds", json_real(e->seconds));
    for (size_t i = 0; i < e->kind_count; i++)
        json_object_set_new(kinds, kith_eval_kind_name((int)i), metrics_json(e->by_kind[i]));
    for (size_t i = 0; i < e->bucket_count; i++)
        json_object_set_new(facts, kith_eval_bucket_name((int)i), metrics_json(e->by_facts[i]));
    for (size_t i = 0; i < e->bucket_count; i++)
        json_object_set_new(known, kith_eval_bucket_name((int)i), metrics_json(e->by_known[i]));
    char text[128];
    if (a->without)
        json_object_set_new(object, "without", json_string(name_parts(text, a->without)));
    if (a->filter && !e->classification)
        json_object_set_new(object, "filter", text_json(a->filter));
    if (e->classification) {
        json_decref(kinds);
        json_decref(facts);
        json_decref(known);
        return object;
    }
    json_object_set_new(object, "optimistic", metrics_json(e->optimistic));
    json_object_set_new(object, "pessimistic", metrics_json(e->pessimistic));
    json_object_set_new(object, "by_relation_kind", kinds);
    json_object_set_new(object, "by_known_facts", facts);
    json_object_set_new(object, "by_known_answers", known);
    json_object_set_new(object, "linked", metrics_json(e->linked));
    json_object_set_new(object, "not_linked", metrics_json(e->not_linked));
    if (e->calibration_error >= 0)
        json_object_set_new(
            object, "reliability",
            reliability_json(e->reliability, e->reliability_count, e->calibration_error));
    return object;
}

static json_t *measured_json(const measured *m, const arguments *a)
{
    json_t *object = eval_json(m->eval, a);

    if (object && m->overall)
        json_object_set_new(object, "probabilities", probabilities_json(m->overall));
    return object;
}

static int write_page(const measured *m, const kith_model *model, const arguments *a)
{
    json_t *object = measured_json(m, a), *page = NULL;
    kith_error error;
    outcomes of;
    kith_status status = outcomes_of_eval(&of, m->eval, kith_model_graph(model), &error);

    if (status == KITH_OK) {
        page = eval_page(object, a->common.operand, &of);
        status = html_write(page, a->html, &error);
    }
    outcomes_release(&of);
    json_decref(object);
    json_decref(page);
    return status == KITH_OK ? EXIT_SUCCESS : failure(&error);
}

/* Overall probabilities are calibrated only for the whole model on the graph that it was trained
 * on. They are not measured for a run that cannot answer questions about newcomers. */
static kith_status measure_overall(measured *m, const kith_model *model, const arguments *a,
                                   kith_error *error)
{
    const kith_probability_options options = {
        .entities = a->newcomers, .seed = 1, .watch = show_stage, .context = watching(&a->common)};
    kith_status status = KITH_OK;

    if (a->newcomers > 0 && !a->without && !a->common.on && !m->eval->classification)
        status = kith_evaluate_probabilities(&m->overall, model, &options, error);
    return status == KITH_ERR_ARGUMENT ? KITH_OK : status;
}

/* ---- a run without test facts ---- */

/* The option that needs facts of the split, or NULL if none is given. */
static const char *needs_split(const arguments *a)
{
    return a->ranks        ? "--ranks"
           : a->filter     ? "--filter"
           : a->html       ? "--html"
           : a->without    ? "--without"
           : a->candidates ? "--candidates"
                           : NULL;
}

/* Suggest how to get facts to test on. */
static void tell_split(const arguments *a, const kith_model *model)
{
    char *graph = NULL,
         *word = asprintf(&graph, "%s/graph", a->common.operand) < 0 ? NULL : shell_word(graph);

    if (kith_graph_facts(kith_model_graph(model), a->split ? KITH_DEV : KITH_TEST).count > 0)
        say("\n  The run has %s facts: --split %s measures on them.\n", a->split ? "dev" : "test",
            a->split ? "dev" : "test");
    say("\n  To test on facts that no part of training has seen, hold some out first:\n"
        "    kith split %s -o with-test\n    kith train with-test -o NEW\n    kith eval NEW\n",
        word ? word : "SOURCE");
    free(graph);
    free(word);
}

static int report_held_out(const arguments *a, const kith_model *model)
{
    const char *needs = needs_split(a);

    if (needs) {
        put(stderr, "kith: %s: there are no %s facts, which %s needs\n", a->common.operand,
            split_name(a), needs);
        return EXIT_USAGE;
    }
    if (a->common.json) {
        json_t *object = json_pack("{ss ss sI}", "split", split_name(a), "task", "held-out",
                                   "fact_count", (json_int_t)0);
        json_t *held_out = held_out_json(model);
        if (held_out)
            json_object_set_new(object, "held_out", held_out);
        return print_json(object);
    }
    say("%s: no %s facts\n", a->common.operand, split_name(a));
    print_held_out(model);
    tell_split(a, model);
    return EXIT_SUCCESS;
}

static bool has_rules(const kith_model *model)
{
    char evidence[32];

    kith_settings_get(evidence, sizeof evidence, kith_model_settings(model), "evidence");
    return strcmp(evidence, "none") != 0;
}

static int evaluate(const arguments *a)
{
    kith_eval_options options = {.split = a->split ? KITH_TEST : KITH_DEV,
                                 .candidates = candidate_set_at(a->candidates),
                                 .without = a->without,
                                 .watch = show_stage,
                                 .context = watching(&a->common)};
    const kith_work_options work = work_options(&a->common);
    kith_model *model = NULL;
    kith_graph *filter = NULL;
    measured found = {0};
    kith_error error;
    int status = EXIT_SUCCESS;
    bool opened = (!a->filter || open_source(&filter, a->filter, &a->common, &error) == KITH_OK) &&
                  open_run_on(&model, &a->common, &error) == KITH_OK;

    options.filter = filter;
    if (opened && !a->common.on &&
        kith_graph_facts(kith_model_graph(model), options.split).count == 0) {
        status = report_held_out(a, model);
    } else if (!opened || kith_evaluate(&found.eval, model, &options, &error) != KITH_OK ||
               measure_overall(&found, model, a, &error) != KITH_OK) {
        status = failure(&error);
    } else {
        found.rules = has_rules(model);
        if (a->filter && found.eval->classification)
            note("facts with labels are classified, so there are no ranks to filter\n");
        if (a->ranks && kith_eval_write_ranks(found.eval, kith_model_graph(model), a->ranks, &work,
                                              &error) != KITH_OK)
            status = failure(&error);
        if (a->html && status == EXIT_SUCCESS)
            status = write_page(&found, model, a);
        if (a->common.json && status == EXIT_SUCCESS)
            status = print_json(measured_json(&found, a));
        else if (status == EXIT_SUCCESS)
            print_eval(&found, a);
    }
    kith_eval_free(found.eval);
    kith_probability_eval_free(found.overall);
    kith_model_free(model);
    kith_graph_free(filter);
    return status;
}

static int run(const command *self, void *arguments_given)
{
    (void)self;
    return evaluate(arguments_given);
}

static const option_row options[] = {
    OPTION_SPLIT(arguments, split),
    OPTION_CANDIDATES(arguments, candidates, "seen", ""),
    {"without", 0, "PARTS",
     "ablate parts of the evidence: rules, proximity, embedding, or one kind of rules, such as "
     "direct or path; separate several with commas",
     OPTION_CHECKED, offsetof(arguments, without), .take = parse_parts,
     .expected =
         "a list of rules, proximity, embedding and kinds of rules such as direct, separated by "
         "commas, but not all of them"},
    OPTION_ON,
    OPTION_COLUMNS,
    {"filter", 0, "SOURCE", "additional true facts to filter by", OPTION_TEXT,
     offsetof(arguments, filter)},
    {"ranks", 0, "FILE",
     "write every query with its ranks, or every labelled fact with its result, as TSV",
     OPTION_TEXT, offsetof(arguments, ranks)},
    {"newcomers", 0, "N",
     "measure the calibration of probabilities on N unseen entities; 0: skip this", OPTION_INTEGER,
     offsetof(arguments, newcomers), "500", .high = 1e9},
    {"html", 0, "FILE", "write a page with charts", OPTION_TEXT, offsetof(arguments, html)},
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_JSON,
};

const command cmd_eval = {
    .name = "eval",
    .group = GROUP_MODELS,
    .summary = "evaluate a trained model",
    .operand = "RUN",
    .most_operands = 1,
    .about =
        "Hides one entity of every fact and ranks it among the candidates, without other true\n"
        "answers (filtered ranks); ties share the mean rank. Also measures how well probabilities\n"
        "are calibrated. If the split has labels, facts are classified as true or false instead,\n"
        "with thresholds or weights per relation tuned on dev. If the run has no facts in the\n"
        "split, prints what training measured on held-out entities.",
    OPTIONS(options),
    .arguments_size = sizeof(arguments),
    .examples = "  kith eval run\n"
                "  kith eval run --split dev --json\n"
                "  kith eval run --ranks ranks.tsv\n"
                "  kith eval run --without embedding\n",
    .run = run,
};
