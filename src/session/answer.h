/* From facts about an entity to scores of all candidates, and to answers. */
#ifndef KITH_SESSION_ANSWER_H
#define KITH_SESSION_ANSWER_H

#include "core/stages.h"
#include "model/score.h"
#include "session/session.h"

/* The facts of `count` entities, which stay in the workspace until the next call; `of_graph` (may
 * be NULL) is how many of the first entity's facts come from the graph. */
kith_status kith__gather_facts(kith__query_entity *queried, size_t *of_graph,
                               const kith_session *session, kith__workspace *workspace,
                               const uint32_t *entities, size_t count, kith_error *error);

/* Set which entities are candidates; call it before reserving memory. */
kith_status kith__choose_candidates(kith__workspace *workspace, const kith_session *session,
                                    kith_candidate_set set, kith_error *error);
/* P(has r) of an entity for some queries; NAN if the model has not learned it. */
kith_status kith__has_relations(double *has, kith__candidate_cache *cache,
                                kith__workspace *workspace, const kith__query_entity *queried,
                                const uint32_t *queries, size_t count, kith_error *error);

/* What all probabilities of a query depend on. */
typedef struct kith__chances {
    double has;                           /* P(has r), or NAN */
    double again[KITH__MOST_COUNTED + 1]; /* kith__again of candidates, for the inverse relation */
} kith__chances;
/* `has` is P(has r). */
kith_status kith__chances_of(kith__chances *chances, kith__candidate_cache *cache,
                             kith__workspace *workspace, double has, uint32_t query,
                             kith_error *error);

/* A scored query. The last query that the workspace scored must have the same relation. */
typedef struct kith__scored_query {
    const float *scores; /* of all candidates */
    const kith__shares *shares;
    uint32_t entity, query;
    kith__chances chances;
} kith__scored_query;
/* The query of a gathered entity, with its chances. */
kith_status kith__scored_query_of(kith__scored_query *row, kith__candidate_cache *cache,
                                  kith__workspace *workspace, const kith__query_entity *queried,
                                  const float *scores, const kith__shares *shares, uint32_t query,
                                  kith_error *error);

/* ---- probabilities and the order of answers (likeliest.c) ---- */

kith__chance kith__chance_of(const kith__workspace *workspace, const kith__scored_query *row,
                             uint32_t candidate);

/* The probabilities of an answer that people see: `overall` is `has` times `if_any`. Without P(has
 * r), only `if_any` is a number: the probability if exactly one answer is missing. */
typedef struct kith__probabilities {
    double overall;
    double has;       /* that the entity has a fact of the relation that is not known */
    double if_any;    /* that it is this one, if it has one */
    double if_one;    /* that it is this one, if exactly one is missing */
    double low, high; /* confidence interval of `overall` */
} kith__probabilities;
kith__probabilities kith__probabilities_of(const kith__workspace *workspace,
                                           const kith__scored_query *row, uint32_t candidate);

/* Put the `most` likeliest candidates into the workspace's `best`: by overall probability, then by
 * score; by score alone if the model has no overall probabilities. A known answer comes where it
 * would if it were not known. */
kith_status kith__likeliest(size_t *count, kith__workspace *workspace,
                            const kith__scored_query *row, size_t most, bool known_too,
                            kith_error *error);
/* The rank of a candidate in this order, among those that are not known. */
kith_status kith__rank_listed(size_t *rank, kith__workspace *workspace,
                              const kith__scored_query *row, uint32_t candidate, kith_error *error);

/* What a caller asks: what is known is given by names or by ids, the others are NULL and
 * KITH__NO_ID. */
typedef struct kith__question {
    kith_question names;
    kith_triple ids;
} kith__question;
/* Whether nothing is unknown. */
bool kith__is_fact(const kith__question *question);

/* A question that can be answered. */
typedef struct kith__resolved {
    uint32_t entity;
    uint32_t query; /* directed; KITH__NO_ID for pairs and relations */
    bool subject_asked;
    /* the candidate, if relations are asked for or a fact is checked; else KITH__NO_ID */
    uint32_t other;
    bool is_fact;  /* nothing was unknown: `other` is a candidate to check */
    bool unranked; /* neither end of the fact is a candidate: only a classifier can judge it */
} kith__resolved;
kith_status kith__resolve(kith__resolved *resolved, const kith_session *session,
                          const kith__question *question, kith_candidate_set set,
                          kith_error *error);
/* Whether an entity has the facts that a query needs. */
bool kith__has_facts(const kith_session *session, uint32_t entity);
/* A fact: a query and one candidate for it. */
kith_status kith__resolve_fact(kith__resolved *resolved, const kith_session *session,
                               const kith__question *fact, kith_candidate_set set,
                               kith_error *error);
/* A fact that cannot be ranked, but classified: its entities need not be candidates, and those of
 * the graph need no facts. */
kith_status kith__resolve_unranked(kith__resolved *resolved, const kith_session *session,
                                   const kith__question *fact, kith_error *error);
kith_status kith__resolve_relation(uint32_t *relation, const kith_session *session,
                                   const char *name, kith_error *error);

/* Answers that are being collected; kith_answers is their public form. */
typedef struct kith__answers {
    kith_answer *at;
    size_t count;
    int subject_asked;
    size_t relations, all_relations;
} kith__answers;
void kith__answers_release(kith__answers *answers);
/* A public copy in one block, which the caller owns; NULL if out of memory. */
kith_answers *kith__answers_public(const kith__answers *answers);

/* Answer resolved questions on several threads; on failure there is nothing to release. `watch` may
 * be NULL; the caller begins its stage, to which each answered question adds 1. */
kith_status kith__ask_resolved(kith__answers *answers, kith_session *session,
                               const kith__resolved *resolved, size_t count,
                               const kith_ask_options *options, kith__watch *watch,
                               kith_error *error);

/* Remove a fact of the workspace from an entity that was gathered there; false if it does not have
 * the fact. */
bool kith__mask_fact(kith__query_entity *queried, kith__workspace *workspace, uint32_t query,
                     uint32_t other);

/* Whether a known fact of a query's relation links an entity to itself. */
kith_status kith__has_loops(bool *has, const kith_session *session, uint32_t query,
                            kith_error *error);
/* Exclude an entity from the candidates of a query about itself, unless the relation has loops. Its
 * score in this row becomes NAN; the probabilities of the others do not change. */
kith_status kith__leave_out_self(float *scores, const kith__workspace *workspace,
                                 const kith_session *session, uint32_t entity, uint32_t query,
                                 kith_error *error);

/* For qsort: the higher score first, then the lower ids. */
int kith__better_answer_first(const void *a, const void *b);

/* The best answers so far, best first. There are more pairs than candidates, but few callers want
 * more than that. */
typedef struct kith__answer_list {
    kith_answer *at;
    size_t count, capacity, most;
} kith__answer_list;
kith__answer_list kith__answer_list_of(const kith__workspace *workspace,
                                       const kith_ask_options *options);
/* One answer, without probabilities if it is known: these are of answers that are not. */
void kith__answer_of(kith_answer *answer, const kith__workspace *workspace,
                     const kith__scored_query *row, uint32_t entity);
/* Add the likeliest answers to a query: to an empty list, or pairs to those of other queries. The
 * score of a pair is the logarithm of its overall probability if there is one; `shift` is added to
 * other scores. */
kith_status kith__answers_add(kith__answer_list *list, kith__workspace *workspace,
                              const kith__scored_query *row, bool pairs, float shift, bool new_only,
                              kith_error *error);

/* One query about an entity, and the probability that it has an answer. */
typedef struct kith__likely {
    uint32_t query;
    float implied; /* the largest confidence with which the entity's relations imply it */
    double has;    /* P(has r), or NAN if the model has not learned it */
} kith__likely;
/* Fill in the queries first .. first + count - 1, in this order. */
kith_status kith__likely_queries(kith__likely *likely, kith_session *session,
                                 kith__workspace *workspace, const kith__query_entity *queried,
                                 uint32_t first, uint32_t count, kith_error *error);
/* The m queries of one side, most likely first. */
kith_status kith__order_queries(kith__likely *order, kith_session *session,
                                kith__workspace *workspace, const kith__query_entity *queried,
                                bool subject_asked, kith_error *error);
/* What to add to the scores of a relation to make them comparable with those of others:
 * log-likelihoods. */
float kith__likelihood_shift(const float *scores, size_t candidates, float implied);

/* The relations between an entity and one candidate. */
kith_status kith__answer_relations(kith__answers *answers, kith_session *session,
                                   kith__workspace *workspace, const kith__query_entity *queried,
                                   uint32_t other, const kith_ask_options *options,
                                   kith_error *error);

/* The best pairs of a relation and an entity. */
kith_status kith__answer_pairs(kith__answers *answers, kith_session *session,
                               kith__workspace *workspace, const kith__query_entity *queried,
                               const kith_ask_options *options, kith_error *error);

/* The likeliest answers to a query. */
kith_status kith__best_answers(kith__answers *answers, kith__workspace *workspace,
                               const kith__scored_query *row, const kith_ask_options *options,
                               kith_error *error);
/* The options with defaults filled in. */
kith_status kith__ask_options(kith_ask_options *used, const kith_ask_options *options,
                              kith_error *error);

/* "; did you mean 'a' or 'b'?", or nothing; names with a label have it in brackets. */
#define KITH__MEANT 640
const char *kith__did_you_mean(char out[KITH__MEANT], const kith_session *session,
                               const char *text, bool relation);

#endif
