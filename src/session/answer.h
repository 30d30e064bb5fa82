/* From facts about an entity to scores of all candidates, and to answers. */
#ifndef KITH_SESSION_ANSWER_H
#define KITH_SESSION_ANSWER_H

#include "session/session.h"

/* An entity as it is asked about: all facts about it that are of use, in the model's 2m numbering.
 * The id is the graph's, or of the session's names behind them. */
typedef struct kith__query_entity {
    uint32_t entity;
    const kith_neighbor *facts; /* the graph's first, in the order in which the model reads them */
    size_t count;
    kith__span sorted; /* the same, each once */
} kith__query_entity;

/* The facts of `count` entities, which lie in the workspace until the next call; `of_graph` (may be
 * NULL) is how many of the first entity's are the graph's. */
kith_status kith__gather_facts(kith__query_entity *asked, size_t *of_graph,
                               const kith_session *session, kith__workspace *workspace,
                               const uint32_t *entities, size_t count, kith_error *error);

/* The scores of all candidates for each of `count` entities (at most KITH__QUERIES_TOGETHER) and the
 * directed query queries[0]: below m the objects of the entity, from m on its subjects. `scores` has a
 * row for each; what they mean goes into the workspace's `shares`. The other queries are those that come
 * next. Every score that a person sees comes from here. */
kith_status kith__answer_scores(float *scores, kith__candidate_cache *cache,
                                kith__workspace *workspace, const kith__query_entity *asked,
                                size_t count, const uint32_t *queries, size_t query_count,
                                kith_error *error);

/* The embedding's part of it. The workspace's encoder and query vectors are then those of `asked`. */
kith_status kith__embedding_scores(float *scores, kith__candidate_cache *cache,
                                   kith__workspace *workspace, const kith__query_entity *asked,
                                   size_t count, const uint32_t *queries, size_t query_count,
                                   kith_error *error);

/* From the embedding's scores of one entity, in `row` (where the model has any), to the final ones:
 * these are `row` itself, or what the workspace's `fusion` made of it. */
kith_status kith__final_scores(const float **scores, kith__shares *shares,
                               kith__workspace *workspace, const kith__query_entity *asked,
                               uint32_t query, const float *row, kith_error *error);

/* Encode entities for a query: encoding i of the workspace's encoder is that of asked[i], and visit v
 * of it is neighbour v of its cut list. */
kith_status kith__encode_entities(kith__workspace *workspace, const kith__query_entity *asked,
                                  size_t count, uint32_t query, kith_error *error);

/* What a question asks, in ids. */
typedef struct kith__resolved {
    uint32_t entity;
    uint32_t query; /* directed; KITH__NO_ID for pairs */
    bool subject_asked;
} kith__resolved;
kith_status kith__resolve(kith__resolved *resolved, const kith_session *session,
                          const kith_question *question, kith_error *error);

/* The best answers so far, best first. Pairs are more than there are candidates, and few want more than
 * that. */
typedef struct kith__answer_list {
    kith_answer *at;
    size_t count, capacity, most;
} kith__answer_list;
kith__answer_list kith__answer_list_of(const kith__workspace *workspace,
                                       const kith_ask_options *options);
/* Add the best by one row of scores for a query, each with `shift` added to its score. */
kith_status kith__answers_add(kith__answer_list *list, kith__workspace *workspace,
                              const float *scores, const kith__shares *shares, float shift,
                              uint32_t query, bool new_only, kith_error *error);

/* The best pairs of a relation and an entity. */
kith_status kith__answer_pairs(kith_answers *answers, kith_session *session,
                               kith__workspace *workspace, const kith__query_entity *asked,
                               const kith_ask_options *options, kith_error *error);

/* The best answers by one row of scores, for the query that they are of. */
kith_status kith__best_answers(kith_answers *answers, kith__workspace *workspace,
                               const float *scores, const kith__shares *shares, uint32_t query,
                               const kith_ask_options *options, kith_error *error);
/* Options as they count: the usual ones where NULL or 0. */
kith_ask_options kith__ask_options(const kith_ask_options *options);

/* "; did you mean 'a' or 'b'?", or nothing. */
#define KITH__MEANT 400
const char *kith__did_you_mean(char out[KITH__MEANT], const kith_graph *graph, const char *text,
                               bool relation);

#endif
