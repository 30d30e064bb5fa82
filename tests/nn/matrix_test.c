/* Products of matrices and the steps of an LSTM, against plain loops in double precision. */
#include <math.h>

#include "core/mem.h"
#include "nn/kernels.h"
#include "nn/lstm.h"
#include "nn/match.h"
#include "support.h"
#include "rows.h"

/* ---- rows ---- */

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

/* ---- many queries against many candidates ---- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transform_backward__adds_the_plain_gradients),
        cmocka_unit_test(rows_times__equals_the_plain_product),
        cmocka_unit_test(outer_sum__adds_the_plain_product),
        cmocka_unit_test(panels_times__equals_the_plain_product),
        cmocka_unit_test(outer_add__adds_the_plain_product),
        cmocka_unit_test(lstm_forward__equals_the_plain_step),
        cmocka_unit_test(lstm_backward__equals_the_plain_step),
        cmocka_unit_test(l1_backward__adds_the_plain_gradients),
    };

    kith__rng_init(&rng, 3, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
