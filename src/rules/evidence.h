/* Evidence for the answers to a query q(s, ?), where s is given by its facts alone.
 *
 * Rules of each kind (src/rules/kinds) support candidates; those that are mined have confidences
 * that were learned, the others are counted now. Each candidate that some rule supports gets a row
 * of rule features. All others differ only in what the table of the relation has, in their degree
 * and in their proximity to s.
 *
 * Mined confidences are learned. All other counts are of what is known now, the base and added
 * facts alike; only how relations hint at types is counted over the base alone. */
#ifndef KITH_RULES_EVIDENCE_H
#define KITH_RULES_EVIDENCE_H

#include "rules/fact_base.h"
#include "rules/kinds.h"
#include "rules/proximity.h"
#include "rules/rule_set.h"

/* What was learned, and what is known now. */
typedef struct kith__evidence {
    kith__rule_set *rules;
    kith__fact_base *base;
    bool borrowed; /* the rules are another's */
} kith__evidence;

/* A graph's facts, and rules mined from those of train. `with_aux`: facts of unseen entities count
 * as those of train do (kith__index_new_with_aux). */
kith_status kith__evidence_new(kith__evidence **evidence, const kith_graph *graph, bool with_aux,
                               kith__pool *pool, kith_error *error);
/* A graph's facts with given rules, which are taken over where the call succeeds, or, with
 * `borrowed`, must live as long as the result. The graph must have the relations of the rules, in
 * their order (kith__graph_align). */
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
    uint32_t kind;                       /* its place in the table of kinds */
    uint32_t relation[KITH__MOST_STEPS]; /* of the body; KITH__NO_RELATION past the last */
    uint32_t between[2]; /* x and y of a path, c of rules with constants; else UINT32_MAX */
    uint32_t candidate;
    float confidence;
    uint32_t support, body_count; /* what it was counted from */
} kith__reason;

/* Workspace of one thread, sized by what queries touch. */
typedef struct kith__evidence_query {
    const kith__evidence *evidence;
    kith__view view; /* what is added may be set before any query */
    bool unseen;     /* whether unseen entities of the base may be asked about afterwards */
    uint32_t query;  /* UINT32_MAX: none yet */
    const kith__relation_table
        *table; /* of the query relation; held until another one is asked for */
    /* For the query at hand. */
    kith__slots slots;     /* entities that rules met */
    uint32_t *row, *tally; /* per slot: its row + 1; a count that is 0 between rules */
    size_t row_capacity, tally_capacity;
    kith__candidate_evidence
        *rows; /* candidates that some rule supports, in the order they were met */
    size_t count, capacity;
    uint32_t *tallied; /* slots whose tally is not 0 */
    size_t tallied_count, tallied_capacity;
    kith_neighbor *shared;
    size_t shared_capacity;
    size_t known;              /* answers of q(s, ?) among the facts */
    kith__proximity proximity; /* of all entities to s */
    /* Where not NULL, called for every rule that supports a candidate. */
    void (*report)(void *context, const kith__reason *reason);
    void *context;
    int no_memory;
} kith__evidence_query;

/* `added` may be NULL. */
void kith__evidence_query_init(kith__evidence_query *query, const kith__evidence *evidence,
                               const kith__overlay *added);
void kith__evidence_query_release(kith__evidence_query *query);

/* Ask q(s, ?). `facts` are all those of s, added ones too, sorted by kith__sort_facts; `self` is
 * its id, or UINT32_MAX for an entity that neither the base nor the overlay has. Afterwards rows[0
 * .. count - 1] are the candidates that some rule supports. */
kith_status kith__evidence_query_run(kith__evidence_query *query, kith__span facts, uint32_t self,
                                     uint32_t relation, kith_error *error);

/* ---- meanwhile, for the kinds of rules ---- */

/* Note that a rule supports a candidate; returns the candidate's row, NULL if out of memory. */
float *kith__evidence_support(kith__evidence_query *query, const kith__reason *rule);
/* The row of a candidate, made if need be, for features of a kind's own. */
float *kith__evidence_row_for(kith__evidence_query *query, uint32_t candidate);
/* Count an entity once more. Then all that were counted are supported, with their counts as the
 * rule's support, but not s itself, and no counts are left. */
void kith__evidence_tally(kith__evidence_query *query, uint32_t entity);
void kith__evidence_support_tallied(kith__evidence_query *query, kith__reason rule, uint32_t self);
/* The answers that another entity has; none where rules may not go on from it. */
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

/* ---- afterwards, about one candidate ---- */

/* Its rule features; NULL where no rule supports it. */
static inline const float *kith__evidence_row(const kith__evidence_query *a, uint32_t candidate)
{
    uint32_t slot = kith__slot_find(&a->slots, candidate);
    return slot >= a->row_capacity || a->row[slot] == 0 ? NULL : a->rows[a->row[slot] - 1].feature;
}

/* How often it is an answer. */
static inline uint32_t kith__evidence_answered(const kith__evidence_query *a, uint32_t candidate)
{
    const kith__index *x = a->view.base;
    uint32_t base = candidate < x->entities ? a->table->answered[candidate] : 0;

    if (!a->view.added)
        return base;
    kith__span added = kith__view_added(&a->view, candidate);
    return base + (uint32_t)kith__span_of(added, kith__inverse(x, a->query)).count;
}

/* How well it fits among the answers by its other relations: the best hint, and all together. */
void kith__evidence_type(float *best, float *all, const kith__evidence_query *query,
                         uint32_t candidate);
/* log(1 + its facts). */
float kith__evidence_log_degree(const kith__evidence_query *query, uint32_t candidate);

#endif
