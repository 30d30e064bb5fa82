#include <math.h>
#include <string.h>

#include "report/pages.h"

double eval_metric(const json_t *eval, metric m)
{
    static const char *const hits[METRICS] = {
        [METRIC_HITS1] = "1", [METRIC_HITS3] = "3", [METRIC_HITS10] = "10"};

    return hits[m] ? number_of(json_object_get(eval, "hits"), hits[m])
                   : number_of(eval, metric_table[m].key);
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

void eval_add_facts_series(json_t *chart, const json_t *eval, const char *name)
{
    json_t *points = lines_series(chart, name), *group;
    const char *key;

    json_object_foreach((json_t *)by_facts(eval), key, group)
        if (eval_queries(group) > 0)
            points_add(points, category_place(chart, key), eval_metric(group, METRIC_MRR));
}

static json_t *reliability_chart(const json_t *reliability, const char *title)
{
    if (!reliability)
        return NULL;
    return json_pack("{ss so sO}", "type", "reliability", "title", safe_string(title), "bins",
                     json_object_get(reliability, "bins"));
}

json_t *eval_reliability(const json_t *eval, const char *title)
{
    return reliability_chart(json_object_get(eval, "reliability"), title);
}

/* ---- the page ---- */

static void add_metrics_row(json_t *table, const char *name, const json_t *group)
{
    if (!(eval_queries(group) > 0))
        return;
    json_t *row = table_row(table);
    row_text(row, "%s", name);
    row_text(row, "%.0f", eval_queries(group));
    for (int m = 0; m < METRIC_ACCURACY; m++)
        row_text(row, "%.*f", metric_table[m].decimals,
                 metric_table[m].scale * eval_metric(group, (metric)m));
}

static const char metrics_columns[] = "|#queries|#MR|#MRR|#Hits@1 (%)|#Hits@3 (%)|#Hits@10 (%)";

static json_t *groups_table(const char *caption, const json_t *groups)
{
    json_t *table = table_new(caption, metrics_columns), *group;
    const char *key;

    json_object_foreach((json_t *)groups, key, group)
        add_metrics_row(table, key, group);
    return table;
}

static json_t *groups_bars(const char *title, const char *x, const json_t *groups)
{
    json_t *bars = json_array(), *group;
    const char *key;

    json_object_foreach((json_t *)groups, key, group)
        if (eval_queries(group) > 0)
            json_array_append_new(
                bars, json_pack("{ss sf so}", "name", key, "value", eval_metric(group, METRIC_MRR),
                                "note", format_string("%.0f queries", eval_queries(group))));
    return json_pack("{ss ss ss ss so}", "type", "bars", "title", title, "x", x, "y", "MRR", "bars",
                     bars);
}

static void add_probabilities(json_t *page, const json_t *overall)
{
    static const char *const keys[] = {"one_relation", "any_relation"};
    static const char *const titles[] = {"S r ?: predicted probability, and share of correct answers",
                                         "S ? ?: predicted probability, and share of correct answers"};
    json_t *figures;

    if (!overall)
        return;
    figures = figures_new();
    document_heading(page, 2, "Probabilities");
    for (int i = 0; i < 2; i++)
        figures_add(figures, reliability_chart(json_object_get(overall, keys[i]), titles[i]));
    document_add(page, figures);
    for (int i = 0; i < 2; i++) {
        const json_t *t = json_object_get(overall, keys[i]);
        document_text(page,
                      "%.5s: expected calibration error %.4f, log-loss %.4f (%.4f without any model), over "
                      "the ten best unknown answers; %.0f unseen entities with 10 to 90 %% of their "
                      "facts hidden.",
                      titles[i], number_of(t, "expected_error"), number_of(t, "log_loss"),
                      number_of(t, "base_rate_log_loss"), number_of(overall, "entities"));
    }
}

static void add_ranking(json_t *page, const json_t *eval)
{
    json_t *table = table_new("Filtered ranks of the hidden entity. Ties share the mean rank "
                              "(realistic); optimistic and pessimistic ranks bound it.",
                              metrics_columns);
    json_t *figures = figures_new();
    json_t *reliability =
        eval_reliability(eval, "Probability if any, and share of correct answers");
    const json_t *kinds = json_object_get(eval, "by_relation_kind");
    const json_t *known = json_object_get(eval, "by_known_answers");

    add_metrics_row(table, "realistic", eval);
    add_metrics_row(table, "optimistic", json_object_get(eval, "optimistic"));
    add_metrics_row(table, "pessimistic", json_object_get(eval, "pessimistic"));
    document_add(page, table);
    if (reliability)
        figures_add(figures, reliability);
    figures_add(figures,
                groups_bars("MRR by facts of the known entity", "known facts", by_facts(eval)));
    figures_add(figures, groups_bars("MRR by kind of relation", "kind of relation", kinds));
    figures_add(figures, groups_bars("MRR by known answers of the query", "known answers", known));
    document_add(page, figures);
    if (reliability)
        document_text(page,
                      "Dots on the dashed line are right as often as they claim; bars span "
                      "two standard errors, larger dots stand for more answers. Expected "
                      "calibration error: %.4f.",
                      number_of(json_object_get(eval, "reliability"), "expected_error"));
    add_probabilities(page, json_object_get(eval, "probabilities"));
    document_heading(page, 2, "All metrics");
    document_add(page, groups_table("By facts of the known entity", by_facts(eval)));
    document_add(page, groups_table("By kind of relation", kinds));
    document_add(page, groups_table("By known answers of the query", known));
    table = table_new("By whether some known fact links the two entities", metrics_columns);
    add_metrics_row(table, "linked", json_object_get(eval, "linked"));
    add_metrics_row(table, "not linked", json_object_get(eval, "not_linked"));
    document_add(page, table);
}

json_t *eval_page(const json_t *eval, const char *run)
{
    json_t *title = format_string("%s on %s", run, text_of(eval, "split"));
    json_t *subtitle = format_string("Evaluated by kith %s in %.2f seconds", kith_version(),
                                     number_of(eval, "seconds"));
    json_t *page = document_new(json_string_value(title), json_string_value(subtitle));

    if (strcmp(text_of(eval, "task"), "classification") == 0)
        document_text(page,
                      "Triplet classification: accuracy %.2f %% over %.0f labelled facts, "
                      "with a standard error of %.2f points.",
                      100 * eval_metric(eval, METRIC_ACCURACY), eval_queries(eval),
                      100 * sqrt(eval_metric(eval, METRIC_ACCURACY) *
                                 (1 - eval_metric(eval, METRIC_ACCURACY)) / eval_queries(eval)));
    else
        add_ranking(page, eval);
    json_decref(title);
    json_decref(subtitle);
    return page;
}
