/* The softmax loss: what it compares with, and its value against a plain sum; and what came with
 * it, the aggregator table and sampled neighbours. */
#include <math.h>

#include "core/mem.h"
#include "embed/decoders/decoder.h"
#include "model/model.h"
#include "support.h"
#include "tables.h"
#include "train/step.h"

enum { MOST = 200 };

static kith_graph *random_graph(uint64_t seed)
{
    const random_shape shape = {.entities = 40, .relations = 3, .train = 90, .test = 20, .aux = 20,
                                .overlap = true};
    kith__rng rng;

    kith__rng_init(&rng, seed, 5);
    return opened(random_folder(&rng, &shape));
}

/* Either side of each fact of train. */
static size_t queries_of(kith__train_query *queries, const kith_graph *graph)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    uint32_t m = kith_graph_seen_relation_count(graph);

    assert_true(2 * train.count <= MOST);
    for (size_t i = 0; i < train.count; i++) {
        kith_triple t = train.at[i];
        queries[2 * i] = (kith__train_query){t.subject, t.relation, t.object};
        queries[2 * i + 1] = (kith__train_query){t.object, t.relation + m, t.subject};
    }
    return 2 * train.count;
}

static kith_status ask(kith__engine *step, const kith__train_query *queries, size_t count,
                       const kith__shared_negatives *negatives, kith_error *error)
{
    const kith__batch batch = {count, NULL, NULL, 0, queries, negatives};
    return kith__engine_run(step, &batch, error);
}

static bool in_train(const kith_graph *graph, const kith__train_query *a, uint32_t answer)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    uint32_t m = kith_graph_seen_relation_count(graph);

    for (size_t i = 0; i < train.count; i++) {
        kith_triple t = train.at[i];
        if (a->query < m
                ? t.relation == a->query && t.subject == a->known && t.object == answer
                : t.relation == a->query - m && t.object == a->known && t.subject == answer)
            return true;
    }
    return false;
}

static bool is_left_out(const kith__shared_negatives *c, size_t query, size_t place)
{
    for (size_t k = c->left_start[query]; k < c->left_start[query + 1]; k++)
        if (c->left_out[k] == place)
            return true;
    return false;
}

/* ---- what it compares with ---- */

static void check_negatives(const kith_graph *graph, size_t shared, kith__rng *rng)
{
    kith__train_query queries[MOST];
    size_t count = queries_of(queries, graph), seen = kith_graph_seen_entity_count(graph);
    kith__shared_negatives c;

    assert_int_equal(kith__shared_negatives_init(&c, graph, shared, NULL), KITH_OK);
    assert_int_equal(c.shared_count, shared < seen ? shared : seen);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(kith__shared_negatives_draw(&c, queries, count, rng, NULL), KITH_OK);
        for (size_t j = 0; j < c.shared_count; j++) {
            assert_true(c.shared[j] < seen);
            for (size_t k = 0; k < j; k++)
                assert_int_not_equal(c.shared[j], c.shared[k]);
        }
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < c.shared_count; j++)
                assert_int_equal(is_left_out(&c, i, j), in_train(graph, &queries[i], c.shared[j]));
    }
    kith__shared_negatives_release(&c);
}

static void negatives__are_never_answers_of_the_query(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 1, 0);
    for (uint64_t seed = 1; seed < 6; seed++) {
        kith_graph *graph = random_graph(seed);
        check_negatives(graph, 12, &rng);
        check_negatives(graph, 1, &rng);
        check_negatives(graph, 1000, &rng);
        kith_graph_free(graph);
    }
}

/* ---- the loss ---- */

typedef struct {
    kith_model *model;
    const kith_settings *settings;
    float *scratch;
} scorer;

static void encode(float *vector, const scorer *s, uint32_t entity, uint32_t query)
{
    uint32_t m = s->model->lists->relations / 2;
    assert_int_equal(kith_model_encode(vector, s->model, entity, query % m, query >= m, NULL),
                     KITH_OK);
}

static double decoded(const scorer *s, const kith__train_query *a, const float *known,
                      const float *other)
{
    uint32_t m = s->model->lists->relations / 2;
    bool reciprocal = s->settings->reciprocal, hidden = a->query >= m && !reciprocal;
    const float *relation =
        kith__row(kith__rel(&s->model->params), reciprocal ? a->query : a->query % m);

    return kith__decode(kith__decoder_get(s->settings->decoder), s->settings->normalize,
                        hidden ? other : known, relation, hidden ? known : other, s->settings->dim,
                        s->scratch);
}

/* The score of a candidate, its vectors taken one by one. */
static double plain_score(const scorer *s, const kith__train_query *a, uint32_t candidate,
                          bool inputs)
{
    const kith__table *ent = kith__ent(&s->model->params);
    uint32_t m = s->model->lists->relations / 2;
    float *known = kith__calloc_aligned(2 * ent->stride, sizeof *known),
          *other = known + ent->stride;
    double score;

    encode(known, s, a->known, a->query);
    if (inputs)
        memcpy(known, kith__row(ent, a->known), ent->cols * sizeof *known);
    if (inputs || s->settings->candidate_vectors == KITH_CANDIDATES_INPUT) {
        score = decoded(s, a, known, kith__row(ent, candidate));
    } else {
        encode(other, s, candidate, a->query < m ? a->query + m : a->query - m);
        score = decoded(s, a, known, other);
    }
    kith__free(known);
    return s->settings->scale * score;
}

static double plain_loss(const scorer *s, const kith__train_query *queries, size_t count,
                         const kith__shared_negatives *c, bool inputs)
{
    double loss = 0;

    for (size_t i = 0; i < count; i++) {
        double right = plain_score(s, &queries[i], queries[i].answer, inputs), sum = 1;
        for (size_t j = 0; j < c->shared_count; j++)
            if (!in_train(s->model->graph, &queries[i], c->shared[j]))
                sum += exp(plain_score(s, &queries[i], c->shared[j], inputs) - right);
        loss += log(sum) / (double)count;
    }
    return loss;
}

/* Enlarge what the tables hold, so that scores differ. */
static void stir(kith_model *model)
{
    kith__rng rng;

    kith__rng_init(&rng, 3, 0);
    for (size_t t = 0; t < model->params.tables; t++)
        for (size_t r = 0; r < model->params.table[t].rows; r++)
            for (size_t c = 0; c < model->params.table[t].cols; c++)
                kith__row(&model->params.table[t], r)[c] = (float)(2 * kith__rng_unit(&rng) - 1);
}

static void check_loss(const kith_graph *graph, const kith_settings *settings, const char *what)
{
    kith__train_query queries[MOST];
    size_t count = queries_of(queries, graph);
    scorer s = {.settings = settings, .scratch = kith__calloc_aligned(6 * 16, sizeof(float))};
    kith__shared_negatives c;
    kith__engine step;
    kith__rng rng;

    if (count > 70)
        count = 70;
    kith__rng_init(&rng, 9, 0);
    assert_int_equal(
        kith_model_new(&s.model, graph, settings, &(kith_work_options){.threads = 2}, NULL),
        KITH_OK);
    stir(s.model);
    assert_int_equal(kith__engine_init(&step, s.model->encoder, &s.model->params,
                                     &s.model->settings, NULL), KITH_OK);
    assert_int_equal(kith__shared_negatives_init(&c, graph, 17, NULL), KITH_OK);
    assert_int_equal(kith__shared_negatives_draw(&c, queries, count, &rng, NULL), KITH_OK);
    assert_int_equal(ask(&step, queries, count, &c, NULL), KITH_OK);
    double expected = plain_loss(&s, queries, count, &c, false);
    if (!(fabs(step.loss_out - expected) < 2e-4 * (1 + expected)))
        fail_msg("%s: found %.8g, expected %.8g", what, step.loss_out, expected);
    expected = plain_loss(&s, queries, count, &c, true);
    if (!(fabs(step.loss_in - expected) < 2e-4 * (1 + expected)))
        fail_msg("%s, input: found %.8g, expected %.8g", what, step.loss_in, expected);
    kith__shared_negatives_release(&c);
    kith__engine_release(&step);
    kith_model_free(s.model);
    kith__free(s.scratch);
}

static void softmax__is_the_plain_sum_for_every_decoder_and_kind_of_candidate(void **state)
{
    static const char *const candidates[] = {"encoded", "input"};
    static const char *const some[] = {"mean", "lan", "table"};
    kith_graph *graph = random_graph(8);

    (void)state;
    for (int i = 0; i < 6 * (DECODERS + 1); i++) {
        kith_settings s;
        assert_int_equal(kith__settings_init(&s, "embedding", NULL), KITH_OK);
        set(&s, "aggregator", some[i / 2 % 3]);
        set(&s, "candidate-vectors", candidates[i % 2]);
        set(&s, "decoder", decoders[i / 6 % DECODERS]);
        s.normalize = i / 6 == DECODERS;
        s.subtask = 1;
        s.mask = 0; /* encodings one by one know of no masks */
        s.scale = .8;
        s.reciprocal = i / 3 % 2;
        s.dim = 12;
        check_loss(graph, &s, format("%s %s %s", some[i / 2 % 3], candidates[i % 2],
                                     decoders[i / 6 % DECODERS]));
    }
    kith_graph_free(graph);
}

static void softmax__a_value_that_is_not_finite_is_seen_wherever_it_is(void **state)
{
    kith_graph *graph = random_graph(8);
    kith__train_query queries[MOST];
    kith_settings settings;
    kith__shared_negatives c;
    kith__engine step;
    kith_model *model;
    kith__rng rng;

    (void)state;
    queries_of(queries, graph);
    kith__rng_init(&rng, 9, 0);
    assert_int_equal(kith__settings_init(&settings, "embedding", NULL), KITH_OK);
    assert_int_equal(
        kith_model_new(&model, graph, &settings, &(kith_work_options){.threads = 1}, NULL),
        KITH_OK);
    assert_int_equal(
        kith__engine_init(&step, model->encoder, &model->params, &model->settings, NULL), KITH_OK);
    assert_int_equal(kith__shared_negatives_init(&c, graph, 10, NULL), KITH_OK);
    assert_int_equal(kith__shared_negatives_draw(&c, queries, 4, &rng, NULL), KITH_OK);
    float *row = kith__row(kith__ent(&model->params), c.shared[7]), before = row[3];
    for (int i = 0; i < 3; i++) {
        row[3] = i == 0 ? before : i == 1 ? NAN : INFINITY;
        assert_int_equal(ask(&step, queries, 4, &c, NULL), KITH_OK);
        assert_int_equal(isfinite(kith__engine_loss(&step)) != 0, i == 0);
        kith__gradients_clear(&step.gradients);
    }
    kith__shared_negatives_release(&c);
    kith__engine_release(&step);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* A step and a look at test, from nothing. */
static kith_status try_step(const kith_graph *graph, const kith_settings *settings,
                            const kith__train_query *queries, kith_error *error)
{
    const kith_eval_options options = {.split = KITH_TEST, .candidates = KITH_ANSWERS_ALL};
    kith_model *model = NULL;
    kith__shared_negatives c = {0};
    kith__engine step = {0};
    kith__neighbor_lists *capped = NULL;
    kith_eval *result = NULL;
    kith__rng rng;
    kith_status status;

    kith__rng_init(&rng, 9, 0);
    TRY(kith_model_new(&model, graph, settings, &(kith_work_options){.threads = 1}, error));
    TRY(kith__engine_init(&step, model->encoder, &model->params, &model->settings, error));
    TRY(kith__shared_negatives_init(&c, graph, 10, error));
    TRY(kith__neighbor_lists_capped(&capped, model->lists, 3, error));
    TRY(kith__shared_negatives_draw(&c, queries, 9, &rng, error));
    TRY(ask(&step, queries, 9, &c, error));
    TRY(kith_evaluate(&result, model, &options, error));
cleanup:
    kith_eval_free(result);
    kith__neighbor_lists_free(capped);
    kith__shared_negatives_release(&c);
    kith__engine_release(&step);
    kith_model_free(model);
    return status;
}

static void softmax__says_so_where_memory_is_short(void **state)
{
    static const char *const candidates[] = {"encoded", "input"};
    kith_graph *graph = random_graph(8);
    kith__train_query queries[MOST];

    (void)state;
    queries_of(queries, graph);
    for (int i = 0; i < 2; i++) {
        kith_settings settings;
        kith_status status = KITH_ERR_MEMORY;
        kith_error error;
        size_t n = 0;
        assert_int_equal(kith__settings_init(&settings, "embedding", NULL), KITH_OK);
        set(&settings, "candidate-vectors", candidates[i]);
        settings.subtask = 1;
        for (; status == KITH_ERR_MEMORY; n++) {
            kith__mem_fail_at(n + 1);
            status = try_step(graph, &settings, queries, &error);
            kith__mem_fail_at(0);
        }
        assert_int_equal(status, KITH_OK);
        assert_true(n > 50);
    }
    kith_graph_free(graph);
}

/* ---- the aggregator table ---- */

static double plain_logit(const kith_model *model, uint64_t slot, uint32_t query)
{
    const kith__implications *rules = model->rules;
    kith_neighbor n = model->lists->at[slot];
    double confidence = 0, t = 0;
    size_t pair = SIZE_MAX;

    for (uint64_t i = rules->offset[query]; i < rules->offset[query + 1]; i++)
        if (rules->at[i].relation == n.relation) {
            confidence = rules->at[i].confidence;
            pair = (size_t)i;
        }
    if (n.relation == query) {
        confidence = rules->self_mean[query];
        pair = (size_t)rules->offset[rules->relations] + query;
    }
    if (pair != SIZE_MAX)
        t = kith__params_find(&model->params, "table_pair")->at[pair];
    double logic = confidence / model->lists->denominator[slot];
    return log(fmax(logic, 1e-6)) + t +
           kith__params_find(&model->params, "table_entity")->at[n.entity];
}

static void plain_table(double *out, const kith_model *model, uint32_t entity, uint32_t query)
{
    const kith__neighbor_lists *lists = model->lists;
    const kith__params *params = &model->params;
    size_t d = model->settings.dim;
    double sum = 0;

    memset(out, 0, d * sizeof *out);
    for (uint64_t s = lists->offset[entity]; s < lists->offset[entity + 1]; s++)
        sum += exp(plain_logit(model, s, query));
    for (uint64_t s = lists->offset[entity]; s < lists->offset[entity + 1]; s++) {
        const float *e = kith__row(kith__ent(params), lists->at[s].entity);
        const float *w = kith__row(kith__trans(params), lists->at[s].relation);
        double along = 0, square = 0, a = exp(plain_logit(model, s, query)) / sum;
        for (size_t k = 0; k < d; k++) {
            along += (double)w[k] * e[k];
            square += (double)w[k] * w[k];
        }
        for (size_t k = 0; k < d; k++)
            out[k] += a * (e[k] - along / square * w[k]);
    }
}

static void table__sums_by_the_plain_softmax_for_unseen_entities_too(void **state)
{
    kith_graph *graph = random_graph(6);
    kith_settings settings;
    kith_model *model;
    float found[12];
    double expected[12];

    (void)state;
    assert_int_equal(kith__settings_init(&settings, "embedding", NULL), KITH_OK);
    settings.dim = 12;
    assert_int_equal(
        kith_model_new(&model, graph, &settings, &(kith_work_options){.threads = 2}, NULL),
        KITH_OK);
    stir(model);
    for (uint32_t e = 0; e < kith_graph_entity_count(graph); e++)
        for (uint32_t q = 0; q < model->lists->relations; q++) {
            uint32_t m = model->lists->relations / 2;
            assert_int_equal(kith_model_encode(found, model, e, q % m, q >= m, NULL), KITH_OK);
            plain_table(expected, model, e, q);
            for (int k = 0; k < 12; k++)
                if (!(fabs(found[k] - expected[k]) < 1e-5))
                    fail_msg("entity %u, query %u [%d]: found %.8g, expected %.8g", e, q, k,
                             (double)found[k], expected[k]);
        }
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- sampled neighbours ---- */

static bool same(kith_neighbor a, kith_neighbor b)
{
    return a.relation == b.relation && a.entity == b.entity;
}

/* The list is what is left of the whole one, in its order, with its denominators. */
static void check_list(const kith__neighbor_lists *capped, const kith__neighbor_lists *all,
                       uint32_t e, size_t cap)
{
    uint64_t from = all->offset[e], to = all->offset[e + 1];
    size_t count = (size_t)(capped->offset[e + 1] - capped->offset[e]);

    assert_int_equal(count, to - from < cap ? to - from : cap);
    for (uint64_t s = capped->offset[e]; s < capped->offset[e + 1]; s++, from++) {
        while (from < to && !(same(all->at[from], capped->at[s]) &&
                              all->denominator[from] == capped->denominator[s]))
            from++;
        assert_true(from < to);
    }
}

static void sampled__lists_are_equally_likely_parts_of_the_whole_ones(void **state)
{
    enum { CAP = 3, ROUNDS = 3000 };
    kith_graph *graph = random_graph(2);
    size_t met[64] = {0};
    kith_settings settings;
    kith_model *model;
    kith__neighbor_lists *capped;

    (void)state;
    assert_int_equal(kith__settings_init(&settings, "embedding", NULL), KITH_OK);
    assert_int_equal(
        kith_model_new(&model, graph, &settings, &(kith_work_options){.threads = 1}, NULL),
        KITH_OK);
    const kith__neighbor_lists *all = model->lists;
    assert_int_equal(all->offset[all->entities],
                     kith_graph_neighborhoods(graph).offset[all->entities]);
    assert_int_equal(kith__neighbor_lists_capped(&capped, all, CAP, NULL), KITH_OK);
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        kith__neighbor_lists_draw(capped, all, seed);
        for (uint32_t e = 0; e < all->seen; e++)
            check_list(capped, all, e, CAP);
        for (uint64_t s = all->offset[0], k = capped->offset[0]; k < capped->offset[1]; s++)
            if (same(all->at[s], capped->at[k])) {
                met[s - all->offset[0]]++;
                k++;
            }
    }
    size_t degree = (size_t)(all->offset[1] - all->offset[0]);
    assert_true(degree > CAP && degree < 64);
    for (size_t i = 0; i < degree; i++)
        if (fabs((double)met[i] / ROUNDS - CAP / (double)degree) > .04)
            fail_msg("found neighbour %zu of %zu in %zu of %d draws", i, degree, met[i], ROUNDS);
    kith__neighbor_lists_free(capped);
    kith_model_free(model);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negatives__are_never_answers_of_the_query),
        cmocka_unit_test(softmax__is_the_plain_sum_for_every_decoder_and_kind_of_candidate),
        cmocka_unit_test(softmax__a_value_that_is_not_finite_is_seen_wherever_it_is),
        cmocka_unit_test(softmax__says_so_where_memory_is_short),
        cmocka_unit_test(table__sums_by_the_plain_softmax_for_unseen_entities_too),
        cmocka_unit_test(sampled__lists_are_equally_likely_parts_of_the_whole_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
