/* Mining rules without constants from train. Every way in which a body leads from s to o is counted
 * twice: for the conclusions q(s, o) that it is right about (support), and where s has some q (body
 * count). How bodies are walked is the kind's own (src/rules/kinds). */
#ifndef KITH_RULES_MINE_H
#define KITH_RULES_MINE_H

#include "rules/index.h"
#include "rules/rule.h"

typedef struct kith__mining kith__mining;

/* The entity s that is at hand. */
typedef struct kith__mining_entity {
    kith__mining *mining;
    const kith__index *index;
    uint32_t self;
    kith__span facts;
    size_t thin; /* steps taken from an entity in the middle of a path, at most */
    /* Of its facts by the entity at the other end; first[e] is 1 + where those with e begin, 0 for
     * none. The last is followed by one with no entity. Only while support is counted. */
    const kith_neighbor *by_entity;
    const uint32_t *first;
    void *state; /* of the mining */
} kith__mining_entity;

typedef struct kith__mining_method {
    const char *stage; /* what it says that it does */
    size_t steps;      /* relations of a body */
    size_t most_rules; /* of each conclusion, the most confident ones; 0: all */
    size_t most_keys;  /* different rules that are counted */
    /* Walks that are followed where at most `thin` steps are taken from an entity in the middle.
     * They are thinned out until there are no more than `most_walks`, but not to fewer than
     * `least_steps`; then only some entities are walked from, spread evenly, or none where there
     * would still be more than `most_each` walks per entity; 0: any number. Without `walks`,
     * nothing is bounded. */
    uint64_t (*walks)(const kith__index *index, size_t thin);
    uint64_t most_walks, most_each;
    size_t least_steps;
    /* Walk from s, once to call kith__mining_support, once to call kith__mining_body. -1 if out of
     * memory. */
    int (*count_support)(const kith__mining_entity *s);
    void (*count_bodies)(const kith__mining_entity *s);
} kith__mining_method;

kith_status kith__mine(kith__rules *rules, const kith__index *index,
                       const kith__mining_method *method, kith__pool *pool, kith_error *error);

/* A body led to an entity that s has `conclusion` with. -1 if out of memory. */
int kith__mining_support(const kith__mining_entity *s, uint32_t conclusion,
                         const uint32_t *relations);
/* A body led from s to `count` entities. */
void kith__mining_body(const kith__mining_entity *s, const uint32_t *relations, uint64_t count);
/* It led to one that is no body of this conclusion after all. */
void kith__mining_take_back(const kith__mining_entity *s, uint32_t conclusion,
                            const uint32_t *relations);

/* The steps that are taken from an entity in the middle of a path, spread evenly over its facts. */
typedef struct kith__mining_steps {
    kith__span all;
    size_t count;
} kith__mining_steps;

static inline kith__mining_steps kith__mining_steps_from(const kith__mining_entity *s,
                                                         uint32_t entity)
{
    kith__span all = kith__facts_of(s->index, entity);
    return (kith__mining_steps){all, all.count < s->thin ? all.count : s->thin};
}

static inline kith_neighbor kith__mining_step(const kith__mining_steps *steps, size_t i)
{
    return steps->all
        .at[steps->count == steps->all.count ? i : i * steps->all.count / steps->count];
}

#endif
