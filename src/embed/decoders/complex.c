/* ComplEx (Trouillon et al. 2016), first half real parts, second half imaginary ones:
 * phi = Re(sum s q conj(o)) = sum s1 o1 q1 + s2 o2 q1 + s1 o2 q2 - s2 o1 q2. */
#include <string.h>

#include "embed/decoders/decoder.h"
#include "nn/kernels.h"

static float score(const float *s, const float *q, const float *o, size_t width)
{
    size_t h = width / 2;
    float sum = 0;
    for (size_t k = 0; k < h; k++)
        sum += q[k] * (s[k] * o[k] + s[h + k] * o[h + k]) +
               q[h + k] * (s[k] * o[h + k] - s[h + k] * o[k]);
    return sum;
}

static void backward(float *gs, float *gq, float *go, float g, const float *s, const float *q,
                     const float *o, size_t width)
{
    size_t h = width / 2;
    for (size_t k = 0; k < h; k++) {
        float s1 = s[k], s2 = s[h + k], q1 = q[k], q2 = q[h + k], o1 = o[k], o2 = o[h + k];
        gs[k] += g * (o1 * q1 + o2 * q2);
        gs[h + k] += g * (o2 * q1 - o1 * q2);
        gq[k] += g * (s1 * o1 + s2 * o2);
        gq[h + k] += g * (s1 * o2 - s2 * o1);
        go[k] += g * (s1 * q1 - s2 * q2);
        go[h + k] += g * (s2 * q1 + s1 * q2);
    }
}

/* The rows of the gradient above, by o or by s. */
static void query_vector(float *v, const float *known, const float *q, bool subject_hidden,
                         size_t width)
{
    size_t h = width / 2;
    memset(v, 0, kith__padded(width) * sizeof *v);
    for (size_t k = 0; k < h; k++) {
        float x1 = known[k], x2 = known[h + k], q1 = q[k], q2 = q[h + k];
        v[k] = subject_hidden ? x1 * q1 + x2 * q2 : x1 * q1 - x2 * q2;
        v[h + k] = subject_hidden ? x2 * q1 - x1 * q2 : x2 * q1 + x1 * q2;
    }
}

const kith__decoder kith__complex = {"complex",        2, score, backward, query_vector,
                                     .distance = false};
