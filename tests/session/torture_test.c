/* Every allocation of a session's calls, of opening a run and of evaluating it fails once: the call
 * says so or gives what it would have given, and works when it is called again. */
#include <math.h>
#include <unistd.h>

#include "core/mem.h"
#include "support.h"
#include "tables.h"

/* ---- models ---- */

enum { RUNS = 3 };

static const char *runs[RUNS]; /* an embedding, rules alone, both; dev of the last two has labels */
static kith_graph *graph, *said;

static kith_settings *settings_of(const char *preset, const char *evidence)
{
    kith_settings *s = NULL;

    assert_int_equal(kith_settings_new(&s, preset, NULL), KITH_OK);
    assert_int_equal(kith_settings_set(s, "evidence", evidence, NULL), KITH_OK);
    if (strcmp(evidence, "rules") != 0) {
        assert_int_equal(kith_settings_set(s, "dim", "4", NULL), KITH_OK);
        assert_int_equal(kith_settings_set(s, "epochs", "1", NULL), KITH_OK);
        assert_int_equal(kith_settings_set(s, "batch", "32", NULL), KITH_OK);
    }
    return s;
}

static const char *source(bool labels)
{
    const char *folder = new_folder();

    put(folder, "train",
        "ann\tborn_in\tparis\nbob\tborn_in\trome\ncleo\tborn_in\tparis\ndan\tborn_in\tlyon\n"
        "paris\tlocated_in\tfrance\nlyon\tlocated_in\tfrance\nrome\tlocated_in\titaly\n"
        "ann\tcitizen_of\tfrance\nbob\tcitizen_of\titaly\ncleo\tcitizen_of\tfrance\n"
        "dan\tcitizen_of\tfrance\nann\tknows\tbob\nbob\tknows\tann\ncleo\tknows\tdan\n");
    put(folder, "dev", labels ? "ann\tknows\tdan\t1\nann\tknows\trome\t0\n"
                              : "ann\tknows\tdan\ncleo\tknows\tbob\n");
    put(folder, "test", "eve\tcitizen_of\tfrance\n");
    put(folder, "aux", "eve\tborn_in\tlyon\n");
    return folder;
}

static int make_runs(void **state)
{
    static const char *const evidence[RUNS] = {"none", "rules", "fused"};

    (void)state;
    for (int i = 0; i < RUNS; i++) {
        kith_graph *g = opened(source(i > 0));
        kith_settings *s = settings_of(i == 1 ? "rules" : "release", evidence[i]);
        runs[i] = new_run();
        assert_int_equal(
            kith_train(NULL, runs[i], g, s, &(kith_train_options){.threads = 1}, NULL), KITH_OK);
        kith_settings_free(s);
        kith_graph_free(g);
    }
    graph = opened(source(false));
    said = opened(file("said", "gus\tborn_in\trome\ngus\tknows\thal\nann\tknows\tgus\n"));
    return 0;
}

static int free_graphs(void **state)
{
    (void)state;
    kith_graph_free(graph);
    kith_graph_free(said);
    return 0;
}

/* ---- results as text ---- */

static void show_answers(draft *t, const kith_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++) {
        const kith_answer *a = answers->at[i];
        add(t, "%u %u %.9g %.9g %.9g %d\n", a->relation, a->entity, (double)a->score,
            a->probability, a->probability_if_any, a->known);
    }
}

static void show_verdict(draft *t, const kith_verdict *v)
{
    add(t, "%d %.9g %.9g %zu of %zu\n", v->known, v->probability, (double)v->score, v->rank,
        v->candidates);
}

static void show_facts(draft *t, const kith_session *s)
{
    for (size_t i = 0; i < kith_session_fact_count(s); i++) {
        kith_session_fact f = kith_session_fact_at(s, i);
        add(t, "%s %s %s %d\n", f.subject, f.relation, f.object, f.use);
    }
    for (size_t i = 0; i < kith_session_newcomer_count(s); i++)
        add(t, "%s %zu\n", kith_session_newcomer_at(s, i).name,
            kith_session_newcomer_at(s, i).facts);
}

/* ---- calls ---- */

static const kith_question questions[] = {
    {"fay", "citizen_of", NULL}, {NULL, "citizen_of", "france"}, {"fay", NULL, NULL},
    {"ann", NULL, "bob"},        {"eve", "citizen_of", NULL},
};
static const kith_question facts_asked[] = {{"fay", "citizen_of", "france"},
                                            {"ann", "knows", "bob"}};
enum {
    QUESTIONS = sizeof questions / sizeof *questions,
    FACTS = sizeof facts_asked / sizeof *facts_asked
};

typedef kith_status (*session_call)(draft *out, kith_session *s, kith_error *error);

static kith_status call_ask(draft *out, kith_session *s, kith_error *error)
{
    kith_status status = KITH_OK;

    for (size_t i = 0; i < QUESTIONS && status == KITH_OK; i++) {
        kith_answers *answers = NULL;
        status = kith_session_ask(&answers, s, &questions[i], NULL, error);
        if (status == KITH_OK)
            show_answers(out, answers);
        kith_answers_free(answers);
    }
    return status;
}

static kith_status call_ask_ids(draft *out, kith_session *s, kith_error *error)
{
    kith_answers *answers = NULL;
    kith_status status =
        kith_session_ask_ids(&answers, s, (kith_triple){0, 0, UINT32_MAX}, NULL, error);

    if (status == KITH_OK)
        show_answers(out, answers);
    kith_answers_free(answers);
    return status;
}

static kith_ask_options on_one_thread(void)
{
    kith_ask_options options;

    kith_ask_options_init(&options);
    options.threads = 1;
    return options;
}

static kith_status call_ask_all(draft *out, kith_session *s, kith_error *error)
{
    const kith_ask_options options = on_one_thread();
    kith_answers_batch *batch = NULL;
    kith_status status = kith_session_ask_all(&batch, s, questions, QUESTIONS, &options, error);

    for (size_t i = 0; status == KITH_OK && i < QUESTIONS; i++)
        if (batch->errors[i]) {
            status = batch->errors[i]->status;
            *error = *batch->errors[i];
        } else {
            show_answers(out, batch->at[i]);
        }
    kith_answers_batch_free(batch);
    return status;
}

static kith_status call_judge(draft *out, kith_session *s, kith_error *error)
{
    kith_status status = KITH_OK;

    for (size_t i = 0; i < FACTS && status == KITH_OK; i++) {
        kith_verdict *verdict = NULL;
        status = kith_session_judge(&verdict, s, &facts_asked[i], error);
        if (status == KITH_OK)
            show_verdict(out, verdict);
        kith_verdict_free(verdict);
    }
    return status;
}

static kith_status call_judge_all(draft *out, kith_session *s, kith_error *error)
{
    const kith_ask_options options = on_one_thread();
    kith_verdicts *verdicts = NULL;
    kith_status status = kith_session_judge_all(&verdicts, s, facts_asked, FACTS, &options, error);

    for (size_t i = 0; status == KITH_OK && i < FACTS; i++)
        if (verdicts->errors[i]) {
            status = verdicts->errors[i]->status;
            *error = *verdicts->errors[i];
        } else {
            show_verdict(out, verdicts->at[i]);
        }
    kith_verdicts_free(verdicts);
    return status;
}

static kith_status call_find_missing(draft *out, kith_session *s, kith_error *error)
{
    kith_missing_options options;
    kith_missing *missing = NULL;

    kith_missing_options_init(&options);
    options.threads = 1;
    options.queries = 6;
    kith_status status = kith_session_find_missing(&missing, s, "citizen_of", &options, error);
    for (size_t i = 0; status == KITH_OK && i < missing->count; i++)
        add(out, "%u %u %u %.9g\n", missing->at[i]->fact.subject, missing->at[i]->fact.relation,
            missing->at[i]->fact.object, (double)missing->at[i]->score);
    kith_missing_free(missing);
    return status;
}

static void show_explanation(draft *out, const kith_explanation *e)
{
    show_answers(out, e->answers);
    for (size_t i = 0; i < e->neighbor_count; i++)
        add(out, "%u %u %.9g\n", e->neighbors[i]->relation, e->neighbors[i]->entity,
            e->neighbors[i]->weight);
    for (size_t i = 0; i < e->contribution_count; i++)
        add(out, "%.9g %.9g %zu %zu\n", e->contributions[i]->score, e->contributions[i]->embedding,
            e->contributions[i]->reason_count, e->contributions[i]->path_count);
    add(out, "%zu\n", e->ablation_count);
}

static kith_status explain(draft *out, kith_session *s, const kith_question *question,
                           kith_error *error)
{
    kith_explanation *explanation = NULL;
    kith_status status = kith_session_explain(&explanation, s, question, NULL, error);

    if (status == KITH_OK)
        show_explanation(out, explanation);
    kith_explanation_free(explanation);
    return status;
}

static kith_status call_explain_all_ids(draft *out, kith_session *s, kith_error *error)
{
    const kith_triple ids[] = {{kith_session_entity_count(s) - 1, 0, UINT32_MAX}, {0, 0, 1}};
    const kith_ask_options options = on_one_thread();
    kith_explanations *all = NULL;
    kith_status status = kith_session_explain_all_ids(&all, s, ids, 2, &options, error);

    for (size_t i = 0; status == KITH_OK && i < 2; i++)
        if (all->errors[i]) {
            status = all->errors[i]->status;
            *error = *all->errors[i];
        } else {
            show_explanation(out, all->at[i]);
        }
    kith_explanations_free(all);
    return status;
}

static kith_status call_explain(draft *out, kith_session *s, kith_error *error)
{
    return explain(out, s, &questions[0], error);
}

static kith_status call_explain_fact(draft *out, kith_session *s, kith_error *error)
{
    return explain(out, s, &facts_asked[0], error);
}

/* What a call that changes the session leaves; where it fails, nothing may have changed. */
static kith_status changed(draft *out, kith_session *s, kith_status status, const char *before)
{
    draft now = {0};

    show_facts(&now, s);
    if (status != KITH_OK)
        assert_string_equal(now.at, before);
    else
        add(out, "%s", now.at);
    draft_release(&now);
    return status;
}

static char *facts_of(const kith_session *s)
{
    draft now = {0};

    show_facts(&now, s);
    return now.at;
}

static kith_status call_add(draft *out, kith_session *s, kith_error *error)
{
    char *before = facts_of(s);
    kith_status status =
        changed(out, s, kith_session_add(NULL, s, "ian", "knows", "ann", error), before);

    free(before);
    return status == KITH_OK ? call_ask(out, s, error) : status;
}

static kith_status call_add_graph(draft *out, kith_session *s, kith_error *error)
{
    char *before = facts_of(s);
    kith_status status = changed(out, s, kith_session_add_graph(s, said, NULL, error), before);

    free(before);
    return status == KITH_OK ? call_ask(out, s, error) : status;
}

static kith_status call_undo(draft *out, kith_session *s, kith_error *error)
{
    char *before = facts_of(s);
    kith_status status = changed(out, s, kith_session_undo(s), before);

    free(before);
    if (status != KITH_OK && error)
        snprintf(error->message, sizeof error->message, "out of memory");
    return status;
}

static kith_status call_remove(draft *out, kith_session *s, kith_error *error)
{
    char *before = facts_of(s);
    kith_status status =
        changed(out, s, kith_session_remove(s, "fay", "born_in", "paris", error), before);

    free(before);
    return status;
}

static kith_status call_encode(draft *out, kith_session *s, kith_error *error)
{
    float vector[8] = {0};
    kith_status status = kith_session_encode(vector, s, "fay", "citizen_of", 0, error);

    for (int i = 0; i < 8 && status == KITH_OK; i++)
        add(out, "%.9g\n", (double)vector[i]);
    return status;
}

static const struct {
    const char *name;
    session_call call;
    bool embedding; /* needs one */
    bool changes;   /* the session: it is not called again after success */
} calls[] = {
    {"ask", call_ask, false, false},
    {"ask_ids", call_ask_ids, false, false},
    {"ask_all", call_ask_all, false, false},
    {"judge", call_judge, false, false},
    {"judge_all", call_judge_all, false, false},
    {"find_missing", call_find_missing, false, false},
    {"explain", call_explain, false, false},
    {"explain a fact", call_explain_fact, false, false},
    {"explain_all_ids", call_explain_all_ids, false, false},
    {"add", call_add, false, true},
    {"add_graph", call_add_graph, false, true},
    {"undo", call_undo, false, true},
    {"remove", call_remove, false, true},
    {"encode", call_encode, true, false},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* ---- one call, over and over ---- */

typedef kith_model *(*model_maker)(const void *how);

static kith_model *open_model(const void *how)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_open(&model, how, &(kith_work_options){.threads = 1}, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return model;
}

static kith_model *new_model(const void *how)
{
    kith_model *model = NULL;

    assert_int_equal(kith_model_new(&model, graph, how, &(kith_work_options){.threads = 1}, NULL),
                     KITH_OK);
    return model;
}

static kith_session *session_on(kith_model *model)
{
    kith_session *session = NULL;

    assert_int_equal(kith_session_new(&session, model, NULL), KITH_OK);
    assert_int_equal(kith_session_add(NULL, session, "fay", "born_in", "paris", NULL), KITH_OK);
    assert_int_equal(kith_session_add(NULL, session, "fay", "knows", "bob", NULL), KITH_OK);
    return session;
}

/* The call with its n-th allocation failing, none for 0; whether that allocation came. */
static bool try_call(model_maker make, const void *how, size_t which, size_t n,
                     const char *expected, char **found)
{
    kith_model *model = make(how);
    kith_session *session = session_on(model);
    kith_error error = {KITH_OK, ""};
    draft first = {0}, again = {0};

    kith__mem_fail_at(n);
    kith_status status = calls[which].call(&first, session, &error);
    bool failed = n > 0 && kith__mem_failed();
    kith__mem_fail_at(0);
    if (status != KITH_OK && (status != KITH_ERR_MEMORY || !failed))
        fail_msg("%s, allocation %zu: found status %d (%s)", calls[which].name, n, status,
                 error.message);
    if (status == KITH_OK && expected && strcmp(first.at, expected) != 0)
        fail_msg("%s, allocation %zu: found success and\n%s, expected\n%s", calls[which].name, n,
                 first.at, expected);
    if (status != KITH_OK && !calls[which].changes) {
        assert_int_equal(calls[which].call(&again, session, &error), KITH_OK);
        if (strcmp(again.at, expected) != 0)
            fail_msg("%s again after allocation %zu failed: found\n%s, expected\n%s",
                     calls[which].name, n, again.at, expected);
    }
    if (found)
        *found = strdup(first.at);
    draft_release(&first);
    draft_release(&again);
    kith_session_free(session);
    kith_model_free(model);
    return failed;
}

static void torture_call(model_maker make, const void *how, size_t which)
{
    char *expected = NULL;

    try_call(make, how, which, 0, NULL, &expected);
    assert_true(strlen(expected) > 0);
    for (size_t n = 1; try_call(make, how, which, n, expected, NULL); n++)
        assert_true(n < 100000);
    free(expected);
}

static size_t find_call(const char *name)
{
    for (size_t i = 0; i < CALLS; i++)
        if (strcmp(calls[i].name, name) == 0)
            return i;
    fail_msg("there is no call '%s'", name);
    return 0;
}

static void torture__every_session_call_with_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < CALLS; i++)
        if (!calls[i].embedding)
            torture_call(open_model, runs[1], i);
}

static void torture__every_session_call_with_rules_and_embedding(void **state)
{
    (void)state;
    for (size_t i = 0; i < CALLS; i++)
        torture_call(open_model, runs[2], i);
}

static void torture__session_calls_of_every_aggregator_and_decoder(void **state)
{
    static const char *const names[] = {"ask", "encode", "explain"};

    (void)state;
    for (size_t i = 0; i < AGGREGATORS || i < DECODERS; i++) {
        kith_settings *s = settings_of("release", "none");
        assert_int_equal(kith_settings_set(s, "aggregator", aggregators[i % AGGREGATORS], NULL),
                         KITH_OK);
        assert_int_equal(kith_settings_set(s, "decoder", decoders[i % DECODERS], NULL), KITH_OK);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            torture_call(new_model, s, find_call(names[k]));
        kith_settings_free(s);
    }
}

/* ---- runs ---- */

static void show_model(draft *out, kith_model *model)
{
    kith_session *session = session_on(model);
    kith_error error;

    assert_int_equal(call_ask(out, session, &error), KITH_OK);
    kith_session_free(session);
}

/* Open a run, with its cache or without. */
static bool try_open_run(const char *run, bool cached, size_t n, draft *expected)
{
    kith_model *model = NULL;
    kith_error error = {KITH_OK, ""};
    draft found = {0};

    if (!cached)
        unlink(format("%s/cache.bin", run));
    kith__mem_fail_at(n);
    kith_status status = kith_model_open(&model, run, &(kith_work_options){.threads = 1}, &error);
    bool failed = n > 0 && kith__mem_failed();
    kith__mem_fail_at(0);
    if (status != KITH_OK) {
        if (status != KITH_ERR_MEMORY || !failed)
            fail_msg("allocation %zu: found status %d (%s)", n, status, error.message);
        assert_null(model);
        return failed;
    }
    show_model(n == 0 ? expected : &found, model);
    if (n > 0)
        assert_string_equal(found.at, expected->at);
    draft_release(&found);
    kith_model_free(model);
    return failed;
}

static void torture__open_runs(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++)
        for (int cached = 0; cached < 2; cached++) {
            draft expected = {0};
            try_open_run(runs[i], cached, 0, &expected);
            for (size_t n = 1; try_open_run(runs[i], cached, n, &expected); n++)
                assert_true(n < 100000);
            draft_release(&expected);
        }
}

static bool try_evaluate(const char *run, kith_split split, size_t n, kith_eval **expected)
{
    kith_model *model = open_model(run);
    kith_eval_options options;
    kith_eval *found = NULL;
    kith_error error = {KITH_OK, ""};

    kith_eval_options_init(&options);
    options.split = split;
    kith__mem_fail_at(n);
    kith_status status = kith_evaluate(&found, model, &options, &error);
    bool failed = n > 0 && kith__mem_failed();
    kith__mem_fail_at(0);
    kith_model_free(model);
    if (n == 0) {
        assert_int_equal(status, KITH_OK);
        *expected = found;
        return failed;
    }
    if (status != KITH_OK && (status != KITH_ERR_MEMORY || !failed))
        fail_msg("allocation %zu: found status %d (%s)", n, status, error.message);
    if (status == KITH_OK) {
        assert_true(found->realistic->mrr == (*expected)->realistic->mrr);
        assert_true(found->accuracy == (*expected)->accuracy);
        kith_eval_free(found);
    }
    return failed;
}

static void torture__evaluate_runs(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++)
        for (int split = KITH_DEV; split <= KITH_TEST; split++) {
            kith_eval *expected = NULL;
            try_evaluate(runs[i], (kith_split)split, 0, &expected);
            for (size_t n = 1; try_evaluate(runs[i], (kith_split)split, n, &expected); n++)
                assert_true(n < 100000);
            kith_eval_free(expected);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torture__every_session_call_with_rules),
        cmocka_unit_test(torture__every_session_call_with_rules_and_embedding),
        cmocka_unit_test(torture__session_calls_of_every_aggregator_and_decoder),
        cmocka_unit_test(torture__open_runs),
        cmocka_unit_test(torture__evaluate_runs),
    };
    return cmocka_run_group_tests(tests, make_runs, free_graphs);
}
