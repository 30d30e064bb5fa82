/* Scores queries, each with its answer, against candidates that all queries of the batch share: for
 * losses over shared negatives. A candidate is scored by its input embedding or by its encoding.
 *
 * Queries are sorted by relation and cut into pieces, and a piece processes its queries in blocks
 * (train/query_block.h). If shared candidates are the same for all queries, each piece has its own
 * gradients for them, which are added up in order. If they are encodings that depend on the query's
 * relation, all queries of one relation (a group) are in one piece. */
#ifndef KITH_TRAIN_QUERY_SCORES_H
#define KITH_TRAIN_QUERY_SCORES_H

#include "train/shared_candidates.h"

enum { KITH__QUERY_PIECES = 8 };

/* The values of one pass. */
typedef struct kith__query_pass {
    kith__floats query_vectors, query_vector_gradients; /* a row per query */
    /* per query: derivative of the loss with respect to the answer's score */
    kith__floats by_answer;
    kith__floats loss; /* per query */
} kith__query_pass;

typedef struct kith__query_scores {
    const kith__scoring *scoring;
    bool by_encoding; /* whether candidates are scored by encodings or by input embeddings */
    const kith__batch *batch;
    size_t count, stride;      /* queries; padded number of shared candidates */
    kith__item *order, *spare; /* sorted: major: query, minor: known, index: place in the batch */
    size_t order_capacity, spare_capacity;
    size_t *request; /* known sides, then answers, then the shared candidates of each group */
    size_t request_capacity;
    uint32_t *group; /* per query */
    size_t group_capacity, groups;
    kith__shared_candidates input, encoded[KITH__QUERY_PIECES];
    kith__query_pass out, in; /* with encodings of known sides, and with their input embeddings */
    kith__floats scratch;     /* scratch of the blocks */
    uint32_t *ids;
    size_t *listed;
    size_t id_capacity, listed_capacity;
} kith__query_scores;

extern const kith__scorer kith__query_scorer;

/* `scoring` must outlive it. */
void kith__query_scores_init(kith__query_scores *scores, const kith__scoring *scoring);
void kith__query_scores_release(kith__query_scores *scores);

#endif
