#include "train/fit_calibration.h"

#include "core/flag.h"
#include "core/mem.h"
#include "model/fusion_sweep.h"

enum { CALIBRATED = KITH__JUDGED }; /* number of answers per query that calibration is fitted on */

/* Move samples together, which have space for CALIBRATED per query; returns their number. */
static size_t pack_samples(kith__sample *samples, const size_t *count, size_t queries)
{
    size_t packed = 0;

    for (size_t i = 0; i < queries * CALIBRATED; i++)
        if (i % CALIBRATED < count[i / CALIBRATED])
            samples[packed++] = samples[i];
    return packed;
}

/* ---- of a fusion ---- */

typedef struct {
    const kith__fit_data *from;
    kith__query *queries;  /* queries of the calibration split with a seen answer */
    kith__sample *samples; /* CALIBRATED per query */
    size_t *count;         /* per query */
} fusion_samples;

static void take_samples(void *context, size_t query, kith__fusion_workspace *f)
{
    fusion_samples *c = context;
    const kith__query *q = &c->queries[query];

    c->count[query] =
        kith__judge_samples(c->samples + query * CALIBRATED, f->scores, f->at.candidates,
                            &f->shares, &c->from->known[q->subject_hidden], kith__known_side(q),
                            q->fact.relation, kith__hidden_side(q));
}

static size_t calibration_queries(kith__query *to, const kith__fit_data *c)
{
    size_t count = 0;

    for (size_t i = 0; i < c->count; i++)
        if (kith__is_calibration_entity(kith__known_side(&c->queries[i])) &&
            kith__hidden_side(&c->queries[i]) < c->among.candidates)
            to[count++] = c->queries[i];
    return count;
}

kith_status kith__calibrate_fusion(kith__calibration *calibration, const kith__fit_data *from,
                                   const kith__fusion *fusion, kith_error *error)
{
    fusion_samples c = {.from = from,
                        .queries = kith__alloc(from->count, sizeof *c.queries),
                        .samples = kith__alloc(from->count * CALIBRATED, sizeof *c.samples),
                        .count = kith__calloc(from->count, sizeof *c.count)};
    kith_status status = KITH_OK;

    if (!c.queries || !c.samples || !c.count)
        TRY(kith__no_memory(error));
    size_t count = calibration_queries(c.queries, from);
    TRY(kith__watch_begin(kith__pool_watch(from->model->pool), "calibrating probabilities",
                          count, error));
    const kith__answer_set among = kith__answers_below(from->among.candidates);
    TRY(kith__fusion_sweep(from->model, fusion, from->evidence, c.queries, count, &among, 0,
                           from->embedding, take_samples, &c, error));
    kith__calibration_fit(calibration, c.samples, pack_samples(c.samples, c.count, count));
cleanup:
    kith__free(c.queries);
    kith__free(c.samples);
    kith__free(c.count);
    return status;
}

/* ---- for a model without rule evidence ---- */

enum { FACTS = 256, MOST_CANDIDATES = 200000 };

typedef struct {
    const kith_model *model;
    const kith__query *queries;
    size_t candidates;
    kith__known filter[2];
    kith__known_buffer known[KITH__SCORED_TOGETHER];
    kith__sample *samples; /* CALIBRATED per query */
    size_t *count;
    kith__flag no_memory;
} embedding_samples;

static void take_embedding_samples(void *context, size_t query, size_t slot, const float *scores)
{
    embedding_samples *c = context;
    const kith__query *q = &c->queries[query];
    kith__span known;

    if (kith__known_answers(&known, &c->known[slot], c->model->graph, q)) {
        kith__flag_raise(&c->no_memory);
        return;
    }
    kith__shares shares =
        kith__shares_of(scores, c->candidates, known, kith__directed_query(c->model->graph, q));
    c->count[query] = kith__judge_samples(
        c->samples + query * CALIBRATED, scores, c->candidates, &shares,
        &c->filter[q->subject_hidden], kith__known_side(q), q->fact.relation, kith__hidden_side(q));
}

static kith_status calibrate_on(kith_model *model, const kith__query *queries, size_t count,
                                kith_error *error)
{
    embedding_samples c = {.model = model,
                           .queries = queries,
                           .candidates = kith_graph_seen_entity_count(model->graph),
                           .samples = kith__alloc(count * CALIBRATED, sizeof *c.samples),
                           .count = kith__calloc(count, sizeof *c.count)};
    kith_status status = KITH_OK;

    if (!c.samples || !c.count)
        TRY(kith__no_memory(error));
    for (int side = 0; side < 2; side++)
        TRY(kith__known_init(&c.filter[side], model->graph, NULL, side, error));
    TRY(kith__score_all(model, queries, count, c.candidates, NULL, take_embedding_samples, &c,
                        error));
    if (kith__flag_raised(&c.no_memory))
        TRY(kith__no_memory(error));
    kith__calibration_fit(&model->calibration, c.samples, pack_samples(c.samples, c.count, count));
cleanup:
    for (int i = 0; i < KITH__SCORED_TOGETHER; i++)
        kith__free(c.known[i].at);
    kith__known_release(&c.filter[0]);
    kith__known_release(&c.filter[1]);
    kith__free(c.samples);
    kith__free(c.count);
    return status;
}

kith_status kith__calibrate_on_dev(kith_model *model, kith_error *error)
{
    kith_facts dev = kith_graph_facts(model->graph, KITH_DEV);
    uint32_t candidates = kith_graph_seen_entity_count(model->graph);
    kith_triple facts[FACTS];
    kith__query queries[2 * FACTS];
    size_t count = 0, taken = dev.count < FACTS ? dev.count : FACTS;

    if (dev.truth || candidates > MOST_CANDIDATES)
        return KITH_OK;
    for (size_t i = 0; i < taken; i++) {
        facts[count] = dev.at[i * dev.count / taken];
        count += facts[count].relation < kith_graph_seen_relation_count(model->graph);
    }
    count = kith__queries_of(queries, facts, count, model->settings.predict, candidates);
    return count > 0 ? calibrate_on(model, queries, count, error) : KITH_OK;
}
