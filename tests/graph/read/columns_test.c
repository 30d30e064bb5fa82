/* Files of facts in columns: separators, quotes, header rows, bad lines, duplicates. */
#include "graph/duplicates.h"
#include "support.h"
#include "sources.h"

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

/* ---- folders ---- */

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

static void skip_bad__counts_bad_lines_and_reports_the_first(void **state)
{
    (void)state;
    check_skipped(file("g.tsv", "a\tlikes\tb\na\t\tb\nb\tlikes\tc\nx\xff\tr\tb\nx\na\tknows\tc\n"),
                  3, "g.tsv:2:", "empty relation", three_read);
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
        cmocka_unit_test(open__tsv_is_read_packed),
        cmocka_unit_test(open__bom_crlf_blank_lines_and_no_last_newline_are_fine),
        cmocka_unit_test(open__names_are_any_utf8),
        cmocka_unit_test(open__a_name_of_a_megabyte_is_read),
        cmocka_unit_test(open__duplicates_are_dropped_and_counted),
        cmocka_unit_test(open__labels_are_1_for_true_and_0_or_minus_1_for_false),
        cmocka_unit_test(open__bad_line_names_file_line_found_expected),
        cmocka_unit_test(open__a_name_with_nul_is_refused),
        cmocka_unit_test(duplicates__memory_goes_by_distinct_facts),
        cmocka_unit_test(duplicates__what_is_distinct_is_kept_in_order),
        cmocka_unit_test(duplicates__are_counted_in_columns_and_in_rdf),
        cmocka_unit_test(skip_bad__counts_bad_lines_and_reports_the_first),
        cmocka_unit_test(skip_bad__a_skipped_line_leaves_no_names_behind),
        cmocka_unit_test(skip_bad__a_file_without_a_good_line_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
