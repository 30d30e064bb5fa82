/* Encodings, scores and initial values. */
#include <math.h>

#include "model/model.h"
#include "support.h"
#include "models.h"
#include "tables.h"

static void encode(float *vector, kith_model *model, uint32_t entity, uint32_t relation,
                   int inverse)
{
    kith_error error;
    if (kith_model_encode(vector, model, entity, relation, inverse, &error) != KITH_OK)
        fail_msg("%s", error.message);
}

/* ---- encodings ---- */

/* The same facts of train in another order, ids kept by the maps. */
static kith_graph *graph_in_order(bool turned)
{
    enum { ENTITIES = 30, FACTS = 160 };
    const char *folder = new_folder();
    draft t = {0}, names = {0}, relations = {0}, aux = {0};
    kith__rng rng;
    char lines[FACTS][32];

    kith__rng_init(&rng, 4, 0);
    for (int i = 0; i < FACTS; i++)
        snprintf(lines[i], sizeof lines[i], "%d\t%d\t%d\n", (int)kith__rng_below(&rng, ENTITIES),
                 (int)kith__rng_below(&rng, 4),
                 i < ENTITIES ? i : (int)kith__rng_below(&rng, ENTITIES));
    for (int i = 0; i < FACTS; i++)
        add(&t, "%s", lines[turned ? (i * 61 + 17) % FACTS : i]);
    for (int i = 0; i < ENTITIES + 1; i++)
        add(&names, "e%d\t%d\n", i, i);
    for (int i = 0; i < 4; i++)
        add(&relations, "r%d\t%d\n", i, i);
    for (int i = 0; i < 8; i++) {
        int k = turned ? 7 - i : i;
        add(&aux, "%d\t%d\t%d\n", ENTITIES, k % 4, 3 * k);
    }
    put(folder, "train", t.at);
    put(folder, "aux", aux.at);
    put(folder, "entity2id.txt", names.at);
    put(folder, "relation2id.txt", relations.at);
    draft_release(&t);
    draft_release(&names);
    draft_release(&relations);
    draft_release(&aux);
    return opened(folder);
}

/* The largest difference between the vectors of all entities for all queries. */
static double furthest(kith_model *a, kith_model *b)
{
    double most = 0;
    float x[DIM], y[DIM];

    for (uint32_t e = 0; e < kith_graph_entity_count(a->graph); e++)
        for (uint32_t q = 0; q < 2 * kith_graph_seen_relation_count(a->graph); q++) {
            encode(x, a, e, q / 2, q % 2);
            encode(y, b, e, q / 2, q % 2);
            for (int k = 0; k < DIM; k++)
                most = fmax(most, fabs((double)x[k] - y[k]));
        }
    return most;
}

static void encode__the_order_of_neighbours_matters_to_ordered_aggregators_alone(void **state)
{
    kith_graph *a = graph_in_order(false), *b = graph_in_order(true);
    kith_neighborhoods x = kith_graph_neighborhoods(a), y = kith_graph_neighborhoods(b);
    uint32_t n = kith_graph_entity_count(a);

    (void)state;
    for (uint32_t e = 0; e < n; e++)
        assert_string_equal(kith_graph_entity_name(a, e), kith_graph_entity_name(b, e));
    assert_int_equal(x.offset[n], y.offset[n]);
    assert_memory_not_equal(x.at, y.at, x.offset[n] * sizeof *x.at);
    for (int i = 0; i < AGGREGATORS; i++)
        for (int paper = 0; paper < 2; paper++) {
            kith_settings s = preset(paper ? "paper" : "release");
            set(&s, "aggregator", aggregators[i]);
            s.dim = DIM;
            kith_model *first = model_with(a, &s), *second = model_with(b, &s);
            double off = furthest(first, second);
            if (kith__aggregator_get(i)->ordered ? off < 1e-3 : off > 1e-5)
                fail_msg("%s: found a difference of %g", aggregators[i], off);
            kith_model_free(first);
            kith_model_free(second);
        }
    kith_graph_free(a);
    kith_graph_free(b);
}

/* Enough entities for several groups, whose last rows the kernels take in smaller blocks. */
static void encode__lstm_is_the_same_alone_and_in_any_batch(void **state)
{
    enum { ENTITIES = 211, WIDE_DIM = 20 };
    draft t = {0};

    (void)state;
    for (int i = 0; i < 5 * ENTITIES; i++)
        add(&t, "e%d\tr%d\te%d\n", i % ENTITIES, i % 7, i * i % ENTITIES % (1 + i % 50));
    kith_graph *graph = opened(file("train", t.at));
    uint32_t n = kith_graph_seen_entity_count(graph);
    for (int padding = 0; padding < 2; padding++) {
        kith_settings s = small("lstm");
        s.dim = WIDE_DIM;
        s.padding = padding;
        kith_model *model = model_with(graph, &s);
        kith__encoder *e = model->encoder;
        size_t stride = kith__encoder_stride(e);
        for (uint32_t size = 1; size <= n; size = size < 8 ? size + 1 : 3 * size)
            for (uint32_t from = 0; from < n; from += size) {
                uint32_t to = from + size < n ? from + size : n;
                kith__encoder_begin(e);
                for (uint32_t k = from; k < to; k++)
                    kith__encoder_request(e, k, 0, NULL);
                assert_int_equal(kith__encoder_forward(e, NULL), KITH_OK);
                size_t floats = kith__encoder_count(e) * stride;
                float *found = malloc(floats * sizeof *found), alone[WIDE_DIM];
                memcpy(found, kith__encoder_vector(e, 0), floats * sizeof *found);
                for (uint32_t k = from; k < to; k += 1 + size / 4) {
                    encode(alone, model, k, 0, 0);
                    assert_memory_equal(found + (k - from) * stride, alone, sizeof alone);
                }
                free(found);
            }
        kith_model_free(model);
    }
    kith_graph_free(graph);
    draft_release(&t);
}

/* T_r(e) = e - (w . e) w with w scaled to length 1, in double precision. */
static void plain_transform(double *out, const kith_model *model, kith_neighbor next)
{
    const float *e = kith__row(kith__ent(&model->params), next.entity);
    const float *w = kith__row(kith__trans(&model->params), next.relation);
    double square = 0, along = 0;

    for (int k = 0; k < DIM; k++) {
        square += (double)w[k] * w[k];
        along += (double)w[k] * e[k];
    }
    for (int k = 0; k < DIM; k++)
        out[k] = e[k] - along / square * w[k];
}

/* Mean, sum and max, straight from their definitions. */
static void plain_pool(double *out, const kith_model *model, uint32_t e, const char *name)
{
    const kith__neighbor_lists *lists = model->lists;
    uint64_t from = lists->offset[e], to = from + kith__list_count(lists, e);
    double t[DIM];

    for (int k = 0; k < DIM; k++)
        out[k] = strcmp(name, "max") == 0 ? -INFINITY : 0;
    for (uint64_t i = from; i < to; i++) {
        plain_transform(t, model, lists->at[i]);
        for (int k = 0; k < DIM; k++)
            out[k] = strcmp(name, "max") == 0 ? fmax(out[k], t[k]) : out[k] + t[k];
    }
    for (int k = 0; k < DIM && strcmp(name, "mean") == 0; k++)
        out[k] /= (double)(to - from);
}

static void check_pools(const kith_graph *graph, const char *kept)
{
    for (int i = 0; i < 3; i++) {
        kith_settings s = small(aggregators[i]);
        set(&s, "neighbors", kept);
        s.padding = 0;
        kith_model *model = model_with(graph, &s);
        for (uint32_t e = 0; e < kith_graph_seen_entity_count(graph); e++) {
            double expected[DIM], size = 0;
            float found[DIM];
            plain_pool(expected, model, e, aggregators[i]);
            encode(found, model, e, 0, 0);
            for (int k = 0; k < DIM; k++)
                size = fmax(size, fabs(expected[k]));
            for (int k = 0; k < DIM; k++)
                if (fabs(found[k] - expected[k]) > 1e-5 * size + 1e-6)
                    fail_msg("%s of entity %u[%d]: found %.8g, expected %.8g", aggregators[i], e, k,
                             (double)found[k], expected[k]);
        }
        kith_model_free(model);
    }
}

static void encode__pools_over_the_list_even_of_5000_neighbours(void **state)
{
    kith_graph *graph = hub_graph(5000);

    (void)state;
    check_pools(graph, "all");
    check_pools(graph, "first");
    kith_graph_free(graph);
}

static void encode__every_aggregator_takes_5000_neighbours(void **state)
{
    kith_graph *graph = hub_graph(5000);
    uint32_t hub = entity(graph, "hub");

    (void)state;
    for (int i = 0; i < AGGREGATORS; i++) {
        kith_settings s = small(aggregators[i]);
        set(&s, "neighbors", "all");
        kith_model *model = model_with(graph, &s);
        float vector[DIM], size = 0;
        encode(vector, model, hub, 1, 1);
        for (int k = 0; k < DIM; k++) {
            assert_true(isfinite(vector[k]));
            size += fabsf(vector[k]);
        }
        assert_true(size > 0);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* One fact: each end has one neighbour, so that attention is 1 and mean, sum and max are its T. */
static void encode__one_relation_and_one_neighbour_is_that_neighbour_transformed(void **state)
{
    kith_graph *graph = opened(file("train", "a\tr\tb\n"));

    (void)state;
    for (int i = 0; i < AGGREGATORS; i++) {
        if (kith__aggregator_get(i)->ordered)
            continue;
        kith_settings s = small(aggregators[i]);
        s.padding = 0;
        kith_model *model = model_with(graph, &s);
        for (uint32_t e = 0; e < 2; e++) {
            /* a has r; P(r => r) is the row's mean, 0 with no other relation, and the inverse is
             * never met together with r: the logic weight is 0. */
            double scale = strcmp(aggregators[i], "logic") == 0 ? 0 : 1, t[DIM];
            float vector[DIM];
            plain_transform(t, model, (kith_neighbor){e ? 1 : 0, 1 - e});
            encode(vector, model, e, 0, (int)e);
            for (int k = 0; k < DIM; k++)
                if (fabs(vector[k] - scale * t[k]) > 1e-5)
                    fail_msg("%s[%d]: found %g, expected %g", aggregators[i], k, (double)vector[k],
                             scale * t[k]);
        }
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

static void encode__an_entity_without_neighbours_is_zeros(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", "a\tr\tb\nb\ts\tc\n");
    put(folder, "test", "lone\tr\ta\n");
    kith_graph *graph = opened(folder);
    uint32_t lone = entity(graph, "lone");
    for (int i = 0; i < AGGREGATORS; i++)
        for (int padding = 0; padding < 2; padding++) {
            kith_settings s = small(aggregators[i]);
            s.padding = padding;
            kith_model *model = model_with(graph, &s);
            for (uint32_t q = 0; q < 4; q++) {
                float vector[DIM], zeros[DIM] = {0};
                memset(vector, 1, sizeof vector);
                encode(vector, model, lone, q / 2, q % 2);
                assert_memory_equal(vector, zeros, sizeof zeros);
            }
            kith_model_free(model);
        }
    kith_graph_free(graph);
}

static void encode__ids_that_do_not_exist_are_named(void **state)
{
    const char *folder = new_folder();
    kith_settings s = small("mean");
    kith_error error;
    float vector[DIM], score;

    (void)state;
    put(folder, "train", "a\tr\tb\n");
    put(folder, "test", "a\tnew\tb\n");
    kith_graph *graph = opened(folder);
    kith_model *model = model_with(graph, &s);
    assert_int_equal(kith_model_encode(vector, model, 2, 0, 0, &error), KITH_ERR_NOT_FOUND);
    assert_contains(error.message, "no entity 2, the graph has 2");
    /* The second relation is in test alone, so there is nothing to encode for. */
    assert_int_equal(kith_model_encode(vector, model, 0, 1, 0, &error), KITH_ERR_NOT_FOUND);
    assert_contains(error.message, "no relation 1 in train");
    assert_int_equal(kith_model_score(&score, model, (kith_triple){0, 0, 7}, &error),
                     KITH_ERR_NOT_FOUND);
    assert_int_equal(kith_model_score(&score, model, (kith_triple){0, 1, 1}, &error),
                     KITH_ERR_NOT_FOUND);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- scores ---- */

/* phi from the two encodings, in double precision for the two decoders that are one line. */
static void score__is_the_decoder_over_the_encodings(void **state)
{
    kith_graph *graph = graph_in_order(false);

    (void)state;
    for (int i = 0; i < AGGREGATORS; i++)
        for (int decoder = 0; decoder < 2; decoder++) {
            kith_settings s = small(aggregators[i]);
            set(&s, "decoder", decoders[decoder]);
            s.normalize = 0;
            kith_model *model = model_with(graph, &s);
            for (uint32_t n = 0; n < 40; n++) {
                kith_triple f = {n % 31, n % 4, n * 7 % 31};
                const float *q = kith__row(kith__rel(&model->params), f.relation);
                float subject[DIM], object[DIM], found;
                double expected = 0;
                encode(subject, model, f.subject, f.relation, 0);
                encode(object, model, f.object, f.relation, 1);
                for (int k = 0; k < DIM; k++)
                    expected += decoder ? (double)subject[k] * q[k] * object[k]
                                        : -fabs((double)subject[k] + q[k] - object[k]);
                assert_int_equal(kith_model_score(&found, model, f, NULL), KITH_OK);
                if (fabs(found - expected) > 1e-5 * (1 + fabs(expected)))
                    fail_msg("%s %s: found %.8g, expected %.8g", aggregators[i], decoders[decoder],
                             (double)found, expected);
            }
            kith_model_free(model);
        }
    kith_graph_free(graph);
}

static void score__scaled_transe_lies_between_its_bounds(void **state)
{
    kith_graph *graph = graph_in_order(false);
    kith_settings s = small("lan");
    kith_model *model = model_with(graph, &s);

    (void)state;
    for (size_t i = 0; i < model->params.floats; i++)
        model->params.block[i] *= 1000; /* lengths do not count */
    for (uint32_t n = 0; n < 40; n++) {
        float found;
        assert_int_equal(kith_model_score(&found, model, (kith_triple){n % 31, n % 4, n * 7 % 31},
                                          NULL), KITH_OK);
        assert_true(found <= 0 && found >= -3 * sqrtf(DIM));
    }
    kith_model_free(model);
    kith_graph_free(graph);
}

static void model__the_seed_decides_the_start_values(void **state)
{
    kith_graph *graph = graph_in_order(false);
    kith_settings s = small("lan");
    kith_model *first = model_with(graph, &s), *again = model_with(graph, &s);

    (void)state;
    s.seed = 2;
    kith_model *other = model_with(graph, &s);
    size_t bytes = first->params.floats * sizeof(float);
    assert_memory_equal(first->params.block, again->params.block, bytes);
    assert_memory_not_equal(first->params.block, other->params.block, bytes);
    kith_model_free(first);
    kith_model_free(again);
    kith_model_free(other);
    kith_graph_free(graph);
}

static void model__start_values_are_xavier_normal(void **state)
{
    kith_graph *graph = graph_in_order(false);
    kith_settings s = small("lstm");

    (void)state;
    s.dim = 200;
    kith_model *model = model_with(graph, &s);
    for (size_t t = 0; t < model->params.tables; t++) {
        const kith__table *table = &model->params.table[t];
        double square = 0, expected = table->rows == 1 ? 1. / (double)table->cols
                                                       : 2. / (double)(table->rows + table->cols);
        size_t count = table->rows * table->cols;
        if (strcmp(table->spec->name, "lstm_b") == 0) {
            for (size_t c = 0; c < table->cols; c++)
                assert_true(table->at[c] == (c / 200 == 1)); /* the forget gate */
            continue;
        }
        for (size_t r = 0; r < table->rows; r++)
            for (size_t c = 0; c < table->cols; c++)
                square += (double)kith__row(table, r)[c] * kith__row(table, r)[c];
        if (fabs(square / (double)count / expected - 1) > 5 * sqrt(2. / (double)count))
            fail_msg("%s: found a variance of %g, expected %g", table->spec->name,
                     square / (double)count, expected);
    }
    kith_model_free(model);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encode__the_order_of_neighbours_matters_to_ordered_aggregators_alone),
        cmocka_unit_test(encode__lstm_is_the_same_alone_and_in_any_batch),
        cmocka_unit_test(encode__pools_over_the_list_even_of_5000_neighbours),
        cmocka_unit_test(encode__every_aggregator_takes_5000_neighbours),
        cmocka_unit_test(encode__one_relation_and_one_neighbour_is_that_neighbour_transformed),
        cmocka_unit_test(encode__an_entity_without_neighbours_is_zeros),
        cmocka_unit_test(encode__ids_that_do_not_exist_are_named),
        cmocka_unit_test(score__is_the_decoder_over_the_encodings),
        cmocka_unit_test(score__scaled_transe_lies_between_its_bounds),
        cmocka_unit_test(model__the_seed_decides_the_start_values),
        cmocka_unit_test(model__start_values_are_xavier_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
