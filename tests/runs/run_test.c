/* The folder of a run: what is damaged is noticed, who trains has it alone, older formats open. */
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "answers.h"
#include "core/checksum.h"
#include "core/mem.h"
#include "embed/tensors.h"
#include "model/model.h"
#include "run/classifier_file.h"
#include "run/config.h"
#include "run/fusion_files.h"
#include "run/has_relation_file.h"
#include "run/held_out_file.h"
#include "run/lock.h"
#include "run/overall_file.h"
#include "run/run.h"
#include "support.h"

enum { RUNS = 3 };

static kith_graph *graph;
static const char *runs[RUNS]; /* an embedding, rules alone, both */
static char *expected[RUNS];

static kith_settings quick(int which)
{
    static const char *const evidence[RUNS] = {"none", "rules", "fused"};
    kith_settings s;

    assert_int_equal(kith__settings_init(&s, which == 1 ? "rules" : "release", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&s, "evidence", evidence[which], NULL), KITH_OK);
    if (which != 1) {
        s.dim = 8;
        s.batch = 64;
        s.epochs = 2;
        s.eval_every = 1;
        s.max_neighbors = 8;
    }
    return s;
}

/* The graph is small, which is warned of; nothing else is wrong from warning `first` on. */
static void check_no_other_warning(const kith_model *model, size_t first)
{
    const char *warning = kith_model_warning(model, first);

    if (!warning)
        return;
    assert_contains(warning, " is small: ");
    assert_null(kith_model_warning(model, first + 1));
}

static int make_runs(void **state)
{
    const random_shape shape = {.entities = 30, .relations = 4, .train = 160, .dev = 20,
                                .test = 20, .aux = 20, .maps = true};
    kith_train_end end;
    kith_error error;

    (void)state;
    graph = opened(labelled_source(&shape, 3));
    for (int i = 0; i < RUNS; i++) {
        kith_settings s = quick(i);
        runs[i] = new_run();
        if (kith_train(&end, runs[i], graph, &s, NULL, &error) != KITH_OK)
            fail_msg("%s", error.message);
        kith_model *model = opened_model(runs[i]);
        check_no_other_warning(model, 0);
        expected[i] = answers_of(model, 7);
        kith_model_free(model);
    }
    return 0;
}

static int free_runs(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++)
        free(expected[i]);
    kith_graph_free(graph);
    return 0;
}

/* ---- damage ---- */

enum { FLIP, ZERO, INSERT, DELETE, CUT, DOUBLE, WAYS };

/* One change of some bytes at a place; returns the new length. `out` has room for 64 more. */
static size_t damage(char *out, const char *good, size_t length, size_t at, int way)
{
    size_t some = length - at < 16 ? length - at : 16;

    memcpy(out, good, length);
    switch (way) {
    case FLIP:
        out[at] ^= 1;
        return length;
    case ZERO:
        memset(out + at, 0, some);
        return length;
    case INSERT:
        memmove(out + at + 4, good + at, length - at);
        memcpy(out + at, "1.5,", 4);
        return length + 4;
    case DELETE:
        memmove(out + at, good + at + some, length - at - some);
        return length - some;
    case CUT:
        return at;
    default:
        memmove(out + at + some, good + at, length - at);
        return length + some;
    }
}

/* Open the damaged run: an error, or the same answers. */
static void check_noticed(const char *folder, const char *name, int which, size_t at, int way)
{
    kith_model *model = NULL;
    kith_error error = {KITH_OK, ""};

    unlink(in(folder, "cache.bin"));
    if (kith_model_open(&model, folder, &(kith_work_options){.threads = 1}, &error) != KITH_OK) {
        assert_true(strlen(error.message) > 0);
        return;
    }
    char *found = answers_of(model, 7);
    if (strcmp(found, expected[which]) != 0)
        fail_msg("%s: byte %zu changed in way %d: found other answers and no error", name, at, way);
    free(found);
    kith_model_free(model);
}

static void damage_everywhere(const char *folder, const char *name, int which, size_t tries)
{
    size_t length, step;
    char *good = contents(in(folder, name), &length), *bad = malloc(length + 64);

    step = length / tries + 1;
    for (size_t at = 0; at < length; at += step)
        for (int way = 0; way < WAYS; way++) {
            put_bytes(folder, name, bad, damage(bad, good, length, at, way));
            check_noticed(folder, name, which, at, way);
        }
    put_bytes(folder, name, good, length);
    free(good);
    free(bad);
}

static void damaged__no_file_gives_other_answers_without_an_error(void **state)
{
    static const char *const files[] = {
        "config.json",       "model.safetensors", "calibration.json", "fusion.json",
        "rules.safetensors", "graph/train",       "graph/aux",        "graph/entity2id.txt",
        "graph/relation2id.txt", "graph/entity_name.txt"};
    size_t tried = 0;

    (void)state;
    for (int i = 0; i < RUNS; i++) {
        const char *folder = copy_run(runs[i]);
        for (size_t f = 0; f < sizeof files / sizeof *files; f++)
            if (exists(in(folder, files[f]))) {
                damage_everywhere(folder, files[f], i, 25);
                tried++;
            }
    }
    assert_true(tried >= 20);
}

/* Whether resuming gives the file back, and the answers with it. */
static void check_made_again(const char *folder, const char *name, int which)
{
    kith_train_end end;

    assert_int_equal(kith_train_resume(&end, folder, NULL, NULL), KITH_OK);
    assert_true(exists(in(folder, name)));
    kith_model *model = opened_model(folder);
    char *found = answers_of(model, 7);
    assert_string_equal(found, expected[which]);
    free(found);
    kith_model_free(model);
}

static void check_deleted(const char *name, int which)
{
    const char *folder = copy_run(runs[which]);
    kith_model *model = NULL;
    kith_train_end end;
    kith_error error = {KITH_OK, ""};

    unlink(in(folder, name));
    if (strcmp(name, "checkpoint.safetensors") == 0) {
        kith_model_free(opened_model(folder));
        assert_int_equal(kith_train_resume(&end, folder, NULL, &error), KITH_ERR_INPUT);
        assert_contains(error.message, name);
        return;
    }
    assert_int_equal(kith_model_open(&model, folder, &(kith_work_options){.threads = 1}, &error),
                     KITH_ERR_INPUT);
    assert_contains(error.message, name);
    assert_contains(error.message, "is missing");
    if (strstr(error.message, "--resume"))
        check_made_again(folder, name, which);
    else
        assert_int_equal(kith_train_resume(&end, folder, NULL, &error), KITH_ERR_INPUT);
}

static void damaged__a_file_that_is_gone_is_noticed(void **state)
{
    static const char *const files[] = {"model.safetensors", "checkpoint.safetensors",
                                        "calibration.json",  "rules.safetensors",
                                        "fusion.json",       "has_relation.json"};
    size_t tried = 0;

    (void)state;
    for (int i = 0; i < RUNS; i++)
        for (size_t f = 0; f < sizeof files / sizeof *files; f++)
            if (exists(in(runs[i], files[f]))) {
                check_deleted(files[f], i);
                tried++;
            }
    assert_true(tried >= 9);
}

static int stop_at_once(void *context, const kith_progress *progress)
{
    (void)context;
    return progress->epoch_done;
}

/* Stopped after its first epoch. */
static const char *stopped_run(void)
{
    const kith_train_options options = {.threads = 1, .progress = stop_at_once};
    kith_settings s = quick(0);
    const char *folder = new_run();
    kith_train_end end;

    s.epochs = 3;
    assert_int_equal(kith_train(&end, folder, graph, &s, &options, NULL), KITH_OK);
    assert_int_equal(end, KITH_TRAIN_STOPPED);
    return folder;
}

static void check_resumed(const char *folder, const char *wanted, size_t wanted_length, size_t at)
{
    kith_train_end end;

    if (kith_train_resume(&end, folder, NULL, NULL) != KITH_OK)
        return;
    size_t length;
    char *found = contents(in(folder, "model.safetensors"), &length);
    if (length != wanted_length || memcmp(found, wanted, length) != 0)
        fail_msg("byte %zu of the checkpoint changed: found another model and no error", at);
    free(found);
}

static void damaged__a_checkpoint_never_resumes_to_another_model(void **state)
{
    const char *run = stopped_run(), *whole = copy_run(run);
    size_t length, wanted_length;
    kith_train_end end;

    (void)state;
    assert_int_equal(kith_train_resume(&end, whole, NULL, NULL), KITH_OK);
    char *wanted = contents(in(whole, "model.safetensors"), &wanted_length);
    char *good = contents(in(run, "checkpoint.safetensors"), &length), *bad = malloc(length + 64);
    for (size_t at = 0; at < length; at += length / 25 + 1)
        for (int way = 0; way < WAYS; way++) {
            const char *folder = copy_run(run);
            put_bytes(folder, "checkpoint.safetensors", bad,
                      damage(bad, good, length, at, way));
            check_resumed(folder, wanted, wanted_length, at);
        }
    free(wanted);
    free(good);
    free(bad);
}

/* With a right checksum. */
/* Nothing is trained or written again there, so only reading notices it. */
static void damaged__best_weights_are_noticed_on_resuming(void **state)
{
    const char *stopped = stopped_run();

    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *folder = copy_run(i == 0 ? stopped : runs[i == 1 ? 0 : 2]);
        kith_train_end end;
        kith_error error = {KITH_OK, ""};
        size_t length;
        char *text = contents(in(folder, "model.safetensors"), &length);
        text[length - 3] ^= 1;
        put_bytes(folder, "model.safetensors", text, length);
        free(text);
        assert_int_equal(kith_train_resume(&end, folder, NULL, &error), KITH_ERR_INPUT);
        assert_contains(error.message, "model.safetensors: its checksum is wrong");
    }
}

static int stop_soon(void *context, const kith_progress *progress)
{
    (void)progress;
    return ++*(int *)context > 500;
}

/* Another value for what the checkpoint says about training, with a right checksum. */
static void set_note(const char *folder, const char *key, const char *value)
{
    const char *name = "checkpoint.safetensors";
    size_t length;
    uint64_t header;
    char *bytes = contents(in(folder, name), &length), *mark = strdup(format("\"%s\":\"", key));

    memcpy(&header, bytes, sizeof header);
    char *text = strndup(bytes + 8, header), *at = strstr(text, mark);
    assert_non_null(at);
    draft t = {0};
    add(&t, "%.*s%s%s%s", (int)(at - text), text, mark, value, strchr(at + strlen(mark), '"'));
    while (t.length % 8 != 0)
        add(&t, " ");
    size_t total = 8 + t.length + (length - 8 - header);
    char *changed = malloc(total);
    memcpy(changed, &(uint64_t){t.length}, 8);
    memcpy(changed + 8, t.at, t.length);
    memcpy(changed + 8 + t.length, bytes + 8 + header, length - 8 - header);
    put_bytes(folder, name, changed, total);
    reseal(folder, name);
    draft_release(&t);
    free(changed);
    free(text);
    free(mark);
    free(bytes);
}

static void damaged__a_sealed_checkpoint_must_make_sense(void **state)
{
    static const struct {
        const char *key, *value, *message;
    } bad[] = {
        {"epoch", "3", "has done all 3 epochs, but is not marked as finished"}, /* never ends */
        {"epoch", "0.5", "its epoch is '0.5', expected a whole number up to 3"},
        {"steps", "1.5", "its steps is '1.5', expected a whole number"},
        {"loss_sum", "1e999", "its loss_sum is '1e999', expected a number"}, /* JSON has no inf */
        {"seconds", "1e999", "its seconds is '1e999', expected a number"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *folder = stopped_run();
        int calls = 0;
        const kith_train_options options = {.threads = 1, .progress = stop_soon, .context = &calls};
        kith_train_end end;
        kith_error error = {KITH_OK, ""};
        set_note(folder, bad[i].key, bad[i].value);
        if (kith_train_resume(&end, folder, &options, &error) != KITH_ERR_INPUT)
            fail_msg("%s of %s: expected an error", bad[i].key, bad[i].value);
        assert_contains(error.message, bad[i].message);
    }
}

/* A run whose fusion is fitted again, with that run in place of its held-out training. */
static const char *with_held_out(const char *other)
{
    const char *folder = copy_run(runs[2]);

    unlink(in(folder, "fusion.json"));
    if (system(format("cp -r '%s' '%s/heldout'", other, folder)) != 0)
        fail_msg("cannot copy");
    return folder;
}

static void damaged__a_foreign_run_is_not_taken_for_the_held_out_one(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        const char *folder = with_held_out(runs[i]);
        kith_train_end end;
        kith_error error = {KITH_OK, ""};
        assert_int_equal(kith_train_resume(&end, folder, NULL, &error), KITH_ERR_INPUT);
        assert_contains(error.message, "/heldout: is not the run that training began there");
        assert_true(exists(in(folder, "heldout/config.json")));
        assert_int_equal(rename(in(folder, "heldout"), in(folder, "../away")), 0);
        check_made_again(folder, "fusion.json", 2);
    }
}

static int stop_held_out(void *context, const kith_progress *progress)
{
    return progress->epoch_done && exists(in(context, "heldout/config.json"));
}

/* The same graph, but another setting. */
static void damaged__a_held_out_run_with_other_settings_is_refused(void **state)
{
    const char *folder[2];
    kith_train_end end;
    kith_error error = {KITH_OK, ""};

    (void)state;
    for (int i = 0; i < 2; i++) {
        kith_settings s = quick(2);
        s.margin += (float)i;
        folder[i] = new_run();
        const kith_train_options options = {
            .threads = 1, .progress = stop_held_out, .context = (void *)folder[i]};
        assert_int_equal(kith_train(&end, folder[i], graph, &s, &options, &error), KITH_OK);
        assert_int_equal(end, KITH_TRAIN_STOPPED);
    }
    assert_int_equal(renameat2(AT_FDCWD, in(folder[0], "heldout"), AT_FDCWD,
                               in(folder[1], "heldout"), RENAME_EXCHANGE),
                     0);
    assert_int_equal(kith_train_resume(&end, folder[0], NULL, &error), KITH_ERR_INPUT);
    assert_contains(error.message, "it has another margin");
    assert_int_equal(renameat2(AT_FDCWD, in(folder[0], "heldout"), AT_FDCWD,
                               in(folder[1], "heldout"), RENAME_EXCHANGE),
                     0);
    check_made_again(folder[0], "fusion.json", 2);
}

static void damaged__weights_that_make_scores_useless_are_refused(void **state)
{
    const float values[] = {NAN, INFINITY, -INFINITY, 1e38f, -1e20f, 1e7f};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const char *folder = copy_run(runs[0]);
        kith_model *model = opened_model(folder);
        kith_error error = {KITH_OK, ""};
        kith__row(&model->params.table[0], 1)[2] = values[i];
        assert_int_equal(kith__run_save_model(folder, model, NULL), KITH_OK);
        kith_model_free(model);
        assert_int_equal(
            kith_model_open(&model, folder, &(kith_work_options){.threads = 1}, &error),
            KITH_ERR_INPUT);
        assert_contains(error.message, "the table 'ent'");
        assert_contains(error.message, "finite");
    }
}

/* ---- short memory ---- */

static size_t json_calls, failing_call; /* 0: none fails */

static void *allocate_json(size_t size)
{
    return ++json_calls == failing_call ? NULL : malloc(size);
}

/* Write every file of a run that is JSON, or begins with JSON. */
static kith_status save_all(const char *folder, const kith_model *m, kith_error *error)
{
    kith_status status = kith__config_save(folder, graph, &m->settings, 1, error);

    if (status == KITH_OK && m->settings.evidence != KITH_EVIDENCE_RULES)
        status = kith__run_save_model(folder, m, error);
    if (status == KITH_OK && m->fused) {
        const kith__fitted_fusion fusion = {m->fused->fusion, m->calibration};
        status = kith__fusion_save(folder, &fusion, &fusion, error);
        if (status == KITH_OK)
            status = kith__rules_save(folder, m->fused->evidence->rules, error);
        if (status == KITH_OK)
            status = kith__has_relation_save(folder, &m->has, error);
        if (status == KITH_OK)
            status = kith__overall_save(folder, &m->overall, error);
        if (status == KITH_OK)
            status = kith__held_out_save(folder, &m->held_out, error);
    } else if (status == KITH_OK) {
        status = kith__run_save_calibration(folder, m, error);
    }
    if (status == KITH_OK && m->classifier)
        status = kith__classifier_save(folder, m->classifier, error);
    return status == KITH_OK ? kith__run_list_files(folder, error) : status;
}

static bool is_same_file(const char *folder, const char *other, const char *name)
{
    size_t length, wanted_length;
    char *found = contents(in(folder, name), &length);
    char *wanted = contents(in(other, name), &wanted_length);
    bool same = length == wanted_length && memcmp(found, wanted, length) == 0;

    free(found);
    free(wanted);
    return same;
}

/* All files that are there are as they should be; config.json may lack the list of files. */
static void check_same_files(const char *folder, const char *whole, const char *begun, size_t call)
{
    static const char *const files[] = {"config.json",  "model.safetensors", "calibration.json",
                                        "fusion.json",  "rules.safetensors", "has_relation.json",
                                        "overall.json", "metrics.json",      "classifier.json"};

    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        if (exists(in(folder, files[f])) && !is_same_file(folder, whole, files[f]) &&
            (f > 0 || !is_same_file(folder, begun, files[f])))
            fail_msg("allocation %zu of Jansson failed: found %s incomplete", call, files[f]);
}

/* Most of the later allocations are alike. */
static void json__a_file_is_written_whole_or_not_at_all(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        kith_model *model = opened_model(runs[i]);
        const char *whole = new_folder(), *begun = new_folder();
        kith_status status = KITH_OK;
        bool failed = true;
        size_t failures = 0;
        assert_int_equal(kith__config_save(begun, graph, &model->settings, 1, NULL), KITH_OK);
        assert_int_equal(save_all(whole, model, NULL), KITH_OK);
        json_set_alloc_funcs(allocate_json, free);
        for (size_t call = 1; failed; call += 1 + call / 1000) {
            const char *folder = new_folder();
            kith_error error = {KITH_OK, ""};
            json_calls = 0;
            failing_call = call;
            status = save_all(folder, model, &error);
            failed = json_calls >= call;
            failures += status != KITH_OK;
            failing_call = 0;
            check_same_files(folder, whole, status == KITH_OK ? whole : begun, call);
        }
        json_set_alloc_funcs(malloc, free);
        assert_true(failures > 50);
        kith_model_free(model);
    }
}

/* ---- what is no plain file ---- */

/* Files of a run and of its graph. */
static const char *const all_files[] = {
    "config.json", "model.safetensors",   "checkpoint.safetensors", "calibration.json",
    "fusion.json", "has_relation.json",   "rules.safetensors",      "history.jsonl",
    "cache.bin",   "graph/entity2id.txt", "graph/relation2id.txt",  "graph/train",
    "graph/test"};
enum { ALL_FILES = sizeof all_files / sizeof *all_files };

static void do_not_wait(int number)
{
    static const char said[] = "\nnot ok - a pipe in a run is waited for\n";

    (void)number;
    (void)!write(STDOUT_FILENO, said, sizeof said - 1);
    _exit(1);
}

static void special__a_pipe_in_a_run_is_not_waited_for(void **state)
{
    (void)state;
    signal(SIGALRM, do_not_wait);
    for (int i = 0; i < ALL_FILES; i++) {
        const char *folder = copy_run(runs[2]), *path = keep(in(folder, all_files[i]));
        kith_model *model = NULL;
        kith_train_end end;
        kith_error error = {KITH_OK, ""};
        unlink(path);
        assert_int_equal(mkfifo(path, 0666), 0);
        alarm(60);
        if (kith_model_open(&model, folder, NULL, &error) != KITH_OK)
            assert_true(error.message[0]);
        kith_model_free(model);
        (void)kith_train_resume(&end, folder, NULL, NULL);
        alarm(0);
    }
    signal(SIGALRM, SIG_DFL);
}

/* A link in a run may lead anywhere; what is there stays as it is, and nothing is made there. */
static void special__nothing_is_written_through_a_link(void **state)
{
    (void)state;
    for (int i = 0; i < ALL_FILES; i++)
        for (int missing = 0; missing < 2; missing++) {
            const char *folder = copy_run(runs[2]), *path = keep(in(folder, all_files[i])),
                       *users = new_folder(), *user = keep(format("%s/user", users));
            kith_model *model = NULL;
            kith_train_end end;
            size_t length;
            if (!missing)
                put(users, "user", "precious");
            unlink(path);
            assert_int_equal(symlink(user, path), 0);
            if (kith_model_open(&model, folder, NULL, NULL) == KITH_OK)
                kith_model_free(model);
            (void)kith_train_resume(&end, folder, NULL, NULL);
            assert_int_equal(entries(users), missing ? 0 : 1);
            if (missing)
                continue;
            char *text = contents(user, &length);
            assert_string_equal(text, "precious");
            free(text);
        }
}

static void special__a_link_to_a_device_is_replaced(void **state)
{
    const char *folder = copy_run(runs[2]), *path = keep(in(folder, "cache.bin"));
    struct stat info;

    (void)state;
    unlink(path);
    assert_int_equal(symlink("/dev/null", path), 0);
    kith_model *model = opened_model(folder);
    kith_model_free(model);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode) && info.st_size > 0);
}

static void special__weights_that_cannot_be_read_are_not_taken_for_missing_ones(void **state)
{
    const char *folder = copy_run(runs[0]), *path = keep(in(folder, "model.safetensors"));
    kith_model *model = NULL;
    kith_error error = {KITH_OK, ""};

    (void)state;
    unlink(path);
    mkdir(path, 0777);
    assert_int_equal(kith_model_open(&model, folder, NULL, &error), KITH_ERR_IO);
    assert_contains(error.message, "model.safetensors: cannot open: Is a directory");
}

static int log_epoch(const char *folder)
{
    const kith_progress progress = {.epoch = 1};

    return kith__run_log(folder, &progress, "mrr", NULL) == KITH_OK;
}

static void special__a_log_follows_no_link(void **state)
{
    const char *folder = new_folder(), *users = new_folder();

    (void)state;
    assert_int_equal(symlink(format("%s/new", users), in(folder, "history.jsonl")), 0);
    assert_false(log_epoch(folder));
    assert_int_equal(entries(users), 0);
    unlink(in(folder, "history.jsonl"));
    assert_true(log_epoch(folder));
}

/* ---- locks ---- */

static void check_held(const char *folder)
{
    kith_error error = {KITH_OK, ""};
    kith_train_end end;

    assert_int_equal(kith_train_resume(&end, folder, NULL, &error), KITH_ERR_IO);
    assert_contains(error.message, folder);
    assert_contains(error.message, format("is being trained by process %d since 20", getpid()));
}

static int resume_meanwhile(void *context, const kith_progress *progress)
{
    if (progress->epoch_done && progress->epoch == 1)
        check_held(context);
    return 0;
}

static void lock__a_second_training_is_told_who_holds_the_run(void **state)
{
    const char *folder = new_run();
    const kith_train_options options = {
        .threads = 1, .progress = resume_meanwhile, .context = (void *)folder};
    kith_settings s = quick(0);
    kith_train_end end;
    size_t length;

    (void)state;
    assert_int_equal(kith_train(&end, folder, graph, &s, &options, NULL), KITH_OK);
    assert_false(exists(in(folder, "lock")));
    char *history = contents(in(folder, "history.jsonl"), &length);
    size_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += history[i] == '\n';
    assert_int_equal(lines, s.epochs);
    free(history);
    folder = stopped_run();
    const kith_train_options again = {
        .threads = 1, .progress = resume_meanwhile, .context = (void *)folder};
    assert_int_equal(kith_train_resume(&end, folder, &again, NULL), KITH_OK);
}

static const char *appearing; /* the run that must be locked once it has its name */
static size_t appeared;

static void check_appeared(const char *to)
{
    kith__run_lock lock;
    kith_error error = {KITH_OK, ""};

    if (!appearing || strcmp(to, appearing) != 0)
        return;
    appeared++;
    if (kith__run_lock_take(&lock, to, &error) == KITH_OK) {
        kith__run_lock_release(&lock);
        appearing = NULL;
        fail_msg("%s: found no lock where the run appeared", to);
    }
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    int failed = __real_rename(from, to);

    check_appeared(to);
    return failed;
}

int __real_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags);
int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags);
int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags)
{
    int failed = __real_renameat2(from_folder, from, to_folder, to, flags);

    check_appeared(to);
    return failed;
}

static void lock__a_new_run_is_locked_when_it_appears(void **state)
{
    const char *folder = new_run();
    kith_settings s = quick(0);

    (void)state;
    for (int replace = 0; replace < 2; replace++) {
        const kith_train_options options = {.threads = 1, .replace = replace};
        kith_train_end end;
        appearing = folder;
        appeared = 0;
        assert_int_equal(kith_train(&end, folder, graph, &s, &options, NULL), KITH_OK);
        assert_int_equal(appeared, 1);
        assert_false(exists(in(folder, "lock")));
    }
    appearing = NULL;
}

/* When a run is replaced, its folder is exchanged while its lock is held. */
static void lock__releasing_one_leaves_that_of_a_new_folder(void **state)
{
    const char *around = new_folder(), *folder = keep(format("%s/run", around));
    const char *older = keep(format("%s/older", around));
    kith__run_lock first, second, third;

    (void)state;
    mkdir(folder, 0777);
    mkdir(older, 0777);
    assert_int_equal(kith__run_lock_take(&first, folder, NULL), KITH_OK);
    assert_int_equal(renameat2(AT_FDCWD, folder, AT_FDCWD, older, RENAME_EXCHANGE), 0);
    assert_int_equal(kith__run_lock_take(&second, folder, NULL), KITH_OK);
    kith__run_lock_release(&first);
    assert_int_equal(kith__run_lock_take(&third, folder, NULL), KITH_ERR_IO);
    kith__run_lock_release(&second);
    assert_false(exists(in(folder, "lock")));
}

static void lock__readers_are_not_blocked(void **state)
{
    const char *folder = copy_run(runs[0]);
    kith__run_lock lock;

    (void)state;
    assert_int_equal(kith__run_lock_take(&lock, folder, NULL), KITH_OK);
    kith_model *model = opened_model(folder);
    char *found = answers_of(model, 7);
    assert_string_equal(found, expected[0]);
    free(found);
    kith_model_free(model);
    kith__run_lock_release(&lock);
}

static void lock__one_left_by_a_process_that_was_killed_does_not_hold(void **state)
{
    const char *folder = copy_run(runs[0]);
    kith_train_end end;
    int pipes[2], status;
    char ready;

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        kith__run_lock lock;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where an assertion below fails */
        if (kith__run_lock_take(&lock, folder, NULL) != KITH_OK || write(pipes[1], "x", 1) != 1)
            _exit(1);
        pause();
    }
    assert_int_equal(read(pipes[0], &ready, 1), 1);
    kith_error error = {KITH_OK, ""};
    assert_int_equal(kith_train_resume(&end, folder, NULL, &error), KITH_ERR_IO);
    assert_contains(error.message, format("process %d since", child));
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_true(exists(in(folder, "lock")));
    assert_int_equal(kith_train_resume(&end, folder, NULL, NULL), KITH_OK);
    assert_int_equal(end, KITH_TRAIN_WAS_FINISHED);
    assert_false(exists(in(folder, "lock")));
    close(pipes[0]);
    close(pipes[1]);
}

/* ---- formats ---- */

/* Take the checksum out of a file, as kith 0.1 wrote it. */
static void unseal(const char *folder, const char *name)
{
    size_t length;
    char *bytes = contents(in(folder, name), &length);
    char *digits = kith__checksum_digits(bytes, length);
    bool json = strstr(name, ".json") != NULL;

    assert_non_null(digits);
    char *from = memmem(bytes, length, "\"checksum\"", 10), *end = digits + KITH__SUM_DIGITS + 1;
    assert_int_equal(*end, ',');
    end++;
    size_t cut = (size_t)(end - from);
    memmove(from, end, length - (size_t)(end - bytes));
    if (!json) { /* spaces instead, at the end of the header */
        uint64_t header;
        memcpy(&header, bytes, sizeof header);
        char *data = bytes + sizeof header + header - cut;
        memmove(data + cut, data, (size_t)(bytes + length - cut - data));
        memset(data, ' ', cut);
        cut = 0;
    }
    put_bytes(folder, name, bytes, length - cut);
    free(bytes);
}

static void make_older(const char *folder, const char *wanted)
{
    static const char *const files[] = {"config.json", "model.safetensors", "calibration.json",
                                        "fusion.json", "rules.safetensors"};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (exists(in(folder, files[i])))
            unseal(folder, files[i]);
    if (system(format("sed -i 's/\"format\": 3/\"format\": %s/; /labels_hash/d; /derived_hash/d' "
                      "'%s/config.json'", wanted, folder)) != 0)
        fail_msg("%s: cannot be changed", folder);
    unlink(in(folder, "cache.bin"));
}

static void format__a_run_of_kith_0_1_opens_with_a_warning(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        const char *folder = copy_run(runs[i]);
        make_older(folder, "2");
        for (int again = 0; again < 2; again++) { /* with a cache too */
            kith_model *model = opened_model(folder);
            assert_non_null(warning_of(model, 0));
            assert_contains(warning_of(model, 0), "without checksums");
            check_no_other_warning(model, 1);
            char *found = answers_of(model, 7);
            assert_string_equal(found, expected[i]);
            free(found);
            kith_model_free(model);
        }
    }
}

static void format__an_older_one_is_refused_with_what_to_do(void **state)
{
    const char *folder = copy_run(runs[0]);
    kith_model *model = NULL;
    kith_error error = {KITH_OK, ""};

    (void)state;
    make_older(folder, "1");
    assert_int_equal(kith_model_open(&model, folder, &(kith_work_options){.threads = 1}, &error),
                     KITH_ERR_INPUT);
    assert_contains(error.message, "has format 1");
    assert_contains(error.message, format("train it again: kith train %s/graph -o", folder));
}

static void format__a_file_without_its_checksum_is_refused(void **state)
{
    static const char *const files[] = {"config.json", "model.safetensors", "calibration.json",
                                        "fusion.json", "rules.safetensors"};

    (void)state;
    for (int i = 0; i < RUNS; i++)
        for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
            const char *folder = copy_run(runs[i]);
            kith_model *model = NULL;
            kith_error error = {KITH_OK, ""};
            if (!exists(in(folder, files[f])))
                continue;
            unseal(folder, files[f]);
            assert_int_equal(
                kith_model_open(&model, folder, &(kith_work_options){.threads = 1}, &error),
                KITH_ERR_INPUT);
            assert_contains(error.message, files[f]);
            assert_contains(error.message, "has no checksum");
        }
}

static void config__rules_alone_show_only_settings_that_apply(void **state)
{
    size_t length;
    char *text = contents(in(runs[1], "config.json"), &length);

    (void)state;
    assert_contains(text, "\"evidence\": \"rules\"");
    assert_contains(text, "\"seed\"");
    assert_null(strstr(text, "\"dim\""));
    assert_null(strstr(text, "\"aggregator\""));
    free(text);
}

/* ---- new folders ---- */

/* All that is below a folder: names, kinds, sizes and sums of files; to be freed. */
static char *snapshot(const char *folder)
{
    size_t length;
    const char *list = keep(format("%s/list", new_folder()));

    if (system(
            format("cd '%s' && { find . -printf '%%P %%y %%l\\n' | sort; find . -type f | sort | "
                   "xargs -r cksum; } > '%s'",
                   folder, list)) != 0)
        fail_msg("%s: cannot be listed", folder);
    return contents(list, &length);
}

static void check_train_fails(const char *around, const char *folder, const kith_settings *s,
                              int replace, const char *part)
{
    const kith_train_options options = {.threads = 1, .replace = replace};
    char *before = snapshot(around);
    kith_error error = {KITH_OK, ""};
    kith_train_end end;

    if (kith_train(&end, folder, graph, s, &options, &error) == KITH_OK)
        fail_msg("%s: found a run, expected an error with '%s'", folder, part);
    assert_contains(error.message, part);
    char *after = snapshot(around);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void train_replacing(const char *folder, const kith_settings *s)
{
    const kith_train_options options = {.threads = 1, .replace = 1};
    kith_error error;
    kith_train_end end;

    if (kith_train(&end, folder, graph, s, &options, &error) != KITH_OK)
        fail_msg("%s", error.message);
}

static void create__parents_are_made(void **state)
{
    const char *folder = new_folder();
    kith_settings s = quick(0);

    (void)state;
    train_replacing(in(folder, "a/b//c/run/"), &s);
    assert_true(exists(in(folder, "a/b/c/run/model.safetensors")));
    assert_int_equal(entries(in(folder, "a/b/c")), 1);
}

static void create__an_error_leaves_the_folder_as_it_was(void **state)
{
    kith_settings s = quick(0), bad = s;
    const char *around = new_folder();

    (void)state;
    bad.dim = 0;
    const char *run = in(around, "run");
    if (system(format("cp -r '%s' '%s'", runs[0], run)) != 0)
        fail_msg("cannot copy");
    put(around, "plain", "mine");
    assert_int_equal(symlink("run", in(around, "link")), 0);
    assert_int_equal(mkdir(in(around, "full"), 0777), 0);
    put(around, "full/precious", "mine");
    assert_int_equal(mkdir(in(around, "other"), 0777), 0);
    put(around, "other/config.json", "{\"name\": \"of another program\"}");
    for (int replace = 0; replace < 2; replace++) {
        check_train_fails(around, in(around, "x/y/run"), &bad, replace, "dim");
        check_train_fails(around, run, &bad, replace, "dim");
        check_train_fails(around, in(around, "plain"), &s, replace, "plain");
        check_train_fails(around, in(around, "plain/x/run"), &s, replace, "plain");
        check_train_fails(around, in(around, "full"), &s, replace, "full");
        check_train_fails(around, in(around, "other"), &s, replace,
                          replace ? "not a run made by kith" : "contains a run");
        check_train_fails(around, in(around, "link"), &s, replace,
                          replace ? "symbolic link" : "contains a run");
    }
    check_train_fails(around, run, &s, 0, "already contains a run");
    put(around, "run/graph/notes.txt", "mine");
    check_train_fails(around, run, &s, 1, "notes.txt: is not part of a run");
    unlink(in(around, "run/graph/notes.txt"));
    put(around, "run/notes.txt", "mine");
    check_train_fails(around, run, &s, 1, "notes.txt: is not part of a run");
}

static void create__force_replaces_a_run_that_kith_made(void **state)
{
    const char *folder = copy_run(runs[2]);
    kith_settings s = quick(0);

    (void)state;
    put(folder, "checkpoint.safetensors.tmp-0123456789ab", "of a killed process");
    train_replacing(folder, &s);
    kith_model *model = opened_model(folder);
    char *found = answers_of(model, 7);
    assert_string_equal(found, expected[0]);
    free(found);
    kith_model_free(model);
    assert_false(exists(in(folder, "fusion.json")));
    assert_int_equal(entries(keep(format("%s/..", folder))), 1);
}

static void create__a_run_that_is_being_trained_is_not_replaced(void **state)
{
    const char *folder = copy_run(runs[0]);
    kith_settings s = quick(0);
    kith__run_lock lock;

    (void)state;
    assert_int_equal(kith__run_lock_take(&lock, folder, NULL), KITH_OK);
    check_train_fails(folder, folder, &s, 1, "is being trained by process");
    put(folder, "notes.txt", "being written");
    check_train_fails(folder, folder, &s, 1, "is being trained by process");
    kith__run_lock_release(&lock);
}

static void create__what_has_the_name_of_a_folder_of_a_run_is_not_replaced(void **state)
{
    const char *folder = copy_run(runs[0]);
    kith_settings s = quick(0);

    (void)state;
    if (system(format("rm -r '%s/graph'", folder)) != 0)
        fail_msg("cannot remove");
    put(folder, "graph", "mine");
    check_train_fails(folder, folder, &s, 1, "graph: is not part of a run");
}

static void create__files_of_others_are_seen_where_memory_is_short(void **state)
{
    const char *folder = copy_run(runs[2]);
    bool failed = true;

    (void)state;
    assert_true(kith__run_removable(folder));
    assert_int_equal(mkdir(in(folder, "heldout"), 0777), 0);
    put(folder, "heldout/notes.txt", "mine");
    for (size_t n = 1; failed; n++) {
        kith__mem_fail_at(n);
        bool removable = kith__run_removable(folder);
        failed = kith__mem_failed();
        kith__mem_fail_at(0);
        if (removable)
            fail_msg("allocation %zu failed: found nothing foreign", n);
    }
}

static kith_status write_beside(void *folder, const char *work, kith_error *error)
{
    (void)work, (void)error;
    put(folder, "notes.txt", "mine");
    return KITH_OK;
}

static void create__files_that_come_while_a_run_is_replaced_stay(void **state)
{
    const char *folder = copy_run(runs[0]);
    kith_settings s = quick(0);
    const kith__run_options options = {
        .replace = true, .fill = write_beside, .context = (void *)folder};
    kith_error error = {KITH_OK, ""};

    (void)state;
    assert_int_equal(kith__run_create(folder, graph, &s, &options, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "notes.txt: is not part of a run");
    assert_true(exists(in(folder, "notes.txt")));
    assert_true(exists(in(folder, "model.safetensors")));
}

/* ---- making a run ---- */

static kith_status write_note(void *good, const char *folder, kith_error *error)
{
    put(folder, "note", "begun\n");
    return *(bool *)good ? KITH_OK : kith__fail(error, KITH_ERR_IO, "no room for the note");
}

/* What training starts from is there as soon as the run is, or a kill would lose it unnoticed. */
static void run__appears_with_what_is_filled_in(void **state)
{
    const char *made = new_run(), *refused = new_run();
    kith_settings s;
    bool good = true, bad = false;
    kith_error error;

    (void)state;
    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    assert_int_equal(kith__run_create(made, graph, &s,
                                      &(kith__run_options){.fill = write_note, .context = &good},
                                      &error),
                     KITH_OK);
    assert_int_equal(access(format("%s/note", made), F_OK), 0);
    assert_int_equal(kith__run_create(refused, graph, &s,
                                      &(kith__run_options){.fill = write_note, .context = &bad},
                                      &error),
                     KITH_ERR_IO);
    assert_string_equal(error.message, "no room for the note");
    assert_int_not_equal(access(refused, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged__no_file_gives_other_answers_without_an_error),
        cmocka_unit_test(damaged__a_file_that_is_gone_is_noticed),
        cmocka_unit_test(damaged__a_checkpoint_never_resumes_to_another_model),
        cmocka_unit_test(damaged__best_weights_are_noticed_on_resuming),
        cmocka_unit_test(damaged__a_sealed_checkpoint_must_make_sense),
        cmocka_unit_test(damaged__a_foreign_run_is_not_taken_for_the_held_out_one),
        cmocka_unit_test(damaged__a_held_out_run_with_other_settings_is_refused),
        cmocka_unit_test(damaged__weights_that_make_scores_useless_are_refused),
        cmocka_unit_test(json__a_file_is_written_whole_or_not_at_all),
        cmocka_unit_test(special__a_pipe_in_a_run_is_not_waited_for),
        cmocka_unit_test(special__nothing_is_written_through_a_link),
        cmocka_unit_test(special__a_link_to_a_device_is_replaced),
        cmocka_unit_test(special__weights_that_cannot_be_read_are_not_taken_for_missing_ones),
        cmocka_unit_test(special__a_log_follows_no_link),
        cmocka_unit_test(lock__a_second_training_is_told_who_holds_the_run),
        cmocka_unit_test(lock__a_new_run_is_locked_when_it_appears),
        cmocka_unit_test(lock__releasing_one_leaves_that_of_a_new_folder),
        cmocka_unit_test(lock__readers_are_not_blocked),
        cmocka_unit_test(lock__one_left_by_a_process_that_was_killed_does_not_hold),
        cmocka_unit_test(format__a_run_of_kith_0_1_opens_with_a_warning),
        cmocka_unit_test(format__an_older_one_is_refused_with_what_to_do),
        cmocka_unit_test(format__a_file_without_its_checksum_is_refused),
        cmocka_unit_test(create__parents_are_made),
        cmocka_unit_test(create__an_error_leaves_the_folder_as_it_was),
        cmocka_unit_test(create__force_replaces_a_run_that_kith_made),
        cmocka_unit_test(run__appears_with_what_is_filled_in),
        cmocka_unit_test(create__a_run_that_is_being_trained_is_not_replaced),
        cmocka_unit_test(create__what_has_the_name_of_a_folder_of_a_run_is_not_replaced),
        cmocka_unit_test(create__files_of_others_are_seen_where_memory_is_short),
        cmocka_unit_test(create__files_that_come_while_a_run_is_replaced_stay),
        cmocka_unit_test(config__rules_alone_show_only_settings_that_apply),
    };
    return cmocka_run_group_tests(tests, make_runs, free_runs);
}
