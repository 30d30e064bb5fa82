/* Names to ids and back: an interner with open addressing. Ids count up from 0 in the order in
 * which names are first met. */
#ifndef KITH_GRAPH_NAMES_H
#define KITH_GRAPH_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define KITH__NO_ID UINT32_MAX

typedef struct kith__names {
    uint64_t *slots; /* part of the hash in the high 24 bits, place + 1 in the low 40; 0 is free */
    size_t slot_count;
    char *bytes; /* records one after the other: id, length (4 bytes each), the name, a NUL */
    size_t byte_capacity, byte_count;
    uint64_t *start; /* per id, where its name begins in bytes */
    size_t start_capacity;
    uint32_t count;
} kith__names;

int kith__names_init(kith__names *names); /* 0, or -1 where memory is short */
void kith__names_release(kith__names *names);

uint64_t kith__names_hash(const char *name, size_t length);

/* The id of a name, KITH__NO_ID where it is not there. */
uint32_t kith__names_find(const kith__names *names, const char *name, size_t length, uint64_t hash);
/* The id of a name, added if need be; KITH__NO_ID where memory or ids run out. */
uint32_t kith__names_add(kith__names *names, const char *name, size_t length, uint64_t hash);
const char *kith__names_get(const kith__names *names, uint32_t id);
size_t kith__names_length(const kith__names *names, uint32_t id);

#define KITH__PLACE_MASK ((UINT64_C(1) << 40) - 1)

/* Bring what a later find or add of this hash will read into the cache. Stages 0 and 1, each run
 * over a whole batch of names, hide the memory's latency. Inlined by force: gcc takes a function
 * that only prefetches for one without effect, and drops calls of it. */
static inline __attribute__((always_inline)) void
kith__names_prefetch(const kith__names *names, uint64_t hash, int stage)
{
    size_t mask = names->slot_count - 1, at = hash & mask;

    if (stage == 0) {
        __builtin_prefetch(&names->slots[at]);
        return;
    }
    for (uint64_t slot; (slot = names->slots[at]) != 0; at = (at + 1) & mask)
        if (((slot ^ hash) & ~KITH__PLACE_MASK) == 0) {
            /* A record of common length may reach into the next line. */
            __builtin_prefetch(names->bytes + (slot & KITH__PLACE_MASK));
            __builtin_prefetch(names->bytes + (slot & KITH__PLACE_MASK) + 24);
            return;
        }
}

#endif
