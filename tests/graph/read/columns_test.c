/* Every layout in, and every bad input refused. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/duplicates.h"
#include "support.h"

#define EURO "\xe2\x82\xac"

static const char *const three_facts = "a\tlikes\tb\nb\tlikes\tc\na\tknows\tc\n";
static const char *const three_read = "a likes b;b likes c;a knows c;";

static void check_facts(const char *path, const char *layout, const char *expected)
{
    kith_graph *graph = opened(path);

    assert_contains(kith_graph_layout(graph), layout);
    assert_string_equal(facts(graph, KITH_TRAIN), expected);
    assert_int_equal(kith_graph_report(graph)->bad_lines, 0);
    assert_string_equal(kith_graph_report(graph)->first_bad, "");
    kith_graph_free(graph);
}

/* ---- single files of columns ---- */

static void open__tsv_gives_names_ids_in_the_order_met(void **state)
{
    kith_graph *graph = opened(file("g.tsv", "b\ts\ta\na\tr\tc\n"));
    uint32_t id;

    (void)state;
    assert_int_equal(kith_graph_entity_count(graph), 3);
    assert_int_equal(kith_graph_relation_count(graph), 2);
    assert_string_equal(kith_graph_entity_name(graph, 0), "b");
    assert_string_equal(kith_graph_entity_name(graph, 1), "a");
    assert_string_equal(kith_graph_entity_name(graph, 2), "c");
    assert_string_equal(kith_graph_entity_label(graph, 2), "c");
    assert_null(kith_graph_entity_name(graph, 3));
    assert_null(kith_graph_entity_label(graph, 3));
    assert_string_equal(kith_graph_relation_name(graph, 1), "r");
    assert_null(kith_graph_relation_name(graph, 2));
    assert_int_equal(kith_graph_find_entity(&id, graph, "c"), KITH_OK);
    assert_int_equal(id, 2);
    assert_int_equal(kith_graph_find_relation(&id, graph, "s"), KITH_OK);
    assert_int_equal(id, 0);
    assert_int_equal(kith_graph_find_entity(&id, graph, "r"), KITH_ERR_NOT_FOUND);
    assert_int_equal(kith_graph_find_relation(&id, graph, "a"), KITH_ERR_NOT_FOUND);
    kith_graph_free(graph);
    kith_graph_free(NULL);
}

static void open__tsv_is_read_under_any_name(void **state)
{
    (void)state;
    check_facts(file("g.tsv", three_facts), "file of triples", three_read);
    check_facts(file("g.txt", three_facts), "file of triples", three_read);
    check_facts(file("g", three_facts), "file of triples", three_read);
    check_facts(file("facts.data", "a likes b\nb  likes  c\na knows c\n"), "file of triples",
                three_read);
}

static void open__tsv_is_read_packed(void **state)
{
    const char *folder = new_folder();

    (void)state;
    check_facts(put_gzip(folder, "g.tsv.gz", three_facts, NULL), "file of triples", three_read);
    check_facts(put_zstd(folder, "g.tsv.zst", three_facts, NULL), "file of triples", three_read);
    check_facts(put_gzip(folder, "gz", three_facts, NULL), "file of triples", three_read);
    check_facts(put_zstd(folder, "zst", three_facts, NULL), "file of triples", three_read);
}

static void open__gzip_members_and_zstd_frames_follow_each_other(void **state)
{
    const char *folder = new_folder();

    (void)state;
    /* The cut is in the middle of a line. */
    check_facts(put_gzip(folder, "g.tsv.gz", "a\tlikes\tb\nb\tli", "kes\tc\na\tknows\tc\n"),
                "file of triples", three_read);
    check_facts(put_zstd(folder, "g.tsv.zst", "a\tlikes\tb\nb\tli", "kes\tc\na\tknows\tc\n"),
                "file of triples", three_read);
}

/* pzstd begins its files with a skippable frame. */
static void open__a_skippable_zstd_frame_may_come_first(void **state)
{
    const char *folder = new_folder(), *plain = put_zstd(folder, "plain", three_facts, NULL);
    size_t length;
    char *packed = contents(plain, &length), *whole = malloc(length + 12);

    (void)state;
    memcpy(whole, "\x50\x2a\x4d\x18\x04\0\0\0skip", 12);
    memcpy(whole + 12, packed, length);
    check_facts(put_bytes(folder, "g.tsv.zst", whole, length + 12), "file of triples", three_read);
    free(packed);
    free(whole);
}

/* Content that packs well leaves output waiting when all input is taken. */
static void open__large_packed_files_are_read_whole(void **state)
{
    const char *folder = new_folder();
    draft t = {0};

    (void)state;
    for (unsigned i = 0; i < 60000; i++)
        add(&t, "entity%u\trelation\tentity%u\n", i, i + 1);
    kith_graph *plain = opened(put(folder, "g.tsv", t.at));
    kith_graph *gzip = opened(put_gzip(folder, "g.tsv.gz", t.at, t.at));
    kith_graph *zstd = opened(put_zstd(folder, "g.tsv.zst", t.at, t.at));
    assert_same_graph(gzip, plain);
    assert_same_graph(zstd, plain);
    assert_int_equal(kith_graph_report(gzip)->duplicates, 60000);
    assert_int_equal(kith_graph_report(zstd)->duplicates, 60000);
    kith_graph_free(plain);
    kith_graph_free(gzip);
    kith_graph_free(zstd);
    draft_release(&t);
}

static void open__bom_crlf_blank_lines_and_no_last_newline_are_fine(void **state)
{
    static const char text[] =
        "\xef\xbb\xbf" "a\tlikes\tb\r\n\r\n\n  \t \nb\tlikes\tc\n\n\na\tknows\tc";
    const char *folder = new_folder();

    (void)state;
    check_facts(put(folder, "g.tsv", text), "file of triples", three_read);
    check_facts(put_gzip(folder, "g.tsv.gz", text, NULL), "file of triples", three_read);
    check_facts(put_zstd(folder, "g.tsv.zst", text, NULL), "file of triples", three_read);
    check_facts(put(folder, "no-end", "a\tlikes\tb\r\nb\tlikes\tc\r\na\tknows\tc\r"),
                "file of triples", three_read);
}

static void open__names_are_any_utf8(void **state)
{
    (void)state;
    check_facts(file("g.tsv", "Z\xc3\xbcrich\tliegt in\tdie Schweiz\n\xe6\x97\xa5\t" EURO
                              "\t\xf0\x9f\x90\xb6 \"'<>\\\n"),
                "file of triples",
                "Z\xc3\xbcrich liegt in die Schweiz;\xe6\x97\xa5 " EURO
                " \xf0\x9f\x90\xb6 \"'<>\\;");
}

static void open__a_name_of_a_megabyte_is_read(void **state)
{
    size_t length = 1 << 20;
    char *text = malloc(length + 32);

    (void)state;
    memset(text, 'x', length);
    strcpy(text + length, "\tr\tb\nb\tr\tc\n");
    kith_graph *graph = opened(file("g.tsv", text));
    assert_int_equal(strlen(kith_graph_entity_name(graph, 0)), length);
    assert_int_equal(kith_graph_facts(graph, KITH_TRAIN).count, 2);
    kith_graph_free(graph);
    free(text);
}

static void open__duplicates_are_dropped_and_counted(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", "a\tr\tb\nb\tr\ta\na\tr\tb\na\ts\tb\na\tr\tb\n");
    put(folder, "dev", "a\tr\tb\t1\nb\ts\ta\t0\nb\ts\ta\t0\n");
    kith_graph *graph = opened(folder);
    assert_string_equal(facts(graph, KITH_TRAIN), "a r b;b r a;a s b;");
    /* Only what stands twice in its own part is a duplicate. */
    assert_string_equal(facts(graph, KITH_DEV), "a r b true;b s a false;");
    assert_int_equal(kith_graph_report(graph)->duplicates, 3);
    kith_graph_free(graph);
}

/* ---- N-Triples and Turtle ---- */

static const char *const n_triples =
    "# a comment\n"
    "<http://x/a> <http://x/r> <http://x/b> .\n"
    "\n"
    "_:n1 <http://x/r> \"text\" .\n"
    "<http://x/a> <http://x/s> \"caf\xc3\xa9 \\\"q\\\"\\tt\\u20AC\"@fr .\n"
    "<http://x/a> <http://x/s> \"5\"^^<http://x/int> . # behind";
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

static const char *const turtle =
    "@prefix x: <http://x/> .\n"
    "PREFIX y: <http://y/>\n"
    "@base <http://base/> .\n"
    "x:a x:r x:b , y:c ;\n"
    "    a <rel> .\n"
    "<#frag> x:p \"\"\"two\nlines\"\"\"@en-GB .\n"
    "x:n x:v 42 , true , \"5\"^^x:int .\n"
    "_:b x:r [ x:s x:t ] .\n";

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

/* ---- folders ---- */

static const char *const part_files[KITH_SPLITS] = {"train", "dev", "test", "aux"};

static void put_parts(const char *folder, const char *ending)
{
    put(folder, format("train%s", ending), "a\tr\tb\nb\ts\tc\n");
    put(folder, format("dev%s", ending), "a\tr\tc\n");
    put(folder, format("test%s", ending), "d\tr\ta\n");
    put(folder, format("aux%s", ending), "d\ts\tb\n");
}

static void check_parts(const char *folder)
{
    kith_graph *graph = opened(folder);

    assert_contains(kith_graph_layout(graph), "folder of train");
    assert_string_equal(facts(graph, KITH_TRAIN), "a r b;b s c;");
    assert_string_equal(facts(graph, KITH_DEV), "a r c;");
    assert_string_equal(facts(graph, KITH_TEST), "d r a;");
    assert_string_equal(facts(graph, KITH_AUX), "d s b;");
    assert_int_equal(kith_graph_seen_entity_count(graph), 3);
    kith_graph_free(graph);
}

static void open__folder_parts_may_end_in_txt_or_tsv_or_nothing(void **state)
{
    static const char *const endings[] = {"", ".txt", ".tsv"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *folder = new_folder();
        put_parts(folder, endings[i]);
        check_parts(folder);
        check_parts(format("%s/", folder));
    }
}

static void open__folder_parts_may_be_packed(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put_gzip(folder, "train.txt.gz", "a\tr\tb\nb\ts\tc\n", NULL);
    put_zstd(folder, "dev.zst", "a\tr\tc\n", NULL);
    put_gzip(folder, "test.gz", "d\tr\ta\n", NULL);
    put_zstd(folder, "aux.tsv.zst", "d\ts\tb\n", NULL);
    check_parts(folder);
}

static void open__valid_is_another_name_for_dev(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put_parts(folder, ".txt");
    assert_int_equal(rename(format("%s/dev.txt", folder), format("%s/valid.txt", folder)), 0);
    check_parts(folder);
}

static void open__a_folder_needs_only_train(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;

    (void)state;
    put(folder, "train.txt", three_facts);
    graph = opened(folder);
    assert_string_equal(facts(graph, KITH_TRAIN), three_read);
    for (int split = KITH_DEV; split < KITH_SPLITS; split++)
        assert_int_equal(kith_graph_facts(graph, split).count, 0);
    kith_graph_free(graph);
}

static void open__labels_are_1_for_true_and_0_or_minus_1_for_false(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;

    (void)state;
    put(folder, "train", "a\tr\tb\n");
    put(folder, "dev", "a\tr\tb\t1\nb\tr\ta\t-1\n");
    put(folder, "test", "c\tr\tb\t0\nc\tr\ta\t1\n");
    graph = opened(folder);
    assert_null(kith_graph_facts(graph, KITH_TRAIN).truth);
    assert_string_equal(facts(graph, KITH_DEV), "a r b true;b r a false;");
    assert_string_equal(facts(graph, KITH_TEST), "c r b false;c r a true;");
    kith_graph_free(graph);
}

static void put_maps(const char *folder)
{
    put(folder, "entity2id.txt", "/m/a\t1\n/m/b\t0\n/m/c d\t3\n/m/e\t2\n");
    put(folder, "relation2id.txt", "likes\t1\nknows\t0\n");
}

static void open__folder_of_ids_is_named_by_its_maps(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;

    (void)state;
    put_maps(folder);
    put(folder, "train", "1\t0\t3\n3\t0\t1\n");
    put(folder, "test", "0\t1\t1\n");
    graph = opened(folder);
    assert_contains(kith_graph_layout(graph), "entities as ids, relations as ids");
    assert_string_equal(facts(graph, KITH_TRAIN), "/m/a knows /m/c d;/m/c d knows /m/a;");
    assert_string_equal(facts(graph, KITH_TEST), "/m/b likes /m/a;");
    /* All that have a name are there, those of train first and else in the order of the map. */
    assert_int_equal(kith_graph_entity_count(graph), 4);
    assert_int_equal(kith_graph_seen_entity_count(graph), 2);
    assert_string_equal(kith_graph_entity_name(graph, 0), "/m/a");
    assert_string_equal(kith_graph_entity_name(graph, 1), "/m/c d");
    assert_string_equal(kith_graph_entity_name(graph, 2), "/m/b");
    assert_string_equal(kith_graph_entity_name(graph, 3), "/m/e");
    kith_graph_free(graph);
}

static void open__folder_of_names_may_have_maps_too(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;

    (void)state;
    put_maps(folder);
    put(folder, "train.txt", "/m/a\tknows\t/m/c d\n");
    graph = opened(folder);
    assert_contains(kith_graph_layout(graph), "entities as names listed");
    assert_string_equal(facts(graph, KITH_TRAIN), "/m/a knows /m/c d;");
    assert_int_equal(kith_graph_entity_count(graph), 4);
    kith_graph_free(graph);
}

static void open__maps_may_begin_with_their_count_and_part_columns_by_blanks(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;

    (void)state;
    put(folder, "entity2id.txt", "\xef\xbb\xbf" "2\r\na b 0\r\n\r\nc 1");
    put(folder, "relation2id.txt", "1\nr\t0\n");
    put(folder, "train", "0 0 1\n");
    graph = opened(folder);
    assert_string_equal(facts(graph, KITH_TRAIN), "a b r c;");
    kith_graph_free(graph);
}

/* Names that are numbers themselves: what kith writes as ids must be read as ids. */
static void open__ids_win_where_every_id_is_a_name_too(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;

    (void)state;
    put(folder, "entity2id.txt", "2\t0\n0\t1\n1\t2\n");
    put(folder, "relation2id.txt", "1\t0\n0\t1\n");
    put(folder, "train", "0\t0\t1\n1\t1\t2\n");
    graph = opened(folder);
    assert_string_equal(facts(graph, KITH_TRAIN), "2 1 0;0 0 1;");
    kith_graph_free(graph);
}

static void open__entity_name_txt_gives_labels(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;
    uint32_t id;

    (void)state;
    put(folder, "train", "q1\tr\tq2\nq2\tr\tq3\n");
    put(folder, "test", "q0\tr\tq2\n");
    put(folder, "entity_name.txt",
        "\xef\xbb\xbfq2\tsecond one\r\nq9\tunknown\n\nq0\tz\xc3\xa9ro\n");
    graph = opened(folder);
    assert_int_equal(kith_graph_find_entity(&id, graph, "q2"), KITH_OK);
    assert_string_equal(kith_graph_entity_label(graph, id), "second one");
    assert_int_equal(kith_graph_find_entity(&id, graph, "q0"), KITH_OK);
    assert_string_equal(kith_graph_entity_label(graph, id), "z\xc3\xa9ro");
    assert_int_equal(kith_graph_find_entity(&id, graph, "q1"), KITH_OK);
    assert_string_equal(kith_graph_entity_label(graph, id), "q1");
    assert_int_equal(kith_graph_find_entity(&id, graph, "q9"), KITH_ERR_NOT_FOUND);
    kith_graph_free(graph);
}

/* The labels move with the entities when train's are put first. */
static void open__labels_stay_with_entities_that_are_renumbered(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;

    (void)state;
    put(folder, "entity2id.txt", "a\t0\nb\t1\nc\t2\n");
    put(folder, "relation2id.txt", "r\t0\n");
    put(folder, "train", "1\t0\t2\n");
    put(folder, "entity_name.txt", "a\tAlpha\nb\tBeta\n");
    graph = opened(folder);
    assert_string_equal(kith_graph_entity_label(graph, 0), "Beta");
    assert_string_equal(kith_graph_entity_label(graph, 1), "c");
    assert_string_equal(kith_graph_entity_label(graph, 2), "Alpha");
    kith_graph_free(graph);
}

/* ---- OpenKE ---- */

static const char *openke(const char *train)
{
    const char *folder = new_folder();

    put(folder, "entity2id.txt", "3\na\t0\nb\t1\nc\t2\n");
    put(folder, "relation2id.txt", "2\nr\t0\ns\t1\n");
    put(folder, "train2id.txt", train);
    return folder;
}

static void open__openke_has_counts_and_the_object_second(void **state)
{
    const char *folder = openke("2\n0 1 1\n1 2 0\n");
    kith_graph *graph;

    (void)state;
    put(folder, "valid2id.txt", "1\r\n0\t2\t0\r\n");
    put(folder, "test2id.txt", "1\n2 0 1");
    graph = opened(folder);
    assert_contains(kith_graph_layout(graph), "OpenKE");
    assert_string_equal(facts(graph, KITH_TRAIN), "a s b;b r c;");
    assert_string_equal(facts(graph, KITH_DEV), "a r c;");
    assert_string_equal(facts(graph, KITH_TEST), "c s a;");
    kith_graph_free(graph);
}

static void open__openke_count_lines_that_lie_are_refused(void **state)
{
    (void)state;
    refused(openke("3\n0 1 1\n1 2 0\n"), KITH_ERR_INPUT, "train2id.txt:1:", "says 3", "2 facts",
            NULL);
    refused(openke("1\n0 1 1\n1 2 0\n"), KITH_ERR_INPUT, "train2id.txt:1:", "says 1", "2 facts",
            NULL);
    refused(openke("99999999999999999999999\n0 1 1\n"), KITH_ERR_INPUT, "train2id.txt:1:", "says",
            "1 facts", NULL);
    refused(openke("2\n"), KITH_ERR_INPUT, "train2id.txt:1:", "says 2", "0 facts", NULL);
    refused(openke("0\n"), KITH_ERR_INPUT, "train has no facts", NULL);
    const char *folder = openke("1\n0 1 1\n");
    put(folder, "entity2id.txt", "4\na\t0\nb\t1\nc\t2\n");
    refused(folder, KITH_ERR_INPUT, "entity2id.txt:1:", "says 4", "3 names", NULL);
}

static void open__openke_without_count_line_is_refused(void **state)
{
    (void)state;
    refused(openke("0 1 1\n1 2 0\n"), KITH_ERR_INPUT, "train2id.txt:1:", "found '0 1 1'",
            "expected the number of facts", NULL);
}

static void open__openke_ids_out_of_range_are_refused(void **state)
{
    (void)state;
    refused(openke("2\n0 1 1\n0 3 1\n"), KITH_ERR_INPUT, "train2id.txt:3:", "entity id '3'",
            "0 to 2", NULL);
    refused(openke("2\n0 1 1\n0 1 2\n"), KITH_ERR_INPUT, "train2id.txt:3:", "relation id '2'",
            "0 to 1", NULL);
    refused(openke("1\n0 -1 1\n"), KITH_ERR_INPUT, "train2id.txt:2:", "'-1'", "expected an id",
            NULL);
}

static void open__openke_needs_both_maps(void **state)
{
    const char *folder = openke("1\n0 1 1\n");

    (void)state;
    unlink(format("%s/relation2id.txt", folder));
    refused(folder, KITH_ERR_INPUT, "no relation2id.txt", "expected both", NULL);
}

/* ---- WordNet ---- */

static const char *wordnet(void)
{
    const char *folder = new_folder();

    put(folder, "data.noun",
        "  1 The licence is indented.\n"
        "00000100 03 n 01 entity 0 001 ~ 00000200 n 0000 | all there is  \n"
        "00000200 05 n 02 dog 0 domestic_dog 0 002 @ 00000100 n 0000 + 00000300 v 0101 | barks  \n"
        "00000400 18 n 01 dog 1 001 @ 00000100 n 0000 | a dull person  \n"
        "00000500 18 n 01 Fido 0 001 @i 00000200 n 0000 | a name  \n");
    put(folder, "index.noun",
        "  1 The licence is indented.\n"
        "dog n 2 2 @ + 2 1 00000400 00000200  \n"
        "domestic_dog n 1 1 @ 1 0 00000200  \n"
        "entity n 1 1 ~ 1 0 00000100  \n"
        "fido n 1 1 @i 1 0 00000500  \n");
    put(folder, "data.verb",
        "00000300 38 v 01 dog 0 001 + 00000200 n 0101 01 + 08 00 | follow  \n");
    put(folder, "index.verb", "dog v 1 1 + 1 0 00000300  \n");
    put(folder, "data.adj",
        "00000200 00 a 01 galore(ip) 0 001 & 00000700 s 0000 | in plenty  \n"
        "00000700 00 s 01 plentiful 0 001 & 00000200 a 0000 | much  \n");
    put(folder, "index.adj", "galore a 1 1 & 1 0 00000200  \nplentiful a 1 1 & 1 0 00000700  \n");
    put(folder, "data.adv", "00000800 02 r 01 Doggedly 0 001 \\ 00000200 a 0101 | so  \n");
    put(folder, "index.adv", "doggedly r 1 1 \\ 1 0 00000800  \n");
    return folder;
}

static void open__wordnet_names_synsets_by_the_order_of_the_index(void **state)
{
    kith_graph *graph = opened(wordnet());

    (void)state;
    assert_contains(kith_graph_layout(graph), "WordNet");
    assert_string_equal(facts(graph, KITH_TRAIN),
                        "entity.n.01 hyponym dog.n.02;"
                        "dog.n.02 hypernym entity.n.01;"
                        "dog.n.02 derivationally_related_form dog.v.01;"
                        "dog.n.01 hypernym entity.n.01;"
                        "fido.n.01 instance_hypernym dog.n.02;"
                        "dog.v.01 derivationally_related_form dog.n.02;"
                        "galore.a.01 similar_to plentiful.s.01;"
                        "plentiful.s.01 similar_to galore.a.01;"
                        "doggedly.r.01 pertainym galore.a.01;");
    kith_graph_free(graph);
}

/* Words are counted in base 16, pointers in base 10. */
static void open__wordnet_counts_words_in_base_16(void **state)
{
    const char *folder = new_folder();
    draft t = {0};

    (void)state;
    add(&t, "00000100 03 n 0a");
    for (int i = 0; i < 10; i++)
        add(&t, " w%d 0", i);
    add(&t, " 011");
    for (int i = 0; i < 11; i++)
        add(&t, " %s 00000200 n 0000", i % 2 ? "@" : "#p");
    add(&t, " | x\n00000200 03 n 01 other 0 000 | y\n");
    put(folder, "data.noun", t.at);
    kith_graph *graph = opened(folder);
    assert_string_equal(facts(graph, KITH_TRAIN),
                        "w0.n.01 part_holonym other.n.01;w0.n.01 hypernym other.n.01;");
    assert_int_equal(kith_graph_report(graph)->duplicates, 9);
    kith_graph_free(graph);
    draft_release(&t);
}

static void open__wordnet_may_have_bom_crlf_and_no_last_newline(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "data.noun",
        "\xef\xbb\xbf  1 The licence.\r\n\r\n00000100 03 n 01 a 0 001 @ 00000200 n 0000 | x\r\n"
        "00000200 03 n 01 b 0 000 | y");
    check_facts(folder, "WordNet", "a.n.01 hypernym b.n.01;");
}

static void refuse_wordnet(const char *line, const char *found, const char *expected)
{
    const char *folder = new_folder();

    put(folder, "data.noun", format("  1 licence\n00000100 03 n 01 ok 0 000 | x\n%s\n", line));
    refused(folder, KITH_ERR_INPUT, "data.noun:3:", found, expected, NULL);
}

static void open__wordnet_bad_entries_are_refused(void **state)
{
    (void)state;
    refuse_wordnet("0000020 03 n 01 b 0 000 | y", "'0000020 03", "expected a synset");
    refuse_wordnet("00000200 03 x 01 b 0 000 | y", "03 x 01", "expected a synset");
    refuse_wordnet("00000200 03 n 00 b 0 000 | y", "n 00", "expected a synset");
    refuse_wordnet("00000200 03 n 0g b 0 000 | y", "n 0g", "expected a synset");
    refuse_wordnet("00000200", "'00000200'", "expected a synset");
    refuse_wordnet("00000200 03 n 01 b\xff 0 000 | y", "b\\xff", "expected a synset");
    refuse_wordnet("00000100 03 n 01 b 0 000 | y", "'00000100 03", "expected each synset once");
    refuse_wordnet("00000200 03 n 01 b 0 x | y", "b 0 x", "expected the number of pointers");
    refuse_wordnet("00000200 03 n 01 b 0 001 Q 00000100 n 0000 | y", "'Q'",
                   "expected a pointer symbol");
    refuse_wordnet("00000200 03 n 01 b 0 001 @ 00000900 n 0000 | y", "'00000900'",
                   "expected the offset of a synset");
    refuse_wordnet("00000200 03 n 01 b 0 001 @ 00000100 v 0000 | y", "'00000100'",
                   "expected the offset of a synset");
    refuse_wordnet("00000200 03 n 01 b 0 002 @ 00000100 n 0000", "b 0 002", "as many pointers");
}

static void open__wordnet_bad_index_is_refused(void **state)
{
    const char *folder = wordnet();

    (void)state;
    put(folder, "index.noun", "dog n 3 2 @ + 2 1 00000400 00000200  \n");
    refused(folder, KITH_ERR_INPUT, "index.noun:1:", "found 'dog n 3", "expected an index entry",
            NULL);
    put(folder, "index.noun", "dog n two\n");
    refused(folder, KITH_ERR_INPUT, "index.noun:1:", "found 'dog n two'", "expected an index entry",
            NULL);
}

/* ---- ids and neighbourhoods ---- */

static void open__train_has_the_first_ids(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 11, 0);
    for (int round = 0; round < 50; round++) {
        random_shape shape = {30, 5, 20, 10, 10, 10, .maps = round % 2};
        kith_graph *graph = opened(random_folder(&rng, &shape));
        uint8_t entity[1000] = {0}, relation[1000] = {0};
        kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
        for (size_t i = 0; i < train.count; i++) {
            entity[train.at[i].subject] = entity[train.at[i].object] = 1;
            relation[train.at[i].relation] = 1;
        }
        for (uint32_t e = 0; e < kith_graph_entity_count(graph); e++)
            assert_int_equal(entity[e], e < kith_graph_seen_entity_count(graph));
        for (uint32_t r = 0; r < kith_graph_relation_count(graph); r++)
            assert_int_equal(relation[r], r < kith_graph_seen_relation_count(graph));
        kith_graph_free(graph);
    }
}

/* One entity's neighbours, straight from the header's words. */
static size_t expected_neighbors(kith_neighbor *out, const kith_graph *graph, uint32_t e)
{
    uint32_t seen = kith_graph_seen_entity_count(graph), inverse = kith_graph_relation_count(graph);
    kith_facts f = kith_graph_facts(graph, e < seen ? KITH_TRAIN : KITH_AUX);
    size_t count = 0;

    for (size_t i = 0; i < f.count; i++) {
        kith_triple t = f.at[i];
        if (e >= seen && t.relation >= kith_graph_seen_relation_count(graph))
            continue;
        if (t.subject == e && t.object < seen)
            out[count++] = (kith_neighbor){t.relation, t.object};
        if (t.object == e && t.subject < seen)
            out[count++] = (kith_neighbor){t.relation + inverse, t.subject};
    }
    return count;
}

static void check_neighborhoods(const kith_graph *graph)
{
    kith_neighborhoods n = kith_graph_neighborhoods(graph);
    kith_neighbor expected[2000];

    assert_int_equal(n.offset[0], 0);
    for (uint32_t e = 0; e < kith_graph_entity_count(graph); e++) {
        size_t count = expected_neighbors(expected, graph, e);
        assert_int_equal(n.offset[e + 1] - n.offset[e], count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(n.at[n.offset[e] + i].relation, expected[i].relation);
            assert_int_equal(n.at[n.offset[e] + i].entity, expected[i].entity);
        }
    }
}

/* Enough facts that each thread takes a range of the entities. */
static void open__neighborhoods_in_pieces_are_those_of_the_oracle(void **state)
{
    random_shape shape = {.entities = 8000, .relations = 9, .train = 12000, .aux = 6000};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 17, 0);
    const char *folder = random_folder(&rng, &shape);
    for (unsigned threads = 1; threads <= 7; threads += 3) {
        kith_graph *graph = opened_with(folder, threads, false);
        check_neighborhoods(graph);
        kith_graph_free(graph);
    }
}

static void open__neighborhoods_are_those_of_the_oracle(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 12, 0);
    for (unsigned round = 0; round < 100; round++) {
        random_shape shape = {
            2 + round * 7 % 90, 1 + round % 6, 1 + round * 3 % 100,       round % 20,
            round % 20,         round % 60,    .overlap = round % 3 == 0, .maps = round % 2};
        kith_graph *graph = opened_with(random_folder(&rng, &shape), 1 + round % 7, false);
        check_neighborhoods(graph);
        kith_graph_free(graph);
    }
}

/* ---- threads ---- */

static const unsigned thread_counts[] = {1, 2, 3, 7};

/* Enough that it is cut into seven pieces. */
static void large_table(draft *t, kith__rng *rng, bool ids)
{
    while (t->length < 7 << 20) {
        unsigned s = (unsigned)kith__rng_below(rng, 40000),
                 o = (unsigned)kith__rng_below(rng, 4000);
        unsigned r = (unsigned)kith__rng_below(rng, 50);
        if (ids)
            add(t, "%u\t%u\t%u\n", s, r, o);
        else
            add(t, "http://example.org/%u\trelation %u\thttp://example.org/%u%s\n", s, r, o,
                s % 100 ? "" : "\n");
    }
}

static void open__the_number_of_threads_changes_nothing(void **state)
{
    const char *folder = new_folder();
    kith_graph *graphs[4];
    kith__rng rng;
    draft t = {0};

    (void)state;
    kith__rng_init(&rng, 13, 0);
    large_table(&t, &rng, false);
    put(folder, "train", t.at);
    put(folder, "aux", "new\trelation 1\thttp://example.org/1\n");
    for (int i = 0; i < 4; i++) {
        graphs[i] = opened_with(folder, thread_counts[i], false);
        assert_same_graph(graphs[i], graphs[0]);
        assert_int_equal(kith_graph_report(graphs[i])->duplicates,
                         kith_graph_report(graphs[0])->duplicates);
    }
    assert_true(kith_graph_facts(graphs[0], KITH_TRAIN).count > 100000);
    for (int i = 0; i < 4; i++)
        kith_graph_free(graphs[i]);
    draft_release(&t);
}

static char *line_start(char *text, size_t line)
{
    while (--line > 0)
        text = strchr(text, '\n') + 1;
    return text;
}

static void open__bad_lines_have_the_same_number_at_any_number_of_threads(void **state)
{
    static const size_t bad[] = {1, 2, 77777, 120001};
    kith__rng rng;
    draft t = {0};

    (void)state;
    kith__rng_init(&rng, 14, 0);
    large_table(&t, &rng, false);
    for (int k = 0; k < 4; k++) {
        char *place = line_start(t.at, bad[k]);
        while (*place == '\n') /* a blank line */
            place++;
        char old = *place;
        *place = '\xff';
        size_t number = 1;
        for (char *c = t.at; c < place; c++)
            number += *c == '\n';
        const char *path = file("g.tsv", t.at);
        for (int i = 0; i < 4; i++) {
            refused_with(path, thread_counts[i], KITH_ERR_INPUT, format("g.tsv:%zu:", number),
                         "not UTF-8", "\\xff", "expected UTF-8", NULL);
            kith_graph *graph = opened_with(path, thread_counts[i], true);
            assert_int_equal(kith_graph_report(graph)->bad_lines, 1);
            assert_contains(kith_graph_report(graph)->first_bad, format("g.tsv:%zu:", number));
            kith_graph_free(graph);
        }
        *place = old;
        unlink(path);
    }
    draft_release(&t);
}

/* Names are looked up some lines after these are cut: the first bad line must win all the same. */
static void open__the_first_bad_line_is_reported_whatever_is_wrong_with_it(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;

    (void)state;
    put_maps(folder);
    put(folder, "train", "0\t0\t1\n0\t0\t99\n0\t0\n0\t0\t98\n");
    refused(folder, KITH_ERR_INPUT, "train:2:", "'99'", NULL);
    graph = opened_with(folder, 1, true);
    assert_int_equal(kith_graph_report(graph)->bad_lines, 3);
    assert_contains(kith_graph_report(graph)->first_bad, "train:2:");
    kith_graph_free(graph);
}

static void open__the_first_bad_id_is_reported_at_any_number_of_threads(void **state)
{
    const char *folder = new_folder();
    kith__rng rng;
    draft t = {0}, names = {0};

    (void)state;
    kith__rng_init(&rng, 15, 0);
    large_table(&t, &rng, true);
    for (unsigned i = 0; i < 40000; i++)
        add(&names, "n%u\t%u\n", i, i);
    put(folder, "entity2id.txt", names.at);
    names.length = 0;
    for (unsigned i = 0; i < 50; i++)
        add(&names, "r%u\t%u\n", i, i);
    put(folder, "relation2id.txt", names.at);
    memcpy(line_start(t.at, 200000), "-", 1);   /* no id */
    memcpy(line_start(t.at, 200003), "\t", 1);  /* wrong columns or an empty field */
    memcpy(line_start(t.at, 300000), "\xff", 1);
    put(folder, "train", t.at);
    for (int i = 0; i < 4; i++) {
        refused_with(folder, thread_counts[i], KITH_ERR_INPUT, "train:200000:", "expected an id",
                     NULL);
        kith_graph *graph = opened_with(folder, thread_counts[i], true);
        assert_int_equal(kith_graph_report(graph)->bad_lines, 3);
        assert_contains(kith_graph_report(graph)->first_bad, "train:200000:");
        kith_graph_free(graph);
    }
    draft_release(&t);
    draft_release(&names);
}

/* ---- bad input ---- */

static void open__bad_line_names_file_line_found_expected(void **state)
{
    static const struct {
        const char *text, *where, *found, *expected;
    } bad[] = {
        {"a\tr\tb\na\tr\n", "g.tsv:2:", "found 2 columns in 'a\\x09r'", "expected 3"},
        {"a\n", "g.tsv:1:", "found 1 column in 'a'", "expected 3"},
        {"a\tr\tb\tc\n", "g.tsv:1:", "found 4 columns", "expected 3"},
        {"a\tr\tb\t\n", "g.tsv:1:", "found 4 columns", "expected 3"},
        {"\n\na\tr\tb\r\na\tr\tb\tc\td", "g.tsv:4:", "found 5 columns", "separated by tabs"},
        {"a r b\na r b c\n", "g.tsv:2:", "found 4 columns", "separated by spaces"},
        {"a\tr\tb\n\tr\tb\n", "g.tsv:2:", "found an empty subject", "expected a name"},
        {"a\tr\tb\na\t\tb\n", "g.tsv:2:", "found an empty relation", "expected a name"},
        {"a\tr\tb\na\tr\t\n", "g.tsv:2:", "found an empty object", "expected a name"},
        {"a\tr\tb\na\tr\xc3(\tb\n", "g.tsv:2:", "not UTF-8 in 'a\\x09r\\xc3(", "expected UTF-8"},
        {"a\tr\tb\na\tr\tb\xed\xa0\x80\n", "g.tsv:2:", "not UTF-8", "expected UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(file("g.tsv", bad[i].text), KITH_ERR_INPUT, bad[i].where, bad[i].found,
                bad[i].expected, NULL);
}

static void open__a_name_with_nul_is_refused(void **state)
{
    static const char text[] = "a\tr\tb\na\0x\tr\tb\n";

    (void)state;
    refused(put_bytes(new_folder(), "g.tsv", text, sizeof text - 1), KITH_ERR_INPUT, "g.tsv:2:",
            "found a NUL byte in 'a\\x00x", "expected text", NULL);
}

static void open__empty_files_are_refused(void **state)
{
    const char *folder = new_folder();

    (void)state;
    refused(put(folder, "g.tsv", ""), KITH_ERR_INPUT, "g.tsv: is empty", "expected", NULL);
    refused(put(folder, "g.nt", ""), KITH_ERR_INPUT, "g.nt: is empty", NULL);
    refused(put(folder, "g.ttl", ""), KITH_ERR_INPUT, "g.ttl: is empty", NULL);
    refused(put(folder, "blank.tsv", "\n \r\n\n"), KITH_ERR_INPUT, "blank.tsv: holds no facts",
            "expected", NULL);
    refused(put(folder, "bom.tsv", "\xef\xbb\xbf"), KITH_ERR_INPUT, "bom.tsv: holds no facts",
            NULL);
    refused(put(folder, "c.nt", "# nothing\n"), KITH_ERR_INPUT, "c.nt: holds no facts", NULL);
    refused(put(folder, "c.ttl", "@prefix x: <http://x/> .\n"), KITH_ERR_INPUT,
            "c.ttl: holds no facts", NULL);
    refused(put_gzip(folder, "g.tsv.gz", "", NULL), KITH_ERR_INPUT, "g.tsv.gz: holds no facts",
            NULL);
    refused(put_zstd(folder, "g.tsv.zst", "", NULL), KITH_ERR_INPUT, "g.tsv.zst: holds no facts",
            NULL);
}

static void open__empty_files_in_a_folder_are_refused(void **state)
{
    static const char *const others[] = {"dev", "test", "aux", "entity2id.txt", "relation2id.txt",
                                         "entity_name.txt"};

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *folder = new_folder();
        put(folder, "train", three_facts);
        put(folder, others[i], "");
        refused(folder, KITH_ERR_INPUT, format("%s: is empty", others[i]), NULL);
    }
    const char *folder = new_folder();
    put(folder, "train", "");
    refused(folder, KITH_ERR_INPUT, "train: is empty", NULL);
}

/* Cut at every place: never a shorter graph, always a message about the packing. */
static void refuse_cut(const char *path, const char *name, const char *kind)
{
    size_t length;
    char *whole = contents(path, &length);
    const char *folder = new_folder();

    for (size_t cut = 1; cut < length; cut++)
        refused(put_bytes(folder, name, whole, cut), KITH_ERR_INPUT, name, kind, NULL);
    free(whole);
}

static void open__truncated_gzip_and_zstd_are_refused(void **state)
{
    const char *folder = new_folder();

    (void)state;
    refuse_cut(put_gzip(folder, "a", three_facts, NULL), "g.tsv.gz", "gzip");
    refuse_cut(put_zstd(folder, "b", three_facts, NULL), "g.tsv.zst", "zstd");
    refuse_cut(put_gzip(folder, "c", n_triples, NULL), "g.nt.gz", "gzip");
    refuse_cut(put_zstd(folder, "d", turtle, NULL), "g.ttl.zst", "zstd");
}

static void open__damaged_gzip_and_zstd_are_refused(void **state)
{
    const char *folder = new_folder();
    size_t length;
    char *bytes = contents(put_gzip(folder, "a", three_facts, NULL), &length);

    (void)state;
    bytes[length - 6] ^= 1; /* the checksum */
    refused(put_bytes(folder, "g.tsv.gz", bytes, length), KITH_ERR_INPUT, "g.tsv.gz",
            "damaged gzip", NULL);
    free(bytes);
    bytes = contents(put_zstd(folder, "b", three_facts, NULL), &length);
    bytes[4] ^= 8; /* a reserved bit of the frame's header */
    refused(put_bytes(folder, "g.tsv.zst", bytes, length), KITH_ERR_INPUT, "g.tsv.zst",
            "damaged zstd", NULL);
    free(bytes);
}

static void open__missing_paths_are_named(void **state)
{
    const char *folder = new_folder();

    (void)state;
    refused(format("%s/nothing", folder), KITH_ERR_IO, "/nothing: cannot open", "No such file",
            NULL);
    refused(format("%s/nothing", put(folder, "g.tsv", three_facts)), KITH_ERR_IO, "cannot open",
            "Not a directory", NULL);
    refused(folder, KITH_ERR_INPUT, folder, "no knowledge graph in this folder", "expected train",
            "train2id.txt", "WordNet", NULL);
}

static void open__a_broken_link_in_a_folder_is_no_missing_file(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", three_facts);
    assert_int_equal(symlink("nowhere", format("%s/aux", folder)), 0);
    refused(folder, KITH_ERR_IO, "aux: cannot open", "No such file", NULL);
}

static void open__unreadable_files_are_named(void **state)
{
    const char *folder = new_folder(), *path = put(folder, "g.tsv", three_facts);
    bool root = geteuid() == 0;

    (void)state;
    assert_int_equal(chmod(path, 0), 0);
    if (root) /* who may read everything */
        assert_int_equal(seteuid(65534), 0);
    refused(path, KITH_ERR_IO, "g.tsv: cannot open", "Permission denied", NULL);
    if (root)
        assert_int_equal(seteuid(0), 0);
}

static void open__a_folder_given_as_a_file_is_refused(void **state)
{
    static const char *const names[] = {"train", "dev", "test.txt", "aux.tsv", "entity2id.txt",
                                        "relation2id.txt", "entity_name.txt"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *folder = new_folder();
        if (i > 0)
            put(folder, "train", three_facts);
        assert_int_equal(mkdir(format("%s/%s", folder, names[i]), 0755), 0);
        refused(folder, KITH_ERR_INPUT, format("%s: is a folder", names[i]), "expected a file",
                NULL);
    }
}

static void open__two_files_for_one_part_are_refused(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put_parts(folder, "");
    put(folder, "valid.txt", "a\tr\tc\n");
    refused(folder, KITH_ERR_INPUT, "has both dev and valid.txt", "expected one file", NULL);
    unlink(format("%s/valid.txt", folder));
    put(folder, "train.tsv", "a\tr\tc\n");
    refused(folder, KITH_ERR_INPUT, "has both train and train.tsv", "expected one file", NULL);
}

static void refuse_train(const char *train, const char *where, const char *found,
                         const char *expected)
{
    const char *folder = new_folder();

    put_maps(folder);
    put(folder, "train", train);
    refused(folder, KITH_ERR_INPUT, where, found, expected, NULL);
}

static void open__ids_out_of_range_are_refused(void **state)
{
    (void)state;
    refuse_train("0\t0\t1\n4\t0\t1\n", "train:2:", "entity id '4'", "from 0 to 3");
    refuse_train("0\t0\t1\n0\t2\t1\n", "train:2:", "relation id '2'", "from 0 to 1");
    refuse_train("0\t0\t4294967295\n", "train:1:", "entity id '4294967295'", "from 0 to 3");
    refuse_train("0\t0\t4294967296\n", "train:1:", "entity id '4294967296'", "from 0 to 3");
    refuse_train("0\t0\t4294967297\n", "train:1:", "entity id '4294967297'", "from 0 to 3");
    refuse_train("0\t0\t1\n0\t0\t18446744073709551617\n", "train:2:",
                 "entity id '18446744073709551617'", "from 0 to 3");
    refuse_train("0\t0\t1\n-1\t0\t1\n", "train:2:", "entity '-1'", "expected an id from 0 to 3");
    refuse_train("0\t0\t1\n0x1\t0\t1\n", "train:2:", "entity '0x1'", "expected an id");
}

static void open__names_that_the_maps_lack_are_refused(void **state)
{
    (void)state;
    refuse_train("/m/a\tknows\t/m/b\n/m/a\tknows\t/m/z\n", "train:2:", "the entity '/m/z'",
                 "not in entity2id.txt");
    refuse_train("/m/a\tknows\t/m/b\n/m/a\thates\t/m/b\n", "train:2:", "the relation 'hates'",
                 "not in relation2id.txt");
}

static void refuse_map(const char *map, const char *where, const char *found, const char *expected)
{
    const char *folder = new_folder();

    put(folder, "entity2id.txt", map);
    put(folder, "relation2id.txt", "r\t0\n");
    put(folder, "train", "0\t0\t1\n");
    refused(folder, KITH_ERR_INPUT, where, found, expected, NULL);
}

static void open__bad_maps_are_refused(void **state)
{
    (void)state;
    refuse_map("a\t0\nb\n", "entity2id.txt:2:", "found 'b'", "expected a name and its id");
    refuse_map("a\t0\nb\tx\n", "entity2id.txt:2:", "found 'b\\x09x'", "expected a name and its id");
    refuse_map("a\t0\nb\t-1\n", "entity2id.txt:2:", "found 'b\\x09-1'",
               "expected a name and its id");
    refuse_map("a\t0\nb\t\n", "entity2id.txt:2:", "found 'b\\x09'", "expected a name and its id");
    refuse_map("a\t0\n\t1\n", "entity2id.txt:2:", "found '\\x091'", "expected a name and its id");
    refuse_map("a\t0\nb\xff\t1\n", "entity2id.txt:2:", "found 'b\\xff", "expected UTF-8");
    refuse_map("a\t0\na\t1\n", "entity2id.txt:2:", "found 'a' a second time", "expected each name");
    refuse_map("a\t0\nb\t1\nc\t1\n", "entity2id.txt:3:", "the id 1", "expected each id once");
    refuse_map("a\t0\nb\t2\n", "entity2id.txt:2:", "the id 2", "from 0 to 1");
    refuse_map("a\t0\nb\t4294967294\n", "entity2id.txt:2:", "the id 4294967294", "from 0 to 1");
    refuse_map("a\t0\nb\t4294967295\n", "entity2id.txt:2:", "4294967295", "from 0");
    refuse_map("a\t0\nb\t4294967297\n", "entity2id.txt:2:", "4294967297", "from 0");
    refuse_map("a\t0\nb\t18446744073709551617\n", "entity2id.txt:2:", "18446744073709551617",
               "from 0");
    refuse_map("5\na\t0\nb\t1\n", "entity2id.txt:1:", "says 5", "2 names");
    refuse_map("4294967296\na\t0\nb\t1\n", "entity2id.txt:1:", "says 4294967296", "2 names");
    refuse_map("\n\n", "entity2id.txt:", "holds no names", "expected");
    refuse_map("0\n", "entity2id.txt:", "holds no names", "expected");
}

static void refuse_dev(const char *dev, const char *where, const char *found, const char *expected)
{
    const char *folder = new_folder();

    put(folder, "train", three_facts);
    put(folder, "dev", dev);
    refused(folder, KITH_ERR_INPUT, where, found, expected, NULL);
}

static void open__bad_labels_are_refused(void **state)
{
    (void)state;
    refuse_dev("a\tlikes\tb\t2\n", "dev:1:", "the label '2'", "expected 1, 0 or -1");
    refuse_dev("a\tlikes\tb\t1\na\tlikes\tc\ttrue\n", "dev:2:", "the label 'true'",
               "expected 1, 0 or -1");
    refuse_dev("a\tlikes\tb\t1\na\tlikes\tc\t\n", "dev:2:", "the label ''", "expected 1, 0 or -1");
    refuse_dev("a\tlikes\tb\t1\na\tlikes\tc\n", "dev:2:", "found 3 columns", "expected 4");
    refuse_dev("a\tlikes\tb\na\tlikes\tc\t1\n", "dev:2:", "found 4 columns", "expected 3");
}

static void open__train_and_aux_have_no_labels(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", "a\tlikes\tb\t1\n");
    refused(folder, KITH_ERR_INPUT, "train:1:", "found 4 columns", "expected 3", NULL);
    put(folder, "train", three_facts);
    put(folder, "aux", "a\tlikes\tb\t1\n");
    refused(folder, KITH_ERR_INPUT, "aux:1:", "found 4 columns", "expected 3", NULL);
}

static void open__bad_entity_names_are_refused(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", three_facts);
    put(folder, "entity_name.txt", "a\tAlpha\nb Beta\n");
    refused(folder, KITH_ERR_INPUT, "entity_name.txt:2:", "found 'b Beta'",
            "expected a name and its label", NULL);
    put(folder, "entity_name.txt", "a\tAl\xffpha\n");
    refused(folder, KITH_ERR_INPUT, "entity_name.txt:1:", "Al\\xffpha", "expected", NULL);
}

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

/* ---- duplicates while reading ---- */

static void duplicates__memory_goes_by_distinct_facts(void **state)
{
    enum { LINES = 10 << 20 };
    kith__facts facts = {0};
    kith__collector collector = {0};

    (void)state;
    for (uint32_t i = 0; i < LINES; i++) {
        int8_t truth = i < 5;
        assert_int_equal(kith__collect(&facts, &collector, (kith_triple){i % 5, 0, 7}, &truth), 0);
    }
    assert_true(facts.capacity <= 2 << 20);
    assert_int_equal(facts.count + collector.dropped, LINES);
    for (uint32_t i = 0; i < 5; i++) { /* the first of equal facts stays, with its label */
        assert_int_equal(facts.at[i].subject, i);
        assert_int_equal(facts.truth[i], 1);
    }
    kith__facts_release(&facts);
}

static void duplicates__what_is_distinct_is_kept_in_order(void **state)
{
    enum { LINES = 5 << 20, DISTINCT = 1500000 };
    kith__facts facts = {0};
    kith__collector collector = {0};
    size_t dropped = 0;

    (void)state;
    for (uint32_t i = 0; i < LINES; i++)
        assert_int_equal(
            kith__collect(&facts, &collector, (kith_triple){i % DISTINCT, 1, 2}, NULL), 0);
    assert_int_equal(facts.count + collector.dropped, LINES);
    assert_true(collector.dropped > 0);
    assert_int_equal(kith__drop_duplicates(&dropped, &facts, NULL, NULL), KITH_OK);
    assert_int_equal(facts.count, DISTINCT);
    for (uint32_t i = 0; i < DISTINCT; i++)
        if (facts.at[i].subject != i)
            fail_msg("fact %u is %u", i, facts.at[i].subject);
    kith__facts_release(&facts);
}

static void duplicates__are_counted_in_columns_and_in_rdf(void **state)
{
    enum { LINES = 1200000 };
    static const char *const lines[] = {"a\tr\tb\n", "<x:a> <x:r> <x:b> .\n"};
    static const char *const names[] = {"g.tsv.gz", "g.nt.gz"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(lines[i]);
        char *text = malloc(LINES * length + 1);
        for (size_t at = 0; at < LINES; at++)
            memcpy(text + at * length, lines[i], length + 1);
        kith_graph *graph = opened(put_gzip(new_folder(), names[i], text, NULL));
        assert_int_equal(kith_graph_facts(graph, KITH_TRAIN).count, 1);
        assert_int_equal(kith_graph_report(graph)->duplicates, LINES - 1);
        kith_graph_free(graph);
        free(text);
    }
}

/* ---- skip_bad ---- */

static void check_skipped(const char *path, size_t bad, const char *first, const char *what,
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

static void skip_bad__counts_bad_lines_and_reports_the_first(void **state)
{
    (void)state;
    check_skipped(file("g.tsv", "a\tlikes\tb\na\t\tb\nb\tlikes\tc\nx\xff\tr\tb\nx\na\tknows\tc\n"),
                  3, "g.tsv:2:", "empty relation", three_read);
}

static void skip_bad__goes_on_behind_bad_labels_ids_and_names(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;

    (void)state;
    put_maps(folder);
    put(folder, "train", "0\t0\t1\n9\t0\t1\n1\t0\t2\n");
    put(folder, "dev", "0\t0\t1\t1\n0\t0\t1\t7\n0\t1\t1\t0\n");
    graph = opened_with(folder, 0, true);
    assert_string_equal(facts(graph, KITH_TRAIN), "/m/b knows /m/a;/m/a knows /m/e;");
    assert_string_equal(facts(graph, KITH_DEV), "/m/b knows /m/a true;/m/b likes /m/a false;");
    assert_int_equal(kith_graph_report(graph)->bad_lines, 2);
    assert_contains(kith_graph_report(graph)->first_bad, "train:2:");
    kith_graph_free(graph);
}

static void skip_bad__a_skipped_line_leaves_no_names_behind(void **state)
{
    const char *folder = new_folder();
    kith_graph *graph;

    (void)state;
    put(folder, "relation2id.txt", "r\t0\n");
    put(folder, "train", "a\t0\tb\nghost\t9\tb\n");
    graph = opened_with(folder, 0, true);
    assert_int_equal(kith_graph_report(graph)->bad_lines, 1);
    assert_int_equal(kith_graph_entity_count(graph), 2);
    kith_graph_free(graph);
    folder = new_folder();
    put(folder, "entity2id.txt", "a\t0\nb\t1\n");
    put(folder, "train", "0\tr\t1\n0\tghost\t9\n");
    graph = opened_with(folder, 0, true);
    assert_int_equal(kith_graph_report(graph)->bad_lines, 1);
    assert_int_equal(kith_graph_relation_count(graph), 1);
    kith_graph_free(graph);
}

static void skip_bad__a_lying_count_is_reported(void **state)
{
    (void)state;
    check_skipped(openke("7\n0 1 1\n1 2 0\n"), 1, "train2id.txt:1:", "says 7", "a s b;b r c;");
    check_skipped(openke("0 1 1\n1 2 0\n"), 1, "train2id.txt:1:", "expected the number of facts",
                  "a s b;b r c;");
    /* A bad line was a line all the same: the count is right. */
    check_skipped(openke("3\n0 1 1\n0 9 1\n1 2 0\n"), 1, "train2id.txt:3:", "id '9'",
                  "a s b;b r c;");
}

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

static void skip_bad__wordnet_counts_bad_entries_once(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "data.noun",
        "00000100 03 n 01 a 0 001 @ 00000200 n 0000 | x\n"
        "nonsense\n"
        "00000200 03 n 01 b 0 001 Q 00000100 n 0000 | x\n"
        "00000300 03 n 01 c\xff 0 001 @ 00000200 n 0000 | x\n");
    check_skipped(folder, 3, "data.noun:2:", "found 'nonsense'", "a.n.01 hypernym b.n.01;");
}

static void skip_bad__a_file_without_a_good_line_is_refused(void **state)
{
    static const char *const names[] = {"g.tsv", "g.nt", "g.ttl"};
    kith_open_options options = {.skip_bad = 1};

    (void)state;
    for (int i = 0; i < 3; i++) {
        kith_graph *graph = NULL;
        kith_error error;
        assert_int_equal(kith_graph_open(&graph, file(names[i], "nonsense\nmore\n"), &options,
                                         &error),
                         KITH_ERR_INPUT);
        assert_contains(error.message, names[i]);
        assert_contains(error.message, "found");
    }
}

static void skip_bad__an_empty_part_is_reported(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", three_facts);
    put(folder, "aux", "");
    check_skipped(folder, 1, "aux:", "is empty", three_read);
}

static void open__works_without_options_and_error(void **state)
{
    kith_graph *graph = NULL;

    (void)state;
    assert_int_equal(kith_graph_open(&graph, file("g.tsv", three_facts), NULL, NULL), KITH_OK);
    kith_graph_free(graph);
    assert_int_equal(kith_graph_open(&graph, file("g.tsv", "a\n"), NULL, NULL), KITH_ERR_INPUT);
    assert_int_equal(kith_graph_open(&graph, "/nowhere", NULL, NULL), KITH_ERR_IO);
}

/* ---- real data ---- */

static void check_real(const char *name, const char *layout, size_t relations, size_t seen,
                       size_t unseen, uint64_t most, double mean)
{
    const char *path = shared_data(name);
    kith_stats stats;

    if (!path)
        skip();
    kith_graph *graph = opened(path);
    assert_contains(kith_graph_layout(graph), layout);
    stats = stats_of(graph);
    assert_int_equal(stats.relations, relations);
    assert_int_equal(stats.seen, seen);
    assert_int_equal(stats.unseen, unseen);
    assert_int_equal(stats.neighbors_min, 1);
    if (most) {
        assert_int_equal(stats.neighbors_max, most);
        if (stats.neighbors_mean < mean - .05 || stats.neighbors_mean >= mean + .05)
            fail_msg("found a mean of %g neighbours, expected %g", stats.neighbors_mean, mean);
    }
    kith_graph_free(graph);
}

static void real__subject_10_has_the_statistics_of_the_paper(void **state)
{
    (void)state;
    check_real("fb15k/subject-10", "folder of train", 1170, 10336, 2082, 5639, 31.6);
}

static void real__object_10_has_the_statistics_of_the_paper(void **state)
{
    (void)state;
    check_real("fb15k/object-10", "folder of train", 1126, 10603, 1934, 5718, 30.9);
}

static void real__wn18rr_is_read_in_openke_layout(void **state)
{
    const char *path = shared_data("wn18rr");

    (void)state;
    if (!path)
        skip();
    kith_graph *graph = opened(path);
    assert_contains(kith_graph_layout(graph), "OpenKE");
    assert_int_equal(kith_graph_entity_count(graph), 40943);
    assert_int_equal(kith_graph_relation_count(graph), 11);
    assert_int_equal(kith_graph_facts(graph, KITH_TRAIN).count, 86835);
    assert_int_equal(kith_graph_facts(graph, KITH_DEV).count, 3034);
    assert_int_equal(kith_graph_facts(graph, KITH_TEST).count, 3134);
    assert_string_equal(fact(graph, KITH_TRAIN, 0), "00260881 _hypernym 00260622");
    kith_graph_free(graph);
}

static size_t count_lines(const char *path)
{
    size_t length, lines = 0;
    char *text = contents(path, &length);

    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n' || i + 1 == length;
    free(text);
    return lines;
}

static void real__wn11_has_labelled_dev_and_test(void **state)
{
    const char *path = shared_data("wn11/both-1000");
    size_t all = 0, untrue = 0;

    (void)state;
    if (!path)
        skip();
    kith_graph *graph = opened(path);
    for (int split = 0; split < KITH_SPLITS; split++) {
        kith_facts f = kith_graph_facts(graph, split);
        assert_int_equal(f.truth != NULL, split == KITH_DEV || split == KITH_TEST);
        all += f.count;
        for (size_t i = 0; f.truth && i < f.count; i++)
            untrue += !f.truth[i];
    }
    size_t lines = 0;
    for (int split = 0; split < KITH_SPLITS; split++)
        lines += count_lines(format("%s/%s", path, part_files[split]));
    assert_int_equal(all + kith_graph_report(graph)->duplicates, lines);
    assert_true(untrue > 0);
    assert_int_equal(kith_graph_relation_count(graph), 11);
    kith_graph_free(graph);
}

static void real__wordnet_of_debian_has_known_synsets(void **state)
{
    uint32_t dog, canine, hypernym;
    bool found = false;

    (void)state;
    if (!exists("/usr/share/wordnet/data.noun")) {
        printf("# /usr/share/wordnet is not there, so nothing is checked against it\n");
        skip();
    }
    kith_graph *graph = opened("/usr/share/wordnet");
    assert_int_equal(kith_graph_entity_count(graph), 117659);
    assert_int_equal(kith_graph_facts(graph, KITH_TRAIN).count, 364552);
    assert_int_equal(kith_graph_relation_count(graph), 26);
    assert_int_equal(kith_graph_find_entity(&dog, graph, "dog.n.01"), KITH_OK);
    assert_int_equal(kith_graph_find_entity(&canine, graph, "canine.n.02"), KITH_OK);
    assert_int_equal(kith_graph_find_relation(&hypernym, graph, "hypernym"), KITH_OK);
    kith_neighborhoods n = kith_graph_neighborhoods(graph);
    for (uint64_t i = n.offset[dog]; i < n.offset[dog + 1]; i++)
        found |= n.at[i].relation == hypernym && n.at[i].entity == canine;
    assert_true(found);
    kith_graph_free(graph);
}

/* ---- commas, semicolons and header rows ---- */

static kith_graph *opened_columns(const char *path, const char *columns)
{
    kith_open_options options;
    kith_graph *graph = NULL;
    kith_error error = {KITH_OK, ""};

    kith_open_options_init(&options);
    options.columns = columns;
    if (kith_graph_open(&graph, path, &options, &error) != KITH_OK)
        fail_msg("%s: found the error \"%s\", expected a graph", path, error.message);
    return graph;
}

static void check_columns(const char *path, const char *columns, const char *expected)
{
    kith_graph *graph = opened_columns(path, columns);

    assert_string_equal(facts(graph, KITH_TRAIN), expected);
    kith_graph_free(graph);
}

static void refused_columns(const char *path, const char *columns, kith_status status,
                            const char *part)
{
    const kith_open_options options = {.columns = columns};
    kith_graph *graph = NULL;
    kith_error error = {KITH_OK, ""};

    assert_int_equal(kith_graph_open(&graph, path, &options, &error), status);
    assert_contains(error.message, part);
}

static void columns__csv_is_read_with_its_quotes(void **state)
{
    (void)state;
    check_facts(file("g.csv", "a,likes,b\nb,likes,c\na,knows,c\n"),
                "separated by commas, no header row", three_read);
    check_facts(file("g.csv", "a, likes , b\r\n\"b\",\"likes\", \"c\"\r\na,knows,c"),
                "separated by commas", three_read);
    check_facts(file("g.csv", "\"New York, NY\",\"in\",\"the \"\"USA\"\"\"\n"), "commas",
                "New York, NY in the \"USA\";");
    check_facts(file("g", "a,likes,b\nb,likes,c\na,knows,c\n"), "commas", three_read);
}

static void columns__marks_are_found_where_the_first_names_have_spaces(void **state)
{
    (void)state;
    check_facts(file("names.txt", "Luc Besson;born in;Paris\nParis;located in;France\n"),
                "separated by semicolons", "Luc Besson born in Paris;Paris located in France;");
    check_facts(file("one.txt", "Luc Besson;born in;Paris\n"), "separated by semicolons",
                "Luc Besson born in Paris;");
    check_facts(file("commas.txt", "Luc Besson,born in,Paris\nParis,located in,France\n"),
                "separated by commas", "Luc Besson born in Paris;Paris located in France;");
    /* names with commas */
    check_facts(file("spaces.txt", "Paris,_TX in Texas,_US\nRome,_GA in Georgia,_US\n"),
                "columns", "Paris,_TX in Texas,_US;Rome,_GA in Georgia,_US;");
    check_facts(file("some.txt", "a;b r c;d\na r d\n"), "columns", "a;b r c;d;a r d;");
}

static void columns__semicolons_are_told_from_commas(void **state)
{
    (void)state;
    check_facts(file("g.csv", "\xef\xbb\xbf" "Doe, J., jr;likes;b\r\nb;likes;c\r\n"),
                "separated by semicolons", "Doe, J., jr likes b;b likes c;");
    check_facts(file("g.csv", "sep=;\na,b,c;likes;b\n"), "separated by semicolons",
                "a,b,c likes b;");
    check_facts(file("g.txt", "New;York in US\nb likes c\n"), "file of triples",
                "New;York in US;b likes c;");
}

static void columns__a_header_row_is_recognised(void **state)
{
    (void)state;
    check_facts(file("g.csv", "subject,relation,object\na,likes,b\n"), "header row: subject",
                "a likes b;");
    check_facts(file("g.csv", "Object,Subject,Predicate\nb,a,likes\n"), "header row", "a likes b;");
    check_facts(file("g.tsv", "head\trelation\ttail\na\tlikes\tb\n"), "separated by tabs, header",
                "a likes b;");
    check_facts(file("g.tsv", "?s\t?p\t?o\na\tlikes\tb\n"), "header row: ?s", "a likes b;");
    check_facts(file("g.csv", "s,p,o\na,likes,b\n"), "header row", "a likes b;");
    check_facts(file("g.csv", "id,item,when,property,value\n1,a,now,likes,b\n"),
                "header row: item, property, value", "a likes b;");
    check_facts(file("g.txt", "subject relation object\na likes b\n"),
                "separated by spaces, header", "a likes b;");
}

static void columns__a_first_fact_is_never_taken_for_a_header(void **state)
{
    (void)state;
    check_facts(file("g.tsv", three_facts), "file of triples in columns", three_read);
    check_facts(file("g.csv", "subject,relation,object\na,relation,b\n"), "no header row",
                "subject relation object;a relation b;");
    check_facts(file("g.csv", "subject,relation,object\n"), "no header row",
                "subject relation object;");
    check_facts(file("g.tsv", "s\tp\to\na\tlikes\tb\n"), "file of triples", "s p o;a likes b;");
    check_facts(file("g.csv", "s,p,o\ns,likes,b\n"), "no header row", "s p o;s likes b;");
    check_facts(file("g.csv", "item,value,price\na,likes,b\n"), "no header row",
                "item value price;a likes b;");
}

static void columns__headers_of_other_programs_are_recognised(void **state)
{
    static const char *const headers[] = {
        "Source;Type;Target", "from;type;to", "subject_id;predicate_id;object_id",
        "node1;label;node2", "head_name;relationship_type;tail_name", "from;was;to",
        "person;verb;thing", "staff;relation_type;boss"};
    char text[200], header[64];

    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        snprintf(header, sizeof header, "header row: %.4s", headers[i]);
        snprintf(text, sizeof text, "%s\na;likes;b\nb;likes;c\n", headers[i]);
        check_facts(file("g.csv", text), header, "a likes b;b likes c;");
    }
    check_facts(file("g.csv", "subject,relation,object,type\na,likes,b,x\n"),
                "header row: subject, relation, object", "a likes b;");
    check_facts(file("g.csv", "id,to,type,from\n1,b,likes,a\n"), "header row: from, type, to",
                "a likes b;");
    check_facts(file("g.tsv", "subject_name\tverb\tobject_name\na\tlikes\tb\n"),
                "header row: subject_name", "a likes b;");
}

static void columns__facts_like_such_headers_are_kept(void **state)
{
    (void)state;
    /* a relation that is used once, in a file of many relations */
    check_facts(file("g.csv", "Plato,type,human\nKant,born in,Prussia\n"), "no header row",
                "Plato type human;Kant born in Prussia;");
    /* names that occur elsewhere */
    check_facts(file("g.csv", "Plato,type,human\nKant,is,human\nHume,is,human\n"), "no header",
                "Plato type human;Kant is human;Hume is human;");
    check_facts(file("g.csv", "Plato,label,X\nKant,knew,Hume\nHume,knew,Plato\n"), "no header",
                "Plato label X;Kant knew Hume;Hume knew Plato;");
    check_facts(file("g.csv", "from,type,to\na,type,b\nb,type,c\n"), "no header",
                "from type to;a type b;b type c;");
    check_facts(file("g.csv", "source,feeds,target\ntarget,eats,c\nc,eats,d\n"), "no header",
                "source feeds target;target eats c;c eats d;");
    check_facts(file("g.tsv", "dog type animal\ncat likes milk\nbat likes milk\n"),
                "file of triples", "dog type animal;cat likes milk;bat likes milk;");
}

static void columns__are_chosen_by_name_or_number(void **state)
{
    const char *path = file("g.csv", "wer,\"wo, wann\",was,wen\na,x,likes,b\nb,y,likes,c\n");

    (void)state;
    check_columns(path, "wer,was,wen", "a likes b;b likes c;");
    check_columns(path, "\"wo, wann\",was,wen", "x likes b;y likes c;");
    check_columns(file("g.tsv", "1\tb\ta\tlikes\n"), "3,4,2", "a likes b;");
    check_columns(file("g.csv", "subject,object,relation\na,b,likes\n"), "1,3,2", "a likes b;");
    check_columns(file("g.tsv", "?x\t?y\t?z\na\tlikes\tb\n"), "x,y,z", "a likes b;");
}

static void columns__that_are_not_there_are_refused(void **state)
{
    const char *path = file("g.csv", "subject,relation,object\na,likes,b\n");

    (void)state;
    refused_columns(path, "subject,verb,object", KITH_ERR_INPUT, "expected a column 'verb'");
    refused_columns(path, "1,2,4", KITH_ERR_ARGUMENT, "not a column of the first row");
    refused_columns(path, "0,1,2", KITH_ERR_ARGUMENT, "not a column of the first row");
    refused_columns(path, "1,2", KITH_ERR_ARGUMENT, "expected three names or numbers");
    refused_columns(path, "1,2,1", KITH_ERR_ARGUMENT, "a column is given twice");
    refused_columns(file("g.nt", "<a:a> <a:r> <a:b> .\n"), "1,2,3", KITH_ERR_ARGUMENT,
                    "a file in columns only");
}

static void columns__bad_rows_are_told_with_their_line(void **state)
{
    (void)state;
    refused(file("g.csv", "a,likes,b\nb,likes,\"c\nd\"\n"), KITH_ERR_INPUT, "g.csv:2:",
            "does not end on its line", NULL);
    refused(file("g.csv", "a,likes,b\nb,likes,5\" disk\n"), KITH_ERR_INPUT, "g.csv:2:",
            "a quote inside a field", NULL);
    refused(file("g.csv", "a,likes,\"b\"c\n"), KITH_ERR_INPUT, "g.csv:1:", "after a closing quote",
            NULL);
    refused(file("g.csv", "a,likes,b,c\n"), KITH_ERR_INPUT, "g.csv:1:", "found 4 columns",
            "header row", NULL);
    refused(file("g.csv", "subject,relation,object,note\n\na,likes,b\n"), KITH_ERR_INPUT,
            "g.csv:3:", "expected 4 as in the first row", NULL);
    refused(file("g.csv", "subject,relation,object\na,,b\n"), KITH_ERR_INPUT, "g.csv:2:",
            "an empty relation", NULL);
    refused(file("g.csv", "a,\"li\tkes\",b\n"), KITH_ERR_INPUT, "g.csv:1:", "found", NULL);
    refused(file("g.csv", "a,b,c\na,\"li\tkes\",b\n"), KITH_ERR_INPUT, "g.csv:2:", "found a tab",
            NULL);
}

static int note_row(void *context, const kith_row *row)
{
    char *list = context;
    size_t used = strlen(list);

    if (row->problem)
        snprintf(list + used, 512 - used, "%zu:!%.*s|", row->line, (int)row->whole_length,
                 row->whole);
    else
        snprintf(list + used, 512 - used, "%zu:%.*s|", row->line, (int)row->length[2],
                 row->text[2]);
    return row->line == 7;
}

static void columns__each_row_is_passed_on(void **state)
{
    char list[512] = "";
    const kith_open_options options = {.skip_bad = 1, .row = note_row, .row_context = list};
    kith_graph *graph = NULL;
    kith_error error = {KITH_OK, ""};
    const char *path = file("g.csv", "subject,relation,object\na,likes,b\n\na,likes,b\na,likes\n"
                                     "a,likes,\"\"\"c\"\"\"");

    (void)state;
    assert_int_equal(kith_graph_open(&graph, path, &options, &error), KITH_OK);
    assert_string_equal(list, "2:b|4:b|5:!a,likes|6:\"c\"|");
    assert_string_equal(facts(graph, KITH_TRAIN), "a likes b;a likes \"c\";");
    kith_graph_free(graph);
    graph = NULL;
    path = file("g.csv", "a,b,c\na,b,c\na,b,c\na,b,c\na,b,c\na,b,c\na,b,c\na,b,c\n");
    assert_int_equal(kith_graph_open(&graph, path, &options, &error), KITH_ERR_STOPPED);
    assert_null(graph);
}

static void columns__labels_beside_names_are_labels(void **state)
{
    kith_graph *graph = opened(file("g.csv", "item,itemLabel,property,value,valueLabel\n"
                                             "w/Q1,\"One, \"\"1\"\"\",P1,w/Q2,Q2\n"
                                             "w/Q2,Two,P1,w/Q3,\nw/Q2,Other,P1,w/Q1,\n"));
    uint32_t id;

    (void)state;
    assert_string_equal(facts(graph, KITH_TRAIN), "w/Q1 P1 w/Q2;w/Q2 P1 w/Q3;w/Q2 P1 w/Q1;");
    assert_int_equal(kith_graph_find_entity(&id, graph, "w/Q1"), KITH_OK);
    assert_string_equal(kith_graph_entity_label(graph, id), "One, \"1\"");
    assert_int_equal(kith_graph_find_entity(&id, graph, "w/Q2"), KITH_OK);
    assert_string_equal(kith_graph_entity_label(graph, id), "Two");
    assert_int_equal(kith_graph_find_entity(&id, graph, "w/Q3"), KITH_OK);
    assert_string_equal(kith_graph_entity_label(graph, id), "w/Q3");
    assert_int_equal(kith_graph_report(graph)->labels, 3);
    kith_graph_free(graph);
}

/* Large enough for several threads; ids, facts and labels are those of one. */
static void columns__threads_make_no_difference(void **state)
{
    enum { ROWS = 150000 };
    char *text = malloc(ROWS * 32 + 64), *at = text;
    const char *path;
    kith_graph *one, *four;

    (void)state;
    assert_non_null(text);
    at += sprintf(at, "item,itemLabel,property,value\n");
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "e%d,\"L, %d\",p%d,e%d\n", i % 7919, i, i % 13, i % 104729);
    path = file("g.csv", text);
    one = opened_with(path, 1, false);
    four = opened_with(path, 4, false);
    assert_int_equal(kith_graph_facts(one, KITH_TRAIN).count, ROWS);
    assert_true(kith_graph_hash(one) == kith_graph_hash(four));
    for (uint32_t e = 0; e < kith_graph_entity_count(one); e++)
        assert_string_equal(kith_graph_entity_label(one, e), kith_graph_entity_label(four, e));
    kith_graph_free(one);
    kith_graph_free(four);
    free(text);
}

static void open__other_kinds_of_files_are_named(void **state)
{
    (void)state;
    refused(file("g.json", "[ {\"subject\": \"a\"} ]\n"), KITH_ERR_INPUT, "found JSON", "jq", NULL);
    refused(file("g.json", "{\n  \"a\": []\n}\n"), KITH_ERR_INPUT, "found JSON", NULL);
    refused(file("g.rdf", "<?xml version='1.0'?>\n<rdf:RDF>\n"), KITH_ERR_INPUT, "found XML",
            "rapper", NULL);
    refused(file("g.csv", "PK\003\004..."), KITH_ERR_INPUT, "spreadsheet", "save the sheet as CSV",
            NULL);
    check_facts(file("g.tsv", "{a}\tlikes\t[b]\n"), "file of triples", "{a} likes [b];");
}

static void open__utf16_is_refused_with_the_way_out(void **state)
{
    static const char little[] = "\xff\xfe" "a\0,\0r\0,\0b\0\n\0";
    static const char big[] = "\0a\0,\0r\0,\0b\0\n";
    const char *folder = new_folder();

    (void)state;
    refused(put_bytes(folder, "g.csv", little, sizeof little - 1), KITH_ERR_INPUT,
            "found UTF-16 text", "iconv -f UTF-16 -t UTF-8", NULL);
    refused(put_bytes(folder, "g.csv", big, sizeof big - 1), KITH_ERR_INPUT,
            "iconv -f UTF-16BE -t UTF-8", NULL);
    put_bytes(folder, "train", little, sizeof little - 1);
    refused(folder, KITH_ERR_INPUT, "found UTF-16 text", NULL);
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
        cmocka_unit_test(open__tsv_gives_names_ids_in_the_order_met),
        cmocka_unit_test(open__tsv_is_read_under_any_name),
        cmocka_unit_test(columns__csv_is_read_with_its_quotes),
        cmocka_unit_test(columns__marks_are_found_where_the_first_names_have_spaces),
        cmocka_unit_test(columns__semicolons_are_told_from_commas),
        cmocka_unit_test(columns__a_header_row_is_recognised),
        cmocka_unit_test(columns__a_first_fact_is_never_taken_for_a_header),
        cmocka_unit_test(columns__each_row_is_passed_on),
        cmocka_unit_test(columns__headers_of_other_programs_are_recognised),
        cmocka_unit_test(columns__facts_like_such_headers_are_kept),
        cmocka_unit_test(columns__are_chosen_by_name_or_number),
        cmocka_unit_test(columns__that_are_not_there_are_refused),
        cmocka_unit_test(columns__bad_rows_are_told_with_their_line),
        cmocka_unit_test(columns__labels_beside_names_are_labels),
        cmocka_unit_test(columns__threads_make_no_difference),
        cmocka_unit_test(open__other_kinds_of_files_are_named),
        cmocka_unit_test(open__utf16_is_refused_with_the_way_out),
        cmocka_unit_test(rdf__labels_are_no_facts),
        cmocka_unit_test(rdf__labels_do_not_depend_on_threads),
        cmocka_unit_test(prefixes__shorten_iris),
        cmocka_unit_test(names__are_meant_by_iri_prefix_and_label),
        cmocka_unit_test(prefixes__are_kept_with_a_saved_graph),
        cmocka_unit_test(open__tsv_is_read_packed),
        cmocka_unit_test(open__gzip_members_and_zstd_frames_follow_each_other),
        cmocka_unit_test(open__a_skippable_zstd_frame_may_come_first),
        cmocka_unit_test(open__large_packed_files_are_read_whole),
        cmocka_unit_test(open__bom_crlf_blank_lines_and_no_last_newline_are_fine),
        cmocka_unit_test(open__names_are_any_utf8),
        cmocka_unit_test(open__a_name_of_a_megabyte_is_read),
        cmocka_unit_test(open__duplicates_are_dropped_and_counted),
        cmocka_unit_test(open__n_triples_are_read_plain_and_packed),
        cmocka_unit_test(open__n_triples_may_have_bom_and_crlf),
        cmocka_unit_test(open__angle_brackets_in_columns_are_no_n_triples),
        cmocka_unit_test(open__turtle_expands_prefixes_base_and_abbreviations),
        cmocka_unit_test(open__turtle_blank_nodes_are_entities_of_their_own),
        cmocka_unit_test(open__turtle_is_read_plain_and_packed),
        cmocka_unit_test(open__large_packed_n_triples_are_read_whole),
        cmocka_unit_test(open__folder_parts_may_end_in_txt_or_tsv_or_nothing),
        cmocka_unit_test(open__folder_parts_may_be_packed),
        cmocka_unit_test(open__valid_is_another_name_for_dev),
        cmocka_unit_test(open__a_folder_needs_only_train),
        cmocka_unit_test(open__labels_are_1_for_true_and_0_or_minus_1_for_false),
        cmocka_unit_test(open__folder_of_ids_is_named_by_its_maps),
        cmocka_unit_test(open__folder_of_names_may_have_maps_too),
        cmocka_unit_test(open__maps_may_begin_with_their_count_and_part_columns_by_blanks),
        cmocka_unit_test(open__ids_win_where_every_id_is_a_name_too),
        cmocka_unit_test(open__entity_name_txt_gives_labels),
        cmocka_unit_test(open__labels_stay_with_entities_that_are_renumbered),
        cmocka_unit_test(open__openke_has_counts_and_the_object_second),
        cmocka_unit_test(open__openke_count_lines_that_lie_are_refused),
        cmocka_unit_test(open__openke_without_count_line_is_refused),
        cmocka_unit_test(open__openke_ids_out_of_range_are_refused),
        cmocka_unit_test(open__openke_needs_both_maps),
        cmocka_unit_test(open__wordnet_names_synsets_by_the_order_of_the_index),
        cmocka_unit_test(open__wordnet_counts_words_in_base_16),
        cmocka_unit_test(open__wordnet_may_have_bom_crlf_and_no_last_newline),
        cmocka_unit_test(open__wordnet_bad_entries_are_refused),
        cmocka_unit_test(open__wordnet_bad_index_is_refused),
        cmocka_unit_test(open__train_has_the_first_ids),
        cmocka_unit_test(open__neighborhoods_in_pieces_are_those_of_the_oracle),
        cmocka_unit_test(open__neighborhoods_are_those_of_the_oracle),
        cmocka_unit_test(open__the_number_of_threads_changes_nothing),
        cmocka_unit_test(open__bad_lines_have_the_same_number_at_any_number_of_threads),
        cmocka_unit_test(open__the_first_bad_line_is_reported_whatever_is_wrong_with_it),
        cmocka_unit_test(open__the_first_bad_id_is_reported_at_any_number_of_threads),
        cmocka_unit_test(open__bad_line_names_file_line_found_expected),
        cmocka_unit_test(open__a_name_with_nul_is_refused),
        cmocka_unit_test(open__empty_files_are_refused),
        cmocka_unit_test(open__empty_files_in_a_folder_are_refused),
        cmocka_unit_test(open__truncated_gzip_and_zstd_are_refused),
        cmocka_unit_test(open__damaged_gzip_and_zstd_are_refused),
        cmocka_unit_test(open__missing_paths_are_named),
        cmocka_unit_test(open__a_broken_link_in_a_folder_is_no_missing_file),
        cmocka_unit_test(open__unreadable_files_are_named),
        cmocka_unit_test(open__a_folder_given_as_a_file_is_refused),
        cmocka_unit_test(open__two_files_for_one_part_are_refused),
        cmocka_unit_test(open__ids_out_of_range_are_refused),
        cmocka_unit_test(open__names_that_the_maps_lack_are_refused),
        cmocka_unit_test(open__bad_maps_are_refused),
        cmocka_unit_test(open__bad_labels_are_refused),
        cmocka_unit_test(open__train_and_aux_have_no_labels),
        cmocka_unit_test(open__bad_entity_names_are_refused),
        cmocka_unit_test(open__bad_n_triples_name_their_line),
        cmocka_unit_test(open__n_triples_with_nul_are_refused),
        cmocka_unit_test(open__bad_turtle_names_its_line),
        cmocka_unit_test(open__deeply_nested_turtle_is_refused_with_its_line),
        cmocka_unit_test(open__deeply_nested_turtle_is_refused_on_a_small_stack_too),
        cmocka_unit_test(open__turtle_is_nested_128_deep_and_brackets_elsewhere_do_not_count),
        cmocka_unit_test(skip_bad__turtle_goes_on_behind_what_is_nested_too_deep),
        cmocka_unit_test(duplicates__memory_goes_by_distinct_facts),
        cmocka_unit_test(duplicates__what_is_distinct_is_kept_in_order),
        cmocka_unit_test(duplicates__are_counted_in_columns_and_in_rdf),
        cmocka_unit_test(skip_bad__counts_bad_lines_and_reports_the_first),
        cmocka_unit_test(skip_bad__goes_on_behind_bad_labels_ids_and_names),
        cmocka_unit_test(skip_bad__a_skipped_line_leaves_no_names_behind),
        cmocka_unit_test(skip_bad__a_lying_count_is_reported),
        cmocka_unit_test(skip_bad__n_triples_go_on_with_the_next_line),
        cmocka_unit_test(skip_bad__n_triples_without_bad_lines_are_all_read),
        cmocka_unit_test(skip_bad__turtle_goes_on_with_the_next_statement),
        cmocka_unit_test(skip_bad__wordnet_counts_bad_entries_once),
        cmocka_unit_test(skip_bad__a_file_without_a_good_line_is_refused),
        cmocka_unit_test(skip_bad__an_empty_part_is_reported),
        cmocka_unit_test(open__works_without_options_and_error),
        cmocka_unit_test(real__subject_10_has_the_statistics_of_the_paper),
        cmocka_unit_test(real__object_10_has_the_statistics_of_the_paper),
        cmocka_unit_test(real__wn18rr_is_read_in_openke_layout),
        cmocka_unit_test(real__wn11_has_labelled_dev_and_test),
        cmocka_unit_test(real__wordnet_of_debian_has_known_synsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
