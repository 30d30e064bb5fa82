/* Compiled with its own flags (see meson.build): no errno, no traps, no NaN or signed zero to respect,
 * which is what lets clamps become min and max. Callers look for NaN in what comes out. */
#include "nn/kernels.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "nn/lanes.h"

INLINE float sum_eight(lanes a)
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

/* Four sums, so that one addition need not wait for the one before. */
CLONES float kith__dot(const float *restrict a, const float *restrict b, size_t width)
{
    lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    size_t j = 0;
    for (; j + 4 * WIDE <= width; j += 4 * WIDE) {
        s0 += at(a + j) * at(b + j);
        s1 += at(a + j + WIDE) * at(b + j + WIDE);
        s2 += at(a + j + 2 * WIDE) * at(b + j + 2 * WIDE);
        s3 += at(a + j + 3 * WIDE) * at(b + j + 3 * WIDE);
    }
    for (; j < width; j += WIDE)
        s0 += at(a + j) * at(b + j);
    return sum_eight((s0 + s1) + (s2 + s3));
}

CLONES void kith__axpy(float *restrict y, float a, const float *restrict x, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] += a * x[j + k];
}

CLONES void kith__scale(float *restrict y, float a, const float *restrict x, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] = a * x[j + k];
}

CLONES void kith__axpy2(float *restrict y, float a, const float *restrict x, float b,
                        const float *restrict z, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] += a * x[j + k] + b * z[j + k];
}

INLINE lanes distance(const float *a, const float *b)
{
    return (lanes)((bits)(at(a) - at(b)) & 0x7fffffffu);
}

CLONES float kith__l1(const float *restrict a, const float *restrict b, size_t width)
{
    lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    size_t j = 0;
    for (; j + 4 * WIDE <= width; j += 4 * WIDE) {
        s0 += distance(a + j, b + j);
        s1 += distance(a + j + WIDE, b + j + WIDE);
        s2 += distance(a + j + 2 * WIDE, b + j + 2 * WIDE);
        s3 += distance(a + j + 3 * WIDE, b + j + 3 * WIDE);
    }
    for (; j < width; j += WIDE)
        s0 += distance(a + j, b + j);
    return sum_eight((s0 + s1) + (s2 + s3));
}

/* Four rows b at a time share the loads of a. */
INLINE void l1_four(float *restrict sum, size_t step, const float *restrict a,
                    const float *restrict b, size_t width, int rows)
{
    lanes s[4] = {{0}, {0}, {0}, {0}};
    for (size_t j = 0; j < width; j += WIDE)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
            s[r] += distance(a + j, b + r * width + j);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
        sum[r * step] = sum_eight(s[r]);
}

CLONES void kith__l1_rows(float *restrict sum, size_t step, const float *restrict a,
                          const float *restrict b, size_t count, size_t width)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        l1_four(sum + i * step, step, a, b + i * width, width, 4);
    for (; i < count; i++)
        l1_four(sum + i * step, step, a, b + i * width, width, 1);
}

CLONES float kith__l1_of_sum(const float *restrict a, const float *restrict b,
                             const float *restrict c, size_t width)
{
    lanes sum = {0};
    for (size_t j = 0; j < width; j += WIDE)
        sum += (lanes)((bits)(at(a + j) + at(b + j) - at(c + j)) & 0x7fffffffu);
    return sum_eight(sum);
}

CLONES void kith__l1_of_sum_backward(float *restrict ga, float *restrict gb, float *restrict gc,
                                     float g, const float *restrict a, const float *restrict b,
                                     const float *restrict c, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        float x = a[j] + b[j] - c[j], v = x < 0 ? g : -g;
        v = x == 0 ? 0 : v;
        ga[j] += v;
        gb[j] += v;
        gc[j] -= v;
    }
}

CLONES void kith__tanh(float *y, const float *x, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES) {
        lanes to;
        for (int k = 0; k < KITH__LANES; k++)
            to[k] = tanh_one(x[j + k]);
        *(lanes *)(y + j) = to;
    }
}

CLONES void kith__minus(float *restrict y, const float *restrict a, float c,
                        const float *restrict b, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++)
            y[j + k] = a[j + k] - c * b[j + k];
}

/* Long chains of operations go through the processor four columns abreast: one column alone would
 * fill its queues with operations that wait for the one before. */
enum { ABREAST = 4 };
#define EACH(k, n) _Pragma("GCC unroll 4") for (int k = 0; k < (n); k++)

/* 2^x = 2^n 2^f: n is what adding 1.5 2^23 rounds x to, f is left for a polynomial, and n is added
 * to the exponent of what that gives. A NaN stays one. */
INLINE void power(lanes *restrict y, lanes *restrict x, int n)
{
    const float magic = 12582912;
    lanes sum[ABREAST], p[ABREAST];
    EACH(k, n) sum[k] = x[k] + magic;
    EACH(k, n) x[k] = x[k] - (sum[k] - magic);
    EACH(k, n) p[k] = 1.327647154e-03f * x[k] + 9.675541371e-03f;
    EACH(k, n) p[k] = p[k] * x[k] + 5.550713276e-02f;
    EACH(k, n) p[k] = p[k] * x[k] + 2.402211972e-01f;
    EACH(k, n) p[k] = p[k] * x[k] + 6.931469671e-01f;
    EACH(k, n) p[k] = p[k] * x[k] + 1.000000072e+00f;
    EACH(k, n) y[k] = (lanes)((bits)p[k] + ((bits)sum[k] << 23));
}

INLINE void power_at(float *restrict y, const float *restrict x, int n)
{
    lanes from[ABREAST], to[ABREAST];
    EACH(k, n) from[k] = at(x + k * WIDE);
    power(to, from, n);
    EACH(k, n) *(lanes *)(y + k * WIDE) = to[k];
}

CLONES void kith__power(float *restrict y, const float *restrict x, size_t width)
{
    size_t j = 0;
    for (; j + ABREAST * WIDE <= width; j += ABREAST * WIDE)
        power_at(y + j, x + j, ABREAST);
    for (; j < width; j += WIDE)
        power_at(y + j, x + j, 1);
}

CLONES float kith__largest(const float *restrict x, size_t width)
{
    float most[WIDE] = {0}, all = 0;
    for (size_t j = 0; j < width; j += WIDE)
        for (int k = 0; k < WIDE; k++)
            most[k] = fabsf(x[j + k]) > most[k] ? fabsf(x[j + k]) : most[k];
    for (int k = 0; k < WIDE; k++)
        all = most[k] > all ? most[k] : all;
    return all;
}

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

/* ---- pairs ---- */

INLINE void power_minus_at(float *restrict y, const float *a, float c, const float *b, int n)
{
    lanes x[ABREAST], to[ABREAST];
    EACH(k, n) x[k] = at(a + k * WIDE) - c * at(b + k * WIDE);
    power(to, x, n);
    EACH(k, n) *(lanes *)(y + k * WIDE) = to[k];
}

/* y = 2^(a - c b). Two columns abreast leave room in the registers for all that they take. */
INLINE void power_minus(float *restrict y, const float *restrict a, float c,
                        const float *restrict b, size_t width)
{
    size_t j = 0;
    for (; j + 2 * WIDE <= width; j += 2 * WIDE)
        power_minus_at(y + j, a + j, c, b + j, 2);
    for (; j < width; j += WIDE)
        power_minus_at(y + j, a + j, c, b + j, 1);
}

/* The sum of u / (ez ep + 1). Divisions are the dearest part, so two columns share one: u / a + v / b
 * is (u b + v a) / (a b). */
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
                              const float *restrict u, float u_sum, float *restrict room,
                              size_t width)
{
    power_minus(room, a, c, b, width);
    for (size_t m = 0; m < count; m++)
        logit[m] = u_sum - 2 * reciprocal_sum(met[m].ez, room, u, width);
}

/* r = 1 / (ez ep + 1); here too two columns share a division. */
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

/* With t = 1 - 2 r, 1 - t^2 = 4 r (1 - r): for some columns v is summed over the meetings, then
 * gp = u v, ga += gp, gb -= c gp, gu += g t; adds to gp . b. */
INLINE void backward_columns(float *restrict ga, float *restrict gb, float *restrict gu,
                             lanes *restrict gc, const kith__meeting *met, size_t count,
                             float g_sum, const float *ep, float c, const float *b,
                             const float *u, size_t j, int n)
{
    lanes v[ABREAST], w[ABREAST];
    EACH(k, n) v[k] = w[k] = (lanes){0};
    for (size_t m = 0; m < count; m++) {
        lanes r[ABREAST], gr[ABREAST], one[ABREAST];
        float *gz = met[m].gz + j;
        reciprocals(r, met[m].ez + j, ep + j, n);
        EACH(k, n) gr[k] = 4 * met[m].g * r[k];
        EACH(k, n) one[k] = gr[k] - gr[k] * r[k];
        EACH(k, n) *(lanes *)(gz + k * WIDE) += one[k];
        EACH(k, n) v[k] += one[k], w[k] += gr[k];
    }
    EACH(k, n) v[k] *= at(u + j + k * WIDE);
    EACH(k, n) *(lanes *)(ga + j + k * WIDE) += v[k];
    EACH(k, n) *(lanes *)(gb + j + k * WIDE) -= c * v[k];
    EACH(k, n) *(lanes *)(gu + j + k * WIDE) += g_sum - .5f * w[k];
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
                                 float *restrict room, size_t width)
{
    power_minus(room, a, c, b, width);
    if (count == 1)
        return backward(ga, gb, gu, met, 1, room, c, b, u, width);
    if (count == 2)
        return backward(ga, gb, gu, met, 2, room, c, b, u, width);
    return backward(ga, gb, gu, met, count, room, c, b, u, width);
}

/* ---- rows ---- */

/* `n` registers hold that many columns of the sum while the rows go by; the first block also asks
 * for the rows a few further on, which are all over the table. */
INLINE void gather_block(float *restrict out, const float *restrict a, const float *restrict rows,
                         const uint32_t *restrict ids, size_t step, size_t count, size_t width,
                         size_t j, int n)
{
    enum { AHEAD = 6 };
    lanes sum[WIDE];
#pragma GCC unroll 8
    for (int k = 0; k < n; k++)
        sum[k] = *(const lanes *)(out + j + k * WIDE);
    for (size_t i = 0; i < count; i++) {
        const float *row = rows + ids[i * step] * width + j;
        if (j == 0 && i + AHEAD < count) {
            const float *next = rows + ids[(i + AHEAD) * step] * width;
            for (size_t line = 0; line < width; line += 16)
                __builtin_prefetch(next + line);
        }
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            sum[k] += a[i] * *(const lanes *)(row + k * WIDE);
    }
#pragma GCC unroll 8
    for (int k = 0; k < n; k++)
        *(lanes *)(out + j + k * WIDE) = sum[k];
}

CLONES void kith__gather_sum(float *restrict out, const float *restrict a,
                             const float *restrict rows, const uint32_t *restrict ids, size_t step,
                             size_t count, size_t width)
{
    size_t j = 0;
    for (; j + 8 * WIDE <= width; j += 8 * WIDE)
        gather_block(out, a, rows, ids, step, count, width, j, 8);
    switch ((width - j) / WIDE) {
    case 1: gather_block(out, a, rows, ids, step, count, width, j, 1); break;
    case 2: gather_block(out, a, rows, ids, step, count, width, j, 2); break;
    case 3: gather_block(out, a, rows, ids, step, count, width, j, 3); break;
    case 4: gather_block(out, a, rows, ids, step, count, width, j, 4); break;
    case 5: gather_block(out, a, rows, ids, step, count, width, j, 5); break;
    case 6: gather_block(out, a, rows, ids, step, count, width, j, 6); break;
    case 7: gather_block(out, a, rows, ids, step, count, width, j, 7); break;
    }
}

/* `n` rows share what is read of g. */
INLINE void dots_block(float *restrict out, const float *restrict g, const float *const *rows,
                       size_t width, int n)
{
    lanes even[4], odd[4];
    EACH(k, n) even[k] = odd[k] = (lanes){0};
    size_t j = 0;
    for (; j + 2 * WIDE <= width; j += 2 * WIDE) {
        EACH(k, n) even[k] += at(g + j) * at(rows[k] + j);
        EACH(k, n) odd[k] += at(g + j + WIDE) * at(rows[k] + j + WIDE);
    }
    if (j < width)
        EACH(k, n) even[k] += at(g + j) * at(rows[k] + j);
    EACH(k, n) out[k] = sum_eight(even[k] + odd[k]);
}

CLONES void kith__gather_dots(float *restrict out, const float *restrict g,
                              const float *restrict rows, const uint32_t *restrict ids, size_t step,
                              size_t count, size_t width)
{
    enum { AHEAD = 8 };
    const float *at_once[4];
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (size_t k = i + AHEAD; k < i + AHEAD + 4 && k < count; k++)
            for (size_t line = 0; line < width; line += 16)
                __builtin_prefetch(rows + ids[k * step] * width + line);
        EACH(k, 4) at_once[k] = rows + ids[(i + (size_t)k) * step] * width;
        dots_block(out + i, g, at_once, width, 4);
    }
    for (; i < count; i++) {
        at_once[0] = rows + ids[i * step] * width;
        dots_block(out + i, g, at_once, width, 1);
    }
}

/* Some sums by some columns stay in registers while the rows go by. */
INLINE void gather_lanes(float *const *out, const float *restrict a, const float *restrict rows,
                         const uint32_t *restrict ids, size_t step, size_t count, size_t width,
                         size_t j, int sums, int columns, bool first)
{
    enum { AHEAD = 6 };
    lanes sum[4][3];
    for (int q = 0; q < sums; q++)
        for (int k = 0; k < columns; k++)
            sum[q][k] = at(out[q] + j + k * WIDE);
    for (size_t i = 0; i < count; i++) {
        const float *row = rows + ids[i * step] * width + j;
        if (first && j == 0 && i + AHEAD < count)
            for (size_t line = 0; line < width; line += 16)
                __builtin_prefetch(rows + ids[(i + AHEAD) * step] * width + line);
#pragma GCC unroll 4
        for (int q = 0; q < sums; q++)
#pragma GCC unroll 3
            for (int k = 0; k < columns; k++)
                sum[q][k] += a[i * WIDE + q] * at(row + k * WIDE);
    }
    for (int q = 0; q < sums; q++)
        for (int k = 0; k < columns; k++)
            *(lanes *)(out[q] + j + k * WIDE) = sum[q][k];
}

INLINE void gather_columns(float *const *out, const float *restrict a, const float *restrict rows,
                           const uint32_t *restrict ids, size_t step, size_t count, size_t width,
                           int sums, bool first)
{
    size_t j = 0;
    for (; j + 3 * WIDE <= width; j += 3 * WIDE)
        gather_lanes(out, a, rows, ids, step, count, width, j, sums, 3, first);
    for (; j < width; j += WIDE)
        gather_lanes(out, a, rows, ids, step, count, width, j, sums, 1, first);
}

CLONES void kith__gather_sums(float *const *out, size_t lane_count, const float *restrict a,
                              const float *restrict rows, const uint32_t *restrict ids, size_t step,
                              size_t count, size_t width)
{
    size_t q = 0;
    for (; q + 4 <= lane_count; q += 4)
        gather_columns(out + q, a + q, rows, ids, step, count, width, 4, q == 0);
    for (; q < lane_count; q++)
        gather_columns(out + q, a + q, rows, ids, step, count, width, 1, q == 0);
}

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

CLONES void kith__transform_backward(float *restrict ge, float *restrict gw,
                                     const float *restrict a, const float *restrict rows,
                                     const uint32_t *restrict ids, size_t count,
                                     const float *restrict e, const float *restrict w, float c,
                                     float gc, float *restrict room, size_t width)
{
    lanes dot = {0};
    for (size_t j = 0; j < width; j += WIDE) {
        lanes sum = a[0] * at(rows + ids[0] * width + j);
        for (size_t i = 1; i < count; i++)
            sum += a[i] * at(rows + ids[i] * width + j);
        *(lanes *)(room + j) = sum;
        dot += sum * at(w + j);
    }
    float k = gc - sum_eight(dot);
    for (size_t j = 0; j < width; j += WIDE) {
        *(lanes *)(ge + j) += at(room + j) + k * at(w + j);
        *(lanes *)(gw + j) += k * at(e + j) - c * at(room + j);
    }
}

/* Six rows by sixteen columns stay in registers while the inner index runs. */
enum { ROWS = 6 };

INLINE void block_times(float *restrict out, const float *const *rows, int count,
                        const float *restrict matrix, size_t inner, size_t width, int columns,
                        int add)
{
    lanes sum[ROWS][2];
    for (int r = 0; r < count; r++)
        for (int n = 0; n < columns; n++)
            sum[r][n] = add ? at(out + r * width + n * WIDE) : (lanes){0};
    for (size_t k = 0; k < inner; k++) {
        lanes b0 = at(matrix + k * width), b1 = columns > 1 ? at(matrix + k * width + WIDE) : b0;
#pragma GCC unroll 6
        for (int r = 0; r < count; r++) {
            sum[r][0] += b0 * rows[r][k];
            if (columns > 1)
                sum[r][1] += b1 * rows[r][k];
        }
    }
    for (int r = 0; r < count; r++)
        for (int n = 0; n < columns; n++)
            *(lanes *)(out + r * width + n * WIDE) = sum[r][n];
}

/* Some columns of the matrix stay in the nearest cache while all rows go by. */
INLINE void columns_times(float *restrict out, const float *const *rows, size_t count,
                          const float *restrict matrix, size_t inner, size_t width, int columns,
                          int add)
{
    size_t i = 0;
    for (; i + ROWS <= count; i += ROWS)
        block_times(out + i * width, rows + i, ROWS, matrix, inner, width, columns, add);
    if (i + 3 <= count) {
        block_times(out + i * width, rows + i, 3, matrix, inner, width, columns, add);
        i += 3;
    }
    for (; i < count; i++)
        block_times(out + i * width, rows + i, 1, matrix, inner, width, columns, add);
}

CLONES void kith__rows_times(float *restrict out, const float *const *rows, size_t count,
                             const float *restrict matrix, size_t inner, size_t width, int add)
{
    size_t j = 0;
    for (; j + 2 * WIDE <= width; j += 2 * WIDE)
        columns_times(out + j, rows, count, matrix + j, inner, width, 2, add);
    if (j < width)
        columns_times(out + j, rows, count, matrix + j, inner, width, 1, add);
}

INLINE void block_outer(float *restrict matrix, const float *restrict left, size_t stride,
                        const float *const *right, size_t count, size_t width, size_t j, int height,
                        int columns)
{
    lanes sum[ROWS][2];
    for (int r = 0; r < height; r++)
        sum[r][0] = sum[r][1] = (lanes){0};
    for (size_t i = 0; i < count; i++) {
        lanes b0 = at(right[i] + j), b1 = columns > 1 ? at(right[i] + j + WIDE) : b0;
#pragma GCC unroll 6
        for (int r = 0; r < height; r++) {
            sum[r][0] += b0 * left[i * stride + r];
            if (columns > 1)
                sum[r][1] += b1 * left[i * stride + r];
        }
    }
    for (int r = 0; r < height; r++)
        for (int n = 0; n < columns; n++)
            *(lanes *)(matrix + r * width + j + n * WIDE) += sum[r][n];
}

INLINE void outer_rows(float *restrict matrix, const float *restrict left, size_t stride,
                       const float *const *right, size_t count, size_t width, int height)
{
    size_t j = 0;
    for (; j + 2 * WIDE <= width; j += 2 * WIDE)
        block_outer(matrix, left, stride, right, count, width, j, height, 2);
    if (j < width)
        block_outer(matrix, left, stride, right, count, width, j, height, 1);
}

/* Rows are taken a few hundred at a time, so that they are still in the cache for the next block of
 * the result. */
CLONES void kith__outer_sum(float *restrict matrix, const float *restrict left,
                            const float *const *right, size_t count, size_t height, size_t width)
{
    enum { CHUNK = 128 };
    for (size_t from = 0; from < count; from += CHUNK) {
        size_t size = count - from < CHUNK ? count - from : CHUNK, h = 0;
        const float *l = left + from * height;
        for (; h + ROWS <= height; h += ROWS)
            outer_rows(matrix + h * width, l + h, height, right + from, size, width, ROWS);
        for (; h + 2 <= height; h += 2)
            outer_rows(matrix + h * width, l + h, height, right + from, size, width, 2);
        if (h < height)
            outer_rows(matrix + h * width, l + h, height, right + from, size, width, 1);
    }
}

INLINE void adam_lanes(float *restrict value, float *restrict m, float *restrict v,
                       const float *restrict gradient, const kith__adam_rates r, size_t width)
{
    for (size_t j = 0; j < width; j += KITH__LANES)
        for (int k = 0; k < KITH__LANES; k++) {
            float g = gradient ? gradient[j + k] : 0;
            float mean = r.beta1 * m[j + k] + (1 - r.beta1) * g;
            float square = r.beta2 * v[j + k] + (1 - r.beta2) * g * g;
            m[j + k] = mean;
            v[j + k] = square;
            value[j + k] -= r.step * mean / (sqrtf(square * r.v_scale) + r.epsilon);
        }
}

CLONES void kith__adam_row(float *restrict value, float *restrict m, float *restrict v,
                           const float *restrict gradient, const kith__adam_rates *rates,
                           size_t width)
{
    if (gradient)
        adam_lanes(value, m, v, gradient, *rates, width);
    else
        adam_lanes(value, m, v, NULL, *rates, width);
}

/* Up to the diagonal and the rest of its block; four rows at a time, so that sums are fetched less. */
INLINE void add_rows(double *restrict square, const double *restrict a, const double *restrict x,
                     size_t n, int rows)
{
    for (size_t i = 0; i < n; i++) {
        double *to = square + i * n, by[4];
        size_t end = (i / KITH__LANES + 1) * KITH__LANES;
        for (int r = 0; r < rows; r++)
            by[r] = a[r] * x[(size_t)r * n + i];
        for (size_t j = 0; j < end; j++) {
            double sum = to[j];
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
                sum += by[r] * x[(size_t)r * n + j];
            to[j] = sum;
        }
    }
}

CLONES void kith__add_squares(double *restrict square, const double *restrict a,
                              const double *restrict x, size_t count, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        add_rows(square, a + i, x + i * n, n, 4);
    for (; i < count; i++)
        add_rows(square, a + i, x + i * n, n, 1);
}
