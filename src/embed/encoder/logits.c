/* Attention logits of a pair of neighbour and relation, u . tanh(A z_q + B e - c B w) for every
 * query q that occurs with it, and back; and back through the gates of an lstm, which share B e - c
 * B w. */
#include <string.h>

#include "embed/encoder/pairs.h"

#define INLINE static inline __attribute__((always_inline))

/* ---- forward ---- */

/* y = scale (a - c b) */
static void scaled_minus(float *y, float scale, const float *a, float c, const float *b, size_t n)
{
    memset(y, 0, n * sizeof *y);
    kith__axpy2(y, scale, a, -c * scale, b, n);
}

const float *kith__unscaled_pair(const kith__pair *p, const kith__encoder *e)
{
    scaled_minus(p->scratch, 1 / KITH__POWER_SCALE, e->products.be + p->row * e->hs, p->c,
                 e->products.bw + p->r * e->hs, e->hs);
    return p->scratch;
}

const float *kith__unscaled_query(const kith__pair *p, const kith__encoder *e, size_t m)
{
    const float *az = e->products.az + p->queries[m] * e->hs;
    scaled_minus(p->scratch + e->hs, 1 / KITH__POWER_SCALE, az, 0, az, e->hs);
    return p->scratch + e->hs;
}

static void quick_logits(kith__pair *p, const kith__encoder *e, size_t from, size_t count)
{
    kith__pair_logits(p->logit + from, p->met + from, count, e->products.be + p->row * e->hs, p->c,
                      e->products.bw + p->r * e->hs, e->att_u->at, e->products.u_sum, p->scratch,
                      e->hs);
}

/* u . tanh(A z + p) for all queries of the pair, with powers of 2 where they are precise enough.
 * That is decided for each query, so that a logit does not depend on the other queries. */
void kith__make_logits(kith__pair *p, const kith__encoder *e)
{
    if (kith__width_fits(p, e)) {
        quick_logits(p, e, 0, p->count);
        return;
    }
    for (size_t m = 0; m < p->count; m++) {
        if (kith__width_fits_one(p, e, m)) {
            quick_logits(p, e, m, 1);
            continue;
        }
        const float *plain = kith__unscaled_pair(p, e);
        p->logit[m] = kith__logit(kith__unscaled_query(p, e, m), plain, e->att_u->at, e->hs);
    }
}

/* ---- backward ---- */

/* What an item's query reads and adds to. */
INLINE void fetch_meeting(const kith__encoder *e, kith__sums s, size_t item)
{
    if (item >= e->back.active_visits)
        return;
    size_t query = e->plan.query_row[e->back.active_encoding[item]];
    kith__fetch(e->products.ez + query * e->hs);
    kith__fetch(s.gaz + e->back.query_slot[query] * e->hs);
}

/* The queries of the items from `from` on that one call handles, each with the sum of its visits'
 * gradients; returns the first item after them. */
static size_t find_meetings(kith__pair *p, const kith__encoder *e, kith__sums s, size_t from,
                            size_t to)
{
    uint32_t last = UINT32_MAX;

    p->count = 0;
    for (; from < to; from++) {
        uint32_t query = e->plan.query_row[e->back.active_encoding[from]];
        if (query != last) {
            if (p->count == MEETINGS)
                break;
            fetch_meeting(e, s, from + 4);
            p->met[p->count] = (kith__meeting){e->products.ez + query * e->hs,
                                               s.gaz + e->back.query_slot[query] * e->hs, 0};
            p->queries[p->count++] = last = query;
        }
        p->met[p->count - 1].g += e->back.logit_gradient[e->back.active_items[from].index];
    }
    return from;
}

/* With p = B e - c B w, the gradient of p is summed over the queries; then gB e += gp, gB w -= c
 * gp. Returns gp . B w, the negative derivative with respect to c. Uses powers of 2 if they are
 * precise enough. */
static float meet(kith__pair *p, const kith__encoder *e, kith__sums s, float *gbe)
{
    const float *be = e->products.be + p->row * e->hs, *bw = e->products.bw + p->r * e->hs,
                *u = e->att_u->at;
    float *gbw = s.gbw + e->back.relation_slot[p->r] * e->hs, *gp = p->scratch + 2 * e->hs;

    if (kith__width_fits(p, e))
        return kith__pair_backward(gbe, gbw, s.gu, p->met, p->count, be, p->c, bw, u, p->scratch,
                                   e->hs) /
               KITH__POWER_SCALE;
    const float *plain = kith__unscaled_pair(p, e);
    memset(gp, 0, e->hs * sizeof *gp);
    for (size_t m = 0; m < p->count; m++)
        kith__logit_backward(p->met[m].gz, gp, s.gu, p->met[m].g, kith__unscaled_query(p, e, m),
                             plain, u, e->hs);
    kith__axpy(gbe, 1, gp, e->hs);
    kith__axpy(gbw, -p->c, gp, e->hs);
    return kith__dot(gp, bw, e->hs) / KITH__POWER_SCALE;
}

float kith__pair_attention_backward(kith__encoder *e, kith__sums s, float *gbe, kith__pair *p,
                                    size_t from, size_t to)
{
    float gc = 0;

    while (from < to) {
        from = find_meetings(p, e, s, from, to);
        gc -= meet(p, e, s, gbe);
    }
    return gc;
}

/* z = B e - c B w: with G the sum of its visits' gradients, gB e += G and gB w -= c G. The
 * derivative with respect to c is - G . B w. */
float kith__pair_gates_backward(kith__encoder *e, kith__sums s, float *gbe, const kith__pair *p,
                                size_t from, size_t to)
{
    const float *sum = e->aggregator->gate_gradient(e, e->back.active_items[from].index);

    if (to - from > 1) {
        memcpy(p->scratch, sum, e->hs * sizeof *sum);
        for (size_t k = from + 1; k < to; k++)
            kith__axpy(p->scratch, 1,
                       e->aggregator->gate_gradient(e, e->back.active_items[k].index), e->hs);
        sum = p->scratch;
    }
    kith__axpy(gbe, 1, sum, e->hs);
    kith__axpy(s.gbw + e->back.relation_slot[p->r] * e->hs, -p->c, sum, e->hs);
    return -kith__dot(sum, e->products.bw + p->r * e->hs, e->hs);
}
