/* Proximity of entities to one that is given by its facts: how likely a random walk from it reaches
 * them. At each step the walk follows one fact of the current entity. Walks reach unseen entities
 * too. */
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
    /* log(1 + 1e6 P); 0 if not reached. P is the sum of the probabilities of being at the entity
     * after each step. Later steps count less, and P is lowered if the walk starts from many
     * facts. */
    float *value;
    /* the probability of being at the entity now, and after the next step */
    float *mass, *next;
    uint32_t *reached;            /* slots whose value is not 0 */
    uint32_t *front, *next_front; /* slots with a nonzero mass, and with a nonzero next mass */
    size_t value_capacity, mass_capacity, next_capacity;
    size_t reached_capacity, front_capacity, next_front_capacity;
    size_t reached_count;
    size_t ahead;    /* number of entries in next_front */
    size_t followed; /* facts followed so far */
    bool no_memory;
} kith__proximity;

void kith__proximity_init(kith__proximity *proximity, kith__view view);
void kith__proximity_release(kith__proximity *proximity);

/* Compute the proximity of all entities. `self` is the id of the entity, or UINT32_MAX for a new
 * one; walks do not return to it. The work is bounded on any graph: very unlikely steps are not
 * followed, and no further step begins after enough facts have been followed. */
kith_status kith__proximity_find(kith__proximity *proximity, kith__span facts, uint32_t self,
                                 kith_error *error);

/* After kith__proximity_find: the proximity of one entity, and of the i-th of the `reached_count`
 * reached ones. */
static inline float kith__proximity_of(const kith__proximity *n, uint32_t entity)
{
    uint32_t slot = kith__slot_find(&n->slots, entity);
    return slot >= n->value_capacity ? 0 : n->value[slot]; /* nothing was reached */
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

/* The shortest path from an entity to another, as the facts that it follows; if there are several,
 * the most likely one. `count` is 0 if walks do not reach the target within the bounds of
 * kith__proximity_find. */
kith_status kith__proximity_path(kith_neighbor path[KITH__PROXIMITY_STEPS], size_t *count,
                                 kith__view view, kith__span facts, uint32_t self, uint32_t target,
                                 kith_error *error);

#endif
