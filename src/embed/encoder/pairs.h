/* What the encoder's files share. encoder.c runs the operations of a batch, forward and back:
 * plan.c, products.c, visits.c with logits.c, aggregate.c; active.c finds what has gradients,
 * lookahead.c encodes the same entities for other queries. */
#ifndef KITH_EMBED_ENCODER_PAIRS_H
#define KITH_EMBED_ENCODER_PAIRS_H

#include <math.h>

#include "embed/encoder/state.h"
#include "nn/kernels.h"

enum {
    PIECES = KITH__PIECES,
    AHEAD = KITH__LOOKAHEAD,
    VISITS_AT_ONCE = 128,
    MEETINGS = 16,         /* of a pair with queries, taken together */
    ROWS_A_CHUNK = 256,    /* of matrix products */
    ENCODINGS_A_TICK = 32, /* encodings between two checks of the watch */
    ROWS_AT_ONCE = 96,     /* of neighbours, whose products should stay in the cache */
    ROW_FORWARD = 6,       /* a row's product takes as long as this many items; measured */
    ROW_BACKWARD = 9
};

static inline void kith__piece_of(size_t *from, size_t *to, size_t count, size_t piece,
                                  size_t pieces)
{
    *from = count * piece / pieces;
    *to = count * (piece + 1) / pieces;
}

static inline const float *kith__entity_row(const kith__encoder *e, size_t row)
{
    return kith__input(e, e->visits.items[e->visits.row_start[row]].major);
}

/* Rows are cut so that pieces take about equally long: a row costs its items and `extra` more. */
void kith__rows_of_piece(size_t *from, size_t *to, const size_t *start, size_t rows, size_t extra,
                         size_t piece, size_t pieces);

/* The end of the run of items with the same neighbour and relation. */
static inline size_t kith__pair_end(const kith__item *items, size_t from, size_t to)
{
    size_t k = from + 1;
    while (k < to && items[k].minor == items[from].minor && items[k].major == items[from].major)
        k++;
    return k;
}

static inline size_t kith__block_end(size_t from, size_t last)
{
    return last - from < ROWS_AT_ONCE ? last : from + ROWS_AT_ONCE;
}

/* Find the distinct encodings of the requests, their visits, and the visits' order as items. */
kith_status kith__encoder_plan(kith__encoder *encoder, kith_error *error);
/* Set or clear P(. => query) over the 2m relations. */
void kith__spread_column(float *column, const kith__encoder *encoder, uint32_t query, bool set);

/* One matrix product over many rows, cut into chunks. */
typedef struct {
    float *out;
    const float *const *rows;
    size_t count, inner, width;
    const float *matrix;
    int add;
} kith__product;

void kith__run_product(kith__encoder *encoder, kith__product product);
/* A z, and what the logits need from it. */
void kith__make_queries(kith__encoder *encoder);
/* All products of a batch, and their gradients; -1 if out of memory. */
int kith__products_forward(kith__encoder *encoder);
int kith__products_backward(kith__encoder *encoder);
/* Work for the pool: the logits of some rows' visits, and the vectors of some encodings; and back,
 * over the encoder's back.pieces. */
void kith__visit_piece(void *encoder, size_t piece);
void kith__visit_backward_piece(void *encoder, size_t piece);
void kith__encode_piece(void *encoder, size_t piece);
void kith__encode_backward_piece(void *encoder, size_t piece);

/* The visits of active encodings, then the neighbours that they touch, which get the first rows of
 * gradients, in order; their relations and queries get a slot. -1 if out of memory. */
int kith__find_active_items(kith__encoder *encoder);
int kith__find_active_rows(kith__encoder *encoder);

/* What a piece of the backward pass adds to, other than its own rows. */
typedef struct {
    float *gaz, *gbw, *gunit, *gu, *gb;
} kith__sums;

/* A pair of neighbour and relation, with the queries it occurs with. */
typedef struct {
    size_t row, r; /* of be and bw */
    float c, most; /* an upper bound of |a - c b| */
    size_t count;
    uint32_t queries[MEETINGS];
    kith__meeting met[MEETINGS];
    float logit[MEETINGS];
    float *scratch; /* of three rows */
} kith__pair;

static inline void kith__begin_pair(kith__pair *p, const kith__encoder *e, size_t row, size_t r,
                                    float c)
{
    p->row = row;
    p->r = r;
    p->c = c;
    if (e->att_u)
        p->most = e->products.be_most[row] + fabsf(c) * e->products.bw_most[r];
}

/* Whether powers of 2 neither overflow nor lose precision, for one query and for all. */
static inline bool kith__width_fits_one(const kith__pair *p, const kith__encoder *e, size_t m)
{
    return !(p->most + e->products.az_most[p->queries[m]] > KITH__POWER_MOST);
}

static inline bool kith__width_fits(const kith__pair *p, const kith__encoder *e)
{
    bool all = true;

    for (size_t m = 0; m < p->count; m++)
        all &= kith__width_fits_one(p, e, m);
    return all;
}

/* u . tanh(A z + p) for all queries, with powers of 2 where they are precise enough. */
void kith__make_logits(kith__pair *pair, const kith__encoder *encoder);
/* Back through the logits, or the gates, of a pair's items from .. to - 1: adds to `gbe` and
 * `sums`, returns the derivative by c. */
float kith__pair_attention_backward(kith__encoder *encoder, kith__sums sums, float *gbe,
                                    kith__pair *pair, size_t from, size_t to);
float kith__pair_gates_backward(kith__encoder *encoder, kith__sums sums, float *gbe,
                                const kith__pair *pair, size_t from, size_t to);
/* p = B e - c B w, and A z of a query, without the scale of powers. */
const float *kith__unscaled_pair(const kith__pair *pair, const kith__encoder *encoder);
const float *kith__unscaled_query(const kith__pair *pair, const kith__encoder *encoder, size_t m);

/* The hardware prefetcher finds the rest of a row. Inlined by force, because gcc drops calls to
 * functions that only prefetch. */
static inline __attribute__((always_inline)) void kith__fetch(const float *row)
{
    __builtin_prefetch(row);
}

/* Prefetch the first few neighbours' rows of the next visits; the kernels prefetch the others. */
static inline __attribute__((always_inline)) void kith__fetch_neighbors(const kith__encoder *e,
                                                                        size_t visit)
{
    for (size_t v = visit; v < visit + 8 && v < e->visits.count; v++)
        kith__fetch_row(kith__input(e, e->visits.neighbor[v].entity), e->ds);
}

/* Prefetch the rows of w and B w, which are scattered over their tables. */
static inline __attribute__((always_inline)) void kith__fetch_relation(const kith__encoder *e,
                                                                       size_t item)
{
    if (item >= e->visits.count)
        return;
    size_t r = e->products.relation_row[e->visits.items[item].minor] - 1;
    kith__fetch(e->products.unit + r * e->ds);
    if (e->multiplies)
        kith__fetch(e->products.bw + r * e->hs);
}

#endif
