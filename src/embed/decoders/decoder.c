#include "embed/decoders/decoder.h"

#include <math.h>
#include <string.h>

#include "nn/kernels.h"

const kith__decoder *kith__decoder_get(int index)
{
#define ROW(name) &kith__##name,
    static const kith__decoder *const decoders[] = {KITH__DECODERS(ROW)};
#undef ROW
    return decoders[index];
}

const char *kith__decoder_names(void)
{
#define ROW(name) "|" #name
    return &KITH__DECODERS(ROW)[1];
#undef ROW
}

float kith__normalize(float *y, const float *x, size_t width)
{
    size_t padded = kith__padded(width);
    float square = kith__dot(x, x, padded);
    /* The same floor as the released program has, so that a zero vector gives zeros. */
    float inverse = 1 / sqrtf(square > 1e-12f ? square : 1e-12f);

    kith__scale(y, inverse, x, padded);
    return inverse;
}

/* y = x / |x|: gx = (gy - (gy . y) y) / |x| */
void kith__normalize_backward(float *gx, const float *gy, const float *y, float inverse,
                              size_t width)
{
    size_t padded = kith__padded(width);
    kith__axpy2(gx, inverse, gy, -inverse * kith__dot(gy, y, padded), y, padded);
}

float kith__decode(const kith__decoder *decoder, bool normalize, const float *s, const float *q,
                   const float *o, size_t width, float *scratch)
{
    size_t padded = kith__padded(width);

    if (!normalize || !decoder->distance)
        return decoder->score(s, q, o, width);
    kith__normalize(scratch, s, width);
    kith__normalize(scratch + padded, q, width);
    kith__normalize(scratch + 2 * padded, o, width);
    return decoder->score(scratch, scratch + padded, scratch + 2 * padded, width);
}

void kith__query_vector(const kith__decoder *decoder, bool normalize, float *v, const float *known,
               const float *q, bool subject_hidden, size_t width, float *scratch)
{
    size_t padded = kith__padded(width);

    if (normalize && decoder->distance) {
        kith__normalize(scratch, known, width);
        kith__normalize(scratch + padded, q, width);
        known = scratch;
        q = scratch + padded;
    }
    decoder->query_vector(v, known, q, subject_hidden, width);
}

static void plain_aim_backward(const kith__decoder *decoder, float *gknown, float *gq,
                               const float *gv, const float *known, const float *q,
                               bool subject_hidden, size_t width, float *unused)
{
    if (decoder->query_vector_backward)
        decoder->query_vector_backward(gknown, gq, gv, subject_hidden, width);
    else if (subject_hidden)
        decoder->backward(unused, gq, gknown, 1, gv, q, known, width);
    else
        decoder->backward(gknown, gq, unused, 1, known, q, gv, width);
}

void kith__query_vector_backward(const kith__decoder *decoder, bool normalize, float *gknown,
                                 float *gq, const float *gv, const float *known, const float *q,
                                 bool subject_hidden, size_t width, float *scratch)
{
    size_t padded = kith__padded(width);
    float *unit = scratch, *gradient = scratch + 2 * padded, *unused = scratch + 4 * padded;

    memset(gradient, 0, 3 * padded * sizeof *gradient);
    if (!normalize || !decoder->distance) {
        plain_aim_backward(decoder, gknown, gq, gv, known, q, subject_hidden, width, unused);
        return;
    }
    float ik = kith__normalize(unit, known, width);
    float iq = kith__normalize(unit + padded, q, width);
    plain_aim_backward(decoder, gradient, gradient + padded, gv, unit, unit + padded,
                       subject_hidden, width, unused);
    kith__normalize_backward(gknown, gradient, unit, ik, width);
    kith__normalize_backward(gq, gradient + padded, unit + padded, iq, width);
}
