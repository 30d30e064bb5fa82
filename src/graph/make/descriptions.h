/* Descriptions of entities whose facts are known, as a user would give them: a random share of the
 * facts, between 10 and 90 %; the other facts are hidden. This assumes that facts about a new
 * entity are missing at random. */
#ifndef KITH_GRAPH_MAKE_DESCRIPTIONS_H
#define KITH_GRAPH_MAKE_DESCRIPTIONS_H

#include "core/rng.h"
#include "graph/graph.h"

/* A fact, seen from the described entity. */
typedef struct kith__described_fact {
    kith_neighbor neighbor; /* relations are the 2m of train and their inverses */
    bool hidden;
} kith__described_fact;

typedef struct kith__descriptions {
    uint32_t *entities;     /* the described entity, per description */
    size_t count, distinct; /* descriptions i and i + distinct are of the same entity */
    size_t *first;          /* per description, the index of its first fact; then the end */
    /* true facts with a relation of train and a seen entity at the other end */
    kith__described_fact *facts;
} kith__descriptions;

typedef struct kith__description_options {
    bool (*is_wanted)(uint32_t entity); /* may be NULL: all entities */
    size_t most;                        /* maximum number of descriptions */
    /* descriptions per entity, each with other facts hidden; fewer if `most` is reached */
    size_t times;
    uint64_t seed;
} kith__description_options;

/* Choose unseen entities with two or more facts at random, and hide some of the facts of each,
 * support facts and test facts alike. */
kith_status kith__descriptions_init(kith__descriptions *descriptions, const kith_graph *graph,
                                    const kith__description_options *options, kith_error *error);
void kith__descriptions_release(kith__descriptions *descriptions);

/* Draw the share of facts to hide for the next description. */
static inline double kith__hidden_share(kith__rng *rng)
{
    return .1 + .8 * kith__rng_unit(rng);
}

#endif
