/* The learned rules: those mined from train, by kind and conclusion, over its 2m relations and
 * inverses. They contain no entities, so they can be used with any graph that has these
 * relations. */
#ifndef KITH_RULES_RULE_SET_H
#define KITH_RULES_RULE_SET_H

#include "rules/kinds.h"

typedef struct kith__rule_set {
    uint32_t relations;               /* 2m */
    kith__rules of[KITH__RULE_KINDS]; /* empty for kinds that are not mined */
} kith__rule_set;

/* Mine the facts of an index. */
kith_status kith__rule_set_new(kith__rule_set **rules, const kith__index *index, kith__pool *pool,
                               kith_error *error);
void kith__rule_set_free(kith__rule_set *rules);

/* The direct rule first => conclusion, or NULL if there is none. */
const kith__rule *kith__rule_set_direct(const kith__rule_set *rules, uint32_t conclusion,
                                        uint32_t first);
/* The number of rules of a kind; 0 for kinds that are not mined. */
size_t kith__rule_set_count(const kith__rule_set *rules, unsigned part);

#endif
