/* From facts about an entity to scores of all candidates, and to answers. */
#ifndef KITH_SESSION_ANSWER_H
#define KITH_SESSION_ANSWER_H

#include "session/session.h"

/* An entity as it is asked about: all facts about it that are of use, in the model's 2m numbering.
 * The id is the graph's, or of the session's names behind them. */
typedef struct kith__query_entity {
    uint32_t entity;
    const kith_neighbor *facts;
    size_t count;
} kith__query_entity;

/* The scores of all candidates, the n entities that train has, for each of `count` entities (at most
 * KITH__QUERIES_TOGETHER) and the directed query queries[0]: below m the objects of the entity, from m
 * on its subjects. scores has count rows of n. The other queries are those that come next. Every
 * score that a person sees comes from here. */
kith_status kith__answer_scores(float *scores, kith_session *session, kith__workspace *workspace,
                                const kith__query_entity *asked, size_t count,
                                const uint32_t *queries, size_t query_count, kith_error *error);

/* The embedding's part of it. */
kith_status kith__embedding_scores(float *scores, kith_session *session, kith__workspace *workspace,
                                   const kith__query_entity *asked, size_t count,
                                   const uint32_t *queries, size_t query_count, kith_error *error);

/* Fuse what rules say about one entity with the embedding's scores (or NULL); the result is in the
 * asker's `fusing`. For models with rule evidence. */
kith_status kith__fuse_entity(kith_session *session, kith__workspace *workspace,
                              const kith__query_entity *asked, uint32_t query,
                              const float *embedding, kith_error *error);

/* How likely a score is right that kith__answer_scores gave in row `row`; NAN where the model has not
 * learnt that. */
double kith__answer_probability(const kith_session *session, const kith__workspace *workspace,
                                size_t row, float score);

/* Encode entities for a query: encoding i of the asker's encoder is that of asked[i], and visit v of
 * it is neighbour v of its cut list. */
kith_status kith__encode_entities(kith_session *session, kith__workspace *workspace,
                                  const kith__query_entity *asked, size_t count, uint32_t query,
                                  kith_error *error);

/* What a question asks, in ids. */
typedef struct kith__resolved {
    uint32_t entity;
    uint32_t query; /* directed; KITH__NO_ID for pairs */
    bool subject_asked;
} kith__resolved;
kith_status kith__resolve(kith__resolved *resolved, const kith_session *session,
                          const kith_question *question, kith_error *error);

/* The i-th asker of a session, made where it is not there yet; NULL where memory is short. */
kith__workspace *kith__workspace_at(kith_session *session, size_t index);
void kith__workspaces_free(kith__workspace *workspaces);

/* A directed relation for a person: its id, and whether it is an inverse. */
static inline uint32_t kith__opposite(const kith_session *s, uint32_t query)
{
    uint32_t m = s->model->lists->relations / 2;
    return query < m ? query + m : query - m;
}

/* "; did you mean 'a' or 'b'?", or nothing. */
#define KITH__MEANT 400
const char *kith__did_you_mean(char out[KITH__MEANT], const kith_graph *graph, const char *text,
                               bool relation);

#endif
