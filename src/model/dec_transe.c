/* TransE (Bordes et al. 2013): phi = -|s + q - o|_1. */
#include <math.h>
#include <string.h>

#include "model/decoder.h"
#include "nn/kernels.h"

static float score(const float *s, const float *q, const float *o, size_t width)
{
    float sum = 0;
    for (size_t k = 0; k < width; k++)
        sum += fabsf(s[k] + q[k] - o[k]);
    return -sum;
}

static void backward(float *gs, float *gq, float *go, float g, const float *s, const float *q,
                     const float *o, size_t width)
{
    for (size_t k = 0; k < width; k++) {
        float x = s[k] + q[k] - o[k];
        float v = g * (float)((x < 0) - (x > 0));
        gs[k] += v;
        gq[k] += v;
        go[k] -= v;
    }
}

static void aim(float *v, const float *known, const float *q, bool subject_hidden, size_t width)
{
    memset(v, 0, kith__padded(width) * sizeof *v);
    for (size_t k = 0; k < width; k++)
        v[k] = subject_hidden ? known[k] - q[k] : known[k] + q[k];
}

/* v = known + q, or known - q. */
static void aim_backward(float *gknown, float *gq, const float *gv, bool subject_hidden,
                         size_t width)
{
    for (size_t k = 0; k < width; k++) {
        gknown[k] += gv[k];
        gq[k] += subject_hidden ? -gv[k] : gv[k];
    }
}

const kith__decoder kith__transe = {"transe", 1, score, backward, aim, .distance = true,
                                    .aim_backward = aim_backward};
