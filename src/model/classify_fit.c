/* Fitting a classifier on the labelled facts of dev. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "model/classify.h"
#include "nn/logistic.h"

static int by_score(const void *a, const void *b)
{
    const kith__scored *x = a, *y = b;
    return (x->score > y->score) - (x->score < y->score);
}

float kith__best_threshold(kith__scored *scored, size_t count)
{
    size_t right = 0, best_right, best = 0;

    qsort(scored, count, sizeof *scored, by_score);
    for (size_t i = 0; i < count; i++)
        right += scored[i].truth == 1; /* everything classified as true */
    best_right = right;
    for (size_t i = 0; i < count; i++) {
        right += scored[i].truth == 1 ? (size_t)-1 : 1; /* now this one is classified as false */
        bool last = i + 1 == count || scored[i + 1].score > scored[i].score;
        if (last && right > best_right) {
            best_right = right;
            best = i + 1;
        }
    }
    if (best == 0)
        return -INFINITY;
    if (best == count)
        return INFINITY;
    /* Between the two, but not on the lower one if they are adjacent floats. */
    float low = scored[best - 1].score, high = scored[best].score, middle = low / 2 + high / 2;
    return middle > low ? middle : high;
}

/* Features are scaled to mean 0 and deviation 1, so that one regularisation strength suits all. */
static void standardize(double *mean, double *scale, kith__sample *samples, size_t count)
{
    for (int k = 0; k < KITH__FACT_BIAS; k++) {
        double squares = 0;
        for (size_t i = 0; i < count; i++)
            mean[k] += samples[i].x[k] / (double)count;
        for (size_t i = 0; i < count; i++)
            squares += (samples[i].x[k] - mean[k]) * (samples[i].x[k] - mean[k]);
        if (squares > 1e-12 * (double)count)
            scale[k] = 1 / sqrt(squares / (double)count);
        for (size_t i = 0; i < count; i++)
            samples[i].x[k] = (samples[i].x[k] - mean[k]) * scale[k];
    }
    for (size_t i = 0; i < count; i++)
        samples[i].x[KITH__FACT_BIAS] = 1;
}

/* Weights for all relations, then for each relation, regularised towards the former. The strengths
 * were chosen by cross-validation on dev of three sets of WN11. Samples are sorted by relation, and
 * are changed. A fact is true if its probability is at least one half, so thresholds stay 0. */
static void fit_weights(kith__judgement *j, uint32_t relations, kith__sample *samples,
                        const size_t *start)
{
    double mean[KITH__FACT_FEATURES_COUNT] = {0}, scale[KITH__FACT_FEATURES_COUNT] = {0},
           common[KITH__FACT_FEATURES_COUNT] = {0}, strength[KITH__FACT_FEATURES_COUNT];
    size_t count = start[relations];

    j->slope = 1; /* scores are log-odds */
    standardize(mean, scale, samples, count);
    for (int k = 0; k < KITH__FACT_BIAS; k++)
        strength[k] = 10;
    strength[KITH__FACT_BIAS] = 1e-6; /* hardly regularised */
    kith__logistic_fit(common, KITH__FACT_FEATURES_COUNT, strength, samples, count);
    for (int k = 0; k < KITH__FACT_BIAS; k++)
        strength[k] = 5;
    strength[KITH__FACT_BIAS] = 1;
    for (uint32_t r = 0; r < relations; r++) {
        double weight[KITH__FACT_FEATURES_COUNT];
        memcpy(weight, common, sizeof common);
        if (start[r + 1] > start[r])
            kith__logistic_fit(weight, KITH__FACT_FEATURES_COUNT, strength, samples + start[r],
                               start[r + 1] - start[r]);
        for (int k = 0; k < KITH__FACT_BIAS; k++) {
            weight[k] *= scale[k];
            weight[KITH__FACT_BIAS] -= weight[k] * mean[k];
        }
        for (int k = 0; k < KITH__FACT_FEATURES_COUNT; k++)
            j->weight[r][k] = (float)weight[k];
    }
}

/* ---- thresholds ---- */

/* The facts of dev whose relation is in train, by relation, and which of them are true. */
static kith_status choose_dev(kith_triple *facts, kith__sample *samples, size_t *start,
                              const kith_model *model, kith_error *error)
{
    kith_facts dev = kith_graph_facts(model->graph, KITH_DEV);
    uint32_t m = kith_graph_seen_relation_count(model->graph);

    if (!dev.truth)
        return kith__fail(error, KITH_ERR_ARGUMENT, "dev has no labelled facts, expected some to "
                          "tune thresholds on");
    for (size_t i = 0; i < dev.count; i++)
        if (dev.at[i].relation < m)
            start[dev.at[i].relation + 2]++;
    for (uint32_t r = 2; r < m + 2; r++)
        start[r] += start[r - 1];
    for (size_t i = 0; i < dev.count; i++)
        if (dev.at[i].relation < m) {
            size_t at = start[dev.at[i].relation + 1]++;
            samples[at].truth = dev.truth[i] == 1;
            facts[at] = dev.at[i];
        }
    return KITH_OK;
}

/* Tune thresholds of phi alone, as in the paper: one per relation, and one over all relations for
 * relations that dev lacks. */
static kith_status set_thresholds(kith__judgement *j, uint32_t relations,
                                  const kith__sample *samples, const size_t *start,
                                  kith_error *error)
{
    size_t count = start[relations];
    kith__scored *scored = kith__alloc(count, sizeof *scored);

    if (!scored)
        return kith__no_memory(error);
    for (size_t i = 0; i < count; i++)
        scored[i] = (kith__scored){(float)samples[i].x[KITH__FACT_PHI], samples[i].truth};
    float over_all = kith__best_threshold(scored, count);
    for (uint32_t r = 0; r < relations; r++) {
        size_t some = start[r + 1] - start[r];
        for (size_t i = 0; i < some; i++)
            scored[i] = (kith__scored){(float)samples[start[r] + i].x[KITH__FACT_PHI],
                                       samples[start[r] + i].truth};
        j->weight[r][KITH__FACT_PHI] = 1;
        j->threshold[r] = some ? kith__best_threshold(scored, some) : over_all;
    }
    kith__free(scored);
    return KITH_OK;
}

/* How steeply probabilities rise around the thresholds (Platt 1999, without its constant). */
static void fit_slope(kith__judgement *j, uint32_t relations, kith__sample *samples,
                      const size_t *start)
{
    double slope = 1;
    size_t kept = 0;

    for (uint32_t r = 0; r < relations; r++)
        for (size_t i = start[r]; i < start[r + 1]; i++)
            if (isfinite(j->threshold[r]))
                samples[kept++] = (kith__sample){
                    {samples[i].x[KITH__FACT_PHI] - j->threshold[r]}, samples[i].truth};
    kith__logistic_fit(&slope, 1, &(double){1e-3}, samples, kept);
    j->slope = kept > 0 && slope > 0 ? (float)slope : 0;
}

static kith_status fit_one(kith__classifier *c, kith_model *model, kith__classify_by by,
                           unsigned without, kith_error *error)
{
    size_t most = kith_graph_facts(model->graph, KITH_DEV).count;
    kith_triple *facts = kith__alloc(most, sizeof *facts);
    kith__sample *samples = kith__calloc(most, sizeof *samples);
    size_t *start = kith__calloc((size_t)c->relations + 2, sizeof *start);
    kith_status status = KITH_OK;

    if (!facts || !samples || !start || kith__classifier_add(c, by))
        TRY(kith__no_memory(error));
    TRY(choose_dev(facts, samples, start, model, error));
    TRY(kith__fact_features(samples, model, facts, start[c->relations], without, error));
    if (by == KITH__BY_EMBEDDING) {
        TRY(set_thresholds(&c->by[by], c->relations, samples, start, error));
        fit_slope(&c->by[by], c->relations, samples, start);
    } else {
        fit_weights(&c->by[by], c->relations, samples, start);
    }
cleanup:
    kith__free(facts);
    kith__free(samples);
    kith__free(start);
    return status;
}

kith_status kith__classifier_fit(kith_model *model, kith_error *error)
{
    bool vectors = kith__model_scores_vectors(model);
    kith__classifier *c = NULL;
    kith_status status;

    TRY(kith__classifier_new(&c, kith_graph_seen_relation_count(model->graph), error));
    if (model->fused)
        TRY(fit_one(c, model, KITH__BY_RULES, KITH_PART_EMBEDDING, error));
    if (model->fused && vectors)
        TRY(fit_one(c, model, KITH__BY_ALL, 0, error));
    if (vectors)
        TRY(fit_one(c, model, KITH__BY_EMBEDDING, KITH_PART_ALL & ~(unsigned)KITH_PART_EMBEDDING,
                    error));
    kith__classifier_free(model->classifier);
    model->classifier = c;
    c = NULL;
cleanup:
    kith__classifier_free(c);
    return status;
}
