/* Every allocation of encoding and of a training step fails once: the call says so or gives what it
 * would have given. */
#include "model/model.h"
#include "train/step.h"
#include "support.h"
#include "tables.h"

static bool allocation_failed; /* in the last trial */

static bool stop_failing(void)
{
    allocation_failed = kith__mem_failed();
    kith__mem_fail_at(0);
    return allocation_failed;
}

/* ---- encoding and its gradients, for every aggregator ---- */

enum { STEP_FACTS = 4 };

/* What a step of training gives: vectors by encoding, then gradients table by table. */
typedef struct {
    float *at;
    size_t count;
} values;

static void append(values *v, const float *from, size_t count)
{
    v->at = realloc(v->at, (v->count + count) * sizeof *v->at);
    assert_non_null(v->at);
    memcpy(v->at + v->count, from, count * sizeof *v->at);
    v->count += count;
}

static values values_of(const kith_model *model, const kith__engine *step)
{
    const kith__encoder *e = model->encoder;
    const kith__gradients *g = &step->gradients;
    values v = {NULL, 0};

    for (size_t i = 0; i < kith__encoder_count(e); i++)
        append(&v, kith__encoder_vector(e, i), model->settings.dim);
    for (uint32_t i = 0; i < model->params.table[KITH__ENT].rows; i++)
        if (g->row_of[i])
            append(&v, kith__gradient_of(g, i), model->settings.dim);
    for (size_t t = 1; t < g->dense.tables; t++)
        for (size_t r = 0; r < g->dense.table[t].rows; r++)
            append(&v, kith__row(&g->dense.table[t], r), g->dense.table[t].cols);
    return v;
}

typedef kith_status (*trial)(values *found, const kith_graph *graph, const kith_settings *settings,
                             size_t n, kith_error *error);

/* The vectors of a few entities by a new model; the n-th allocation fails, or none for 0. */
static kith_status try_encode(values *found, const kith_graph *graph, const kith_settings *settings,
                              size_t n, kith_error *error)
{
    kith_model *model;

    assert_int_equal(
        kith_model_new(&model, graph, settings, &(kith_work_options){.threads = 1}, NULL), KITH_OK);
    kith__encoder *e = model->encoder;
    kith__mem_fail_at(n);
    kith__encoder_begin(e);
    for (uint32_t entity = 0; entity < STEP_FACTS; entity++)
        kith__encoder_request(e, entity, 1, NULL);
    kith_status status = kith__encoder_forward(e, error);
    (void)stop_failing();
    *found = (values){NULL, 0};
    for (size_t i = 0; status == KITH_OK && i < kith__encoder_count(e); i++)
        append(found, kith__encoder_vector(e, i), model->settings.dim);
    kith_model_free(model);
    return status;
}

/* One step of a new model, likewise. */
static kith_status try_step(values *found, const kith_graph *graph, const kith_settings *settings,
                            size_t n, kith_error *error)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    kith_triple negative[STEP_FACTS];
    kith_model *model;
    kith__engine step;

    for (size_t i = 0; i < STEP_FACTS; i++) {
        negative[i] = train.at[i];
        negative[i].object = train.at[STEP_FACTS + i].subject;
    }
    assert_int_equal(
        kith_model_new(&model, graph, settings, &(kith_work_options){.threads = 1}, NULL), KITH_OK);
    assert_int_equal(
        kith__engine_init(&step, model->encoder, &model->params, &model->settings, NULL), KITH_OK);
    const kith__batch batch = {STEP_FACTS, train.at, negative, 1, NULL, NULL};
    kith__mem_fail_at(n);
    kith_status status = kith__engine_run(&step, &batch, error);
    (void)stop_failing();
    if (status == KITH_OK)
        *found = values_of(model, &step);
    kith__engine_release(&step);
    kith_model_free(model);
    return status;
}

/* The same of the softmax loss. */
static kith_status try_queries(values *found, const kith_graph *graph,
                               const kith_settings *settings, size_t n, kith_error *error)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    uint32_t m = kith_graph_seen_relation_count(graph);
    kith__train_query queries[STEP_FACTS];
    kith__shared_negatives negatives;
    kith_model *model;
    kith__engine step;
    kith__rng rng;

    for (size_t i = 0; i < STEP_FACTS; i++) {
        kith_triple t = train.at[i];
        queries[i] = i % 2 ? (kith__train_query){t.object, t.relation + m, t.subject}
                         : (kith__train_query){t.subject, t.relation, t.object};
    }
    kith__rng_init(&rng, 4, 0);
    assert_int_equal(
        kith_model_new(&model, graph, settings, &(kith_work_options){.threads = 1}, NULL), KITH_OK);
    assert_int_equal(kith__shared_negatives_init(&negatives, graph, 3, NULL), KITH_OK);
    assert_int_equal(
        kith__engine_init(&step, model->encoder, &model->params, &model->settings, NULL), KITH_OK);
    const kith__batch batch = {STEP_FACTS, NULL, NULL, 0, queries, &negatives};
    kith__mem_fail_at(n);
    kith_status status = kith__shared_negatives_draw(&negatives, queries, STEP_FACTS, &rng, error);
    if (status == KITH_OK)
        status = kith__engine_run(&step, &batch, error);
    (void)stop_failing();
    if (status == KITH_OK)
        *found = values_of(model, &step);
    kith__engine_release(&step);
    kith__shared_negatives_release(&negatives);
    kith_model_free(model);
    return status;
}

static void torture_trial(trial attempt_at, const kith_graph *graph, const kith_settings *settings,
                          const char *name)
{
    values expected, found;
    bool failed = true;
    kith_error error;

    assert_int_equal(attempt_at(&expected, graph, settings, 0, NULL), KITH_OK);
    for (size_t n = 1; failed; n++) {
        kith_status status = attempt_at(&found, graph, settings, n, &error);
        failed = allocation_failed;
        if (status != KITH_OK) {
            assert_int_equal(status, KITH_ERR_MEMORY);
            continue;
        }
        assert_int_equal(found.count, expected.count);
        for (size_t i = 0; i < found.count; i++)
            if (found.at[i] != expected.at[i])
                fail_msg("%s, allocation %zu, value %zu: found success and %g, expected %g", name,
                         n, i, (double)found.at[i], (double)expected.at[i]);
        free(found.at);
    }
    free(expected.at);
}

static kith_graph *step_graph(void)
{
    return opened(file("train", "a\tr\tb\nb\ts\tc\na\ts\tc\nc\tt\td\nd\tr\ta\ne\ts\tb\ne\tr\te\n"
                             "d\tt\te\nf\tr\tc\nf\ts\tb\nb\tr\tf\na\tt\tb\n"));
}

static void torture_aggregators(trial attempt_at)
{
    kith_graph *graph = step_graph();

    for (size_t i = 0; i < AGGREGATORS; i++)
        for (int padding = 0; padding < 2; padding++) {
            kith_settings s;
            assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
            assert_int_equal(kith_settings_set(&s, "aggregator", aggregators[i], NULL), KITH_OK);
            s.dim = 12;
            s.padding = padding;
            torture_trial(attempt_at, graph, &s, aggregators[i]);
        }
    kith_graph_free(graph);
}

static void torture_loss(const kith_graph *graph, const char *loss)
{
    for (size_t d = 0; d < 2 * DECODERS; d++) {
        kith_settings s;
        assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
        assert_int_equal(kith_settings_set(&s, "loss", loss, NULL), KITH_OK);
        assert_int_equal(kith_settings_set(&s, "decoder", decoders[d / 2], NULL), KITH_OK);
        bool shared = kith__loss_get(s.loss)->negatives == KITH__SHARED;
        s.dim = 12;
        s.normalize = d % 2;
        s.candidate_vectors = d % 2 ? KITH_CANDIDATES_INPUT : KITH_CANDIDATES_ENCODED;
        torture_trial(shared ? try_queries : try_step, graph, &s,
                      decoders[d / 2]);
    }
}

static void torture__a_step_of_every_decoder_and_loss_fails_or_gives_the_same_values(void **state)
{
    kith_graph *graph = step_graph();

    (void)state;
    for (int i = 0; i < LOSSES; i++)
        torture_loss(graph, losses[i]);
    kith_graph_free(graph);
}

static void torture__an_encoding_fails_or_is_the_same(void **state)
{
    (void)state;
    torture_aggregators(try_encode);
}

static void torture__a_step_fails_or_gives_the_same_values(void **state)
{
    (void)state;
    torture_aggregators(try_step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torture__an_encoding_fails_or_is_the_same),
        cmocka_unit_test(torture__a_step_fails_or_gives_the_same_values),
        cmocka_unit_test(torture__a_step_of_every_decoder_and_loss_fails_or_gives_the_same_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
