/* Facts and questions of a session, by names, over a small model of rules. Each line is a command:
 *   +S|R|O   add a fact        -   take back the last one
 *   ?S|R|O   ask, an empty field being what is asked for
 *   !S|R|O   explain           =   as ?, for all lines of questions at once
 * After all of them are taken back, answers are those of a session that never heard a fact. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const char facts[] =
    "ann\tborn_in\tparis\nbob\tborn_in\trome\ncleo\tborn_in\tparis\ndan\tborn_in\tlyon\n"
    "paris\tlocated_in\tfrance\nlyon\tlocated_in\tfrance\nrome\tlocated_in\titaly\n"
    "ann\tcitizen_of\tfrance\nbob\tcitizen_of\titaly\ncleo\tcitizen_of\tfrance\n"
    "dan\tcitizen_of\tfrance\nann\tknows\tbob\nbob\tknows\tann\ncleo\tknows\tdan\n"
    "ann\tmarried_to\tdan\ndan\tmarried_to\tann\n";

static kith_model *model;

static void make_model(void)
{
    kith_graph *graph = NULL;
    kith_settings *settings;
    kith_error error = {0};
    kith_train_end end;
    char run[256];

    scratch_folder();
    write_file(scratch_path("facts.tsv"), facts, sizeof facts - 1);
    require(kith_graph_open(&graph, scratch_path("facts.tsv"), NULL, &error) == KITH_OK,
            "the facts open");
    require(kith_settings_new(&settings, "rules", &error) == KITH_OK, "the preset exists");
    strcpy(run, scratch_path("run"));
    require(kith_train(&end, run, graph, settings, &(kith_train_options){.threads = 1}, &error) ==
                KITH_OK,
            "rules are mined");
    require(kith_model_open(&model, run, 1, &error) == KITH_OK, "the run opens");
    kith_settings_free(settings);
    kith_graph_free(graph);
}

static const char *field(char **rest)
{
    char *text = strsep(rest, "|");
    return text && *text ? text : NULL;
}

static void check_answers(const kith_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++) {
        require(answers->at[i]->score == answers->at[i]->score, "a score is a number");
        require(i == 0 || answers->at[i - 1]->score >= answers->at[i]->score, "answers are sorted");
        require(!(answers->at[i]->probability < 0 || answers->at[i]->probability > 1),
                "a probability is one");
    }
}

static void run_line(kith_session *session, char *line)
{
    char command = *line, *rest = command ? line + 1 : line;
    kith_error error = {0};

    if (command == '-') {
        kith_session_undo(session);
        return;
    }
    const char *s = field(&rest), *r = field(&rest), *o = field(&rest);
    kith_question question = {.subject = s, .relation = r, .object = o};
    kith_answers *answers = NULL;
    kith_explanation *explanation = NULL;
    switch (command) {
    case '+':
        if (s && r && o)
            kith_session_add(NULL, session, s, r, o, &error);
        break;
    case '?':
        if (kith_session_ask(&answers, session, &question, NULL, &error) == KITH_OK)
            check_answers(answers);
        else
            require(error.message[0] != 0, "a refusal says why");
        kith_answers_free(answers);
        break;
    case '!':
        if (kith_session_explain(&explanation, session, &question, NULL, &error) == KITH_OK)
            check_answers(explanation->answers);
        else
            require(error.message[0] != 0, "a refusal says why");
        kith_explanation_free(explanation);
        break;
    }
}

static float first_score(kith_session *session)
{
    kith_question question = {.subject = "ann", .relation = "citizen_of"};
    kith_answers *answers = NULL;
    float score;

    require(kith_session_ask(&answers, session, &question, NULL, NULL) == KITH_OK &&
                answers->count > 0,
            "a plain question has answers");
    score = answers->at[0]->score;
    kith_answers_free(answers);
    return score;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static float undisturbed;
    kith_session *session = NULL;
    char *text = malloc(size + 1), *rest = text;

    if (!model)
        make_model();
    require(text && kith_session_new(&session, model, NULL) == KITH_OK, "a session opens");
    if (undisturbed == 0)
        undisturbed = first_score(session);
    memcpy(text, data, size);
    text[size] = 0;
    for (char *line; (line = strsep(&rest, "\n"));)
        run_line(session, line);
    while (kith_session_undo(session) == KITH_OK)
        ;
    require(first_score(session) == undisturbed, "facts that were taken back leave nothing behind");
    kith_session_free(session);
    free(text);
    return 0;
}
