/* TransE (Bordes et al. 2013): phi = -|s + q - o|_1. */
#include <string.h>

#include "embed/decoders/decoder.h"
#include "nn/kernels.h"

static float score(const float *s, const float *q, const float *o, size_t width)
{
    return -kith__l1_of_sum(s, q, o, kith__padded(width));
}

static void backward(float *gs, float *gq, float *go, float g, const float *s, const float *q,
                     const float *o, size_t width)
{
    kith__l1_of_sum_backward(gs, gq, go, g, s, q, o, kith__padded(width));
}

static void query_vector(float *v, const float *known, const float *q, bool subject_hidden,
                         size_t width)
{
    memset(v, 0, kith__padded(width) * sizeof *v);
    for (size_t k = 0; k < width; k++)
        v[k] = subject_hidden ? known[k] - q[k] : known[k] + q[k];
}

/* v = known + q, or known - q. */
static void query_vector_backward(float *gknown, float *gq, const float *gv, bool subject_hidden,
                         size_t width)
{
    for (size_t k = 0; k < width; k++) {
        gknown[k] += gv[k];
        gq[k] += subject_hidden ? -gv[k] : gv[k];
    }
}

const kith__decoder kith__transe = {"transe", 1, score, backward, query_vector, .distance = true,
                                    .query_vector_backward = query_vector_backward};
