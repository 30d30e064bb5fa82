/* Names to ids and back: an interner with open addressing. Ids count up from 0 in the order in
 * which names are first met. */
#ifndef KITH_GRAPH_NAMES_H
#define KITH_GRAPH_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define KITH__NO_ID UINT32_MAX

typedef struct kith__names {
    uint64_t *slots; /* hash in the high half, id + 1 in the low one; 0 is free */
    size_t slot_count;
    uint64_t *start; /* where each name begins in bytes; start[count] is the end */
    size_t start_capacity;
    char *bytes; /* the names, each with a NUL behind it */
    size_t byte_capacity;
    uint32_t count;
} kith__names;

int kith__names_init(kith__names *names); /* 0, or -1 where memory is short */
void kith__names_release(kith__names *names);

uint32_t kith__names_hash(const char *name, size_t length);

/* The id of a name, KITH__NO_ID where it is not there. */
uint32_t kith__names_find(const kith__names *names, const char *name, size_t length, uint32_t hash);
/* The id of a name, added if need be; KITH__NO_ID where memory or ids run out. */
uint32_t kith__names_add(kith__names *names, const char *name, size_t length, uint32_t hash);
const char *kith__names_get(const kith__names *names, uint32_t id);
size_t kith__names_length(const kith__names *names, uint32_t id);

/* Bring what a later find or add of this hash will read into the cache. Stages 0, 1 and 2, each
 * run over a whole batch, hide the memory's latency. */
void kith__names_prefetch(const kith__names *names, uint32_t hash, int stage);

#endif
