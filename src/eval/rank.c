#include "eval/rank.h"

#include <math.h>

#include "core/mem.h"
#include "graph/known.h"

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
    const kith__query *queries;
    size_t candidates;
    kith__known known[2]; /* [subject hidden] */
    uint8_t *marks[KITH__SCORED_TOGETHER];
    kith_rank *ranks;
} ranking;

static void rank_one(void *context, size_t query, size_t slot, const float *scores)
{
    const ranking *r = context;
    const kith__query *q = &r->queries[query];
    const kith__known *known = &r->known[q->subject_hidden];
    kith_rank rank = {.fact = q->fact, .subject_hidden = q->subject_hidden};

    kith__known_mark(r->marks[slot], r->candidates, known, kith__known_side(q), q->fact.relation, 1);
    kith__rank_of(&rank.optimistic, &rank.pessimistic, &rank.candidates, scores, r->candidates,
                  kith__hidden_side(q), r->marks[slot]);
    kith__known_mark(r->marks[slot], r->candidates, known, kith__known_side(q), q->fact.relation, 0);
    rank.realistic = ((double)rank.optimistic + rank.pessimistic) / 2;
    r->ranks[query] = rank;
}

kith_status kith__rank_all(kith_rank *ranks, kith_model *model, const kith__query *queries,
                           size_t count, bool all_candidates, kith_error *error)
{
    ranking r = {.queries = queries, .ranks = ranks};
    bool failed = false;
    kith_status status = KITH_OK;

    r.candidates = all_candidates ? kith_graph_entity_count(model->graph)
                                  : kith_graph_seen_entity_count(model->graph);
    for (int side = 0; side < 2; side++)
        TRY(kith__known_init(&r.known[side], model->graph, side, error));
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++)
        failed |= !(r.marks[i] = kith__calloc(r.candidates, 1));
    if (failed)
        TRY(kith__no_memory(error));
    TRY(kith__score_all(model, queries, count, r.candidates, rank_one, &r, error));
cleanup:
    kith__known_release(&r.known[0]);
    kith__known_release(&r.known[1]);
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++)
        kith__free(r.marks[i]);
    return status;
}
