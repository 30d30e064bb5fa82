/* Rules between relations: P(r1 => r2), the share of the entities with r1 that also have r2 (paper,
 * eq. 4), over the 2m relations and inverses of train. Only nonzero values are stored, grouped by
 * the implied relation. */
#ifndef KITH_RULES_IMPLICATION_H
#define KITH_RULES_IMPLICATION_H

#include "core/pool.h"
#include <stdbool.h>

#include "core/status.h"
#include "graph/directions.h"

typedef struct kith__implication {
    uint32_t relation; /* r1 in r1 => r2 */
    uint32_t support;  /* number of entities with both */
    float confidence;
} kith__implication;

typedef struct kith__implications {
    uint32_t relations;    /* 2m */
    uint32_t *frequency;   /* per relation: number of entities that have it */
    uint64_t *offset;      /* rules that imply r: at[offset[r]] .. at[offset[r + 1] - 1] */
    kith__implication *at; /* most confident first; without r => r */
    /* per r1: the sum of P(r1 => r2) over all r2 other than r1, divided by 2m + 1 */
    float *self_mean;
    bool mapped; /* the arrays point into the graph's cache file */
} kith__implications;

/* The value used for P(r => r). */
typedef enum kith__self { KITH__SELF_ONE, KITH__SELF_ROW_MEAN } kith__self;

/* The maximum number of pairs of relations in a table. Each takes 12 bytes, twice that while the
 * table is built. */
#define KITH__MOST_IMPLICATIONS ((size_t)1 << 24)

/* Fails with KITH_ERR_ARGUMENT, naming the entity with the most relations, if there are more than
 * `most` pairs. */
kith_status kith__implications_new(kith__implications **rules, const kith_graph *graph, size_t most,
                                   kith__pool *pool, kith_error *error);
/* A copy with memory of its own. */
kith_status kith__implications_copy(kith__implications **copy, const kith__implications *rules,
                                    kith_error *error);
void kith__implications_free(kith__implications *rules);
float kith__implications_self(const kith__implications *rules, uint32_t relation, kith__self self);

#endif
