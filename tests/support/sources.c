#include "sources.h"

void check_facts(const char *path, const char *layout, const char *expected)
{
    kith_graph *graph = opened(path);

    assert_contains(kith_graph_layout(graph), layout);
    assert_string_equal(facts(graph, KITH_TRAIN), expected);
    assert_int_equal(kith_graph_report(graph)->bad_lines, 0);
    assert_string_equal(kith_graph_report(graph)->first_bad, "");
    kith_graph_free(graph);
}

void put_maps(const char *folder)
{
    put(folder, "entity2id.txt", "/m/a\t1\n/m/b\t0\n/m/c d\t3\n/m/e\t2\n");
    put(folder, "relation2id.txt", "likes\t1\nknows\t0\n");
}

void check_skipped(const char *path, size_t bad, const char *first, const char *what,
                   const char *expected)
{
    kith_graph *graph = opened_with(path, 0, true);
    kith_load_report report = *kith_graph_report(graph);

    if (report.bad_lines != bad)
        fail_msg("%s: found %zu bad lines (the first: %s), expected %zu", path, report.bad_lines,
                 report.first_bad, bad);
    assert_contains(report.first_bad, first);
    assert_contains(report.first_bad, what);
    assert_string_equal(facts(graph, KITH_TRAIN), expected);
    kith_graph_free(graph);
}
