/* Facts that a session adds to a base: an index over them alone, kept up to date as facts come and
 * go. Entities that the base lacks have ids behind its own. */
#ifndef KITH_RULES_OVERLAY_H
#define KITH_RULES_OVERLAY_H

#include <stdbool.h>

#include "rules/index.h"
#include "rules/slots.h"

/* An entity with added facts. */
typedef struct kith__touched {
    uint32_t entity;
    size_t count, capacity;
    kith_neighbor *at; /* added facts by (relation, entity), each once */
} kith__touched;

typedef struct kith__overlay {
    const kith__index *base;
    uint32_t entities;      /* ids are below: those of the base, and of the entities it lacks */
    kith__touched *touched; /* some may have lost all their facts */
    size_t touched_capacity;
    kith__slots slots; /* entity to its place among the touched */
    uint64_t *facts;   /* added per relation and inverse, as kith__index has them */
} kith__overlay;

kith_status kith__overlay_init(kith__overlay *overlay, const kith__index *base, kith_error *error);
void kith__overlay_release(kith__overlay *overlay);

/* Add a fact in the 2m numbering, both ways round, or take one back. What the base or the overlay
 * already has is not added again; only what was added can be removed. `changed` (may be NULL)
 * says whether anything was. Ids of new entities are whatever the caller gives them. The time is
 * that of finding the two entities and of moving their added facts by one place. */
kith_status kith__overlay_add(kith__overlay *overlay, kith_triple fact, bool *changed,
                              kith_error *error);
void kith__overlay_remove(kith__overlay *overlay, kith_triple fact, bool *changed);

/* An entity's added facts; none if it has none. */
static inline kith__span kith__overlay_facts(const kith__overlay *o, uint32_t entity)
{
    uint32_t slot = kith__slot_find(&o->slots, entity);

    if (slot == KITH__NO_SLOT)
        return (kith__span){NULL, 0};
    return (kith__span){o->touched[slot].at, o->touched[slot].count};
}

#endif
