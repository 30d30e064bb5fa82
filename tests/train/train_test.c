/* Training as a whole: what a run folder holds, how it goes on, and what is refused. */
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/model.h"
#include "support.h"
#include "tables.h"
#include "train/adam.h"
#include "train/order.h"
#include "run/run.h"
#include "train/step.h"

/* In place of the C library's: hundreds of small runs need not wait for the disk. What is on the
 * disk when a run is killed is tried with the program itself. */
int fsync(int file)
{
    (void)file;
    return 0;
}

/* ---- graphs and settings ---- */

static const char *source; /* a folder with every part, and a relation that train lacks */
static kith_graph *graph;

static int make_graph(void **state)
{
    const random_shape shape = {.entities = 24, .relations = 4, .train = 90, .dev = 20, .test = 20,
                                .aux = 20, .maps = true, .overlap = true};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 11, 0);
    source = random_folder(&rng, &shape);
    graph = opened(source);
    return 0;
}

static int free_graph(void **state)
{
    (void)state;
    kith_graph_free(graph);
    return 0;
}

/* Few and small steps; dev is looked at every other epoch. */
static kith_settings quick(const char *aggregator)
{
    kith_settings s;

    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    set(&s, "aggregator", aggregator);
    s.dim = 8;
    s.batch = 32;
    s.lr = .02;
    s.epochs = 4;
    s.eval_every = 2;
    s.patience = 0;
    s.max_neighbors = 8;
    return s;
}

/* ---- runs ---- */

static const char *new_run(void)
{
    return keep(format("%s/run", new_folder()));
}

static const char *in(const char *folder, const char *name)
{
    return keep(format("%s/%s", folder, name));
}

static kith_train_end train_in(const char *folder, const kith_graph *on, const kith_settings *s,
                               const kith_train_options *options)
{
    kith_train_end end = KITH_TRAIN_STOPPED;
    kith_error error;

    if (kith_train(&end, folder, on, s, options, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a run", error.message);
    return end;
}

static const char *trained(const kith_graph *on, const kith_settings *s, unsigned threads)
{
    const kith_train_options options = {.threads = threads, .checkpoint_seconds = 100};
    const char *folder = new_run();

    assert_int_equal(train_in(folder, on, s, &options), KITH_TRAIN_FINISHED);
    return folder;
}

static bool same_bytes(const char *a, const char *b)
{
    size_t x, y;
    char *first = contents(a, &x), *second = contents(b, &y);
    bool same = x == y && memcmp(first, second, x) == 0;

    free(first);
    free(second);
    return same;
}

static bool same_model(const char *a, const char *b)
{
    return same_bytes(in(a, "model.safetensors"), in(b, "model.safetensors"));
}

/* A copy of a run that can be damaged. */
static const char *copy_run(const char *folder)
{
    const char *copy = new_run();
    if (system(format("cp -r '%s' '%s'", folder, copy)) != 0)
        fail_msg("%s: cannot be copied", folder);
    return copy;
}

/* The epochs of history.jsonl, as "1 2 3", each line being one object. */
static const char *epochs_of(const char *folder)
{
    size_t length;
    char *text = contents(in(folder, "history.jsonl"), &length), *rest = text, *line;
    static char all[256];

    all[0] = '\0';
    while ((line = strsep(&rest, "\n")) && *line) {
        json_t *entry = json_loads(line, 0, NULL);
        if (!json_is_number(json_object_get(entry, "loss")) ||
            !json_is_number(json_object_get(entry, "seconds")))
            fail_msg("found the line '%s', expected an object with loss and seconds", line);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%lld", all[0] ? " " : "",
                 (long long)json_integer_value(json_object_get(entry, "epoch")));
        json_decref(entry);
    }
    free(text);
    return all;
}

/* A number of history.jsonl; -1 where the line has none. */
static double logged(const char *folder, int epoch, const char *key)
{
    size_t length;
    char *text = contents(in(folder, "history.jsonl"), &length), *rest = text, *line = NULL;

    for (int i = 0; i < epoch; i++)
        line = strsep(&rest, "\n");
    json_t *entry = line ? json_loads(line, 0, NULL) : NULL, *value = json_object_get(entry, key);
    double number = json_is_number(value) ? json_number_value(value) : -1;
    json_decref(entry);
    free(text);
    return number;
}

/* ---- the matrix ---- */

static float score(kith_model *model, kith_triple fact)
{
    float value = NAN;
    kith_error error;
    if (kith_model_score(&value, model, fact, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return value;
}

static void check_same_scores(kith_model *a, kith_model *b, const char *what)
{
    uint32_t n = kith_graph_entity_count(a->graph);

    for (uint32_t i = 0; i < 40; i++) {
        kith_triple f = {i * 5 % n, i % kith_graph_seen_relation_count(a->graph), i * 7 % n};
        if (score(a, f) != score(b, f))
            fail_msg("%s: found %.9g for fact %u, expected %.9g", what, (double)score(b, f), i,
                     (double)score(a, f));
    }
}

/* What was trained, in memory with the graph as it came, and from the file with the run's own. */
static void check_saved(const char *folder, const char *what)
{
    kith_model *loaded = opened_model(folder), *made = NULL;

    assert_int_equal(kith_model_new(&made, graph, kith_model_settings(loaded),
                                    &(kith_work_options){.threads = 1}, NULL),
                     KITH_OK);
    memcpy(made->params.block, loaded->params.block, made->params.floats * sizeof(float));
    check_same_scores(made, loaded, what);
    for (size_t t = 0; t < made->params.tables; t++) /* other values, saved and loaded again */
        for (size_t r = 0; r < made->params.table[t].rows; r++)
            kith__row(&made->params.table[t], r)[0] += .125f;
    assert_int_equal(kith__run_save_model(folder, made, NULL), KITH_OK);
    kith_model_free(loaded);
    loaded = opened_model(folder);
    assert_memory_equal(made->params.block, loaded->params.block,
                        made->params.floats * sizeof(float));
    check_same_scores(made, loaded, what);
    kith_model_free(made);
    kith_model_free(loaded);
}

/* Of the softmax loss with few entities: all that it has, in small. */
static void set_softmax(kith_settings *s, int variant)
{
    static const char *const candidates[] = {"input", "encoded"};
    static const char *const schedules[] = {"linear", "constant"};

    set(s, "loss", "softmax");
    set(s, "candidate-vectors", candidates[variant % 2]);
    set(s, "directions", variant % 3 ? "predicted" : "both");
    set(s, "reciprocal", variant % 5 < 2 ? "on" : "off");
    set(s, "schedule", schedules[variant / 2 % 2]);
    set(s, "neighbors", "sampled");
    s->shared_negatives = variant % 4 == 3 ? 1000 : 10; /* more than there are: all */
    s->max_neighbors = 5;
    s->table_lr = 3;
}

static void check_combination(const char *aggregator, const char *decoder, const char *loss,
                              int subtask)
{
    kith_settings s = quick(aggregator);
    char what[128];

    snprintf(what, sizeof what, "%s %s loss %s subtask %d", aggregator, decoder, loss, subtask);
    set(&s, "decoder", decoder);
    set(&s, "loss", loss);
    if (kith__loss_get(s.loss)->negatives == KITH__SHARED) {
        set_softmax(&s, aggregator[0] + decoder[0] + subtask);
        s.lr = .05; /* which falls to 0 over few steps */
    }
    set(&s, "loss", loss);
    s.subtask = subtask;
    s.epochs = 12;
    s.eval_every = 0;
    const char *folder = trained(graph, &s, 1);
    double first = logged(folder, 1, "loss"), last = logged(folder, 12, "loss");
    if (!(last < .97 * first))
        fail_msg("%s: found a loss of %g after one of %g, expected it to fall", what, last, first);
    check_saved(folder, what);
}

static void check_matrix(int from, int to)
{
    for (int a = from; a < to; a++)
        for (int i = 0; i < DECODERS * LOSSES * 2; i++)
            check_combination(aggregators[a], decoders[i / (LOSSES * 2)], losses[i / 2 % LOSSES],
                              i % 2);
}

static void train__mean_sum_max_lstm_learn_and_load_with_everything(void **state)
{
    (void)state;
    check_matrix(0, 4);
}

static void train__attentions_logic_lan_table_learn_and_load_with_everything(void **state)
{
    (void)state;
    check_matrix(4, AGGREGATORS);
}

/* ---- the same bytes ---- */

static void train__any_number_of_threads_gives_the_same_bytes(void **state)
{
    const unsigned threads[] = {2, 3, 5};

    (void)state;
    for (int a = 0; a < AGGREGATORS; a++) {
        kith_settings s = quick(aggregators[a]);
        s.dim = 20;
        s.negatives = 2;
        s.batch = 61;
        const char *one = trained(graph, &s, 1);
        for (int i = 0; i < 3; i++)
            if (!same_model(one, trained(graph, &s, threads[i])))
                fail_msg("%s: found other bytes with %u threads", aggregators[a], threads[i]);
    }
}

static void train__any_number_of_threads_gives_the_same_bytes_of_softmax(void **state)
{
    (void)state;
    for (int a = 0; a < AGGREGATORS; a++) {
        kith_settings s = quick(aggregators[a]);
        set_softmax(&s, a);
        set(&s, "decoder", decoders[a % DECODERS]);
        s.dim = 20;
        s.batch = 61;
        const char *one = trained(graph, &s, 1);
        for (unsigned threads = 2; threads < 5; threads++)
            if (!same_model(one, trained(graph, &s, threads)))
                fail_msg("%s: found other bytes with %u threads", aggregators[a], threads);
    }
}

static void train__the_seed_decides_the_bytes(void **state)
{
    (void)state;
    for (int a = 0; a < AGGREGATORS; a++) {
        kith_settings s = quick(aggregators[a]);
        const char *one = trained(graph, &s, 2), *again = trained(graph, &s, 2);
        s.seed = 2;
        assert_true(same_model(one, again));
        assert_false(same_model(one, trained(graph, &s, 2)));
    }
}

static void train__each_setting_that_counts_changes_the_bytes(void **state)
{
    static const char *const changes[][2] = {
        {"decoder", "distmult"}, {"loss", "logistic"},     {"subtask", "off"},
        {"dim", "9"},            {"attention-width", "5"}, {"logic-denominator", "max"},
        {"self-confidence", "one"}, {"normalize", "off"},  {"corrupt", "subject"},
        {"neighbors", "random"}, {"max-neighbors", "3"},   {"mask", "on"},
        {"batch", "31"},         {"negatives", "2"},       {"lr", "0.021"},
        {"margin", "2"},         {"l2", "0.01"},           {"adam", "lazy"},
        {"epsilon", "inside"},   {"epochs", "5"}};
    kith_settings s = quick("lan");

    (void)state;
    s.eval_every = 0;
    set(&s, "predict", "object");
    const char *plain = trained(graph, &s, 2);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        kith_settings other = s;
        set(&other, changes[i][0], changes[i][1]);
        if (same_model(plain, trained(graph, &other, 2)))
            fail_msg("found the same bytes with %s %s", changes[i][0], changes[i][1]);
    }
}

static void train__each_setting_of_softmax_that_counts_changes_the_bytes(void **state)
{
    static const char *const changes[][2] = {{"directions", "predicted"},
                                             {"reciprocal", "off"},
                                             {"candidate-vectors", "encoded"},
                                             {"shared-negatives", "9"},
                                             {"scale", "2"},
                                             {"schedule", "constant"},
                                             {"table-lr", "2"},
                                             {"neighbors", "all"},
                                             {"neighbors", "random"},
                                             {"subtask", "off"},
                                             {"mask", "on"},
                                             {"normalize", "off"},
                                             {"decoder", "complex"}};
    kith_settings s = quick("table");

    (void)state;
    set_softmax(&s, 0);
    s.eval_every = 0;
    set(&s, "predict", "object");
    const char *plain = trained(graph, &s, 2);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        kith_settings other = s;
        set(&other, changes[i][0], changes[i][1]);
        if (same_model(plain, trained(graph, &other, 2)))
            fail_msg("found the same bytes with %s %s", changes[i][0], changes[i][1]);
    }
}

/* ---- stopping and going on ---- */

typedef struct {
    size_t calls, stop_at; /* the call that asks to stop, from 1 */
    size_t epochs, evaluated, best;
    double dev;
} watch;

static int on_progress(void *context, const kith_progress *p)
{
    watch *w = context;

    assert_true(p->facts <= p->facts_total && p->epoch >= 1 && p->epoch <= p->epochs);
    w->epochs += (size_t)p->epoch_done;
    w->evaluated += (size_t)p->evaluated;
    w->best += (size_t)p->best;
    if (p->best)
        w->dev = p->dev;
    return ++w->calls == w->stop_at;
}

/* Stop after random numbers of steps until the run is finished; returns how many sessions. */
static size_t train_in_pieces(const char *folder, const kith_settings *s, kith__rng *rng,
                              double checkpoint_seconds)
{
    size_t sessions = 0;

    for (kith_train_end end = KITH_TRAIN_STOPPED; end == KITH_TRAIN_STOPPED; sessions++) {
        watch w = {.stop_at = 1 + (size_t)kith__rng_below(rng, 6)};
        kith_train_options options = {.threads = 1 + (unsigned)kith__rng_below(rng, 3),
                                      .progress = on_progress,
                                      .context = &w,
                                      .checkpoint_seconds = checkpoint_seconds};
        kith_error error;
        if (sessions == 0)
            end = train_in(folder, graph, s, &options);
        else if (kith_train_resume(&end, folder, &options, &error) != KITH_OK)
            fail_msg("%s", error.message);
    }
    return sessions;
}

static void check_pieces(const kith_settings *s, kith__rng *rng)
{
    const char *whole = trained(graph, s, 1), *pieces = new_run();
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
        kith_settings s = quick(aggregators[i / 2]);
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
        kith_settings s = quick(aggregators[i / 2]);
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
    kith_settings s = quick("lan");
    watch w = {.stop_at = 5};
    kith_train_options options = {.threads = 1, .progress = on_progress, .context = &w};
    kith_train_end end;

    (void)state;
    const char *whole = trained(graph, &s, 1), *folder = new_run();
    train_in(folder, graph, &s, &options);
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
    kith_settings s = quick("lan"), resolved = s;
    kith_train_end end;
    kith_error error;

    (void)state;
    const char *whole = trained(graph, &s, 1), *folder = new_run();
    resolved.predict = kith__resolve_predict(&s, graph);
    assert_int_equal(kith__run_create(folder, graph, &resolved, NULL, NULL), KITH_OK);
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
    kith_settings s = quick("mean");
    const char *folder = trained(graph, &s, 1), *copy = copy_run(folder);
    kith_train_end end;

    (void)state;
    assert_int_equal(kith_train_resume(&end, folder, NULL, NULL), KITH_OK);
    assert_int_equal(end, KITH_TRAIN_WAS_FINISHED);
    assert_true(same_model(folder, copy));
    assert_true(same_bytes(in(folder, "history.jsonl"), in(copy, "history.jsonl")));
}

/* ---- dev ---- */

static double dev_of(const char *folder)
{
    const kith_settings *s;
    kith_model *model = opened_model(folder);
    kith_eval *result;

    s = kith_model_settings(model);
    kith_eval_options options = {.split = KITH_DEV, .sample = s->eval_facts, .seed = s->seed};
    assert_int_equal(kith_evaluate(&result, model, &options, NULL), KITH_OK);
    double found = result->realistic->mrr;
    kith_eval_free(result);
    kith_model_free(model);
    return found;
}

static void train__the_best_model_by_dev_is_kept(void **state)
{
    kith_settings s = quick("lan");
    watch w = {0};
    kith_train_options options = {.threads = 1, .progress = on_progress, .context = &w};
    const char *folder = new_run();
    double best = -1;

    (void)state;
    s.epochs = 12;
    s.eval_every = 1;
    s.lr = .3; /* so large that dev goes up and down */
    s.eval_facts = 10;
    train_in(folder, graph, &s, &options);
    for (int epoch = 1; epoch <= 12; epoch++)
        best = fmax(best, logged(folder, epoch, "mrr"));
    assert_true(best > logged(folder, 12, "mrr")); /* else the last one would pass as well */
    assert_int_equal(w.evaluated, 12);
    if (fabs(dev_of(folder) - best) > 1e-6 || fabs(w.dev - best) > 1e-6)
        fail_msg("found a model with MRR %g on dev, expected %g", dev_of(folder), best);
}

static void train__dev_is_looked_at_every_n_epochs_and_at_the_end(void **state)
{
    kith_settings s = quick("mean");

    (void)state;
    s.epochs = 7;
    s.eval_every = 3;
    const char *folder = trained(graph, &s, 1);
    for (int epoch = 1; epoch <= 7; epoch++)
        assert_int_equal(logged(folder, epoch, "mrr") >= 0, epoch % 3 == 0 || epoch == 7);
}

static void train__patience_ends_the_run_early(void **state)
{
    kith_settings s = quick("mean");
    int looks = 0;
    double best = -1;

    (void)state;
    s.epochs = 60;
    s.eval_every = 1;
    s.patience = 3;
    s.lr = .5;
    const char *folder = trained(graph, &s, 1);
    int last = (int)strtol(strrchr(format(" %s", epochs_of(folder)), ' '), NULL, 10);
    for (int epoch = 1; epoch <= last; epoch++) {
        assert_true(looks < 3);
        looks = logged(folder, epoch, "mrr") > best ? 0 : looks + 1;
        best = fmax(best, logged(folder, epoch, "mrr"));
    }
    assert_true(last < 60);
    assert_int_equal(looks, 3);
    kith_train_end end;
    assert_int_equal(kith_train_resume(&end, folder, NULL, NULL), KITH_OK);
    assert_int_equal(end, KITH_TRAIN_WAS_FINISHED);
}

static void train__labels_on_dev_are_looked_at_by_accuracy(void **state)
{
    const char *folder = new_folder();
    kith_settings s = quick("mean");

    (void)state;
    put(folder, "train", "a\tr\tb\nb\tr\tc\nc\ts\ta\nd\tr\ta\nb\ts\td\n");
    put(folder, "dev", "a\tr\tc\t1\na\ts\tc\t-1\nb\tr\ta\t1\n");
    kith_graph *labelled = opened(folder);
    const char *run = trained(labelled, &s, 1);
    assert_true(logged(run, 2, "accuracy") >= 0 && logged(run, 2, "mrr") < 0);
    kith_graph_free(labelled);
}

/* ---- graphs that lack something ---- */

static void check_trains(const char *const *splits)
{
    const char *folder = new_folder();
    static const char *const names[] = {"train", "dev", "test", "aux"};

    for (int i = 0; i < 4; i++)
        if (splits[i])
            put(folder, names[i], splits[i]);
    for (int a = 0; a < AGGREGATORS; a++) {
        kith_graph *on = opened(folder);
        kith_settings s = quick(aggregators[a]);
        const char *run = trained(on, &s, 2);
        kith_model *model = opened_model(run);
        kith_eval_options options = {.split = KITH_TEST};
        kith_eval *result;
        kith_error error;
        kith_status status = kith_evaluate(&result, model, &options, &error);
        assert_int_equal(status, splits[2] ? KITH_OK : KITH_ERR_ARGUMENT);
        if (splits[2])
            kith_eval_free(result);
        else
            assert_contains(error.message, "no test facts");
        assert_int_equal(logged(run, 2, "mrr") >= 0, splits[1] != NULL);
        kith_model_free(model);
        kith_graph_free(on);
    }
}

static const char some_train[] = "a\tr\tb\nb\tr\tc\nc\ts\ta\nd\tr\ta\nb\ts\td\n";

static void train__works_without_aux(void **state)
{
    (void)state;
    check_trains((const char *[]){some_train, "a\tr\tc\n", "x\tr\ta\n", NULL});
}

static void train__works_without_dev_and_keeps_the_last_model(void **state)
{
    kith_settings s = quick("lan");

    (void)state;
    check_trains((const char *[]){some_train, NULL, "x\tr\ta\n", "x\ts\tb\n"});
    /* With dev but never looked at it is the same model as without. */
    s.eval_every = 0;
    const char *folder = trained(graph, &s, 1);
    kith__position at;
    kith_model *model = NULL;
    kith__adam_state adam;
    assert_int_equal(kith__run_open(&model, folder, &(kith_work_options){.threads = 1}, NULL),
                     KITH_OK);
    assert_int_equal(kith__adam_init(&adam, &model->params, NULL), KITH_OK);
    kith__moments moments = {&adam.m, &adam.v, 0};
    assert_int_equal(kith__run_load_position(&at, folder, model, &moments, NULL), KITH_OK);
    kith_model *last = opened_model(folder);
    assert_int_equal(at.epoch, 4);
    assert_memory_equal(last->params.block, model->params.block,
                        model->params.floats * sizeof(float));
    kith__adam_release(&adam);
    kith_model_free(model);
    kith_model_free(last);
}

static void train__works_without_test(void **state)
{
    (void)state;
    check_trains((const char *[]){some_train, "a\tr\tc\n", NULL, NULL});
}

static void train__works_with_train_alone_and_with_one_fact(void **state)
{
    (void)state;
    check_trains((const char *[]){some_train, NULL, NULL, NULL});
    check_trains((const char *[]){"a\tr\tb\n", NULL, NULL, NULL});
    check_trains((const char *[]){"a\tr\ta\n", NULL, NULL, NULL});
}

static void train__unseen_entities_without_facts_are_ranked_with_zeros(void **state)
{
    (void)state;
    check_trains((const char *[]){some_train, NULL, "lone\tr\ta\nlone\ts\talone\n", NULL});
}

/* ---- graphs that are given away ---- */

static int stop_at_once(void *context, const kith_progress *progress)
{
    (void)context;
    return progress->facts > 0;
}

static void train__a_graph_given_away_gives_the_same_bytes(void **state)
{
    const kith_train_options stop = {.threads = 2, .progress = stop_at_once};

    (void)state;
    for (int i = 0; i < 2 * LOSSES; i++) { /* looks at dev need the facts, others do not */
        kith_settings s = quick("lan");
        s.eval_every = i / LOSSES * 2;
        set(&s, "loss", losses[i % LOSSES]);
        const char *kept = trained(graph, &s, 1), *given = new_run();
        kith_train_end end = KITH_TRAIN_FINISHED;
        kith_error error;
        assert_int_equal(kith_train_consuming(&end, given, opened(source), &s, &stop, &error),
                         KITH_OK);
        assert_int_equal(end, KITH_TRAIN_STOPPED);
        assert_int_equal(kith_train_resume(&end, given, NULL, &error), KITH_OK);
        assert_true(same_model(kept, given));
        given = new_run();
        assert_int_equal(kith_train_consuming(&end, given, opened(source), &s, NULL, &error),
                         KITH_OK);
        assert_true(same_model(kept, given));
        assert_true(kith_train_consuming(&end, given, opened(source), &s, NULL, &error) != KITH_OK);
    }
}

/* Loops, facts in both directions, and enough of them for several blocks of swaps. */
static kith_graph *looped_graph(size_t facts)
{
    draft t = {0};

    for (size_t i = 0; i < facts; i++)
        add(&t, "e%zu\tr%zu\te%zu\n", i * 7 % 97, i / 97 % 11, i / 1067 % 97);
    kith_graph *made = opened(file("train", t.at));
    draft_release(&t);
    return made;
}

static void order__facts_by_place_are_those_by_number_in_every_epoch(void **state)
{
    static const size_t counts[] = {1, 2, 4096, 4097, 4098, 8193, 10000};

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        kith_graph *made = looped_graph(counts[c]);
        kith__order plain, placed;
        assert_int_equal(kith__order_init(&plain, made, NULL), KITH_OK);
        assert_int_equal(kith__order_init(&placed, made, NULL), KITH_OK);
        assert_int_equal(plain.count, counts[c]);
        assert_int_equal(kith__order_by_place(&placed, NULL), KITH_OK);
        assert_null(placed.facts);
        for (uint64_t epoch = 0; epoch < 4; epoch++) {
            kith__order_shuffle(&plain, 5, epoch);
            kith__order_shuffle(&placed, 5, epoch);
            for (size_t i = 0; i < plain.count; i++) {
                kith_triple a = kith__order_fact(&plain, i), b = kith__order_fact(&placed, i);
                assert_memory_equal(&a, &b, sizeof a);
            }
        }
        kith__order_release(&plain);
        kith__order_release(&placed);
        kith_graph_free(made);
    }
}

static void train__a_hub_of_5000_neighbours_trains(void **state)
{
    draft t = {0};

    (void)state;
    for (int i = 0; i < 5000; i++)
        add(&t, "hub\tr%d\tn%d\n", i % 3, i);
    kith_graph *hub = opened(file("train", t.at));
    draft_release(&t);
    for (int a = 0; a < AGGREGATORS; a += 7) {
        kith_settings s = quick(aggregators[a]);
        set(&s, "neighbors", "all");
        s.batch = 500;
        s.epochs = 1;
        trained(hub, &s, 2);
    }
    kith_graph_free(hub);
}

/* ---- adam ---- */

typedef struct {
    kith_model *model;
    kith__engine step;
    kith__adam_state adam;
} learner;

static void learner_init(learner *l, kith_adam kind)
{
    kith_settings s = quick("mean");

    s.adam = kind;
    s.padding = 0;
    memset(l, 0, sizeof *l);
    assert_int_equal(kith_model_new(&l->model, graph, &s, &(kith_work_options){.threads = 1}, NULL),
                     KITH_OK);
    assert_int_equal(kith__engine_init(&l->step, l->model->encoder, &l->model->params,
                                     &l->model->settings, NULL), KITH_OK);
    assert_int_equal(kith__adam_init(&l->adam, &l->model->params, NULL), KITH_OK);
}

static void learn(learner *l, size_t fact)
{
    kith_triple positive = kith_graph_facts(graph, KITH_TRAIN).at[fact], negative = positive;

    negative.object = (positive.object + 1) % kith_graph_seen_entity_count(graph);
    const kith__batch batch = {1, &positive, &negative, 1, NULL, NULL};
    kith__gradients_clear(&l->step.gradients);
    assert_int_equal(kith__engine_run(&l->step, &batch, NULL), KITH_OK);
    kith__adam_step(&l->adam, &l->model->params, &l->step.gradients, &l->model->settings, 1,
                    l->model->pool);
}

static void learner_release(learner *l)
{
    kith__engine_release(&l->step);
    kith__adam_release(&l->adam);
    kith_model_free(l->model);
}

/* How many rows of ent that the last step did not use moved in it. */
static size_t idle_rows_that_moved(const learner *l, const float *before, size_t *idle)
{
    const kith__table *ent = kith__ent(&l->model->params);
    size_t moved = 0;

    *idle = 0;
    for (size_t r = 0; r < ent->rows; r++)
        if (!l->step.gradients.row_of[r]) {
            (*idle)++;
            moved += memcmp(before + r * ent->stride, kith__row(ent, r),
                            ent->stride * sizeof *before) != 0;
        }
    return moved;
}

static void adam__lazy_moves_used_rows_only_and_dense_all_that_have_momentum(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        learner l;
        learner_init(&l, kind ? KITH_ADAM_LAZY : KITH_ADAM_DENSE);
        for (size_t i = 0; i < 80; i++)
            learn(&l, i);
        size_t bytes = l.model->params.floats * sizeof(float), idle;
        float *before = malloc(bytes);
        memcpy(before, l.model->params.block, bytes);
        learn(&l, 0);
        size_t moved = idle_rows_that_moved(&l, before, &idle);
        assert_true(idle > 0);
        assert_int_equal(moved, kind ? 0 : idle);
        assert_memory_not_equal(before, l.model->params.block, bytes);
        free(before);
        learner_release(&l);
    }
}

static void adam__lazy_and_dense_make_the_same_first_step(void **state)
{
    learner lazy, dense;

    (void)state;
    learner_init(&lazy, KITH_ADAM_LAZY);
    learner_init(&dense, KITH_ADAM_DENSE);
    learn(&lazy, 3);
    learn(&dense, 3);
    assert_memory_equal(lazy.model->params.block, dense.model->params.block,
                        lazy.model->params.floats * sizeof(float));
    learner_release(&lazy);
    learner_release(&dense);
}

/* ---- divergence ---- */

/* A run that was stopped after its first step, its weights then changed. */
static const char *stopped_with(const kith_settings *s, const char *table, float value)
{
    watch w = {.stop_at = 1};
    kith_train_options options = {.threads = 1, .progress = on_progress, .context = &w};
    const char *folder = new_run();
    kith__position at;
    kith_model *model = NULL;
    kith__adam_state adam;

    assert_int_equal(train_in(folder, graph, s, &options), KITH_TRAIN_STOPPED);
    assert_int_equal(kith__run_open(&model, folder, &(kith_work_options){.threads = 1}, NULL),
                     KITH_OK);
    assert_int_equal(kith__adam_init(&adam, &model->params, NULL), KITH_OK);
    kith__moments moments = {&adam.m, &adam.v, 0};
    assert_int_equal(kith__run_load_position(&at, folder, model, &moments, NULL), KITH_OK);
    assert_int_equal(at.batch, 1);
    for (size_t t = 0; t < model->params.tables; t++)
        for (size_t r = 0; r < model->params.table[t].rows; r++)
            if (!table || strcmp(model->params.table[t].spec->name, table) == 0)
                kith__row(&model->params.table[t], r)[0] = value;
    assert_int_equal(kith__run_save_position(folder, &at, model, &moments, NULL), KITH_OK);
    kith__adam_release(&adam);
    kith_model_free(model);
    return folder;
}

static void check_diverges(const char *folder, const char *const *splits)
{
    const char *copy = copy_run(folder);
    kith_train_end end;
    kith_error error = {KITH_OK, ""};

    if (kith_train_resume(&end, folder, NULL, &error) != KITH_ERR_DIVERGED)
        fail_msg("found '%s', expected that training diverged", error.message);
    for (; *splits; splits++)
        assert_contains(error.message, *splits);
    assert_true(same_bytes(in(folder, "checkpoint.safetensors"),
                           in(copy, "checkpoint.safetensors")));
}

static void diverged__the_tables_with_bad_values_are_named(void **state)
{
    static const char *const tables[] = {"ent", "rel", "trans", "query", "att_w", "att_u"};
    const float values[] = {NAN, INFINITY};
    kith_settings s = quick("lan");

    (void)state;
    s.subtask = 0;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 2; k++) {
            const char *splits[] = {"epoch 1, step ", "the table '",
                                   keep(format("'%s'", tables[i])), NULL};
            check_diverges(stopped_with(&s, tables[i], values[k]), splits);
        }
}

/* Three steps make an epoch here. What the loss does not show is seen at the end of the epoch. */
static void diverged__the_step_is_the_one_that_met_it(void **state)
{
    kith_settings s = quick("lan");

    (void)state;
    assert_int_equal((kith_graph_facts(graph, KITH_TRAIN).count + 31) / 32, 3);
    check_diverges(stopped_with(&s, "ent", NAN), (const char *[]){"epoch 1, step 2:", NULL});
    check_diverges(stopped_with(&s, "att_w", NAN), (const char *[]){"epoch 1, step 2:", NULL});
}

static void diverged__scores_too_large_name_a_table_too(void **state)
{
    kith_settings s = quick("sum");

    (void)state;
    set(&s, "decoder", "distmult");
    check_diverges(stopped_with(&s, NULL, 1e25f),
                   (const char *[]){"epoch 1, step 2:", "the table '", NULL});
}

static void diverged__a_stop_saves_no_broken_weights(void **state)
{
    kith_settings s = quick("lan");
    const char *folder = stopped_with(&s, "att_w", NAN), *copy = copy_run(folder);
    watch w = {.stop_at = 1};
    kith_train_options options = {.threads = 1, .progress = on_progress, .context = &w};
    kith_train_end end;
    kith_error error = {KITH_OK, ""};

    (void)state;
    assert_int_equal(kith_train_resume(&end, folder, &options, &error), KITH_ERR_DIVERGED);
    assert_true(same_bytes(in(folder, "checkpoint.safetensors"),
                           in(copy, "checkpoint.safetensors")));
}

/* ---- folders that are refused ---- */

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
    kith_settings s = quick("lan");

    if (!made)
        made = trained(graph, &s, 1);
    return copy_run(made);
}

/* Not finished, so that the checkpoint is needed. */
static const char *a_stopped_run(void)
{
    static const char *made;

    if (!made) {
        kith_settings s = quick("lan");
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
    assert_int_equal(kith_graph_seen_entity_count(graph), 24);
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
    kith_settings s = quick("mean");
    const char *run = trained(graph, &s, 1), *copy = copy_run(run), *full = new_folder();
    kith_train_end end;
    kith_error error;

    (void)state;
    assert_int_equal(kith_train(&end, run, graph, &s, NULL, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "already contains a run");
    assert_true(same_model(run, copy));
    put(full, "precious", "mine");
    assert_true(kith_train(&end, full, graph, &s, NULL, &error) != KITH_OK);
    assert_contains(error.message, full);
    assert_int_equal(entries(full), 1);
    const char *plain = file("plain", "mine");
    assert_true(kith_train(&end, plain, graph, &s, NULL, &error) != KITH_OK);
    assert_contains(error.message, plain);
    assert_true(kith_train(&end, "/proc/nonexistent/run", graph, &s, NULL, &error) != KITH_OK);
    assert_contains(error.message, "/proc/nonexistent/run");
    assert_int_equal(train_in(new_folder(), graph, &s, NULL), KITH_TRAIN_FINISHED); /* empty */
}

static void refused__settings_that_make_no_sense_before_a_folder_is_made(void **state)
{
    kith_settings s = quick("mean");
    const char *folder = new_run();
    kith_train_end end;
    kith_error error;

    (void)state;
    s.dim = 7;
    set(&s, "decoder", "complex");
    assert_int_equal(kith_train(&end, folder, graph, &s, NULL, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "multiple of 2");
    assert_false(exists(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(train__mean_sum_max_lstm_learn_and_load_with_everything),
        cmocka_unit_test(train__attentions_logic_lan_table_learn_and_load_with_everything),
        cmocka_unit_test(train__any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(train__any_number_of_threads_gives_the_same_bytes_of_softmax),
        cmocka_unit_test(train__the_seed_decides_the_bytes),
        cmocka_unit_test(train__each_setting_of_softmax_that_counts_changes_the_bytes),
        cmocka_unit_test(train__each_setting_that_counts_changes_the_bytes),
        cmocka_unit_test(resume__after_any_stops_gives_the_same_bytes_and_history),
        cmocka_unit_test(resume__of_softmax_gives_the_same_bytes_and_history),
        cmocka_unit_test(resume__from_an_older_checkpoint_gives_the_same_bytes),
        cmocka_unit_test(resume__before_the_first_step_is_possible),
        cmocka_unit_test(resume__a_finished_run_says_so_and_changes_nothing),
        cmocka_unit_test(train__the_best_model_by_dev_is_kept),
        cmocka_unit_test(train__dev_is_looked_at_every_n_epochs_and_at_the_end),
        cmocka_unit_test(train__patience_ends_the_run_early),
        cmocka_unit_test(train__labels_on_dev_are_looked_at_by_accuracy),
        cmocka_unit_test(train__works_without_aux),
        cmocka_unit_test(train__works_without_dev_and_keeps_the_last_model),
        cmocka_unit_test(train__works_without_test),
        cmocka_unit_test(train__works_with_train_alone_and_with_one_fact),
        cmocka_unit_test(train__unseen_entities_without_facts_are_ranked_with_zeros),
        cmocka_unit_test(train__a_graph_given_away_gives_the_same_bytes),
        cmocka_unit_test(order__facts_by_place_are_those_by_number_in_every_epoch),
        cmocka_unit_test(train__a_hub_of_5000_neighbours_trains),
        cmocka_unit_test(adam__lazy_moves_used_rows_only_and_dense_all_that_have_momentum),
        cmocka_unit_test(adam__lazy_and_dense_make_the_same_first_step),
        cmocka_unit_test(diverged__the_tables_with_bad_values_are_named),
        cmocka_unit_test(diverged__the_step_is_the_one_that_met_it),
        cmocka_unit_test(diverged__scores_too_large_name_a_table_too),
        cmocka_unit_test(diverged__a_stop_saves_no_broken_weights),
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
