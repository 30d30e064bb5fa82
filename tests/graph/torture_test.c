/* Every allocation of reading, counting and writing graphs fails once: the call says so, and
 * neither crashes, nor leaks, which the build with the address sanitizer checks. */
#include "support.h"

typedef struct {
    const char *path;
    bool skip_bad;
    const kith_graph *expected;
} opening;

static kith_status try_open(void *context, kith_error *error)
{
    const opening *o = context;
    kith_open_options options = {.threads = 1, .skip_bad = o->skip_bad};
    kith_graph *graph = NULL;
    kith_status status = kith_graph_open(&graph, o->path, &options, error);

    if (status == KITH_OK)
        assert_same_graph(graph, o->expected);
    else
        assert_null(graph);
    kith_graph_free(graph);
    return status;
}

static void torture_open(const char *path, bool skip_bad)
{
    kith_graph *expected = opened_with(path, 1, skip_bad);
    opening o = {path, skip_bad, expected};

    fail_each_allocation(try_open, &o);
    kith_graph_free(expected);
}

/* More names than the first tables hold. */
static void add_facts(draft *t, const char *pattern)
{
    for (int i = 0; i < 1500; i++)
        add(t, pattern, i, i % 7, (i * 31) % 1500);
}

static void torture__open_tsv(void **state)
{
    draft t = {0};

    (void)state;
    add_facts(&t, "e%d\tr%d\te%d\n");
    torture_open(file("g.tsv", t.at), false);
    add(&t, "bad\nbad too\n");
    torture_open(file("g.tsv", t.at), true);
    draft_release(&t);
}

static void torture__open_csv_with_labels(void **state)
{
    draft t = {0};

    (void)state;
    add(&t, "item,property,value,itemLabel\n");
    for (int i = 0; i < 1500; i++)
        add(&t, "e%d,r%d,e%d,\"L, %d\"\n", i, i % 7, (i * 31) % 1500, i);
    torture_open(file("g.csv", t.at), false);
    free(t.at);
}

static void torture__open_csv(void **state)
{
    (void)state;
    torture_open(file("g.csv", "subject,relation,object\n\"a, b\",r,c\n\"say \"\"x\"\"\",r,a\n"),
                 false);
}

static void torture__open_gzip_and_zstd(void **state)
{
    (void)state;
    torture_open(put_gzip(new_folder(), "g.gz", "a\tr\tb\nb\tr\tc\n", NULL), false);
    torture_open(put_zstd(new_folder(), "g.zst", "a\tr\tb\nb\tr\tc\n", NULL), false);
}

static const char *whole_folder(void)
{
    const char *folder = new_folder();

    put(folder, "entity2id.txt", "x\t0\na\t1\nb\t2\nc\t3\n");
    put(folder, "relation2id.txt", "unused\t0\nr\t1\ns\t2\n");
    put(folder, "entity_name.txt", "a\tAlpha\nx\tExtra\n");
    put(folder, "train.txt", "1\t1\t2\n2\t2\t3\n1\t1\t2\n1\t2\t3\n");
    put(folder, "valid.txt", "1\t1\t3\t1\n2\t1\t3\t0\n");
    put(folder, "test.txt", "0\t1\t2\t1\n");
    put(folder, "aux.txt", "0\t1\t1\n");
    return folder;
}

static void torture__open_folder_with_maps(void **state)
{
    (void)state;
    torture_open(whole_folder(), false);
}

static void torture__open_openke(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "entity2id.txt", "3\na\t0\nb\t1\nc\t2\n");
    put(folder, "relation2id.txt", "1\nr\t0\n");
    put(folder, "train2id.txt", "2\n0 1 0\n1 2 0\n");
    put(folder, "test2id.txt", "1\n0 2 0\n");
    torture_open(folder, false);
}

static void torture__open_n_triples(void **state)
{
    draft t = {0};

    (void)state;
    add_facts(&t, "<http://x/%d> <http://x/r%d> \"%d\"@en .\n");
    torture_open(file("g.nt", t.at), false);
    add(&t, "nonsense\n<http://x/a> <http://x/r> \"a\\tb\" .\n");
    torture_open(file("g.nt", t.at), true);
    draft_release(&t);
}

static void torture__open_turtle(void **state)
{
    static const char text[] = "@prefix x: <http://x/> .\nx:a <http://www.w3.org/2000/01/"
                               "rdf-schema#label> \"A\" ; x:r x:b ; x:s \"t\\n\"@en , 5 .\n"
                               "_:b x:r [ x:s <rel> ] .\n";

    (void)state;
    torture_open(file("g.ttl", text), false);
    torture_open(file("g.ttl", format("%snonsense .\nx:c x:r x:d .\n", text)), true);
}

static void torture__open_wordnet(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "data.noun",
        "00000100 03 n 01 entity 0 001 ~ 00000200 n 0000 | x\n"
        "00000200 05 n 01 dog 0 001 @ 00000100 n 0000 | y\n");
    put(folder, "index.noun", "dog n 1 1 @ 1 1 00000200\nentity n 1 1 ~ 1 0 00000100\n");
    put(folder, "data.verb", "00000100 05 v 01 bark 0 001 > 00000100 n 0000 01 + 02 00 | y\n");
    torture_open(folder, false);
}

static kith_status try_bad_line(void *context, kith_error *error)
{
    kith_open_options options = {.threads = 1};
    kith_graph *graph = NULL;
    kith_status status = kith_graph_open(&graph, context, &options, error);

    assert_null(graph);
    /* The call is through when it finds what is wrong with the file. */
    return status == KITH_ERR_INPUT ? KITH_OK : status;
}

static void torture__open_bad_files(void **state)
{
    (void)state;
    fail_each_allocation(try_bad_line,
                         (void *)file("g.nt", "<http://x/a> <http://x/r> <http://x/b> .\nx\n"));
    fail_each_allocation(try_bad_line, (void *)file("g.ttl", "<http://x/a> x:r <http://x/b> .\n"));
    fail_each_allocation(try_bad_line, (void *)file("g.tsv", "a\tr\tb\na\n"));
}

static kith_status try_stats(void *context, kith_error *error)
{
    kith_stats *stats = NULL;
    kith_status status = kith_graph_stats(&stats, context, NULL, error);

    kith_stats_free(stats);
    return status;
}

static kith_status try_builder(void *context, kith_error *error)
{
    static const char *const names[] = {"a", "b", "c"}, *const relations[] = {"r"};
    static const kith_triple given[] = {{0, 0, 1}, {1, 0, 2}, {0, 0, 1}};
    static const int8_t truth[] = {1, 0, 1};
    kith_builder *builder = NULL;
    kith_graph *graph = NULL;
    kith_status status = kith_builder_new(&builder, error);

    (void)context;
    if (status == KITH_OK)
        status = kith_builder_add_entities(NULL, builder, names, 3, error);
    if (status == KITH_OK)
        status = kith_builder_add_relations(NULL, builder, relations, 1, error);
    if (status == KITH_OK)
        status = kith_builder_add(builder, KITH_TRAIN, "c", "s", "d", 1, error);
    if (status == KITH_OK)
        status = kith_builder_add_facts(builder, KITH_TRAIN, (kith_facts){given, NULL, 3}, error);
    if (status == KITH_OK)
        status = kith_builder_add_facts(builder, KITH_TEST, (kith_facts){given, truth, 2}, error);
    if (status == KITH_OK)
        status = kith_builder_set_label(builder, 1, "Beta", error);
    if (status == KITH_OK)
        status = kith_builder_finish(&graph, builder, NULL, error);
    if (status == KITH_OK)
        assert_string_equal(facts(graph, KITH_TRAIN), "c s d;a r b;b r c;");
    kith_graph_free(graph);
    kith_builder_free(builder);
    return status;
}

static void torture__builder(void **state)
{
    (void)state;
    fail_each_allocation(try_builder, NULL);
}

static void torture__stats(void **state)
{
    kith_graph *graph = opened(whole_folder());

    (void)state;
    fail_each_allocation(try_stats, graph);
    kith_graph_free(graph);
}

typedef struct {
    const kith_graph *source, *expected;
    kith_dataset_options options;
} splitting;

static kith_status try_split(void *context, kith_error *error)
{
    const splitting *s = context;
    kith_graph *made = NULL;
    kith_dataset_report *report = NULL;
    kith_status status = kith_dataset_make(&made, &report, s->source, &s->options, error);

    if (status == KITH_OK)
        assert_same_graph(made, s->expected);
    else
        assert_null(made);
    kith_dataset_report_free(report);
    kith_graph_free(made);
    return status;
}

static void torture_split(const kith_graph *source, kith_strategy strategy)
{
    splitting s = {.source = source};
    kith_graph *expected = NULL;

    kith_dataset_options_init(&s.options);
    s.options.strategy = strategy;
    s.options.rate = 30;
    s.options.labels = 1;
    assert_int_equal(kith_dataset_make(&expected, NULL, source, &s.options, NULL), KITH_OK);
    s.expected = expected;
    fail_each_allocation(try_split, &s);
    kith_graph_free(expected);
}

static void torture__split_with_labels(void **state)
{
    /* One relation and few entities, so that false facts run out and are looked for in lists. */
    random_shape shape = {9, 2, 60, 12, 4, 0};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 61, 0);
    for (int i = 0; i < 6; i++) {
        kith_graph *source = opened(random_folder(&rng, &shape));
        torture_split(source, (kith_strategy)(i % 2));
        kith_graph_free(source);
    }
}

static void torture__split_keeps_entity_names(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", "a\tr\tb\nb\tr\tc\nx\tr\ta\nc\ts\ta\n");
    put(folder, "test", "x\ts\tb\ny\ts\tb\nz\ts\tb\n");
    put(folder, "entity_name.txt", "a\tAlpha\nx\tExtra\n");
    kith_graph *source = opened(folder);
    torture_split(source, KITH_SUBJECT);
    kith_graph_free(source);
}

typedef struct {
    const kith_graph *graph;
    const char *parent, *folder;
} saving;

static kith_status try_save(void *context, kith_error *error)
{
    const saving *s = context;
    kith_save_options options = {.ids = 1, .note = "{}"};
    kith_status status = kith_graph_save(s->graph, s->folder, &options, error);

    /* Syncing the parent comes after the folder is in its place. */
    if (status != KITH_OK && entries(s->parent) > 0) {
        kith_graph *read = opened(s->folder);
        assert_same_graph(read, s->graph);
        kith_graph_free(read);
        return KITH_OK;
    }
    return status;
}

static void torture__save(void **state)
{
    kith_graph *graph = opened(whole_folder());
    const char *parent = new_folder();
    saving s = {graph, parent, keep(format("%s/out", parent))};

    (void)state;
    fail_each_allocation(try_save, &s);
    assert_int_equal(entries(parent), 1);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torture__open_tsv),
        cmocka_unit_test(torture__open_csv_with_labels),
        cmocka_unit_test(torture__open_csv),
        cmocka_unit_test(torture__open_gzip_and_zstd),
        cmocka_unit_test(torture__open_folder_with_maps),
        cmocka_unit_test(torture__open_openke),
        cmocka_unit_test(torture__open_n_triples),
        cmocka_unit_test(torture__open_turtle),
        cmocka_unit_test(torture__open_wordnet),
        cmocka_unit_test(torture__open_bad_files),
        cmocka_unit_test(torture__stats),
        cmocka_unit_test(torture__builder),
        cmocka_unit_test(torture__split_with_labels),
        cmocka_unit_test(torture__split_keeps_entity_names),
        cmocka_unit_test(torture__save),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
