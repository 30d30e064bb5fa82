/* Analogy (Liu et al. 2017): DistMult on the first half, ComplEx on the second. */
#include <string.h>

#include "embed/decoders/decoder.h"
#include "nn/kernels.h"

static float score(const float *s, const float *q, const float *o, size_t width)
{
    size_t h = width / 2;
    return kith__distmult.score(s, q, o, h) + kith__complex.score(s + h, q + h, o + h, h);
}

static void backward(float *gs, float *gq, float *go, float g, const float *s, const float *q,
                     const float *o, size_t width)
{
    size_t h = width / 2;
    kith__distmult.backward(gs, gq, go, g, s, q, o, h);
    kith__complex.backward(gs + h, gq + h, go + h, g, s + h, q + h, o + h, h);
}

static void query_vector(float *v, const float *known, const float *q, bool subject_hidden,
                         size_t width)
{
    size_t h = width / 2, quarter = h / 2;

    memset(v, 0, kith__padded(width) * sizeof *v);
    for (size_t k = 0; k < h; k++)
        v[k] = known[k] * q[k];
    for (size_t k = h; k < h + quarter; k++) {
        float x1 = known[k], x2 = known[quarter + k], q1 = q[k], q2 = q[quarter + k];
        v[k] = subject_hidden ? x1 * q1 + x2 * q2 : x1 * q1 - x2 * q2;
        v[quarter + k] = subject_hidden ? x2 * q1 - x1 * q2 : x2 * q1 + x1 * q2;
    }
}

const kith__decoder kith__analogy = {"analogy",        4, score, backward, query_vector,
                                     .distance = false};
