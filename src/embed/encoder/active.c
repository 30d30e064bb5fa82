/* The part of a batch that has gradients: the visits of active encodings, and the rows of
 * neighbours, relations and queries that they touch. With a margin loss most of a batch is
 * inactive. */
#include <string.h>

#include "embed/encoder/pairs.h"

float *kith__encoder_grad(kith__encoder *e, size_t encoding)
{
    float *row = e->plan.grad + encoding * e->ds;

    if (!e->plan.active[encoding])
        memset(row, 0, e->ds * sizeof *row);
    e->plan.active[encoding] = 1;
    return row;
}

bool kith__encoder_active(const kith__encoder *e, size_t encoding)
{
    return e->plan.active[encoding];
}

static int reserve_slots(kith__encoder *e)
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

/* The visits of active encodings, in the order of all visits. */
int kith__find_active_items(kith__encoder *e)
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

/* If all visits are active, so are all rows. */
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

/* Neighbours of active encodings get a row of gradients, in order; their relations and queries get
 * a slot. */
int kith__find_active_rows(kith__encoder *e)
{
    const kith__item *items = e->back.active_items;

    if (reserve_slots(e) || kith__gradients_reserve(e->back.gradients, e->visits.rows))
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
