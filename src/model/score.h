/* Scores of all candidates for an entity that is given by its facts. Every score that a user sees
 * is computed here. */
#ifndef KITH_MODEL_SCORE_H
#define KITH_MODEL_SCORE_H

#include "model/workspace.h"

/* Append the facts that the graph has about an entity to the workspace's `facts`; sets `count` to
 * their number. */
kith_status kith__add_graph_facts(size_t *count, kith__workspace *workspace, uint32_t entity,
                                  kith_error *error);
/* All facts that the graph has about an entity, in the workspace until the next such call. */
kith_status kith__graph_entity(kith__query_entity *queried, kith__workspace *workspace,
                               uint32_t entity, kith_error *error);
/* Set the facts of `count` entities, as the workspace has them and sorted, after those of all
 * entities have been appended. */
kith_status kith__place_facts(kith__query_entity *queried, size_t count, kith__workspace *workspace,
                              kith_error *error);

/* The scores of all candidates for each of `count` entities (at most KITH__QUERIES_TOGETHER) and
 * the directed query queries[0]: a query below m asks for objects of the entity, from m on for its
 * subjects. `scores` has a row for each entity; the shares of each row are in the workspace's
 * `shares`. The remaining queries are those that come next. */
kith_status kith__answer_scores(float *scores, kith__candidate_cache *cache,
                                kith__workspace *workspace, const kith__query_entity *queried,
                                size_t count, const uint32_t *queries, size_t query_count,
                                kith_error *error);

/* Whether the embedding is used for an entity. In a fusion it is used only if a neighbour is seen,
 * because the fusion's weights were fitted on encodings from seen neighbours. */
bool kith__embedding_counts(const kith__workspace *workspace, const kith__query_entity *queried);

/* The embedding's scores for kith__answer_scores. Afterwards the workspace's encoder and query
 * vectors are those of `queried`. */
kith_status kith__embedding_scores(float *scores, kith__candidate_cache *cache,
                                   kith__workspace *workspace, const kith__query_entity *queried,
                                   size_t count, const uint32_t *queries, size_t query_count,
                                   kith_error *error);

/* Turn the embedding's scores of one entity, in `row` (if the model has an embedding), into final
 * scores: either `row` itself or the result of the workspace's `fusion`. */
kith_status kith__final_scores(const float **scores, kith__shares *shares,
                               kith__workspace *workspace, const kith__query_entity *queried,
                               uint32_t query, const float *row, kith_error *error);

/* Encode entities for a query: encoding i of the workspace's encoder is that of asked[i], and visit
 * v of it is neighbour v of its cut list. */
kith_status kith__encode_entities(kith__workspace *workspace, const kith__query_entity *queried,
                                  size_t count, uint32_t query, kith_error *error);

#endif
