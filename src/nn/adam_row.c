/* One step of Adam over a row. */
#include "nn/kernels.h"

#include <math.h>

#include "nn/lanes.h"

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
