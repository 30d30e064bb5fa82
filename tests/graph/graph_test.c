/* The graph section of the public header: graphs from memory, options that grow, hostile arguments,
 * long work that is watched and stopped. */
#include <time.h>

#include "core/options.h"
#include "graph/graph.h"
#include "support.h"

/* ---- graphs from memory ---- */

static kith_builder *new_builder(void)
{
    kith_builder *builder = NULL;

    assert_int_equal(kith_builder_new(&builder, NULL), KITH_OK);
    return builder;
}

static kith_graph *finished(kith_builder *builder)
{
    kith_graph *graph = NULL;
    kith_error error = {KITH_OK, ""};

    if (kith_builder_finish(&graph, builder, NULL, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a graph", error.message);
    return graph;
}

static void builder__names_give_the_graph_that_a_folder_gives(void **state)
{
    const char *folder = new_folder();
    kith_builder *builder = new_builder();

    (void)state;
    put(folder, "train", "a\tr\tb\nb\ts\tc\na\tr\tb\n");
    put(folder, "dev", "a\ts\tc\t1\nb\tr\tx\t0\n");
    put(folder, "aux", "x\tr\ta\n");
    put(folder, "entity_name.txt", "x\tThe X\n");
    kith_graph *read = opened(folder);
    for (int i = 0; i < 2; i++)
        assert_int_equal(kith_builder_add(builder, KITH_TRAIN, i ? "b" : "a", i ? "s" : "r",
                                          i ? "c" : "b", 1, NULL),
                         KITH_OK);
    assert_int_equal(kith_builder_add(builder, KITH_TRAIN, "a", "r", "b", 1, NULL), KITH_OK);
    assert_int_equal(kith_builder_add(builder, KITH_DEV, "a", "s", "c", 1, NULL), KITH_OK);
    assert_int_equal(kith_builder_add(builder, KITH_DEV, "b", "r", "x", 0, NULL), KITH_OK);
    assert_int_equal(kith_builder_add(builder, KITH_AUX, "x", "r", "a", 1, NULL), KITH_OK);
    assert_int_equal(kith_builder_set_label(builder, 3, "The X", NULL), KITH_OK);
    kith_graph *made = finished(builder);
    assert_same_graph(made, read);
    assert_true(kith_graph_hash(made) == kith_graph_hash(read));
    assert_int_equal(kith_graph_report(made)->duplicates, 1);
    assert_string_equal(kith_graph_entity_label(made, 3), "The X");
    kith_graph_free(made);
    kith_graph_free(read);
    kith_builder_free(builder);
}

static void builder__arrays_of_ids_give_the_same_graph_as_names(void **state)
{
    static const char *const entities[] = {"late", "a", "b", "c", "lonely"}, *const relations[] = {
                                                                                 "r", "s"};
    static const kith_triple train[] = {{1, 0, 2}, {2, 1, 3}}, test[] = {{0, 0, 1}, {0, 1, 3}};
    static const int8_t truth[] = {1, 0};
    uint32_t ids[5];
    kith_builder *builder = new_builder();

    (void)state;
    assert_int_equal(kith_builder_add_entities(ids, builder, entities, 5, NULL), KITH_OK);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(ids[i], i);
    assert_int_equal(kith_builder_add_entities(ids, builder, entities + 2, 1, NULL), KITH_OK);
    assert_int_equal(ids[0], 2);
    assert_int_equal(kith_builder_add_relations(NULL, builder, relations, 2, NULL), KITH_OK);
    assert_int_equal(kith_builder_set_label(builder, 0, "Late", NULL), KITH_OK);
    assert_int_equal(kith_builder_set_relation_label(builder, 0, "first", NULL), KITH_OK);
    assert_int_equal(kith_builder_set_relation_label(builder, 0, "the r", NULL), KITH_OK);
    assert_int_equal(kith_builder_set_relation_label(builder, 1, "the s", NULL), KITH_OK);
    assert_int_equal(kith_builder_set_relation_label(builder, 1, NULL, NULL), KITH_OK);
    assert_int_equal(
        kith_builder_add_facts(builder, KITH_TRAIN, (kith_facts){train, NULL, 2}, NULL), KITH_OK);
    assert_int_equal(kith_builder_add_facts(builder, KITH_TEST, (kith_facts){test, NULL, 1}, NULL),
                     KITH_OK);
    assert_int_equal(kith_builder_add_facts(builder, KITH_TEST, (kith_facts){test, truth, 2}, NULL),
                     KITH_OK);
    assert_int_equal(kith_builder_add_facts(builder, KITH_TEST, (kith_facts){0}, NULL), KITH_OK);
    kith_graph *graph = finished(builder);
    assert_string_equal(kith_graph_relation_label(graph, 0), "the r");
    assert_string_equal(kith_graph_relation_label(graph, 1), "s");
    assert_string_equal(facts(graph, KITH_TRAIN), "a r b;b s c;");
    assert_string_equal(fact(graph, KITH_TEST, 0), "late r a true");
    assert_string_equal(fact(graph, KITH_TEST, 1), "late s c false");
    assert_int_equal(kith_graph_seen_entity_count(graph), 3);
    assert_int_equal(kith_graph_entity_count(graph), 5);
    assert_string_equal(kith_graph_entity_label(graph, 3), "Late");
    kith_graph_free(graph);
    /* It is empty again. */
    assert_int_equal(kith_builder_add(builder, KITH_TRAIN, "x", "q", "y", 1, NULL), KITH_OK);
    graph = finished(builder);
    assert_string_equal(facts(graph, KITH_TRAIN), "x q y;");
    assert_int_equal(kith_graph_entity_count(graph), 2);
    kith_graph_free(graph);
    kith_builder_free(builder);
}

static void builder__what_makes_no_sense_is_refused_and_leaves_nothing(void **state)
{
    static const char *const bad[] = {NULL, "", "a\tb", "a\nb", "a\rb", "\xff"};
    const kith_triple outside[] = {{0, 0, 1}, {0, 0, 9}};
    kith_builder *builder = new_builder();
    kith_graph *graph = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith_builder_finish(&graph, builder, NULL, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "train has no facts");
    assert_int_equal(kith_builder_add(builder, KITH_TRAIN, "a", "r", "b", 1, NULL), KITH_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(kith_builder_add(builder, KITH_TRAIN, bad[i], "r", "b", 1, NULL),
                         KITH_ERR_ARGUMENT);
        assert_int_equal(kith_builder_add(builder, KITH_TRAIN, "n", bad[i], "b", 1, NULL),
                         KITH_ERR_ARGUMENT);
        assert_int_equal(kith_builder_add(builder, KITH_TRAIN, "n", "r", bad[i], 1, NULL),
                         KITH_ERR_ARGUMENT);
        assert_int_equal(kith_builder_add_entities(NULL, builder, &bad[i], 1, NULL),
                         KITH_ERR_ARGUMENT);
        assert_int_equal(kith_builder_add_relations(NULL, builder, &bad[i], 1, NULL),
                         KITH_ERR_ARGUMENT);
        if (bad[i])
            assert_int_equal(kith_builder_set_label(builder, 0, bad[i], NULL), KITH_ERR_ARGUMENT);
    }
    assert_int_equal(kith_builder_add(builder, KITH_SPLITS, "a", "r", "b", 1, NULL),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_builder_add(builder, (kith_split)-1, "a", "r", "b", 1, NULL),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_builder_add(builder, KITH_TRAIN, "a", "r", "b", 0, NULL),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(
        kith_builder_add_facts(builder, KITH_TRAIN, (kith_facts){outside, NULL, 2}, &error),
        KITH_ERR_ARGUMENT);
    assert_contains(error.message, "fact 1");
    assert_int_equal(kith_builder_add_facts(builder, KITH_TRAIN, (kith_facts){NULL, NULL, 2}, NULL),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_builder_set_label(builder, 2, "x", NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_builder_set_relation_label(builder, 9, "x", NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_builder_set_relation_label(NULL, 0, "x", NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_builder_add(NULL, KITH_TRAIN, "a", "r", "b", 1, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_builder_finish(NULL, builder, NULL, NULL), KITH_ERR_ARGUMENT);
    graph = finished(builder);
    assert_string_equal(facts(graph, KITH_TRAIN), "a r b;");
    assert_int_equal(kith_graph_entity_count(graph), 2);
    kith_graph_free(graph);
    kith_builder_free(builder);
    kith_builder_free(NULL);
}

static void graph__names_and_labels_in_bulk_are_those_asked_for_one_by_one(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", "a\tr\tb\nbee\ts\tc\n");
    put(folder, "test", "x\tr\ta\n");
    kith_graph *graph = opened(folder);
    assert_int_equal(kith_graph_entity_labels(graph).count, 0);
    kith_graph_free(graph);
    put(folder, "entity_name.txt", "x\tThe X\nbee\tA bee\n");
    graph = opened(folder);
    kith_name_list names = kith_graph_entity_names(graph),
                   relations = kith_graph_relation_names(graph);
    kith_name_list labels = kith_graph_entity_labels(graph);
    assert_int_equal(names.count, kith_graph_entity_count(graph));
    assert_int_equal(labels.count, names.count);
    assert_int_equal(relations.count, 2);
    for (uint32_t e = 0; e < names.count; e++) {
        const char *name = names.bytes + names.start[e];
        assert_ptr_equal(name, kith_graph_entity_name(graph, e));
        assert_string_equal(labels.start[e] ? labels.bytes + labels.start[e] - 1 : name,
                            kith_graph_entity_label(graph, e));
    }
    assert_string_equal(relations.bytes + relations.start[1], "s");
    kith_graph_free(graph);
}

/* ---- arguments ---- */

static void graph__without_its_names_has_none_to_give(void **state)
{
    kith_graph *graph = opened(file("facts.tsv", "a\tr\tb\n"));

    (void)state;
    kith__graph_keep_neighborhoods(graph);
    assert_int_equal(kith_graph_relation_count(graph), 1);
    assert_null(kith_graph_relation_name(graph, 0));
    assert_null(kith_graph_relation_label(graph, 0));
    assert_null(kith_graph_entity_name(graph, 0));
    assert_null(kith_graph_entity_label(graph, 0));
    kith_graph_free(graph);
}

static void arguments__out_of_range_or_null_are_refused(void **state)
{
    kith_graph *graph = opened(file("g.tsv", "a\tr\tb\n")), *made = NULL;
    kith_stats *stats = NULL;
    kith_dataset_options options;
    uint32_t id;

    (void)state;
    assert_int_equal(kith_graph_facts(graph, KITH_SPLITS).count, 0);
    assert_int_equal(kith_graph_facts(graph, (kith_split)-1).count, 0);
    assert_int_equal(kith_graph_facts(graph, (kith_split)1000000).count, 0);
    assert_null(kith_graph_facts(graph, KITH_SPLITS).at);
    assert_null(kith_graph_entity_name(graph, 2));
    assert_null(kith_graph_relation_name(graph, UINT32_MAX));
    assert_null(kith_graph_entity_label(graph, 2));
    assert_int_equal(kith_graph_find_entity(&id, graph, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_find_relation(&id, graph, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_find_entity(NULL, graph, "a"), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_find_entity(&id, NULL, "a"), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_open(&made, NULL, NULL, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_open(NULL, "x", NULL, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_save(graph, NULL, NULL, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_save(NULL, "x", NULL, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_stats(NULL, graph, NULL, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_stats(&stats, NULL, NULL, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_dataset_make(NULL, NULL, graph, NULL, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_dataset_make(&made, NULL, NULL, NULL, NULL), KITH_ERR_ARGUMENT);
    kith_dataset_options_init(&options);
    options.strategy = (kith_strategy)7;
    assert_int_equal(kith_dataset_make(&made, NULL, graph, &options, NULL), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_entity_count(NULL), 0);
    assert_int_equal(kith_graph_hash(NULL), 0);
    assert_string_equal(kith_graph_report(NULL)->first_bad, "");
    assert_string_equal(kith_graph_layout(NULL), "");
    assert_null(kith_graph_neighborhoods(NULL).at);
    kith_stats_free(NULL);
    kith_dataset_report_free(NULL);
    kith_graph_free(NULL);
    assert_null(made);
    kith_graph_free(graph);
}

/* ---- options that grow ---- */

/* What a program knows that was compiled when the struct ended before `threads`. */
static void options__an_older_smaller_struct_takes_defaults(void **state)
{
    struct {
        kith_open_options options;
        unsigned char guard[64];
    } old;
    kith_graph *graph = NULL;
    const size_t size = offsetof(kith_open_options, threads);

    (void)state;
    memset(&old, 0xee, sizeof old);
    (kith_open_options_init)(&old.options, size);
    assert_int_equal(old.options.size, size);
    assert_int_equal(old.options.skip_bad, 0);
    for (const unsigned char *at = (unsigned char *)&old + size; at < (unsigned char *)(&old + 1);
         at++)
        assert_int_equal(*at, 0xee);
    /* Threads, watch and context are garbage that must not be read. */
    old.options.skip_bad = 1;
    assert_int_equal(kith_graph_open(&graph, file("g.tsv", "a\tr\tb\nx\n"), &old.options, NULL),
                     KITH_OK);
    assert_int_equal(kith_graph_report(graph)->bad_lines, 1);
    kith_graph_free(graph);
}

static void options__a_newer_larger_struct_may_hold_only_zeros_beyond(void **state)
{
    struct {
        kith_open_options options;
        uint64_t more;
    } newer = {.options = {.size = sizeof newer}};
    kith_graph *graph = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith_graph_open(&graph, file("g.tsv", "a\tr\tb\n"), &newer.options, NULL),
                     KITH_OK);
    kith_graph_free(graph);
    newer.more = 1;
    assert_int_equal(kith_graph_open(&graph, file("g.tsv", "a\tr\tb\n"), &newer.options, &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "does not know");
    newer.options.size = 3;
    assert_int_equal(kith_graph_open(&graph, file("g.tsv", "a\tr\tb\n"), &newer.options, NULL),
                     KITH_ERR_ARGUMENT);
}

static void options__init_sets_size_and_defaults(void **state)
{
    kith_dataset_options dataset;
    kith_save_options save;

    (void)state;
    kith_dataset_options_init(&dataset);
    kith_save_options_init(&save);
    assert_int_equal(dataset.size, sizeof dataset);
    assert_int_equal(save.size, sizeof save);
    assert_true(dataset.rate == 10 && dataset.valid == .05 && dataset.test == .1 &&
                dataset.seed == 1);
    dataset.size = offsetof(kith_dataset_options, valid);
    dataset.valid = 7; /* beyond what the caller knows, so it does not count */
    dataset.count = 1;
    kith_graph *source =
                   opened(file("g.tsv", "a\tr\tb\nb\tr\tc\nc\tr\td\nd\tr\te\ne\tr\tf\nf\tr\tg\n"
                                        "g\tr\th\nh\tr\ti\ni\tr\tj\nj\tr\ta\na\tr\td\n")),
               *made = NULL;
    kith_error error = {KITH_OK, ""};
    if (kith_dataset_make(&made, NULL, source, &dataset, &error) != KITH_OK)
        assert_contains(error.message, "touches"); /* not: valid is 7 */
    kith_graph_free(made);
    kith_graph_free(source);
}

/* ---- long work ---- */

typedef struct {
    size_t calls;
    const char *stop_in; /* a stage's name, or NULL */
    char stages[512];
    const char *last;
} watcher;

static int see(void *context, const kith_stage *stage)
{
    watcher *w = context;

    w->calls++;
    if (w->last != stage->name)
        snprintf(w->stages + strlen(w->stages), sizeof w->stages - strlen(w->stages), "%s;",
                 stage->name);
    w->last = stage->name;
    assert_true(stage->total == 0 || stage->done <= 2 * stage->total + (1 << 20));
    return w->stop_in && strcmp(w->stop_in, stage->name) == 0;
}

static void watch__opening_reports_its_stages_and_stops_in_each(void **state)
{
    static const char *const stages[] = {"reading", "building neighbourhoods",
                                         "looking for duplicates"};
    static const char *const names[] = {"g.tsv", "g.nt", "g.ttl"};
    static const char *const texts[] = {"a\tr\tb\n", "<x:a> <x:r> <x:b> .\n",
                                        "<x:a> <x:r> <x:b> .\n"};

    (void)state;
    for (int k = 0; k < 3; k++) {
        const char *path = file(names[k], texts[k]);
        watcher all = {0};
        kith_open_options options = {.size = sizeof options, .watch = see, .context = &all};
        kith_graph *graph = NULL;
        assert_int_equal(kith_graph_open(&graph, path, &options, NULL), KITH_OK);
        kith_graph_free(graph);
        assert_string_equal(all.stages, "reading;building neighbourhoods;looking for duplicates;");
        for (int i = 0; i < 3; i++) {
            watcher w = {.stop_in = stages[i]};
            kith_error error;
            options.context = &w;
            graph = NULL;
            assert_int_equal(kith_graph_open(&graph, path, &options, &error), KITH_ERR_STOPPED);
            assert_contains(error.message, stages[i]);
            assert_null(graph);
        }
    }
}

static int stop_after_a_while(void *context, const kith_stage *stage)
{
    struct timespec now, *stopped = context;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (stopped->tv_sec == 0 && stage->done > 0)
        *stopped = now;
    return stopped->tv_sec != 0;
}

static kith_status stopped_reading(struct timespec *stopped, struct timespec *end, int lines)
{
    kith_open_options options = {
        .size = sizeof options, .watch = stop_after_a_while, .context = stopped};
    kith_graph *graph = NULL;
    draft t = {0};

    *stopped = (struct timespec){0};
    for (int i = 0; i < lines; i++)
        add(&t, "entity%d\tr\tentity%d\n", i, i / 2);
    const char *path = file("g.tsv", t.at);
    draft_release(&t);
    kith_status status = kith_graph_open(&graph, path, &options, NULL);
    clock_gettime(CLOCK_MONOTONIC, end);
    kith_graph_free(graph);
    return status;
}

static void watch__reading_stops_within_half_a_second(void **state)
{
    struct timespec stopped, end;
    kith_status status = KITH_OK;

    (void)state;
    /* So long that it takes longer than the time between two reports, on any machine. */
    for (int lines = 400000; status == KITH_OK && lines <= 6400000; lines *= 4)
        status = stopped_reading(&stopped, &end, lines);
    assert_int_equal(status, KITH_ERR_STOPPED);
    assert_true((double)(end.tv_sec - stopped.tv_sec) +
                    (double)(end.tv_nsec - stopped.tv_nsec) * 1e-9 <
                .5);
}

static void watch__making_a_data_set_stops_in_each_stage(void **state)
{
    static const char *const stages[] = {"sampling test facts",
                                         "taking unseen entities out of train",
                                         "making false facts", "building neighbourhoods"};
    random_shape shape = {40, 3, 200, 20, 10, 0};
    kith_dataset_options options;
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 5, 0);
    kith_graph *source = opened(random_folder(&rng, &shape));
    kith_dataset_options_init(&options);
    options.labels = 1;
    options.watch = see;
    for (int i = 0; i < 4; i++) {
        watcher w = {.stop_in = stages[i]};
        kith_graph *made = NULL;
        kith_dataset_report *report = NULL;
        kith_error error;
        options.context = &w;
        assert_int_equal(kith_dataset_make(&made, &report, source, &options, &error),
                         KITH_ERR_STOPPED);
        assert_contains(error.message, stages[i]);
        assert_null(made);
        assert_null(report);
    }
    kith_graph_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builder__names_give_the_graph_that_a_folder_gives),
        cmocka_unit_test(builder__arrays_of_ids_give_the_same_graph_as_names),
        cmocka_unit_test(builder__what_makes_no_sense_is_refused_and_leaves_nothing),
        cmocka_unit_test(graph__names_and_labels_in_bulk_are_those_asked_for_one_by_one),
        cmocka_unit_test(graph__without_its_names_has_none_to_give),
        cmocka_unit_test(arguments__out_of_range_or_null_are_refused),
        cmocka_unit_test(options__an_older_smaller_struct_takes_defaults),
        cmocka_unit_test(options__a_newer_larger_struct_may_hold_only_zeros_beyond),
        cmocka_unit_test(options__init_sets_size_and_defaults),
        cmocka_unit_test(watch__opening_reports_its_stages_and_stops_in_each),
        cmocka_unit_test(watch__reading_stops_within_half_a_second),
        cmocka_unit_test(watch__making_a_data_set_stops_in_each_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
