/* The kinds of rules. Each is one file in src/rules/kinds and one row of the table below. Flags,
 * names, features, files and lists are derived from the table. */
#ifndef KITH_RULES_KINDS_H
#define KITH_RULES_KINDS_H

#include "rules/index.h"
#include "rules/rule.h"

/* clang-format off */
/* A row has the name of the kind's flag, the stem of its object (kith__..._rules), the bit of the
 * flag, and COMBINED if its confidences are combined with those of other kinds, which gives it the
 * usual features, or SEPARATE if it has features of its own (features.h). A query evaluates the
 * kinds in this order. Add new ones at the end, with a free bit; proximity and the embedding use
 * bits 4 and 5. */
#define KITH__RULE_KINDS_TABLE(KIND, USE)      \
    KIND(USE, DIRECT, direct, 0, COMBINED)     \
    KIND(USE, PATH, path, 1, COMBINED)         \
    KIND(USE, CONSTANT, constant, 2, COMBINED) \
    KIND(USE, SHARED, shared, 3, SEPARATE)     \
    KIND(USE, PATH3, path3, 6, SEPARATE)

/* Features specific to a kind, in addition to the best confidences, their noisy-or and the number
 * of rules. */
#define KITH__OWN_RULE_FEATURES(ROW)                                                        \
    ROW(DIRECT_MINED, DIRECT) /* largest mined confidence, not mixed with local counts */ \
    ROW(DIRECT_LINKS, DIRECT) /* facts between s and the candidate, except known answers */  \
    ROW(SHARED_SHARE, SHARED) /* largest share of known answers with one of its facts */     \
    ROW(SHARED_SUM, SHARED)   /* sum of confidences */
/* clang-format on */

enum {
#define KITH__VALUE(use, name, object, bit, combined) KITH__##name##_KIND,
    KITH__RULE_KINDS_TABLE(KITH__VALUE, )
#undef KITH__VALUE
        KITH__RULE_KINDS,
    /* Flags, including those of kinds that the public header does not name. */
#define KITH__VALUE(use, name, object, bit, combined) KITH__PART_##name = 1 << (bit),
    KITH__RULE_KINDS_TABLE(KITH__VALUE, )
#undef KITH__VALUE
        KITH__PART_NONE = KITH_PART_NONE,
    KITH__PART_PROXIMITY = KITH_PART_PROXIMITY,
    KITH__PART_EMBEDDING = KITH_PART_EMBEDDING,
    KITH__PART_RULES = KITH_PART_RULES
};

/* Rule features of a candidate: for each kind the largest confidence, the second largest, their
 * noisy-or (1 - the product of 1 - confidence) and the number of supporting rules; then the
 * features specific to single kinds. */
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

/* The entity that a query is about: its facts, those of them with the query relation, and its
 * id. */
typedef struct kith__query_facts {
    kith__span facts, known;
    uint32_t self;
} kith__query_facts;

typedef struct kith__rule_kind {
    unsigned part;    /* its flag */
    char letter;      /* short label */
    const char *name; /* in words */
    /* The form of such a rule, with variables of one letter: s, o, x, y, c, _. */
    const char *form;
    /* For rules mined from train: the number of relations in their bodies, their array in
     * rules.safetensors, and how they are mined. Other kinds leave these unset. */
    size_t steps;
    const char *array;
    kith_status (*mine)(kith__rules *rules, const kith__index *index, kith__pool *pool,
                        kith_error *error);
    /* Find the candidates of a query that rules of this kind support (evidence.h). */
    void (*find)(struct kith__evidence_query *query, const kith__query_facts *queried);
    /* For listing rules with constants to users (list_rules.h): add the kind's rules to the
     * listing, and record where one of them holds or fails at an entity that has some answer. NULL:
     * the kind is not listed. */
    kith_status (*list)(struct kith__listing *listing, kith__pool *pool, kith_error *error);
    void (*find_examples)(struct kith__listing *listing, void *rule, uint32_t subject,
                          kith__span answers);
} kith__rule_kind;

extern const kith__rule_kind *const kith__rule_kinds[KITH__RULE_KINDS];

/* The kind of a flag, or NULL if the flag is not that of a kind. */
const kith__rule_kind *kith__rule_kind_of(unsigned part);
/* The subset of these flags for which a part of the evidence exists. */
unsigned kith__existing_parts(unsigned parts);

#define KITH__VALUE(use, name, object, bit, combined) \
    extern const kith__rule_kind kith__##object##_rules;
KITH__RULE_KINDS_TABLE(KITH__VALUE, )
#undef KITH__VALUE

#endif
