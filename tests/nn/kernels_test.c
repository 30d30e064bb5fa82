/* Every kernel against a plain loop in double precision, on random shapes. */
#include <float.h>
#include <math.h>

#include "core/mem.h"
#include "nn/kernels.h"
#include "nn/log_sum.h"
#include "nn/lstm.h"
#include "nn/match.h"
#include "nn/topk.h"
#include "support.h"

enum { ROUNDS = 60 };

static const double unit = FLT_EPSILON;
static kith__rng rng;

/* ---- shapes and values ---- */

static size_t between(size_t low, size_t high)
{
    return low + (size_t)kith__rng_below(&rng, high - low + 1);
}

/* Widths of 1..300, with those around whole vectors more often. */
static size_t some_width(void)
{
    size_t proximity = 8 * between(0, 36);
    return kith__rng_below(&rng, 2) ? between(1, 300) : proximity + between(1, 3);
}

static float some_value(double scale)
{
    return (float)(scale * (2 * kith__rng_unit(&rng) - 1));
}

/* `rows` rows of `width` values, each filled up with zeros to `stride`. */
static float *some_rows(size_t rows, size_t width, size_t stride, double scale)
{
    float *at = kith__calloc_aligned(rows * stride + 1, sizeof *at);

    assert_non_null(at);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < width; k++)
            at[r * stride + k] = some_value(scale);
    return at;
}

static float *some_row(size_t width, double scale)
{
    return some_rows(1, width, kith__padded(width), scale);
}

static float *copy_of(const float *from, size_t count)
{
    float *at = kith__calloc_aligned(count + 1, sizeof *at);

    assert_non_null(at);
    memcpy(at, from, count * sizeof *at);
    return at;
}

/* ---- comparing ---- */

static void check_near(double found, double expected, double error, const char *what, size_t k)
{
    if (!(fabs(found - expected) <= error))
        fail_msg("%s[%zu]: found %.9g, expected %.9g within %.3g", what, k, found, expected, error);
}

static void check_padding(const float *at, size_t width, const char *what)
{
    for (size_t k = width; k < kith__padded(width); k++)
        if (at[k] != 0)
            fail_msg("%s[%zu]: found %g behind a width of %zu, expected 0", what, k, (double)at[k],
                     width);
}

/* ---- sums ---- */

static void dot__equals_the_plain_sum(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width();
        float *a = some_row(n, 2), *b = some_row(n, 2);
        double sum = 0, size = 0;
        for (size_t k = 0; k < n; k++) {
            sum += (double)a[k] * b[k];
            size += fabs((double)a[k] * b[k]);
        }
        check_near(kith__dot(a, b, kith__padded(n)), sum, 40 * unit * size, "dot", n);
        kith__free(a);
        kith__free(b);
    }
    assert_true(kith__dot(NULL, NULL, 0) == 0);
}

static void l1__equals_the_plain_sum(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width();
        float *a = some_row(n, 2), *b = some_row(n, 2);
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += fabs((double)a[k] - b[k]);
        check_near(kith__l1(a, b, kith__padded(n)), sum, 40 * unit * sum, "l1", n);
        assert_true(kith__l1(a, a, kith__padded(n)) == 0);
        kith__free(a);
        kith__free(b);
    }
}

static void l1_rows__equal_l1_of_each(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width(), ns = kith__padded(n), count = between(0, 20), step = between(1, 3);
        float *a = some_row(n, 2), *b = some_rows(count, n, ns, 2), sum[60];
        kith__l1_rows(sum, step, a, b, count, ns);
        for (size_t k = 0; k < count; k++) {
            double one = kith__l1(a, b + k * ns, ns);
            check_near(sum[k * step], one, 40 * unit * one, "l1_rows", k);
        }
        kith__free(a);
        kith__free(b);
    }
}

/* ---- one value at a time ---- */

static void axpy__scale_and_minus_equal_the_plain_loops(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width(), ns = kith__padded(n);
        float *x = some_row(n, 2), *z = some_row(n, 2), *y = some_row(n, 2), *y2 = copy_of(y, ns);
        float *before = copy_of(y, ns), *difference = some_row(n, 2);
        float *scaled = some_row(n, 2);
        float a = some_value(3), b = some_value(3);
        kith__axpy(y, a, x, ns);
        kith__axpy2(y2, a, x, b, z, ns);
        kith__minus(difference, x, a, z, ns);
        kith__scale(scaled, a, x, ns);
        for (size_t k = 0; k < n; k++) {
            double ax = (double)a * x[k], bz = (double)b * z[k], az = (double)a * z[k];
            check_near(y[k], before[k] + ax, 2 * unit * (fabs(ax) + 2), "axpy", k);
            check_near(y2[k], before[k] + ax + bz, 3 * unit * (fabs(ax) + fabs(bz) + 2), "axpy2",
                       k);
            check_near(scaled[k], ax, unit * fabs(ax), "scale", k);
            check_near(difference[k], x[k] - az, 2 * unit * (fabs(az) + 2), "minus", k);
        }
        check_padding(y, n, "axpy");
        check_padding(y2, n, "axpy2");
        check_padding(difference, n, "minus");
        float *all[] = {x, z, y, y2, before, difference, scaled};
        for (int k = 0; k < 7; k++)
            kith__free(all[k]);
    }
}

static void tanh__is_within_the_stated_error(void **state)
{
    enum { N = 16 * 4096 };
    float *x = kith__calloc_aligned(N, sizeof *x), *y = kith__calloc_aligned(N, sizeof *y);

    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (float)(-20 + 40. * i / (N - 1));
    kith__tanh(y, x, N);
    for (size_t i = 0; i < N; i++)
        check_near(y[i], tanh(x[i]), KITH__TANH_ERROR, "tanh", i);
    for (int i = 0; i < N; i++) /* small ones, where tanh is almost x itself */
        x[i] = some_value(pow(10, -(double)(i % 12)));
    kith__tanh(y, x, N);
    for (size_t i = 0; i < N; i++)
        check_near(y[i], tanh(x[i]), KITH__TANH_ERROR * fmin(1, fabs((double)x[i])) + 1e-30, "tanh",
                   i);
    kith__free(x);
    kith__free(y);
}

static void tanh__of_huge_values_is_one_and_of_padding_zero(void **state)
{
    const float huge[] = {100, 1e10f, 1e30f, FLT_MAX, FLT_MIN, 1e-40f, 0};
    size_t count = sizeof huge / sizeof *huge;
    float *x = some_row(2 * count, 1), *y = some_row(2 * count, 1);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        x[i] = huge[i];
        x[count + i] = -huge[i];
    }
    kith__tanh(y, x, kith__padded(2 * count));
    for (size_t i = 0; i < 2 * count; i++)
        check_near(y[i], tanh(x[i]), KITH__TANH_ERROR, "tanh", i);
    check_padding(y, 2 * count, "tanh");
    kith__free(x);
    kith__free(y);
}

static void power__is_within_the_stated_error(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width(), ns = kith__padded(n);
        float *x = some_row(n, i % 2 ? 120 : 3), *y = some_row(n, 1), largest = 0;
        kith__power(y, x, ns);
        for (size_t k = 0; k < n; k++) {
            largest = fmaxf(largest, fabsf(x[k]));
            check_near(y[k] / exp2(x[k]), 1, KITH__POWER_ERROR, "power", k);
        }
        assert_true(kith__largest(x, ns) == largest);
        kith__free(x);
        kith__free(y);
    }
}

static void l1_of_sum__and_its_gradient_equal_the_plain_loops(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width(), ns = kith__padded(n);
        float *row[6], *before[6], g = some_value(2);
        double sum = 0, size = 0;
        for (int k = 0; k < 6; k++) {
            row[k] = some_row(n, 2);
            before[k] = copy_of(row[k], ns);
        }
        row[2][0] = row[0][0] + row[1][0]; /* a difference of 0, which has no gradient */
        for (size_t k = 0; k < n; k++) {
            sum += fabs((double)(row[0][k] + row[1][k] - row[2][k]));
            size += fabs((double)row[0][k]) + fabs((double)row[1][k]) + fabs((double)row[2][k]);
        }
        check_near(kith__l1_of_sum(row[0], row[1], row[2], ns), sum, 40 * unit * size, "l1", n);
        kith__l1_of_sum_backward(row[3], row[4], row[5], g, row[0], row[1], row[2], ns);
        for (size_t k = 0; k < n; k++) {
            float x = row[0][k] + row[1][k] - row[2][k], v = g * (float)((x < 0) - (x > 0));
            for (int to = 3; to < 6; to++)
                check_near(row[to][k], before[to][k] + (to < 5 ? v : -v), 4 * unit, "l1 back", k);
        }
        for (int k = 0; k < 6; k++) {
            check_padding(row[k], n, "l1");
            kith__free(row[k]);
            kith__free(before[k]);
        }
    }
}

/* ---- logits ---- */

static void logit__equals_the_plain_sum(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width(), ns = kith__padded(n);
        double scale = i % 3 ? 1 : 8, sum = 0, size = 0;
        float *z = some_row(n, scale), *p = some_row(n, scale), *u = some_row(n, 1);
        for (size_t k = 0; k < n; k++) {
            sum += u[k] * tanh((double)z[k] + p[k]);
            size += fabs((double)u[k]);
        }
        check_near(kith__logit(z, p, u, ns), sum, (KITH__TANH_ERROR + 40 * unit) * size, "logit",
                   n);
        kith__free(z);
        kith__free(p);
        kith__free(u);
    }
}

static void logit_backward__adds_the_plain_gradient(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width(), ns = kith__padded(n);
        float *z = some_row(n, 2), *p = some_row(n, 2), *u = some_row(n, 2), g = some_value(2);
        float *gz = some_row(n, 1), *gp = some_row(n, 1), *gu = some_row(n, 1);
        float *bz = copy_of(gz, ns), *bp = copy_of(gp, ns), *bu = copy_of(gu, ns);
        kith__logit_backward(gz, gp, gu, g, z, p, u, ns);
        for (size_t k = 0; k < n; k++) {
            double t = tanh((double)z[k] + p[k]), v = (double)g * (1 - t * t);
            double error = 4 * KITH__TANH_ERROR + 16 * unit;
            check_near(gz[k], bz[k] + v, error * (1 + fabs((double)g)), "gz", k);
            check_near(gp[k], bp[k] + u[k] * v, error * (1 + fabs((double)g * u[k])), "gp", k);
            check_near(gu[k], bu[k] + g * t, error * (1 + fabs((double)g)), "gu", k);
        }
        check_padding(gp, n, "gp");
        check_padding(gu, n, "gu");
        float *all[] = {z, p, u, gz, gp, gu, bz, bp, bu};
        for (int k = 0; k < 9; k++)
            kith__free(all[k]);
    }
}

/* A pair and the queries that it meets. Of those the last has the row of the first, as where two
 * entities share a neighbour. Rows are as the kernels take them, times the scale. */
typedef struct {
    size_t n, ns, count, rows;
    float *a, *b, *u, *z, *ez, *room, c;
    float *grad[4]; /* by z, a, b, u */
    kith__meeting met[50];
} meeting_case;

static void start_case(meeting_case *t, size_t n, size_t count)
{
    *t = (meeting_case){.n = n, .ns = kith__padded(n), .count = count};
    t->rows = count > 1 ? count - 1 : 1;
    t->a = some_row(n, 4);
    t->b = some_row(n, 4);
    t->u = some_row(n, 2);
    t->z = some_rows(t->rows, n, t->ns, 6);
    t->ez = some_rows(t->rows, n, t->ns, 1);
    t->room = some_row(n, 1);
    t->c = some_value(1);
    kith__power(t->ez, t->z, t->rows * t->ns);
    for (int k = 0; k < 4; k++)
        t->grad[k] = some_rows(k == 0 ? t->rows : 1, n, t->ns, 1);
    for (size_t q = 0; q < count; q++)
        t->met[q] = (kith__meeting){t->ez + q % t->rows * t->ns, t->grad[0] + q % t->rows * t->ns,
                                    some_value(2)};
}

static void end_case(meeting_case *t)
{
    float *all[] = {t->a, t->b, t->u, t->z, t->ez, t->room};

    for (int k = 0; k < 6; k++)
        kith__free(all[k]);
    for (int k = 0; k < 4; k++)
        kith__free(t->grad[k]);
}

/* tanh of column k where query q is met */
static double plain_tanh(const meeting_case *t, size_t q, size_t k)
{
    double x = t->z[q % t->rows * t->ns + k] + t->a[k] - (double)t->c * t->b[k];
    return tanh(x / (double)KITH__POWER_SCALE);
}

static void pair_logits__equal_the_plain_sums(void **state)
{
    meeting_case t;

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        float logit[50], total = 0;
        start_case(&t, some_width(), i < 9 ? (size_t)i : between(0, 50));
        for (size_t k = 0; k < t.n; k++)
            total += t.u[k];
        kith__pair_logits(logit, t.met, t.count, t.a, t.c, t.b, t.u, total, t.room, t.ns);
        for (size_t q = 0; q < t.count; q++) {
            double sum = 0, size = 1;
            for (size_t k = 0; k < t.n; k++) {
                sum += t.u[k] * plain_tanh(&t, q, k);
                size += fabs((double)t.u[k]);
            }
            check_near(logit[q], sum, 2 * (KITH__TANH_ERROR + 40 * unit) * size, "pair_logits", q);
        }
        end_case(&t);
    }
}

static void check_pair_backward(meeting_case *t)
{
    float *before[4];
    double gc = 0, size = 1, error = 2e-6 * (1 + 4 * (double)t->count);

    for (int k = 0; k < 4; k++)
        before[k] = copy_of(t->grad[k], (k == 0 ? t->rows : 1) * t->ns);
    double found = kith__pair_backward(t->grad[1], t->grad[2], t->grad[3], t->met, t->count, t->a,
                                       t->c, t->b, t->u, t->room, t->ns);
    for (size_t k = 0; k < t->n; k++) {
        double gp = 0, by_u = before[3][k], by_z[50];
        for (size_t q = 0; q < t->rows; q++)
            by_z[q] = before[0][q * t->ns + k];
        for (size_t q = 0; q < t->count; q++) {
            double th = plain_tanh(t, q, k), v = (double)t->met[q].g * (1 - th * th);
            by_z[q % t->rows] += v;
            gp += t->u[k] * v;
            by_u += t->met[q].g * th;
        }
        for (size_t q = 0; q < t->rows; q++)
            check_near(t->grad[0][q * t->ns + k], by_z[q], 2e-5, "gz", k);
        check_near(t->grad[1][k], before[1][k] + gp, error, "ga", k);
        check_near(t->grad[2][k], before[2][k] - t->c * gp, error, "gb", k);
        check_near(t->grad[3][k], by_u, error, "gu", k);
        gc += gp * t->b[k];
        size += fabs(t->b[k]);
    }
    check_near(found, gc, error * size, "gp . b", t->n);
    check_padding(t->grad[1], t->n, "ga"); /* not gu and gz, which cannot know where u ends */
    check_padding(t->grad[2], t->n, "gb");
    for (int k = 0; k < 4; k++)
        kith__free(before[k]);
}

static void pair_backward__adds_the_plain_gradients(void **state)
{
    meeting_case t;

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        start_case(&t, some_width(), i < 9 ? (size_t)i : between(0, 50));
        check_pair_backward(&t);
        end_case(&t);
    }
}

/* ---- rows ---- */

static void gather_dots__takes_the_rows_that_are_named(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width(), ns = kith__padded(n), table = between(1, 30);
        size_t count = between(0, 50), step = between(1, 3);
        float *rows = some_rows(table, n, ns, 2), *g = some_row(n, 1), out[51] = {0};
        uint32_t ids[151] = {0};
        for (size_t k = 0; k < count; k++)
            ids[k * step] = (uint32_t)kith__rng_below(&rng, table);
        out[count] = 7;
        kith__gather_dots(out, g, rows, ids, step, count, ns);
        for (size_t k = 0; k < count; k++) {
            double sum = 0, size = 1;
            for (size_t c = 0; c < n; c++) {
                sum += (double)g[c] * rows[ids[k * step] * ns + c];
                size += fabs((double)g[c] * rows[ids[k * step] * ns + c]);
            }
            check_near(out[k], sum, 60 * unit * size, "gather_dots", k);
        }
        assert_true(out[count] == 7);
        kith__free(rows);
        kith__free(g);
    }
}

static void gather_sum__adds_the_rows_that_are_named(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width(), ns = kith__padded(n), table = between(1, 30);
        size_t count = between(0, 50), step = between(1, 3);
        float *rows = some_rows(table, n, ns, 2), *out = some_row(n, 1), *before = copy_of(out, ns);
        float *a = some_row(count + 1, 2);
        uint32_t ids[151] = {0};
        for (size_t k = 0; k < count; k++)
            ids[k * step] = (uint32_t)kith__rng_below(&rng, table);
        kith__gather_sum(out, a, rows, ids, step, count, ns);
        for (size_t k = 0; k < n; k++) {
            double sum = before[k], size = 1;
            for (size_t c = 0; c < count; c++) {
                sum += (double)a[c] * rows[ids[c * step] * ns + k];
                size += fabs((double)a[c] * rows[ids[c * step] * ns + k]);
            }
            check_near(out[k], sum, 60 * unit * size, "gather_sum", k);
        }
        check_padding(out, n, "gather_sum");
        kith__free(rows);
        kith__free(out);
        kith__free(before);
        kith__free(a);
    }
}

static void check_gather_sums(size_t n, size_t count, size_t lanes)
{
    size_t ns = kith__padded(n), table = between(1, 30), step = between(1, 3);
    float *rows = some_rows(table, n, ns, 2), *a = some_rows(count, 8, 8, 2);
    float *out = some_rows(lanes, n, ns, 1), *expected = copy_of(out, lanes * ns), *at[8], one[50];
    uint32_t ids[151] = {0};

    for (size_t k = 0; k < count; k++)
        ids[k * step] = (uint32_t)kith__rng_below(&rng, table);
    for (size_t q = 0; q < lanes; q++) {
        at[q] = out + q * ns;
        for (size_t k = 0; k < count; k++)
            one[k] = a[k * 8 + q];
        kith__gather_sum(expected + q * ns, one, rows, ids, step, count, ns);
    }
    kith__gather_sums(at, lanes, a, rows, ids, step, count, ns);
    for (size_t k = 0; k < lanes * ns; k++)
        check_near(out[k], expected[k], 60 * unit * (1 + 4 * (double)count), "gather_sums", k);
    float *all[] = {rows, a, out, expected};
    for (int k = 0; k < 4; k++)
        kith__free(all[k]);
}

static void gather_sums__equal_gather_sum_of_each_lane(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        check_gather_sums(some_width(), between(0, 50), between(0, 8));
}

static void softmax_lanes__equal_the_plain_softmax(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t count = between(1, 70);
        double scale = i % 3 ? 3 : 300;
        float *x = some_rows(count, 8, 8, scale), *before = copy_of(x, 8 * count);
        float *total = some_row(8, 1);
        kith__softmax_lanes(x, total, count);
        for (size_t q = 0; q < 8; q++) {
            double most = -INFINITY, sum = 0, all = 0;
            for (size_t k = 0; k < count; k++)
                most = fmax(most, before[k * 8 + q]);
            for (size_t k = 0; k < count; k++) {
                sum += exp(before[k * 8 + q] - most);
                all += before[k * 8 + q];
            }
            for (size_t k = 0; k < count; k++)
                check_near(x[k * 8 + q], exp(before[k * 8 + q] - most) / sum,
                           4e-7 * scale + 1e-6, "softmax", k);
            check_near(total[q], all, 100 * unit * scale * (double)count, "total", q);
            float alone[70]; /* anywhere in memory, and the same to the last bit */
            for (size_t k = 0; k < count; k++)
                alone[k] = before[k * 8 + q];
            assert_true(kith__softmax_row(alone, count) == total[q]);
            for (size_t k = 0; k < count; k++)
                if (alone[k] != x[k * 8 + q])
                    fail_msg("found %.9g by itself, expected %.9g", (double)alone[k],
                             (double)x[k * 8 + q]);
        }
        kith__free(x);
        kith__free(before);
        kith__free(total);
    }
}

static void check_transform(size_t n, size_t count)
{
    size_t ns = kith__padded(n), table = 9;
    float *rows = some_rows(table, n, ns, 1), *e = some_row(n, 1), *w = some_row(n, 1);
    float *ge = some_row(n, 1), *gw = some_row(n, 1), *room = some_row(n, 1), *a = some_row(50, 1);
    float *be = copy_of(ge, ns), *bw = copy_of(gw, ns), c = some_value(1), gc = some_value(1);
    double *sum = calloc(n, sizeof *sum), k = gc;
    uint32_t ids[50];

    for (size_t i = 0; i < count; i++) {
        ids[i] = (uint32_t)kith__rng_below(&rng, table);
        for (size_t j = 0; j < n; j++)
            sum[j] += (double)a[i] * rows[ids[i] * ns + j];
    }
    for (size_t j = 0; j < n; j++)
        k -= sum[j] * w[j];
    kith__transform_backward(ge, gw, a, rows, ids, count, e, w, c, gc, room, ns);
    for (size_t j = 0; j < n; j++) {
        double error = 3000 * unit * (1 + fabs(k));
        check_near(ge[j], be[j] + sum[j] + k * w[j], error, "ge", j);
        check_near(gw[j], bw[j] - c * sum[j] + k * e[j], error, "gw", j);
    }
    check_padding(ge, n, "ge");
    check_padding(gw, n, "gw");
    float *all[] = {rows, e, w, ge, gw, room, a, be, bw};
    for (int i = 0; i < 9; i++)
        kith__free(all[i]);
    free(sum);
}

static void transform_backward__adds_the_plain_gradients(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        check_transform(some_width(), between(1, 50));
}

static void rows_times__equals_the_plain_product(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t inner = some_width(), width = some_width(),
               count = i < 8 ? (size_t)i : between(0, 50);
        size_t is = kith__padded(inner), ws = kith__padded(width);
        int adds = i % 2;
        float *rows = some_rows(count, inner, is, 1), *matrix = some_rows(inner, width, ws, 1);
        float *out = some_rows(count, width, ws, 1), *before = copy_of(out, count * ws);
        const float *at[50];
        for (size_t r = 0; r < count; r++) /* in another order than they lie */
            at[r] = rows + (count - 1 - r) * is;
        kith__rows_times(out, at, count, matrix, inner, ws, adds);
        for (size_t r = 0; r < count; r++) {
            for (size_t k = 0; k < width; k++) {
                double sum = adds ? before[r * ws + k] : 0, size = fabs(sum);
                for (size_t j = 0; j < inner; j++) {
                    sum += (double)at[r][j] * matrix[j * ws + k];
                    size += fabs((double)at[r][j] * matrix[j * ws + k]);
                }
                check_near(out[r * ws + k], sum, 300 * unit * size, "rows_times", k);
            }
            check_padding(out + r * ws, width, "rows_times");
        }
        kith__free(rows);
        kith__free(matrix);
        kith__free(out);
        kith__free(before);
    }
}

static void check_outer_sum(size_t count, size_t height, size_t width)
{
    size_t ws = kith__padded(width);
    float *left = some_rows(count, height, height, 1), *right = some_rows(count, width, ws, 1);
    float *matrix = some_rows(height, width, ws, 1), *before = copy_of(matrix, height * ws);
    const float **at = calloc(count + 1, sizeof *at);

    for (size_t r = 0; r < count; r++)
        at[r] = right + (count - 1 - r) * ws;
    kith__outer_sum(matrix, left, at, count, height, ws);
    for (size_t h = 0; h < height; h++) {
        for (size_t k = 0; k < width; k++) {
            double sum = before[h * ws + k], size = 1;
            for (size_t r = 0; r < count; r++) {
                sum += (double)left[r * height + h] * at[r][k];
                size += fabs((double)left[r * height + h] * at[r][k]);
            }
            check_near(matrix[h * ws + k], sum, 300 * unit * size, "outer_sum", k);
        }
        check_padding(matrix + h * ws, width, "outer_sum");
    }
    kith__free(left);
    kith__free(right);
    kith__free(matrix);
    kith__free(before);
    free(at);
}

static void outer_sum__adds_the_plain_product(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        check_outer_sum(i < 8 ? (size_t)i : between(0, 50), between(1, 60), between(1, 80));
    check_outer_sum(1, 300, 300);
    check_outer_sum(255, 5, 17);
    check_outer_sum(256, 6, 16);
    check_outer_sum(700, 13, 33);
}

/* ---- lstm ---- */

static void panels_times__equals_the_plain_product(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t inner = some_width(), width = kith__padded(some_width()), is = kith__padded(inner);
        size_t count = i < 8 ? (size_t)i : between(0, 50), block = between(1, 2 * inner);
        float *rows = some_rows(count, inner, is, 1), *matrix = some_rows(inner, width, width, 1);
        float *out = some_rows(count, width, width, 1), *packed = some_rows(inner, width, width, 1);
        const float *at[50];
        for (size_t r = 0; r < count; r++)
            at[r] = rows + (count - 1 - r) * is;
        kith__pack_panels(packed, matrix, inner, width, block);
        kith__panels_times(out, at, count, packed, inner, width, block);
        for (size_t r = 0; r < count; r++)
            for (size_t k = 0; k < width; k++) {
                double sum = 0, size = 0;
                for (size_t j = 0; j < inner; j++) {
                    sum += (double)at[r][j] * matrix[j * width + k];
                    size += fabs((double)at[r][j] * matrix[j * width + k]);
                }
                check_near(out[r * width + k], sum, 300 * unit * size, "panels_times", k);
            }
        kith__free(rows);
        kith__free(matrix);
        kith__free(out);
        kith__free(packed);
    }
}

static void outer_add__adds_the_plain_product(void **state)
{
    const float *at[2][300];

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t height = 8 * between(1, 9), width = 8 * between(1, 14);
        size_t count = i < 8 ? (size_t)i : between(0, 300);
        float *left = some_rows(count, height, height, 1),
              *right = some_rows(count, width, width, 1);
        float *matrix = some_rows(height, width, width, 1);
        float *before = copy_of(matrix, height * width);
        float *scratch = some_rows(KITH__OUTER_ROWS, height + width, height + width, 1);
        for (size_t r = 0; r < count; r++) {
            at[0][r] = left + (count - 1 - r) * height;
            at[1][r] = right + r * width;
        }
        kith__outer_add(matrix, at[0], at[1], count, height, width, scratch);
        for (size_t h = 0; h < height; h++)
            for (size_t k = 0; k < width; k++) {
                double sum = before[h * width + k], size = 1;
                for (size_t r = 0; r < count; r++) {
                    sum += (double)at[0][r][h] * at[1][r][k];
                    size += fabs((double)at[0][r][h] * at[1][r][k]);
                }
                check_near(matrix[h * width + k], sum, 300 * unit * size, "outer_add", k);
            }
        float *all[] = {left, right, matrix, before, scratch};
        for (int k = 0; k < 5; k++)
            kith__free(all[k]);
    }
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* The gates of a unit from what the kernel takes: halved where they are sigmoids. */
static void plain_gates(double *gate, const float *input, const float *h, const float *matrix,
                        size_t unit_of, size_t d, size_t width, bool first)
{
    for (size_t n = 0; n < KITH__GATES; n++) {
        size_t place = kith__gate_place(n, unit_of);
        double z = input[place];
        for (size_t k = 0; !first && k < d; k++)
            z += (double)h[k] * matrix[k * KITH__GATES * width + place];
        gate[n] = n == 2 ? tanh(z) : sigmoid(2 * z);
    }
}

static void check_lstm_forward(size_t count, size_t d, bool first)
{
    size_t width = kith__padded(d), gates = KITH__GATES * width;
    float *input = some_rows(count, gates, gates, 1), *made = some_rows(count, gates, gates, 1);
    float *h_before = some_rows(count, d, width, 1), *c_before = some_rows(count, width, width, 1);
    float *h = some_rows(count, width, width, 1), *c = some_rows(count, width, width, 1);
    float *out = some_rows(count, width, width, 1), *before = copy_of(out, count * width);
    float *matrix = some_rows(d, gates, gates, .2), *packed = some_rows(d, gates, gates, 1);
    kith__lstm_row rows[20];

    for (size_t r = 0; r < count; r++)
        rows[r] = (kith__lstm_row){input + r * gates,    made + r * gates, h_before + r * width,
                                   c_before + r * width, h + r * width,    c + r * width,
                                   out + r * width,      .25f};
    kith__pack_panels(packed, matrix, d, gates, d);
    kith__lstm_forward(rows, count, packed, d, width, first);
    for (size_t r = 0; r < count; r++)
        for (size_t k = 0; k < width; k++) {
            double g[KITH__GATES];
            plain_gates(g, rows[r].input, rows[r].h_before, matrix, k, d, width, first);
            double cell = g[1] * c_before[r * width + k] + g[0] * g[2], to = g[3] * tanh(cell);
            for (size_t n = 0; n < KITH__GATES; n++)
                check_near(made[r * gates + kith__gate_place(n, k)], g[n], 1e-5, "gate", k);
            check_near(c[r * width + k], cell, 1e-5, "c", k);
            check_near(h[r * width + k], to, 1e-5, "h", k);
            check_near(out[r * width + k], before[r * width + k] + .25 * to, 1e-5, "out", k);
        }
    float *all[] = {input, made, h_before, c_before, h, c, out, before, matrix, packed};
    for (int k = 0; k < 10; k++)
        kith__free(all[k]);
}

static void lstm_forward__equals_the_plain_step(void **state)
{
    (void)state;
    for (size_t i = 0; i < 20; i++)
        check_lstm_forward(i, between(1, 60), i % 3 == 0);
}

static void lstm_backward__equals_the_plain_step(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t width = kith__padded(some_width()), gates = KITH__GATES * width;
        float *g = some_row(gates, 1), *c = some_row(width, 2), *c_before = some_row(width, 2);
        float *gh = some_row(width, 1), *grad = some_row(width, 1), *gc = some_row(width, 1);
        float *gz = some_row(gates, 1), *sum = some_row(gates, 1);
        float *gc0 = copy_of(gc, width), *sum0 = copy_of(sum, gates);
        kith__lstm_back row = {g, c, c_before, gh, grad, gc, gz, sum, .5f};
        kith__lstm_backward(&row, 1, width);
        for (size_t k = 0; k < width; k++) {
            size_t at[KITH__GATES];
            for (size_t n = 0; n < KITH__GATES; n++)
                at[n] = kith__gate_place(n, k);
            double in = g[at[0]], forget = g[at[1]], cell = g[at[2]], o = g[at[3]], y = tanh(c[k]);
            double by_h = gh[k] + .5 * grad[k], by_c = gc0[k] + by_h * o * (1 - y * y);
            double z[KITH__GATES] = {2 * by_c * cell * in * (1 - in),
                                     2 * by_c * c_before[k] * forget * (1 - forget),
                                     by_c * in * (1 - cell * cell), 2 * by_h * y * o * (1 - o)};
            check_near(gc[k], by_c * forget, 1e-5, "gc", k);
            for (size_t n = 0; n < KITH__GATES; n++) {
                check_near(gz[at[n]], z[n], 3e-5, "gz", k);
                check_near(sum[at[n]], sum0[at[n]] + z[n], 3e-5, "sum", k);
            }
        }
        float *all[] = {g, c, c_before, gh, grad, gc, gz, sum, gc0, sum0};
        for (int k = 0; k < 10; k++)
            kith__free(all[k]);
    }
}

/* Results with registers of sixteen floats have the bits of those with eight. */
static void check_same_bits(const float *a, const float *b, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (memcmp(&a[k], &b[k], sizeof *a) != 0)
            fail_msg("%s: number %zu is %.9g with wide registers, %.9g without", name, k,
                     (double)a[k], (double)b[k]);
}

static void check_wide_products(size_t count, size_t inner, size_t width, size_t block)
{
    size_t is = kith__padded(inner);
    float *rows = some_rows(count, inner, is, 1), *packed = some_rows(inner, width, width, 1);
    float *right = some_rows(count, width, width, 1), *one = some_rows(count, width, width, 1);
    float *scratch = some_rows(KITH__OUTER_ROWS, is + width, is + width, 1);
    float *other = some_rows(count, width, width, 1), *matrix = some_rows(is, width, width, 1);
    float *copy = copy_of(matrix, is * width);
    const float *at[2][300];

    for (size_t r = 0; r < count; r++) {
        at[0][r] = rows + (count - 1 - r) * is;
        at[1][r] = right + r * width;
    }
    kith__panels_times_wide(one, at[0], count, packed, inner, width, block);
    kith__panels_times_narrow(other, at[0], count, packed, inner, width, block);
    check_same_bits(one, other, count * width, "panels_times");
    kith__outer_add_wide(matrix, at[0], at[1], count, is, width, scratch);
    kith__outer_add_narrow(copy, at[0], at[1], count, is, width, scratch);
    check_same_bits(matrix, copy, is * width, "outer_add");
    float *all[] = {rows, packed, right, one, scratch, other, matrix, copy};
    for (int k = 0; k < 8; k++)
        kith__free(all[k]);
}

static void wide_products__have_the_bits_of_narrow_ones(void **state)
{
    (void)state;
    if (!kith__lstm_has_wide())
        skip();
    for (int i = 0; i < ROUNDS; i++) {
        size_t inner = some_width(), block = between(1, 2 * inner);
        check_wide_products(i < 30 ? (size_t)i : between(0, 300), inner, 8 * between(1, 20),
                            block > KITH__LSTM_WIDE_MOST ? KITH__LSTM_WIDE_MOST : block);
    }
    check_wide_products(96, KITH__LSTM_WIDE_MOST, 104, KITH__LSTM_WIDE_MOST);
}

static void check_wide_steps(size_t count, size_t d, bool first)
{
    size_t width = kith__padded(d), all = KITH__GATES * width;
    float *packed = some_rows(d, all, all, 1), *input = some_rows(count, all, all, 2);
    float *before = some_rows(count, 2 * width, 2 * width, 1);
    float *made[2];

    for (int wide = 0; wide < 2; wide++) {
        kith__lstm_row rows[60];
        float *to = made[wide] = some_rows(count, 7 * width, 7 * width, 0);
        memset(to, 0, count * 7 * width * sizeof *to);
        for (size_t r = 0; r < count; r++, to += 7 * width)
            rows[r] = (kith__lstm_row){input + r * all, to, before + 2 * r * width,
                                       before + (2 * r + 1) * width, to + all, to + 5 * width,
                                       to + 6 * width, .25f};
        (wide ? kith__lstm_forward_wide : kith__lstm_forward_narrow)(rows, count, packed, d, width,
                                                                     first);
    }
    check_same_bits(made[1], made[0], count * 7 * width, "lstm_forward");
    float *everything[] = {packed, input, before, made[0], made[1]};
    for (int k = 0; k < 5; k++)
        kith__free(everything[k]);
}

static void wide_steps__have_the_bits_of_narrow_ones(void **state)
{
    (void)state;
    if (!kith__lstm_has_wide())
        skip();
    for (size_t i = 0; i < 60; i++)
        check_wide_steps(i, between(1, 130), i % 3 == 0);
    check_wide_steps(13, KITH__LSTM_WIDE_MOST, false);
}

/* ---- adam ---- */

static void check_adam(const float *gradient, size_t n, const kith__adam_rates *r)
{
    size_t ns = kith__padded(n);
    float *value = some_row(n, 1), *m = some_row(n, .1), *v = some_row(n, .1);

    for (size_t k = 0; k < n; k++)
        v[k] = fabsf(v[k]) + 1e-6f;
    float *value0 = copy_of(value, ns), *m0 = copy_of(m, ns), *v0 = copy_of(v, ns);
    kith__adam_row(value, m, v, gradient, r, ns);
    for (size_t k = 0; k < n; k++) {
        double g = gradient ? gradient[k] : 0;
        double mean = r->beta1 * (double)m0[k] + (1 - (double)r->beta1) * g;
        double square = r->beta2 * (double)v0[k] + (1 - (double)r->beta2) * g * g;
        double moved = r->step * mean / (sqrt(square * r->v_scale) + r->epsilon);
        /* 1 - beta is itself rounded, which is 6e-8 / .001 of v's share of the gradient. */
        check_near(m[k], mean, 8 * unit * (fabs(mean) + fabs(g)), "m", k);
        check_near(v[k], square, 8 * unit * square + 1e-7 * g * g, "v", k);
        check_near(value[k], value0[k] - moved, 2 * unit + 2e-4 * fabs(moved), "value", k);
    }
    check_padding(value, n, "value");
    check_padding(m, n, "m");
    check_padding(v, n, "v");
    float *all[] = {value, m, v, value0, m0, v0};
    for (int k = 0; k < 6; k++)
        kith__free(all[k]);
}

static void add_squares__equals_the_plain_sum(void **state)
{
    enum { MOST = 9, WIDEST = 48 };
    kith__rng draws;

    (void)state;
    kith__rng_init(&draws, 77, 0);
    for (size_t n = 8; n <= WIDEST; n += 8)
        for (size_t count = 0; count <= MOST; count++) {
            double a[MOST], x[MOST * WIDEST], square[WIDEST * WIDEST], plain[WIDEST * WIDEST];
            for (size_t i = 0; i < n * n; i++)
                square[i] = plain[i] = kith__rng_unit(&draws) - .5;
            for (size_t r = 0; r < count; r++) {
                a[r] = kith__rng_unit(&draws) - .5;
                for (size_t i = 0; i < n; i++)
                    x[r * n + i] = kith__rng_unit(&draws) - .5;
                for (size_t i = 0; i < n; i++)
                    for (size_t j = 0; j <= i; j++)
                        plain[i * n + j] += a[r] * x[r * n + i] * x[r * n + j];
            }
            kith__add_squares(square, a, x, count, n);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j <= i; j++)
                    assert_true(fabs(square[i * n + j] - plain[i * n + j]) < 1e-14 * MOST);
        }
}

static void adam_row__equals_the_plain_step(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width();
        float *gradient = some_row(n, 1);
        kith__adam_rates rates = {.9f, .999f, .01f, 1e-8f, i % 2 ? 1 : 3.7f};
        check_adam(gradient, n, &rates);
        check_adam(NULL, n, &rates);
        kith__free(gradient);
    }
}

/* ---- many queries against many candidates ---- */

static void rows_l1__equals_the_plain_sums(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t count = between(1, 13), inner = some_width(), width = 16 * between(1, 5);
        float *matrix = some_rows(inner, width, width, 2), *out = some_rows(count, width, width, 1);
        float *rows = some_rows(count, inner, kith__padded(inner), 2);
        const float *at[13];
        for (size_t r = 0; r < count; r++)
            at[r] = rows + r * kith__padded(inner);
        kith__rows_l1(out, at, count, matrix, inner, width);
        for (size_t r = 0; r < count; r++)
            for (size_t j = 0; j < width; j++) {
                double sum = 0;
                for (size_t k = 0; k < inner; k++)
                    sum += fabs((double)at[r][k] - matrix[k * width + j]);
                check_near(out[r * width + j], sum, 300 * unit * sum, "rows_l1", j);
            }
        kith__free(matrix);
        kith__free(out);
        kith__free(rows);
    }
}

/* Of some candidates only; those that are not listed stay as they are. */
static void check_l1_backward(size_t count, size_t candidates, size_t n)
{
    size_t ns = kith__padded(n), stride = kith__padded(candidates), listed = 0;
    float *rows = some_rows(count, n, ns, 2), *x = some_rows(candidates, n, ns, 2);
    float *g = some_rows(count, candidates, stride, 1), *gx = some_rows(candidates, n, ns, 1);
    float *grows = some_rows(count, n, ns, 1), *gx0 = copy_of(gx, candidates * ns);
    float *grows0 = copy_of(grows, count * ns);
    uint32_t ids[64];

    for (uint32_t j = 0; j < candidates; j++)
        if (kith__rng_below(&rng, 3))
            ids[listed++] = j;
    x[0] = rows[0]; /* their difference, 0, counts as positive */
    kith__l1_backward(grows, gx, rows, count, x, ids, listed, g, stride, ns);
    for (size_t r = 0; r < count; r++)
        for (size_t k = 0; k < n; k++) {
            double sum = grows0[r * ns + k];
            for (size_t i = 0; i < listed; i++)
                sum -= rows[r * ns + k] >= x[ids[i] * ns + k] ? g[r * stride + ids[i]]
                                                              : -g[r * stride + ids[i]];
            check_near(grows[r * ns + k], sum, 64 * unit * 40, "l1_backward, rows", k);
        }
    for (size_t i = 0; i < listed; i++)
        for (size_t r = 0; r < count; r++)
            for (size_t k = 0; k < n; k++)
                gx0[ids[i] * ns + k] += rows[r * ns + k] >= x[ids[i] * ns + k]
                                            ? g[r * stride + ids[i]]
                                            : -g[r * stride + ids[i]];
    for (size_t j = 0; j < candidates; j++)
        for (size_t k = 0; k < n; k++)
            check_near(gx[j * ns + k], gx0[j * ns + k], 64 * unit, "l1_backward, candidates", k);
    float *all[] = {rows, x, g, gx, grows, gx0, grows0};
    for (int i = 0; i < 7; i++)
        kith__free(all[i]);
}

static void l1_backward__adds_the_plain_gradients(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        check_l1_backward(between(1, KITH__L1_ROWS), between(1, KITH__L1_CANDIDATES), some_width());
}

static void sign_axpy__adds_signs_and_nothing_where_equal(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width(), ns = kith__padded(n);
        float *a = some_row(n, 2), *b = some_row(n, 2), *y = some_row(n, 2),
              *before = copy_of(y, ns);
        float g = some_value(3);
        b[n / 2] = a[n / 2];
        kith__sign_axpy(y, g, a, b, ns);
        for (size_t k = 0; k < n; k++)
            check_near(y[k], before[k] + (double)g * ((a[k] > b[k]) - (a[k] < b[k])), 6 * unit,
                       "sign_axpy", k);
        check_padding(y, n, "sign_axpy");
        float *all[] = {a, b, y, before};
        for (int k = 0; k < 4; k++)
            kith__free(all[k]);
    }
}

static void row_exp__equals_the_plain_shares(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width(), ns = kith__padded(n);
        float *row = some_row(n, i % 2 ? 60 : 5), *scratch = some_row(n, 1), most = -INFINITY;
        for (size_t k = 0; k < ns; k++) {
            if (k >= n || kith__rng_below(&rng, 5) == 0)
                row[k] = KITH__LEFT_OUT;
            most = fmaxf(most, row[k]);
        }
        float *before = copy_of(row, ns);
        double sum = 0;
        assert_true(kith__row_most(row, ns) == most);
        float found = kith__row_exp(row, most, ns, scratch);
        for (size_t k = 0; k < ns; k++) {
            bool out = before[k] == KITH__LEFT_OUT && most != KITH__LEFT_OUT;
            double e = out ? 0 : exp((double)before[k] - most);
            check_near(row[k], e, e * (KITH__POWER_ERROR + 300 * unit) + 1e-34, "row_exp", k);
            assert_true(!out || row[k] == 0);
            sum += e;
        }
        check_near(found, sum, 1e-5 * sum, "row_exp, sum", n);
        kith__free(row);
        kith__free(scratch);
        kith__free(before);
    }
}

static void row_thin__keeps_values_on_average_and_large_ones_as_they_are(void **state)
{
    enum { N = 256, SEEDS = 20000 };
    float *row = kith__calloc_aligned(N, sizeof *row), *from = some_row(N, .5);
    static double sum[N];
    uint32_t ids[N + 1];

    (void)state;
    for (size_t k = 0; k < N; k++)
        from[k] = k % 7 ? fabsf(from[k]) : 0;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        size_t used = 0;
        memcpy(row, from, N * sizeof *row);
        size_t found = kith__row_thin(row, ids, 2, .6f, seed * 77, N);
        for (size_t k = 0; k < N; k++) {
            float x = 2 * from[k];
            assert_true(row[k] == x || (x < .6f && (row[k] == 0 || row[k] == .6f)));
            if (row[k] != 0)
                assert_int_equal(ids[used++], k);
            sum[k] += row[k] / (double)SEEDS;
        }
        assert_int_equal(found, used);
    }
    for (size_t k = 0; k < N; k++) /* six standard deviations of what chance does */
        check_near(sum[k], 2 * from[k], 6 * .3 / sqrt(SEEDS), "row_thin", k);
    kith__free(row);
    kith__free(from);
}

static void rows_used__lists_where_some_row_is_not_0(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t count = between(1, 4), n = some_width(), ns = kith__padded(n), used = 0;
        float *rows = some_rows(count, n, ns, 1), *before = copy_of(rows, count * ns);
        uint32_t *ids = kith__alloc(ns + 1, sizeof *ids);
        for (size_t r = 0; r < count; r++)
            for (size_t k = 0; k < n; k++)
                rows[r * ns + k] = fabsf(before[r * ns + k]) < .6f ? 0 : before[r * ns + k];
        size_t found = kith__rows_used(ids, rows, count, ns, ns);
        for (size_t k = 0; k < ns; k++) {
            bool any = false;
            for (size_t r = 0; r < count; r++) {
                any = any || rows[r * ns + k] != 0;
            }
            if (any)
                assert_int_equal(ids[used++], k);
        }
        assert_int_equal(found, used);
        kith__free(rows);
        kith__free(before);
        kith__free(ids);
    }
}

static void row_broken__finds_what_is_not_finite(void **state)
{
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = some_width();
        float *row = some_row(n, 1e30);
        assert_false(kith__row_broken(row, kith__padded(n)));
        row[between(0, n - 1)] = bad[i % 4];
        assert_true(kith__row_broken(row, kith__padded(n)));
        kith__free(row);
    }
}

/* Scores with ties, numbers that are none, and marks of those left out. */
static size_t some_scores(float *scores, uint8_t *left_out, size_t most)
{
    size_t count = between(0, most);

    for (size_t i = 0; i < count; i++) {
        scores[i] = kith__rng_below(&rng, 20) ? (float)between(0, 40) - 20 : NAN;
        left_out[i] = kith__rng_below(&rng, 4) == 0;
    }
    return count;
}

static void topk__equals_taking_the_best_one_by_one(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        float scores[200];
        uint8_t left_out[200], taken[200] = {0};
        uint32_t found[40];
        size_t count = some_scores(scores, left_out, 200), most = between(0, 40), k = 0;
        size_t listed = kith__topk_of(found, most, scores, count, left_out);
        for (; k < most; k++) {
            size_t best = SIZE_MAX;
            for (size_t i = 0; i < count; i++)
                if (!taken[i] && !left_out[i] && !isnan(scores[i]) &&
                    (best == SIZE_MAX || scores[i] > scores[best]))
                    best = i;
            if (best == SIZE_MAX)
                break;
            taken[best] = 1;
            assert_true(k < listed);
            assert_int_equal(found[k], best);
        }
        assert_int_equal(listed, k);
    }
}

static void log_sum__equals_the_plain_sum_at_any_height(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        float scores[200], shift = (float)between(0, 2) * 300 - 300;
        uint8_t left_out[200];
        size_t count = some_scores(scores, left_out, 200);
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum += left_out[i] || isnan(scores[i]) ? 0 : exp(scores[i]);
            scores[i] += shift;
        }
        kith__exp_sum s = kith__exp_sum_of(scores, count, left_out);
        if (sum > 0)
            assert_true(fabs(kith__log_sum(s) - shift - log(sum)) < 1e-4);
        else
            assert_true(isfinite(kith__log_sum(s)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot__equals_the_plain_sum),
        cmocka_unit_test(l1__equals_the_plain_sum),
        cmocka_unit_test(l1_rows__equal_l1_of_each),
        cmocka_unit_test(axpy__scale_and_minus_equal_the_plain_loops),
        cmocka_unit_test(tanh__is_within_the_stated_error),
        cmocka_unit_test(tanh__of_huge_values_is_one_and_of_padding_zero),
        cmocka_unit_test(power__is_within_the_stated_error),
        cmocka_unit_test(l1_of_sum__and_its_gradient_equal_the_plain_loops),
        cmocka_unit_test(logit__equals_the_plain_sum),
        cmocka_unit_test(logit_backward__adds_the_plain_gradient),
        cmocka_unit_test(pair_logits__equal_the_plain_sums),
        cmocka_unit_test(pair_backward__adds_the_plain_gradients),
        cmocka_unit_test(gather_sums__equal_gather_sum_of_each_lane),
        cmocka_unit_test(softmax_lanes__equal_the_plain_softmax),
        cmocka_unit_test(transform_backward__adds_the_plain_gradients),
        cmocka_unit_test(gather_dots__takes_the_rows_that_are_named),
        cmocka_unit_test(gather_sum__adds_the_rows_that_are_named),
        cmocka_unit_test(rows_times__equals_the_plain_product),
        cmocka_unit_test(outer_sum__adds_the_plain_product),
        cmocka_unit_test(panels_times__equals_the_plain_product),
        cmocka_unit_test(outer_add__adds_the_plain_product),
        cmocka_unit_test(lstm_forward__equals_the_plain_step),
        cmocka_unit_test(lstm_backward__equals_the_plain_step),
        cmocka_unit_test(wide_products__have_the_bits_of_narrow_ones),
        cmocka_unit_test(wide_steps__have_the_bits_of_narrow_ones),
        cmocka_unit_test(add_squares__equals_the_plain_sum),
        cmocka_unit_test(adam_row__equals_the_plain_step),
        cmocka_unit_test(rows_l1__equals_the_plain_sums),
        cmocka_unit_test(l1_backward__adds_the_plain_gradients),
        cmocka_unit_test(sign_axpy__adds_signs_and_nothing_where_equal),
        cmocka_unit_test(row_exp__equals_the_plain_shares),
        cmocka_unit_test(row_thin__keeps_values_on_average_and_large_ones_as_they_are),
        cmocka_unit_test(rows_used__lists_where_some_row_is_not_0),
        cmocka_unit_test(row_broken__finds_what_is_not_finite),
        cmocka_unit_test(topk__equals_taking_the_best_one_by_one),
        cmocka_unit_test(log_sum__equals_the_plain_sum_at_any_height),
    };
    kith__rng_init(&rng, 3, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
