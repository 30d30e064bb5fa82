/* Why: the neighbours behind an answer, their weights, the rules behind those, and what happens
 * without one of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "session/contributions.h"

enum {
    LEFT_OUT = 5,   /* heaviest neighbours that are left out, one at a time */
    UNWEIGHED = 15, /* the same where nothing says which are heaviest */
    COMPARED = 5    /* answers whose moves are told */
};

typedef struct {
    kith_session *session;
    kith__workspace *workspace;
    kith__query_entity asked;
    size_t of_graph; /* of the asked facts, those before are the graph's */
    uint32_t query;
    const kith__implications *rules; /* NULL without logic weights */
    kith_explanation *out;
    kith_neighbor *facts; /* the asked ones, and copies of them that lack one each */
} explaining;

/* ---- rules ---- */

static kith_implication public_rule(const kith_graph *g, uint32_t premise, uint32_t conclusion,
                             uint32_t support, double confidence)
{
    uint32_t m = g->seen_relations;
    return (kith_implication){.premise = kith__undirected(g, premise),
                       .conclusion = kith__undirected(g, conclusion),
                       .premise_inverse = premise >= m,
                       .conclusion_inverse = conclusion >= m,
                       .support = support,
                       .confidence = confidence};
}

/* P(relation => query), and for the query itself what the settings say. */
static kith_implication rule_for(const explaining *x, uint32_t relation)
{
    const kith_graph *g = x->session->model->graph;
    const kith__implications *rules = x->rules;

    if (relation == x->query)
        return public_rule(
            g, relation, relation, rules->frequency[relation],
            kith__implications_self(rules, relation,
                                    (kith__self)x->session->model->settings.self_confidence));
    for (uint64_t i = rules->offset[x->query]; i < rules->offset[x->query + 1]; i++)
        if (rules->at[i].relation == relation)
            return public_rule(g, relation, x->query, rules->at[i].support,
                               rules->at[i].confidence);
    return public_rule(g, relation, x->query, 0, 0);
}

/* The other relation of the entity that implies this one most: the first whose premise is there. */
static kith_implication fellow_of(const explaining *x, uint32_t relation)
{
    const kith_graph *g = x->session->model->graph;
    const kith__implications *rules = x->rules;

    for (uint64_t i = rules->offset[relation]; i < rules->offset[relation + 1]; i++)
        if (x->workspace->relations[rules->at[i].relation])
            return public_rule(g, rules->at[i].relation, relation, rules->at[i].support,
                               rules->at[i].confidence);
    return public_rule(g, relation, relation, 0, 0);
}

static void mark_relations(const explaining *x, uint8_t value)
{
    for (size_t i = 0; i < x->asked.count; i++)
        x->workspace->relations[x->asked.facts[i].relation] = value;
}

/* ---- neighbours ---- */

static kith_weighing weighing_of(const explaining *x)
{
    if (x->session->model->settings.evidence == KITH_EVIDENCE_RULES)
        return KITH_WEIGH_NONE; /* no vector counts */
    return kith__encoder_weighing(x->workspace->encoder);
}

static kith_weighted_neighbor neighbor_at(const explaining *x, size_t v, kith_neighbor next,
                                          bool added)
{
    const kith_graph *g = x->session->model->graph;
    kith__neighbor_weight got = kith__encoder_weight(x->workspace->encoder, 0, v);
    kith_weighted_neighbor found = {.relation = kith__undirected(g, next.relation),
                                    .entity = next.entity,
                                    .place = v,
                                    .inverse = next.relation >= g->seen_relations,
                                    .added = added,
                                    .weight = got.weight,
                                    .logic = got.logic,
                                    .attention = got.attention,
                                    .wins = got.wins};

    if (x->out->weighing == KITH_WEIGH_NONE)
        found.weight = NAN;
    if (!isnan(got.logic)) {
        found.rule = rule_for(x, next.relation);
        found.redundant_with = fellow_of(x, next.relation);
    }
    return found;
}

/* The model's list is what it keeps of the facts, in their order. */
static kith_status gather(explaining *x, kith_error *error)
{
    kith_explanation *out = x->out;
    const kith_neighbor *at;
    size_t fact = 0;
    kith_status status;

    TRY(kith__encode_entities(x->session, x->workspace, &x->asked, 1, x->query, error));
    at = kith__encoder_neighbors(&out->neighbor_count, x->workspace->encoder, 0);
    out->weighing = weighing_of(x);
    out->unread = x->asked.count - out->neighbor_count;
    out->neighbors = kith__calloc(out->neighbor_count, sizeof *out->neighbors);
    if (!out->neighbors)
        TRY(kith__no_memory(error));
    mark_relations(x, 1);
    for (size_t v = 0; v < out->neighbor_count; v++, fact++) {
        while (x->asked.facts[fact].relation != at[v].relation ||
               x->asked.facts[fact].entity != at[v].entity)
            fact++;
        out->neighbors[v] = neighbor_at(x, v, at[v], fact >= x->of_graph);
    }
    mark_relations(x, 0);
cleanup:
    return status;
}

static int heavier_first(const void *a, const void *b)
{
    const kith_weighted_neighbor *x = a, *y = b;
    double left = isnan(x->weight) ? x->wins : x->weight;
    double right = isnan(y->weight) ? y->wins : y->weight;

    if (left != right)
        return left < right ? 1 : -1;
    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    if (x->entity != y->entity)
        return x->entity < y->entity ? -1 : 1;
    return x->inverse - y->inverse;
}

/* ---- without one ---- */

/* Copies of the facts that lack the first few neighbours, one each. */
static kith_status copy_without(kith__query_entity *variants, explaining *x, size_t count,
                                kith_error *error)
{
    const kith__query_entity *all = &x->asked;
    uint32_t m = x->session->model->graph->seen_relations;
    size_t need, used = all->count;

    if (__builtin_mul_overflow(all->count, count + 1, &need))
        return kith__no_memory(error);
    x->facts = kith__alloc(need, sizeof *x->facts);
    if (!x->facts)
        return kith__no_memory(error);
    memcpy(x->facts, all->facts, all->count * sizeof *x->facts);
    variants[0] = (kith__query_entity){all->entity, x->facts, all->count};
    for (size_t i = 0; i < count; i++) {
        const kith_weighted_neighbor *gone = &x->out->neighbors[i];
        uint32_t relation = gone->relation + (gone->inverse ? m : 0);
        size_t from = used;
        for (size_t k = 0; k < all->count; k++)
            if (all->facts[k].relation != relation || all->facts[k].entity != gone->entity)
                x->facts[used++] = all->facts[k];
        variants[i + 1] = (kith__query_entity){all->entity, x->facts + from, used - from};
    }
    return KITH_OK;
}

static size_t rank_of(const float *scores, size_t count, uint32_t entity)
{
    size_t rank = 1;

    for (size_t c = 0; c < count; c++)
        rank += scores[c] > scores[entity] || (scores[c] == scores[entity] && c < entity);
    return rank;
}

static uint32_t best_of(const float *scores, size_t count)
{
    uint32_t best = 0;

    for (size_t c = 1; c < count; c++)
        if (scores[c] > scores[best])
            best = (uint32_t)c;
    return best;
}

static void tell_moves(explaining *x, size_t variant, const float *scores, size_t n)
{
    kith_explanation *out = x->out;
    const float *without = scores + (variant + 1) * n;
    kith_rank_change *moves = out->moves + variant * out->compared;

    for (size_t i = 0; i < out->compared; i++) {
        uint32_t entity = out->answers.at[i].entity;
        moves[i] = (kith_rank_change){rank_of(scores, n, entity), rank_of(without, n, entity),
                               scores[entity], without[entity]};
    }
    out->left_out[variant] = (kith_ablation){variant, moves, best_of(without, n)};
}

/* By how much the first answer falls. */
static int falls_more_first(const void *a, const void *b)
{
    const kith_ablation *x = a, *y = b;
    float left = x->moves[0].score - x->moves[0].score_masked;
    float right = y->moves[0].score - y->moves[0].score_masked;

    if (left != right)
        return left < right ? 1 : -1;
    return x->neighbor < y->neighbor ? -1 : 1;
}

static void count_compared(kith_explanation *out)
{
    for (size_t i = 0; i < out->answers.count && out->compared < COMPARED; i++) {
        if (out->answers.at[i].relation != out->relation)
            break; /* pairs: only those of the relation that is explained */
        out->compared++;
    }
}

/* A single fact cannot be left out: nothing would be known. */
static kith_status leave_out(explaining *x, kith_error *error)
{
    kith_explanation *out = x->out;
    size_t most = out->weighing == KITH_WEIGH_NONE ? UNWEIGHED : LEFT_OUT;
    size_t count = out->neighbor_count < most ? out->neighbor_count : most;
    size_t n = x->workspace->lists.seen;
    kith__query_entity variants[UNWEIGHED + 1];
    kith_status status = KITH_OK;

    if (x->asked.count < 2 || out->compared == 0)
        return KITH_OK;
    out->left_out = kith__calloc(count, sizeof *out->left_out);
    out->moves = kith__calloc(count * out->compared, sizeof *out->moves);
    if (!out->left_out || !out->moves)
        TRY(kith__no_memory(error));
    TRY(copy_without(variants, x, count, error));
    TRY(kith__answer_scores(x->workspace->scores, x->session, x->workspace, variants, count + 1,
                            &x->query, 1, error));
    for (size_t i = 0; i < count; i++)
        tell_moves(x, i, x->workspace->scores, n);
    if (out->weighing == KITH_WEIGH_NONE)
        qsort(out->left_out, count, sizeof *out->left_out, falls_more_first);
    out->ablation_count = count;
cleanup:
    return status;
}

/* ---- together ---- */

static kith_status find_query(explaining *x, const kith_question *question, kith_error *error)
{
    kith__resolved resolved;
    kith_status status = kith__resolve(&resolved, x->session, question, error);
    uint32_t m = x->session->model->graph->seen_relations;

    if (status != KITH_OK)
        return status;
    x->asked.entity = resolved.entity;
    x->query = resolved.query;
    if (x->query == KITH__NO_ID)
        x->query = (x->out->answers.count ? x->out->answers.at[0].relation : 0) +
                   (resolved.subject_asked ? m : 0);
    x->out->relation = kith__undirected(x->session->model->graph, x->query);
    return KITH_OK;
}

kith_status kith_session_explain(kith_explanation *explanation, kith_session *session,
                                 const kith_question *question, const kith_ask_options *options,
                                 kith_error *error)
{
    kith_explanation out = {0};
    explaining x = {.session = session, .out = &out, .rules = session->model->rules};
    kith_status status;

    TRY(kith_session_ask(&out.answers, session, question, options, error));
    x.workspace = kith__workspace_at(session, 0);
    TRY(find_query(&x, question, error));
    x.workspace->fact_count = 0;
    TRY(kith__session_facts(&x.asked.count, &x.of_graph, x.workspace, session, x.asked.entity,
                            error));
    x.asked.facts = x.workspace->facts;
    TRY(gather(&x, error));
    if (out.weighing != KITH_WEIGH_NONE)
        qsort(out.neighbors, out.neighbor_count, sizeof *out.neighbors, heavier_first);
    count_compared(&out);
    TRY(kith__find_contributions(&out, session, x.workspace, &x.asked, x.query, error));
    TRY(leave_out(&x, error));
    *explanation = out;
    out = (kith_explanation){0};
cleanup:
    kith__free(x.facts);
    kith_explanation_release(&out);
    return status;
}

void kith_explanation_release(kith_explanation *explanation)
{
    kith_answers_release(&explanation->answers);
    kith__contributions_free(explanation->contributions, explanation->contribution_count);
    kith__free(explanation->neighbors);
    kith__free(explanation->left_out);
    kith__free(explanation->moves);
    *explanation = (kith_explanation){0};
}
