#include <stdlib.h>

#include "cli/answers.h"
#include "report/pages.h"

static json_t *one_json(const asking *a, const kith_question *q, const kith_explanation *e,
                        const kith_verdict *verdict)
{
    const kith_graph *graph = kith_model_graph(a->model);
    json_t *object = json_pack("{so so}", "query", question_json(q), "answers",
                               answers_json(e->answers, q, graph));
    if (object && verdict)
        json_object_set_new(object, "verdict", verdict_json(verdict));
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
                     const kith_verdict *verdict, json_t *results, bool first)
{
    const kith_graph *graph = kith_model_graph(a->model);

    if (a->common.json || a->html)
        json_array_append_new(results, one_json(a, q, e, verdict));
    if (a->common.json)
        return;
    if (!first)
        say("\n");
    if (verdict) {
        print_verdict(verdict, q, graph);
        print_against(verdict, e, q, graph);
    } else {
        print_answers(e->answers, q, graph);
    }
    print_explanation(e, q, graph);
}

/* Of missing facts, the likeliest is explained. */
static kith_status likeliest_missing(kith_question *fact, asking *a, const kith_question *q,
                                     kith_error *error)
{
    const kith_graph *graph = kith_model_graph(a->model);
    kith_missing_options options;
    kith_missing *missing = NULL;
    kith_status status;

    kith_missing_options_init(&options);
    options.top = 1;
    options.queries = (size_t)a->questions;
    options.threads = a->ask.threads;
    options.watch = a->ask.watch;
    options.context = a->ask.context;
    status = kith_session_find_missing(&missing, a->session, q->relation, &options, error);
    if (status == KITH_OK && missing->count == 0) {
        *error = (kith_error){KITH_ERR_NOT_FOUND, "no missing fact was found"};
        status = error->status;
    } else if (status == KITH_OK) {
        kith_triple t = missing->at[0]->fact;
        *fact = (kith_question){kith_graph_entity_name(graph, t.subject),
                                kith_graph_relation_name(graph, t.relation),
                                kith_graph_entity_name(graph, t.object)};
    }
    kith_missing_free(missing);
    return status;
}

static kith_status explain_one(asking *a, kith_question q, bool both, json_t *results, bool first,
                               kith_error *error)
{
    kith_ask_options ask = a->ask;
    kith_verdict *verdict = NULL;
    kith_explanation *e = NULL;
    kith_status status = KITH_OK;

    ask.both = both;
    if (kind_of(&q) == ASKS_MISSING)
        status = likeliest_missing(&q, a, &q, error);
    bool fact = kind_of(&q) == ASKS_TRUTH;
    if (status == KITH_OK && fact)
        status = kith_session_judge(&verdict, a->session, &q, error);
    if (status == KITH_OK)
        status = kith_session_explain(&e, a->session, &q, &ask, error);
    if (status == KITH_OK)
        show_one(a, &q, e, verdict, results, first);
    kith_explanation_free(e);
    kith_verdict_free(verdict);
    return status;
}

static int explain(asking *a, const questions *q)
{
    json_t *results = json_array();
    kith_error error;
    int status = EXIT_SUCCESS;

    if (!a->common.json)
        print_ignored(a->session, kith_model_graph(a->model), 0);
    for (size_t i = 0; status == EXIT_SUCCESS && i < q->count; i++)
        if (explain_one(a, q->at[i], i >= q->about, results, i == 0, &error) != KITH_OK)
            status = failure(&error);
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
        "a fact.\n\n"
        "For 'S R O' it says how likely the fact is, what supports it and what counts against "
        "it: the\n"
        "answers that rank above it, and whether S is likely to have another fact of R at all. A\n"
        "known fact is judged with itself hidden. For '? R ?' it explains the likeliest missing\n"
        "fact.",
    OPTIONS(options),
    .arguments_size = sizeof(asking),
    .examples =
        "  kith explain lan --fact 'dee plays_for Bulls' --query 'dee lives_in ?' --top 5\n",
    .run = run,
};
