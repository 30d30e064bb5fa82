/* Finite differences of the whole loss by every table, for every kind of model. */
#include <math.h>

#include "embed/encoder/state.h"
#include "model/model.h"
#include "train/step.h"
#include "support.h"
#include "tables.h"

enum { DIM = 8, FACTS = 5, PER = 3 };

static kith_graph *graph;

/* Few enough entities that the batch meets each of them several times; `leaf` has one neighbour,
 * which the mask takes away. */
static int make_graph(void **state)
{
    (void)state;
    graph = opened(file("train", "a\tr\tb\nb\ts\tc\na\ts\tc\nc\tt\td\nd\tr\ta\ne\ts\tb\ne\tr\te\n"
                                 "d\tt\te\nf\tr\tc\nf\ts\tb\nb\tr\tf\nleaf\tr\ta\na\tt\tb\n"));
    return 0;
}

static int free_graph(void **state)
{
    (void)state;
    kith_graph_free(graph);
    return 0;
}

/* ---- the loss of a batch, and its gradients ---- */

typedef struct {
    kith_model *model;
    kith__engine step;
    kith_triple positive[FACTS], negative[FACTS * PER];
    size_t per;
    kith__train_query queries[2 * FACTS]; /* for the softmax loss: either side of each fact */
    kith__shared_negatives negatives;
} batch;

static kith_settings some_settings(void)
{
    kith_settings s;

    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    s.dim = DIM;
    s.attention_width = 6;
    s.max_neighbors = 6;
    s.padding = 0;
    return s;
}

/* The last fact is the leaf's; negatives replace either side, and one is the true fact itself. */
static void fill_batch(batch *b, size_t per, uint64_t seed)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    uint32_t seen = kith_graph_seen_entity_count(graph);
    kith__rng rng;

    kith__rng_init(&rng, seed, 1);
    b->per = per;
    for (size_t i = 0; i < FACTS; i++) {
        b->positive[i] = train.at[i == FACTS - 1 ? 11 : 2 * i];
        for (size_t k = i * per; k < (i + 1) * per; k++) {
            b->negative[k] = b->positive[i];
            uint32_t other = (uint32_t)kith__rng_below(&rng, seen);
            *(kith__rng_below(&rng, 2) ? &b->negative[k].subject : &b->negative[k].object) = other;
        }
    }
}

/* Some entities are shared, some right answers are among them, and some queries have hard ones. */
static void fill_queries(batch *b, uint64_t seed)
{
    uint32_t m = kith_graph_seen_relation_count(graph);
    kith__rng rng;

    kith__rng_init(&rng, seed, 2);
    for (size_t i = 0; i < FACTS; i++) {
        kith_triple f = b->positive[i];
        b->queries[2 * i] = (kith__train_query){f.subject, f.relation, f.object};
        b->queries[2 * i + 1] = (kith__train_query){f.object, f.relation + m, f.subject};
    }
    assert_int_equal(kith__shared_negatives_init(&b->negatives, graph, 4, NULL), KITH_OK);
    assert_int_equal(kith__shared_negatives_draw(&b->negatives, b->queries, 2 * FACTS, &rng, NULL),
                     KITH_OK);
}

/* Tables that start with zeros would hide what their values do. */
static void stir_zeros(kith__params *params, uint64_t seed)
{
    kith__rng rng;

    kith__rng_init(&rng, seed, 3);
    for (size_t t = 0; t < params->tables; t++)
        for (size_t i = 0; i < params->table[t].rows * params->table[t].stride; i++)
            if (params->table[t].spec->start == KITH__ZERO)
                params->table[t].at[i] = (float)(2 * kith__rng_unit(&rng) - 1);
}

static void batch_init(batch *b, const kith_settings *s, size_t per, uint64_t seed)
{
    kith_error error;

    memset(b, 0, sizeof *b);
    fill_batch(b, per, seed);
    fill_queries(b, seed);
    if (kith_model_new(&b->model, graph, s, &(kith_work_options){.threads = 1}, &error) !=
            KITH_OK ||
        kith__engine_init(&b->step, b->model->encoder, &b->model->params, &b->model->settings,
                        &error) != KITH_OK)
        fail_msg("%s", error.message);
    stir_zeros(&b->model->params, seed);
}

static void batch_release(batch *b)
{
    kith__engine_release(&b->step);
    kith__shared_negatives_release(&b->negatives);
    kith_model_free(b->model);
}

static double loss_of(batch *b)
{
    kith_error error;

    kith__gradients_clear(&b->step.gradients);
    const kith__batch facts = {FACTS, b->positive, b->negative, b->per, NULL, NULL};
    const kith__batch queries = {2 * FACTS, NULL, NULL, 0, b->queries, &b->negatives};
    bool shared = kith__loss_get(b->model->settings.loss)->negatives == KITH__SHARED;
    kith_status status = kith__engine_run(&b->step, shared ? &queries : &facts, &error);
    if (status != KITH_OK)
        fail_msg("%s", error.message);
    return kith__engine_loss(&b->step);
}

static double gradient_at(const batch *b, size_t table, size_t row, size_t column)
{
    const kith__gradients *g = &b->step.gradients;

    if (table > 0)
        return g->touched[table][row] ? kith__row(&g->dense.table[table], row)[column] : 0;
    return g->row_of[row] ? kith__gradient_of(g, (uint32_t)row)[column] : 0;
}

/* The block of gradients as it is now, table by table. */
static double *all_gradients(const batch *b)
{
    const kith__params *params = &b->model->params;
    double *all = calloc(params->floats, sizeof *all);

    for (size_t t = 0, at = 0; t < params->tables; t++)
        for (size_t r = 0; r < params->table[t].rows; r++)
            for (size_t c = 0; c < params->table[t].cols; c++)
                all[at++] = gradient_at(b, t, r, c);
    return all;
}

/* ---- comparing ---- */

/* Losses have kinks (|x|, hinges, max). Where one lies within the step, the slopes to either side
 * differ by twice what it does to their mean, so a gap between them excuses that much and no more;
 * a smooth loss has no such gap. Most entries must need no excuse. */
typedef struct {
    size_t compared, excused;
} tally;

/* Slopes to either side of a value, and their mean. */
typedef struct {
    double forward, backward, mean;
} slopes;

static slopes slopes_at(batch *b, float *value, double middle, float step)
{
    const float before = *value;
    volatile float high = before + step, low = before - step;
    slopes s;

    *value = high;
    s.forward = (loss_of(b) - middle) / ((double)high - before);
    *value = low;
    s.backward = (middle - loss_of(b)) / ((double)before - low);
    *value = before;
    s.mean = (s.forward + s.backward) / 2;
    return s;
}

/* Smaller steps where the loss bends much, as it does beside short vectors that are scaled. */
static bool check_entry(batch *b, float *value, double found, double largest, double middle,
                        tally *count)
{
    static const float steps[] = {4e-3f, 2e-3f, 1e-3f};
    slopes s = {0};

    count->compared++;
    for (int i = 0; i < 3; i++) {
        s = slopes_at(b, value, middle, steps[i]);
        double off = fmin(fabs(found - s.mean), /* or a kink lies to one side only */
                          fmin(fabs(found - s.forward), fabs(found - s.backward)));
        if (off <= 2e-3 * largest + 3e-4)
            return true;
    }
    count->excused++;
    if (fabs(found - s.mean) <= .75 * fabs(s.forward - s.backward))
        return true;
    print_error("found %.6g, expected %.6g (slopes %.6g and %.6g, largest %.3g)\n", found, s.mean,
                s.backward, s.forward, largest);
    return false;
}

static void check_batch(batch *b, const char *what)
{
    kith__params *params = &b->model->params;
    double middle = loss_of(b), *gradients = all_gradients(b);
    tally count = {0, 0};

    assert_true(isfinite(middle));
    for (size_t t = 0, at = 0; t < params->tables; t++) {
        const kith__table *table = &params->table[t];
        double largest = 0;
        for (size_t i = 0; i < table->rows * table->cols; i++)
            largest = fmax(largest, fabs(gradients[at + i]));
        for (size_t r = 0; r < table->rows; r++)
            for (size_t c = 0; c < table->cols; c++)
                if (!check_entry(b, &kith__row(table, r)[c], gradients[at++], largest, middle,
                                 &count))
                    fail_msg("%s: %s[%zu][%zu]", what, table->spec->name, r, c);
    }
    if (count.excused * 3 > count.compared)
        fail_msg("%s: found %zu of %zu entries beside a kink, expected few", what, count.excused,
                 count.compared);
    free(gradients);
}

static void check_settings(const kith_settings *s, size_t per, const char *what)
{
    batch b;

    batch_init(&b, s, per, 5);
    check_batch(&b, what);
    batch_release(&b);
}

/* ---- every kind of model ---- */

static void check_shared(const char *aggregator, const char *loss)
{
    static const char *const candidates[] = {"encoded", "input"};

    for (int i = 0; i < DECODERS + 1; i++)
        for (int by = 0; by < 2; by++)
            for (int subtask = 0; subtask < 2; subtask++) {
                kith_settings s = some_settings();
                set(&s, "aggregator", aggregator);
                set(&s, "decoder", decoders[i % DECODERS]);
                set(&s, "loss", loss);
                set(&s, "candidate-vectors", candidates[by]);
                s.normalize = i == DECODERS;
                s.subtask = subtask;
                s.scale = .7;
                s.mask = subtask;
                s.reciprocal = (i + by) % 2;
                check_settings(&s, 1, format("%s %s%s %s %s subtask %d", aggregator,
                                             decoders[i % DECODERS], s.normalize ? " scaled" : "",
                                             loss, candidates[by], subtask));
            }
}

static void check_corrupted(const char *aggregator, const char *loss)
{
    for (int i = 0; i < DECODERS + 1; i++) /* transe both with and without scaling */
        for (int subtask = 0; subtask < 2; subtask++) {
            kith_settings s = some_settings();
            set(&s, "aggregator", aggregator);
            set(&s, "decoder", decoders[i % DECODERS]);
            s.normalize = i == DECODERS;
            set(&s, "loss", loss);
            s.subtask = subtask;
            check_settings(&s, 1, format("%s %s%s %s subtask %d", aggregator,
                                         decoders[i % DECODERS], s.normalize ? " scaled" : "",
                                         loss, subtask));
        }
}

static void check_aggregator(const char *aggregator)
{
    for (int i = 0; i < LOSSES; i++)
        if (kith__loss_get(i)->negatives == KITH__SHARED)
            check_shared(aggregator, losses[i]);
        else
            check_corrupted(aggregator, losses[i]);
}

static void gradients__agree_with_differences_for_mean_sum_max(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        check_aggregator(aggregators[i]);
}

static void gradients__agree_with_differences_for_lstm(void **state)
{
    (void)state;
    check_aggregator("lstm");
}

static void gradients__agree_with_differences_for_attentions(void **state)
{
    (void)state;
    check_aggregator("attention-global");
    check_aggregator("attention-query");
}

static void gradients__agree_with_differences_for_logic_and_lan(void **state)
{
    (void)state;
    check_aggregator("logic");
    check_aggregator("lan");
}

static void gradients__agree_with_differences_for_table(void **state)
{
    (void)state;
    check_aggregator("table");
}

/* ---- each point that changes the loss ---- */

static void gradients__agree_where_padding_is_trained(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        kith_settings s = some_settings();
        set(&s, "aggregator", i ? "lstm" : "mean");
        set(&s, "decoder", "distmult");
        s.padding = 1;
        set(&s, "loss", "logistic");
        batch b;
        batch_init(&b, &s, 2, 5);
        assert_non_null(kith__params_find(&b.model->params, "pad_ent"));
        assert_non_null(kith__params_find(&b.model->params, "pad_trans"));
        check_batch(&b, i ? "lstm padded" : "mean padded");
        batch_release(&b);
    }
}

static void gradients__agree_with_the_trained_fact_masked_and_several_negatives(void **state)
{
    (void)state;
    for (int i = 0; i < AGGREGATORS; i++)
        for (int padding = 0; padding < 2; padding++) {
            kith_settings s = some_settings();
            set(&s, "aggregator", aggregators[i]);
            set(&s, "decoder", "complex");
            set(&s, "loss", "logistic");
            s.mask = 1;
            s.padding = padding;
            check_settings(&s, PER, format("%s masked, padding %d", aggregators[i], padding));
            set(&s, "loss", "margin");
            check_settings(&s, PER,
                           format("%s masked, margin, padding %d", aggregators[i], padding));
        }
}

static void gradients__agree_with_weight_decay(void **state)
{
    (void)state;
    for (int i = 0; i < AGGREGATORS; i++) {
        kith_settings s = some_settings();
        set(&s, "aggregator", aggregators[i]);
        set(&s, "decoder", "distmult");
        set(&s, "loss", "logistic");
        s.l2 = .5;
        check_settings(&s, 1, format("%s with l2", aggregators[i]));
    }
}

static void gradients__agree_for_both_presets_logic_weights_and_widths(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        kith_settings s = some_settings();
        set(&s, "aggregator", "lan");
        set(&s, "decoder", "analogy");
        set(&s, "attention-width", i % 2 ? "d" : "2d");
        s.logic_denominator = i / 2 ? KITH_LOGIC_MAX : KITH_LOGIC_ONE_PLUS_MAX;
        s.self_confidence = i / 2 ? KITH_SELF_ONE : KITH_SELF_ROW_MEAN;
        set(&s, "loss", "logistic");
        check_settings(&s, PER, format("lan variant %d", i));
    }
}

static void gradients__agree_where_the_lstm_meets_neighbours_in_another_order(void **state)
{
    kith_settings s = some_settings();
    batch b;

    (void)state;
    set(&s, "aggregator", "lstm");
    set(&s, "decoder", "distmult");
    set(&s, "loss", "logistic");
    batch_init(&b, &s, 2, 5);
    double listed = loss_of(&b);
    kith__encoder_use(b.model->encoder, b.model->lists, 99);
    if (fabs(loss_of(&b) - listed) < 1e-7)
        fail_msg("found the loss %.9g in both orders, expected two", listed);
    check_batch(&b, "lstm shuffled");
    batch_release(&b);
}

static void gradients__are_the_same_in_a_batch_given_twice_as_in_one(void **state)
{
    (void)state;
    for (int i = 0; i < AGGREGATORS; i++) {
        kith_settings s = some_settings();
        set(&s, "aggregator", aggregators[i]);
        batch b;
        batch_init(&b, &s, 2, 5);
        double first = loss_of(&b), *one = all_gradients(&b);
        for (int k = 0; k < 3; k++) { /* another batch in between must leave nothing behind */
            fill_batch(&b, 1 + (size_t)k % 2, 8 + (uint64_t)k);
            loss_of(&b);
        }
        fill_batch(&b, 2, 5);
        double second = loss_of(&b), *two = all_gradients(&b);
        assert_true(first == second);
        assert_memory_equal(one, two, b.model->params.floats * sizeof *one);
        free(one);
        free(two);
        batch_release(&b);
    }
}

/* ---- decoders ---- */

/* What is kept of the forward pass is what would be made again: nothing of it, a part or all. */
static void gradients__of_the_lstm_do_not_depend_on_what_is_kept(void **state)
{
    kith_settings s = some_settings();

    (void)state;
    set(&s, "aggregator", "lstm");
    for (int padding = 0; padding < 2; padding++) {
        s.padding = padding;
        batch b;
        batch_init(&b, &s, PER, 7);
        loss_of(&b);
        double *all = all_gradients(&b);
        for (size_t bytes = 0; bytes <= 8192; bytes += 1024) {
            b.model->encoder->keep_bytes = bytes;
            loss_of(&b);
            double *some = all_gradients(&b);
            for (size_t i = 0; i < b.model->params.floats; i++)
                if (bytes == 0 ? some[i] != all[i] : fabs(some[i] - all[i]) > 1e-6)
                    fail_msg("%zu bytes kept, gradient %zu: found %.9g, expected %.9g", bytes, i,
                             some[i], all[i]);
            free(some);
        }
        free(all);
        batch_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients__agree_with_differences_for_mean_sum_max),
        cmocka_unit_test(gradients__agree_with_differences_for_lstm),
        cmocka_unit_test(gradients__agree_with_differences_for_attentions),
        cmocka_unit_test(gradients__agree_with_differences_for_logic_and_lan),
        cmocka_unit_test(gradients__agree_with_differences_for_table),
        cmocka_unit_test(gradients__agree_where_padding_is_trained),
        cmocka_unit_test(gradients__agree_with_the_trained_fact_masked_and_several_negatives),
        cmocka_unit_test(gradients__agree_with_weight_decay),
        cmocka_unit_test(gradients__agree_for_both_presets_logic_weights_and_widths),
        cmocka_unit_test(gradients__agree_where_the_lstm_meets_neighbours_in_another_order),
        cmocka_unit_test(gradients__of_the_lstm_do_not_depend_on_what_is_kept),
        cmocka_unit_test(gradients__are_the_same_in_a_batch_given_twice_as_in_one),
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
