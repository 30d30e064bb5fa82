/* Planning a batch: the distinct encodings of the requests, their visits, and the visits' order by
 * neighbour and relation. */
#include <string.h>

#include "core/rng.h"
#include "embed/encoder/pairs.h"

static bool same_neighbor(kith_neighbor a, kith_neighbor b)
{
    return a.relation == b.relation && a.entity == b.entity;
}

static int reserve_encodings(kith__encoder *e, size_t n)
{
    return KITH__GROW(&e->plan, sorted, n) || KITH__GROW(&e->plan, encoding_of, n) ||
           KITH__GROW(&e->plan, entity, n) || KITH__GROW(&e->plan, query, n) ||
           KITH__GROW(&e->plan, mask, n) || KITH__GROW(&e->plan, first_visit, n + 1) ||
           KITH__GROW(&e->plan, query_row, n) || KITH__GROW(&e->plan, active, n) ||
           KITH__GROW(&e->products, query_of, n);
}

static int find_encodings(kith__encoder *e)
{
    size_t n = e->plan.request_count;

    if (reserve_encodings(e, n))
        return -1;
    kith__radix_sort(e->plan.requests, e->plan.sorted, n, e->lists->relations, e->lists->entities);
    e->plan.count = 0;
    e->products.query_rows = 0;
    for (size_t k = 0; k < n; k++) {
        const kith__item *r = &e->plan.requests[k];
        kith_neighbor mask = e->plan.request_mask[r->index];
        size_t last = e->plan.count - 1;
        if (k == 0 || e->plan.query[last] != r->major || e->plan.entity[last] != r->minor ||
            !same_neighbor(e->plan.mask[last], mask)) {
            if (k == 0 || e->plan.query[last] != r->major)
                e->products.query_of[e->products.query_rows++] = r->major;
            e->plan.entity[e->plan.count] = r->minor;
            e->plan.query[e->plan.count] = r->major;
            e->plan.mask[e->plan.count] = mask;
            e->plan.query_row[e->plan.count++] = (uint32_t)e->products.query_rows - 1;
        }
        e->plan.encoding_of[r->index] = (uint32_t)e->plan.count - 1;
    }
    memset(e->plan.active, 0, e->plan.count);
    return 0;
}

/* ---- visits ---- */

static void count_visits(kith__encoder *e)
{
    size_t total = 0;

    for (size_t i = 0; i < e->plan.count; i++) {
        if (i + 16 < e->plan.count)
            __builtin_prefetch(&e->lists->offset[e->plan.entity[i + 16]]);
        uint64_t from = e->lists->offset[e->plan.entity[i]];
        uint64_t to = from + kith__list_count(e->lists, e->plan.entity[i]);
        e->plan.first_visit[i] = total;
        total += (size_t)(to - from);
        if (e->plan.mask[i].relation != UINT32_MAX)
            for (uint64_t s = from; s < to; s++)
                total -= same_neighbor(e->lists->at[s], e->plan.mask[i]);
    }
    e->plan.first_visit[e->plan.count] = total;
    e->visits.count = total;
}

static int reserve_visits(kith__encoder *e)
{
    size_t n = e->visits.count;

    return KITH__GROW(&e->visits, neighbor, n) || KITH__GROW(&e->visits, encoding, n) ||
           KITH__GROW(&e->visits, items, n) || KITH__GROW(&e->visits, item_encoding, n) ||
           KITH__GROW(&e->visits, spare, n) || KITH__GROW(&e->visits, row_start, n + 1) ||
           KITH__GROW(&e->back, active_rows, n) || KITH__GROW(&e->back, active_start, n + 1) ||
           KITH__GROW(&e->visits, relation_ids, n) || KITH__GROW(&e->visits, which, n) ||
           KITH__GROW(&e->visits, id_count, n) || KITH__GROW(&e->visits, c, n) ||
           KITH__GROW(&e->visits, logit, n) || KITH__GROW(&e->visits, weight, n) ||
           (e->rules && (KITH__GROW(&e->visits, logic, n) ||
                         KITH__GROW(&e->visits, column, PIECES * e->lists->relations))) ||
           KITH__GROW(&e->plan, out, e->plan.count * e->ds) ||
           KITH__GROW(&e->plan, grad, e->plan.count * e->ds) ||
           KITH__GROW(&e->products, partial, 4 * e->ds);
}

/* Set or clear P(. => query) over the 2m relations. */
void kith__spread_column(float *column, const kith__encoder *e, uint32_t query, bool set)
{
    const kith__implications *rules = e->rules;

    for (uint64_t i = rules->offset[query]; i < rules->offset[query + 1]; i++)
        column[rules->at[i].relation] = set ? rules->at[i].confidence : 0;
    column[query] =
        set ? kith__implications_self(rules, query, (kith__self)e->settings->self_confidence) : 0;
}

static void shuffle_visits(kith__encoder *e, size_t i)
{
    kith__rng rng;

    kith__rng_init(&rng, e->order_seed, e->plan.entity[i]);
    for (size_t k = kith__degree(e, i); k > 1; k--) {
        kith_neighbor *list = e->visits.neighbor + e->plan.first_visit[i], swap = list[k - 1];
        size_t other = (size_t)kith__rng_below(&rng, k);
        list[k - 1] = list[other];
        list[other] = swap;
    }
}

static void fill_encoding(kith__encoder *e, size_t i, const float *column)
{
    const kith__neighbor_lists *lists = e->lists;
    uint64_t from = lists->offset[e->plan.entity[i]],
             to = from + kith__list_count(lists, e->plan.entity[i]);
    size_t v = e->plan.first_visit[i];

    for (uint64_t s = from; s < to; s++) {
        kith_neighbor next = lists->at[s];
        if (same_neighbor(next, e->plan.mask[i]))
            continue;
        e->visits.neighbor[v] = next;
        if (column) /* paper, eq. 5 */
            e->visits.logic[v] = column[next.relation] * (1 / kith__denominator(lists, s));
        v++;
    }
    if (e->order_seed && e->aggregator->ordered)
        shuffle_visits(e, i);
    for (v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++) {
        e->visits.encoding[v] = (uint32_t)i;
        e->visits.items[v] =
            (kith__item){e->visits.neighbor[v].entity, e->visits.neighbor[v].relation, (uint32_t)v};
    }
}

/* Lists of a large graph are not in the cache: prefetch the offset of a list, and a little later
 * the list. */
static inline __attribute__((always_inline)) void fetch_lists(const kith__encoder *e, size_t i,
                                                              size_t to)
{
    enum { PLACE = 8, LIST = 4, LINE = 8 /* in neighbours */ };
    const kith__neighbor_lists *lists = e->lists;

    if (i + PLACE < to)
        __builtin_prefetch(&lists->offset[e->plan.entity[i + PLACE]]);
    if (i + LIST >= to)
        return;
    uint64_t from = lists->offset[e->plan.entity[i + LIST]];
    size_t count = kith__list_count(lists, e->plan.entity[i + LIST]);
    for (size_t k = 0; k < count; k += LINE)
        __builtin_prefetch(&lists->at[from + k]);
    if (lists->packed)
        __builtin_prefetch(&lists->packed[from]);
    else if (lists->denominator)
        __builtin_prefetch(&lists->denominator[from]);
}

static void fill_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    float *column = e->rules ? e->visits.column + piece * e->lists->relations : NULL;
    size_t from, to;

    kith__piece_of(&from, &to, e->plan.count, piece, PIECES);
    for (size_t i = from; i < to; i++) {
        if (i % ENCODINGS_A_TICK == 0 && kith__encoder_stops(e)) {
            to = i; /* the column holds that of the last encoding */
            break;
        }
        if (column && (i == from || e->plan.query[i] != e->plan.query[i - 1])) {
            if (i > from)
                kith__spread_column(column, e, e->plan.query[i - 1], false);
            kith__spread_column(column, e, e->plan.query[i], true);
        }
        fetch_lists(e, i, to);
        fill_encoding(e, i, column);
        memset(e->plan.out + i * e->ds, 0, e->ds * sizeof *e->plan.out);
    }
    if (column && to > from)
        kith__spread_column(column, e, e->plan.query[to - 1], false);
}

/* For a range of the sorted items: where each distinct neighbour begins, written from the range's
 * first place; which relations occur; and the encoding of each item. */
static void find_rows_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    uint8_t *marks = e->products.relation_marks + piece * e->lists->relations;
    size_t from, to, rows;

    kith__piece_of(&from, &to, e->visits.count, piece, PIECES);
    rows = from;
    for (size_t k = from; k < to; k++) {
        const kith__item *item = &e->visits.items[k];
        if (k == 0 || item->major != item[-1].major)
            e->visits.row_start[rows++] = k;
        marks[item->minor] = 1;
        e->visits.item_encoding[k] = e->visits.encoding[item->index];
    }
    e->visits.piece_rows[piece] = rows - from;
}

static void number_relations(kith__encoder *e)
{
    size_t relations = e->lists->relations;

    e->products.relation_rows = 0;
    for (uint32_t r = 0; r < relations; r++) {
        uint8_t there = 0;
        for (size_t piece = 0; piece < PIECES; piece++)
            there |= e->products.relation_marks[piece * relations + r];
        e->products.relation_row[r] = 0;
        if (there) {
            e->products.relation_of[e->products.relation_rows] = r;
            e->products.relation_row[r] = (uint32_t)++e->products.relation_rows;
        }
    }
    memset(e->products.relation_marks, 0, relations * PIECES);
}

static void find_rows(kith__encoder *e)
{
    kith__pool_run(e->pool, find_rows_piece, e, PIECES);
    e->visits.rows = 0;
    for (size_t piece = 0; piece < PIECES; piece++) {
        size_t from, to;
        kith__piece_of(&from, &to, e->visits.count, piece, PIECES);
        memmove(e->visits.row_start + e->visits.rows, e->visits.row_start + from,
                e->visits.piece_rows[piece] * sizeof *e->visits.row_start);
        e->visits.rows += e->visits.piece_rows[piece];
    }
    e->visits.row_start[e->visits.rows] = e->visits.count;
    number_relations(e);
}

kith_status kith__encoder_plan(kith__encoder *e, kith_error *error)
{
    if (e->no_memory || find_encodings(e))
        return kith__no_memory(error);
    count_visits(e);
    if (e->visits.count >= UINT32_MAX)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "a batch has %zu neighbours, expected fewer "
                          "than 2^32; use a smaller batch or fewer neighbours",
                          e->visits.count);
    if (reserve_visits(e))
        return kith__no_memory(error);
    kith__pool_run(e->pool, fill_piece, e, PIECES);
    if (kith__encoder_stops(e))
        return kith__watch_status(e->watch, error);
    kith__radix_sort_on(e->pool, e->visits.items, e->visits.spare, e->visits.count,
                        e->lists->seen + e->lists->vector_count, e->lists->relations);
    if (kith__encoder_stops(e))
        return kith__watch_status(e->watch, error);
    find_rows(e);
    return KITH_OK;
}
