#include "rules/rule_set.h"

#include "core/mem.h"

kith_status kith__rule_set_new(kith__rule_set **out, const kith__index *index, kith__pool *pool,
                               kith_error *error)
{
    kith__rule_set *rules = kith__calloc(1, sizeof *rules);
    kith_status status;

    if (!rules)
        return kith__no_memory(error);
    rules->relations = index->relations;
    TRY(kith__mine_pairs(&rules->pairs, index, pool, error));
    TRY(kith__mine_paths(&rules->paths, index, pool, error));
    *out = rules;
    rules = NULL;
cleanup:
    kith__rule_set_free(rules);
    return status;
}

void kith__rule_set_free(kith__rule_set *rules)
{
    if (!rules)
        return;
    kith__rules_release(&rules->pairs);
    kith__rules_release(&rules->paths);
    kith__free(rules);
}

const kith__rule *kith__rule_set_direct(const kith__rule_set *rules, uint32_t conclusion,
                                        uint32_t first)
{
    const kith__rules *pairs = &rules->pairs;
    uint64_t low = pairs->offset[conclusion], high = pairs->offset[conclusion + 1], end = high;

    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (pairs->at[middle].first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && pairs->at[low].first == first ? &pairs->at[low] : NULL;
}
