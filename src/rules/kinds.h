/* The kinds of rules, one row each: whatever names, lists, stores or describes a kind goes by this
 * table. */
#ifndef KITH_RULES_KINDS_H
#define KITH_RULES_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include <kith/kith.h>

/* clang-format off */
/* Rule features of a candidate. "all" is 1 - the product of (1 - confidence), as if rules were
 * independent. */
#define KITH__RULE_FEATURE_TABLE(ROW)                                                         \
    ROW(A_BEST, DIRECT)     /* largest confidence, mixed with local counts */                 \
    ROW(A_ALL, DIRECT)                                                                        \
    ROW(A_GLOBAL, DIRECT)   /* largest confidence as mined */                                 \
    ROW(A_COUNT, DIRECT)    /* facts between s and the candidate that some rule applies to */ \
    ROW(A_LINKS, DIRECT)    /* all facts between them but known answers */                    \
    ROW(B_BEST, PATH)                                                                         \
    ROW(B_ALL, PATH)                                                                          \
    ROW(B_COUNT, PATH)      /* paths */                                                       \
    ROW(C_BEST, CONSTANT)                                                                     \
    ROW(C_SECOND, CONSTANT)                                                                   \
    ROW(C_ALL, CONSTANT)                                                                      \
    ROW(C_COUNT, CONSTANT)  /* facts of s that support it */                                  \
    ROW(D_BEST, SHARED)     /* largest confidence */                                          \
    ROW(D_SHARED, SHARED)   /* largest share of the known answers with what the candidate has */ \
    ROW(D_SUM, SHARED)
/* clang-format on */

typedef enum kith__rule_feature {
#define KITH__VALUE(name, part) KITH__##name,
    KITH__RULE_FEATURE_TABLE(KITH__VALUE)
#undef KITH__VALUE
        KITH__RULE_FEATURES
} kith__rule_feature;

/* The part of the evidence that a rule feature belongs to. */
kith_evidence_part kith__rule_feature_part(kith__rule_feature feature);

typedef struct kith__rule_kind {
    kith_evidence_part part;
    char letter;      /* short label */
    const char *name; /* in words */
    const char *form; /* what such a rule looks like */
    bool mined;       /* from train; else counted when a query is asked */
    const char
        *array; /* its array in rules.safetensors and how many columns that has: conclusion, */
    size_t
        columns; /* relations of the body, support, body count; NULL and 0 of what is not mined */
} kith__rule_kind;

enum { KITH__RULE_KINDS = 4, KITH__MINED_KINDS = 2 }; /* those that are mined come first */
extern const kith__rule_kind kith__rule_kinds[KITH__RULE_KINDS];

#endif
