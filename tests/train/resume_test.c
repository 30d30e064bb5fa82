/* Training that is stopped and goes on. */
#include "run/run.h"
#include "support.h"
#include "runs.h"
#include "tables.h"

/* Stop after random numbers of steps until the run is finished; returns how many sessions. */
static size_t train_in_pieces(const char *folder, const kith_settings *s, kith__rng *rng,
                              double checkpoint_seconds)
{
    size_t sessions = 0;

    for (kith_train_end end = KITH_TRAIN_STOPPED; end == KITH_TRAIN_STOPPED; sessions++) {
        run_watch w = {.stop_at = 1 + (size_t)kith__rng_below(rng, 6)};
        kith_train_options options = {.threads = 1 + (unsigned)kith__rng_below(rng, 3),
                                      .progress = on_progress,
                                      .context = &w,
                                      .checkpoint_seconds = checkpoint_seconds};
        kith_error error;
        if (sessions == 0)
            end = train_in(folder, run_graph, s, &options);
        else if (kith_train_resume(&end, folder, &options, &error) != KITH_OK)
            fail_msg("%s", error.message);
    }
    return sessions;
}

static void check_pieces(const kith_settings *s, kith__rng *rng)
{
    const char *whole = trained_run(run_graph, s, 1), *pieces = new_run();
    size_t sessions = train_in_pieces(pieces, s, rng, kith__rng_below(rng, 2) ? 100 : 0);

    assert_true(sessions > 1);
    if (!same_model(whole, pieces))
        fail_msg("found other bytes after %zu sessions", sessions);
    assert_string_equal(epochs_of(pieces), "1 2 3 4");
    for (int epoch = 1; epoch <= 4; epoch++) {
        assert_true(logged(whole, epoch, "loss") == logged(pieces, epoch, "loss"));
        assert_true(logged(whole, epoch, "mrr") == logged(pieces, epoch, "mrr"));
    }
}

static void resume__after_any_stops_gives_the_same_bytes_and_history(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 21, 0);
    for (int i = 0; i < 2 * AGGREGATORS; i++) {
        kith_settings s = quick_settings(aggregators[i / 2]);
        s.dim = 12; /* no multiple of what rows are padded to; padding is not in any file */
        s.eval_every = i % 2 ? 2 : 0;
        s.adam = i % 3 == 0 ? KITH_ADAM_LAZY : KITH_ADAM_DENSE;
        s.neighbors = i % 5 == 0 ? KITH_NEIGHBORS_RANDOM : KITH_NEIGHBORS_FIRST;
        check_pieces(&s, &rng);
    }
}

static void resume__of_softmax_gives_the_same_bytes_and_history(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 22, 0);
    for (int i = 0; i < 2 * AGGREGATORS; i++) {
        kith_settings s = quick_settings(aggregators[i / 2]);
        set_softmax(&s, i);
        s.dim = 12;
        s.eval_every = i % 2 ? 2 : 0;
        s.adam = i % 3 == 0 ? KITH_ADAM_LAZY : KITH_ADAM_DENSE;
        check_pieces(&s, &rng);
    }
}

/* As after kill -9: the folder as it was when a checkpoint had just been written, with what came
 * later in part: history, and the model. */
static void resume__from_an_older_checkpoint_gives_the_same_bytes(void **state)
{
    kith_settings s = quick_settings("lan");
    run_watch w = {.stop_at = 5};
    kith_train_options options = {.threads = 1, .progress = on_progress, .context = &w};
    kith_train_end end;

    (void)state;
    const char *whole = trained_run(run_graph, &s, 1), *folder = new_run();
    train_in(folder, run_graph, &s, &options);
    if (system(format("cp '%s/history.jsonl' '%s/model.safetensors' '%s/'", whole, whole, folder)))
        fail_msg("cannot copy");
    if (system(format("printf '{\"epoch\": 5, \"lo' >> '%s/history.jsonl'; "
                      "echo half > '%s/checkpoint.safetensors.tmp-0123456789ab'", folder, folder)))
        fail_msg("cannot write");
    assert_int_equal(kith_train_resume(&end, folder, NULL, NULL), KITH_OK);
    assert_int_equal(end, KITH_TRAIN_FINISHED);
    assert_true(same_model(whole, folder));
    assert_string_equal(epochs_of(folder), "1 2 3 4");
}

static void resume__before_the_first_step_is_possible(void **state)
{
    kith_settings s = quick_settings("lan"), resolved = s;
    kith_train_end end;
    kith_error error;

    (void)state;
    const char *whole = trained_run(run_graph, &s, 1), *folder = new_run();
    resolved.predict = kith__resolve_predict(&s, run_graph);
    assert_int_equal(kith__run_create(folder, run_graph, &resolved, NULL, NULL), KITH_OK);
    kith_model *model = NULL;
    assert_int_equal(kith_model_open(&model, folder, &(kith_work_options){.threads = 1}, &error),
                     KITH_ERR_INPUT);
    assert_null(model);
    assert_contains(error.message, "kith train --resume");
    assert_int_equal(kith_train_resume(&end, folder, NULL, NULL), KITH_OK);
    assert_int_equal(end, KITH_TRAIN_FINISHED);
    assert_true(same_model(whole, folder));
}

static void resume__a_finished_run_says_so_and_changes_nothing(void **state)
{
    kith_settings s = quick_settings("mean");
    const char *folder = trained_run(run_graph, &s, 1), *copy = copy_run(folder);
    kith_train_end end;

    (void)state;
    assert_int_equal(kith_train_resume(&end, folder, NULL, NULL), KITH_OK);
    assert_int_equal(end, KITH_TRAIN_WAS_FINISHED);
    assert_true(same_model(folder, copy));
    assert_true(same_bytes(in(folder, "history.jsonl"), in(copy, "history.jsonl")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume__after_any_stops_gives_the_same_bytes_and_history),
        cmocka_unit_test(resume__of_softmax_gives_the_same_bytes_and_history),
        cmocka_unit_test(resume__from_an_older_checkpoint_gives_the_same_bytes),
        cmocka_unit_test(resume__before_the_first_step_is_possible),
        cmocka_unit_test(resume__a_finished_run_says_so_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
