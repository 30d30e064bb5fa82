/* Proximity of entities to one that is given by its facts: how often a random walk that starts
 * there, and at each step follows one fact of where it is, comes by. Walks meet unseen entities
 * too. */
#ifndef KITH_RULES_PROXIMITY_H
#define KITH_RULES_PROXIMITY_H

#include <stdbool.h>

#include "rules/view.h"

/* Workspace of one thread; arrays are by slot, and slots are those of the entities that were
 * met. */
typedef struct kith__proximity {
    kith__view view;
    bool through; /* Whether walks go on from unseen entities. Without it a newcomer gets what an
                     unseen entity of the graph with the same facts gets; with it the newcomer's
                     walks could go through that one. */
    kith__slots slots;
    /* log(1 + 1e6 P), where P adds up how likely it is met in each step, later steps counting less,
     * and is less where there are many facts to begin with; 0 if it is not met */
    float *value;
    float *mass, *next;           /* how likely the walk is there, and a step later */
    uint32_t *reached;            /* slots whose value is not 0 */
    uint32_t *front, *next_front; /* slots whose mass is not 0, and whose next is not */
    size_t value_capacity, mass_capacity, next_capacity;
    size_t reached_capacity, front_capacity, next_front_capacity;
    size_t reached_count;
    size_t ahead;    /* in next_front */
    size_t followed; /* facts looked at */
    bool no_memory;
} kith__proximity;

void kith__proximity_init(kith__proximity *proximity, kith__view view);
void kith__proximity_release(kith__proximity *proximity);

/* Find the proximity of all entities. `self` is the entity's id, or UINT32_MAX for a newcomer;
 * walks do not come back to it. The work is bounded whatever the graph: steps that are too unlikely
 * are not taken, and after enough facts were looked at no further step begins. */
kith_status kith__proximity_find(kith__proximity *proximity, kith__span facts, uint32_t self,
                                 kith_error *error);

/* Afterwards: of one entity, and of the i-th of the `reached_count` that are not 0. */
static inline float kith__proximity_of(const kith__proximity *n, uint32_t entity)
{
    uint32_t slot = kith__slot_find(&n->slots, entity);
    return slot >= n->value_capacity ? 0 : n->value[slot]; /* none yet where nothing was met */
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

/* The shortest path from an entity to another, the likeliest of those, as the facts that it
 * follows; none where walks do not get there within the bounds of kith__proximity_find. */
kith_status kith__proximity_path(kith_neighbor path[KITH__PROXIMITY_STEPS], size_t *count,
                                 kith__view view, kith__span facts, uint32_t self, uint32_t target,
                                 kith_error *error);

#endif
