/* The margin ranking loss: the mean of max(0, margin - positive + negative). */
#include "embed/losses/loss.h"

static double run(kith__scores *s)
{
    double margin = s->settings->margin, sum = 0;
    float share = 1 / (float)(s->groups * s->count), positive = *s->positive;

    *s->positive = 0;
    for (size_t k = 0; k < s->count; k++) {
        double hinge = margin - positive + s->negative[k];
        bool open = !(hinge <= 0); /* a NaN counts as a violation, so that it is noticed */
        s->negative[k] = open ? share : 0;
        *s->positive -= open ? share : 0;
        sum += open ? hinge : 0;
    }
    return sum / (double)s->count;
}

const kith__loss kith__loss_margin = {
    .name = "margin", .negatives = KITH__CORRUPTED, .margin = true, .run = run};
