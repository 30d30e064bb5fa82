/* How near entities are to one that is given by its facts: how often a walk that starts there, and at
 * each step follows one fact of where it is, comes by. Walks meet unseen entities too. */
#ifndef KITH_RULES_PROXIMITY_H
#define KITH_RULES_PROXIMITY_H

#include <stdbool.h>

#include "rules/index.h"

/* Room for one thread. */
typedef struct kith__proximity {
    const kith__index *index;
    bool through; /* Whether walks go on from unseen entities. Without it a newcomer is told what an
                     unseen entity of the graph with the same facts is told; with it the newcomer's
                     walks could go through that one. */
    float *
        proximity; /* per entity: log(1 + 1e6 P), where P adds up how likely it is met in each step,
                         later steps counting less, and is less where there are many facts to
                         begin with; 0 where it is not met */
    uint32_t *reached; /* those that are not 0 */
    size_t reached_count;
    float *mass, *next; /* per entity: how likely the walk is there, and a step later */
    uint32_t *front, *next_front; /* those that are not 0 */
    size_t ahead;   /* in next_front */
    size_t followed; /* facts looked at */
} kith__proximity;

kith_status kith__proximity_init(kith__proximity *proximity, const kith__index *index,
                                kith_error *error);
void kith__proximity_release(kith__proximity *proximity);

/* Fill `near`. `self` is the entity's id, or UINT32_MAX for a newcomer; walks do not come back to it.
 * The work is bounded whatever the graph: steps that are too unlikely are not taken, and after enough
 * facts were looked at no further step begins. */
void kith__proximity_find(kith__proximity *proximity, kith__span facts, uint32_t self);

enum { KITH__PROXIMITY_STEPS = 8 };

/* The shortest way from an entity to a seen one, the likeliest of those, as the facts that it follows;
 * none where walks do not get there within the bounds of kith__proximity_find. */
kith_status kith__proximity_path(kith_neighbor path[KITH__PROXIMITY_STEPS], size_t *count,
                                const kith__index *index, kith__span facts, uint32_t self,
                                uint32_t target, kith_error *error);

#endif
