/* The forward pass: products of tables, logits by neighbour, vectors by encoding. */
#include <string.h>

#include "embed/decoders/decoder.h"
#include "embed/encoder/pairs.h"

/* ---- products of tables ---- */

static void unit_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->relation_rows, piece, PIECES);
    for (size_t k = from; k < to; k++)
        e->inverse_norm.at[k] =
            kith__normalize(e->unit.at + k * e->ds, kith__row(e->trans, e->relation_of[k]), e->d);
}

/* W_a = [A B], h x 2d: both halves as they are, padded, for gradients; and transposed, times the
 * scale that powers of 2 take, for logits. */
static void copy_halves(kith__encoder *e)
{
    memset(e->a_plain.at, 0, e->hs * e->ds * sizeof(float));
    memset(e->b_plain.at, 0, e->hs * e->ds * sizeof(float));
    memset(e->a_transposed.at, 0, e->hs * e->ds * sizeof(float));
    memset(e->b_transposed.at, 0, e->hs * e->ds * sizeof(float));
    for (size_t r = 0; r < e->h; r++)
        for (size_t c = 0; c < e->d; c++) {
            const float *row = kith__row(e->att_w, r);
            e->a_plain.at[r * e->ds + c] = row[c];
            e->b_plain.at[r * e->ds + c] = row[e->d + c];
            e->a_transposed.at[c * e->hs + r] = KITH__POWER_SCALE * row[c];
            e->b_transposed.at[c * e->hs + r] = KITH__POWER_SCALE * row[e->d + c];
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

    kith__piece_of(&from, &to, e->query_rows, piece, PIECES);
    for (size_t k = from; k < to; k++) {
        e->az_most.at[k] = kith__largest(e->az.at + k * e->hs, e->hs);
        kith__power(e->ez.at + k * e->hs, e->az.at + k * e->hs, e->hs);
    }
}

/* A z, and what the logits take from it. */
void kith__make_queries(kith__encoder *e)
{
    const float **at = e->row_pointer;

    if (e->aggregator->attention == KITH__GLOBAL_ATTENTION)
        memset(e->az.at, 0, e->query_rows * e->hs * sizeof(float));
    for (size_t k = 0; e->queries && k < e->query_rows; k++)
        at[k] = kith__row(e->queries, e->query_of[k]);
    if (e->queries)
        kith__run_product(
            e, (kith__product){e->az.at, at, e->query_rows, e->d, e->hs, e->a_transposed.at, 0});
    kith__pool_run(e->pool, power_piece, e, PIECES);
}

static void multiply_relations(kith__encoder *e)
{
    const float **at = e->row_pointer;

    for (size_t k = 0; k < e->relation_rows; k++)
        at[k] = e->unit.at + k * e->ds;
    kith__run_product(
        e, (kith__product){e->bw.at, at, e->relation_rows, e->d, e->hs, e->b_transposed.at, 0});
}

/* B w for gates; B e is made where its rows are visited. */
static int make_gates(kith__encoder *e)
{
    size_t square = e->hs * e->ds;

    if (kith__renew(&e->row_pointer, &e->pointer_capacity, e->relation_rows,
                    sizeof *e->row_pointer) ||
        kith__floats_reserve(&e->be, e->rows * e->hs) ||
        kith__floats_reserve(&e->bw, e->relation_rows * e->hs) ||
        kith__floats_reserve(&e->b_plain, square) ||
        kith__floats_reserve(&e->b_transposed, square) || kith__floats_reserve(&e->b_bias, e->hs))
        return -1;
    e->aggregator->make_matrix(e);
    multiply_relations(e);
    return 0;
}

/* B w and A z for attention; B e is made where its rows are visited. */
static int make_products(kith__encoder *e)
{
    size_t square = e->hs * e->ds, most = e->relation_rows + e->query_rows;

    if (kith__renew(&e->row_pointer, &e->pointer_capacity, most, sizeof *e->row_pointer) ||
        kith__floats_reserve(&e->be, e->rows * e->hs) ||
        kith__floats_reserve(&e->bw, e->relation_rows * e->hs) ||
        kith__floats_reserve(&e->az, e->query_rows * e->hs) ||
        kith__floats_reserve(&e->ez, e->query_rows * e->hs) ||
        kith__floats_reserve(&e->be_most, e->rows) ||
        kith__floats_reserve(&e->bw_most, e->relation_rows) ||
        kith__floats_reserve(&e->az_most, e->query_rows) ||
        kith__floats_reserve(&e->a_plain, square) || kith__floats_reserve(&e->b_plain, square) ||
        kith__floats_reserve(&e->a_transposed, square) ||
        kith__floats_reserve(&e->b_transposed, square))
        return -1;
    copy_halves(e);
    multiply_relations(e);
    for (size_t k = 0; k < e->relation_rows; k++)
        e->bw_most.at[k] = kith__largest(e->bw.at + k * e->hs, e->hs);
    kith__make_queries(e);
    e->u_sum = 0;
    for (size_t k = 0; k < e->h; k++)
        e->u_sum += e->att_u->at[k];
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
    scaled_minus(p->scratch, 1 / KITH__POWER_SCALE, e->be.at + p->row * e->hs, p->c,
                 e->bw.at + p->r * e->hs, e->hs);
    return p->scratch;
}

const float *kith__unscaled_query(const kith__pair *p, const kith__encoder *e, size_t m)
{
    const float *az = e->az.at + p->queries[m] * e->hs;
    scaled_minus(p->scratch + e->hs, 1 / KITH__POWER_SCALE, az, 0, az, e->hs);
    return p->scratch + e->hs;
}

static void quick_logits(kith__pair *p, const kith__encoder *e, size_t from, size_t count)
{
    kith__pair_logits(p->logit + from, p->met + from, count, e->be.at + p->row * e->hs, p->c,
                      e->bw.at + p->r * e->hs, e->att_u->at, e->u_sum, p->scratch, e->hs);
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
    if (item < e->visits)
        kith__fetch(e->ez.at + e->query_row[e->item_encoding[item]] * e->hs);
}

/* The next queries of a pair, from item `from` on; returns the first item that is not among them.
 */
static size_t meet_queries(kith__pair *p, const kith__encoder *e, size_t from, size_t to)
{
    uint32_t last = UINT32_MAX;

    p->count = 0;
    for (; from < to; from++) {
        uint32_t query = e->query_row[e->item_encoding[from]];
        if (query == last)
            continue;
        if (p->count == MEETINGS)
            break;
        fetch_query(e, from + 4);
        p->met[p->count].ez = e->ez.at + query * e->hs;
        p->queries[p->count++] = last = query;
    }
    return from;
}

static void visit_pair(kith__encoder *e, kith__pair *p, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++)
        e->c.at[e->items[k].index] = p->c;
    for (size_t end; e->att_u && from < to; from = end) {
        end = meet_queries(p, e, from, to);
        kith__make_logits(p, e);
        /* Visits are in the order of queries, so equal ones are neighbours. */
        for (size_t m = 0; from < end; from++) {
            m += e->query_row[e->item_encoding[from]] != p->queries[m];
            e->logit.at[e->items[from].index] = p->logit[m];
        }
    }
}

static void visit_row(kith__encoder *e, size_t row, kith__pair *p)
{
    for (size_t k = e->row_start[row], end; k < e->row_start[row + 1]; k = end) {
        size_t r = e->relation_row[e->items[k].minor] - 1;
        end = kith__pair_end(e->items, k, e->row_start[row + 1]);
        kith__fetch_relation(e, end);
        for (size_t i = k + 24; i < end + 24 && i < e->visits; i++) {
            __builtin_prefetch(&e->c.at[e->items[i].index], 1);
            __builtin_prefetch(&e->logit.at[e->items[i].index], 1);
        }
        kith__begin_pair(p, e, row, r,
                         kith__dot(kith__entity_row(e, row), e->unit.at + r * e->ds, e->ds));
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
            memcpy(e->be.at + row * e->hs, e->b_bias.at, e->hs * sizeof(float));
    }
    kith__rows_times(e->be.at + from * e->hs, at, to - from, e->b_transposed.at, e->d, e->hs,
                     !e->att_u);
    for (size_t row = from; e->att_u && row < to; row++)
        e->be_most.at[row] = kith__largest(e->be.at + row * e->hs, e->hs);
}

void kith__visit_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    kith__pair p = {.scratch = e->products.at + piece * kith__apart(3 * e->hs)};
    size_t row, last;

    bool multiplies = e->multiplies && !e->has_be;
    kith__rows_of_piece(&row, &last, e->row_start, e->rows, multiplies ? ROW_FORWARD : 1, piece,
                        PIECES);
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

    kith__piece_of(&from, &to, e->count, piece, PIECES);
    for (size_t i = from; i < to; i++)
        e->aggregator->forward(e, i);
}

/* The rows of the relations of visits from..to - 1, at most VISITS_AT_ONCE, so that what they share is
 * done once. Places go by relation, not by the batch's row of it: an encoding is the same in every
 * batch. Two relations that share a place are now and then listed twice, which does no harm. */
static size_t find_relations(kith__encoder *e, size_t from, size_t to)
{
    uint8_t last[256] = {0};
    uint32_t *ids = e->relation_ids + from;
    size_t count = 0;

    for (size_t v = from; v < to; v++) {
        uint32_t r = e->relation_row[e->neighbor[v].relation] - 1;
        uint8_t *place = &last[e->neighbor[v].relation % sizeof last];
        if (!*place || ids[*place - 1] != r) {
            ids[count++] = r;
            *place = (uint8_t)count;
        }
        e->which[v] = *place - 1;
    }
    e->id_count[from] = (uint8_t)count;
    return count;
}

void kith__sum_weighted(kith__encoder *e, size_t i)
{
    size_t to = e->first_visit[i + 1], end;
    float *out = e->out.at + i * e->ds, a[VISITS_AT_ONCE];

    for (size_t v = e->first_visit[i]; v < to; v = end) {
        end = to - v < VISITS_AT_ONCE ? to : v + VISITS_AT_ONCE;
        kith__gather_sum(out, e->weight.at + v, kith__ent(e->params)->at, &e->neighbor[v].entity,
                         sizeof *e->neighbor / sizeof(uint32_t), end - v, e->ds);
        kith__fetch_neighbors(e, end);
        size_t count = find_relations(e, v, end);
        memset(a, 0, count * sizeof *a);
        for (size_t k = v; k < end; k++)
            a[e->which[k]] -= e->weight.at[k] * e->c.at[k];
        kith__gather_sum(out, a, e->unit.at, e->relation_ids + v, 1, count, e->ds);
    }
}

void kith__visit_vector(float *out, const kith__encoder *e, size_t v)
{
    size_t r = e->relation_row[e->neighbor[v].relation] - 1;
    kith__minus(out, kith__row(kith__ent(e->params), e->neighbor[v].entity), e->c.at[v],
                e->unit.at + r * e->ds, e->ds);
}

kith_status kith__encoder_forward(kith__encoder *e, kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;
    kith_status status = kith__encoder_plan(e, error);

    if (status != KITH_OK)
        return status;
    if (kith__floats_reserve(&e->unit, e->relation_rows * e->ds) ||
        kith__floats_reserve(&e->inverse_norm, e->relation_rows) ||
        kith__floats_reserve(&e->products, PIECES * kith__apart(3 * e->hs)) ||
        (agg->prepare && agg->prepare(e)))
        return kith__no_memory(error);
    kith__pool_run(e->pool, unit_piece, e, PIECES);
    if ((agg->attention && make_products(e)) || (agg->gated && make_gates(e)))
        return kith__no_memory(error);
    e->has_be = false;
    e->expected_count = e->pairs = e->most_visits = 0;
    kith__pool_run(e->pool, kith__visit_piece, e, PIECES);
    e->has_be = true;
    if (agg->forward)
        kith__pool_run(e->pool, kith__encode_piece, e, PIECES);
    if (agg->forward_all)
        agg->forward_all(e);
    return e->no_memory ? kith__no_memory(error) : KITH_OK;
}
