/* Rules that name an answer, mined from train:
 *   direct   r(s, o)              => q(s, o)
 *   path     r1(s, x), r2(x, o)   => q(s, o)
 * over the 2m relations and inverses. Rules of other kinds have constants and are counted when a query
 * is asked (evidence.h). Confidence is support / (body count + KITH__SHRINK), where the body count is
 * how often the body holds for an s that has some q. */
#ifndef KITH_RULES_MINE_H
#define KITH_RULES_MINE_H

#include "rules/index.h"

enum {
    KITH__SHRINK = 5,
    KITH__MOST_PATH_RULES = 500, /* per conclusion, the most confident ones */
    KITH__RELATION_BITS = 21,    /* graphs with more directed relations get none */
};
#define KITH__NO_RELATION UINT32_MAX

typedef struct kith__rule {
    uint32_t first, second; /* second: KITH__NO_RELATION of a direct rule */
    uint32_t support;
    uint32_t body_count;
    float confidence;
} kith__rule;

typedef struct kith__rules {
    uint32_t relations;   /* 2m */
    uint64_t *offset;     /* of conclusion q: at[offset[q]] .. at[offset[q + 1] - 1] */
    kith__rule *at;    /* by (first, second) */
} kith__rules;

kith_status kith__mine_pairs(kith__rules *patterns, const kith__index *index, kith__pool *pool,
                             kith_error *error);
kith_status kith__mine_paths(kith__rules *patterns, const kith__index *index, kith__pool *pool,
                             kith_error *error);
void kith__rules_release(kith__rules *patterns);

static inline float kith__shrunk(double support, double body_count)
{
    return (float)(support / (body_count + KITH__SHRINK));
}

#endif
