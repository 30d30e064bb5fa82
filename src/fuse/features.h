/* Figures about a candidate answer, from rules and from the embedding, that fusion weighs. */
#ifndef KITH_FUSE_FEATURES_H
#define KITH_FUSE_FEATURES_H

#include "rules/evidence.h"

/* Name, and which part of the evidence it comes from: a rule kind, 'E' the embedding, '*' several
 * kinds of rules, '-' what is known without either. Those after the mark describe the query, and
 * matter only to trees. */
#define KITH__FEATURES(ROW)                                                                     \
    ROW(A_BEST, "a", 'A') ROW(A_LOG, "log a", 'A') ROW(A_ALL, "a all", 'A')                     \
    ROW(A_GLOBAL, "a mined", 'A') ROW(A_COUNT, "a count", 'A')                                  \
    ROW(B_BEST, "b", 'B') ROW(B_LOG, "log b", 'B') ROW(B_ALL, "b all", 'B')                     \
    ROW(B_COUNT, "b count", 'B')                                                                \
    ROW(C_BEST, "c", 'C') ROW(C_LOG, "log c", 'C') ROW(C_SECOND, "c second", 'C')               \
    ROW(C_ALL, "c all", 'C') ROW(C_COUNT, "c count", 'C')                                       \
    ROW(D_BEST, "d", 'D') ROW(D_LOG, "log d", 'D') ROW(D_SHARED, "d shared", 'D')               \
    ROW(D_SUM, "d sum", 'D')                                                                    \
    ROW(BEST, "best", '*') ROW(BEST_LOG, "log best", '*') ROW(ALL, "all", '*')                  \
    ROW(PRIOR, "answers often", '-') ROW(DEGREE, "facts of it", '-')                            \
    ROW(E_SCORE, "embedding", 'E') ROW(E_LOGP, "embedding log p", 'E')                          \
    ROW(E_GATED, "embedding without a", 'E') ROW(E_LOGP_GATED, "embedding log p without a", 'E') \
    ROW(PLACE, "place", '-')                                                                    \
    ROW(Q_FACTS, "facts of the entity", '-') ROW(Q_KNOWN, "known answers", '-')                 \
    ROW(Q_A, "best a of any", 'A') ROW(Q_BEST, "best of any", '*')                              \
    ROW(Q_EMBEDDING, "best embedding of any", 'E') ROW(Q_RELATION, "facts of the relation", '-') \
    ROW(Q_ANSWERS, "answers per entity", '-') ROW(Q_TOLD, "candidates with a rule", '*')

typedef enum kith__feature {
#define KITH__VALUE(name, text, part) KITH__F_##name,
    KITH__FEATURES(KITH__VALUE)
#undef KITH__VALUE
    KITH__FEATURES_COUNT
} kith__feature;
enum { KITH__LINEAR_FEATURES = KITH__F_PLACE }; /* those before it can order candidates */

const char *kith__feature_name(int feature);
char kith__feature_part(int feature);

/* One query with all that is known about its candidates 0 .. candidates - 1. */
typedef struct kith__case {
    const kith__asking *asked;
    const float *embedding; /* one score per candidate; NULL without an embedding */
    const float *log_degree; /* per candidate */
    size_t candidates, facts;
    float e_mean, e_scale, e_top; /* of the embedding's scores */
    float log_sum;                /* of their exponentials */
    float gate;                   /* 1 - the best A that is no known answer */
    float query[KITH__FEATURES_COUNT - KITH__LINEAR_FEATURES];
    float log_answers; /* of the relation */
} kith__case;

/* Sum up what the candidates have in common. `asked` must be the answer to the query at hand. Parts
 * that are left out ("ABE") count as if they had nothing to say. */
void kith__case_init(kith__case *c, const kith__asking *asked, kith__span facts,
                     const float *embedding, const float *log_degree, size_t candidates,
                     const char *without);
/* All features of a candidate but its place, which is set to 0. */
void kith__case_features(float feature[KITH__FEATURES_COUNT], const kith__case *c,
                         uint32_t candidate, const char *without);

#endif
