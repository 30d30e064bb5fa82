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
    /* The floor of the authors' program, so that a zero vector gives zeros. */
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
