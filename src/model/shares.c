#include "model/shares.h"

#include <math.h>

#include "nn/log_sum.h"
#include "nn/topk.h"

/* The candidates between two known answers: the run that begins at `from`; `next` advances with the
 * runs. */
static size_t run_end(size_t *next, kith__span known, size_t from, size_t candidates)
{
    while (*next < known.count && known.at[*next].entity < from)
        ++*next;
    size_t end = *next < known.count ? known.at[*next].entity : candidates;
    return end < candidates ? end : candidates;
}

/* A known answer may have so high a score that all other exponentials underflow, so the maximum
 * excludes known answers. */
static double log_sum(const float *scores, size_t candidates, kith__span known)
{
    kith__exp_sum s = {.top = -INFINITY};

    for (size_t from = 0, to, next = 0; from < candidates; from = to + 1) {
        to = run_end(&next, known, from, candidates);
        kith__exp_sum_show(&s, scores + from, to - from, NULL);
    }
    for (size_t from = 0, to, next = 0; from < candidates; from = to + 1) {
        to = run_end(&next, known, from, candidates);
        kith__exp_sum_add(&s, scores + from, to - from, NULL);
    }
    return kith__log_sum(s);
}

kith__shares kith__shares_of(const float *scores, size_t candidates, kith__span facts,
                             uint32_t query)
{
    kith__span known = kith__span_of(facts, query);

    return (kith__shares){known, log_sum(scores, candidates, known),
                          logf(1 + (float)known.count), logf(1 + (float)facts.count)};
}

double kith__probability(const kith__calibration *calibration, const kith__shares *shares,
                         float score)
{
    if (!calibration->fitted)
        return NAN;
    return kith__calibrated(calibration->weight, kith__log_share(shares, score),
                            shares->log_known);
}

size_t kith__best_unknown(uint32_t *best, size_t most, const float *scores, size_t candidates,
                          kith__span known)
{
    kith__topk t = kith__topk_begin(best, most, scores);

    for (size_t from = 0, to, next = 0; from < candidates; from = to + 1) {
        to = run_end(&next, known, from, candidates);
        for (size_t e = from; e < to; e++)
            kith__topk_offer(&t, (uint32_t)e);
    }
    kith__topk_sort(&t);
    return t.count;
}

size_t kith__judge(kith__judged judged[KITH__JUDGED], const float *scores, size_t candidates,
                   const kith__shares *shares, const kith__known *filter, uint32_t entity,
                   uint32_t relation, uint32_t gold)
{
    uint32_t best[KITH__JUDGED];
    size_t listed = kith__best_unknown(best, KITH__JUDGED, scores, candidates, shares->known);
    size_t count = 0;

    for (size_t i = 0; i < listed; i++) {
        bool right = best[i] == gold;
        if (right || !kith__known_has(filter, entity, relation, best[i]))
            judged[count++] =
                (kith__judged){best[i], kith__log_share(shares, scores[best[i]]), right};
    }
    return count;
}

size_t kith__judge_samples(kith__sample samples[KITH__JUDGED], const float *scores,
                           size_t candidates, const kith__shares *shares,
                           const kith__known *filter, uint32_t entity, uint32_t relation,
                           uint32_t gold)
{
    kith__judged judged[KITH__JUDGED];
    size_t count =
        kith__judge(judged, scores, candidates, shares, filter, entity, relation, gold);

    for (size_t i = 0; i < count; i++)
        samples[i] = (kith__sample){
            {kith__share_logit(judged[i].log_share), shares->log_known, 1}, judged[i].right};
    return count;
}
