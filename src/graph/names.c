#include "graph/names.h"

#include <string.h>

#include "core/mem.h"

enum { FIRST_SLOTS = 1024 };

int kith__names_init(kith__names *names)
{
    memset(names, 0, sizeof *names);
    names->slots = kith__calloc(FIRST_SLOTS, sizeof *names->slots);
    if (!names->slots || kith__reserve(&names->start, &names->start_capacity, 1, sizeof *names->start)) {
        kith__names_release(names);
        return -1;
    }
    names->slot_count = FIRST_SLOTS;
    names->start[0] = 0;
    return 0;
}

void kith__names_release(kith__names *names)
{
    kith__free(names->slots);
    kith__free(names->start);
    kith__free(names->bytes);
    memset(names, 0, sizeof *names);
}

/* Multiply-and-fold over eight bytes at a time, after wyhash (Wang Yi, public domain idea). */
uint32_t kith__names_hash(const char *name, size_t length)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t hash = length * 0xff51afd7ed558ccdu + odd, word;

    while (length > 8) {
        memcpy(&word, name, 8);
        unsigned __int128 product = (unsigned __int128)(word ^ hash) * odd;
        hash = (uint64_t)product ^ (uint64_t)(product >> 64);
        name += 8;
        length -= 8;
    }
    word = 0;
    memcpy(&word, name, length);
    unsigned __int128 product = (unsigned __int128)(word ^ hash) * 0xa0761d6478bd642fu;
    hash = (uint64_t)product ^ (uint64_t)(product >> 64);
    return (uint32_t)(hash ^ (hash >> 32));
}

const char *kith__names_get(const kith__names *names, uint32_t id)
{
    return names->bytes + names->start[id];
}

size_t kith__names_length(const kith__names *names, uint32_t id)
{
    return names->start[id + 1] - names->start[id] - 1;
}

/* The slot that holds the name, or the free one where it would go. */
static size_t probe(const kith__names *names, const char *name, size_t length, uint32_t hash)
{
    size_t mask = names->slot_count - 1, at = hash & mask;

    for (;; at = (at + 1) & mask) {
        uint64_t slot = names->slots[at];
        if (slot == 0)
            return at;
        if ((uint32_t)(slot >> 32) == hash) {
            uint32_t id = (uint32_t)slot - 1;
            if (kith__names_length(names, id) == length &&
                memcmp(kith__names_get(names, id), name, length) == 0)
                return at;
        }
    }
}

uint32_t kith__names_find(const kith__names *names, const char *name, size_t length, uint32_t hash)
{
    uint64_t slot = names->slots[probe(names, name, length, hash)];
    return slot == 0 ? KITH__NO_ID : (uint32_t)slot - 1;
}

static int grow(kith__names *names)
{
    size_t wanted = names->slot_count * 2, mask = wanted - 1;
    uint64_t *slots = kith__calloc(wanted, sizeof *slots);

    if (!slots)
        return -1;
    for (size_t i = 0; i < names->slot_count; i++) {
        uint64_t slot = names->slots[i];
        if (slot == 0)
            continue;
        size_t at = (size_t)(slot >> 32) & mask;
        while (slots[at] != 0)
            at = (at + 1) & mask;
        slots[at] = slot;
    }
    kith__free(names->slots);
    names->slots = slots;
    names->slot_count = wanted;
    return 0;
}

uint32_t kith__names_add(kith__names *names, const char *name, size_t length, uint32_t hash)
{
    size_t at = probe(names, name, length, hash);

    if (names->slots[at] != 0)
        return (uint32_t)names->slots[at] - 1;
    if (names->count >= KITH__NO_ID - 1)
        return KITH__NO_ID;
    if (names->count >= names->slot_count / 8 * 5) {
        if (grow(names))
            return KITH__NO_ID;
        at = probe(names, name, length, hash);
    }
    uint64_t begin = names->start[names->count];
    if (kith__reserve(&names->start, &names->start_capacity, (size_t)names->count + 2,
                      sizeof *names->start) ||
        kith__reserve(&names->bytes, &names->byte_capacity, begin + length + 1, 1))
        return KITH__NO_ID;
    memcpy(names->bytes + begin, name, length);
    names->bytes[begin + length] = '\0';
    names->slots[at] = (uint64_t)hash << 32 | (names->count + 1);
    names->start[++names->count] = begin + length + 1;
    return names->count - 1;
}

void kith__names_prefetch(const kith__names *names, uint32_t hash, int stage)
{
    size_t at = hash & (names->slot_count - 1);

    if (stage == 0) {
        __builtin_prefetch(&names->slots[at]);
        return;
    }
    uint64_t slot = names->slots[at];
    if ((uint32_t)(slot >> 32) != hash || slot == 0)
        return;
    uint32_t id = (uint32_t)slot - 1;
    if (stage == 1)
        __builtin_prefetch(&names->start[id]);
    else
        __builtin_prefetch(names->bytes + names->start[id]);
}
