/* Evidence for the answers to a query q(s, ?), where s is given by its facts alone.
 *
 * Each kind of rule (src/rules/kinds) supports candidates. Each candidate that some rule supports
 * gets a row of rule features. All other candidates differ only in their entry in the relation's
 * table, in their degree and in their proximity to s.
 *
 * Confidences of mined rules are learned. All other values are counted over the current facts, both
 * base and added ones, except that type hints are counted over the base alone. */
#ifndef KITH_RULES_EVIDENCE_H
#define KITH_RULES_EVIDENCE_H

#include "rules/fact_base.h"
#include "rules/kinds.h"
#include "rules/proximity.h"
#include "rules/rule_set.h"

/* The learned rules and the current facts. */
typedef struct kith__evidence {
    kith__rule_set *rules;
    kith__fact_base *base;
    bool borrowed; /* `rules` belongs to another owner */
} kith__evidence;

/* Evidence from a graph's facts and from rules mined from its train split. `with_aux`: facts of
 * unseen entities count like those of train (kith__index_new_with_aux). */
kith_status kith__evidence_new(kith__evidence **evidence, const kith_graph *graph, bool with_aux,
                               kith__pool *pool, kith_error *error);
/* Evidence from a graph's facts and given rules. If the call succeeds, it takes ownership of the
 * rules; with `borrowed`, the caller keeps them and they must outlive the result. The graph must
 * have the relations of the rules, in the same order (kith__graph_align). */
kith_status kith__evidence_over(kith__evidence **evidence, const kith_graph *graph, bool with_aux,
                                kith__rule_set *rules, bool borrowed, kith__pool *pool,
                                kith_error *error);
void kith__evidence_free(kith__evidence *evidence);

typedef struct kith__candidate_evidence {
    uint32_t entity;
    float feature[KITH__RULE_FEATURES];
} kith__candidate_evidence;

/* One rule that supports a candidate. */
typedef struct kith__reason {
    uint32_t kind;                       /* index in the table of kinds */
    uint32_t relation[KITH__MOST_STEPS]; /* relations of the body, then KITH__NO_RELATION */
    /* x and y of a path, or c of a rule with a constant; otherwise UINT32_MAX */
    uint32_t between[2];
    uint32_t candidate;
    float confidence;
    uint32_t support, body_count; /* the counts behind the confidence */
} kith__reason;

/* Workspace of one thread; its size depends on how many entities queries touch. */
typedef struct kith__evidence_query {
    const kith__evidence *evidence;
    kith__view view; /* its added facts may be set before any query */
    bool unseen;     /* whether later calls may ask about unseen entities of the base */
    uint32_t query;  /* the query relation; UINT32_MAX before the first query */
    const kith__relation_table
        *table; /* of the query relation; held until a query for another relation */
    /* For the current query. */
    kith__slots slots;     /* entities reached by rules */
    uint32_t *row, *tally; /* per slot: its row + 1; a count, which is 0 between rules */
    size_t row_capacity, tally_capacity;
    kith__candidate_evidence
        *rows; /* candidates that some rule supports, in the order they were found */
    size_t count, capacity;
    uint32_t *tallied; /* slots whose tally is not 0 */
    size_t tallied_count, tallied_capacity;
    kith_neighbor *shared;
    size_t shared_capacity;
    size_t known;              /* number of known answers to q(s, ?) */
    kith__proximity proximity; /* of all entities from s */
    /* If not NULL, called for every rule that supports a candidate. */
    void (*report)(void *context, const kith__reason *reason);
    void *context;
    int no_memory;
} kith__evidence_query;

/* `added` may be NULL. */
void kith__evidence_query_init(kith__evidence_query *query, const kith__evidence *evidence,
                               const kith__overlay *added);
void kith__evidence_query_release(kith__evidence_query *query);

/* Answer q(s, ?). `facts` are all facts of s, including added ones, sorted by kith__sort_facts;
 * `self` is the id of s, or UINT32_MAX if neither the base nor the overlay has it. Afterwards
 * rows[0 .. count - 1] are the candidates that some rule supports. */
kith_status kith__evidence_query_run(kith__evidence_query *query, kith__span facts, uint32_t self,
                                     uint32_t relation, kith_error *error);

/* ---- while a query runs, for the kinds of rules ---- */

/* Record that a rule supports a candidate. Returns the candidate's row, or NULL if out of
 * memory. */
float *kith__evidence_support(kith__evidence_query *query, const kith__reason *rule);
/* The row of a candidate, created if necessary, for features specific to a kind. */
float *kith__evidence_row_for(kith__evidence_query *query, uint32_t candidate);
/* kith__evidence_tally increments the count of an entity. kith__evidence_support_tallied then makes
 * the rule support every counted entity except s itself, with the count as its support, and clears
 * all counts. */
void kith__evidence_tally(kith__evidence_query *query, uint32_t entity);
void kith__evidence_support_tallied(kith__evidence_query *query, kith__reason rule, uint32_t self);
/* The answers of another entity; none if rules may not continue from that entity. */
kith__spans kith__evidence_answers(const kith__evidence_query *query, uint32_t entity);
bool kith__evidence_has_answers(const kith__evidence_query *query, uint32_t entity);

static inline void kith__evidence_report(const kith__evidence_query *query,
                                         const kith__reason *rule)
{
    if (query->report)
        query->report(query->context, rule);
}

/* A mined rule as the reason for a candidate. */
static inline kith__reason kith__rule_reason(uint32_t kind, const kith__rule *rule,
                                             uint32_t candidate)
{
    kith__reason made = {.kind = kind,
                         .between = {UINT32_MAX, UINT32_MAX},
                         .candidate = candidate,
                         .confidence = rule->confidence,
                         .support = rule->support,
                         .body_count = rule->body_count};

    for (int k = 0; k < KITH__MOST_STEPS; k++)
        made.relation[k] = rule->relation[k];
    return made;
}

/* ---- after a query, for one candidate ---- */

/* The candidate's rule features; NULL if no rule supports it. */
static inline const float *kith__evidence_row(const kith__evidence_query *a, uint32_t candidate)
{
    uint32_t slot = kith__slot_find(&a->slots, candidate);
    return slot >= a->row_capacity || a->row[slot] == 0 ? NULL : a->rows[a->row[slot] - 1].feature;
}

/* In how many facts of the query relation the candidate is the answer. */
static inline uint32_t kith__evidence_answered(const kith__evidence_query *a, uint32_t candidate)
{
    const kith__index *x = a->view.base;
    uint32_t base = candidate < x->entities ? a->table->answered[candidate] : 0;

    if (!a->view.added)
        return base;
    kith__span added = kith__view_added(&a->view, candidate);
    return base + (uint32_t)kith__span_of(added, kith__inverse(x, a->query)).count;
}

/* How well the candidate's other relations fit those of answers: by the best hint, and by all hints
 * combined. */
void kith__evidence_type(float *best, float *all, const kith__evidence_query *query,
                         uint32_t candidate);
/* log(1 + number of the candidate's facts). */
float kith__evidence_log_degree(const kith__evidence_query *query, uint32_t candidate);

#endif
