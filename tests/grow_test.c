/* A session's facts extend the graph: newcomers support each other, are answers, and can be taken
 * back. */
#include <math.h>
#include <time.h>

#include "core/mem.h"
#include "session/answer.h"
#include "support.h"
#include "tables.h"

typedef const char *const said_fact[3];

/* People, where they were born, where that is, and whose citizens they are; and films. */
static kith_graph *films(void)
{
    draft t = {0};

    for (int i = 0; i < 40; i++)
        add(&t, "city%d\tlocated_in\tcountry%d\n", i, i % 5);
    for (int i = 0; i < 120; i++)
        add(&t, "person%d\tborn_in\tcity%d\nperson%d\tcitizen_of\tcountry%d\n"
                "film%d\tdirected_by\tperson%d\nfilm%d\tmade_in\tcountry%d\n",
            i, i % 40, i, i % 5, i, i, i, i % 5);
    kith_graph *graph = opened(file("films.tsv", t.at));
    draft_release(&t);
    return graph;
}

static kith_model *trained_with(const kith_graph *graph, const char *evidence,
                                const char *aggregator)
{
    const char *folder = keep(format("%s/run", new_folder()));
    kith_settings *s = NULL;
    kith_train_end end;
    kith_model *model = NULL;
    kith_error error;

    if (kith_settings_new(&s, "kith", &error) != KITH_OK ||
        kith_settings_set(s, "evidence", evidence, &error) != KITH_OK ||
        kith_settings_set(s, "aggregator", aggregator, &error) != KITH_OK ||
        kith_settings_set(s, "dim", "8", &error) != KITH_OK ||
        kith_settings_set(s, "epochs", "1", &error) != KITH_OK ||
        kith_train(&end, folder, graph, s, NULL, &error) != KITH_OK ||
        kith_model_open(&model, folder, &(kith_work_options){.threads = 2}, &error) != KITH_OK)
        fail_msg("%s", error.message);
    kith_settings_free(s);
    return model;
}

static kith_model *trained(const kith_graph *graph, const char *evidence)
{
    return trained_with(graph, evidence, "table");
}

static kith_session *session_with(kith_model *model, said_fact *facts, size_t count)
{
    kith_session *session = NULL;
    kith_error error;

    if (kith_session_new(&session, model, &error) != KITH_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++)
        if (kith_session_add(NULL, session, facts[i][0], facts[i][1], facts[i][2], &error) !=
            KITH_OK)
            fail_msg("%s", error.message);
    return session;
}

/* Some people come later, with facts among themselves and with others. */
static const char *grown_films(bool with_aux)
{
    const char *folder = new_folder();
    draft train = {0}, aux = {0}, test = {0};

    for (int i = 0; i < 40; i++)
        add(i % 8 ? &train : &aux, "city%d\tlocated_in\tcountry%d\n", i, i % 5);
    for (int i = 0; i < 120; i++) {
        bool late = i % 8 == 0 || i % 7 == 0;
        add(late ? &aux : &train, "person%d\tborn_in\tcity%d\nfilm%d\tdirected_by\tperson%d\n", i,
            i % 40, i, i);
        add(late ? &test : &train, "person%d\tcitizen_of\tcountry%d\n", i, i % 5);
        add(&train, "film%d\tmade_in\tcountry%d\n", i, i % 5);
    }
    add(&aux, "city8\tlocated_in\tcountry8\nperson8\tborn_in\tcity8\n"); /* one of them twice */
    for (int i = 0; i < 9; i++) /* known by unseen neighbours alone */
        add(&aux, "guest%d\tborn_in\tcity%d\nguest%d\tborn_in\tcity%d\n", i, i % 5 * 8, i,
            (i + 2) % 5 * 8);
    put(folder, "train", train.at);
    put(folder, "test", test.at);
    if (with_aux)
        put(folder, "aux", aux.at);
    else
        put(folder, "later.txt", aux.at);
    draft_release(&train);
    draft_release(&aux);
    draft_release(&test);
    return folder;
}

static kith_answers *ask(kith_session *session, kith_question q, kith_candidate_set set)
{
    const kith_ask_options options = {.top = SIZE_MAX, .candidates = set};
    kith_answers *answers;
    kith_error error;

    if (kith_session_ask(&answers, session, &q, &options, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return answers;
}

static const char *name_in(const kith_graph *graph, uint32_t entity)
{
    return kith_graph_entity_name(graph, entity);
}

/* Whether a question of one relation has the answer in test. */
static bool in_test(const kith_graph *graph, kith_question q, uint32_t answer)
{
    kith_facts test = kith_graph_facts(graph, KITH_TEST);

    for (size_t i = 0; i < test.count; i++) {
        kith_triple t = test.at[i];
        if (q.subject ? strcmp(name_in(graph, t.subject), q.subject) == 0 && t.object == answer
                      : strcmp(name_in(graph, t.object), q.object) == 0 && t.subject == answer)
            return true;
    }
    return false;
}

static const char *name_at(const kith_session *session, const kith_answers *answers, size_t i)
{
    return kith_session_entity_name(session, answers->at[i]->entity);
}

/* Where a name stands among the answers; SIZE_MAX where it does not. */
static size_t place_of(const kith_session *session, const kith_answers *answers, const char *name)
{
    for (size_t i = 0; i < answers->count; i++)
        if (strcmp(name_at(session, answers, i), name) == 0)
            return i;
    return SIZE_MAX;
}

static said_fact lyon[] = {{"Besson", "born_in", "Lyon"},
                           {"Lyon", "located_in", "country3"},
                           {"Nikita", "directed_by", "Besson"}};

static void grow__facts_between_newcomers_are_used(void **state)
{
    static const char *const evidence[] = {"rules", "fused"};
    kith_graph *graph = films();

    (void)state;
    for (int k = 0; k < 2; k++) {
        kith_model *model = trained(graph, evidence[k]);
        kith_session *session = session_with(model, lyon, 3);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(kith_session_fact_at(session, i).use, KITH_FACT_USED);
        kith_answers *a =
            ask(session, (kith_question){"Besson", "citizen_of", NULL}, KITH_ANSWERS_ALL);
        assert_string_equal(name_at(session, a, 0), "country3");
        kith_answers_free(a);
        a = ask(session, (kith_question){"Besson", "born_in", NULL}, KITH_ANSWERS_ALL);
        size_t place = place_of(session, a, "Lyon");
        assert_true(place != SIZE_MAX);
        assert_true(a->at[place]->known);
        kith_answers_free(a);
        kith_session_free(session);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

static void grow__the_order_of_adding_does_not_matter(void **state)
{
    kith_graph *graph = films();
    kith_model *model = trained(graph, "rules");
    said_fact reversed[] = {{"Nikita", "directed_by", "Besson"},
                            {"Lyon", "located_in", "country3"},
                            {"Besson", "born_in", "Lyon"}};
    kith_session *one = session_with(model, lyon, 3), *other = session_with(model, reversed, 3);
    const kith_question q = {"Nikita", "made_in", NULL};

    (void)state;
    kith_answers *a = ask(one, q, KITH_ANSWERS_ALL), *b = ask(other, q, KITH_ANSWERS_ALL);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        size_t place = place_of(other, b, name_at(one, a, i));
        assert_true(place != SIZE_MAX);
        assert_true(fabsf(a->at[i]->score - b->at[place]->score) <= 1e-4f);
    }
    kith_answers_free(a);
    kith_answers_free(b);
    kith_session_free(one);
    kith_session_free(other);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Which entities are listed, and the seen ones in the order and with the scores they have alone. */
static void grow__candidates_are_chosen_and_seen_ones_keep_their_scores(void **state)
{
    static const char *const evidence[] = {"rules", "fused"};
    kith_graph *graph = films();

    (void)state;
    for (int k = 0; k < 2; k++) {
        kith_model *model = trained(graph, evidence[k]);
        kith_session *session = session_with(model, lyon, 3);
        const kith_question q = {"person7", "born_in", NULL};
        uint32_t known = kith_graph_entity_count(graph);
        kith_answers *all = ask(session, q, KITH_ANSWERS_ALL);
        kith_answers *seen = ask(session, q, KITH_ANSWERS_SEEN);
        kith_answers *new = ask(session, q, KITH_ANSWERS_NEW);
        size_t s = 0, n = 0;
        assert_int_equal(seen->count, known - 1); /* not person7 */
        assert_int_equal(new->count, 3);
        for (size_t i = 0; i < all->count; i++) {
            const kith_answers *from = all->at[i]->entity < known ? seen : new;
            size_t *at = from == seen ? &s : &n;
            assert_int_equal(all->at[i]->entity, from->at[*at]->entity);
            assert_true(all->at[i]->score == from->at[*at]->score);
            if (from == new) /* a fact is as likely whatever else is listed */
                assert_true(all->at[i]->probability == new->at[*at]->probability);
            ++*at;
        }
        assert_int_equal(s + n, seen->count + new->count);
        assert_string_equal(name_at(session, new, 0), "Lyon"); /* the only city among them */
        kith_answers_free(all);
        kith_answers_free(seen);
        kith_answers_free(new);
        kith_session_free(session);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* Support facts of the graph count as those that a session adds: whoever comes later is the same to
 * rules either way, but for how relations hint at types, which is not counted over added facts. */
static void grow__support_facts_are_as_added_ones(void **state)
{
    static const kith_question questions[] = {{"person8", "citizen_of", NULL},
                                              {"person9", "citizen_of", NULL},
                                              {"film16", "made_in", NULL},
                                              {NULL, "born_in", "city8"},
                                              {NULL, "located_in", "country3"}};
    static const char *const evidence[] = {"rules", "fused"};
    const char *without = grown_films(false), *later = keep(format("%s/later.txt", without));
    kith_graph *one = opened(grown_films(true)), *other = opened(without), *added = opened(later);
    size_t unseen = 0;
    kith_error error;

    (void)state;
    for (int k = 0; k < 2; k++) {
        kith_model *a = trained(one, evidence[k]), *b = trained(other, evidence[k]);
        kith_session *graph = session_with(a, NULL, 0), *session = session_with(b, NULL, 0);
        assert_int_equal(kith_session_add_graph(session, added, NULL, &error), KITH_OK);
        for (int q = 0; q < 5; q++) {
            kith_answers *x = ask(graph, questions[q], KITH_ANSWERS_ALL);
            kith_answers *y = ask(session, questions[q], KITH_ANSWERS_ALL);
            assert_int_equal(x->count, y->count);
            for (size_t i = 0; i < x->count; i++) {
                size_t place = place_of(session, y, name_at(graph, x, i));
                assert_true(place != SIZE_MAX);
                if (!(fabsf(x->at[i]->score - y->at[place]->score) <= .05f))
                    fail_msg("%s question %d: %s: %g by the graph, %g by the session", evidence[k],
                             q, name_at(graph, x, i), x->at[i]->score, y->at[place]->score);
                assert_int_equal(x->at[i]->known, y->at[place]->known);
                unseen += x->at[i]->entity >= kith_graph_seen_entity_count(one);
            }
            kith_answers_free(x);
            kith_answers_free(y);
        }
        kith_session_free(graph);
        kith_session_free(session);
        kith_model_free(a);
        kith_model_free(b);
    }
    assert_true(unseen > 20);
    kith_graph_free(one);
    kith_graph_free(other);
    kith_graph_free(added);
}

/* Ranks of all candidates, or of unseen ones alone, are those of a session's answers. */
static void grow__evaluation_ranks_the_candidates_of_a_session(void **state)
{
    static const kith_candidate_set sets[] = {KITH_ANSWERS_ALL, KITH_ANSWERS_SEEN,
                                              KITH_ANSWERS_NEW};
    static const char *const evidence[] = {"rules", "fused"};
    const char *folder = grown_films(true);
    kith_error error;

    (void)state;
    put(folder, "test", "person8\tborn_in\tcity16\nperson9\tborn_in\tcity8\n"
                        "person9\tborn_in\tcity10\nperson9\tborn_in\tnowhere\n");
    kith_graph *graph = opened(folder);
    for (int k = 0; k < 6; k++) {
        kith_model *model = trained(graph, evidence[k % 2]);
        kith_session *session = session_with(model, NULL, 0);
        const kith_eval_options options = {.split = KITH_TEST, .candidates = sets[k / 2]};
        const kith_ask_options ask_options = {
            .top = SIZE_MAX, .candidates = sets[k / 2], .new_only = 1};
        kith_eval *e;
        assert_int_equal(kith_evaluate(&e, model, &options, &error), KITH_OK);
        assert_true(e->realistic->queries > 0);
        assert_true(e->no_candidate > 0);
        for (size_t i = 0; i < e->realistic->queries; i++) {
            const kith_rank *r = e->ranks[i];
            kith_question q = {r->subject_hidden ? NULL : name_in(graph, r->fact.subject),
                               "born_in",
                               r->subject_hidden ? name_in(graph, r->fact.object) : NULL};
            kith_answers *a;
            if (r->facts == 0)
                continue; /* nobody knows about `nowhere` */
            if (kith_session_ask(&a, session, &q, &ask_options, &error) != KITH_OK)
                fail_msg("%s", error.message);
            uint32_t gold = r->subject_hidden ? r->fact.subject : r->fact.object;
            size_t better = 0, place = 0;
            while (place < a->count && a->at[place]->entity != gold)
                place++;
            assert_true(place < a->count);
            for (size_t c = 0; c < a->count; c++)
                better +=
                    a->at[c]->score > a->at[place]->score && !in_test(graph, q, a->at[c]->entity);
            assert_int_equal(better + 1, r->optimistic);
            kith_answers_free(a);
        }
        kith_eval_free(e);
        kith_session_free(session);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* An embedding alone ranks seen entities only, and needs one of them near. */
static void grow__without_rules_answers_are_seen_ones(void **state)
{
    kith_graph *graph = films();
    kith_model *model = trained(graph, "none");
    kith_session *session = session_with(model, lyon, 3);
    const kith_question q = {"Lyon", "located_in", NULL}, near = {"Besson", "citizen_of", NULL},
                        far = {"Nikita", "made_in", NULL};
    const kith_ask_options new = {.candidates = KITH_ANSWERS_NEW};
    kith_answers *a;
    kith_error error;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(kith_session_fact_at(session, i).use, KITH_FACT_USED);
    a = ask(session, q, KITH_ANSWERS_ALL);
    assert_int_equal(a->count, kith_graph_entity_count(graph));
    kith_answers_free(a);
    a = ask(session, near, KITH_ANSWERS_ALL);
    assert_int_equal(a->count, kith_graph_entity_count(graph));
    kith_answers_free(a);
    assert_int_equal(kith_session_ask(&a, session, &far, NULL, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "within two facts of 'Nikita'");
    assert_int_equal(kith_session_ask(&a, session, &q, &new, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "without rules");
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- taking back ---- */

static void same_session(kith_session *one, kith_session *other, const kith_question *questions,
                         size_t count)
{
    assert_int_equal(kith_session_fact_count(one), kith_session_fact_count(other));
    assert_int_equal(kith_session_newcomer_count(one), kith_session_newcomer_count(other));
    for (size_t i = 0; i < kith_session_newcomer_count(one); i++)
        assert_string_equal(kith_session_newcomer_at(one, i).name,
                            kith_session_newcomer_at(other, i).name);
    for (size_t i = 0; i < kith_session_fact_count(one); i++)
        assert_int_equal(kith_session_fact_at(one, i).use, kith_session_fact_at(other, i).use);
    for (size_t k = 0; k < count; k++) {
        kith_answers *a = ask(one, questions[k], KITH_ANSWERS_ALL);
        kith_answers *b = ask(other, questions[k], KITH_ANSWERS_ALL);
        assert_int_equal(a->count, b->count);
        for (size_t i = 0; i < a->count; i++) {
            assert_int_equal(a->at[i]->entity, b->at[i]->entity);
            assert_memory_equal(&a->at[i]->score, &b->at[i]->score, sizeof a->at[i]->score);
            assert_int_equal(a->at[i]->known, b->at[i]->known);
        }
        kith_answers_free(a);
        kith_answers_free(b);
    }
}

/* Facts come, go in any order and come again; what is left is what a fresh session has. */
static void grow__what_was_taken_back_was_never_said(void **state)
{
    static said_fact all[] = {
        {"Rome", "located_in", "Italy"},    {"Besson", "born_in", "Lyon"},
        {"person3", "citizen_of", "Italy"}, {"Lyon", "located_in", "country3"},
        {"Lyon", "located_in", "country3"}, {"Nikita", "directed_by", "Besson"},
        {"Besson", "directed_by", "Nikita"}, {"Besson", "knows", "Anna"},
        {"film3", "made_in", "Italy"},      {"Lyon", "located_in", "Lyon"}};
    static const size_t gone[] = {3, 0, 7}, kept[] = {1, 2, 4, 5, 6, 8, 9};
    static const kith_question questions[] = {{"Besson", "citizen_of", NULL},
                                              {"Nikita", "made_in", NULL},
                                              {"person3", "born_in", NULL},
                                              {NULL, "citizen_of", "country3"},
                                              {NULL, "made_in", "Italy"}};
    kith_graph *graph = films();
    kith_model *model = trained(graph, "fused");
    kith_session *session = session_with(model, all, 10), *fresh = session_with(model, NULL, 0);
    kith_error error;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(kith_session_remove(session, all[gone[i]][0], all[gone[i]][1],
                                             all[gone[i]][2], &error), KITH_OK);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(kith_session_add(NULL, fresh, all[kept[i]][0], all[kept[i]][1],
                                          all[kept[i]][2], &error), KITH_OK);
    same_session(session, fresh, questions, 5);
    assert_int_equal(kith_session_remove(session, "Rome", "located_in", "Italy", &error),
                     KITH_ERR_NOT_FOUND);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(kith_session_undo(session), KITH_OK);
        assert_int_equal(kith_session_undo(fresh), KITH_OK);
        same_session(session, fresh, questions, 4);
        assert_int_equal(kith_session_add(NULL, session, "X", "knows", "Y", &error), KITH_OK);
        assert_int_equal(kith_session_undo(session), KITH_OK);
    }
    same_session(session, fresh, questions, 4);
    kith_session_free(session);
    kith_session_free(fresh);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Round and round, and back to itself. */
static void grow__cycles_of_new_entities_are_fine(void **state)
{
    static said_fact round[] = {{"A", "directed_by", "B"}, {"B", "directed_by", "C"},
                                {"C", "directed_by", "A"}, {"A", "born_in", "A"},
                                {"A", "made_in", "country2"}, {"B", "born_in", "B"}};
    static said_fact other[] = {{"B", "born_in", "B"}, {"A", "made_in", "country2"},
                                {"C", "directed_by", "A"}, {"A", "born_in", "A"},
                                {"B", "directed_by", "C"}, {"A", "directed_by", "B"}};
    static const kith_question questions[] = {{"A", "made_in", NULL}, {"B", "citizen_of", NULL},
                                              {NULL, "directed_by", "A"}, {"C", "born_in", NULL}};
    kith_graph *graph = films();
    kith_model *model = trained(graph, "fused");
    kith_session *one = session_with(model, round, 6), *two = session_with(model, other, 6);

    (void)state;
    for (int q = 0; q < 4; q++) {
        kith_answers *a = ask(one, questions[q], KITH_ANSWERS_ALL);
        kith_answers *b = ask(two, questions[q], KITH_ANSWERS_ALL);
        assert_int_equal(a->count, b->count);
        for (size_t i = 0; i < a->count; i++) {
            size_t place = place_of(two, b, name_at(one, a, i));
            assert_true(place != SIZE_MAX);
            assert_true(fabsf(a->at[i]->score - b->at[place]->score) <= 1e-4f);
            assert_int_equal(a->at[i]->known, b->at[place]->known);
        }
        kith_answers_free(a);
        kith_answers_free(b);
    }
    kith_session_free(one);
    kith_session_free(two);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* As if it had never been said, and in a time that does not depend on the other facts. */
static void grow__the_last_fact_is_removed_with_its_names(void **state)
{
    static said_fact others[] = {{"Besson", "born_in", "Lyon"}, {"Lyon", "located_in", "country3"},
                                 {"Anna", "made_in", "country1"}};
    static said_fact gone[] = {{"Nice", "loves", "Besson"}, {"Oslo", "located_in", "Bergen"},
                               {"Rome", "hates", "Rome"},   {"Oslo", "located_in", "city1"}};
    static const kith_question questions[] = {{"Besson", "citizen_of", NULL},
                                              {NULL, "born_in", "Lyon"}};
    kith_graph *graph = films();
    kith_model *model = trained(graph, "fused");
    kith_session *session = session_with(model, others, 2), *fresh = session_with(model, others, 3);
    enum { MANY = 4000 };

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(kith_session_add(NULL, session, gone[i][0], gone[i][1], gone[i][2], NULL),
                         KITH_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(kith_session_undo(session), KITH_OK);
    assert_int_equal(
        kith_session_add(NULL, session, others[2][0], others[2][1], others[2][2], NULL), KITH_OK);
    same_session(session, fresh, questions, 2);
    clock_t began = clock();
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(kith_session_add(NULL, session, format("p%zu", i), "born_in", "city1",
                                          NULL), KITH_OK);
    clock_t added = clock();
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(kith_session_undo(session), KITH_OK);
    clock_t removed = clock();
    if (removed - added > 20 * (added - began) + CLOCKS_PER_SEC / 10)
        fail_msg("adding took %g s, removing %g s", (double)(added - began) / CLOCKS_PER_SEC,
                 (double)(removed - added) / CLOCKS_PER_SEC);
    same_session(session, fresh, questions, 2);
    kith_session_free(session);
    kith_session_free(fresh);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void grow__facts_are_saved_and_read_again(void **state)
{
    static said_fact all[] = {{"Besson", "born_in", "Lyon"},   {"Lyon", "located_in", "a b\"c"},
                              {"Lyon", "located_in", "a b\"c"}, {"\"x\"", "knows", "#y"},
                              {"Nikita", "directed_by", "Besson"}};
    static const kith_question questions[] = {{"Nikita", "made_in", NULL},
                                              {NULL, "born_in", "Lyon"}};
    const char *path = keep(format("%s/said.tsv", new_folder()));
    kith_graph *graph = films(), *read = NULL;
    kith_model *model = trained(graph, "rules");
    kith_session *session = session_with(model, all, 5), *again = session_with(model, NULL, 0);
    kith_error error;

    (void)state;
    for (int i = 0; i < 2; i++) /* the second time over the first */
        if (kith_session_save(session, path, &error) != KITH_OK)
            fail_msg("%s", error.message);
    read = opened(path);
    assert_int_equal(kith_session_add_graph(again, read, NULL, &error), KITH_OK);
    assert_int_equal(kith_session_fact_count(again), 4); /* each once */
    assert_int_equal(kith_session_remove(session, "Lyon", "located_in", "a b\"c", &error), KITH_OK);
    same_session(session, again, questions, 2);
    assert_int_equal(kith_session_add(NULL, session, "tab\there", "knows", "B", &error), KITH_OK);
    assert_int_equal(kith_session_save(session, path, &error), KITH_ERR_INPUT);
    assert_contains(error.message, "fact 5 cannot be written");
    kith_graph_free(read);
    read = opened(path); /* what was there stays */
    assert_int_equal(kith_graph_facts(read, KITH_TRAIN).count, 4);
    kith_graph_free(read);
    kith_session_free(session);
    kith_session_free(again);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* The first fact of each looks like a header row, or like the one that is written. */
static void grow__no_saved_fact_is_read_as_a_header_row(void **state)
{
    static said_fact sets[][2] = {{{"geneC", "interaction", "A"}, {"geneC", "binds", "B"}},
                                  {{"subject", "relation", "object"}, {"a", "b", "c"}},
                                  {{"subject", "predicate", "object"}, {"a", "relation", "c"}},
                                  {{"\"x\" y", "\"\"knows\"", "\""}, {"a\"", " b ", "c\"d"}},
                                  {{"\xef\xbb\xbfmark", "knows", "A"}, {"A", "knows", "B"}},
                                  {{"only", "interaction", "B"}, {NULL, NULL, NULL}}};
    const char *path = keep(format("%s/said.tsv", new_folder()));
    kith_graph *graph = films();
    kith_model *model = trained(graph, "rules");
    kith_error error;

    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        size_t count = sets[i][1][0] ? 2 : 1;
        kith_session *session = session_with(model, sets[i], count);
        kith_session *again = session_with(model, NULL, 0);
        assert_int_equal(kith_session_save(session, path, &error), KITH_OK);
        kith_graph *read = opened(path);
        assert_int_equal(kith_session_add_graph(again, read, NULL, &error), KITH_OK);
        assert_int_equal(kith_session_fact_count(again), count);
        for (size_t k = 0; k < count; k++) {
            kith_session_fact f = kith_session_fact_at(again, k);
            assert_string_equal(f.subject, sets[i][k][0]);
            assert_string_equal(f.relation, sets[i][k][1]);
            assert_string_equal(f.object, sets[i][k][2]);
        }
        kith_graph_free(read);
        kith_session_free(session);
        kith_session_free(again);
    }
    kith_model_free(model);
    kith_graph_free(graph);
}

/* One by one, with all of them at one hub: the time grows with their number, not with its
 * square. */
static void grow__facts_are_added_in_time_proportional_to_their_number(void **state)
{
    kith_graph *graph = films();
    kith_model *model = trained(graph, "rules");
    double seconds[2];

    (void)state;
    for (int k = 0; k < 2; k++) {
        size_t count = k ? 40000 : 10000;
        kith_session *session = session_with(model, NULL, 0);
        clock_t began = clock();
        for (size_t i = 0; i < count; i++) /* names in a scattered order */
            assert_int_equal(kith_session_add(NULL, session, format("p%zu", i * 7919 % count),
                                              "born_in", i % 2 ? "city1" : format("c%zu", i), NULL),
                             KITH_OK);
        seconds[k] = (double)(clock() - began) / CLOCKS_PER_SEC;
        kith_answers *a =
            ask(session, (kith_question){"p1", "citizen_of", NULL}, KITH_ANSWERS_SEEN);
        assert_true(a->count > 0);
        kith_answers_free(a);
        kith_session_free(session);
    }
    if (!(seconds[1] < 10 * seconds[0] + .05)) /* 4 times, where nothing disturbs */
        fail_msg("10,000 facts took %g s, 40,000 took %g s", seconds[0], seconds[1]);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Reasons go through newcomers, and the points of an unseen answer add up to its score. */
static void grow__an_unseen_answer_is_explained(void **state)
{
    static said_fact more[] = {{"Besson", "born_in", "Lyon"}, {"Lyon", "located_in", "France"},
                               {"Anna", "born_in", "Lyon"},   {"Anna", "citizen_of", "France"},
                               {"Besson", "citizen_of", "country1"}};
    static const char *const evidence[] = {"rules", "fused"};
    kith_graph *graph = films();

    (void)state;
    for (int k = 0; k < 2; k++) {
        kith_model *model = trained(graph, evidence[k]);
        kith_session *session = session_with(model, more, 4 + (size_t)k);
        const kith_question q = {"Besson", "citizen_of", NULL};
        kith_explanation *e;
        kith_error error;
        bool found = false;
        if (kith_session_explain(&e, session, &q, NULL, &error) != KITH_OK)
            fail_msg("%s", error.message);
        for (size_t i = 0; i < e->contribution_count; i++) {
            const kith_contributions *c = e->contributions[i];
            double sum = c->rules + c->proximity + c->prior + c->embedding;
            assert_true(fabs(sum - c->score) < 1e-3);
            if (strcmp(kith_session_entity_name(session, c->entity), "France") != 0)
                continue;
            found = true;
            assert_true(c->reason_count > 0);
            assert_true(c->embedding == 0);
        }
        assert_true(found);
        kith_explanation_free(e);
        kith_session_free(session);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* ---- encodings ---- */

enum { WIDTH = 8 };

static void encode(float *vector, kith_session *session, const char *entity, const char *relation,
                   int inverse)
{
    kith_error error;

    if (kith_session_encode(vector, session, entity, relation, inverse, &error) != KITH_OK)
        fail_msg("%s", error.message);
}

/* T of a vector for a relation in its own direction. */
static void transform(float *vector, const kith_model *model, const char *relation)
{
    const kith__table *trans = kith__trans(&model->params);
    double dot = 0, length = 0;
    uint32_t r;

    assert_int_equal(kith_graph_find_relation(&r, model->graph, relation), KITH_OK);
    for (int k = 0; k < WIDTH; k++) {
        dot += (double)vector[k] * kith__row(trans, r)[k];
        length += (double)kith__row(trans, r)[k] * kith__row(trans, r)[k];
    }
    for (int k = 0; k < WIDTH; k++)
        vector[k] -= (float)(dot / length * kith__row(trans, r)[k]);
}

/* The only neighbour of Besson is new; it stands there as what its own seen neighbours make of it,
 * for the relation that leads back. */
static void grow__an_unseen_neighbor_counts_by_its_own_encoding(void **state)
{
    kith_graph *graph = films();
    kith_model *model = trained(graph, "fused");
    kith_session *session = session_with(model, lyon, 3), *city = session_with(model, lyon + 1, 1);
    float got[WIDTH], expected[WIDTH];

    (void)state;
    kith_error error; /* Nikita has no seen neighbour, so that she adds nothing */
    assert_int_equal(kith_session_remove(session, lyon[2][0], lyon[2][1], lyon[2][2], &error),
                     KITH_OK);
    encode(got, session, "Besson", "citizen_of", 0);
    encode(expected, city, "Lyon", "born_in", 1);
    transform(expected, model, "born_in");
    for (int k = 0; k < WIDTH; k++) {
        assert_true(fabsf(expected[k]) > 1e-6f);
        assert_true(fabsf(got[k] - expected[k]) <= 1e-5f);
    }
    kith_session_free(session);
    kith_session_free(city);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Seen neighbours are known better: where there is one, unseen ones are left out. */
static void grow__beside_a_seen_neighbor_unseen_ones_do_not_count(void **state)
{
    static said_fact facts[] = {{"Besson", "citizen_of", "country2"}, {"Besson", "born_in", "Lyon"},
                                {"Lyon", "located_in", "country3"}};
    static const char *const evidence[] = {"none", "fused"};
    kith_graph *graph = films();

    (void)state;
    for (int k = 0; k < 2; k++) {
        kith_model *model = trained(graph, evidence[k]);
        kith_session *with = session_with(model, facts, 3),
                     *without = session_with(model, facts, 1);
        float one[WIDTH], other[WIDTH];
        encode(one, with, "Besson", "directed_by", 1);
        encode(other, without, "Besson", "directed_by", 1);
        assert_memory_equal(one, other, sizeof one);
        kith_session_free(with);
        kith_session_free(without);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

static kith_explanation *explained(kith_session *session, kith_question q)
{
    kith_explanation *e;
    kith_error error;

    if (kith_session_explain(&e, session, &q, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return e;
}

/* Beside rules the embedding keeps silent where no neighbour is seen, and the second set of weights
 * decides: whether an encoding could be made does not matter. */
static void grow__with_no_seen_neighbor_the_embedding_keeps_silent_beside_rules(void **state)
{
    kith_graph *graph = films();
    kith_model *model = trained(graph, "fused");
    kith_session *session = session_with(model, lyon, 3);
    kith_explanation *e = explained(session, (kith_question){"Besson", "citizen_of", NULL});

    (void)state;
    assert_int_equal(e->weighing, KITH_WEIGH_NONE);
    assert_true(e->contribution_count > 0);
    for (size_t i = 0; i < e->contribution_count; i++)
        assert_true(e->contributions[i]->embedding == 0);
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Rules use what the embedding leaves out. */
static void grow__facts_that_only_rules_use_are_listed_and_masked(void **state)
{
    static said_fact facts[] = {{"Besson", "born_in", "Lyon"},
                                {"Besson", "citizen_of", "country2"},
                                {"Lyon", "located_in", "country3"}};
    kith_graph *graph = films();
    kith_model *model = trained(graph, "fused");
    kith_session *session = session_with(model, facts, 3);
    kith_explanation *e = explained(session, (kith_question){"Besson", "citizen_of", NULL});

    (void)state;
    assert_int_equal(e->weighing, KITH_WEIGH_ATTENTION);
    assert_int_equal(e->neighbor_count, 2);
    assert_int_equal(e->unread, 0);
    assert_true(fabs(e->neighbors[0]->weight - 1) < 1e-5);
    const kith_weighted_neighbor *left = e->neighbors[1];
    assert_string_equal(kith_session_entity_name(session, left->entity), "Lyon");
    assert_true(left->added && isnan(left->weight) && left->place == SIZE_MAX);
    assert_null(e->neighbors[0]->redundant_with); /* born_in has no part in its weight */
    assert_int_equal(e->ablation_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(e->ablations[i]->neighbor, i);
        const kith_rank_change *change = e->ablations[i]->changes[0];
        assert_true(change->score != change->score_masked);
    }
    assert_true(e->contributions[0]->neighbors[0] != 0);
    assert_true(e->contributions[0]->neighbors[1] == 0);
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* An embedding alone answers by unseen neighbours: it shows their weights, and their points add
 * up. */
static void grow__an_embedding_alone_explains_unseen_neighbors(void **state)
{
    static said_fact facts[] = {{"Lyon", "located_in", "country3"},
                                {"Besson", "born_in", "Lyon"},
                                {"Nikita", "directed_by", "Besson"},
                                {"Nikita", "made_in", "country3"},
                                {"Anna", "directed_by", "Besson"}};
    kith_graph *graph = films();
    kith_model *model = trained(graph, "none");
    kith_session *session = session_with(model, facts, 5);
    kith_explanation *e = explained(session, (kith_question){"Besson", "citizen_of", NULL});
    double weights = 0;

    (void)state;
    assert_int_equal(e->weighing, KITH_WEIGH_ATTENTION);
    assert_int_equal(e->neighbor_count, 2); /* nobody is near Anna */
    assert_int_equal(e->unread, 1);
    for (size_t i = 0; i < e->neighbor_count; i++) {
        const char *name = kith_session_entity_name(session, e->neighbors[i]->entity);
        assert_true(strcmp(name, "Lyon") == 0 || strcmp(name, "Nikita") == 0);
        assert_true(e->neighbors[i]->added);
        weights += e->neighbors[i]->weight;
    }
    assert_true(fabs(weights - 1) < 1e-5);
    assert_true(e->contribution_count > 0);
    for (size_t i = 0; i < e->contribution_count; i++) {
        const kith_contributions *c = e->contributions[i];
        double sum = c->rest;
        for (size_t k = 0; k < e->neighbor_count; k++) {
            assert_true(c->neighbors[k] != 0);
            sum += c->neighbors[k];
        }
        assert_true(fabs(sum - c->score) < 1e-4);
    }
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* The factor of the only neighbour in the encoding of Besson; NAN if the encoding is not a sum. */
static float only_weight(kith_session *session)
{
    kith_explanation *e = explained(session, (kith_question){"Besson", "citizen_of", NULL});
    float weight = e->weighing == KITH_WEIGH_NONE  ? NAN
                   : e->weighing == KITH_WEIGH_MAX ? 1
                                                   : (float)e->neighbors[0]->weight;

    assert_int_equal(e->neighbor_count, 1);
    assert_true(e->weighing != KITH_WEIGH_EQUAL || weight == 1);
    kith_explanation_free(e);
    return weight;
}

/* Every aggregator takes vectors in place of input embeddings. */
static void grow__every_aggregator_encodes_from_unseen_neighbors(void **state)
{
    kith_graph *graph = films();
    int sums = 0;

    (void)state;
    for (size_t k = 0; k < AGGREGATORS; k++) {
        kith_model *model = trained_with(graph, "none", aggregators[k]);
        kith_session *session = session_with(model, lyon, 2),
                     *city = session_with(model, lyon + 1, 1);
        float got[WIDTH], expected[WIDTH], length = 0, weight = only_weight(session);
        sums += !isnan(weight);
        encode(got, session, "Besson", "citizen_of", 0);
        encode(expected, city, "Lyon", "born_in", 1);
        transform(expected, model, "born_in");
        for (int i = 0; i < WIDTH; i++) {
            length += fabsf(got[i]);
            if (!isnan(weight))
                assert_true(fabsf(got[i] - weight * expected[i]) <= 1e-5f);
        }
        assert_true(length > 1e-6f);
        kith_session_free(session);
        kith_session_free(city);
        kith_model_free(model);
    }
    assert_true(sums > AGGREGATORS / 2); /* not a sum: lstm */
    kith_graph_free(graph);
}

/* All entities of a graph with support facts between unseen ones, encoded as evaluation does. */
static float *swept(kith_model *model, size_t *count)
{
    uint32_t entities = kith_graph_entity_count(model->graph), relations = model->lists->relations;
    kith__encode_request *requests = kith__alloc(entities * relations, sizeof *requests);
    kith__entity_encoder e;
    kith_error error;

    *count = 0;
    for (uint32_t i = 0; i < entities; i++)
        for (uint32_t q = 0; q < relations; q++)
            requests[(*count)++] = (kith__encode_request){i, q};
    assert_int_equal(kith__entity_encoder_init(&e, model, model->pool, &error), KITH_OK);
    assert_int_equal(kith__encoder_stride(e.encoder), WIDTH);
    float *vectors = kith__calloc_aligned(*count * WIDTH, sizeof *vectors);
    if (kith__encode_from_graph(vectors, &e, kith__model_facts(model), requests, *count, &error) !=
        KITH_OK)
        fail_msg("%s", error.message);
    kith__entity_encoder_release(&e);
    kith__free(requests);
    return vectors;
}

static void encodes_to_the_same_bits(const kith_graph *graph, const char *evidence)
{
    kith_model *model = trained(graph, evidence);
    kith_session *session = session_with(model, NULL, 0);
    uint32_t m = kith_graph_seen_relation_count(graph);
    size_t count, linked = 0;
    float *vectors = swept(model, &count), one[WIDTH];

    for (size_t i = 0; i < count; i++) {
        uint32_t entity = (uint32_t)(i / (2 * m)), query = (uint32_t)(i % (2 * m));
        kith__span facts = kith__facts_of(kith__model_facts(model), entity);
        linked += kith__list_count(model->lists, entity) == 0 && facts.count > 0;
        if (!kith__leads_to_seen(&(kith__view){.base = kith__model_facts(model)}, facts,
                                model->lists->seen))
            continue; /* an embedding alone refuses it */
        encode(one, session, name_in(graph, entity), kith_graph_relation_name(graph, query % m),
               query >= m);
        assert_memory_equal(one, vectors + i * WIDTH, sizeof one);
    }
    assert_true(linked > 20);
    kith__free(vectors);
    kith_session_free(session);
    kith_model_free(model);
}

static void grow__evaluation_and_sessions_encode_to_the_same_bits(void **state)
{
    kith_graph *graph = opened(grown_films(true));

    (void)state;
    encodes_to_the_same_bits(graph, "fused");
    encodes_to_the_same_bits(graph, "none");
    kith_graph_free(graph);
}

static void grow__encodings_do_not_depend_on_threads(void **state)
{
    kith_graph *graph = opened(grown_films(true));
    kith_model *model = trained(graph, "fused");
    size_t count;
    float *two = swept(model, &count), *other;
    kith__pool *pool = model->pool;

    (void)state;
    for (unsigned threads = 1; threads <= 5; threads += 4) {
        model->pool = kith__pool_new(threads);
        other = swept(model, &count);
        assert_memory_equal(two, other, count * WIDTH * sizeof *two);
        kith__free(other);
        kith__pool_free(model->pool);
    }
    model->pool = pool;
    kith__free(two);
    kith_model_free(model);
    kith_graph_free(graph);
}

static kith_status use_it_all(kith_model *model)
{
    const kith_question q = {"Nikita", "made_in", NULL};
    kith_session *session = NULL;
    kith_explanation *e = NULL;
    kith_status status;

    TRY(kith_session_new(&session, model, NULL));
    for (size_t i = 0; i < 3; i++)
        TRY(kith_session_add(NULL, session, lyon[i][0], lyon[i][1], lyon[i][2], NULL));
    TRY(kith_session_explain(&e, session, &q, NULL, NULL));
    TRY(kith_session_remove(session, lyon[0][0], lyon[0][1], lyon[0][2], NULL));
cleanup:
    kith_explanation_free(e);
    kith_session_free(session);
    return status;
}

static void grow__any_allocation_may_fail(void **state)
{
    kith_graph *graph = films();
    kith_model *model = trained(graph, "fused");
    kith_status status = KITH_ERR_MEMORY;
    size_t n = 0;

    (void)state;
    while (status != KITH_OK) {
        kith__mem_fail_at(++n);
        status = use_it_all(model);
        kith__mem_fail_at(0);
        assert_true(status == KITH_OK || status == KITH_ERR_MEMORY);
    }
    assert_true(n > 20);
    kith_model_free(model);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grow__facts_between_newcomers_are_used),
        cmocka_unit_test(grow__the_order_of_adding_does_not_matter),
        cmocka_unit_test(grow__candidates_are_chosen_and_seen_ones_keep_their_scores),
        cmocka_unit_test(grow__support_facts_are_as_added_ones),
        cmocka_unit_test(grow__evaluation_ranks_the_candidates_of_a_session),
        cmocka_unit_test(grow__without_rules_answers_are_seen_ones),
        cmocka_unit_test(grow__what_was_taken_back_was_never_said),
        cmocka_unit_test(grow__cycles_of_new_entities_are_fine),
        cmocka_unit_test(grow__the_last_fact_is_removed_with_its_names),
        cmocka_unit_test(grow__facts_are_saved_and_read_again),
        cmocka_unit_test(grow__no_saved_fact_is_read_as_a_header_row),
        cmocka_unit_test(grow__facts_are_added_in_time_proportional_to_their_number),
        cmocka_unit_test(grow__an_unseen_answer_is_explained),
        cmocka_unit_test(grow__an_unseen_neighbor_counts_by_its_own_encoding),
        cmocka_unit_test(grow__beside_a_seen_neighbor_unseen_ones_do_not_count),
        cmocka_unit_test(grow__with_no_seen_neighbor_the_embedding_keeps_silent_beside_rules),
        cmocka_unit_test(grow__facts_that_only_rules_use_are_listed_and_masked),
        cmocka_unit_test(grow__an_embedding_alone_explains_unseen_neighbors),
        cmocka_unit_test(grow__every_aggregator_encodes_from_unseen_neighbors),
        cmocka_unit_test(grow__evaluation_and_sessions_encode_to_the_same_bits),
        cmocka_unit_test(grow__encodings_do_not_depend_on_threads),
        cmocka_unit_test(grow__any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
