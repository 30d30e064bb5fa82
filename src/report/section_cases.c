#include "report/section.h"

#include <math.h>
#include <string.h>

#include "report/explain_reasons.h"
#include "report/pages.h"

enum { SHOWN = 5 };

/* What the models say about the questions of one data set. */
typedef struct cases {
    section *s;
    const json_t *questions;
    const char *prefix; /* of headings, if there are several data sets */
    json_t *results;    /* of each model and seed */
    json_t *names;      /* of these, as the experiment says */
    kith_graph *graph;  /* for labels, or NULL */
} cases;

/* The explained question with this index in the output of `kith explain --json`. */
static const json_t *explained_at(const json_t *results, size_t i)
{
    const json_t *said = json_object_get(results, "explain");
    const json_t *list = json_object_get(said, "results");
    return list ? json_array_get(list, i) : i == 0 ? said : NULL;
}

static const char *name_at(const cases *c, size_t i)
{
    return json_string_value(json_array_get(c->names, i));
}

/* ---- predictions ---- */

static const json_t *prediction(const json_t *results, size_t question, size_t rank)
{
    return json_array_get(json_object_get(explained_at(results, question), "answers"), rank);
}

static bool is_shown(const json_t *results, size_t question, const char *answer)
{
    for (size_t rank = 0; rank < SHOWN; rank++)
        if (strcmp(text_of(prediction(results, question, rank), "entity"), answer) == 0)
            return true;
    return false;
}

/* The place of a question's first ranked fact among everything that was explained. */
static size_t first_fact(const cases *c, size_t question)
{
    size_t place = json_array_size(c->questions);

    for (size_t i = 0; i < question; i++)
        place += json_array_size(json_object_get(json_array_get(c->questions, i), "ranked"));
    return place;
}

/* The rank of a fact by its verdict, if that ranks the side that the question asks for. */
static double rank_of(const json_t *results, size_t fact, const json_t *query)
{
    const json_t *verdict = verdict_of(explained_at(results, fact));
    bool wants_subject = !*text_of(query, "subject");
    bool ranks_subject = json_is_true(json_object_get(verdict, "subject_asked"));

    return wants_subject == ranks_subject ? number_of(verdict, "rank") : NAN;
}

/* A row with the rank of a correct answer in the models that do not show it; none if all do. */
static void add_rank(const cases *c, json_t *table, size_t question, const char *answer,
                     size_t fact)
{
    const json_t *results, *query = json_array_get(c->questions, question);
    json_t *row = json_array();
    bool any = false;
    size_t k;

    row_text(row, "%s", "");
    json_array_foreach(c->results, k, results) {
        double rank = rank_of(results, fact, query);
        bool ranked = isfinite(rank) && !is_shown(results, question, answer);
        json_array_append_new(
            row, json_pack("{so sb}", "text",
                           ranked ? format_string("rank %.0f: %s", rank, label_of(c->graph, answer))
                                : json_string(""),
                           "strong", 1));
        any |= ranked;
    }
    if (any)
        json_array_append(json_object_get(table, "rows"), row);
    json_decref(row);
}

/* Add the predictions of the models side by side. */
static void add_predictions(const cases *c, size_t question)
{
    const json_t *query = json_array_get(c->questions, question), *results, *fact;
    json_t *table =
        table_new("Predictions that are not known facts; correct ones are in bold", "#");
    size_t k, first = first_fact(c, question);

    json_array_foreach(c->results, k, results)
        table_add_column(table, name_at(c, k), 0);
    for (size_t rank = 0; rank < SHOWN; rank++) {
        json_t *row = table_row(table);
        row_text(row, "%zu", rank + 1);
        json_array_foreach(c->results, k, results) {
            const json_t *answer = prediction(results, question, rank);
            bool right = has_text(json_object_get(query, "answers"), text_of(answer, "entity"));
            json_array_append_new(row, json_pack("{so sb}", "text",
                                                 safe_string(short_name(answer, c->graph)),
                                                 "strong", right));
        }
    }
    json_array_foreach(json_object_get(query, "ranked"), k, fact)
        add_rank(c, table, question, text_of(fact, "answer"), first + k);
    document_add(c->s->document, table);
}

/* ---- questions ---- */

static void add_answers(const cases *c, const json_t *query)
{
    const json_t *answers = json_object_get(query, "answers"), *answer;
    text_buffer names = {0};
    size_t i;

    json_array_foreach(answers, i, answer)
        text_add(&names, "%s%s", i > 0 ? ", " : "", label_of(c->graph, json_string_value(answer)));
    if (i > 0)
        document_text(c->s->document, "Correct by the test set: %s.", names.at ? names.at : "");
    else
        document_text(c->s->document, "The test set has no answer.");
    text_release(&names);
}

static void add_figures_json(const cases *c, size_t question)
{
    const json_t *results;
    json_t *models = json_array();
    size_t k;

    json_array_foreach(c->results, k, results)
        json_array_append_new(
            models, json_pack("{ss sO*}", "model", name_at(c, k), "answers",
                              json_object_get(explained_at(results, question), "answers")));
    json_array_append_new(
        c->s->figures,
        json_pack("{sO so}", "question", json_array_get(c->questions, question), "models", models));
}

static void add_case(const cases *c, size_t question)
{
    const json_t *explained = explained_at(json_array_get(c->results, 0), question);
    const json_t *query = json_array_get(c->questions, question);
    json_t *title = question_title(explained, c->graph);
    json_t *heading = format_string("%s%s", c->prefix, json_string_value(title));
    json_t *caption =
        format_string("Facts of the entity, as thick as their weights in %s", name_at(c, 0));
    json_t *figures = figures_new();

    document_heading(c->s->document, 3, json_string_value(heading));
    add_answers(c, query);
    figures_add(figures, explain_graph(explained, c->graph, json_string_value(caption)));
    document_add(c->s->document, figures);
    add_predictions(c, question);
    add_figures_json(c, question);
    json_decref(title);
    json_decref(heading);
    json_decref(caption);
}

/* ---- data sets ---- */

/* Whether the model has other seeds on the same data set. */
static bool has_seeds(const section *s, const json_t *cell)
{
    const json_t *other;
    size_t i, count = 0;

    json_array_foreach(json_object_get(s->experiment, "cells"), i, other)
        count += json_equal(json_object_get(other, "model"), json_object_get(cell, "model")) &&
                 json_equal(json_object_get(other, "data"), json_object_get(cell, "data"));
    return count > 1;
}

static json_t *cell_name(const section *s, const json_t *cell)
{
    char seed[64];

    if (has_seeds(s, cell))
        return format_string("%s, seed %s", text_of(cell, "model"),
                             value_text(seed, json_object_get(cell, "seed")));
    return safe_string(text_of(cell, "model"));
}

static void collect(cases *c, const json_t *cell)
{
    const job *j = cell_job(c->s->p, cell);
    json_t *results = job_results(j);
    kith_error error;

    if (!results)
        return;
    json_array_append_new(c->results, results);
    json_array_append_new(c->names, cell_name(c->s, cell));
    if (!c->graph && j->needs != SIZE_MAX &&
        kith_graph_open(&c->graph, c->s->p->jobs[j->needs].source, NULL, &error) != KITH_OK)
        c->graph = NULL;
}

void section_cases(section *s, const char *data, const json_t *questions)
{
    bool several = json_object_size(json_object_get(s->experiment, "questions")) > 1;
    json_t *prefix = several ? format_string("%s: ", data) : json_string("");
    cases c = {s, questions, json_string_value(prefix), json_array(), json_array(), NULL};
    const json_t *cell;
    size_t i;

    json_array_foreach(json_object_get(s->experiment, "cells"), i, cell)
        if (strcmp(text_of(cell, "data"), data) == 0)
            collect(&c, cell);
    for (i = 0; json_array_size(c.results) > 0 && i < json_array_size(questions); i++)
        add_case(&c, i);
    kith_graph_free(c.graph);
    json_decref(c.results);
    json_decref(c.names);
    json_decref(prefix);
}
