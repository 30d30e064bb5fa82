#include "eval/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "model/decoder.h"

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

/* phi of every fact. */
static kith_status score_facts(kith__scored *out, kith_model *model, const kith_triple *facts,
                               size_t count, kith_error *error)
{
    kith__encoder *e = &model->encoder;
    const kith__decoder *decoder = kith__decoder_get(model->settings.decoder);
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
            out[i].relation = facts[i].relation;
            out[i].score = kith__decode(decoder, model->settings.normalize, e->out.at + at[0] * e->ds,
                                        kith__row(&model->params.table[1], facts[i].relation),
                                        e->out.at + at[1] * e->ds, e->d, scratch);
        }
    }
cleanup:
    kith__free(scratch);
    return status;
}

static int by_relation(const void *a, const void *b)
{
    const kith__scored *x = a, *y = b;
    return (x->relation > y->relation) - (x->relation < y->relation);
}

/* A threshold per relation; one over all relations for those that dev lacks. */
static kith_status fit_thresholds(float *thresholds, kith_model *model, kith_error *error)
{
    kith_facts dev = kith_graph_facts(model->graph, KITH_DEV);
    uint32_t m = kith_graph_seen_relation_count(model->graph);
    kith_triple *facts = kith__alloc(dev.count, sizeof *facts);
    kith__scored *scored = kith__calloc(dev.count, sizeof *scored);
    size_t count = 0;
    kith_status status = KITH_OK;

    if (!facts || !scored)
        TRY(kith__no_memory(error));
    if (!dev.truth)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "dev has no labelled facts, expected some to choose "
                       "thresholds on"));
    for (size_t i = 0; i < dev.count; i++)
        if (dev.at[i].relation < m) {
            scored[count].truth = dev.truth[i];
            facts[count++] = dev.at[i];
        }
    TRY(score_facts(scored, model, facts, count, error));
    float over_all = kith__best_threshold(scored, count);
    qsort(scored, count, sizeof *scored, by_relation);
    for (uint32_t r = 0; r < m; r++)
        thresholds[r] = over_all;
    for (size_t from = 0, to; from < count; from = to) {
        uint32_t r = scored[from].relation;
        for (to = from + 1; to < count && scored[to].relation == r; to++)
            ;
        thresholds[r] = kith__best_threshold(scored + from, to - from);
    }
cleanup:
    kith__free(facts);
    kith__free(scored);
    return status;
}

kith_status kith__classify(kith_eval *result, kith_model *model, const kith_triple *facts,
                           const int8_t *truth, size_t count, kith_error *error)
{
    uint32_t m = kith_graph_seen_relation_count(model->graph);
    float *thresholds = kith__calloc(m, sizeof *thresholds);
    kith__scored *scored = kith__calloc(count, sizeof *scored);
    size_t right = 0;
    kith_status status = KITH_OK;

    if (!thresholds || !scored)
        TRY(kith__no_memory(error));
    TRY(fit_thresholds(thresholds, model, error));
    TRY(score_facts(scored, model, facts, count, error));
    for (size_t i = 0; i < count; i++) {
        right += (scored[i].score >= thresholds[facts[i].relation]) == (truth[i] == 1);
        result->no_neighbors += kith__list_count(model->lists, facts[i].subject) == 0 ||
                                kith__list_count(model->lists, facts[i].object) == 0;
    }
    result->accuracy = count ? (double)right / (double)count : 0;
    result->realistic.queries = count;
cleanup:
    kith__free(thresholds);
    kith__free(scored);
    return status;
}
