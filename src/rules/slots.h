/* Numbers for the entities that one query touches, so that arrays by number take memory for these
 * alone, and not for all entities of the graph. In a small graph an entity's number is its id. */
#ifndef KITH_RULES_SLOTS_H
#define KITH_RULES_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#define KITH__NO_SLOT UINT32_MAX

typedef struct kith__slots {
    int hashed;       /* else slots are ids, and what follows but `entities` is not used */
    size_t entities;  /* ids are below */
    uint32_t *entity; /* per slot */
    uint32_t *place;  /* per slot: where it stands in `table` */
    size_t count, entity_capacity, place_capacity;
    uint64_t *table; /* open addressing: the entity, and its slot + 1 in the low half; 0: free */
    size_t places;   /* a power of two, more than twice the slots */
} kith__slots;

/* Graphs with more entities than this are hashed. */
enum { KITH__DIRECT_ENTITIES = 1 << 16 };

/* Begin again for entities 0 .. entities - 1; takes time linear in the slots in use. */
void kith__slots_begin(kith__slots *slots, size_t entities);
/* Reserve so many more slots; -1 if out of memory. */
int kith__slots_reserve(kith__slots *slots, size_t more);
void kith__slots_release(kith__slots *slots);

/* How long arrays by slot must be for so many more slots. */
static inline size_t kith__slots_length(const kith__slots *s, size_t more)
{
    return s->hashed ? s->count + more : s->entities;
}

/* Whether so many more slots fit as it is. */
static inline int kith__slots_fit(const kith__slots *s, size_t more)
{
    size_t need = s->count + more;
    return !s->hashed ||
           (need <= s->entity_capacity && need <= s->place_capacity && 2 * need < s->places);
}

static inline uint32_t kith__slot_entity(const kith__slots *s, uint32_t slot)
{
    return s->hashed ? s->entity[slot] : slot;
}

static inline size_t kith__slot_place(const kith__slots *s, uint32_t entity)
{
    return (size_t)((uint64_t)entity * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (s->places - 1);
}

/* The slot of an entity, a new one if it has none; it must have been reserved. */
static inline uint32_t kith__slot_add(kith__slots *s, uint32_t entity)
{
    if (!s->hashed)
        return entity;
    size_t at = kith__slot_place(s, entity);
    for (; s->table[at]; at = (at + 1) & (s->places - 1))
        if ((uint32_t)(s->table[at] >> 32) == entity)
            return (uint32_t)s->table[at] - 1;
    uint32_t slot = (uint32_t)s->count++;
    s->table[at] = (uint64_t)entity << 32 | (slot + 1);
    s->place[slot] = (uint32_t)at;
    s->entity[slot] = entity;
    return slot;
}

/* KITH__NO_SLOT if it has none. */
static inline uint32_t kith__slot_find(const kith__slots *s, uint32_t entity)
{
    if (!s->hashed)
        return entity < s->entities ? entity : KITH__NO_SLOT;
    if (s->places == 0)
        return KITH__NO_SLOT;
    for (size_t at = kith__slot_place(s, entity); s->table[at]; at = (at + 1) & (s->places - 1))
        if ((uint32_t)(s->table[at] >> 32) == entity)
            return (uint32_t)s->table[at] - 1;
    return KITH__NO_SLOT;
}

#endif
