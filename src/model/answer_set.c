#include "model/answer_set.h"

#include <string.h>

#include "core/mem.h"

void kith__answer_set_release(kith__answer_set *set)
{
    kith__free(set->unseen);
    kith__free(set->excluded);
    memset(set, 0, sizeof *set);
}

/* List the unseen entities that have a fact, and exclude the others. */
static void list_unseen(kith__answer_set *set, const kith__index *known)
{
    for (size_t e = set->candidates; e < set->width; e++) {
        set->excluded[e] = kith__facts_of(known, (uint32_t)e).count == 0;
        if (!set->excluded[e])
            set->unseen[set->unseen_count++] = (uint32_t)e;
    }
}

kith_status kith__answer_set_init(kith__answer_set *set, const kith_model *model,
                                  const kith__evidence *evidence, kith_candidate_set which,
                                  kith_error *error)
{
    size_t all = kith_graph_entity_count(model->graph), seen = model->candidates;
    bool by_rules = evidence && model->settings.unseen_neighbors;
    kith_status status = KITH_OK;

    *set = kith__answers_below(seen);
    if ((unsigned)which > KITH_ANSWERS_NEW)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "%d is not a set of candidates", (int)which));
    if (which == KITH_ANSWERS_SEEN || (all == seen && which == KITH_ANSWERS_ALL))
        return KITH_OK;
    *set = (kith__answer_set){.candidates = by_rules ? seen : all,
                              .width = all,
                              .only = which == KITH_ANSWERS_NEW,
                              .unseen = kith__alloc(all - seen, sizeof(uint32_t)),
                              .excluded = kith__calloc(all, 1)};
    if (!set->unseen || !set->excluded)
        TRY(kith__no_memory(error));
    if (set->only)
        memset(set->excluded, 1, seen);
    if (by_rules)
        list_unseen(set, evidence->base->index);
cleanup:
    if (status != KITH_OK)
        kith__answer_set_release(set);
    return status;
}
