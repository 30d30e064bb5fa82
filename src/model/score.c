#include "model/score.h"

#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "embed/query_vector.h"
#include "nn/kernels.h"

enum { CANDIDATES_AT_ONCE = 64 };

/* ---- facts ---- */

kith_status kith__add_graph_facts(size_t *count, kith__workspace *a, uint32_t entity,
                                  kith_error *error)
{
    const kith_graph *g = a->model->graph;
    uint64_t from = entity < g->entities.count ? g->offset[entity] : 0;

    *count = entity < g->entities.count ? (size_t)(g->offset[entity + 1] - from) : 0;
    if (kith__reserve(&a->facts, &a->fact_capacity, a->fact_count + *count, sizeof *a->facts))
        return kith__no_memory(error);
    for (size_t i = 0; i < *count; i++) {
        kith_neighbor next = g->neighbors[from + i];
        a->facts[a->fact_count++] = (kith_neighbor){kith__directed(g, next.relation), next.entity};
    }
    return KITH_OK;
}

kith_status kith__place_facts(kith__query_entity *asked, size_t count, kith__workspace *a,
                              kith_error *error)
{
    size_t start = 0;

    if (kith__reserve(&a->sorted, &a->sorted_capacity, a->fact_count, sizeof *a->sorted))
        return kith__no_memory(error);
    if (a->fact_count > 0)
        memcpy(a->sorted, a->facts, a->fact_count * sizeof *a->sorted);
    for (size_t i = 0; i < count; start += asked[i++].count) {
        asked[i].facts = a->facts + start;
        asked[i].sorted = (kith__span){a->sorted + start,
                                       kith__sort_facts(a->sorted + start, asked[i].count)};
    }
    return KITH_OK;
}

kith_status kith__graph_entity(kith__query_entity *asked, kith__workspace *a, uint32_t entity,
                               kith_error *error)
{
    kith_status status;

    a->fact_count = 0;
    *asked = (kith__query_entity){.entity = entity};
    TRY(kith__add_graph_facts(&asked->count, a, entity, error));
    TRY(kith__place_facts(asked, 1, a, error));
cleanup:
    return status;
}

/* ---- encodings ---- */

/* The neighbours that the model looks at, of each entity. */
static int cut_lists(kith__workspace *a, const kith__query_entity *asked, size_t count)
{
    const kith_model *model = a->model;
    kith__neighbor_lists *lists = &a->lists;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        size_t need = used + asked[i].count;
        if (kith__reserve(&lists->own_at, &a->at_capacity, need, sizeof *lists->own_at) ||
            kith__reserve(&a->kept, &a->kept_capacity, asked[i].count, 1) ||
            (model->rules && kith__reserve(&lists->denominator, &a->denominator_capacity, need,
                                           sizeof *lists->denominator)))
            return -1;
        if (asked[i].count > 0)
            memcpy(lists->own_at + used, asked[i].facts,
                   asked[i].count * sizeof *lists->own_at);
        lists->own_offset[i] = used;
        used += kith__list_cut(
            lists->own_at + used, model->rules ? lists->denominator + used : NULL, asked[i].count,
            asked[i].entity, model->rules, &model->settings, a->kept, a->relations);
    }
    lists->own_offset[count] = used;
    lists->at = lists->own_at;
    lists->entities = (uint32_t)count;
    return 0;
}

kith_status kith__encode_entities(kith__workspace *a, const kith__query_entity *asked,
                                  size_t count, uint32_t query, kith_error *error)
{
    if (cut_lists(a, asked, count))
        return kith__no_memory(error);
    kith__encoder_begin(a->encoder);
    for (size_t i = 0; i < count; i++)
        kith__encoder_request(a->encoder, (uint32_t)i, query, NULL);
    return kith__encoder_forward(a->encoder, error);
}

/* ---- scores ---- */

/* A block of candidates stays in the cache while all query vectors are compared with it. With `mix`
 * the scores become the mean of what they were and these. */
static void compare(float *scores, const kith__workspace *a, size_t count, const float *rows,
                    bool mix)
{
    bool distance = kith__decoder_get(a->model->settings.decoder)->distance;
    size_t n = a->candidates, ds = a->stride;

    for (size_t from = 0, to; from < n; from = to) {
        to = n - from < CANDIDATES_AT_ONCE ? n : from + CANDIDATES_AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            const float *query_vector = a->query_vectors + i * ds;
            for (size_t c = from; c < to; c++) {
                float score = distance ? -kith__l1(query_vector, rows + c * ds, ds)
                                       : kith__dot(query_vector, rows + c * ds, ds);
                float *at = &scores[i * n + c];
                *at = mix ? (*at + score) / 2 : score;
            }
        }
    }
}

/* In panels, as ranking does, because sums in another order differ in their last bits. */
static void compare_inputs(float *scores, const kith__workspace *a, size_t count,
                           const kith__panels *inputs)
{
    bool distance = kith__decoder_get(a->model->settings.decoder)->distance;
    const float *query_vectors[KITH__QUERIES_TOGETHER];

    for (size_t i = 0; i < count; i++)
        query_vectors[i] = a->query_vectors + i * a->stride;
    for (size_t p = 0; p < kith__panel_count(inputs); p++)
        kith__panel_score(scores, a->candidates, inputs, p, query_vectors, count, distance, 1,
                          false, a->block);
}

/* By the candidates' input embeddings, by their encodings, or by both, as the settings say. */
static kith_status compare_all(float *scores, kith__candidate_cache *cache, kith__workspace *a,
                               size_t count, const uint32_t *queries, size_t query_count,
                               kith_error *error)
{
    kith_candidate_vectors by = a->model->settings.candidate_vectors;
    const kith__candidates *candidates = NULL;
    const kith__panels *inputs;
    uint32_t ahead[KITH__LOOKAHEAD];
    size_t ahead_count = query_count < KITH__LOOKAHEAD ? query_count : KITH__LOOKAHEAD;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < ahead_count; i++)
        ahead[i] = kith__query_inverse(a->model->graph, queries[i]);
    if (by != KITH_CANDIDATES_ENCODED) {
        TRY(kith__candidate_cache_inputs(&inputs, cache, error));
        compare_inputs(scores, a, count, inputs);
    }
    if (by != KITH_CANDIDATES_INPUT) {
        TRY(kith__candidates_pin(&candidates, cache, ahead, ahead_count, error));
        compare(scores, a, count, candidates->rows, by == KITH_CANDIDATES_MIX);
    }
cleanup:
    kith__candidates_unpin(cache, candidates);
    return status;
}

kith_status kith__embedding_scores(float *scores, kith__candidate_cache *cache, kith__workspace *a,
                                   const kith__query_entity *asked, size_t count,
                                   const uint32_t *queries, size_t query_count, kith_error *error)
{
    const kith_model *model = a->model;
    size_t ds = a->stride;
    kith_status status;

    TRY(kith__encode_entities(a, asked, count, queries[0], error));
    for (size_t i = 0; i < count; i++)
        kith__query_vector_of(a->query_vectors + i * ds, &model->settings, &model->params,
                              kith__encoder_answer(a->encoder, i), queries[0],
                              a->query_vectors + KITH__QUERIES_TOGETHER * ds); /* room for two */
    TRY(compare_all(scores, cache, a, count, queries, query_count, error));
cleanup:
    return status;
}

kith_status kith__final_scores(const float **scores, kith__shares *shares, kith__workspace *a,
                               const kith__query_entity *asked, uint32_t query, const float *row,
                               kith_error *error)
{
    const kith_model *model = a->model;
    bool newcomer = asked->entity >= kith_graph_entity_count(model->graph);
    kith_status status = KITH_OK;

    if (model->fused) {
        TRY(kith__fusion_run(a->fusion, asked->sorted, newcomer ? UINT32_MAX : asked->entity,
                             query, kith__model_scores_vectors(model) ? row : NULL, a->candidates,
                             error));
        *scores = a->fusion->scores;
        *shares = a->fusion->shares;
    } else {
        *scores = row;
        *shares = model->calibration.fitted
                      ? kith__shares_of(row, a->candidates, asked->sorted, query)
                      : (kith__shares){.known = kith__span_of(asked->sorted, query)};
    }
cleanup:
    return status;
}

kith_status kith__answer_scores(float *scores, kith__candidate_cache *cache, kith__workspace *a,
                                const kith__query_entity *asked, size_t count,
                                const uint32_t *queries, size_t query_count, kith_error *error)
{
    kith_status status = KITH_OK;

    if (kith__model_scores_vectors(a->model))
        TRY(kith__embedding_scores(scores, cache, a, asked, count, queries, query_count, error));
    for (size_t i = 0; i < count; i++) {
        float *row = scores + i * a->candidates;
        const float *final;
        TRY(kith__final_scores(&final, &a->shares[i], a, &asked[i], queries[0], row, error));
        if (final != row)
            memcpy(row, final, a->candidates * sizeof *row);
    }
cleanup:
    return status;
}
