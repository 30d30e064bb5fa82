/* An embedding without rules, opened on a graph whose entities training has not seen. */
#include <math.h>

#include "support.h"
#include "tables.h"

enum { PEOPLE = 80, COMPANIES = 16 };

/* Whom people work for is who pays them. Test lacks it for every fifth person, if `hides`. */
static kith_graph *payroll(const char *prefix, bool hides)
{
    const char *folder = new_folder();
    draft train = {0}, test = {0};

    for (int p = 0; p < PEOPLE; p++)
        for (int k = 0; k < 2; k++) {
            int company = (p * 7 + k * (p % 5 + 1)) % COMPANIES;
            add(&train, "%sp%d\tworks for\t%sc%d\n", prefix, p, prefix, company);
            add(hides && p % 5 == 0 ? &test : &train, "%sp%d\tpaid by\t%sc%d\n", prefix, p, prefix,
                company);
        }
    put(folder, "train.txt", train.at);
    if (hides)
        put(folder, "test.txt", test.at);
    draft_release(&train);
    draft_release(&test);
    return opened(folder);
}

static const char *trained(const kith_graph *graph, const char *preset, const char *aggregator,
                           unsigned epochs)
{
    const char *folder = keep(format("%s/run", new_folder()));
    kith_settings *s = NULL;
    kith_train_end end;
    kith_error error;

    assert_int_equal(kith_settings_new(&s, preset, &error), KITH_OK);
    set(s, "evidence", "none");
    set(s, "aggregator", aggregator);
    set(s, "dim", "16");
    set(s, "batch", "64");
    set(s, "lr", "0.01");
    s->epochs = epochs;
    if (kith_train(&end, folder, graph, s, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    kith_settings_free(s);
    return folder;
}

static kith_model *opened_on(const char *folder, const kith_graph *graph, unsigned threads)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_open_on(&model, folder, graph, &(kith_work_options){.threads = threads},
                           &error) != KITH_OK)
        fail_msg("%s", error.message);
    return model;
}

static kith_eval *evaluated(const kith_model *model)
{
    const kith_eval_options options = {.split = KITH_TEST};
    kith_eval *e;
    kith_error error;

    if (kith_evaluate(&e, model, &options, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return e;
}

/* A random order of the companies would have a mean rank of 48. */
static void check_that_it_transfers(const char *preset, const char *aggregator, double most)
{
    kith_graph *graph = payroll("", false), *other = payroll("other ", true);
    kith_model *model = opened_on(trained(graph, preset, aggregator, 60), other, 2);
    kith_eval *e = evaluated(model);

    assert_int_equal(e->realistic->queries, 2 * 2 * PEOPLE / 5);
    if (!(e->realistic->mr < most))
        fail_msg("%s %s: mean rank %g, expected less than %g", preset, aggregator,
                 e->realistic->mr, most);
    kith_eval_free(e);
    kith_model_free(model);
    kith_graph_free(other);
    kith_graph_free(graph);
}

static void on__an_embedding_recognises_the_patterns_of_another_graph(void **state)
{
    (void)state;
    check_that_it_transfers("release", "lan", 20);
    check_that_it_transfers("kith", "table", 20);
}

/* The scores of the facts of test. */
static size_t scores_of(float *scores, size_t most, const kith_model *model)
{
    kith_facts test = kith_graph_facts(kith_model_graph(model), KITH_TEST);
    kith_error error;

    assert_true(test.count <= most);
    for (size_t i = 0; i < test.count; i++)
        assert_int_equal(kith_model_score(&scores[i], model, test.at[i], &error), KITH_OK);
    return test.count;
}

static void on__every_aggregator_gives_finite_scores_that_differ(void **state)
{
    kith_graph *graph = payroll("", false), *other = payroll("other ", true);
    float scores[PEOPLE];

    (void)state;
    for (size_t a = 0; a < AGGREGATORS; a++) {
        kith_model *model = opened_on(trained(graph, "release", aggregators[a], 1), other, 1);
        size_t count = scores_of(scores, PEOPLE, model), different = 0;
        for (size_t i = 0; i < count; i++) {
            assert_true(isfinite(scores[i]));
            different += scores[i] != scores[0];
        }
        assert_true(different > count / 2);
        kith_model_free(model);
    }
    kith_graph_free(other);
    kith_graph_free(graph);
}

static void on__an_embedding_scores_the_same_at_any_number_of_threads(void **state)
{
    kith_graph *graph = payroll("", false), *other = payroll("other ", true);
    const char *run = trained(graph, "release", "lan", 1);
    kith_model *one = opened_on(run, other, 1), *three = opened_on(run, other, 3);
    float x[PEOPLE], y[PEOPLE];
    size_t count = scores_of(x, PEOPLE, one);

    (void)state;
    assert_int_equal(scores_of(y, PEOPLE, three), count);
    assert_memory_equal(x, y, count * sizeof *x);
    kith_model_free(one);
    kith_model_free(three);
    kith_graph_free(other);
    kith_graph_free(graph);
}

/* A name that both graphs have is no reason to know the entity. */
static void on__names_that_training_knows_keep_no_vector(void **state)
{
    kith_graph *graph = payroll("", false), *renamed = payroll("", true);
    const char *run = trained(graph, "release", "lan", 1);
    kith_model *here = opened_model(run), *there = opened_on(run, renamed, 1);
    float before[64], after[64];
    kith_error error;
    uint32_t x, y;

    (void)state;
    assert_int_equal(kith_graph_find_entity(&x, graph, "p0"), KITH_OK);
    assert_int_equal(kith_graph_find_entity(&y, kith_model_graph(there), "p0"), KITH_OK);
    assert_int_equal(kith_model_encode(before, here, x, 0, 0, &error), KITH_OK);
    assert_int_equal(kith_model_encode(after, there, y, 0, 0, &error), KITH_OK);
    assert_memory_not_equal(before, after, 16 * sizeof *before);
    kith_model_free(here);
    kith_model_free(there);
    kith_graph_free(renamed);
    kith_graph_free(graph);
}

static void on__an_embedding_answers_about_added_facts_without_probabilities(void **state)
{
    kith_graph *graph = payroll("", false), *other = payroll("other ", true);
    kith_model *model = opened_on(trained(graph, "release", "lan", 60), other, 1);
    kith_session *session = NULL;
    kith_answers *answers = NULL;
    const kith_question question = {.subject = "new", .relation = "paid by"};
    kith_error error;

    (void)state;
    assert_contains(warning_of(model, 0), "is an embedding alone");
    assert_int_equal(kith_session_new(&session, model, &error), KITH_OK);
    assert_int_equal(
        kith_session_add(NULL, session, "new", "works for", "other c3", &error), KITH_OK);
    assert_int_equal(kith_session_ask(&answers, session, &question, NULL, &error), KITH_OK);
    assert_true(answers->count > 0);
    assert_true(isfinite(answers->at[0]->score));
    assert_true(isnan(answers->at[0]->probability));
    kith_answers_free(answers);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(other);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on__an_embedding_recognises_the_patterns_of_another_graph),
        cmocka_unit_test(on__every_aggregator_gives_finite_scores_that_differ),
        cmocka_unit_test(on__an_embedding_scores_the_same_at_any_number_of_threads),
        cmocka_unit_test(on__names_that_training_knows_keep_no_vector),
        cmocka_unit_test(on__an_embedding_answers_about_added_facts_without_probabilities),
    };
    return cmocka_run_group_tests_name("embedding on another graph", tests, NULL, NULL);
}
