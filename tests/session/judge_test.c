/* Verdicts on facts without which little or nothing is known about an entity. */
#include <math.h>

#include "support.h"

static kith_model *model;

static int train_films(void **state)
{
    const char *root = getenv("KITH_ROOT"), *folder = keep(format("%s/run", new_folder()));
    size_t length;
    char *films = contents(format("%s/examples/films.tsv", root ? root : ".."), &length);
    kith_settings *settings = NULL;
    kith_train_end end;
    kith_error error;

    (void)state;
    const char *path = file("films.tsv", films);
    FILE *out = fopen(path, "a");
    assert_non_null(out);
    fputs("Eu\tlocated in\tFrance\nCayeux\tlocated in\tFrance\n", out);
    fclose(out);
    free(films);
    kith_graph *graph = opened(path);
    assert_int_equal(kith_settings_new(&settings, "rules", &error), KITH_OK);
    if (kith_train(&end, folder, graph, settings, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    kith_settings_free(settings);
    kith_graph_free(graph);
    model = opened_model(folder);
    return 0;
}

static int free_films(void **state)
{
    (void)state;
    kith_model_free(model);
    return 0;
}

static kith_verdict *judged(kith_session *session, kith_question fact)
{
    kith_verdict *verdict = NULL;
    kith_error error;

    if (kith_session_judge(&verdict, session, &fact, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return verdict;
}

/* If it is hidden, nothing else is known of its subject. */
static void judge__the_only_fact_of_a_subject_is_judged_from_its_object(void **state)
{
    const kith_graph *graph = kith_model_graph(model);
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    kith_session *session = NULL;
    size_t only = 0, others = 0;

    (void)state;
    assert_int_equal(kith_session_new(&session, model, NULL), KITH_OK);
    for (size_t i = 0; i < train.count; i++) {
        kith_triple t = train.at[i];
        uint64_t of_subject = hood.offset[t.subject + 1] - hood.offset[t.subject];
        uint64_t of_object = hood.offset[t.object + 1] - hood.offset[t.object];
        if (of_object < 2)
            continue;
        const kith_question fact = {kith_graph_entity_name(graph, t.subject),
                                    kith_graph_relation_name(graph, t.relation),
                                    kith_graph_entity_name(graph, t.object)};
        kith_verdict *v = judged(session, fact);
        assert_int_equal(v->subject_asked, of_subject == 1);
        assert_false(v->alone);
        assert_true(v->probability >= 0 && v->probability <= 1);
        only += of_subject == 1;
        others += of_subject > 1;
        kith_verdict_free(v);
    }
    assert_true(only == 2 && others > 100);
    kith_session_free(session);
}

static void judge__what_nothing_else_is_known_about_has_no_probability(void **state)
{
    kith_session *session = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_new(&session, model, &error), KITH_OK);
    assert_int_equal(kith_session_add(NULL, session, "Ann", "born in", "Paris", &error), KITH_OK);
    kith_verdict *v = judged(session, (kith_question){"Ann", "born in", "Paris"});
    assert_true(v->known && v->alone);
    assert_true(isnan(v->probability) && isnan(v->has) && isnan(v->probability_if_any));
    assert_int_equal(v->likely, -1);
    kith_verdict_free(v);
    v = judged(session, (kith_question){"Ann", "citizen of", "France"});
    assert_false(v->alone);
    assert_true(v->probability > .5);
    kith_verdict_free(v);
    kith_session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judge__the_only_fact_of_a_subject_is_judged_from_its_object),
        cmocka_unit_test(judge__what_nothing_else_is_known_about_has_no_probability),
    };
    return cmocka_run_group_tests(tests, train_films, free_films);
}
