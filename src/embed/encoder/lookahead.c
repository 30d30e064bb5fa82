/* The same entities for other queries, several of them at once. */
#include <string.h>

#include "embed/encoder/pairs.h"

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
    kith__pair p = {.scratch = e->products.at + piece * kith__apart(3 * e->hs),
                    .count = e->expected_count};
    size_t row, last;

    for (uint32_t q = 0; q < p.count; q++) {
        p.queries[q] = q;
        p.met[q].ez = e->ez.at + q * e->hs;
    }
    kith__rows_of_piece(&row, &last, e->row_start, e->rows, 1, piece, PIECES);
    if (row == last)
        return;
    /* Pairs are numbered in the order of items. */
    float *to =
        e->pair_logit.at + (size_t)e->pair_of[e->items[e->row_start[row]].index] * AHEAD;
    for (; row < last; row++)
        for (size_t k = e->row_start[row], end; k < e->row_start[row + 1]; k = end, to += AHEAD) {
            end = kith__pair_end(e->items, k, e->row_start[row + 1]);
            kith__fetch_relation(e, end);
            for (size_t i = k + 32; i < end + 32 && i < e->visits; i++)
                __builtin_prefetch(&e->c.at[e->items[i].index]);
            kith__begin_pair(&p, e, row, e->relation_row[e->items[k].minor] - 1,
                             e->c.at[e->items[k].index]);
            kith__make_logits(&p, e);
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
            __builtin_prefetch(e->pair_logit.at + (size_t)e->pair_of[from + k + 8] * AHEAD);
        memcpy(w + k * AHEAD, e->pair_logit.at + (size_t)e->pair_of[from + k] * AHEAD,
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
    const kith_neighbor *at = e->neighbor + e->first_visit[i];
    uint64_t place = e->lists->offset[e->entity[i]];

    for (size_t k = 0; k < kith__degree(e, i); k++) {
        float inverse = 1 / kith__denominator(e->lists, place + k);
        for (size_t q = 0; q < AHEAD; q++)
            w[k * AHEAD + q] += column[at[k].relation * AHEAD + q] * inverse;
    }
}

/* What visits from..from + count - 1 take of each relation's w, for eight queries. */
static void relation_lanes(float *a, const kith__encoder *e, const float *w, size_t from,
                           size_t count)
{
    memset(a, 0, e->id_count[from] * AHEAD * sizeof *a);
    for (size_t k = 0; k < count; k++)
        for (size_t q = 0; q < AHEAD; q++)
            a[e->which[from + k] * AHEAD + q] -= e->c.at[from + k] * w[k * AHEAD + q];
}

/* One encoding's vectors for all expected queries. */
static void encode_ahead(kith__encoder *e, size_t i, float *w)
{
    size_t from = e->first_visit[i], n = kith__degree(e, i), ds = e->ds;
    _Alignas(32) float a[VISITS_AT_ONCE * AHEAD], *out[AHEAD];

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
        kith__gather_sums(out, e->expected_count, w + k * AHEAD, kith__ent(e->params)->at,
                          &e->neighbor[from + k].entity, sizeof *e->neighbor / sizeof(uint32_t),
                          count, ds);
        relation_lanes(a, e, w + k * AHEAD, from + k, count);
        kith__gather_sums(out, e->expected_count, a, e->unit.at, e->relation_ids + from + k, 1,
                          e->id_count[from + k], ds);
    }
}

static void ahead_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    size_t from, to;

    kith__piece_of(&from, &to, e->count, piece, PIECES);
    for (size_t i = from; i < to; i++)
        encode_ahead(e, i, e->lanes.at + piece * kith__apart(e->most_visits * AHEAD));
}

/* Spread or take back the expected queries' P(. => query), eight beside each other. */
static void spread_columns(kith__encoder *e, bool set)
{
    const kith__implications *rules = e->rules;

    for (size_t q = 0; q < e->expected_count; q++) {
        uint32_t query = e->expected[q];
        for (uint64_t i = rules->offset[query]; i < rules->offset[query + 1]; i++)
            e->column.at[rules->at[i].relation * AHEAD + q] = set ? rules->at[i].confidence : 0;
        e->column.at[query * AHEAD + q] =
            set ? kith__implications_self(rules, query, (kith__self)e->settings->self_confidence)
                : 0;
    }
}

static int room_for_expected(kith__encoder *e, size_t count)
{
    bool failed = false;

    if (kith__renew(&e->query_of, &e->query_of_capacity, count, sizeof *e->query_of) ||
        kith__renew(&e->row_pointer, &e->pointer_capacity, count, sizeof *e->row_pointer) ||
        kith__renew(&e->pair_of, &e->pair_capacity, e->visits, sizeof *e->pair_of) ||
        kith__floats_reserve(&e->az, count * e->hs) ||
        kith__floats_reserve(&e->ez, count * e->hs) || kith__floats_reserve(&e->az_most, count))
        return -1;
    if (e->pairs == 0)
        number_pairs(e);
    for (size_t q = 0; q < count; q++)
        failed |= kith__floats_reserve(&e->ahead[q], e->count * e->ds);
    return failed || kith__floats_reserve(&e->pair_logit, AHEAD * e->pairs) ||
           kith__floats_reserve(&e->lanes, PIECES * kith__apart(e->most_visits * AHEAD));
}

kith_status kith__encoder_prefetch(kith__encoder *e, const uint32_t *queries, size_t count,
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
        kith__make_queries(e);
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

    kith__piece_of(&from, &to, e->count, piece, PIECES);
    memset(e->out.at + from * e->ds, 0, (to - from) * e->ds * sizeof *e->out.at);
    for (size_t i = from; i < to; i++) {
        e->query[i] = e->query_of[0];
        e->query_row[i] = 0;
        uint64_t s = e->lists->offset[e->entity[i]];
        for (size_t v = e->first_visit[i]; e->rules && v < e->first_visit[i + 1]; v++, s++)
            e->logic.at[v] =
                column[e->neighbor[v].relation] * (1 / kith__denominator(e->lists, s));
    }
}

kith_status kith__encoder_reencode(kith__encoder *e, uint32_t query, kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;

    if (!agg->query_aware || take_expected(e, query))
        return KITH_OK;
    e->query_rows = 1;
    e->query_of[0] = query;
    if (e->rules)
        kith__spread_column(e->column.at, e, query, true);
    kith__pool_run(e->pool, requery_piece, e, PIECES);
    if (e->rules)
        kith__spread_column(e->column.at, e, query, false);
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
    return e->no_memory ? kith__no_memory(error) : KITH_OK;
}
