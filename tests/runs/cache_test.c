/* cache.bin: nothing in it is trusted. Each field and each array is changed in many ways, with
 * every checksum made right again. The source itself is included, for the layout of the file. */
#include "run/cache.c"

#include <signal.h>
#include <sys/time.h>

#include "run/run.h"
#include "answers.h"

enum { VALUES = 7 };

static const char *run; /* with labels, rules and a relation that train lacks */
static char *good;      /* its cache */
static size_t good_bytes;
static char *expected; /* answers */

static kith_model *opened_run(void)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_open(&model, run, &(kith_work_options){.threads = 1}, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a model", error.message);
    return model;
}

static int make_run(void **state)
{
    const random_shape shape = {.entities = 24, .relations = 4, .train = 90, .dev = 20, .test = 20,
                                .aux = 20, .maps = true, .overlap = true};
    kith_graph *graph = opened(labelled_source(&shape, 11));
    kith_settings s;
    kith_train_end end;

    (void)state;
    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&s, "neighbors", "random", NULL), KITH_OK);
    s.dim = 8;
    s.epochs = 2;
    s.max_neighbors = 5;
    run = new_run();
    assert_int_equal(kith_train(&end, run, graph, &s, NULL, NULL), KITH_OK);
    kith_graph_free(graph);
    kith_model *model = opened_run();
    expected = answers_of(model, 3);
    kith_model_free(model);
    good = contents(format("%s/cache.bin", run), &good_bytes);
    return 0;
}

static int free_run(void **state)
{
    (void)state;
    free(good);
    free(expected);
    return 0;
}

/* ---- mutations ---- */

typedef struct {
    size_t at, width; /* bytes */
} target;

static target *targets;
static size_t target_count, target_capacity;

static void add_target(size_t at, size_t width)
{
    assert_int_equal(kith__reserve(&targets, &target_capacity, target_count + 1, sizeof *targets),
                     0);
    targets[target_count++] = (target){at, width};
}

/* The first, last and a few other elements of each array; every word of the header. */
static void list_targets(void)
{
    kith_graph g = {0};
    kith__implications r = {0};
    kith__neighbor_lists l = {0};
    header h;
    pieces p;
    kith__rng rng;

    target_count = 0;
    kith__rng_init(&rng, 5, 0);
    memcpy(&h, good, sizeof h);
    for (size_t at = 0; at < offsetof(header, layout); at += 8)
        add_target(at, 8);
    add_target(offsetof(header, layout) + sizeof h.layout - 1, 1);
    describe(&p, &h, &g, &r, &l);
    size_t from = aligned(sizeof h);
    for (size_t i = 0; i < p.count; i++) {
        size_t words = p.at[i].bytes / 4;
        for (size_t k = 0; k < 12 && words > 0; k++) {
            size_t word = k == 0   ? 0
                          : k == 1 ? words - 1
                                   : (size_t)kith__rng_below(&rng, words);
            add_target(from + 4 * word, 4);
        }
        from += aligned(p.at[i].bytes);
    }
}

/* A trusted hash table may be one in which a search never ends: that is a failure and no pause.
 * Counted is the program's own time, so that a busy machine makes no difference. */
static void say_it_never_ends(int number)
{
    static const char said[] = "\nnot ok - a mutated cache: what reads it does not end\n";

    (void)number;
    (void)!write(STDOUT_FILENO, said, sizeof said - 1);
    _exit(1);
}

static void expect_an_end(void)
{
    enum { SECONDS = 20 };

    signal(SIGPROF, say_it_never_ends);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS}, NULL);
}

static void mutate(char *bytes, target t, int value)
{
    uint64_t word = 0;

    memcpy(&word, bytes + t.at, t.width);
    const uint64_t values[VALUES] = {0,        UINT64_MAX, word + 1,          word - 1,
                                     word ^ 8, word * 2,   word + 0x01010101};
    memcpy(bytes + t.at, &values[value], t.width);
}

static void seal(char *bytes)
{
    header h;

    memcpy(&h, bytes, sizeof h);
    h.sum = header_sum(&h);
    memcpy(bytes, &h, sizeof h);
}

static void put_cache(const char *bytes, size_t length)
{
    expect_an_end();
    put_bytes(run, "cache.bin", bytes, length);
}

/* Make all hashes right where the arrays can be walked at all, as somebody would who knows the
 * format. */
static void forge(char *bytes, kith__cache_wanted *wanted)
{
    kith_graph g = {.map = bytes, .map_bytes = good_bytes};
    kith__implications r = {0};
    kith__neighbor_lists l = {0};
    header h;
    pieces p;

    memcpy(&h, bytes, sizeof h);
    wanted->key = h.key;
    if (counts_fit(&h) && h.bytes == good_bytes) {
        describe(&p, &h, &g, &r, &l);
        set_numbers(&g, &r, &l, &h);
        if (place_pieces(&p, bytes, &h) && ends_agree(&h, &g, &r, &l) &&
            kith__cache_arrays_valid(&g, (size_t)h.label_bytes, h.has_rules ? &r : NULL, &l,
                                     NULL)) {
            h.data_hash = kith_graph_hash(&g);
            h.derived = kith__derived_hash(&g, h.has_rules ? &r : NULL, &l);
            memcpy(bytes, &h, sizeof h);
        }
    }
    wanted->data_hash = h.data_hash;
    seal(bytes);
}

static void cache__no_mutation_with_a_right_checksum_changes_an_answer(void **state)
{
    char *bytes = malloc(good_bytes);
    kith__cache_wanted wanted;

    (void)state;
    list_targets();
    for (size_t i = 0; i < target_count; i++)
        for (int value = 0; value < VALUES; value++) {
            memcpy(bytes, good, good_bytes);
            mutate(bytes, targets[i], value);
            forge(bytes, &wanted);
            put_cache(bytes, good_bytes);
            kith_model *model = opened_run();
            char *found = answers_of(model, 3);
            if (strcmp(found, expected) != 0)
                fail_msg("byte %zu, value %d: found other answers", targets[i].at, value);
            free(found);
            kith_model_free(model);
        }
    assert_true(target_count * VALUES > 1000);
    free(bytes);
}

/* Ask a model on the forged cache; what it answers does not matter. */
static void try_forged(const kith_settings *settings, const kith__cache_wanted *wanted)
{
    kith_graph *graph = NULL;
    kith__implications *rules = NULL;
    kith__neighbor_lists *lists = NULL;
    kith_model *model = NULL;

    if (!kith__cache_load(&graph, &rules, &lists, run, wanted))
        return;
    lists->cap = kith__list_cap(settings);
    if (kith__model_make(&model, graph, settings, 1, NULL, rules, lists, NULL) == KITH_OK) {
        model->own_graph = graph;
        kith__params_start(&model->params, 1, NULL, NULL);
        free(answers_of(model, 3));
        kith_model_free(model);
    } else {
        kith_graph_free(graph);
    }
}

static void cache__a_forged_one_never_leads_outside_its_arrays(void **state)
{
    char *bytes = malloc(good_bytes);
    kith__cache_wanted wanted = {.rules = true};
    kith_model *model = opened_run();
    const kith_settings settings = *kith_model_settings(model);
    size_t accepted = 0;

    (void)state;
    kith_model_free(model);
    list_targets();
    for (size_t i = 0; i < target_count; i++)
        for (int value = 0; value < VALUES; value++) {
            memcpy(bytes, good, good_bytes);
            mutate(bytes, targets[i], value);
            forge(bytes, &wanted);
            put_cache(bytes, good_bytes);
            try_forged(&settings, &wanted);
            accepted += wanted.data_hash != 0;
        }
    assert_true(accepted > 0);
    free(bytes);
}

static void cache__one_cut_off_anywhere_is_made_again(void **state)
{
    (void)state;
    for (size_t length = 0; length < good_bytes; length += good_bytes / 60 + 1) {
        put_cache(good, length);
        kith_model *model = opened_run();
        char *found = answers_of(model, 3);
        assert_string_equal(found, expected);
        free(found);
        kith_model_free(model);
        size_t bytes;
        char *made = contents(format("%s/cache.bin", run), &bytes);
        assert_int_equal(bytes, good_bytes);
        assert_memory_equal(made, good, bytes);
        free(made);
    }
}

/* ---- one wrong number in each kind of array ---- */

/* The good cache, to be changed; its arrays point into `bytes`. */
typedef struct {
    kith_graph g;
    kith__implications r;
    kith__neighbor_lists l;
    header h;
} view;

static view view_of(char *bytes)
{
    view v = {.g = {.map = bytes, .map_bytes = good_bytes}};
    pieces p;

    memcpy(bytes, good, good_bytes);
    memcpy(&v.h, bytes, sizeof v.h);
    describe(&p, &v.h, &v.g, &v.r, &v.l);
    set_numbers(&v.g, &v.r, &v.l, &v.h);
    assert_true(place_pieces(&p, bytes, &v.h));
    return v;
}

/* With all hashes right for what is there now. */
static bool loads(char *bytes, view *v)
{
    kith_graph *graph = NULL;
    kith__implications *rules = NULL;
    kith__neighbor_lists *lists = NULL;

    v->h.data_hash = kith_graph_hash(&v->g);
    v->h.derived = kith__derived_hash(&v->g, &v->r, &v->l);
    memcpy(bytes, &v->h, sizeof v->h);
    seal(bytes);
    put_cache(bytes, good_bytes);
    const kith__cache_wanted wanted = {v->h.key, v->h.data_hash, 0, true};
    bool good_one = kith__cache_load(&graph, &rules, &lists, run, &wanted);
    if (good_one) {
        kith_graph_free(graph);
        kith__implications_free(rules);
        kith__neighbor_lists_free(lists);
    }
    return good_one;
}

static void cache__ids_out_of_range_are_refused_though_every_hash_is_right(void **state)
{
    char *bytes = malloc(good_bytes);
    view v = view_of(bytes);

    (void)state;
    assert_true(loads(bytes, &v));
    for (int wrong = 0; wrong < 8; wrong++) {
        v = view_of(bytes);
        const uint32_t *ids[] = {
            &v.g.neighbors[0].entity,
            &v.g.neighbors[0].relation,
            &v.l.at[0].entity,
            &v.l.at[0].relation,
            &v.r.at[0].relation,
            &v.r.at[0].support,
            &v.g.splits[KITH_TRAIN].at[0].object,
            &v.g.splits[KITH_TEST].at[0].relation,
        };
        memcpy(bytes + ((const char *)ids[wrong] - bytes), &(uint32_t){1000000}, 4);
        if (loads(bytes, &v))
            fail_msg("array %d: an id out of range was accepted", wrong);
    }
    free(bytes);
}

/* The same entities, of which the third has another name. */
static void rename_third(kith_graph *graph, const char *name)
{
    kith__names names;

    assert_int_equal(kith__names_init(&names), 0);
    for (uint32_t id = 0; id < graph->entities.count; id++) {
        const char *text = id == 2 ? name : kith__names_get(&graph->entities, id);
        uint64_t hash = kith__names_hash(text, strlen(text));
        assert_int_equal(kith__names_add(&names, text, strlen(text), hash), id);
    }
    graph->entities = names;
}

static void cache__names_that_would_forge_lines_are_refused(void **state)
{
    static const char *const names[] = {"a b", "a\tb", "a\nb",
                                        "a\xff"
                                        "b",
                                        ""};
    char *bytes = malloc(good_bytes);

    (void)state;
    for (int i = 0; i < 5; i++) {
        view v = view_of(bytes);
        rename_third(&v.g, names[i]);
        if (kith__cache_arrays_valid(&v.g, (size_t)v.h.label_bytes, &v.r, &v.l, NULL) != (i == 0))
            fail_msg("name %d: expected %s", i, i == 0 ? "to be accepted" : "an error");
        kith__names_release(&v.g.entities);
    }
    free(bytes);
}

/* A mapped file that is cut would kill its readers; one that is replaced stays theirs. */
static void cache__an_open_one_is_replaced_and_not_cut(void **state)
{
    (void)state;
    put_cache(good, good_bytes);
    kith_model *reader = opened_run();
    assert_non_null(reader->own_graph->map);
    kith_model *other = opened_run();
    struct stat info;
    int file = open(format("%s/cache.bin", run), O_RDONLY);
    kith__cache_save(run, 1, other, NULL);
    kith_model_free(other);
    assert_int_equal(fstat(file, &info), 0);
    assert_int_equal(info.st_nlink, 0); /* nobody has written to what is mapped */
    assert_int_equal(info.st_size, good_bytes);
    close(file);
    char *found = answers_of(reader, 3);
    assert_string_equal(found, expected);
    free(found);
    kith_model_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache__ids_out_of_range_are_refused_though_every_hash_is_right),
        cmocka_unit_test(cache__no_mutation_with_a_right_checksum_changes_an_answer),
        cmocka_unit_test(cache__a_forged_one_never_leads_outside_its_arrays),
        cmocka_unit_test(cache__one_cut_off_anywhere_is_made_again),
        cmocka_unit_test(cache__names_that_would_forge_lines_are_refused),
        cmocka_unit_test(cache__an_open_one_is_replaced_and_not_cut),
    };
    int failed = cmocka_run_group_tests(tests, make_run, free_run);
    kith__free(targets);
    return failed;
}
