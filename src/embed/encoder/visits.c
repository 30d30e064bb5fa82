/* Visits by neighbour and relation: T_r(e) = e - c w with c = w . e, B e, and the logits computed
 * from these; and back to the gradient of the neighbour's row. What depends on the pair alone is
 * computed once. */
#include <string.h>

#include "embed/encoder/pairs.h"

#define INLINE static inline __attribute__((always_inline))

void kith__rows_of_piece(size_t *from, size_t *to, const size_t *start, size_t rows, size_t extra,
                         size_t piece, size_t pieces)
{
    size_t bound[2], all = start[rows] + rows * extra;

    for (int k = 0; k < 2; k++) {
        size_t wanted = all * (piece + (size_t)k) / pieces, low = 0, high = rows;
        while (low < high) { /* find the first row that begins at or after `wanted` */
            size_t middle = (low + high) / 2;
            if (start[middle] + middle * extra < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        bound[k] = low;
    }
    *from = bound[0];
    *to = bound[1];
}

/* ---- forward ---- */

/* The rows of queries are scattered over their table too; prefetch one for all items that share
 * it. */
INLINE void fetch_query(const kith__encoder *e, size_t item)
{
    if (item < e->visits.count)
        kith__fetch(e->products.ez + e->plan.query_row[e->visits.item_encoding[item]] * e->hs);
}

/* Collect the next queries of a pair, beginning with item `from`; returns the first item after
 * them. */
static size_t meet_queries(kith__pair *p, const kith__encoder *e, size_t from, size_t to)
{
    uint32_t last = UINT32_MAX;

    p->count = 0;
    for (; from < to; from++) {
        uint32_t query = e->plan.query_row[e->visits.item_encoding[from]];
        if (query == last)
            continue;
        if (p->count == MEETINGS)
            break;
        fetch_query(e, from + 4);
        p->met[p->count].ez = e->products.ez + query * e->hs;
        p->queries[p->count++] = last = query;
    }
    return from;
}

static void visit_pair(kith__encoder *e, kith__pair *p, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++)
        e->visits.c[e->visits.items[k].index] = p->c;
    for (size_t end; e->att_u && from < to; from = end) {
        end = meet_queries(p, e, from, to);
        kith__make_logits(p, e);
        /* Visits are in the order of queries, so equal queries are adjacent. */
        for (size_t m = 0; from < end; from++) {
            m += e->plan.query_row[e->visits.item_encoding[from]] != p->queries[m];
            e->visits.logit[e->visits.items[from].index] = p->logit[m];
        }
    }
}

static void visit_row(kith__encoder *e, size_t row, kith__pair *p)
{
    for (size_t k = e->visits.row_start[row], end; k < e->visits.row_start[row + 1]; k = end) {
        size_t r = e->products.relation_row[e->visits.items[k].minor] - 1;
        end = kith__pair_end(e->visits.items, k, e->visits.row_start[row + 1]);
        kith__fetch_relation(e, end);
        for (size_t i = k + 24; i < end + 24 && i < e->visits.count; i++) {
            __builtin_prefetch(&e->visits.c[e->visits.items[i].index], 1);
            __builtin_prefetch(&e->visits.logit[e->visits.items[i].index], 1);
        }
        kith__begin_pair(p, e, row, r,
                         kith__dot(kith__entity_row(e, row), e->products.unit + r * e->ds, e->ds));
        visit_pair(e, p, k, end);
    }
}

/* B e of a few rows, or B e + b for gates; they are visited while they are in the cache. */
static void multiply_rows(kith__encoder *e, size_t from, size_t to)
{
    const float *at[ROWS_AT_ONCE];

    for (size_t row = from; row < to; row++) {
        at[row - from] = kith__entity_row(e, row);
        if (!e->att_u)
            memcpy(e->products.be + row * e->hs, e->products.b_bias, e->hs * sizeof(float));
    }
    kith__rows_times(e->products.be + from * e->hs, at, to - from, e->products.b_transposed, e->d,
                     e->hs, !e->att_u);
    for (size_t row = from; e->att_u && row < to; row++)
        e->products.be_most[row] = kith__largest(e->products.be + row * e->hs, e->hs);
}

void kith__visit_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    kith__pair p = {.scratch = e->products.scratch + piece * kith__apart(3 * e->hs)};
    size_t row, last;

    bool multiplies = e->multiplies && !e->products.has_be;
    kith__rows_of_piece(&row, &last, e->visits.row_start, e->visits.rows,
                        multiplies ? ROW_FORWARD : 1, piece, PIECES);
    for (size_t end; row < last; row = end) {
        end = kith__block_end(row, last);
        if (kith__encoder_stops(e))
            return;
        if (multiplies)
            multiply_rows(e, row, end);
        for (size_t k = row; k < end; k++) {
            if (k + ROWS_AT_ONCE < last) /* prefetch for the next products */
                kith__fetch_row(kith__entity_row(e, k + ROWS_AT_ONCE), e->ds);
            visit_row(e, k, &p);
        }
    }
}

/* ---- backward ---- */

static kith__sums sums_of(const kith__encoder *e, size_t piece)
{
    return (kith__sums){e->back.gaz + piece * e->back.active_query_count * e->hs,
                        e->back.gbw + piece * e->back.active_relation_count * e->hs,
                        e->back.gunit + piece * e->back.active_relation_count * e->ds,
                        e->back.gu + piece * kith__apart(e->hs),
                        e->back.gb + piece * e->hs * e->ds};
}

/* Prefetch what the pair that begins at an item reads and adds to for its relation. */
INLINE void fetch_sums(const kith__encoder *e, kith__sums s, size_t item)
{
    if (item >= e->back.active_visits)
        return;
    size_t r = e->products.relation_row[e->back.active_items[item].minor] - 1,
           slot = e->back.relation_slot[r];
    kith__fetch(e->products.unit + r * e->ds);
    kith__fetch(s.gunit + slot * e->ds);
    if (!e->multiplies)
        return;
    kith__fetch(e->products.bw + r * e->hs);
    kith__fetch(s.gbw + slot * e->hs);
}

/* Prefetch values per visit, which are scattered over their arrays too. */
INLINE void fetch_visit(const kith__encoder *e, size_t item)
{
    if (item >= e->back.active_visits)
        return;
    size_t v = e->back.active_items[item].index;
    __builtin_prefetch(&e->visits.c[v]);
    __builtin_prefetch(&e->visits.weight[v]);
    __builtin_prefetch(&e->back.logit_gradient[v]);
}

/* Prefetch the gradient of the encoding of a later item. */
INLINE void fetch_gradient(const kith__encoder *e, size_t item)
{
    if (item < e->back.active_visits)
        kith__fetch(e->plan.grad + e->back.active_encoding[item] * e->ds);
}

/* The gradient through c = w . e; the rest of T's gradient is part of those of B e and B w. */
static void back_through_factor(float *ge, float *gunit, const kith__encoder *e,
                                const kith__pair *p, float gc)
{
    kith__axpy(ge, gc, e->products.unit + p->r * e->ds, e->ds);
    kith__axpy(gunit, gc, kith__entity_row(e, p->row), e->ds);
}

/* T's gradient of one pair if its visits' gradients are weights times rows of grad. */
static void back_through_weights(kith__encoder *e, float *ge, float *gunit, const kith__pair *p,
                                 float gc, size_t from, size_t to, float *scratch)
{
    float weight[VISITS_AT_ONCE];

    for (size_t k = from, count; k < to; k += count) {
        count = to - k < VISITS_AT_ONCE ? to - k : VISITS_AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            fetch_gradient(e, k + i + 6);
            weight[i] = e->visits.weight[e->back.active_items[k + i].index];
        }
        kith__transform_backward(ge, gunit, weight, e->plan.grad, e->back.active_encoding + k,
                                 count, kith__entity_row(e, p->row),
                                 e->products.unit + p->r * e->ds, p->c, gc, scratch, e->ds);
        gc = 0;
    }
}

/* T's gradient of one pair if its visits have gradient vectors. */
static void back_through_vectors(kith__encoder *e, float *ge, float *gunit, const kith__pair *p,
                                 float gc, size_t from, size_t to, float *scratch)
{
    static const uint32_t first;
    static const float one = 1;

    for (size_t k = from; k < to; k++) {
        e->aggregator->visit_gradient(scratch + e->ds, e, e->back.active_encoding[k],
                                      e->back.active_items[k].index);
        kith__transform_backward(ge, gunit, &one, scratch + e->ds, &first, 1,
                                 kith__entity_row(e, p->row), e->products.unit + p->r * e->ds, p->c,
                                 k == from ? gc : 0, scratch, e->ds);
    }
}

static void backward_row(kith__encoder *e, kith__sums s, size_t index, float *gbe, float *scratch)
{
    size_t end = e->back.active_start[index + 1];
    float *ge = kith__gradient_of(e->back.gradients,
                                  e->back.active_items[e->back.active_start[index]].major);
    void (*through)(kith__encoder *, float *, float *, const kith__pair *, float, size_t, size_t,
                    float *) =
        e->aggregator->visit_gradient ? back_through_vectors : back_through_weights;
    kith__pair p;

    p.scratch = scratch;
    memset(ge, 0, e->ds * sizeof *ge); /* the encoder is the first to add to it */
    for (size_t k = e->back.active_start[index], next; k < end; k = next) {
        next = kith__pair_end(e->back.active_items, k, end);
        for (size_t i = k; i < next; i++)
            fetch_visit(e, i + 24);
        fetch_sums(e, s, next);
        kith__begin_pair(&p, e, e->back.active_rows[index],
                         e->products.relation_row[e->back.active_items[k].minor] - 1,
                         e->visits.c[e->back.active_items[k].index]);
        float *gunit = s.gunit + e->back.relation_slot[p.r] * e->ds;
        if (e->aggregator->gated) {
            back_through_factor(ge, gunit, e, &p,
                                kith__pair_gates_backward(e, s, gbe, &p, k, next));
            continue;
        }
        float gc = e->att_u ? kith__pair_attention_backward(e, s, gbe, &p, k, next) : 0;
        through(e, ge, gunit, &p, gc, k, next, scratch + 3 * e->hs);
    }
}

/* Prefetch what is read for a later row. */
INLINE void fetch_active(const kith__encoder *e, size_t index, size_t last)
{
    if (index >= last)
        return;
    kith__fetch_row(kith__entity_row(e, e->back.active_rows[index]), e->ds);
    if (e->att_u)
        kith__fetch_row(e->products.be + e->back.active_rows[index] * e->hs, e->hs);
}

/* B e, for a few rows that are still in the cache: gB += gbe^T e, ge += gbe B. */
static void back_through_rows(kith__encoder *e, kith__sums s, size_t from, size_t to,
                              const float *gbe)
{
    const float *row[ROWS_AT_ONCE], *gradient[ROWS_AT_ONCE];
    size_t first =
        e->back.gradients->row_of[e->back.active_items[e->back.active_start[from]].major] - 1;

    for (size_t k = from; k < to; k++) {
        row[k - from] = kith__entity_row(e, e->back.active_rows[k]);
        gradient[k - from] = gbe + (k - from) * e->hs;
    }
    kith__outer_sum(s.gb, gbe, row, to - from, e->hs, e->ds);
    /* The encoder creates the first rows, so they are in the order of active_rows. */
    kith__rows_times(e->back.gradients->ent.at + first * e->ds, gradient, to - from,
                     e->products.b_plain, e->h, e->ds, 1);
}

static void clear_sums(const kith__encoder *e, kith__sums s)
{
    memset(s.gunit, 0, e->back.active_relation_count * e->ds * sizeof(float));
    if (!e->multiplies)
        return;
    memset(s.gb, 0, e->hs * e->ds * sizeof(float));
    memset(s.gbw, 0, e->back.active_relation_count * e->hs * sizeof(float));
    if (!e->att_u)
        return;
    memset(s.gaz, 0, e->back.active_query_count * e->hs * sizeof(float));
    memset(s.gu, 0, kith__apart(e->hs) * sizeof(float));
}

void kith__visit_backward_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    kith__sums s = sums_of(e, piece);
    float *scratch = e->products.scratch + piece * kith__apart(3 * e->hs + 2 * e->ds);
    float *gbe = e->back.gbe + piece * ROWS_AT_ONCE * e->hs;
    size_t from, last;

    clear_sums(e, s);
    kith__rows_of_piece(&from, &last, e->back.active_start, e->back.active_count,
                        e->multiplies ? ROW_BACKWARD : 1, piece, e->back.pieces);
    for (size_t end; from < last; from = end) {
        end = kith__block_end(from, last);
        if (kith__encoder_stops(e))
            return;
        if (e->multiplies)
            memset(gbe, 0, ROWS_AT_ONCE * e->hs * sizeof *gbe);
        for (size_t k = from; k < end; k++) {
            fetch_active(e, k + 2, last);
            backward_row(e, s, k, gbe + (k - from) * e->hs, scratch);
        }
        if (e->multiplies)
            back_through_rows(e, s, from, end, gbe);
    }
}
