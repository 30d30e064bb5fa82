/* The current facts, without anything learned: a sorted index over a graph, and per relation a
 * table of what its queries have in common. Tables are created on first use and shared by all
 * threads. */
#ifndef KITH_RULES_FACT_BASE_H
#define KITH_RULES_FACT_BASE_H

#include <pthread.h>
#include <stdbool.h>

#include "rules/index.h"

/* The confidence that an entity with `relation` is an answer. */
typedef struct kith__type_hint {
    uint32_t relation;
    float confidence;
} kith__type_hint;

/* Statistics about the answers of q(., ?), per entity of the base. */
typedef struct kith__relation_table {
    uint32_t relation; /* q */
    /* whether the arrays below also cover unseen entities; otherwise these count as 0 */
    bool unseen;
    /* 1 + index of its first answer among its facts; 0: no answers, or not seen */
    uint32_t *answer_first;
    uint32_t *answered; /* in how many facts it is an answer */
    /* log(1 + 100 P), where P is the largest confidence with which one of its other relations
     * implies that it is an answer to q */
    float *type_score;
    /* the same from all its other relations: log(1 + the sum of -log(1 - P)) */
    float *type_score_all;
    kith__type_hint *hints; /* by relation: the P that type scores are computed from */
    size_t hint_count;
    /* Bookkeeping of the fact base. */
    size_t users;
    uint64_t used; /* time of last use */
    bool made;
} kith__relation_table;

typedef struct kith__fact_base {
    kith__index *index;
    kith__index *learned; /* facts of another graph that also count for type scores; or NULL */
    float *log_degree;    /* per entity: log(1 + facts) */
    pthread_mutex_t lock;
    pthread_cond_t made;
    kith__relation_table **table; /* per relation, without and with unseen entities; may be NULL */
    /* tables beyond the limit that are not in use are dropped, oldest first */
    size_t tables, most_tables;
    uint64_t clock;
} kith__fact_base;

/* `with_aux` is as for kith__index_new_with_aux. The graph may be freed afterwards. */
kith_status kith__fact_base_new(kith__fact_base **base, const kith_graph *graph, bool with_aux,
                                kith__pool *pool, kith_error *error);
/* Also count the facts of another graph with the same relations for type scores. Takes ownership of
 * the index. Call it before any table is created. */
void kith__fact_base_learn(kith__fact_base *base, kith__index *from);
void kith__fact_base_free(kith__fact_base *base);

/* Borrow the table of a relation, which is created if necessary. The caller must give it back. Any
 * thread may call this. */
kith_status kith__fact_base_take(const kith__relation_table **table, kith__fact_base *base,
                                 uint32_t relation, bool unseen, kith_error *error);
void kith__fact_base_give(kith__fact_base *base, const kith__relation_table *table);

/* Type scores of an entity from all its facts, which are sorted; `other` may contain added ones. */
void kith__type_scores(float *best, float *all, const kith__relation_table *table, kith__span facts,
                       kith__span other);

#endif
