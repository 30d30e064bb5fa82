/* Proximity of entities to one that is given by its facts: how likely a random walk from there
 * reaches them. At each step the walk follows one fact of the entity it is at. Walks reach unseen
 * entities too. */
#ifndef KITH_RULES_PROXIMITY_H
#define KITH_RULES_PROXIMITY_H

#include <stdbool.h>

#include "rules/view.h"

/* Workspace of one thread. Arrays are indexed by slot; entities get slots when they are reached. */
typedef struct kith__proximity {
    kith__view view;
    /* Whether walks continue from unseen entities. If not, a new entity gets the same values as an
     * unseen entity of the graph with the same facts; otherwise its walks could pass through that
     * one. */
    bool through;
    kith__slots slots;
    /* log(1 + 1e6 P), where P is the sum of the probabilities of being there after each step, later
     * steps counting less, and lowered if the walk starts with many facts; 0 if not reached */
    float *value;
    float *mass, *next;           /* the probability of being there, now and a step later */
    uint32_t *reached;            /* slots whose value is not 0 */
    uint32_t *front, *next_front; /* slots with a mass, and with a next mass */
    size_t value_capacity, mass_capacity, next_capacity;
    size_t reached_capacity, front_capacity, next_front_capacity;
    size_t reached_count;
    size_t ahead;    /* in next_front */
    size_t followed; /* facts followed so far */
    bool no_memory;
} kith__proximity;

void kith__proximity_init(kith__proximity *proximity, kith__view view);
void kith__proximity_release(kith__proximity *proximity);

/* Find the proximity of all entities. `self` is the id of the entity, or UINT32_MAX for a new one;
 * walks do not return to it. The work is bounded on any graph: steps that are too unlikely are not
 * followed, and no further step begins after enough facts have been followed. */
kith_status kith__proximity_find(kith__proximity *proximity, kith__span facts, uint32_t self,
                                 kith_error *error);

/* After that: the proximity of one entity, and that of the i-th of the `reached_count` reached
 * ones. */
static inline float kith__proximity_of(const kith__proximity *n, uint32_t entity)
{
    uint32_t slot = kith__slot_find(&n->slots, entity);
    return slot >= n->value_capacity ? 0 : n->value[slot]; /* none if nothing was reached */
}

static inline uint32_t kith__proximity_entity(const kith__proximity *n, size_t i)
{
    return kith__slot_entity(&n->slots, n->reached[i]);
}

static inline float kith__proximity_value(const kith__proximity *n, size_t i)
{
    return n->value[n->reached[i]];
}

enum { KITH__PROXIMITY_STEPS = 8 };

/* The shortest path from an entity to another, and of several the most likely, as the facts that it
 * follows. `count` is 0 if walks do not reach the target within the bounds of
 * kith__proximity_find. */
kith_status kith__proximity_path(kith_neighbor path[KITH__PROXIMITY_STEPS], size_t *count,
                                 kith__view view, kith__span facts, uint32_t self, uint32_t target,
                                 kith_error *error);

#endif
