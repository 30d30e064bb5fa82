#include "rules/proximity.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"

/* Chosen on WordNet 11's dev and on entities held out of FB15k's train. Of an entity with more facts
 * than USUAL, walks say less. */
enum { STEPS = KITH__PROXIMITY_STEPS, MOST_FOLLOWED = 20000, USUAL = 20 };
static const float least = 1e-5f, fade = .7f;

kith_status kith__proximity_init(kith__proximity *n, const kith__index *index, kith_error *error)
{
    *n = (kith__proximity){.index = index};
    n->proximity = kith__calloc(index->entities, sizeof *n->proximity);
    n->mass = kith__calloc(index->entities, sizeof *n->mass);
    n->next = kith__calloc(index->entities, sizeof *n->next);
    /* Lists are written one past their end. */
    n->reached = kith__alloc((size_t)index->entities + 1, sizeof *n->reached);
    n->front = kith__alloc((size_t)index->entities + 1, sizeof *n->front);
    n->next_front = kith__alloc((size_t)index->entities + 1, sizeof *n->next_front);
    if (!n->proximity || !n->mass || !n->next || !n->reached || !n->front || !n->next_front)
        return kith__no_memory(error);
    return KITH_OK;
}

void kith__proximity_release(kith__proximity *n)
{
    kith__free(n->proximity);
    kith__free(n->mass);
    kith__free(n->next);
    kith__free(n->reached);
    kith__free(n->front);
    kith__free(n->next_front);
    memset(n, 0, sizeof *n);
}

/* Without a branch, which could not be foreseen: an entity that is not new is written over. */
static inline void step_to(kith__proximity *n, uint32_t entity, float mass)
{
    n->next_front[n->ahead] = entity;
    n->ahead += n->next[entity] == 0;
    n->next[entity] += mass;
}

/* Follow all with the same probability: an entity's facts, and those that unseen ones have with it. */
static void follow(kith__proximity *n, kith__span facts, const uint32_t *later, size_t laters,
                   float mass)
{
    float each = mass / (float)(facts.count + laters);

    if (facts.count + laters == 0 || each < least)
        return;
    n->followed += facts.count + laters;
    for (size_t i = 0; i < facts.count; i++)
        step_to(n, facts.at[i].entity, each);
    for (size_t i = 0; i < laters; i++)
        step_to(n, later[i], each);
}

static void step_from(kith__proximity *n, uint32_t entity)
{
    const kith__index *x = n->index;
    uint64_t from = 0, to = 0;

    if (entity < x->seen) {
        from = x->later_offset[entity];
        to = x->later_offset[entity + 1];
    }
    follow(n, kith__facts_of(x, entity), x->later + from, (size_t)(to - from), n->mass[entity]);
}

/* What was ahead, but for the entity itself, is where the walk is now; returns at how many entities. */
static size_t arrive(kith__proximity *n, float weight, uint32_t self)
{
    float *mass = n->mass;
    uint32_t *front = n->front;
    size_t ahead = n->ahead, count = 0;

    n->mass = n->next;
    n->next = mass;
    n->front = n->next_front;
    n->next_front = front;
    n->ahead = 0;
    for (size_t i = 0; i < ahead; i++) {
        uint32_t e = n->front[i];
        if (e == self) {
            n->mass[e] = 0;
            continue;
        }
        n->front[count++] = e;
        n->reached[n->reached_count] = e;
        n->reached_count += n->proximity[e] == 0;
        n->proximity[e] += weight * n->mass[e];
    }
    return count;
}

void kith__proximity_find(kith__proximity *n, kith__span facts, uint32_t self)
{
    float weight = 1;

    for (size_t i = 0; i < n->reached_count; i++)
        n->proximity[n->reached[i]] = 0;
    n->reached_count = n->followed = 0;
    follow(n, facts, NULL, 0, 1);
    size_t count = arrive(n, weight, self);
    for (int step = 1; step < STEPS && n->followed < MOST_FOLLOWED && count > 0; step++) {
        for (size_t i = 0; i < count; i++) {
            if (n->front[i] < n->index->seen || n->through)
                step_from(n, n->front[i]);
            n->mass[n->front[i]] = 0;
        }
        count = arrive(n, weight *= fade, self);
    }
    for (size_t i = 0; i < count; i++)
        n->mass[n->front[i]] = 0;
    float scale = facts.count > USUAL ? 1e6f * USUAL / (float)facts.count : 1e6f;
    for (size_t i = 0; i < n->reached_count; i++)
        n->proximity[n->reached[i]] = logf(1 + scale * n->proximity[n->reached[i]]);
}

/* ---- the shortest way ---- */

typedef struct {
    float chance;      /* that a walk comes this way; 0: none did yet */
    uint32_t steps;
    uint32_t from;     /* where the last step began; UINT32_MAX: at the entity asked about */
    uint32_t relation; /* of the last step */
} arrival;

typedef struct {
    arrival *at; /* per entity */
    uint32_t *met; /* entities in the order in which they were met */
    size_t count, followed;
} searching;

/* The first to come somewhere came the shortest way; of those as short the likeliest counts. */
static void search_from(searching *s, kith__span facts, uint32_t from, float chance, uint32_t self)
{
    float each = chance / (float)facts.count;
    uint32_t steps = from == UINT32_MAX ? 1 : s->at[from].steps + 1;

    if (facts.count == 0 || each < least)
        return;
    s->followed += facts.count;
    for (size_t i = 0; i < facts.count; i++) {
        arrival *a = &s->at[facts.at[i].entity];
        if (facts.at[i].entity == self ||
            (a->chance > 0 && (a->steps < steps || a->chance >= each)))
            continue;
        if (a->chance == 0)
            s->met[s->count++] = facts.at[i].entity;
        *a = (arrival){each, steps, from, facts.at[i].relation};
    }
}

kith_status kith__proximity_path(kith_neighbor path[KITH__PROXIMITY_STEPS], size_t *count,
                                const kith__index *index, kith__span facts, uint32_t self,
                                uint32_t target, kith_error *error)
{
    searching s = {.at = kith__calloc(index->entities, sizeof *s.at),
                   .met = kith__alloc(index->entities, sizeof *s.met)};
    kith_status status = KITH_OK;

    *count = 0;
    if (!s.at || !s.met)
        TRY(kith__no_memory(error));
    search_from(&s, facts, UINT32_MAX, 1, self);
    for (size_t i = 0; i < s.count && s.followed < MOST_FOLLOWED; i++) {
        const arrival *a = &s.at[s.met[i]];
        /* Whoever is as far as the target cannot better the way to it. */
        if (a->steps == STEPS || (s.at[target].chance > 0 && a->steps >= s.at[target].steps))
            break;
        search_from(&s, kith__facts_of(index, s.met[i]), s.met[i], a->chance, self);
    }
    if (s.at[target].chance > 0)
        *count = s.at[target].steps;
    for (size_t i = *count; i-- > 0; target = s.at[target].from)
        path[i] = (kith_neighbor){s.at[target].relation, target};
cleanup:
    kith__free(s.at);
    kith__free(s.met);
    return status;
}
