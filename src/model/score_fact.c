/* The score of one fact, and the vector of one entity. */
#include <string.h>

#include "core/mem.h"
#include "embed/query_vector.h"
#include "model/score.h"
#include "model/sweep.h"

/* The score of an entity as the answer to a query, both encoded. */
static float side_score(const kith_model *model, uint32_t query, const float *known,
                        const float *encoded, uint32_t answer, float *scratch)
{
    const kith__table *ent = kith__ent(&model->params);
    bool by_input =
        answer < ent->rows && model->settings.candidate_vectors == KITH_CANDIDATES_INPUT;

    return kith__answer_score(&model->settings, &model->params, known, query,
                              by_input ? kith__row(ent, answer) : encoded, scratch);
}

float kith__score_fact(const kith_model *model, kith_triple fact, const float *subject,
                       const float *object, float *scratch)
{
    kith_predict predict = model->settings.predict;
    uint32_t inverse = fact.relation + kith_graph_seen_relation_count(model->graph);
    float as_object = 0, as_subject = 0;

    if (predict != KITH_PREDICT_SUBJECT)
        as_object = side_score(model, fact.relation, subject, object, fact.object, scratch);
    if (predict != KITH_PREDICT_OBJECT)
        as_subject = side_score(model, inverse, object, subject, fact.subject, scratch);
    return predict == KITH_PREDICT_BOTH ? (as_object + as_subject) / 2 : as_object + as_subject;
}

static kith_status check_ids(const kith_model *model, uint32_t entity, uint32_t relation,
                             kith_error *error)
{
    uint32_t entities = kith_graph_entity_count(model->graph);
    uint32_t relations = kith_graph_seen_relation_count(model->graph);

    if (entity >= entities)
        return kith__fail(error, KITH_ERR_NOT_FOUND, "there is no entity %u, the graph has %u",
                          entity, entities);
    if (relation >= relations)
        return kith__fail(error, KITH_ERR_NOT_FOUND,
                          "there is no relation %u in train, which has %u",
                          relation, relations);
    return KITH_OK;
}

static kith_status encode(float *vector, kith__workspace *a, uint32_t entity, uint32_t query,
                          kith_error *error)
{
    kith__query_entity queried;
    kith_status status;

    TRY(kith__graph_entity(&queried, a, entity, error));
    TRY(kith__encode_entities(a, &queried, 1, query, error));
    memcpy(vector, kith__encoder_answer(a->encoder, 0), a->stride * sizeof *vector);
cleanup:
    return status;
}

/* Score with the embedding only. */
static kith_status score_vectors(float *score, kith__workspace *a, kith_triple fact,
                                 kith_error *error)
{
    uint32_t m = kith_graph_seen_relation_count(a->model->graph);
    float *rows = kith__calloc_aligned(8 * a->stride, sizeof *rows);
    kith_status status = KITH_OK;

    if (!rows)
        return kith__no_memory(error);
    TRY(encode(rows, a, fact.subject, fact.relation, error));
    TRY(encode(rows + a->stride, a, fact.object, fact.relation + m, error));
    *score = kith__score_fact(a->model, fact, rows, rows + a->stride, rows + 2 * a->stride);
cleanup:
    kith__free(rows);
    return status;
}

/* The score of an answer as in ranking; without the embedding for an entity that is not a
 * candidate. */
static kith_status score_answer(float *score, kith__candidate_cache *cache, kith__workspace *a,
                                uint32_t known, uint32_t query, uint32_t answer, kith_error *error)
{
    kith__query_entity queried;
    kith_status status;

    TRY(kith__graph_entity(&queried, a, known, error));
    if (answer < a->candidates) {
        if (kith__workspace_reserve(a, 1))
            TRY(kith__no_memory(error));
        TRY(kith__answer_scores(a->scores, cache, a, &queried, 1, &query, 1, error));
        *score = a->scores[answer];
    } else {
        TRY(kith__fusion_run(a->fusion, queried.sorted, known, query, NULL,
                             kith_graph_entity_count(a->model->graph), error));
        *score = a->fusion->scores[answer];
    }
cleanup:
    return status;
}

/* Score both ends as the answers to the queries that the model predicts; the mean if there are
 * two. */
static kith_status score_fused(float *score, kith__candidate_cache *cache, kith__workspace *a,
                               kith_triple t, kith_error *error)
{
    kith_predict predict = a->model->settings.predict;
    uint32_t inverse = t.relation + kith_graph_seen_relation_count(a->model->graph);
    float as_object = 0, as_subject = 0;
    kith_status status = KITH_OK;

    if (predict != KITH_PREDICT_SUBJECT)
        TRY(score_answer(&as_object, cache, a, t.subject, t.relation, t.object, error));
    if (predict != KITH_PREDICT_OBJECT)
        TRY(score_answer(&as_subject, cache, a, t.object, inverse, t.subject, error));
    *score = predict == KITH_PREDICT_BOTH ? (as_object + as_subject) / 2 : as_object + as_subject;
cleanup:
    return status;
}

kith_status kith_model_encode(float *vector, const kith_model *model, uint32_t entity,
                              uint32_t relation, int inverse, kith_error *error)
{
    if (!vector || !model)
        return kith__null_argument(error, __func__);

    uint32_t query = relation + (inverse ? kith_graph_seen_relation_count(model->graph) : 0);
    kith__candidate_cache *cache = NULL;
    kith__workspace *a = NULL;
    kith__query_entity queried;
    kith_status status;

    TRY(kith__need_embedding(model, error));
    TRY(check_ids(model, entity, relation, error));
    TRY(kith__candidate_cache_of(&cache, model, error));
    if (!(a = kith__workspace_take(cache)))
        TRY(kith__no_memory(error));
    TRY(kith__graph_entity(&queried, a, entity, error));
    TRY(kith__encode_entities(a, &queried, 1, query, error));
    memcpy(vector, kith__encoder_answer(a->encoder, 0), model->settings.dim * sizeof *vector);
cleanup:
    kith__workspace_give(cache, a);
    return status;
}

kith_status kith_model_score(float *score, const kith_model *model, kith_triple fact,
                             kith_error *error)
{
    if (!score || !model)
        return kith__null_argument(error, __func__);

    kith__candidate_cache *cache = NULL;
    kith__workspace *a = NULL;
    kith_status status;

    TRY(check_ids(model, fact.subject, fact.relation, error));
    TRY(check_ids(model, fact.object, fact.relation, error));
    if (!model->fused)
        TRY(kith__need_embedding(model, error));
    TRY(kith__candidate_cache_of(&cache, model, error));
    if (!(a = kith__workspace_take(cache)))
        TRY(kith__no_memory(error));
    TRY(model->fused ? score_fused(score, cache, a, fact, error)
                     : score_vectors(score, a, fact, error));
cleanup:
    kith__workspace_give(cache, a);
    return status;
}
