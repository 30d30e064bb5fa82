/* Logits, softmax and sums over rows, against plain loops in double precision. */
#include <math.h>

#include "core/mem.h"
#include "nn/kernels.h"
#include "support.h"
#include "rows.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logit__equals_the_plain_sum),
        cmocka_unit_test(logit_backward__adds_the_plain_gradient),
        cmocka_unit_test(pair_logits__equal_the_plain_sums),
        cmocka_unit_test(pair_backward__adds_the_plain_gradients),
        cmocka_unit_test(gather_sums__equal_gather_sum_of_each_lane),
        cmocka_unit_test(softmax_lanes__equal_the_plain_softmax),
        cmocka_unit_test(gather_dots__takes_the_rows_that_are_named),
        cmocka_unit_test(gather_sum__adds_the_rows_that_are_named),
    };

    kith__rng_init(&rng, 3, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
