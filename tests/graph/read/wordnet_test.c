/* WordNet's database. */
#include "support.h"
#include "sources.h"

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

/* ---- skip_bad ---- */

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

/* ---- real data ---- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open__wordnet_names_synsets_by_the_order_of_the_index),
        cmocka_unit_test(open__wordnet_counts_words_in_base_16),
        cmocka_unit_test(open__wordnet_may_have_bom_crlf_and_no_last_newline),
        cmocka_unit_test(open__wordnet_bad_entries_are_refused),
        cmocka_unit_test(open__wordnet_bad_index_is_refused),
        cmocka_unit_test(skip_bad__wordnet_counts_bad_entries_once),
        cmocka_unit_test(real__wordnet_of_debian_has_known_synsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
