#include "train/batch.h"

#include <string.h>

#include "core/mem.h"
#include "embed/losses/loss.h"

kith_status kith__batches_init(kith__batches *b, const kith_graph *graph,
                               const kith_settings *s, kith_error *error)
{
    kith_status status = KITH_OK;

    memset(b, 0, sizeof *b);
    b->settings = s;
    b->shared_negatives = kith__loss_get(s->loss)->negatives == KITH__SHARED;
    b->entities = kith_graph_seen_entity_count(graph);
    b->relations = kith_graph_seen_relation_count(graph);
    b->positive = kith__alloc(s->batch, sizeof *b->positive);
    if (b->shared_negatives) {
        TRY(kith__shared_negatives_init(&b->shared, graph, s->shared_negatives, error));
        b->queries = kith__alloc(2 * (size_t)s->batch, sizeof *b->queries);
    } else {
        b->negative = kith__alloc((size_t)s->batch * s->negatives, sizeof *b->negative);
    }
    if (!b->positive || (b->shared_negatives ? !b->queries : !b->negative))
        TRY(kith__no_memory(error));
cleanup:
    return status;
}

void kith__batches_release(kith__batches *b)
{
    kith__free(b->positive);
    kith__free(b->negative);
    kith__free(b->queries);
    kith__shared_negatives_release(&b->shared);
    memset(b, 0, sizeof *b);
}

static size_t choose_facts(kith__batches *b, const kith__order *order, uint64_t number)
{
    size_t from = (size_t)number * b->settings->batch, count = order->count - from;

    if (count > b->settings->batch)
        count = b->settings->batch;
    for (size_t i = 0; i < count; i++)
        b->positive[i] = kith__order_fact(order, from + i);
    return count;
}

static bool replaces_object(const kith__batches *b, kith__rng *rng)
{
    if (b->settings->corrupt == KITH_CORRUPT_EITHER)
        return kith__rng_next(rng) >> 63;
    return b->settings->corrupt == KITH_CORRUPT_OBJECT;
}

/* One side replaced by any seen entity; known facts are not excluded. */
static void corrupt(kith__batches *b, kith__rng *rng)
{
    size_t per = b->settings->negatives;

    for (size_t k = 0; k < b->facts * per; k++) {
        uint32_t entity = (uint32_t)kith__rng_below(rng, b->entities);
        b->negative[k] = b->positive[k / per];
        if (replaces_object(b, rng))
            b->negative[k].object = entity;
        else
            b->negative[k].subject = entity;
    }
    b->batch = (kith__batch){
        .count = b->facts, .positive = b->positive, .negative = b->negative, .per = per};
}

/* A query for each fact's object, its subject, or both. */
static kith_status make_queries(kith__batches *b, kith__rng *rng, kith_error *error)
{
    bool both = b->settings->directions == KITH_DIRECTIONS_BOTH;
    size_t made = 0;

    for (size_t i = 0; i < b->facts; i++) {
        kith_triple f = b->positive[i];
        if (both || b->settings->predict != KITH_PREDICT_SUBJECT)
            b->queries[made++] = (kith__train_query){f.subject, f.relation, f.object};
        if (both || b->settings->predict != KITH_PREDICT_OBJECT)
            b->queries[made++] =
                (kith__train_query){f.object, f.relation + b->relations, f.subject};
    }
    b->batch = (kith__batch){.count = made, .queries = b->queries, .shared = &b->shared};
    return kith__shared_negatives_draw(&b->shared, b->queries, made, rng, error);
}

kith_status kith__batches_draw(kith__batches *b, const kith__order *order, uint64_t number,
                               kith__rng *rng, kith_error *error)
{
    b->facts = choose_facts(b, order, number);
    if (b->shared_negatives)
        return make_queries(b, rng, error);
    corrupt(b, rng);
    return KITH_OK;
}
