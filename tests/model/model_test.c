/* Settings, neighbour lists, encodings and scores. */
#include <math.h>

#include "embed/decoders/decoder.h"
#include "model/model.h"
#include "support.h"
#include "tables.h"

enum { DIM = 12 };

static kith_settings preset(const char *name)
{
    kith_settings s;
    assert_int_equal(kith__settings_init(&s, name, NULL), KITH_OK);
    return s;
}

static kith_settings small(const char *aggregator)
{
    kith_settings s = preset("release");
    set(&s, "aggregator", aggregator);
    s.dim = DIM;
    return s;
}

static kith_model *model_with(const kith_graph *graph, const kith_settings *s)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_new(&model, graph, s, &(kith_work_options){.threads = 1}, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a model", error.message);
    return model;
}

static void encode(float *vector, kith_model *model, uint32_t entity, uint32_t relation,
                   int inverse)
{
    kith_error error;
    if (kith_model_encode(vector, model, entity, relation, inverse, &error) != KITH_OK)
        fail_msg("%s", error.message);
}

static uint32_t entity(const kith_graph *graph, const char *name)
{
    uint32_t id = 0;
    assert_int_equal(kith_graph_find_entity(&id, graph, name), KITH_OK);
    return id;
}

/* ---- settings ---- */

static const char *value_of(const kith_settings *s, const char *name)
{
    static char text[64];
    assert_non_null(kith_settings_get(text, sizeof text, s, name));
    return text;
}

static void check_values(const char *name, const char *const values[][2])
{
    kith_settings s = preset(name);

    for (int i = 0; values[i][0]; i++)
        if (strcmp(value_of(&s, values[i][0]), values[i][1]) != 0)
            fail_msg("%s, %s: found %s, expected %s", name, values[i][0],
                     value_of(&s, values[i][0]), values[i][1]);
}

/* What both presets share, from the paper's settings of its tables. */
#define SHARED                                                                                    \
    {"aggregator", "lan"}, {"decoder", "transe"}, {"loss", "margin"}, {"subtask", "on"},          \
        {"dim", "100"}, {"batch", "1024"}, {"max-neighbors", "64"}, {"lr", "0.001"},              \
        {"margin", "1"}, {"negatives", "1"}, {"l2", "0"}, {"adam", "dense"},                      \
        {"epsilon", "outside"}, {"predict", "auto"}, {"mask", "off"}, {"eval-every", "50"},       \
        {"eval-facts", "1000"}, {"epochs", "1000"}

static void settings__release_is_what_the_authors_program_does(void **state)
{
    static const char *const values[][2] = {SHARED,
                                            {"attention-width", "2d"},
                                            {"logic-denominator", "one-plus-max"},
                                            {"self-confidence", "row-mean"},
                                            {"normalize", "on"},
                                            {"corrupt", "predicted"},
                                            {"neighbors", "first"},
                                            {"padding", "on"},
                                            {NULL, NULL}};
    (void)state;
    check_values("release", values);
}

static void settings__paper_is_what_the_text_says(void **state)
{
    static const char *const values[][2] = {SHARED,
                                            {"attention-width", "d"},
                                            {"logic-denominator", "max"},
                                            {"self-confidence", "one"},
                                            {"normalize", "off"},
                                            {"corrupt", "either"},
                                            {"neighbors", "random"},
                                            {"padding", "off"},
                                            {NULL, NULL}};
    (void)state;
    check_values("paper", values);
}

static void settings__embedding_is_made_to_learn_quickly(void **state)
{
    static const char *const values[][2] = {{"aggregator", "table"},
                                            {"decoder", "transe"},
                                            {"loss", "softmax"},
                                            {"normalize", "off"},
                                            {"directions", "both"},
                                            {"reciprocal", "on"},
                                            {"candidate-vectors", "input"},
                                            {"mask", "on"},
                                            {"neighbors", "sampled"},
                                            {"logic-denominator", "one-plus-max"},
                                            {"self-confidence", "row-mean"},
                                            {"schedule", "linear"},
                                            {"dim", "100"},
                                            {NULL, NULL}};
    (void)state;
    check_values("embedding", values);
}

static void settings__an_unknown_preset_is_refused(void **state)
{
    kith_settings s;
    kith_error error;

    (void)state;
    assert_int_equal(kith__settings_init(&s, "mine", &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "'mine'");
    assert_contains(error.message,
                    "kith, triplets, rules, embedding, release, paper or paper-fast");
}

static bool is_list(const char *choices)
{
    return strchr(choices, '|') && strcmp(choices, "d|2d|N") != 0;
}

static void settings__presets_are_listed_and_made(void **state)
{
    const char *name, *help;
    size_t count = 0;

    (void)state;
    for (; (name = kith_settings_preset(count, &help)); count++) {
        kith_settings *s;
        assert_int_equal(kith_settings_new(&s, name, NULL), KITH_OK);
        assert_true(strlen(help) > 0);
        assert_int_equal(kith__settings_check(s, NULL), KITH_OK);
        kith_settings_free(s);
    }
    assert_true(count >= 6);
    assert_string_equal(kith_settings_preset(0, NULL), "kith");
    kith_settings_free(NULL);
}

static void settings__calls_without_a_name_or_value_are_refused(void **state)
{
    kith_settings *s = (kith_settings *)1;
    kith_error error;
    char text[8];

    (void)state;
    assert_int_equal(kith_settings_new(&s, NULL, &error), KITH_ERR_ARGUMENT);
    assert_null(s);
    assert_int_equal(kith_settings_new(&s, "release", &error), KITH_OK);
    assert_int_equal(kith_settings_set(s, NULL, "1", &error), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_settings_set(s, "dim", NULL, &error), KITH_ERR_ARGUMENT);
    assert_null(kith_settings_get(text, sizeof text, s, NULL));
    assert_int_equal(kith_settings_applies(s, NULL), 0);
    assert_int_equal(kith_settings_applies(s, "no-such"), 0);
    kith_settings_free(s);
}

/* Names of the settings that apply, in the table's order. */
static const char *applying(const kith_settings *s)
{
    static char text[2048];
    const char *name;

    text[0] = 0;
    for (size_t i = 0; (name = kith_settings_name(i, NULL, NULL)); i++)
        if (kith_settings_applies(s, name))
            strcat(strcat(text, name), " ");
    return text;
}

static void settings__only_some_apply(void **state)
{
    kith_settings rules = preset("rules"), lan = preset("release"), table = preset("embedding");

    (void)state;
    assert_string_equal(applying(&rules), "evidence unseen-neighbors predict seed ");
    assert_true(kith_settings_applies(&lan, "margin") && kith_settings_applies(&lan, "normalize") &&
                kith_settings_applies(&lan, "attention-width"));
    assert_false(kith_settings_applies(&lan, "scale") || kith_settings_applies(&lan, "padding") ||
                 kith_settings_applies(&lan, "table-lr"));
    assert_true(kith_settings_applies(&table, "scale") &&
                kith_settings_applies(&table, "table-lr"));
    assert_false(kith_settings_applies(&table, "margin") ||
                 kith_settings_applies(&table, "attention-width"));
    set(&lan, "aggregator", "mean");
    set(&lan, "decoder", "distmult");
    set(&lan, "eval-every", "0");
    set(&lan, "neighbors", "all");
    assert_true(kith_settings_applies(&lan, "padding"));
    assert_false(kith_settings_applies(&lan, "normalize") ||
                 kith_settings_applies(&lan, "patience") ||
                 kith_settings_applies(&lan, "max-neighbors") ||
                 kith_settings_applies(&lan, "self-confidence"));
}

static void settings__every_choice_reads_back(void **state)
{
    const char *name, *choices, *help;
    size_t tried = 0;

    (void)state;
    for (size_t i = 0; (name = kith_settings_name(i, &help, &choices)); i++) {
        kith_settings s = preset("release");
        assert_true(strlen(help) > 5);
        if (!is_list(choices))
            continue;
        char *copy = strdup(choices), *rest = copy, *word;
        while ((word = strsep(&rest, "|"))) {
            set(&s, name, word);
            assert_string_equal(value_of(&s, name), word);
            tried++;
        }
        free(copy);
    }
    assert_true(tried >= 8 + 4 + 2 * 5 + 3 + 4 + 4);
    assert_null(kith_settings_name(1000, NULL, NULL));
}

static void settings__every_number_reads_back(void **state)
{
    static const char *const values[][2] = {
        {"dim", "1"},           {"dim", "65536"},         {"attention-width", "7"},
        {"attention-width", "d"}, {"attention-width", "2d"}, {"max-neighbors", "4294967295"},
        {"batch", "1048576"},   {"negatives", "4096"},    {"lr", "0.005"},
        {"lr", "1e-05"},        {"margin", "300"},        {"margin", "0"},
        {"l2", "0.001"},        {"epochs", "1"},          {"eval-every", "0"},
        {"eval-facts", "0"},    {"patience", "0"},        {"seed", "0"},
        {"seed", "9223372036854775807"}, {"lr", "0.12345678901234566"},
        {"shared-negatives", "4000"}, {"scale", "2.5"},
        {"table-lr", "10"}, {NULL, NULL}};

    (void)state;
    for (int i = 0; values[i][0]; i++) {
        kith_settings s = preset("paper");
        set(&s, values[i][0], values[i][1]);
        assert_string_equal(value_of(&s, values[i][0]), values[i][1]);
    }
}

static void settings__values_that_will_not_do_are_refused_and_change_nothing(void **state)
{
    static const char *const values[][3] = {
        {"aggregator", "median", "mean|sum|max|lstm"}, {"aggregator", "", "mean|sum"},
        {"aggregator", "mea", "mean|sum"},             {"aggregator", "mean|sum", "mean|sum"},
        {"decoder", "rescal", "transe|distmult"},      {"loss", "hinge", "margin|logistic"},
        {"subtask", "yes", "on|off"},                  {"dim", "0", "from 1 to"},
        {"dim", "-3", "whole number"},                 {"dim", "1.5", "whole number"},
        {"dim", "ten", "whole number"},                {"dim", "", "whole number"},
        {"dim", "5x", "whole number"},                 {"dim", "1e9", "from 1 to"},
        {"dim", "nan", "whole number"},                {"attention-width", "3d", "d, 2d or"},
        {"attention-width", "0", "d, 2d or"},          {"lr", "inf", "a number"},
        {"lr", "-1", "a number"},                      {"margin", "nan", "a number"},
        {"seed", "-1", "whole number"},                {"seed", "99999999999999999999", "whole"},
        {"seed", "1.5", "whole number"},               {"predict", "none", "object|subject|both"},
        {"neighbors", "last", "first|random|all"},     {"max-neighbors", "0", "from 1"},
        {"batch", "0", "from 1"},                      {"negatives", "0", "from 1"},
        {"epochs", "0", "from 1"},                     {"directions", "all", "predicted|both"},
        {"candidate-vectors", "seen", "encoded|input"},   {"schedule", "on", "constant|linear"},
        {"shared-negatives", "0", "from 1"},           {"schedule", "cosine", "constant|linear"},
        {"scale", "nan", "a number"},                  {"table-lr", "-1", "a number"},
        {NULL}};

    (void)state;
    for (int i = 0; values[i][0]; i++) {
        kith_settings s = preset("release"), before = s;
        kith_error error = {KITH_OK, ""};
        assert_int_equal(kith_settings_set(&s, values[i][0], values[i][1], &error),
                         KITH_ERR_ARGUMENT);
        assert_contains(error.message, values[i][0]);
        assert_contains(error.message, format("'%s'", values[i][1]));
        assert_contains(error.message, values[i][2]);
        assert_memory_equal(&s, &before, sizeof s);
    }
}

static void settings__an_unknown_name_is_refused(void **state)
{
    kith_settings s = preset("release");
    kith_error error;
    char text[8];

    (void)state;
    assert_int_equal(kith_settings_set(&s, "width", "5", &error), KITH_ERR_NOT_FOUND);
    assert_contains(error.message, "'width'");
    assert_null(kith_settings_get(text, sizeof text, &s, "width"));
}

static void check_model_refused(const kith_settings *s, const char *split)
{
    kith_graph *graph = opened(file("train", "a\tr\tb\n"));
    kith_model *model = NULL;
    kith_error error = {KITH_OK, ""};

    assert_int_equal(kith_model_new(&model, graph, s, &(kith_work_options){.threads = 1}, &error),
                     KITH_ERR_ARGUMENT);
    assert_null(model);
    assert_contains(error.message, split);
    kith_graph_free(graph);
}

static void settings__widths_that_a_decoder_cannot_halve_are_refused(void **state)
{
    kith_settings s = small("mean");

    (void)state;
    s.dim = 7;
    set(&s, "decoder", "complex");
    check_model_refused(&s, "multiple of 2, found 7");
    s.dim = 6;
    set(&s, "decoder", "analogy");
    check_model_refused(&s, "multiple of 4, found 6");
}

static void settings__a_struct_with_values_out_of_range_is_refused(void **state)
{
    kith_settings s;

    (void)state;
    s = small("mean");
    s.dim = 0;
    check_model_refused(&s, "dim");
    s = small("mean");
    s.batch = 0;
    check_model_refused(&s, "batch");
    s = small("mean");
    s.negatives = 0;
    check_model_refused(&s, "negatives");
    s = small("mean");
    s.epochs = 0;
    check_model_refused(&s, "epochs");
    s = small("mean");
    s.max_neighbors = 0;
    check_model_refused(&s, "max-neighbors");
    s = small("mean");
    s.reciprocal = 1;
    check_model_refused(&s, "need the loss softmax");
    s = small("mean");
    s.scale = 0;
    check_model_refused(&s, "scale");
    s = small("mean");
    s.lr = 0;
    check_model_refused(&s, "lr");
    s = small("mean");
    s.lr = NAN;
    check_model_refused(&s, "lr");
    s = small("mean");
    s.margin = -INFINITY;
    check_model_refused(&s, "margin");
    s = small("mean");
    s.aggregator = 99;
    check_model_refused(&s, "aggregator");
    s = small("mean");
    s.decoder = -1;
    check_model_refused(&s, "decoder");
    s = small("mean");
    s.predict = (kith_predict)9;
    check_model_refused(&s, "predict");
    s = small("mean");
    s.attention_width = -7;
    check_model_refused(&s, "attention-width");
}

/* ---- what is predicted ---- */

static void check_predict(const char *test, const char *aux, const char *expected)
{
    const char *folder = new_folder();
    put(folder, "train", "a\tr\tb\nb\tr\tc\n");
    put(folder, "test", test);
    put(folder, "aux", aux);
    kith_graph *graph = opened(folder);
    kith_settings s = small("mean");
    kith_model *model = model_with(graph, &s);

    if (strcmp(value_of(kith_model_settings(model), "predict"), expected) != 0)
        fail_msg("test '%s': found %s, expected %s", test,
                 value_of(kith_model_settings(model), "predict"), expected);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void predict__auto_looks_at_where_unseen_entities_stand(void **state)
{
    (void)state;
    check_predict("x\tr\ta\ny\tr\tb\na\tr\tc\n", "x\tr\tb\ny\tr\tc\n", "object");
    check_predict("a\tr\tx\nb\tr\ty\n", "x\tr\tb\ny\tr\tc\n", "subject");
    check_predict("x\tr\ta\nb\tr\ty\n", "x\tr\tb\ny\tr\tc\n", "both");
    check_predict("a\tr\tc\n", "x\tr\tb\n", "both");
    check_predict("x\tr\ty\n", "x\tr\tb\n", "both");
}

static void predict__what_is_asked_for_is_kept(void **state)
{
    static const char *const sides[] = {"object", "subject", "both"};
    kith_graph *graph = opened(file("train", "a\tr\tb\n"));

    (void)state;
    for (int i = 0; i < 3; i++) {
        kith_settings s = small("mean");
        set(&s, "predict", sides[i]);
        kith_model *model = model_with(graph, &s);
        assert_string_equal(value_of(kith_model_settings(model), "predict"), sides[i]);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

static void corrupt__follows_what_is_predicted_unless_asked_for(void **state)
{
    static const char *const values[][3] = {
        {"object", "predicted", "object"}, {"subject", "predicted", "subject"},
        {"both", "predicted", "either"},   {"object", "either", "either"},
        {"subject", "object", "object"},   {"both", "subject", "subject"}};
    kith_graph *graph = opened(file("train", "a\tr\tb\n"));

    (void)state;
    for (int i = 0; i < 6; i++) {
        kith_settings s = small("mean");
        set(&s, "predict", values[i][0]);
        set(&s, "corrupt", values[i][1]);
        kith_model *model = model_with(graph, &s);
        assert_string_equal(value_of(kith_model_settings(model), "corrupt"), values[i][2]);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* ---- neighbour lists ---- */

enum { HUB = 200 };

/* Entities n0, n1 ... around a hub, and a chain, so that lists of many lengths exist. */
/* ---- packed lists ---- */

static void check_packed(const kith_graph *graph, const kith_settings *s)
{
    kith_model *plain = model_with(graph, s), *packed = model_with(graph, s);
    const kith__neighbor_lists *a = plain->lists, *b = packed->lists;
    size_t other_than_1 = 0;

    kith__neighbor_lists_pack(packed->lists, packed->rules, s, packed->pool);
    assert_null(b->denominator);
    for (uint32_t e = 0; e < a->entities; e++)
        for (size_t k = 0; k < kith__list_count(a, e); k++) {
            float x = kith__denominator(a, a->offset[e] + k);
            float y = kith__denominator(b, b->offset[e] + k);
            other_than_1 += x != 1;
            assert_memory_equal(&x, &y, sizeof x);
        }
    assert_true(other_than_1 > 0);
    kith_model_free(plain);
    kith_model_free(packed);
}

static void lists__packed_denominators_are_the_same_to_the_last_bit(void **state)
{
    static const char *const modes[] = {"one-plus-max", "max"};
    static const char *const choices[] = {"first", "random", "all"};
    const random_shape shape = {
        .entities = 60, .relations = 9, .train = 500, .test = 20, .aux = 40};

    (void)state;
    for (int i = 0; i < 6; i++) {
        kith_settings s = preset("release");
        kith__rng rng;
        kith__rng_init(&rng, 3, (uint64_t)i);
        kith_graph *graph = opened(random_folder(&rng, &shape));
        set(&s, "logic-denominator", modes[i % 2]);
        set(&s, "neighbors", choices[i / 2]);
        s.max_neighbors = 5;
        check_packed(graph, &s);
        kith_graph_free(graph);
    }
}

static kith_graph *hub_graph(int neighbors)
{
    draft t = {0};

    for (int i = 0; i < neighbors; i++) {
        if (i % 2)
            add(&t, "hub\tr%d\tn%d\n", i % 3, i);
        else
            add(&t, "n%d\tr%d\thub\n", i, i % 3);
    }
    for (int i = 0; i < 12; i++)
        add(&t, "n%d\tr0\tn%d\n", i, i + 1);
    kith_graph *graph = opened(file("train", t.at));
    draft_release(&t);
    return graph;
}

/* The hub's list under a setting, and whether it is a part of the graph's in the same order. */
static size_t hub_list(uint32_t *entities, const kith_graph *graph, const char *kept, uint64_t seed)
{
    kith_settings s = small("mean");
    uint32_t hub = entity(graph, "hub");
    kith_neighborhoods all = kith_graph_neighborhoods(graph);

    set(&s, "neighbors", kept);
    s.seed = seed;
    kith_model *model = model_with(graph, &s);
    const kith__neighbor_lists *lists = model->lists;
    size_t count = 0, at = all.offset[hub];
    uint64_t from = lists->offset[hub];
    for (uint64_t i = from; i < from + kith__list_count(lists, hub); i++) {
        while (at < all.offset[hub + 1] && all.at[at].entity != lists->at[i].entity)
            at++;
        assert_true(at < all.offset[hub + 1]);
        entities[count++] = lists->at[i].entity;
    }
    for (uint32_t e = 0; e < lists->entities; e++) /* short lists are never cut */
        if (all.offset[e + 1] - all.offset[e] <= s.max_neighbors)
            assert_int_equal(kith__list_count(lists, e), all.offset[e + 1] - all.offset[e]);
    kith_model_free(model);
    return count;
}

static void neighbors__first_takes_the_first_in_file_order(void **state)
{
    kith_graph *graph = hub_graph(HUB);
    uint32_t kept[HUB];

    (void)state;
    assert_int_equal(hub_list(kept, graph, "first", 1), 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(kept[i], entity(graph, format("n%d", i)));
    kith_graph_free(graph);
}

static void neighbors__all_cuts_nothing(void **state)
{
    kith_graph *graph = hub_graph(HUB);
    uint32_t kept[HUB];

    (void)state;
    assert_int_equal(hub_list(kept, graph, "all", 1), HUB);
    kith_graph_free(graph);
}

static void neighbors__random_takes_any_and_the_seed_decides(void **state)
{
    kith_graph *graph = hub_graph(HUB);
    uint32_t first[HUB], again[HUB], other[HUB];
    size_t late = 0;

    (void)state;
    assert_int_equal(hub_list(first, graph, "random", 1), 64);
    assert_int_equal(hub_list(again, graph, "random", 1), 64);
    assert_int_equal(hub_list(other, graph, "random", 2), 64);
    assert_memory_equal(first, again, 64 * sizeof *first);
    assert_memory_not_equal(first, other, 64 * sizeof *first);
    for (int i = 0; i < 64; i++)
        for (int k = HUB / 2; k < HUB; k++)
            late += first[i] == entity(graph, format("n%d", k));
    if (late < 20 || late > 44) /* half of them, give or take three deviations */
        fail_msg("found %zu of 64 in the second half, expected about 32", late);
    kith_graph_free(graph);
}

static void neighbors__random_takes_each_equally_often(void **state)
{
    enum { SEEDS = 300, CAP = 64 };
    kith_graph *graph = hub_graph(HUB);
    uint32_t kept[HUB], times[HUB + 1] = {0};
    double square = 0, mean = SEEDS * (double)CAP / HUB;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (size_t i = 0, count = hub_list(kept, graph, "random", seed); i < count; i++)
            times[kept[i]]++;
    for (uint32_t e = 0; e <= HUB; e++)
        if (e != entity(graph, "hub"))
            square += (times[e] - mean) * (times[e] - mean);
    /* Each count is binomial; chi-square over 200 cells is 200 (1 - .32), give or take. */
    if (square / mean > 200)
        fail_msg("found a chi-square of %.1f, expected about 136", square / mean);
    kith_graph_free(graph);
}

/* ---- encodings ---- */

/* The same facts of train in another order, ids kept by the maps. */
static kith_graph *graph_in_order(bool turned)
{
    enum { ENTITIES = 30, FACTS = 160 };
    const char *folder = new_folder();
    draft t = {0}, names = {0}, relations = {0}, aux = {0};
    kith__rng rng;
    char lines[FACTS][32];

    kith__rng_init(&rng, 4, 0);
    for (int i = 0; i < FACTS; i++)
        snprintf(lines[i], sizeof lines[i], "%d\t%d\t%d\n", (int)kith__rng_below(&rng, ENTITIES),
                 (int)kith__rng_below(&rng, 4),
                 i < ENTITIES ? i : (int)kith__rng_below(&rng, ENTITIES));
    for (int i = 0; i < FACTS; i++)
        add(&t, "%s", lines[turned ? (i * 61 + 17) % FACTS : i]);
    for (int i = 0; i < ENTITIES + 1; i++)
        add(&names, "e%d\t%d\n", i, i);
    for (int i = 0; i < 4; i++)
        add(&relations, "r%d\t%d\n", i, i);
    for (int i = 0; i < 8; i++) {
        int k = turned ? 7 - i : i;
        add(&aux, "%d\t%d\t%d\n", ENTITIES, k % 4, 3 * k);
    }
    put(folder, "train", t.at);
    put(folder, "aux", aux.at);
    put(folder, "entity2id.txt", names.at);
    put(folder, "relation2id.txt", relations.at);
    draft_release(&t);
    draft_release(&names);
    draft_release(&relations);
    draft_release(&aux);
    return opened(folder);
}

/* The largest difference between the vectors of all entities for all queries. */
static double furthest(kith_model *a, kith_model *b)
{
    double most = 0;
    float x[DIM], y[DIM];

    for (uint32_t e = 0; e < kith_graph_entity_count(a->graph); e++)
        for (uint32_t q = 0; q < 2 * kith_graph_seen_relation_count(a->graph); q++) {
            encode(x, a, e, q / 2, q % 2);
            encode(y, b, e, q / 2, q % 2);
            for (int k = 0; k < DIM; k++)
                most = fmax(most, fabs((double)x[k] - y[k]));
        }
    return most;
}

static void encode__the_order_of_neighbours_matters_to_ordered_aggregators_alone(void **state)
{
    kith_graph *a = graph_in_order(false), *b = graph_in_order(true);
    kith_neighborhoods x = kith_graph_neighborhoods(a), y = kith_graph_neighborhoods(b);
    uint32_t n = kith_graph_entity_count(a);

    (void)state;
    for (uint32_t e = 0; e < n; e++)
        assert_string_equal(kith_graph_entity_name(a, e), kith_graph_entity_name(b, e));
    assert_int_equal(x.offset[n], y.offset[n]);
    assert_memory_not_equal(x.at, y.at, x.offset[n] * sizeof *x.at);
    for (int i = 0; i < AGGREGATORS; i++)
        for (int paper = 0; paper < 2; paper++) {
            kith_settings s = preset(paper ? "paper" : "release");
            set(&s, "aggregator", aggregators[i]);
            s.dim = DIM;
            kith_model *first = model_with(a, &s), *second = model_with(b, &s);
            double off = furthest(first, second);
            if (kith__aggregator_get(i)->ordered ? off < 1e-3 : off > 1e-5)
                fail_msg("%s: found a difference of %g", aggregators[i], off);
            kith_model_free(first);
            kith_model_free(second);
        }
    kith_graph_free(a);
    kith_graph_free(b);
}

/* Enough entities for several groups, whose last rows the kernels take in smaller blocks. */
static void encode__lstm_is_the_same_alone_and_in_any_batch(void **state)
{
    enum { ENTITIES = 211, WIDE_DIM = 20 };
    draft t = {0};

    (void)state;
    for (int i = 0; i < 5 * ENTITIES; i++)
        add(&t, "e%d\tr%d\te%d\n", i % ENTITIES, i % 7, i * i % ENTITIES % (1 + i % 50));
    kith_graph *graph = opened(file("train", t.at));
    uint32_t n = kith_graph_seen_entity_count(graph);
    for (int padding = 0; padding < 2; padding++) {
        kith_settings s = small("lstm");
        s.dim = WIDE_DIM;
        s.padding = padding;
        kith_model *model = model_with(graph, &s);
        kith__encoder *e = model->encoder;
        size_t stride = kith__encoder_stride(e);
        for (uint32_t size = 1; size <= n; size = size < 8 ? size + 1 : 3 * size)
            for (uint32_t from = 0; from < n; from += size) {
                uint32_t to = from + size < n ? from + size : n;
                kith__encoder_begin(e);
                for (uint32_t k = from; k < to; k++)
                    kith__encoder_request(e, k, 0, NULL);
                assert_int_equal(kith__encoder_forward(e, NULL), KITH_OK);
                size_t floats = kith__encoder_count(e) * stride;
                float *found = malloc(floats * sizeof *found), alone[WIDE_DIM];
                memcpy(found, kith__encoder_vector(e, 0), floats * sizeof *found);
                for (uint32_t k = from; k < to; k += 1 + size / 4) {
                    encode(alone, model, k, 0, 0);
                    assert_memory_equal(found + (k - from) * stride, alone, sizeof alone);
                }
                free(found);
            }
        kith_model_free(model);
    }
    kith_graph_free(graph);
    draft_release(&t);
}

/* T_r(e) = e - (w . e) w with w scaled to length 1, in double precision. */
static void plain_transform(double *out, const kith_model *model, kith_neighbor next)
{
    const float *e = kith__row(kith__ent(&model->params), next.entity);
    const float *w = kith__row(kith__trans(&model->params), next.relation);
    double square = 0, along = 0;

    for (int k = 0; k < DIM; k++) {
        square += (double)w[k] * w[k];
        along += (double)w[k] * e[k];
    }
    for (int k = 0; k < DIM; k++)
        out[k] = e[k] - along / square * w[k];
}

/* Mean, sum and max, straight from their definitions. */
static void plain_pool(double *out, const kith_model *model, uint32_t e, const char *name)
{
    const kith__neighbor_lists *lists = model->lists;
    uint64_t from = lists->offset[e], to = from + kith__list_count(lists, e);
    double t[DIM];

    for (int k = 0; k < DIM; k++)
        out[k] = strcmp(name, "max") == 0 ? -INFINITY : 0;
    for (uint64_t i = from; i < to; i++) {
        plain_transform(t, model, lists->at[i]);
        for (int k = 0; k < DIM; k++)
            out[k] = strcmp(name, "max") == 0 ? fmax(out[k], t[k]) : out[k] + t[k];
    }
    for (int k = 0; k < DIM && strcmp(name, "mean") == 0; k++)
        out[k] /= (double)(to - from);
}

static void check_pools(const kith_graph *graph, const char *kept)
{
    for (int i = 0; i < 3; i++) {
        kith_settings s = small(aggregators[i]);
        set(&s, "neighbors", kept);
        s.padding = 0;
        kith_model *model = model_with(graph, &s);
        for (uint32_t e = 0; e < kith_graph_seen_entity_count(graph); e++) {
            double expected[DIM], size = 0;
            float found[DIM];
            plain_pool(expected, model, e, aggregators[i]);
            encode(found, model, e, 0, 0);
            for (int k = 0; k < DIM; k++)
                size = fmax(size, fabs(expected[k]));
            for (int k = 0; k < DIM; k++)
                if (fabs(found[k] - expected[k]) > 1e-5 * size + 1e-6)
                    fail_msg("%s of entity %u[%d]: found %.8g, expected %.8g", aggregators[i], e, k,
                             (double)found[k], expected[k]);
        }
        kith_model_free(model);
    }
}

static void encode__pools_over_the_list_even_of_5000_neighbours(void **state)
{
    kith_graph *graph = hub_graph(5000);

    (void)state;
    check_pools(graph, "all");
    check_pools(graph, "first");
    kith_graph_free(graph);
}

static void encode__every_aggregator_takes_5000_neighbours(void **state)
{
    kith_graph *graph = hub_graph(5000);
    uint32_t hub = entity(graph, "hub");

    (void)state;
    for (int i = 0; i < AGGREGATORS; i++) {
        kith_settings s = small(aggregators[i]);
        set(&s, "neighbors", "all");
        kith_model *model = model_with(graph, &s);
        float vector[DIM], size = 0;
        encode(vector, model, hub, 1, 1);
        for (int k = 0; k < DIM; k++) {
            assert_true(isfinite(vector[k]));
            size += fabsf(vector[k]);
        }
        assert_true(size > 0);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* One fact: each end has one neighbour, so that attention is 1 and mean, sum and max are its T. */
static void encode__one_relation_and_one_neighbour_is_that_neighbour_transformed(void **state)
{
    kith_graph *graph = opened(file("train", "a\tr\tb\n"));

    (void)state;
    for (int i = 0; i < AGGREGATORS; i++) {
        if (kith__aggregator_get(i)->ordered)
            continue;
        kith_settings s = small(aggregators[i]);
        s.padding = 0;
        kith_model *model = model_with(graph, &s);
        for (uint32_t e = 0; e < 2; e++) {
            /* a has r; P(r => r) is the row's mean, 0 with no other relation, and the inverse is
             * never met together with r: the logic weight is 0. */
            double scale = strcmp(aggregators[i], "logic") == 0 ? 0 : 1, t[DIM];
            float vector[DIM];
            plain_transform(t, model, (kith_neighbor){e ? 1 : 0, 1 - e});
            encode(vector, model, e, 0, (int)e);
            for (int k = 0; k < DIM; k++)
                if (fabs(vector[k] - scale * t[k]) > 1e-5)
                    fail_msg("%s[%d]: found %g, expected %g", aggregators[i], k, (double)vector[k],
                             scale * t[k]);
        }
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

static void encode__an_entity_without_neighbours_is_zeros(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", "a\tr\tb\nb\ts\tc\n");
    put(folder, "test", "lone\tr\ta\n");
    kith_graph *graph = opened(folder);
    uint32_t lone = entity(graph, "lone");
    for (int i = 0; i < AGGREGATORS; i++)
        for (int padding = 0; padding < 2; padding++) {
            kith_settings s = small(aggregators[i]);
            s.padding = padding;
            kith_model *model = model_with(graph, &s);
            for (uint32_t q = 0; q < 4; q++) {
                float vector[DIM], zeros[DIM] = {0};
                memset(vector, 1, sizeof vector);
                encode(vector, model, lone, q / 2, q % 2);
                assert_memory_equal(vector, zeros, sizeof zeros);
            }
            kith_model_free(model);
        }
    kith_graph_free(graph);
}

static void encode__ids_that_do_not_exist_are_named(void **state)
{
    const char *folder = new_folder();
    kith_settings s = small("mean");
    kith_error error;
    float vector[DIM], score;

    (void)state;
    put(folder, "train", "a\tr\tb\n");
    put(folder, "test", "a\tnew\tb\n");
    kith_graph *graph = opened(folder);
    kith_model *model = model_with(graph, &s);
    assert_int_equal(kith_model_encode(vector, model, 2, 0, 0, &error), KITH_ERR_NOT_FOUND);
    assert_contains(error.message, "no entity 2, the graph has 2");
    /* The second relation is in test alone, so there is nothing to encode for. */
    assert_int_equal(kith_model_encode(vector, model, 0, 1, 0, &error), KITH_ERR_NOT_FOUND);
    assert_contains(error.message, "no relation 1 in train");
    assert_int_equal(kith_model_score(&score, model, (kith_triple){0, 0, 7}, &error),
                     KITH_ERR_NOT_FOUND);
    assert_int_equal(kith_model_score(&score, model, (kith_triple){0, 1, 1}, &error),
                     KITH_ERR_NOT_FOUND);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- scores ---- */

/* phi from the two encodings, in double precision for the two decoders that are one line. */
static void score__is_the_decoder_over_the_encodings(void **state)
{
    kith_graph *graph = graph_in_order(false);

    (void)state;
    for (int i = 0; i < AGGREGATORS; i++)
        for (int decoder = 0; decoder < 2; decoder++) {
            kith_settings s = small(aggregators[i]);
            set(&s, "decoder", decoders[decoder]);
            s.normalize = 0;
            kith_model *model = model_with(graph, &s);
            for (uint32_t n = 0; n < 40; n++) {
                kith_triple f = {n % 31, n % 4, n * 7 % 31};
                const float *q = kith__row(kith__rel(&model->params), f.relation);
                float subject[DIM], object[DIM], found;
                double expected = 0;
                encode(subject, model, f.subject, f.relation, 0);
                encode(object, model, f.object, f.relation, 1);
                for (int k = 0; k < DIM; k++)
                    expected += decoder ? (double)subject[k] * q[k] * object[k]
                                        : -fabs((double)subject[k] + q[k] - object[k]);
                assert_int_equal(kith_model_score(&found, model, f, NULL), KITH_OK);
                if (fabs(found - expected) > 1e-5 * (1 + fabs(expected)))
                    fail_msg("%s %s: found %.8g, expected %.8g", aggregators[i], decoders[decoder],
                             (double)found, expected);
            }
            kith_model_free(model);
        }
    kith_graph_free(graph);
}

static void score__scaled_transe_lies_between_its_bounds(void **state)
{
    kith_graph *graph = graph_in_order(false);
    kith_settings s = small("lan");
    kith_model *model = model_with(graph, &s);

    (void)state;
    for (size_t i = 0; i < model->params.floats; i++)
        model->params.block[i] *= 1000; /* lengths do not count */
    for (uint32_t n = 0; n < 40; n++) {
        float found;
        assert_int_equal(kith_model_score(&found, model, (kith_triple){n % 31, n % 4, n * 7 % 31},
                                          NULL), KITH_OK);
        assert_true(found <= 0 && found >= -3 * sqrtf(DIM));
    }
    kith_model_free(model);
    kith_graph_free(graph);
}

static void model__the_seed_decides_the_start_values(void **state)
{
    kith_graph *graph = graph_in_order(false);
    kith_settings s = small("lan");
    kith_model *first = model_with(graph, &s), *again = model_with(graph, &s);

    (void)state;
    s.seed = 2;
    kith_model *other = model_with(graph, &s);
    size_t bytes = first->params.floats * sizeof(float);
    assert_memory_equal(first->params.block, again->params.block, bytes);
    assert_memory_not_equal(first->params.block, other->params.block, bytes);
    kith_model_free(first);
    kith_model_free(again);
    kith_model_free(other);
    kith_graph_free(graph);
}

static void model__start_values_are_xavier_normal(void **state)
{
    kith_graph *graph = graph_in_order(false);
    kith_settings s = small("lstm");

    (void)state;
    s.dim = 200;
    kith_model *model = model_with(graph, &s);
    for (size_t t = 0; t < model->params.tables; t++) {
        const kith__table *table = &model->params.table[t];
        double square = 0, expected = table->rows == 1 ? 1. / (double)table->cols
                                                       : 2. / (double)(table->rows + table->cols);
        size_t count = table->rows * table->cols;
        if (strcmp(table->spec->name, "lstm_b") == 0) {
            for (size_t c = 0; c < table->cols; c++)
                assert_true(table->at[c] == (c / 200 == 1)); /* the forget gate */
            continue;
        }
        for (size_t r = 0; r < table->rows; r++)
            for (size_t c = 0; c < table->cols; c++)
                square += (double)kith__row(table, r)[c] * kith__row(table, r)[c];
        if (fabs(square / (double)count / expected - 1) > 5 * sqrt(2. / (double)count))
            fail_msg("%s: found a variance of %g, expected %g", table->spec->name,
                     square / (double)count, expected);
    }
    kith_model_free(model);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists__packed_denominators_are_the_same_to_the_last_bit),
        cmocka_unit_test(settings__release_is_what_the_authors_program_does),
        cmocka_unit_test(settings__paper_is_what_the_text_says),
        cmocka_unit_test(settings__embedding_is_made_to_learn_quickly),
        cmocka_unit_test(settings__an_unknown_preset_is_refused),
        cmocka_unit_test(settings__presets_are_listed_and_made),
        cmocka_unit_test(settings__calls_without_a_name_or_value_are_refused),
        cmocka_unit_test(settings__only_some_apply),
        cmocka_unit_test(settings__every_choice_reads_back),
        cmocka_unit_test(settings__every_number_reads_back),
        cmocka_unit_test(settings__values_that_will_not_do_are_refused_and_change_nothing),
        cmocka_unit_test(settings__an_unknown_name_is_refused),
        cmocka_unit_test(settings__widths_that_a_decoder_cannot_halve_are_refused),
        cmocka_unit_test(settings__a_struct_with_values_out_of_range_is_refused),
        cmocka_unit_test(predict__auto_looks_at_where_unseen_entities_stand),
        cmocka_unit_test(predict__what_is_asked_for_is_kept),
        cmocka_unit_test(corrupt__follows_what_is_predicted_unless_asked_for),
        cmocka_unit_test(neighbors__first_takes_the_first_in_file_order),
        cmocka_unit_test(neighbors__all_cuts_nothing),
        cmocka_unit_test(neighbors__random_takes_any_and_the_seed_decides),
        cmocka_unit_test(neighbors__random_takes_each_equally_often),
        cmocka_unit_test(encode__the_order_of_neighbours_matters_to_ordered_aggregators_alone),
        cmocka_unit_test(encode__lstm_is_the_same_alone_and_in_any_batch),
        cmocka_unit_test(encode__pools_over_the_list_even_of_5000_neighbours),
        cmocka_unit_test(encode__every_aggregator_takes_5000_neighbours),
        cmocka_unit_test(encode__one_relation_and_one_neighbour_is_that_neighbour_transformed),
        cmocka_unit_test(encode__an_entity_without_neighbours_is_zeros),
        cmocka_unit_test(encode__ids_that_do_not_exist_are_named),
        cmocka_unit_test(score__is_the_decoder_over_the_encodings),
        cmocka_unit_test(score__scaled_transe_lies_between_its_bounds),
        cmocka_unit_test(model__the_seed_decides_the_start_values),
        cmocka_unit_test(model__start_values_are_xavier_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
