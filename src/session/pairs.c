/* Finds the most likely pairs of a relation and an entity. */
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "nn/log_sum.h"
#include "session/answer.h"

static int likelier_first(const void *a, const void *b)
{
    const kith__likely *x = a, *y = b;
    if (!isnan(x->has) && x->has != y->has)
        return x->has < y->has ? 1 : -1;
    if (x->implied != y->implied)
        return x->implied < y->implied ? 1 : -1;
    return (x->query > y->query) - (x->query < y->query);
}

/* How strongly the entity's relations imply one: 1 if it is among them, else the largest
 * confidence. Rules are sorted by confidence, so the first one whose premise is present has the
 * largest. */
static float implied(uint32_t query, const kith__implications *rules, const uint8_t *there)
{
    if (there[query])
        return 1;
    for (uint64_t i = rules->offset[query]; i < rules->offset[query + 1]; i++)
        if (there[rules->at[i].relation])
            return rules->at[i].confidence;
    return 0;
}

static kith_status has_relations(kith__likely *order, kith_session *s, kith__workspace *a,
                                 const kith__query_entity *queried, size_t count, kith_error *error)
{
    uint32_t *queries = kith__alloc(count, sizeof *queries);
    double *has = kith__alloc(count, sizeof *has);
    kith_status status = KITH_OK;

    if (!queries || !has)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < count; i++)
        queries[i] = order[i].query;
    TRY(kith__has_relations(has, s->cache, a, queried, queries, count, error));
    for (size_t i = 0; i < count; i++)
        order[i].has = has[i];
cleanup:
    kith__free(queries);
    kith__free(has);
    return status;
}

kith_status kith__likely_queries(kith__likely *order, kith_session *s, kith__workspace *a,
                                 const kith__query_entity *queried, uint32_t first, uint32_t count,
                                 kith_error *error)
{
    const kith__implications *rules;
    kith_status status = kith__candidate_cache_implications(&rules, s->cache, a->watch, error);

    if (status != KITH_OK)
        return status;
    for (size_t i = 0; i < queried->count; i++)
        a->relations[queried->facts[i].relation] = 1;
    for (uint32_t r = 0; r < count; r++)
        order[r] = (kith__likely){first + r, implied(first + r, rules, a->relations), NAN};
    for (size_t i = 0; i < queried->count; i++)
        a->relations[queried->facts[i].relation] = 0;
    return has_relations(order, s, a, queried, count, error);
}

kith_status kith__order_queries(kith__likely *order, kith_session *s, kith__workspace *a,
                                const kith__query_entity *queried, bool subject_asked,
                                kith_error *error)
{
    uint32_t m = a->model->graph->seen_relations;
    kith_status status =
        kith__likely_queries(order, s, a, queried, subject_asked ? m : 0, m, error);

    if (status == KITH_OK)
        qsort(order, m, sizeof *order, likelier_first);
    return status;
}

/* Scores of different relations are not comparable. Log-likelihoods are: the probability that the
 * entity has the relation, by the rules, times the candidate's share of exp(score). */
float kith__likelihood_shift(const float *scores, size_t n, float relation_implied)
{
    const float least = 1e-6f; /* so that a relation without a rule is unlikely, not impossible */

    return (float)(log(relation_implied > least ? relation_implied : least) -
                   kith__log_sum(kith__exp_sum_of(scores, n, NULL)));
}

/* Add the pairs of one side; `queries` and `order` hold m elements. */
static kith_status add_pairs(kith__answer_list *list, kith_session *s, kith__workspace *a,
                             const kith__query_entity *queried, bool subject_asked,
                             uint32_t *queries, kith__likely *order,
                             const kith_ask_options *options, kith_error *error)
{
    uint32_t m = a->model->graph->seen_relations;
    size_t count = options->relations < m ? options->relations : m;
    kith_status status;

    TRY(kith__order_queries(order, s, a, queried, subject_asked, error));
    for (size_t i = 0; i < m; i++)
        queries[i] = order[i].query;
    for (size_t i = 0; i < count; i++) {
        TRY(kith__answer_scores(a->scores, s->cache, a, queried, 1, queries + i, count - i, error));
        float shift = kith__likelihood_shift(a->scores, a->width, order[i].implied);
        TRY(kith__leave_out_self(a->scores, a, s, queried->entity, queries[i], error));
        kith__scored_query row = {a->scores, &a->shares[0], queried->entity, queries[i], {0}};
        TRY(kith__chances_of(&row.chances, s->cache, a, order[i].has, queries[i], error));
        TRY(kith__answers_add(list, a, &row, true, shift, options->new_only, error));
    }
cleanup:
    return status;
}

kith_status kith__answer_pairs(kith__answers *answers, kith_session *s, kith__workspace *a,
                               const kith__query_entity *queried, const kith_ask_options *options,
                               kith_error *error)
{
    uint32_t m = a->model->graph->seen_relations;
    uint32_t *queries = kith__alloc(m, sizeof *queries);
    kith__likely *order = kith__alloc(m, sizeof *order);
    kith__answer_list list = kith__answer_list_of(a, options);
    kith_status status = KITH_OK;

    if (!queries || !order || kith__workspace_reserve(a, 1))
        TRY(kith__no_memory(error));
    for (int side = 0; side < 2; side++)
        if (options->both || side == (answers->subject_asked != 0))
            TRY(add_pairs(&list, s, a, queried, side, queries, order, options, error));
    answers->relations = options->relations < m ? options->relations : m;
    answers->all_relations = m;
    answers->at = list.at;
    answers->count = list.count;
    list.at = NULL;
cleanup:
    kith__free(list.at);
    kith__free(queries);
    kith__free(order);
    return status;
}
