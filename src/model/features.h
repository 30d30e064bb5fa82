/* Features of a candidate answer, from rules and from the embedding, that fusion weighs. */
#ifndef KITH_MODEL_FEATURES_H
#define KITH_MODEL_FEATURES_H

#include "rules/evidence.h"

/* clang-format off */
/* Name; which part of the evidence it comes from (RULES: several kinds of rules); and its value, from
 *   r  the candidate's rule features (kith__rule_feature), 0 without rule evidence
 *   p  what candidates without rule evidence differ in; a feature is linear in it where r is 0
 *   c  the query
 *   f  the features of the rows above
 * Weights, files, contributions and slopes follow from the row; files go by the name. */
#define KITH__FEATURES(ROW)                                                                       \
    ROW(A_BEST, "a", DIRECT, r[KITH__A_BEST])                                                     \
    ROW(A_LOG, "log a", DIRECT, log_of(r[KITH__A_BEST]))                                          \
    ROW(A_ALL, "a all", DIRECT, r[KITH__A_ALL])                                                   \
    ROW(A_GLOBAL, "a mined", DIRECT, r[KITH__A_GLOBAL])                                           \
    ROW(A_COUNT, "a count", DIRECT, logf(1 + r[KITH__A_COUNT]))                                   \
    ROW(A_LINKS, "links", DIRECT, logf(1 + r[KITH__A_LINKS]))                                     \
    ROW(B_BEST, "b", PATH, r[KITH__B_BEST])                                                       \
    ROW(B_LOG, "log b", PATH, log_of(r[KITH__B_BEST]))                                            \
    ROW(B_ALL, "b all", PATH, r[KITH__B_ALL])                                                     \
    ROW(B_COUNT, "b count", PATH, logf(1 + r[KITH__B_COUNT]))                                     \
    ROW(C_BEST, "c", CONSTANT, r[KITH__C_BEST])                                                   \
    ROW(C_LOG, "log c", CONSTANT, log_of(r[KITH__C_BEST]))                                        \
    ROW(C_SECOND, "c second", CONSTANT, r[KITH__C_SECOND])                                        \
    ROW(C_ALL, "c all", CONSTANT, r[KITH__C_ALL])                                                 \
    ROW(C_COUNT, "c count", CONSTANT, logf(1 + r[KITH__C_COUNT]))                                 \
    ROW(D_BEST, "d", SHARED, r[KITH__D_BEST])                                                     \
    ROW(D_LOG, "log d", SHARED, log_of(r[KITH__D_BEST]))                                          \
    ROW(D_SHARED, "d shared", SHARED, r[KITH__D_SHARED])                                          \
    ROW(D_SUM, "d sum", SHARED, logf(1 + r[KITH__D_SUM]))                                         \
    ROW(BEST, "best", RULES, best_of(r))                                                          \
    ROW(BEST_LOG, "log best", RULES, log_of(f[KITH__F_BEST]))                                     \
    ROW(ALL, "all", RULES, all_of(r))                                                             \
    ROW(PRIOR, "answers often", NONE, p->prior)                                                   \
    ROW(DEGREE, "facts of it", NONE, p->degree)                                                   \
    ROW(TYPE, "fits", NONE, p->type_score)                                                        \
    ROW(TYPE_KNOWN, "fits by known answers", NONE, c->log_known * p->type_score)                  \
    ROW(TYPE_ALL, "fits in all", NONE, p->type_score_all)                                         \
    ROW(PROXIMITY, "near", PROXIMITY, p->proximity)                                               \
    ROW(PROXIMITY_UNLINKED, "near and not linked", PROXIMITY,                                     \
        f[KITH__F_A_LINKS] > 0 ? 0 : p->proximity)                                                \
    ROW(PROXIMITY_KNOWN, "near by known answers", PROXIMITY, c->log_known * p->proximity)         \
    ROW(E_SCORE, "embedding", EMBEDDING, p->e_score)                                              \
    ROW(E_LOGP, "embedding log p", EMBEDDING, p->e_logp)                                          \
    ROW(E_GATED, "embedding without a", EMBEDDING, c->gate * p->e_score)                          \
    ROW(E_LOGP_GATED, "embedding log p without a", EMBEDDING, c->gate * p->e_logp)                \
    ROW(E_LINKED, "embedding log p of linked", EMBEDDING, f[KITH__F_A_LINKS] > 0 ? p->e_logp : 0) \
    ROW(BEST_LOG_KNOWN, "log best by known answers", RULES, c->log_known * f[KITH__F_BEST_LOG])   \
    ROW(ALL_KNOWN, "all by known answers", RULES, c->log_known * f[KITH__F_ALL])                  \
    ROW(C_LOG_KNOWN, "log c by known answers", CONSTANT, c->log_known * f[KITH__F_C_LOG])         \
    ROW(D_LOG_KNOWN, "log d by known answers", SHARED, c->log_known * f[KITH__F_D_LOG])           \
    ROW(D_SHARED_KNOWN, "d shared by known answers", SHARED, c->log_known * f[KITH__F_D_SHARED])  \
    ROW(PRIOR_KNOWN, "answers often by known answers", NONE, c->log_known * f[KITH__F_PRIOR])     \
    ROW(E_KNOWN, "embedding log p by known answers", EMBEDDING, c->log_known * f[KITH__F_E_LOGP]) \
    ROW(BEST_LOG_FACTS, "log best by facts", RULES, usual_facts(c) * f[KITH__F_BEST_LOG])         \
    ROW(ALL_FACTS, "all by facts", RULES, usual_facts(c) * f[KITH__F_ALL])                        \
    ROW(C_LOG_FACTS, "log c by facts", CONSTANT, usual_facts(c) * f[KITH__F_C_LOG])               \
    ROW(D_LOG_FACTS, "log d by facts", SHARED, usual_facts(c) * f[KITH__F_D_LOG])                 \
    ROW(PRIOR_FACTS, "answers often by facts", NONE, usual_facts(c) * f[KITH__F_PRIOR])           \
    ROW(E_FACTS, "embedding log p by facts", EMBEDDING, usual_facts(c) * f[KITH__F_E_LOGP])
/* clang-format on */

typedef enum kith__feature {
#define KITH__VALUE(name, text, part, value) KITH__F_##name,
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
/* What candidates without rule evidence differ in; all features are then linear in these. */
typedef struct kith__plain {
    float prior, degree, type_score, type_score_all, proximity, e_score, e_logp;
} kith__plain;
void kith__case_plain(float feature[KITH__FEATURES_COUNT], const kith__case *c, kith__plain plain);

/* How features change where a candidate's score by the embedding rises by 1. */
void kith__case_slopes(float change[KITH__FEATURES_COUNT], const kith__case *c, uint32_t candidate,
                       unsigned without);

/* All features of a candidate. */
void kith__case_features(float feature[KITH__FEATURES_COUNT], const kith__case *c,
                         uint32_t candidate, unsigned without);

#endif
