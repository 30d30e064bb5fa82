#include "films.h"

kith_graph *films(void)
{
    draft t = {0};

    for (int i = 0; i < 40; i++)
        add(&t, "city%d\tlocated_in\tcountry%d\n", i, i % 5);
    for (int i = 0; i < 120; i++)
        add(&t,
            "person%d\tborn_in\tcity%d\nperson%d\tcitizen_of\tcountry%d\n"
            "film%d\tdirected_by\tperson%d\nfilm%d\tmade_in\tcountry%d\n",
            i, i % 40, i, i % 5, i, i, i, i % 5);
    kith_graph *graph = opened(file("films.tsv", t.at));
    draft_release(&t);
    return graph;
}

kith_model *trained_with(const kith_graph *graph, const char *evidence, const char *aggregator)
{
    const char *folder = new_run();
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

kith_model *trained(const kith_graph *graph, const char *evidence)
{
    return trained_with(graph, evidence, "table");
}

kith_session *session_with(kith_model *model, said_fact *facts, size_t count)
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

const char *grown_films(bool with_aux)
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

const char *name_in(const kith_graph *graph, uint32_t entity)
{
    return kith_graph_entity_name(graph, entity);
}

said_fact lyon[] = {{"Besson", "born_in", "Lyon"},
                    {"Lyon", "located_in", "country3"},
                    {"Nikita", "directed_by", "Besson"}};

kith_explanation *explained(kith_session *session, kith_question q)
{
    kith_explanation *e;
    kith_error error;

    if (kith_session_explain(&e, session, &q, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return e;
}
