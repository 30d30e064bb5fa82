/* Triplet classification: a fact is true if phi reaches the relation's threshold, tuned on dev; for
 * a model with rules, if a logistic regression, fitted on dev for each relation, says that it is
 * more likely than not. Its features are phi and the evidence for each side as the answer to a
 * query about the other. */
#ifndef KITH_MODEL_CLASSIFY_H
#define KITH_MODEL_CLASSIFY_H

#include "model/model.h"

/* The features of a fact: the evidence for each side as the answer to a query about the other, and
 * the embedding's score. */
#define KITH__FACT_FEATURES(ROW)                                                                   \
    ROW(OBJECT_SHARE, "object log share") ROW(OBJECT_PROXIMITY, "object proximity")                \
    ROW(OBJECT_OFTEN, "object answers often") ROW(OBJECT_TYPE, "object type score")                \
    ROW(SUBJECT_SHARE, "subject log share") ROW(SUBJECT_PROXIMITY, "subject proximity")            \
    ROW(SUBJECT_OFTEN, "subject answers often") ROW(SUBJECT_TYPE, "subject type score")            \
    ROW(PHI, "embedding") ROW(BIAS, "bias")

typedef enum kith__fact_feature {
#define KITH__VALUE(name, text) KITH__FACT_##name,
    KITH__FACT_FEATURES(KITH__VALUE)
#undef KITH__VALUE
    KITH__FACT_FEATURES_COUNT
} kith__fact_feature;
const char *kith__fact_feature_name(int feature);

/* Which evidence a classifier uses: all, or a part of it. */
typedef enum kith__classify_by {
    KITH__BY_ALL,
    KITH__BY_RULES,     /* without the embedding */
    KITH__BY_EMBEDDING, /* alone */
    KITH__CLASSIFY_BY
} kith__classify_by;
const char *kith__classify_by_name(int by);

/* Per relation: weights of the unscaled features, and the threshold from which a fact is true. NULL
 * if the model cannot classify this way. */
typedef struct kith__judgement {
    float (*weight)[KITH__FACT_FEATURES_COUNT];
    float *threshold;
    float slope; /* P(true) = 1 / (1 + exp(-slope (score - threshold))); 0: unknown */
} kith__judgement;

typedef struct kith__classifier {
    uint32_t relations;
    kith__judgement by[KITH__CLASSIFY_BY];
} kith__classifier;

kith_status kith__classifier_new(kith__classifier **classifier, uint32_t relations,
                                 kith_error *error);
/* Allocate one of its judgements, all 0; -1 if out of memory. */
int kith__classifier_add(kith__classifier *classifier, kith__classify_by by);
void kith__classifier_free(kith__classifier *classifier);

/* Fit the model's classifier on the labelled facts of dev, replacing any earlier one. */
kith_status kith__classifier_fit(kith_model *model, kith_error *error);

/* Classify facts; `without` are parts of the evidence to leave out. Each rank gets its fact and
 * whether it was classified correctly. */
kith_status kith__classify(kith_rank *ranks, kith_model *model, const kith_triple *facts,
                           const int8_t *truth, size_t count, unsigned without, kith_error *error);

/* The weights and thresholds to classify with, without parts of the evidence. */
kith_status kith__choose_judgement(const kith__judgement **judgement, const kith_model *model,
                                   unsigned without, kith_error *error);
/* The verdict on a fact by its features: whether its score reaches the relation's threshold, and
 * the probability, NAN if the judgement has none. */
bool kith__judge_fact(double *probability, const kith__judgement *judgement,
                      const kith__sample *sample, uint32_t relation);
/* The features of one side as the answer to the query that the workspace has run; `subject` says
 * which side. */
void kith__side_features(kith__sample *sample, const kith__fusion_workspace *workspace,
                         uint32_t hidden, bool subject);

/* The threshold that classifies most of the scores correctly; the lowest of several. The arrays are
 * sorted by score on return. */
typedef struct kith__scored {
    float score;
    int8_t truth;
} kith__scored;
float kith__best_threshold(kith__scored *scored, size_t count);

/* The features of facts (all of `samples` must be 0), for the two calls above. */
kith_status kith__fact_features(kith__sample *samples, kith_model *model, const kith_triple *facts,
                                size_t count, unsigned without, kith_error *error);

#endif
