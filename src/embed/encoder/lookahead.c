/* Encoding the same entities for several other queries at once. */
#include <string.h>

#include "embed/encoder/pairs.h"

static void number_pairs(kith__encoder *e)
{
    for (size_t k = 0; k < e->visits.count; k++) {
        const kith__item *item = &e->visits.items[k];
        e->ahead.pairs += k == 0 || item->major != item[-1].major || item->minor != item[-1].minor;
        e->ahead.pair_of[item->index] = (uint32_t)e->ahead.pairs - 1;
    }
    for (size_t i = 0; i < e->plan.count; i++)
        if (kith__degree(e, i) > e->ahead.most_visits)
            e->ahead.most_visits = kith__degree(e, i);
}

/* Logits of all pairs that begin in a piece, for all prefetched queries. */
static void prefetch_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    kith__pair p = {.scratch = e->products.scratch + piece * kith__apart(3 * e->hs),
                    .count = e->ahead.count};
    size_t row, last;

    for (uint32_t q = 0; q < p.count; q++) {
        p.queries[q] = q;
        p.met[q].ez = e->products.ez + q * e->hs;
    }
    kith__rows_of_piece(&row, &last, e->visits.row_start, e->visits.rows, 1, piece, PIECES);
    if (row == last)
        return;
    /* Pairs are numbered in the order of items. */
    float *to = e->ahead.pair_logit +
                (size_t)e->ahead.pair_of[e->visits.items[e->visits.row_start[row]].index] * AHEAD;
    for (; row < last && !kith__encoder_stops(e); row++)
        for (size_t k = e->visits.row_start[row], end; k < e->visits.row_start[row + 1];
             k = end, to += AHEAD) {
            end = kith__pair_end(e->visits.items, k, e->visits.row_start[row + 1]);
            kith__fetch_relation(e, end);
            for (size_t i = k + 32; i < end + 32 && i < e->visits.count; i++)
                __builtin_prefetch(&e->visits.c[e->visits.items[i].index]);
            kith__begin_pair(&p, e, row, e->products.relation_row[e->visits.items[k].minor] - 1,
                             e->visits.c[e->visits.items[k].index]);
            kith__make_logits(&p, e);
            memcpy(to, p.logit, p.count * sizeof *p.logit);
        }
}

/* The weights `w` of an encoding's neighbours: the softmax of the logits, for eight queries. */
static void softmax_weights(float *w, const kith__encoder *e, size_t i)
{
    size_t from = e->plan.first_visit[i], n = kith__degree(e, i);
    _Alignas(32) float total[AHEAD];

    for (size_t k = 0; k < n; k++) {
        if (k + 8 < n)
            __builtin_prefetch(e->ahead.pair_logit +
                               (size_t)e->ahead.pair_of[from + k + 8] * AHEAD);
        memcpy(w + k * AHEAD, e->ahead.pair_logit + (size_t)e->ahead.pair_of[from + k] * AHEAD,
               AHEAD * sizeof *w);
    }
    kith__softmax_lanes(w, total, n);
    for (size_t q = 0; q < AHEAD; q++)
        for (size_t k = 0; isnan(total[q]) && k < n; k++)
            w[k * AHEAD + q] = total[q];
}

/* Adds the logic weights; `column` has P(r => .) for the eight queries (paper, eq. 5). */
static void add_logic(float *w, const kith__encoder *e, size_t i, const float *column)
{
    const kith_neighbor *at = e->visits.neighbor + e->plan.first_visit[i];
    uint64_t place = e->lists->offset[e->plan.entity[i]];

    for (size_t k = 0; k < kith__degree(e, i); k++) {
        float inverse = 1 / kith__denominator(e->lists, place + k);
        for (size_t q = 0; q < AHEAD; q++)
            w[k * AHEAD + q] += column[at[k].relation * AHEAD + q] * inverse;
    }
}

/* The factors of each relation's w for visits from..from + count - 1, for eight queries. */
static void relation_lanes(float *a, const kith__encoder *e, const float *w, size_t from,
                           size_t count)
{
    memset(a, 0, e->visits.id_count[from] * AHEAD * sizeof *a);
    for (size_t k = 0; k < count; k++)
        for (size_t q = 0; q < AHEAD; q++)
            a[e->visits.which[from + k] * AHEAD + q] -= e->visits.c[from + k] * w[k * AHEAD + q];
}

/* One encoding's vectors for all prefetched queries. */
static void encode_ahead(kith__encoder *e, size_t i, float *w)
{
    size_t from = e->plan.first_visit[i], n = kith__degree(e, i), ds = e->ds;
    _Alignas(32) float a[VISITS_AT_ONCE * AHEAD], *out[AHEAD];

    for (size_t q = 0; q < e->ahead.count; q++) {
        out[q] = e->ahead.out[q] + i * ds;
        memset(out[q], 0, ds * sizeof *out[q]);
    }
    if (n > 0 && e->att_u)
        softmax_weights(w, e, i);
    else
        memset(w, 0, n * AHEAD * sizeof *w);
    if (e->rules)
        add_logic(w, e, i, e->visits.column);
    for (size_t k = 0, count; k < n; k += count) {
        count = n - k < VISITS_AT_ONCE ? n - k : VISITS_AT_ONCE;
        kith__gather_sums(out, e->ahead.count, w + k * AHEAD, kith__ent(e->params)->at,
                          &e->visits.neighbor[from + k].entity,
                          sizeof *e->visits.neighbor / sizeof(uint32_t), count, ds);
        relation_lanes(a, e, w + k * AHEAD, from + k, count);
        kith__gather_sums(out, e->ahead.count, a, e->products.unit,
                          e->visits.relation_ids + from + k, 1, e->visits.id_count[from + k], ds);
    }
}

static void ahead_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->plan.count, piece, PIECES);
    for (size_t i = from; i < to && !kith__encoder_stops(e); i++)
        encode_ahead(e, i, e->ahead.lanes + piece * kith__apart(e->ahead.most_visits * AHEAD));
}

/* Set or clear the prefetched queries' P(. => query), eight side by side. */
static void spread_columns(kith__encoder *e, bool set)
{
    const kith__implications *rules = e->rules;

    for (size_t q = 0; q < e->ahead.count; q++) {
        uint32_t query = e->ahead.prefetched[q];
        for (uint64_t i = rules->offset[query]; i < rules->offset[query + 1]; i++)
            e->visits.column[rules->at[i].relation * AHEAD + q] = set ? rules->at[i].confidence : 0;
        e->visits.column[query * AHEAD + q] =
            set ? kith__implications_self(rules, query, (kith__self)e->settings->self_confidence)
                : 0;
    }
}

static int reserve_prefetched(kith__encoder *e, size_t count)
{
    bool failed = false;

    if (KITH__GROW(&e->products, query_of, count) || KITH__GROW(&e->products, row_pointer, count) ||
        KITH__GROW(&e->ahead, pair_of, e->visits.count) ||
        KITH__GROW(&e->products, az, count * e->hs) ||
        KITH__GROW(&e->products, ez, count * e->hs) || KITH__GROW(&e->products, az_most, count))
        return -1;
    if (e->ahead.pairs == 0)
        number_pairs(e);
    for (size_t q = 0; q < count; q++)
        failed |= kith__buffer_reserve(&e->ahead.buffers, &e->ahead.out[q], e->plan.count * e->ds,
                                       sizeof(float));
    return failed || KITH__GROW(&e->ahead, pair_logit, AHEAD * e->ahead.pairs) ||
           KITH__GROW(&e->ahead, lanes, PIECES * kith__apart(e->ahead.most_visits * AHEAD));
}

kith_status kith__encoder_prefetch(kith__encoder *e, const uint32_t *queries, size_t count,
                                   kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;

    if (!agg->weighted || !agg->query_aware)
        return KITH_OK;
    e->ahead.count = 0;
    if (reserve_prefetched(e, count))
        return kith__no_memory(error);
    e->products.query_rows = e->ahead.count = count;
    for (size_t q = 0; q < count; q++)
        e->products.query_of[q] = e->ahead.prefetched[q] = queries[q];
    if (agg->attention) {
        kith__make_queries(e);
        kith__pool_run(e->pool, prefetch_piece, e, PIECES);
    }
    if (e->rules)
        spread_columns(e, true);
    kith__pool_run(e->pool, ahead_piece, e, PIECES);
    if (e->rules)
        spread_columns(e, false);
    return kith__watch_status(e->watch, error);
}

/* Take the vectors prefetched for a query, each only once; false if there are none. */
static bool take_prefetched(kith__encoder *e, uint32_t query)
{
    for (size_t q = 0; q < e->ahead.count; q++)
        if (e->ahead.prefetched[q] == query) {
            float *swap = e->plan.out;
            e->plan.out = e->ahead.out[q];
            e->ahead.out[q] = swap;
            e->ahead.prefetched[q] = UINT32_MAX;
            return true;
        }
    return false;
}

static void reencode_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    const float *column = e->visits.column;
    size_t from, to;

    kith__piece_of(&from, &to, e->plan.count, piece, PIECES);
    memset(e->plan.out + from * e->ds, 0, (to - from) * e->ds * sizeof *e->plan.out);
    for (size_t i = from; i < to; i++) {
        if (i % ENCODINGS_A_TICK == 0 && kith__encoder_stops(e))
            return;
        e->plan.query[i] = e->products.query_of[0];
        e->plan.query_row[i] = 0;
        uint64_t s = e->lists->offset[e->plan.entity[i]];
        for (size_t v = e->plan.first_visit[i]; e->rules && v < e->plan.first_visit[i + 1];
             v++, s++)
            e->visits.logic[v] =
                column[e->visits.neighbor[v].relation] * (1 / kith__denominator(e->lists, s));
    }
}

kith_status kith__encoder_reencode(kith__encoder *e, uint32_t query, kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;

    if (!agg->query_aware || take_prefetched(e, query))
        return KITH_OK;
    e->products.query_rows = 1;
    e->products.query_of[0] = query;
    if (e->rules)
        kith__spread_column(e->visits.column, e, query, true);
    kith__pool_run(e->pool, reencode_piece, e, PIECES);
    if (e->rules)
        kith__spread_column(e->visits.column, e, query, false);
    if (agg->attention == KITH__QUERY_ATTENTION) {
        kith__make_queries(e);
        kith__pool_run(e->pool, kith__visit_piece, e, PIECES);
    }
    if (agg->prepare && agg->prepare(e))
        return kith__no_memory(error);
    if (agg->forward)
        kith__pool_run(e->pool, kith__encode_piece, e, PIECES);
    if (agg->forward_all)
        agg->forward_all(e);
    return e->no_memory ? kith__no_memory(error) : kith__watch_status(e->watch, error);
}
