#include "train/shared_candidates.h"

#include <string.h>

#include "core/mem.h"
#include "nn/kernels.h"

int kith__shared_candidates_reserve(kith__shared_candidates *s, const kith__scoring *scoring,
                                    size_t count, size_t pieces)
{
    size_t stride = kith__padded(count), floats = stride * scoring->ds;

    s->count = count;
    s->stride = stride;
    s->pieces = pieces;
    if (kith__floats_reserve(&s->rows, floats) || kith__floats_reserve(&s->inverse, stride) ||
        kith__floats_reserve(&s->gradient, pieces * floats) ||
        kith__panels_reserve(&s->panels, count, scoring->d))
        return -1;
    memset(s->rows.at, 0, floats * sizeof(float));
    memset(s->gradient.at, 0, pieces * floats * sizeof(float));
    return 0;
}

void kith__shared_candidates_release(kith__shared_candidates *s)
{
    kith__free(s->rows.at);
    kith__free(s->inverse.at);
    kith__free(s->gradient.at);
    kith__panels_release(&s->panels);
}

void kith__shared_candidate_set(kith__shared_candidates *s, const kith__scoring *scoring, size_t j,
                                const float *from)
{
    float *to = s->rows.at + j * scoring->ds;

    if (scoring->unit)
        s->inverse.at[j] = kith__normalize(to, from, scoring->d);
    else
        memcpy(to, from, scoring->ds * sizeof *to);
}

void kith__shared_candidates_pack(kith__shared_candidates *s, const kith__scoring *scoring)
{
    kith__panels_pack(&s->panels, s->rows.at, scoring->ds);
}

float *kith__shared_gradient(const kith__shared_candidates *s, const kith__scoring *scoring,
                             size_t piece)
{
    return s->gradient.at + piece * s->stride * scoring->ds;
}

void kith__shared_candidates_sum(kith__shared_candidates *s, const kith__scoring *scoring)
{
    for (size_t p = 1; p < s->pieces; p++)
        kith__axpy(s->gradient.at, 1, kith__shared_gradient(s, scoring, p),
                   s->stride * scoring->ds);
}

void kith__shared_candidate_backward(float *to, const kith__shared_candidates *s,
                                     const kith__scoring *scoring, size_t j)
{
    size_t ds = scoring->ds, d = scoring->d;
    float *gradient = s->gradient.at + j * ds;

    memset(gradient + d, 0, (ds - d) * sizeof *gradient); /* kernels leave values in the padding */
    if (scoring->unit)
        kith__normalize_backward(to, gradient, s->rows.at + j * ds, s->inverse.at[j], d);
    else
        kith__axpy(to, 1, gradient, ds);
}
