#include <stdlib.h>

#include "cli/answers.h"

/* Results are written as they are made: there may be many. */
static int put_compact(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;

    json_decref(value);
    if (!text)
        return out_of_memory();
    put_json_text(stdout, text);
    free(text);
    return EXIT_SUCCESS;
}

static int print_all_json(const asking *a, const questions *q, const kith_answers *answers)
{
    int status = EXIT_SUCCESS;

    say("{\"results\": [\n");
    for (size_t i = 0; i < q->count && status == EXIT_SUCCESS; i++) {
        status = put_compact(
            json_pack("{so so}", "query", question_json(&q->at[i]), "answers",
                      answers_json(&answers[i], &q->at[i], kith_model_graph(a->model))));
        say("%s\n", i + 1 < q->count ? "," : "");
    }
    say("], \"ignored\": ");
    if (status == EXIT_SUCCESS)
        status = put_compact(ignored_json(a->session));
    say("}\n");
    return status;
}

static int print_all(const asking *a, const questions *q, const kith_answers *answers)
{
    print_ignored(a->session, kith_model_graph(a->model), 0);
    for (size_t i = 0; i < q->count; i++) {
        if (i > 0)
            say("\n");
        print_answers(&answers[i], &q->at[i], kith_model_graph(a->model));
    }
    return EXIT_SUCCESS;
}

static int answer(asking *a, const questions *q)
{
    kith_answers *answers = calloc(q->count, sizeof *answers);
    kith_error error;
    int status;

    if (!answers)
        return out_of_memory();
    if (kith_session_ask_all(answers, a->session, q->at, q->count, &a->ask, &error) != KITH_OK) {
        print_ignored(a->session, kith_model_graph(a->model), 0);
        free(answers);
        return failure(&error);
    }
    if (a->common.json)
        status = print_all_json(a, q, answers);
    else
        status = print_all(a, q, answers);
    for (size_t i = 0; i < q->count; i++)
        kith_answers_release(&answers[i]);
    free(answers);
    return status;
}

static int run(const command *self, void *arguments)
{
    return ask_and(answer, self, arguments);
}

static const option_row options[] = {QUERY_OPTIONS};

const command cmd_predict = {
    .name = "predict",
    .group = GROUP_QUESTIONS,
    .summary = "predict what is likely true of a new entity",
    .operand = "RUN",
    .most_operands = 1,
    .about = "Answers questions about an entity from a few facts about it, at once and without\n"
             "retraining. The entity may be new or one of the graph; answers are entities that "
             "training\n"
             "has seen, best first. Facts with a relation or a neighbour that training has not "
             "seen are\n"
             "named and ignored.",
    OPTIONS(options),
    .arguments_size = sizeof(asking),
    .examples = "  kith predict lan --fact 'dee plays_for Bulls' --query 'dee lives_in ?'\n"
                "  kith predict lan --fact 'dee plays_for \"LA Lakers\"' --query 'dee lives_in ?'\n"
                "  kith predict lan --facts new.tsv --query '* lives_in ?' --top 3 --json\n"
                "  kith predict lan --query '? lives_in Chicago' --new-only\n",
    .run = run,
};
