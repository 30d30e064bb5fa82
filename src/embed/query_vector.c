#include "embed/query_vector.h"

#include <string.h>

#include "nn/kernels.h"

static const kith__decoder *decoder_of(const kith_settings *settings)
{
    return kith__decoder_get(settings->decoder);
}

bool kith__is_unit(const kith_settings *settings)
{
    return settings->normalize && decoder_of(settings)->distance;
}

const float *kith__query_relation_row(const kith__params *params, uint32_t query)
{
    return kith__row(kith__rel(params), kith__relation_row(params, query));
}

bool kith__answer_is_subject(const kith__params *params, uint32_t query)
{
    return query >= kith__trans(params)->rows / 2 && !kith__has_reciprocal(params);
}

void kith__query_vector_from_scaled(float *v, const kith_settings *settings,
                                    const kith__params *params, const float *known, uint32_t query,
                                    float *scratch)
{
    const float *q = kith__query_relation_row(params, query);

    if (kith__is_unit(settings)) {
        kith__normalize(scratch, q, settings->dim);
        q = scratch;
    }
    decoder_of(settings)->query_vector(v, known, q, kith__answer_is_subject(params, query),
                                       settings->dim);
}

void kith__query_vector_of(float *v, const kith_settings *settings, const kith__params *params,
                           const float *known, uint32_t query, float *scratch)
{
    if (kith__is_unit(settings)) {
        kith__normalize(scratch, known, settings->dim);
        known = scratch;
    }
    kith__query_vector_from_scaled(v, settings, params, known, query,
                                   scratch + kith__padded(settings->dim));
}

static void plain_backward(const kith__decoder *decoder, float *gknown, float *gq, const float *gv,
                           const float *known, const float *q, bool subject_hidden, size_t width,
                           float *unused)
{
    if (decoder->query_vector_backward)
        decoder->query_vector_backward(gknown, gq, gv, subject_hidden, width);
    else if (subject_hidden)
        decoder->backward(unused, gq, gknown, 1, gv, q, known, width);
    else
        decoder->backward(gknown, gq, unused, 1, known, q, gv, width);
}

void kith__query_vector_backward(float *gknown, float *grelation, const float *gv,
                                 const kith_settings *settings, const kith__params *params,
                                 const float *known, uint32_t query, float *scratch)
{
    const kith__decoder *decoder = decoder_of(settings);
    const float *q = kith__query_relation_row(params, query);
    size_t d = settings->dim, padded = kith__padded(d);
    float *unit = scratch, *gradient = scratch + 2 * padded, *unused = scratch + 4 * padded;
    bool swapped = kith__answer_is_subject(params, query);

    memset(gradient, 0, 3 * padded * sizeof *gradient);
    if (!kith__is_unit(settings)) {
        plain_backward(decoder, gknown, grelation, gv, known, q, swapped, d, unused);
        return;
    }
    float ik = kith__normalize(unit, known, d), iq = kith__normalize(unit + padded, q, d);
    plain_backward(decoder, gradient, gradient + padded, gv, unit, unit + padded, swapped, d,
                   unused);
    kith__normalize_backward(gknown, gradient, unit, ik, d);
    kith__normalize_backward(grelation, gradient + padded, unit + padded, iq, d);
}

float kith__answer_score(const kith_settings *settings, const kith__params *params,
                         const float *known, uint32_t query, const float *answer, float *scratch)
{
    bool swapped = kith__answer_is_subject(params, query);

    return kith__decode(decoder_of(settings), settings->normalize, swapped ? answer : known,
                        kith__query_relation_row(params, query), swapped ? known : answer,
                        settings->dim, scratch);
}
