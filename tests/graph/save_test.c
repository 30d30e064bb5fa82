/* Folders written and read back, and what is never overwritten. */
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support.h"
#include "splits.h"

static kith_graph *with_labels_and_odd_names(void)
{
    const char *folder = new_folder();

    put(folder, "train", "a b\tlikes\t\xe2\x82\xac\n\xe2\x82\xac\tlikes\t7\n7\tlikes\ta b\n"
                         "x\tlikes\t7\n7\tknows\t\"q\"\n");
    put(folder, "dev", "7\tlikes\t7\n");
    put(folder, "test", "x\tknows\ta b\n");
    put(folder, "entity_name.txt", "7\tSeven of nine\nx\tthe unknown\nunused\tnobody\n");
    return opened(folder);
}

static void check_saved(kith_graph *graph, bool ids)
{
    kith_save_options options = {.ids = ids, .note = "{}\n"};
    kith_graph *again = opened(saved_graph(graph, &options));

    assert_same_graph(again, graph);
    kith_graph_free(again);
}

static void save__a_split_reads_back_as_the_same_graph(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 52, 0);
    for (unsigned round = 0; round < 20; round++) {
        random_shape shape = {40, 5, 150, 20, 20, 0, .maps = round % 3 == 0};
        kith_graph *source = opened(random_folder(&rng, &shape));
        kith_dataset_options options;
        kith_dataset_options_init(&options);
        options.strategy = (kith_strategy)(round % 3);
        options.rate = 30;
        options.labels = round % 2;
        kith_graph *made = split_of(NULL, source, &options);
        check_saved(made, false);
        check_saved(made, true);
        kith_graph_free(made);
        kith_graph_free(source);
    }
}

static void save__labels_and_odd_names_read_back(void **state)
{
    kith_graph *graph = with_labels_and_odd_names();

    (void)state;
    check_saved(graph, false);
    check_saved(graph, true);
    kith_graph_free(graph);
}

static void save__names_that_are_numbers_or_blank_read_back(void **state)
{
    kith_graph *graph = opened(file("g.tsv", "2\t1\t0\n0\t0\t1\n1\t1\t2\n"));
    kith_graph *blank = opened(file("g.tsv", " \t  \tb\nb\t  \t \n"));

    (void)state;
    check_saved(graph, false);
    check_saved(graph, true);
    check_saved(blank, false);
    check_saved(blank, true);
    kith_graph_free(blank);
    kith_graph_free(graph);
}

static void save__ids_keep_entities_that_are_in_no_fact(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "entity2id.txt", "lonely\t0\na\t1\nb\t2\n");
    put(folder, "relation2id.txt", "r\t1\nunused\t0\n");
    put(folder, "train", "1\t1\t2\n");
    kith_graph *graph = opened(folder);
    check_saved(graph, true);
    kith_graph_free(graph);
}

static void save__a_split_keeps_the_labels_of_its_entities(void **state)
{
    kith_graph *source = with_labels_and_odd_names();
    kith_dataset_options options;
    uint32_t id;

    (void)state;
    kith_dataset_options_init(&options);
    options.rate = 100;
    kith_graph *made = split_of(NULL, source, &options);
    assert_int_equal(kith_graph_find_entity(&id, made, "x"), KITH_OK);
    assert_string_equal(kith_graph_entity_label(made, id), "the unknown");
    check_saved(made, false);
    kith_graph_free(made);
    kith_graph_free(source);
}

/* A byte order mark at the beginning of a file is no part of a name; one in a name is. */
static void save__names_that_begin_with_a_byte_order_mark_read_back(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", "\xef\xbb\xbf\xef\xbb\xbf" "a\tr\tb\n");
    put(folder, "entity_name.txt", "\xef\xbb\xbf\xef\xbb\xbf" "a\tAlpha\n");
    kith_graph *graph = opened(folder);
    assert_string_equal(kith_graph_entity_name(graph, 0), "\xef\xbb\xbf" "a");
    assert_string_equal(kith_graph_entity_label(graph, 0), "Alpha");
    check_saved(graph, false);
    check_saved(graph, true);
    kith_graph_free(graph);
}

static void save__labels_of_nobody_make_no_file(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", "a\tr\tb\n");
    put(folder, "entity_name.txt", "unused\tnobody\n");
    kith_graph *graph = opened(folder);
    check_saved(graph, false);
    kith_graph_free(graph);
}

static kith_graph *small(void)
{
    return opened(file("g.tsv", "a\tr\tb\n"));
}

static void refuse_save(const kith_graph *graph, const char *folder, bool replace,
                        kith_status status, const char *message)
{
    kith_save_options options = {.replace = replace};
    kith_error error = {KITH_OK, ""};

    assert_int_equal(kith_graph_save(graph, folder, &options, &error), status);
    assert_contains(error.message, message);
}

static void save__an_empty_folder_is_filled(void **state)
{
    kith_graph *graph = small();
    const char *parent = new_folder(), *folder = keep(format("%s/out", parent));

    (void)state;
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(kith_graph_save(graph, folder, NULL, NULL), KITH_OK);
    assert_true(exists(format("%s/train", folder)));
    assert_false(exists(format("%s/dev", folder)));
    assert_int_equal(entries(parent), 1);
    kith_graph_free(graph);
}

static void save__a_folder_that_is_not_empty_is_refused(void **state)
{
    kith_graph *graph = small();
    const char *folder = new_folder();

    (void)state;
    put(folder, "mine", "precious");
    refuse_save(graph, folder, false, KITH_ERR_ARGUMENT, "is not empty");
    refuse_save(graph, folder, true, KITH_ERR_ARGUMENT, "not a folder that kith wrote");
    for (int replace = 0; replace < 2; replace++)
        refuse_save(graph, format("%s/mine", folder), replace, KITH_ERR_ARGUMENT,
                    "is not a readable folder");
    assert_int_equal(entries(folder), 1);
    kith_graph_free(graph);
}

static void save__replace_takes_only_what_kith_wrote(void **state)
{
    kith_graph *graph = small(), *other = opened(file("g.tsv", "x\tr\ty\n"));
    kith_save_options options = {.note = "{}", .ids = 1}, again = {.note = "{}", .replace = 1};
    const char *folder = saved_graph(graph, &options);

    (void)state;
    refuse_save(other, folder, false, KITH_ERR_ARGUMENT, "is not empty");
    assert_int_equal(kith_graph_save(other, folder, &again, NULL), KITH_OK);
    assert_false(exists(format("%s/entity2id.txt", folder)));
    kith_graph *read = opened(folder);
    assert_string_equal(facts(read, KITH_TRAIN), "x r y;");
    assert_int_equal(entries(format("%s/..", folder)), 1);
    put(folder, "notes.txt", "precious");
    refuse_save(graph, folder, true, KITH_ERR_ARGUMENT, "notes.txt");
    assert_true(exists(format("%s/notes.txt", folder)));
    kith_graph_free(read);
    kith_graph_free(graph);
    kith_graph_free(other);
}

static void save__the_work_folder_of_another_is_left_alone(void **state)
{
    kith_graph *graph = small();
    const char *parent = new_folder(), *out = keep(format("%s/out", parent));
    const char *work = keep(format("%s/out.tmp-0123456789ab", parent));

    (void)state;
    assert_int_equal(mkdir(work, 0755), 0);
    put(work, "train", "half done");
    int lock = open(work, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(kith_graph_save(graph, out, NULL, NULL), KITH_OK);
    assert_true(exists(format("%s/train", work)));
    close(lock);
    kith_graph_free(graph);
}

/* As in a container, where every process has the number 1. */
static void save__what_a_killed_process_left_is_removed_and_nothing_else(void **state)
{
    static const char *const users[] = {"out.tmp-old", "out.tmp-1", "out.tmp-0123456789AB",
                                        "other.tmp-0123456789ab", "out2.tmp-0123456789ab"};
    kith_graph *graph = small();
    const char *parent = new_folder(), *work = keep(format("%s/out.tmp-0123456789ab", parent));

    (void)state;
    assert_int_equal(mkdir(work, 0755), 0);
    put(work, "train", "half done");
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        put(parent, users[i], "precious");
    put(parent, format("out.tmp-%d", (int)getpid()), "precious");
    assert_int_equal(kith_graph_save(graph, format("%s/out", parent), NULL, NULL), KITH_OK);
    assert_false(exists(work));
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        assert_true(exists(format("%s/%s", parent, users[i])));
    kith_graph_free(graph);
}

static void save__a_link_is_not_replaced(void **state)
{
    kith_graph *graph = small();
    const char *parent = new_folder(), *real = keep(format("%s/real", parent));
    const char *link = keep(format("%s/link", parent));
    const kith_save_options noted = {.note = "{}"};

    (void)state;
    assert_int_equal(kith_graph_save(graph, real, &noted, NULL), KITH_OK);
    assert_int_equal(symlink("real", link), 0);
    refuse_save(graph, link, true, KITH_ERR_ARGUMENT, "symbolic link");
    refuse_save(graph, keep(format("%s//", link)), true, KITH_ERR_ARGUMENT, "symbolic link");
    assert_true(exists(format("%s/train", real)));
    kith_graph_free(graph);
}

static void save__the_source_is_not_replaced(void **state)
{
    kith_graph *graph, *read, *made, *part;
    const char *folder = keep(format("%s/out", new_folder()));
    const kith_save_options noted = {.note = "{}"};
    kith_dataset_options options;
    draft ring = {0};

    (void)state;
    for (int i = 0; i < 60; i++)
        add(&ring, "e%d\tr\te%d\n", i % 30, (i * 7 + 1) % 30);
    graph = opened(file("g.tsv", ring.at));
    draft_release(&ring);
    assert_int_equal(kith_graph_save(graph, folder, &noted, NULL), KITH_OK);
    read = opened(folder);
    refuse_save(read, folder, true, KITH_ERR_ARGUMENT, "is the source of these facts");
    part = opened(format("%s/train", folder));
    refuse_save(part, folder, true, KITH_ERR_ARGUMENT, "is the source of these facts");
    kith_dataset_options_init(&options);
    options.test = .2;
    options.count = 1;
    assert_int_equal(kith_dataset_make(&made, NULL, read, &options, NULL), KITH_OK);
    refuse_save(made, folder, true, KITH_ERR_ARGUMENT, "is the source of these facts");
    kith_graph_free(made);
    kith_graph_free(part);
    kith_graph_free(read);
    kith_graph_free(graph);
}

static void save__a_missing_parent_is_named(void **state)
{
    kith_graph *graph = small();
    const char *parent = new_folder();

    (void)state;
    refuse_save(graph, format("%s/no/out", parent), false, KITH_ERR_IO, "/no/out");
    refuse_save(graph, format("%s/out", put(parent, "file", "x")), false, KITH_ERR_IO, "/file/out");
    assert_int_equal(entries(parent), 1);
    kith_graph_free(graph);
}

static void save__an_unwritable_parent_is_named(void **state)
{
    kith_graph *graph = small();
    const char *parent = new_folder();
    bool root = geteuid() == 0;

    (void)state;
    assert_int_equal(chmod(parent, 0555), 0);
    if (root) /* who may write everywhere */
        assert_int_equal(seteuid(65534), 0);
    refuse_save(graph, format("%s/out", parent), false, KITH_ERR_IO, "Permission denied");
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(entries(parent), 0);
    kith_graph_free(graph);
}

/* The disk is full after some bytes, whichever: nothing half-written stays, and what was there
 * does. */
static void save__a_full_disk_leaves_nothing_half_written(void **state)
{
    kith_graph *graph = middle_sized_graph();
    kith_save_options options = {.ids = 1, .note = "{}", .replace = 1};
    const char *parent = new_folder(), *folder = keep(format("%s/out", parent));
    struct rlimit old, small_files;
    kith_error error;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small_files = old;
    for (int there = 0; there < 2; there++) {
        small_files.rlim_cur = 2000;
        setrlimit(RLIMIT_FSIZE, &small_files);
        kith_status status = kith_graph_save(graph, folder, &options, &error);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(status, KITH_ERR_IO);
        assert_contains(error.message, "cannot write");
        assert_int_equal(entries(parent), there);
        if (there)
            break;
        assert_int_equal(kith_graph_save(graph, folder, &options, NULL), KITH_OK);
    }
    kith_graph *read = opened(folder);
    assert_same_graph(read, graph);
    kith_graph_free(read);
    kith_graph_free(graph);
    signal(SIGXFSZ, SIG_DFL);
}

static void save__names_that_columns_cannot_hold_are_refused(void **state)
{
    const char *folder = new_folder(), *parent = new_folder();

    (void)state;
    put(folder, "entity2id.txt", "a\tb\t0\nc\t1\n");
    put(folder, "relation2id.txt", "r\t0\n");
    put(folder, "train", "0\t0\t1\n");
    kith_graph *graph = opened(folder);
    refuse_save(graph, format("%s/out", parent), false, KITH_ERR_INPUT, "'a\\x09b'");
    assert_int_equal(entries(parent), 0);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(save__a_split_reads_back_as_the_same_graph),
        cmocka_unit_test(save__labels_and_odd_names_read_back),
        cmocka_unit_test(save__names_that_are_numbers_or_blank_read_back),
        cmocka_unit_test(save__ids_keep_entities_that_are_in_no_fact),
        cmocka_unit_test(save__a_split_keeps_the_labels_of_its_entities),
        cmocka_unit_test(save__names_that_begin_with_a_byte_order_mark_read_back),
        cmocka_unit_test(save__labels_of_nobody_make_no_file),
        cmocka_unit_test(save__an_empty_folder_is_filled),
        cmocka_unit_test(save__a_folder_that_is_not_empty_is_refused),
        cmocka_unit_test(save__replace_takes_only_what_kith_wrote),
        cmocka_unit_test(save__the_work_folder_of_another_is_left_alone),
        cmocka_unit_test(save__what_a_killed_process_left_is_removed_and_nothing_else),
        cmocka_unit_test(save__a_link_is_not_replaced),
        cmocka_unit_test(save__the_source_is_not_replaced),
        cmocka_unit_test(save__a_missing_parent_is_named),
        cmocka_unit_test(save__an_unwritable_parent_is_named),
        cmocka_unit_test(save__a_full_disk_leaves_nothing_half_written),
        cmocka_unit_test(save__names_that_columns_cannot_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
