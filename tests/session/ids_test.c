/* Questions by names or ids, one or many, with an error for each: all forms of a question give the
 * same answers, verdicts and explanations. */
#include "support.h"

enum { PEOPLE = 30, CITIES = 6 };

static kith_graph *graph;
static kith_model *model;
static kith_session *session; /* with facts about `ned` and `zoe`, whom the graph lacks */

static int make_world(void **state)
{
    kith_settings *settings = NULL;
    draft train = {0};
    kith_error error;

    (void)state;
    for (int i = 0; i < CITIES; i++)
        add(&train, "city%d\tlocated_in\tcountry%d\n", i, i % 3);
    for (int i = 0; i < PEOPLE; i++) {
        add(&train, "p%d\tborn_in\tcity%d\n", i, i % CITIES);
        add(&train, "p%d\tknows\tp%d\n", i, (i * 7 + 1) % PEOPLE);
        add(&train, "p%d\tcitizen_of\tcountry%d\n", i, i % CITIES % 3);
    }
    const char *source = keep(new_folder()), *run = keep(format("%s/run", new_folder()));
    put(source, "train", train.at);
    graph = opened(source);
    draft_release(&train);
    if (kith_settings_new(&settings, "rules", &error) != KITH_OK ||
        kith_train(NULL, run, graph, settings, NULL, &error) != KITH_OK ||
        kith_model_open(&model, run, NULL, &error) != KITH_OK ||
        kith_session_new(&session, model, &error) != KITH_OK ||
        kith_session_add(NULL, session, "ned", "born_in", "city1", &error) != KITH_OK ||
        kith_session_add(NULL, session, "zoe", "knows", "ned", &error) != KITH_OK ||
        kith_session_add(NULL, session, "ned", "knows", "p3", &error) != KITH_OK)
        fail_msg("%s", error.message);
    kith_settings_free(settings);
    return 0;
}

static int free_world(void **state)
{
    (void)state;
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
    return 0;
}

/* ---- names to ids ---- */

static uint32_t entity(const char *name)
{
    uint32_t id = UINT32_MAX;

    if (name)
        assert_int_equal(kith_session_find_entity(&id, session, name), KITH_OK);
    return id;
}

static uint32_t relation(const char *name)
{
    uint32_t id = UINT32_MAX;

    if (name)
        assert_int_equal(kith_graph_find_relation(&id, kith_model_graph(model), name), KITH_OK);
    return id;
}

static kith_triple ids_of(kith_question q)
{
    return (kith_triple){entity(q.subject), relation(q.relation), entity(q.object)};
}

static void ids__of_new_entities_follow_those_of_the_graph(void **state)
{
    uint32_t known = kith_graph_entity_count(kith_model_graph(model)), id = 7;

    (void)state;
    assert_int_equal(entity("ned"), known);
    assert_int_equal(entity("zoe"), known + 1);
    assert_int_equal(kith_session_entity_count(session), known + 2);
    assert_string_equal(kith_session_entity_name(session, known + 1), "zoe");
    assert_null(kith_session_entity_name(session, known + 2));
    assert_int_equal(kith_graph_find_entity(&id, kith_model_graph(model), "p3"), KITH_OK);
    assert_int_equal(entity("p3"), id);
    assert_int_equal(kith_session_find_entity(&id, session, "nobody"), KITH_ERR_NOT_FOUND);
    assert_int_equal(kith_session_find_entity(&id, session, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_find_entity(NULL, session, "ned"), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_find_entity(&id, NULL, "ned"), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_entity_count(NULL), 0);
}

/* ---- every form gives the same ---- */

/* Those of the last two rows have errors: too much and too little is given. */
static const kith_question questions[] = {
    {"ned", "citizen_of", NULL}, {NULL, "knows", "ned"},  {"p1", "citizen_of", NULL},
    {"ned", NULL, NULL},         {NULL, NULL, "ned"},     {"ned", NULL, "country1"},
    {"p1", NULL, "city1"},       {"zoe", "knows", NULL},  {"zoe", NULL, "ned"},
    {"ned", "citizen_of", "country1"}, {NULL, "knows", NULL},
};
static const kith_question checked[] = {
    {"ned", "citizen_of", "country1"}, {"ned", "born_in", "city1"}, {"p1", "knows", "p8"},
    {"p2", "knows", "ned"},            {"zoe", "knows", "ned"},     {"ned", "knows", NULL},
};
enum {
    QUESTIONS = sizeof questions / sizeof *questions,
    FACTS = sizeof checked / sizeof *checked
};

static void same_answers(const kith_answers *a, const kith_answers *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->subject_asked, b->subject_asked);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->at[i]->entity, b->at[i]->entity);
        assert_int_equal(a->at[i]->relation, b->at[i]->relation);
        assert_true(a->at[i]->score == b->at[i]->score);
    }
}

static void same_error(const kith_error *a, const kith_error *b)
{
    assert_int_equal(a->status, b->status);
    assert_string_equal(a->message, b->message);
}

static void ask__gives_the_same_by_names_or_ids_one_or_many(void **state)
{
    const kith_ask_options options = {.threads = 2};
    kith_triple ids[QUESTIONS];
    kith_answers_batch *named, *by_id;

    (void)state;
    for (int i = 0; i < QUESTIONS; i++)
        ids[i] = ids_of(questions[i]);
    assert_int_equal(kith_session_ask_all(&named, session, questions, QUESTIONS, &options, NULL),
                     KITH_OK);
    assert_int_equal(kith_session_ask_all_ids(&by_id, session, ids, QUESTIONS, &options, NULL),
                     KITH_OK);
    assert_int_equal(named->failed, 2);
    assert_int_equal(by_id->failed, 2);
    for (int i = 0; i < QUESTIONS; i++) {
        kith_answers *one = NULL, *one_by_id = NULL;
        kith_error error = {0}, error_by_id = {0};
        bool good = i < QUESTIONS - 2;
        assert_int_equal(kith_session_ask(&one, session, &questions[i], NULL, &error),
                         good ? KITH_OK : KITH_ERR_ARGUMENT);
        assert_int_equal(kith_session_ask_ids(&one_by_id, session, ids[i], NULL, &error_by_id),
                         good ? KITH_OK : KITH_ERR_ARGUMENT);
        if (good) {
            same_answers(one, one_by_id);
            same_answers(one, named->at[i]);
            same_answers(one, by_id->at[i]);
        } else {
            assert_true(!one && !one_by_id && !named->at[i] && !by_id->at[i]);
            same_error(&error, &error_by_id);
            same_error(&error, named->errors[i]);
            same_error(&error, by_id->errors[i]);
        }
        kith_answers_free(one);
        kith_answers_free(one_by_id);
    }
    kith_answers_batch_free(named);
    kith_answers_batch_free(by_id);
}

static void same_verdict(const kith_verdict *a, const kith_verdict *b)
{
    assert_int_equal(a->known, b->known);
    assert_int_equal(a->subject_asked, b->subject_asked);
    assert_int_equal(a->rank, b->rank);
    assert_true(a->score == b->score && a->probability == b->probability);
}

static void judge__gives_the_same_by_names_or_ids_one_or_many(void **state)
{
    const kith_ask_options options = {.threads = 2};
    kith_triple ids[FACTS];
    kith_verdicts *named, *by_id;

    (void)state;
    for (int i = 0; i < FACTS; i++)
        ids[i] = ids_of(checked[i]);
    assert_int_equal(kith_session_judge_all(&named, session, checked, FACTS, &options, NULL),
                     KITH_OK);
    assert_int_equal(kith_session_judge_all_ids(&by_id, session, ids, FACTS, &options, NULL),
                     KITH_OK);
    assert_int_equal(named->failed, 1);
    assert_int_equal(by_id->failed, 1);
    for (int i = 0; i < FACTS; i++) {
        kith_verdict *one = NULL, *one_by_id = NULL;
        kith_error error = {0}, error_by_id = {0};
        bool good = i < FACTS - 1;
        assert_int_equal(kith_session_judge(&one, session, &checked[i], &error),
                         good ? KITH_OK : KITH_ERR_ARGUMENT);
        assert_int_equal(kith_session_judge_ids(&one_by_id, session, ids[i], &error_by_id),
                         good ? KITH_OK : KITH_ERR_ARGUMENT);
        if (good) {
            same_verdict(one, one_by_id);
            same_verdict(one, named->at[i]);
            same_verdict(one, by_id->at[i]);
        } else {
            assert_true(!one && !one_by_id && !named->at[i] && !by_id->at[i]);
            same_error(&error, &error_by_id);
            same_error(&error, named->errors[i]);
            same_error(&error, by_id->errors[i]);
        }
        kith_verdict_free(one);
        kith_verdict_free(one_by_id);
    }
    kith_verdicts_free(named);
    kith_verdicts_free(by_id);
}

static void same_explanation(const kith_explanation *a, const kith_explanation *b)
{
    same_answers(a->answers, b->answers);
    assert_int_equal(a->relation, b->relation);
    assert_int_equal(a->neighbor_count, b->neighbor_count);
    assert_int_equal(a->contribution_count, b->contribution_count);
    for (size_t i = 0; i < a->contribution_count; i++) {
        assert_true(a->contributions[i]->score == b->contributions[i]->score);
        assert_true(a->contributions[i]->rules == b->contributions[i]->rules);
        assert_int_equal(a->contributions[i]->reason_count, b->contributions[i]->reason_count);
    }
    assert_int_equal(a->ablation_count, b->ablation_count);
    for (size_t i = 0; i < a->ablation_count; i++) {
        assert_int_equal(a->ablations[i]->best, b->ablations[i]->best);
        assert_int_equal(a->ablations[i]->neighbor, b->ablations[i]->neighbor);
    }
}

static void explain__gives_the_same_by_names_or_ids_one_or_many(void **state)
{
    const kith_ask_options options = {.threads = 2, .candidates = KITH_ANSWERS_SEEN};
    kith_triple ids[QUESTIONS];
    kith_explanations *named, *by_id;

    (void)state;
    for (int i = 0; i < QUESTIONS; i++)
        ids[i] = ids_of(questions[i]);
    assert_int_equal(
        kith_session_explain_all(&named, session, questions, QUESTIONS, &options, NULL), KITH_OK);
    assert_int_equal(kith_session_explain_all_ids(&by_id, session, ids, QUESTIONS, &options, NULL),
                     KITH_OK);
    assert_int_equal(named->count, QUESTIONS);
    for (int i = 0; i < QUESTIONS; i++) {
        kith_explanation *one = NULL, *one_by_id = NULL;
        kith_error error = {0}, error_by_id = {0};
        kith_status status =
            kith_session_explain(&one, session, &questions[i], &options, &error);
        assert_int_equal(kith_session_explain_ids(&one_by_id, session, ids[i], &options,
                                                  &error_by_id), status);
        if (status == KITH_OK) {
            same_explanation(one, one_by_id);
            same_explanation(one, named->at[i]);
            same_explanation(one, by_id->at[i]);
        } else {
            assert_true(!one && !one_by_id && !named->at[i] && !by_id->at[i]);
            same_error(&error, &error_by_id);
            same_error(&error, named->errors[i]);
            same_error(&error, by_id->errors[i]);
        }
        kith_explanation_free(one);
        kith_explanation_free(one_by_id);
    }
    /* zoe knows ned, who is not a seen candidate; one question says too little */
    assert_int_equal(named->failed, 2);
    assert_int_equal(by_id->failed, 2);
    assert_non_null(named->at[QUESTIONS - 2]); /* facts can be explained too */
    kith_explanations_free(named);
    kith_explanations_free(by_id);
}

/* ---- failures ---- */

static void failures__of_ids_that_do_not_exist_say_which(void **state)
{
    uint32_t gone = kith_session_entity_count(session);
    const kith_triple wrong[] = {{gone, 0, UINT32_MAX}, {0, 1000, UINT32_MAX}, {0, 0, gone}};
    kith_explanation *explanation = NULL;
    kith_explanations *explanations = NULL;
    kith_answers *answers = NULL;
    kith_verdict *verdict = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_ask_ids(&answers, session, wrong[0], NULL, &error),
                     KITH_ERR_NOT_FOUND);
    assert_contains(error.message, keep(format("%u", gone)));
    assert_int_equal(kith_session_explain_ids(&explanation, session, wrong[1], NULL, &error),
                     KITH_ERR_NOT_FOUND);
    assert_contains(error.message, "1000");
    assert_int_equal(kith_session_judge_ids(&verdict, session, wrong[2], &error),
                     KITH_ERR_NOT_FOUND);
    assert_contains(error.message, keep(format("%u", gone)));
    assert_true(!answers && !explanation && !verdict);
    assert_int_equal(kith_session_explain_all_ids(&explanations, session, wrong, 3, NULL, NULL),
                     KITH_OK);
    assert_int_equal(explanations->failed, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(explanations->errors[i]->status, KITH_ERR_NOT_FOUND);
    kith_explanations_free(explanations);
}

static void failures__of_missing_arguments_and_wrong_options(void **state)
{
    const kith_ask_options wrong = {.candidates = (kith_candidate_set)99};
    const kith_triple ids = {0, 0, UINT32_MAX};
    kith_explanation *one = NULL;
    kith_explanations *all = NULL;
    kith_verdict *verdict = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_explain_ids(NULL, session, ids, NULL, &error),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_explain_ids(&one, NULL, ids, NULL, &error), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_explain_ids(&one, session, ids, &wrong, &error),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_judge_ids(&verdict, NULL, ids, &error), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_explain_all(&all, session, NULL, 1, NULL, &error),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_explain_all_ids(&all, session, NULL, 1, NULL, &error),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_explain_all(&all, session, questions, (size_t)1 << 32, NULL,
                                              &error), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_explain_all(&all, session, questions, 2, &wrong, &error),
                     KITH_ERR_ARGUMENT);
    assert_true(!one && !all && !verdict);
    assert_int_equal(kith_session_explain_all(&all, session, NULL, 0, NULL, &error), KITH_OK);
    assert_true(all->count == 0 && all->failed == 0);
    kith_explanations_free(all);
    kith_explanations_free(NULL);
}

static int stop(void *context, const kith_stage *stage)
{
    (void)context;
    return strcmp(stage->name, "explaining") == 0;
}

static void failures__of_a_stop_leave_nothing(void **state)
{
    const kith_ask_options options = {.watch = stop};
    kith_explanations *all = NULL;

    (void)state;
    assert_int_equal(kith_session_explain_all(&all, session, questions, 3, &options, NULL),
                     KITH_ERR_STOPPED);
    assert_null(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids__of_new_entities_follow_those_of_the_graph),
        cmocka_unit_test(ask__gives_the_same_by_names_or_ids_one_or_many),
        cmocka_unit_test(judge__gives_the_same_by_names_or_ids_one_or_many),
        cmocka_unit_test(explain__gives_the_same_by_names_or_ids_one_or_many),
        cmocka_unit_test(failures__of_ids_that_do_not_exist_say_which),
        cmocka_unit_test(failures__of_missing_arguments_and_wrong_options),
        cmocka_unit_test(failures__of_a_stop_leave_nothing),
    };

    return cmocka_run_group_tests(tests, make_world, free_world);
}
