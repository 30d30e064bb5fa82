#include "rules/rule_set.h"

#include "core/mem.h"

kith_status kith__rule_set_new(kith__rule_set **out, const kith__index *index, kith__pool *pool,
                               kith_error *error)
{
    kith__rule_set *rules = kith__calloc(1, sizeof *rules);
    kith_status status = KITH_OK;

    if (!rules)
        return kith__no_memory(error);
    rules->relations = index->relations;
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i]->mine)
            TRY(kith__rule_kinds[i]->mine(&rules->of[i], index, pool, error));
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
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        kith__rules_release(&rules->of[i]);
    kith__free(rules);
}

const kith__rule *kith__rule_set_direct(const kith__rule_set *rules, uint32_t conclusion,
                                        uint32_t first)
{
    const kith__rules *direct = &rules->of[KITH__DIRECT_KIND];
    uint64_t low = direct->offset[conclusion], high = direct->offset[conclusion + 1], end = high;

    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (direct->at[middle].relation[0] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && direct->at[low].relation[0] == first ? &direct->at[low] : NULL;
}

size_t kith__rule_set_count(const kith__rule_set *rules, unsigned part)
{
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i]->part == part && rules->of[i].offset)
            return (size_t)rules->of[i].offset[rules->relations];
    return 0;
}
