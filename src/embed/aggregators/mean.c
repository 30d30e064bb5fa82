/* Mean and sum over the neighbours (Hamaguchi et al. 2017). With padding, as in the authors'
 * program, mean divides by the cap, and a trained neighbour fills every empty position. */
#include <string.h>

#include "embed/decoders/decoder.h"
#include "embed/encoder/state.h"
#include "nn/kernels.h"

static void set_weights(kith__encoder *e, size_t i, float weight)
{
    for (size_t v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++)
        e->visits.weight[v] = weight;
}

static size_t places(const kith__encoder *e, size_t i)
{
    size_t degree = kith__degree(e, i), cap = e->settings->max_neighbors;
    return e->settings->padding && degree < cap ? cap : degree;
}

/* Writes T of the padding neighbour to `out`; unit and c are kept for the gradient. */
static float pad_vector(float *out, float *unit, float *inverse, const kith__encoder *e)
{
    const float *pad = kith__params_find(e->params, "pad_ent")->at;
    *inverse = kith__normalize(unit, kith__params_find(e->params, "pad_trans")->at, e->d);
    float c = kith__dot(unit, pad, e->ds);
    kith__minus(out, pad, c, unit, e->ds);
    return c;
}

static void mean_forward(kith__encoder *e, size_t i)
{
    size_t all = places(e, i);

    set_weights(e, i, all ? 1 / (float)all : 0);
    kith__sum_weighted(e, i);
}

static void mean_forward_all(kith__encoder *e)
{
    float inverse, *unit = e->products.partial, *pad = unit + e->ds;

    if (!e->settings->padding)
        return;
    pad_vector(pad, unit, &inverse, e);
    for (size_t i = 0; i < e->plan.count; i++) {
        size_t all = places(e, i);
        if (all > kith__degree(e, i) && kith__degree(e, i) > 0)
            kith__axpy(e->plan.out + i * e->ds, (float)(all - kith__degree(e, i)) / (float)all, pad,
                       e->ds);
    }
}

static float *pad_gradient(kith__encoder *e, const char *name)
{
    return kith__gradient_row(e->back.gradients, kith__params_find(&e->back.gradients->dense, name),
                              0);
}

static void mean_backward_all(kith__encoder *e)
{
    float inverse, *unit = e->products.partial, *pad = unit + e->ds, *sum = pad + e->ds;

    if (!e->settings->padding)
        return;
    float c = pad_vector(pad, unit, &inverse, e);
    memset(sum, 0, 2 * e->ds * sizeof *sum);
    for (size_t i = 0; i < e->plan.count; i++) {
        size_t all = places(e, i), degree = kith__degree(e, i);
        if (e->plan.active[i] && all > degree && degree > 0)
            kith__axpy(sum, (float)(all - degree) / (float)all, e->plan.grad + i * e->ds, e->ds);
    }
    /* T = p - c w with c = w . p and w = pad_trans / |pad_trans|. */
    const float *p = kith__params_find(e->params, "pad_ent")->at;
    float *gw = sum + e->ds, along = kith__dot(sum, unit, e->ds);
    kith__axpy2(pad_gradient(e, "pad_ent"), 1, sum, -along, unit, e->ds);
    kith__axpy2(gw, -c, sum, -along, p, e->ds);
    kith__normalize_backward(pad_gradient(e, "pad_trans"), gw, unit, inverse, e->d);
}

static void sum_forward(kith__encoder *e, size_t i)
{
    set_weights(e, i, 1);
    kith__sum_weighted(e, i);
}

static void explain(kith__neighbor_weight *to, const kith__encoder *e, size_t i, size_t v)
{
    (void)i;
    to->weight = e->visits.weight[v];
}

const kith__aggregator kith__agg_mean = {
    .name = "mean",
    .tables = 2,
    .table = {{{"pad_ent", KITH__ONE, KITH__DIM, false, KITH__XAVIER}, true},
              {{"pad_trans", KITH__ONE, KITH__DIM, false, KITH__XAVIER}, true}},
    .forward = mean_forward,
    .forward_all = mean_forward_all,
    .backward_all = mean_backward_all,
    .weighing = KITH_WEIGH_EQUAL,
    .explain = explain,
};

const kith__aggregator kith__agg_sum = {
    .name = "sum", .forward = sum_forward, .weighing = KITH_WEIGH_EQUAL, .explain = explain};
