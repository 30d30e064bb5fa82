#include <string.h>

#include "core/rng.h"
#include "embed/encoder/pairs.h"
#include "nn/lstm.h"

/* ---- making and freeing ---- */

kith_status kith__encoder_new(kith__encoder **encoder, const kith_settings *settings,
                              const kith__neighbor_lists *lists, const kith__implications *rules,
                              const kith__params *params, kith__pool *pool, kith_error *error)
{
    kith__encoder *e = kith__calloc(1, sizeof *e);

    *encoder = NULL;
    if (!e)
        return kith__no_memory(error);
    e->aggregator = kith__aggregator_get(settings->aggregator);
    e->settings = settings;
    e->lists = lists;
    e->rules = rules;
    e->params = params;
    e->pool = pool;
    e->d = settings->dim;
    e->ds = kith__padded(e->d);
    e->h = kith__attention_width(settings);
    if (e->aggregator->gated)
        e->h = KITH__GATES * e->ds;
    e->hs = kith__padded(e->h);
    e->keep_bytes = KITH__KEEP_BYTES;
    e->multiplies = e->aggregator->attention || e->aggregator->gated;
    e->trans = kith__params_find(params, "trans");
    e->att_w = kith__params_find(params, "att_w");
    e->att_u = kith__params_find(params, "att_u");
    e->queries = kith__params_find(params, "query");
    e->relation_row = kith__calloc(lists->relations, sizeof *e->relation_row);
    e->relation_of = kith__calloc(lists->relations, sizeof *e->relation_of);
    e->relation_marks = kith__calloc((size_t)lists->relations * PIECES, 1);
    if (!e->relation_row || !e->relation_of || !e->relation_marks) {
        kith__encoder_free(e);
        return kith__no_memory(error);
    }
    *encoder = e;
    return KITH_OK;
}

void kith__encoder_free(kith__encoder *e)
{
    if (!e)
        return;
    kith__floats *floats[] = {&e->out,
                              &e->grad,
                              &e->c,
                              &e->logit,
                              &e->logic,
                              &e->weight,
                              &e->weight_gradient,
                              &e->logit_gradient,
                              &e->unit,
                              &e->inverse_norm,
                              &e->be,
                              &e->b_bias,
                              &e->bw,
                              &e->az,
                              &e->ez,
                              &e->be_most,
                              &e->bw_most,
                              &e->az_most,
                              &e->b_transposed,
                              &e->a_transposed,
                              &e->gbe,
                              &e->gaz,
                              &e->gbw,
                              &e->gunit,
                              &e->gu,
                              &e->ga,
                              &e->gb,
                              &e->gz,
                              &e->pair_logit,
                              &e->lanes,
                              &e->partial,
                              &e->b_plain,
                              &e->a_plain,
                              &e->products,
                              &e->column};
    void *others[] = {e->requests,     e->sorted,           e->request_mask,
                      e->encoding_of,  e->entity,           e->query,
                      e->mask,         e->first_visit,      e->query_row,
                      e->active,       e->neighbor,         e->encoding,
                      e->items,        e->item_encoding,    e->spare,
                      e->some_items,   e->some_encoding,    e->relation_marks,
                      e->pair_of,      e->row_start,        e->relation_row,
                      e->relation_of,  e->query_of,         e->active_rows,
                      e->relation_ids, e->which,            e->id_count,
                      e->active_start, e->row_pointer,      e->relation_slot,
                      e->query_slot,   e->active_relations, e->active_queries};

    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        kith__free(floats[i]->at);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        kith__free(others[i]);
    for (size_t q = 0; q < AHEAD; q++)
        kith__free(e->ahead[q].at);
    if (e->free_state && e->aggregator_state)
        e->free_state(e->aggregator_state);
    kith__free(e);
}

void kith__encoder_use(kith__encoder *e, const kith__neighbor_lists *lists, uint64_t order_seed)
{
    e->lists = lists;
    e->order_seed = order_seed;
}

/* ---- what others see ---- */

size_t kith__encoder_stride(const kith__encoder *e)
{
    return e->ds;
}

kith__pool *kith__encoder_pool(const kith__encoder *e)
{
    return e->pool;
}

const kith__neighbor_lists *kith__encoder_lists(const kith__encoder *e)
{
    return e->lists;
}

bool kith__encoder_query_aware(const kith__encoder *e)
{
    return e->aggregator->query_aware;
}

size_t kith__encoder_count(const kith__encoder *e)
{
    return e->count;
}

size_t kith__encoder_find(const kith__encoder *e, size_t request)
{
    return e->encoding_of[request];
}

const float *kith__encoder_vector(const kith__encoder *e, size_t encoding)
{
    return e->out.at + encoding * e->ds;
}

uint32_t kith__encoder_entity(const kith__encoder *e, size_t encoding)
{
    return e->entity[encoding];
}

bool kith__encoder_active(const kith__encoder *e, size_t encoding)
{
    return e->active[encoding];
}

bool kith__encoder_expects(const kith__encoder *e, uint32_t query)
{
    for (size_t i = 0; i < e->expected_count; i++)
        if (e->expected[i] == query)
            return true;
    return false;
}

const kith_neighbor *kith__encoder_neighbors(size_t *count, const kith__encoder *e, size_t encoding)
{
    *count = kith__degree(e, encoding);
    return e->neighbor + e->first_visit[encoding];
}

kith_weighing kith__encoder_weighing(const kith__encoder *e)
{
    return e->aggregator->explain ? e->aggregator->weighing : KITH_WEIGH_NONE;
}

kith__neighbor_weight kith__encoder_weight(const kith__encoder *e, size_t encoding, size_t k)
{
    kith__neighbor_weight weight = {NAN, NAN, NAN, 0};

    if (e->aggregator->explain)
        e->aggregator->explain(&weight, e, encoding, e->first_visit[encoding] + k);
    return weight;
}

void kith__encoder_share(float *share, const kith__encoder *e, size_t encoding, size_t neighbor)
{
    size_t v = e->first_visit[encoding] + neighbor;

    if (e->aggregator->share) {
        e->aggregator->share(share, e, encoding, v);
        return;
    }
    kith__visit_vector(share, e, v);
    for (size_t k = 0; k < e->ds; k++)
        share[k] *= e->weight.at[v];
}

void kith__encoder_neighbor_vector(float *vector, const kith__encoder *e, size_t encoding, size_t k)
{
    kith__visit_vector(vector, e, e->first_visit[encoding] + k);
}

/* ---- requests to encodings ---- */

void kith__encoder_begin(kith__encoder *e)
{
    e->request_count = 0;
    e->no_memory = e->keeps = false;
}

void kith__encoder_keep(kith__encoder *e)
{
    e->keeps = true;
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
        if (i + 16 < e->count)
            __builtin_prefetch(&e->lists->offset[e->entity[i + 16]]);
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
           kith__renew(&e->relation_ids, &e->relation_ids_capacity, n, sizeof *e->relation_ids) ||
           kith__renew(&e->which, &e->which_capacity, n, 1) ||
           kith__renew(&e->id_count, &e->id_count_capacity, n, 1) ||
           kith__floats_reserve(&e->c, n) || kith__floats_reserve(&e->logit, n) ||
           kith__floats_reserve(&e->weight, n) ||
           (e->rules && (kith__floats_reserve(&e->logic, n) ||
                         kith__floats_reserve(&e->column, PIECES * e->lists->relations))) ||
           kith__floats_reserve(&e->out, e->count * e->ds) ||
           kith__floats_reserve(&e->grad, e->count * e->ds) ||
           kith__floats_reserve(&e->partial, 4 * e->ds);
}

/* Spread or take back P(. => query) over the 2m relations. */
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
    const kith__neighbor_lists *lists = e->lists;
    uint64_t from = lists->offset[e->entity[i]], to = from + kith__list_count(lists, e->entity[i]);
    size_t v = e->first_visit[i];

    for (uint64_t s = from; s < to; s++) {
        kith_neighbor next = lists->at[s];
        if (same_neighbor(next, e->mask[i]))
            continue;
        e->neighbor[v] = next;
        if (column) /* paper, eq. 5 */
            e->logic.at[v] = column[next.relation] * (1 / kith__denominator(lists, s));
        v++;
    }
    if (e->order_seed && e->aggregator->ordered)
        shuffle_visits(e, i);
    for (v = e->first_visit[i]; v < e->first_visit[i + 1]; v++) {
        e->encoding[v] = (uint32_t)i;
        e->items[v] = (kith__item){e->neighbor[v].entity, e->neighbor[v].relation, (uint32_t)v};
    }
}

/* Lists of a large graph are in no cache: ask for where one is, and a little later for the list. */
static inline __attribute__((always_inline)) void fetch_lists(const kith__encoder *e, size_t i,
                                                              size_t to)
{
    enum { PLACE = 8, LIST = 4, LINE = 8 /* neighbours */ };
    const kith__neighbor_lists *lists = e->lists;

    if (i + PLACE < to)
        __builtin_prefetch(&lists->offset[e->entity[i + PLACE]]);
    if (i + LIST >= to)
        return;
    uint64_t from = lists->offset[e->entity[i + LIST]];
    size_t count = kith__list_count(lists, e->entity[i + LIST]);
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
    float *column = e->rules ? e->column.at + piece * e->lists->relations : NULL;
    size_t from, to;

    kith__piece_of(&from, &to, e->count, piece, PIECES);
    for (size_t i = from; i < to; i++) {
        if (column && (i == from || e->query[i] != e->query[i - 1])) {
            if (i > from)
                kith__spread_column(column, e, e->query[i - 1], false);
            kith__spread_column(column, e, e->query[i], true);
        }
        fetch_lists(e, i, to);
        fill_encoding(e, i, column);
        memset(e->out.at + i * e->ds, 0, e->ds * sizeof *e->out.at);
    }
    if (column && to > from)
        kith__spread_column(column, e, e->query[to - 1], false);
}

/* Of some of the sorted items: where each distinct neighbour begins, written from the place of the
 * first of them on; which relations there are; and to which encoding each belongs. */
static void find_rows_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    uint8_t *marks = e->relation_marks + piece * e->lists->relations;
    size_t from, to, rows;

    kith__piece_of(&from, &to, e->visits, piece, PIECES);
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
        kith__piece_of(&from, &to, e->visits, piece, PIECES);
        memmove(e->row_start + e->rows, e->row_start + from,
                e->piece_rows[piece] * sizeof *e->row_start);
        e->rows += e->piece_rows[piece];
    }
    e->row_start[e->rows] = e->visits;
    number_relations(e);
}

kith_status kith__encoder_plan(kith__encoder *e, kith_error *error)
{
    if (e->no_memory || find_encodings(e))
        return kith__no_memory(error);
    count_visits(e);
    if (e->visits >= UINT32_MAX)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "a batch has %zu neighbours, expected fewer "
                          "than 2^32; use a smaller batch or fewer neighbours",
                          e->visits);
    if (room_for_visits(e))
        return kith__no_memory(error);
    kith__pool_run(e->pool, fill_piece, e, PIECES);
    kith__radix_sort_on(e->pool, e->items, e->spare, e->visits, e->lists->seen,
                        e->lists->relations);
    find_rows(e);
    return KITH_OK;
}
