/* Rules between relations: P(r1 => r2), the share of the entities with r1 that also have r2
 * (paper, eq. 4), over the 2m relations and inverses of train. Stored by the implied relation, and
 * only where it is not 0. */
#ifndef KITH_RULES_IMPLICATION_H
#define KITH_RULES_IMPLICATION_H

#include "core/pool.h"
#include <stdbool.h>

#include "core/status.h"
#include "graph/directions.h"

typedef struct kith__implication {
    uint32_t relation; /* r1, of r1 => r2 */
    uint32_t support;  /* entities with both */
    float confidence;
} kith__implication;

typedef struct kith__implications {
    uint32_t relations; /* 2m */
    uint32_t *frequency; /* entities that have the relation */
    uint64_t *offset;    /* rules that imply r: at[offset[r]] .. at[offset[r + 1] - 1] */
    kith__implication *at;      /* most confident first; r => r itself is not among them */
    float *self_mean;    /* per r1: the sum of its P(r1 => .) but its own, over 2m + 1 */
    bool mapped;         /* the arrays are in the graph's file */
} kith__implications;

/* How much P(r => r) is. */
typedef enum kith__self { KITH__SELF_ONE, KITH__SELF_ROW_MEAN } kith__self;

/* Pairs of relations that a table may have: 12 bytes each, twice while it is made. */
#define KITH__MOST_IMPLICATIONS ((size_t)1 << 24)

/* Fails with KITH_ERR_ARGUMENT, naming the entity with most relations, where there are more than
 * `most` pairs. */
kith_status kith__implications_new(kith__implications **rules, const kith_graph *graph, size_t most,
                                   kith__pool *pool, kith_error *error);
void kith__implications_free(kith__implications *rules);
float kith__implications_self(const kith__implications *rules, uint32_t relation, kith__self self);

#endif
