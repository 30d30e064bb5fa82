/* A block of queries: their scores against all candidates, the loss, and gradients back to query
 * vectors and shared candidates. */
#ifndef KITH_TRAIN_QUERY_BLOCK_H
#define KITH_TRAIN_QUERY_BLOCK_H

#include "train/query_scores.h"

enum { KITH__QUERY_BLOCK = 32 /* maximum queries of a block */ };

/* A pass over all queries. */
typedef struct kith__query_run {
    kith__query_scores *x;
    kith__query_pass *pass;
    bool encoded_known; /* known sides are encodings, else input embeddings */
    bool by_encoding;   /* the same for candidates */
    kith__gradients *gradients;
} kith__query_run;

/* Reserve memory for the blocks of all pieces; -1 if out of memory. */
int kith__query_blocks_reserve(kith__query_scores *scores);
/* Queries from .. to - 1, all of one group, in the sorted order. */
void kith__query_block_run(const kith__query_run *run, size_t piece, size_t from, size_t to);
/* to += the gradient of the vector of query i's answer. `scratch` holds two rows. */
void kith__query_answer_backward(float *to, const kith__query_run *run, size_t i, float *scratch);
/* A piece's scratch for that. */
float *kith__query_block_vectors(const kith__query_scores *scores, size_t piece);

/* ---- what query_scores.c and query_block.c share ---- */

/* Whether shared candidates have the same vectors for all queries. */
static inline bool kith__query_is_fixed(const kith__query_scores *x)
{
    return !x->by_encoding || !kith__encoder_query_aware(x->scoring->encoder);
}

static inline const kith__train_query *kith__query_at(const kith__query_scores *x, size_t i)
{
    return &x->batch->queries[x->order[i].index];
}

static inline const float *kith__query_input(const kith__query_scores *x, uint32_t entity)
{
    return kith__row(kith__ent(x->scoring->params), entity);
}

static inline size_t kith__query_encoding(const kith__query_scores *x, size_t request)
{
    return kith__encoder_find(x->scoring->encoder, x->request[request]);
}

static inline const float *kith__query_encoded(const kith__query_scores *x, size_t request)
{
    return kith__encoder_vector(x->scoring->encoder, kith__query_encoding(x, request));
}

static inline size_t kith__answer_request(const kith__query_scores *x, size_t i)
{
    return x->count + i;
}

#endif
