/* Explanations: the neighbours behind an answer, their weights, the rules behind those, and
 * ablations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/lists.h"
#include "core/mem.h"
#include "graph/graph.h"
#include "session/contributions.h"

enum {
    MASKED = 5,     /* neighbours that are masked, one at a time: those with the highest weights */
    UNWEIGHED = 15, /* the number together with those that have no weight */
    COMPARED = 5    /* answers whose changes of rank are shown */
};

typedef struct {
    kith_session *session;
    kith__workspace *workspace;
    kith__query_entity queried;
    size_t of_graph; /* how many of the entity's facts come from the graph */
    uint32_t query;
    bool known; /* the fact to explain is known, and therefore hidden */
    /* the question is about this pair of equal entities, so the entity itself stays a candidate */
    bool with_self;
    float *scores;                   /* final scores of the question, in the workspace */
    const kith__implications *rules; /* NULL without logic weights */
    kith__score_parts *out;
    size_t weighed; /* how many neighbours have weights; they come first */
    kith_neighbor *facts, *sorted; /* copies of the entity's facts, each with one fact removed */
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

/* P(relation => query); for the query itself, the value that the settings define. */
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

/* The other relation of the entity that implies this one most strongly: the first whose premise is
 * present. */
static kith_implication redundant_with(const explaining *x, uint32_t relation)
{
    const kith_graph *g = x->session->model->graph;
    const kith__implications *rules = x->rules;

    for (uint64_t i = rules->offset[relation]; i < rules->offset[relation + 1]; i++)
        if (x->workspace->relations[rules->at[i].relation])
            return public_rule(g, rules->at[i].relation, relation, rules->at[i].support,
                               rules->at[i].confidence);
    return public_rule(g, relation, relation, 0, 0);
}

/* Only relations that the encoder has read: beside a seen neighbour, unseen ones do not count. */
static void mark_relations(const explaining *x, uint8_t value)
{
    uint32_t seen = x->session->model->lists->seen;
    bool all = !kith__has_seen_neighbor((kith__span){x->queried.facts, x->queried.count}, seen);

    for (size_t i = 0; i < x->queried.count; i++)
        if (all || x->queried.facts[i].entity < seen)
            x->workspace->relations[x->queried.facts[i].relation] = value;
}

/* ---- neighbours ---- */

static bool embedding_counts(const explaining *x)
{
    return kith__embedding_counts(x->workspace, &x->queried);
}

static kith_weighing weighing_of(const explaining *x)
{
    if (!embedding_counts(x))
        return KITH_WEIGH_NONE;
    return kith__encoder_weighing(x->workspace->encoder);
}

static kith_weighted_neighbor neighbor_at(const explaining *x, kith_neighbor next, size_t place)
{
    const kith_graph *g = x->session->model->graph;

    return (kith_weighted_neighbor){.relation = kith__undirected(g, next.relation),
                                    .entity = next.entity,
                                    .place = place,
                                    .inverse = next.relation >= g->seen_relations,
                                    .weight = NAN,
                                    .logic = NAN,
                                    .attention = NAN};
}

static kith_weighted_neighbor weighed_at(const explaining *x, kith_neighbor next, size_t place)
{
    kith__neighbor_weight got = kith__encoder_weight(x->workspace->encoder, 0, place);
    kith_weighted_neighbor found = neighbor_at(x, next, place);

    if (x->out->weighing != KITH_WEIGH_NONE)
        found.weight = got.weight;
    found.logic = got.logic;
    found.attention = got.attention;
    found.wins = got.wins;
    if (!isnan(got.logic)) {
        kith_implication *rules = x->out->implications + 2 * place;
        rules[0] = rule_for(x, next.relation);
        rules[1] = redundant_with(x, next.relation);
        found.rule = rules[0].confidence > 0 ? &rules[0] : NULL;
        found.redundant_with = rules[1].confidence > 0 ? &rules[1] : NULL;
    }
    return found;
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

static kith_status make_neighbors(explaining *x, size_t count, kith_error *error)
{
    x->out->weighing = weighing_of(x);
    x->out->neighbor_count = count;
    x->out->unread = x->queried.count - count;
    x->out->neighbors = kith__calloc(count, sizeof *x->out->neighbors);
    x->out->implications = kith__calloc(count, 2 * sizeof *x->out->implications);
    return x->out->neighbors && x->out->implications ? KITH_OK : kith__no_memory(error);
}

static void add_unweighed(explaining *x, size_t *count, size_t fact)
{
    x->out->neighbors[*count] = neighbor_at(x, x->queried.facts[fact], SIZE_MAX);
    x->out->neighbors[(*count)++].added = fact >= x->of_graph;
}

/* For an embedding: the facts that it uses, in order, with the weights of its encoder, which has
 * just encoded the entity. Rules use all facts, so that the others follow if there are rules. */
static kith_status weigh_neighbors(explaining *x, kith_error *error)
{
    size_t fact = 0, count, rest;
    const kith_neighbor *at = kith__encoder_neighbors(&count, x->workspace->encoder, 0);
    bool all = x->session->model->fused;
    kith_status status;

    TRY(make_neighbors(x, all ? x->queried.count : count, error));
    rest = count;
    mark_relations(x, 1);
    for (size_t v = 0; v < count; v++, fact++) {
        kith_neighbor next = kith__encoded_neighbor(&x->workspace->entities, at[v]);
        for (; x->queried.facts[fact].relation != next.relation ||
               x->queried.facts[fact].entity != next.entity; fact++)
            if (all)
                add_unweighed(x, &rest, fact);
        x->out->neighbors[v] = weighed_at(x, next, v);
        x->out->neighbors[v].added = fact >= x->of_graph;
    }
    for (; all && fact < x->queried.count; fact++)
        add_unweighed(x, &rest, fact);
    mark_relations(x, 0);
    x->weighed = x->out->weighing == KITH_WEIGH_NONE ? 0 : count;
cleanup:
    return status;
}

/* Rules use all facts without weighting them. */
static kith_status list_neighbors(explaining *x, kith_error *error)
{
    kith_status status = make_neighbors(x, x->queried.count, error);

    for (size_t i = 0; status == KITH_OK && i < x->queried.count; i++) {
        x->out->neighbors[i] = neighbor_at(x, x->queried.facts[i], i);
        x->out->neighbors[i].added = i >= x->of_graph;
    }
    return status;
}

static kith_status leave_out_self(const explaining *x, float *scores, kith_error *error)
{
    return x->with_self ? KITH_OK
                        : kith__leave_out_self(scores, x->workspace, x->session, x->queried.entity,
                                               x->query, error);
}

/* Score the question, and record the neighbours' weights while the encoder still has them. */
static kith_status score(explaining *x, kith_error *error)
{
    kith__workspace *a = x->workspace;
    bool embedding = embedding_counts(x);
    const float *final;
    kith_status status = KITH_OK;

    if (kith__workspace_reserve(a, 1 + kith__queries_at_once(a->model)))
        TRY(kith__no_memory(error));
    if (embedding)
        TRY(kith__embedding_scores(a->scores, x->session->cache, a, &x->queried, 1, &x->query, 1,
                                   error));
    TRY(embedding ? weigh_neighbors(x, error) : list_neighbors(x, error));
    qsort(x->out->neighbors, x->weighed, sizeof *x->out->neighbors, heavier_first);
    TRY(kith__final_scores(&final, &a->shares[0], a, &x->queried, x->query, a->scores, error));
    x->scores = final == a->scores ? a->scores : a->fusion->scores;
    TRY(leave_out_self(x, x->scores, error));
cleanup:
    return status;
}

/* ---- ablations ---- */

/* The neighbour that a variant masks: first those with the highest weights, then those without. */
static size_t masked_by(const explaining *x, size_t variant)
{
    size_t heaviest = x->weighed < MASKED ? x->weighed : MASKED;
    return variant < heaviest ? variant : x->weighed + variant - heaviest;
}

/* Copies of the facts, each without one of the masked neighbours. */
static kith_status copy_without(kith__query_entity *variants, explaining *x, size_t count,
                                kith_error *error)
{
    const kith__query_entity *all = &x->queried;
    uint32_t m = x->session->model->graph->seen_relations;
    size_t need, used = 0;

    if (__builtin_mul_overflow(all->count, count, &need))
        return kith__no_memory(error);
    x->facts = kith__alloc(need, sizeof *x->facts);
    x->sorted = kith__alloc(need, sizeof *x->sorted);
    if (!x->facts || !x->sorted)
        return kith__no_memory(error);
    for (size_t i = 0; i < count; i++) {
        const kith_weighted_neighbor *gone = &x->out->neighbors[masked_by(x, i)];
        uint32_t relation = gone->relation + (gone->inverse ? m : 0);
        size_t from = used, left = 0;
        for (size_t k = 0; k < all->count; k++)
            if (all->facts[k].relation != relation || all->facts[k].entity != gone->entity)
                x->facts[used++] = all->facts[k];
        for (size_t k = 0; k < all->sorted.count; k++)
            if (all->sorted.at[k].relation != relation || all->sorted.at[k].entity != gone->entity)
                x->sorted[from + left++] = all->sorted.at[k];
        variants[i] = (kith__query_entity){all->entity, x->facts + from, used - from,
                                           {x->sorted + from, left}};
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
        if (scores[c] > scores[best] || isnan(scores[best]))
            best = (uint32_t)c;
    return best;
}

static void note_changes(explaining *x, size_t variant, const float *without)
{
    kith__score_parts *out = x->out;
    const float *scores = x->workspace->scores;
    size_t n = x->workspace->width;
    kith_rank_change **changes = out->changes + variant * out->compared;

    for (size_t i = 0; i < out->compared; i++) {
        uint32_t entity = out->answers.at[i].entity;
        *changes[i] = (kith_rank_change){rank_of(scores, n, entity), rank_of(without, n, entity),
                                         scores[entity], without[entity]};
    }
    out->ablations[variant] = (kith_ablation){masked_by(x, variant),
                                              (const kith_rank_change *const *)changes,
                                              best_of(without, n)};
}

/* Sorts by how far the first answer falls, the largest fall first. */
static int falls_more_first(const void *a, const void *b)
{
    const kith_ablation *x = a, *y = b;
    float left = x->changes[0]->score - x->changes[0]->score_masked;
    float right = y->changes[0]->score - y->changes[0]->score_masked;

    if (left != right)
        return left < right ? 1 : -1;
    return x->neighbor < y->neighbor ? -1 : 1;
}

static void count_compared(kith__score_parts *out)
{
    for (size_t i = 0; i < out->answers.count && out->compared < COMPARED; i++) {
        if (out->answers.at[i].relation != out->relation ||
            out->answers.at[i].is_subject != out->answers.at[0].is_subject)
            break; /* pairs: only those of the relation that is explained */
        out->compared++;
    }
}

/* Row 0 of the workspace has the scores of all facts; a few variants at a time are scored behind
 * it. */
static kith_status score_variants(explaining *x, const kith__query_entity *variants, size_t count,
                                  kith_error *error)
{
    kith__workspace *a = x->workspace;
    size_t n = a->width, most = kith__queries_at_once(a->model);
    kith_status status = KITH_OK;

    if (x->scores != a->scores) /* before the fusion scores other entities */
        memcpy(a->scores, x->scores, n * sizeof *x->scores);
    for (size_t from = 0; from < count; from += most) {
        size_t some = count - from < most ? count - from : most;
        TRY(kith__answer_scores(a->scores + n, x->session->cache, a, variants + from, some,
                                &x->query, 1, error));
        for (size_t i = 0; i < some; i++) {
            TRY(leave_out_self(x, a->scores + (1 + i) * n, error));
            note_changes(x, from + i, a->scores + (1 + i) * n);
        }
    }
cleanup:
    return status;
}

/* If there is only one fact, it cannot be masked, because nothing would be known. */
static kith_status find_ablations(explaining *x, kith_error *error)
{
    kith__score_parts *out = x->out;
    size_t heaviest = x->weighed < MASKED ? x->weighed : MASKED;
    size_t count = heaviest + (out->neighbor_count - x->weighed);
    kith__query_entity variants[UNWEIGHED];
    kith_status status = KITH_OK;

    if (x->queried.count < 2 || out->compared == 0)
        return KITH_OK;
    count = count < UNWEIGHED ? count : UNWEIGHED;
    out->ablations = kith__calloc(count, sizeof *out->ablations);
    out->changes = kith__list_new(count * out->compared, sizeof **out->changes);
    if (!out->ablations || !out->changes)
        TRY(kith__no_memory(error));
    TRY(copy_without(variants, x, count, error));
    TRY(score_variants(x, variants, count, error));
    if (count > heaviest)
        qsort(out->ablations + heaviest, count - heaviest, sizeof *out->ablations,
              falls_more_first);
    out->ablation_count = count;
cleanup:
    return status;
}

/* ---- the explanation ---- */

/* Put the candidate of the fact first, followed by the best others. */
static void put_first(kith__answers *answers, const kith_answer *own)
{
    size_t at = 0;

    while (at < answers->count && answers->at[at].entity != own->entity)
        at++;
    if (at == answers->count)
        at--; /* if the list does not contain it, it replaces the last answer */
    memmove(answers->at + 1, answers->at, at * sizeof *answers->at);
    answers->at[0] = *own;
}

static kith_status row_of(kith__scored_query *row, explaining *x, kith_error *error)
{
    return kith__scored_query_of(row, x->session->cache, x->workspace, &x->queried, x->scores,
                                 &x->workspace->shares[0], x->query, error);
}

static kith_status answer_fact(explaining *x, uint32_t other, const kith_ask_options *options,
                               kith_error *error)
{
    kith_ask_options unknown = *options;
    kith__scored_query row;
    kith_answer own;
    kith_status status;

    unknown.new_only = 1; /* known answers do not compete with it */
    TRY(row_of(&row, x, error));
    TRY(kith__best_answers(&x->out->answers, x->workspace, &row, &unknown, error));
    kith__answer_of(&own, x->workspace, &row, other); /* with probabilities: it is hidden */
    own.known = x->known;
    if (x->queried.count == 0) { /* no evidence */
        own.probability = own.probability_if_any = own.probability_if_one = NAN;
        own.low = own.high = NAN;
    }
    put_first(&x->out->answers, &own);
cleanup:
    return status;
}

/* If a question asks for relations or pairs, its first answer is explained. */
static kith_status answer_open(explaining *x, const kith__resolved *r,
                               const kith_ask_options *options, kith_error *error)
{
    kith__answers *answers = &x->out->answers;
    uint32_t m = x->session->model->graph->seen_relations;
    kith_status status;

    TRY(r->other != KITH__NO_ID ? kith__answer_relations(answers, x->session, x->workspace,
                                                         &x->queried, r->other, options, error)
                                : kith__answer_pairs(answers, x->session, x->workspace, &x->queried,
                                                     options, error));
    if (answers->count > 0)
        x->query = answers->at[0].relation + (answers->at[0].is_subject ? m : 0);
    else
        x->query = r->subject_asked ? m : 0;
cleanup:
    return status;
}

/* The answers to the question, and the query that is explained: its own, or that of the first
 * pair. */
static kith_status answer(explaining *x, const kith__resolved *r, const kith_ask_options *options,
                          kith_error *error)
{
    kith__answers *answers = &x->out->answers;
    bool open = r->query == KITH__NO_ID;
    kith_status status = KITH_OK;

    *answers = (kith__answers){.subject_asked = r->subject_asked,
                               .relations = 1,
                               .all_relations = 1};
    x->query = r->query;
    x->with_self = r->other == r->entity;
    if (open)
        TRY(answer_open(x, r, options, error));
    x->out->relation = kith__undirected(x->session->model->graph, x->query);
    TRY(score(x, error));
    if (!open && r->other != KITH__NO_ID)
        TRY(answer_fact(x, r->other, options, error));
    else if (!open) {
        kith__scored_query row;
        TRY(row_of(&row, x, error));
        TRY(kith__best_answers(answers, x->workspace, &row, options, error));
    }
cleanup:
    return status;
}

/* Collect the known facts of the entity, without the fact that is checked. */
static kith_status gather(explaining *x, const kith__resolved *r, kith_error *error)
{
    kith_status status;

    TRY(kith__gather_facts(&x->queried, &x->of_graph, x->session, x->workspace, &r->entity, 1,
                           error));
    if (r->is_fact) {
        size_t before = x->queried.count;
        bool of_graph = false;
        for (size_t i = 0; i < x->of_graph; i++)
            of_graph |= x->queried.facts[i].relation == r->query &&
                        x->queried.facts[i].entity == r->other;
        x->known = kith__mask_fact(&x->queried, x->workspace, r->query, r->other);
        if (of_graph)
            x->of_graph -= before - x->queried.count;
    }
cleanup:
    return status;
}

kith_status kith__explain(kith__score_parts *out, kith_session *s, kith__workspace *a,
                          const kith__resolved *r, const kith_ask_options *options,
                          kith_error *error)
{
    explaining x = {.session = s, .out = out, .workspace = a, .rules = s->model->rules};
    kith_status status;

    TRY(gather(&x, r, error));
    TRY(answer(&x, r, options, error));
    count_compared(out);
    TRY(kith__find_contributions(out, s, a, &x.queried, x.query, x.scores, error));
    TRY(find_ablations(&x, error));
cleanup:
    kith__free(x.facts);
    kith__free(x.sorted);
    return status;
}
