#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/pages.h"
#include "report/rule_form.h"

enum { GRAPH_EDGES = 14, REASONS = 6, EXPLAINED = 3 };

/* ---- names ---- */

/* The label of a name, or the name itself. */
static const char *label_of(const kith_graph *graph, const char *name)
{
    uint32_t entity;

    if (graph && kith_graph_find_entity(&entity, graph, name) == KITH_OK)
        return kith_graph_entity_label(graph, entity);
    return name;
}

static const char *short_name(const json_t *object, const kith_graph *graph)
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

/* The entity that is asked about. */
static const char *known_entity(const json_t *explained)
{
    const char *subject = text_of(query_of(explained), "subject");
    return *subject ? subject : text_of(query_of(explained), "object");
}

json_t *question_title(const json_t *explained, const kith_graph *graph)
{
    const json_t *q = query_of(explained);
    const char *subject = text_of(q, "subject"), *object = text_of(q, "object");
    const char *relation = text_of(q, "relation");

    return format_string("%s \xe2\x80\x94 %s \xe2\x86\x92 %s",
                         *subject ? label_of(graph, subject) : "?", *relation ? relation : "?",
                         *object ? label_of(graph, object) : "?");
}

/* ---- answers ---- */

static void add_answers(json_t *document, const json_t *explained)
{
    const json_t *answers = json_object_get(explained, "answers"), *answer;
    bool pairs = json_object_get(json_array_get(answers, 0), "relation") != NULL;
    bool probable = json_object_get(json_array_get(answers, 0), "probability") != NULL;
    json_t *table = table_new("", "#");
    size_t i;

    if (pairs)
        table_add_column(table, "relation", 0);
    table_add_column(table, "answer", 0);
    if (probable)
        table_add_column(table, "probability", 0);
    table_add_column(table, "score", 1);
    json_array_foreach(answers, i, answer) {
        json_t *row = table_row(table), *name = entity_title(answer);
        double probability = number_of(answer, "probability");
        bool known = json_is_true(json_object_get(answer, "known"));
        row_text(row, "%zu", i + 1);
        if (pairs)
            row_text(row, "%s", text_of(answer, "relation"));
        json_t *cell = json_pack("{so}", "text", name);
        if (known)
            json_object_set_new(cell, "small", json_pack("[s]", "known"));
        json_array_append_new(row, cell);
        if (probable)
            json_array_append_new(row, isfinite(probability)
                                           ? json_pack("{so sf}", "text",
                                                       format_string("%.1f %%", 100 * probability),
                                                       "bar", probability)
                                           : json_string(""));
        row_text(row, "%.4f", number_of(answer, "score"));
    }
    document_add(document, table);
    if (json_array_size(answers) == 0)
        document_text(document, "No answer.");
}

/* ---- the neighbourhood ---- */

json_t *explain_graph(const json_t *explained, const kith_graph *graph, const char *title)
{
    const json_t *neighbors = json_object_get(explained, "neighbors"), *n;
    const char *center = label_of(graph, known_entity(explained));
    json_t *edges = json_array();
    size_t i;

    json_array_foreach(neighbors, i, n) {
        bool inverse = json_is_true(json_object_get(n, "inverse"));
        double weight = number_of(n, "weight"), wins = number_of(n, "wins");
        const char *entity = short_name(n, graph), *relation = text_of(n, "relation");
        if (i == GRAPH_EDGES)
            break;
        weight = isfinite(wins) ? wins : weight;
        json_t *edge = json_pack("{so so sb so}", "relation", safe_string(relation), "entity",
                                 safe_string(entity), "inverse", inverse, "note",
                                 format_string("%s %s %s", inverse ? entity : center, relation,
                                               inverse ? center : entity));
        if (isfinite(weight))
            json_object_set_new(edge, "weight", json_real(weight));
        json_array_append_new(edges, edge);
    }
    return json_pack("{ss so so so}", "type", "graph", "title", safe_string(title), "center",
                     safe_string(center), "edges", edges);
}

static void add_neighborhood(json_t *document, const json_t *explained, const kith_graph *graph)
{
    size_t count = json_array_size(json_object_get(explained, "neighbors"));
    json_t *figures = figures_new(), *title = NULL;

    if (count == 0) {
        json_decref(figures);
        return;
    }
    bool weighed = json_object_get(json_array_get(json_object_get(explained, "neighbors"), 0),
                                   "weight") != NULL;
    title = count > GRAPH_EDGES
                ? format_string("What is known about it: %s%d of %zu facts",
                                weighed ? "the heaviest " : "", GRAPH_EDGES, count)
                : format_string("What is known about it%s", weighed ? ", heaviest first" : "");
    figures_add(figures, explain_graph(explained, graph, json_string_value(title)));
    document_add(document, figures);
    json_decref(title);
}

/* ---- reasons ---- */

/* "from -relation-> to", the arrow pointing from subject to object. */
static void put_step(text_buffer *words, const char *relation, bool inverse, const char *to)
{
    text_add(words,
             inverse ? " \xe2\x86\x90 %s \xe2\x80\x94 %s" : " \xe2\x80\x94 %s \xe2\x86\x92 %s",
             relation, to);
}

/* The same for {"relation": NAME, "inverse": false}. */
static void put_relation(text_buffer *words, const json_t *relation, const char *to)
{
    put_step(words, text_of(relation, "relation"),
             json_is_true(json_object_get(relation, "inverse")), to);
}

static json_t *taken(text_buffer *words)
{
    json_t *made = safe_string(words->at ? words->at : "");
    text_release(words);
    return made;
}

/* What a variable of a rule stands for. */
static const char *value_of(char variable, const json_t *reason, const char *who,
                            const char *answer, const kith_graph *graph)
{
    switch (variable) {
    case 's':
        return who;
    case 'o':
        return answer;
    case 'x':
    case 'c':
        return label_of(graph, text_of(reason, "between"));
    case 'y':
        return label_of(graph, text_of(reason, "between_second"));
    default:
        return "any";
    }
}

/* The facts behind a rule as a path, with how often the rule was right. */
static json_t *reason_words(const json_t *reason, const char *who, const char *answer,
                            const kith_graph *graph)
{
    static const char *const keys[RULE_ATOMS] = {"first", "second", "third"};
    const char *name = text_of(reason, "kind");
    kith_evidence_part kind = kith_part_find(name, strlen(name));
    rule_form form = rule_form_of(kind);
    text_buffer words = {0};

    text_put(&words, value_of(form.body[0].from, reason, who, answer, graph));
    for (size_t i = 0; i < form.count; i++)
        put_relation(&words, json_object_get(reason, keys[i]),
                     value_of(form.body[i].to, reason, who, answer, graph));
    if (kind == KITH_PART_SHARED)
        text_put(&words, ", which known answers have in common");
    text_add(&words, ": right in %.0f of %.0f cases, confidence %.3f", number_of(reason, "support"),
             number_of(reason, "body_count"), number_of(reason, "confidence"));
    return taken(&words);
}

static json_t *path_words(const json_t *path, const char *who, const kith_graph *graph)
{
    text_buffer words = {0};
    const json_t *step;
    size_t i;

    text_add(&words, "shortest path: %s", who);
    json_array_foreach(path, i, step)
        put_step(&words, text_of(step, "relation"), json_is_true(json_object_get(step, "inverse")),
                 short_name(step, graph));
    return taken(&words);
}

static void add_reasons(json_t *document, const json_t *explained, const kith_graph *graph)
{
    const char *who = label_of(graph, known_entity(explained));
    const json_t *one, *reason;
    size_t i, k;

    json_array_foreach(json_object_get(explained, "contributions"), i, one) {
        const json_t *reasons = json_object_get(one, "reasons"), *path;
        const char *answer = short_name(one, graph);
        json_t *items = json_array(), *title = entity_title(one);
        path = json_object_get(one, "path");
        if (i == EXPLAINED || json_array_size(json_object_get(one, "features")) == 0) {
            json_decref(items);
            json_decref(title);
            break; /* without rules the neighbourhood says all */
        }
        document_heading(document, 3, json_string_value(title));
        document_text(document,
                      "Score %.3f = rules %+.3f, proximity %+.3f, prior %+.3f, "
                      "embedding %+.3f.",
                      number_of(one, "score"), number_of(one, "rules"), number_of(one, "proximity"),
                      number_of(one, "prior"), number_of(one, "embedding"));
        json_array_foreach(reasons, k, reason)
            if (k < REASONS)
                json_array_append_new(items, reason_words(reason, who, answer, graph));
        if (json_array_size(reasons) > REASONS)
            json_array_append_new(
                items, format_string("and %zu more", json_array_size(reasons) - REASONS));
        if (json_array_size(path) > 1)
            json_array_append_new(items, path_words(path, who, graph));
        if (json_array_size(items) == 0)
            json_array_append_new(items, json_string("no supporting rule"));
        document_add(document, json_pack("{ss so}", "type", "list", "items", items));
        json_decref(title);
    }
}

void explain_blocks(json_t *document, const json_t *explained, const kith_graph *graph)
{
    add_answers(document, explained);
    add_neighborhood(document, explained, graph);
    add_reasons(document, explained, graph);
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
