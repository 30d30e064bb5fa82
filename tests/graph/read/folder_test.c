/* Folders of splits, with maps and labels, and OpenKE's layout. */
#include <unistd.h>

#include "support.h"
#include "sources.h"

/* ---- folders ---- */

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

/* ---- bad input ---- */

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

static void open__a_broken_link_in_a_folder_is_no_missing_file(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", three_facts);
    assert_int_equal(symlink("nowhere", format("%s/aux", folder)), 0);
    refused(folder, KITH_ERR_IO, "aux: cannot open", "No such file", NULL);
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

/* ---- skip_bad ---- */

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

static void skip_bad__an_empty_part_is_reported(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", three_facts);
    put(folder, "aux", "");
    check_skipped(folder, 1, "aux:", "is empty", three_read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open__folder_parts_may_end_in_txt_or_tsv_or_nothing),
        cmocka_unit_test(open__folder_parts_may_be_packed),
        cmocka_unit_test(open__valid_is_another_name_for_dev),
        cmocka_unit_test(open__a_folder_needs_only_train),
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
        cmocka_unit_test(open__empty_files_in_a_folder_are_refused),
        cmocka_unit_test(open__a_broken_link_in_a_folder_is_no_missing_file),
        cmocka_unit_test(open__two_files_for_one_part_are_refused),
        cmocka_unit_test(open__ids_out_of_range_are_refused),
        cmocka_unit_test(open__names_that_the_maps_lack_are_refused),
        cmocka_unit_test(open__bad_maps_are_refused),
        cmocka_unit_test(open__bad_labels_are_refused),
        cmocka_unit_test(open__train_and_aux_have_no_labels),
        cmocka_unit_test(open__bad_entity_names_are_refused),
        cmocka_unit_test(skip_bad__goes_on_behind_bad_labels_ids_and_names),
        cmocka_unit_test(skip_bad__a_lying_count_is_reported),
        cmocka_unit_test(skip_bad__an_empty_part_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
