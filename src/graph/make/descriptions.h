/* Entities whose facts are known, each described as a user would: by a random share of its facts,
 * between 10 and 90 %. The others are hidden. This assumes that what is missing about a newcomer is
 * missing at random. */
#ifndef KITH_GRAPH_MAKE_DESCRIPTIONS_H
#define KITH_GRAPH_MAKE_DESCRIPTIONS_H

#include "core/rng.h"
#include "graph/graph.h"

/* A fact as the entity sees it. */
typedef struct kith__described_fact {
    kith_neighbor neighbor; /* relations are the 2m of train and their inverses */
    bool hidden;
} kith__described_fact;

typedef struct kith__descriptions {
    uint32_t *entities; /* of each description */
    size_t count, distinct; /* description i is of the same entity as i + distinct */
    size_t *first;               /* fact of each, and the end */
    kith__described_fact *facts; /* true, with a relation of train, that link it to a seen entity */
} kith__descriptions;

typedef struct kith__description_options {
    bool (*is_wanted)(uint32_t entity); /* NULL: any */
    size_t most;                        /* descriptions */
    /* that an entity is described, with other facts hidden; fewer where that were too many */
    size_t times;
    uint64_t seed;
} kith__description_options;

/* Draw some of a graph's unseen entities with two facts or more, and hide some of each one's facts:
 * of support facts and test alike. */
kith_status kith__descriptions_init(kith__descriptions *descriptions, const kith_graph *graph,
                                    const kith__description_options *options, kith_error *error);
void kith__descriptions_release(kith__descriptions *descriptions);

/* The share of its facts to hide of the next entity. */
static inline double kith__hidden_share(kith__rng *rng)
{
    return .1 + .8 * kith__rng_unit(rng);
}

#endif
