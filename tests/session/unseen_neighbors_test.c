/* Encodings of newcomers whose neighbours are unseen themselves. */
#include <math.h>

#include "session/answer.h"
#include "support.h"
#include "films.h"
#include "tables.h"

enum { WIDTH = 8 };

static void encode(float *vector, kith_session *session, const char *entity, const char *relation,
                   int inverse)
{
    kith_error error;

    if (kith_session_encode(vector, session, entity, relation, inverse, &error) != KITH_OK)
        fail_msg("%s", error.message);
}

/* T of a vector for a relation in its own direction. */
static void transform(float *vector, const kith_model *model, const char *relation)
{
    const kith__table *trans = kith__trans(&model->params);
    double dot = 0, length = 0;
    uint32_t r;

    assert_int_equal(kith_graph_find_relation(&r, model->graph, relation), KITH_OK);
    for (int k = 0; k < WIDTH; k++) {
        dot += (double)vector[k] * kith__row(trans, r)[k];
        length += (double)kith__row(trans, r)[k] * kith__row(trans, r)[k];
    }
    for (int k = 0; k < WIDTH; k++)
        vector[k] -= (float)(dot / length * kith__row(trans, r)[k]);
}

/* The only neighbour of Besson is new; it stands there as what its own seen neighbours make of it,
 * for the relation that leads back. */
static void grow__an_unseen_neighbor_counts_by_its_own_encoding(void **state)
{
    kith_graph *graph = films();
    kith_model *model = trained(graph, "fused");
    kith_session *session = session_with(model, lyon, 3), *city = session_with(model, lyon + 1, 1);
    float got[WIDTH], expected[WIDTH];

    (void)state;
    kith_error error; /* Nikita has no seen neighbour, so that she adds nothing */
    assert_int_equal(kith_session_remove(session, lyon[2][0], lyon[2][1], lyon[2][2], &error),
                     KITH_OK);
    encode(got, session, "Besson", "citizen_of", 0);
    encode(expected, city, "Lyon", "born_in", 1);
    transform(expected, model, "born_in");
    for (int k = 0; k < WIDTH; k++) {
        assert_true(fabsf(expected[k]) > 1e-6f);
        assert_true(fabsf(got[k] - expected[k]) <= 1e-5f);
    }
    kith_session_free(session);
    kith_session_free(city);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Seen neighbours are known better: where there is one, unseen ones are left out. */
static void grow__beside_a_seen_neighbor_unseen_ones_do_not_count(void **state)
{
    static said_fact facts[] = {{"Besson", "citizen_of", "country2"}, {"Besson", "born_in", "Lyon"},
                                {"Lyon", "located_in", "country3"}};
    static const char *const evidence[] = {"none", "fused"};
    kith_graph *graph = films();

    (void)state;
    for (int k = 0; k < 2; k++) {
        kith_model *model = trained(graph, evidence[k]);
        kith_session *with = session_with(model, facts, 3),
                     *without = session_with(model, facts, 1);
        float one[WIDTH], other[WIDTH];
        encode(one, with, "Besson", "directed_by", 1);
        encode(other, without, "Besson", "directed_by", 1);
        assert_memory_equal(one, other, sizeof one);
        kith_session_free(with);
        kith_session_free(without);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* Beside rules the embedding keeps silent where no neighbour is seen, and the second set of weights
 * decides: whether an encoding could be made does not matter. */
static void grow__with_no_seen_neighbor_the_embedding_keeps_silent_beside_rules(void **state)
{
    kith_graph *graph = films();
    kith_model *model = trained(graph, "fused");
    kith_session *session = session_with(model, lyon, 3);
    kith_explanation *e = explained(session, (kith_question){"Besson", "citizen_of", NULL});

    (void)state;
    assert_int_equal(e->weighing, KITH_WEIGH_NONE);
    assert_true(e->contribution_count > 0);
    for (size_t i = 0; i < e->contribution_count; i++)
        assert_true(e->contributions[i]->embedding == 0);
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* An embedding alone answers by unseen neighbours: it shows their weights, and their points add
 * up. */
static void grow__an_embedding_alone_explains_unseen_neighbors(void **state)
{
    static said_fact facts[] = {{"Lyon", "located_in", "country3"},
                                {"Besson", "born_in", "Lyon"},
                                {"Nikita", "directed_by", "Besson"},
                                {"Nikita", "made_in", "country3"},
                                {"Anna", "directed_by", "Besson"}};
    kith_graph *graph = films();
    kith_model *model = trained(graph, "none");
    kith_session *session = session_with(model, facts, 5);
    kith_explanation *e = explained(session, (kith_question){"Besson", "citizen_of", NULL});
    double weights = 0;

    (void)state;
    assert_int_equal(e->weighing, KITH_WEIGH_ATTENTION);
    assert_int_equal(e->neighbor_count, 2); /* nobody is near Anna */
    assert_int_equal(e->unread, 1);
    for (size_t i = 0; i < e->neighbor_count; i++) {
        const char *name = kith_session_entity_name(session, e->neighbors[i]->entity);
        assert_true(strcmp(name, "Lyon") == 0 || strcmp(name, "Nikita") == 0);
        assert_true(e->neighbors[i]->added);
        weights += e->neighbors[i]->weight;
    }
    assert_true(fabs(weights - 1) < 1e-5);
    assert_true(e->contribution_count > 0);
    for (size_t i = 0; i < e->contribution_count; i++) {
        const kith_contributions *c = e->contributions[i];
        double sum = c->rest;
        for (size_t k = 0; k < e->neighbor_count; k++) {
            assert_true(c->neighbors[k] != 0);
            sum += c->neighbors[k];
        }
        assert_true(fabs(sum - c->score) < 1e-4);
    }
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* The factor of the only neighbour in the encoding of Besson; NAN if the encoding is not a sum. */
static float only_weight(kith_session *session)
{
    kith_explanation *e = explained(session, (kith_question){"Besson", "citizen_of", NULL});
    float weight = e->weighing == KITH_WEIGH_NONE  ? NAN
                   : e->weighing == KITH_WEIGH_MAX ? 1
                                                   : (float)e->neighbors[0]->weight;

    assert_int_equal(e->neighbor_count, 1);
    assert_true(e->weighing != KITH_WEIGH_EQUAL || weight == 1);
    kith_explanation_free(e);
    return weight;
}

/* Every aggregator takes vectors in place of input embeddings. */
static void grow__every_aggregator_encodes_from_unseen_neighbors(void **state)
{
    kith_graph *graph = films();
    int sums = 0;

    (void)state;
    for (size_t k = 0; k < AGGREGATORS; k++) {
        kith_model *model = trained_with(graph, "none", aggregators[k]);
        kith_session *session = session_with(model, lyon, 2),
                     *city = session_with(model, lyon + 1, 1);
        float got[WIDTH], expected[WIDTH], length = 0, weight = only_weight(session);
        sums += !isnan(weight);
        encode(got, session, "Besson", "citizen_of", 0);
        encode(expected, city, "Lyon", "born_in", 1);
        transform(expected, model, "born_in");
        for (int i = 0; i < WIDTH; i++) {
            length += fabsf(got[i]);
            if (!isnan(weight))
                assert_true(fabsf(got[i] - weight * expected[i]) <= 1e-5f);
        }
        assert_true(length > 1e-6f);
        kith_session_free(session);
        kith_session_free(city);
        kith_model_free(model);
    }
    assert_true(sums > AGGREGATORS / 2); /* not a sum: lstm */
    kith_graph_free(graph);
}

/* All entities of a graph with support facts between unseen ones, encoded as evaluation does. */
static float *swept(kith_model *model, size_t *count)
{
    uint32_t entities = kith_graph_entity_count(model->graph), relations = model->lists->relations;
    kith__encode_request *requests = kith__alloc(entities * relations, sizeof *requests);
    kith__entity_encoder e;
    kith_error error;

    *count = 0;
    for (uint32_t i = 0; i < entities; i++)
        for (uint32_t q = 0; q < relations; q++)
            requests[(*count)++] = (kith__encode_request){i, q};
    assert_int_equal(kith__entity_encoder_init(&e, model, model->pool, &error), KITH_OK);
    assert_int_equal(kith__encoder_stride(e.encoder), WIDTH);
    float *vectors = kith__calloc_aligned(*count * WIDTH, sizeof *vectors);
    if (kith__encode_from_graph(vectors, &e, kith__model_facts(model), requests, *count, &error) !=
        KITH_OK)
        fail_msg("%s", error.message);
    kith__entity_encoder_release(&e);
    kith__free(requests);
    return vectors;
}

static void encodes_to_the_same_bits(const kith_graph *graph, const char *evidence)
{
    kith_model *model = trained(graph, evidence);
    kith_session *session = session_with(model, NULL, 0);
    uint32_t m = kith_graph_seen_relation_count(graph);
    size_t count, linked = 0;
    float *vectors = swept(model, &count), one[WIDTH];

    for (size_t i = 0; i < count; i++) {
        uint32_t entity = (uint32_t)(i / (2 * m)), query = (uint32_t)(i % (2 * m));
        kith__span facts = kith__facts_of(kith__model_facts(model), entity);
        linked += kith__list_count(model->lists, entity) == 0 && facts.count > 0;
        if (!kith__leads_to_seen(&(kith__view){.base = kith__model_facts(model)}, facts,
                                model->lists->seen))
            continue; /* an embedding alone refuses it */
        encode(one, session, name_in(graph, entity), kith_graph_relation_name(graph, query % m),
               query >= m);
        assert_memory_equal(one, vectors + i * WIDTH, sizeof one);
    }
    assert_true(linked > 20);
    kith__free(vectors);
    kith_session_free(session);
    kith_model_free(model);
}

static void grow__evaluation_and_sessions_encode_to_the_same_bits(void **state)
{
    kith_graph *graph = opened(grown_films(true));

    (void)state;
    encodes_to_the_same_bits(graph, "fused");
    encodes_to_the_same_bits(graph, "none");
    kith_graph_free(graph);
}

static void grow__encodings_do_not_depend_on_threads(void **state)
{
    kith_graph *graph = opened(grown_films(true));
    kith_model *model = trained(graph, "fused");
    size_t count;
    float *two = swept(model, &count), *other;
    kith__pool *pool = model->pool;

    (void)state;
    for (unsigned threads = 1; threads <= 5; threads += 4) {
        model->pool = kith__pool_new(threads);
        other = swept(model, &count);
        assert_memory_equal(two, other, count * WIDTH * sizeof *two);
        kith__free(other);
        kith__pool_free(model->pool);
    }
    model->pool = pool;
    kith__free(two);
    kith_model_free(model);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grow__an_unseen_neighbor_counts_by_its_own_encoding),
        cmocka_unit_test(grow__beside_a_seen_neighbor_unseen_ones_do_not_count),
        cmocka_unit_test(grow__with_no_seen_neighbor_the_embedding_keeps_silent_beside_rules),
        cmocka_unit_test(grow__an_embedding_alone_explains_unseen_neighbors),
        cmocka_unit_test(grow__every_aggregator_encodes_from_unseen_neighbors),
        cmocka_unit_test(grow__evaluation_and_sessions_encode_to_the_same_bits),
        cmocka_unit_test(grow__encodings_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
