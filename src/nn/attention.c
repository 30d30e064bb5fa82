/* Attention logits and softmax, forward and back. */
#include "nn/kernels.h"

#include <string.h>

#include "nn/lanes.h"

/* ---- logits ---- */

CLONES float kith__logit(const float *restrict z, const float *restrict p, const float *restrict u,
                         size_t width)
{
    _Alignas(32) float acc[KITH__LANES] = {0};
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            acc[k] += u[j + k] * tanh_one(z[j + k] + p[j + k]);
    return sum_eight(at(acc));
}

CLONES void kith__logit_backward(float *restrict gz, float *restrict gp, float *restrict gu,
                                 float g, const float *restrict z, const float *restrict p,
                                 const float *restrict u, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++) {
            float t = tanh_one(z[j + k] + p[j + k]);
            float v = g * (1 - t * t);
            gz[j + k] += v;
            gp[j + k] += u[j + k] * v;
            gu[j + k] += g * t;
        }
}

/* ---- logits of a pair for all its queries ---- */

INLINE void power_minus_at(float *restrict y, const float *a, float c, const float *b, int n)
{
    lanes x[ABREAST], to[ABREAST];
    EACH(k, n) x[k] = at(a + k * WIDE) - c * at(b + k * WIDE);
    power(to, x, n);
    EACH(k, n) * (lanes *)(y + k * WIDE) = to[k];
}

/* y = 2^(a - c b). Two columns at a time leave enough registers for all operands. */
INLINE void power_minus(float *restrict y, const float *restrict a, float c,
                        const float *restrict b, size_t width)
{
    size_t j = 0;
    for (; j + 2 * WIDE <= width; j += 2 * WIDE)
        power_minus_at(y + j, a + j, c, b + j, 2);
    for (; j < width; j += WIDE)
        power_minus_at(y + j, a + j, c, b + j, 1);
}

/* The sum of u / (ez ep + 1). Divisions cost most, so two columns share one: u / a + v / b is (u b
 * + v a) / (a b). */
INLINE float reciprocal_sum(const float *restrict ez, const float *restrict ep,
                            const float *restrict u, size_t width)
{
    lanes s0 = {0}, s1 = {0};
    size_t j = 0;
    for (; j + 4 * WIDE <= width; j += 4 * WIDE) {
        lanes a = 1 + at(ez + j) * at(ep + j);
        lanes b = 1 + at(ez + j + WIDE) * at(ep + j + WIDE);
        lanes c = 1 + at(ez + j + 2 * WIDE) * at(ep + j + 2 * WIDE);
        lanes d = 1 + at(ez + j + 3 * WIDE) * at(ep + j + 3 * WIDE);
        s0 += (at(u + j) * b + at(u + j + WIDE) * a) / (a * b);
        s1 += (at(u + j + 2 * WIDE) * d + at(u + j + 3 * WIDE) * c) / (c * d);
    }
    for (; j < width; j += WIDE)
        s0 += at(u + j) / (1 + at(ez + j) * at(ep + j));
    return sum_eight(s0 + s1);
}

CLONES void kith__pair_logits(float *restrict logit, const kith__meeting *met, size_t count,
                              const float *restrict a, float c, const float *restrict b,
                              const float *restrict u, float u_sum, float *restrict scratch,
                              size_t width)
{
    power_minus(scratch, a, c, b, width);
    for (size_t m = 0; m < count; m++)
        logit[m] = u_sum - 2 * reciprocal_sum(met[m].ez, scratch, u, width);
}

/* r = 1 / (ez ep + 1); two columns share a division here too. */
INLINE void reciprocals(lanes *restrict r, const float *ez, const float *ep, int n)
{
    lanes d[ABREAST], both[ABREAST];
    EACH(k, n) d[k] = 1 + at(ez + k * WIDE) * at(ep + k * WIDE);
    if (n == 1) {
        r[0] = 1 / d[0];
        return;
    }
    EACH(k, n / 2) both[k] = 1 / (d[2 * k] * d[2 * k + 1]);
    EACH(k, n) r[k] = both[k / 2] * d[k ^ 1];
}

/* With t = 1 - 2 r, 1 - t^2 = 4 r (1 - r): for some columns v is summed over the queries, then gp =
 * u v, ga += gp, gb -= c gp, gu += g t; adds to gp . b. */
INLINE void backward_columns(float *restrict ga, float *restrict gb, float *restrict gu,
                             lanes *restrict gc, const kith__meeting *met, size_t count,
                             float g_sum, const float *ep, float c, const float *b, const float *u,
                             size_t j, int n)
{
    lanes v[ABREAST], w[ABREAST];
    EACH(k, n) v[k] = w[k] = (lanes){0};
    for (size_t m = 0; m < count; m++) {
        lanes r[ABREAST], gr[ABREAST], one[ABREAST];
        float *gz = met[m].gz + j;
        reciprocals(r, met[m].ez + j, ep + j, n);
        EACH(k, n) gr[k] = 4 * met[m].g * r[k];
        EACH(k, n) one[k] = gr[k] - gr[k] * r[k];
        EACH(k, n) * (lanes *)(gz + k * WIDE) += one[k];
        EACH(k, n) v[k] += one[k], w[k] += gr[k];
    }
    EACH(k, n) v[k] *= at(u + j + k * WIDE);
    EACH(k, n) * (lanes *)(ga + j + k * WIDE) += v[k];
    EACH(k, n) * (lanes *)(gb + j + k * WIDE) -= c * v[k];
    EACH(k, n) * (lanes *)(gu + j + k * WIDE) += g_sum - .5f * w[k];
    EACH(k, n) *gc += v[k] * at(b + j + k * WIDE);
}

INLINE float backward(float *restrict ga, float *restrict gb, float *restrict gu,
                      const kith__meeting *met, size_t count, const float *restrict ep, float c,
                      const float *restrict b, const float *restrict u, size_t width)
{
    lanes gc = {0};
    float g_sum = 0;
    size_t j = 0;
    for (size_t m = 0; m < count; m++)
        g_sum += met[m].g;
    for (; j + ABREAST * WIDE <= width; j += ABREAST * WIDE)
        backward_columns(ga, gb, gu, &gc, met, count, g_sum, ep, c, b, u, j, ABREAST);
    for (; j < width; j += WIDE)
        backward_columns(ga, gb, gu, &gc, met, count, g_sum, ep, c, b, u, j, 1);
    return sum_eight(gc);
}

CLONES float kith__pair_backward(float *restrict ga, float *restrict gb, float *restrict gu,
                                 const kith__meeting *met, size_t count, const float *restrict a,
                                 float c, const float *restrict b, const float *restrict u,
                                 float *restrict scratch, size_t width)
{
    power_minus(scratch, a, c, b, width);
    if (count == 1)
        return backward(ga, gb, gu, met, 1, scratch, c, b, u, width);
    if (count == 2)
        return backward(ga, gb, gu, met, 2, scratch, c, b, u, width);
    return backward(ga, gb, gu, met, count, scratch, c, b, u, width);
}

/* ---- softmax ---- */

INLINE lanes larger(lanes a, lanes b)
{
    for (int k = 0; k < WIDE; k++)
        a[k] = a[k] > b[k] ? a[k] : b[k];
    return a;
}

static const lanes least_power = {-120, -120, -120, -120, -120, -120, -120, -120};

CLONES float kith__softmax_row(float *restrict x, size_t count)
{
    float most = count ? x[0] : 0, sum = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        most = x[i] > most ? x[i] : most;
        all += x[i];
    }
    for (size_t i = 0; i < count; i += WIDE) {
        size_t size = (count - i < WIDE ? count - i : WIDE) * sizeof *x;
        lanes from[1] = {{0}}, to[1];
        memcpy(from, x + i, size);
        from[0] = larger((from[0] - most) * 1.442695041f, least_power);
        power(to, from, 1);
        memcpy(x + i, to, size);
    }
    for (size_t i = 0; i < count; i++)
        sum += x[i];
    sum = 1 / sum;
    for (size_t i = 0; i < count; i++)
        x[i] *= sum;
    return all;
}

CLONES void kith__softmax_lanes(float *restrict x, float *restrict total, size_t count)
{
    lanes most = at(x), sum = {0}, all = {0};
    for (size_t i = 0; i < count; i++) {
        most = larger(most, at(x + i * WIDE));
        all += at(x + i * WIDE);
    }
    for (size_t i = 0; i < count; i++) {
        lanes from[1] = {larger((at(x + i * WIDE) - most) * 1.442695041f, least_power)}, to[1];
        power(to, from, 1);
        *(lanes *)(x + i * WIDE) = to[0];
        sum += to[0];
    }
    sum = 1 / sum;
    for (size_t i = 0; i < count; i++)
        *(lanes *)(x + i * WIDE) *= sum;
    *(lanes *)total = all;
}
