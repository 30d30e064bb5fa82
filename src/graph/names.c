#include "graph/names.h"

#include <stdbool.h>
#include <string.h>

#include "core/mem.h"

enum { FIRST_SLOTS = 1024, HEAD = 8 };

__extension__ typedef unsigned __int128 wide;

int kith__names_init(kith__names *names)
{
    memset(names, 0, sizeof *names);
    names->slots = kith__calloc(FIRST_SLOTS, sizeof *names->slots);
    if (!names->slots)
        return -1;
    names->slot_count = FIRST_SLOTS;
    return 0;
}

void kith__names_release(kith__names *names)
{
    kith__free(names->slots);
    kith__free(names->start);
    kith__free(names->bytes);
    memset(names, 0, sizeof *names);
}

static uint64_t fold(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Up to eight bytes as one number, by reads that may overlap: no call, no loop. The hash includes
 * the length, so reading a byte twice does no harm. */
static uint64_t last_bytes(const char *name, size_t length)
{
    uint32_t first, last;

    if (length >= 4) {
        memcpy(&first, name, 4);
        memcpy(&last, name + length - 4, 4);
        return (uint64_t)first << 32 | last;
    }
    if (length == 0)
        return 0;
    return (uint64_t)(unsigned char)name[0] << 16 | (uint64_t)(unsigned char)name[length / 2] << 8 |
           (unsigned char)name[length - 1];
}

/* Whether two names of equal length are the same. Most are short, so calling memcmp would be
 * slower. */
static bool same_bytes(const char *a, const char *b, size_t length)
{
    uint64_t x, y;

    if (length < 8) {
        for (size_t i = 0; i < length; i++)
            if (a[i] != b[i])
                return false;
        return true;
    }
    for (size_t i = 0; i + 8 < length; i += 8) {
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x != y)
            return false;
    }
    memcpy(&x, a + length - 8, 8);
    memcpy(&y, b + length - 8, 8);
    return x == y;
}

/* Multiply and fold, eight bytes at a time, as wyhash does. */
uint64_t kith__names_hash(const char *name, size_t length)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t hash = length * 0xff51afd7ed558ccdu + odd, word;

    while (length > 8) {
        memcpy(&word, name, 8);
        hash = fold(word ^ hash, odd);
        name += 8;
        length -= 8;
    }
    return fold(last_bytes(name, length) ^ hash, 0xa0761d6478bd642fu);
}

static uint32_t number_at(const char *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

const char *kith__names_get(const kith__names *names, uint32_t id)
{
    return names->bytes + names->start[id];
}

size_t kith__names_length(const kith__names *names, uint32_t id)
{
    return number_at(names->bytes + names->start[id] - 4);
}

/* The slot that holds the name, or the free slot where it would go. */
static size_t probe(const kith__names *names, const char *name, size_t length, uint64_t hash)
{
    size_t mask = names->slot_count - 1, at = hash & mask;

    for (;; at = (at + 1) & mask) {
        uint64_t slot = names->slots[at];
        if (slot == 0)
            return at;
        if (((slot ^ hash) & ~KITH__PLACE_MASK) != 0)
            continue;
        const char *record = names->bytes + (slot & KITH__PLACE_MASK) - 1;
        if (number_at(record + 4) == length && same_bytes(record + HEAD, name, length))
            return at;
    }
}

static uint32_t id_in(const kith__names *names, uint64_t slot)
{
    return number_at(names->bytes + (slot & KITH__PLACE_MASK) - 1);
}

uint32_t kith__names_find(const kith__names *names, const char *name, size_t length, uint64_t hash)
{
    uint64_t slot = names->slots[probe(names, name, length, hash)];
    return slot == 0 ? KITH__NO_ID : id_in(names, slot);
}

static int grow(kith__names *names)
{
    size_t wanted = names->slot_count * 2, mask = wanted - 1;
    uint64_t *slots = kith__calloc(wanted, sizeof *slots);

    if (!slots)
        return -1;
    for (size_t place = 0; place < names->byte_count;) {
        const char *record = names->bytes + place;
        size_t length = number_at(record + 4);
        uint64_t hash = kith__names_hash(record + HEAD, length);
        size_t at = hash & mask;
        while (slots[at] != 0)
            at = (at + 1) & mask;
        slots[at] = (hash & ~KITH__PLACE_MASK) | (place + 1);
        place += HEAD + length + 1;
    }
    kith__free(names->slots);
    names->slots = slots;
    names->slot_count = wanted;
    return 0;
}

static int append_record(kith__names *names, const char *name, size_t length)
{
    size_t place = names->byte_count, after = place + HEAD + length + 1;
    uint32_t head[2] = {names->count, (uint32_t)length};

    if (length > UINT32_MAX || after >= KITH__PLACE_MASK ||
        kith__reserve(&names->start, &names->start_capacity, (size_t)names->count + 1,
                      sizeof *names->start) ||
        kith__reserve(&names->bytes, &names->byte_capacity, after, 1))
        return -1;
    memcpy(names->bytes + place, head, HEAD);
    memcpy(names->bytes + place + HEAD, name, length);
    names->bytes[after - 1] = '\0';
    names->start[names->count++] = place + HEAD;
    names->byte_count = after;
    return 0;
}

uint32_t kith__names_add(kith__names *names, const char *name, size_t length, uint64_t hash)
{
    size_t at = probe(names, name, length, hash);

    if (names->slots[at] != 0)
        return id_in(names, names->slots[at]);
    if (names->count >= KITH__NO_ID - 1)
        return KITH__NO_ID;
    if (names->count >= names->slot_count / 8 * 5) {
        if (grow(names))
            return KITH__NO_ID;
        at = probe(names, name, length, hash);
    }
    uint64_t place = names->byte_count;
    if (append_record(names, name, length))
        return KITH__NO_ID;
    names->slots[at] = (hash & ~KITH__PLACE_MASK) | (place + 1);
    return names->count - 1;
}

/* The last name was added last, so that no probe for another one passes its slot. */
void kith__names_truncate(kith__names *names, uint32_t count)
{
    while (names->count > count) {
        uint32_t last = names->count - 1;
        const char *name = kith__names_get(names, last);
        size_t length = kith__names_length(names, last);
        names->slots[probe(names, name, length, kith__names_hash(name, length))] = 0;
        names->byte_count = (size_t)names->start[last] - HEAD;
        names->count = last;
    }
}
