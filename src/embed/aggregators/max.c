/* The largest value in each coordinate. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "embed/encoder/state.h"
#include "nn/kernels.h"

/* For each coordinate of each encoding, the visit that it comes from. */
typedef struct {
    uint32_t *winner;
    size_t capacity;
} state;

static uint32_t *winners(const kith__encoder *e, size_t i)
{
    return ((state *)e->aggregator_state)->winner + i * e->ds;
}

static void forward(kith__encoder *e, size_t i)
{
    float *out = e->plan.out + i * e->ds,
          *t = e->plan.grad + i * e->ds; /* grad is unused until the backward pass */
    uint32_t *winner = winners(e, i);

    memset(winner, 0xff, e->ds * sizeof *winner);
    for (size_t v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++) {
        kith__visit_vector(t, e, v);
        for (size_t k = 0; k < e->d; k++)
            if (v == e->plan.first_visit[i] || t[k] > out[k]) {
                out[k] = t[k];
                winner[k] = (uint32_t)(v - e->plan.first_visit[i]);
            }
    }
    memset(t, 0, e->ds * sizeof *t);
}

static void visit_gradient(float *gradient, const kith__encoder *e, size_t i, size_t visit)
{
    const uint32_t *winner = winners(e, i);
    const float *grad = e->plan.grad + i * e->ds;

    memset(gradient, 0, e->ds * sizeof *gradient);
    for (size_t k = 0; k < e->d; k++)
        if (winner[k] == visit - e->plan.first_visit[i])
            gradient[k] = grad[k];
}

static void free_state(void *pointer)
{
    kith__free(((state *)pointer)->winner);
    kith__free(pointer);
}

static int prepare(kith__encoder *e)
{
    if (!e->aggregator_state) {
        e->aggregator_state = kith__calloc(1, sizeof(state));
        e->free_state = free_state;
    }
    state *s = e->aggregator_state;
    return !s || kith__renew(&s->winner, &s->capacity, e->plan.count * e->ds, sizeof *s->winner)
               ? -1
               : 0;
}

/* T at the coordinates that come from the visit, else 0. */
static void share(float *to, const kith__encoder *e, size_t i, size_t visit)
{
    const uint32_t *winner = winners(e, i);

    kith__visit_vector(to, e, visit);
    for (size_t k = 0; k < e->ds; k++)
        if (winner[k] != visit - e->plan.first_visit[i])
            to[k] = 0;
}

static void explain(kith__neighbor_weight *to, const kith__encoder *e, size_t i, size_t visit)
{
    for (size_t k = 0; k < e->d; k++)
        to->wins += winners(e, i)[k] == visit - e->plan.first_visit[i];
}

const kith__aggregator kith__agg_max = {.name = "max",
                                        .prepare = prepare,
                                        .forward = forward,
                                        .visit_gradient = visit_gradient,
                                        .weighing = KITH_WEIGH_MAX,
                                        .explain = explain,
                                        .share = share};
