#include "rules/proximity.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"

/* Chosen on dev of WordNet11 and on entities held out of train of FB15k. Walks from an entity with
 * more than USUAL facts are less informative. */
enum { STEPS = KITH__PROXIMITY_STEPS, MOST_FOLLOWED = 20000, USUAL = 20 };
static const float least = 1e-5f, fade = .7f;

void kith__proximity_init(kith__proximity *n, kith__view view)
{
    *n = (kith__proximity){.view = view};
}

void kith__proximity_release(kith__proximity *n)
{
    kith__slots_release(&n->slots);
    kith__free(n->value);
    kith__free(n->mass);
    kith__free(n->next);
    kith__free(n->reached);
    kith__free(n->front);
    kith__free(n->next_front);
    memset(n, 0, sizeof *n);
}

/* Grow an array indexed by slot; new items are zero. */
static int widen(float **array, size_t *capacity, size_t need)
{
    size_t before = *capacity;

    if (kith__reserve(array, capacity, need, sizeof **array))
        return -1;
    memset(*array + before, 0, (*capacity - before) * sizeof **array);
    return 0;
}

/* Reserve this many more slots. Lists are written one past their end. */
static bool reserve(kith__proximity *n, size_t more)
{
    size_t need = kith__slots_length(&n->slots, more) + 1;

    if (need <= n->value_capacity && kith__slots_fit(&n->slots, more))
        return true;
    n->no_memory |=
        kith__slots_reserve(&n->slots, more) || widen(&n->mass, &n->mass_capacity, need) ||
        widen(&n->next, &n->next_capacity, need) ||
        kith__reserve(&n->reached, &n->reached_capacity, need, sizeof *n->reached) ||
        kith__reserve(&n->front, &n->front_capacity, need, sizeof *n->front) ||
        kith__reserve(&n->next_front, &n->next_front_capacity, need, sizeof *n->next_front) ||
        widen(&n->value, &n->value_capacity, need);
    return !n->no_memory;
}

/* Branchless, because a branch would often be mispredicted: an entity that is not new is
 * overwritten by the next one. */
static inline size_t step_to(uint32_t *front, size_t ahead, float *next, uint32_t slot, float mass)
{
    bool new = next[slot] == 0;

    front[ahead] = slot;
    next[slot] += mass;
    return ahead + new;
}

static inline void step_to_all(kith__proximity *n, kith__span facts, float mass)
{
    uint32_t *front = n->next_front;
    float *next = n->next;
    size_t ahead = n->ahead;

    if (n->slots.hashed)
        for (size_t i = 0; i < facts.count; i++)
            ahead =
                step_to(front, ahead, next, kith__slot_add(&n->slots, facts.at[i].entity), mass);
    else
        for (size_t i = 0; i < facts.count; i++)
            ahead = step_to(front, ahead, next, facts.at[i].entity, mass);
    n->ahead = ahead;
}

/* Follow all facts of an entity, and those that unseen entities have with it, with the same
 * probability each. */
static void follow(kith__proximity *n, kith__spans facts, const uint32_t *later, size_t laters,
                   float mass)
{
    size_t count = facts.count + laters;
    float each = mass / (float)count;

    if (count == 0 || each < least || !reserve(n, count))
        return;
    n->followed += count;
    step_to_all(n, facts.base, each);
    if (facts.added.count > 0)
        step_to_all(n, facts.added, each);
    for (size_t i = 0; i < laters; i++)
        n->ahead = step_to(n->next_front, n->ahead, n->next, kith__slot_add(&n->slots, later[i]),
                           each);
}

static void step_from(kith__proximity *n, uint32_t slot)
{
    const kith__index *x = n->view.base;
    uint32_t entity = kith__slot_entity(&n->slots, slot);
    uint64_t from = 0, to = 0;

    if (entity < x->seen) {
        from = x->later_offset[entity];
        to = x->later_offset[entity + 1];
    } else if (!n->through && !kith__view_knows(&n->view, entity)) {
        return;
    }
    follow(n, kith__view_facts(&n->view, entity), x->later + from, (size_t)(to - from),
           n->mass[slot]);
}

/* Move the walk to the entities ahead, except `self`; returns their number. */
static size_t arrive(kith__proximity *n, float weight, uint32_t self)
{
    float *mass = n->mass;
    uint32_t *front = n->front;
    size_t ahead = n->ahead, count = 0, capacity = n->mass_capacity;

    n->mass = n->next;
    n->next = mass;
    n->mass_capacity = n->next_capacity;
    n->next_capacity = capacity;
    n->front = n->next_front;
    n->next_front = front;
    capacity = n->front_capacity;
    n->front_capacity = n->next_front_capacity;
    n->next_front_capacity = capacity;
    n->ahead = 0;
    for (size_t i = 0; i < ahead; i++) {
        uint32_t slot = n->front[i];
        if (kith__slot_entity(&n->slots, slot) == self) {
            n->mass[slot] = 0;
            continue;
        }
        n->front[count++] = slot;
        n->reached[n->reached_count] = slot;
        n->reached_count += n->value[slot] == 0;
        n->value[slot] += weight * n->mass[slot];
    }
    return count;
}

/* Values of slots are 0 between queries. */
static void begin(kith__proximity *n)
{
    for (size_t i = 0; i < n->reached_count; i++)
        n->value[n->reached[i]] = 0;
    n->reached_count = n->followed = n->ahead = 0;
    n->no_memory = false;
    kith__slots_begin(&n->slots, kith__view_entities(&n->view));
}

kith_status kith__proximity_find(kith__proximity *n, kith__span facts, uint32_t self,
                                 kith_error *error)
{
    float weight = 1;

    begin(n);
    follow(n, (kith__spans){facts, {NULL, 0}, facts.count}, NULL, 0, 1);
    size_t count = arrive(n, weight, self);
    for (int step = 1; step < STEPS && n->followed < MOST_FOLLOWED && count > 0; step++) {
        for (size_t i = 0; i < count; i++) {
            step_from(n, n->front[i]);
            n->mass[n->front[i]] = 0;
        }
        count = arrive(n, weight *= fade, self);
    }
    for (size_t i = 0; i < count; i++)
        n->mass[n->front[i]] = 0;
    float scale = facts.count > USUAL ? 1e6f * USUAL / (float)facts.count : 1e6f;
    for (size_t i = 0; i < n->reached_count; i++)
        n->value[n->reached[i]] = logf(1 + scale * n->value[n->reached[i]]);
    return n->no_memory ? kith__no_memory(error) : KITH_OK;
}

/* ---- the shortest path ---- */

typedef struct {
    float chance; /* probability of this path; 0: not reached yet */
    uint32_t steps;
    uint32_t from;     /* slot of the previous entity; KITH__NO_SLOT: the queried one */
    uint32_t relation; /* of the last step */
} arrival;

typedef struct {
    kith__view view;
    kith__slots slots; /* entities in the order in which they are reached */
    arrival *at;       /* per slot */
    size_t capacity, followed;
} searching;

/* The first path that reaches an entity is a shortest one; among paths of that length, the most
 * likely one is kept. */
static int search_from(searching *s, kith__spans facts, uint32_t from, float chance, uint32_t self)
{
    float each = chance / (float)facts.count;
    uint32_t steps = from == KITH__NO_SLOT ? 1 : s->at[from].steps + 1;

    if (facts.count == 0 || each < least)
        return 0;
    if (kith__slots_reserve(&s->slots, facts.count) ||
        kith__reserve(&s->at, &s->capacity, s->slots.count + facts.count, sizeof *s->at))
        return -1;
    s->followed += facts.count;
    for (size_t i = 0; i < facts.count; i++) {
        kith_neighbor fact = kith__spans_at(&facts, i);
        if (fact.entity == self)
            continue;
        size_t before = s->slots.count;
        arrival *a = &s->at[kith__slot_add(&s->slots, fact.entity)];
        if (s->slots.count == before && (a->steps < steps || a->chance >= each))
            continue;
        *a = (arrival){each, steps, from, fact.relation};
    }
    return 0;
}

/* Entities at the same distance as the target cannot improve the path to it. */
static bool is_found(const searching *s, uint32_t target, uint32_t steps)
{
    uint32_t slot = kith__slot_find(&s->slots, target);
    return slot != KITH__NO_SLOT && steps >= s->at[slot].steps;
}

static size_t trace(kith_neighbor *path, const searching *s, uint32_t target)
{
    uint32_t slot = kith__slot_find(&s->slots, target);
    size_t count = slot == KITH__NO_SLOT ? 0 : s->at[slot].steps;

    for (size_t i = count; i-- > 0; slot = s->at[slot].from)
        path[i] = (kith_neighbor){s->at[slot].relation, s->slots.entity[slot]};
    return count;
}

kith_status kith__proximity_path(kith_neighbor path[KITH__PROXIMITY_STEPS], size_t *count,
                                 kith__view view, kith__span facts, uint32_t self, uint32_t target,
                                 kith_error *error)
{
    searching s = {.view = view};
    kith__spans first = {facts, {NULL, 0}, facts.count};
    kith__slots_begin(&s.slots, SIZE_MAX); /* slots in the order in which entities are reached */
    int failed = search_from(&s, first, KITH__NO_SLOT, 1, self);

    for (uint32_t i = 0; !failed && i < s.slots.count && s.followed < MOST_FOLLOWED; i++) {
        if (s.at[i].steps == STEPS || is_found(&s, target, s.at[i].steps))
            break;
        failed =
            search_from(&s, kith__view_facts(&view, s.slots.entity[i]), i, s.at[i].chance, self);
    }
    *count = failed ? 0 : trace(path, &s, target);
    kith__slots_release(&s.slots);
    kith__free(s.at);
    return failed ? kith__no_memory(error) : KITH_OK;
}
