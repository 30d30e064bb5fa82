/* Models of rules alone, and models opened on other graphs. */
#include <math.h>

#include "support.h"
#include "sessions.h"

static float model_score(const kith_model *model, kith_triple fact)
{
    float score = NAN;
    kith_error error;

    if (kith_model_score(&score, model, fact, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return score;
}

static float answer_score(kith_session *session, const char *s, const char *r, const char *o,
                          uint32_t answer)
{
    kith_answers *answers = asked(session, s, r, o);
    float score = NAN;

    for (size_t i = 0; i < answers->count; i++)
        if (answers->at[i]->entity == answer)
            score = answers->at[i]->score;
    kith_answers_free(answers);
    return score;
}

static void rules_alone__have_scores_but_no_vectors(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    float vector[8];
    kith_tables *tables;
    kith_error error;

    (void)state;
    set(&s, "evidence", "rules");
    kith_model *model = trained_model(graph, &s);
    kith_session *session = session_of(model);
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    for (size_t i = 0; i < train.count; i++) {
        kith_triple t = train.at[i];
        const char *r = kith_graph_relation_name(graph, t.relation);
        float as_object = answer_score(session, name_of(graph, t.subject), r, NULL, t.object);
        float as_subject = answer_score(session, NULL, r, name_of(graph, t.object), t.subject);
        float found = model_score(model, t);
        assert_true(found == (as_object + as_subject) / 2 && found != 0);
    }
    assert_int_equal(kith_model_encode(vector, model, 0, 0, 0, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "rules alone");
    assert_int_equal(kith_session_encode(vector, session, "ann", "plays for", 0, &error),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_model_tables(&tables, model, &error), KITH_OK);
    assert_int_equal(tables->count, 0);
    kith_tables_free(tables);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Facts of families, some hidden; `other` in another order, with more that nothing is known
 * about. */
static kith_graph *families(bool other)
{
    static const char *const relations[] = {"parent", "child", "sibling"};
    const char *folder = new_folder();
    draft train = {0}, test = {0};

    for (int k = 0; k < 60; k++) {
        int i = other ? 59 - k : k, r = i % 3;
        for (int f = 0; f < 20; f++) {
            const char *a = format("f%d.%d", f, i % 5), *b = format("f%d.%d", f, (i * 7 + 2) % 5);
            if (strcmp(a, b) == 0)
                continue;
            draft *to = (i + f) % 11 == 0 && i > 20 ? &test : &train;
            add(to, "%s\t%s\t%s\n", a, relations[r], b);
        }
        if (other)
            add(&train, "f%d.0\tlikes\tf2.0\n", k % 20);
    }
    put(folder, "train.txt", train.at);
    put(folder, "test.txt", test.at);
    draft_release(&train);
    draft_release(&test);
    return opened(folder);
}

static const char *trained_folder(const kith_graph *graph, const char *evidence)
{
    const char *folder = new_run();
    kith_settings s = settings_with("lan");
    kith_train_end end;
    kith_error error;

    set(&s, "evidence", evidence);
    s.epochs = 1;
    if (kith_train(&end, folder, graph, &s, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return folder;
}

static kith_model *opened_on(const char *folder, const kith_graph *graph)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_open_on(&model, folder, graph, &(kith_work_options){.threads = 2}, &error) !=
        KITH_OK)
        fail_msg("%s", error.message);
    return model;
}

static kith_eval *evaluated(const kith_model *model, unsigned without)
{
    const kith_eval_options options = {
        .split = KITH_TEST, .without = without, .candidates = KITH_ANSWERS_ALL};
    kith_eval *e;
    kith_error error;

    if (kith_evaluate(&e, model, &options, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return e;
}

static bool same_fact(const kith_graph *a, kith_triple x, const kith_graph *b, kith_triple y)
{
    return strcmp(name_of(a, x.subject), name_of(b, y.subject)) == 0 &&
           strcmp(name_of(a, x.object), name_of(b, y.object)) == 0 &&
           strcmp(kith_graph_relation_name(a, x.relation),
                  kith_graph_relation_name(b, y.relation)) == 0;
}

/* Every query of one is found in the other, with the same rank. */
static void same_ranks(const kith_model *a, const kith_eval *x, const kith_model *b,
                       const kith_eval *y)
{
    assert_true(x->realistic->queries > 50);
    assert_int_equal(x->realistic->queries, y->realistic->queries);
    for (size_t i = 0; i < x->realistic->queries; i++) {
        size_t k = 0;
        while (k < y->realistic->queries &&
               (x->ranks[i]->subject_hidden != y->ranks[k]->subject_hidden ||
                !same_fact(kith_model_graph(a), x->ranks[i]->fact, kith_model_graph(b),
                           y->ranks[k]->fact)))
            k++;
        assert_true(k < y->realistic->queries);
        assert_int_equal(x->ranks[i]->candidates, y->ranks[k]->candidates);
        assert_true(x->ranks[i]->realistic == y->ranks[k]->realistic);
    }
}

/* On the facts that it was trained on a run ranks as ever, but for the embedding; the order of
 * facts and what has another relation do not matter. */
static void on__the_same_facts_in_another_graph_give_the_same_ranks(void **state)
{
    static const char *const evidence[] = {"rules", "fused"};

    (void)state;
    for (int k = 0; k < 2; k++) {
        kith_graph *graph = families(false), *other = families(true);
        const char *folder = trained_folder(graph, evidence[k]);
        kith_model *here = NULL, *there = opened_on(folder, other);
        kith_error error;
        kith_graph_free(other);
        assert_int_equal(kith_model_open(&here, folder, &(kith_work_options){.threads = 2}, &error),
                         KITH_OK);
        kith_eval *x = evaluated(here, k ? KITH_PART_EMBEDDING : 0), *y = evaluated(there, 0);
        same_ranks(here, x, there, y);
        assert_contains(warning_of(there, 0), "was not trained on 1 of the graph's relations");
        assert_contains(warning_of(there, 0), "are ignored: 20");
        assert_null(warning_of(there, 1));
        kith_eval_free(x);
        kith_eval_free(y);
        kith_model_free(here);
        kith_model_free(there);
        kith_graph_free(graph);
    }
}

/* Strangers, of whom training knew nobody, are asked about and told about. */
static void on__a_graph_of_strangers_can_be_asked_about(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");

    (void)state;
    s.epochs = 1;
    set(&s, "evidence", "fused");
    const char *folder = trained_folder(graph, "fused");
    kith_graph *other = opened(file("other.tsv", "dan\tplays for\tjazz\ndan\tlives in\tutah\n"
                                                 "eve\tplays for\tjazz\nbob\tlives in\tutah\n"
                                                 "jazz\tbased in\tutah\n"));
    kith_model *model = opened_on(folder, other);
    kith_session *session = session_of(model);
    const kith_graph *now = kith_model_graph(model);
    kith_answers *answers = asked(session, "eve", "lives in", NULL);
    assert_int_equal(answers->count, kith_graph_entity_count(other) - 1); /* not eve herself */
    assert_string_equal(name_of(now, answers->at[0]->entity), "utah");
    kith_answers_free(answers);
    say(session, "new", "plays for", "jazz");
    kith_explanation *e = explained_query(session, "new", "lives in", NULL);
    assert_string_equal(name_of(now, e->answers->at[0]->entity), "utah");
    assert_true(e->contributions[0]->embedding == 0 && e->contributions[0]->reason_count > 0);
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(other);
    kith_graph_free(graph);
}

static void on__what_cannot_be_opened_says_why(void **state)
{
    kith_graph *graph = teams(), *other = opened(file("x.tsv", "a\tr\tb\n"));
    const char *rules = trained_folder(graph, "rules");
    kith_model *model = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(
        kith_model_open_on(&model, rules, other, &(kith_work_options){.threads = 1}, &error),
        KITH_ERR_INPUT);
    assert_contains(error.message, "relation");
    assert_int_equal(
        kith_model_open_on(&model, new_folder(), graph, &(kith_work_options){.threads = 1}, &error),
        KITH_ERR_INPUT);
    assert_contains(error.message, "not a run");
    assert_null(model);
    kith_graph_free(graph);
    kith_graph_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_alone__have_scores_but_no_vectors),
        cmocka_unit_test(on__the_same_facts_in_another_graph_give_the_same_ranks),
        cmocka_unit_test(on__a_graph_of_strangers_can_be_asked_about),
        cmocka_unit_test(on__what_cannot_be_opened_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
