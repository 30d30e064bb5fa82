/* Figures about a candidate answer, from rules and from the embedding, that fusion weighs. */
#ifndef KITH_MODEL_FEATURES_H
#define KITH_MODEL_FEATURES_H

#include "rules/evidence.h"

/* Name, and which part of the evidence it comes from: a rule kind, 'N' nearness, 'E' the embedding,
 * '*' several kinds of rules, '-' what is known without any. */
#define KITH__FEATURES(ROW)                                                                        \
    ROW(A_BEST, "a", 'A')                                                                          \
    ROW(A_LOG, "log a", 'A') ROW(A_ALL, "a all", 'A') ROW(A_GLOBAL, "a mined", 'A') ROW(           \
        A_COUNT, "a count", 'A') ROW(A_LINKS, "links", 'A') ROW(B_BEST, "b", 'B')                  \
        ROW(B_LOG, "log b", 'B') ROW(B_ALL, "b all", 'B') ROW(B_COUNT, "b count", 'B') ROW(        \
            C_BEST, "c", 'C') ROW(C_LOG, "log c", 'C') ROW(C_SECOND, "c second", 'C')              \
            ROW(C_ALL, "c all", 'C') ROW(C_COUNT, "c count", 'C') ROW(D_BEST, "d", 'D') ROW(       \
                D_LOG, "log d", 'D') ROW(D_SHARED, "d shared", 'D') ROW(D_SUM, "d sum", 'D')       \
                ROW(BEST, "best", '*') ROW(BEST_LOG, "log best", '*') ROW(ALL, "all", '*') ROW(    \
                    PRIOR, "answers often",                                                        \
                    '-') ROW(DEGREE, "facts of it", '-')                                           \
                    ROW(TYPE, "fits", '-') ROW(TYPE_KNOWN, "fits by known answers", '-') ROW(      \
                        TYPE_ALL, "fits in all",                                                   \
                        '-') ROW(PROXIMITY, "near",                                                \
                                 'N') ROW(PROXIMITY_UNLINKED, "near and not linked",               \
                                          'N') ROW(PROXIMITY_KNOWN, "near by known answers", 'N')  \
                        ROW(E_SCORE, "embedding", 'E') ROW(E_LOGP, "embedding log p", 'E') ROW(    \
                            E_GATED, "embedding without a",                                        \
                            'E') ROW(E_LOGP_GATED, "embedding log p without a",                    \
                                     'E') ROW(E_LINKED, "embedding log p of linked", 'E')          \
                            ROW(BEST_LOG_KNOWN, "log best by known answers",                       \
                                '*') ROW(ALL_KNOWN, "all by known answers",                        \
                                         '*') ROW(C_LOG_KNOWN, "log c by known answers", 'C')      \
                                ROW(D_LOG_KNOWN, "log d by known answers",                         \
                                    'D') ROW(D_SHARED_KNOWN, "d shared by known answers", 'D')     \
                                    ROW(PRIOR_KNOWN, "answers often by known answers",             \
                                        '-') ROW(E_KNOWN, "embedding log p by known answers",      \
                                                 'E') ROW(BEST_LOG_FACTS, "log best by facts",     \
                                                          '*') ROW(ALL_FACTS, "all by facts", '*') \
                                        ROW(C_LOG_FACTS, "log c by facts", 'C')                    \
                                            ROW(D_LOG_FACTS, "log d by facts", 'D')                \
                                                ROW(PRIOR_FACTS, "answers often by facts", '-')    \
                                                    ROW(E_FACTS, "embedding log p by facts", 'E')

typedef enum kith__feature {
#define KITH__VALUE(name, text, part) KITH__F_##name,
    KITH__FEATURES(KITH__VALUE)
#undef KITH__VALUE
    KITH__FEATURES_COUNT
} kith__feature;

const char *kith__feature_name(int feature);
char kith__feature_part(int feature);

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
 * that are left out ("ABE") count as if they had nothing to say. */
void kith__case_init(kith__case *c, const kith__evidence_query *asked, kith__span facts,
                     const float *embedding, const float *log_degree, size_t candidates,
                     const char *without);
/* What candidates that no rule speaks for differ in; all features are linear in these. */
typedef struct kith__plain {
    float prior, degree, fits, type_score_all, proximity, e_score, e_logp;
} kith__plain;
void kith__case_plain(float feature[KITH__FEATURES_COUNT], const kith__case *c, kith__plain plain);

/* How features change where a candidate's score by the embedding rises by 1. */
void kith__case_slopes(float change[KITH__FEATURES_COUNT], const kith__case *c, uint32_t candidate,
                       const char *without);

/* All features of a candidate. */
void kith__case_features(float feature[KITH__FEATURES_COUNT], const kith__case *c,
                         uint32_t candidate, const char *without);

#endif
