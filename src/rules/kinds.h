/* The kinds of rules. Each is one file in src/rules/kinds and one row of the table below; flags,
 * names, features, files and lists follow from these. */
#ifndef KITH_RULES_KINDS_H
#define KITH_RULES_KINDS_H

#include "rules/index.h"
#include "rules/rule.h"

/* clang-format off */
/* The name of the kind's flag and the bit of that flag; its object, kith__..._rules; and whether
 * its confidences are COMBINED with those of other kinds, which gives it the usual features, or
 * SEPARATE, with features of its own (features.h). A query asks the kinds in this order. Add new
 * ones at the end, with a bit that is free; proximity and the embedding have 4 and 5. */
#define KITH__RULE_KINDS_TABLE(KIND, USE)      \
    KIND(USE, DIRECT, direct, 0, COMBINED)     \
    KIND(USE, PATH, path, 1, COMBINED)         \
    KIND(USE, CONSTANT, constant, 2, COMBINED) \
    KIND(USE, SHARED, shared, 3, SEPARATE)     \
    KIND(USE, PATH3, path3, 6, SEPARATE)

/* What a kind notes about a candidate beside the best confidences, their noisy-or and their
 * number. */
#define KITH__OWN_RULE_FEATURES(ROW)                                                        \
    ROW(DIRECT_MINED, DIRECT) /* largest confidence as mined, not mixed with local counts */ \
    ROW(DIRECT_LINKS, DIRECT) /* all facts between s and the candidate but known answers */  \
    ROW(SHARED_SHARE, SHARED) /* largest share of the known answers with what it has */      \
    ROW(SHARED_SUM, SHARED)   /* sum of confidences */
/* clang-format on */

enum {
#define KITH__VALUE(use, name, object, bit, combined) KITH__##name##_KIND,
    KITH__RULE_KINDS_TABLE(KITH__VALUE, )
#undef KITH__VALUE
        KITH__RULE_KINDS,
    /* Flags, those of kinds that the public header does not name too. */
#define KITH__VALUE(use, name, object, bit, combined) KITH__PART_##name = 1 << (bit),
    KITH__RULE_KINDS_TABLE(KITH__VALUE, )
#undef KITH__VALUE
        KITH__PART_NONE = KITH_PART_NONE,
    KITH__PART_PROXIMITY = KITH_PART_PROXIMITY,
    KITH__PART_EMBEDDING = KITH_PART_EMBEDDING,
    KITH__PART_RULES = KITH_PART_RULES
};

/* Rule features of a candidate: of each kind the largest confidence, the next, their noisy-or (1 -
 * the product of 1 - confidence) and how many rules support it; then what some kinds note
 * beside. */
typedef enum kith__rule_feature {
#define KITH__VALUE(use, name, object, bit, combined) \
    KITH__##name##_BEST, KITH__##name##_SECOND, KITH__##name##_ALL, KITH__##name##_COUNT,
    KITH__RULE_KINDS_TABLE(KITH__VALUE, )
#undef KITH__VALUE
#define KITH__VALUE(name, part) KITH__##name,
        KITH__OWN_RULE_FEATURES(KITH__VALUE)
#undef KITH__VALUE
            KITH__RULE_FEATURES
} kith__rule_feature;

enum { KITH__FEATURES_OF_KIND = 4 };

/* The part of the evidence that a rule feature belongs to. */
kith_evidence_part kith__rule_feature_part(kith__rule_feature feature);

struct kith__evidence_query;
struct kith__listing;

/* The entity that a query is about: its facts, those with the query relation, its id. */
typedef struct kith__asked {
    kith__span facts, known;
    uint32_t self;
} kith__asked;

typedef struct kith__rule_kind {
    unsigned part;    /* its flag */
    char letter;      /* short label */
    const char *name; /* in words */
    /* What such a rule looks like, with variables of one letter: s, o, x, y, c, _. */
    const char *form;
    /* Of rules that are mined from train: how many relations their bodies have, their array in
     * rules.safetensors, and how they are mined. Other kinds leave these out. */
    size_t steps;
    const char *array;
    kith_status (*mine)(kith__rules *rules, const kith__index *index, kith__pool *pool,
                        kith_error *error);
    /* Support the candidates of a query (evidence.h). */
    void (*find)(struct kith__evidence_query *query, const kith__asked *asked);
    /* Rules with constants, for people (list_rules.h): add those of the listing, and note where one
     * of them holds or fails at an entity that has some answer. NULL: they are not listed. */
    kith_status (*list)(struct kith__listing *listing, kith__pool *pool, kith_error *error);
    void (*find_examples)(struct kith__listing *listing, void *rule, uint32_t subject,
                          kith__span answers);
} kith__rule_kind;

extern const kith__rule_kind *const kith__rule_kinds[KITH__RULE_KINDS];

/* The kind of a flag; NULL where it is none. */
const kith__rule_kind *kith__rule_kind_of(unsigned part);
/* The flags among these that some part has. */
unsigned kith__existing_parts(unsigned parts);

#define KITH__VALUE(use, name, object, bit, combined) \
    extern const kith__rule_kind kith__##object##_rules;
KITH__RULE_KINDS_TABLE(KITH__VALUE, )
#undef KITH__VALUE

#endif
