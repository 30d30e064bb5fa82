#include "eval/rank.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "run/fusion_files.h"
#include "graph/known.h"
#include "nn/log_sum.h"
#include "nn/topk.h"

void kith__rank_of(uint32_t *optimistic, uint32_t *pessimistic, uint32_t *candidates,
                   const float *scores, size_t count, uint32_t gold, const uint8_t *known)
{
    uint32_t better = 0, equal = 0, left = 1;
    float right = scores[gold];

    for (size_t i = 0; i < count; i++) {
        if (known[i] || i == gold)
            continue;
        left++;
        /* A score that is no number is no better than any, and no worse if the right one is none. */
        if (scores[i] > right || (isnan(right) && !isnan(scores[i])))
            better++;
        else if (scores[i] == right || (isnan(right) && isnan(scores[i])))
            equal++;
    }
    *optimistic = 1 + better;
    *pessimistic = 1 + better + equal;
    *candidates = left;
}

typedef struct {
    const kith_model *model;
    const kith__query *queries;
    size_t candidates;
    kith__known known[2]; /* [subject hidden] */
    uint8_t *marks[KITH__SCORED_TOGETHER];
    kith_rank *ranks;
    kith__sample *samples; /* KITH_JUDGED per query, where they are wanted */
    size_t *sample_count;
} ranking;

/* The best candidates, best first, and the sum of all exponentials, of those that are not marked. */
typedef struct {
    uint32_t best[KITH_JUDGED];
    size_t count, known;
    double log_sum;
} picked;

static picked pick(const float *scores, size_t candidates, const uint8_t *marks)
{
    picked p = {.log_sum = kith__log_sum(kith__exp_sum_of(scores, candidates, marks))};

    for (size_t i = 0; i < candidates; i++)
        p.known += marks[i];
    p.count = kith__topk_of(p.best, KITH_JUDGED, scores, candidates, marks);
    return p;
}

/* What the best answers' shares make of them, by a model without rule evidence. */
static void judge_plain(const ranking *r, size_t query, const float *scores, const uint8_t *marks)
{
    picked p = pick(scores, r->candidates, marks);
    uint32_t hidden = kith__hidden_side(&r->queries[query]);
    double known = log1p((double)p.known);

    for (size_t i = 0; i < p.count; i++) {
        double share = scores[p.best[i]] - p.log_sum;
        bool right = p.best[i] == hidden;
        if (r->samples)
            r->samples[query * KITH_JUDGED + r->sample_count[query]++] =
                (kith__sample){{kith__share_logit(share), known, 1}, right};
        kith_rank *rank = &r->ranks[query];
        rank->judged[rank->judgements].probability =
            (float)kith__calibrated(r->model->calibration, share, known);
        rank->judged[rank->judgements++].right = right;
    }
}

static void rank_scores(const ranking *r, size_t query, size_t slot, const float *scores,
                        bool judges)
{
    const kith__query *q = &r->queries[query];
    const kith__known *known = &r->known[q->subject_hidden];
    uint8_t *marks = r->marks[slot];
    kith_rank rank = {.fact = q->fact, .subject_hidden = q->subject_hidden};

    kith__known_mark(marks, r->candidates, known, kith__known_side(q), q->fact.relation, 1);
    marks[kith__hidden_side(q)] = 0;
    kith__rank_of(&rank.optimistic, &rank.pessimistic, &rank.candidates, scores, r->candidates,
                  kith__hidden_side(q), marks);
    rank.realistic = ((double)rank.optimistic + rank.pessimistic) / 2;
    r->ranks[query] = rank;
    if (judges)
        judge_plain(r, query, scores, marks);
    kith__known_mark(marks, r->candidates, known, kith__known_side(q), q->fact.relation, 0);
}

static void rank_one(void *context, size_t query, size_t slot, const float *scores)
{
    const ranking *r = context;
    bool judges = r->samples || (!r->model->fused && r->model->calibrated);

    rank_scores(r, query, slot, scores, judges);
}

/* Of a model with rule evidence. */
static void judge(kith_rank *rank, const ranking *r, const kith__fusion_workspace *f)
{
    const kith__query *q = &r->queries[rank - r->ranks];
    const kith__known *known = &r->known[q->subject_hidden];
    uint32_t hidden = kith__hidden_side(q);
    uint32_t best[KITH_JUDGED];
    size_t count = kith__fusion_best(best, KITH_JUDGED, f);

    for (size_t i = 0; i < count; i++) {
        bool right = best[i] == hidden;
        if (!right && kith__known_has(known, kith__known_side(q), q->fact.relation, best[i]))
            continue;
        rank->judged[rank->judgements].probability = kith__fusion_probability(f, best[i]);
        rank->judged[rank->judgements++].right = right;
    }
}

static void rank_fused(void *context, size_t query, kith__fusion_workspace *fusing)
{
    const ranking *r = context;

    rank_scores(r, query, fusing->room, fusing->scores, false);
    judge(&r->ranks[query], r, fusing);
}

bool kith__only_embedding(const kith_model *model, unsigned without)
{
    return !model->fused ||
           (model->fused->embedding && (without | KITH_PART_EMBEDDING) == KITH_PART_ALL);
}

static kith_status ranking_init(ranking *r, const kith_graph *filter, kith_error *error)
{
    bool failed = false;
    kith_status status = KITH_OK;

    for (int side = 0; side < 2; side++)
        TRY(kith__known_init(&r->known[side], r->model->graph, filter, side, error));
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++)
        failed |= !(r->marks[i] = kith__calloc(r->candidates, 1));
    if (failed)
        TRY(kith__no_memory(error));
cleanup:
    return status;
}

static void ranking_release(ranking *r)
{
    kith__known_release(&r->known[0]);
    kith__known_release(&r->known[1]);
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++)
        kith__free(r->marks[i]);
}

kith_status kith__rank_all(kith_rank *ranks, kith_model *model, const kith__query *queries,
                           size_t count, const kith_eval_options *options, kith_error *error)
{
    const struct kith__fused *fused = model->fused;
    ranking r = {.model = model, .queries = queries, .ranks = ranks};
    kith_status status;

    r.candidates = options->all_candidates ? kith_graph_entity_count(model->graph)
                                           : kith_graph_seen_entity_count(model->graph);
    TRY(ranking_init(&r, options->filter, error));
    if (kith__only_embedding(model, options->without))
        TRY(kith__score_all(model, queries, count, r.candidates, rank_one, &r, error));
    else
        TRY(kith__fusion_sweep(model, &fused->fusion, fused->evidence, queries, count, r.candidates,
                            options->without, fused->embedding, rank_fused, &r, error));
cleanup:
    ranking_release(&r);
    return status;
}

kith_status kith__calibrate(kith_model *model, const kith__query *queries, size_t count,
                            kith_error *error)
{
    ranking r = {.model = model,
                 .queries = queries,
                 .candidates = kith_graph_seen_entity_count(model->graph),
                 .ranks = kith__calloc(count, sizeof *r.ranks),
                 .samples = kith__alloc(count * KITH_JUDGED, sizeof *r.samples),
                 .sample_count = kith__calloc(count, sizeof *r.sample_count)};
    size_t samples = 0;
    kith_status status = KITH_OK;

    if (!r.ranks || !r.samples || !r.sample_count)
        TRY(kith__no_memory(error));
    TRY(ranking_init(&r, NULL, error));
    TRY(kith__score_all(model, queries, count, r.candidates, rank_one, &r, error));
    for (size_t i = 0; i < count * KITH_JUDGED; i++)
        if (i % KITH_JUDGED < r.sample_count[i / KITH_JUDGED])
            r.samples[samples++] = r.samples[i];
    kith__calibration_fit(model->calibration, r.samples, samples);
    model->calibrated = true;
cleanup:
    ranking_release(&r);
    kith__free(r.ranks);
    kith__free(r.samples);
    kith__free(r.sample_count);
    return status;
}
