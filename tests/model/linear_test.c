/* Fitting weights by Newton's method. */
#include <math.h>

#include "support.h"
#include "fusions.h"

/* ---- choices to fit on ---- */

/* From weights as they are on entry; without threads, without a pool. */
static void fit_from(float *weight, const kith__row_table *rows, double ridge, bool all,
                     unsigned threads)
{
    kith__pool *pool = threads ? kith__pool_new(threads) : NULL;
    uint32_t *queries = calloc(rows->queries + 1, sizeof *queries);
    double scale[N_FEATURES];
    size_t count = 0;
    kith_error error;

    for (uint32_t q = 0; q < rows->queries; q++)
        if (all || !rows->in_calibration[q])
            queries[count++] = q;
    kith__linear_scales(scale, rows, 0);
    assert_int_equal(kith__linear_fit(weight, rows, scale, queries, count, ridge, pool, &error),
                     KITH_OK);
    kith__pool_free(pool);
    free(queries);
}

static void fit(float *weight, const kith__row_table *rows, double ridge, bool all,
                unsigned threads)
{
    memset(weight, 0, N_FEATURES * sizeof *weight);
    fit_from(weight, rows, ridge, all, threads);
}

static void linear__weights_that_made_the_choices_are_found_again(void **state)
{
    kith__row_table rows = choices(1, CHOICES);
    float weight[N_FEATURES];

    (void)state;
    fit(weight, &rows, 1, true, 2);
    for (int k = 0; k < VARIED; k++)
        if (!(fabs(weight[varied[k]] - true_weights[k]) <= .1 * fabs(true_weights[k])))
            fail_msg("found %g, expected %g", (double)weight[varied[k]], true_weights[k]);
    for (int k = 0; k < N_FEATURES; k++)
        if (!memchr("\0\3\7\24", k, 4) && k != N_FEATURES - 1)
            assert_float_equal(weight[k], 0, 0);
    rows_free(&rows);
}

/* ---- the loss that is minimised ---- */

static double share_loss(const double *weight, const kith__row_table *r, size_t query)
{
    double sum = 0, right = 0;

    for (size_t i = r->first[query]; i < r->first[query + 1]; i++) {
        double score = r->offset[i];
        for (int k = 0; k < N_FEATURES; k++)
            score += weight[k] * r->feature[i * N_FEATURES + (size_t)k];
        sum += exp(score);
        if (i == r->right[query])
            right = score;
    }
    return log(sum) - right;
}

static double deviation(const kith__row_table *r, int k)
{
    double sum = 0, squares = 0, n = (double)r->rows;

    for (size_t i = 0; i < r->rows; i++)
        sum += r->feature[i * N_FEATURES + (size_t)k];
    for (size_t i = 0; i < r->rows; i++)
        squares += pow(r->feature[i * N_FEATURES + (size_t)k] - sum / n, 2);
    return sqrt(squares / n);
}

static double whole_loss(const double *weight, const kith__row_table *r, double ridge, bool all)
{
    double loss = 0;

    for (size_t q = 0; q < r->queries; q++)
        if (all || !r->in_calibration[q])
            loss += share_loss(weight, r, q);
    for (int k = 0; k < VARIED; k++)
        loss += ridge / 2 * pow(weight[varied[k]] * deviation(r, varied[k]), 2);
    return loss;
}

static void check_gradient(double ridge, bool all)
{
    kith__row_table rows = choices(2, 500);
    float weight[N_FEATURES];
    double w[N_FEATURES];

    fit(weight, &rows, ridge, all, 1);
    for (int k = 0; k < N_FEATURES; k++)
        w[k] = weight[k];
    for (int k = 0; k < VARIED; k++) {
        double unit = deviation(&rows, varied[k]), step = 1e-3 / unit, at = w[varied[k]], slope;
        w[varied[k]] = at + step;
        slope = whole_loss(w, &rows, ridge, all);
        w[varied[k]] = at - step;
        slope = (slope - whole_loss(w, &rows, ridge, all)) / (2 * step * unit);
        w[varied[k]] = at;
        /* Of 500 queries, each of which pulls by about 1. */
        if (!(fabs(slope) <= .05))
            fail_msg("ridge %g, feature %d: found the slope %g, expected 0", ridge, varied[k],
                     slope);
    }
    rows_free(&rows);
}

static void linear__the_slope_of_the_loss_is_0_at_the_result(void **state)
{
    (void)state;
    check_gradient(.01, true);
    check_gradient(2, true);
    check_gradient(2, false);
    check_gradient(200, true);
}

static void linear__threads_do_not_matter(void **state)
{
    kith__row_table rows = choices(3, 700);
    float one[N_FEATURES], more[N_FEATURES];

    (void)state;
    fit(one, &rows, 2, true, 1);
    for (unsigned threads = 2; threads < 6; threads++) {
        fit(more, &rows, 2, true, threads);
        assert_memory_equal(one, more, sizeof one);
    }
    rows_free(&rows);
}

static void linear__queries_that_are_set_aside_have_no_say(void **state)
{
    kith__row_table rows = choices(4, 500);
    float before[N_FEATURES], after[N_FEATURES], all[N_FEATURES];

    (void)state;
    fit(before, &rows, 2, false, 1);
    for (size_t q = 0; q < rows.queries; q += 5)
        rows.right[q] = (uint32_t)rows.first[q];
    fit(after, &rows, 2, false, 1);
    assert_memory_equal(before, after, sizeof before);
    fit(all, &rows, 2, true, 1);
    assert_memory_not_equal(all, after, sizeof all);
    rows_free(&rows);
}

static void linear__a_row_with_an_offset_stands_for_as_many_others(void **state)
{
    kith__row_table one = rows_new(300, 3), many = rows_new(300, 5);
    float short_way[N_FEATURES], long_way[N_FEATURES];
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 5, 0);
    for (size_t q = 0; q < 300; q++) {
        one.right[q] = (uint32_t)one.first[q] + (below(&rng, 4) ? 0 : 1);
        many.right[q] = (uint32_t)many.first[q] + one.right[q] % 3;
        for (size_t i = 0; i < 5; i++)
            for (size_t k = 0; k < 2; k++) {
                float *from = &one.feature[(3 * q + (i < 2 ? i : 2)) * N_FEATURES + k];
                if (i < 3)
                    *from = uniform(&rng, -1, 1) + (i == 0 && k == 0 ? .5f : 0);
                many.feature[(5 * q + i) * N_FEATURES + k] = *from;
            }
        one.offset[3 * q + 2] = logf(3);
    }
    fit(short_way, &one, 1e-6, true, 1);
    fit(long_way, &many, 1e-6, true, 1);
    for (int k = 0; k < 2; k++)
        assert_float_equal(short_way[k], long_way[k], 2e-3);
    rows_free(&one);
    rows_free(&many);
}

static void linear__choices_that_one_feature_decides_give_finite_weights(void **state)
{
    kith__row_table rows = rows_new(200, 4);
    float weight[N_FEATURES];

    (void)state;
    for (size_t i = 0; i < rows.rows; i++)
        rows.feature[i * N_FEATURES + 2] = i % 4 == 0 ? 1 : 0;
    for (size_t q = 0; q < rows.queries; q++)
        rows.right[q] = (uint32_t)rows.first[q];
    fit(weight, &rows, 2, true, 1);
    assert_true(isfinite(weight[2]) && weight[2] > 1);
    rows_free(&rows);
}

static void linear__no_rows_give_no_weights(void **state)
{
    kith__row_table rows = rows_new(0, 4);
    float weight[N_FEATURES];

    (void)state;
    fit(weight, &rows, 2, true, 1);
    for (int k = 0; k < N_FEATURES; k++)
        assert_float_equal(weight[k], 0, 0);
    rows_free(&rows);
}

static void linear__weights_are_pulled_to_where_they_begin(void **state)
{
    kith__row_table rows = choices(7, 400);
    float weight[N_FEATURES] = {0}, held[N_FEATURES], free_one[N_FEATURES], twice[N_FEATURES];

    (void)state;
    for (int k = 0; k < VARIED; k++)
        weight[varied[k]] = 1 / (varied[k] == 20 ? 50.f : 1);
    memcpy(held, weight, sizeof held);
    fit_from(held, &rows, 1e9, true, 1);
    for (int k = 0; k < N_FEATURES; k++)
        assert_float_equal(held[k], weight[k], 1e-4);
    fit(free_one, &rows, 1e-6, true, 1);
    memcpy(twice, weight, sizeof twice);
    fit_from(twice, &rows, 1e-6, true, 0);
    for (int k = 0; k < VARIED; k++)
        assert_float_equal(twice[varied[k]], free_one[varied[k]], 1e-4);
    rows_free(&rows);
}

static void linear__the_loss_is_that_of_the_right_row(void **state)
{
    kith__row_table rows = choices(6, 200);
    float weight[N_FEATURES] = {0};
    double w[N_FEATURES] = {0};

    (void)state;
    for (int k = 0; k < VARIED; k++)
        w[varied[k]] = weight[varied[k]] = (float)true_weights[k];
    for (size_t q = 0; q < 200; q++)
        assert_true(fabs(kith__linear_loss(weight, &rows, q) - share_loss(w, &rows, q)) < 1e-5);
    rows_free(&rows);
}

static void linear__the_loss_of_large_scores_is_a_number(void **state)
{
    kith__row_table rows = rows_new(2, 2);
    float weight[N_FEATURES] = {1};

    (void)state;
    rows.right[1] = 2;
    rows.feature[0] = 2000;
    rows.feature[N_FEATURES] = 2001;
    rows.feature[2 * N_FEATURES] = -2000;
    rows.feature[3 * N_FEATURES] = -2001;
    /* One right answer is 1 below the other candidate, the other 1 above. */
    assert_true(fabs(kith__linear_loss(weight, &rows, 0) - log(1 + exp(1))) < 1e-6);
    assert_true(fabs(kith__linear_loss(weight, &rows, 1) - log(1 + exp(-1))) < 1e-6);
    rows_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear__weights_that_made_the_choices_are_found_again),
        cmocka_unit_test(linear__the_slope_of_the_loss_is_0_at_the_result),
        cmocka_unit_test(linear__threads_do_not_matter),
        cmocka_unit_test(linear__queries_that_are_set_aside_have_no_say),
        cmocka_unit_test(linear__a_row_with_an_offset_stands_for_as_many_others),
        cmocka_unit_test(linear__choices_that_one_feature_decides_give_finite_weights),
        cmocka_unit_test(linear__no_rows_give_no_weights),
        cmocka_unit_test(linear__weights_are_pulled_to_where_they_begin),
        cmocka_unit_test(linear__the_loss_is_that_of_the_right_row),
        cmocka_unit_test(linear__the_loss_of_large_scores_is_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
