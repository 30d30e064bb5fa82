/* Scores of all candidates for an entity that is given by its facts: where every score comes from
 * that a person sees. */
#ifndef KITH_MODEL_SCORE_H
#define KITH_MODEL_SCORE_H

#include "model/workspace.h"

/* Add the facts that the graph has about an entity to the workspace's `facts`; says how many. */
kith_status kith__add_graph_facts(size_t *count, kith__workspace *workspace, uint32_t entity,
                                  kith_error *error);
/* All that the graph knows about an entity, in the workspace until the next such call. */
kith_status kith__graph_entity(kith__query_entity *asked, kith__workspace *workspace,
                               uint32_t entity, kith_error *error);
/* After facts of `count` entities were added one after the other: where they lie, and sorted. */
kith_status kith__place_facts(kith__query_entity *asked, size_t count, kith__workspace *workspace,
                              kith_error *error);

/* The scores of all candidates for each of `count` entities (at most KITH__QUERIES_TOGETHER) and
 * the directed query queries[0]: below m the objects of the entity, from m on its subjects.
 * `scores` has a row for each; what they mean goes into the workspace's `shares`. The other queries
 * are those that come next. Every score that a person sees comes from here. */
kith_status kith__answer_scores(float *scores, kith__candidate_cache *cache,
                                kith__workspace *workspace, const kith__query_entity *asked,
                                size_t count, const uint32_t *queries, size_t query_count,
                                kith_error *error);

/* Whether the embedding has a say about an entity. Beside rules it is silent where no neighbour is
 * seen: the weights of the fusion are those of encodings from seen neighbours. */
bool kith__embedding_speaks(const kith__workspace *workspace, const kith__query_entity *asked);

/* The embedding's part of it. The workspace's encoder and query vectors are then those of
 * `asked`. */
kith_status kith__embedding_scores(float *scores, kith__candidate_cache *cache,
                                   kith__workspace *workspace, const kith__query_entity *asked,
                                   size_t count, const uint32_t *queries, size_t query_count,
                                   kith_error *error);

/* From the embedding's scores of one entity, in `row` (where the model has any), to the final ones:
 * these are `row` itself, or what the workspace's `fusion` made of it. */
kith_status kith__final_scores(const float **scores, kith__shares *shares,
                               kith__workspace *workspace, const kith__query_entity *asked,
                               uint32_t query, const float *row, kith_error *error);

/* Encode entities for a query: encoding i of the workspace's encoder is that of asked[i], and visit
 * v of it is neighbour v of its cut list. */
kith_status kith__encode_entities(kith__workspace *workspace, const kith__query_entity *asked,
                                  size_t count, uint32_t query, kith_error *error);

#endif
