/* Rules without constants, mined from train, grouped by conclusion. Their bodies are chains of
 * relations that lead from s to o, such as r(s, o) or r1(s, x), r2(x, o), over the 2m relations and
 * inverses. */
#ifndef KITH_RULES_RULE_H
#define KITH_RULES_RULE_H

#include <stdint.h>

enum {
    KITH__SHRINK = 5,
    KITH__MOST_STEPS = 3,        /* maximum number of relations in a body */
    KITH__MOST_PATH_RULES = 500, /* maximum per conclusion, the most confident ones */
};
#define KITH__NO_RELATION UINT32_MAX

/* The confidence of a rule for q is support / (body count + KITH__SHRINK), where the body count is
 * how often the body holds for an s that has some fact of q. */
typedef struct kith__rule {
    uint32_t relation[KITH__MOST_STEPS]; /* padded with KITH__NO_RELATION */
    uint32_t support;
    uint32_t body_count;
    float confidence;
} kith__rule;

typedef struct kith__rules {
    uint32_t relations; /* 2m */
    uint64_t *offset;   /* of conclusion q: at[offset[q]] .. at[offset[q + 1] - 1] */
    kith__rule *at;     /* sorted by the relations of the body */
} kith__rules;

void kith__rules_release(kith__rules *rules);

static inline float kith__shrunk(double support, double body_count)
{
    return (float)(support / (body_count + KITH__SHRINK));
}

/* Compare two rules with the same conclusion by the relations of their bodies: negative, 0 or
 * positive. */
int kith__rule_compare(const kith__rule *a, const kith__rule *b);

#endif
