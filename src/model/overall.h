/* The second calibration: the overall probability that an answer is true, whether or not any answer
 * is missing. Its first step is a logistic function of P(has r) (has_relation.h), the probability
 * given that exactly one answer is missing (calibrate.h), how likely the candidate is to have
 * another such fact (kith__again), and the number of known facts. Its second
 * step is isotonic regression: answers are sorted by the first step and grouped; the probability of
 * a group is its share of correct answers, interpolated linearly in log-odds between groups. Both
 * are fitted on held-out entities with some of their facts hidden (train/fit_overall.h), so several
 * answers may be missing, or none. */
#ifndef KITH_MODEL_OVERALL_H
#define KITH_MODEL_OVERALL_H

#include "model/shares.h"

enum { KITH__OVERALL_INPUTS = 6, KITH__MOST_KNOTS = 64 };

/* A group of answers with similar scores by the first step. */
typedef struct kith__knot {
    double at;                  /* mean log-odds by the first step */
    double probability;         /* share of correct answers */
    uint32_t answers, entities; /* in the group: the number of answers, and of entities queried */
} kith__knot;

typedef struct kith__overall {
    bool fitted;
    uint32_t entities, answers; /* the numbers it was fitted on */
    double weight[KITH__OVERALL_INPUTS];
    size_t knots; /* 0: only the first step is used */
    kith__knot knot[KITH__MOST_KNOTS];
} kith__overall;

/* What the overall probability of one candidate is computed from. */
typedef struct kith__chance {
    double has;    /* P(has r) of the entity of the query */
    double if_one; /* the probability if exactly one answer is missing */
    double again;  /* kith__again for the candidate's facts of the inverse relation; above 0 */
} kith__chance;

/* The inputs of the first step. */
void kith__overall_inputs(double inputs[KITH__OVERALL_INPUTS], const kith__shares *shares,
                          kith__chance chance);
/* P(has r) of inputs. */
double kith__overall_input_has(const double inputs[KITH__OVERALL_INPUTS]);
/* Whether the first step never falls if a part of the chance rises. */
bool kith__overall_is_monotone(const kith__overall *overall);
/* Log-odds by the first step. */
double kith__overall_score(const kith__overall *overall,
                           const double inputs[KITH__OVERALL_INPUTS]);

/* The probability that an answer is true. It never falls if a part of the chance rises. If nothing
 * was fitted it is the product of the parts; NAN if one of them is NAN. */
double kith__overall_probability(const kith__overall *overall, const kith__shares *shares,
                                 kith__chance chance);

/* The same from the inputs of the first step, if something was fitted. */
double kith__overall_of_inputs(const kith__overall *overall,
                               const double inputs[KITH__OVERALL_INPUTS]);
/* P(has r) once the probability of one such fact is known, which raises it, by as much as makes the
 * probability if any right most often (docs/TRIED.md). The probability is its product with that
 * one, which is set and increases with it. */
double kith__overall_has(double *if_any, double has, double probability);

/* The 95 % confidence interval of the probability, from the number of entities behind it (Wilson's
 * interval); 0 and 1 if nothing was fitted. */
void kith__overall_interval(double *low, double *high, const kith__overall *overall,
                            const kith__shares *shares, kith__chance chance);

/* The upper bound of kith__overall_probability for any answer of a query, if `known` facts of the
 * relation and `facts` in total are known for the entity. */
double kith__overall_most(const kith__overall *overall, size_t known, size_t facts, double has);

#endif
