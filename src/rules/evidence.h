/* What rules say about the answers to a query q(s, ?), where s is given by its facts alone.
 *
 * Kinds of rules:
 *   A   r(s, o)            => q(s, o)     mined beforehand; its confidence is mixed with how often it
 *                                         holds at this s and at this o
 *   B   r1(s, x), r2(x, o) => q(s, o)     mined beforehand
 *   C   r(s, c)            => q(s, o)     c and o are constants: counted over the seen entities that
 *                                         share (r, c) with s and have some q
 *   D   r(o, c)            => q(s, o)     c and s are constants: counted over the answers of q(s, ?)
 *                                         that are known
 * Each candidate that some rule speaks for gets a row of figures. */
#ifndef KITH_RULES_EVIDENCE_H
#define KITH_RULES_EVIDENCE_H

#include "rules/kinds.h"
#include "rules/mine.h"
#include "rules/proximity.h"

typedef struct kith__evidence {
    kith__index *index;
    kith__rules pairs, paths; /* kinds A and B */
} kith__evidence;

kith_status kith__evidence_new(kith__evidence **evidence, const kith_graph *graph, kith__pool *pool,
                               kith_error *error);
void kith__evidence_free(kith__evidence *evidence);

typedef struct kith__candidate_evidence {
    uint32_t entity;
    float figure[KITH__RULE_FEATURES];
} kith__candidate_evidence;

/* One rule that speaks for a candidate. */
typedef struct kith__reason {
    kith_evidence_part kind;
    uint32_t first, second; /* relations; second of a path alone */
    uint32_t between;       /* x of a path, c of constant and shared-answer rules */
    uint32_t candidate;
    float confidence;
    uint32_t support, body_count;  /* what it was counted from */
} kith__reason;

/* Room for one thread; keeps what queries with the same q share. */
typedef struct kith__evidence_query {
    const kith__evidence *evidence;
    uint32_t query; /* UINT32_MAX: none yet */
    bool
        unseen; /* whether what follows holds for unseen entities too: where walks go through them */
    /* For the query relation at hand. */
    float *pair_confidence; /* per relation */
    uint64_t *answers_at; /* per seen entity: 1 + where its answers begin, in index->at; 0: none */
    uint32_t *answered;     /* per entity: how often it is an answer */
    float *fits;            /* per entity: log(1 + 100 P), where P is the largest confidence with
                               which one of its other relations implies that it is an answer at all */
    float *type_score_all;        /* the same of all of them, log(1 + the sum of -log(1 - P)) */
    uint32_t *together, *met; /* per relation: answers that have it; those that are not 0 */
    float *speaks;          /* per relation: how surely who has it is an answer */
    /* For the query at hand. */
    uint32_t *row_of;       /* per entity: its row + 1; 0 where nothing speaks for it */
    kith__candidate_evidence *rows;
    size_t count, capacity;
    uint32_t *tally, *tallied; /* per entity; those that are not 0 */
    size_t tallied_count, tallied_capacity;
    kith_neighbor *shared;
    size_t shared_capacity;
    size_t known;           /* answers of q(s, ?) among the facts */
    kith__proximity proximity; /* of all entities to s */
    /* Where not NULL, called for every rule that speaks for a candidate. */
    void (*tell)(void *context, const kith__reason *reason);
    void *context;
    int no_memory;
} kith__evidence_query;

kith_status kith__evidence_query_init(kith__evidence_query *asking, const kith__evidence *evidence,
                              kith_error *error);
void kith__evidence_query_release(kith__evidence_query *asking);

/* Ask q(s, ?). `facts` are those of s, sorted by kith__sort_facts; `self` is its id, or UINT32_MAX
 * for a newcomer. Afterwards rows[0 .. count - 1] are the candidates some rule speaks for, in the
 * order in which they were met, and `answered` holds for q. */
kith_status kith__evidence_query_run(kith__evidence_query *asking, kith__span facts, uint32_t self,
                                     uint32_t query, kith_error *error);

#endif
