/* Figures about a candidate answer, from rules and from the embedding, that fusion weighs. */
#ifndef KITH_MODEL_FEATURES_H
#define KITH_MODEL_FEATURES_H

#include "rules/evidence.h"

/* clang-format off */
/* Name, and which part of the evidence it comes from; RULES: several kinds of rules. */
#define KITH__FEATURES(ROW)                                                     \
    ROW(A_BEST, "a", DIRECT)                                                    \
    ROW(A_LOG, "log a", DIRECT)                                                 \
    ROW(A_ALL, "a all", DIRECT)                                                 \
    ROW(A_GLOBAL, "a mined", DIRECT)                                            \
    ROW(A_COUNT, "a count", DIRECT)                                             \
    ROW(A_LINKS, "links", DIRECT)                                               \
    ROW(B_BEST, "b", PATH)                                                      \
    ROW(B_LOG, "log b", PATH)                                                   \
    ROW(B_ALL, "b all", PATH)                                                   \
    ROW(B_COUNT, "b count", PATH)                                               \
    ROW(C_BEST, "c", CONSTANT)                                                  \
    ROW(C_LOG, "log c", CONSTANT)                                               \
    ROW(C_SECOND, "c second", CONSTANT)                                         \
    ROW(C_ALL, "c all", CONSTANT)                                               \
    ROW(C_COUNT, "c count", CONSTANT)                                           \
    ROW(D_BEST, "d", SHARED)                                                    \
    ROW(D_LOG, "log d", SHARED)                                                 \
    ROW(D_SHARED, "d shared", SHARED)                                           \
    ROW(D_SUM, "d sum", SHARED)                                                 \
    ROW(BEST, "best", RULES)                                                    \
    ROW(BEST_LOG, "log best", RULES)                                            \
    ROW(ALL, "all", RULES)                                                      \
    ROW(PRIOR, "answers often", NONE)                                           \
    ROW(DEGREE, "facts of it", NONE)                                            \
    ROW(TYPE, "fits", NONE)                                                     \
    ROW(TYPE_KNOWN, "fits by known answers", NONE)                              \
    ROW(TYPE_ALL, "fits in all", NONE)                                          \
    ROW(PROXIMITY, "near", PROXIMITY)                                           \
    ROW(PROXIMITY_UNLINKED, "near and not linked", PROXIMITY)                   \
    ROW(PROXIMITY_KNOWN, "near by known answers", PROXIMITY)                    \
    ROW(E_SCORE, "embedding", EMBEDDING)                                        \
    ROW(E_LOGP, "embedding log p", EMBEDDING)                                   \
    ROW(E_GATED, "embedding without a", EMBEDDING)                              \
    ROW(E_LOGP_GATED, "embedding log p without a", EMBEDDING)                   \
    ROW(E_LINKED, "embedding log p of linked", EMBEDDING)                       \
    ROW(BEST_LOG_KNOWN, "log best by known answers", RULES)                     \
    ROW(ALL_KNOWN, "all by known answers", RULES)                               \
    ROW(C_LOG_KNOWN, "log c by known answers", CONSTANT)                        \
    ROW(D_LOG_KNOWN, "log d by known answers", SHARED)                          \
    ROW(D_SHARED_KNOWN, "d shared by known answers", SHARED)                    \
    ROW(PRIOR_KNOWN, "answers often by known answers", NONE)                    \
    ROW(E_KNOWN, "embedding log p by known answers", EMBEDDING)                 \
    ROW(BEST_LOG_FACTS, "log best by facts", RULES)                             \
    ROW(ALL_FACTS, "all by facts", RULES)                                       \
    ROW(C_LOG_FACTS, "log c by facts", CONSTANT)                                \
    ROW(D_LOG_FACTS, "log d by facts", SHARED)                                  \
    ROW(PRIOR_FACTS, "answers often by facts", NONE)                            \
    ROW(E_FACTS, "embedding log p by facts", EMBEDDING)
/* clang-format on */

typedef enum kith__feature {
#define KITH__VALUE(name, text, part) KITH__F_##name,
    KITH__FEATURES(KITH__VALUE)
#undef KITH__VALUE
    KITH__FEATURES_COUNT
} kith__feature;

const char *kith__feature_name(int feature);
kith_evidence_part kith__feature_part(int feature);

/* One query with all that is known about its candidates 0 .. candidates - 1. */
typedef struct kith__case {
    const kith__evidence_query *asked;
    const float *embedding;  /* scores of the candidates; NULL without an embedding */
    const float *log_degree; /* per candidate */
    size_t candidates;
    float e_mean, e_scale; /* of the embedding's scores */
    float log_sum;         /* of their exponentials */
    float gate;                   /* 1 - the best A that is no known answer */
    float log_answers;            /* of the relation, in train */
    float log_known, log_facts;   /* known answers of the query, facts of the entity */
} kith__case;

/* Sum up what the candidates have in common. `asked` must be the answer to the query at hand. Parts
 * that are left out (flags of kith_evidence_part) count as if they had nothing to say. */
void kith__case_init(kith__case *c, const kith__evidence_query *asked, kith__span facts,
                     const float *embedding, const float *log_degree, size_t candidates,
                     unsigned without);
/* What candidates that no rule speaks for differ in; all features are linear in these. */
typedef struct kith__plain {
    float prior, degree, fits, type_score_all, proximity, e_score, e_logp;
} kith__plain;
void kith__case_plain(float feature[KITH__FEATURES_COUNT], const kith__case *c, kith__plain plain);

/* How features change where a candidate's score by the embedding rises by 1. */
void kith__case_slopes(float change[KITH__FEATURES_COUNT], const kith__case *c, uint32_t candidate,
                       unsigned without);

/* All features of a candidate. */
void kith__case_features(float feature[KITH__FEATURES_COUNT], const kith__case *c,
                         uint32_t candidate, unsigned without);

#endif
