#include "model/fusion.h"

#include <math.h>
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

kith_status kith__fusion_workspace_init(kith__fusion_workspace *f, const kith__fusion *fusion,
                                        const kith__evidence *evidence, const float *log_degree,
                                        unsigned without, kith_error *error)
{
    memset(f, 0, sizeof *f);
    f->fusion = fusion;
    f->log_degree = log_degree;
    f->without = without;
    (void)error;
    kith__evidence_query_init(&f->asking, evidence, NULL);
    return KITH_OK;
}

void kith__fusion_workspace_release(kith__fusion_workspace *f)
{
    kith__evidence_query_release(&f->asking);
    kith__free(f->scores);
    f->scores = NULL;
}

/* ---- scores ---- */

static float plain_score(const kith__fusion_workspace *f, kith__plain plain)
{
    float feature[KITH__FEATURES_COUNT];

    kith__case_plain(feature, &f->at, plain);
    return kith__linear(f->weight, feature);
}

/* Candidates without a supporting rule: features in which they differ, by the effect of a change of 1. */
static void score_untold(kith__fusion_workspace *f)
{
    const kith__case *c = &f->at;
    const kith__relation_table *table = c->asked->table;
    float *scores = f->scores, never = logf(.2f) - c->log_answers;
    float start = plain_score(f, (kith__plain){0});
    float prior = plain_score(f, (kith__plain){.prior = 1}) - start;
    float degree = plain_score(f, (kith__plain){.degree = 1}) - start;
    float type_score = plain_score(f, (kith__plain){.type_score = 1}) - start;
    float type_score_all = plain_score(f, (kith__plain){.type_score_all = 1}) - start;
    float proximity = plain_score(f, (kith__plain){.proximity = 1}) - start;
    float by_score = plain_score(f, (kith__plain){.e_score = 1}) - start;
    float by_share = plain_score(f, (kith__plain){.e_logp = 1}) - start;
    float slope = by_score * c->e_scale + by_share;
    float base = start + prior * never;

    /* The mean is taken out first: it may be far larger than what scores differ by. */
    if (c->embedding)
        base += by_share * (c->e_mean - c->log_sum);
    for (size_t i = 0; i < c->candidates; i++)
        scores[i] = base + degree * c->log_degree[i] + type_score * table->type_score[i] +
                    type_score_all * table->type_score_all[i];
    const kith__proximity *n = &c->asked->proximity;
    size_t reached = f->without & KITH_PART_PROXIMITY ? 0 : n->reached_count;
    for (size_t i = 0; i < reached; i++)
        if (kith__proximity_entity(n, i) < c->candidates)
            scores[kith__proximity_entity(n, i)] += proximity * kith__proximity_value(n, i);
    for (size_t i = 0; c->embedding && i < c->candidates; i++)
        scores[i] += slope * (c->embedding[i] - c->e_mean);
    for (size_t i = 0; i < c->candidates; i++)
        if (table->answered[i])
            scores[i] += prior * (logf(.2f + (float)table->answered[i]) - logf(.2f));
}

static void score_told(kith__fusion_workspace *f)
{
    const kith__evidence_query *asking = &f->asking;
    float feature[KITH__FEATURES_COUNT];

    for (size_t i = 0; i < asking->count; i++) {
        uint32_t e = asking->rows[i].entity;
        if (e >= f->at.candidates)
            continue;
        kith__case_features(feature, &f->at, e, f->without);
        f->scores[e] = kith__linear(f->weight, feature);
    }
}

kith_status kith__fusion_run(kith__fusion_workspace *f, kith__span facts, uint32_t self,
                             uint32_t query, const float *embedding, size_t candidates,
                             kith_error *error)
{
    kith_status status;

    f->asking.proximity.through = candidates > f->asking.evidence->base->index->seen;
    TRY(kith__evidence_query_run(&f->asking, facts, self, query, error));
    if (kith__renew(&f->scores, &f->score_capacity, candidates, sizeof *f->scores))
        TRY(kith__no_memory(error));
    kith__case_init(&f->at, &f->asking, facts, embedding, f->log_degree, candidates, f->without);
    const kith__weights *weights = kith__fusion_weights(f->fusion, query);
    f->weight = f->at.embedding ? weights->all : weights->alone;
    score_untold(f);
    score_told(f);
    f->shares = kith__shares_of(f->scores, candidates, facts, query);
cleanup:
    return status;
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
