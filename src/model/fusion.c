#include "model/fusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "model/linear.h"

float *kith__log_degrees(const kith__index *x)
{
    float *degrees = kith__alloc(x->entities, sizeof *degrees);

    for (uint32_t e = 0; degrees && e < x->entities; e++)
        degrees[e] = logf(1 + (float)(x->offset[e + 1] - x->offset[e]));
    return degrees;
}

void kith__fusion_release(kith__fusion *f)
{
    kith__free(f->own);
    f->own = NULL;
    f->own_count = 0;
}

const kith__weights *kith__fusion_weights(const kith__fusion *f, uint32_t query)
{
    size_t low = 0, high = f->own_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (f->own[middle].query < query)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->own_count && f->own[low].query == query ? &f->own[low].weights : &f->common;
}

static int by_query(const void *a, const void *b)
{
    const kith__own_weights *x = a, *y = b;
    return x->query < y->query ? -1 : x->query > y->query;
}

kith_status kith__fusion_translate(kith__fusion *fusion, const kith_graph *from,
                                   const kith_graph *to, kith_error *error)
{
    uint32_t m = kith_graph_seen_relation_count(from), id = 0;

    for (uint32_t i = 0; i < fusion->own_count; i++) {
        uint32_t query = fusion->own[i].query;
        const char *name = kith_graph_relation_name(from, query < m ? query : query - m);
        if (kith_graph_find_relation(&id, to, name) != KITH_OK)
            return kith__fail(error, KITH_ERR_NOT_FOUND, "no relation of the run: %s", name);
        fusion->own[i].query = id + (query < m ? 0 : kith_graph_seen_relation_count(to));
    }
    if (fusion->own_count > 1)
        qsort(fusion->own, fusion->own_count, sizeof *fusion->own, by_query);
    return KITH_OK;
}

kith_status kith__fusion_workspace_init(kith__fusion_workspace *f, const kith__fusion *fusion,
                                        const kith__evidence *evidence, const float *log_degree,
                                        unsigned without, kith_error *error)
{
    memset(f, 0, sizeof *f);
    f->fusion = fusion;
    f->log_degree = log_degree;
    f->without = without;
    (void)error;
    kith__evidence_query_init(&f->evidence_query, evidence, NULL);
    return KITH_OK;
}

void kith__fusion_workspace_release(kith__fusion_workspace *f)
{
    kith__evidence_query_release(&f->evidence_query);
    kith__free(f->scores);
    kith__free(f->alone);
    f->scores = f->alone = NULL;
}

/* ---- scores ---- */

static float plain_score(const kith__case *c, const float *weight, kith__plain plain)
{
    float feature[KITH__FEATURES_COUNT];

    kith__case_plain(feature, c, plain);
    return kith__linear(weight, feature);
}

/* Score seen entities with added facts again, because the tables do not include these facts. */
static void score_touched(float *scores, const kith__case *c, const float *weight, unsigned without)
{
    const kith__overlay *added = c->evidence->view.added;
    float feature[KITH__FEATURES_COUNT];

    for (size_t i = 0; added && i < added->slots.count; i++) {
        uint32_t e = added->touched[i].entity;
        if (e >= c->candidates || kith__view_added(&c->evidence->view, e).count == 0)
            continue;
        kith__case_features(feature, c, e, without);
        scores[e] = kith__linear(weight, feature);
    }
}

/* Score candidates without a supporting rule: multiply each input in which they differ by the
 * effect of a change of 1. */
static void score_unsupported(float *scores, const kith__case *c, const float *weight,
                              unsigned without)
{
    const kith__relation_table *table = c->evidence->table;
    float never = logf(.2f) - c->log_answers;
    float start = plain_score(c, weight, (kith__plain){0});
    float prior = plain_score(c, weight, (kith__plain){.prior = 1}) - start;
    float degree = plain_score(c, weight, (kith__plain){.degree = 1}) - start;
    float type_score = plain_score(c, weight, (kith__plain){.type_score = 1}) - start;
    float type_score_all = plain_score(c, weight, (kith__plain){.type_score_all = 1}) - start;
    float proximity = plain_score(c, weight, (kith__plain){.proximity = 1}) - start;
    float by_score = plain_score(c, weight, (kith__plain){.e_score = 1}) - start;
    float by_share = plain_score(c, weight, (kith__plain){.e_logp = 1}) - start;
    float slope = by_score * c->e_scale + by_share;
    float base = start + prior * never;

    /* Subtract the mean first, because it may be far larger than the differences between scores. */
    if (c->embedding)
        base += by_share * (c->e_mean - c->log_sum);
    for (size_t i = 0; i < c->candidates; i++)
        scores[i] = base + degree * c->log_degree[i] + type_score * table->type_score[i] +
                    type_score_all * table->type_score_all[i];
    const kith__proximity *n = &c->evidence->proximity;
    size_t reached = without & KITH_PART_PROXIMITY ? 0 : n->reached_count;
    for (size_t i = 0; i < reached; i++)
        if (kith__proximity_entity(n, i) < c->candidates)
            scores[kith__proximity_entity(n, i)] += proximity * kith__proximity_value(n, i);
    for (size_t i = 0; c->embedding && i < c->candidates; i++)
        scores[i] += slope * (c->embedding[i] - c->e_mean);
    for (size_t i = 0; i < c->candidates; i++)
        if (table->answered[i]) {
            float by_answers = kith__type_by_answers(table->answered[i]);
            scores[i] += prior * (logf(.2f + (float)table->answered[i]) - logf(.2f)) +
                         type_score * fmaxf(by_answers - table->type_score[i], 0);
        }
    score_touched(scores, c, weight, without);
}

static void score_supported(float *scores, const kith__case *c, const float *weight,
                            unsigned without)
{
    const kith__evidence_query *evidence_query = c->evidence;
    float feature[KITH__FEATURES_COUNT];

    for (size_t i = 0; i < evidence_query->count; i++) {
        uint32_t e = evidence_query->rows[i].entity;
        if (e >= c->candidates)
            continue;
        kith__case_features(feature, c, e, without);
        scores[e] = kith__linear(weight, feature);
    }
}

static void score_seen(float *scores, const kith__case *c, const float *weight, unsigned without)
{
    score_unsupported(scores, c, weight, without);
    score_supported(scores, c, weight, without);
}

/* ---- unseen candidates ---- */

/* By how much the weights for seen candidates raise their total. Scores of unseen ones must be
 * raised by as much, so that their total share stays what the weights for both determine. */
static kith_status find_shift(kith__fusion_workspace *f, kith__span facts, uint32_t query,
                              kith_error *error)
{
    size_t n = f->at.candidates;

    f->shift = 0;
    if (memcmp(f->weight, f->unseen_weight, sizeof(float[KITH__FEATURES_COUNT])) == 0)
        return KITH_OK;
    if (kith__renew(&f->alone, &f->alone_capacity, n, sizeof *f->alone))
        return kith__no_memory(error);
    score_seen(f->alone, &f->unseen_at, f->unseen_weight, f->without);
    f->shift = (float)(kith__shares_of(f->scores, n, facts, query).log_sum -
                       kith__shares_of(f->alone, n, facts, query).log_sum);
    return KITH_OK;
}

static kith_status score_unseen(kith__fusion_workspace *f, kith__span facts, uint32_t self,
                                uint32_t query, kith_error *error)
{
    const kith__unseen_set *unseen = &f->unseen;
    float feature[KITH__FEATURES_COUNT];
    kith_status status = KITH_OK;

    f->unseen_weight = kith__fusion_weights(f->fusion, query)->unseen;
    f->unseen_at = f->at;
    f->unseen_at.embedding = NULL;
    if (unseen->count > 0)
        TRY(find_shift(f, facts, query, error));
    for (size_t i = f->at.candidates; i < unseen->width; i++)
        f->scores[i] = NAN;
    for (size_t i = 0; i < unseen->count; i++) {
        if (unseen->at[i] == self)
            continue;
        kith__case_features(feature, &f->unseen_at, unseen->at[i], f->without);
        f->scores[unseen->at[i]] = kith__linear(f->unseen_weight, feature) + f->shift;
    }
cleanup:
    return status;
}

/* ---- a query ---- */

kith_status kith__fusion_run(kith__fusion_workspace *f, kith__span facts, uint32_t self,
                             uint32_t query, const float *embedding, size_t candidates,
                             kith_error *error)
{
    size_t width = f->unseen.width > candidates ? f->unseen.width : candidates;
    kith_status status;

    f->evidence_query.unseen = f->unseen.count > 0;
    f->evidence_query.proximity.through =
        candidates > f->evidence_query.evidence->base->index->seen;
    TRY(kith__evidence_query_run(&f->evidence_query, facts, self, query, error));
    if (kith__renew(&f->scores, &f->score_capacity, width, sizeof *f->scores))
        TRY(kith__no_memory(error));
    kith__case_init(&f->at, &f->evidence_query, facts, embedding, f->log_degree, candidates,
                    f->without);
    const kith__weights *weights = kith__fusion_weights(f->fusion, query);
    f->weight = f->at.embedding ? weights->all : weights->bare;
    score_seen(f->scores, &f->at, f->weight, f->without);
    if (f->unseen.width > 0)
        TRY(score_unseen(f, facts, self, query, error));
    /* Seen answers have shares even if they are not wanted: a fact is as likely either way. */
    f->shares = kith__shares_of(f->scores, width, facts, query);
    for (size_t i = 0; f->unseen.only && i < candidates; i++)
        f->scores[i] = NAN;
cleanup:
    return status;
}

void kith__fusion_features(float feature[KITH__FEATURES_COUNT], const kith__fusion_workspace *f,
                           uint32_t candidate)
{
    const kith__case *at = candidate < f->at.candidates ? &f->at : &f->unseen_at;
    kith__case_features(feature, at, candidate, f->without);
}

void kith__fused_free(kith__fused *f)
{
    if (!f)
        return;
    kith__evidence_free(f->evidence);
    kith__fusion_release(&f->fusion);
    kith__free(f->log_degree);
    kith__free(f);
}
