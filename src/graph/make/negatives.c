#include "graph/make/negatives.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "graph/triple_set.h"

enum { SUBJECT_SIDE, OBJECT_SIDE, SIDES, TRIES = 32 };

/* The entities on one side of each relation: entity[offset[r]] .. entity[offset[r + 1] - 1]. */
typedef struct {
    size_t *offset;
    uint32_t *entity;
} pool;

typedef struct {
    const kith__negatives_plan *plan;
    kith__triple_set taken; /* known facts, and false facts made so far */
    pool pools[2][SIDES];   /* [unseen][side] */
    uint32_t *options;      /* scratch */
    size_t option_capacity;
    bool no_memory;
} maker;

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t end_of(kith_triple t, int side)
{
    return side == SUBJECT_SIDE ? t.subject : t.object;
}

/* Distinct (relation, entity) keys of the seen or of the unseen ends. */
static size_t collect_keys(uint64_t *keys, const kith__facts *facts, int side, bool unseen,
                           const uint8_t *is_unseen)
{
    size_t count = 0, distinct = 0;

    for (size_t i = 0; i < facts->count; i++) {
        uint32_t e = end_of(facts->at[i], side);
        if ((is_unseen[e] != 0) == unseen)
            keys[count++] = (uint64_t)facts->at[i].relation << 32 | e;
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[i - 1])
            keys[distinct++] = keys[i];
    return distinct;
}

static int pool_init(pool *p, const kith__facts *facts, int side, bool unseen,
                     const kith__negatives_plan *plan)
{
    uint64_t *keys = kith__alloc(facts->count, sizeof *keys);
    size_t count = keys ? collect_keys(keys, facts, side, unseen, plan->unseen) : 0;

    p->offset = kith__calloc((size_t)plan->relations + 1, sizeof *p->offset);
    p->entity = kith__alloc(count, sizeof *p->entity);
    bool failed = !keys || !p->offset || !p->entity;
    for (size_t i = 0; !failed && i < count; i++) {
        p->entity[i] = (uint32_t)keys[i];
        p->offset[(keys[i] >> 32) + 1]++;
    }
    for (uint32_t r = 0; !failed && r < plan->relations; r++)
        p->offset[r + 1] += p->offset[r];
    kith__free(keys);
    return failed ? -1 : 0;
}

static kith_triple with_end(kith_triple t, int side, uint32_t e)
{
    if (side == SUBJECT_SIDE)
        t.subject = e;
    else
        t.object = e;
    return t;
}

/* All entities of a list that give a new fact, for when random draws find none. */
static size_t list_options(maker *m, kith_triple t, int side, const uint32_t *list, size_t size)
{
    size_t count = 0;

    if (kith__reserve(&m->options, &m->option_capacity, size, sizeof *m->options)) {
        m->no_memory = true;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        if (!kith__triple_set_has(&m->taken, with_end(t, side, list[i])))
            m->options[count++] = list[i];
    return count;
}

static bool draw(kith_triple *out, maker *m, kith_triple t, int side, bool unseen)
{
    const pool *p = &m->pools[unseen][side];
    const uint32_t *list = p->entity + p->offset[t.relation];
    size_t size = p->offset[t.relation + 1] - p->offset[t.relation];

    if (size == 0)
        return false;
    for (int i = 0; i < TRIES; i++) {
        *out = with_end(t, side, list[kith__rng_below(m->plan->rng, size)]);
        if (!kith__triple_set_has(&m->taken, *out))
            return true;
    }
    size_t count = list_options(m, t, side, list, size);
    if (count == 0)
        return false;
    *out = with_end(t, side, m->options[kith__rng_below(m->plan->rng, count)]);
    return true;
}

static bool make_false(kith_triple *out, maker *m, kith_triple t, kith_split split)
{
    int side = (int)kith__rng_below(m->plan->rng, SIDES);

    if (split == KITH_TEST && m->plan->strategy != KITH_BOTH) {
        /* Replace the seen side first. */
        side = m->plan->strategy == KITH_SUBJECT ? OBJECT_SIDE : SUBJECT_SIDE;
        return draw(out, m, t, side, false) || draw(out, m, t, !side, true);
    }
    /* Both ends of such test facts are unseen, so a seen entity would reveal that the fact is
     * false. */
    if (split == KITH_TEST && (draw(out, m, t, side, true) || draw(out, m, t, !side, true)))
        return true;
    return draw(out, m, t, side, false) || draw(out, m, t, !side, false);
}

static int add_to_part(kith__facts *facts, maker *m, kith_split split)
{
    kith__facts labelled = {0};
    int failed = 0;

    for (size_t i = 0; i < facts->count && !failed; i++) {
        kith_triple untrue;
        if (i % 1024 == 0 && kith__watch_tick(m->plan->watch, i, facts->count))
            break;
        failed = kith__facts_add_labelled(&labelled, facts->at[i], 1);
        if (failed)
            break;
        bool made = make_false(&untrue, m, facts->at[i], split);
        failed = m->no_memory;
        if (!made) {
            ++*m->plan->missing;
            continue;
        }
        failed = failed || kith__facts_add_labelled(&labelled, untrue, 0) ||
                 kith__triple_set_add(&m->taken, untrue) < 0;
    }
    kith__facts_release(facts);
    *facts = labelled;
    return failed;
}

static int maker_init(maker *m, const kith__negatives_plan *plan)
{
    size_t known = 0;

    memset(m, 0, sizeof *m);
    m->plan = plan;
    for (size_t i = 0; i < plan->known_count; i++)
        known += plan->known[i]->count;
    if (kith__triple_set_init(&m->taken, known))
        return -1;
    /* Facts that the source labels false are not used either. */
    for (size_t i = 0; i < plan->known_count; i++)
        for (size_t k = 0; k < plan->known[i]->count; k++)
            if (kith__triple_set_add(&m->taken, plan->known[i]->at[k]) < 0)
                return -1;
    for (int side = 0; side < SIDES; side++)
        if (pool_init(&m->pools[0][side], plan->train, side, false, plan) ||
            pool_init(&m->pools[1][side], plan->aux, side, true, plan))
            return -1;
    return 0;
}

kith_status kith__add_negatives(kith__facts *dev, kith__facts *test,
                                const kith__negatives_plan *plan, kith_error *error)
{
    maker m;
    bool failed = maker_init(&m, plan) || add_to_part(dev, &m, KITH_DEV) ||
                  add_to_part(test, &m, KITH_TEST);

    for (int i = 0; i < 2 * SIDES; i++) {
        kith__free(m.pools[i / SIDES][i % SIDES].offset);
        kith__free(m.pools[i / SIDES][i % SIDES].entity);
    }
    kith__free(m.options);
    kith__triple_set_release(&m.taken);
    return failed ? kith__no_memory(error) : kith__watch_status(plan->watch, error);
}
