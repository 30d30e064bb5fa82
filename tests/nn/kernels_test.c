/* Kernels over vectors, Adam and many candidates, against plain loops in double precision. */
#include "core/mem.h"
#include "nn/kernels.h"
#include "nn/log_sum.h"
#include "nn/lstm.h"
#include "nn/match.h"
#include "nn/topk.h"
#include "support.h"
#include "rows.h"

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

/* ---- lstm ---- */

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
        cmocka_unit_test(wide_products__have_the_bits_of_narrow_ones),
        cmocka_unit_test(wide_steps__have_the_bits_of_narrow_ones),
        cmocka_unit_test(add_squares__equals_the_plain_sum),
        cmocka_unit_test(adam_row__equals_the_plain_step),
        cmocka_unit_test(rows_l1__equals_the_plain_sums),
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
