/* Names to ids and back: an interner with open addressing. Ids count from 0 in the order in which
 * names first occur. */
#ifndef KITH_GRAPH_NAMES_H
#define KITH_GRAPH_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define KITH__NO_ID UINT32_MAX

typedef struct kith__names {
    uint64_t *slots; /* bits of the hash in the high 24 bits, place + 1 in the low 40; 0 is free */
    size_t slot_count;
    char *bytes; /* consecutive records: id, length (4 bytes each), the name, a NUL */
    size_t byte_capacity, byte_count;
    uint64_t *start; /* per id, the offset of its name in `bytes` */
    size_t start_capacity;
    uint32_t count;
} kith__names;

int kith__names_init(kith__names *names); /* 0, or -1 if out of memory */
void kith__names_release(kith__names *names);

uint64_t kith__names_hash(const char *name, size_t length);

/* The id of a name, KITH__NO_ID if it is missing. */
uint32_t kith__names_find(const kith__names *names, const char *name, size_t length, uint64_t hash);
/* The id of a name, added if it is missing; KITH__NO_ID if memory or ids run out. */
uint32_t kith__names_add(kith__names *names, const char *name, size_t length, uint64_t hash);
/* Keep only the first `count` names. */
void kith__names_truncate(kith__names *names, uint32_t count);
const char *kith__names_get(const kith__names *names, uint32_t id);
size_t kith__names_length(const kith__names *names, uint32_t id);

#define KITH__PLACE_MASK ((UINT64_C(1) << 40) - 1)

/* Prefetch what a later find or add of this hash will read. Stages 0 and 1, each run over a whole
 * batch of names, hide the memory latency. Inlined by force, because gcc drops calls to functions
 * that only prefetch. */
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
            /* A record of common length may extend into the next cache line. */
            __builtin_prefetch(names->bytes + (slot & KITH__PLACE_MASK));
            __builtin_prefetch(names->bytes + (slot & KITH__PLACE_MASK) + 24);
            return;
        }
}

#endif
