#include "model/encoder.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "model/decoder.h"
#include "nn/kernels.h"

/* gcc forgets calls of functions that do nothing but prefetch, unless they are inlined. */
#define INLINE static inline __attribute__((always_inline))

enum {
    PIECES = KITH__PIECES,
    MOST_BACKWARD = 8,  /* of backward work, where each piece has sums of its own */
    VISITS_AT_ONCE = 128,
    AHEAD = KITH__QUERIES_AHEAD,
    MEETINGS = 16, /* of a pair with queries, taken together */
    VISITS_A_PIECE = 32768,
    ROWS_A_CHUNK = 256, /* of matrix products */
    FLOATS_A_CHUNK = 16384, /* of sums that are added up */
    ROWS_AT_ONCE = 96    /* of neighbours, whose products should stay in the cache */
};

/* ---- making and freeing ---- */

kith_status kith__encoder_init(kith__encoder *e, const kith_settings *settings,
                               const kith__lists *lists, const kith__rules *rules,
                               const kith__params *params, kith__pool *pool, kith_error *error)
{
    memset(e, 0, sizeof *e);
    e->aggregator = kith__aggregator_get(settings->aggregator);
    e->settings = settings;
    e->lists = lists;
    e->rules = rules;
    e->params = params;
    e->pool = pool;
    e->d = settings->dim;
    e->ds = kith__padded(e->d);
    e->h = kith__attention_width(settings);
    e->hs = kith__padded(e->h);
    e->trans = kith__params_find(params, "trans");
    e->att_w = kith__params_find(params, "att_w");
    e->att_u = kith__params_find(params, "att_u");
    e->queries = kith__params_find(params, "query");
    e->relation_row = kith__calloc(lists->relations, sizeof *e->relation_row);
    e->relation_of = kith__calloc(lists->relations, sizeof *e->relation_of);
    e->relation_marks = kith__calloc((size_t)lists->relations * PIECES, 1);
    if (!e->relation_row || !e->relation_of || !e->relation_marks) {
        kith__encoder_release(e);
        return kith__no_memory(error);
    }
    return KITH_OK;
}

void kith__encoder_release(kith__encoder *e)
{
    kith__floats *floats[] = {&e->out, &e->grad, &e->c, &e->logit, &e->logic, &e->weight,
                              &e->weight_gradient, &e->logit_gradient, &e->unit, &e->inverse_norm,
                              &e->be, &e->bw, &e->az, &e->ez, &e->be_most, &e->bw_most, &e->az_most,
                              &e->b_transposed, &e->a_transposed, &e->gbe,
                              &e->gaz, &e->gbw, &e->gunit, &e->gu, &e->ga, &e->gb, &e->gz, &e->pair_logit, &e->lanes, &e->partial, &e->b_plain,
                              &e->a_plain, &e->products, &e->column};
    void *others[] = {e->requests, e->sorted, e->request_mask, e->encoding_of, e->entity, e->query,
                      e->mask, e->first_visit, e->query_row, e->active, e->neighbor, e->encoding,
                      e->items, e->item_encoding, e->spare, e->some_items, e->some_encoding, e->relation_marks,
                      e->pair_of, e->row_start, e->relation_row, e->relation_of,
                      e->query_of, e->active_rows, e->active_start, e->row_pointer,
                      e->relation_slot, e->query_slot, e->active_relations, e->active_queries};

    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        kith__free(floats[i]->at);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        kith__free(others[i]);
    for (size_t q = 0; q < AHEAD; q++)
        kith__free(e->ahead[q].at);
    if (e->free_state && e->aggregator_state)
        e->free_state(e->aggregator_state);
    memset(e, 0, sizeof *e);
}

static int room(kith__floats *floats, size_t need)
{
    return kith__renew(&floats->at, &floats->capacity, need, sizeof *floats->at);
}

/* ---- requests to encodings ---- */

void kith__encoder_begin(kith__encoder *e)
{
    e->request_count = 0;
    e->no_memory = false;
}

size_t kith__encoder_request(kith__encoder *e, uint32_t entity, uint32_t query,
                             const kith_neighbor *mask)
{
    static const kith_neighbor none = {UINT32_MAX, UINT32_MAX};
    size_t i = e->request_count;

    if (kith__reserve(&e->requests, &e->request_capacity, i + 1, sizeof *e->requests) ||
        kith__reserve(&e->request_mask, &e->mask_capacity, i + 1, sizeof *e->request_mask)) {
        e->no_memory = true;
        return 0;
    }
    if (!e->aggregator->query_aware)
        query = 0;
    e->requests[i] = (kith__item){query, entity, (uint32_t)i};
    e->request_mask[i] = mask ? *mask : none;
    return e->request_count++;
}

static bool same_neighbor(kith_neighbor a, kith_neighbor b)
{
    return a.relation == b.relation && a.entity == b.entity;
}

static int room_for_encodings(kith__encoder *e, size_t n)
{
    return kith__renew(&e->sorted, &e->sorted_capacity, n, sizeof *e->sorted) ||
           kith__renew(&e->encoding_of, &e->encoding_of_capacity, n, sizeof *e->encoding_of) ||
           kith__renew(&e->entity, &e->count_capacity[0], n, sizeof *e->entity) ||
           kith__renew(&e->query, &e->count_capacity[1], n, sizeof *e->query) ||
           kith__renew(&e->mask, &e->count_capacity[2], n, sizeof *e->mask) ||
           kith__renew(&e->first_visit, &e->count_capacity[3], n + 1, sizeof *e->first_visit) ||
           kith__renew(&e->query_row, &e->count_capacity[4], n, sizeof *e->query_row) ||
           kith__renew(&e->active, &e->count_capacity[5], n, 1) ||
           kith__renew(&e->query_of, &e->query_of_capacity, n, sizeof *e->query_of);
}

static int find_encodings(kith__encoder *e)
{
    size_t n = e->request_count;

    if (room_for_encodings(e, n))
        return -1;
    kith__radix_sort(e->requests, e->sorted, n, e->lists->relations, e->lists->entities);
    e->count = 0;
    e->query_rows = 0;
    for (size_t k = 0; k < n; k++) {
        const kith__item *r = &e->requests[k];
        kith_neighbor mask = e->request_mask[r->index];
        size_t last = e->count - 1;
        if (k == 0 || e->query[last] != r->major || e->entity[last] != r->minor ||
            !same_neighbor(e->mask[last], mask)) {
            if (k == 0 || e->query[last] != r->major)
                e->query_of[e->query_rows++] = r->major;
            e->entity[e->count] = r->minor;
            e->query[e->count] = r->major;
            e->mask[e->count] = mask;
            e->query_row[e->count++] = (uint32_t)e->query_rows - 1;
        }
        e->encoding_of[r->index] = (uint32_t)e->count - 1;
    }
    memset(e->active, 0, e->count);
    return 0;
}

/* ---- visits ---- */

static void count_visits(kith__encoder *e)
{
    size_t total = 0;

    for (size_t i = 0; i < e->count; i++) {
        uint64_t from = e->lists->offset[e->entity[i]];
        uint64_t to = from + kith__list_count(e->lists, e->entity[i]);
        e->first_visit[i] = total;
        total += (size_t)(to - from);
        if (e->mask[i].relation != UINT32_MAX)
            for (uint64_t s = from; s < to; s++)
                total -= same_neighbor(e->lists->at[s], e->mask[i]);
    }
    e->first_visit[e->count] = total;
    e->visits = total;
}

static int room_for_visits(kith__encoder *e)
{
    size_t n = e->visits;

    return kith__renew(&e->neighbor, &e->neighbor_capacity, n, sizeof *e->neighbor) ||
           kith__renew(&e->encoding, &e->visit_encoding_capacity, n, sizeof *e->encoding) ||
           kith__renew(&e->items, &e->item_capacity, n, sizeof *e->items) ||
           kith__renew(&e->item_encoding, &e->item_encoding_capacity, n,
                       sizeof *e->item_encoding) ||
           kith__renew(&e->spare, &e->spare_capacity, n, sizeof *e->spare) ||
           kith__renew(&e->row_start, &e->row_capacity, n + 1, sizeof *e->row_start) ||
           kith__renew(&e->active_rows, &e->active_capacity, n, sizeof *e->active_rows) ||
           kith__renew(&e->active_start, &e->active_start_capacity, n + 1,
                       sizeof *e->active_start) ||
           room(&e->c, n) || room(&e->logit, n) || room(&e->weight, n) ||
           (e->rules && (room(&e->logic, n) || room(&e->column, PIECES * e->lists->relations))) ||
           room(&e->out, e->count * e->ds) || room(&e->grad, e->count * e->ds) ||
           room(&e->partial, 4 * e->ds);
}

/* Spread or take back P(. => query) over the 2m relations. */
static void spread_column(float *column, const kith__encoder *e, uint32_t query, bool set)
{
    const kith__rules *rules = e->rules;

    for (uint64_t i = rules->offset[query]; i < rules->offset[query + 1]; i++)
        column[rules->at[i].relation] = set ? rules->at[i].confidence : 0;
    column[query] = set ? kith__rules_self(rules, query, (kith__self)e->settings->self_confidence)
                        : 0;
}

static void shuffle_visits(kith__encoder *e, size_t i)
{
    kith__rng rng;

    kith__rng_init(&rng, e->order_seed, e->entity[i]);
    for (size_t k = kith__degree(e, i); k > 1; k--) {
        kith_neighbor *list = e->neighbor + e->first_visit[i], swap = list[k - 1];
        size_t other = (size_t)kith__rng_below(&rng, k);
        list[k - 1] = list[other];
        list[other] = swap;
    }
}

static void fill_encoding(kith__encoder *e, size_t i, const float *column)
{
    const kith__lists *lists = e->lists;
    uint64_t from = lists->offset[e->entity[i]], to = from + kith__list_count(lists, e->entity[i]);
    size_t v = e->first_visit[i];

    for (uint64_t s = from; s < to; s++) {
        kith_neighbor next = lists->at[s];
        if (same_neighbor(next, e->mask[i]))
            continue;
        e->neighbor[v] = next;
        if (column) /* paper, eq. 5 */
            e->logic.at[v] = column[next.relation] / lists->denominator[s];
        v++;
    }
    if (e->order_seed && e->aggregator->ordered)
        shuffle_visits(e, i);
    for (v = e->first_visit[i]; v < e->first_visit[i + 1]; v++) {
        e->encoding[v] = (uint32_t)i;
        e->items[v] = (kith__item){e->neighbor[v].entity, e->neighbor[v].relation, (uint32_t)v};
    }
}

static void piece_of(size_t *from, size_t *to, size_t count, size_t piece, size_t pieces)
{
    *from = count * piece / pieces;
    *to = count * (piece + 1) / pieces;
}

static void fill_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    float *column = e->rules ? e->column.at + piece * e->lists->relations : NULL;
    size_t from, to;

    piece_of(&from, &to, e->count, piece, PIECES);
    for (size_t i = from; i < to; i++) {
        if (column && (i == from || e->query[i] != e->query[i - 1])) {
            if (i > from)
                spread_column(column, e, e->query[i - 1], false);
            spread_column(column, e, e->query[i], true);
        }
        fill_encoding(e, i, column);
        memset(e->out.at + i * e->ds, 0, e->ds * sizeof *e->out.at);
    }
    if (column && to > from)
        spread_column(column, e, e->query[to - 1], false);
}

/* Of some of the sorted items: where each distinct neighbour begins, written from the place of the
 * first of them on; which relations there are; and to which encoding each belongs. */
static void find_rows_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    uint8_t *marks = e->relation_marks + piece * e->lists->relations;
    size_t from, to, rows;

    piece_of(&from, &to, e->visits, piece, PIECES);
    rows = from;
    for (size_t k = from; k < to; k++) {
        const kith__item *item = &e->items[k];
        if (k == 0 || item->major != item[-1].major)
            e->row_start[rows++] = k;
        marks[item->minor] = 1;
        e->item_encoding[k] = e->encoding[item->index];
    }
    e->piece_rows[piece] = rows - from;
}

static void number_relations(kith__encoder *e)
{
    size_t relations = e->lists->relations;

    e->relation_rows = 0;
    for (uint32_t r = 0; r < relations; r++) {
        uint8_t there = 0;
        for (size_t piece = 0; piece < PIECES; piece++)
            there |= e->relation_marks[piece * relations + r];
        e->relation_row[r] = 0;
        if (there) {
            e->relation_of[e->relation_rows] = r;
            e->relation_row[r] = (uint32_t)++e->relation_rows;
        }
    }
    memset(e->relation_marks, 0, relations * PIECES);
}

static void find_rows(kith__encoder *e)
{
    kith__pool_run(e->pool, find_rows_piece, e, PIECES);
    e->rows = 0;
    for (size_t piece = 0; piece < PIECES; piece++) {
        size_t from, to;
        piece_of(&from, &to, e->visits, piece, PIECES);
        memmove(e->row_start + e->rows, e->row_start + from,
                e->piece_rows[piece] * sizeof *e->row_start);
        e->rows += e->piece_rows[piece];
    }
    e->row_start[e->rows] = e->visits;
    number_relations(e);
}

/* ---- products of tables ---- */

static const float *entity_row(const kith__encoder *e, size_t row)
{
    return kith__row(&e->params->table[0], e->items[e->row_start[row]].major);
}

static void unit_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    piece_of(&from, &to, e->relation_rows, piece, PIECES);
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

/* One matrix product over many rows, cut into chunks. */
typedef struct {
    float *out;
    const float *const *rows;
    size_t count, inner, width;
    const float *matrix;
    int add;
} product;

static void product_chunk(void *context, size_t chunk)
{
    const product *p = context;
    size_t from = chunk * ROWS_A_CHUNK;
    size_t size = p->count - from < ROWS_A_CHUNK ? p->count - from : ROWS_A_CHUNK;
    kith__rows_times(p->out + from * p->width, p->rows + from, size, p->matrix, p->inner, p->width,
                     p->add);
}

static void run_product(kith__encoder *e, product p)
{
    kith__pool_run(e->pool, product_chunk, &p, (p.count + ROWS_A_CHUNK - 1) / ROWS_A_CHUNK);
}

static void power_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    piece_of(&from, &to, e->query_rows, piece, PIECES);
    for (size_t k = from; k < to; k++) {
        e->az_most.at[k] = kith__largest(e->az.at + k * e->hs, e->hs);
        kith__power(e->ez.at + k * e->hs, e->az.at + k * e->hs, e->hs);
    }
}

/* A z, and what the logits take from it. */
static void make_queries(kith__encoder *e)
{
    const float **at = e->row_pointer;

    if (e->aggregator->attention == KITH__GLOBAL_ATTENTION)
        memset(e->az.at, 0, e->query_rows * e->hs * sizeof(float));
    for (size_t k = 0; e->queries && k < e->query_rows; k++)
        at[k] = kith__row(e->queries, e->query_of[k]);
    if (e->queries)
        run_product(e, (product){e->az.at, at, e->query_rows, e->d, e->hs, e->a_transposed.at, 0});
    kith__pool_run(e->pool, power_piece, e, PIECES);
}

/* B w and A z; B e is made where its rows are visited. */
static int make_products(kith__encoder *e)
{
    size_t square = e->hs * e->ds, most = e->relation_rows + e->query_rows;

    if (kith__renew(&e->row_pointer, &e->pointer_capacity, most, sizeof *e->row_pointer) ||
        room(&e->be, e->rows * e->hs) || room(&e->bw, e->relation_rows * e->hs) ||
        room(&e->az, e->query_rows * e->hs) || room(&e->ez, e->query_rows * e->hs) ||
        room(&e->be_most, e->rows) || room(&e->bw_most, e->relation_rows) ||
        room(&e->az_most, e->query_rows) || room(&e->a_plain, square) ||
        room(&e->b_plain, square) || room(&e->a_transposed, square) ||
        room(&e->b_transposed, square))
        return -1;
    copy_halves(e);
    const float **at = e->row_pointer;
    for (size_t k = 0; k < e->relation_rows; k++)
        at[k] = e->unit.at + k * e->ds;
    run_product(e, (product){e->bw.at, at, e->relation_rows, e->d, e->hs, e->b_transposed.at, 0});
    for (size_t k = 0; k < e->relation_rows; k++)
        e->bw_most.at[k] = kith__largest(e->bw.at + k * e->hs, e->hs);
    make_queries(e);
    e->u_sum = 0;
    for (size_t k = 0; k < e->h; k++)
        e->u_sum += e->att_u->at[k];
    return 0;
}

/* ---- forward, by neighbour ---- */

/* Rows are cut so that pieces have about as many items each. */
static void rows_of_piece(size_t *from, size_t *to, const size_t *start,
                          size_t rows, size_t piece, size_t pieces)
{
    size_t bound[2];

    for (int k = 0; k < 2; k++) {
        size_t wanted = start[rows] * (piece + (size_t)k) / pieces, low = 0, high = rows;
        while (low < high) { /* the first row that begins at or after `wanted` */
            size_t middle = (low + high) / 2;
            if (start[middle] < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        bound[k] = low;
    }
    *from = bound[0];
    *to = bound[1];
}

/* The end of the run of items with the same neighbour and relation. */
static size_t pair_end(const kith__item *items, size_t from, size_t to)
{
    size_t k = from + 1;
    while (k < to && items[k].minor == items[from].minor && items[k].major == items[from].major)
        k++;
    return k;
}

/* A pair of neighbour and relation, with the queries that it meets. */
typedef struct {
    size_t row, r; /* of be and bw */
    float c, most; /* |a - c b| is below it */
    size_t count;
    uint32_t queries[MEETINGS];
    kith__meeting met[MEETINGS];
    float logit[MEETINGS];
    float *scratch; /* of three rows */
} pair;

static void begin_pair(pair *p, const kith__encoder *e, size_t row, size_t r, float c)
{
    p->row = row;
    p->r = r;
    p->c = c;
    if (e->att_u)
        p->most = e->be_most.at[row] + fabsf(c) * e->bw_most.at[r];
}

/* Whether powers of 2 would neither overflow nor lose what matters. */
static bool fits(const pair *p, const kith__encoder *e)
{
    bool all = true;

    for (size_t m = 0; m < p->count; m++)
        all &= !(p->most + e->az_most.at[p->queries[m]] > KITH__POWER_MOST);
    return all;
}

/* y = scale (a - c b) */
static void scaled_minus(float *y, float scale, const float *a, float c, const float *b, size_t n)
{
    memset(y, 0, n * sizeof *y);
    kith__axpy2(y, scale, a, -c * scale, b, n);
}

static const float *unscaled_pair(const pair *p, const kith__encoder *e)
{
    scaled_minus(p->scratch, 1 / KITH__POWER_SCALE, e->be.at + p->row * e->hs, p->c,
                 e->bw.at + p->r * e->hs, e->hs);
    return p->scratch;
}

static const float *unscaled_query(const pair *p, const kith__encoder *e, size_t m)
{
    const float *az = e->az.at + p->queries[m] * e->hs;
    scaled_minus(p->scratch + e->hs, 1 / KITH__POWER_SCALE, az, 0, az, e->hs);
    return p->scratch + e->hs;
}

/* u . tanh(A z + p) for all meetings, by way of powers of 2 where that does. */
static void make_logits(pair *p, const kith__encoder *e)
{
    if (fits(p, e)) {
        kith__pair_logits(p->logit, p->met, p->count, e->be.at + p->row * e->hs, p->c,
                          e->bw.at + p->r * e->hs, e->att_u->at, e->u_sum, p->scratch, e->hs);
        return;
    }
    const float *plain = unscaled_pair(p, e);
    for (size_t m = 0; m < p->count; m++)
        p->logit[m] = kith__logit(unscaled_query(p, e, m), plain, e->att_u->at, e->hs);
}

/* The processor finds the rest of a row by itself. */
INLINE void fetch(const float *row)
{
    __builtin_prefetch(row);
}

/* The rows of w and B w are all over their tables. */
INLINE void fetch_relation(const kith__encoder *e, size_t item)
{
    if (item >= e->visits)
        return;
    size_t r = e->relation_row[e->items[item].minor] - 1;
    fetch(e->unit.at + r * e->ds);
    if (e->att_u)
        fetch(e->bw.at + r * e->hs);
}

/* So are those of queries, once for all items that share one. */
INLINE void fetch_query(const kith__encoder *e, size_t item)
{
    if (item < e->visits)
        fetch(e->ez.at + e->query_row[e->item_encoding[item]] * e->hs);
}

/* The next queries of a pair, from item `from` on; returns the first item that is not among them. */
static size_t meet_queries(pair *p, const kith__encoder *e, size_t from, size_t to)
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

static void visit_pair(kith__encoder *e, pair *p, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++)
        e->c.at[e->items[k].index] = p->c;
    for (size_t end; e->att_u && from < to; from = end) {
        end = meet_queries(p, e, from, to);
        make_logits(p, e);
        /* Visits are in the order of queries, so equal ones are neighbours. */
        for (size_t m = 0; from < end; from++) {
            m += e->query_row[e->item_encoding[from]] != p->queries[m];
            e->logit.at[e->items[from].index] = p->logit[m];
        }
    }
}

static void visit_row(kith__encoder *e, size_t row, pair *p)
{
    for (size_t k = e->row_start[row], end; k < e->row_start[row + 1]; k = end) {
        size_t r = e->relation_row[e->items[k].minor] - 1;
        end = pair_end(e->items, k, e->row_start[row + 1]);
        fetch_relation(e, end);
        for (size_t i = k + 24; i < end + 24 && i < e->visits; i++) {
            __builtin_prefetch(&e->c.at[e->items[i].index], 1);
            __builtin_prefetch(&e->logit.at[e->items[i].index], 1);
        }
        begin_pair(p, e, row, r, kith__dot(entity_row(e, row), e->unit.at + r * e->ds, e->ds));
        visit_pair(e, p, k, end);
    }
}

/* B e of a few rows, which are visited while they are in the cache. */
static void multiply_rows(kith__encoder *e, size_t from, size_t to)
{
    const float *at[ROWS_AT_ONCE];

    for (size_t row = from; row < to; row++)
        at[row - from] = entity_row(e, row);
    kith__rows_times(e->be.at + from * e->hs, at, to - from, e->b_transposed.at, e->d, e->hs, 0);
    for (size_t row = from; row < to; row++)
        e->be_most.at[row] = kith__largest(e->be.at + row * e->hs, e->hs);
}

static size_t block_end(size_t from, size_t last)
{
    return last - from < ROWS_AT_ONCE ? last : from + ROWS_AT_ONCE;
}

static void visit_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    pair p = {.scratch = e->products.at + piece * 3 * e->hs};
    size_t row, last;

    rows_of_piece(&row, &last, e->row_start, e->rows, piece, PIECES);
    for (size_t end; row < last; row = end) {
        end = block_end(row, last);
        if (e->att_u && !e->has_be)
            multiply_rows(e, row, end);
        for (size_t k = row; k < end; k++)
            visit_row(e, k, &p);
    }
}

static void encode_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    piece_of(&from, &to, e->count, piece, PIECES);
    for (size_t i = from; i < to; i++)
        e->aggregator->forward(e, i);
}

/* What visits from..to - 1 take of each relation's w, so that a relation met often is added once.
 * Two that share a place in `last` are now and then listed twice, which does no harm. */
static size_t relation_sums(float *a, uint32_t *ids, const kith__encoder *e, size_t from, size_t to)
{
    uint8_t last[256] = {0};
    size_t count = 0;

    for (size_t v = from; v < to; v++) {
        uint32_t r = e->relation_row[e->neighbor[v].relation] - 1;
        float take = -e->weight.at[v] * e->c.at[v];
        uint8_t *place = &last[r % sizeof last];
        if (*place && ids[*place - 1] == r) {
            a[*place - 1] += take;
        } else {
            a[count] = take;
            ids[count++] = r;
            *place = (uint8_t)count;
        }
    }
    return count;
}

void kith__sum_weighted(kith__encoder *e, size_t i)
{
    size_t to = e->first_visit[i + 1], end;
    float *out = e->out.at + i * e->ds, a[VISITS_AT_ONCE];
    uint32_t ids[VISITS_AT_ONCE];

    for (size_t v = e->first_visit[i]; v < to; v = end) {
        end = to - v < VISITS_AT_ONCE ? to : v + VISITS_AT_ONCE;
        kith__gather_sum(out, e->weight.at + v, e->params->table[0].at, &e->neighbor[v].entity,
                         sizeof *e->neighbor / sizeof(uint32_t), end - v, e->ds);
        size_t count = relation_sums(a, ids, e, v, end);
        kith__gather_sum(out, a, e->unit.at, ids, 1, count, e->ds);
    }
}

void kith__visit_vector(float *out, const kith__encoder *e, size_t v)
{
    size_t r = e->relation_row[e->neighbor[v].relation] - 1;
    kith__minus(out, kith__row(&e->params->table[0], e->neighbor[v].entity), e->c.at[v],
                e->unit.at + r * e->ds, e->ds);
}

kith_status kith__encoder_forward(kith__encoder *e, kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;

    if (e->no_memory || find_encodings(e))
        return kith__no_memory(error);
    count_visits(e);
    if (e->visits >= UINT32_MAX)
        return kith__fail(error, KITH_ERR_ARGUMENT, "a batch has %zu neighbours, expected fewer "
                          "than 2^32; use a smaller batch or fewer neighbours", e->visits);
    if (room_for_visits(e))
        return kith__no_memory(error);
    kith__pool_run(e->pool, fill_piece, e, PIECES);
    kith__radix_sort_on(e->pool, e->items, e->spare, e->visits, e->lists->seen,
                        e->lists->relations);
    find_rows(e);
    if (room(&e->unit, e->relation_rows * e->ds) || room(&e->inverse_norm, e->relation_rows) ||
        room(&e->products, PIECES * 3 * e->hs) || (agg->prepare && agg->prepare(e)))
        return kith__no_memory(error);
    kith__pool_run(e->pool, unit_piece, e, PIECES);
    if (agg->attention && make_products(e))
        return kith__no_memory(error);
    e->has_be = false;
    e->expected_count = e->pairs = e->most_visits = 0;
    kith__pool_run(e->pool, visit_piece, e, PIECES);
    e->has_be = true;
    if (agg->forward)
        kith__pool_run(e->pool, encode_piece, e, PIECES);
    if (agg->forward_all)
        agg->forward_all(e);
    return KITH_OK;
}

/* ---- the same entities for other queries ---- */

static void number_pairs(kith__encoder *e)
{
    for (size_t k = 0; k < e->visits; k++) {
        const kith__item *item = &e->items[k];
        e->pairs += k == 0 || item->major != item[-1].major || item->minor != item[-1].minor;
        e->pair_of[item->index] = (uint32_t)e->pairs - 1;
    }
    for (size_t i = 0; i < e->count; i++)
        if (kith__degree(e, i) > e->most_visits)
            e->most_visits = kith__degree(e, i);
}

/* Logits of all pairs that begin in a piece, for all expected queries. */
static void expect_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    pair p = {.scratch = e->products.at + piece * 3 * e->hs, .count = e->expected_count};
    size_t row, last;

    for (uint32_t q = 0; q < p.count; q++) {
        p.queries[q] = q;
        p.met[q].ez = e->ez.at + q * e->hs;
    }
    rows_of_piece(&row, &last, e->row_start, e->rows, piece, PIECES);
    if (row == last)
        return;
    /* Pairs are numbered in the order of items. */
    float *to = e->pair_logit.at + e->pair_of[e->items[e->row_start[row]].index] * AHEAD;
    for (; row < last; row++)
        for (size_t k = e->row_start[row], end; k < e->row_start[row + 1]; k = end, to += AHEAD) {
            end = pair_end(e->items, k, e->row_start[row + 1]);
            fetch_relation(e, end);
            for (size_t i = k + 32; i < end + 32 && i < e->visits; i++)
                __builtin_prefetch(&e->c.at[e->items[i].index]);
            begin_pair(&p, e, row, e->relation_row[e->items[k].minor] - 1,
                       e->c.at[e->items[k].index]);
            make_logits(&p, e);
            memcpy(to, p.logit, p.count * sizeof *p.logit);
        }
}

/* Weights of an encoding's neighbours, `w`: the softmax of the logits, for eight queries. */
static void soften(float *w, const kith__encoder *e, size_t i)
{
    size_t from = e->first_visit[i], n = kith__degree(e, i);
    _Alignas(32) float total[AHEAD];

    for (size_t k = 0; k < n; k++) {
        if (k + 8 < n)
            __builtin_prefetch(e->pair_logit.at + e->pair_of[from + k + 8] * AHEAD);
        memcpy(w + k * AHEAD, e->pair_logit.at + e->pair_of[from + k] * AHEAD, AHEAD * sizeof *w);
    }
    kith__softmax_lanes(w, total, n);
    for (size_t q = 0; q < AHEAD; q++)
        for (size_t k = 0; isnan(total[q]) && k < n; k++)
            w[k * AHEAD + q] = total[q];
}

/* Adds the logic weights; `column` has P(r => .) for the eight queries (paper, eq. 5). */
static void add_logic(float *w, const kith__encoder *e, size_t i, const float *column)
{
    const kith_neighbor *at = e->neighbor + e->first_visit[i];
    const float *denominator = e->lists->denominator + e->lists->offset[e->entity[i]];

    for (size_t k = 0; k < kith__degree(e, i); k++) {
        float inverse = 1 / denominator[k];
        for (size_t q = 0; q < AHEAD; q++)
            w[k * AHEAD + q] += column[at[k].relation * AHEAD + q] * inverse;
    }
}

/* As relation_sums, for eight queries. */
static size_t relation_lanes(float *a, uint32_t *ids, const kith__encoder *e, const float *w,
                             size_t from, size_t count)
{
    uint8_t last[256] = {0};
    size_t found = 0;

    for (size_t k = 0; k < count; k++) {
        uint32_t r = e->relation_row[e->neighbor[from + k].relation] - 1;
        float c = e->c.at[from + k];
        uint8_t *place = &last[r % sizeof last];
        if (!*place || ids[*place - 1] != r) {
            memset(a + found * AHEAD, 0, AHEAD * sizeof *a);
            ids[found++] = r;
            *place = (uint8_t)found;
        }
        float *to = a + (*place - 1) * AHEAD;
        for (size_t q = 0; q < AHEAD; q++)
            to[q] -= c * w[k * AHEAD + q];
    }
    return found;
}

/* One encoding's vectors for all expected queries. */
static void encode_ahead(kith__encoder *e, size_t i, float *w)
{
    size_t from = e->first_visit[i], n = kith__degree(e, i), ds = e->ds;
    _Alignas(32) float a[VISITS_AT_ONCE * AHEAD], *out[AHEAD];
    uint32_t ids[VISITS_AT_ONCE];

    for (size_t q = 0; q < e->expected_count; q++) {
        out[q] = e->ahead[q].at + i * ds;
        memset(out[q], 0, ds * sizeof *out[q]);
    }
    if (n > 0 && e->att_u)
        soften(w, e, i);
    else
        memset(w, 0, n * AHEAD * sizeof *w);
    if (e->rules)
        add_logic(w, e, i, e->column.at);
    for (size_t k = 0, count; k < n; k += count) {
        count = n - k < VISITS_AT_ONCE ? n - k : VISITS_AT_ONCE;
        kith__gather_sums(out, e->expected_count, w + k * AHEAD, e->params->table[0].at,
                          &e->neighbor[from + k].entity, sizeof *e->neighbor / sizeof(uint32_t),
                          count, ds);
        size_t found = relation_lanes(a, ids, e, w + k * AHEAD, from + k, count);
        kith__gather_sums(out, e->expected_count, a, e->unit.at, ids, 1, found, ds);
    }
}

static void ahead_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    piece_of(&from, &to, e->count, piece, PIECES);
    for (size_t i = from; i < to; i++)
        encode_ahead(e, i, e->lanes.at + piece * e->most_visits * AHEAD);
}

/* Spread or take back the expected queries' P(. => query), eight beside each other. */
static void spread_columns(kith__encoder *e, bool set)
{
    const kith__rules *rules = e->rules;

    for (size_t q = 0; q < e->expected_count; q++) {
        uint32_t query = e->expected[q];
        for (uint64_t i = rules->offset[query]; i < rules->offset[query + 1]; i++)
            e->column.at[rules->at[i].relation * AHEAD + q] = set ? rules->at[i].confidence : 0;
        e->column.at[query * AHEAD + q] =
            set ? kith__rules_self(rules, query, (kith__self)e->settings->self_confidence) : 0;
    }
}

static int room_for_expected(kith__encoder *e, size_t count)
{
    bool failed = false;

    if (kith__renew(&e->query_of, &e->query_of_capacity, count, sizeof *e->query_of) ||
        kith__renew(&e->row_pointer, &e->pointer_capacity, count, sizeof *e->row_pointer) ||
        kith__renew(&e->pair_of, &e->pair_capacity, e->visits, sizeof *e->pair_of) ||
        room(&e->az, count * e->hs) || room(&e->ez, count * e->hs) || room(&e->az_most, count))
        return -1;
    if (e->pairs == 0)
        number_pairs(e);
    for (size_t q = 0; q < count; q++)
        failed |= room(&e->ahead[q], e->count * e->ds);
    return failed || room(&e->pair_logit, AHEAD * e->pairs) ||
           room(&e->lanes, PIECES * AHEAD * e->most_visits);
}

kith_status kith__encoder_expect(kith__encoder *e, const uint32_t *queries, size_t count,
                                 kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;

    if (!agg->weighted || !agg->query_aware)
        return KITH_OK;
    e->expected_count = 0;
    if (room_for_expected(e, count))
        return kith__no_memory(error);
    e->query_rows = e->expected_count = count;
    for (size_t q = 0; q < count; q++)
        e->query_of[q] = e->expected[q] = queries[q];
    if (agg->attention) {
        make_queries(e);
        kith__pool_run(e->pool, expect_piece, e, PIECES);
    }
    if (e->rules)
        spread_columns(e, true);
    kith__pool_run(e->pool, ahead_piece, e, PIECES);
    if (e->rules)
        spread_columns(e, false);
    return KITH_OK;
}

/* Take the vectors that were made ahead for a query, each only once; false if there are none. */
static bool take_expected(kith__encoder *e, uint32_t query)
{
    for (size_t q = 0; q < e->expected_count; q++)
        if (e->expected[q] == query) {
            kith__floats swap = e->out;
            e->out = e->ahead[q];
            e->ahead[q] = swap;
            e->expected[q] = UINT32_MAX;
            return true;
        }
    return false;
}

static void requery_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    const float *column = e->column.at;
    size_t from, to;

    piece_of(&from, &to, e->count, piece, PIECES);
    memset(e->out.at + from * e->ds, 0, (to - from) * e->ds * sizeof *e->out.at);
    for (size_t i = from; i < to; i++) {
        e->query[i] = e->query_of[0];
        e->query_row[i] = 0;
        uint64_t s = e->lists->offset[e->entity[i]];
        for (size_t v = e->first_visit[i]; e->rules && v < e->first_visit[i + 1]; v++, s++)
            e->logic.at[v] = column[e->neighbor[v].relation] / e->lists->denominator[s];
    }
}

kith_status kith__encoder_requery(kith__encoder *e, uint32_t query, kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;

    if (!agg->query_aware || take_expected(e, query))
        return KITH_OK;
    e->query_rows = 1;
    e->query_of[0] = query;
    if (e->rules)
        spread_column(e->column.at, e, query, true);
    kith__pool_run(e->pool, requery_piece, e, PIECES);
    if (e->rules)
        spread_column(e->column.at, e, query, false);
    if (agg->attention == KITH__QUERY_ATTENTION) {
        make_queries(e);
        kith__pool_run(e->pool, visit_piece, e, PIECES);
    }
    if (agg->prepare && agg->prepare(e))
        return kith__no_memory(error);
    if (agg->forward)
        kith__pool_run(e->pool, encode_piece, e, PIECES);
    if (agg->forward_all)
        agg->forward_all(e);
    return KITH_OK;
}

/* ---- backward ---- */

float *kith__encoder_grad(kith__encoder *e, size_t encoding)
{
    float *row = e->grad.at + encoding * e->ds;

    if (!e->active[encoding])
        memset(row, 0, e->ds * sizeof *row);
    e->active[encoding] = 1;
    return row;
}

/* Of an item that will come soon, the encoding's gradient. */
INLINE void fetch_gradient(const kith__encoder *e, size_t item)
{
    if (item < e->active_visits)
        fetch(e->grad.at + e->active_encoding[item] * e->ds);
}

/* The gradient by a neighbour's weight: grad . T. */
static void weigh_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    float *t = e->products.at + piece * e->ds;
    size_t row, last;

    rows_of_piece(&row, &last, e->active_start, e->active_count, piece, PIECES);
    for (size_t k = e->active_start[row], end, stop = e->active_start[last]; k < stop; k = end) {
        const kith__item *item = &e->active_items[k];
        end = pair_end(e->active_items, k, stop);
        kith__minus(t, kith__row(&e->params->table[0], item->major), e->c.at[item->index],
                    e->unit.at + (e->relation_row[item->minor] - 1) * e->ds, e->ds);
        for (size_t i = k; i < end; i++) {
            fetch_gradient(e, i + 6);
            if (i + 24 < e->active_visits)
                __builtin_prefetch(&e->c.at[e->active_items[i + 24].index]);
            e->weight_gradient.at[e->active_items[i].index] =
                kith__dot(e->grad.at + e->active_encoding[i] * e->ds, t, e->ds);
        }
    }
}

static void aggregate_backward_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    piece_of(&from, &to, e->count, piece, PIECES);
    for (size_t i = from; i < to; i++)
        if (e->active[i])
            e->aggregator->backward(e, i);
}

static int room_for_slots(kith__encoder *e)
{
    return kith__renew(&e->relation_slot, &e->slot_capacity[0], e->relation_rows,
                       sizeof *e->relation_slot) ||
           kith__renew(&e->active_relations, &e->slot_capacity[1], e->relation_rows,
                       sizeof *e->active_relations) ||
           kith__renew(&e->query_slot, &e->slot_capacity[2], e->query_rows,
                       sizeof *e->query_slot) ||
           kith__renew(&e->active_queries, &e->slot_capacity[3], e->query_rows,
                       sizeof *e->active_queries);
}

static void mark_active(kith__encoder *e, size_t item)
{
    uint32_t relation = e->relation_row[e->active_items[item].minor] - 1;
    uint32_t query = e->query_row[e->active_encoding[item]];

    if (e->relation_slot[relation] == UINT32_MAX) {
        e->relation_slot[relation] = (uint32_t)e->active_relation_count;
        e->active_relations[e->active_relation_count++] = relation;
    }
    if (e->query_slot[query] == UINT32_MAX) {
        e->query_slot[query] = (uint32_t)e->active_query_count;
        e->active_queries[e->active_query_count++] = query;
    }
}

/* The visits of active encodings, sorted as all of them are. */
static int find_active_items(kith__encoder *e)
{
    size_t count = 0;

    for (size_t i = 0; i < e->count; i++)
        count += e->active[i] ? kith__degree(e, i) : 0;
    e->active_visits = count;
    e->active_items = e->items;
    e->active_encoding = e->item_encoding;
    if (count == e->visits)
        return 0;
    if (kith__renew(&e->some_items, &e->some_capacity, count, sizeof *e->some_items) ||
        kith__renew(&e->some_encoding, &e->some_encoding_capacity, count,
                    sizeof *e->some_encoding))
        return -1;
    e->active_items = e->some_items;
    e->active_encoding = e->some_encoding;
    count = 0;
    for (size_t i = 0; i < e->count; i++)
        for (size_t v = e->first_visit[i]; e->active[i] && v < e->first_visit[i + 1]; v++)
            e->some_items[count++] =
                (kith__item){e->neighbor[v].entity, e->neighbor[v].relation, (uint32_t)v};
    kith__radix_sort_on(e->pool, e->some_items, e->spare, count, e->lists->seen,
                        e->lists->relations);
    for (size_t k = 0; k < count; k++)
        e->some_encoding[k] = e->encoding[e->some_items[k].index];
    return 0;
}

/* Where all visits are active, so are all rows. */
static int take_all_rows(kith__encoder *e)
{
    e->active_count = e->rows;
    e->active_relation_count = e->relation_rows;
    e->active_query_count = e->query_rows;
    for (uint32_t r = 0; r < e->relation_rows; r++)
        e->relation_slot[r] = e->active_relations[r] = r;
    for (uint32_t q = 0; q < e->query_rows; q++)
        e->query_slot[q] = e->active_queries[q] = q;
    memcpy(e->active_start, e->row_start, (e->rows + 1) * sizeof *e->row_start);
    for (uint32_t row = 0; row < e->rows; row++) {
        e->active_rows[row] = row;
        if (kith__gradient_make_raw(e->gradients, e->items[e->row_start[row]].major))
            return -1;
    }
    return 0;
}

/* Neighbours that some active encoding looks at get a row of gradients, in order; relations and
 * queries that take part get a place. */
static int find_active_rows(kith__encoder *e)
{
    const kith__item *items = e->active_items;

    if (room_for_slots(e))
        return -1;
    if (e->active_visits == e->visits)
        return take_all_rows(e);
    memset(e->relation_slot, 0xff, e->relation_rows * sizeof *e->relation_slot);
    memset(e->query_slot, 0xff, e->query_rows * sizeof *e->query_slot);
    e->active_count = e->active_relation_count = e->active_query_count = 0;
    for (size_t k = 0, row = 0; k < e->active_visits; k++) {
        mark_active(e, k);
        if (k > 0 && items[k].major == items[k - 1].major)
            continue;
        while (e->items[e->row_start[row]].major != items[k].major)
            row++;
        e->active_start[e->active_count] = k;
        e->active_rows[e->active_count++] = (uint32_t)row;
        if (kith__gradient_make_raw(e->gradients, items[k].major))
            return -1;
    }
    e->active_start[e->active_count] = e->active_visits;
    return 0;
}

/* Everything a piece of the backward pass adds to beside rows of its own. */
typedef struct {
    float *gaz, *gbw, *gunit, *gu, *gb;
} sums;

static sums sums_of(const kith__encoder *e, size_t piece)
{
    return (sums){e->gaz.at + piece * e->active_query_count * e->hs,
                  e->gbw.at + piece * e->active_relation_count * e->hs,
                  e->gunit.at + piece * e->active_relation_count * e->ds,
                  e->gu.at + piece * e->hs, e->gb.at + piece * e->hs * e->ds};
}

/* Of the pair that begins at an item, what it reads and adds to by its relation. */
INLINE void fetch_sums(const kith__encoder *e, sums s, size_t item)
{
    if (item >= e->active_visits)
        return;
    size_t r = e->relation_row[e->active_items[item].minor] - 1, slot = e->relation_slot[r];
    fetch(e->unit.at + r * e->ds);
    fetch(s.gunit + slot * e->ds);
    if (!e->att_u)
        return;
    fetch(e->bw.at + r * e->hs);
    fetch(s.gbw + slot * e->hs);
}

/* Values by visit are all over their arrays too. */
INLINE void fetch_visit(const kith__encoder *e, size_t item)
{
    if (item >= e->active_visits)
        return;
    size_t v = e->active_items[item].index;
    __builtin_prefetch(&e->c.at[v]);
    __builtin_prefetch(&e->weight.at[v]);
    __builtin_prefetch(&e->logit_gradient.at[v]);
}

/* The same by an item's query. */
INLINE void fetch_meeting(const kith__encoder *e, sums s, size_t item)
{
    if (item >= e->active_visits)
        return;
    size_t query = e->query_row[e->active_encoding[item]];
    fetch(e->ez.at + query * e->hs);
    fetch(s.gaz + e->query_slot[query] * e->hs);
}

/* The queries of items from.. that one call takes, each with the sum of its visits' gradients;
 * returns the first item that is not among them. */
static size_t find_meetings(pair *p, const kith__encoder *e, sums s, size_t from, size_t to)
{
    uint32_t last = UINT32_MAX;

    p->count = 0;
    for (; from < to; from++) {
        uint32_t query = e->query_row[e->active_encoding[from]];
        if (query != last) {
            if (p->count == MEETINGS)
                break;
            fetch_meeting(e, s, from + 4);
            p->met[p->count] = (kith__meeting){e->ez.at + query * e->hs,
                                               s.gaz + e->query_slot[query] * e->hs, 0};
            p->queries[p->count++] = last = query;
        }
        p->met[p->count - 1].g += e->logit_gradient.at[e->active_items[from].index];
    }
    return from;
}

/* With p = B e - c B w, the gradient by p is gathered over the meetings; then gB e += gp,
 * gB w -= c gp. Returns gp . B w, whose negative is the derivative by c. By way of powers of 2 where
 * that does. */
static float meet(pair *p, const kith__encoder *e, sums s, float *gbe)
{
    const float *be = e->be.at + p->row * e->hs, *bw = e->bw.at + p->r * e->hs, *u = e->att_u->at;
    float *gbw = s.gbw + e->relation_slot[p->r] * e->hs, *gp = p->scratch + 2 * e->hs;

    if (fits(p, e))
        return kith__pair_backward(gbe, gbw, s.gu, p->met, p->count, be, p->c, bw, u, p->scratch,
                                   e->hs) / KITH__POWER_SCALE;
    const float *plain = unscaled_pair(p, e);
    memset(gp, 0, e->hs * sizeof *gp);
    for (size_t m = 0; m < p->count; m++)
        kith__logit_backward(p->met[m].gz, gp, s.gu, p->met[m].g, unscaled_query(p, e, m), plain, u,
                             e->hs);
    kith__axpy(gbe, 1, gp, e->hs);
    kith__axpy(gbw, -p->c, gp, e->hs);
    return kith__dot(gp, bw, e->hs) / KITH__POWER_SCALE;
}

/* The attention's part of one pair; returns the derivative by c. */
static float pair_attention(kith__encoder *e, sums s, float *gbe, pair *p, size_t from, size_t to)
{
    float gc = 0;

    while (from < to) {
        from = find_meetings(p, e, s, from, to);
        gc -= meet(p, e, s, gbe);
    }
    return gc;
}

/* T's part of one pair where its visits' gradients are weights times rows of grad. */
static void back_through_weights(kith__encoder *e, float *ge, float *gunit, const pair *p, float gc,
                                 size_t from, size_t to, float *room)
{
    float weight[VISITS_AT_ONCE];

    for (size_t k = from, count; k < to; k += count) {
        count = to - k < VISITS_AT_ONCE ? to - k : VISITS_AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            fetch_gradient(e, k + i + 6);
            weight[i] = e->weight.at[e->active_items[k + i].index];
        }
        kith__transform_backward(ge, gunit, weight, e->grad.at, e->active_encoding + k, count,
                                 entity_row(e, p->row), e->unit.at + p->r * e->ds, p->c, gc, room,
                                 e->ds);
        gc = 0;
    }
}

/* The same where they are vectors of their own. */
static void back_through_vectors(kith__encoder *e, float *ge, float *gunit, const pair *p, float gc,
                                 size_t from, size_t to, float *room)
{
    static const uint32_t first;
    static const float one = 1;

    for (size_t k = from; k < to; k++) {
        e->aggregator->visit_gradient(room + e->ds, e, e->active_encoding[k],
                                      e->active_items[k].index);
        kith__transform_backward(ge, gunit, &one, room + e->ds, &first, 1, entity_row(e, p->row),
                                 e->unit.at + p->r * e->ds, p->c, k == from ? gc : 0, room, e->ds);
    }
}

static void backward_row(kith__encoder *e, sums s, size_t index, float *gbe, float *scratch)
{
    size_t end = e->active_start[index + 1];
    float *ge = kith__gradient_of(e->gradients, e->active_items[e->active_start[index]].major);
    void (*through)(kith__encoder *, float *, float *, const pair *, float, size_t, size_t, float *) =
        e->aggregator->visit_gradient ? back_through_vectors : back_through_weights;
    pair p;

    p.scratch = scratch;
    memset(ge, 0, e->ds * sizeof *ge); /* the encoder is the first to add to it */
    for (size_t k = e->active_start[index], next; k < end; k = next) {
        next = pair_end(e->active_items, k, end);
        for (size_t i = k; i < next; i++)
            fetch_visit(e, i + 24);
        fetch_sums(e, s, next);
        begin_pair(&p, e, e->active_rows[index], e->relation_row[e->active_items[k].minor] - 1,
                   e->c.at[e->active_items[k].index]);
        float gc = e->att_u ? pair_attention(e, s, gbe, &p, k, next) : 0;
        through(e, ge, s.gunit + e->relation_slot[p.r] * e->ds, &p, gc, k, next,
                scratch + 3 * e->hs);
    }
}

/* B e, for a few rows that are still in the cache: gB += gbe^T e, ge += gbe B. */
static void back_through_rows(kith__encoder *e, sums s, size_t from, size_t to, const float *gbe)
{
    const float *row[ROWS_AT_ONCE], *gradient[ROWS_AT_ONCE];
    size_t first = e->gradients->row_of[e->active_items[e->active_start[from]].major] - 1;

    for (size_t k = from; k < to; k++) {
        row[k - from] = entity_row(e, e->active_rows[k]);
        gradient[k - from] = gbe + (k - from) * e->hs;
    }
    kith__outer_sum(s.gb, gbe, row, to - from, e->hs, e->ds);
    /* The encoder is the first to make rows, so they are in the order of active_rows. */
    kith__rows_times(e->gradients->ent.at + first * e->ds, gradient, to - from, e->b_plain.at, e->h,
                     e->ds, 1);
}

static void clear_sums(const kith__encoder *e, sums s)
{
    memset(s.gunit, 0, e->active_relation_count * e->ds * sizeof(float));
    if (!e->att_u)
        return;
    memset(s.gbw, 0, e->active_relation_count * e->hs * sizeof(float));
    memset(s.gaz, 0, e->active_query_count * e->hs * sizeof(float));
    memset(s.gu, 0, e->hs * sizeof(float));
    memset(s.gb, 0, e->hs * e->ds * sizeof(float));
}

static void backward_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    sums s = sums_of(e, piece);
    float *scratch = e->products.at + piece * (3 * e->hs + 2 * e->ds);
    float *gbe = e->gbe.at + piece * ROWS_AT_ONCE * e->hs;
    size_t from, last;

    clear_sums(e, s);
    rows_of_piece(&from, &last, e->active_start, e->active_count, piece, e->pieces);
    for (size_t end; from < last; from = end) {
        end = block_end(from, last);
        if (e->att_u)
            memset(gbe, 0, ROWS_AT_ONCE * e->hs * sizeof *gbe);
        for (size_t k = from; k < end; k++)
            backward_row(e, s, k, gbe + (k - from) * e->hs, scratch);
        if (e->att_u)
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
    adding a = {sum, floats, e->pieces};
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

    if (room(&e->partial, (chunks + 4) * square))
        return -1;
    outer o = {e->partial.at, left, right, count, e->hs, e->ds};
    kith__pool_run(e->pool, outer_chunk, &o, chunks);
    for (size_t c = 0; c < chunks; c++)
        kith__axpy(sum, 1, e->partial.at + c * square, square);
    return 0;
}

/* ga and gb (hs x ds) into the gradient of att_w = [A B]. */
static void store_halves(kith__encoder *e, const float *ga, const float *gb)
{
    const kith__table *w = kith__params_find(&e->gradients->dense, "att_w");

    for (size_t r = 0; r < e->h; r++) {
        float *row = kith__gradient_row(e->gradients, w, r);
        for (size_t c = 0; c < e->d; c++) {
            row[c] += ga[r * e->ds + c];
            row[e->d + c] += gb[r * e->ds + c];
        }
    }
}

/* B w: gB += gbw^T w, gw += gbw B. */
static int back_through_relations(kith__encoder *e, float *gb)
{
    const float **at = e->row_pointer;
    size_t count = e->active_relation_count;

    for (size_t k = 0; k < count; k++)
        at[k] = e->unit.at + e->active_relations[k] * e->ds;
    if (add_outer(e, gb, e->gbw.at, at, count))
        return -1;
    for (size_t k = 0; k < count; k++)
        at[k] = e->gbw.at + k * e->hs;
    run_product(e, (product){e->gunit.at, at, count, e->h, e->ds, e->b_plain.at, 1});
    return 0;
}

/* The factor u, which the sums over meetings are without. */
static void scale_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    piece_of(&from, &to, e->active_query_count, piece, PIECES);
    for (size_t k = from; k < to; k++)
        for (size_t j = 0; j < e->hs; j++)
            e->gaz.at[k * e->hs + j] *= e->att_u->at[j];
}

/* A z: gA += gaz^T z, gz += gaz A. */
static int back_through_queries(kith__encoder *e, float *ga)
{
    const kith__table *gradient = kith__params_find(&e->gradients->dense, "query");
    const float **at = e->row_pointer;
    size_t count = e->active_query_count;

    if (!e->queries)
        return 0;
    kith__pool_run(e->pool, scale_piece, e, PIECES);
    for (size_t k = 0; k < count; k++)
        at[k] = kith__row(e->queries, e->query_of[e->active_queries[k]]);
    if (add_outer(e, ga, e->gaz.at, at, count))
        return -1;
    if (room(&e->gz, count * e->ds))
        return -1;
    for (size_t k = 0; k < count; k++)
        at[k] = e->gaz.at + k * e->hs;
    run_product(e, (product){e->gz.at, at, count, e->h, e->ds, e->a_plain.at, 0});
    for (size_t k = 0; k < count; k++)
        kith__axpy(kith__gradient_row(e->gradients, gradient, e->query_of[e->active_queries[k]]), 1,
                   e->gz.at + k * e->ds, e->ds);
    return 0;
}

static int back_through_products(kith__encoder *e)
{
    size_t square = e->hs * e->ds;
    const kith__table *u = kith__params_find(&e->gradients->dense, "att_u");

    add_pieces(e, e->gaz.at, e->active_query_count * e->hs);
    add_pieces(e, e->gbw.at, e->active_relation_count * e->hs);
    add_pieces(e, e->gu.at, e->hs);
    add_pieces(e, e->gb.at, square);
    kith__axpy(kith__gradient_row(e->gradients, u, 0), 1, e->gu.at, e->hs);
    /* Where u ends, exponentials that are not quite 1 leave a trace; padding must stay 0. */
    memset(kith__gradient_row(e->gradients, u, 0) + e->h, 0, (e->hs - e->h) * sizeof(float));
    if (room(&e->ga, square))
        return -1;
    memset(e->ga.at, 0, square * sizeof(float));
    if (back_through_relations(e, e->gb.at) || back_through_queries(e, e->ga.at))
        return -1;
    store_halves(e, e->ga.at, e->gb.at);
    return 0;
}

static void back_through_units(void *context, size_t piece)
{
    kith__encoder *e = context;
    const kith__table *trans = kith__params_find(&e->gradients->dense, "trans");
    size_t from, to;

    piece_of(&from, &to, e->active_relation_count, piece, PIECES);
    for (size_t k = from; k < to; k++) {
        size_t r = e->active_relations[k];
        kith__normalize_backward(kith__gradient_row(e->gradients, trans, e->relation_of[r]),
                                 e->gunit.at + k * e->ds, e->unit.at + r * e->ds,
                                 e->inverse_norm.at[r], e->d);
    }
}

static int room_for_backward(kith__encoder *e)
{
    size_t k = e->pieces;

    return room(&e->gunit, k * e->active_relation_count * e->ds) || room(&e->gu, k * e->hs) ||
           room(&e->products, (k + PIECES) * (3 * e->hs + 2 * e->ds)) ||
           room(&e->weight_gradient, e->visits) || room(&e->logit_gradient, e->visits) ||
           (e->aggregator->attention && (room(&e->gbe, k * ROWS_AT_ONCE * e->hs) ||
                                         room(&e->gb, k * e->hs * e->ds) ||
                                         room(&e->gaz, k * e->active_query_count * e->hs) ||
                                         room(&e->gbw, k * e->active_relation_count * e->hs)));
}

kith_status kith__encoder_backward(kith__encoder *e, kith__gradients *gradients, kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;

    e->gradients = gradients;
    if (find_active_items(e))
        return kith__no_memory(error);
    e->pieces = e->active_visits / VISITS_A_PIECE + 2;
    if (e->pieces > MOST_BACKWARD)
        e->pieces = MOST_BACKWARD;
    if (find_active_rows(e) || room_for_backward(e))
        return kith__no_memory(error);
    if (agg->backward) {
        kith__pool_run(e->pool, weigh_piece, e, PIECES);
        kith__pool_run(e->pool, aggregate_backward_piece, e, PIECES);
    }
    if (agg->backward_all)
        agg->backward_all(e);
    if (e->no_memory)
        return kith__no_memory(error);
    kith__pool_run(e->pool, backward_piece, e, e->pieces);
    add_pieces(e, e->gunit.at, e->active_relation_count * e->ds);
    if (agg->attention && back_through_products(e))
        return kith__no_memory(error);
    kith__pool_run(e->pool, back_through_units, e, PIECES);
    return KITH_OK;
}
