/* What RDF may hold: limits on memory, and IRIs that name nothing. */
#include <sys/resource.h>

#include "support.h"

/* ---- empty IRIs ---- */

static void iri__an_empty_one_without_a_base_is_refused_with_its_line(void **state)
{
    const char *turtle = "<http://x/a> <http://x/r> <http://x/b> .\n";
    static const char *const bad[] = {"<> <http://x/r> <http://x/b> .\n",
                                      "<http://x/a> <> <http://x/b> .\n",
                                      "<http://x/a> <http://x/r> <> .\n"};

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int format_index = 0; format_index < 2; format_index++) {
            const char *name = format_index ? "g.nt" : "g.ttl";
            const char *path = file(name, keep(format("%s%s%s", turtle, bad[i], turtle)));
            refused(path, KITH_ERR_INPUT, format("%s:2: ", name),
                    format_index ? "bad IRI" : "'<>' is an empty IRI, and there is no @base", NULL);
            kith_graph *graph = opened_with(path, 1, true);
            assert_int_equal(kith_graph_report(graph)->bad_lines, 1);
            assert_int_equal(kith_graph_entity_count(graph), 2);
            assert_int_equal(kith_graph_relation_count(graph), 1);
            kith_graph_free(graph);
        }
    refused(file("p.ttl", "@prefix : <> .\n: :r :b .\n"), KITH_ERR_INPUT, "is an empty IRI", NULL);
}

static void iri__one_with_a_tab_or_a_line_end_is_refused(void **state)
{
    static const char *const bad[] = {"<http://x/\\u0009> <http://x/r> <http://x/b> .\n",
                                      "<http://x/a> <http://x/\\u000A> <http://x/b> .\n",
                                      "<http://x/a> <http://x/r> <http://x/\\U0000000D> .\n",
                                      "<http://x/a> <http://x/r> \"1\"^^<http://x/\\u0009> .\n"};

    (void)state;
    for (int i = 0; i < 8; i++) {
        const char *name = i < 4 ? "g.nt" : "g.ttl";
        refused(file(name, keep(format("\n%s", bad[i % 4]))), KITH_ERR_INPUT,
                format("%s:2: ", name), "holds a tab or a line end", NULL);
    }
    kith_graph_free(opened(file("g.nt", "<x:a> <x:r> \"tab \\t line \\n\" .\n")));
}

static void iri__an_empty_one_is_the_base(void **state)
{
    kith_graph *graph = opened(file("g.ttl", "@base <http://x/a> .\n<> <http://x/r> <#b> .\n"));

    (void)state;
    assert_string_equal(facts(graph, KITH_TRAIN), "http://x/a http://x/r http://x/a#b;");
    kith_graph_free(graph);
}

/* ---- long statements ---- */

/* A compressed file: two lines, then `begin`, 70 million letters and `end`. */
static const char *long_file(const char *name, const char *begin, const char *end)
{
    const char *path = keep(format("%s/%s", new_folder(), name));

    if (system(format("{ printf '<http://x/a> <http://x/r> <http://x/b> .\\n\\n%s'; "
                      "head -c 70000000 /dev/zero | tr '\\0' x; printf '%s'; } | gzip -1 > '%s'",
                      begin, end, path)) != 0)
        fail_msg("%s: cannot be written", path);
    return path;
}

static void statement__a_long_one_is_refused_with_its_line(void **state)
{
    const char *turtle = long_file("g.ttl.gz", "<http://x/a> <http://x/r> \"", "\" .\\n");
    const char *triples = long_file("g.nt.gz", "<http://x/a> <http://x/r> \"", "\" .\\n");

    (void)state;
    refused(turtle, KITH_ERR_INPUT, "g.ttl.gz:3: found a statement of more than 64 MiB", NULL);
    refused(triples, KITH_ERR_INPUT, "g.nt.gz: has a line of more than 64 MiB", NULL);
    kith_graph *graph = NULL;
    const kith_open_options skip = {.threads = 1, .skip_bad = 1};
    assert_int_equal(kith_graph_open(&graph, turtle, &skip, NULL), KITH_ERR_INPUT);
}

static void statement__a_long_comment_is_none(void **state)
{
    kith_graph *graph = opened(long_file("g.ttl.gz", "# ", "\\n"));

    (void)state;
    assert_int_equal(kith_graph_facts(graph, KITH_TRAIN).count, 1);
    kith_graph_free(graph);
}

/* ---- many bad statements ---- */

static void bad__lines_without_number_take_no_memory(void **state)
{
    const char *path = keep(format("%s/g.nt", new_folder()));
    struct rusage before, after;

    (void)state;
    if (system(format("{ echo '<http://x/a> <http://x/r> <http://x/b> .'; yes '\\' | "
                      "head -n 2000000; } > '%s'",
                      path)) != 0)
        fail_msg("%s: cannot be written", path);
    getrusage(RUSAGE_SELF, &before);
    kith_graph *graph = opened_with(path, 1, true);
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(kith_graph_report(graph)->bad_lines, 2000000);
    kith_graph_free(graph);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what is freed */
    if (after.ru_maxrss - before.ru_maxrss > 32 << 10)
        fail_msg("found %ld kB more", after.ru_maxrss - before.ru_maxrss);
#endif
}

static void bad__too_many_statements_of_turtle_are_refused(void **state)
{
    const char *path = keep(format("%s/g.ttl", new_folder()));
    const kith_open_options skip = {.threads = 1, .skip_bad = 1};
    kith_graph *graph = NULL;
    kith_error error = {KITH_OK, ""};

    (void)state;
    if (system(format("{ echo '<http://x/a> <http://x/r> <http://x/b> .'; yes 'x .' | "
                      "head -n 1100000; } > '%s'",
                      path)) != 0)
        fail_msg("%s: cannot be written", path);
    assert_int_equal(kith_graph_open(&graph, path, &skip, &error), KITH_ERR_INPUT);
    assert_contains(error.message, "found more than a million statements that are not valid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* first, before others make the largest size of the process larger */
        cmocka_unit_test(bad__lines_without_number_take_no_memory),
        cmocka_unit_test(iri__an_empty_one_without_a_base_is_refused_with_its_line),
        cmocka_unit_test(iri__one_with_a_tab_or_a_line_end_is_refused),
        cmocka_unit_test(iri__an_empty_one_is_the_base),
        cmocka_unit_test(statement__a_long_one_is_refused_with_its_line),
        cmocka_unit_test(statement__a_long_comment_is_none),
        cmocka_unit_test(bad__too_many_statements_of_turtle_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
