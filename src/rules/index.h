/* Neighbourhoods sorted for lookups: which entities an entity reaches by a relation, and which
 * entities have a relation. Relations are the 2m relations and inverses of train. */
#ifndef KITH_RULES_INDEX_H
#define KITH_RULES_INDEX_H

#include "core/pool.h"
#include "core/status.h"
#include "graph/directions.h"

typedef struct kith__index {
    /* number of entities, and of those whose facts count: the entities of train, or all */
    uint32_t entities, seen;
    uint32_t relations;     /* 2m */
    uint64_t *offset;       /* of entity e: at[offset[e]] .. at[offset[e + 1] - 1] */
    kith_neighbor *at;      /* sorted by (relation, entity), without duplicates */
    uint64_t *owner_offset; /* of relation r: owner[owner_offset[r]] .. */
    uint32_t *owner;        /* seen entities that have the relation, ascending */
    uint64_t *facts;        /* number of train facts per relation */
    uint64_t *later_offset; /* of seen entity e: later[later_offset[e]] .. */
    uint32_t *later;        /* unseen entities that have a fact with it, once per fact */
} kith__index;

/* The watch of the pool can stop it. */
kith_status kith__index_new(kith__index **index, const kith_graph *graph, kith__pool *pool,
                            kith_error *error);
/* An index in which facts of unseen entities count like those of train, even if both ends are
 * unseen. Such facts are listed at both ends. */
kith_status kith__index_new_with_aux(kith__index **index, const kith_graph *graph, kith__pool *pool,
                                     kith_error *error);
void kith__index_free(kith__index *index);

static inline uint64_t kith__answer_count(const kith__index *index, uint32_t relation)
{
    return index->facts[relation];
}

/* A contiguous range of neighbours. */
typedef struct kith__span {
    const kith_neighbor *at;
    size_t count;
} kith__span;

static inline kith__span kith__facts_of(const kith__index *index, uint32_t entity)
{
    return (kith__span){index->at + index->offset[entity],
                        (size_t)(index->offset[entity + 1] - index->offset[entity])};
}

/* The part of a sorted range that has the relation. */
kith__span kith__span_of(kith__span all, uint32_t relation);
/* Whether a range of one relation contains the entity. */
int kith__span_has(kith__span some, uint32_t entity);

static inline kith__span kith__reached(const kith__index *index, uint32_t entity, uint32_t relation)
{
    return kith__span_of(kith__facts_of(index, entity), relation);
}

static inline uint32_t kith__inverse(const kith__index *index, uint32_t relation)
{
    return kith__flip(relation, index->relations / 2);
}

/* Sort by (relation, entity) and remove duplicates; returns how many are left. */
size_t kith__sort_facts(kith_neighbor *at, size_t count);

#endif
