/* Triplet classification. A fact is true if its score phi reaches the relation's threshold, which
 * is tuned on dev. In a model with rules, it is true if a logistic regression, fitted on dev for
 * each relation, gives it a probability of at least one half. The features of the regression are
 * phi and the evidence for each side as the answer to a query about the other. */
#ifndef KITH_MODEL_CLASSIFY_H
#define KITH_MODEL_CLASSIFY_H

#include "model/model.h"

/* The features of a fact: for each side, the evidence for it as the answer to a query about the
 * other side; and the embedding's score. */
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

/* The evidence that a classifier uses. */
typedef enum kith__classify_by {
    KITH__BY_ALL,
    KITH__BY_RULES,     /* all except the embedding */
    KITH__BY_EMBEDDING, /* only the embedding */
    KITH__CLASSIFY_BY
} kith__classify_by;
const char *kith__classify_by_name(int by);

/* Per relation: weights of the unscaled features, and the threshold from which a fact is true. NULL
 * if the model cannot classify this way. */
typedef struct kith__judgement {
    float (*weight)[KITH__FACT_FEATURES_COUNT];
    float *threshold;
    float slope; /* P(true) = sigmoid(slope (score - threshold)); 0: unknown */
} kith__judgement;

typedef struct kith__classifier {
    uint32_t relations;
    kith__judgement by[KITH__CLASSIFY_BY];
} kith__classifier;

kith_status kith__classifier_new(kith__classifier **classifier, uint32_t relations,
                                 kith_error *error);
/* Allocate one of the classifier's judgements, zeroed; -1 if out of memory. */
int kith__classifier_add(kith__classifier *classifier, kith__classify_by by);
void kith__classifier_free(kith__classifier *classifier);

/* Fit the model's classifier on the labelled facts of dev, replacing any earlier one. */
kith_status kith__classifier_fit(kith_model *model, kith_error *error);

/* Classify facts. `without` are the parts of the evidence to leave out. Each element of `correct`
 * receives whether its fact was classified correctly. */
kith_status kith__classify(bool *correct, kith_model *model, const kith_triple *facts,
                           const int8_t *truth, size_t count, unsigned without, kith_error *error);

/* The weights and thresholds for classifying without some parts of the evidence. */
kith_status kith__choose_judgement(const kith__judgement **judgement, const kith_model *model,
                                   unsigned without, kith_error *error);
/* Classify a fact by its features: returns whether its score reaches the relation's threshold, and
 * sets the probability, which is NAN if the judgement has none. */
bool kith__judge_fact(double *probability, const kith__judgement *judgement,
                      const kith__sample *sample, uint32_t relation);
/* The features of one side as the answer to the query that the workspace has just run; `subject`
 * says which side it is. */
void kith__side_features(kith__sample *sample, const kith__fusion_workspace *workspace,
                         uint32_t hidden, bool subject);

/* The threshold that classifies the most scores correctly; the lowest one if there are several. The
 * arrays are sorted by score on return. */
typedef struct kith__scored {
    float score;
    int8_t truth;
} kith__scored;
float kith__best_threshold(kith__scored *scored, size_t count);

/* Compute the features of facts for the two calls above. All of `samples` must be 0. */
kith_status kith__fact_features(kith__sample *samples, kith_model *model, const kith_triple *facts,
                                size_t count, unsigned without, kith_error *error);

#endif
