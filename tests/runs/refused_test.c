/* Run folders that are refused: no run, damaged weights, checkpoints that do not fit. */
#include <math.h>
#include <unistd.h>

#include "run/run.h"
#include "support.h"
#include "runs.h"

/* Opening the model and resuming both fail, with a message that has the parts. */
static void check_refused(const char *folder, bool resume_too, const char *split,
                          const char *second)
{
    kith_error error = {KITH_OK, ""};
    kith_model *model = NULL;
    kith_train_end end;

    if (kith_model_open(&model, folder, &(kith_work_options){.threads = 1}, &error) == KITH_OK)
        fail_msg("found a model, expected an error with '%s'", split);
    assert_null(model);
    assert_true(error.status == KITH_ERR_INPUT || error.status == KITH_ERR_IO);
    assert_contains(error.message, split);
    assert_contains(error.message, second);
    if (!resume_too)
        return;
    error.message[0] = '\0';
    if (kith_train_resume(&end, folder, NULL, &error) == KITH_OK)
        fail_msg("found a run that went on, expected an error with '%s'", split);
    assert_contains(error.message, split);
}

static void check_resume_refused(const char *folder, const char *split)
{
    kith_error error = {KITH_OK, ""};
    kith_train_end end;
    kith_status status = kith_train_resume(&end, folder, NULL, &error);

    if (status != KITH_ERR_INPUT)
        fail_msg("found status %d '%s', expected an error with '%s'", status, error.message, split);
    assert_contains(error.message, "checkpoint.safetensors");
    assert_contains(error.message, split);
}

/* One text of a file replaced by another. */
static void replace(const char *folder, const char *name, const char *from, const char *to)
{
    size_t length, before = strlen(from), after = strlen(to);
    char *old = contents(in(folder, name), &length), *place = memmem(old, length, from, before);

    if (!place)
        fail_msg("%s/%s: found no '%s'", folder, name, from);
    char *new = malloc(length + after);
    size_t head = (size_t)(place - old);
    memcpy(new, old, head);
    memcpy(new + head, to, after);
    memcpy(new + head + after, place + before, length - head - before);
    put_bytes(folder, name, new, length - before + after);
    if (strstr(name, ".json") || strstr(name, ".safetensors"))
        reseal(folder, name);
    free(old);
    free(new);
}

static const char *a_run(void)
{
    static const char *made;
    kith_settings s = quick_settings("lan");

    if (!made)
        made = trained_run(run_graph, &s, 1);
    return copy_run(made);
}

/* Not finished, so that the checkpoint is needed. */
static const char *a_stopped_run(void)
{
    static const char *made;

    if (!made) {
        kith_settings s = quick_settings("lan");
        made = stopped_with(&s, "att_u", .5f);
    }
    return copy_run(made);
}

static void refused__a_folder_that_is_no_run(void **state)
{
    const char *folder = a_run();

    (void)state;
    check_refused(new_folder(), true, "is not a run", "config.json");
    check_refused("/nonexistent", true, "/nonexistent", "is not a run");
    unlink(in(folder, "config.json"));
    check_refused(folder, true, folder, "is not a run");
}

static void refused__a_config_that_is_not_one(void **state)
{
    const char *folder = a_run();

    (void)state;
    put(folder, "config.json", "");
    check_refused(folder, true, "config.json:1", "as kith train writes it");
    put(folder, "config.json", "{\"format\": 1,\n oops");
    check_refused(folder, true, "config.json:2", "as kith train writes it");
    put(folder, "config.json", "[1, 2]");
    check_refused(folder, true, "config.json", "as kith train writes it");
    put(folder, "config.json", "{\"architectures\": [\"Bert\"], \"hidden_size\": 768}");
    check_refused(folder, true, "config.json", "lacks format");
    put(folder, "config.json",
        "{\"format\": 2, \"kith\": \"0.1.0\", \"data_hash\": \"0123456789abcdef\", \"settings\": "
        "3}");
    check_refused(folder, true, "config.json", "lacks the setting");
}

static void refused__a_format_of_the_future(void **state)
{
    const char *folder = a_run();

    (void)state;
    replace(folder, "config.json", "\"format\": 3", "\"format\": 99");
    check_refused(folder, true, "has format 99", "formats up to 3");
    replace(folder, "config.json", "\"format\": 99", "\"format\": 0");
    check_refused(folder, true, "has format 0", "train it again: kith train");
}

static void refused__a_config_with_a_setting_missing_or_out_of_range(void **state)
{
    const char *folder = a_run();

    (void)state;
    replace(folder, "config.json", "\"dim\"", "\"dimension\"");
    check_refused(folder, true, "config.json", "lacks the setting 'dim'");
    replace(folder, "config.json", "\"dimension\"", "\"dim\"");
    replace(folder, "config.json", "\"dim\": \"8\"", "\"dim\": \"many\"");
    check_refused(folder, true, "config.json", "dim is 'many'");
}

static void refused__a_graph_that_is_another_or_gone(void **state)
{
    const char *folder = a_run();
    size_t length;

    (void)state;
    char *train = contents(in(folder, "graph/train"), &length);
    train[strlen(train) - 1] = '\0';
    *(strrchr(train, '\n') + 1) = '\0'; /* without its last line */
    put(folder, "graph/train", train);
    free(train);
    check_refused(folder, true, "graph", "hash differs");
    if (system(format("rm -r '%s/graph'", folder)) != 0)
        fail_msg("cannot remove");
    check_refused(folder, true, "graph", "");
}

static void cut(const char *folder, const char *name, size_t length)
{
    assert_int_equal(truncate(in(folder, name), (off_t)length), 0);
}

static void refused__weights_cut_off_anywhere(void **state)
{
    const char *run = a_run();
    size_t length;
    char *bytes = contents(in(run, "model.safetensors"), &length);
    uint64_t header;

    (void)state;
    memcpy(&header, bytes, sizeof header);
    free(bytes);
    const size_t lengths[] = {0, 1, 7, 8, 9, 20, header, header + 7, header + 8, header + 9,
                              header + 400, length - 4, length - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const char *folder = copy_run(run);
        cut(folder, "model.safetensors", lengths[i]);
        check_refused(folder, false, "model.safetensors", "");
    }
}

/* A safetensors file with this header and `data` bytes of zeros. */
static void put_tensors(const char *folder, const char *name, const char *header, uint64_t length,
                        size_t data)
{
    size_t text = strlen(header);
    char *bytes = calloc(1, sizeof length + text + data);

    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + sizeof length, header, text);
    put_bytes(folder, name, bytes, sizeof length + text + data);
    free(bytes);
}

static void refused__weights_with_a_header_that_makes_no_sense(void **state)
{
    static const char *const headers[] = {
        "", "{", "[]", "nonsense", "{}", "{\"ent\": 3}",
        "{\"ent\":{\"dtype\":\"F32\",\"shape\":[24,8]}}",
        "{\"ent\":{\"dtype\":\"F32\",\"shape\":[24,8],\"data_offsets\":[0,99]}}",
        "{\"ent\":{\"dtype\":\"F32\",\"shape\":[24,8],\"data_offsets\":[-768,0]}}",
        "{\"ent\":{\"dtype\":\"F32\",\"shape\":[24,8],\"data_offsets\":[4000,4768]}}",
        "{\"ent\":{\"dtype\":\"F32\",\"shape\":[24,8],"
        "\"data_offsets\":[9223372036854775000,9223372036854775768]}}",
        "{\"ent\":{\"dtype\":\"F32\",\"shape\":[24,8],"
        "\"data_offsets\":[1,-9223372036854775808]}}",
        "{\"ent\":{\"dtype\":\"F16\",\"shape\":[24,8],\"data_offsets\":[0,768]}}",
        "{\"ent\":{\"dtype\":\"F32\",\"shape\":[8,24],\"data_offsets\":[0,768]}}",
        "{\"ent\":{\"dtype\":\"F32\",\"shape\":[24,8,1],\"data_offsets\":[0,768]}}",
        "{\"ent\":{\"dtype\":\"F32\",\"shape\":[24,8],\"data_offsets\":[0,768]}}"};
    const char *folder = a_run();

    (void)state;
    assert_int_equal(kith_graph_seen_entity_count(run_graph), 24);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        put_tensors(folder, "model.safetensors", headers[i], strlen(headers[i]), 1000);
        check_refused(folder, false, "model.safetensors", "");
    }
    put_tensors(folder, "model.safetensors", "{}", UINT64_MAX, 100);
    check_refused(folder, false, "model.safetensors", "has no header");
    put_tensors(folder, "model.safetensors", "{}", 1 << 20, 100);
    check_refused(folder, false, "model.safetensors", "truncated in its header");
    put(folder, "model.safetensors", "\x89PNG\r\n\x1a\n not weights at all");
    check_refused(folder, false, "model.safetensors", "");
}

static void refused__weights_of_another_shape_or_aggregator(void **state)
{
    const char *folder = a_run();

    (void)state;
    replace(folder, "config.json", "\"dim\": \"8\"", "\"dim\": \"12\"");
    check_refused(folder, true, "the table 'ent' is 24 x 8", "expected 24 x 12");
    replace(folder, "config.json", "\"dim\": \"12\"", "\"dim\": \"8\"");
    replace(folder, "config.json", "\"lan\"", "\"lstm\"");
    check_refused(folder, false, "has a table 'query'", "model.safetensors");
    replace(folder, "config.json", "\"lstm\"", "\"logic\"");
    check_refused(folder, false, "has a table 'query'", "model.safetensors");
}

static void refused__a_run_whose_weights_are_gone(void **state)
{
    const char *folder = a_run();

    (void)state;
    unlink(in(folder, "model.safetensors"));
    check_refused(folder, false, "its model.safetensors is missing", "train again");
}

static void refused__weights_that_are_not_finite(void **state)
{
    const char *folder = a_run();
    kith_model *model = opened_model(folder);

    (void)state;
    kith__row(kith__trans(&model->params), 1)[3] = NAN;
    assert_int_equal(kith__run_save_model(folder, model, NULL), KITH_OK);
    kith_model_free(model);
    check_refused(folder, false, "model.safetensors", "'trans'");
}

static void refused__a_checkpoint_cut_off_anywhere(void **state)
{
    const char *run = a_stopped_run();
    size_t length;

    (void)state;
    free(contents(in(run, "checkpoint.safetensors"), &length));
    for (size_t i = 0; i < 12; i++) {
        const char *folder = copy_run(run);
        cut(folder, "checkpoint.safetensors", i < 3 ? i * 5 : length * i / 12 - 1);
        check_resume_refused(folder, "");
    }
}

static void refused__a_checkpoint_that_does_not_fit_the_run(void **state)
{
    static const char *const changes[][3] = {
        {"\"epoch\":\"0\"", "\"eboch\":\"0\"", "lacks its epoch"},
        {"\"epoch\":\"0\"", "\"epoch\":\"9\"", "epoch"},
        {"\"epoch\":\"0\"", "\"epoch\":\"x\"", "epoch"},
        {"\"epoch\":\"0\"", "\"epoch\":\"-\"", "epoch"},
        {"\"batch\":\"1\"", "\"batch\":\"4\"", "batch"},
        {"\"batch\":\"1\"", "\"batch\":\"9\"", "batch"},
        {"\"looks\":\"0\"", "\"looks\":\"n\"", "looks"}};

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *folder = a_stopped_run();
        replace(folder, "checkpoint.safetensors", changes[i][0], changes[i][1]);
        check_resume_refused(folder, changes[i][2]);
    }
    const char *folder = a_stopped_run();
    replace(folder, "config.json", "\"batch\": \"32\"", "\"batch\": \"1024\"");
    check_resume_refused(folder, "batch");
    folder = a_stopped_run();
    replace(folder, "config.json", "\"lan\"", "\"max\"");
    check_resume_refused(folder, "has a table 'query', which a model with these settings lacks");
}

static void refused__a_new_run_where_something_is(void **state)
{
    kith_settings s = quick_settings("mean");
    const char *run = trained_run(run_graph, &s, 1), *copy = copy_run(run), *full = new_folder();
    kith_train_end end;
    kith_error error;

    (void)state;
    assert_int_equal(kith_train(&end, run, run_graph, &s, NULL, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "already contains a run");
    assert_true(same_model(run, copy));
    put(full, "precious", "mine");
    assert_true(kith_train(&end, full, run_graph, &s, NULL, &error) != KITH_OK);
    assert_contains(error.message, full);
    assert_int_equal(entries(full), 1);
    const char *plain = file("plain", "mine");
    assert_true(kith_train(&end, plain, run_graph, &s, NULL, &error) != KITH_OK);
    assert_contains(error.message, plain);
    assert_true(kith_train(&end, "/proc/nonexistent/run", run_graph, &s, NULL, &error) != KITH_OK);
    assert_contains(error.message, "/proc/nonexistent/run");
    assert_int_equal(train_in(new_folder(), run_graph, &s, NULL), KITH_TRAIN_FINISHED); /* empty */
}

static void refused__settings_that_make_no_sense_before_a_folder_is_made(void **state)
{
    kith_settings s = quick_settings("mean");
    const char *folder = new_run();
    kith_train_end end;
    kith_error error;

    (void)state;
    s.dim = 7;
    set(&s, "decoder", "complex");
    assert_int_equal(kith_train(&end, folder, run_graph, &s, NULL, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "multiple of 2");
    assert_false(exists(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused__a_folder_that_is_no_run),
        cmocka_unit_test(refused__a_config_that_is_not_one),
        cmocka_unit_test(refused__a_format_of_the_future),
        cmocka_unit_test(refused__a_config_with_a_setting_missing_or_out_of_range),
        cmocka_unit_test(refused__a_graph_that_is_another_or_gone),
        cmocka_unit_test(refused__weights_cut_off_anywhere),
        cmocka_unit_test(refused__weights_with_a_header_that_makes_no_sense),
        cmocka_unit_test(refused__weights_of_another_shape_or_aggregator),
        cmocka_unit_test(refused__a_run_whose_weights_are_gone),
        cmocka_unit_test(refused__weights_that_are_not_finite),
        cmocka_unit_test(refused__a_checkpoint_cut_off_anywhere),
        cmocka_unit_test(refused__a_checkpoint_that_does_not_fit_the_run),
        cmocka_unit_test(refused__a_new_run_where_something_is),
        cmocka_unit_test(refused__settings_that_make_no_sense_before_a_folder_is_made),
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
