#include "people.h"

kith_graph *graph;

kith_model *model;

const char *run, *source;

static void add_person(draft *to, int i, bool all)
{
    add(to, "p%d\tborn_in\tcity%d\n", i, i % CITIES);
    add(to, "p%d\tknows\tp%d\n", i, (i * 7 + 1) % PEOPLE);
    if (all)
        add(to, "p%d\tcitizen_of\tcountry%d\n", i, i % CITIES % 3);
}

int make_world(void **state)
{
    draft train = {0}, aux = {0}, test = {0};

    (void)state;
    for (int i = 0; i < CITIES; i++)
        add(&train, "city%d\tlocated_in\tcountry%d\n", i, i % 3);
    for (int i = 0; i < PEOPLE; i++)
        add_person(&train, i, true);
    for (int i = PEOPLE; i < PEOPLE + UNSEEN; i++) {
        add_person(&aux, i, false);
        add(&test, "p%d\tcitizen_of\tcountry%d\n", i, i % CITIES % 3);
    }
    source = keep(new_folder());
    put(source, "train", train.at);
    put(source, "aux", aux.at);
    put(source, "test", test.at);
    graph = opened(source);
    draft_release(&train);
    draft_release(&aux);
    draft_release(&test);
    kith_settings *settings;
    kith_error error;
    run = new_run();
    if (kith_settings_new(&settings, "rules", &error) != KITH_OK ||
        kith_train(NULL, run, graph, settings, NULL, &error) != KITH_OK ||
        kith_model_open(&model, run, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    kith_settings_free(settings);
    return 0;
}

int free_world(void **state)
{
    (void)state;
    kith_model_free(model);
    kith_graph_free(graph);
    return 0;
}

kith_session *new_session(void)
{
    kith_session *session = NULL;

    assert_int_equal(kith_session_new(&session, model, NULL), KITH_OK);
    return session;
}
