#include "rules/counter.h"

#include <stdlib.h>

#include "core/mem.h"

enum { FIRST_PLACES = 1024 };

/* Fibonacci hashing with the high half folded in. */
static size_t place_of(uint64_t key, size_t places)
{
    key = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(key ^ key >> 29) & (places - 1);
}

static kith__count *probe(kith__count *at, size_t places, uint64_t key)
{
    size_t i = place_of(key, places);

    while (at[i].key != key && at[i].key != UINT64_MAX)
        i = (i + 1) & (places - 1);
    return &at[i];
}

static int grow(kith__counter *c)
{
    size_t places = c->places ? 2 * c->places : FIRST_PLACES;
    kith__count *at = kith__alloc(places, sizeof *at);

    if (!at)
        return -1;
    for (size_t i = 0; i < places; i++)
        at[i] = (kith__count){UINT64_MAX, 0};
    for (size_t i = 0; i < c->places; i++)
        if (c->at[i].key != UINT64_MAX)
            *probe(at, places, c->at[i].key) = c->at[i];
    kith__free(c->at);
    c->at = at;
    c->places = places;
    return 0;
}

int kith__counter_add(kith__counter *c, uint64_t key, uint64_t count)
{
    if (3 * c->used >= 2 * c->places && grow(c))
        return -1;
    kith__count *place = probe(c->at, c->places, key);
    if (place->key == UINT64_MAX) {
        if (c->most && c->used == c->most)
            return 0;
        place->key = key;
        c->used++;
    }
    place->count += count;
    return 0;
}

kith__count *kith__counter_find(const kith__counter *c, uint64_t key)
{
    if (c->used == 0)
        return NULL;
    kith__count *place = probe(c->at, c->places, key);
    return place->key == key ? place : NULL;
}

static int by_key(const void *a, const void *b)
{
    const kith__count *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

void kith__counter_sort(kith__counter *c)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->places; i++)
        if (c->at[i].key != UINT64_MAX)
            c->at[kept++] = c->at[i];
    if (kept > 0)
        qsort(c->at, kept, sizeof *c->at, by_key);
}

void kith__counter_release(kith__counter *c)
{
    kith__free(c->at);
    *c = (kith__counter){0};
}
