/* Settings: presets, choices, what is refused, and what is predicted where nothing is said. */
#include <math.h>

#include "support.h"
#include "models.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
