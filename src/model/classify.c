#include "model/classify.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "model/entity_encoder.h"
#include "model/fusion_sweep.h"

enum { AT_ONCE = 1024 };
_Static_assert((int)KITH__FACT_FEATURES_COUNT <= (int)KITH__MOST_LOGISTIC,
               "a fact's features must fit");

const char *kith__fact_feature_name(int feature)
{
    static const char *const names[] = {
#define NAME(name, text) text,
        KITH__FACT_FEATURES(NAME)
#undef NAME
    };
    return names[feature];
}

const char *kith__classify_by_name(int by)
{
    static const char *const names[KITH__CLASSIFY_BY] = {"all", "rules", "embedding"};
    return names[by];
}

kith_status kith__classifier_new(kith__classifier **out, uint32_t relations, kith_error *error)
{
    kith__classifier *c = kith__calloc(1, sizeof *c);

    if (!c)
        return kith__no_memory(error);
    c->relations = relations;
    *out = c;
    return KITH_OK;
}

int kith__classifier_add(kith__classifier *c, kith__classify_by by)
{
    kith__judgement *j = &c->by[by];

    j->weight = kith__calloc(c->relations, sizeof *j->weight);
    j->threshold = kith__calloc(c->relations, sizeof *j->threshold);
    return j->weight && j->threshold ? 0 : -1;
}

void kith__classifier_free(kith__classifier *c)
{
    for (int by = 0; c && by < KITH__CLASSIFY_BY; by++) {
        kith__free(c->by[by].weight);
        kith__free(c->by[by].threshold);
    }
    kith__free(c);
}

/* ---- features of facts ---- */

enum { OF_SHARE, OF_PROXIMITY, OF_OFTEN, OF_TYPE }; /* features of a side, in this order */

typedef struct {
    const kith__query *queries; /* two for each fact */
    kith__sample *samples;
} looking;

void kith__side_features(kith__sample *sample, const kith__fusion_workspace *f, uint32_t hidden,
                         bool subject)
{
    double *x = sample->x + (subject ? KITH__FACT_SUBJECT_SHARE : KITH__FACT_OBJECT_SHARE);
    float best, all;

    x[OF_SHARE] = kith__log_share(&f->shares, f->scores[hidden]);
    if (!(f->without & KITH_PART_PROXIMITY))
        x[OF_PROXIMITY] = kith__proximity_of(&f->evidence_query.proximity, hidden);
    x[OF_OFTEN] = log(.2 + kith__evidence_answered(&f->evidence_query, hidden));
    kith__evidence_type(&best, &all, &f->evidence_query, hidden);
    x[OF_TYPE] = all;
}

static void side_features(void *context, size_t query, kith__fusion_workspace *f)
{
    const looking *l = context;
    const kith__query *q = &l->queries[query];

    kith__side_features(&l->samples[query / 2], f, kith__hidden_side(q), q->subject_hidden);
}

static kith_status evidence_features(kith__sample *samples, kith_model *model,
                                    const kith_triple *facts, size_t count, unsigned without,
                                    kith_error *error)
{
    const kith__fused *fused = model->fused;
    kith__query *queries = kith__alloc(2 * count, sizeof *queries);
    looking l = {queries, samples};
    const kith__answer_set among = kith__answers_below(kith_graph_entity_count(model->graph));
    kith_status status = KITH_OK;

    if (!queries)
        return kith__no_memory(error);
    for (size_t i = 0; i < 2 * count; i++)
        queries[i] = (kith__query){facts[i / 2], i % 2 == 1};
    status = kith__fusion_sweep(model, &fused->fusion, fused->evidence, queries, 2 * count, &among,
                                without, fused->embedding, side_features, &l, error);
    kith__free(queries);
    return status;
}

/* Encode both ends of some facts and score the facts. */
static kith_status score_ends(kith__sample *samples, kith__entity_encoder *e, float *vectors,
                              const kith_triple *facts, size_t count, kith_error *error)
{
    const kith_model *model = e->model;
    uint32_t m = model->lists->relations / 2;
    size_t ds = kith__encoder_stride(e->encoder);
    kith__encode_request ends[2 * AT_ONCE];
    kith_status status;

    for (size_t i = 0; i < count; i++) {
        ends[2 * i] = (kith__encode_request){facts[i].subject, facts[i].relation};
        ends[2 * i + 1] = (kith__encode_request){facts[i].object, facts[i].relation + m};
    }
    TRY(kith__encode_from_graph(vectors, e, kith__model_facts(model), ends, 2 * count, error));
    for (size_t i = 0; i < count; i++)
        samples[i].x[KITH__FACT_PHI] =
            kith__score_fact(model, facts[i], vectors + 2 * i * ds, vectors + (2 * i + 1) * ds,
                             vectors + 2 * AT_ONCE * ds);
cleanup:
    return status;
}

static kith_status embedding_feature(kith__sample *samples, kith_model *model,
                                     const kith_triple *facts, size_t count, kith_error *error)
{
    kith__entity_encoder e;
    float *vectors = NULL;
    kith_status status;

    TRY(kith__entity_encoder_init(&e, model, model->pool, error));
    vectors = kith__calloc_aligned((2 * AT_ONCE + 6) * kith__encoder_stride(e.encoder),
                                   sizeof *vectors);
    if (!vectors)
        TRY(kith__no_memory(error));
    for (size_t from = 0; from < count; from += AT_ONCE)
        TRY(score_ends(samples + from, &e, vectors, facts + from,
                       count - from < AT_ONCE ? count - from : AT_ONCE, error));
cleanup:
    kith__free(vectors);
    kith__entity_encoder_release(&e);
    return status;
}

kith_status kith__fact_features(kith__sample *samples, kith_model *model, const kith_triple *facts,
                                size_t count, unsigned without, kith_error *error)
{
    bool evidence = !kith__only_embedding(model, without);
    bool embedding = !model->fused || (model->fused->embedding && !(without & KITH_PART_EMBEDDING));
    kith_status status = KITH_OK;

    if (embedding)
        status = embedding_feature(samples, model, facts, count, error);
    if (status == KITH_OK && evidence)
        status = evidence_features(samples, model, facts, count, without, error);
    return status;
}

/* ---- classifying ---- */

static float score_of(const kith__judgement *j, const kith__sample *sample, uint32_t relation)
{
    const float *weight = j->weight[relation];
    double sum = weight[KITH__FACT_BIAS];

    for (int k = 0; k < KITH__FACT_BIAS; k++)
        sum += weight[k] * sample->x[k];
    return (float)sum;
}

bool kith__judge_fact(double *probability, const kith__judgement *j, const kith__sample *sample,
                      uint32_t relation)
{
    float score = score_of(j, sample, relation), threshold = j->threshold[relation];

    *probability = j->slope > 0 && isfinite(threshold)
                       ? kith__sigmoid((double)j->slope * ((double)score - threshold))
                       : NAN;
    return score >= threshold;
}

kith_status kith__choose_judgement(const kith__judgement **out, const kith_model *model,
                                   unsigned without, kith_error *error)
{
    bool vectors = kith__model_scores_vectors(model) && !(without & KITH_PART_EMBEDDING);
    kith__classify_by by = kith__only_embedding(model, without) ? KITH__BY_EMBEDDING
                           : vectors                            ? KITH__BY_ALL
                                                                : KITH__BY_RULES;

    if (!model->classifier || !model->classifier->by[by].weight)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the run has no classifier: dev has no labelled facts to fit one on");
    *out = &model->classifier->by[by];
    return KITH_OK;
}

kith_status kith__classify(bool *correct, kith_model *model, const kith_triple *facts,
                           const int8_t *truth, size_t count, unsigned without, kith_error *error)
{
    kith__sample *samples = kith__calloc(count, sizeof *samples);
    const kith__judgement *j = NULL;
    kith_status status = KITH_OK;

    if (!samples)
        TRY(kith__no_memory(error));
    TRY(kith__choose_judgement(&j, model, without, error));
    TRY(kith__fact_features(samples, model, facts, count, without, error));
    for (size_t i = 0; i < count; i++) {
        double probability;
        correct[i] = kith__judge_fact(&probability, j, &samples[i], facts[i].relation) ==
                     (truth[i] == 1);
    }
cleanup:
    kith__free(samples);
    return status;
}
