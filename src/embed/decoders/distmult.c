/* DistMult (Yang et al. 2014): phi = sum s q o. */
#include <string.h>

#include "embed/decoders/decoder.h"
#include "nn/kernels.h"

static float score(const float *s, const float *q, const float *o, size_t width)
{
    float sum = 0;
    for (size_t k = 0; k < width; k++)
        sum += s[k] * q[k] * o[k];
    return sum;
}

static void backward(float *gs, float *gq, float *go, float g, const float *s, const float *q,
                     const float *o, size_t width)
{
    for (size_t k = 0; k < width; k++) {
        gs[k] += g * q[k] * o[k];
        gq[k] += g * s[k] * o[k];
        go[k] += g * s[k] * q[k];
    }
}

static void query_vector(float *v, const float *known, const float *q, bool subject_hidden,
                         size_t width)
{
    (void)subject_hidden; /* the score is symmetric */
    memset(v, 0, kith__padded(width) * sizeof *v);
    for (size_t k = 0; k < width; k++)
        v[k] = known[k] * q[k];
}

const kith__decoder kith__distmult = {"distmult",       1, score, backward, query_vector,
                                      .distance = false};
