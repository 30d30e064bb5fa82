/* Chooses which entities may be answers. */
#include "core/mem.h"
#include "graph/graph.h"
#include "session/answer.h"

static bool has_support(const kith_session *s, uint32_t entity)
{
    const kith__index *known = s->model->fused->evidence->base->index;
    return entity < known->entities && kith__facts_of(known, entity).count > 0;
}

static kith_status list_unseen(kith__workspace *a, const kith_session *s, kith_error *error)
{
    uint32_t all = s->model->graph->entities.count, first = (uint32_t)a->candidates;

    if (kith__reserve(&a->unseen, &a->unseen_capacity,
                      (all > first ? all - first : 0) + s->newcomer_count, sizeof *a->unseen))
        return kith__no_memory(error);
    for (uint32_t e = first; e < all; e++)
        if (has_support(s, e))
            a->unseen[a->unseen_count++] = e;
    for (size_t i = 0; i < s->newcomer_count; i++) {
        const kith__described *d = &s->described[s->newcomers[i]];
        if (d->entity >= first && d->facts > 0 && !has_support(s, d->entity))
            a->unseen[a->unseen_count++] = d->entity;
    }
    return KITH_OK;
}

kith_status kith__choose_candidates(kith__workspace *a, const kith_session *s,
                                    kith_candidate_set set, kith_error *error)
{
    bool only = set == KITH_ANSWERS_NEW;

    a->width = a->candidates;
    a->unseen_count = 0;
    if (a->fusion)
        a->fusion->unseen = (kith__unseen_set){0};
    if ((unsigned)set > KITH_ANSWERS_NEW)
        return kith__fail(error, KITH_ERR_ARGUMENT, "%d is not a set of candidates", (int)set);
    if (only && !kith__model_answers_unseen(s->model))
        return kith__fail(error, KITH_ERR_ARGUMENT, "a model %s has no scores for new entities",
                          a->fusion ? "with unseen-neighbors off" : "without rules");
    if (set == KITH_ANSWERS_SEEN || !kith__model_answers_unseen(s->model))
        return KITH_OK;
    kith_status status = list_unseen(a, s, error);
    if (status != KITH_OK || (a->unseen_count == 0 && !only))
        return status;
    a->width = (size_t)s->model->graph->entities.count + s->entities.count;
    a->fusion->unseen = (kith__unseen_set){a->unseen, a->unseen_count, a->width, only};
    return KITH_OK;
}
