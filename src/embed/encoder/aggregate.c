/* Encodings as the aggregator's sums over their visits; and back to gradients with respect to the
 * weights of visits. */
#include <string.h>

#include "embed/encoder/pairs.h"

/* ---- forward ---- */

void kith__encode_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->plan.count, piece, PIECES);
    for (size_t i = from; i < to; i++) {
        if (i % ENCODINGS_A_TICK == 0 && kith__encoder_stops(e))
            return;
        e->aggregator->forward(e, i);
    }
}

/* List the rows of the relations of visits from..to - 1, at most VISITS_AT_ONCE, so that what they
 * share is computed once. Slots are chosen by relation, not by its row in the batch, so that an
 * encoding is the same in every batch. Two relations with the same slot are occasionally listed
 * twice, which does no harm. */
static size_t find_relations(kith__encoder *e, size_t from, size_t to)
{
    uint8_t last[256] = {0};
    uint32_t *ids = e->visits.relation_ids + from;
    size_t count = 0;

    for (size_t v = from; v < to; v++) {
        uint32_t r = e->products.relation_row[e->visits.neighbor[v].relation] - 1;
        uint8_t *place = &last[e->visits.neighbor[v].relation % sizeof last];
        if (!*place || ids[*place - 1] != r) {
            ids[count++] = r;
            *place = (uint8_t)count;
        }
        e->visits.which[v] = *place - 1;
    }
    e->visits.id_count[from] = (uint8_t)count;
    return count;
}

/* out += sum of weight e over visits from..to - 1, at most VISITS_AT_ONCE. */
static void sum_inputs(float *out, const kith__encoder *e, size_t from, size_t to)
{
    const kith_neighbor *at = e->visits.neighbor;
    uint32_t ids[VISITS_AT_ONCE];
    size_t end = to;

    while (end > from && at[end - 1].entity >= e->lists->seen)
        end--;
    kith__gather_sum(out, e->visits.weight + from, kith__ent(e->params)->at, &at[from].entity,
                     sizeof *at / sizeof(uint32_t), end - from, e->ds);
    if (end == to)
        return;
    for (size_t v = end; v < to; v++)
        ids[v - end] = at[v].entity - e->lists->seen;
    kith__gather_sum(out, e->visits.weight + end, e->lists->vectors, ids, 1, to - end, e->ds);
}

void kith__sum_weighted(kith__encoder *e, size_t i)
{
    size_t to = e->plan.first_visit[i + 1], end;
    float *out = e->plan.out + i * e->ds, a[VISITS_AT_ONCE];

    for (size_t v = e->plan.first_visit[i]; v < to; v = end) {
        end = to - v < VISITS_AT_ONCE ? to : v + VISITS_AT_ONCE;
        sum_inputs(out, e, v, end);
        kith__fetch_neighbors(e, end);
        size_t count = find_relations(e, v, end);
        memset(a, 0, count * sizeof *a);
        for (size_t k = v; k < end; k++)
            a[e->visits.which[k]] -= e->visits.weight[k] * e->visits.c[k];
        kith__gather_sum(out, a, e->products.unit, e->visits.relation_ids + v, 1, count, e->ds);
    }
}

void kith__visit_vector(float *out, const kith__encoder *e, size_t v)
{
    size_t r = e->products.relation_row[e->visits.neighbor[v].relation] - 1;
    kith__minus(out, kith__input(e, e->visits.neighbor[v].entity), e->visits.c[v],
                e->products.unit + r * e->ds, e->ds);
}

/* ---- backward ---- */

/* The gradients with respect to the neighbours' weights: grad . T = grad . e - c grad . w. */
static void weigh(kith__encoder *e, size_t i)
{
    const float *grad = e->plan.grad + i * e->ds;
    size_t to = e->plan.first_visit[i + 1], end;
    float dot[VISITS_AT_ONCE], *by_weight = e->back.weight_gradient;

    for (size_t v = e->plan.first_visit[i]; v < to; v = end) {
        end = to - v < VISITS_AT_ONCE ? to : v + VISITS_AT_ONCE;
        kith__gather_dots(by_weight + v, grad, kith__ent(e->params)->at,
                          &e->visits.neighbor[v].entity,
                          sizeof *e->visits.neighbor / sizeof(uint32_t), end - v, e->ds);
        kith__fetch_neighbors(e, end);
        kith__gather_dots(dot, grad, e->products.unit, e->visits.relation_ids + v, 1,
                          e->visits.id_count[v], e->ds);
        for (size_t k = v; k < end; k++)
            by_weight[k] -= e->visits.c[k] * dot[e->visits.which[k]];
    }
}

void kith__encode_backward_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->plan.count, piece, PIECES);
    for (size_t i = from; i < to; i++) {
        if (i % ENCODINGS_A_TICK == 0 && kith__encoder_stops(e))
            return;
        if (e->plan.active[i]) {
            weigh(e, i);
            e->aggregator->backward(e, i);
        }
    }
}
