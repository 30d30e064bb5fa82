#include "train/shared_negatives.h"

#include <string.h>

#include "core/mem.h"

static kith_status list_answers(kith__shared_negatives *c, const kith_graph *graph,
                                kith_error *error)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    uint32_t m = kith_graph_seen_relation_count(graph);
    kith__item *spare = kith__alloc(2 * train.count, sizeof *spare);

    c->answers = kith__alloc(2 * train.count, sizeof *c->answers);
    if (!spare || !c->answers) {
        kith__free(spare);
        return kith__no_memory(error);
    }
    for (size_t i = 0; i < train.count; i++) {
        kith_triple t = train.at[i];
        c->answers[2 * i] = (kith__item){t.subject, t.relation, t.object};
        c->answers[2 * i + 1] = (kith__item){t.object, t.relation + m, t.subject};
        c->first[t.subject + 1]++;
        c->first[t.object + 1]++;
    }
    for (uint32_t e = 0; e < c->seen; e++)
        c->first[e + 1] += c->first[e];
    kith__radix_sort(c->answers, spare, 2 * train.count, c->seen, 2 * (uint64_t)m);
    kith__free(spare);
    return KITH_OK;
}

kith_status kith__shared_negatives_init(kith__shared_negatives *c, const kith_graph *graph,
                                         size_t shared, kith_error *error)
{
    kith_status status;

    memset(c, 0, sizeof *c);
    c->seen = kith_graph_seen_entity_count(graph);
    c->shared_count = shared < c->seen ? shared : c->seen;
    c->shared = kith__alloc(c->shared_count, sizeof *c->shared);
    c->first = kith__calloc((size_t)c->seen + 1, sizeof *c->first);
    c->place = kith__calloc(c->seen, sizeof *c->place);
    if (!c->shared || !c->first || !c->place)
        TRY(kith__no_memory(error));
    TRY(list_answers(c, graph, error));
    return KITH_OK;
cleanup:
    kith__shared_negatives_release(c);
    return status;
}

void kith__shared_negatives_release(kith__shared_negatives *c)
{
    kith__free(c->shared);
    kith__free(c->left_out);
    kith__free(c->left_start);
    kith__free(c->answers);
    kith__free(c->first);
    kith__free(c->place);
    memset(c, 0, sizeof *c);
}

/* Every set of `shared_count` entities is equally likely. */
static void draw_shared(kith__shared_negatives *c, kith__rng *rng)
{
    for (size_t i = 0; c->drawn && i < c->shared_count; i++)
        c->place[c->shared[i]] = 0;
    c->drawn = true;
    for (size_t i = 0; i < c->shared_count; i++) {
        uint32_t entity = (uint32_t)i;
        while (c->shared_count < c->seen &&
               c->place[entity = (uint32_t)kith__rng_below(rng, c->seen)])
            ;
        c->shared[i] = entity;
        c->place[entity] = (uint32_t)i + 1;
    }
}

/* The index of the first answer of a query, or where it would be inserted. */
static size_t find_answers(const kith__shared_negatives *c, uint32_t known, uint32_t query)
{
    size_t low = c->first[known], high = c->first[known + 1];

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->answers[middle].minor < query)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* List the answers of query i that are among the shared negatives. */
static kith_status leave_out(kith__shared_negatives *c, const kith__train_query *query, size_t i,
                             kith_error *error)
{
    size_t end = c->first[query->known + 1], used = c->left_start[i];
    size_t k = find_answers(c, query->known, query->query);

    for (; k < end && c->answers[k].minor == query->query; k++) {
        uint32_t answer = c->answers[k].index;
        if (!c->place[answer])
            continue;
        if (kith__reserve(&c->left_out, &c->left_capacity, used + 1, sizeof *c->left_out))
            return kith__no_memory(error);
        c->left_out[used++] = c->place[answer] - 1;
    }
    c->left_start[i + 1] = used;
    return KITH_OK;
}

kith_status kith__shared_negatives_draw(kith__shared_negatives *c,
                                         const kith__train_query *queries, size_t count,
                                         kith__rng *rng, kith_error *error)
{
    kith_status status = KITH_OK;

    if (kith__renew(&c->left_start, &c->start_capacity, count + 1, sizeof *c->left_start))
        return kith__no_memory(error);
    draw_shared(c, rng);
    c->seed = (uint32_t)kith__rng_next(rng);
    c->left_start[0] = 0;
    for (size_t i = 0; i < count; i++)
        TRY(leave_out(c, &queries[i], i, error));
cleanup:
    return status;
}
