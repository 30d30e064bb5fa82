#include <stdlib.h>

#include "cli/answers.h"

/* One question gives one object; several give a list, written as it comes. */
static int print_one_json(const asking *a, const kith_question *q, const kith_answers *answers)
{
    return print_json(json_pack("{so so so}", "query", question_json(q), "answers",
                                answers_json(answers, q, kith_model_graph(a->model)), "ignored",
                                ignored_json(a->session)));
}

/* One result of many on a line of its own. */
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
        status = put_compact(json_pack("{so so}", "query", question_json(&q->at[i]), "answers",
                                       answers_json(&answers[i], &q->at[i],
                                                    kith_model_graph(a->model))));
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
    if (a->json)
        status = q->count == 1 ? print_one_json(a, q->at, answers) : print_all_json(a, q, answers);
    else
        status = print_all(a, q, answers);
    for (size_t i = 0; i < q->count; i++)
        kith_answers_release(&answers[i]);
    free(answers);
    return status;
}

static int run(const command *self, int argc, char **argv)
{
    return ask_and(answer, self, argc, argv);
}

const command cmd_predict = {
    .name = "predict",
    .summary = "say what is likely true of a new entity",
    .usage = "RUN --query 'NAME RELATION ?' [--fact 'NAME RELATION OTHER']... [--facts FILE]",
    .help =
        "Answers questions about an entity from a few facts about it, at once and without "
        "training\n"
        "anew. The entity may be new or one of the graph; answers are entities that training has\n"
        "seen, best first.\n\n"
        "  --fact 'S R O'     a fact: subject, relation and object, parted by tabs (or \\t), or "
        "by\n"
        "                     single blanks where no name has one; may be given many times\n"
        "  --facts FILE       facts from a source of any layout that kith reads, - for standard\n"
        "                     input; about as many new entities as one likes\n"
        "  --query 'S R ?'    a question, ? on either side; may be given many times. 'S ? ?' asks\n"
        "                     for the likeliest relations with their entities, * as a name stands\n"
        "                     for every new entity\n"
        "  --top K            how many answers (default: 10)\n"
        "  --new-only         leave out answers that are known\n"
        "  --relations N|all  how many relations 'S ? ?' looks at, those that the entity's own\n"
        "                     imply most first (default: 64)\n"
        "  --threads N        use N threads (default: one per core)\n"
        "  --json             print one JSON object\n"
        "  -h, --help         print this help\n\n"
        "Facts with a relation or a neighbour that training has not seen are named and ignored.\n\n"
        "examples:\n"
        "  kith predict lan --fact 'dee plays_for Bulls' --query 'dee lives_in ?'\n"
        "  kith predict lan --facts new.tsv --query '* lives_in ?' --top 3 --json\n"
        "  kith predict lan --query '? lives_in Chicago' --new-only\n",
    .run = run,
};
