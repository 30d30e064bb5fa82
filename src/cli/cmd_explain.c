#include <stdlib.h>

#include "cli/answers.h"
#include "report/pages.h"

/* Write the page of --html, without the questions that failed. */
static int write_page(const query_arguments *a, const json_t *results)
{
    json_t *pages = json_array(), *one;
    kith_error error;
    size_t i;

    json_array_foreach(results, i, one)
        if (!json_object_get(one, "error"))
            json_array_append(pages, one);
    json_t *page =
        explain_page(pages, json_array_size(pages), a->common.operand, kith_model_graph(a->model));
    kith_status status = html_write(page, a->html, &error);

    json_decref(page);
    json_decref(pages);
    return status == KITH_OK ? EXIT_SUCCESS : failure(&error);
}

/* Print an explanation as text, or append it to the results. */
static void show_one(const query_arguments *a, const explained *e, json_t *results, bool first)
{
    const kith_graph *graph = kith_model_graph(a->model);

    if (a->common.json || a->html)
        json_array_append_new(results, explained_json(e, graph));
    if (a->common.json)
        return;
    if (!first)
        say("\n");
    print_explained(e, graph);
}

/* If a question fails, the others are still explained; returns the status of the first failure.
 * `ended` says that memory ran out or that the user stopped the command. */
static int explain_all(query_arguments *a, const questions *q, json_t *results, size_t *shown,
                       bool *ended)
{
    int status = EXIT_SUCCESS;

    *shown = 0;
    *ended = false;
    for (size_t i = 0; i < q->count; i++) {
        explained e;
        kith_error error;
        if (explain_question(&e, a, q->at[i], i >= q->about, &error) == KITH_OK) {
            show_one(a, &e, results, (*shown)++ == 0);
            release_explained(&e);
            continue;
        }
        int own = failure(&error);
        status = status == EXIT_SUCCESS ? own : status;
        *ended = error.status == KITH_ERR_MEMORY || error.status == KITH_ERR_STOPPED;
        if (*ended)
            break;
        if (a->common.json)
            json_array_append_new(results, json_pack("{so so}", "query", question_json(&q->at[i]),
                                                     "error", text_json(error.message)));
    }
    return status;
}

static int explain(query_arguments *a, const questions *q)
{
    json_t *results = json_array();
    size_t shown;
    bool ended;

    if (!a->common.json)
        print_ignored(a->session, kith_model_graph(a->model), 0, JSON_NAMES_ALL);
    int status = explain_all(a, q, results, &shown, &ended), written = EXIT_SUCCESS;
    if (a->html && shown > 0)
        written = write_page(a, results);
    if (a->common.json && !ended && written == EXIT_SUCCESS)
        written = print_json(json_pack("{sO so so}", "results", results, "ignored",
                                       ignored_json(a->session), "warnings",
                                       warnings_json(a->model)));
    json_decref(results);
    return status != EXIT_SUCCESS ? status : written;
}

static int run(const command *self, void *arguments)
{
    return ask_and(explain, self, arguments);
}

static const option_row options[] = {
    QUERY_OPTIONS,
    {"html", 0, "FILE", "also write a page with charts", OPTION_TEXT,
     offsetof(query_arguments, html)},
};

const command cmd_explain = {
    .name = "explain",
    .group = GROUP_QUESTIONS,
    .summary = "predict and show the reasons",
    .operand = "RUN",
    .most_operands = 1,
    .about =
        "Gives the same answers as kith predict, with explanations. Queries are described in kith\n"
        "help predict.\n\n"
        "N % beside an answer is the probability that it is true; [low-high %] is its 95 %\n"
        "confidence interval, shown in lists in which one is wide, and always for '? R ?'.\n"
        "(N % if any) is the probability assuming that the query has an answer that is not known\n"
        "yet; a run without rules has only this one. Answers are sorted by the probability that\n"
        "they are true, then by score.\n\n"
        "If the run has rules, splits the scores of the best answers into contributions of rules,\n"
        "proximity, prior and embedding. Lists the supporting rules, strongest first, each with\n"
        "its confidence, kind (see kith help rules), how often it was correct, and the facts it\n"
        "applies to. Then follows the shortest path from the entity to the answer.\n\n"
        "Then lists the known facts of the entity. If the run has an embedding, these are the\n"
        "facts that the entity's vector is computed from, highest weight first: the weight of\n"
        "each, its logic and attention parts, the rule behind the logic part, and which other\n"
        "relation of the entity makes the fact redundant. Finally, masks the facts with the\n"
        "highest weights, one at a time, and shows the new ranks of the best answers. The\n"
        "aggregators mean and sum give all facts the same weight; max shows in how many\n"
        "coordinates each fact is the largest; lstm has no weights.\n\n"
        "For 'S R O', shows how likely the fact is, what supports it, which answers rank above\n"
        "it, and whether S is likely to have another fact of R at all. A known fact is hidden\n"
        "while it is explained. For '? R ?', explains the most likely missing fact.",
    OPTIONS(options),
    .arguments_size = sizeof(query_arguments),
    .examples =
        "  kith explain run --fact 'dee plays_for Bulls' --query 'dee lives_in ?' --top 5\n",
    .run = run,
};
