/* Questions and answers of sessions, suggestions, and what is refused. */
#include <math.h>

#include "session/answer.h"
#include "support.h"
#include "sessions.h"
#include "tables.h"

/* ---- questions ---- */

static void questions__bad_ones_are_refused_in_words(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);

    (void)state;
    say(session, "dee", "dances with", "bulls");
    refused_question(session, (kith_question){"ann", "lives in", "chicago"}, KITH_ERR_ARGUMENT,
                     "a relation and an object", "'?'");
    refused_question(session, (kith_question){NULL, "lives in", NULL}, KITH_ERR_ARGUMENT,
                     "no entity", "");
    refused_question(session, (kith_question){NULL, NULL, NULL}, KITH_ERR_ARGUMENT, "no entity",
                     "");
    refused_question(session, (kith_question){"ann", "livs in", NULL}, KITH_ERR_NOT_FOUND,
                     "relation 'livs in'", "did you mean 'lives in'?");
    refused_question(session, (kith_question){"Lakres", "lives in", NULL}, KITH_ERR_NOT_FOUND,
                     "'Lakres'", "did you mean 'lakers'?");
    refused_question(session, (kith_question){"dee", "lives in", NULL}, KITH_ERR_ARGUMENT, "'dee'",
                     "no usable fact");
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void questions__known_answers_are_marked_or_left_out(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    uint32_t bulls, bob;

    (void)state;
    assert_int_equal(kith_graph_find_entity(&bulls, graph, "bulls"), KITH_OK);
    assert_int_equal(kith_graph_find_entity(&bob, graph, "bob"), KITH_OK);
    say(session, "dee", "plays for", "bulls");
    kith_answers *own = asked(session, "dee", "plays for", NULL);
    kith_answers *known = asked(session, NULL, "plays for", "bulls");
    size_t marked = 0;
    for (size_t i = 0; i < own->count; i++)
        assert_int_equal(own->at[i]->known, own->at[i]->entity == bulls);
    for (size_t i = 0; i < known->count; i++)
        marked += known->at[i]->known != 0;
    assert_int_equal(marked, 2); /* ann and bob; dee is no candidate */
    assert_true(known->subject_asked && !own->subject_asked);
    kith_answers *fresh = asked_with(session, NULL, "plays for", "bulls",
                                    (kith_ask_options){.top = SIZE_MAX, .new_only = 1});
    assert_int_equal(fresh->count, known->count - 2);
    for (size_t i = 0; i < fresh->count; i++)
        assert_true(!fresh->at[i]->known && fresh->at[i]->entity != bob);
    for (size_t i = 0; i < fresh->count; i++)
        assert_true(isnan(fresh->at[i]->probability_if_any));
    kith_answers_free(own);
    kith_answers_free(known);
    kith_answers_free(fresh);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* The first few are the beginning of all. */
static void questions__top_cuts_and_nothing_else(void **state)
{
    kith_graph *graph = graph_with_unseen(3);
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);

    (void)state;
    kith_answers *all = asked(session, name_of(graph, 0), kith_graph_relation_name(graph, 0), NULL);
    for (size_t top = 1; top < 15; top++) {
        kith_answers *some =
            asked_with(session, name_of(graph, 0), kith_graph_relation_name(graph, 0), NULL,
                       (kith_ask_options){.top = top});
        assert_int_equal(some->count, top < all->count ? top : all->count);
        for (size_t i = 0; i < some->count; i++)
            assert_int_equal(some->at[i]->entity, all->at[i]->entity);
        kith_answers_free(some);
    }
    kith_answers_free(all);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* All answers of all relations, best first. */
static void questions__pairs_are_the_best_over_all_relations(void **state)
{
    (void)state;
    for (int a = 0; a < AGGREGATORS; a++) {
        kith_graph *graph = graph_with_unseen((uint64_t)a);
        kith_settings s = settings_with(aggregators[a]);
        kith_model *model = model_on(graph, &s, 2);
        kith_session *session = session_of(model);
        for (int side = 0; side < 2; side++) {
            const char *who = name_of(graph, 1);
            const char *subject = side ? NULL : who, *object = side ? who : NULL;
            kith_answers *pairs = asked_with(session, subject, NULL, object,
                                            (kith_ask_options){.top = 12, .relations = SIZE_MAX});
            assert_int_equal(pairs->relations, kith_graph_seen_relation_count(graph));
            assert_int_equal(pairs->count, 12);
            /* Within a relation, those that are not known come in the order of its own answers. */
            for (uint32_t r = 0; r < kith_graph_seen_relation_count(graph); r++) {
                kith_answers *one =
                    asked_with(session, subject, kith_graph_relation_name(graph, r), object,
                               (kith_ask_options){.top = 100, .new_only = 1});
                size_t next = 0;
                for (size_t i = 0; i < 12; i++)
                    if (pairs->at[i]->relation == r && !pairs->at[i]->known)
                        assert_int_equal(pairs->at[i]->entity, one->at[next++]->entity);
                kith_answers_free(one);
            }
            for (size_t i = 1; i < 12; i++)
                assert_true(pairs->at[i - 1]->known == pairs->at[i]->known
                                ? pairs->at[i - 1]->score >= pairs->at[i]->score
                                : pairs->at[i]->known);
            kith_answers_free(pairs);
            kith_answers *some = asked_with(session, subject, NULL, object,
                                           (kith_ask_options){.top = 3, .relations = 1});
            assert_int_equal(some->relations, 1);
            kith_answers_free(some);
        }
        kith_session_free(session);
        kith_model_free(model);
        kith_graph_free(graph);
    }
}

static void questions__many_at_once_are_answered_as_one_by_one(void **state)
{
    kith_graph *graph = graph_with_unseen(4);
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    enum { MANY = 200 };
    kith_question questions[MANY];
    kith_answers *one[MANY];
    kith_answers_batch *all;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        const char *who = keep(format("new %zu", i));
        const char *relation = i % 7 ? kith_graph_relation_name(graph, (uint32_t)i % 3) : NULL;
        for (size_t k = 0; k < 1 + i % 5; k++)
            say(session, who, kith_graph_relation_name(graph, (uint32_t)(i + k) % 3),
                name_of(graph, (uint32_t)(i * 7 + k) % kith_graph_seen_entity_count(graph)));
        questions[i] = i % 2 ? (kith_question){who, relation, NULL}
                             : (kith_question){NULL, relation, who};
        assert_int_equal(kith_session_ask(&one[i], session, &questions[i], NULL, NULL), KITH_OK);
    }
    for (unsigned threads = 1; threads <= 3; threads++) {
        const kith_ask_options options = {.threads = threads};
        assert_int_equal(kith_session_ask_all(&all, session, questions, MANY, &options, NULL),
                         KITH_OK);
        assert_true(all->count == MANY && all->failed == 0);
        for (size_t i = 0; i < MANY; i++) {
            assert_null(all->errors[i]);
            same_answers(all->at[i], one[i]);
        }
        kith_answers_batch_free(all);
    }
    for (size_t i = 0; i < MANY; i++)
        kith_answers_free(one[i]);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- why ---- */

/* Whether an entity is proposed as its own answer, by questions for entities and for pairs. */
static bool proposes_self(kith_session *session, const char *who, const char *relation,
                          kith_ask_options options)
{
    uint32_t self = kith__session_find(session, who);
    uint32_t r;
    bool single = false, pair = false, both = false;

    assert_int_equal(kith_graph_find_relation(&r, kith_model_graph(session->model), relation),
                     KITH_OK);
    options.top = SIZE_MAX;
    kith_answers *objects = asked_with(session, who, relation, NULL, options);
    kith_answers *subjects = asked_with(session, NULL, relation, who, options);
    kith_answers *pairs = asked_with(session, who, NULL, NULL, options);
    kith_answers *relations = asked_with(session, who, NULL, who, options);
    for (size_t i = 0; i < objects->count; i++)
        single |= objects->at[i]->entity == self;
    for (size_t i = 0; i < subjects->count; i++)
        both |= subjects->at[i]->entity == self;
    assert_int_equal(single, both);
    both = false;
    for (size_t i = 0; i < relations->count; i++)
        both |= relations->at[i]->relation == r;
    assert_int_equal(single, both);
    for (size_t i = 0; i < pairs->count; i++)
        pair |= pairs->at[i]->entity == self && pairs->at[i]->relation == r;
    if (pair)
        assert_true(single);
    kith_answers_free(objects);
    kith_answers_free(subjects);
    kith_answers_free(pairs);
    kith_answers_free(relations);
    kith_explanation *e = explained_query(session, who, relation, NULL);
    for (size_t i = 0; i < e->answers->count; i++)
        if (e->answers->at[i]->entity == self)
            assert_true(single);
    kith_explanation_free(e);
    return single;
}

static void questions__an_entity_is_its_own_answer_only_where_the_relation_has_loops(void **state)
{
    /* "follows" has a loop, "plays for" and "lives in" have none. */
    kith_graph *graph = opened(file(
        "loops.tsv", "ann\tplays for\tbulls\nann\tlives in\tchicago\nann\tfollows\tann\n"
                     "bob\tplays for\tbulls\nbob\tlives in\tchicago\nbob\tfollows\tann\n"
                     "cyd\tplays for\tlakers\ncyd\tlives in\tboston\n"));
    const char *const evidence[] = {"none", "fused"};
    const kith_ask_options usual = {0};
    kith_error error;

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        kith_settings s = settings_with("lan");
        s.epochs = 1;
        set(&s, "evidence", evidence[k]);
        kith_model *model = trained_model(graph, &s);
        kith_session *session = session_of(model);
        kith_verdict *verdict;

        assert_true(proposes_self(session, "bob", "follows", usual));
        assert_false(proposes_self(session, "bob", "plays for", usual));
        say(session, "cyd", "plays for", "cyd");
        assert_true(proposes_self(session, "bob", "plays for", usual));
        assert_false(proposes_self(session, "bob", "lives in", usual));
        assert_int_equal(kith_session_remove(session, "cyd", "plays for", "cyd", &error), KITH_OK);
        assert_false(proposes_self(session, "bob", "plays for", usual));
        say(session, "bob", "lives in", "bob");
        assert_true(proposes_self(session, "ann", "lives in", usual));
        assert_int_equal(kith_session_undo(session), KITH_OK);
        assert_false(proposes_self(session, "ann", "lives in", usual));

        const kith_question fact = {"bob", "plays for", "bob"};
        assert_int_equal(kith_session_judge(&verdict, session, &fact, &error), KITH_OK);
        assert_true(isfinite(verdict->score) && verdict->rank > 0);
        assert_int_equal(isnan(verdict->probability_if_any), !model->calibration.fitted);
        kith_verdict_free(verdict);
        kith_session_free(session);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* ---- arguments that make no sense ---- */

static void arguments__what_makes_no_sense_is_refused_and_nothing_is_fine(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    float vector[8];
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_encode(vector, session, "ann", NULL, 0, &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "relation");
    assert_int_equal(kith_session_encode(vector, session, NULL, "plays for", 0, &error),
                     KITH_ERR_ARGUMENT);
    kith_answers_batch *none;
    assert_int_equal(kith_session_ask_all(&none, session, NULL, 0, NULL, &error), KITH_OK);
    assert_int_equal(none->count, 0);
    kith_answers_batch_free(none);
    kith_answers_batch_free(NULL);
    kith_answers_free(NULL);
    kith_explanation_free(NULL);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void questions__one_that_cannot_be_asked_does_not_hinder_the_others(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    const kith_question questions[] = {{"ann", "plays for", NULL},
                                       {"bulls2", "plays for", NULL},
                                       {NULL, NULL, NULL},
                                       {NULL, "lives in", "chicago"}};
    kith_answers_batch *all;
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_ask_all(&all, session, questions, 4, NULL, &error), KITH_OK);
    assert_int_equal(all->failed, 2);
    assert_true(!all->errors[0] && !all->errors[3]);
    assert_int_equal(all->errors[1]->status, KITH_ERR_NOT_FOUND);
    assert_contains(all->errors[1]->message, "did you mean");
    assert_int_equal(all->errors[2]->status, KITH_ERR_ARGUMENT);
    assert_true(!all->at[1] && !all->at[2]);
    for (int i = 0; i < 4; i += 3) {
        kith_answers *one = asked_with(session, questions[i].subject, questions[i].relation,
                                       questions[i].object, (kith_ask_options){0});
        same_answers(all->at[i], one);
        kith_answers_free(one);
    }
    kith_answers_batch_free(all);
    kith_session_set_suggestions(session, 0);
    assert_int_equal(kith_session_ask_all(&all, session, questions + 1, 1, NULL, &error), KITH_OK);
    assert_null(strstr(all->errors[0]->message, "did you mean"));
    kith_answers_batch_free(all);
    /* A removed fact takes its new name along, but not how the session was set up. */
    assert_int_equal(kith_session_add(NULL, session, "dora", "lives in", "chicago", &error),
                     KITH_OK);
    assert_int_equal(kith_session_undo(session), KITH_OK);
    assert_int_equal(kith_session_ask_all(&all, session, questions + 1, 1, NULL, &error), KITH_OK);
    assert_null(strstr(all->errors[0]->message, "did you mean"));
    kith_answers_batch_free(all);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void questions__ids_are_as_good_as_names(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    kith_answers *by_id, *answers;
    kith_error error;

    (void)state;
    for (size_t i = 0; i < train.count; i++) {
        kith_triple t = {train.at[i].subject, train.at[i].relation, UINT32_MAX};
        assert_int_equal(kith_session_ask_ids(&by_id, session, t, NULL, &error), KITH_OK);
        answers =
            asked_with(session, name_of(graph, t.subject),
                       kith_graph_relation_name(graph, t.relation), NULL, (kith_ask_options){0});
        same_answers(by_id, answers);
        kith_answers_free(by_id);
        kith_answers_free(answers);
    }
    const kith_triple bad[] = {{1000, 0, UINT32_MAX}, {0, 1000, UINT32_MAX}, {UINT32_MAX, 0, 1000}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(kith_session_ask_ids(&by_id, session, bad[i], NULL, &error),
                         KITH_ERR_NOT_FOUND);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* A caller that knows fewer fields gets what they say, one that uses unknown ones is told. */
static void options__of_another_size_are_understood(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    const kith_question question = {"ann", "plays for", NULL};
    struct {
        kith_ask_options known;
        uint64_t later;
    } newer = {{0}, 0};
    struct {
        size_t size, top;
    } older = {sizeof older, 2};
    kith_answers *answers;
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_ask(&answers, session, &question,
                                      (const kith_ask_options *)&older, &error), KITH_OK);
    assert_int_equal(answers->count, 2);
    kith_answers_free(answers);
    kith_ask_options_init(&newer.known);
    assert_int_equal(newer.known.size, sizeof newer.known);
    newer.known.size = sizeof newer;
    newer.known.top = 3;
    assert_int_equal(kith_session_ask(&answers, session, &question, &newer.known, &error), KITH_OK);
    assert_int_equal(answers->count, 3);
    kith_answers_free(answers);
    newer.later = 1;
    assert_int_equal(kith_session_ask(&answers, session, &question, &newer.known, &error),
                     KITH_ERR_ARGUMENT);
    kith_eval_options eval;
    kith_eval_options_init(&eval);
    assert_int_equal(eval.size, sizeof eval);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- suggestions ---- */

static void suggestions__go_by_letters_beginnings_and_labels(void **state)
{
    const char *folder = new_folder();
    uint32_t ids[4];

    (void)state;
    put(folder, "train", "m1\tlocated_in\tm2\nm3\tlocated_in\tm2\nChicago_Bulls\tlocated_in\tm2\n");
    put(folder, "entity_name.txt", "m1\tThe White House\nm2\tWashington\n");
    kith_graph *graph = opened(folder);
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "washington"), 1);
    assert_string_equal(name_of(graph, ids[0]), "m2");
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "Chicgo_Buls"), 1);
    assert_string_equal(name_of(graph, ids[0]), "Chicago_Bulls");
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "chicago"), 1);
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "white house"), 1);
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "something else"), 0);
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "m11"), 1);
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "m4x"), 0);
    assert_int_equal(kith_graph_suggest_entities(ids, 1, graph, "Chicaog_Bulls"), 1);
    assert_int_equal(kith_graph_suggest_relations(ids, 4, graph, "locatd_in"), 1);
    assert_int_equal(kith_graph_suggest_relations(ids, 0, graph, "locatd_in"), 0);
    kith_graph_free(graph);
}

/* The names suggested for a text, in order. */
static const char *suggested(const kith_graph *graph, const char *text)
{
    static char list[512];
    uint32_t ids[4];
    size_t count = kith_graph_suggest_entities(ids, 4, graph, text), used = 0;

    list[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? " " : "",
                                 name_of(graph, ids[i]));
    return list;
}

static void suggestions__the_word_itself_comes_before_names_that_contain_it(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train",
        "dog_paddle.n.01\tis\tthing.n.01\ndog-ear.v.01\tis\tthing.n.01\n"
        "dog.n.02\tis\tthing.n.01\ndog.n.01\tis\tthing.n.01\n"
        "__big_cat_1\tis\tthing.n.01\n__cat_2\tis\tthing.n.01\n"
        "pkg:python3-apt\tis\tthing.n.01\npkg:python3\tis\tthing.n.01\n"
        "hotdog.n.01\tis\tthing.n.01\nAnna Maria Karlsson\tis\tthing.n.01\n");
    put(folder, "aux", "newt.n.01\tis\tthing.n.01\n");
    put(folder, "test", "unheard.n.01\tis\tthing.n.01\nnewt.n.01\tis\tdog.n.01\n");
    kith_graph *graph = opened(folder);
    assert_string_equal(suggested(graph, "dog"), "dog.n.01 dog.n.02 dog-ear.v.01 dog_paddle.n.01");
    assert_string_equal(suggested(graph, "cat"), "__cat_2 __big_cat_1");
    assert_string_equal(suggested(graph, "__cat"), "__cat_2");
    assert_string_equal(suggested(graph, "python3"), "pkg:python3 pkg:python3-apt");
    assert_string_equal(suggested(graph, "hot dog"), "hotdog.n.01");
    assert_string_equal(suggested(graph, "Karlson"), "Anna Maria Karlsson");
    assert_string_equal(suggested(graph, "newt"), "newt.n.01"); /* it has support facts */
    assert_string_equal(suggested(graph, "unheard"), "");       /* it has no facts */
    kith_graph_free(graph);
}

/* ---- memory ---- */

/* Everything that a session does, with the n-th allocation failing. */
static kith_status use_it_all(kith_model *model)
{
    kith_session *session = NULL;
    kith_answers *answers = NULL;
    kith_explanation *why;
    const kith_question questions[] = {{"new", "lives in", NULL}, {"new", NULL, NULL}};
    kith_status status;

    status = kith_session_new(&session, model, NULL);
    if (status == KITH_OK)
        status = kith_session_add(NULL, session, "new", "plays for", "bulls", NULL);
    if (status == KITH_OK)
        status = kith_session_add(NULL, session, "new", "hates", "bulls", NULL);
    for (int i = 0; i < 2 && status == KITH_OK; i++) {
        status = kith_session_ask(&answers, session, &questions[i], NULL, NULL);
        if (status == KITH_OK)
            kith_answers_free(answers);
    }
    if (status == KITH_OK)
        status = kith_session_explain(&why, session, &questions[0], NULL, NULL);
    if (status == KITH_OK)
        kith_explanation_free(why);
    kith_session_free(session);
    return status;
}

static void memory__any_allocation_may_fail(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = settings_with("lan");
    kith_status status = KITH_ERR_MEMORY;
    size_t n = 0;

    (void)state;
    while (status != KITH_OK) {
        kith_model *model = model_on(graph, &s, 2);
        kith__mem_fail_at(++n);
        status = use_it_all(model);
        kith__mem_fail_at(0);
        assert_true(status == KITH_OK || status == KITH_ERR_MEMORY);
        if (status != KITH_OK) /* and once more, now that there is memory again */
            assert_int_equal(use_it_all(model), KITH_OK);
        kith_model_free(model);
    }
    assert_true(n > 50);
    kith_graph_free(graph);
}

/* Which relations are likely takes a table of pairs of relations: it is limited, and the question
 * then refused. With a relation it is answered. */
static void pairs__too_many_relations_of_one_entity_are_refused(void **state)
{
    enum { RELATIONS = 4200 };
    kith_graph *graph;
    kith_settings settings;
    kith_model *model = NULL;
    kith_answers *answers = NULL;
    kith_missing *missing = NULL;
    kith_error error = {KITH_OK, ""};
    draft t = {0};

    (void)state;
    for (int r = 0; r < RELATIONS; r++)
        add(&t, "hub\tr%d\te%d\n", r, r % 5);
    graph = opened(file("hub.tsv", t.at));
    draft_release(&t);
    assert_int_equal(kith__settings_init(&settings, "release", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&settings, "aggregator", "mean", NULL), KITH_OK);
    settings.dim = 2;
    assert_int_equal(
        kith_model_new(&model, graph, &settings, &(kith_work_options){.threads = 1}, NULL),
        KITH_OK);
    kith_session *session = session_of(model);
    assert_int_equal(kith_session_ask(&answers, session, &(kith_question){"e1", NULL, NULL}, NULL,
                                      &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "ask with a relation");
    assert_int_equal(kith_session_find_missing(&missing, session, NULL, NULL, &error),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_ask(&answers, session, &(kith_question){"hub", "r7", NULL}, NULL,
                                      &error), KITH_OK);
    kith_answers_free(answers);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- a hub with more relations than can be counted in pairs ---- */

static size_t bytes_to_ask_pairs(kith_session *session)
{
    kith_answers *answers = NULL;
    kith_error error;

    kith__mem_count(1);
    assert_int_equal(kith_session_ask(&answers, session, &(kith_question){"hub", NULL, NULL}, NULL,
                                      &error),
                     KITH_ERR_ARGUMENT);
    kith__mem_count(0);
    assert_contains(error.message, "pairs of relations");
    return kith__mem_counted();
}

static void hub__a_session_counts_its_pairs_once_and_in_bounded_memory(void **state)
{
    enum { RELATIONS = 4200 }; /* whose pairs are more than KITH__MOST_IMPLICATIONS */
    const char *folder = new_folder();
    kith_session *session = NULL;
    kith_model *model = NULL;
    kith_settings s;
    draft t = {0};

    (void)state;
    for (int r = 0; r < RELATIONS; r++)
        add(&t, "hub\tr%d\te%d\n", r, r % 7);
    kith_graph *graph = opened(put(folder, "hub.tsv", t.at));
    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&s, "aggregator", "mean", NULL), KITH_OK);
    s.dim = 4;
    assert_int_equal(kith_model_new(&model, graph, &s, &(kith_work_options){.threads = 1}, NULL),
                     KITH_OK);
    assert_int_equal(kith_session_new(&session, model, NULL), KITH_OK);
    assert_true(bytes_to_ask_pairs(session) < (size_t)256 << 20); /* all pairs would be 400 MB */
    assert_true(bytes_to_ask_pairs(session) < (size_t)8 << 20);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
    draft_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs__too_many_relations_of_one_entity_are_refused),
        cmocka_unit_test(questions__bad_ones_are_refused_in_words),
        cmocka_unit_test(questions__known_answers_are_marked_or_left_out),
        cmocka_unit_test(questions__an_entity_is_its_own_answer_only_where_the_relation_has_loops),
        cmocka_unit_test(questions__top_cuts_and_nothing_else),
        cmocka_unit_test(questions__pairs_are_the_best_over_all_relations),
        cmocka_unit_test(questions__many_at_once_are_answered_as_one_by_one),
        cmocka_unit_test(arguments__what_makes_no_sense_is_refused_and_nothing_is_fine),
        cmocka_unit_test(questions__one_that_cannot_be_asked_does_not_hinder_the_others),
        cmocka_unit_test(questions__ids_are_as_good_as_names),
        cmocka_unit_test(options__of_another_size_are_understood),
        cmocka_unit_test(suggestions__go_by_letters_beginnings_and_labels),
        cmocka_unit_test(suggestions__the_word_itself_comes_before_names_that_contain_it),
        cmocka_unit_test(hub__a_session_counts_its_pairs_once_and_in_bounded_memory),
        cmocka_unit_test(memory__any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
