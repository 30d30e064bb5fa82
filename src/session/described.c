/* The entities that added facts describe, found by a hash table, and the facts of each as a linked
 * list. */
#include "core/mem.h"
#include "graph/graph.h"
#include "session/session.h"

static size_t slot_of(const kith_session *s, uint32_t entity)
{
    size_t mask = s->slot_count - 1, at = entity * UINT64_C(0x9e3779b97f4a7c15) >> 32 & mask;

    while (s->slots[at] != 0 && s->described[s->slots[at] - 1].entity != entity)
        at = (at + 1) & mask;
    return at;
}

static int grow_slots(kith_session *s)
{
    size_t wanted = s->slot_count ? 2 * s->slot_count : 64, *old = s->slots;
    size_t *slots = kith__calloc(wanted, sizeof *slots);

    if (!slots)
        return -1;
    s->slots = slots;
    s->slot_count = wanted;
    for (size_t i = 0; i < s->described_count; i++)
        s->slots[slot_of(s, s->described[i].entity)] = i + 1;
    kith__free(old);
    return 0;
}

kith__described *kith__session_describe(kith_session *s, uint32_t entity)
{
    if (s->described_count >= s->slot_count / 2 && grow_slots(s))
        return NULL;
    size_t at = slot_of(s, entity);
    if (s->slots[at] == 0) {
        if (kith__reserve(&s->described, &s->described_capacity, s->described_count + 1,
                          sizeof *s->described) ||
            kith__reserve(&s->newcomers, &s->newcomer_capacity, s->newcomer_count + 1,
                          sizeof *s->newcomers))
            return NULL;
        s->described[s->described_count++] =
            (kith__described){entity, KITH__NO_LINK, KITH__NO_LINK, 0};
        s->slots[at] = s->described_count;
        if (entity >= s->model->graph->seen_entities)
            s->newcomers[s->newcomer_count++] = s->described_count - 1;
    }
    return &s->described[s->slots[at] - 1];
}

const kith__described *kith__session_described(const kith_session *s, uint32_t entity)
{
    if (s->slot_count == 0)
        return NULL;
    size_t at = s->slots[slot_of(s, entity)];
    return at == 0 ? NULL : &s->described[at - 1];
}

void kith__session_link(kith_session *s, kith__described *d, size_t link, kith_neighbor neighbor)
{
    s->links[link] = (kith__link){neighbor, KITH__NO_LINK, d->last};
    if (d->last == KITH__NO_LINK)
        d->first = link;
    else
        s->links[d->last].next = link;
    d->last = link;
    d->facts++;
}

void kith__session_unlink(kith_session *s, uint32_t entity)
{
    kith__described *d = (kith__described *)kith__session_described(s, entity);

    d->last = s->links[d->last].previous;
    if (d->last == KITH__NO_LINK)
        d->first = KITH__NO_LINK;
    else
        s->links[d->last].next = KITH__NO_LINK;
    d->facts--;
}

void kith__session_forget(kith_session *s, size_t described, size_t newcomers)
{
    /* The last one was added last, so that no probe for another one passes its slot. */
    while (s->described_count > described) {
        s->slots[slot_of(s, s->described[s->described_count - 1].entity)] = 0;
        s->described_count--;
    }
    s->newcomer_count = newcomers;
}
