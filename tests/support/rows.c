#include <math.h>

#include "core/mem.h"
#include "nn/kernels.h"
#include "rows.h"

kith__rng rng;

size_t between(size_t low, size_t high)
{
    return low + (size_t)kith__rng_below(&rng, high - low + 1);
}

size_t some_width(void)
{
    size_t proximity = 8 * between(0, 36);
    return kith__rng_below(&rng, 2) ? between(1, 300) : proximity + between(1, 3);
}

float some_value(double scale)
{
    return (float)(scale * (2 * kith__rng_unit(&rng) - 1));
}

float *some_rows(size_t rows, size_t width, size_t stride, double scale)
{
    float *at = kith__calloc_aligned(rows * stride + 1, sizeof *at);

    assert_non_null(at);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < width; k++)
            at[r * stride + k] = some_value(scale);
    return at;
}

float *some_row(size_t width, double scale)
{
    return some_rows(1, width, kith__padded(width), scale);
}

float *copy_of(const float *from, size_t count)
{
    float *at = kith__calloc_aligned(count + 1, sizeof *at);

    assert_non_null(at);
    memcpy(at, from, count * sizeof *at);
    return at;
}

void check_near(double found, double expected, double error, const char *what, size_t k)
{
    if (!(fabs(found - expected) <= error))
        fail_msg("%s[%zu]: found %.9g, expected %.9g within %.3g", what, k, found, expected, error);
}

void check_padding(const float *at, size_t width, const char *what)
{
    for (size_t k = width; k < kith__padded(width); k++)
        if (at[k] != 0)
            fail_msg("%s[%zu]: found %g behind a width of %zu, expected 0", what, k, (double)at[k],
                     width);
}
