#include <math.h>
#include <string.h>

#include "report/pages.h"

double eval_metric(const json_t *eval, metric m)
{
    const char *at = hits_at(m);

    return at ? number_of(json_object_get(eval, "hits"), at) : number_of(eval, metric_table[m].key);
}

double eval_queries(const json_t *eval)
{
    return number_of(eval, "queries");
}

static const json_t *by_facts(const json_t *eval)
{
    return json_object_get(eval, "by_known_facts");
}

static double category_place(json_t *chart, const char *name)
{
    const json_t *one;
    size_t i;

    json_array_foreach(json_object_get(chart, "categories"), i, one)
        if (strcmp(json_string_value(one), name) == 0)
            return (double)i;
    lines_category(chart, name);
    return (double)json_array_size(json_object_get(chart, "categories")) - 1;
}

static double mean_in_group(const json_t *evals, const char *group, metric m)
{
    const json_t *eval;
    double sum = 0;
    size_t i;

    json_array_foreach(evals, i, eval)
        sum += eval_metric(json_object_get(by_facts(eval), group), m);
    return sum / (double)i;
}

void eval_add_facts_series(json_t *chart, const json_t *evals, const char *name)
{
    const json_t *first = by_facts(json_array_get(evals, 0));
    json_t *points = NULL, *group;
    text_buffer note = {0};
    const char *key;

    json_object_foreach((json_t *)first, key, group) {
        if (!(eval_queries(group) > 0))
            continue;
        points = points ? points : lines_series(chart, name);
        points_add(points, category_place(chart, key), mean_in_group(evals, key, METRIC_MRR));
        text_add(&note, "%s%s: %.0f",
                 note.at ? ", " : "Means over seeds. Queries by known facts: ", key,
                 eval_queries(group));
    }
    if (note.at && !json_object_get(chart, "note"))
        json_object_set_new(chart, "note", format_string("%s.", note.at));
    text_release(&note);
}

/* Results of version 0.1 use "probability" for what is now "predicted". */
static json_t *bins_of(const json_t *reliability)
{
    json_t *bins = json_deep_copy(json_object_get(reliability, "bins")), *bin;
    size_t i;

    json_array_foreach(bins, i, bin)
        if (!json_object_get(bin, "predicted"))
            json_object_set(bin, "predicted", json_object_get(bin, "probability"));
    return bins;
}

static json_t *reliability_chart(const json_t *reliability, const char *title)
{
    if (!reliability)
        return NULL;
    return json_pack(
        "{ss so so so}", "type", "reliability", "title", safe_string(title), "bins",
        bins_of(reliability), "note",
        format_string("On the dashed line, answers are correct as often as predicted. "
                      "Larger dots: more answers; lines: two standard errors up and down. "
                      "Expected calibration error %.4f.",
                      number_of(reliability, "expected_error")));
}

json_t *eval_reliability(const json_t *eval, const char *title)
{
    return reliability_chart(json_object_get(eval, "reliability"), title);
}

/* ---- ranks ---- */

/* The outcomes of a group of queries; `of` is NULL if they do not have this group. */
typedef struct sample {
    const outcomes *of;
    grouping by;
    int group;
} sample;

static const sample no_sample = {NULL, GROUP_ALL, 0};

static double standard_error(const sample *s, metric m)
{
    return s->of ? outcomes_estimate(s->of, m, s->by, s->group).error : NAN;
}

static json_t *metric_cell(const json_t *group, const sample *s, metric m)
{
    const metric_info *info = &metric_table[m];
    double error = standard_error(s, m);
    json_t *small = json_array();

    if (isfinite(error))
        json_array_append_new(small,
                              format_string("\xc2\xb1 %.*f", info->decimals, info->scale * error));
    return json_pack("{so so}", "text",
                     format_string("%.*f", info->decimals, info->scale * eval_metric(group, m)),
                     "small", small);
}

static void add_metrics_row(json_t *table, const char *name, const json_t *group, const sample *s)
{
    if (!(eval_queries(group) > 0))
        return;
    json_t *row = table_row(table);
    row_text(row, "%s", name);
    row_text(row, "%.0f", eval_queries(group));
    for (int m = 0; m < METRIC_ACCURACY; m++)
        json_array_append_new(row, metric_cell(group, s, (metric)m));
}

static const char metrics_columns[] = "|#queries|#MR|#MRR|#Hits@1 (%)|#Hits@3 (%)|#Hits@10 (%)";

/* Groups of the evaluation are in the order of their numbers. */
static sample sample_of(const outcomes *of, grouping by, int group)
{
    return by == GROUP_ALL ? no_sample : (sample){of, by, group};
}

static json_t *groups_table(const char *caption, const json_t *groups, const outcomes *of,
                            grouping by)
{
    json_t *table = table_new(caption, metrics_columns), *group;
    const char *key;
    int number = 0;

    json_object_foreach((json_t *)groups, key, group) {
        sample s = sample_of(of, by, number++);
        add_metrics_row(table, key, group, &s);
    }
    return table;
}

static json_t *groups_bars(const char *title, const char *x, const json_t *groups,
                           const outcomes *of, grouping by)
{
    json_t *bars = json_array(), *group;
    const char *key;
    int number = 0;

    json_object_foreach((json_t *)groups, key, group) {
        sample s = sample_of(of, by, number++);
        double error = standard_error(&s, METRIC_MRR);
        if (!(eval_queries(group) > 0))
            continue;
        json_t *bar = json_pack("{ss sf so}", "name", key, "value", eval_metric(group, METRIC_MRR),
                                "note", format_string("%.0f queries", eval_queries(group)));
        if (isfinite(error))
            json_object_set_new(bar, "error", json_real(error));
        json_array_append_new(bars, bar);
    }
    json_t *chart = json_pack("{ss ss ss ss so}", "type", "bars", "title", title, "x", x, "y",
                              "MRR", "bars", bars);
    if (by != GROUP_ALL)
        json_object_set_new(chart, "note", json_string("Lines: two standard errors up and down."));
    return chart;
}

static double overall_number(const json_t *overall, const char *questions, const char *key)
{
    return number_of(json_object_get(overall, questions), key);
}

static void add_probabilities(json_t *page, const json_t *overall)
{
    static const char *const keys[] = {"one_relation", "any_relation"};
    static const char *const titles[] = {
        "S r ?: predicted probability and share of correct answers",
        "S ? ?: predicted probability and share of correct answers"};
    json_t *figures;

    if (!(overall_number(overall, keys[0], "answers") > 0))
        return;
    figures = figures_new();
    document_heading(page, 2, "Probabilities");
    for (int i = 0; i < 2; i++)
        figures_add(figures, reliability_chart(json_object_get(overall, keys[i]), titles[i]));
    document_add(page, figures);
    document_text(
        page,
        "%.0f unseen entities with 10 to 90 %% of their facts hidden; the ten best unknown "
        "answers of each question. Log-loss: %.4f for S r ? (%.4f if every answer gets the "
        "base rate), %.4f for S ? ? (%.4f).",
        number_of(overall, "entities"), overall_number(overall, keys[0], "log_loss"),
        overall_number(overall, keys[0], "base_rate_log_loss"),
        overall_number(overall, keys[1], "log_loss"),
        overall_number(overall, keys[1], "base_rate_log_loss"));
}

static void add_ranking(json_t *page, const json_t *eval, const outcomes *of)
{
    json_t *table = table_new("Filtered ranks of the hidden entity. Ties share the mean rank "
                              "(realistic); optimistic and pessimistic ranks bound it. After "
                              "\xc2\xb1 stands the standard error over queries.",
                              metrics_columns);
    const sample all = {of, GROUP_ALL, 0};
    json_t *figures = figures_new();
    json_t *reliability =
        eval_reliability(eval, "Probability of an answer if exactly one is missing");
    const json_t *kinds = json_object_get(eval, "by_relation_kind");
    const json_t *known = json_object_get(eval, "by_known_answers");

    add_metrics_row(table, "realistic", eval, &all);
    add_metrics_row(table, "optimistic", json_object_get(eval, "optimistic"), &no_sample);
    add_metrics_row(table, "pessimistic", json_object_get(eval, "pessimistic"), &no_sample);
    document_add(page, table);
    if (reliability)
        figures_add(figures, reliability);
    figures_add(figures, groups_bars("MRR by facts of the known entity", "known facts",
                                     by_facts(eval), of, GROUP_FACTS));
    figures_add(figures,
                groups_bars("MRR by kind of relation", "kind of relation", kinds, of, GROUP_KIND));
    figures_add(figures, groups_bars("MRR by known answers of the query", "known answers", known,
                                     of, GROUP_ALL));
    document_add(page, figures);
    add_probabilities(page, json_object_get(eval, "probabilities"));
    document_heading(page, 2, "All metrics");
    document_add(page,
                 groups_table("By facts of the known entity", by_facts(eval), of, GROUP_FACTS));
    document_add(page, groups_table("By kind of relation", kinds, of, GROUP_KIND));
    document_add(page, groups_table("By known answers of the query", known, of, GROUP_ALL));
    table = table_new("By whether some known fact links the two entities", metrics_columns);
    add_metrics_row(table, "linked", json_object_get(eval, "linked"), &no_sample);
    add_metrics_row(table, "not linked", json_object_get(eval, "not_linked"), &no_sample);
    document_add(page, table);
}

/* ---- labelled facts ---- */

static const char *group_name(grouping by, int group)
{
    return by == GROUP_KIND ? kith_eval_kind_name(group) : kith_eval_bucket_name(group);
}

/* The accuracy of each group, as bars and as rows of a table. */
static void add_accuracies(json_t *bars, json_t *table, const outcomes *of, grouping by)
{
    for (int group = 0; group_name(by, group); group++) {
        estimate e = outcomes_estimate(of, METRIC_ACCURACY, by, group);
        if (e.queries == 0)
            continue;
        json_t *row = table_row(table);
        row_text(row, "%s", group_name(by, group));
        row_text(row, "%zu", e.queries);
        row_text(row, isfinite(e.error) ? "%.1f \xc2\xb1 %.1f" : "%.1f", 100 * e.mean,
                 100 * e.error);
        json_t *bar =
            json_pack("{ss sf so}", "name", group_name(by, group), "value", e.mean, "note",
                      format_string("%zu fact%s", e.queries, e.queries == 1 ? "" : "s"));
        if (isfinite(e.error))
            json_object_set_new(bar, "error", json_real(e.error));
        json_array_append_new(bars, bar);
    }
}

static void add_classification(json_t *page, const json_t *eval, const outcomes *of)
{
    static const struct {
        grouping by;
        const char *title, *x;
    } groups[] = {{GROUP_FACTS, "Accuracy by facts of the known entity", "known facts"},
                  {GROUP_KIND, "Accuracy by kind of relation", "kind of relation"}};
    double accuracy = eval_metric(eval, METRIC_ACCURACY), facts = eval_queries(eval);
    json_t *figures = figures_new(), *tables[2];

    document_text(page,
                  "Triplet classification: accuracy %.2f %% over %.0f labelled facts, "
                  "with a standard error of %.2f points.",
                  100 * accuracy, facts, 100 * sqrt(accuracy * (1 - accuracy) / facts));
    for (int i = 0; i < 2; i++) {
        json_t *bars = json_array();
        tables[i] = table_new(groups[i].title, "|#facts|#Accuracy (%)");
        add_accuracies(bars, tables[i], of, groups[i].by);
        figures_add(figures, json_pack("{ss ss ss ss ss so}", "type", "bars", "title",
                                       groups[i].title, "x", groups[i].x, "y", "accuracy", "note",
                                       "Lines: two standard errors up and down.", "bars", bars));
    }
    document_add(page, figures);
    document_heading(page, 2, "All metrics");
    for (int i = 0; i < 2; i++)
        document_add(page, tables[i]);
}

/* ---- the page ---- */

json_t *eval_page(const json_t *eval, const char *run, const outcomes *of)
{
    json_t *title = format_string("%s on %s", run, text_of(eval, "split"));
    json_t *subtitle = format_string("Evaluated by kith %s in %.2f seconds", kith_version(),
                                     number_of(eval, "seconds"));
    json_t *page = document_new(json_string_value(title), json_string_value(subtitle));

    if (strcmp(text_of(eval, "task"), "classification") == 0)
        add_classification(page, eval, of);
    else
        add_ranking(page, eval, of);
    json_decref(title);
    json_decref(subtitle);
    return page;
}
