/* Numbers the entities that one query touches, so that arrays indexed by slot need memory for these
 * only, not for all entities of the graph. In a small graph the slot of an entity is its id. */
#ifndef KITH_RULES_SLOTS_H
#define KITH_RULES_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#define KITH__NO_SLOT UINT32_MAX

typedef struct kith__slots {
    int hashed;       /* 0: slots are ids, and of the members below only `entities` is used */
    size_t entities;  /* all ids are below this */
    uint32_t *entity; /* per slot */
    uint32_t *place;  /* per slot: its index in `table` */
    size_t count, entity_capacity, place_capacity;
    /* open addressing: the entity in the high half, its slot + 1 in the low half; 0: free */
    uint64_t *table;
    size_t places; /* a power of two, more than twice the number of slots */
} kith__slots;

/* Graphs with more entities than this use hashing. */
enum { KITH__DIRECT_ENTITIES = 1 << 16 };

/* Start again with no slots, for entities 0 .. entities - 1. Takes time linear in the slots in
 * use. */
void kith__slots_begin(kith__slots *slots, size_t entities);
/* Reserve memory for `more` further slots; -1 if out of memory. */
int kith__slots_reserve(kith__slots *slots, size_t more);
void kith__slots_release(kith__slots *slots);

/* The length that arrays indexed by slot need for `more` further slots. */
static inline size_t kith__slots_length(const kith__slots *s, size_t more)
{
    return s->hashed ? s->count + more : s->entities;
}

/* Whether `more` further slots fit without growing. */
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

/* The slot of an entity; an entity without one gets the next slot, which must have been
 * reserved. */
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

/* The slot of an entity, or KITH__NO_SLOT if it has none. */
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
