#include <stdlib.h>

#include "cli/answers.h"
#include "report/pages.h"

static json_t *one_json(const asking *a, const kith_question *q, const kith_explanation *e)
{
    const kith_graph *graph = kith_model_graph(a->model);
    json_t *object = json_pack("{so so}", "query", question_json(q), "answers",
                               answers_json(&e->answers, q, graph));
    if (object)
        explanation_json(object, e, graph);
    return object;
}

static int write_page(const asking *a, const json_t *pages)
{
    json_t *page =
        explain_page(pages, json_array_size(pages), a->common.operand, kith_model_graph(a->model));
    kith_error error;
    kith_status status = html_write(page, a->html, &error);

    json_decref(page);
    return status == KITH_OK ? EXIT_SUCCESS : failure(&error);
}

/* For people, or as one more of the results. */
static void show_one(const asking *a, const kith_question *q, const kith_explanation *e,
                     json_t *results, bool first)
{
    const kith_graph *graph = kith_model_graph(a->model);

    if (a->common.json || a->html)
        json_array_append_new(results, one_json(a, q, e));
    if (a->common.json)
        return;
    if (!first)
        say("\n");
    print_answers(&e->answers, q, graph);
    print_explanation(e, q, graph);
}

static int explain(asking *a, const questions *q)
{
    json_t *results = json_array();
    kith_explanation e;
    kith_error error;
    int status = EXIT_SUCCESS;

    if (!a->common.json)
        print_ignored(a->session, kith_model_graph(a->model), 0);
    for (size_t i = 0; status == EXIT_SUCCESS && i < q->count; i++) {
        if (kith_session_explain(&e, a->session, &q->at[i], &a->ask, &error) != KITH_OK) {
            status = failure(&error);
        } else {
            show_one(a, &q->at[i], &e, results, i == 0);
            kith_explanation_release(&e);
        }
    }
    if (a->html && status == EXIT_SUCCESS)
        status = write_page(a, results);
    if (a->common.json && status == EXIT_SUCCESS)
        return print_json(
            json_pack("{so so}", "results", results, "ignored", ignored_json(a->session)));
    json_decref(results);
    return status;
}

static int run(const command *self, void *arguments)
{
    return ask_and(explain, self, arguments);
}

static const option_row options[] = {
    QUERY_OPTIONS,
    {"html", 0, "FILE", "write a page with charts as well", OPTION_TEXT, offsetof(asking, html)},
};

const command cmd_explain = {
    .name = "explain",
    .group = GROUP_QUESTIONS,
    .summary = "predict, and show the reasons",
    .operand = "RUN",
    .most_operands = 1,
    .about =
        "Gives the answers of kith predict. Where the run has rules, it takes the scores of the\n"
        "first ones apart into rules, proximity, prior and embedding, and shows the rules that\n"
        "support them, strongest first: confidence, kind (see kith help rules), how often they "
        "were\n"
        "correct, the facts they apply to, and the shortest path from the entity to the "
        "answer.\n"
        "Then it shows the facts that the entity's vector is made of, heaviest first: the weight "
        "of\n"
        "each, its parts by logic and by attention, the rule behind the logic part, and which "
        "other\n"
        "relation of the entity makes the fact redundant. Last, it leaves out the heaviest facts\n"
        "one at a time and shows where the first answers go.\n\n"
        "Aggregators without such weights show what they have: mean and sum weigh all facts "
        "alike,\n"
        "max says in how many coordinates each fact is the largest, lstm only what happens "
        "without\n"
        "a fact.",
    OPTIONS(options),
    .arguments_size = sizeof(asking),
    .examples =
        "  kith explain lan --fact 'dee plays_for Bulls' --query 'dee lives_in ?' --top 5\n",
    .run = run,
};
