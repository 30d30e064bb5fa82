/* Training can be stopped in each of its stages, soon, and goes on from there as if it had not
 * been. */
#include <time.h>
#include <unistd.h>

#include "embed/settings.h"
#include "support.h"
#include "tables.h"

enum { MOST_STAGES = 24 };

/* What the watch saw, and where it stops. */
typedef struct {
    const char *names[MOST_STAGES]; /* each once, in the order of their beginning */
    size_t count, heard[MOST_STAGES]; /* calls of each */
    size_t calls;       /* of the stage at hand */
    const char *stop;   /* in this stage, NULL: never */
    size_t after;       /* calls of it */
    double stopped;     /* when, in seconds of the process's time; below 0: not yet */
    bool slow; /* so slow in training that every tick is due */
    double last, longest; /* time of the last call, and the longest time between two */
} watcher;

/* Of the processor, so that other programs do not count. */
static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int on_stage(void *context, const kith_stage *stage)
{
    watcher *w = context;
    size_t known = 0;
    double now = used();

    if (w->slow && strcmp(stage->name, "training") == 0)
        usleep(55 * 1000);
    w->longest = w->last > 0 && now - w->last > w->longest ? now - w->last : w->longest;
    w->last = now;
    while (known < w->count && strcmp(w->names[known], stage->name) != 0)
        known++;
    if (known == w->count) {
        assert_true(w->count < MOST_STAGES);
        w->names[w->count++] = stage->name;
    }
    w->heard[known]++;
    assert_null(strchr(stage->name, '_')); /* it is for people, not the name of anything in code */
    if (stage->total > 0)
        assert_true(stage->done <= stage->total + stage->total / 2);
    if (!w->stop || strcmp(w->stop, stage->name) != 0 || w->calls++ < w->after)
        return 0;
    if (w->stopped < 0)
        w->stopped = now;
    return 1;
}

static kith_graph *random_graph(unsigned entities, unsigned train)
{
    const random_shape shape = {.entities = entities, .relations = 6, .train = train, .dev = 40,
                                .test = 20, .aux = 20};
    kith__rng rng;

    kith__rng_init(&rng, 21, 0);
    return opened(random_folder(&rng, &shape));
}

static kith_settings quick(const char *evidence)
{
    kith_settings s;

    assert_int_equal(
        kith__settings_init(&s, strcmp(evidence, "rules") == 0 ? "rules" : "release", NULL),
        KITH_OK);
    assert_int_equal(kith_settings_set(&s, "evidence", evidence, NULL), KITH_OK);
    if (strcmp(evidence, "rules") != 0) {
        s.dim = 8;
        s.batch = 64;
        s.epochs = 2;
        s.eval_every = 1;
        s.max_neighbors = 8;
    }
    return s;
}

static kith_train_end train_in(const char *folder, const kith_graph *graph, const char *evidence,
                               watcher *w)
{
    const kith_train_options options = {.threads = 1, .watch = on_stage, .watch_context = w};
    kith_settings s = quick(evidence);
    kith_train_end end = KITH_TRAIN_WAS_FINISHED;
    kith_error error;

    w->stopped = -1;
    kith_status status = kith_train(&end, folder, graph, &s, &options, &error);
    if (status == KITH_ERR_STOPPED && !exists(folder))
        return KITH_TRAIN_STOPPED; /* before there was a run */
    if (status != KITH_OK)
        fail_msg("%s", error.message);
    return end;
}

static void check_same_file(const char *a, const char *b, const char *name)
{
    size_t x, y;
    const char *first = in(a, name), *second = in(b, name);

    if (!exists(first))
        return;
    char *wanted = contents(first, &x), *found = contents(second, &y);
    if (x != y || memcmp(wanted, found, x) != 0)
        fail_msg("%s: found other bytes, expected those of %s", second, first);
    free(wanted);
    free(found);
}

/* Stop in a stage, go on, and compare with the run that was never stopped. */
static void check_goes_on(const kith_graph *graph, const char *evidence, const char *whole,
                          const char *stage, size_t after)
{
    const char *folder = new_run();
    watcher w = {.stop = stage, .after = after};
    kith_train_end end;

    end = train_in(folder, graph, evidence, &w);
    if (w.stopped < 0) /* the stage was over before */
        return;
    assert_int_equal(end, KITH_TRAIN_STOPPED);
    if (exists(folder))
        assert_int_equal(kith_train_resume(&end, folder, NULL, NULL), KITH_OK);
    else
        end = train_in(folder, graph, evidence, &(watcher){0});
    assert_int_equal(end == KITH_TRAIN_STOPPED, 0);
    check_same_file(whole, folder, "model.safetensors");
    check_same_file(whole, folder, "rules.safetensors");
    check_same_file(whole, folder, "fusion.json");
    check_same_file(whole, folder, "calibration.json");
}

static void stop__in_any_stage_leaves_a_run_that_goes_on_as_if_it_had_not_been(void **state)
{
    static const char *const evidence[] = {"none", "rules", "fused"};
    static const size_t stages[] = {3, 5, 8};
    kith_graph *graph = random_graph(40, 240);

    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *whole = new_run();
        watcher all = {0};
        assert_int_equal(train_in(whole, graph, evidence[i], &all), KITH_TRAIN_FINISHED);
        if (all.count < stages[i])
            fail_msg("%s: found %zu stages, expected %zu", evidence[i], all.count, stages[i]);
        for (size_t s = 0; s < all.count; s++)
            for (size_t after = 0; after < 3; after++)
                check_goes_on(graph, evidence[i], whole, all.names[s], after);
    }
    kith_graph_free(graph);
}

static void check_soon(const kith_graph *graph, const char *evidence, const char *stage,
                       size_t after)
{
    watcher w = {.stop = stage, .after = after};

    train_in(new_run(), graph, evidence, &w);
    double late = used() - w.stopped;
    if (w.stopped >= 0 && late > .5)
        fail_msg("%s: stopped after %.2f s of the processor, expected less than .5", stage, late);
}

/* So large that stages take longer than half a second, which they do sooner in sanitized builds. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { PEOPLE = 240, FEW_PEOPLE = 100 };
#else
enum { PEOPLE = 800, FEW_PEOPLE = 280 };
#endif

static void stop__takes_less_than_half_a_second(void **state)
{
    static const char *const evidence[] = {"rules", "fused"};
    kith_graph *graphs[] = {random_graph(PEOPLE, 8 * PEOPLE),
                            random_graph(FEW_PEOPLE, 7 * FEW_PEOPLE)};

    (void)state;
    for (int i = 0; i < 2; i++) {
        watcher all = {0};
        train_in(new_run(), graphs[i], evidence[i], &all);
        if (all.longest > .5) /* wherever a stop is asked for, it is heard by then */
            fail_msg("%s: %.2f s of the processor between two calls, expected less than .5",
                     evidence[i], all.longest);
        for (size_t s = 0; s < all.count; s++)
            check_soon(graphs[i], evidence[i], all.names[s],
                       all.heard[s] > 8 ? 4 : all.heard[s] / 2);
        kith_graph_free(graphs[i]);
    }
}

/* ---- inside one batch ---- */

static kith_settings one_batch(const char *aggregator, const char *loss)
{
    kith_settings s;

    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&s, "evidence", "none", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&s, "aggregator", aggregator, NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&s, "loss", loss, NULL), KITH_OK);
    s.dim = 32;
    s.batch = 1 << 20;
    s.epochs = 1;
    s.eval_every = 0;
    return s;
}

static kith_train_end train_batch(const char *folder, const kith_graph *graph,
                                  const kith_settings *settings, watcher *w)
{
    const kith_train_options options = {.threads = 1, .watch = on_stage, .watch_context = w};
    kith_train_end end;
    kith_error error;

    w->stopped = -1;
    if (kith_train(&end, folder, graph, settings, &options, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return end;
}

/* Every tick is due, so their number does not depend on how fast the machine is. Before, between
 * and after the passes of a batch there are three calls at most. */
static void check_batch_stops(const kith_graph *graph, const char *aggregator, const char *loss)
{
    enum { ENOUGH = 8, NEVER = 1000000 };
    const char *whole = keep(format("%s/run", new_folder()));
    const kith_settings s = one_batch(aggregator, loss);
    watcher all = {.stop = "training", .after = NEVER, .slow = true};

    assert_int_equal(train_batch(whole, graph, &s, &all), KITH_TRAIN_FINISHED);
    if (all.calls < ENOUGH)
        fail_msg("%s, %s: found %zu calls in a batch, expected more", aggregator, loss, all.calls);
    for (size_t after = 1; after + 2 < all.calls; after += all.calls / 3) {
        const char *folder = keep(format("%s/run", new_folder()));
        watcher w = {.stop = "training", .after = after, .slow = true};
        kith_train_end end = train_batch(folder, graph, &s, &w);
        double late = used() - w.stopped;
        assert_int_equal(end, KITH_TRAIN_STOPPED);
        if (late > .5)
            fail_msg("%s, %s: stopped after %.2f s, expected less than .5", aggregator, loss, late);
        assert_int_equal(kith_train_resume(&end, folder, NULL, NULL), KITH_OK);
        assert_int_equal(end, KITH_TRAIN_FINISHED);
        check_same_file(whole, folder, "model.safetensors");
    }
}

static void stop__inside_a_batch_goes_on_with_the_same_batch(void **state)
{
    kith_graph *graph = random_graph(60, 600);

    (void)state;
    check_batch_stops(graph, "lan", "softmax");
    check_batch_stops(graph, "lstm", "margin");
    check_batch_stops(graph, "lan", "logistic");
    kith_graph_free(graph);
}

/* ---- opening ---- */

/* Every tick is due, because each call takes longer than the time between two. */
typedef struct {
    const char *in; /* count the calls of this stage; NULL: all */
    size_t calls, stop; /* stop at this call; 0: never */
    size_t checks, reads, writes;
} opener;

static int on_every_tick(void *context, const kith_stage *stage)
{
    opener *o = context;

    usleep(55 * 1000);
    o->calls += !o->in || strcmp(stage->name, o->in) == 0;
    o->checks += strcmp(stage->name, "checking the cache") == 0;
    o->reads += strcmp(stage->name, "reading the model") == 0;
    o->writes += strcmp(stage->name, "writing the cache") == 0;
    return o->calls == o->stop && o->stop > 0;
}

static kith_status opening(kith_model **model, const char *run, opener *o)
{
    const kith_work_options options = {.threads = 1, .watch = on_every_tick, .context = o};

    *model = NULL;
    return kith_model_open(model, run, &options, NULL);
}

static void stop__opening_stops_while_the_cache_is_checked_and_tensors_are_read(void **state)
{
    kith_graph *graph = random_graph(300, 1500);
    const char *run = keep(format("%s/run", new_folder()));
    kith_model *model;
    opener first = {0}, all = {0};

    (void)state;
    assert_int_equal(train_in(run, graph, "fused", &(watcher){0}), KITH_TRAIN_FINISHED);
    assert_int_equal(opening(&model, run, &first), KITH_OK); /* writes the cache */
    kith_model_free(model);
    assert_int_equal(opening(&model, run, &all), KITH_OK);
    kith_model_free(model);
    /* once for each array and table at least */
    assert_true(first.writes > 8 && all.checks > 8 && all.reads > 6);
    for (size_t stop = 1; stop <= all.calls; stop += all.calls / 6) {
        opener o = {.stop = stop};
        assert_int_equal(opening(&model, run, &o), KITH_ERR_STOPPED);
        assert_null(model);
        assert_int_equal(o.calls, stop);
    }
    /* A cache that was not written whole is not there. */
    const char *cache = keep(format("%s/cache.bin", run));
    for (size_t stop = 1; stop <= first.writes; stop += first.writes - 1) {
        opener o = {.in = "writing the cache", .stop = stop};
        unlink(cache);
        assert_int_equal(opening(&model, run, &o), KITH_ERR_STOPPED);
        assert_true(!model && !exists(cache));
    }
    assert_int_equal(opening(&model, run, &(opener){0}), KITH_OK);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- questions ---- */

/* A model with random parameters. */
static kith_model *wide_model(const kith_graph *graph, const char *aggregator, unsigned dim)
{
    kith_settings s;
    kith_model *model = NULL;
    kith_error error;

    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&s, "evidence", "none", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&s, "aggregator", aggregator, NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&s, "candidate-vectors", "encoded", NULL), KITH_OK);
    s.dim = dim;
    if (kith_model_new(&model, graph, &s, &(kith_work_options){.threads = 2}, &error) != KITH_OK)
        fail_msg("%s: %s", aggregator, error.message);
    return model;
}

static kith_answers *answers_of(kith_model *model, uint32_t relation)
{
    const kith_graph *g = kith_model_graph(model);
    kith_session *session = NULL;
    kith_answers *answers = NULL;
    kith_error error;

    assert_int_equal(kith_session_new(&session, model, NULL), KITH_OK);
    if (kith_session_ask(&answers, session,
                         &(kith_question){kith_graph_entity_name(g, 0),
                                          kith_graph_relation_name(g, relation), NULL},
                         NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    kith_session_free(session);
    return answers;
}

static void check_same_answers(kith_model *a, kith_model *b, uint32_t relation)
{
    kith_answers *x = answers_of(a, relation), *y = answers_of(b, relation);

    assert_int_equal(x->count, y->count);
    for (size_t i = 0; i < x->count; i++) {
        assert_int_equal(x->at[i]->entity, y->at[i]->entity);
        assert_memory_equal(&x->at[i]->score, &y->at[i]->score, sizeof x->at[i]->score);
    }
    kith_answers_free(x);
    kith_answers_free(y);
}

/* Stops a question; whether it was stopped before it was answered. */
static bool stopped_question(kith_model *model, uint32_t relation, size_t after)
{
    const kith_graph *g = kith_model_graph(model);
    watcher w = {.stop = "answering", .after = after, .stopped = -1};
    const kith_ask_options o = {.watch = on_stage, .context = &w};
    kith_session *session = NULL;
    kith_answers *answers = NULL;

    assert_int_equal(kith_session_new(&session, model, NULL), KITH_OK);
    kith_status status = kith_session_ask(&answers, session,
                                          &(kith_question){kith_graph_entity_name(g, 0),
                                                           kith_graph_relation_name(g, relation),
                                                           NULL},
                                          &o, NULL);
    double late = used() - w.stopped;
    kith_answers_free(answers);
    kith_session_free(session);
    if (w.stopped < 0)
        return false;
    assert_int_equal(status, KITH_ERR_STOPPED);
    if (late > .5)
        fail_msg("stopped after %.2f s of the processor, expected less than .5", late);
    return true;
}

static void stop__questions_stop_while_candidates_are_encoded(void **state)
{
    kith_graph *graph = random_graph(40000, 400000);
    bool stopped = false;

    (void)state;
    /* So wide that encoding its candidates takes long enough to be stopped, on any machine. */
    for (unsigned dim = 200; !stopped && dim <= 1600; dim *= 2) {
        kith_model *model = wide_model(graph, "lan", dim);
        stopped = stopped_question(model, 0, 1) && stopped_question(model, 0, 3);
        kith_model_free(model);
    }
    assert_true(stopped);
    kith_graph_free(graph);
}

/* Ranks one fact; whether that was stopped before it was done. Between and after its queries there
 * are three calls at most. */
static bool stopped_ranking(kith_model *model, size_t after)
{
    watcher w = {.stop = "ranking", .after = after, .stopped = -1};
    const kith_eval_options o = {
        .split = KITH_TEST, .sample = 1, .watch = on_stage, .context = &w};
    kith_eval *result = NULL;
    kith_status status = kith_evaluate(&result, model, &o, NULL);
    double late = used() - w.stopped;

    kith_eval_free(result);
    if (w.stopped < 0)
        return false;
    assert_int_equal(status, KITH_ERR_STOPPED);
    if (late > .5)
        fail_msg("stopped after %.2f s of the processor, expected less than .5", late);
    return true;
}

static void stop__ranking_stops_while_candidates_are_encoded(void **state)
{
    kith_graph *graph = random_graph(40000, 400000);
    bool stopped = false;

    (void)state;
    for (unsigned dim = 200; !stopped && dim <= 1600; dim *= 2) {
        kith_model *model = wide_model(graph, "lan", dim);
        stopped = stopped_ranking(model, 3);
        kith_model_free(model);
    }
    assert_true(stopped);
    kith_graph_free(graph);
}

/* Wherever the encoder stops, its next pass starts from nothing. */
static void stop__a_stopped_question_leaves_no_trace(void **state)
{
    kith_graph *graph = random_graph(12000, 90000);

    (void)state;
    for (size_t k = 0; k < AGGREGATORS; k++) {
        kith_model *model = wide_model(graph, aggregators[k], 64);
        kith_model *other = wide_model(graph, aggregators[k], 64);
        for (size_t after = 1; stopped_question(model, 0, after) && after < 6; after++)
            ;
        check_same_answers(model, other, 0);
        for (size_t after = 1; stopped_question(model, 1, after) && after < 6; after++)
            ;
        check_same_answers(model, other, 1);
        check_same_answers(model, other, 2);
        kith_model_free(model);
        kith_model_free(other);
    }
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stop__in_any_stage_leaves_a_run_that_goes_on_as_if_it_had_not_been),
        cmocka_unit_test(stop__takes_less_than_half_a_second),
        cmocka_unit_test(stop__inside_a_batch_goes_on_with_the_same_batch),
        cmocka_unit_test(stop__opening_stops_while_the_cache_is_checked_and_tensors_are_read),
        cmocka_unit_test(stop__questions_stop_while_candidates_are_encoded),
        cmocka_unit_test(stop__ranking_stops_while_candidates_are_encoded),
        cmocka_unit_test(stop__a_stopped_question_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
