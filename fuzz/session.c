/* Facts and questions of a session, by names, over a small model. A first line "fused" takes a
 * model with an embedding, else it has rules alone. Each other line is a command: +S|R|O add a fact
 * - take back the last one ~S|R|O take back this one ?S|R|O ask, an empty field being what is asked
 * for !S|R|O explain =S|R|O judge a fact %R look for missing facts @S|R encode <S|R|O write a fact
 * into a graph > add that graph All questions and facts that were met are asked together once more.
 * After all facts are taken back, answers are those of a session that never heard one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const char facts[] =
    "ann\tborn_in\tparis\nbob\tborn_in\trome\ncleo\tborn_in\tparis\ndan\tborn_in\tlyon\n"
    "paris\tlocated_in\tfrance\nlyon\tlocated_in\tfrance\nrome\tlocated_in\titaly\n"
    "ann\tcitizen_of\tfrance\nbob\tcitizen_of\titaly\ncleo\tcitizen_of\tfrance\n"
    "dan\tcitizen_of\tfrance\nann\tknows\tbob\nbob\tknows\tann\ncleo\tknows\tdan\n"
    "ann\tmarried_to\tdan\ndan\tmarried_to\tann\n";

enum { MODELS = 2, MOST_TOGETHER = 16, DIM = 4 };

static kith_model *models[MODELS];
static float undisturbed[MODELS];

/* ---- models ---- */

static void set(kith_settings *settings, const char *name, const char *value)
{
    require(kith_settings_set(settings, name, value, NULL) == KITH_OK, "a setting can be set");
}

static kith_settings *settings_of(int which)
{
    kith_settings *settings = NULL;

    require(kith_settings_new(&settings, which ? "release" : "rules", NULL) == KITH_OK,
            "the preset exists");
    if (which) {
        set(settings, "evidence", "fused");
        set(settings, "dim", "4");
        set(settings, "epochs", "1");
    }
    return settings;
}

static void make_models(void)
{
    kith_graph *graph = NULL;
    kith_error error = {0};
    char run[256];

    scratch_folder();
    write_file(scratch_path("facts.tsv"), facts, sizeof facts - 1);
    require(kith_graph_open(&graph, scratch_path("facts.tsv"), NULL, &error) == KITH_OK,
            error.message);
    for (int i = 0; i < MODELS; i++) {
        kith_settings *settings = settings_of(i);
        strcpy(run, scratch_path(i ? "fused" : "rules"));
        require(kith_train(NULL, run, graph, settings, &(kith_train_options){.threads = 1},
                           &error) == KITH_OK,
                error.message);
        require(kith_model_open(&models[i], run, &(kith_work_options){.threads = 1}, &error) ==
                    KITH_OK,
                error.message);
        kith_settings_free(settings);
    }
    kith_graph_free(graph);
}

/* ---- results ---- */

static void check_refusal(kith_status status, const kith_error *error)
{
    require(status == KITH_OK || error->message[0] != 0, "a refusal says why");
}

/* Known answers come where they would if they were not known, or apart. */
static int in_order(const kith_answer *a, const kith_answer *b)
{
    if (a->known || b->known)
        return 1;
    if (a->probability != b->probability && !isnan(a->probability) && !isnan(b->probability))
        return a->probability > b->probability;
    return a->score >= b->score;
}

static void check_answers(const kith_answers *answers, int sorted)
{
    for (size_t i = 0; i < answers->count; i++) {
        const kith_answer *a = answers->at[i];
        require(isfinite(a->score), "a score is finite");
        require(!sorted || i == 0 || in_order(answers->at[i - 1], a), "answers are sorted");
        require(!(a->probability < 0 || a->probability > 1), "a probability is one");
        require(!(a->probability_if_any < 0 || a->probability_if_any > 1), "a probability is one");
    }
}

static void check_verdict(const kith_verdict *v)
{
    require(isfinite(v->score), "a score is finite");
    require(v->rank >= 1 && v->rank <= v->candidates, "a rank is one");
    require(!(v->probability < 0 || v->probability > 1), "a probability is one");
}

/* ---- commands ---- */

/* What all lines of an input share. */
typedef struct {
    kith_session *session;
    kith_builder *graph;
    kith_question questions[MOST_TOGETHER], facts[MOST_TOGETHER];
    size_t question_count, fact_count;
} conversation;

static void ask(conversation *c, const kith_question *question)
{
    kith_answers *answers = NULL;
    kith_error error = {0};
    kith_status status = kith_session_ask(&answers, c->session, question, NULL, &error);

    check_refusal(status, &error);
    if (status == KITH_OK)
        check_answers(answers, 1);
    kith_answers_free(answers);
    if (c->question_count < MOST_TOGETHER)
        c->questions[c->question_count++] = *question;
}

static void explain(conversation *c, const kith_question *question)
{
    kith_explanation *explanation = NULL;
    kith_error error = {0};
    kith_status status = kith_session_explain(&explanation, c->session, question, NULL, &error);

    check_refusal(status, &error);
    if (status == KITH_OK)
        check_answers(explanation->answers, 0);
    kith_explanation_free(explanation);
}

static void judge(conversation *c, const kith_question *fact)
{
    kith_verdict *verdict = NULL;
    kith_error error = {0};
    kith_status status = kith_session_judge(&verdict, c->session, fact, &error);

    check_refusal(status, &error);
    if (status == KITH_OK)
        check_verdict(verdict);
    kith_verdict_free(verdict);
    if (c->fact_count < MOST_TOGETHER)
        c->facts[c->fact_count++] = *fact;
}

static void find_missing(conversation *c, const char *relation)
{
    kith_missing_options options;
    kith_missing *missing = NULL;
    kith_error error = {0};

    kith_missing_options_init(&options);
    options.threads = 1;
    kith_status status =
        kith_session_find_missing(&missing, c->session, relation, &options, &error);
    check_refusal(status, &error);
    for (size_t i = 0; status == KITH_OK && i < missing->count; i++)
        require(isfinite(missing->at[i]->score), "a score is finite");
    kith_missing_free(missing);
}

static void encode(conversation *c, const char *entity, const char *relation)
{
    float vector[DIM] = {0};
    kith_error error = {0};
    kith_status status = kith_session_encode(vector, c->session, entity, relation, 0, &error);

    check_refusal(status, &error);
    for (int i = 0; i < DIM; i++)
        require(isfinite(vector[i]), "a vector is finite");
}

static void say_graph(conversation *c)
{
    kith_graph *graph = NULL;
    kith_error error = {0};

    if (!c->graph)
        return;
    if (kith_builder_finish(&graph, c->graph, NULL, &error) == KITH_OK)
        check_refusal(kith_session_add_graph(c->session, graph, NULL, &error), &error);
    kith_graph_free(graph);
    kith_builder_free(c->graph);
    c->graph = NULL;
}

static void build(conversation *c, const kith_question *f)
{
    if (!c->graph)
        require(kith_builder_new(&c->graph, NULL) == KITH_OK, "a builder can be made");
    kith_builder_add(c->graph, KITH_TRAIN, f->subject, f->relation, f->object, 1, NULL);
}

static const char *field(char **rest)
{
    char *text = strsep(rest, "|");
    return text && *text ? text : NULL;
}

static void run_line(conversation *c, char *line)
{
    char command = *line, *rest = command ? line + 1 : line;
    const char *s = field(&rest), *r = field(&rest), *o = field(&rest);
    const kith_question q = {.subject = s, .relation = r, .object = o};
    kith_error error = {0};

    switch (command) {
    case '+':
        check_refusal(kith_session_add(NULL, c->session, s, r, o, &error), &error);
        break;
    case '~':
        check_refusal(kith_session_remove(c->session, s, r, o, &error), &error);
        break;
    case '-':
        kith_session_undo(c->session);
        break;
    case '?':
        ask(c, &q);
        break;
    case '!':
        explain(c, &q);
        break;
    case '=':
        judge(c, &q);
        break;
    case '%':
        find_missing(c, s);
        break;
    case '@':
        encode(c, s, r);
        break;
    case '<':
        build(c, &q);
        break;
    case '>':
        say_graph(c);
        break;
    }
}

static void ask_together(conversation *c)
{
    kith_ask_options options;
    kith_answers_batch *batch = NULL;
    kith_verdicts *verdicts = NULL;

    kith_ask_options_init(&options);
    options.threads = 2;
    if (kith_session_ask_all(&batch, c->session, c->questions, c->question_count, &options, NULL) ==
        KITH_OK)
        for (size_t i = 0; i < batch->count; i++)
            require(!batch->at[i] == !!batch->errors[i], "there are answers or an error");
    if (kith_session_judge_all(&verdicts, c->session, c->facts, c->fact_count, &options, NULL) ==
        KITH_OK)
        for (size_t i = 0; i < verdicts->count; i++)
            require(!verdicts->at[i] == !!verdicts->errors[i], "there is a verdict or an error");
    kith_answers_batch_free(batch);
    kith_verdicts_free(verdicts);
}

/* ---- one input ---- */

static float first_score(kith_session *session)
{
    kith_question question = {.subject = "ann", .relation = "citizen_of"};
    kith_answers *answers = NULL;

    require(kith_session_ask(&answers, session, &question, NULL, NULL) == KITH_OK &&
                answers->count > 0,
            "a plain question has answers");
    float score = answers->at[0]->score;
    kith_answers_free(answers);
    return score;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    conversation c = {0};
    char *text = malloc(size + 1), *rest = text;
    int which;

    if (!models[0])
        make_models();
    require(text != NULL, "there is memory for the input");
    memcpy(text, data, size);
    text[size] = 0;
    which = strncmp(text, "fused\n", 6) == 0;
    require(kith_session_new(&c.session, models[which], NULL) == KITH_OK, "a session opens");
    if (undisturbed[which] == 0)
        undisturbed[which] = first_score(c.session);
    for (char *line; (line = strsep(&rest, "\n"));)
        run_line(&c, line);
    ask_together(&c);
    kith_builder_free(c.graph);
    while (kith_session_undo(c.session) == KITH_OK)
        ;
    require(first_score(c.session) == undisturbed[which],
            "facts that were taken back leave nothing behind");
    kith_session_free(c.session);
    free(text);
    return 0;
}
