/* The softmax loss: -log(exp(answer) / sum of exp(score)) over the candidates: the answer and its
 * negatives. */
#include <math.h>

#include "embed/losses/loss.h"
#include "nn/match.h"

enum { LANES = 8 };

/* The derivative of a score is (share - 1 for the answer) scale / groups. */
static double run(kith__scores *s)
{
    float unit = (float)s->settings->scale / (float)s->groups, answer = *s->positive;
    _Alignas(64) float own[LANES] = {answer}; /* kernels read whole vector registers */

    for (size_t k = 1; k < LANES; k++)
        own[k] = KITH__LEFT_OUT;
    float most = fmaxf(kith__row_most(s->negative, s->count), answer);
    bool broken = kith__row_broken(s->negative, s->count) || kith__row_broken(own, LANES);
    float sum = kith__row_exp(s->negative, most, s->count, s->scratch);

    sum += kith__row_exp(own, most, LANES, s->scratch);
    s->factor = unit / sum;
    kith__row_scale(own, s->factor, LANES);
    *s->positive = own[0] - unit;
    return broken ? NAN : logf(sum) + (most - answer);
}

const kith__loss kith__loss_softmax = {
    .name = "softmax", .negatives = KITH__SHARED, .scaled = true, .run = run};
