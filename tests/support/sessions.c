#include "sessions.h"

kith_settings settings_with(const char *aggregator)
{
    kith_settings s;

    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    set(&s, "aggregator", aggregator);
    set(&s, "predict", "both");
    s.dim = 8;
    s.max_neighbors = 8;
    return s;
}

kith_graph *graph_with_unseen(uint64_t seed)
{
    const random_shape shape = {.entities = 50,
                                .relations = 4,
                                .train = 70,
                                .dev = 40,
                                .test = 60,
                                .aux = 90,
                                .overlap = true};
    kith__rng rng;

    kith__rng_init(&rng, seed, 5);
    return opened(random_folder(&rng, &shape));
}

kith_session *session_of(kith_model *model)
{
    kith_session *session = NULL;
    kith_error error;

    if (kith_session_new(&session, model, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return session;
}

kith_fact_use say(kith_session *session, const char *s, const char *r, const char *o)
{
    kith_fact_use use = KITH_FACT_USES;
    kith_error error;

    if (kith_session_add(&use, session, s, r, o, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return use;
}

kith_answers *asked_with(kith_session *session, const char *s, const char *r, const char *o,
                         kith_ask_options options)
{
    const kith_question question = {s, r, o};
    kith_answers *answers;
    kith_error error;

    if (kith_session_ask(&answers, session, &question, &options, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return answers;
}

kith_answers *asked(kith_session *session, const char *s, const char *r, const char *o)
{
    return asked_with(session, s, r, o, (kith_ask_options){.top = SIZE_MAX});
}

void refused_question(kith_session *session, kith_question q, kith_status status, const char *part,
                      const char *other)
{
    kith_answers *answers;
    kith_error error;

    assert_int_equal(kith_session_ask(&answers, session, &q, NULL, &error), status);
    assert_contains(error.message, part);
    assert_contains(error.message, other);
}

void same_answers(const kith_answers *a, const kith_answers *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->at[i]->entity, b->at[i]->entity);
        assert_int_equal(a->at[i]->relation, b->at[i]->relation);
        if (a->at[i]->score != b->at[i]->score)
            fail_msg("answer %zu has score %.9g and %.9g", i, a->at[i]->score, b->at[i]->score);
    }
}

kith_graph *teams(void)
{
    return opened(file("teams.tsv", "ann\tplays for\tbulls\nann\tlives in\tchicago\n"
                                    "bob\tplays for\tbulls\nbob\tlives in\tchicago\n"
                                    "cyd\tplays for\tlakers\ncyd\tlives in\tlos angeles\n"
                                    "bulls\tbased in\tchicago\nlakers\tbased in\tlos angeles\n"));
}

const char *name_of(const kith_graph *graph, uint32_t entity)
{
    return kith_graph_entity_name(graph, entity);
}

kith_model *trained_model(const kith_graph *graph, const kith_settings *s)
{
    const char *folder = new_run();
    kith_train_end end;
    kith_model *model = NULL;
    kith_error error;
    kith_settings few = *s;

    few.epochs = 1;
    if (kith_train(&end, folder, graph, &few, NULL, &error) != KITH_OK ||
        kith_model_open(&model, folder, &(kith_work_options){.threads = 2}, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return model;
}

kith_explanation *explained_query(kith_session *session, const char *s, const char *r,
                                  const char *o)
{
    const kith_question question = {s, r, o};
    kith_explanation *e;
    kith_error error;

    if (kith_session_explain(&e, session, &question, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return e;
}
