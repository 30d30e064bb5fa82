/* Answers of sessions are those of ranking, for every kind of model. */
#include <math.h>

#include "eval/rank.h"
#include "session/answer.h"
#include "support.h"
#include "sessions.h"
#include "tables.h"

static const char *const candidates_by[] = {"encoded", "input"};

/* The i-th choice of a setting, from its own list "a|b|c"; NULL past the last. */
static const char *choice(const char *setting, size_t i)
{
    const char *name, *choices = NULL;

    for (size_t k = 0; (name = kith_settings_name(k, NULL, &choices)); k++)
        if (strcmp(name, setting) == 0)
            break;
    assert_non_null(name);
    for (; i > 0 && choices; i--)
        choices = strchr(choices, '|') ? strchr(choices, '|') + 1 : NULL;
    return choices ? format("%.*s", (int)strcspn(choices, "|"), choices) : NULL;
}

/* ---- answers are those of ranking ---- */

/* Ask for the hidden side of a ranked fact; `known` is whom the question is about. */
static kith_answers *ask_rank(kith_session *session, const kith_rank *r, const char *known)
{
    const kith_graph *graph = kith_model_graph(session->model);
    const char *relation = kith_graph_relation_name(graph, r->fact.relation);

    const kith_ask_options seen = {.top = SIZE_MAX, .candidates = KITH_ANSWERS_SEEN};

    return r->subject_hidden ? asked_with(session, NULL, relation, known, seen)
                             : asked_with(session, known, relation, NULL, seen);
}

typedef struct {
    float *at;
    size_t count;
} kept_scores;

static void keep_scores(void *context, size_t query, size_t slot, const float *scores)
{
    kept_scores *k = context;
    (void)query, (void)slot;
    memcpy(k->at, scores, k->count * sizeof *scores);
}

/* The scores of an embedding are those that ranking compares, to the last bit. */
static void same_scores(const kith_answers *answers, kith_model *model, const kith_rank *r,
                        uint32_t candidates)
{
    kept_scores kept = {calloc(candidates, sizeof(float)), candidates};
    const kith__query query = {r->fact, r->subject_hidden};

    assert_int_equal(kith__score_all(model, &query, 1, candidates, kith__model_facts(model),
                                     keep_scores, &kept, NULL),
                     KITH_OK);
    for (size_t i = 0; i < answers->count; i++)
        if (answers->at[i]->score != kept.at[answers->at[i]->entity])
            fail_msg("found the score %.9g, expected %.9g", answers->at[i]->score,
                     kept.at[answers->at[i]->entity]);
    free(kept.at);
}

/* Every right answer that the graph has in any split, by marks to be freed. */
static uint8_t *filtered_answers(const kith_graph *graph, const kith_rank *r)
{
    uint8_t *marks = calloc(kith_graph_entity_count(graph), 1);

    for (int split = 0; split < KITH_SPLITS; split++) {
        kith_facts facts = kith_graph_facts(graph, (kith_split)split);
        for (size_t i = 0; i < facts.count; i++) {
            kith_triple t = facts.at[i];
            if (t.relation == r->fact.relation &&
                (r->subject_hidden ? t.object == r->fact.object : t.subject == r->fact.subject))
                marks[r->subject_hidden ? t.subject : t.object] = 1;
        }
    }
    return marks;
}

/* What train and aux say about the entity. */
static bool is_known(const kith_graph *graph, const kith_rank *r, uint32_t answer)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    uint32_t known = r->subject_hidden ? r->fact.object : r->fact.subject;
    uint32_t relation =
        r->fact.relation + (r->subject_hidden ? kith_graph_relation_count(graph) : 0);

    for (uint64_t i = hood.offset[known]; i < hood.offset[known + 1]; i++)
        if (hood.at[i].relation == relation && hood.at[i].entity == answer)
            return true;
    return false;
}

static void same_rank(const kith_answers *answers, const kith_graph *graph, const kith_rank *r,
                      uint32_t candidates)
{
    uint32_t optimistic, pessimistic, left;
    uint32_t gold = r->subject_hidden ? r->fact.subject : r->fact.object;
    float *scores = calloc(candidates, sizeof *scores);
    uint8_t *filtered = filtered_answers(graph, r);

    assert_int_equal(answers->count, candidates);
    for (size_t i = 0; i < answers->count; i++) {
        uint32_t e = answers->at[i]->entity;
        scores[e] = answers->at[i]->score;
        assert_int_equal(answers->at[i]->known, is_known(graph, r, e));
    }
    kith__rank_of(&optimistic, &pessimistic, &left, scores, candidates, gold, filtered);
    assert_int_equal(optimistic, r->optimistic);
    assert_int_equal(pessimistic, r->pessimistic);
    assert_int_equal(left, r->candidates);
    free(scores);
    free(filtered);
}

static int higher_score_first(const void *a, const void *b)
{
    const kith_answer *x = *(const kith_answer *const *)a, *y = *(const kith_answer *const *)b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->entity > y->entity) - (x->entity < y->entity);
}

/* What evaluation judges are the best answers by score that are not known, but for other right
 * ones; their probabilities are those of a session, digit for digit. Returns how many. */
static size_t same_probabilities(const kith_answers *answers, const kith_graph *graph,
                                 const kith_rank *r)
{
    uint32_t gold = r->subject_hidden ? r->fact.subject : r->fact.object;
    size_t unknown = 0, judged = 0;
    uint8_t *filtered = filtered_answers(graph, r);
    const kith_answer **by_score = calloc(answers->count, sizeof *by_score);

    memcpy(by_score, answers->at, answers->count * sizeof *by_score);
    qsort(by_score, answers->count, sizeof *by_score, higher_score_first);
    for (size_t i = 0; i < answers->count && unknown < KITH__JUDGED; i++) {
        const kith_answer *a = by_score[i];
        if (a->known)
            continue;
        unknown++;
        if (a->entity != gold && filtered[a->entity])
            continue;
        assert_true(judged < r->answer_count);
        assert_int_equal(r->answers[judged]->correct, a->entity == gold);
        if (r->answers[judged]->probability_if_one != (float)a->probability_if_one)
            fail_msg("found the probability %.9g, expected %.9g", a->probability_if_one,
                     (double)r->answers[judged]->probability_if_one);
        judged++;
    }
    assert_int_equal(judged, r->answer_count);
    free(by_score);
    free(filtered);
    return judged;
}

/* The facts that aux has about an unseen entity, about a new one instead. */
static void retell(kith_session *session, uint32_t entity, const char *as)
{
    const kith_graph *graph = kith_model_graph(session->model);
    kith_facts aux = kith_graph_facts(graph, KITH_AUX);

    for (size_t i = 0; i < aux.count; i++) {
        kith_triple t = aux.at[i];
        uint32_t other = t.subject == entity ? t.object : t.subject;
        if (other >= kith_graph_seen_entity_count(graph))
            continue; /* ranking does not read it */
        if (t.subject == entity || t.object == entity)
            say(session, t.subject == entity ? as : name_of(graph, t.subject),
                kith_graph_relation_name(graph, t.relation),
                t.object == entity ? as : name_of(graph, t.object));
    }
}

static bool has_neighbors(const kith_graph *graph, uint32_t entity)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    return hood.offset[entity + 1] > hood.offset[entity];
}

/* Ask as if every relation had loops, so that the entity itself is among the answers, as in
 * evaluation. */
static kith_answers *ask_with_self(kith_session *session, const kith_rank *r, const char *known)
{
    uint32_t relations = kith_graph_seen_relation_count(kith_model_graph(session->model));
    const uint8_t *loops;
    uint8_t *before = calloc(relations, 1);

    assert_int_equal(kith__candidate_cache_loops(&loops, session->cache, NULL), KITH_OK);
    memcpy(before, loops, relations);
    memset(session->cache->loops, 1, relations);
    kith_answers *answers = ask_rank(session, r, known);
    memcpy(session->cache->loops, before, relations);
    free(before);
    return answers;
}

static bool has_loops(const kith_graph *graph, uint32_t relation)
{
    kith_split known[] = {KITH_TRAIN, KITH_AUX};

    for (int k = 0; k < 2; k++) {
        kith_facts facts = kith_graph_facts(graph, known[k]);
        for (size_t i = 0; i < facts.count; i++)
            if (facts.at[i].relation == relation && facts.at[i].subject == facts.at[i].object)
                return true;
    }
    return false;
}

/* Leaving out the entity itself changes nothing else, neither order nor probabilities. */
static void same_but_self(const kith_answers *all, const kith_answers *shown, uint32_t entity,
                          bool without)
{
    size_t next = 0;

    for (size_t i = 0; i < all->count; i++) {
        if (without && all->at[i]->entity == entity)
            continue;
        assert_true(next < shown->count);
        assert_memory_equal(all->at[i], shown->at[next], sizeof **all->at);
        next++;
    }
    assert_int_equal(next, shown->count);
}

/* Every fact of test: by the entity's own name, and where it is unseen as a stranger's. Returns how
 * many were asked as a stranger's. */
static size_t compare_with_ranks(kith_model *model)
{
    const kith_graph *graph = kith_model_graph(model);
    const kith_eval_options options = {.split = KITH_TEST};
    uint32_t seen = kith_graph_seen_entity_count(graph);
    kith_session *session = session_of(model);
    size_t strangers = 0;
    kith_eval *e;
    kith_error error;

    assert_int_equal(kith_evaluate(&e, model, &options, &error), KITH_OK);
    for (size_t i = 0; i < e->realistic->queries; i++) {
        const kith_rank *r = e->ranks[i];
        uint32_t known = r->subject_hidden ? r->fact.object : r->fact.subject;
        const char *stranger = format("stranger of %s", name_of(graph, known));
        if (!has_neighbors(graph, known))
            continue;
        kith_answers *by_name = ask_rank(session, r, name_of(graph, known));
        kith_answers *all = ask_with_self(session, r, name_of(graph, known));
        same_rank(all, graph, r, seen);
        if (model->calibration.fitted)
            assert_true(same_probabilities(all, graph, r) > 0);
        if (!model->fused)
            same_scores(all, model, r, seen);
        same_but_self(all, by_name, known, !has_loops(graph, r->fact.relation));
        kith_answers_free(all);
        if (known >= seen) {
            kith_session *other =
                session_of(model); /* facts about a stranger count for the others */
            retell(other, known, stranger);
            kith_answers *told = ask_rank(other, r, stranger);
            same_answers(by_name, told);
            kith_answers_free(told);
            kith_session_free(other);
            strangers++;
        }
        kith_answers_free(by_name);
    }
    kith_eval_free(e);
    kith_session_free(session);
    return strangers;
}

static void predict__ranks_are_those_of_eval_for_every_aggregator_and_decoder(void **state)
{
    size_t strangers = 0;

    (void)state;
    for (int a = 0; a < AGGREGATORS; a++)
        for (int d = 0; d < DECODERS; d++) {
            kith_graph *graph = graph_with_unseen((uint64_t)(10 * a + d));
            kith_settings s = settings_with(aggregators[a]);
            set(&s, "decoder", decoders[d]);
            set(&s, "candidate-vectors", candidates_by[(a + d) / 2 % 2]);
            set(&s, "loss", (a + d) % 2 ? "softmax" : "margin");
            set(&s, "reciprocal", (a + d) % 2 ? "on" : "off");
            kith_model *model = model_on(graph, &s, 2);
            model->calibration = (kith__calibration){true, {.9f, .2f, -.3f}};
            strangers += compare_with_ranks(model);
            kith_model_free(model);
            kith_graph_free(graph);
        }
    assert_true(strangers > 30);
}

static void compare_both_drivers(const kith_graph *graph, const kith_settings *s)
{
    kith_model *model = model_on(graph, s, 1);

    model->calibration = (kith__calibration){true, {.9f, .2f, -.3f}};
    compare_with_ranks(model);
    kith_model_free(model);
}

/* Scores, ranks and probabilities of sessions and of ranking, for all that decides how an embedding
 * scores. */
static void predict__both_drivers_agree_for_every_choice_of_settings(void **state)
{
    const random_shape shape = {.entities = 24, .relations = 3, .train = 40, .dev = 4, .test = 5,
                                .aux = 20};
    size_t models = 0;
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 21, 5);
    kith_graph *graph = opened(random_folder(&rng, &shape));
    for (size_t a = 0; choice("aggregator", a); a++)
        for (size_t d = 0; choice("decoder", d); d++)
            for (size_t c = 0; choice("candidate-vectors", c); c++)
                for (size_t p = 0; choice("predict", p); p++)
                    for (int reciprocal = 0; reciprocal < 2; reciprocal++, models++) {
                        kith_settings s = settings_with(choice("aggregator", a));
                        set(&s, "decoder", choice("decoder", d));
                        set(&s, "candidate-vectors", choice("candidate-vectors", c));
                        set(&s, "predict", choice("predict", p));
                        set(&s, "loss", reciprocal ? "softmax" : "margin");
                        set(&s, "reciprocal", reciprocal ? "on" : "off");
                        compare_both_drivers(graph, &s);
                    }
    assert_true(models >= 9 * 4 * 2 * 4 * 2);
    kith_graph_free(graph);
}

/* Hundreds of relations, so that batches number them differently, and lists that are cut. */
static void predict__ranks_are_those_of_eval_on_a_larger_graph(void **state)
{
    static const char *const kept[] = {"first", "all"};
    const random_shape shape = {.entities = 1000, .relations = 400, .train = 1500, .dev = 40,
                                .test = 400, .aux = 6000};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 3, 5);
    kith_graph *graph = opened(random_folder(&rng, &shape));
    for (int k = 0; k < 4; k++) {
        kith_settings s = settings_with("lan");
        s.dim = 24;
        set(&s, "neighbors", kept[k % 2]);
        set(&s, "candidate-vectors", candidates_by[k / 2]);
        kith_model *model = model_on(graph, &s, 2);
        assert_true(compare_with_ranks(model) > 10);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* Candidates are encoded for one relation, or for several at once. */
static void predict__scores_do_not_depend_on_what_was_asked_before(void **state)
{
    const random_shape shape = {.entities = 300, .relations = 12, .train = 900, .dev = 40,
                                .test = 40, .aux = 100};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 4, 5);
    kith_graph *graph = opened(random_folder(&rng, &shape));
    for (size_t k = 0; k < AGGREGATORS; k++) {
        kith_settings s = settings_with(aggregators[k]);
        s.max_neighbors = 64;
        kith_answers *first = NULL;
        for (int before = 0; before < 3; before++) {
            kith_model *model = model_on(graph, &s, 2);
            kith_session *session = session_of(model);
            const char *who = name_of(graph, 5), *what = kith_graph_relation_name(graph, 3);
            if (before > 0) {
                const char *other = before == 1 ? kith_graph_relation_name(graph, 1) : NULL;
                kith_answers *any = asked(session, who, other, NULL);
                kith_answers_free(any);
            }
            kith_answers *answers = asked(session, who, what, NULL);
            if (before == 0)
                first = answers;
            else
                same_answers(first, answers);
            if (before > 0)
                kith_answers_free(answers);
            kith_session_free(session);
            kith_model_free(model);
        }
        kith_answers_free(first);
    }
    kith_graph_free(graph);
}

static void predict__ranks_are_those_of_eval_on_subject_10(void **state)
{
    const char *path = shared_data("fb15k/subject-10");
    kith_settings s = settings_with("lan");

    (void)state;
    if (!path)
        skip();
    kith_graph *graph = opened(path);
    s.dim = 16;
    s.max_neighbors = 64;
    set(&s, "predict", "object");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    const kith_eval_options options = {.split = KITH_TEST, .sample = 150, .seed = 3};
    kith_eval *e;
    assert_int_equal(kith_evaluate(&e, model, &options, NULL), KITH_OK);
    for (size_t i = 0; i < e->realistic->queries; i++) {
        const kith_rank *r = e->ranks[i];
        kith_answers *by_name = ask_rank(session, r, name_of(graph, r->fact.subject));
        same_rank(by_name, graph, r, kith_graph_seen_entity_count(graph));
        retell(session, r->fact.subject, format("new %zu", i));
        kith_answers *told = ask_rank(session, r, format("new %zu", i));
        same_answers(by_name, told);
        kith_answers_free(told);
        kith_answers_free(by_name);
    }
    kith_eval_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* What a score is said to be made of adds up to it, each part of it too, and the way there is made
 * of facts that follow each other. */
static void check_grounds(const kith_explanation *e)
{
    for (size_t i = 0; i < e->contribution_count; i++) {
        const kith_contributions *g = e->contributions[i];
        double sum = 0, size = 1, neighbors = g->rest, neighbor_size = 1 + fabs(g->rest);
        for (size_t k = 0; k < g->feature_count; k++) {
            sum += g->features[k]->points;
            size += fabs(g->features[k]->points);
        }
        for (size_t k = 0; g->neighbors && k < e->neighbor_count; k++) {
            neighbors += g->neighbors[k];
            neighbor_size += fabs(g->neighbors[k]);
        }
        assert_true(g->score == e->answers->at[i]->score);
        assert_true(fabs(g->rules + g->proximity + g->prior + g->embedding - g->score) <=
                    1e-5 * size);
        assert_true(fabs(sum - g->score) <= 1e-5 * size);
        if (g->neighbors)
            assert_true(fabs(neighbors - g->embedding) <= 1e-5 * (size + neighbor_size));
        assert_true(g->path_count == 0 || g->path[g->path_count - 1]->entity == g->entity);
    }
}

static void explain_all(kith_session *session, const kith_graph *graph)
{
    kith_facts test = kith_graph_facts(graph, KITH_TEST);
    uint32_t m = kith_graph_seen_relation_count(graph);
    size_t walked = 0;

    for (size_t i = 0; i < test.count; i++) {
        const kith_triple t = test.at[i];
        kith_explanation *e = NULL;
        kith_error error;
        if (t.relation >= m)
            continue;
        for (int side = 0; side < 2; side++) {
            const kith_question question = {side ? NULL : name_of(graph, t.subject),
                                            kith_graph_relation_name(graph, t.relation),
                                            side ? name_of(graph, t.object) : NULL};
            if (kith_session_explain(&e, session, &question, NULL, &error) != KITH_OK)
                continue; /* nothing is known about it */
            check_grounds(e);
            for (size_t k = 0; k < e->contribution_count; k++)
                walked += e->contributions[k]->path_count > 1;
            kith_explanation_free(e);
        }
    }
    assert_true(walked > 0);
}

/* Rules alone, and rules with the embedding: scores and probabilities are those of ranking. */
static void predict__ranks_are_those_of_eval_with_rule_evidence(void **state)
{
    static const char *const evidence[] = {"rules", "fused"};
    const random_shape shape = {
        .entities = 200, .relations = 4, .train = 400, .dev = 20, .test = 200, .aux = 600};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 8, 5);
    kith_graph *graph = opened(random_folder(&rng, &shape));
    for (int k = 0; k < 2; k++) {
        const char *folder = new_run();
        const kith_train_options options = {.threads = 2};
        kith_settings s = settings_with("lan");
        kith_model *model = NULL;
        kith_train_end end;
        kith_error error;
        set(&s, "evidence", evidence[k]);
        s.epochs = 2;
        s.eval_every = 0;
        if (kith_train(&end, folder, graph, &s, &options, &error) != KITH_OK ||
            kith_model_open(&model, folder, &(kith_work_options){.threads = 2}, &error) != KITH_OK)
            fail_msg("%s", error.message);
        assert_true(compare_with_ranks(model) > 3);
        kith_session *session = session_of(model);
        explain_all(session, graph);
        kith_explanation *e = NULL;
        const kith_question question = {name_of(graph, 0), kith_graph_relation_name(graph, 0),
                                        NULL};
        assert_int_equal(kith_session_explain(&e, session, &question, NULL, &error), KITH_OK);
        for (size_t i = 0; i < e->answers->count; i++)
            assert_true(e->answers->at[i]->known ? isnan(e->answers->at[i]->probability_if_any)
                                                 : e->answers->at[i]->probability_if_any >= 0 &&
                                                       e->answers->at[i]->probability_if_any <= 1);
        assert_int_equal(e->weighing, k == 0 ? KITH_WEIGH_NONE : KITH_WEIGH_ATTENTION);
        kith_explanation_free(e);
        kith_session_free(session);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* ---- how often something is done ---- */

static void predict__both_drivers_agree_for_every_preset(void **state)
{
    const random_shape shape = {.entities = 60, .relations = 4, .train = 150, .dev = 20, .test = 30,
                                .aux = 60};
    const char *preset;
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 22, 5);
    kith_graph *graph = opened(random_folder(&rng, &shape));
    for (size_t i = 0; (preset = kith_settings_preset(i, NULL)); i++) {
        kith_settings s;
        assert_int_equal(kith__settings_init(&s, preset, NULL), KITH_OK);
        s.dim = 8;
        set(&s, "predict", "both");
        kith_model *model = trained_model(graph, &s);
        assert_true(model->calibration.fitted);
        compare_with_ranks(model);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predict__ranks_are_those_of_eval_for_every_aggregator_and_decoder),
        cmocka_unit_test(predict__both_drivers_agree_for_every_choice_of_settings),
        cmocka_unit_test(predict__both_drivers_agree_for_every_preset),
        cmocka_unit_test(predict__ranks_are_those_of_eval_on_a_larger_graph),
        cmocka_unit_test(predict__scores_do_not_depend_on_what_was_asked_before),
        cmocka_unit_test(predict__ranks_are_those_of_eval_on_subject_10),
        cmocka_unit_test(predict__ranks_are_those_of_eval_with_rule_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
