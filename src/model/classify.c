#include "model/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "nn/logistic.h"
#include "model/fusion_sweep.h"

enum { AT_ONCE = 1024 };

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
        right += scored[i].truth == 1; /* everything called true */
    best_right = right;
    for (size_t i = 0; i < count; i++) {
        right += scored[i].truth == 1 ? (size_t)-1 : 1; /* now this one is called false */
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
    /* Between the two, but not on the lower one where they are next to each other. */
    float low = scored[best - 1].score, high = scored[best].score, middle = low / 2 + high / 2;
    return middle > low ? middle : high;
}

/* ---- figures ---- */

/* What is known about a fact: of each side as the answer to a question about the other, what evidence
 * says; and the embedding's score. */
enum { SHARE, PROXIMITY, OFTEN, TYPE, OF_A_SIDE };
enum { OBJECT = 0, SUBJECT = OF_A_SIDE, PHI = 2 * OF_A_SIDE, BIAS, FIGURES };
_Static_assert((int)FIGURES <= (int)KITH__MOST_LOGISTIC, "a fact's figures must fit");

typedef struct {
    const kith__query *queries; /* two for each fact */
    kith__sample *samples;
} looking;

static void look_at_side(void *context, size_t query, kith__fusion_workspace *f)
{
    const looking *l = context;
    const kith__query *q = &l->queries[query];
    uint32_t hidden = kith__hidden_side(q);
    double *x = l->samples[query / 2].x;

    x += q->subject_hidden ? SUBJECT : OBJECT;
    x[SHARE] = kith__log_share(&f->shares, f->scores[hidden]);
    if (!(f->without & KITH_PART_PROXIMITY))
        x[PROXIMITY] = kith__proximity_of(&f->asking.proximity, hidden);
    x[OFTEN] = log(.2 + kith__evidence_answered(&f->asking, hidden));
    x[TYPE] = f->asking.table->type_score_all[hidden];
}

static kith_status look_at_evidence(kith__sample *samples, kith_model *model,
                                    const kith_triple *facts, size_t count, unsigned without,
                                    kith_error *error)
{
    const kith__fused *fused = model->fused;
    kith__query *queries = kith__alloc(2 * count, sizeof *queries);
    looking l = {queries, samples};
    kith_status status = KITH_OK;

    if (!queries)
        return kith__no_memory(error);
    for (size_t i = 0; i < 2 * count; i++)
        queries[i] = (kith__query){facts[i / 2], i % 2 == 1};
    status = kith__fusion_sweep(model, &fused->fusion, fused->evidence, queries, 2 * count,
                             kith_graph_entity_count(model->graph), without, fused->embedding,
                             look_at_side, &l, error);
    kith__free(queries);
    return status;
}

static kith_status look_at_embedding(kith__sample *samples, kith_model *model,
                                     const kith_triple *facts, size_t count, kith_error *error)
{
    kith__encoder *e = model->encoder;
    uint32_t m = model->lists->relations / 2;
    float *scratch = kith__calloc_aligned(6 * kith__encoder_stride(e), sizeof *scratch);
    kith_status status = KITH_OK;

    if (!scratch)
        return kith__no_memory(error);
    for (size_t from = 0; from < count; from += AT_ONCE) {
        size_t to = from + AT_ONCE < count ? from + AT_ONCE : count;
        kith__encoder_begin(e);
        for (size_t i = from; i < to; i++) {
            kith__encoder_request(e, facts[i].subject, facts[i].relation, NULL);
            kith__encoder_request(e, facts[i].object, facts[i].relation + m, NULL);
        }
        TRY(kith__encoder_forward(e, error));
        for (size_t i = from; i < to; i++) {
            size_t subject = 2 * (i - from);
            samples[i].x[PHI] =
                kith__score_fact(model, facts[i], kith__encoder_answer(e, subject),
                                 kith__encoder_answer(e, subject + 1), scratch);
        }
    }
cleanup:
    kith__free(scratch);
    return status;
}

/* `samples` must be zero. */
static kith_status look_at(kith__sample *samples, kith_model *model, const kith_triple *facts,
                           size_t count, unsigned without, kith_error *error)
{
    bool evidence = !kith__only_embedding(model, without);
    bool embedding = !model->fused || (model->fused->embedding && !(without & KITH_PART_EMBEDDING));
    kith_status status = KITH_OK;

    if (embedding)
        status = look_at_embedding(samples, model, facts, count, error);
    if (status == KITH_OK && evidence)
        status = look_at_evidence(samples, model, facts, count, without, error);
    return status;
}

/* ---- one score from them ---- */

/* Per relation: weights for figures as they are, and the score from which on a fact is true. */
typedef struct {
    double (*weight)[FIGURES];
    float *threshold;
    uint32_t relations;
} judge;

static int judge_init(judge *j, uint32_t relations)
{
    j->relations = relations;
    j->weight = kith__calloc(relations, sizeof *j->weight);
    j->threshold = kith__calloc(relations, sizeof *j->threshold);
    return j->weight && j->threshold ? 0 : -1;
}

static void judge_release(judge *j)
{
    kith__free(j->weight);
    kith__free(j->threshold);
}

static float score_of(const judge *j, const kith__sample *sample, uint32_t relation)
{
    const double *weight = j->weight[relation];
    double sum = weight[BIAS];

    for (int k = 0; k < BIAS; k++)
        sum += weight[k] * sample->x[k];
    return (float)sum;
}

/* Figures come to mean 0 and deviation 1, so that one pull suits all. */
static void standardize(double *mean, double *scale, kith__sample *samples, size_t count)
{
    for (int k = 0; k < BIAS; k++) {
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
        samples[i].x[BIAS] = 1;
}

/* Weights for all relations, then those of each, regularised towards them; chosen by cross-validation on
 * dev of three sets of WN11. Samples are those of relation 0 first, and so on, and are changed. A fact
 * is true where that is likelier than not, so thresholds stay 0. */
static void fit_judge(judge *j, kith__sample *samples, const size_t *start)
{
    double mean[FIGURES] = {0}, scale[FIGURES] = {0}, common[FIGURES] = {0}, pull[FIGURES];
    size_t count = start[j->relations];

    standardize(mean, scale, samples, count);
    for (int k = 0; k < BIAS; k++)
        pull[k] = 10;
    pull[BIAS] = 1e-6; /* next to nothing */
    kith__logistic_fit(common, FIGURES, pull, samples, count);
    for (int k = 0; k < BIAS; k++)
        pull[k] = 5;
    pull[BIAS] = 1;
    for (uint32_t r = 0; r < j->relations; r++) {
        double *weight = j->weight[r];
        memcpy(weight, common, sizeof common);
        if (start[r + 1] > start[r])
            kith__logistic_fit(weight, FIGURES, pull, samples + start[r], start[r + 1] - start[r]);
        for (int k = 0; k < BIAS; k++) {
            weight[k] *= scale[k];
            weight[BIAS] -= weight[k] * mean[k];
        }
    }
}

/* ---- thresholds ---- */

/* The facts of dev whose relation train has, by relation, and which of them are true. */
static kith_status choose_dev(kith_triple *facts, kith__sample *samples, size_t *start,
                              const kith_model *model, kith_error *error)
{
    kith_facts dev = kith_graph_facts(model->graph, KITH_DEV);
    uint32_t m = kith_graph_seen_relation_count(model->graph);

    if (!dev.truth)
        return kith__fail(error, KITH_ERR_ARGUMENT, "dev has no labelled facts, expected some to "
                          "choose thresholds on");
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

/* By phi alone, as the paper does: a threshold per relation; one over all relations for those that dev
 * lacks. */
static kith_status set_thresholds(judge *j, const kith__sample *samples, const size_t *start,
                                  kith_error *error)
{
    size_t count = start[j->relations];
    kith__scored *scored = kith__alloc(count, sizeof *scored);

    if (!scored)
        return kith__no_memory(error);
    for (size_t i = 0; i < count; i++)
        scored[i] = (kith__scored){(float)samples[i].x[PHI], samples[i].truth};
    float over_all = kith__best_threshold(scored, count);
    for (uint32_t r = 0; r < j->relations; r++) {
        size_t some = start[r + 1] - start[r];
        for (size_t i = 0; i < some; i++)
            scored[i] =
                (kith__scored){(float)samples[start[r] + i].x[PHI], samples[start[r] + i].truth};
        j->weight[r][PHI] = 1;
        j->threshold[r] = some ? kith__best_threshold(scored, some) : over_all;
    }
    kith__free(scored);
    return KITH_OK;
}

static kith_status fit_on_dev(judge *j, kith_model *model, unsigned without, kith_error *error)
{
    size_t most = kith_graph_facts(model->graph, KITH_DEV).count;
    kith_triple *facts = kith__alloc(most, sizeof *facts);
    kith__sample *samples = kith__calloc(most, sizeof *samples);
    size_t *start = kith__calloc((size_t)j->relations + 2, sizeof *start);
    kith_status status = KITH_OK;

    if (!facts || !samples || !start)
        TRY(kith__no_memory(error));
    TRY(choose_dev(facts, samples, start, model, error));
    TRY(look_at(samples, model, facts, start[j->relations], without, error));
    if (kith__only_embedding(model, without))
        TRY(set_thresholds(j, samples, start, error));
    else
        fit_judge(j, samples, start);
cleanup:
    kith__free(facts);
    kith__free(samples);
    kith__free(start);
    return status;
}

kith_status kith__classify(kith_eval *result, kith_model *model, const kith_triple *facts,
                           const int8_t *truth, size_t count, unsigned without, kith_error *error)
{
    kith__sample *samples = kith__calloc(count, sizeof *samples);
    judge j = {0};
    size_t right = 0;
    kith_status status = KITH_OK;

    if (!samples || judge_init(&j, kith_graph_seen_relation_count(model->graph)))
        TRY(kith__no_memory(error));
    TRY(fit_on_dev(&j, model, without, error));
    TRY(look_at(samples, model, facts, count, without, error));
    result->ranks = kith__calloc(count, sizeof *result->ranks);
    if (!result->ranks)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < count; i++) {
        uint32_t r = facts[i].relation;
        bool correct = (score_of(&j, &samples[i], r) >= j.threshold[r]) == (truth[i] == 1);
        result->ranks[i] = (kith_rank){.fact = facts[i], .correct = correct};
        right += correct;
        result->no_neighbors += kith__list_count(model->lists, facts[i].subject) == 0 ||
                                kith__list_count(model->lists, facts[i].object) == 0;
    }
    result->accuracy = count ? (double)right / (double)count : 0;
    result->realistic.queries = count;
cleanup:
    judge_release(&j);
    kith__free(samples);
    return status;
}
