/* Products of whole tables, computed once per batch for the rows it touches: the unit vectors w of
 * transforms, B w and A z; and back. B e is computed where rows are visited (visits.c). */
#include <string.h>

#include "embed/decoders/decoder.h"
#include "embed/encoder/pairs.h"

enum { FLOATS_A_CHUNK = 16384 /* in sums that are added up */ };

/* ---- forward ---- */

static void unit_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->products.relation_rows, piece, PIECES);
    for (size_t k = from; k < to; k++)
        e->products.inverse_norm[k] = kith__normalize(
            e->products.unit + k * e->ds, kith__row(e->trans, e->products.relation_of[k]), e->d);
}

/* W_a = [A B], h x 2d: both halves padded, for gradients; and transposed and scaled for powers of
 * 2, for logits. */
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

typedef struct {
    kith__encoder *encoder;
    kith__product product;
} product_run;

static void product_chunk(void *context, size_t chunk)
{
    const product_run *run = context;
    const kith__product *p = &run->product;
    size_t from = chunk * ROWS_A_CHUNK;
    size_t size = p->count - from < ROWS_A_CHUNK ? p->count - from : ROWS_A_CHUNK;
    if (kith__encoder_stops(run->encoder))
        return;
    kith__rows_times(p->out + from * p->width, p->rows + from, size, p->matrix, p->inner, p->width,
                     p->add);
}

void kith__run_product(kith__encoder *e, kith__product p)
{
    product_run run = {e, p};
    kith__pool_run(e->pool, product_chunk, &run, (p.count + ROWS_A_CHUNK - 1) / ROWS_A_CHUNK);
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

/* A z, and what the logits need from it. */
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

/* B w for gates; B e is computed where its rows are visited. */
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

/* B w and A z for attention; B e is computed where its rows are visited. */
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

int kith__products_forward(kith__encoder *e)
{
    if (KITH__GROW(&e->products, unit, e->products.relation_rows * e->ds) ||
        KITH__GROW(&e->products, inverse_norm, e->products.relation_rows) ||
        KITH__GROW(&e->products, scratch, PIECES * kith__apart(3 * e->hs)))
        return -1;
    kith__pool_run(e->pool, unit_piece, e, PIECES);
    if (e->aggregator->attention)
        return make_products(e);
    return e->aggregator->gated ? make_gates(e) : 0;
}

/* ---- backward ---- */

/* sum += the sums of the other pieces, which follow it in memory; cut by columns. */
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

/* The sum over rows of left^T right; each chunk of rows is summed separately, and chunks are added
 * in order. */
typedef struct {
    kith__encoder *encoder;
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
    if (kith__encoder_stops(o->encoder))
        return;
    kith__outer_sum(to, o->left + from * o->height, o->right + from, size, o->height, o->width);
}

/* Adds to `sum`, hs x ds. */
static int add_outer(kith__encoder *e, float *sum, const float *left, const float *const *right,
                     size_t count)
{
    size_t chunks = (count + ROWS_A_CHUNK - 1) / ROWS_A_CHUNK, square = e->hs * e->ds;

    if (KITH__GROW(&e->products, partial, (chunks + 4) * square))
        return -1;
    outer o = {e, e->products.partial, left, right, count, e->hs, e->ds};
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

/* Multiply by the factor u, which the sums over queries lack. */
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
    /* In the padding of u, exponentials that are not exactly 1 leave a trace; padding must stay
     * 0. */
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

int kith__products_backward(kith__encoder *e)
{
    add_pieces(e, e->back.gunit, e->back.active_relation_count * e->ds);
    if ((e->aggregator->attention && back_through_products(e)) ||
        (e->aggregator->gated && back_through_gates(e)))
        return -1;
    kith__pool_run(e->pool, back_through_units, e, PIECES);
    return 0;
}
