/* The backward pass: from gradients by encodings' vectors to those of the parameters. */
#include <string.h>

#include "embed/decoders/decoder.h"
#include "embed/encoder/pairs.h"

enum {
    MOST_BACKWARD = 8, /* pieces, each of which has sums of its own */
    VISITS_A_PIECE = 32768,
    FLOATS_A_CHUNK = 16384 /* of sums that are added up */
};
#define INLINE static inline __attribute__((always_inline))

float *kith__encoder_grad(kith__encoder *e, size_t encoding)
{
    float *row = e->plan.grad + encoding * e->ds;

    if (!e->plan.active[encoding])
        memset(row, 0, e->ds * sizeof *row);
    e->plan.active[encoding] = 1;
    return row;
}

/* Of an item that will come soon, the encoding's gradient. */
INLINE void fetch_gradient(const kith__encoder *e, size_t item)
{
    if (item < e->back.active_visits)
        kith__fetch(e->plan.grad + e->back.active_encoding[item] * e->ds);
}

/* The gradients by the neighbours' weights: grad . T = grad . e - c grad . w. */
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

static void aggregate_backward_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->plan.count, piece, PIECES);
    for (size_t i = from; i < to; i++)
        if (e->plan.active[i]) {
            weigh(e, i);
            e->aggregator->backward(e, i);
        }
}

static int room_for_slots(kith__encoder *e)
{
    return KITH__GROW(&e->back, relation_slot, e->products.relation_rows) ||
           KITH__GROW(&e->back, active_relations, e->products.relation_rows) ||
           KITH__GROW(&e->back, query_slot, e->products.query_rows) ||
           KITH__GROW(&e->back, active_queries, e->products.query_rows);
}

static void mark_active(kith__encoder *e, size_t item)
{
    uint32_t relation = e->products.relation_row[e->back.active_items[item].minor] - 1;
    uint32_t query = e->plan.query_row[e->back.active_encoding[item]];

    if (e->back.relation_slot[relation] == UINT32_MAX) {
        e->back.relation_slot[relation] = (uint32_t)e->back.active_relation_count;
        e->back.active_relations[e->back.active_relation_count++] = relation;
    }
    if (e->back.query_slot[query] == UINT32_MAX) {
        e->back.query_slot[query] = (uint32_t)e->back.active_query_count;
        e->back.active_queries[e->back.active_query_count++] = query;
    }
}

/* The visits of active encodings, sorted as all of them are. */
static int find_active_items(kith__encoder *e)
{
    size_t count = 0;

    for (size_t i = 0; i < e->plan.count; i++)
        count += e->plan.active[i] ? kith__degree(e, i) : 0;
    e->back.active_visits = count;
    e->back.active_items = e->visits.items;
    e->back.active_encoding = e->visits.item_encoding;
    if (count == e->visits.count)
        return 0;
    if (KITH__GROW(&e->back, some_items, count) || KITH__GROW(&e->back, some_encoding, count))
        return -1;
    e->back.active_items = e->back.some_items;
    e->back.active_encoding = e->back.some_encoding;
    count = 0;
    for (size_t i = 0; i < e->plan.count; i++)
        for (size_t v = e->plan.first_visit[i]; e->plan.active[i] && v < e->plan.first_visit[i + 1];
             v++)
            e->back.some_items[count++] = (kith__item){e->visits.neighbor[v].entity,
                                                       e->visits.neighbor[v].relation, (uint32_t)v};
    kith__radix_sort_on(e->pool, e->back.some_items, e->visits.spare, count, e->lists->seen,
                        e->lists->relations);
    for (size_t k = 0; k < count; k++)
        e->back.some_encoding[k] = e->visits.encoding[e->back.some_items[k].index];
    return 0;
}

/* Where all visits are active, so are all rows. */
static int take_all_rows(kith__encoder *e)
{
    e->back.active_count = e->visits.rows;
    e->back.active_relation_count = e->products.relation_rows;
    e->back.active_query_count = e->products.query_rows;
    for (uint32_t r = 0; r < e->products.relation_rows; r++)
        e->back.relation_slot[r] = e->back.active_relations[r] = r;
    for (uint32_t q = 0; q < e->products.query_rows; q++)
        e->back.query_slot[q] = e->back.active_queries[q] = q;
    memcpy(e->back.active_start, e->visits.row_start,
           (e->visits.rows + 1) * sizeof *e->visits.row_start);
    for (uint32_t row = 0; row < e->visits.rows; row++) {
        e->back.active_rows[row] = row;
        if (kith__gradient_make_raw(e->back.gradients,
                                    e->visits.items[e->visits.row_start[row]].major))
            return -1;
    }
    return 0;
}

/* Neighbours that some active encoding looks at get a row of gradients, in order; relations and
 * queries that take part get a place. */
static int find_active_rows(kith__encoder *e)
{
    const kith__item *items = e->back.active_items;

    if (room_for_slots(e) || kith__gradients_reserve(e->back.gradients, e->visits.rows))
        return -1;
    if (e->back.active_visits == e->visits.count)
        return take_all_rows(e);
    memset(e->back.relation_slot, 0xff, e->products.relation_rows * sizeof *e->back.relation_slot);
    memset(e->back.query_slot, 0xff, e->products.query_rows * sizeof *e->back.query_slot);
    e->back.active_count = e->back.active_relation_count = e->back.active_query_count = 0;
    for (size_t k = 0, row = 0; k < e->back.active_visits; k++) {
        mark_active(e, k);
        if (k > 0 && items[k].major == items[k - 1].major)
            continue;
        while (e->visits.items[e->visits.row_start[row]].major != items[k].major)
            row++;
        e->back.active_start[e->back.active_count] = k;
        e->back.active_rows[e->back.active_count++] = (uint32_t)row;
        if (kith__gradient_make_raw(e->back.gradients, items[k].major))
            return -1;
    }
    e->back.active_start[e->back.active_count] = e->back.active_visits;
    return 0;
}

/* Everything a piece of the backward pass adds to beside rows of its own. */
typedef struct {
    float *gaz, *gbw, *gunit, *gu, *gb;
} sums;

static sums sums_of(const kith__encoder *e, size_t piece)
{
    return (sums){e->back.gaz + piece * e->back.active_query_count * e->hs,
                  e->back.gbw + piece * e->back.active_relation_count * e->hs,
                  e->back.gunit + piece * e->back.active_relation_count * e->ds,
                  e->back.gu + piece * kith__apart(e->hs), e->back.gb + piece * e->hs * e->ds};
}

/* Of the pair that begins at an item, what it reads and adds to by its relation. */
INLINE void fetch_sums(const kith__encoder *e, sums s, size_t item)
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

/* Values by visit are all over their arrays too. */
INLINE void fetch_visit(const kith__encoder *e, size_t item)
{
    if (item >= e->back.active_visits)
        return;
    size_t v = e->back.active_items[item].index;
    __builtin_prefetch(&e->visits.c[v]);
    __builtin_prefetch(&e->visits.weight[v]);
    __builtin_prefetch(&e->back.logit_gradient[v]);
}

/* The same by an item's query. */
INLINE void fetch_meeting(const kith__encoder *e, sums s, size_t item)
{
    if (item >= e->back.active_visits)
        return;
    size_t query = e->plan.query_row[e->back.active_encoding[item]];
    kith__fetch(e->products.ez + query * e->hs);
    kith__fetch(s.gaz + e->back.query_slot[query] * e->hs);
}

/* The queries of items from.. that one call takes, each with the sum of its visits' gradients;
 * returns the first item that is not among them. */
static size_t find_meetings(kith__pair *p, const kith__encoder *e, sums s, size_t from, size_t to)
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

/* With p = B e - c B w, the gradient by p is gathered over the meetings; then gB e += gp,
 * gB w -= c gp. Returns gp . B w, whose negative is the derivative by c. By way of powers of 2
 * where that does. */
static float meet(kith__pair *p, const kith__encoder *e, sums s, float *gbe)
{
    const float *be = e->products.be + p->row * e->hs, *bw = e->products.bw + p->r * e->hs,
                *u = e->att_u->at;
    float *gbw = s.gbw + e->back.relation_slot[p->r] * e->hs, *gp = p->scratch + 2 * e->hs;

    if (kith__fits(p, e))
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

/* The attention's part of one pair; returns the derivative by c. */
static float pair_attention(kith__encoder *e, sums s, float *gbe, kith__pair *p, size_t from,
                            size_t to)
{
    float gc = 0;

    while (from < to) {
        from = find_meetings(p, e, s, from, to);
        gc -= meet(p, e, s, gbe);
    }
    return gc;
}

/* The gates' part of one pair, z = B e - c B w: with G the sum of its visits' gradients, gB e += G
 * and gB w -= c G. Returns the derivative by c, - G . B w. */
static float pair_gates(kith__encoder *e, sums s, float *gbe, const kith__pair *p, size_t from,
                        size_t to)
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

/* Of T = e - c w, which B e and B w stand for, only c = w . e is left. */
static void back_through_factor(float *ge, float *gunit, const kith__encoder *e,
                                const kith__pair *p, float gc)
{
    kith__axpy(ge, gc, e->products.unit + p->r * e->ds, e->ds);
    kith__axpy(gunit, gc, kith__entity_row(e, p->row), e->ds);
}

/* T's part of one pair where its visits' gradients are weights times rows of grad. */
static void back_through_weights(kith__encoder *e, float *ge, float *gunit, const kith__pair *p,
                                 float gc, size_t from, size_t to, float *room)
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
                                 e->products.unit + p->r * e->ds, p->c, gc, room, e->ds);
        gc = 0;
    }
}

/* The same where they are vectors of their own. */
static void back_through_vectors(kith__encoder *e, float *ge, float *gunit, const kith__pair *p,
                                 float gc, size_t from, size_t to, float *room)
{
    static const uint32_t first;
    static const float one = 1;

    for (size_t k = from; k < to; k++) {
        e->aggregator->visit_gradient(room + e->ds, e, e->back.active_encoding[k],
                                      e->back.active_items[k].index);
        kith__transform_backward(ge, gunit, &one, room + e->ds, &first, 1,
                                 kith__entity_row(e, p->row), e->products.unit + p->r * e->ds, p->c,
                                 k == from ? gc : 0, room, e->ds);
    }
}

static void backward_row(kith__encoder *e, sums s, size_t index, float *gbe, float *scratch)
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
            back_through_factor(ge, gunit, e, &p, pair_gates(e, s, gbe, &p, k, next));
            continue;
        }
        float gc = e->att_u ? pair_attention(e, s, gbe, &p, k, next) : 0;
        through(e, ge, gunit, &p, gc, k, next, scratch + 3 * e->hs);
    }
}

/* Of a row that will come soon, what is read of it. */
INLINE void fetch_active(const kith__encoder *e, size_t index, size_t last)
{
    if (index >= last)
        return;
    kith__fetch_row(kith__entity_row(e, e->back.active_rows[index]), e->ds);
    if (e->att_u)
        kith__fetch_row(e->products.be + e->back.active_rows[index] * e->hs, e->hs);
}

/* B e, for a few rows that are still in the cache: gB += gbe^T e, ge += gbe B. */
static void back_through_rows(kith__encoder *e, sums s, size_t from, size_t to, const float *gbe)
{
    const float *row[ROWS_AT_ONCE], *gradient[ROWS_AT_ONCE];
    size_t first =
        e->back.gradients->row_of[e->back.active_items[e->back.active_start[from]].major] - 1;

    for (size_t k = from; k < to; k++) {
        row[k - from] = kith__entity_row(e, e->back.active_rows[k]);
        gradient[k - from] = gbe + (k - from) * e->hs;
    }
    kith__outer_sum(s.gb, gbe, row, to - from, e->hs, e->ds);
    /* The encoder is the first to make rows, so they are in the order of active_rows. */
    kith__rows_times(e->back.gradients->ent.at + first * e->ds, gradient, to - from,
                     e->products.b_plain, e->h, e->ds, 1);
}

static void clear_sums(const kith__encoder *e, sums s)
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

static void backward_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    sums s = sums_of(e, piece);
    float *scratch = e->products.scratch + piece * kith__apart(3 * e->hs + 2 * e->ds);
    float *gbe = e->back.gbe + piece * ROWS_AT_ONCE * e->hs;
    size_t from, last;

    clear_sums(e, s);
    kith__rows_of_piece(&from, &last, e->back.active_start, e->back.active_count,
                        e->multiplies ? ROW_BACKWARD : 1, piece, e->back.pieces);
    for (size_t end; from < last; from = end) {
        end = kith__block_end(from, last);
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

/* sum += the sums of the other pieces, which follow it; cut by columns. */
typedef struct {
    float *sum;
    size_t floats, pieces;
} adding;

static void add_chunk(void *context, size_t chunk)
{
    const adding *a = context;
    size_t from = chunk * FLOATS_A_CHUNK;
    size_t size = a->floats - from < FLOATS_A_CHUNK ? a->floats - from : FLOATS_A_CHUNK;

    for (size_t p = 1; p < a->pieces; p++)
        kith__axpy(a->sum + from, 1, a->sum + p * a->floats + from, size);
}

static void add_pieces(kith__encoder *e, float *sum, size_t floats)
{
    adding a = {sum, floats, e->back.pieces};
    kith__pool_run(e->pool, add_chunk, &a, (floats + FLOATS_A_CHUNK - 1) / FLOATS_A_CHUNK);
}

/* ---- back through the products ---- */

/* sum over rows of left^T right, each chunk of rows summed apart and the chunks added in order. */
typedef struct {
    float *partial;
    const float *left;
    const float *const *right;
    size_t count, height, width;
} outer;

static void outer_chunk(void *context, size_t chunk)
{
    const outer *o = context;
    size_t from = chunk * ROWS_A_CHUNK;
    size_t size = o->count - from < ROWS_A_CHUNK ? o->count - from : ROWS_A_CHUNK;
    float *to = o->partial + chunk * o->height * o->width;

    memset(to, 0, o->height * o->width * sizeof *to);
    kith__outer_sum(to, o->left + from * o->height, o->right + from, size, o->height, o->width);
}

/* Adds to `sum`, hs x ds. */
static int add_outer(kith__encoder *e, float *sum, const float *left, const float *const *right,
                     size_t count)
{
    size_t chunks = (count + ROWS_A_CHUNK - 1) / ROWS_A_CHUNK, square = e->hs * e->ds;

    if (KITH__GROW(&e->products, partial, (chunks + 4) * square))
        return -1;
    outer o = {e->products.partial, left, right, count, e->hs, e->ds};
    kith__pool_run(e->pool, outer_chunk, &o, chunks);
    for (size_t c = 0; c < chunks; c++)
        kith__axpy(sum, 1, e->products.partial + c * square, square);
    return 0;
}

/* ga and gb (hs x ds) into the gradient of att_w = [A B]. */
static void store_halves(kith__encoder *e, const float *ga, const float *gb)
{
    const kith__table *w = kith__params_find(&e->back.gradients->dense, "att_w");

    for (size_t r = 0; r < e->h; r++) {
        float *row = kith__gradient_row(e->back.gradients, w, r);
        for (size_t c = 0; c < e->d; c++) {
            row[c] += ga[r * e->ds + c];
            row[e->d + c] += gb[r * e->ds + c];
        }
    }
}

/* B w: gB += gbw^T w, gw += gbw B. */
static int back_through_relations(kith__encoder *e, float *gb)
{
    const float **at = e->products.row_pointer;
    size_t count = e->back.active_relation_count;

    for (size_t k = 0; k < count; k++)
        at[k] = e->products.unit + e->back.active_relations[k] * e->ds;
    if (add_outer(e, gb, e->back.gbw, at, count))
        return -1;
    for (size_t k = 0; k < count; k++)
        at[k] = e->back.gbw + k * e->hs;
    kith__run_product(
        e, (kith__product){e->back.gunit, at, count, e->h, e->ds, e->products.b_plain, 1});
    return 0;
}

/* The factor u, which the sums over meetings are without. */
static void scale_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->back.active_query_count, piece, PIECES);
    for (size_t k = from; k < to; k++)
        for (size_t j = 0; j < e->hs; j++)
            e->back.gaz[k * e->hs + j] *= e->att_u->at[j];
}

/* A z: gA += gaz^T z, gz += gaz A. */
static int back_through_queries(kith__encoder *e, float *ga)
{
    const kith__table *gradient = kith__params_find(&e->back.gradients->dense, "query");
    const float **at = e->products.row_pointer;
    size_t count = e->back.active_query_count;

    if (!e->queries)
        return 0;
    kith__pool_run(e->pool, scale_piece, e, PIECES);
    for (size_t k = 0; k < count; k++)
        at[k] = kith__row(e->queries, e->products.query_of[e->back.active_queries[k]]);
    if (add_outer(e, ga, e->back.gaz, at, count))
        return -1;
    if (KITH__GROW(&e->back, gz, count * e->ds))
        return -1;
    for (size_t k = 0; k < count; k++)
        at[k] = e->back.gaz + k * e->hs;
    kith__run_product(e,
                      (kith__product){e->back.gz, at, count, e->h, e->ds, e->products.a_plain, 0});
    for (size_t k = 0; k < count; k++)
        kith__axpy(kith__gradient_row(e->back.gradients, gradient,
                                      e->products.query_of[e->back.active_queries[k]]),
                   1, e->back.gz + k * e->ds, e->ds);
    return 0;
}

static int back_through_products(kith__encoder *e)
{
    size_t square = e->hs * e->ds;
    const kith__table *u = kith__params_find(&e->back.gradients->dense, "att_u");

    add_pieces(e, e->back.gaz, e->back.active_query_count * e->hs);
    add_pieces(e, e->back.gbw, e->back.active_relation_count * e->hs);
    add_pieces(e, e->back.gu, kith__apart(e->hs));
    add_pieces(e, e->back.gb, square);
    kith__axpy(kith__gradient_row(e->back.gradients, u, 0), 1, e->back.gu, e->hs);
    /* Where u ends, exponentials that are not quite 1 leave a trace; padding must stay 0. */
    memset(kith__gradient_row(e->back.gradients, u, 0) + e->h, 0, (e->hs - e->h) * sizeof(float));
    if (KITH__GROW(&e->back, ga, square))
        return -1;
    memset(e->back.ga, 0, square * sizeof(float));
    if (back_through_relations(e, e->back.gb) || back_through_queries(e, e->back.ga))
        return -1;
    store_halves(e, e->back.ga, e->back.gb);
    return 0;
}

/* The same for gates, which have no queries. */
static int back_through_gates(kith__encoder *e)
{
    add_pieces(e, e->back.gbw, e->back.active_relation_count * e->hs);
    add_pieces(e, e->back.gb, e->hs * e->ds);
    if (back_through_relations(e, e->back.gb))
        return -1;
    e->aggregator->add_matrix(e, e->back.gb);
    return 0;
}

static void back_through_units(void *context, size_t piece)
{
    kith__encoder *e = context;
    const kith__table *trans = kith__params_find(&e->back.gradients->dense, "trans");
    size_t from, to;

    kith__piece_of(&from, &to, e->back.active_relation_count, piece, PIECES);
    for (size_t k = from; k < to; k++) {
        size_t r = e->back.active_relations[k];
        kith__normalize_backward(
            kith__gradient_row(e->back.gradients, trans, e->products.relation_of[r]),
            e->back.gunit + k * e->ds, e->products.unit + r * e->ds, e->products.inverse_norm[r],
            e->d);
    }
}

static int room_for_backward(kith__encoder *e)
{
    size_t k = e->back.pieces;

    return KITH__GROW(&e->back, gunit, k * e->back.active_relation_count * e->ds) ||
           KITH__GROW(&e->back, gu, k * kith__apart(e->hs)) ||
           KITH__GROW(&e->products, scratch, (k + PIECES) * kith__apart(3 * e->hs + 2 * e->ds)) ||
           KITH__GROW(&e->back, weight_gradient, e->visits.count) ||
           KITH__GROW(&e->back, logit_gradient, e->visits.count) ||
           (e->multiplies &&
            (KITH__GROW(&e->back, gbe, k * ROWS_AT_ONCE * e->hs) ||
             KITH__GROW(&e->back, gb, k * e->hs * e->ds) ||
             KITH__GROW(&e->back, gbw, k * e->back.active_relation_count * e->hs))) ||
           (e->att_u && KITH__GROW(&e->back, gaz, k * e->back.active_query_count * e->hs));
}

kith_status kith__encoder_backward(kith__encoder *e, kith__gradients *gradients, kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;

    e->back.gradients = gradients;
    if (find_active_items(e))
        return kith__no_memory(error);
    e->back.pieces = e->back.active_visits / VISITS_A_PIECE + 2;
    if (e->back.pieces > MOST_BACKWARD)
        e->back.pieces = MOST_BACKWARD;
    if (find_active_rows(e) || room_for_backward(e))
        return kith__no_memory(error);
    if (agg->backward)
        kith__pool_run(e->pool, aggregate_backward_piece, e, PIECES);
    if (agg->backward_all)
        agg->backward_all(e);
    if (e->no_memory)
        return kith__no_memory(error);
    kith__pool_run(e->pool, backward_piece, e, e->back.pieces);
    add_pieces(e, e->back.gunit, e->back.active_relation_count * e->ds);
    if ((agg->attention && back_through_products(e)) || (agg->gated && back_through_gates(e)))
        return kith__no_memory(error);
    kith__pool_run(e->pool, back_through_units, e, PIECES);
    return KITH_OK;
}
