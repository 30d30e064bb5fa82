#include "eval/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "eval/rank.h"
#include "fuse/fused.h"
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

/* ---- with rule evidence ---- */

typedef struct {
    const kith__query *queries;
    size_t sides; /* queries per fact, one after the other */
    float *parts; /* per query */
} fused_scoring;

/* How large a share the hidden side has among all that could stand there. */
static void take_share(void *context, size_t query, kith__fusing *f)
{
    fused_scoring *s = context;
    uint32_t hidden = kith__hidden_side(&s->queries[query]);

    s->parts[query] = (float)(f->scores[hidden] - f->log_sum);
}

static size_t list_sides(kith__query *queries, const kith_triple *facts, size_t count,
                         kith_predict predict)
{
    size_t made = 0;

    for (size_t i = 0; i < count; i++) {
        if (predict != KITH_PREDICT_SUBJECT)
            queries[made++] = (kith__query){facts[i], false};
        if (predict != KITH_PREDICT_OBJECT)
            queries[made++] = (kith__query){facts[i], true};
    }
    return made;
}

/* The mean logarithm of that share over the sides that are predicted. */
static kith_status score_fused(kith__scored *out, kith_model *model, const kith_triple *facts,
                               size_t count, const char *without, kith_error *error)
{
    const struct kith__fused *fused = model->fused;
    kith__query *queries = kith__alloc(2 * count, sizeof *queries);
    fused_scoring s = {.queries = queries,
                       .sides = model->settings.predict == KITH_PREDICT_BOTH ? 2 : 1,
                       .parts = kith__calloc(2 * count, sizeof *s.parts)};
    kith_status status = KITH_OK;

    if (!queries || !s.parts)
        TRY(kith__no_memory(error));
    size_t made = list_sides(queries, facts, count, model->settings.predict);
    TRY(kith__fuse_each(model, &fused->fusion, fused->evidence, queries, made,
                        kith_graph_entity_count(model->graph), without, fused->embedding, take_share,
                        &s, error));
    for (size_t i = 0; i < count; i++) {
        out[i].relation = facts[i].relation;
        out[i].score = s.parts[i * s.sides];
        if (s.sides == 2)
            out[i].score = (out[i].score + s.parts[2 * i + 1]) / 2;
    }
cleanup:
    kith__free(queries);
    kith__free(s.parts);
    return status;
}

/* ---- thresholds ---- */

/* phi of every fact. */
static kith_status score_facts(kith__scored *out, kith_model *model, const kith_triple *facts,
                               size_t count, const char *without, kith_error *error)
{
    kith__encoder *e = &model->encoder;
    uint32_t m = model->lists->relations / 2;
    float *scratch;
    kith_status status = KITH_OK;

    if (!kith__only_embedding(model, without))
        return score_fused(out, model, facts, count, without, error);
    scratch = kith__calloc_aligned(6 * e->ds, sizeof *scratch);
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
            out[i].score = kith__score_fact(model, facts[i], e->out.at + at[0] * e->ds,
                                            e->out.at + at[1] * e->ds, scratch);
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
static kith_status fit_thresholds(float *thresholds, kith_model *model, const char *without,
                                  kith_error *error)
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
    TRY(score_facts(scored, model, facts, count, without, error));
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
                           const int8_t *truth, size_t count, const char *without,
                           kith_error *error)
{
    uint32_t m = kith_graph_seen_relation_count(model->graph);
    float *thresholds = kith__calloc(m, sizeof *thresholds);
    kith__scored *scored = kith__calloc(count, sizeof *scored);
    size_t right = 0;
    kith_status status = KITH_OK;

    if (!thresholds || !scored)
        TRY(kith__no_memory(error));
    TRY(fit_thresholds(thresholds, model, without, error));
    TRY(score_facts(scored, model, facts, count, without, error));
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
