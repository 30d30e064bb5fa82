#include "model/has_relation.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "nn/logistic.h"

/* ---- counts ---- */

static void count_entity(kith__relation_counts *c, kith__span facts)
{
    for (size_t from = 0, to; from < facts.count; from = to) {
        uint32_t r = facts.at[from].relation;
        for (to = from + 1; to < facts.count && facts.at[to].relation == r;)
            to++;
        for (size_t k = 0; k < to - from && k < KITH__MOST_COUNTED; k++)
            c->at_least[(size_t)r * KITH__MOST_COUNTED + k]++;
    }
}

kith_status kith__relation_counts_init(kith__relation_counts *c, const kith__index *index,
                                       const kith__implications *implications, kith_error *error)
{
    *c = (kith__relation_counts){.implications = implications,
                                 .relations = index->relations,
                                 .entities = index->seen};
    c->at_least = kith__calloc((size_t)index->relations * KITH__MOST_COUNTED, sizeof *c->at_least);
    if (!c->at_least)
        return kith__no_memory(error);
    for (uint32_t e = 0; e < index->seen; e++)
        count_entity(c, kith__facts_of(index, e));
    return KITH_OK;
}

void kith__relation_counts_release(kith__relation_counts *c)
{
    kith__free(c->at_least);
    memset(c, 0, sizeof *c);
}

/* ---- inputs ---- */

static double logit(double p)
{
    p = fmin(fmax(p, 1e-5), 1 - 1e-5);
    return log(p / (1 - p));
}

/* Entities with at least k facts of the relation, k > 0, excluding the entity itself if it is
 * counted. */
static double at_least(const kith__relation_counts *c, uint32_t r, size_t k, size_t own)
{
    if (k > KITH__MOST_COUNTED)
        k = KITH__MOST_COUNTED;
    return (double)c->at_least[(size_t)r * KITH__MOST_COUNTED + k - 1] - (own >= k);
}

/* P(r' => r), excluding the entity itself if it is counted; lower for few examples. */
static double confidence(const kith__implications *rules, const kith__implication *i,
                         const kith__known_facts *known, uint32_t r)
{
    bool counted = known->counted != NULL;
    double both = (double)i->support - (counted && known->counted[r]);
    double with = (double)rules->frequency[i->relation] - counted;

    return with > 0 ? both / (with + 3) : 0;
}

/* The largest confidence with which a relation of the entity implies this one, and -log(1 - P) as
 * if all were independent. */
static void implied(double *best, double *all, const kith__relation_counts *c,
                    const kith__known_facts *known, uint32_t r)
{
    const kith__implications *rules = c->implications;

    *best = *all = 0;
    for (uint64_t i = rules->offset[r]; i < rules->offset[r + 1]; i++) {
        if (!known->has[rules->at[i].relation])
            continue;
        double p = confidence(rules, &rules->at[i], known, r);
        *best = fmax(*best, p);
        *all -= log1p(-fmin(p, .999));
    }
}

void kith__has_inputs(double x[KITH__HAS_INPUTS], const kith__relation_counts *c,
                      const kith__known_facts *known, size_t own, uint32_t r)
{
    size_t k = kith__span_of(known->facts, r).count;
    double log_facts = log1p((double)known->facts.count), best, all;

    memset(x, 0, KITH__HAS_INPUTS * sizeof *x);
    x[0] = 1;
    x[1] = log_facts;
    if (k > 0) {
        double more = (at_least(c, r, k + 1, own) + .5) / (at_least(c, r, k, own) + 1);
        x[2] = 1;
        x[3] = log((double)k);
        x[4] = logit(more);
        x[5] = log_facts;
        return;
    }
    implied(&best, &all, c, known, r);
    x[6] = logit((at_least(c, r, 1, own) + .5) / (c->entities + 1.));
    x[7] = logit(best);
    x[8] = log1p(all);
    x[9] = logit(best) * log_facts;
}

/* Where this share of the entities with k facts has more, the odds are halved. With the share
 * itself as the factor, candidates for relations that have many facts per entity would be made less
 * likely, too. The form was chosen on held-out graphs (docs/TRIED.md). */
static const double half_at = .06;

void kith__again(double again[KITH__MOST_COUNTED + 1], const kith__relation_counts *c, uint32_t r)
{
    again[0] = 1;
    for (size_t k = 1; k <= KITH__MOST_COUNTED; k++) {
        double more = c ? (at_least(c, r, k + 1, 0) + .5) / (at_least(c, r, k, 0) + 1) : 1;
        again[k] = c ? more * more / (more * more + half_at * half_at) : 1;
    }
}

double kith__has_probability(const kith__has_relation *model, const kith__relation_counts *counts,
                             const kith__known_facts *known, uint32_t relation)
{
    double x[KITH__HAS_INPUTS], z = 0;

    if (!model->fitted)
        return NAN;
    kith__has_inputs(x, counts, known, 0, relation);
    for (int k = 0; k < KITH__HAS_INPUTS; k++)
        z += model->weight[k] * x[k];
    return kith__sigmoid(z);
}
