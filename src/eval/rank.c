#include "eval/rank.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "fuse/fused.h"
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

/* Of the answers that are most likely, the first is the one whose probability is checked. */
static void judge(kith_rank *rank, const ranking *r, const kith__fusing *f)
{
    const kith__query *q = &r->queries[rank - r->ranks];
    const kith__known *known = &r->known[q->subject_hidden];
    uint32_t hidden = kith__hidden_side(q);
    uint32_t best[KITH_JUDGED];
    size_t count = kith__fused_best(best, KITH_JUDGED, f);

    for (size_t i = 0; i < count; i++) {
        bool right = best[i] == hidden;
        if (!right && kith__known_has(known, kith__known_side(q), q->fact.relation, best[i]))
            continue;
        rank->judged[rank->judgements].probability = kith__fused_probability(f, best[i]);
        rank->judged[rank->judgements++].right = right;
    }
}

static void rank_fused(void *context, size_t query, kith__fusing *fusing)
{
    const ranking *r = context;

    rank_one(context, query, fusing->room, fusing->scores);
    judge(&r->ranks[query], r, fusing);
}

bool kith__only_embedding(const kith_model *model, const char *without)
{
    return !model->fused || (without && model->fused->embedding && strchr(without, 'A') &&
                             strchr(without, 'B') && strchr(without, 'C') && strchr(without, 'D'));
}

kith_status kith__rank_all(kith_rank *ranks, kith_model *model, const kith__query *queries,
                           size_t count, const kith_eval_options *options, kith_error *error)
{
    const struct kith__fused *fused = model->fused;
    ranking r = {.queries = queries, .ranks = ranks};
    bool failed = false;
    kith_status status = KITH_OK;

    r.candidates = options->all_candidates ? kith_graph_entity_count(model->graph)
                                           : kith_graph_seen_entity_count(model->graph);
    for (int side = 0; side < 2; side++)
        TRY(kith__known_init(&r.known[side], model->graph, options->filter, side, error));
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++)
        failed |= !(r.marks[i] = kith__calloc(r.candidates, 1));
    if (failed)
        TRY(kith__no_memory(error));
    if (kith__only_embedding(model, options->without))
        TRY(kith__score_all(model, queries, count, r.candidates, rank_one, &r, error));
    else
        TRY(kith__fuse_each(model, &fused->fusion, fused->evidence, queries, count, r.candidates,
                            options->without, fused->embedding, rank_fused, &r, error));
cleanup:
    kith__known_release(&r.known[0]);
    kith__known_release(&r.known[1]);
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++)
        kith__free(r.marks[i]);
    return status;
}
