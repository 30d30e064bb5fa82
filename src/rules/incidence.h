/* The distinct relations of each seen entity, and the entities of each relation, over the 2m
 * relations and inverses of train. Implications between relations are counted from this. */
#ifndef KITH_RULES_INCIDENCE_H
#define KITH_RULES_INCIDENCE_H

#include <kith/kith.h>

#include "core/stages.h"

typedef struct kith__incidence {
    uint32_t entities, relations; /* number of seen entities; 2m */
    uint64_t *entity_offset;
    uint32_t *relation; /* of entity e: relation[entity_offset[e]] .., ascending */
    uint64_t *relation_offset;
    uint32_t *entity; /* with relation r: entity[relation_offset[r]] .., ascending */
} kith__incidence;

/* The watch may be NULL. */
kith_status kith__incidence_init(kith__incidence *in, const kith_graph *graph, kith__watch *watch,
                                 kith_error *error);
void kith__incidence_release(kith__incidence *in);

static inline uint32_t kith__frequency(const kith__incidence *in, uint32_t relation)
{
    return (uint32_t)(in->relation_offset[relation + 1] - in->relation_offset[relation]);
}

/* Counts per relation, all 0 between uses, and the list of those that are not 0. */
typedef struct kith__tally {
    uint32_t *count, *met;
    uint32_t met_count;
} kith__tally;

/* Returns -1 if out of memory. Must be released even then. */
int kith__tally_init(kith__tally *tally, uint32_t relations);
void kith__tally_release(kith__tally *tally);

/* Count, for each relation, how many of the entities with `implied` have it. The caller resets the
 * counts to 0. */
void kith__count_together(kith__tally *tally, const kith__incidence *in, uint32_t implied);

#endif
