#include "report/section.h"

#include <string.h>

#include "report/pages.h"

/* The explained question with this index in the output of `kith explain --json`. */
static const json_t *explained_at(const json_t *results, size_t i)
{
    const json_t *said = json_object_get(results, "explain");
    const json_t *list = json_object_get(said, "results");
    return list ? json_array_get(list, i) : i == 0 ? said : NULL;
}

/* Add the predictions of the models side by side. */
static void add_predictions(section *s, const json_t *all, size_t question, const json_t *asked)
{
    enum { SHOWN = 5 };
    const json_t *results, *answers = json_object_get(asked, "answers");
    json_t *table = table_new("Predictions; correct ones are in bold", "#");
    size_t k;

    json_array_foreach(all, k, results)
        table_add_column(table, text_of(json_object_get(results, "info"), "model"), 0);
    for (size_t rank = 0; rank < SHOWN; rank++) {
        json_t *row = table_row(table);
        row_text(row, "%zu", rank + 1);
        json_array_foreach(all, k, results) {
            const json_t *list = json_object_get(explained_at(results, question), "answers");
            const json_t *answer = json_array_get(list, rank);
            const char *label = text_of(answer, "label");
            bool right = has_text(answers, text_of(answer, "entity"));
            json_array_append_new(row,
                                  json_pack("{so sb}", "text",
                                            safe_string(*label ? label : text_of(answer, "entity")),
                                            "strong", right));
        }
    }
    document_add(s->document, table);
}

/* The answers in test, by label; to be freed with json_decref. */
static json_t *answer_names(const json_t *asked, const kith_graph *graph)
{
    text_buffer names = {0};
    const json_t *answer;
    uint32_t entity;
    size_t i;

    json_array_foreach(json_object_get(asked, "answers"), i, answer) {
        const char *name = json_string_value(answer);
        if (graph && kith_graph_find_entity(&entity, graph, name) == KITH_OK)
            name = kith_graph_entity_label(graph, entity);
        text_add(&names, "%s%s", i > 0 ? ", " : "", name);
    }
    json_t *made = safe_string(names.at ? names.at : "");
    text_release(&names);
    return made;
}

static void add_case(section *s, const json_t *all, size_t question, const json_t *asked,
                     const kith_graph *graph)
{
    const json_t *results = json_array_get(all, 0);
    const json_t *explained = explained_at(results, question);
    json_t *title = question_title(explained, graph), *names = answer_names(asked, graph);
    json_t *caption = format_string("Facts of the entity, as thick as their weights in %s",
                                    text_of(json_object_get(results, "info"), "model"));
    json_t *figures = figures_new();

    document_heading(s->document, 3, json_string_value(title));
    document_text(s->document, "Correct by the test set: %s.", json_string_value(names));
    figures_add(figures, explain_graph(explained, graph, json_string_value(caption)));
    document_add(s->document, figures);
    add_predictions(s, all, question, asked);
    json_array_append_new(s->figures, json_pack("{sO s[]}", "question", asked, "models"));
    json_t *models =
        json_object_get(json_array_get(s->figures, json_array_size(s->figures) - 1), "models");
    size_t k;
    json_array_foreach(all, k, results)
        json_array_append_new(
            models, json_pack("{sO sO*}", "model",
                              json_object_get(json_object_get(results, "info"), "model"), "answers",
                              json_object_get(explained_at(results, question), "answers")));
    json_decref(title);
    json_decref(names);
    json_decref(caption);
}

void section_cases(section *s, const char *data, const json_t *questions)
{
    const json_t *cell, *asked;
    json_t *all = json_array();
    kith_graph *graph = NULL;
    kith_error error;
    size_t i;

    json_array_foreach(json_object_get(s->experiment, "cells"), i, cell) {
        const job *j = cell_job(s->p, cell);
        json_t *results = strcmp(text_of(cell, "data"), data) == 0 ? job_results(j) : NULL;
        if (results)
            json_array_append_new(all, results);
        if (results && !graph && j->needs != SIZE_MAX &&
            kith_graph_open(&graph, s->p->jobs[j->needs].source, NULL, &error) != KITH_OK)
            graph = NULL;
    }
    if (json_array_size(all) > 0)
        json_array_foreach(questions, i, asked)
            add_case(s, all, i, asked, graph);
    kith_graph_free(graph);
    json_decref(all);
}
