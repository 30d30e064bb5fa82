#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "report/explain_reasons.h"
#include "report/pages.h"

enum { GRAPH_EDGES = 14 };

/* ---- names ---- */

const char *label_of(const kith_graph *graph, const char *name)
{
    uint32_t entity;

    if (graph && kith_graph_find_entity(&entity, graph, name) == KITH_OK)
        return kith_graph_entity_label(graph, entity);
    return name;
}

const char *short_name(const json_t *object, const kith_graph *graph)
{
    const char *label = text_of(object, "label");
    return *label ? label : label_of(graph, text_of(object, "entity"));
}

json_t *entity_title(const json_t *object)
{
    const char *label = text_of(object, "label"), *name = text_of(object, "entity");
    return *label && strcmp(label, name) != 0 ? format_string("%s (%s)", label, name)
                                              : safe_string(name);
}

static const json_t *query_of(const json_t *explained)
{
    return json_object_get(explained, "query");
}

const json_t *verdict_of(const json_t *explained)
{
    const json_t *verdict = json_object_get(explained, "verdict");

    return json_is_string(verdict) ? explained : verdict;
}

const char *known_entity(const json_t *explained)
{
    const char *subject = text_of(query_of(explained), "subject");
    const char *object = text_of(query_of(explained), "object");
    const json_t *verdict = verdict_of(explained);

    return *subject && !json_is_true(json_object_get(verdict, "subject_asked")) ? subject : object;
}

json_t *question_title(const json_t *explained, const kith_graph *graph)
{
    const json_t *q = query_of(explained);
    const char *subject = text_of(q, "subject"), *object = text_of(q, "object");
    const char *relation = text_of(q, "relation");

    return format_string("%s" MARK_LTR " \xe2\x80\x94 %s" MARK_LTR " \xe2\x86\x92 " MARK_LTR "%s",
                         *subject ? label_of(graph, subject) : "?", *relation ? relation : "?",
                         *object ? label_of(graph, object) : "?");
}

/* ---- answers ---- */

/* The verdict on a fact with three names. */
static void add_verdict(json_t *document, const json_t *verdict)
{
    double probability = number_of(verdict, "probability"), low = number_of(verdict, "low");
    json_t *words = isfinite(probability)
                        ? format_string(", probability %.1f %%", 100 * probability)
                        : json_string("");
    json_t *interval = isfinite(low) ? format_string(" (95 %% interval %.1f\xe2\x80\x93%.1f %%)",
                                                     100 * low, 100 * number_of(verdict, "high"))
                                     : json_string("");

    if (verdict)
        document_text(document, "Verdict: %s%s%s; rank %.0f of %.0f candidates.",
                      text_of(verdict, "verdict"), json_string_value(words),
                      json_string_value(interval), number_of(verdict, "rank"),
                      number_of(verdict, "candidates"));
    json_decref(words);
    json_decref(interval);
}

static json_t *percent(double probability)
{
    return isfinite(probability) ? format_string("%.1f %%", 100 * probability) : json_string("");
}

/* The probability as a bar, with its interval below. */
static json_t *probability_cell(const json_t *answer, const char *key)
{
    double probability = number_of(answer, key), low = number_of(answer, "low");
    json_t *cell = json_pack("{so}", "text", percent(probability));

    if (isfinite(probability))
        json_object_set_new(cell, "bar", json_real(probability));
    if (isfinite(low) && strcmp(key, "probability") == 0)
        json_object_set_new(cell, "small",
                            json_pack("[o]", format_string("%.1f\xe2\x80\x93%.1f %%", 100 * low,
                                                           100 * number_of(answer, "high"))));
    return cell;
}

typedef struct answer_columns {
    bool relation, probability, if_any;
} answer_columns;

static json_t *answers_table(const answer_columns *shown)
{
    json_t *table = table_new("", "#");

    if (shown->relation)
        table_add_column(table, "relation", 0);
    table_add_column(table, "answer", 0);
    if (shown->probability)
        table_add_column(table, "probability (95 % interval)", 0);
    if (shown->if_any && shown->probability)
        table_add_column(table, "if any", 1);
    else if (shown->if_any)
        table_add_column(table, "probability if one is missing", 0);
    table_add_column(table, "score", 1);
    return table;
}

static void add_answer(json_t *table, const json_t *answer, size_t i, const answer_columns *shown)
{
    json_t *row = table_row(table), *cell = json_pack("{so}", "text", entity_title(answer));
    bool inverse = json_is_true(json_object_get(answer, "is_subject"));

    row_text(row, "%zu", i + 1);
    if (shown->relation)
        row_text(row, inverse ? "\xe2\x86\x90 %s" : "%s \xe2\x86\x92", text_of(answer, "relation"));
    if (json_is_true(json_object_get(answer, "known")))
        json_object_set_new(cell, "small", json_pack("[s]", "known"));
    json_array_append_new(row, cell);
    if (shown->probability)
        json_array_append_new(row, probability_cell(answer, "probability"));
    if (shown->if_any && shown->probability)
        json_array_append_new(row, percent(number_of(answer, "probability_if_any")));
    else if (shown->if_any)
        json_array_append_new(row, probability_cell(answer, "probability_if_any"));
    row_text(row, number_of(answer, "score") < 0 ? "\xe2\x88\x92%.4f" : "%.4f",
             fabs(number_of(answer, "score")));
}

/* Known answers have no probability. */
static bool some_have(const json_t *answers, const char *key)
{
    const json_t *answer;
    size_t i;

    json_array_foreach(answers, i, answer)
        if (json_object_get(answer, key))
            return true;
    return false;
}

static void add_answers(json_t *document, const json_t *explained)
{
    const json_t *answers = json_object_get(explained, "answers"), *answer;
    const json_t *first = json_array_get(answers, 0);
    const answer_columns shown = {json_object_get(first, "relation") != NULL,
                                  some_have(answers, "probability"),
                                  some_have(answers, "probability_if_any")};
    size_t i;

    add_verdict(document, verdict_of(explained));
    if (!first) {
        document_text(document, "No answer.");
        return;
    }
    json_t *table = answers_table(&shown);
    json_array_foreach(answers, i, answer)
        add_answer(table, answer, i, &shown);
    document_add(document, table);
}

/* ---- the neighbourhood ---- */

typedef struct weighed {
    const json_t *neighbor;
    size_t index;
    double weight; /* NAN if it has none */
} weighed;

static int heavier_first(const void *a, const void *b)
{
    const weighed *x = a, *y = b;
    double by = (isfinite(y->weight) ? y->weight : 0) - (isfinite(x->weight) ? x->weight : 0);

    return by > 0 ? 1 : by < 0 ? -1 : x->index < y->index ? -1 : 1;
}

/* Whether the embedding weighs facts; those without a weight come last. */
static bool is_weighed(const json_t *explained)
{
    return json_object_get(json_array_get(json_object_get(explained, "neighbors"), 0), "weight");
}

static double weight_of(const json_t *explained, const json_t *n)
{
    double weight = number_of(n, "weight"), wins = number_of(n, "wins");

    weight = isfinite(wins) ? wins : weight;
    return isfinite(weight) || is_weighed(explained) ? weight : rule_weight(explained, n);
}

/* "a r b, weight 0.512" */
static json_t *edge_note(const weighed *w, const char *center, const char *entity)
{
    bool inverse = json_is_true(json_object_get(w->neighbor, "inverse"));
    bool ruled = !json_object_get(w->neighbor, "weight") && !json_object_get(w->neighbor, "wins");
    const char *relation = text_of(w->neighbor, "relation");
    json_t *weight = json_string("");

    if (isfinite(w->weight) && !(ruled && w->weight == 0)) {
        json_decref(weight);
        weight = format_string(", %s %.4g", ruled ? "confidence of the rule" : "weight", w->weight);
    }
    json_t *note = format_string("%s %s %s%s", inverse ? entity : center, relation,
                                 inverse ? center : entity, json_string_value(weight));
    json_decref(weight);
    return note;
}

static json_t *edge_json(const weighed *w, const char *center, const kith_graph *graph)
{
    bool inverse = json_is_true(json_object_get(w->neighbor, "inverse"));
    const char *entity = short_name(w->neighbor, graph);
    const char *relation = text_of(w->neighbor, "relation");
    json_t *edge =
        json_pack("{so so sb so}", "relation", safe_string(relation), "entity", safe_string(entity),
                  "inverse", inverse, "note", edge_note(w, center, entity));

    if (isfinite(w->weight))
        json_object_set_new(edge, "weight", json_real(w->weight));
    return edge;
}

json_t *explain_graph(const json_t *explained, const kith_graph *graph, const char *title)
{
    const json_t *neighbors = json_object_get(explained, "neighbors"), *n;
    const char *center = label_of(graph, known_entity(explained));
    size_t i, count = json_array_size(neighbors);
    weighed *order = kith__calloc(count + 1, sizeof *order);
    json_t *edges = json_array();

    json_array_foreach(neighbors, i, n)
        if (order)
            order[i] = (weighed){n, i, weight_of(explained, n)};
    if (order)
        qsort(order, count, sizeof *order, heavier_first);
    for (i = 0; order && i < count && i < GRAPH_EDGES; i++)
        json_array_append_new(edges, edge_json(&order[i], center, graph));
    kith__free(order);
    return json_pack("{ss so so so}", "type", "graph", "title", safe_string(title), "center",
                     safe_string(center), "edges", edges);
}

/* What the thickness of an edge means; NULL if all edges are the same. */
static const char *thickness(const json_t *explained)
{
    const json_t *neighbors = json_object_get(explained, "neighbors"), *n;
    size_t i;

    if (is_weighed(explained))
        return "The thicker a line, the larger its weight in the embedding.";
    json_array_foreach(neighbors, i, n)
        if (rule_weight(explained, n) > 0)
            return "The thicker a line, the more confident the rule by which it supports the best "
                   "answer.";
    return NULL;
}

static void add_neighborhood(json_t *document, const json_t *explained, const kith_graph *graph)
{
    size_t count = json_array_size(json_object_get(explained, "neighbors"));
    const char *center = label_of(graph, known_entity(explained));

    if (count == 0)
        return;
    json_t *title = count > GRAPH_EDGES
                        ? format_string("%d of %zu facts about %s", GRAPH_EDGES, count, center)
                        : format_string("Facts about %s", center);
    json_t *figures = figures_new();
    json_t *chart = explain_graph(explained, graph, json_string_value(title));
    if (thickness(explained))
        json_object_set_new(chart, "note", json_string(thickness(explained)));
    figures_add(figures, chart);
    document_add(document, figures);
    json_decref(title);
}

void explain_blocks(json_t *document, const json_t *explained, const kith_graph *graph)
{
    add_answers(document, explained);
    add_neighborhood(document, explained, graph);
    explain_reasons(document, explained, graph);
}

json_t *explain_page(const json_t *explained, size_t count, const char *run,
                     const kith_graph *graph)
{
    json_t *subtitle = format_string("Answers of %s and why, by kith %s", run, kith_version());
    json_t *title = count == 1 ? question_title(json_array_get(explained, 0), graph)
                               : format_string("%zu questions", count);
    json_t *page = document_new(json_string_value(title), json_string_value(subtitle));

    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(explained, i);
        json_t *heading = question_title(one, graph);
        if (count > 1)
            document_heading(page, 2, json_string_value(heading));
        explain_blocks(page, one, graph);
        json_decref(heading);
    }
    json_decref(title);
    json_decref(subtitle);
    return page;
}
