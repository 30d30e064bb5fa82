/* Training as a whole: what a run folder holds, determinism, validation, optimisers, divergence. */
#include <math.h>

#include "run/run.h"
#include "train/adam.h"
#include "train/step.h"
#include "support.h"
#include "runs.h"
#include "tables.h"

/* ---- the matrix ---- */

static void check_same_scores(kith_model *a, kith_model *b, const char *what)
{
    uint32_t n = kith_graph_entity_count(a->graph);

    for (uint32_t i = 0; i < 40; i++) {
        kith_triple f = {i * 5 % n, i % kith_graph_seen_relation_count(a->graph), i * 7 % n};
        if (score_of(a, f) != score_of(b, f))
            fail_msg("%s: found %.9g for fact %u, expected %.9g", what, (double)score_of(b, f), i,
                     (double)score_of(a, f));
    }
}

/* What was trained, in memory with the graph as it came, and from the file with the run's own. */
static void check_saved(const char *folder, const char *what)
{
    kith_model *loaded = opened_model(folder), *made = NULL;

    assert_int_equal(kith_model_new(&made, run_graph, kith_model_settings(loaded),
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

static void check_combination(const char *aggregator, const char *decoder, const char *loss,
                              int subtask)
{
    kith_settings s = quick_settings(aggregator);
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
    const char *folder = trained_run(run_graph, &s, 1);
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
        kith_settings s = quick_settings(aggregators[a]);
        s.dim = 20;
        s.negatives = 2;
        s.batch = 61;
        const char *one = trained_run(run_graph, &s, 1);
        for (int i = 0; i < 3; i++)
            if (!same_model(one, trained_run(run_graph, &s, threads[i])))
                fail_msg("%s: found other bytes with %u threads", aggregators[a], threads[i]);
    }
}

static void train__any_number_of_threads_gives_the_same_bytes_of_softmax(void **state)
{
    (void)state;
    for (int a = 0; a < AGGREGATORS; a++) {
        kith_settings s = quick_settings(aggregators[a]);
        set_softmax(&s, a);
        set(&s, "decoder", decoders[a % DECODERS]);
        s.dim = 20;
        s.batch = 61;
        const char *one = trained_run(run_graph, &s, 1);
        for (unsigned threads = 2; threads < 5; threads++)
            if (!same_model(one, trained_run(run_graph, &s, threads)))
                fail_msg("%s: found other bytes with %u threads", aggregators[a], threads);
    }
}

static void train__the_seed_decides_the_bytes(void **state)
{
    (void)state;
    for (int a = 0; a < AGGREGATORS; a++) {
        kith_settings s = quick_settings(aggregators[a]);
        const char *one = trained_run(run_graph, &s, 2), *again = trained_run(run_graph, &s, 2);
        s.seed = 2;
        assert_true(same_model(one, again));
        assert_false(same_model(one, trained_run(run_graph, &s, 2)));
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
    kith_settings s = quick_settings("lan");

    (void)state;
    s.eval_every = 0;
    set(&s, "predict", "object");
    const char *plain = trained_run(run_graph, &s, 2);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        kith_settings other = s;
        set(&other, changes[i][0], changes[i][1]);
        if (same_model(plain, trained_run(run_graph, &other, 2)))
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
    kith_settings s = quick_settings("table");

    (void)state;
    set_softmax(&s, 0);
    s.eval_every = 0;
    set(&s, "predict", "object");
    const char *plain = trained_run(run_graph, &s, 2);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        kith_settings other = s;
        set(&other, changes[i][0], changes[i][1]);
        if (same_model(plain, trained_run(run_graph, &other, 2)))
            fail_msg("found the same bytes with %s %s", changes[i][0], changes[i][1]);
    }
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
    kith_settings s = quick_settings("lan");
    run_watch w = {0};
    kith_train_options options = {.threads = 1, .progress = on_progress, .context = &w};
    const char *folder = new_run();
    double best = -1;

    (void)state;
    s.epochs = 12;
    s.eval_every = 1;
    s.lr = .3; /* so large that dev goes up and down */
    s.eval_facts = 10;
    train_in(folder, run_graph, &s, &options);
    for (int epoch = 1; epoch <= 12; epoch++)
        best = fmax(best, logged(folder, epoch, "mrr"));
    assert_true(best > logged(folder, 12, "mrr")); /* else the last one would pass as well */
    assert_int_equal(w.evaluated, 12);
    if (fabs(dev_of(folder) - best) > 1e-6 || fabs(w.dev - best) > 1e-6)
        fail_msg("found a model with MRR %g on dev, expected %g", dev_of(folder), best);
}

static void train__dev_is_looked_at_every_n_epochs_and_at_the_end(void **state)
{
    kith_settings s = quick_settings("mean");

    (void)state;
    s.epochs = 7;
    s.eval_every = 3;
    const char *folder = trained_run(run_graph, &s, 1);
    for (int epoch = 1; epoch <= 7; epoch++)
        assert_int_equal(logged(folder, epoch, "mrr") >= 0, epoch % 3 == 0 || epoch == 7);
}

static void train__patience_ends_the_run_early(void **state)
{
    kith_settings s = quick_settings("mean");
    int looks = 0;
    double best = -1;

    (void)state;
    s.epochs = 60;
    s.eval_every = 1;
    s.patience = 3;
    s.lr = .5;
    const char *folder = trained_run(run_graph, &s, 1);
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
    kith_settings s = quick_settings("mean");

    (void)state;
    put(folder, "train", "a\tr\tb\nb\tr\tc\nc\ts\ta\nd\tr\ta\nb\ts\td\n");
    put(folder, "dev", "a\tr\tc\t1\na\ts\tc\t-1\nb\tr\ta\t1\n");
    kith_graph *labelled = opened(folder);
    const char *run = trained_run(labelled, &s, 1);
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
        kith_settings s = quick_settings(aggregators[a]);
        const char *run = trained_run(on, &s, 2);
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
    kith_settings s = quick_settings("lan");

    (void)state;
    check_trains((const char *[]){some_train, NULL, "x\tr\ta\n", "x\ts\tb\n"});
    /* With dev but never looked at it is the same model as without. */
    s.eval_every = 0;
    const char *folder = trained_run(run_graph, &s, 1);
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
        kith_settings s = quick_settings("lan");
        s.eval_every = i / LOSSES * 2;
        set(&s, "loss", losses[i % LOSSES]);
        const char *kept = trained_run(run_graph, &s, 1), *given = new_run();
        kith_train_end end = KITH_TRAIN_FINISHED;
        kith_error error;
        assert_int_equal(kith_train_consuming(&end, given, opened(run_source), &s, &stop, &error),
                         KITH_OK);
        assert_int_equal(end, KITH_TRAIN_STOPPED);
        assert_int_equal(kith_train_resume(&end, given, NULL, &error), KITH_OK);
        assert_true(same_model(kept, given));
        given = new_run();
        assert_int_equal(kith_train_consuming(&end, given, opened(run_source), &s, NULL, &error),
                         KITH_OK);
        assert_true(same_model(kept, given));
        assert_true(kith_train_consuming(&end, given, opened(run_source), &s, NULL, &error) !=
                    KITH_OK);
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
        kith_settings s = quick_settings(aggregators[a]);
        set(&s, "neighbors", "all");
        s.batch = 500;
        s.epochs = 1;
        trained_run(hub, &s, 2);
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
    kith_settings s = quick_settings("mean");

    s.adam = kind;
    s.padding = 0;
    memset(l, 0, sizeof *l);
    assert_int_equal(
        kith_model_new(&l->model, run_graph, &s, &(kith_work_options){.threads = 1}, NULL),
        KITH_OK);
    assert_int_equal(kith__engine_init(&l->step, l->model->encoder, &l->model->params,
                                     &l->model->settings, NULL), KITH_OK);
    assert_int_equal(kith__adam_init(&l->adam, &l->model->params, NULL), KITH_OK);
}

static void learn(learner *l, size_t fact)
{
    kith_triple positive = kith_graph_facts(run_graph, KITH_TRAIN).at[fact], negative = positive;

    negative.object = (positive.object + 1) % kith_graph_seen_entity_count(run_graph);
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
    kith_settings s = quick_settings("lan");

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
    kith_settings s = quick_settings("lan");

    (void)state;
    assert_int_equal((kith_graph_facts(run_graph, KITH_TRAIN).count + 31) / 32, 3);
    check_diverges(stopped_with(&s, "ent", NAN), (const char *[]){"epoch 1, step 2:", NULL});
    check_diverges(stopped_with(&s, "att_w", NAN), (const char *[]){"epoch 1, step 2:", NULL});
}

static void diverged__scores_too_large_name_a_table_too(void **state)
{
    kith_settings s = quick_settings("sum");

    (void)state;
    set(&s, "decoder", "distmult");
    check_diverges(stopped_with(&s, NULL, 1e25f),
                   (const char *[]){"epoch 1, step 2:", "the table '", NULL});
}

static void diverged__a_stop_saves_no_broken_weights(void **state)
{
    kith_settings s = quick_settings("lan");
    const char *folder = stopped_with(&s, "att_w", NAN), *copy = copy_run(folder);
    run_watch w = {.stop_at = 1};
    kith_train_options options = {.threads = 1, .progress = on_progress, .context = &w};
    kith_train_end end;
    kith_error error = {KITH_OK, ""};

    (void)state;
    assert_int_equal(kith_train_resume(&end, folder, &options, &error), KITH_ERR_DIVERGED);
    assert_true(same_bytes(in(folder, "checkpoint.safetensors"),
                           in(copy, "checkpoint.safetensors")));
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
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
