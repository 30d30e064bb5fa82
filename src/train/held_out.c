#include "train/held_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "model/fusion_sweep.h"

/* ---- ranks ---- */

typedef struct {
    kith__held_out_query *out;
    const kith__held_out_data *data;
    const kith__query *queries;
} ranking;

/* Only candidates with at least the score of the correct answer need to be looked up. */
static double rank_of(const kith__held_out_data *d, const kith__query *q, const float *scores)
{
    uint32_t gold = kith__hidden_side(q);
    float right = scores[gold];
    double rank = 1;

    for (uint32_t c = 0; c < d->candidates; c++)
        if (scores[c] >= right && c != gold &&
            !kith__known_has(&d->known[q->subject_hidden], kith__known_side(q), q->fact.relation,
                             c))
            rank += scores[c] > right ? 1 : .5;
    return rank;
}

static void rank_one(void *context, size_t query, kith__fusion_workspace *f)
{
    const ranking *r = context;
    const kith__query *q = &r->queries[query];
    kith__held_out_query *out = &r->out[query];

    out->entity = kith__known_side(q);
    out->rank = rank_of(r->data, q, f->scores);
    out->samples = kith__judge_samples(out->sample, f->scores, f->at.candidates, &f->shares,
                                       &r->data->known[q->subject_hidden], out->entity,
                                       q->fact.relation, kith__hidden_side(q));
}

kith_status kith__held_out_rank(kith__held_out_query *out, const kith__held_out_data *data,
                                const kith__fusion *fusion, const kith__query *queries,
                                size_t count, kith_error *error)
{
    const kith__answer_set among = kith__answers_below(data->candidates);
    ranking r = {out, data, queries};

    if (count == 0)
        return KITH_OK;
    return kith__fusion_sweep(data->model, fusion, data->evidence, queries, count, &among, 0,
                              data->embedding, rank_one, &r, error);
}

/* ---- sums ---- */

/* With fewer entities, probabilities cannot be assessed. */
enum { FEWEST_ENTITIES = 10 };

static int by_entity(const void *a, const void *b)
{
    const kith__held_out_query *x = a, *y = b;

    if (x->entity != y->entity)
        return x->entity < y->entity ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Collect the samples of queries; returns their number. */
static size_t join_samples(kith__sample *samples, const kith__held_out_query *queries, size_t count)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++) {
        memcpy(samples + total, queries[i].sample, queries[i].samples * sizeof *samples);
        total += queries[i].samples;
    }
    return total;
}

static double probability_of(const kith__calibration *calibration, const kith__sample *sample)
{
    double sum = 0;

    for (int k = 0; k < KITH__CALIBRATION; k++)
        sum += calibration->weight[k] * sample->x[k];
    return kith__sigmoid(sum);
}

static void add_answers(kith__held_out *out, const kith__held_out_query *judged, size_t count,
                        const kith__sample *fitted_on, size_t samples)
{
    kith__calibration calibration;

    kith__calibration_fit(&calibration, fitted_on, samples);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < judged[i].samples; k++) {
            const kith__sample *s = &judged[i].sample[k];
            kith__reliability_add(out->bins, probability_of(&calibration, s), s->truth);
        }
}

/* The index of the first query of the second half of the entities. */
static size_t half_of(const kith__held_out_query *queries, size_t count)
{
    size_t half = count / 2;

    while (half < count && half > 0 && queries[half].entity == queries[half - 1].entity)
        half++;
    return half;
}

static kith_status measure_probabilities(kith__held_out *out, const kith__held_out_query *queries,
                                         size_t count, kith_error *error)
{
    size_t half = half_of(queries, count);
    kith__sample *samples = kith__alloc(count * KITH__JUDGED, sizeof *samples);

    if (!samples)
        return kith__no_memory(error);
    add_answers(out, queries, half, samples, join_samples(samples, queries + half, count - half));
    add_answers(out, queries + half, count - half, samples, join_samples(samples, queries, half));
    out->calibration_error = kith__reliability_finish(out->bins);
    kith__free(samples);
    return KITH_OK;
}

kith_status kith__held_out_sum_up(kith__held_out *out, kith__held_out_query *queries, size_t count,
                                  kith_error *error)
{
    *out = (kith__held_out){.calibration_error = -1};
    if (count == 0)
        return KITH_OK;
    qsort(queries, count, sizeof *queries, by_entity);
    for (size_t i = 0; i < count; i++) {
        out->entities += i == 0 || queries[i].entity != queries[i - 1].entity;
        kith__metrics_add(&out->metrics, queries[i].rank);
    }
    kith__metrics_finish(&out->metrics);
    return out->entities < FEWEST_ENTITIES ? KITH_OK
                                           : measure_probabilities(out, queries, count, error);
}
