#include "rules/slots.h"

#include <string.h>

#include "core/mem.h"

enum { FIRST_PLACES = 1024 };

void kith__slots_begin(kith__slots *s, size_t entities)
{
    for (size_t i = 0; i < s->count; i++)
        s->table[s->place[i]] = 0;
    s->count = 0;
    s->entities = entities;
    s->hashed = entities > KITH__DIRECT_ENTITIES;
}

static int grow_table(kith__slots *s, size_t slots)
{
    size_t places = s->places ? s->places : FIRST_PLACES;

    while (places <= 2 * slots)
        places *= 2;
    uint64_t *table = kith__calloc(places, sizeof *table);
    if (!table)
        return -1;
    kith__free(s->table);
    s->table = table;
    s->places = places;
    for (uint32_t i = 0; i < s->count; i++) {
        size_t at = kith__slot_place(s, s->entity[i]);
        while (table[at])
            at = (at + 1) & (places - 1);
        table[at] = (uint64_t)s->entity[i] << 32 | (i + 1);
        s->place[i] = (uint32_t)at;
    }
    return 0;
}

int kith__slots_reserve(kith__slots *s, size_t more)
{
    size_t need = s->count + more;

    if (!s->hashed)
        return 0;
    if (kith__reserve(&s->entity, &s->entity_capacity, need, sizeof *s->entity) ||
        kith__reserve(&s->place, &s->place_capacity, need, sizeof *s->place))
        return -1;
    return 2 * need >= s->places ? grow_table(s, need) : 0;
}

void kith__slots_release(kith__slots *s)
{
    kith__free(s->entity);
    kith__free(s->place);
    kith__free(s->table);
    memset(s, 0, sizeof *s);
}
