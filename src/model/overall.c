#include "model/overall.h"

#include <math.h>

static double logit(double p)
{
    p = fmin(fmax(p, 1e-7), 1 - 1e-7);
    return log(p / (1 - p));
}

/* ---- the first step ---- */

void kith__overall_inputs(double x[KITH__OVERALL_INPUTS], const kith__shares *shares,
                          kith__chance chance)
{
    x[0] = 1;
    x[1] = logit(chance.has * chance.if_one);
    x[2] = logit(chance.has);
    x[3] = shares->log_known;
    x[4] = shares->log_facts;
    x[5] = log(chance.again);
}

double kith__overall_input_has(const double x[KITH__OVERALL_INPUTS])
{
    return kith__sigmoid(x[2]);
}

bool kith__overall_is_monotone(const kith__overall *o)
{
    return o->weight[1] > 0 && o->weight[1] + o->weight[2] >= 0 && o->weight[5] >= 0;
}

double kith__overall_score(const kith__overall *o, const double x[KITH__OVERALL_INPUTS])
{
    double z = 0;

    for (int k = 0; k < KITH__OVERALL_INPUTS; k++)
        z += o->weight[k] * x[k];
    return z;
}

/* ---- the second step ---- */

/* The last knot that is not above z, or the first one if all are above it. */
static size_t knot_before(const kith__overall *o, double z)
{
    size_t i = 0;

    while (i + 1 < o->knots && o->knot[i + 1].at <= z)
        i++;
    return i;
}

/* Below the first knot, log-odds fall as those of the first step do. Above the last one only its
 * own share is known: log-odds rise just enough to preserve the order. */
static const double slope_above = .05;

static double bend(const kith__overall *o, double z)
{
    if (o->knots == 0)
        return kith__sigmoid(z);
    const kith__knot *knot = &o->knot[knot_before(o, z)], *last = &o->knot[o->knots - 1];
    double from = logit(knot->probability);
    if (z < knot->at)
        return kith__sigmoid(from + z - knot->at);
    if (knot == last)
        return kith__sigmoid(from + slope_above * (z - knot->at));
    double part = (z - knot->at) / (knot[1].at - knot->at);
    return kith__sigmoid(from + part * (logit(knot[1].probability) - from));
}

double kith__overall_probability(const kith__overall *o, const kith__shares *shares,
                                 kith__chance chance)
{
    double x[KITH__OVERALL_INPUTS], product = chance.has * chance.if_one * chance.again;

    if (!o->fitted || isnan(product))
        return product;
    kith__overall_inputs(x, shares, chance);
    return kith__overall_of_inputs(o, x);
}

double kith__overall_of_inputs(const kith__overall *o, const double x[KITH__OVERALL_INPUTS])
{
    return bend(o, kith__overall_score(o, x));
}

double kith__overall_has(double *if_any, double has, double probability)
{
    has = fmax(probability, has + (1 - has) * probability * probability);
    *if_any = has > 0 ? probability / has : 0;
    return has;
}

double kith__overall_most(const kith__overall *o, size_t known, size_t facts, double has)
{
    const kith__shares shares = {.log_known = logf(1 + (float)known),
                                 .log_facts = logf(1 + (float)facts)};

    return kith__overall_probability(o, &shares, (kith__chance){has, 1, 1});
}

/* ---- how sure ---- */

static double entities_behind(const kith__overall *o, double z)
{
    if (o->knots == 0)
        return o->entities;
    size_t i = knot_before(o, z);
    double here = o->knot[i].entities;
    return i + 1 < o->knots && z > o->knot[i].at ? fmax(here, o->knot[i + 1].entities) : here;
}

void kith__overall_interval(double *low, double *high, const kith__overall *o,
                            const kith__shares *shares, kith__chance chance)
{
    static const double deviations = 1.96;
    double x[KITH__OVERALL_INPUTS];

    *low = 0;
    *high = 1;
    if (!o->fitted || isnan(chance.has * chance.if_one))
        return;
    kith__overall_inputs(x, shares, chance);
    double z = kith__overall_score(o, x), p = bend(o, z), n = entities_behind(o, z);
    double square = deviations * deviations / fmax(n, 1);
    double middle = (p + square / 2) / (1 + square);
    double half = sqrt(square * (p * (1 - p) + square / 4)) / (1 + square);
    *low = fmax(0, fmin(p, middle - half));
    *high = fmin(1, fmax(p, middle + half));
}
