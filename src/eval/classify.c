#include "eval/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "eval/rank.h"
#include "fuse/fused.h"
#include "fuse/logistic.h"
#include "model/score.h"

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
enum { SHARE, NEAR, OFTEN, FITS, OF_A_SIDE };
enum { OBJECT = 0, SUBJECT = OF_A_SIDE, PHI = 2 * OF_A_SIDE, BIAS, FIGURES };
_Static_assert((int)FIGURES <= (int)KITH__MOST_LOGISTIC, "a fact's figures must fit");

typedef struct {
    const kith__query *queries; /* two for each fact */
    kith__sample *samples;
} looking;

static void look_at_side(void *context, size_t query, kith__fusing *f)
{
    const looking *l = context;
    const kith__query *q = &l->queries[query];
    uint32_t hidden = kith__hidden_side(q);
    double *x = l->samples[query / 2].x;

    x += q->subject_hidden ? SUBJECT : OBJECT;
    x[SHARE] = f->scores[hidden] - f->log_sum;
    if (!f->without || !strchr(f->without, 'N'))
        x[NEAR] = f->asking.nearness.near[hidden];
    x[OFTEN] = log(.2 + f->asking.answered[hidden]);
    x[FITS] = f->asking.fits_all[hidden];
}

static kith_status look_at_evidence(kith__sample *samples, kith_model *model,
                                    const kith_triple *facts, size_t count, const char *without,
                                    kith_error *error)
{
    const struct kith__fused *fused = model->fused;
    kith__query *queries = kith__alloc(2 * count, sizeof *queries);
    looking l = {queries, samples};
    kith_status status = KITH_OK;

    if (!queries)
        return kith__no_memory(error);
    for (size_t i = 0; i < 2 * count; i++)
        queries[i] = (kith__query){facts[i / 2], i % 2 == 1};
    status = kith__fuse_each(model, &fused->fusion, fused->evidence, queries, 2 * count,
                             kith_graph_entity_count(model->graph), without, fused->embedding,
                             look_at_side, &l, error);
    kith__free(queries);
    return status;
}

static kith_status look_at_embedding(kith__sample *samples, kith_model *model,
                                     const kith_triple *facts, size_t count, kith_error *error)
{
    kith__encoder *e = &model->encoder;
    uint32_t m = model->lists->relations / 2;
    float *scratch = kith__calloc_aligned(6 * e->ds, sizeof *scratch);
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
            const uint32_t *at = e->encoding_of + 2 * (i - from);
            samples[i].x[PHI] = kith__score_fact(model, facts[i], e->out.at + at[0] * e->ds,
                                                 e->out.at + at[1] * e->ds, scratch);
        }
    }
cleanup:
    kith__free(scratch);
    return status;
}

/* `samples` must be zero. */
static kith_status look_at(kith__sample *samples, kith_model *model, const kith_triple *facts,
                           size_t count, const char *without, kith_error *error)
{
    bool evidence = !kith__only_embedding(model, without);
    bool embedding = !model->fused || (model->fused->embedding && !(without && strchr(without, 'E')));
    kith_status status = KITH_OK;

    if (embedding)
        status = look_at_embedding(samples, model, facts, count, error);
    if (status == KITH_OK && evidence)
        status = look_at_evidence(samples, model, facts, count, without, error);
    return status;
}

/* ---- one score from them ---- */

/* Weights for figures as they are; phi alone is what the paper classifies by. */
typedef struct {
    double weight[FIGURES];
} judge;

static float score_of(const judge *j, const kith__sample *sample)
{
    double sum = j->weight[BIAS];

    for (int k = 0; k < BIAS; k++)
        sum += j->weight[k] * sample->x[k];
    return (float)sum;
}

/* Figures come to mean 0 and deviation 1, so that one pull suits all; samples are changed by it. */
static void fit_judge(judge *j, kith__sample *samples, size_t count)
{
    const double each = 10;
    double mean[FIGURES] = {0}, scale[FIGURES] = {0}, weight[FIGURES] = {0}, pull[FIGURES];

    for (int k = 0; k < BIAS; k++) {
        double squares = 0;
        pull[k] = each;
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
    pull[BIAS] = 1e-6; /* next to nothing */
    kith__logistic_fit(weight, FIGURES, pull, samples, count);
    j->weight[BIAS] = weight[BIAS];
    for (int k = 0; k < BIAS; k++) {
        j->weight[k] = weight[k] * scale[k];
        j->weight[BIAS] -= weight[k] * scale[k] * mean[k];
    }
}

/* ---- thresholds ---- */

static int by_relation(const void *a, const void *b)
{
    const kith__scored *x = a, *y = b;
    return (x->relation > y->relation) - (x->relation < y->relation);
}

/* The facts of dev whose relation train has, and which of them are true. */
static kith_status choose_dev(kith_triple *facts, kith__sample *samples, size_t *count,
                              const kith_model *model, kith_error *error)
{
    kith_facts dev = kith_graph_facts(model->graph, KITH_DEV);
    uint32_t m = kith_graph_seen_relation_count(model->graph);

    if (!dev.truth)
        return kith__fail(error, KITH_ERR_ARGUMENT, "dev has no labelled facts, expected some to "
                          "choose thresholds on");
    for (size_t i = 0; i < dev.count; i++)
        if (dev.at[i].relation < m) {
            samples[*count].truth = dev.truth[i] == 1;
            facts[(*count)++] = dev.at[i];
        }
    return KITH_OK;
}

/* A threshold per relation; one over all relations for those that dev lacks. */
static void set_thresholds(float *thresholds, uint32_t relations, kith__scored *scored, size_t count)
{
    float over_all = kith__best_threshold(scored, count);

    qsort(scored, count, sizeof *scored, by_relation);
    for (uint32_t r = 0; r < relations; r++)
        thresholds[r] = over_all;
    for (size_t from = 0, to; from < count; from = to) {
        uint32_t r = scored[from].relation;
        for (to = from + 1; to < count && scored[to].relation == r; to++)
            ;
        thresholds[r] = kith__best_threshold(scored + from, to - from);
    }
}

/* How figures become a score, and from which score on a fact of each relation is called true. */
static kith_status fit_on_dev(judge *j, float *thresholds, kith_model *model, const char *without,
                              kith_error *error)
{
    size_t most = kith_graph_facts(model->graph, KITH_DEV).count, count = 0;
    kith_triple *facts = kith__alloc(most, sizeof *facts);
    kith__sample *samples = kith__calloc(most, 2 * sizeof *samples), *scaled = samples + most;
    kith__scored *scored = kith__calloc(most, sizeof *scored);
    kith_status status = KITH_OK;

    if (!facts || !samples || !scored)
        TRY(kith__no_memory(error));
    TRY(choose_dev(facts, samples, &count, model, error));
    TRY(look_at(samples, model, facts, count, without, error));
    if (kith__only_embedding(model, without)) {
        *j = (judge){.weight[PHI] = 1};
    } else {
        memcpy(scaled, samples, count * sizeof *samples);
        fit_judge(j, scaled, count);
    }
    for (size_t i = 0; i < count; i++)
        scored[i] = (kith__scored){score_of(j, &samples[i]), facts[i].relation, samples[i].truth};
    set_thresholds(thresholds, kith_graph_seen_relation_count(model->graph), scored, count);
cleanup:
    kith__free(facts);
    kith__free(samples);
    kith__free(scored);
    return status;
}

kith_status kith__classify(kith_eval *result, kith_model *model, const kith_triple *facts,
                           const int8_t *truth, size_t count, const char *without,
                           kith_error *error)
{
    uint32_t m = kith_graph_seen_relation_count(model->graph);
    float *thresholds = kith__calloc(m, sizeof *thresholds);
    kith__sample *samples = kith__calloc(count, sizeof *samples);
    judge j = {{0}};
    size_t right = 0;
    kith_status status = KITH_OK;

    if (!thresholds || !samples)
        TRY(kith__no_memory(error));
    TRY(fit_on_dev(&j, thresholds, model, without, error));
    TRY(look_at(samples, model, facts, count, without, error));
    for (size_t i = 0; i < count; i++) {
        right += (score_of(&j, &samples[i]) >= thresholds[facts[i].relation]) == (truth[i] == 1);
        result->no_neighbors += kith__list_count(model->lists, facts[i].subject) == 0 ||
                                kith__list_count(model->lists, facts[i].object) == 0;
    }
    result->accuracy = count ? (double)right / (double)count : 0;
    result->realistic.queries = count;
cleanup:
    kith__free(thresholds);
    kith__free(samples);
    return status;
}
