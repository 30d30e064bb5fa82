/* Training that starts from an earlier run: what is carried over, by name, and what is refused. */
#include <math.h>

#include "core/mem.h"
#include "model/model.h"
#include "run/fusion_files.h"
#include "run/overall_file.h"
#include "support.h"
#include "tables.h"
#include "train/start_from.h"

static const char old_train[] = "a\tr\tb\nb\tr\tc\nc\ts\ta\nd\tr\ta\nb\ts\td\na\ts\tc\n";
/* In another order, with the facts of z, which the earlier graph has in aux, a y that only z is
 * linked to, and a relation t. */
static const char new_train[] = "b\ts\td\nz\tr\ta\nz\ts\tb\na\ts\tc\nc\ts\ta\ny\tr\tz\nd\tr\ta\n"
                                "a\tr\tb\nb\tr\tc\na\tt\td\n";

static kith_settings quick(const char *aggregator)
{
    kith_settings s;

    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    set(&s, "aggregator", aggregator);
    set(&s, "padding", "off");
    s.dim = 8;
    s.batch = 4;
    s.lr = .05;
    s.epochs = 3;
    s.eval_every = 0;
    return s;
}

static kith_graph *old_graph(void)
{
    const char *folder = new_folder();

    put(folder, "train", old_train);
    put(folder, "aux", "z\tr\ta\nz\ts\tb\n");
    put(folder, "test", "z\tr\tc\n");
    return opened(folder);
}

static kith_graph *new_graph(void)
{
    return opened(file("train", new_train));
}

static const char *train(const kith_graph *graph, const kith_settings *s, const char *from)
{
    const kith_train_options options = {.threads = 1, .checkpoint_seconds = 100, .from = from};
    const char *folder = new_run();
    kith_error error;

    if (kith_train(NULL, folder, graph, s, &options, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a run", error.message);
    return folder;
}

static const char *old_run(const kith_settings *s)
{
    kith_graph *graph = old_graph();
    const char *folder = train(graph, s, NULL);

    kith_graph_free(graph);
    return folder;
}

/* A new model of a graph with the values of an earlier run. */
static kith_model *started(const kith_graph *graph, const kith_settings *s, const char *from)
{
    kith__carried carried;
    kith_model *model = NULL;
    kith_error error;

    assert_int_equal(kith_model_new(&model, graph, s, NULL, &error), KITH_OK);
    if (kith__start_from(&carried, model, from, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    kith__carried_release(&carried);
    return model;
}

static uint32_t entity(const kith_model *model, const char *name)
{
    uint32_t id = 0;
    assert_int_equal(kith_graph_find_entity(&id, model->graph, name), KITH_OK);
    return id;
}

static uint32_t relation(const kith_model *model, const char *name)
{
    uint32_t id = 0;
    assert_int_equal(kith_graph_find_relation(&id, model->graph, name), KITH_OK);
    return id;
}

/* ---- values ---- */

static void start_from__the_same_graph_gives_every_value_back(void **state)
{
    (void)state;
    for (int i = 0; i < AGGREGATORS * LOSSES; i++) {
        kith_settings s = quick(aggregators[i / LOSSES]);
        set(&s, "loss", losses[i % LOSSES]);
        if (kith__loss_get(s.loss)->negatives == KITH__SHARED)
            set(&s, "reciprocal", "on");
        const char *folder = old_run(&s);
        kith_model *old = opened_model(folder);
        kith_model *model = started(old->graph, &old->settings, folder);
        for (size_t t = 0; t < old->params.tables; t++)
            if (memcmp(model->params.table[t].at, old->params.table[t].at,
                       old->params.table[t].rows * old->params.table[t].stride * sizeof(float)))
                fail_msg("%s %s: the table %s differs", aggregators[i / LOSSES], losses[i % LOSSES],
                         old->params.table[t].spec->name);
        kith_model_free(model);
        kith_model_free(old);
    }
}

static void check_rows(const kith_model *model, const kith_model *old, size_t table, uint32_t row,
                       uint32_t before)
{
    const kith__table *to = &model->params.table[table], *from = &old->params.table[table];
    assert_memory_equal(kith__row(to, row), kith__row(from, before), to->cols * sizeof(float));
}

static void start_from__rows_are_matched_by_name(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    kith_settings s = quick("lan");
    const char *folder = old_run(&s);
    kith_graph *graph = new_graph();
    kith_model *old = opened_model(folder), *model = started(graph, &s, folder);

    (void)state;
    assert_int_not_equal(entity(model, "a"), entity(old, "a"));
    for (int i = 0; i < 4; i++)
        check_rows(model, old, KITH__ENT, entity(model, names[i]), entity(old, names[i]));
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "s" : "r";
        check_rows(model, old, KITH__REL, relation(model, name), relation(old, name));
        check_rows(model, old, KITH__TRANS, relation(model, name), relation(old, name));
        check_rows(model, old, KITH__TRANS, relation(model, name) + 3, relation(old, name) + 2);
    }
    kith_model_free(model);
    kith_model_free(old);
    kith_graph_free(graph);
}

static void start_from__new_entities_start_from_their_encodings(void **state)
{
    static const char *const some[] = {"mean", "max", "attention-query"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        kith_settings s = quick(some[i]);
        const char *folder = old_run(&s);
        kith_graph *graph = new_graph();
        kith_model *old = opened_model(folder), *model = started(graph, &s, folder);
        const float *row = kith__row(kith__ent(&model->params), entity(model, "z"));
        const float *next = kith__row(kith__ent(&model->params), entity(model, "y"));
        float by_r[8], by_s[8], size = 0;
        assert_int_equal(
            kith_model_encode(by_r, old, entity(old, "z"), relation(old, "r"), 0, NULL), KITH_OK);
        assert_int_equal(
            kith_model_encode(by_s, old, entity(old, "z"), relation(old, "s"), 0, NULL), KITH_OK);
        for (int k = 0; k < 8; k++) {
            assert_true(fabsf(row[k] - (by_r[k] + by_s[k]) / 2) < 1e-5f);
            size += fabsf(next[k]);
        }
        assert_true(isfinite(size) && size > 0); /* by z, in the next round */
        kith_model_free(model);
        kith_model_free(old);
        kith_graph_free(graph);
    }
}

/* ---- runs ---- */

static int stop_soon(void *context, const kith_progress *progress)
{
    (void)progress;
    return ++*(int *)context == 2;
}

static void start_from__a_run_can_be_stopped_and_resumed(void **state)
{
    kith_settings s = quick("table");
    const char *folder = old_run(&s), *stopped = new_run();
    kith_graph *graph = new_graph();
    const char *whole = train(graph, &s, folder);
    int calls = 0;
    const kith_train_options options = {
        .threads = 1, .progress = stop_soon, .context = &calls, .from = folder};
    kith_train_end end;

    (void)state;
    assert_int_equal(kith_train(&end, stopped, graph, &s, &options, NULL), KITH_OK);
    assert_int_equal(end, KITH_TRAIN_STOPPED);
    assert_int_equal(kith_train_resume(&end, stopped, NULL, NULL), KITH_OK);
    assert_int_equal(end, KITH_TRAIN_FINISHED);
    kith_model *a = opened_model(whole), *b = opened_model(stopped);
    assert_memory_equal(a->params.block, b->params.block, a->params.floats * sizeof(float));
    kith_model_free(a);
    kith_model_free(b);
    kith_graph_free(graph);
}

static void start_from__the_fusion_is_taken_over(void **state)
{
    kith_settings s = quick("table");

    (void)state;
    set(&s, "evidence", "fused");
    const char *folder = old_run(&s);
    kith_graph *graph = new_graph();
    const char *next = train(graph, &s, folder);
    kith_model *old = opened_model(folder), *model = opened_model(next);
    assert_memory_equal(&model->fused->fusion.common, &old->fused->fusion.common,
                        sizeof model->fused->fusion.common);
    assert_false(exists(format("%s/carried_fusion.json", next)));
    kith_model_free(model);
    kith_model_free(old);
    kith_graph_free(graph);
}

/* The second calibration, P(has relation) and the fusion for whole new graphs, too. */
static void start_from__probabilities_are_taken_over(void **state)
{
    static const kith__knot knot = {.at = -1, .probability = .25, .answers = 40, .entities = 9};
    kith_settings s = quick("table");
    kith__fitted_fusion run = {0}, other = {0}, found = {0};
    kith_error error;
    bool exists;

    (void)state;
    set(&s, "evidence", "fused");
    const char *folder = old_run(&s);
    kith_model *old = opened_model(folder);
    run.fusion = old->fused->fusion;
    other.fusion.common.bare[0] = 2.5f;
    assert_int_equal(kith__fusion_save(folder, &run, &other, &error), KITH_OK);
    kith__overall overall = {.entities = 9, .answers = 40, .weight = {0, 1, 0, 0, 0}, .knots = 1};
    overall.knot[0] = knot;
    assert_int_equal(kith__overall_save(folder, &overall, &error), KITH_OK);
    kith_graph *graph = new_graph();
    const char *next = train(graph, &s, folder);
    kith_model *model = opened_model(next);
    assert_true(model->overall.fitted);
    assert_true(model->overall.knot[0].probability == .25);
    assert_int_equal(kith__fusion_for_new_graphs(&found, &exists, next, &error), KITH_OK);
    assert_true(exists);
    assert_true(found.fusion.common.bare[0] == 2.5f);
    kith__fusion_release(&found.fusion);
    kith_model_free(model);
    kith_model_free(old);
    kith_graph_free(graph);
}

static void not_started(const kith_graph *graph, const kith_settings *s, const char *from,
                        const char *why)
{
    const kith_train_options options = {.threads = 1, .from = from};
    const char *folder = new_run();
    kith_error error = {KITH_OK, ""};

    assert_int_not_equal(kith_train(NULL, folder, graph, s, &options, &error), KITH_OK);
    assert_contains(error.message, why);
    assert_false(exists(format("%s/config.json", folder)));
}

static void start_from__what_does_not_fit_is_refused_with_the_reason(void **state)
{
    kith_settings s = quick("lan"), other;
    const char *folder = old_run(&s);
    kith_graph *graph = new_graph(), *strangers = opened(file("train", "k\tq\tl\nl\tq\tm\n"));

    (void)state;
    other = quick("mean");
    not_started(graph, &other, folder, "has aggregator lan, and the new run mean");
    other = s;
    other.dim = 9;
    not_started(graph, &other, folder, "has dim 8, and the new run 9");
    other = s;
    set(&other, "decoder", "distmult");
    not_started(graph, &other, folder, "has decoder transe");
    other = s;
    set(&other, "attention-width", "5");
    not_started(graph, &other, folder, "has a different shape");
    not_started(strangers, &s, folder, "has no entity or no relation in common");
    not_started(graph, &s, "nowhere", "nowhere");
    assert_int_equal(kith__settings_init(&other, "rules", NULL), KITH_OK);
    not_started(graph, &s, old_run(&other), "has rules only");
    not_started(graph, &other, folder, "");
    kith_graph_free(strangers);
    kith_graph_free(graph);
}

static kith_settings adapted(const char *preset, const char *batch, const char *epochs)
{
    kith_settings s;

    assert_int_equal(kith__settings_init(&s, preset, NULL), KITH_OK);
    set(&s, "batch", batch);
    set(&s, "epochs", epochs);
    assert_int_equal(kith_settings_start_from(&s, NULL), KITH_OK);
    return s;
}

static void start_from__batches_and_epochs_are_adapted_once(void **state)
{
    kith_settings s = adapted("kith", "2048", "13"), before = s;
    kith_error error;

    (void)state;
    assert_int_equal(s.batch, 512);
    assert_int_equal(s.epochs, 5);
    assert_int_equal(kith_settings_start_from(&s, NULL), KITH_OK);
    assert_memory_equal(&s, &before, sizeof s);
    s = adapted("kith", "512", "12"); /* batches that are small already */
    assert_int_equal(s.batch, 512);
    assert_int_equal(s.epochs, 12);
    s = adapted("release", "1024", "100"); /* negatives of its own for each fact */
    assert_int_equal(s.batch, 1024);
    assert_int_equal(s.epochs, 100);
    assert_int_equal(kith_settings_start_from(NULL, &error), KITH_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_from__the_same_graph_gives_every_value_back),
        cmocka_unit_test(start_from__rows_are_matched_by_name),
        cmocka_unit_test(start_from__new_entities_start_from_their_encodings),
        cmocka_unit_test(start_from__a_run_can_be_stopped_and_resumed),
        cmocka_unit_test(start_from__the_fusion_is_taken_over),
        cmocka_unit_test(start_from__probabilities_are_taken_over),
        cmocka_unit_test(start_from__batches_and_epochs_are_adapted_once),
        cmocka_unit_test(start_from__what_does_not_fit_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
