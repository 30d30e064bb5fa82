#include "graph/triple_set.h"

#include <string.h>

#include "core/mem.h"

int kith__triple_set_init(kith__triple_set *set, size_t expected)
{
    set->count = 0;
    set->slot_count = 16;
    while (set->slot_count / 2 < expected)
        set->slot_count *= 2;
    set->slots = kith__alloc(set->slot_count, sizeof *set->slots);
    if (!set->slots)
        return -1;
    memset(set->slots, 0xff, set->slot_count * sizeof *set->slots);
    return 0;
}

void kith__triple_set_release(kith__triple_set *set)
{
    kith__free(set->slots);
    memset(set, 0, sizeof *set);
}

/* The slot that holds the triple, or the free slot where it would go. */
static size_t probe(const kith__triple_set *set, kith_triple triple)
{
    size_t mask = set->slot_count - 1, at = kith__triple_hash(triple) & mask;

    while (set->slots[at].subject != UINT32_MAX && !kith__triple_equal(set->slots[at], triple))
        at = (at + 1) & mask;
    return at;
}

static int grow(kith__triple_set *set)
{
    kith__triple_set larger;

    if (kith__triple_set_init(&larger, set->slot_count))
        return -1;
    for (size_t i = 0; i < set->slot_count; i++)
        if (set->slots[i].subject != UINT32_MAX)
            larger.slots[probe(&larger, set->slots[i])] = set->slots[i];
    larger.count = set->count;
    kith__free(set->slots);
    *set = larger;
    return 0;
}

int kith__triple_set_add(kith__triple_set *set, kith_triple triple)
{
    if (set->count >= set->slot_count / 4 * 3 && grow(set))
        return -1;
    size_t at = probe(set, triple);
    if (set->slots[at].subject != UINT32_MAX)
        return 0;
    set->slots[at] = triple;
    set->count++;
    return 1;
}

/* Later entries of the same run of slots move up, so that no probe stops early at the gap. */
void kith__triple_set_remove(kith__triple_set *set, kith_triple triple)
{
    size_t mask = set->slot_count - 1, gap = probe(set, triple);

    if (set->slots[gap].subject == UINT32_MAX)
        return;
    set->count--;
    for (size_t at = (gap + 1) & mask; set->slots[at].subject != UINT32_MAX; at = (at + 1) & mask) {
        size_t home = kith__triple_hash(set->slots[at]) & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            set->slots[gap] = set->slots[at];
            gap = at;
        }
    }
    set->slots[gap].subject = UINT32_MAX;
}

bool kith__triple_set_has(const kith__triple_set *set, kith_triple triple)
{
    return set->slots[probe(set, triple)].subject != UINT32_MAX;
}
