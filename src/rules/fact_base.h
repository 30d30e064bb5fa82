/* The facts that are known now, apart from what was learned: a sorted index over a graph, and
 * tables of what queries for the same relation share, made when they are first needed and shared by
 * all threads. */
#ifndef KITH_RULES_FACT_BASE_H
#define KITH_RULES_FACT_BASE_H

#include <pthread.h>
#include <stdbool.h>

#include "rules/index.h"

/* How surely an entity with a relation is an answer. */
typedef struct kith__type_hint {
    uint32_t relation;
    float confidence;
} kith__type_hint;

/* About the answers of q(., ?), per entity of the base. */
typedef struct kith__relation_table {
    uint32_t relation;      /* q */
    bool unseen;            /* whether what follows is there for unseen entities too, else 0 */
    uint32_t *answer_first; /* 1 + where its answers begin among its facts; 0: none, or not seen */
    uint32_t *answered;     /* how often it is an answer */
    float *
        type_score; /* log(1 + 100 P), where P is the largest confidence with which one of its other
                          relations implies that it is an answer at all */
    float *type_score_all;  /* the same of all of them, log(1 + the sum of -log(1 - P)) */
    kith__type_hint *hints; /* by relation: the P behind type scores */
    size_t hint_count;
    /* Of the fact base. */
    size_t users;
    uint64_t used; /* when it was last */
    bool made;
} kith__relation_table;

typedef struct kith__fact_base {
    kith__index *index;
    kith__index *learned; /* facts of another graph, which count for type scores too; or NULL */
    float *log_degree; /* per entity: log(1 + facts) */
    pthread_mutex_t lock;
    pthread_cond_t made;
    kith__relation_table **table; /* per relation, without and with unseen entities; may be NULL */
    size_t tables, most_tables;   /* those that nobody uses are dropped, the oldest first */
    uint64_t clock;
} kith__fact_base;

/* `with_aux`: as kith__index_new_with_aux. The graph may be freed afterwards. */
kith_status kith__fact_base_new(kith__fact_base **base, const kith_graph *graph, bool with_aux,
                                kith__pool *pool, kith_error *error);
/* Let the facts of another graph with the same relations count for type scores too, before any
 * table is made; takes the index over. */
void kith__fact_base_learn(kith__fact_base *base, kith__index *from);
void kith__fact_base_free(kith__fact_base *base);

/* The table of a relation, made if need be, to be given back; on any thread. */
kith_status kith__fact_base_take(const kith__relation_table **table, kith__fact_base *base,
                                 uint32_t relation, bool unseen, kith_error *error);
void kith__fact_base_give(kith__fact_base *base, const kith__relation_table *table);

/* Type scores of an entity from all its facts, sorted, of which `other` may be added ones. */
void kith__type_scores(float *best, float *all, const kith__relation_table *table, kith__span facts,
                       kith__span other);

#endif
