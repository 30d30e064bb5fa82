/* Shares and probabilities of the candidates of one query. Each candidate that is not a known
 * answer has a share: exp(score) over the sum of exp(score) of all of these. Calibration turns
 * shares into probabilities.
 *
 * Known answers come from the facts of the entity: those of train and aux, and those that a session
 * adds. They affect features, probabilities and what is shown as known. All splits, and further
 * facts to filter by (graph/known.h), only affect which candidates count in a rank. */
#ifndef KITH_MODEL_SHARES_H
#define KITH_MODEL_SHARES_H

#include "graph/known.h"
#include "model/calibrate.h"
#include "rules/index.h"

typedef struct kith__shares {
    kith__span known; /* known answers, by entity */
    double log_sum;   /* log of the sum of exp(score) over all other candidates */
    float log_known;  /* log(1 + known answers) */
    float log_facts;  /* log(1 + facts of the entity) */
} kith__shares;

/* `facts` are the entity's, sorted by kith__sort_facts; they must outlive the result. */
kith__shares kith__shares_of(const float *scores, size_t candidates, kith__span facts,
                             uint32_t query);

static inline double kith__log_share(const kith__shares *shares, float score)
{
    return score - shares->log_sum;
}

/* The probability that an answer is true; NAN if nothing was fitted. */
double kith__probability(const kith__calibration *calibration, const kith__shares *shares,
                         float score);

/* Up to `most` of the candidates that are not known answers, best first; returns how many. */
size_t kith__best_unknown(uint32_t *best, size_t most, const float *scores, size_t candidates,
                          kith__span known);

/* An answer that is known to be right or wrong. Calibration is fitted and measured on these. */
typedef struct kith__judged {
    uint32_t entity;
    double log_share;
    bool right;
} kith__judged;

enum { KITH__JUDGED = 10 };

/* The best unknown answers to a query whose hidden side is `gold`. Other correct answers, which are
 * in the filter, are skipped: they count neither as correct nor as wrong. */
size_t kith__judge(kith__judged judged[KITH__JUDGED], const float *scores, size_t candidates,
                   const kith__shares *shares, const kith__known *filter, uint32_t entity,
                   uint32_t relation, uint32_t gold);

/* The same as samples for kith__calibration_fit. */
size_t kith__judge_samples(kith__sample samples[KITH__JUDGED], const float *scores,
                           size_t candidates, const kith__shares *shares,
                           const kith__known *filter, uint32_t entity, uint32_t relation,
                           uint32_t gold);

#endif
