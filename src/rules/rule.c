#include "rules/rule.h"

#include <string.h>

#include "core/mem.h"

void kith__rules_release(kith__rules *rules)
{
    kith__free(rules->offset);
    kith__free(rules->at);
    memset(rules, 0, sizeof *rules);
}

int kith__rule_compare(const kith__rule *a, const kith__rule *b)
{
    for (int k = 0; k < KITH__MOST_STEPS; k++)
        if (a->relation[k] != b->relation[k])
            return a->relation[k] < b->relation[k] ? -1 : 1;
    return 0;
}
