/* The forward pass: products of tables, logits by neighbour, vectors by encoding. */
#include <string.h>

#include "embed/decoders/decoder.h"
#include "embed/encoder/pairs.h"

/* ---- products of tables ---- */

static void unit_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->products.relation_rows, piece, PIECES);
    for (size_t k = from; k < to; k++)
        e->products.inverse_norm[k] = kith__normalize(
            e->products.unit + k * e->ds, kith__row(e->trans, e->products.relation_of[k]), e->d);
}

/* W_a = [A B], h x 2d: both halves as they are, padded, for gradients; and transposed, times the
 * scale that powers of 2 take, for logits. */
static void copy_halves(kith__encoder *e)
{
    memset(e->products.a_plain, 0, e->hs * e->ds * sizeof(float));
    memset(e->products.b_plain, 0, e->hs * e->ds * sizeof(float));
    memset(e->products.a_transposed, 0, e->hs * e->ds * sizeof(float));
    memset(e->products.b_transposed, 0, e->hs * e->ds * sizeof(float));
    for (size_t r = 0; r < e->h; r++)
        for (size_t c = 0; c < e->d; c++) {
            const float *row = kith__row(e->att_w, r);
            e->products.a_plain[r * e->ds + c] = row[c];
            e->products.b_plain[r * e->ds + c] = row[e->d + c];
            e->products.a_transposed[c * e->hs + r] = KITH__POWER_SCALE * row[c];
            e->products.b_transposed[c * e->hs + r] = KITH__POWER_SCALE * row[e->d + c];
        }
}

static void product_chunk(void *context, size_t chunk)
{
    const kith__product *p = context;
    size_t from = chunk * ROWS_A_CHUNK;
    size_t size = p->count - from < ROWS_A_CHUNK ? p->count - from : ROWS_A_CHUNK;
    kith__rows_times(p->out + from * p->width, p->rows + from, size, p->matrix, p->inner, p->width,
                     p->add);
}

void kith__run_product(kith__encoder *e, kith__product p)
{
    kith__pool_run(e->pool, product_chunk, &p, (p.count + ROWS_A_CHUNK - 1) / ROWS_A_CHUNK);
}

static void power_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->products.query_rows, piece, PIECES);
    for (size_t k = from; k < to; k++) {
        e->products.az_most[k] = kith__largest(e->products.az + k * e->hs, e->hs);
        kith__power(e->products.ez + k * e->hs, e->products.az + k * e->hs, e->hs);
    }
}

/* A z, and what the logits take from it. */
void kith__make_queries(kith__encoder *e)
{
    const float **at = e->products.row_pointer;

    if (e->aggregator->attention == KITH__GLOBAL_ATTENTION)
        memset(e->products.az, 0, e->products.query_rows * e->hs * sizeof(float));
    for (size_t k = 0; e->queries && k < e->products.query_rows; k++)
        at[k] = kith__row(e->queries, e->products.query_of[k]);
    if (e->queries)
        kith__run_product(e, (kith__product){e->products.az, at, e->products.query_rows, e->d,
                                             e->hs, e->products.a_transposed, 0});
    kith__pool_run(e->pool, power_piece, e, PIECES);
}

static void multiply_relations(kith__encoder *e)
{
    const float **at = e->products.row_pointer;

    for (size_t k = 0; k < e->products.relation_rows; k++)
        at[k] = e->products.unit + k * e->ds;
    kith__run_product(e, (kith__product){e->products.bw, at, e->products.relation_rows, e->d, e->hs,
                                         e->products.b_transposed, 0});
}

/* B w for gates; B e is made where its rows are visited. */
static int make_gates(kith__encoder *e)
{
    size_t square = e->hs * e->ds;

    if (KITH__GROW(&e->products, row_pointer, e->products.relation_rows) ||
        KITH__GROW(&e->products, be, e->visits.rows * e->hs) ||
        KITH__GROW(&e->products, bw, e->products.relation_rows * e->hs) ||
        KITH__GROW(&e->products, b_plain, square) ||
        KITH__GROW(&e->products, b_transposed, square) || KITH__GROW(&e->products, b_bias, e->hs))
        return -1;
    e->aggregator->make_matrix(e);
    multiply_relations(e);
    return 0;
}

/* B w and A z for attention; B e is made where its rows are visited. */
static int make_products(kith__encoder *e)
{
    size_t square = e->hs * e->ds, most = e->products.relation_rows + e->products.query_rows;

    if (KITH__GROW(&e->products, row_pointer, most) ||
        KITH__GROW(&e->products, be, e->visits.rows * e->hs) ||
        KITH__GROW(&e->products, bw, e->products.relation_rows * e->hs) ||
        KITH__GROW(&e->products, az, e->products.query_rows * e->hs) ||
        KITH__GROW(&e->products, ez, e->products.query_rows * e->hs) ||
        KITH__GROW(&e->products, be_most, e->visits.rows) ||
        KITH__GROW(&e->products, bw_most, e->products.relation_rows) ||
        KITH__GROW(&e->products, az_most, e->products.query_rows) ||
        KITH__GROW(&e->products, a_plain, square) || KITH__GROW(&e->products, b_plain, square) ||
        KITH__GROW(&e->products, a_transposed, square) ||
        KITH__GROW(&e->products, b_transposed, square))
        return -1;
    copy_halves(e);
    multiply_relations(e);
    for (size_t k = 0; k < e->products.relation_rows; k++)
        e->products.bw_most[k] = kith__largest(e->products.bw + k * e->hs, e->hs);
    kith__make_queries(e);
    e->products.u_sum = 0;
    for (size_t k = 0; k < e->h; k++)
        e->products.u_sum += e->att_u->at[k];
    return 0;
}

/* ---- forward, by neighbour ---- */

void kith__rows_of_piece(size_t *from, size_t *to, const size_t *start, size_t rows, size_t extra,
                         size_t piece, size_t pieces)
{
    size_t bound[2], all = start[rows] + rows * extra;

    for (int k = 0; k < 2; k++) {
        size_t wanted = all * (piece + (size_t)k) / pieces, low = 0, high = rows;
        while (low < high) { /* the first row that begins at or after `wanted` */
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

/* u . tanh(A z + p) for all meetings, by way of powers of 2 where that does: for each of them, so that
 * a logit does not depend on who else is met. */
void kith__make_logits(kith__pair *p, const kith__encoder *e)
{
    if (kith__fits(p, e)) {
        quick_logits(p, e, 0, p->count);
        return;
    }
    for (size_t m = 0; m < p->count; m++) {
        if (kith__fits_one(p, e, m)) {
            quick_logits(p, e, m, 1);
            continue;
        }
        const float *plain = kith__unscaled_pair(p, e);
        p->logit[m] = kith__logit(kith__unscaled_query(p, e, m), plain, e->att_u->at, e->hs);
    }
}

/* So are those of queries, once for all items that share one. */
static inline __attribute__((always_inline)) void fetch_query(const kith__encoder *e, size_t item)
{
    if (item < e->visits.count)
        kith__fetch(e->products.ez + e->plan.query_row[e->visits.item_encoding[item]] * e->hs);
}

/* The next queries of a pair, from item `from` on; returns the first item that is not among them.
 */
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
        /* Visits are in the order of queries, so equal ones are neighbours. */
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

/* B e of a few rows, or B e + b for gates, which are visited while they are in the cache. */
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
        if (multiplies)
            multiply_rows(e, row, end);
        for (size_t k = row; k < end; k++) {
            if (k + ROWS_AT_ONCE < last) /* what the next products take */
                kith__fetch_row(kith__entity_row(e, k + ROWS_AT_ONCE), e->ds);
            visit_row(e, k, &p);
        }
    }
}

void kith__encode_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->plan.count, piece, PIECES);
    for (size_t i = from; i < to; i++)
        e->aggregator->forward(e, i);
}

/* The rows of the relations of visits from..to - 1, at most VISITS_AT_ONCE, so that what they share is
 * done once. Places go by relation, not by the batch's row of it: an encoding is the same in every
 * batch. Two relations that share a place are now and then listed twice, which does no harm. */
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

void kith__sum_weighted(kith__encoder *e, size_t i)
{
    size_t to = e->plan.first_visit[i + 1], end;
    float *out = e->plan.out + i * e->ds, a[VISITS_AT_ONCE];

    for (size_t v = e->plan.first_visit[i]; v < to; v = end) {
        end = to - v < VISITS_AT_ONCE ? to : v + VISITS_AT_ONCE;
        kith__gather_sum(out, e->visits.weight + v, kith__ent(e->params)->at,
                         &e->visits.neighbor[v].entity,
                         sizeof *e->visits.neighbor / sizeof(uint32_t), end - v, e->ds);
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
    kith__minus(out, kith__row(kith__ent(e->params), e->visits.neighbor[v].entity), e->visits.c[v],
                e->products.unit + r * e->ds, e->ds);
}

kith_status kith__encoder_forward(kith__encoder *e, kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;
    kith_status status = kith__encoder_plan(e, error);

    if (status != KITH_OK)
        return status;
    if (KITH__GROW(&e->products, unit, e->products.relation_rows * e->ds) ||
        KITH__GROW(&e->products, inverse_norm, e->products.relation_rows) ||
        KITH__GROW(&e->products, scratch, PIECES * kith__apart(3 * e->hs)) ||
        (agg->prepare && agg->prepare(e)))
        return kith__no_memory(error);
    kith__pool_run(e->pool, unit_piece, e, PIECES);
    if ((agg->attention && make_products(e)) || (agg->gated && make_gates(e)))
        return kith__no_memory(error);
    e->products.has_be = false;
    e->ahead.count = e->ahead.pairs = e->ahead.most_visits = 0;
    kith__pool_run(e->pool, kith__visit_piece, e, PIECES);
    e->products.has_be = true;
    if (agg->forward)
        kith__pool_run(e->pool, kith__encode_piece, e, PIECES);
    if (agg->forward_all)
        agg->forward_all(e);
    return e->no_memory ? kith__no_memory(error) : KITH_OK;
}
