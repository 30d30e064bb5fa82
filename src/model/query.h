/* A query: a fact of which one side is hidden. */
#ifndef KITH_MODEL_QUERY_H
#define KITH_MODEL_QUERY_H

#include <stdbool.h>

#include "embed/settings.h"
#include "rules/index.h"

typedef struct kith__query {
    kith_triple fact;
    bool subject_hidden;
} kith__query;

static inline uint32_t kith__known_side(const kith__query *q)
{
    return q->subject_hidden ? q->fact.object : q->fact.subject;
}

static inline uint32_t kith__hidden_side(const kith__query *q)
{
    return q->subject_hidden ? q->fact.subject : q->fact.object;
}

/* The queries of facts, in their order: each hides the sides that are predicted, where these are among
 * the candidates 0 .. candidates - 1. `queries` has room for two per fact; returns how many. */
size_t kith__queries_of(kith__query *queries, const kith_triple *facts, size_t count,
                          kith_predict predict, uint32_t candidates);

/* Relations are the 2m of train and their inverses: what a query asks for. */
static inline uint32_t kith__directed_query(const kith_graph *graph, const kith__query *q)
{
    return q->fact.relation + (q->subject_hidden ? kith_graph_seen_relation_count(graph) : 0);
}

static inline uint32_t kith__query_inverse(const kith_graph *graph, uint32_t query)
{
    return kith__flip(query, kith_graph_seen_relation_count(graph));
}

/* The known answers that a graph has: train's, or for an unseen entity aux's, sorted. They stay until
 * the room is used again; its `at` is to be freed. -1 where memory is short. */
typedef struct kith__known_room {
    kith_neighbor *at;
    size_t capacity;
} kith__known_room;
int kith__known_answers(kith__span *known, kith__known_room *room, const kith_graph *graph,
                        const kith__query *query);

#endif
