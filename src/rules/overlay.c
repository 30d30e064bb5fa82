#include "rules/overlay.h"

#include <string.h>

#include "core/mem.h"

kith_status kith__overlay_init(kith__overlay *o, const kith__index *base, kith_error *error)
{
    *o = (kith__overlay){.base = base, .entities = base->entities};
    /* Always hashed, because few of the entities are touched, and new ids are added. */
    kith__slots_begin(&o->slots, SIZE_MAX);
    o->facts = kith__calloc(base->relations, sizeof *o->facts);
    return o->facts ? KITH_OK : kith__no_memory(error);
}

void kith__overlay_release(kith__overlay *o)
{
    for (size_t i = 0; i < o->slots.count; i++)
        kith__free(o->touched[i].at);
    kith__free(o->touched);
    kith__free(o->facts);
    kith__slots_release(&o->slots);
    memset(o, 0, sizeof *o);
}

static bool precedes(kith_neighbor a, kith_neighbor b)
{
    return a.relation != b.relation ? a.relation < b.relation : a.entity < b.entity;
}

/* The index of a fact in a sorted list, or where it would be inserted. */
static size_t place_of(const kith__touched *t, kith_neighbor fact)
{
    size_t low = 0, high = t->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (precedes(t->at[middle], fact))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const kith__touched *t, size_t place, kith_neighbor fact)
{
    return place < t->count && t->at[place].relation == fact.relation &&
           t->at[place].entity == fact.entity;
}

static bool in_base(const kith__index *x, uint32_t entity, kith_neighbor fact)
{
    return entity < x->entities &&
           kith__span_has(kith__reached(x, entity, fact.relation), fact.entity);
}

/* The entity's entry with space for one more fact; NULL if out of memory. */
static kith__touched *entry_for(kith__overlay *o, uint32_t entity)
{
    if (kith__slots_reserve(&o->slots, 1) ||
        kith__reserve(&o->touched, &o->touched_capacity, o->slots.count + 1, sizeof *o->touched))
        return NULL;
    size_t before = o->slots.count;
    uint32_t slot = kith__slot_add(&o->slots, entity);
    kith__touched *t = &o->touched[slot];
    if (o->slots.count > before)
        *t = (kith__touched){.entity = entity};
    return kith__reserve(&t->at, &t->capacity, t->count + 1, sizeof *t->at) ? NULL : t;
}

static bool add_at(kith__overlay *o, uint32_t entity, kith_neighbor fact)
{
    kith__touched *t = &o->touched[kith__slot_find(&o->slots, entity)];
    size_t place = place_of(t, fact);

    if (is_at(t, place, fact) || in_base(o->base, entity, fact))
        return false;
    memmove(t->at + place + 1, t->at + place, (t->count - place) * sizeof *t->at);
    t->at[place] = fact;
    t->count++;
    o->facts[fact.relation]++;
    return true;
}

static bool remove_at(kith__overlay *o, uint32_t entity, kith_neighbor fact)
{
    uint32_t slot = kith__slot_find(&o->slots, entity);

    if (slot == KITH__NO_SLOT)
        return false;
    kith__touched *t = &o->touched[slot];
    size_t place = place_of(t, fact);
    if (!is_at(t, place, fact))
        return false;
    t->count--;
    memmove(t->at + place, t->at + place + 1, (t->count - place) * sizeof *t->at);
    o->facts[fact.relation]--;
    return true;
}

kith_status kith__overlay_add(kith__overlay *o, kith_triple f, bool *changed, kith_error *error)
{
    uint32_t inverse = kith__inverse(o->base, f.relation);

    if (changed)
        *changed = false;
    /* A loop is stored twice in the same list. */
    kith__touched *subject = entry_for(o, f.subject), *object = entry_for(o, f.object);
    if (!subject || !object ||
        kith__reserve(&object->at, &object->capacity, object->count + 2, sizeof *object->at))
        return kith__no_memory(error);
    bool forth = add_at(o, f.subject, (kith_neighbor){f.relation, f.object});
    bool back = add_at(o, f.object, (kith_neighbor){inverse, f.subject});
    for (int i = 0; i < 2; i++) {
        uint32_t e = i ? f.object : f.subject;
        o->entities = e >= o->entities ? e + 1 : o->entities;
    }
    if (changed)
        *changed = forth || back;
    return KITH_OK;
}

void kith__overlay_remove(kith__overlay *o, kith_triple f, bool *changed)
{
    uint32_t inverse = kith__inverse(o->base, f.relation);
    bool forth = remove_at(o, f.subject, (kith_neighbor){f.relation, f.object});
    bool back = remove_at(o, f.object, (kith_neighbor){inverse, f.subject});

    if (changed)
        *changed = forth || back;
}
