#include "train/scaled_rows.h"

#include <string.h>

#include "core/mem.h"
#include "nn/kernels.h"

int kith__scaled_rows_reserve(kith__scaled_rows *v, size_t count)
{
    size_t floats = count * v->scoring->ds;

    v->count = count;
    if (kith__floats_reserve(&v->row, floats) || kith__floats_reserve(&v->gradient, floats) ||
        kith__floats_reserve(&v->inverse, count) ||
        kith__renew(&v->touched, &v->touched_capacity, count, 1))
        return -1;
    memset(v->touched, 0, count);
    return 0;
}

void kith__scaled_rows_release(kith__scaled_rows *v)
{
    kith__free(v->row.at);
    kith__free(v->inverse.at);
    kith__free(v->gradient.at);
    kith__free(v->touched);
}

void kith__scaled_row_set(kith__scaled_rows *v, size_t i, const float *from)
{
    size_t ds = v->scoring->ds;
    float *to = v->row.at + i * ds;

    if (v->scoring->unit)
        v->inverse.at[i] = kith__normalize(to, from, v->scoring->d);
    else
        memcpy(to, from, ds * sizeof *to);
}

float *kith__scaled_row_gradient(kith__scaled_rows *v, size_t i)
{
    size_t ds = v->scoring->ds;
    float *at = v->gradient.at + i * ds;

    if (!v->touched[i])
        memset(at, 0, ds * sizeof *at);
    v->touched[i] = 1;
    return at;
}

void kith__scaled_row_backward(float *to, const kith__scaled_rows *v, size_t i)
{
    size_t ds = v->scoring->ds;
    const float *gradient = v->gradient.at + i * ds;

    if (v->scoring->unit)
        kith__normalize_backward(to, gradient, v->row.at + i * ds, v->inverse.at[i],
                                 v->scoring->d);
    else
        kith__axpy(to, 1, gradient, ds);
}
