/* Facts about new entities: used or refused with the reason, and taken back. */
#include "session/answer.h"
#include "support.h"
#include "sessions.h"

static void facts__each_is_used_or_named_with_the_reason(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);

    (void)state;
    assert_int_equal(say(session, "dee", "plays for", "bulls"), KITH_FACT_USED);
    assert_int_equal(say(session, "dee", "plays for", "bulls"), KITH_FACT_REPEATED);
    assert_int_equal(say(session, "ann", "plays for", "bulls"), KITH_FACT_REPEATED);
    assert_int_equal(say(session, "dee", "dances with", "ann"), KITH_FACT_NO_RELATION);
    assert_int_equal(say(session, "dee", "lives in", "paris"), KITH_FACT_NO_NEIGHBOR);
    assert_int_equal(say(session, "dee", "lives in", "dee"), KITH_FACT_NO_NEIGHBOR);
    assert_int_equal(kith_session_fact_count(session), 6);
    assert_string_equal(kith_session_fact_at(session, 3).relation, "dances with");
    assert_int_equal(kith_session_fact_at(session, 3).use, KITH_FACT_NO_RELATION);
    assert_string_equal(kith_session_fact_at(session, 4).object, "paris");
    assert_null(kith_session_fact_at(session, 6).subject);
    assert_int_equal(kith_session_newcomer_count(session), 2);
    assert_string_equal(kith_session_newcomer_at(session, 0).name, "dee");
    assert_int_equal(kith_session_newcomer_at(session, 0).facts, 1);
    assert_string_equal(kith_session_newcomer_at(session, 1).name, "paris");
    assert_int_equal(kith_session_newcomer_at(session, 1).facts, 0);
    assert_null(kith_session_newcomer_at(session, 2).name);
    for (int use = 0; use < KITH_FACT_USES; use++)
        assert_true(strlen(kith_fact_use_text((kith_fact_use)use)) > 5);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void facts__an_empty_name_or_one_that_is_not_utf8_is_refused(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("mean");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_add(NULL, session, "", "plays for", "bulls", &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "the subject of a fact is empty");
    assert_int_equal(kith_session_add(NULL, session, "dee", "plays for", "b\xff", &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "object 'b\\xff' is not UTF-8");
    assert_int_equal(kith_session_fact_count(session), 0);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Facts in any order, taken back in the reverse one: answers come back step by step. */
static void facts__undo_takes_back_one_after_the_other(void **state)
{
    static const char *const said[][3] = {{"dee", "plays for", "bulls"},
                                          {"dee", "likes", "ann"},
                                          {"ann", "lives in", "ann"},
                                          {"ann", "lives in", "dee"},
                                          {"bulls", "based in", "lakers"},
                                          {"dee", "lives in", "chicago"},
                                          {"dee", "plays for", "bulls"}};
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    kith_answers *dee[7], *ann[7];

    (void)state;
    for (size_t i = 0; i < 7; i++) {
        say(session, said[i][0], said[i][1], said[i][2]);
        dee[i] = asked(session, "dee", "based in", NULL);
        ann[i] = asked(session, NULL, "lives in", "ann");
    }
    for (size_t i = 7; i-- > 0;) {
        kith_answers *now = asked(session, "dee", "based in", NULL);
        same_answers(now, dee[i]);
        kith_answers_free(now);
        now = asked(session, NULL, "lives in", "ann");
        same_answers(now, ann[i]);
        kith_answers_free(now);
        kith_answers_free(dee[i]);
        kith_answers_free(ann[i]);
        assert_int_equal(kith_session_undo(session), KITH_OK);
    }
    assert_int_equal(kith_session_undo(session), KITH_ERR_NOT_FOUND);
    assert_int_equal(kith_session_fact_count(session), 0);
    refused_question(session, (kith_question){"dee", "lives in", NULL}, KITH_ERR_NOT_FOUND, "'dee'",
                     "nothing is known");
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* A set from which things are taken, against a plain list. */
static void facts__a_set_forgets_what_is_removed_and_nothing_else(void **state)
{
    kith__triple_set set_of;
    bool there[512] = {false};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 1, 1);
    assert_int_equal(kith__triple_set_init(&set_of, 4), 0);
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)kith__rng_below(&rng, 512);
        kith_triple t = {i % 8, i / 8 % 8, i / 64};
        if (kith__rng_below(&rng, 2)) {
            assert_int_equal(kith__triple_set_add(&set_of, t), there[i] ? 0 : 1);
            there[i] = true;
        } else {
            kith__triple_set_remove(&set_of, t);
            there[i] = false;
        }
        uint32_t k = (uint32_t)kith__rng_below(&rng, 512);
        assert_int_equal(kith__triple_set_has(&set_of, (kith_triple){k % 8, k / 8 % 8, k / 64}),
                         there[k]);
    }
    kith__triple_set_release(&set_of);
}

static void facts__a_graph_can_be_said_as_a_whole(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *one = session_of(model), *other = session_of(model);
    kith_graph *plain = opened(file("news.tsv", "dee\tplays for\tbulls\neve\tlives in\tchicago\n"
                                                "eve\tdances with\tann\n"));

    (void)state;
    assert_int_equal(kith_session_add_graph(one, plain, NULL, NULL), KITH_OK);
    assert_int_equal(kith_session_fact_count(one), 3);
    say(other, "dee", "plays for", "bulls");
    say(other, "eve", "lives in", "chicago");
    kith_answers *a = asked(one, "dee", "lives in", NULL),
                 *b = asked(other, "dee", "lives in", NULL);
    same_answers(a, b);
    kith_answers_free(a);
    kith_answers_free(b);
    kith_graph_free(plain);
    kith_session_free(one);
    kith_session_free(other);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void facts__a_million_about_one_entity_are_cut_as_training_cuts(void **state)
{
    enum { ENTITIES = 1000, RELATIONS = 1000 };
    draft text = {0};
    kith_settings s = settings_with("lan");

    (void)state;
    for (int i = 0; i < ENTITIES; i++)
        add(&text, "e%d\tr%d\te%d\n", i, i % RELATIONS, (i + 1) % ENTITIES);
    kith_graph *graph = opened(file("ring.tsv", text.at));
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    for (int i = 0; i < 1000000; i++)
        say(session, "new", format("r%d", i % RELATIONS), format("e%d", i / RELATIONS));
    assert_int_equal(kith_session_newcomer_at(session, 0).facts, 1000000);
    kith_answers *answers = asked(session, "new", "r3", NULL);
    assert_int_equal(answers->count, ENTITIES);
    assert_true(answers->at[0]->known && answers->at[ENTITIES - 1]->known);
    kith_answers_free(answers);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
    draft_release(&text);
}

static void facts__names_of_ten_thousand_bytes_work(void **state)
{
    char *long_name = malloc(10001);
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);

    (void)state;
    memset(long_name, 'x', 10000);
    long_name[10000] = '\0';
    refused_question(session, (kith_question){long_name, "lives in", NULL}, KITH_ERR_NOT_FOUND,
                     "xxx...'", "nothing is known");
    refused_question(session, (kith_question){"ann", long_name, NULL}, KITH_ERR_NOT_FOUND,
                     "xxx...'", "relation");
    assert_int_equal(say(session, long_name, "plays for", "bulls"), KITH_FACT_USED);
    assert_int_equal(say(session, long_name, long_name, "bulls"), KITH_FACT_NO_RELATION);
    kith_answers *answers = asked(session, long_name, "lives in", NULL);
    assert_true(answers->count > 0);
    kith_answers_free(answers);
    assert_string_equal(kith_session_newcomer_at(session, 0).name, long_name);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
    free(long_name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts__each_is_used_or_named_with_the_reason),
        cmocka_unit_test(facts__an_empty_name_or_one_that_is_not_utf8_is_refused),
        cmocka_unit_test(facts__undo_takes_back_one_after_the_other),
        cmocka_unit_test(facts__a_set_forgets_what_is_removed_and_nothing_else),
        cmocka_unit_test(facts__a_graph_can_be_said_as_a_whole),
        cmocka_unit_test(facts__a_million_about_one_entity_are_cut_as_training_cuts),
        cmocka_unit_test(facts__names_of_ten_thousand_bytes_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
