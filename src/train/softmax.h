/* The softmax loss of a batch of queries: -log of the right answer's share among its candidates,
 * which are the answer and the batch's shared entities (train/softmax_negatives.h), averaged over the
 * queries. A candidate's score is the decoder's times the setting `scale`, on its input embedding or
 * its encoding.
 *
 * Queries are sorted by relation and cut into pieces; a piece goes through its queries in blocks:
 * scores of all candidates, their shares, and back. Shared candidates that are the same for all
 * queries have gradients per piece, which are added up in order. Where they are encodings that
 * depend on the query's relation, all queries of one relation are in one piece. */
#ifndef KITH_TRAIN_SOFTMAX_H
#define KITH_TRAIN_SOFTMAX_H

#include "embed/panels.h"
#include "train/softmax_negatives.h"

enum { KITH__SOFTMAX_PIECES = 8 };

/* Shared candidates as the kernels want them. */
typedef struct kith__shared_candidates {
    kith__floats rows, inverse, gradient; /* inverse: 1 / length, where rows are scaled */
    kith__panels panels;
} kith__shared_candidates;

/* Scores on encoded known sides, or on their input embeddings (the subtask). */
typedef struct kith__softmax_pass {
    kith__floats query_vectors, query_vector_gradients; /* a row per query */
    kith__floats by_answer; /* per query: the loss's derivative by the answer's score */
    kith__floats loss;      /* per query */
} kith__softmax_pass;

typedef struct kith__softmax {
    kith__encoder *encoder;
    const kith_settings *settings;
    const kith__params *params;
    size_t d, ds; /* width of vectors, and their stride */
    kith__gradients *gradients; /* while a batch runs */
    bool by_encoding; /* what candidates are scored by; else by input embeddings */
    /* The batch, sorted by query. */
    const kith__softmax_query *asked;
    const kith__softmax_negatives *negatives;
    size_t count, shared, stride; /* of queries, of shared candidates, and that padded */
    kith__item *order, *spare;    /* major: query, minor: known, index: place in the batch */
    size_t order_capacity, spare_capacity;
    size_t *request; /* known sides; then answers, and the shared candidates of each group */
    size_t request_capacity;
    uint32_t *group; /* per query: which distinct relation */
    size_t group_capacity, groups;
    kith__shared_candidates input, encoded[KITH__SOFTMAX_PIECES];
    kith__softmax_pass out, in;
    kith__floats scratch;
    uint32_t *ids; /* per piece, for places in a row of scores */
    size_t *listed; /* how many of them */
    size_t id_capacity, listed_capacity;
    double loss_out, loss_in;
} kith__softmax;

void kith__softmax_init(kith__softmax *softmax, kith__encoder *encoder, const kith__params *params,
                        const kith_settings *settings);
void kith__softmax_release(kith__softmax *softmax);
/* Losses are left in loss_out and loss_in, gradients added to `gradients`. */
kith_status kith__softmax_run(kith__softmax *softmax, kith__gradients *gradients,
                              const kith__softmax_query *asked, size_t count,
                              const kith__softmax_negatives *negatives, kith_error *error);

#endif
