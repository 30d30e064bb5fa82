/* Neighbourhoods sorted for looking things up: who an entity reaches by a relation, and who has a
 * relation at all. Relations are the 2m of train and their inverses. */
#ifndef KITH_RULES_INDEX_H
#define KITH_RULES_INDEX_H

#include "core/pool.h"
#include "core/status.h"
#include "graph/directions.h"

typedef struct kith__index {
    uint32_t entities, seen; /* all of the graph, and those whose facts count: of train, or all */
    uint32_t relations;      /* 2m */
    uint64_t *offset;        /* of entity e: at[offset[e]] .. at[offset[e + 1] - 1] */
    kith_neighbor *at;       /* by (relation, entity), each once */
    uint64_t *owner_offset;  /* of relation r: owner[owner_offset[r]] .. */
    uint32_t *owner;         /* seen entities that have the relation, ascending */
    uint64_t *facts;         /* of train, per relation */
    uint64_t *later_offset;  /* of seen entity e: later[later_offset[e]] .. */
    uint32_t *later;         /* unseen entities that have a fact with it, once for each fact */
} kith__index;

kith_status kith__index_new(kith__index **index, const kith_graph *graph, kith__pool *pool,
                            kith_error *error);
/* With aux as part of what is known: facts of unseen entities count as those of train do, also
 * where both ends are unseen, and are among the facts of both ends. */
kith_status kith__index_new_with_aux(kith__index **index, const kith_graph *graph, kith__pool *pool,
                                     kith_error *error);
void kith__index_free(kith__index *index);

static inline uint64_t kith__answer_count(const kith__index *index, uint32_t relation)
{
    return index->facts[relation];
}

/* A stretch of neighbours. */
typedef struct kith__span {
    const kith_neighbor *at;
    size_t count;
} kith__span;

static inline kith__span kith__facts_of(const kith__index *index, uint32_t entity)
{
    return (kith__span){index->at + index->offset[entity],
                        (size_t)(index->offset[entity + 1] - index->offset[entity])};
}

/* Those of a sorted stretch that have the relation. */
kith__span kith__span_of(kith__span all, uint32_t relation);
/* Whether a stretch of one relation has the entity. */
int kith__span_has(kith__span some, uint32_t entity);

static inline kith__span kith__reached(const kith__index *index, uint32_t entity, uint32_t relation)
{
    return kith__span_of(kith__facts_of(index, entity), relation);
}

static inline uint32_t kith__inverse(const kith__index *index, uint32_t relation)
{
    return kith__flip(relation, index->relations / 2);
}

/* Sort by (relation, entity) and drop what is there twice; returns how many are left. */
size_t kith__sort_facts(kith_neighbor *at, size_t count);

#endif
