/* Sessions: facts about new entities, answers and reasons, against ranking and brute force. */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "core/mem.h"
#include "eval/rank.h"
#include "graph/triple_set.h"
#include "session/answer.h"
#include "support.h"
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

static kith_settings quick(const char *aggregator)
{
    kith_settings s;

    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    set(&s, "aggregator", aggregator);
    set(&s, "predict", "both");
    s.dim = 8;
    s.max_neighbors = 8;
    return s;
}

static kith_model *model_with(const kith_graph *graph, const kith_settings *s)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_new(&model, graph, s, &(kith_work_options){.threads = 2}, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return model;
}

static kith_graph *random_graph(uint64_t seed)
{
    const random_shape shape = {.entities = 50, .relations = 4, .train = 70, .dev = 40, .test = 60,
                                .aux = 90, .overlap = true};
    kith__rng rng;

    kith__rng_init(&rng, seed, 5);
    return opened(random_folder(&rng, &shape));
}

static kith_session *session_of(kith_model *model)
{
    kith_session *session = NULL;
    kith_error error;

    if (kith_session_new(&session, model, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return session;
}

static kith_fact_use say(kith_session *session, const char *s, const char *r, const char *o)
{
    kith_fact_use use = KITH_FACT_USES;
    kith_error error;

    if (kith_session_add(&use, session, s, r, o, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return use;
}

static kith_answers *asked_with(kith_session *session, const char *s, const char *r, const char *o,
                               kith_ask_options options)
{
    const kith_question question = {s, r, o};
    kith_answers *answers;
    kith_error error;

    if (kith_session_ask(&answers, session, &question, &options, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return answers;
}

static kith_answers *asked(kith_session *session, const char *s, const char *r, const char *o)
{
    return asked_with(session, s, r, o, (kith_ask_options){.top = SIZE_MAX});
}

/* A question that must be refused, with each of the parts in its message. */
static void refused_question(kith_session *session, kith_question q, kith_status status,
                             const char *part, const char *other)
{
    kith_answers *answers;
    kith_error error;

    assert_int_equal(kith_session_ask(&answers, session, &q, NULL, &error), status);
    assert_contains(error.message, part);
    assert_contains(error.message, other);
}

static void same_answers(const kith_answers *a, const kith_answers *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->at[i]->entity, b->at[i]->entity);
        assert_int_equal(a->at[i]->relation, b->at[i]->relation);
        if (a->at[i]->score != b->at[i]->score)
            fail_msg("answer %zu has score %.9g and %.9g", i, a->at[i]->score, b->at[i]->score);
    }
}

/* A small graph that everybody understands. */
static kith_graph *teams(void)
{
    return opened(file("teams.tsv", "ann\tplays for\tbulls\nann\tlives in\tchicago\n"
                                    "bob\tplays for\tbulls\nbob\tlives in\tchicago\n"
                                    "cyd\tplays for\tlakers\ncyd\tlives in\tlos angeles\n"
                                    "bulls\tbased in\tchicago\nlakers\tbased in\tlos angeles\n"));
}

/* ---- answers are those of ranking ---- */

static const char *name(const kith_graph *graph, uint32_t entity)
{
    return kith_graph_entity_name(graph, entity);
}

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
    for (size_t i = 0; i < answers->count && unknown < KITH_JUDGED; i++) {
        const kith_answer *a = by_score[i];
        if (a->known)
            continue;
        unknown++;
        if (a->entity != gold && filtered[a->entity])
            continue;
        assert_true(judged < r->judgements);
        assert_int_equal(r->judged[judged].correct, a->entity == gold);
        if (r->judged[judged].probability_if_one != (float)a->probability_if_one)
            fail_msg("found the probability %.9g, expected %.9g", a->probability_if_one,
                     (double)r->judged[judged].probability_if_one);
        judged++;
    }
    assert_int_equal(judged, r->judgements);
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
            say(session, t.subject == entity ? as : name(graph, t.subject),
                kith_graph_relation_name(graph, t.relation),
                t.object == entity ? as : name(graph, t.object));
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
        const char *stranger = format("stranger of %s", name(graph, known));
        if (!has_neighbors(graph, known))
            continue;
        kith_answers *by_name = ask_rank(session, r, name(graph, known));
        kith_answers *all = ask_with_self(session, r, name(graph, known));
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
            kith_graph *graph = random_graph((uint64_t)(10 * a + d));
            kith_settings s = quick(aggregators[a]);
            set(&s, "decoder", decoders[d]);
            set(&s, "candidate-vectors", candidates_by[(a + d) / 2 % 2]);
            set(&s, "loss", (a + d) % 2 ? "softmax" : "margin");
            set(&s, "reciprocal", (a + d) % 2 ? "on" : "off");
            kith_model *model = model_with(graph, &s);
            model->calibration = (kith__calibration){true, {.9f, .2f, -.3f}};
            strangers += compare_with_ranks(model);
            kith_model_free(model);
            kith_graph_free(graph);
        }
    assert_true(strangers > 30);
}

static void compare_both_drivers(const kith_graph *graph, const kith_settings *s)
{
    kith_model *model = model_with(graph, s);

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
                        kith_settings s = quick(choice("aggregator", a));
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
        kith_settings s = quick("lan");
        s.dim = 24;
        set(&s, "neighbors", kept[k % 2]);
        set(&s, "candidate-vectors", candidates_by[k / 2]);
        kith_model *model = model_with(graph, &s);
        assert_true(compare_with_ranks(model) > 10);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* Candidates are encoded for one relation, or for several at once. */
static void predict__scores_do_not_depend_on_what_was_asked_before(void **state)
{
    static const char *const with[] = {"lan", "logic", "attention-query", "attention-global"};
    const random_shape shape = {.entities = 300, .relations = 12, .train = 900, .dev = 40,
                                .test = 40, .aux = 100};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 4, 5);
    kith_graph *graph = opened(random_folder(&rng, &shape));
    for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
        kith_settings s = quick(with[k]);
        s.max_neighbors = 64;
        kith_answers *first = NULL;
        for (int before = 0; before < 3; before++) {
            kith_model *model = model_with(graph, &s);
            kith_session *session = session_of(model);
            const char *who = name(graph, 5), *what = kith_graph_relation_name(graph, 3);
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
    kith_settings s = quick("lan");

    (void)state;
    if (!path)
        skip();
    kith_graph *graph = opened(path);
    s.dim = 16;
    s.max_neighbors = 64;
    set(&s, "predict", "object");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    const kith_eval_options options = {.split = KITH_TEST, .sample = 150, .seed = 3};
    kith_eval *e;
    assert_int_equal(kith_evaluate(&e, model, &options, NULL), KITH_OK);
    for (size_t i = 0; i < e->realistic->queries; i++) {
        const kith_rank *r = e->ranks[i];
        kith_answers *by_name = ask_rank(session, r, name(graph, r->fact.subject));
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
            const kith_question question = {side ? NULL : name(graph, t.subject),
                                            kith_graph_relation_name(graph, t.relation),
                                            side ? name(graph, t.object) : NULL};
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

/* As kith train makes it, in a folder of its own. */
static kith_model *trained_with(const kith_graph *graph, const kith_settings *s)
{
    const char *folder = keep(format("%s/run", new_folder()));
    kith_train_end end;
    kith_model *model = NULL;
    kith_error error;
    kith_settings few = *s;

    few.epochs = 1;
    if (kith_train(&end, folder, graph, &few, NULL, &error) != KITH_OK ||
        kith_model_open(&model, folder, &(kith_work_options){.threads = 2}, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return model;
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
        const char *folder = keep(format("%s/run", new_folder()));
        const kith_train_options options = {.threads = 2};
        kith_settings s = quick("lan");
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
        const kith_question question = {name(graph, 0), kith_graph_relation_name(graph, 0), NULL};
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

/* ---- facts ---- */

static void facts__each_is_used_or_named_with_the_reason(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);

    (void)state;
    assert_int_equal(say(session, "dee", "plays for", "bulls"), KITH_FACT_USED);
    assert_int_equal(say(session, "dee", "plays for", "bulls"), KITH_FACT_REPEATED);
    assert_int_equal(say(session, "ann", "plays for", "bulls"), KITH_FACT_REPEATED);
    assert_int_equal(say(session, "dee", "dances with", "ann"), KITH_FACT_NO_RELATION);
    assert_int_equal(say(session, "dee", "lives in", "paris"), KITH_FACT_NO_NEIGHBOR);
    assert_int_equal(say(session, "dee", "lives in", "dee"), KITH_FACT_NO_NEIGHBOR);
    assert_int_equal(kith_session_fact_count(session), 6);
    assert_string_equal(kith_session_fact_at(session, 3).relation, "dances with");
    assert_int_equal(kith_session_fact_at(session, 3).use, KITH_FACT_NO_RELATION);
    assert_string_equal(kith_session_fact_at(session, 4).object, "paris");
    assert_null(kith_session_fact_at(session, 6).subject);
    assert_int_equal(kith_session_newcomer_count(session), 2);
    assert_string_equal(kith_session_newcomer_at(session, 0).name, "dee");
    assert_int_equal(kith_session_newcomer_at(session, 0).facts, 1);
    assert_string_equal(kith_session_newcomer_at(session, 1).name, "paris");
    assert_int_equal(kith_session_newcomer_at(session, 1).facts, 0);
    assert_null(kith_session_newcomer_at(session, 2).name);
    for (int use = 0; use < KITH_FACT_USES; use++)
        assert_true(strlen(kith_fact_use_text((kith_fact_use)use)) > 5);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void facts__an_empty_name_or_one_that_is_not_utf8_is_refused(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("mean");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_add(NULL, session, "", "plays for", "bulls", &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "the subject of a fact is empty");
    assert_int_equal(kith_session_add(NULL, session, "dee", "plays for", "b\xff", &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "object 'b\\xff' is not UTF-8");
    assert_int_equal(kith_session_fact_count(session), 0);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Facts in any order, taken back in the reverse one: answers come back step by step. */
static void facts__undo_takes_back_one_after_the_other(void **state)
{
    static const char *const said[][3] = {{"dee", "plays for", "bulls"},
                                          {"dee", "likes", "ann"},
                                          {"ann", "lives in", "ann"},
                                          {"ann", "lives in", "dee"},
                                          {"bulls", "based in", "lakers"},
                                          {"dee", "lives in", "chicago"},
                                          {"dee", "plays for", "bulls"}};
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    kith_answers *dee[7], *ann[7];

    (void)state;
    for (size_t i = 0; i < 7; i++) {
        say(session, said[i][0], said[i][1], said[i][2]);
        dee[i] = asked(session, "dee", "based in", NULL);
        ann[i] = asked(session, NULL, "lives in", "ann");
    }
    for (size_t i = 7; i-- > 0;) {
        kith_answers *now = asked(session, "dee", "based in", NULL);
        same_answers(now, dee[i]);
        kith_answers_free(now);
        now = asked(session, NULL, "lives in", "ann");
        same_answers(now, ann[i]);
        kith_answers_free(now);
        kith_answers_free(dee[i]);
        kith_answers_free(ann[i]);
        assert_int_equal(kith_session_undo(session), KITH_OK);
    }
    assert_int_equal(kith_session_undo(session), KITH_ERR_NOT_FOUND);
    assert_int_equal(kith_session_fact_count(session), 0);
    refused_question(session, (kith_question){"dee", "lives in", NULL}, KITH_ERR_NOT_FOUND, "'dee'",
                     "nothing is known");
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* A set from which things are taken, against a plain list. */
static void facts__a_set_forgets_what_is_removed_and_nothing_else(void **state)
{
    kith__triple_set set_of;
    bool there[512] = {false};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 1, 1);
    assert_int_equal(kith__triple_set_init(&set_of, 4), 0);
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)kith__rng_below(&rng, 512);
        kith_triple t = {i % 8, i / 8 % 8, i / 64};
        if (kith__rng_below(&rng, 2)) {
            assert_int_equal(kith__triple_set_add(&set_of, t), there[i] ? 0 : 1);
            there[i] = true;
        } else {
            kith__triple_set_remove(&set_of, t);
            there[i] = false;
        }
        uint32_t k = (uint32_t)kith__rng_below(&rng, 512);
        assert_int_equal(kith__triple_set_has(&set_of, (kith_triple){k % 8, k / 8 % 8, k / 64}),
                         there[k]);
    }
    kith__triple_set_release(&set_of);
}

static void facts__a_graph_can_be_said_as_a_whole(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *one = session_of(model), *other = session_of(model);
    kith_graph *plain = opened(file("news.tsv", "dee\tplays for\tbulls\neve\tlives in\tchicago\n"
                                                "eve\tdances with\tann\n"));

    (void)state;
    assert_int_equal(kith_session_add_graph(one, plain, NULL, NULL), KITH_OK);
    assert_int_equal(kith_session_fact_count(one), 3);
    say(other, "dee", "plays for", "bulls");
    say(other, "eve", "lives in", "chicago");
    kith_answers *a = asked(one, "dee", "lives in", NULL),
                 *b = asked(other, "dee", "lives in", NULL);
    same_answers(a, b);
    kith_answers_free(a);
    kith_answers_free(b);
    kith_graph_free(plain);
    kith_session_free(one);
    kith_session_free(other);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void facts__a_million_about_one_entity_are_cut_as_training_cuts(void **state)
{
    enum { ENTITIES = 1000, RELATIONS = 1000 };
    draft text = {0};
    kith_settings s = quick("lan");

    (void)state;
    for (int i = 0; i < ENTITIES; i++)
        add(&text, "e%d\tr%d\te%d\n", i, i % RELATIONS, (i + 1) % ENTITIES);
    kith_graph *graph = opened(file("ring.tsv", text.at));
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    for (int i = 0; i < 1000000; i++)
        say(session, "new", format("r%d", i % RELATIONS), format("e%d", i / RELATIONS));
    assert_int_equal(kith_session_newcomer_at(session, 0).facts, 1000000);
    kith_answers *answers = asked(session, "new", "r3", NULL);
    assert_int_equal(answers->count, ENTITIES);
    assert_true(answers->at[0]->known && answers->at[ENTITIES - 1]->known);
    kith_answers_free(answers);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
    draft_release(&text);
}

static void facts__names_of_ten_thousand_bytes_work(void **state)
{
    char *long_name = malloc(10001);
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);

    (void)state;
    memset(long_name, 'x', 10000);
    long_name[10000] = '\0';
    refused_question(session, (kith_question){long_name, "lives in", NULL}, KITH_ERR_NOT_FOUND,
                     "xxx...'", "nothing is known");
    refused_question(session, (kith_question){"ann", long_name, NULL}, KITH_ERR_NOT_FOUND,
                     "xxx...'", "relation");
    assert_int_equal(say(session, long_name, "plays for", "bulls"), KITH_FACT_USED);
    assert_int_equal(say(session, long_name, long_name, "bulls"), KITH_FACT_NO_RELATION);
    kith_answers *answers = asked(session, long_name, "lives in", NULL);
    assert_true(answers->count > 0);
    kith_answers_free(answers);
    assert_string_equal(kith_session_newcomer_at(session, 0).name, long_name);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
    free(long_name);
}

/* ---- questions ---- */

static void questions__bad_ones_are_refused_in_words(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);

    (void)state;
    say(session, "dee", "dances with", "bulls");
    refused_question(session, (kith_question){"ann", "lives in", "chicago"}, KITH_ERR_ARGUMENT,
                     "a relation and an object", "'?'");
    refused_question(session, (kith_question){NULL, "lives in", NULL}, KITH_ERR_ARGUMENT,
                     "no entity", "");
    refused_question(session, (kith_question){NULL, NULL, NULL}, KITH_ERR_ARGUMENT, "no entity",
                     "");
    refused_question(session, (kith_question){"ann", "livs in", NULL}, KITH_ERR_NOT_FOUND,
                     "relation 'livs in'", "did you mean 'lives in'?");
    refused_question(session, (kith_question){"Lakres", "lives in", NULL}, KITH_ERR_NOT_FOUND,
                     "'Lakres'", "did you mean 'lakers'?");
    refused_question(session, (kith_question){"dee", "lives in", NULL}, KITH_ERR_ARGUMENT, "'dee'",
                     "no usable fact");
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void questions__known_answers_are_marked_or_left_out(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    uint32_t bulls, bob;

    (void)state;
    assert_int_equal(kith_graph_find_entity(&bulls, graph, "bulls"), KITH_OK);
    assert_int_equal(kith_graph_find_entity(&bob, graph, "bob"), KITH_OK);
    say(session, "dee", "plays for", "bulls");
    kith_answers *own = asked(session, "dee", "plays for", NULL);
    kith_answers *known = asked(session, NULL, "plays for", "bulls");
    size_t marked = 0;
    for (size_t i = 0; i < own->count; i++)
        assert_int_equal(own->at[i]->known, own->at[i]->entity == bulls);
    for (size_t i = 0; i < known->count; i++)
        marked += known->at[i]->known != 0;
    assert_int_equal(marked, 2); /* ann and bob; dee is no candidate */
    assert_true(known->subject_asked && !own->subject_asked);
    kith_answers *fresh = asked_with(session, NULL, "plays for", "bulls",
                                    (kith_ask_options){.top = SIZE_MAX, .new_only = 1});
    assert_int_equal(fresh->count, known->count - 2);
    for (size_t i = 0; i < fresh->count; i++)
        assert_true(!fresh->at[i]->known && fresh->at[i]->entity != bob);
    for (size_t i = 0; i < fresh->count; i++)
        assert_true(isnan(fresh->at[i]->probability_if_any));
    kith_answers_free(own);
    kith_answers_free(known);
    kith_answers_free(fresh);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* The first few are the beginning of all. */
static void questions__top_cuts_and_nothing_else(void **state)
{
    kith_graph *graph = random_graph(3);
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);

    (void)state;
    kith_answers *all = asked(session, name(graph, 0), kith_graph_relation_name(graph, 0), NULL);
    for (size_t top = 1; top < 15; top++) {
        kith_answers *some = asked_with(session, name(graph, 0), kith_graph_relation_name(graph, 0),
                                       NULL, (kith_ask_options){.top = top});
        assert_int_equal(some->count, top < all->count ? top : all->count);
        for (size_t i = 0; i < some->count; i++)
            assert_int_equal(some->at[i]->entity, all->at[i]->entity);
        kith_answers_free(some);
    }
    kith_answers_free(all);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* All answers of all relations, best first. */
static void questions__pairs_are_the_best_over_all_relations(void **state)
{
    (void)state;
    for (int a = 0; a < AGGREGATORS; a++) {
        kith_graph *graph = random_graph((uint64_t)a);
        kith_settings s = quick(aggregators[a]);
        kith_model *model = model_with(graph, &s);
        kith_session *session = session_of(model);
        for (int side = 0; side < 2; side++) {
            const char *who = name(graph, 1);
            const char *subject = side ? NULL : who, *object = side ? who : NULL;
            kith_answers *pairs = asked_with(session, subject, NULL, object,
                                            (kith_ask_options){.top = 12, .relations = SIZE_MAX});
            assert_int_equal(pairs->relations, kith_graph_seen_relation_count(graph));
            assert_int_equal(pairs->count, 12);
            /* Within a relation, those that are not known come in the order of its own answers. */
            for (uint32_t r = 0; r < kith_graph_seen_relation_count(graph); r++) {
                kith_answers *one =
                    asked_with(session, subject, kith_graph_relation_name(graph, r), object,
                               (kith_ask_options){.top = 100, .new_only = 1});
                size_t next = 0;
                for (size_t i = 0; i < 12; i++)
                    if (pairs->at[i]->relation == r && !pairs->at[i]->known)
                        assert_int_equal(pairs->at[i]->entity, one->at[next++]->entity);
                kith_answers_free(one);
            }
            for (size_t i = 1; i < 12; i++)
                assert_true(pairs->at[i - 1]->known == pairs->at[i]->known
                                ? pairs->at[i - 1]->score >= pairs->at[i]->score
                                : pairs->at[i]->known);
            kith_answers_free(pairs);
            kith_answers *some = asked_with(session, subject, NULL, object,
                                           (kith_ask_options){.top = 3, .relations = 1});
            assert_int_equal(some->relations, 1);
            kith_answers_free(some);
        }
        kith_session_free(session);
        kith_model_free(model);
        kith_graph_free(graph);
    }
}

static void questions__many_at_once_are_answered_as_one_by_one(void **state)
{
    kith_graph *graph = random_graph(4);
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    enum { MANY = 200 };
    kith_question questions[MANY];
    kith_answers *one[MANY];
    kith_answers_batch *all;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        const char *who = keep(format("new %zu", i));
        const char *relation = i % 7 ? kith_graph_relation_name(graph, (uint32_t)i % 3) : NULL;
        for (size_t k = 0; k < 1 + i % 5; k++)
            say(session, who, kith_graph_relation_name(graph, (uint32_t)(i + k) % 3),
                name(graph, (uint32_t)(i * 7 + k) % kith_graph_seen_entity_count(graph)));
        questions[i] = i % 2 ? (kith_question){who, relation, NULL}
                             : (kith_question){NULL, relation, who};
        assert_int_equal(kith_session_ask(&one[i], session, &questions[i], NULL, NULL), KITH_OK);
    }
    for (unsigned threads = 1; threads <= 3; threads++) {
        const kith_ask_options options = {.threads = threads};
        assert_int_equal(kith_session_ask_all(&all, session, questions, MANY, &options, NULL),
                         KITH_OK);
        assert_true(all->count == MANY && all->failed == 0);
        for (size_t i = 0; i < MANY; i++) {
            assert_null(all->errors[i]);
            same_answers(all->at[i], one[i]);
        }
        kith_answers_batch_free(all);
    }
    for (size_t i = 0; i < MANY; i++)
        kith_answers_free(one[i]);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- why ---- */

static kith_explanation *explained(kith_session *session, const char *s, const char *r,
                                  const char *o)
{
    const kith_question question = {s, r, o};
    kith_explanation *e;
    kith_error error;

    if (kith_session_explain(&e, session, &question, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return e;
}

/* Whether an entity is proposed as its own answer, by questions for entities and for pairs. */
static bool proposes_self(kith_session *session, const char *who, const char *relation,
                          kith_ask_options options)
{
    uint32_t self = kith__session_find(session, who);
    uint32_t r;
    bool single = false, pair = false, both = false;

    assert_int_equal(kith_graph_find_relation(&r, kith_model_graph(session->model), relation),
                     KITH_OK);
    options.top = SIZE_MAX;
    kith_answers *objects = asked_with(session, who, relation, NULL, options);
    kith_answers *subjects = asked_with(session, NULL, relation, who, options);
    kith_answers *pairs = asked_with(session, who, NULL, NULL, options);
    kith_answers *relations = asked_with(session, who, NULL, who, options);
    for (size_t i = 0; i < objects->count; i++)
        single |= objects->at[i]->entity == self;
    for (size_t i = 0; i < subjects->count; i++)
        both |= subjects->at[i]->entity == self;
    assert_int_equal(single, both);
    both = false;
    for (size_t i = 0; i < relations->count; i++)
        both |= relations->at[i]->relation == r;
    assert_int_equal(single, both);
    for (size_t i = 0; i < pairs->count; i++)
        pair |= pairs->at[i]->entity == self && pairs->at[i]->relation == r;
    if (pair)
        assert_true(single);
    kith_answers_free(objects);
    kith_answers_free(subjects);
    kith_answers_free(pairs);
    kith_answers_free(relations);
    kith_explanation *e = explained(session, who, relation, NULL);
    for (size_t i = 0; i < e->answers->count; i++)
        if (e->answers->at[i]->entity == self)
            assert_true(single);
    kith_explanation_free(e);
    return single;
}

static void questions__an_entity_is_its_own_answer_only_where_the_relation_has_loops(void **state)
{
    /* "follows" has a loop, "plays for" and "lives in" have none. */
    kith_graph *graph = opened(file(
        "loops.tsv", "ann\tplays for\tbulls\nann\tlives in\tchicago\nann\tfollows\tann\n"
                     "bob\tplays for\tbulls\nbob\tlives in\tchicago\nbob\tfollows\tann\n"
                     "cyd\tplays for\tlakers\ncyd\tlives in\tboston\n"));
    const char *const evidence[] = {"none", "fused"};
    const kith_ask_options usual = {0};
    kith_error error;

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        kith_settings s = quick("lan");
        s.epochs = 1;
        set(&s, "evidence", evidence[k]);
        kith_model *model = trained_with(graph, &s);
        kith_session *session = session_of(model);
        kith_verdict *verdict;

        assert_true(proposes_self(session, "bob", "follows", usual));
        assert_false(proposes_self(session, "bob", "plays for", usual));
        say(session, "cyd", "plays for", "cyd");
        assert_true(proposes_self(session, "bob", "plays for", usual));
        assert_false(proposes_self(session, "bob", "lives in", usual));
        assert_int_equal(kith_session_remove(session, "cyd", "plays for", "cyd", &error), KITH_OK);
        assert_false(proposes_self(session, "bob", "plays for", usual));
        say(session, "bob", "lives in", "bob");
        assert_true(proposes_self(session, "ann", "lives in", usual));
        assert_int_equal(kith_session_undo(session), KITH_OK);
        assert_false(proposes_self(session, "ann", "lives in", usual));

        const kith_question fact = {"bob", "plays for", "bob"};
        assert_int_equal(kith_session_judge(&verdict, session, &fact, &error), KITH_OK);
        assert_true(isfinite(verdict->score) && verdict->rank > 0);
        assert_int_equal(isnan(verdict->probability_if_any), !model->calibration.fitted);
        kith_verdict_free(verdict);
        kith_session_free(session);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

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
            strcmp(name(graph, n->entity), life[i][inverse ? 0 : 2]) == 0)
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
        kith_settings s = quick(aggregators[a]);
        kith_model *model = model_with(graph, &s);
        kith_session *session = session_of(model);
        tell_life(session, SIZE_MAX);
        kith_explanation *e = explained(session, "new", "r2", NULL);
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
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    kith_implications *rules;

    (void)state;
    tell_life(session, SIZE_MAX);
    kith_explanation *e = explained(session, NULL, "r3", "new");
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
    kith_settings s = quick("lan");

    (void)state;
    s.max_neighbors = 4;
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    say(session, "other", "r1", "e1");
    kith_explanation *e = explained(session, "other", "r2", NULL);
    assert_int_equal(e->neighbor_count, 1);
    assert_int_equal(e->ablation_count, 0);
    kith_explanation_free(e);
    tell_life(session, SIZE_MAX);
    e = explained(session, "new", "r2", NULL);
    assert_int_equal(e->neighbor_count, 4);
    assert_int_equal(e->unread, 2);
    check_ablations(model, e);
    kith_explanation_free(e);
    e = explained(session, "new", NULL, NULL); /* pairs: that of the first */
    assert_int_equal(e->relation, e->answers->at[0]->relation);
    kith_explanation_free(e);
    e = explained(session, "e1", "r2", NULL);
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
    kith_explanation *e = explained(session, who, relation, NULL);
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
        kith_settings s = quick("lan");
        set(&s, "evidence", evidence[k]);
        kith_model *model = k ? trained_with(graph, &s) : model_with(graph, &s);
        check_once(model, "ann", "plays for");
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* The limit is one of vectors. */
static void why__rules_alone_read_all_neighbours(void **state)
{
    draft train = {0};
    kith_settings s = quick("lan");

    (void)state;
    for (int i = 0; i < 30; i++)
        add(&train, "hub\tlinks\te%d\ne%d\tlinks\te%d\n", i, i, (i + 7) % 30);
    kith_graph *graph = opened(file("hub.tsv", train.at));
    set(&s, "evidence", "rules");
    kith_model *model = trained_with(graph, &s);
    kith_session *session = session_of(model);
    kith_explanation *e = explained(session, "hub", "links", NULL);
    assert_int_equal(e->neighbor_count, 30);
    assert_int_equal(e->unread, 0);
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
    draft_release(&train);
}

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
        kith_model *model = trained_with(graph, &s);
        assert_true(model->calibration.fitted);
        compare_with_ranks(model);
        kith_model_free(model);
    }
    kith_graph_free(graph);
}

/* ---- rules alone, and other graphs ---- */

static float model_score(const kith_model *model, kith_triple fact)
{
    float score = NAN;
    kith_error error;

    if (kith_model_score(&score, model, fact, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return score;
}

static float answer_score(kith_session *session, const char *s, const char *r, const char *o,
                          uint32_t answer)
{
    kith_answers *answers = asked(session, s, r, o);
    float score = NAN;

    for (size_t i = 0; i < answers->count; i++)
        if (answers->at[i]->entity == answer)
            score = answers->at[i]->score;
    kith_answers_free(answers);
    return score;
}

static void rules_alone__have_scores_but_no_vectors(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    float vector[8];
    kith_tables *tables;
    kith_error error;

    (void)state;
    set(&s, "evidence", "rules");
    kith_model *model = trained_with(graph, &s);
    kith_session *session = session_of(model);
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    for (size_t i = 0; i < train.count; i++) {
        kith_triple t = train.at[i];
        const char *r = kith_graph_relation_name(graph, t.relation);
        float as_object = answer_score(session, name(graph, t.subject), r, NULL, t.object);
        float as_subject = answer_score(session, NULL, r, name(graph, t.object), t.subject);
        float found = model_score(model, t);
        assert_true(found == (as_object + as_subject) / 2 && found != 0);
    }
    assert_int_equal(kith_model_encode(vector, model, 0, 0, 0, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "rules alone");
    assert_int_equal(kith_session_encode(vector, session, "ann", "plays for", 0, &error),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_model_tables(&tables, model, &error), KITH_OK);
    assert_int_equal(tables->count, 0);
    kith_tables_free(tables);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Facts of families, some hidden; `other` in another order, with more that nothing is known
 * about. */
static kith_graph *families(bool other)
{
    static const char *const relations[] = {"parent", "child", "sibling"};
    const char *folder = new_folder();
    draft train = {0}, test = {0};

    for (int k = 0; k < 60; k++) {
        int i = other ? 59 - k : k, r = i % 3;
        for (int f = 0; f < 20; f++) {
            const char *a = format("f%d.%d", f, i % 5), *b = format("f%d.%d", f, (i * 7 + 2) % 5);
            if (strcmp(a, b) == 0)
                continue;
            draft *to = (i + f) % 11 == 0 && i > 20 ? &test : &train;
            add(to, "%s\t%s\t%s\n", a, relations[r], b);
        }
        if (other)
            add(&train, "f%d.0\tlikes\tf2.0\n", k % 20);
    }
    put(folder, "train.txt", train.at);
    put(folder, "test.txt", test.at);
    draft_release(&train);
    draft_release(&test);
    return opened(folder);
}

static const char *trained_folder(const kith_graph *graph, const char *evidence)
{
    const char *folder = keep(format("%s/run", new_folder()));
    kith_settings s = quick("lan");
    kith_train_end end;
    kith_error error;

    set(&s, "evidence", evidence);
    s.epochs = 1;
    if (kith_train(&end, folder, graph, &s, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return folder;
}

static kith_model *opened_on(const char *folder, const kith_graph *graph)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_open_on(&model, folder, graph, &(kith_work_options){.threads = 2}, &error) !=
        KITH_OK)
        fail_msg("%s", error.message);
    return model;
}

static kith_eval *evaluated(const kith_model *model, unsigned without)
{
    const kith_eval_options options = {
        .split = KITH_TEST, .without = without, .candidates = KITH_ANSWERS_ALL};
    kith_eval *e;
    kith_error error;

    if (kith_evaluate(&e, model, &options, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return e;
}

static bool same_fact(const kith_graph *a, kith_triple x, const kith_graph *b, kith_triple y)
{
    return strcmp(name(a, x.subject), name(b, y.subject)) == 0 &&
           strcmp(name(a, x.object), name(b, y.object)) == 0 &&
           strcmp(kith_graph_relation_name(a, x.relation),
                  kith_graph_relation_name(b, y.relation)) == 0;
}

/* Every query of one is found in the other, with the same rank. */
static void same_ranks(const kith_model *a, const kith_eval *x, const kith_model *b,
                       const kith_eval *y)
{
    assert_true(x->realistic->queries > 50);
    assert_int_equal(x->realistic->queries, y->realistic->queries);
    for (size_t i = 0; i < x->realistic->queries; i++) {
        size_t k = 0;
        while (k < y->realistic->queries &&
               (x->ranks[i]->subject_hidden != y->ranks[k]->subject_hidden ||
                !same_fact(kith_model_graph(a), x->ranks[i]->fact, kith_model_graph(b),
                           y->ranks[k]->fact)))
            k++;
        assert_true(k < y->realistic->queries);
        assert_int_equal(x->ranks[i]->candidates, y->ranks[k]->candidates);
        assert_true(x->ranks[i]->realistic == y->ranks[k]->realistic);
    }
}

/* On the facts that it was trained on a run ranks as ever, but for the embedding; the order of
 * facts and what has another relation do not matter. */
static void on__the_same_facts_in_another_graph_give_the_same_ranks(void **state)
{
    static const char *const evidence[] = {"rules", "fused"};

    (void)state;
    for (int k = 0; k < 2; k++) {
        kith_graph *graph = families(false), *other = families(true);
        const char *folder = trained_folder(graph, evidence[k]);
        kith_model *here = NULL, *there = opened_on(folder, other);
        kith_error error;
        kith_graph_free(other);
        assert_int_equal(kith_model_open(&here, folder, &(kith_work_options){.threads = 2}, &error),
                         KITH_OK);
        kith_eval *x = evaluated(here, k ? KITH_PART_EMBEDDING : 0), *y = evaluated(there, 0);
        same_ranks(here, x, there, y);
        assert_contains(warning_of(there, 0), "was not trained on 1 of the graph's relations");
        assert_contains(warning_of(there, 0), "are ignored: 20");
        assert_null(warning_of(there, 1));
        kith_eval_free(x);
        kith_eval_free(y);
        kith_model_free(here);
        kith_model_free(there);
        kith_graph_free(graph);
    }
}

/* Strangers, of whom training knew nobody, are asked about and told about. */
static void on__a_graph_of_strangers_can_be_asked_about(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");

    (void)state;
    s.epochs = 1;
    set(&s, "evidence", "fused");
    const char *folder = trained_folder(graph, "fused");
    kith_graph *other = opened(file("other.tsv", "dan\tplays for\tjazz\ndan\tlives in\tutah\n"
                                                 "eve\tplays for\tjazz\nbob\tlives in\tutah\n"
                                                 "jazz\tbased in\tutah\n"));
    kith_model *model = opened_on(folder, other);
    kith_session *session = session_of(model);
    const kith_graph *now = kith_model_graph(model);
    kith_answers *answers = asked(session, "eve", "lives in", NULL);
    assert_int_equal(answers->count, kith_graph_entity_count(other) - 1); /* not eve herself */
    assert_string_equal(name(now, answers->at[0]->entity), "utah");
    kith_answers_free(answers);
    say(session, "new", "plays for", "jazz");
    kith_explanation *e = explained(session, "new", "lives in", NULL);
    assert_string_equal(name(now, e->answers->at[0]->entity), "utah");
    assert_true(e->contributions[0]->embedding == 0 && e->contributions[0]->reason_count > 0);
    kith_explanation_free(e);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(other);
    kith_graph_free(graph);
}

static void on__what_cannot_be_opened_says_why(void **state)
{
    kith_graph *graph = teams(), *other = opened(file("x.tsv", "a\tr\tb\n"));
    const char *rules = trained_folder(graph, "rules"), *vectors = trained_folder(graph, "none");
    kith_model *model = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(
        kith_model_open_on(&model, rules, other, &(kith_work_options){.threads = 1}, &error),
        KITH_ERR_INPUT);
    assert_contains(error.message, "relation");
    assert_int_equal(
        kith_model_open_on(&model, vectors, graph, &(kith_work_options){.threads = 1}, &error),
        KITH_ERR_ARGUMENT);
    assert_contains(error.message, "embedding alone");
    assert_int_equal(
        kith_model_open_on(&model, new_folder(), graph, &(kith_work_options){.threads = 1}, &error),
        KITH_ERR_INPUT);
    assert_contains(error.message, "not a run");
    assert_null(model);
    kith_graph_free(graph);
    kith_graph_free(other);
}

/* ---- arguments that make no sense ---- */

static void arguments__what_makes_no_sense_is_refused_and_nothing_is_fine(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    float vector[8];
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_encode(vector, session, "ann", NULL, 0, &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "relation");
    assert_int_equal(kith_session_encode(vector, session, NULL, "plays for", 0, &error),
                     KITH_ERR_ARGUMENT);
    kith_answers_batch *none;
    assert_int_equal(kith_session_ask_all(&none, session, NULL, 0, NULL, &error), KITH_OK);
    assert_int_equal(none->count, 0);
    kith_answers_batch_free(none);
    kith_answers_batch_free(NULL);
    kith_answers_free(NULL);
    kith_explanation_free(NULL);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void questions__one_that_cannot_be_asked_does_not_hinder_the_others(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    const kith_question questions[] = {{"ann", "plays for", NULL},
                                       {"bulls2", "plays for", NULL},
                                       {NULL, NULL, NULL},
                                       {NULL, "lives in", "chicago"}};
    kith_answers_batch *all;
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_ask_all(&all, session, questions, 4, NULL, &error), KITH_OK);
    assert_int_equal(all->failed, 2);
    assert_true(!all->errors[0] && !all->errors[3]);
    assert_int_equal(all->errors[1]->status, KITH_ERR_NOT_FOUND);
    assert_contains(all->errors[1]->message, "did you mean");
    assert_int_equal(all->errors[2]->status, KITH_ERR_ARGUMENT);
    assert_true(!all->at[1] && !all->at[2]);
    for (int i = 0; i < 4; i += 3) {
        kith_answers *one = asked_with(session, questions[i].subject, questions[i].relation,
                                       questions[i].object, (kith_ask_options){0});
        same_answers(all->at[i], one);
        kith_answers_free(one);
    }
    kith_answers_batch_free(all);
    kith_session_set_suggestions(session, 0);
    assert_int_equal(kith_session_ask_all(&all, session, questions + 1, 1, NULL, &error), KITH_OK);
    assert_null(strstr(all->errors[0]->message, "did you mean"));
    kith_answers_batch_free(all);
    /* A removed fact takes its new name along, but not how the session was set up. */
    assert_int_equal(kith_session_add(NULL, session, "dora", "lives in", "chicago", &error),
                     KITH_OK);
    assert_int_equal(kith_session_undo(session), KITH_OK);
    assert_int_equal(kith_session_ask_all(&all, session, questions + 1, 1, NULL, &error), KITH_OK);
    assert_null(strstr(all->errors[0]->message, "did you mean"));
    kith_answers_batch_free(all);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void questions__ids_are_as_good_as_names(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    kith_answers *by_id, *answers;
    kith_error error;

    (void)state;
    for (size_t i = 0; i < train.count; i++) {
        kith_triple t = {train.at[i].subject, train.at[i].relation, UINT32_MAX};
        assert_int_equal(kith_session_ask_ids(&by_id, session, t, NULL, &error), KITH_OK);
        answers = asked_with(session, name(graph, t.subject),
                             kith_graph_relation_name(graph, t.relation), NULL,
                             (kith_ask_options){0});
        same_answers(by_id, answers);
        kith_answers_free(by_id);
        kith_answers_free(answers);
    }
    const kith_triple bad[] = {{1000, 0, UINT32_MAX}, {0, 1000, UINT32_MAX}, {UINT32_MAX, 0, 1000}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(kith_session_ask_ids(&by_id, session, bad[i], NULL, &error),
                         KITH_ERR_NOT_FOUND);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* A caller that knows fewer fields gets what they say, one that uses unknown ones is told. */
static void options__of_another_size_are_understood(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    const kith_question question = {"ann", "plays for", NULL};
    struct {
        kith_ask_options known;
        uint64_t later;
    } newer = {{0}, 0};
    struct {
        size_t size, top;
    } older = {sizeof older, 2};
    kith_answers *answers;
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_ask(&answers, session, &question,
                                      (const kith_ask_options *)&older, &error), KITH_OK);
    assert_int_equal(answers->count, 2);
    kith_answers_free(answers);
    kith_ask_options_init(&newer.known);
    assert_int_equal(newer.known.size, sizeof newer.known);
    newer.known.size = sizeof newer;
    newer.known.top = 3;
    assert_int_equal(kith_session_ask(&answers, session, &question, &newer.known, &error), KITH_OK);
    assert_int_equal(answers->count, 3);
    kith_answers_free(answers);
    newer.later = 1;
    assert_int_equal(kith_session_ask(&answers, session, &question, &newer.known, &error),
                     KITH_ERR_ARGUMENT);
    kith_eval_options eval;
    kith_eval_options_init(&eval);
    assert_int_equal(eval.size, sizeof eval);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Memory that is in use, by the C library's own count. */
static size_t bytes_in_use(void)
{
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static size_t threads_now(void)
{
    return entries("/proc/self/task");
}

/* Opening one costs next to nothing once the model has answered, and questions make no threads
 * then. */
static void sharing__sessions_are_light(void **state)
{
    enum { SESSIONS = 200 };
    const random_shape shape = {.entities = 20000, .relations = 5, .train = 40000, .dev = 1,
                                .test = 1, .aux = 1};
    kith_settings s = quick("lan");
    kith_session *sessions[SESSIONS];
    kith_question questions[64];
    kith_answers_batch *batch;
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 23, 5);
    kith_graph *graph = opened(random_folder(&rng, &shape));
    kith_model *model = model_with(graph, &s);
    uint32_t relations = kith_graph_seen_relation_count(graph);
    for (int i = 0; i < 64; i++)
        questions[i] =
            (kith_question){name(graph, (uint32_t)i),
                            kith_graph_relation_name(graph, (uint32_t)i % relations), NULL};
    const kith_ask_options options = {.threads = 2};
    kith_session *first = session_of(model);
    size_t threads = 0;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(
            kith_session_ask_all(&batch, first, questions, 64, &options, NULL), KITH_OK);
        kith_answers_batch_free(batch);
        if (round > 0)
            assert_int_equal(threads_now(), threads);
        threads = threads_now();
    }
    size_t before = bytes_in_use();
    double began = seconds(), each;
    for (int i = 0; i < SESSIONS; i++)
        sessions[i] = session_of(model);
    each = (seconds() - began) / SESSIONS;
    size_t used = (bytes_in_use() - before) / SESSIONS;
    if (used > 100000 || each > 50e-6 * 20) /* other processes may want the core */
        fail_msg("a session takes %zu bytes and %.1f microseconds", used, each * 1e6);
    for (int i = 0; i < SESSIONS; i++)
        kith_session_free(sessions[i]);
    kith_session_free(first);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- sharing ---- */

typedef struct {
    kith_model *model;
    kith_answers **expected;
    size_t relations;
    int failures;
} visitor;

static void *visit(void *argument)
{
    visitor *v = argument;
    const kith_graph *graph = kith_model_graph(v->model);
    kith_session *session;

    v->failures = kith_session_new(&session, v->model, NULL) != KITH_OK;
    if (v->failures)
        return NULL;
    kith_session_add(NULL, session, "new", kith_graph_relation_name(graph, 0), name(graph, 1),
                     NULL);
    for (size_t round = 0; round < 40; round++) {
        uint32_t r = (uint32_t)(round % v->relations);
        kith_question q = {"new", kith_graph_relation_name(graph, r), NULL};
        kith_answers *answers;
        if (kith_session_ask(&answers, session, &q, NULL, NULL) != KITH_OK) {
            v->failures++;
            continue;
        }
        for (size_t i = 0; i < answers->count; i++)
            v->failures += answers->at[i]->score != v->expected[r]->at[i]->score ||
                           answers->at[i]->entity != v->expected[r]->at[i]->entity;
        kith_answers_free(answers);
    }
    kith_session_free(session);
    return NULL;
}

/* With room for all encodings, for some, and for none. */
static void sharing__sessions_on_many_threads_give_the_same_answers(void **state)
{
    static const size_t bytes[] = {SIZE_MAX, 4000, 0};
    kith_graph *graph = random_graph(5);
    kith_settings s = quick("lan");
    enum { THREADS = 4 };

    (void)state;
    for (int b = 0; b < 3; b++) {
        kith_model *model = model_with(graph, &s);
        size_t relations = kith_graph_seen_relation_count(graph);
        kith_answers **expected = calloc(relations, sizeof *expected);
        pthread_t threads[THREADS];
        visitor visitors[THREADS];
        kith_session *session = session_of(model);
        say(session, "new", kith_graph_relation_name(graph, 0), name(graph, 1));
        for (uint32_t r = 0; r < relations; r++)
            expected[r] = asked_with(session, "new", kith_graph_relation_name(graph, r), NULL,
                                     (kith_ask_options){0});
        kith_session_free(session);
        kith_model_free(model);
        model = model_with(graph, &s);
        assert_int_equal(kith_model_set_cache(model, bytes[b], NULL), KITH_OK);
        for (int t = 0; t < THREADS; t++) {
            visitors[t] = (visitor){model, expected, relations, 0};
            assert_int_equal(pthread_create(&threads[t], NULL, visit, &visitors[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            pthread_join(threads[t], NULL);
            assert_int_equal(visitors[t].failures, 0);
        }
        assert_true(model->cache->bytes <= bytes[b]);
        kith_model_free(model);
        for (uint32_t r = 0; r < relations; r++)
            kith_answers_free(expected[r]);
        free(expected);
    }
    kith_graph_free(graph);
}

/* Rows of what was used longest ago go first. */
static void sharing__the_cache_keeps_to_its_bytes(void **state)
{
    kith_graph *graph = random_graph(6);
    kith_settings s = quick("lan");
    kith_model *model = model_with(graph, &s);
    kith_session *session = session_of(model);
    kith__candidate_cache *shared = model->cache;
    size_t one = (size_t)kith_graph_seen_entity_count(graph) * shared->stride * sizeof(float);
    static const uint32_t order[] = {0, 1, 0, 2, 0, 1};

    (void)state;
    assert_int_equal(kith_model_set_cache(model, 2 * one, NULL), KITH_OK);
    for (size_t i = 0; i < 6; i++) {
        kith_answers *a = asked(session, name(graph, 0), kith_graph_relation_name(graph, order[i]),
                               NULL);
        kith_answers_free(a);
        assert_true(shared->bytes <= 2 * one && shared->bytes >= one);
    }
    uint32_t m = kith_graph_seen_relation_count(graph);
    assert_int_equal(shared->first->query, m + 1); /* made last */
    assert_int_equal(shared->first->next->query, m); /* used in between, and kept */
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- suggestions ---- */

static void suggestions__go_by_letters_beginnings_and_labels(void **state)
{
    const char *folder = new_folder();
    uint32_t ids[4];

    (void)state;
    put(folder, "train", "m1\tlocated_in\tm2\nm3\tlocated_in\tm2\nChicago_Bulls\tlocated_in\tm2\n");
    put(folder, "entity_name.txt", "m1\tThe White House\nm2\tWashington\n");
    kith_graph *graph = opened(folder);
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "washington"), 1);
    assert_string_equal(name(graph, ids[0]), "m2");
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "Chicgo_Buls"), 1);
    assert_string_equal(name(graph, ids[0]), "Chicago_Bulls");
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "chicago"), 1);
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "white house"), 1);
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "something else"), 0);
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "m11"), 1);
    assert_int_equal(kith_graph_suggest_entities(ids, 4, graph, "m4x"), 0);
    assert_int_equal(kith_graph_suggest_entities(ids, 1, graph, "Chicaog_Bulls"), 1);
    assert_int_equal(kith_graph_suggest_relations(ids, 4, graph, "locatd_in"), 1);
    assert_int_equal(kith_graph_suggest_relations(ids, 0, graph, "locatd_in"), 0);
    kith_graph_free(graph);
}

/* The names suggested for a text, in order. */
static const char *suggested(const kith_graph *graph, const char *text)
{
    static char list[512];
    uint32_t ids[4];
    size_t count = kith_graph_suggest_entities(ids, 4, graph, text), used = 0;

    list[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? " " : "",
                                 name(graph, ids[i]));
    return list;
}

static void suggestions__the_word_itself_comes_before_names_that_contain_it(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train",
        "dog_paddle.n.01\tis\tthing.n.01\ndog-ear.v.01\tis\tthing.n.01\n"
        "dog.n.02\tis\tthing.n.01\ndog.n.01\tis\tthing.n.01\n"
        "__big_cat_1\tis\tthing.n.01\n__cat_2\tis\tthing.n.01\n"
        "pkg:python3-apt\tis\tthing.n.01\npkg:python3\tis\tthing.n.01\n"
        "hotdog.n.01\tis\tthing.n.01\nAnna Maria Karlsson\tis\tthing.n.01\n");
    put(folder, "aux", "newt.n.01\tis\tthing.n.01\n");
    put(folder, "test", "unheard.n.01\tis\tthing.n.01\nnewt.n.01\tis\tdog.n.01\n");
    kith_graph *graph = opened(folder);
    assert_string_equal(suggested(graph, "dog"), "dog.n.01 dog.n.02 dog-ear.v.01 dog_paddle.n.01");
    assert_string_equal(suggested(graph, "cat"), "__cat_2 __big_cat_1");
    assert_string_equal(suggested(graph, "__cat"), "__cat_2");
    assert_string_equal(suggested(graph, "python3"), "pkg:python3 pkg:python3-apt");
    assert_string_equal(suggested(graph, "hot dog"), "hotdog.n.01");
    assert_string_equal(suggested(graph, "Karlson"), "Anna Maria Karlsson");
    assert_string_equal(suggested(graph, "newt"), "newt.n.01"); /* it has support facts */
    assert_string_equal(suggested(graph, "unheard"), "");       /* it has no facts */
    kith_graph_free(graph);
}

/* ---- memory ---- */

/* Everything that a session does, with the n-th allocation failing. */
static kith_status use_it_all(kith_model *model)
{
    kith_session *session = NULL;
    kith_answers *answers = NULL;
    kith_explanation *why;
    const kith_question questions[] = {{"new", "lives in", NULL}, {"new", NULL, NULL}};
    kith_status status;

    status = kith_session_new(&session, model, NULL);
    if (status == KITH_OK)
        status = kith_session_add(NULL, session, "new", "plays for", "bulls", NULL);
    if (status == KITH_OK)
        status = kith_session_add(NULL, session, "new", "hates", "bulls", NULL);
    for (int i = 0; i < 2 && status == KITH_OK; i++) {
        status = kith_session_ask(&answers, session, &questions[i], NULL, NULL);
        if (status == KITH_OK)
            kith_answers_free(answers);
    }
    if (status == KITH_OK)
        status = kith_session_explain(&why, session, &questions[0], NULL, NULL);
    if (status == KITH_OK)
        kith_explanation_free(why);
    kith_session_free(session);
    return status;
}

static void memory__any_allocation_may_fail(void **state)
{
    kith_graph *graph = teams();
    kith_settings s = quick("lan");
    kith_status status = KITH_ERR_MEMORY;
    size_t n = 0;

    (void)state;
    while (status != KITH_OK) {
        kith_model *model = model_with(graph, &s);
        kith__mem_fail_at(++n);
        status = use_it_all(model);
        kith__mem_fail_at(0);
        assert_true(status == KITH_OK || status == KITH_ERR_MEMORY);
        if (status != KITH_OK) /* and once more, now that there is memory again */
            assert_int_equal(use_it_all(model), KITH_OK);
        kith_model_free(model);
    }
    assert_true(n > 50);
    kith_graph_free(graph);
}

/* Which relations are likely takes a table of pairs of relations: it is limited, and the question
 * then refused. With a relation it is answered. */
static void pairs__too_many_relations_of_one_entity_are_refused(void **state)
{
    enum { RELATIONS = 4200 };
    kith_graph *graph;
    kith_settings settings;
    kith_model *model = NULL;
    kith_answers *answers = NULL;
    kith_missing *missing = NULL;
    kith_error error = {KITH_OK, ""};
    draft t = {0};

    (void)state;
    for (int r = 0; r < RELATIONS; r++)
        add(&t, "hub\tr%d\te%d\n", r, r % 5);
    graph = opened(file("hub.tsv", t.at));
    draft_release(&t);
    assert_int_equal(kith__settings_init(&settings, "release", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&settings, "aggregator", "mean", NULL), KITH_OK);
    settings.dim = 2;
    assert_int_equal(
        kith_model_new(&model, graph, &settings, &(kith_work_options){.threads = 1}, NULL),
        KITH_OK);
    kith_session *session = session_of(model);
    assert_int_equal(kith_session_ask(&answers, session, &(kith_question){"e1", NULL, NULL}, NULL,
                                      &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "ask with a relation");
    assert_int_equal(kith_session_find_missing(&missing, session, NULL, NULL, &error),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_ask(&answers, session, &(kith_question){"hub", "r7", NULL}, NULL,
                                      &error), KITH_OK);
    kith_answers_free(answers);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- a hub with more relations than can be counted in pairs ---- */

static size_t bytes_to_ask_pairs(kith_session *session)
{
    kith_answers *answers = NULL;
    kith_error error;

    kith__mem_count(1);
    assert_int_equal(kith_session_ask(&answers, session, &(kith_question){"hub", NULL, NULL}, NULL,
                                      &error),
                     KITH_ERR_ARGUMENT);
    kith__mem_count(0);
    assert_contains(error.message, "pairs of relations");
    return kith__mem_counted();
}

static void hub__a_session_counts_its_pairs_once_and_in_bounded_memory(void **state)
{
    enum { RELATIONS = 4200 }; /* whose pairs are more than KITH__MOST_IMPLICATIONS */
    const char *folder = new_folder();
    kith_session *session = NULL;
    kith_model *model = NULL;
    kith_settings s;
    draft t = {0};

    (void)state;
    for (int r = 0; r < RELATIONS; r++)
        add(&t, "hub\tr%d\te%d\n", r, r % 7);
    kith_graph *graph = opened(put(folder, "hub.tsv", t.at));
    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(&s, "aggregator", "mean", NULL), KITH_OK);
    s.dim = 4;
    assert_int_equal(kith_model_new(&model, graph, &s, &(kith_work_options){.threads = 1}, NULL),
                     KITH_OK);
    assert_int_equal(kith_session_new(&session, model, NULL), KITH_OK);
    assert_true(bytes_to_ask_pairs(session) < (size_t)256 << 20); /* all pairs would be 400 MB */
    assert_true(bytes_to_ask_pairs(session) < (size_t)8 << 20);
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
    draft_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs__too_many_relations_of_one_entity_are_refused),
        cmocka_unit_test(predict__ranks_are_those_of_eval_for_every_aggregator_and_decoder),
        cmocka_unit_test(predict__both_drivers_agree_for_every_choice_of_settings),
        cmocka_unit_test(predict__both_drivers_agree_for_every_preset),
        cmocka_unit_test(predict__ranks_are_those_of_eval_on_a_larger_graph),
        cmocka_unit_test(predict__scores_do_not_depend_on_what_was_asked_before),
        cmocka_unit_test(predict__ranks_are_those_of_eval_on_subject_10),
        cmocka_unit_test(predict__ranks_are_those_of_eval_with_rule_evidence),
        cmocka_unit_test(facts__each_is_used_or_named_with_the_reason),
        cmocka_unit_test(facts__an_empty_name_or_one_that_is_not_utf8_is_refused),
        cmocka_unit_test(facts__undo_takes_back_one_after_the_other),
        cmocka_unit_test(facts__a_set_forgets_what_is_removed_and_nothing_else),
        cmocka_unit_test(facts__a_graph_can_be_said_as_a_whole),
        cmocka_unit_test(facts__a_million_about_one_entity_are_cut_as_training_cuts),
        cmocka_unit_test(facts__names_of_ten_thousand_bytes_work),
        cmocka_unit_test(questions__bad_ones_are_refused_in_words),
        cmocka_unit_test(questions__known_answers_are_marked_or_left_out),
        cmocka_unit_test(questions__an_entity_is_its_own_answer_only_where_the_relation_has_loops),
        cmocka_unit_test(questions__top_cuts_and_nothing_else),
        cmocka_unit_test(questions__pairs_are_the_best_over_all_relations),
        cmocka_unit_test(questions__many_at_once_are_answered_as_one_by_one),
        cmocka_unit_test(why__every_aggregator_tells_what_it_has),
        cmocka_unit_test(why__rules_and_redundant_neighbours_are_those_of_the_graph),
        cmocka_unit_test(why__one_fact_cannot_be_left_out_and_a_cut_list_says_so),
        cmocka_unit_test(why__a_question_is_encoded_and_scored_once_and_so_is_each_ablation),
        cmocka_unit_test(why__rules_alone_read_all_neighbours),
        cmocka_unit_test(rules_alone__have_scores_but_no_vectors),
        cmocka_unit_test(on__the_same_facts_in_another_graph_give_the_same_ranks),
        cmocka_unit_test(on__a_graph_of_strangers_can_be_asked_about),
        cmocka_unit_test(on__what_cannot_be_opened_says_why),
        cmocka_unit_test(arguments__what_makes_no_sense_is_refused_and_nothing_is_fine),
        cmocka_unit_test(questions__one_that_cannot_be_asked_does_not_hinder_the_others),
        cmocka_unit_test(questions__ids_are_as_good_as_names),
        cmocka_unit_test(options__of_another_size_are_understood),
        cmocka_unit_test(sharing__sessions_are_light),
        cmocka_unit_test(sharing__sessions_on_many_threads_give_the_same_answers),
        cmocka_unit_test(sharing__the_cache_keeps_to_its_bytes),
        cmocka_unit_test(suggestions__go_by_letters_beginnings_and_labels),
        cmocka_unit_test(suggestions__the_word_itself_comes_before_names_that_contain_it),
        cmocka_unit_test(hub__a_session_counts_its_pairs_once_and_in_bounded_memory),
        cmocka_unit_test(memory__any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
