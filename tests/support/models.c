#include "models.h"

kith_settings preset(const char *name)
{
    kith_settings s;
    assert_int_equal(kith__settings_init(&s, name, NULL), KITH_OK);
    return s;
}

kith_settings small(const char *aggregator)
{
    kith_settings s = preset("release");
    set(&s, "aggregator", aggregator);
    s.dim = DIM;
    return s;
}

uint32_t entity(const kith_graph *graph, const char *name)
{
    uint32_t id = 0;
    assert_int_equal(kith_graph_find_entity(&id, graph, name), KITH_OK);
    return id;
}

kith_graph *hub_graph(int neighbors)
{
    draft t = {0};

    for (int i = 0; i < neighbors; i++) {
        if (i % 2)
            add(&t, "hub\tr%d\tn%d\n", i % 3, i);
        else
            add(&t, "n%d\tr%d\thub\n", i, i % 3);
    }
    for (int i = 0; i < 12; i++)
        add(&t, "n%d\tr0\tn%d\n", i, i + 1);
    kith_graph *graph = opened(file("train", t.at));
    draft_release(&t);
    return graph;
}
