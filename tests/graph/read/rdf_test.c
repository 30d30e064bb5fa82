/* N-Triples and Turtle: syntax, prefixes and labels, nesting, bad lines. */
#include <pthread.h>

#include "support.h"
#include "sources.h"

/* ---- N-Triples and Turtle ---- */

static const char *const n_triples_read =
    "http://x/a http://x/r http://x/b;"
    "_:n1 http://x/r \"text\";"
    "http://x/a http://x/s \"caf\xc3\xa9 \\\"q\\\"\\tt" EURO "\"@fr;"
    "http://x/a http://x/s \"5\"^^<http://x/int>;";

static void open__n_triples_are_read_plain_and_packed(void **state)
{
    const char *folder = new_folder();

    (void)state;
    check_facts(put(folder, "g.nt", n_triples), "N-Triples", n_triples_read);
    check_facts(put(folder, "g", n_triples), "N-Triples", n_triples_read);
    check_facts(put_gzip(folder, "g.nt.gz", n_triples, NULL), "N-Triples", n_triples_read);
    check_facts(put_zstd(folder, "g.nt.zst", n_triples, NULL), "N-Triples", n_triples_read);
    check_facts(put_gzip(folder, "g.gz", n_triples, NULL), "N-Triples", n_triples_read);
}

static void open__n_triples_may_have_bom_and_crlf(void **state)
{
    (void)state;
    check_facts(file("g.nt", "\xef\xbb\xbf<http://x/a> <http://x/r> <http://x/b> .\r\n\r\n"
                             "<http://x/b>\t<http://x/r>\t<http://x/c>\t.\r\n"),
                "N-Triples", "http://x/a http://x/r http://x/b;http://x/b http://x/r http://x/c;");
    check_facts(file("g", "\xef\xbb\xbf<http://x/b>\t<http://x/r>\t<http://x/c>\t. \r\n"),
                "N-Triples", "http://x/b http://x/r http://x/c;");
}

static void open__angle_brackets_in_columns_are_no_n_triples(void **state)
{
    (void)state;
    check_facts(file("g", "<a>\t<r>\t<b>\n"), "file of triples", "<a> <r> <b>;");
}

static void open__turtle_expands_prefixes_base_and_abbreviations(void **state)
{
    kith_graph *graph = opened(file("g.ttl", turtle));

    (void)state;
    assert_contains(kith_graph_layout(graph), "Turtle");
    assert_int_equal(kith_graph_facts(graph, KITH_TRAIN).count, 9);
    assert_string_equal(fact(graph, KITH_TRAIN, 0), "http://x/a http://x/r http://x/b");
    assert_string_equal(fact(graph, KITH_TRAIN, 1), "http://x/a http://x/r http://y/c");
    assert_string_equal(
        fact(graph, KITH_TRAIN, 2),
        "http://x/a http://www.w3.org/1999/02/22-rdf-syntax-ns#type http://base/rel");
    assert_string_equal(fact(graph, KITH_TRAIN, 3),
                        "http://base/#frag http://x/p \"two\\nlines\"@en-GB");
    assert_string_equal(fact(graph, KITH_TRAIN, 4),
                        "http://x/n http://x/v \"42\"^^<http://www.w3.org/2001/XMLSchema#integer>");
    assert_string_equal(
        fact(graph, KITH_TRAIN, 5),
        "http://x/n http://x/v \"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>");
    assert_string_equal(fact(graph, KITH_TRAIN, 6), "http://x/n http://x/v \"5\"^^<http://x/int>");
    kith_graph_free(graph);
}

static void open__turtle_blank_nodes_are_entities_of_their_own(void **state)
{
    kith_graph *graph = opened(file("g.ttl", turtle));
    kith_facts f = kith_graph_facts(graph, KITH_TRAIN);
    uint32_t named, unnamed = f.at[7].object;

    (void)state;
    assert_int_equal(kith_graph_find_entity(&named, graph, "_:b"), KITH_OK);
    assert_int_equal(f.at[7].subject, named);
    assert_int_not_equal(unnamed, named);
    assert_int_equal(f.at[8].subject, unnamed);
    assert_contains(kith_graph_entity_name(graph, unnamed), "_:");
    kith_graph_free(graph);
}

static void open__turtle_is_read_plain_and_packed(void **state)
{
    const char *folder = new_folder(), *paths[5];
    kith_graph *plain = opened(put(folder, "g.ttl", turtle));

    (void)state;
    paths[0] = put(folder, "g", turtle); /* recognised by its first line */
    paths[1] = put_gzip(folder, "g.ttl.gz", turtle, NULL);
    paths[2] = put_zstd(folder, "g.ttl.zst", turtle, NULL);
    paths[3] = put_gzip(folder, "g.gz", turtle, NULL);
    paths[4] = put(folder, "bom", format("\xef\xbb\xbf%s", turtle));
    for (int i = 0; i < 5; i++) {
        kith_graph *graph = opened(paths[i]);
        assert_contains(kith_graph_layout(graph), "Turtle");
        assert_same_graph(graph, plain);
        kith_graph_free(graph);
    }
    kith_graph_free(plain);
}

/* Packed content comes in pieces of any size; serd takes a short one for the last. */
static void open__large_packed_n_triples_are_read_whole(void **state)
{
    const char *folder = new_folder();
    kith__rng rng;
    draft t = {0};

    (void)state;
    kith__rng_init(&rng, 16, 0);
    for (unsigned i = 0; i < 30000; i++)
        add(&t, "<http://x/%u> <http://x/r> \"%016llx%016llx%016llx\" .\n", i,
            (unsigned long long)kith__rng_next(&rng), (unsigned long long)kith__rng_next(&rng),
            (unsigned long long)kith__rng_next(&rng));
    kith_graph *plain = opened(put(folder, "g.nt", t.at));
    kith_graph *gzip = opened(put_gzip(folder, "g.nt.gz", t.at, NULL));
    kith_graph *zstd = opened(put_zstd(folder, "g.ttl.zst", t.at, NULL));
    assert_int_equal(kith_graph_facts(plain, KITH_TRAIN).count, 30000);
    assert_same_graph(gzip, plain);
    assert_same_graph(zstd, plain);
    kith_graph_free(plain);
    kith_graph_free(gzip);
    kith_graph_free(zstd);
    draft_release(&t);
}

/* ---- bad input ---- */

static void open__bad_n_triples_name_their_line(void **state)
{
    static const char good[] = "<http://x/a> <http://x/r> <http://x/b> .\n";
    static const char *const bad[] = {
        "<http://x/a> <http://x/r> .\n",
        "<http://x/a> \"r\" <http://x/b> .\n",
        "nonsense\n",
        "<http://x/a> <http://x/r> \"open\n",
        "<http://x/a> <http://x/ r> <http://x/b> .\n",
        "<http://x/a> <http://x/r> \"\\q\" .\n",
        "<http://x/a> <http://x/r> \"\xff\" .\n",
        "<http://x/a> <http://x/r> \"\\u0000\" .\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(file("g.nt", format("%s%s%s", good, bad[i], good)), KITH_ERR_INPUT, "g.nt:2:",
                "found", "N-Triples", NULL);
}

static void open__n_triples_with_nul_are_refused(void **state)
{
    static const char text[] = "<http://x/a> <http://x/r> <http://x/b> .\n"
                               "<http://x/a> <http://x/r> \"a\0b\" .\n"
                               "<http://x/a> <http://x/r> <http://x/c> .\n";
    static const char between[] = "<http://x/a> <http://x/r> <http://x/b> .\n\0\n"
                                  "<http://x/a> <http://x/r> <http://x/c> .\n";
    const char *folder = new_folder();

    (void)state;
    refused(put_bytes(folder, "g.nt", text, sizeof text - 1), KITH_ERR_INPUT, "g.nt:2:", NULL);
    refused(put_bytes(folder, "h.nt", between, sizeof between - 1), KITH_ERR_INPUT,
            "h.nt:2:", NULL);
    refused(put_bytes(folder, "g.ttl", between, sizeof between - 1), KITH_ERR_INPUT, "g.ttl:2:",
            NULL);
}

static void open__bad_turtle_names_its_line(void **state)
{
    static const char *const bad[] = {
        "x:a x:r .\n",
        "x:a x:r x:b x:c .\n",
        "x:a y:r x:b .\n", /* a prefix that nobody declared */
        "y:a x:r x:b .\n",
        "x:a x:r \"5\"^^y:int .\n",
        "x:a x:r \"a\xff\" .\n",
        "x:a x:r \"\\u0000\" .\n",
        "@prefix y <http://y/> .\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(file("g.ttl", format("@prefix x: <http://x/> .\nx:a x:r x:b .\n%sx:c x:r x:d .\n",
                                     bad[i])),
                KITH_ERR_INPUT, "g.ttl:3:", "found", "Turtle", NULL);
}

/* A statement on line 3 with `depth` levels of brackets; they are closed where `close` is given. */
static const char *nested(const char *open, const char *inner, const char *close, int depth)
{
    draft t = {0};

    add(&t, "@prefix e: <http://e/> .\ne:a e:r e:b .\ne:s e:p ");
    for (int i = 0; i < depth; i++)
        add(&t, "%s", open);
    add(&t, "%s", inner);
    for (int i = 0; i < depth && close; i++)
        add(&t, "%s", close);
    if (close)
        add(&t, " .\n");
    const char *path = file("g.ttl", t.at);
    draft_release(&t);
    return path;
}

static void *refuse_nested(void *unused)
{
    static const struct {
        const char *open, *inner, *close;
        int depth;
    } cases[] = {{"[ e:b ", "e:x", " ]", 20000}, {"[ e:b ", "e:x", NULL, 20000},
                 {"( ", "e:x", " )", 50000},     {"( ", "e:x", NULL, 50000},
                 {"[ e:b ( ", "e:x", " ) ]", 900}, {"[ e:b ", "e:x", " ]", 129}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(nested(cases[i].open, cases[i].inner, cases[i].close, cases[i].depth),
                KITH_ERR_INPUT, "g.ttl:3:", "nested more than 128 deep", NULL);
    return unused;
}

static void open__deeply_nested_turtle_is_refused_with_its_line(void **state)
{
    (void)state;
    refuse_nested(NULL);
}

static void open__deeply_nested_turtle_is_refused_on_a_small_stack_too(void **state)
{
    pthread_attr_t small;
    pthread_t thread;

    (void)state;
    pthread_attr_init(&small);
    assert_int_equal(pthread_attr_setstacksize(&small, 256 << 10), 0);
    assert_int_equal(pthread_create(&thread, &small, refuse_nested, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
}

static void open__turtle_is_nested_128_deep_and_brackets_elsewhere_do_not_count(void **state)
{
    draft many = {0};
    kith_graph *graph = opened(nested("[ e:b ", "e:x", " ]", 128));

    (void)state;
    assert_int_equal(kith_graph_facts(graph, KITH_TRAIN).count, 130);
    kith_graph_free(graph);
    for (int i = 0; i < 1000; i++)
        add(&many, "[(");
    graph = opened(file("g.ttl", format("@prefix e: <http://e/> .\n"
                                        "# %.300s\n"
                                        "e:a e:r \"%.300s\\\"%.300s\" , '%.300s' , '' , \"\" .\n"
                                        "e:a e:r \"\"\"%.300s\"\"%.300s\\\"\"\"\" , e:\\(\\( .\n"
                                        "<http://e/(((> e:r [ ] , [ ] , ( e:x ( ) ) .\n",
                                        many.at, many.at, many.at, many.at, many.at, many.at)));
    assert_true(kith_graph_facts(graph, KITH_TRAIN).count > 8);
    kith_graph_free(graph);
    draft_release(&many);
}

static void skip_bad__turtle_goes_on_behind_what_is_nested_too_deep(void **state)
{
    size_t length;
    char *text = contents(nested("[ e:b ", "e:x", " ]", 20000), &length);
    const char more[] = "e:c e:r e:d .\n";

    (void)state;
    text = realloc(text, length + sizeof more);
    memcpy(text + length, more, sizeof more);
    kith_graph *graph = opened_with(file("g.ttl", text), 0, true);
    uint32_t entity;
    assert_int_equal(kith_graph_report(graph)->bad_lines, 1);
    assert_contains(kith_graph_report(graph)->first_bad, "g.ttl:3:");
    assert_int_equal(kith_graph_find_entity(&entity, graph, "http://e/d"), KITH_OK);
    kith_graph_free(graph);
    free(text);
}

/* ---- skip_bad ---- */

static void skip_bad__n_triples_go_on_with_the_next_line(void **state)
{
    static const char text[] = "<http://x/a> <http://x/r> <http://x/b> .\n"
                               "nonsense\n"
                               "<http://x/b> <http://x/r> <http://x/c> .\n"
                               "<http://x/a> <http://x/r> <http://x/d>\n"
                               "<http://x/c> <http://x/r> <http://x/d> .\n"
                               "<http://x/ghost> <http://x/r> \"\xff\" .\n"
                               "<http://x/ghost> <http://x/r> \"\\u0000\" .\n"
                               "<http://x/d> <http://x/r> <http://x/e> .\n"
                               "<http://x/a> <http://x/r> \"open .\n";
    kith_graph *graph;
    uint32_t id;

    (void)state;
    check_skipped(file("g.nt", text), 5, "g.nt:2:", "found",
                  "http://x/a http://x/r http://x/b;http://x/b http://x/r http://x/c;"
                  "http://x/c http://x/r http://x/d;http://x/d http://x/r http://x/e;");
    graph = opened_with(file("g.nt", text), 0, true);
    assert_int_equal(kith_graph_find_entity(&id, graph, "http://x/ghost"), KITH_ERR_NOT_FOUND);
    kith_graph_free(graph);
}

static void skip_bad__n_triples_without_bad_lines_are_all_read(void **state)
{
    kith_graph *strict = opened(file("g.nt", n_triples));
    kith_graph *lenient = opened_with(file("g.nt", n_triples), 0, true);

    (void)state;
    assert_same_graph(lenient, strict);
    assert_int_equal(kith_graph_report(lenient)->bad_lines, 0);
    kith_graph_free(strict);
    kith_graph_free(lenient);
    strict = opened(file("g.ttl", turtle));
    lenient = opened_with(file("g.ttl", turtle), 0, true);
    assert_same_graph(lenient, strict);
    assert_int_equal(kith_graph_report(lenient)->bad_lines, 0);
    kith_graph_free(strict);
    kith_graph_free(lenient);
}

static void skip_bad__turtle_goes_on_with_the_next_statement(void **state)
{
    (void)state;
    check_skipped(file("g.ttl", "@prefix x: <http://x/> .\n"
                                "x:a x:r x:b .\n"
                                "x:a x:r x:b x:c\n"
                                "  x:d .\n"
                                "x:b x:r x:c .\n"
                                "x:b nobody:r x:c .\n"
                                "x:c x:r x:d .\n"),
                  2, "g.ttl:3:", "found",
                  "http://x/a http://x/r http://x/b;http://x/b http://x/r http://x/c;"
                  "http://x/c http://x/r http://x/d;");
}

/* ---- labels and prefixes of RDF ---- */

#define RDFS "http://www.w3.org/2000/01/rdf-schema#"

#define SKOS "http://www.w3.org/2004/02/skos/core#"

static const char *label_of(const kith_graph *graph, const char *name)
{
    uint32_t id;

    assert_int_equal(kith_graph_find_entity(&id, graph, name), KITH_OK);
    return kith_graph_entity_label(graph, id);
}

static void rdf__labels_are_no_facts(void **state)
{
    kith_graph *graph = opened(file("g.nt", "<x:a> <" RDFS "label> \"Aa\"@de .\n"
                                            "<x:a> <x:r> <x:b> .\n"
                                            "<x:a> <" RDFS "label> \"Ah\"@en .\n"
                                            "<x:a> <" RDFS "label> \"A\" .\n"
                                            "<x:b> <" SKOS "prefLabel> \"one\\ttwo\" .\n"
                                            "<x:b> <" SKOS "prefLabel> \"zwei\"@de .\n"
                                            "<x:c> <x:r> <x:b> .\n"
                                            "<x:c> <" RDFS "label> \"Ce\"@fr .\n"
                                            "<x:c> <" RDFS "label> \"Che\"@it .\n"
                                            "<x:d> <x:r> <x:e> .\n"
                                            "<x:d> <" RDFS "label> <x:label> .\n"
                                            "<x:nobody> <" RDFS "label> \"Nobody\" .\n"));
    uint32_t id;

    (void)state;
    assert_string_equal(facts(graph, KITH_TRAIN), "x:a x:r x:b;x:c x:r x:b;x:d x:r x:e;x:d " RDFS
                                                  "label x:label;");
    assert_string_equal(label_of(graph, "x:a"), "Ah");
    assert_string_equal(label_of(graph, "x:b"), "one two");
    assert_string_equal(label_of(graph, "x:c"), "Ce");
    assert_string_equal(label_of(graph, "x:d"), "x:d");
    assert_int_equal(kith_graph_report(graph)->labels, 8);
    assert_int_equal(kith_graph_find_entity(&id, graph, "x:nobody"), KITH_ERR_NOT_FOUND);
    kith_graph_free(graph);
    refused(file("g.nt", "<x:a> <" RDFS "label> \"Aa\" .\n"), KITH_ERR_INPUT,
            "no facts but labels", NULL);
}

static void rdf__labels_do_not_depend_on_threads(void **state)
{
    draft t = {0};
    const char *path;
    kith_graph *one, *four;

    (void)state;
    for (int i = 0; i < 60000; i++) {
        add(&t, "<http://example.org/e%d> <http://example.org/r> <http://example.org/e%d> .\n", i,
            i / 2);
        add(&t, "<http://example.org/e%d> <" RDFS "label> \"L%d\"%s .\n", i % 1000, i,
            i % 7 == 0 ? "@en" : "");
    }
    path = file("g.nt", t.at);
    one = opened_with(path, 1, false);
    four = opened_with(path, 4, false);
    assert_string_equal(label_of(one, "http://example.org/e3"), "L3003");
    for (uint32_t e = 0; e < kith_graph_entity_count(one); e++)
        assert_string_equal(kith_graph_entity_label(one, e), kith_graph_entity_label(four, e));
    kith_graph_free(one);
    kith_graph_free(four);
    free(t.at);
}

static const char *short_of(const kith_graph *graph, const char *name)
{
    static char text[64];

    return kith_graph_short_name(text, sizeof text, graph, name) > 0 ? text : "";
}

static kith_graph *prefixed_graph(void)
{
    return opened(file("g.ttl", "@prefix ex: <http://example.org/> .\n"
                                "@prefix exa: <http://example.org/a/> .\n"
                                "@prefix foaf: <http://mine.org/> .\n"
                                "ex:a ex:r exa:b . exa:b foaf:r <http://xmlns.com/foaf/0.1/x> .\n"
                                "<ex:c> ex:r <http://example.org/c> .\n"
                                "ex:a <" RDFS "label> \"A a\" . exa:b <" RDFS "label> \"B\" .\n"
                                "<ex:c> <" RDFS "label> \"B\" .\n"));
}

static void prefixes__shorten_iris(void **state)
{
    kith_graph *graph = prefixed_graph();
    char text[8];

    (void)state;
    assert_string_equal(short_of(graph, "http://example.org/a"), "ex:a");
    assert_string_equal(short_of(graph, "http://example.org/a/b"), "exa:b");
    assert_string_equal(short_of(graph, "http://www.wikidata.org/entity/Q42"), "wd:Q42");
    assert_string_equal(short_of(graph, "http://example.org/x/y"), "");
    assert_string_equal(short_of(graph, "http://example.org/"), "");
    /* Another meaning in the file, and a short form that is a name of its own. */
    assert_string_equal(short_of(graph, "http://xmlns.com/foaf/0.1/x"), "");
    assert_string_equal(short_of(graph, "http://mine.org/r"), "foaf:r");
    assert_string_equal(short_of(graph, "http://example.org/c"), "");
    assert_string_equal(short_of(graph, "plain"), "");
    assert_int_equal(kith_graph_short_name(text, 4, graph, "http://example.org/a"), 0);
    assert_int_equal(kith_graph_short_name(text, 5, graph, "http://example.org/a"), 4);
    kith_graph_free(graph);
}

static const char *meant_by(const kith_graph *graph, const char *text)
{
    static char text_of_error[sizeof((kith_error *)0)->message];
    kith_error error = {KITH_OK, ""};
    uint32_t id;
    kith_status status = kith_graph_resolve_entity(&id, graph, text, &error);

    return status == KITH_OK                ? kith_graph_entity_name(graph, id)
           : status == KITH_ERR_NOT_FOUND ? "none"
                                            : strcpy(text_of_error, error.message);
}

static void names__are_meant_by_iri_prefix_and_label(void **state)
{
    kith_graph *graph = prefixed_graph();
    kith_error error;
    uint32_t id;

    (void)state;
    assert_string_equal(meant_by(graph, "http://example.org/a"), "http://example.org/a");
    assert_string_equal(meant_by(graph, "<http://example.org/a>"), "http://example.org/a");
    assert_string_equal(meant_by(graph, "ex:a"), "http://example.org/a");
    assert_string_equal(meant_by(graph, "A a"), "http://example.org/a");
    assert_string_equal(meant_by(graph, "ex:c"), "ex:c");
    assert_string_equal(meant_by(graph, "ex:nobody"), "none");
    assert_string_equal(meant_by(graph, "a a"), "none");
    assert_string_equal(meant_by(graph, "B"), "'B' is the label of 2 entities: "
                                              "'http://example.org/a/b', 'ex:c'");
    assert_int_equal(kith_graph_resolve_relation(&id, graph, "foaf:r", &error), KITH_OK);
    assert_string_equal(kith_graph_relation_name(graph, id), "http://mine.org/r");
    assert_int_equal(kith_graph_resolve_relation(&id, graph, "B", &error), KITH_ERR_NOT_FOUND);
    assert_int_equal(kith_graph_resolve_relation(&id, graph, NULL, &error), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_resolve_entity(NULL, graph, "B", &error), KITH_ERR_ARGUMENT);
    kith_graph_free(graph);
}

static void prefixes__are_kept_with_a_saved_graph(void **state)
{
    kith_graph *graph = prefixed_graph(), *again;
    const char *folder = new_folder();
    char *to = NULL;
    kith_error error;

    (void)state;
    assert_true(asprintf(&to, "%s/saved", folder) > 0);
    assert_int_equal(kith_graph_save(graph, to, NULL, &error), KITH_OK);
    again = opened(to);
    assert_string_equal(short_of(again, "http://example.org/a/b"), "exa:b");
    assert_string_equal(label_of(again, "http://example.org/a"), "A a");
    kith_graph_free(again);
    put(to, "prefixes.txt", "ex:\thttp://example.org/\nex\thttp://x/\n");
    refused(to, KITH_ERR_INPUT, "prefixes.txt:2:", "expected a prefix with its colon", NULL);
    kith_graph_free(graph);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rdf__labels_are_no_facts),
        cmocka_unit_test(rdf__labels_do_not_depend_on_threads),
        cmocka_unit_test(prefixes__shorten_iris),
        cmocka_unit_test(names__are_meant_by_iri_prefix_and_label),
        cmocka_unit_test(prefixes__are_kept_with_a_saved_graph),
        cmocka_unit_test(open__n_triples_are_read_plain_and_packed),
        cmocka_unit_test(open__n_triples_may_have_bom_and_crlf),
        cmocka_unit_test(open__angle_brackets_in_columns_are_no_n_triples),
        cmocka_unit_test(open__turtle_expands_prefixes_base_and_abbreviations),
        cmocka_unit_test(open__turtle_blank_nodes_are_entities_of_their_own),
        cmocka_unit_test(open__turtle_is_read_plain_and_packed),
        cmocka_unit_test(open__large_packed_n_triples_are_read_whole),
        cmocka_unit_test(open__bad_n_triples_name_their_line),
        cmocka_unit_test(open__n_triples_with_nul_are_refused),
        cmocka_unit_test(open__bad_turtle_names_its_line),
        cmocka_unit_test(open__deeply_nested_turtle_is_refused_with_its_line),
        cmocka_unit_test(open__deeply_nested_turtle_is_refused_on_a_small_stack_too),
        cmocka_unit_test(open__turtle_is_nested_128_deep_and_brackets_elsewhere_do_not_count),
        cmocka_unit_test(skip_bad__turtle_goes_on_behind_what_is_nested_too_deep),
        cmocka_unit_test(skip_bad__n_triples_go_on_with_the_next_line),
        cmocka_unit_test(skip_bad__n_triples_without_bad_lines_are_all_read),
        cmocka_unit_test(skip_bad__turtle_goes_on_with_the_next_statement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
