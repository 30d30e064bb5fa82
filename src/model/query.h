/* A query: a fact with one side hidden. */
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

/* The queries of facts, in order: each hides the sides that are predicted, if these are among the
 * candidates 0 .. candidates - 1. `queries` holds two per fact; returns how many. */
size_t kith__queries_of(kith__query *queries, const kith_triple *facts, size_t count,
                          kith_predict predict, uint32_t candidates);

/* The 2m directed relations are the relations of train and their inverses. */
static inline uint32_t kith__directed_query(const kith_graph *graph, const kith__query *q)
{
    return q->fact.relation + (q->subject_hidden ? kith_graph_seen_relation_count(graph) : 0);
}

static inline uint32_t kith__query_inverse(const kith_graph *graph, uint32_t query)
{
    return kith__flip(query, kith_graph_seen_relation_count(graph));
}

/* The known answers of an entity in a graph, sorted: those of train, or for an unseen entity those
 * of aux. They stay valid until the buffer is used again; the caller frees its `at`. -1 if out of
 * memory. */
typedef struct kith__known_buffer {
    kith_neighbor *at;
    size_t capacity;
} kith__known_buffer;
int kith__known_answers(kith__span *known, kith__known_buffer *buffer, const kith_graph *graph,
                        const kith__query *query);

#endif
