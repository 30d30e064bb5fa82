/* Long calls that are watched and stopped, and the threads they make. */
#include <unistd.h>

#include "core/cores.h"
#include "model/idle_pools.h"
#include "support.h"
#include "people.h"
#include "threads.h"

/* ---- watching and stopping ---- */

typedef struct {
    size_t calls;
    bool stop;
} watcher;

static int on_stage(void *context, const kith_stage *stage)
{
    watcher *w = context;

    assert_true(stage->size >= sizeof *stage && stage->name[0]);
    w->calls++;
    return w->stop;
}

/* Runs `call`, an expression with options `o`, watched and then stopped at its first stage. */
#define check_watched(type, call, release)                                                         \
    do {                                                                                           \
        watcher w = {0, false};                                                                    \
        type o;                                                                                    \
        type##_init(&o);                                                                           \
        o.watch = on_stage;                                                                        \
        o.context = &w;                                                                            \
        assert_int_equal(call, KITH_OK);                                                           \
        assert_true(w.calls > 0);                                                                  \
        release;                                                                                   \
        w.stop = true;                                                                             \
        assert_int_equal(call, KITH_ERR_STOPPED);                                                  \
    } while (0)

static void watch__calls_about_graphs_report_and_stop(void **state)
{
    const char *folder = keep(new_folder());
    kith_graph *made = NULL;
    kith_stats *stats = NULL;
    kith_implications *implications = NULL;
    kith_rules *rules = NULL;
    int number = 0;

    (void)state;
    check_watched(kith_open_options, kith_graph_open(&made, source, &o, NULL),
                  kith_graph_free(made));
    check_watched(kith_dataset_options, kith_dataset_make(&made, NULL, graph, &o, NULL),
                  kith_graph_free(made));
    check_watched(kith_save_options,
                  kith_graph_save(graph, format("%s/%d", folder, number++), &o, NULL), (void)0);
    assert_int_equal(entries(folder), 1); /* nothing is left of the one that was stopped */
    check_watched(kith_work_options, kith_graph_stats(&stats, graph, &o, NULL),
                  kith_stats_free(stats));
    check_watched(kith_rules_options, kith_graph_implications(&implications, graph, &o, NULL),
                  kith_implications_free(implications));
    check_watched(kith_rules_options, kith_graph_rules(&rules, graph, &o, NULL),
                  kith_rules_free(rules));
}

static void watch__calls_about_models_report_and_stop(void **state)
{
    const char *folder = keep(new_folder());
    kith_eval *eval = NULL;
    kith_probability_eval *probabilities = NULL;
    const float numbers[] = {1, 2, 3, 4};
    const kith_vectors vectors = {.at = numbers, .rows = 2, .columns = 2, .stride = 2};

    (void)state;
    check_watched(kith_eval_options, kith_evaluate(&eval, model, &o, NULL), kith_eval_free(eval));
    check_watched(kith_probability_options,
                  kith_evaluate_probabilities(&probabilities, model, &o, NULL),
                  kith_probability_eval_free(probabilities));
    assert_int_equal(kith_evaluate(&eval, model, NULL, NULL), KITH_OK);
    check_watched(kith_work_options,
                  kith_eval_write_ranks(eval, graph, format("%s/ranks%d", folder, (int)w.stop), &o,
                                        NULL), (void)0);
    kith_eval_free(eval);
    check_watched(kith_work_options,
                  kith_vectors_save(&vectors, format("%s/vectors%d", folder, (int)w.stop),
                                    KITH_VECTORS_TSV, &o, NULL), (void)0);
    assert_int_equal(entries(folder), 2);
}

/* A pool of the caller stays the caller's while the model evaluates, and none is left behind. */
static void threads__evaluating_leaves_none_behind(void **state)
{
    kith_probability_options options;
    kith_probability_eval *result = NULL;
    kith_model *own = NULL;
    size_t threads = 0;

    (void)state;
    assert_int_equal(kith_model_open(&own, run, &(kith_work_options){.threads = 2}, NULL), KITH_OK);
    kith_probability_options_init(&options);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(kith_evaluate_probabilities(&result, own, &options, NULL), KITH_OK);
        kith_probability_eval_free(result);
        /* a thread that has been joined may be listed for a moment */
        for (int i = 0; i < 1000 && round > 0 && entries("/proc/self/task") > threads; i++)
            usleep(1000);
        if (round > 0)
            assert_int_equal(entries("/proc/self/task"), threads);
        threads = entries("/proc/self/task");
        assert_int_equal(own->idle_count, 1);
    }
    kith_model_free(own);
}

static void watch__opening_and_making_models_reports_and_stops(void **state)
{
    const char *cache = keep(format("%s/cache.bin", run));
    kith_settings *settings = NULL;
    kith_model *made = NULL;

    (void)state;
    assert_int_equal(kith_settings_new(&settings, "release", NULL), KITH_OK);
    check_watched(kith_work_options, kith_model_new(&made, graph, settings, &o, NULL),
                  kith_model_free(made));
    check_watched(kith_work_options, kith_model_open_on(&made, run, graph, &o, NULL),
                  kith_model_free(made));
    remove(cache);
    check_watched(kith_work_options, kith_model_open(&made, run, &o, NULL),
                  kith_model_free(made));
    assert_true(exists(cache)); /* and from the cache */
    check_watched(kith_work_options, kith_model_open(&made, run, &o, NULL),
                  kith_model_free(made));
    kith_settings_free(settings);
}

static void ask_on(kith_session *session, unsigned threads)
{
    const kith_question questions[] = {{"p1", "knows", NULL}, {NULL, "born_in", "city2"}};
    const kith_ask_options options = {.threads = threads};
    kith_answers_batch *batch = NULL;

    assert_int_equal(kith_session_ask_all(&batch, session, questions, 2, &options, NULL), KITH_OK);
    kith_answers_batch_free(batch);
}

static void list_rules_on(unsigned threads)
{
    kith_rules_options options;
    kith_rules *rules = NULL;

    kith_rules_options_init(&options);
    options.threads = threads;
    assert_int_equal(kith_model_rules(&rules, model, &options, NULL), KITH_OK);
    kith_rules_free(rules);
}

static void threads__repeated_calls_make_none(void **state)
{
    kith_session *session = new_session();

    (void)state;
    for (int round = 0; round < 3; round++) {
        threads_made = 0;
        for (unsigned threads = 2; threads <= 4; threads++) {
            ask_on(session, threads);
            list_rules_on(threads);
        }
        if (round > 0)
            assert_int_equal(threads_made, 0);
    }
    kith_session_free(session);
}

/* Where the caller does not say how many, a pool made for another number is not taken. */
static void threads__are_as_many_as_there_are_cores_unless_the_caller_says(void **state)
{
    kith_model *own = NULL;
    unsigned other = kith__cores() + 1;

    (void)state;
    assert_int_equal(kith_model_open(&own, run, &(kith_work_options){.threads = 1}, NULL), KITH_OK);
    kith__model_give_pool(own, kith__model_take_pool(own, other));
    kith__pool *pool = kith__model_take_pool(own, 0);
    assert_int_equal(kith__pool_size(pool), kith__cores());
    kith__model_give_pool(own, pool);
    for (unsigned i = 1; i <= 2 * KITH__IDLE_POOLS; i++)
        kith__model_give_pool(own, kith__pool_new(1)); /* more than are kept */
    assert_int_equal(own->idle_count, KITH__IDLE_POOLS);
    kith_model_free(own);
}

static void watch__calls_of_a_session_report_and_stop(void **state)
{
    const kith_question questions[] = {{"p1", "knows", NULL}, {NULL, "born_in", "city2"}};
    const kith_question facts[] = {{"p1", "knows", "p2"}, {"p1", "born_in", "city2"}};
    kith_session *session = new_session();
    kith_answers *answers = NULL;
    kith_answers_batch *batch = NULL;
    kith_verdicts *verdicts = NULL;
    kith_missing *missing = NULL;
    kith_explanation *explanation = NULL;
    kith_explanations *explanations = NULL;

    (void)state;
    check_watched(kith_ask_options, kith_session_ask(&answers, session, questions, &o, NULL),
                  kith_answers_free(answers));
    check_watched(kith_ask_options, kith_session_ask_all(&batch, session, questions, 2, &o, NULL),
                  kith_answers_batch_free(batch));
    check_watched(kith_ask_options, kith_session_judge_all(&verdicts, session, facts, 2, &o, NULL),
                  kith_verdicts_free(verdicts));
    check_watched(kith_missing_options,
                  kith_session_find_missing(&missing, session, "knows", &o, NULL),
                  kith_missing_free(missing));
    check_watched(kith_ask_options,
                  kith_session_explain(&explanation, session, questions, &o, NULL),
                  kith_explanation_free(explanation));
    check_watched(kith_ask_options,
                  kith_session_explain_all(&explanations, session, questions, 2, &o, NULL),
                  kith_explanations_free(explanations));
    check_watched(kith_work_options, kith_session_add_graph(session, graph, &o, NULL), (void)0);
    kith_session_free(session);
}

/* ---- what is missing ---- */

/* So slow that it is due again at every tick. */
static int on_every_tick(void *context, const kith_stage *stage)
{
    watcher *w = context;

    (void)stage;
    usleep(60 * 1000);
    w->calls++;
    return w->stop && w->calls == 3;
}

static void watch__one_question_is_watched_inside(void **state)
{
    const kith_question pairs = {"p1", NULL, NULL}, one = {"p1", "knows", NULL};
    kith_session *session = new_session();
    kith_answers *answers = NULL;
    kith_explanation *explanation = NULL;
    watcher w = {0};
    const kith_ask_options o = {.threads = 1, .watch = on_every_tick, .context = &w};

    (void)state;
    assert_int_equal(kith_session_ask(&answers, session, &pairs, &o, NULL), KITH_OK);
    assert_true(w.calls >= 4); /* once per relation */
    kith_answers_free(answers);
    w = (watcher){.stop = true};
    assert_int_equal(kith_session_ask(&answers, session, &pairs, &o, NULL), KITH_ERR_STOPPED);
    assert_int_equal(w.calls, 3);
    w = (watcher){.stop = true};
    assert_int_equal(kith_session_explain(&explanation, session, &one, &o, NULL), KITH_ERR_STOPPED);
    assert_int_equal(w.calls, 3);
    assert_int_equal(kith_session_explain(&explanation, session, &one, NULL, NULL), KITH_OK);
    kith_explanation_free(explanation);
    kith_session_free(session);
}

static void add_graph__nothing_stays_of_what_was_stopped(void **state)
{
    kith_session *session = new_session();
    watcher w = {.stop = true};
    const kith_work_options o = {.watch = on_every_tick, .context = &w};

    (void)state;
    assert_int_equal(kith_session_add(NULL, session, "new", "knows", "p1", NULL), KITH_OK);
    assert_int_equal(kith_session_add_graph(session, graph, &o, NULL), KITH_ERR_STOPPED);
    assert_int_equal(kith_session_fact_count(session), 1);
    assert_int_equal(kith_session_newcomer_count(session), 1);
    assert_int_equal(kith_session_add_graph(session, graph, NULL, NULL), KITH_OK);
    kith_session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watch__calls_about_graphs_report_and_stop),
        cmocka_unit_test(watch__calls_about_models_report_and_stop),
        cmocka_unit_test(threads__repeated_calls_make_none),
        cmocka_unit_test(threads__are_as_many_as_there_are_cores_unless_the_caller_says),
        cmocka_unit_test(threads__evaluating_leaves_none_behind),
        cmocka_unit_test(watch__opening_and_making_models_reports_and_stops),
        cmocka_unit_test(watch__calls_of_a_session_report_and_stop),
        cmocka_unit_test(watch__one_question_is_watched_inside),
        cmocka_unit_test(add_graph__nothing_stays_of_what_was_stopped),
    };
    return cmocka_run_group_tests(tests, make_world, free_world);
}
