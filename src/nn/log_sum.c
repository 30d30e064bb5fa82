#include "nn/log_sum.h"

void kith__exp_sum_show(kith__exp_sum *s, const float *x, size_t count, const uint8_t *left_out)
{
    float top = s->top;

    for (size_t i = 0; i < count; i++)
        if (!left_out || !left_out[i])
            top = x[i] > top ? x[i] : top; /* fmaxf would be a call */
    s->top = top;
}

void kith__exp_sum_add(kith__exp_sum *s, const float *x, size_t count, const uint8_t *left_out)
{
    double sum = s->sum;

    if (s->top == -INFINITY) /* nothing to add, or only -INFINITY */
        s->top = 0;
    for (size_t i = 0; i < count; i++)
        if ((!left_out || !left_out[i]) && !isnan(x[i]))
            sum += expf(x[i] - s->top);
    s->sum = sum;
}

kith__exp_sum kith__exp_sum_of(const float *x, size_t count, const uint8_t *left_out)
{
    kith__exp_sum s = {.top = -INFINITY};

    kith__exp_sum_show(&s, x, count, left_out);
    kith__exp_sum_add(&s, x, count, left_out);
    return s;
}

double kith__exp_all(double *x, size_t count, double *top)
{
    double sum = 0;

    *top = -INFINITY;
    for (size_t i = 0; i < count; i++)
        *top = fmax(*top, x[i]);
    for (size_t i = 0; i < count; i++)
        sum += x[i] = exp(x[i] - *top);
    return sum;
}
