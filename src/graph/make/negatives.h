/* False facts for triplet classification. */
#ifndef KITH_GRAPH_MAKE_NEGATIVES_H
#define KITH_GRAPH_MAKE_NEGATIVES_H

#include "core/rng.h"
#include "graph/graph.h"

typedef struct kith__negatives_plan {
    kith_strategy strategy;
    const kith__facts *const *known; /* lists of facts that must not be used as false ones */
    size_t known_count;
    /* to look up which entities occur on which side of a relation */
    const kith__facts *train, *aux;
    const uint8_t *unseen; /* per entity */
    uint32_t entities, relations;
    kith__rng *rng;
    kith__watch *watch; /* or NULL */
    size_t *missing;    /* counts true facts without a false counterpart */
} kith__negatives_plan;

/* Put a false fact after each true one. One side is replaced by an entity that train has on that
 * side of that relation; the unseen side stays, so that the fact is still about an unseen entity.
 * If that gives no new fact, the unseen side is replaced by another unseen entity that aux has on
 * that side of that relation. With KITH_BOTH, if both ends of test facts are unseen, the second way
 * is tried first. A false fact is never a known fact, and none occurs twice. */
kith_status kith__add_negatives(kith__facts *dev, kith__facts *test,
                                const kith__negatives_plan *plan, kith_error *error);

#endif
