#include "model/score.h"

#include <string.h>

#include "core/mem.h"
#include "embed/query_vector.h"
#include "nn/kernels.h"

enum { CANDIDATES_AT_ONCE = 64 };

/* A block of candidates stays in the cache while all query vectors are compared with it. */
static void compare(float *scores, const kith__workspace *a, size_t count, const float *rows)
{
    bool distance = kith__decoder_get(a->model->settings.decoder)->distance;
    size_t n = a->candidates, ds = a->stride, width = a->width;

    for (size_t from = 0, to; from < n && !kith__watch_add(a->watch, 0); from = to) {
        to = n - from < CANDIDATES_AT_ONCE ? n : from + CANDIDATES_AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            const float *query_vector = a->query_vectors + i * ds;
            for (size_t c = from; c < to; c++)
                scores[i * width + c] = distance ? -kith__l1(query_vector, rows + c * ds, ds)
                                                 : kith__dot(query_vector, rows + c * ds, ds);
        }
    }
}

/* Compare in panels, as ranking does, because sums in a different order differ in their last
 * bits. */
static void compare_inputs(float *scores, const kith__workspace *a, size_t count,
                           const kith__panels *inputs)
{
    bool distance = kith__decoder_get(a->model->settings.decoder)->distance;
    const float *query_vectors[KITH__QUERIES_TOGETHER];

    for (size_t i = 0; i < count; i++)
        query_vectors[i] = a->query_vectors + i * a->stride;
    for (size_t p = 0; p < kith__panel_count(inputs) && !kith__watch_add(a->watch, 0); p++)
        kith__panel_score(scores, a->width, inputs, p, query_vectors, count, distance, 1,
                          a->block);
}

/* Compare with the candidates' input embeddings or with their encodings, as the settings say. */
static kith_status compare_all(float *scores, kith__candidate_cache *cache, kith__workspace *a,
                               size_t count, const uint32_t *queries, size_t query_count,
                               kith_error *error)
{
    bool by_input = a->model->settings.candidate_vectors == KITH_CANDIDATES_INPUT;
    const kith__candidates *candidates = NULL;
    const kith__panels *inputs;
    uint32_t ahead[KITH__LOOKAHEAD];
    size_t ahead_count = query_count < KITH__LOOKAHEAD ? query_count : KITH__LOOKAHEAD;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < ahead_count; i++)
        ahead[i] = kith__query_inverse(a->model->graph, queries[i]);
    if (by_input) {
        TRY(kith__candidate_cache_inputs(&inputs, cache, a->watch, error));
        compare_inputs(scores, a, count, inputs);
    } else {
        TRY(kith__candidates_pin(&candidates, cache, ahead, ahead_count, a->watch, error));
        compare(scores, a, count, candidates->rows);
    }
    TRY(kith__watch_status(a->watch, error));
cleanup:
    kith__candidates_unpin(cache, candidates);
    return status;
}

kith_status kith__embedding_scores(float *scores, kith__candidate_cache *cache, kith__workspace *a,
                                   const kith__query_entity *queried, size_t count,
                                   const uint32_t *queries, size_t query_count, kith_error *error)
{
    const kith_model *model = a->model;
    size_t ds = a->stride;
    kith_status status;

    TRY(kith__encode_entities(a, queried, count, queries[0], error));
    for (size_t i = 0; i < count; i++)
        kith__query_vector_of(a->query_vectors + i * ds, &model->settings, &model->params,
                              kith__encoder_answer(a->encoder, i), queries[0],
                              a->query_vectors + KITH__QUERIES_TOGETHER * ds); /* holds 2 rows */
    TRY(compare_all(scores, cache, a, count, queries, query_count, error));
cleanup:
    return status;
}

bool kith__embedding_counts(const kith__workspace *a, const kith__query_entity *queried)
{
    const kith__span facts = {queried->facts, queried->count};

    if (!kith__model_scores_vectors(a->model))
        return false;
    if (a->fusion)
        return kith__has_seen_neighbor(facts, a->model->lists->seen);
    return kith__leads_to_seen(a->known.base ? &a->known : NULL, facts, a->model->lists->seen);
}

kith_status kith__final_scores(const float **scores, kith__shares *shares, kith__workspace *a,
                               const kith__query_entity *queried, uint32_t query, const float *row,
                               kith_error *error)
{
    const kith_model *model = a->model;
    bool embedding = kith__embedding_counts(a, queried);
    kith_status status = KITH_OK;

    if (model->fused) {
        TRY(kith__fusion_run(a->fusion, queried->sorted, queried->entity, query,
                             embedding ? row : NULL, a->candidates, error));
        *scores = a->fusion->scores;
        *shares = a->fusion->shares;
    } else {
        *scores = row;
        *shares = model->calibration.fitted
                      ? kith__shares_of(row, a->candidates, queried->sorted, query)
                      : (kith__shares){.known = kith__span_of(queried->sorted, query)};
    }
cleanup:
    return status;
}

kith_status kith__answer_scores(float *scores, kith__candidate_cache *cache, kith__workspace *a,
                                const kith__query_entity *queried, size_t count,
                                const uint32_t *queries, size_t query_count, kith_error *error)
{
    kith_status status = KITH_OK;

    if (kith__model_scores_vectors(a->model))
        TRY(kith__embedding_scores(scores, cache, a, queried, count, queries, query_count, error));
    for (size_t i = 0; i < count; i++) {
        float *row = scores + i * a->width;
        const float *final;
        if (kith__watch_add(a->watch, 0))
            TRY(kith__watch_status(a->watch, error));
        TRY(kith__final_scores(&final, &a->shares[i], a, &queried[i], queries[0], row, error));
        if (final != row)
            memcpy(row, final, a->width * sizeof *row);
    }
cleanup:
    return status;
}
