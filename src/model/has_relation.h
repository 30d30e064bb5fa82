/* How likely it is that an entity has a fact of a relation beyond those that are known, whatever
 * the other end: P(has r). An answer's overall probability is this times its probability given that
 * there is such a fact (calibrate.h). It is a logistic function of what is known about the entity
 * and about the relation: how common the relation is, how strongly the entity's relations imply it
 * (implication.h), how many facts of it are known already and how often an entity with so many has
 * one more, and how many facts of the entity are known at all. Weights are learned from entities of
 * which a random share of facts is hidden (train/fit_has_relation.h); the counts are those of the
 * graph at hand. */
#ifndef KITH_MODEL_HAS_RELATION_H
#define KITH_MODEL_HAS_RELATION_H

#include <stdbool.h>

#include "rules/implication.h"
#include "rules/index.h"

enum { KITH__HAS_INPUTS = 10, KITH__MOST_COUNTED = 8 };

typedef struct kith__has_relation {
    bool fitted;
    uint32_t entities, samples; /* what it was fitted on */
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

/* The known facts of an entity, sorted by kith__sort_facts, and a mark for each of the 2m relations
 * that they have. */
typedef struct kith__known_facts {
    kith__span facts;
    const uint8_t *has;
    /* If the counts include the entity itself, as in fitting: a mark for each relation that it has
     * in total, by which it is subtracted. Else NULL. */
    const uint8_t *counted;
} kith__known_facts;

/* The inputs of the logistic function. */
void kith__has_inputs(double inputs[KITH__HAS_INPUTS], const kith__relation_counts *counts,
                      const kith__known_facts *known, size_t counted_facts, uint32_t relation);

/* P(has r); NAN if nothing was fitted. */
double kith__has_probability(const kith__has_relation *model, const kith__relation_counts *counts,
                             const kith__known_facts *known, uint32_t relation);

#endif
