/* The order in which an epoch processes the facts of train. */
#ifndef KITH_TRAIN_ORDER_H
#define KITH_TRAIN_ORDER_H

#include <stdbool.h>

#include "core/rng.h"
#include "core/status.h"

typedef struct kith__order {
    const kith_graph *graph;
    const kith_triple *facts; /* NULL if they are read from the neighbourhoods */
    size_t count;
    uint32_t *at;    /* of a fact: its number, or its place in the neighbourhood of its subject */
    kith__rng *draw; /* the generator's state before every block of the last shuffle */
    bool shuffled;
} kith__order;

/* Begins with the order of the file. */
kith_status kith__order_init(kith__order *order, const kith_graph *graph, kith_error *error);
void kith__order_release(kith__order *order);

/* Read facts from the neighbourhoods in future, so that their triples can be freed. Sets `facts` to
 * NULL if it did: places have 32 bits, which may be too few. Call it before the first shuffle. */
kith_status kith__order_by_place(kith__order *order, kith_error *error);

/* A new order, which depends only on the seed and the stream. */
void kith__order_shuffle(kith__order *order, uint64_t seed, uint64_t stream);
kith_triple kith__order_fact(const kith__order *order, size_t i);

#endif
