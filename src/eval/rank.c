#include "eval/rank.h"

#include <math.h>
#include <string.h>

#include "core/flag.h"
#include "core/mem.h"
#include "graph/known.h"
#include "model/fusion_sweep.h"

void kith__rank_of(uint32_t *optimistic, uint32_t *pessimistic, uint32_t *candidates,
                   const float *scores, size_t count, uint32_t gold, const uint8_t *known)
{
    uint32_t better = 0, equal = 0, left = 1;
    float right = scores[gold];

    for (size_t i = 0; i < count; i++) {
        if (known[i] || i == gold)
            continue;
        left++;
        /* A NaN is never better than another score, and counts as equal if the correct answer's
         * score is NaN too. */
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
    const kith__answer_set *among;
    kith__known filter[2]; /* [subject hidden] */
    uint8_t *marks[KITH__SCORED_TOGETHER];
    kith__known_buffer known[KITH__SCORED_TOGETHER];
    kith__ranked *ranks;
    kith__flag no_memory;
} ranking;

/* Marks are set for entities that are not candidates. */
static void clear_marks(uint8_t *marks, const kith__answer_set *among)
{
    if (among->excluded) /* otherwise they are cleared when known answers are unmarked */
        memcpy(marks, among->excluded, among->width);
}

static void rank_scores(const ranking *r, size_t query, size_t slot, const float *scores)
{
    const kith__query *q = &r->queries[query];
    const kith__known *filter = &r->filter[q->subject_hidden];
    uint8_t *marks = r->marks[slot];
    size_t width = r->among->width;
    kith_rank rank = {.fact = q->fact, .subject_hidden = q->subject_hidden};

    kith__known_mark(marks, width, filter, kith__known_side(q), q->fact.relation, 1);
    marks[kith__hidden_side(q)] = 0;
    kith__rank_of(&rank.optimistic, &rank.pessimistic, &rank.candidates, scores, width,
                  kith__hidden_side(q), marks);
    rank.realistic = ((double)rank.optimistic + rank.pessimistic) / 2;
    r->ranks[query].shown = rank;
    kith__known_mark(marks, width, filter, kith__known_side(q), q->fact.relation, 0);
    clear_marks(marks, r->among);
}

static void judge(const ranking *r, size_t query, const float *scores, const kith__shares *shares)
{
    const kith__query *q = &r->queries[query];
    kith__ranked *rank = &r->ranks[query];
    kith__judged judged[KITH__JUDGED];
    size_t count =
        kith__judge(judged, scores, r->among->width, shares, &r->filter[q->subject_hidden],
                    kith__known_side(q), q->fact.relation, kith__hidden_side(q));

    if (r->among->excluded && r->among->candidates == r->among->width)
        count = 0; /* entities that are not candidates have scores too, but are not counted */
    for (size_t i = 0; i < count; i++) {
        rank->answers[i].correct = judged[i].right;
        rank->answers[i].probability_if_one =
            (float)kith__probability(&r->model->calibration, shares, scores[judged[i].entity]);
        rank->list[i] = &rank->answers[i];
    }
    rank->shown.answers = rank->list;
    rank->shown.answer_count = count;
}

/* Ranks by the embedding only. Its scores give probabilities if there is no other evidence. */
static void rank_one(void *context, size_t query, size_t slot, const float *scores)
{
    ranking *r = context;
    const kith__query *q = &r->queries[query];
    kith__span known;

    rank_scores(r, query, slot, scores);
    if (r->model->fused || !r->model->calibration.fitted)
        return;
    if (kith__known_answers(&known, &r->known[slot], r->model->graph, q)) {
        kith__flag_raise(&r->no_memory);
        return;
    }
    kith__shares shares =
        kith__shares_of(scores, r->among->width, known, kith__directed_query(r->model->graph, q));
    judge(r, query, scores, &shares);
}

static void rank_fused(void *context, size_t query, kith__fusion_workspace *workspace)
{
    const ranking *r = context;

    rank_scores(r, query, workspace->number, workspace->scores);
    judge(r, query, workspace->scores, &workspace->shares);
}

static kith_status ranking_init(ranking *r, const kith_graph *filter, kith_error *error)
{
    bool failed = false;
    kith_status status = KITH_OK;

    for (int side = 0; side < 2; side++)
        TRY(kith__known_init(&r->filter[side], r->model->graph, filter, side, error));
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++)
        failed |= !(r->marks[i] = kith__calloc(r->among->width, 1));
    if (failed)
        TRY(kith__no_memory(error));
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++)
        clear_marks(r->marks[i], r->among);
cleanup:
    return status;
}

static void ranking_release(ranking *r)
{
    kith__known_release(&r->filter[0]);
    kith__known_release(&r->filter[1]);
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++) {
        kith__free(r->marks[i]);
        kith__free(r->known[i].at);
    }
}

kith_status kith__rank_all(kith__ranked *ranks, kith_model *model, const kith__query *queries,
                           size_t count, const kith__answer_set *among,
                           const kith_eval_options *options, kith_error *error)
{
    const kith__fused *fused = model->fused;
    ranking r = {.model = model, .queries = queries, .ranks = ranks, .among = among};
    kith_status status;

    TRY(ranking_init(&r, options->filter, error));
    if (kith__only_embedding(model, options->without))
        TRY(kith__score_all(model, queries, count, among->width, kith__model_facts(model), rank_one,
                            &r, error));
    else
        TRY(kith__fusion_sweep(model, &fused->fusion, fused->evidence, queries, count, among,
                               options->without, fused->embedding, rank_fused, &r, error));
    if (kith__flag_raised(&r.no_memory))
        TRY(kith__no_memory(error));
cleanup:
    ranking_release(&r);
    return status;
}
