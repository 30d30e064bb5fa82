#include <stdlib.h>

#include "cli/answers.h"
#include "report/pages.h"

static json_t *one_json(const asking *a, const kith_question *q, const kith_explanation *e)
{
    const kith_graph *graph = kith_model_graph(a->model);
    json_t *object = json_pack("{so so so}", "query", question_json(q), "answers",
                               answers_json(&e->answers, q, graph), "ignored",
                               ignored_json(a->session));
    if (object)
        explanation_json(object, e, graph);
    return object;
}

static int write_page(const asking *a, const json_t *pages)
{
    json_t *page = explain_page(pages, json_array_size(pages), a->folder,
                                kith_model_graph(a->model));
    kith_error error;
    kith_status status = html_write(page, a->html, &error);

    json_decref(page);
    return status == KITH_OK ? EXIT_SUCCESS : failure(&error);
}

static int explain(asking *a, const questions *q)
{
    const kith_graph *graph = kith_model_graph(a->model);
    json_t *results = a->json && q->count > 1 ? json_array() : NULL;
    json_t *pages = a->html ? json_array() : NULL;
    kith_explanation e;
    kith_error error;
    int status = EXIT_SUCCESS;

    if (!a->json)
        print_ignored(a->session, graph, 0);
    for (size_t i = 0; status == EXIT_SUCCESS && i < q->count; i++) {
        if (kith_session_explain(&e, a->session, &q->at[i], &a->ask, &error) != KITH_OK) {
            status = failure(&error);
            break;
        }
        if (pages)
            json_array_append_new(pages, one_json(a, &q->at[i], &e));
        if (results) {
            json_array_append_new(results, one_json(a, &q->at[i], &e));
        } else if (a->json) {
            status = print_json(one_json(a, &q->at[i], &e));
        } else {
            say("%s", i > 0 ? "\n" : "");
            print_answers(&e.answers, &q->at[i], graph);
            print_explanation(&e, &q->at[i], graph);
        }
        kith_explanation_release(&e);
    }
    if (pages && status == EXIT_SUCCESS)
        status = write_page(a, pages);
    json_decref(pages);
    if (results && status == EXIT_SUCCESS)
        return print_json(json_pack("{so}", "results", results));
    json_decref(results);
    return status;
}

static int run(const command *self, int argc, char **argv)
{
    return ask_and(explain, self, argc, argv);
}

const command cmd_explain = {
    .name = "explain",
    .summary = "answer as predict does, and say why",
    .usage = "RUN --query 'NAME RELATION ?' [--fact 'NAME RELATION OTHER']... [--facts FILE]\n"
             "       [--html FILE]",
    .help =
        "Takes the arguments of kith predict and gives the same answers. Where the run has rules,\n"
        "it takes the scores of the first ones apart into rules, nearness, prior and embedding, "
        "and\n"
        "shows the rules that speak for them, strongest first: confidence, kind (see kith help\n"
        "rules), how often they were right, and the facts that ground them, and the shortest way\n"
        "from the entity to the answer. Then it shows the facts that the entity's vector is made\n"
        "of, heaviest first: the weight of each, its parts by logic and by attention, the rule\n"
        "behind the logic part, and which other relation of the entity makes the fact redundant.\n"
        "Last it leaves out the heaviest facts one at a time and shows where the first answers\n"
        "go.\n\n"
        "Without weights of that kind it shows what there is: mean and sum weigh all facts alike,\n"
        "max says in how many coordinates each fact is the largest, lstm only what happens\n"
        "without a fact.\n\n"
        "  --fact, --facts, --query, --top, --new-only, --relations, --threads, --json\n"
        "                     as for kith predict\n"
        "  --html FILE        write a page with charts as well\n"
        "  -h, --help         print this help\n\n"
        "examples:\n"
        "  kith explain lan --fact 'dee plays_for Bulls' --query 'dee lives_in ?' --top 5\n",
    .run = run,
};
