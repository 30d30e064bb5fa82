/* Rules that name an answer, mined from train:
 *   A   r(s, o)              => q(s, o)
 *   B   r1(s, x), r2(x, o)   => q(s, o)
 * over the 2m relations and inverses. A third kind, C, has constants and is counted when it is asked
 * for (evidence.h). Confidence is hits / (bodies + KITH__SHRINK), where bodies are the ways to be
 * right or wrong: those whose s has some q. */
#ifndef KITH_RULES_MINE_H
#define KITH_RULES_MINE_H

#include "rules/index.h"

enum {
    KITH__SHRINK = 5,
    KITH__MOST_PATH_RULES = 500, /* per conclusion, the most confident ones */
    KITH__RELATION_BITS = 21,    /* graphs with more directed relations get none */
};
#define KITH__NO_RELATION UINT32_MAX

typedef struct kith__pattern {
    uint32_t first, second; /* second: KITH__NO_RELATION for kind A */
    uint32_t hits;
    uint32_t bodies;
    float confidence;
} kith__pattern;

typedef struct kith__patterns {
    uint32_t relations;   /* 2m */
    uint64_t *offset;     /* of conclusion q: at[offset[q]] .. at[offset[q + 1] - 1] */
    kith__pattern *at;    /* by (first, second) */
} kith__patterns;

kith_status kith__mine_pairs(kith__patterns *patterns, const kith__index *index, kith__pool *pool,
                             kith_error *error);
kith_status kith__mine_paths(kith__patterns *patterns, const kith__index *index, kith__pool *pool,
                             kith_error *error);
void kith__patterns_release(kith__patterns *patterns);

static inline float kith__shrunk(double hits, double bodies)
{
    return (float)(hits / (bodies + KITH__SHRINK));
}

#endif
