/* P(has r): the probability that an entity has a fact of a relation beyond the known ones, whatever
 * the other end. An answer's overall probability is this times its probability given that there is
 * such a fact (calibrate.h).
 *
 * P(has r) is a logistic function of how common the relation is, how strongly the entity's
 * relations imply it (implication.h), how many facts of it are known already, how often an entity
 * with that many has one more, and how many facts of the entity are known in total. The weights are
 * learned from entities with a random share of their facts hidden (train/fit_has_relation.h); the
 * counts are those of the current graph. */
#ifndef KITH_MODEL_HAS_RELATION_H
#define KITH_MODEL_HAS_RELATION_H

#include <stdbool.h>

#include "rules/implication.h"
#include "rules/index.h"

enum { KITH__HAS_INPUTS = 10, KITH__MOST_COUNTED = 8 };

typedef struct kith__has_relation {
    bool fitted;
    uint32_t entities, samples; /* the numbers it was fitted on */
    double weight[KITH__HAS_INPUTS];
} kith__has_relation;

/* Counts on a graph, over its seen entities and 2m relations. */
typedef struct kith__relation_counts {
    const kith__implications *implications; /* borrowed */
    uint32_t relations, entities;
    uint32_t *at_least; /* per relation: entities with at least 1, 2 .. KITH__MOST_COUNTED facts */
} kith__relation_counts;

/* The implications must outlive the counts. */
kith_status kith__relation_counts_init(kith__relation_counts *counts, const kith__index *index,
                                       const kith__implications *implications, kith_error *error);
void kith__relation_counts_release(kith__relation_counts *counts);

/* The known facts of an entity, sorted by kith__sort_facts, with a mark for each of the 2m
 * relations that occur in them. */
typedef struct kith__known_facts {
    kith__span facts;
    const uint8_t *has;
    /* For fitting, if the counts include the entity itself: a mark for each relation that it has in
     * total, so that the entity can be subtracted from the counts. Otherwise NULL. */
    const uint8_t *counted;
} kith__known_facts;

/* The inputs of the logistic function. */
void kith__has_inputs(double inputs[KITH__HAS_INPUTS], const kith__relation_counts *counts,
                      const kith__known_facts *known, size_t counted_facts, uint32_t relation);

/* P(again), by k: how likely an entity that already has k facts of a relation is to have one more,
 * as a factor for the odds of each of them; 1 for k = 0, and near 0 where hardly any entity has
 * more than k. The last element is for KITH__MOST_COUNTED facts or more. It is counted over the
 * current graph, and all 1 without counts (NULL). */
void kith__again(double again[KITH__MOST_COUNTED + 1], const kith__relation_counts *counts,
                 uint32_t relation);

/* P(has r); NAN if nothing was fitted. */
double kith__has_probability(const kith__has_relation *model, const kith__relation_counts *counts,
                             const kith__known_facts *known, uint32_t relation);

#endif
