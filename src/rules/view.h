/* The current facts: those of a base and those that a session has added to it. */
#ifndef KITH_RULES_VIEW_H
#define KITH_RULES_VIEW_H

#include "rules/overlay.h"

typedef struct kith__view {
    const kith__index *base;
    const kith__overlay *added; /* may be NULL */
} kith__view;

/* Facts from both, each part sorted; those of the base come first. */
typedef struct kith__spans {
    kith__span base, added;
    size_t count;
} kith__spans;

static inline kith_neighbor kith__spans_at(const kith__spans *s, size_t i)
{
    return i < s->base.count ? s->base.at[i] : s->added.at[i - s->base.count];
}

/* The i-th of `taken` facts, picked at even intervals from all of them. */
static inline kith_neighbor kith__spans_pick(const kith__spans *s, size_t taken, size_t i)
{
    return kith__spans_at(s, taken == s->count ? i : i * s->count / taken);
}

static inline uint32_t kith__view_entities(const kith__view *v)
{
    return v->added ? v->added->entities : v->base->entities;
}

/* The added facts of an entity; `added` must not be NULL. */
static inline kith__span kith__view_added(const kith__view *v, uint32_t entity)
{
    return kith__overlay_facts(v->added, entity);
}

static inline kith__spans kith__view_facts(const kith__view *v, uint32_t entity)
{
    kith__spans s = {{NULL, 0}, {NULL, 0}, 0};

    if (entity < v->base->entities)
        s.base = kith__facts_of(v->base, entity);
    if (v->added)
        s.added = kith__view_added(v, entity);
    s.count = s.base.count + s.added.count;
    return s;
}

static inline kith__spans kith__spans_of(const kith__spans *all, uint32_t relation)
{
    kith__spans s = {kith__span_of(all->base, relation), {NULL, 0}, 0};

    if (all->added.count > 0)
        s.added = kith__span_of(all->added, relation);
    s.count = s.base.count + s.added.count;
    return s;
}

static inline kith__spans kith__view_reached(const kith__view *v, uint32_t entity,
                                             uint32_t relation)
{
    kith__spans all = kith__view_facts(v, entity);
    return kith__spans_of(&all, relation);
}

/* Whether one of these facts, which have the same relation, has the entity. */
static inline int kith__spans_has(const kith__spans *some, uint32_t entity)
{
    return kith__span_has(some->base, entity) ||
           (some->added.count > 0 && kith__span_has(some->added, entity));
}

/* Whether rules and walks may continue from an entity: its facts in the base count, or a session
 * has added some. */
static inline bool kith__view_knows(const kith__view *v, uint32_t entity)
{
    return entity < v->base->seen || (v->added && kith__view_added(v, entity).count > 0);
}

/* The number of facts with a relation, of seen entities and added ones. */
static inline uint64_t kith__view_answer_count(const kith__view *v, uint32_t relation)
{
    return v->base->facts[relation] + (v->added ? v->added->facts[relation] : 0);
}

#endif
