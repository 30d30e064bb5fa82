/* Reasons for answers, against brute force. */
#include <math.h>

#include "session/answer.h"
#include "support.h"
#include "sessions.h"
#include "tables.h"

/* ---- why ---- */

static const char *const life[][3] = {{"new", "r0", "e1"}, {"new", "r1", "e2"},
                                      {"e3", "r2", "new"}, {"e5", "r0", "new"},
                                      {"new", "r3", "e4"}, {"new", "r1", "e7"}};

enum { LIFE = 6 };

/* All of the life but one fact; SIZE_MAX leaves out none. */
static void tell_life(kith_session *session, size_t but)
{
    for (size_t i = 0; i < LIFE; i++)
        if (i != but)
            assert_int_equal(say(session, life[i][0], life[i][1], life[i][2]), KITH_FACT_USED);
}

/* Which fact of the life a neighbour is. */
static size_t fact_of(const kith_graph *graph, const kith_weighted_neighbor *n)
{
    for (size_t i = 0; i < LIFE; i++) {
        bool inverse = strcmp(life[i][2], "new") == 0;
        if (inverse == (n->inverse != 0) &&
            strcmp(kith_graph_relation_name(graph, n->relation), life[i][1]) == 0 &&
            strcmp(name_of(graph, n->entity), life[i][inverse ? 0 : 2]) == 0)
            return i;
    }
    fail_msg("a neighbour is no fact that was told");
    return 0;
}

static kith_graph *lively_graph(void)
{
    draft text = {0};
    kith__rng rng;

    kith__rng_init(&rng, 9, 9);
    for (int i = 0; i < 120; i++)
        add(&text, "e%d\tr%d\te%d\n", (int)kith__rng_below(&rng, 20),
            (int)kith__rng_below(&rng, 4), i % 20);
    kith_graph *graph = opened(file("lively.tsv", text.at));
    draft_release(&text);
    return graph;
}

/* Ranks and scores without a fact are those of a session that was never told it. */
static void check_ablations(kith_model *model, const kith_explanation *e)
{
    const kith_graph *graph = kith_model_graph(model);

    for (size_t i = 0; i < e->ablation_count; i++) {
        const kith_ablation *l = e->ablations[i];
        kith_session *session = session_of(model);
        tell_life(session, fact_of(graph, e->neighbors[l->neighbor]));
        kith_answers *without = asked(session, "new", "r2", NULL);
        assert_int_equal(without->at[0]->entity, l->best);
        for (size_t k = 0; k < e->compared; k++) {
            size_t rank = 0;
            while (without->at[rank]->entity != e->answers->at[k]->entity)
                rank++;
            assert_int_equal(l->changes[k]->rank_masked, rank + 1);
            assert_true(l->changes[k]->score_masked == without->at[rank]->score);
            assert_int_equal(l->changes[k]->rank, k + 1);
            assert_true(l->changes[k]->score == e->answers->at[k]->score);
        }
        kith_answers_free(without);
        kith_session_free(session);
    }
}

static void check_weights(const kith_model *model, const kith_explanation *e)
{
    const kith__aggregator *agg = kith__aggregator_get(model->settings.aggregator);
    double wins = 0, attention = 0;

    for (size_t i = 0; i < e->neighbor_count; i++) {
        const kith_weighted_neighbor *n = e->neighbors[i];
        wins += n->wins;
        attention += n->attention;
        assert_int_equal(isnan(n->logic), !agg->logic);
        assert_int_equal(isnan(n->attention), !agg->attention);
        if (agg->logic && agg->attention)
            assert_true(fabs(n->weight - n->logic - n->attention) < 1e-6);
        if (i > 0 && e->weighing == KITH_WEIGH_ATTENTION)
            assert_true(n->weight <= e->neighbors[i - 1]->weight);
        if (i > 0 && e->weighing == KITH_WEIGH_MAX)
            assert_true(n->wins <= e->neighbors[i - 1]->wins);
        assert_true(n->added);
    }
    if (e->weighing == KITH_WEIGH_MAX)
        assert_true(wins == model->settings.dim);
    if (agg->attention)
        assert_true(fabs(attention - 1) < 1e-5);
    if (strcmp(agg->name, "sum") == 0)
        assert_true(e->neighbors[0]->weight == 1);
}

static void why__every_aggregator_tells_what_it_has(void **state)
{
    kith_graph *graph = lively_graph();

    (void)state;
    for (int a = 0; a < AGGREGATORS; a++) {
        kith_settings s = settings_with(aggregators[a]);
        kith_model *model = model_on(graph, &s, 2);
        kith_session *session = session_of(model);
        tell_life(session, SIZE_MAX);
        kith_explanation *e = explained_query(session, "new", "r2", NULL);
        assert_int_equal(e->neighbor_count, LIFE);
        assert_int_equal(e->unread, 0);
        assert_int_equal(e->ablation_count, e->weighing == KITH_WEIGH_NONE ? 6 : 5);
        assert_int_equal(e->compared, 5);
        check_weights(model, e);
        check_ablations(model, e);
        kith_explanation_free(e);
        kith_session_free(session);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* Rules by counting entities, and what is redundant by looking at all of them. */
static void why__rules_and_redundant_neighbours_are_those_of_the_graph(void **state)
{
    kith_graph *graph = lively_graph();
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    kith_implications *rules;

    (void)state;
    tell_life(session, SIZE_MAX);
    kith_explanation *e = explained_query(session, NULL, "r3", "new");
    assert_int_equal(kith_graph_implications(&rules, graph,
                                             &(kith_rules_options){.conclusion = UINT32_MAX,
                                                                   .min_support = 0,
                                                                   .top = SIZE_MAX,
                                                                   .threads = 1},
                                             NULL),
                     KITH_OK);
    for (size_t i = 0; i < e->neighbor_count; i++) {
        const kith_weighted_neighbor *n = e->neighbors[i];
        double confidence = 0, redundant_with = 0;
        for (size_t k = 0; k < rules->count; k++) {
            const kith_implication *r = rules->at[k];
            if (r->premise == n->relation && r->premise_inverse == n->inverse &&
                strcmp(kith_graph_relation_name(graph, r->conclusion), "r3") == 0 &&
                r->conclusion_inverse)
                confidence = r->confidence;
            bool there = false;
            for (size_t j = 0; j < e->neighbor_count; j++)
                there |= e->neighbors[j]->relation == r->premise &&
                         e->neighbors[j]->inverse == r->premise_inverse;
            if (there && r->conclusion == n->relation && r->conclusion_inverse == n->inverse)
                redundant_with = fmax(redundant_with, r->confidence);
        }
        assert_true((n->rule ? n->rule->confidence : 0) == confidence);
        assert_true((n->redundant_with ? n->redundant_with->confidence : 0) == redundant_with);
        assert_true(fabs(n->logic - confidence / (1 + redundant_with)) < 1e-6);
    }
    kith_implications_free(rules);
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void why__one_fact_cannot_be_left_out_and_a_cut_list_says_so(void **state)
{
    kith_graph *graph = lively_graph();
    kith_settings s = settings_with("lan");

    (void)state;
    s.max_neighbors = 4;
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    say(session, "other", "r1", "e1");
    kith_explanation *e = explained_query(session, "other", "r2", NULL);
    assert_int_equal(e->neighbor_count, 1);
    assert_int_equal(e->ablation_count, 0);
    kith_explanation_free(e);
    tell_life(session, SIZE_MAX);
    e = explained_query(session, "new", "r2", NULL);
    assert_int_equal(e->neighbor_count, 4);
    assert_int_equal(e->unread, 2);
    check_ablations(model, e);
    kith_explanation_free(e);
    e = explained_query(session, "new", NULL, NULL); /* pairs: that of the first */
    assert_int_equal(e->relation, e->answers->at[0]->relation);
    kith_explanation_free(e);
    e = explained_query(session, "e1", "r2", NULL);
    assert_true(!e->neighbors[0]->added);
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- how often something is done ---- */

static atomic_size_t encoded_entities, fused_queries;

kith_status __real_kith__encode_entities(kith__workspace *, const kith__query_entity *, size_t,
                                         uint32_t, kith_error *);

kith_status __wrap_kith__encode_entities(kith__workspace *, const kith__query_entity *, size_t,
                                         uint32_t, kith_error *);

kith_status __real_kith__fusion_run(kith__fusion_workspace *, kith__span, uint32_t, uint32_t,
                                    const float *, size_t, kith_error *);

kith_status __wrap_kith__fusion_run(kith__fusion_workspace *, kith__span, uint32_t, uint32_t,
                                    const float *, size_t, kith_error *);

kith_status __wrap_kith__encode_entities(kith__workspace *workspace,
                                         const kith__query_entity *asked, size_t count,
                                         uint32_t query, kith_error *error)
{
    atomic_fetch_add(&encoded_entities, count);
    return __real_kith__encode_entities(workspace, asked, count, query, error);
}

kith_status __wrap_kith__fusion_run(kith__fusion_workspace *workspace, kith__span facts,
                                    uint32_t self, uint32_t query, const float *embedding,
                                    size_t candidates, kith_error *error)
{
    atomic_fetch_add(&fused_queries, 1);
    return __real_kith__fusion_run(workspace, facts, self, query, embedding, candidates, error);
}

static void check_once(kith_model *model, const char *who, const char *relation)
{
    kith_session *session = session_of(model);
    bool embeds = model->settings.evidence != KITH_EVIDENCE_RULES;

    encoded_entities = fused_queries = 0;
    kith_explanation *e = explained_query(session, who, relation, NULL);
    assert_int_equal(encoded_entities, embeds ? 1 + e->ablation_count : 0);
    assert_int_equal(fused_queries, model->fused ? 1 + e->ablation_count : 0);
    kith_explanation_free(e);
    kith_session_free(session);
}

static void why__a_question_is_encoded_and_scored_once_and_so_is_each_ablation(void **state)
{
    static const char *const evidence[] = {"none", "rules", "fused"};
    kith_graph *graph = teams();

    (void)state;
    for (int k = 0; k < 3; k++) {
        kith_settings s = settings_with("lan");
        set(&s, "evidence", evidence[k]);
        kith_model *model = k ? trained_model(graph, &s) : model_on(graph, &s, 2);
        check_once(model, "ann", "plays for");
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* The limit is one of vectors. */
static void why__rules_alone_read_all_neighbours(void **state)
{
    draft train = {0};
    kith_settings s = settings_with("lan");

    (void)state;
    for (int i = 0; i < 30; i++)
        add(&train, "hub\tlinks\te%d\ne%d\tlinks\te%d\n", i, i, (i + 7) % 30);
    kith_graph *graph = opened(file("hub.tsv", train.at));
    set(&s, "evidence", "rules");
    kith_model *model = trained_model(graph, &s);
    kith_session *session = session_of(model);
    kith_explanation *e = explained_query(session, "hub", "links", NULL);
    assert_int_equal(e->neighbor_count, 30);
    assert_int_equal(e->unread, 0);
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
    draft_release(&train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why__every_aggregator_tells_what_it_has),
        cmocka_unit_test(why__rules_and_redundant_neighbours_are_those_of_the_graph),
        cmocka_unit_test(why__one_fact_cannot_be_left_out_and_a_cut_list_says_so),
        cmocka_unit_test(why__a_question_is_encoded_and_scored_once_and_so_is_each_ablation),
        cmocka_unit_test(why__rules_alone_read_all_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
