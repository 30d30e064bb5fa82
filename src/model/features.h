/* Features of a candidate answer, which are the inputs of the fusion. */
#ifndef KITH_MODEL_FEATURES_H
#define KITH_MODEL_FEATURES_H

#include "rules/evidence.h"

/* clang-format off */
/* The usual features of a kind of rule: its best confidence, the noisy-or of the confidences, and
 * the number of rules. */
#define KITH__KIND_FEATURES(ROW, name, object, bit, combined) \
    KITH__##combined##_FEATURES(ROW, name, #object)
#define KITH__COMBINED_FEATURES(ROW, name, text)                            \
    ROW(name##_BEST, text " best", name, r[KITH__##name##_BEST])            \
    ROW(name##_LOG, text " log best", name, log_of(r[KITH__##name##_BEST])) \
    ROW(name##_ALL, text " noisy-or", name, r[KITH__##name##_ALL])          \
    ROW(name##_COUNT, text " count", name, logf(1 + r[KITH__##name##_COUNT]))
#define KITH__SEPARATE_FEATURES(ROW, name, text)

/* A row has a name, the part of the evidence that the feature belongs to (RULES: several kinds of
 * rules), and the expression for its value, in terms of
 *   r  the candidate's rule features (kith__rule_feature), 0 without rule evidence
 *   p  the inputs in which candidates without rule evidence differ; if r is 0, a feature is linear
 *      in p
 *   c  the query
 *   f  the features of the rows above
 * Weights, files, contributions and slopes are derived from the rows; files identify features by
 * name. */
#define KITH__FEATURES(ROW)                                                                       \
    KITH__RULE_KINDS_TABLE(KITH__KIND_FEATURES, ROW)                                              \
    ROW(DIRECT_MINED, "direct best as mined", DIRECT, r[KITH__DIRECT_MINED])                      \
    ROW(LINKS, "linking facts", DIRECT, logf(1 + r[KITH__DIRECT_LINKS]))                          \
    ROW(CONSTANT_SECOND, "constant second best", CONSTANT, r[KITH__CONSTANT_SECOND])              \
    ROW(SHARED_BEST, "shared best", SHARED, r[KITH__SHARED_BEST])                                 \
    ROW(SHARED_LOG, "shared log best", SHARED, log_of(r[KITH__SHARED_BEST]))                      \
    ROW(SHARED_SHARE, "shared share of known answers", SHARED, r[KITH__SHARED_SHARE])             \
    ROW(SHARED_SUM, "shared sum", SHARED, logf(1 + r[KITH__SHARED_SUM]))                          \
    ROW(PATH3_LOG, "path3 log best", PATH3, log_of(r[KITH__PATH3_BEST]))                          \
    ROW(BEST, "rules best", RULES, best_of(r))                                                    \
    ROW(BEST_LOG, "rules log best", RULES, log_of(f[KITH__F_BEST]))                               \
    ROW(ALL, "rules noisy-or", RULES, all_of(r))                                                  \
    ROW(PRIOR, "answer frequency", NONE, p->prior)                                                \
    ROW(DEGREE, "degree", NONE, p->degree)                                                        \
    ROW(TYPE, "type score", NONE, p->type_score)                                                  \
    ROW(TYPE_KNOWN, "type score x known answers", NONE, c->log_known * p->type_score)             \
    ROW(TYPE_ALL, "type score of all relations", NONE, p->type_score_all)                         \
    ROW(PROXIMITY, "proximity", PROXIMITY, p->proximity)                                          \
    ROW(PROXIMITY_UNLINKED, "proximity if not linked", PROXIMITY,                                 \
        f[KITH__F_LINKS] > 0 ? 0 : p->proximity)                                                  \
    ROW(PROXIMITY_KNOWN, "proximity x known answers", PROXIMITY, c->log_known * p->proximity)     \
    ROW(E_SCORE, "embedding", EMBEDDING, p->e_score)                                              \
    ROW(E_LOGP, "embedding log p", EMBEDDING, p->e_logp)                                          \
    ROW(E_GATED, "embedding x no direct rule", EMBEDDING, c->gate * p->e_score)                   \
    ROW(E_LOGP_GATED, "embedding log p x no direct rule", EMBEDDING, c->gate * p->e_logp)         \
    ROW(E_LINKED, "embedding log p if linked", EMBEDDING, f[KITH__F_LINKS] > 0 ? p->e_logp : 0)   \
    ROW(BEST_LOG_KNOWN, "rules log best x known answers", RULES,                                  \
        c->log_known * f[KITH__F_BEST_LOG])                                                       \
    ROW(ALL_KNOWN, "rules noisy-or x known answers", RULES, c->log_known * f[KITH__F_ALL])        \
    ROW(CONSTANT_LOG_KNOWN, "constant log best x known answers", CONSTANT,                        \
        c->log_known * f[KITH__F_CONSTANT_LOG])                                                   \
    ROW(SHARED_LOG_KNOWN, "shared log best x known answers", SHARED,                              \
        c->log_known * f[KITH__F_SHARED_LOG])                                                     \
    ROW(SHARED_SHARE_KNOWN, "shared share x known answers", SHARED,                               \
        c->log_known * f[KITH__F_SHARED_SHARE])                                                   \
    ROW(PRIOR_KNOWN, "answer frequency x known answers", NONE, c->log_known * f[KITH__F_PRIOR])   \
    ROW(E_KNOWN, "embedding log p x known answers", EMBEDDING, c->log_known * f[KITH__F_E_LOGP])  \
    ROW(BEST_LOG_FACTS, "rules log best x facts", RULES, usual_facts(c) * f[KITH__F_BEST_LOG])    \
    ROW(ALL_FACTS, "rules noisy-or x facts", RULES, usual_facts(c) * f[KITH__F_ALL])              \
    ROW(CONSTANT_LOG_FACTS, "constant log best x facts", CONSTANT,                                \
        usual_facts(c) * f[KITH__F_CONSTANT_LOG])                                                 \
    ROW(SHARED_LOG_FACTS, "shared log best x facts", SHARED,                                      \
        usual_facts(c) * f[KITH__F_SHARED_LOG])                                                   \
    ROW(PRIOR_FACTS, "answer frequency x facts", NONE, usual_facts(c) * f[KITH__F_PRIOR])         \
    ROW(E_FACTS, "embedding log p x facts", EMBEDDING, usual_facts(c) * f[KITH__F_E_LOGP])
/* clang-format on */

typedef enum kith__feature_id {
#define KITH__VALUE(name, text, part, value) KITH__F_##name,
    KITH__FEATURES(KITH__VALUE)
#undef KITH__VALUE
    KITH__FEATURES_COUNT
} kith__feature_id;

const char *kith__feature_name(int feature);
kith_evidence_part kith__feature_part(int feature);

/* One query with the evidence about its candidates 0 .. candidates - 1. */
typedef struct kith__case {
    const kith__evidence_query *evidence;
    const float *embedding;  /* scores of the candidates; NULL without an embedding */
    const float *log_degree; /* per candidate */
    size_t candidates;
    float e_mean, e_scale; /* mean and scale of the embedding's scores */
    float log_sum;         /* log of the sum of exp(embedding's score) */
    float gate; /* 1 - the best direct confidence of any candidate that is not a known answer */
    float log_answers;          /* for the relation, in train */
    float log_known, log_facts; /* for known answers of the query, and facts of the entity */
} kith__case;

/* Compute what the candidates have in common; `evidence` is that for this query. Parts in `without`
 * (flags of kith_evidence_part) are treated as if they had no evidence. */
void kith__case_init(kith__case *c, const kith__evidence_query *evidence, kith__span facts,
                     const float *embedding, const float *log_degree, size_t candidates,
                     unsigned without);
/* The inputs in which candidates without rule evidence differ. For these candidates all features
 * are linear in the inputs. */
typedef struct kith__plain {
    float prior, degree, type_score, type_score_all, proximity, e_score, e_logp;
} kith__plain;
void kith__case_plain(float feature[KITH__FEATURES_COUNT], const kith__case *c, kith__plain plain);
/* The minimum type score of an entity that is already the answer in `answered` facts of the
 * relation: such an entity fits even if its other relations do not suggest it. */
float kith__type_by_answers(uint32_t answered);

/* The change of each feature if the embedding's score of the candidate rises by 1. */
void kith__case_slopes(float change[KITH__FEATURES_COUNT], const kith__case *c, uint32_t candidate,
                       unsigned without);

/* Compute all features of a candidate. */
void kith__case_features(float feature[KITH__FEATURES_COUNT], const kith__case *c,
                         uint32_t candidate, unsigned without);

#endif
