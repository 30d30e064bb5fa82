/* Opening a source of any kind: compression, ids and neighbourhoods, threads, paths that cannot be
 * read, and real data. */
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"
#include "sources.h"

/* ---- single files of columns ---- */

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

/* ---- folders ---- */

static const char *const part_files[KITH_SPLITS] = {"train", "dev", "test", "aux"};

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

/* ---- skip_bad ---- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open__gzip_members_and_zstd_frames_follow_each_other),
        cmocka_unit_test(open__a_skippable_zstd_frame_may_come_first),
        cmocka_unit_test(open__large_packed_files_are_read_whole),
        cmocka_unit_test(open__train_has_the_first_ids),
        cmocka_unit_test(open__neighborhoods_in_pieces_are_those_of_the_oracle),
        cmocka_unit_test(open__neighborhoods_are_those_of_the_oracle),
        cmocka_unit_test(open__the_number_of_threads_changes_nothing),
        cmocka_unit_test(open__bad_lines_have_the_same_number_at_any_number_of_threads),
        cmocka_unit_test(open__the_first_bad_line_is_reported_whatever_is_wrong_with_it),
        cmocka_unit_test(open__the_first_bad_id_is_reported_at_any_number_of_threads),
        cmocka_unit_test(open__empty_files_are_refused),
        cmocka_unit_test(open__truncated_gzip_and_zstd_are_refused),
        cmocka_unit_test(open__damaged_gzip_and_zstd_are_refused),
        cmocka_unit_test(open__missing_paths_are_named),
        cmocka_unit_test(open__unreadable_files_are_named),
        cmocka_unit_test(open__a_folder_given_as_a_file_is_refused),
        cmocka_unit_test(open__works_without_options_and_error),
        cmocka_unit_test(real__subject_10_has_the_statistics_of_the_paper),
        cmocka_unit_test(real__object_10_has_the_statistics_of_the_paper),
        cmocka_unit_test(real__wn18rr_is_read_in_openke_layout),
        cmocka_unit_test(real__wn11_has_labelled_dev_and_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
