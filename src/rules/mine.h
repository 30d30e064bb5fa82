/* Mining rules without constants from train. Every path of a body from s to o is counted twice: in
 * the support of the conclusions q(s, o) that are true, and in the body count of the conclusions q
 * of which s has some fact. Each kind of rules walks its own bodies (src/rules/kinds). */
#ifndef KITH_RULES_MINE_H
#define KITH_RULES_MINE_H

#include "rules/index.h"
#include "rules/rule.h"

typedef struct kith__mining kith__mining;

/* The entity s that paths start from. */
typedef struct kith__mining_entity {
    kith__mining *mining;
    const kith__index *index;
    uint32_t self;
    kith__span facts;
    size_t thin; /* the maximum number of steps followed from an entity in the middle of a path */
    /* Its facts, sorted by the entity at the other end; first[e] is 1 + the index of the first fact
     * with e, or 0. An entry with the entity UINT32_MAX follows the last one. Set only while
     * support is counted. */
    const kith_neighbor *by_entity;
    const uint32_t *first;
    void *state; /* for kith__mining_support and kith__mining_body */
} kith__mining_entity;

typedef struct kith__mining_method {
    const char *stage; /* the name of the stage for progress */
    size_t steps;      /* number of relations of a body */
    size_t most_rules; /* maximum rules kept per conclusion, the most confident ones; 0: all */
    size_t most_keys;  /* maximum number of different rules that are counted */
    /* The number of walks if at most `thin` steps are followed from an entity in the middle. `thin`
     * is reduced until there are at most `most_walks` walks, but not below `least_steps`. If that
     * is not enough, walks start from an evenly spread sample of the entities, or from none if
     * there would still be more than `most_each` walks per entity (0: no such limit). Without
     * `walks`, nothing is bounded. */
    uint64_t (*walks)(const kith__index *index, size_t thin);
    uint64_t most_walks, most_each;
    size_t least_steps;
    /* Walk the bodies from s: the first calls kith__mining_support and returns -1 if out of memory,
     * the second calls kith__mining_body. */
    int (*count_support)(const kith__mining_entity *s);
    void (*count_bodies)(const kith__mining_entity *s);
} kith__mining_method;

kith_status kith__mine(kith__rules *rules, const kith__index *index,
                       const kith__mining_method *method, kith__pool *pool, kith_error *error);

/* Count one path of a body from s to an entity o with conclusion(s, o). -1 if out of memory. */
int kith__mining_support(const kith__mining_entity *s, uint32_t conclusion,
                         const uint32_t *relations);
/* Count `count` paths of a body from s, wherever they end. */
void kith__mining_body(const kith__mining_entity *s, const uint32_t *relations, uint64_t count);
/* Remove one path of a body from the body count of this conclusion. */
void kith__mining_take_back(const kith__mining_entity *s, uint32_t conclusion,
                            const uint32_t *relations);

/* The steps that are followed from an entity in the middle of a path: all of its facts, or an
 * evenly spread sample. */
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
