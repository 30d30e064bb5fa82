/* Logistic regression over a few features. */
#include <math.h>

#include "support.h"
#include "fusions.h"

/* At the best weights the loss is flat: sum of (P - truth) x = pull (towards - w), for each
 * figure. */
static void logistic__the_loss_is_flat_at_its_weights(void **state)
{
    enum { COUNT = 300, FIGURES = 4 };
    static const double pull[FIGURES] = {10, .5, 1e-6, 2}, towards[FIGURES] = {1, 0, 0, -1};
    kith__sample samples[COUNT] = {0};
    double w[FIGURES], slope[FIGURES];
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 5, 0);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < FIGURES; k++)
            samples[i].x[k] = k == 2 ? 1 : uniform(&rng, -2, 2);
        samples[i].truth = samples[i].x[0] - 2 * samples[i].x[1] + uniform(&rng, -2, 2) > .3;
    }
    memcpy(w, towards, sizeof w);
    kith__logistic_fit(w, FIGURES, pull, samples, COUNT);
    for (int k = 0; k < FIGURES; k++)
        slope[k] = pull[k] * (w[k] - towards[k]);
    for (int i = 0; i < COUNT; i++) {
        double z = 0;
        for (int k = 0; k < FIGURES; k++)
            z += w[k] * samples[i].x[k];
        for (int k = 0; k < FIGURES; k++)
            slope[k] += (1 / (1 + exp(-z)) - samples[i].truth) * samples[i].x[k];
    }
    for (int k = 0; k < FIGURES; k++)
        assert_true(fabs(slope[k]) < 1e-6);
    assert_true(w[0] > .3 && w[1] < -.6);
}

static void logistic__samples_that_can_be_parted_leave_weights_finite(void **state)
{
    kith__sample samples[2] = {{{1000, 1}, true}, {{-1000, 1}, false}};
    static const double pull[2] = {1, 1};
    double w[2] = {0, 0};

    (void)state;
    kith__logistic_fit(w, 2, pull, samples, 2);
    assert_true(isfinite(w[0]) && isfinite(w[1]) && w[0] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logistic__the_loss_is_flat_at_its_weights),
        cmocka_unit_test(logistic__samples_that_can_be_parted_leave_weights_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
