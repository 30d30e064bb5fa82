/* A set of triples, and hashing of triples. */
#ifndef KITH_GRAPH_TRIPLE_SET_H
#define KITH_GRAPH_TRIPLE_SET_H

#include <stdbool.h>

#include "core/status.h"

static inline uint64_t kith__triple_hash(kith_triple t)
{
    uint64_t x = ((uint64_t)t.subject << 32 | t.object) * 0x9e3779b97f4a7c15u;
    x ^= (x >> 29) ^ ((uint64_t)t.relation * 0xd6e8feb86659fd93u);
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 32);
}

static inline bool kith__triple_equal(kith_triple a, kith_triple b)
{
    return a.subject == b.subject && a.relation == b.relation && a.object == b.object;
}

typedef struct kith__triple_set {
    kith_triple *slots; /* a subject of UINT32_MAX marks a free slot */
    size_t slot_count, count;
} kith__triple_set;

/* 0, or -1 if out of memory. */
int kith__triple_set_init(kith__triple_set *set, size_t expected);
void kith__triple_set_release(kith__triple_set *set);
/* 1 if it was added, 0 if it was present, -1 if out of memory. */
int kith__triple_set_add(kith__triple_set *set, kith_triple triple);
void kith__triple_set_remove(kith__triple_set *set, kith_triple triple);
bool kith__triple_set_has(const kith__triple_set *set, kith_triple triple);

#endif
