/* How likely an answer is true at all, whether or not the question has an answer that is not known
 * yet: the second calibration. Its first step is a logistic function of P(has r) (has_relation.h),
 * the answer's probability if exactly one is missing (calibrate.h), and how much is known. Its
 * second step is isotonic: answers in the order of the first step, in groups, each with the share
 * that was right, and straight lines between them in log-odds.
 *
 * Both are fitted on held-out entities with some of their facts hidden (train/fit_overall.h), so
 * several answers may be missing, or none. */
#ifndef KITH_MODEL_OVERALL_H
#define KITH_MODEL_OVERALL_H

#include "model/shares.h"

enum { KITH__OVERALL_INPUTS = 5, KITH__MOST_KNOTS = 64 };

/* Answers that the first step puts side by side. */
typedef struct kith__knot {
    double at;          /* mean log-odds by the first step */
    double probability; /* how many were right */
    uint32_t answers, entities; /* behind it: answers, and entities that they are about */
} kith__knot;

typedef struct kith__overall {
    bool fitted;
    uint32_t entities, answers; /* that it was fitted on */
    double weight[KITH__OVERALL_INPUTS];
    size_t knots; /* 0: the first step alone counts */
    kith__knot knot[KITH__MOST_KNOTS];
} kith__overall;

/* The inputs of the first step; `has` is P(has r), `if_any` the answer's if
 * exactly one is missing. */
void kith__overall_inputs(double inputs[KITH__OVERALL_INPUTS], const kith__shares *shares,
                          double has, double if_any);
/* Log-odds by the first step. */
double kith__overall_score(const kith__overall *overall,
                           const double inputs[KITH__OVERALL_INPUTS]);

/* The probability that an answer is true; the product of both where nothing was fitted, NAN where
 * one of them is. It rises with each of them. */
double kith__overall_probability(const kith__overall *overall, const kith__shares *shares,
                                 double has, double if_any);

/* Between which bounds the probability of such answers lies, with 95 % confidence by the entities
 * behind it (Wilson's interval); 0 and 1 where nothing was fitted. */
void kith__overall_interval(double *low, double *high, const kith__overall *overall,
                            const kith__shares *shares, double has, double if_any);

/* The largest that kith__overall_probability can be for a question, whatever the answer: `known`
 * facts of the relation and `facts` in all are known of the entity. */
double kith__overall_most(const kith__overall *overall, size_t known, size_t facts, double has);

#endif
