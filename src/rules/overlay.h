/* An index over the facts that a session adds to a base, updated as facts are added and removed.
 * New entities have ids after those of the base. */
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
    uint32_t entities;      /* upper bound of all entity ids, those of the base and new ones */
    kith__touched *touched; /* may include entities without facts */
    size_t touched_capacity;
    kith__slots slots; /* maps an entity to its index in `touched` */
    uint64_t *facts;   /* number added per directed relation, as in kith__index */
} kith__overlay;

kith_status kith__overlay_init(kith__overlay *overlay, const kith__index *base, kith_error *error);
void kith__overlay_release(kith__overlay *overlay);

/* Add or remove a fact, given in the 2m numbering, in both directions. A fact that the base or the
 * overlay already has is not added again, and only added facts can be removed. `changed` (may be
 * NULL) is set to whether anything changed. The caller chooses the ids of new entities. The cost is
 * linear in the number of added facts of the two entities. */
kith_status kith__overlay_add(kith__overlay *overlay, kith_triple fact, bool *changed,
                              kith_error *error);
void kith__overlay_remove(kith__overlay *overlay, kith_triple fact, bool *changed);

/* The added facts of an entity. */
static inline kith__span kith__overlay_facts(const kith__overlay *o, uint32_t entity)
{
    uint32_t slot = kith__slot_find(&o->slots, entity);

    if (slot == KITH__NO_SLOT)
        return (kith__span){NULL, 0};
    return (kith__span){o->touched[slot].at, o->touched[slot].count};
}

#endif
