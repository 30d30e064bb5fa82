#include <assert.h>
#include <string.h>

#include "core/rng.h"
#include "embed/encoder/pairs.h"

enum { MOST_BACKWARD = 8 /* pieces, each with its own sums */, VISITS_A_PIECE = 32768 };
#include "nn/lstm.h"

/* ---- creating and freeing ---- */

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
    size_t relations = lists->relations;
    if (KITH__GROW(&e->products, relation_row, relations) ||
        KITH__GROW(&e->products, relation_of, relations) ||
        KITH__GROW(&e->products, relation_marks, relations * PIECES)) {
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
    kith__buffers_release(&e->plan.buffers);
    kith__buffers_release(&e->visits.buffers);
    kith__buffers_release(&e->products.buffers);
    kith__buffers_release(&e->ahead.buffers);
    kith__buffers_release(&e->back.buffers);
    if (e->free_state && e->aggregator_state)
        e->free_state(e->aggregator_state);
    kith__free(e);
}

void kith__encoder_use(kith__encoder *e, const kith__neighbor_lists *lists, uint64_t order_seed)
{
    e->lists = lists;
    e->order_seed = order_seed;
}

void kith__encoder_set_watch(kith__encoder *e, kith__watch *watch)
{
    e->watch = watch;
}

int kith__encoder_tick(kith__encoder *e)
{
    return kith__encoder_stops(e);
}

kith_status kith__encoder_status(const kith__encoder *e, kith_error *error)
{
    return kith__watch_status(e->watch, error);
}

/* ---- accessors ---- */

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
    return e->plan.count;
}

size_t kith__encoder_find(const kith__encoder *e, size_t request)
{
    return e->plan.encoding_of[request];
}

const float *kith__encoder_vector(const kith__encoder *e, size_t encoding)
{
    return e->plan.out + encoding * e->ds;
}

uint32_t kith__encoder_entity(const kith__encoder *e, size_t encoding)
{
    return e->plan.entity[encoding];
}

bool kith__encoder_has_prefetched(const kith__encoder *e, uint32_t query)
{
    for (size_t i = 0; i < e->ahead.count; i++)
        if (e->ahead.prefetched[i] == query)
            return true;
    return false;
}

const kith_neighbor *kith__encoder_neighbors(size_t *count, const kith__encoder *e, size_t encoding)
{
    *count = kith__degree(e, encoding);
    return e->visits.neighbor + e->plan.first_visit[encoding];
}

kith_weighing kith__encoder_weighing(const kith__encoder *e)
{
    return e->aggregator->explain ? e->aggregator->weighing : KITH_WEIGH_NONE;
}

kith__neighbor_weight kith__encoder_weight(const kith__encoder *e, size_t encoding, size_t k)
{
    kith__neighbor_weight weight = {NAN, NAN, NAN, 0};

    if (e->aggregator->explain)
        e->aggregator->explain(&weight, e, encoding, e->plan.first_visit[encoding] + k);
    return weight;
}

void kith__encoder_share(float *share, const kith__encoder *e, size_t encoding, size_t neighbor)
{
    size_t v = e->plan.first_visit[encoding] + neighbor;

    if (e->aggregator->share) {
        e->aggregator->share(share, e, encoding, v);
        return;
    }
    kith__visit_vector(share, e, v);
    for (size_t k = 0; k < e->ds; k++)
        share[k] *= e->visits.weight[v];
}

void kith__encoder_neighbor_vector(float *vector, const kith__encoder *e, size_t encoding, size_t k)
{
    kith__visit_vector(vector, e, e->plan.first_visit[encoding] + k);
}

/* ---- requests to encodings ---- */

void kith__encoder_begin(kith__encoder *e)
{
    e->plan.request_count = 0;
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
    size_t i = e->plan.request_count;

    if (KITH__EXTEND(&e->plan, requests, i + 1) || KITH__EXTEND(&e->plan, request_mask, i + 1)) {
        e->no_memory = true;
        return 0;
    }
    if (!e->aggregator->query_aware)
        query = 0;
    e->plan.requests[i] = (kith__item){query, entity, (uint32_t)i};
    e->plan.request_mask[i] = mask ? *mask : none;
    return e->plan.request_count++;
}

/* ---- forward and backward ---- */

kith_status kith__encoder_forward(kith__encoder *e, kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;
    kith_status status = kith__encoder_plan(e, error);

    if (status != KITH_OK)
        return status;
    if ((agg->prepare && agg->prepare(e)) || kith__products_forward(e))
        return kith__no_memory(error);
    e->products.has_be = false;
    e->ahead.count = e->ahead.pairs = e->ahead.most_visits = 0;
    kith__pool_run(e->pool, kith__visit_piece, e, PIECES);
    if (kith__encoder_stops(e))
        return kith__watch_status(e->watch, error);
    e->products.has_be = true;
    if (agg->forward)
        kith__pool_run(e->pool, kith__encode_piece, e, PIECES);
    if (agg->forward_all)
        agg->forward_all(e);
    return e->no_memory ? kith__no_memory(error) : kith__watch_status(e->watch, error);
}

static int reserve_backward(kith__encoder *e)
{
    size_t k = e->back.pieces;

    return KITH__GROW(&e->back, gunit, k * e->back.active_relation_count * e->ds) ||
           KITH__GROW(&e->back, gu, k * kith__apart(e->hs)) ||
           KITH__GROW(&e->products, scratch, (k + PIECES) * kith__apart(3 * e->hs + 2 * e->ds)) ||
           KITH__GROW(&e->back, weight_gradient, e->visits.count) ||
           KITH__GROW(&e->back, logit_gradient, e->visits.count) ||
           (e->multiplies &&
            (KITH__GROW(&e->back, gbe, k * ROWS_AT_ONCE * e->hs) ||
             KITH__GROW(&e->back, gb, k * e->hs * e->ds) ||
             KITH__GROW(&e->back, gbw, k * e->back.active_relation_count * e->hs))) ||
           (e->att_u && KITH__GROW(&e->back, gaz, k * e->back.active_query_count * e->hs));
}

/* The forward pass in reverse: aggregator, visits, products. */
kith_status kith__encoder_backward(kith__encoder *e, kith__gradients *gradients, kith_error *error)
{
    const kith__aggregator *agg = e->aggregator;

    /* visits.c writes rows in the order in which they are created here */
    assert(gradients->rows == 0);
    e->back.gradients = gradients;
    if (kith__find_active_items(e))
        return kith__no_memory(error);
    e->back.pieces = e->back.active_visits / VISITS_A_PIECE + 2;
    if (e->back.pieces > MOST_BACKWARD)
        e->back.pieces = MOST_BACKWARD;
    if (kith__find_active_rows(e) || reserve_backward(e))
        return kith__no_memory(error);
    if (agg->backward)
        kith__pool_run(e->pool, kith__encode_backward_piece, e, PIECES);
    if (agg->backward_all)
        agg->backward_all(e);
    if (e->no_memory)
        return kith__no_memory(error);
    if (kith__encoder_stops(e))
        return kith__watch_status(e->watch, error);
    kith__pool_run(e->pool, kith__visit_backward_piece, e, e->back.pieces);
    if (kith__encoder_stops(e))
        return kith__watch_status(e->watch, error);
    return kith__products_backward(e) ? kith__no_memory(error)
                                      : kith__watch_status(e->watch, error);
}
