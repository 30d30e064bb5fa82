/* Encodes entities from their neighbours, a batch at a time, and takes gradients back.
 *
 *   begin, request (entity, query, perhaps a neighbour to leave out) ..., forward
 *   -> vectors of the distinct encodings, and what their neighbours had to do with them
 *   -> gradients by these vectors, backward -> gradients of the parameters
 *
 * Costs: a neighbour's T_r(e) = e - c w has c = w . e. Its attention logit is
 * u . tanh(A z_q + B e - c B w): A z, B e and B w are products of whole tables, made once per batch
 * for the rows it touches. Visits are sorted by (neighbour, relation), so that what depends only on
 * that pair is done once and stays in the cache, and so that gradients by neighbour are summed
 * without two threads ever writing to one row. Work is cut into pieces that depend on the batch
 * alone, never on the number of threads. */
#ifndef KITH_EMBED_ENCODER_ENCODER_H
#define KITH_EMBED_ENCODER_ENCODER_H

#include "core/pool.h"
#include "core/radix.h"
#include "embed/aggregators/aggregator.h"
#include "embed/gradients.h"
#include "embed/neighbor_lists.h"

enum { KITH__LOOKAHEAD = 8 };

kith_status kith__encoder_new(kith__encoder **encoder, const kith_settings *settings,
                              const kith__neighbor_lists *lists, const kith__implications *rules,
                              const kith__params *params, kith__pool *pool, kith_error *error);
void kith__encoder_free(kith__encoder *encoder);

/* Use these lists in future batches, and if the order of neighbours matters shuffle them by this
 * seed; 0, the default, keeps the list's order. */
void kith__encoder_use(kith__encoder *encoder, const kith__neighbor_lists *lists,
                       uint64_t order_seed);

/* The watch that forward, prefetch and reencode tick (core/stages.h); NULL, the default: none. If
 * it stops them they return KITH_ERR_STOPPED, and the next call must be begin. Borrowed: set it
 * back to NULL before it is released. */
void kith__encoder_set_watch(kith__encoder *encoder, kith__watch *watch);
/* Nonzero if the watch stops the work; for loops of others over a batch, on any thread. */
int kith__encoder_tick(kith__encoder *encoder);
kith_status kith__encoder_status(const kith__encoder *encoder, kith_error *error);

/* The encoder's dimensions. Vectors are `stride` floats long, with zeros after the settings'
 * width. */
size_t kith__encoder_stride(const kith__encoder *encoder);
kith__pool *kith__encoder_pool(const kith__encoder *encoder);
const kith__neighbor_lists *kith__encoder_lists(const kith__encoder *encoder);
/* Whether vectors depend on the query, not only on the entity. */
bool kith__encoder_query_aware(const kith__encoder *encoder);

/* ---- encodings ---- */

void kith__encoder_begin(kith__encoder *encoder);
/* Request an encoding; returns the request's number. `mask` (or NULL) is a neighbour to leave
 * out. */
size_t kith__encoder_request(kith__encoder *encoder, uint32_t entity, uint32_t query,
                             const kith_neighbor *mask);
/* After begin: a backward pass will follow, so keep what is costly to recompute. */
void kith__encoder_keep(kith__encoder *encoder);
/* Find the distinct encodings and encode them. */
kith_status kith__encoder_forward(kith__encoder *encoder, kith_error *error);

/* After a forward pass: the number of encodings, the encoding of a request, and the vector and
 * entity of an encoding. */
size_t kith__encoder_count(const kith__encoder *encoder);
size_t kith__encoder_find(const kith__encoder *encoder, size_t request);
const float *kith__encoder_vector(const kith__encoder *encoder, size_t encoding);
uint32_t kith__encoder_entity(const kith__encoder *encoder, size_t encoding);
static inline const float *kith__encoder_answer(const kith__encoder *encoder, size_t request)
{
    return kith__encoder_vector(encoder, kith__encoder_find(encoder, request));
}

/* After a forward pass, with unchanged parameters: encode the same entities for another query, the
 * same for all of them. What does not depend on the query is not computed again. */
kith_status kith__encoder_reencode(kith__encoder *encoder, uint32_t query, kith_error *error);

/* Announce the queries of the next calls of reencode (at most KITH__LOOKAHEAD): what they share is
 * then computed once. */
kith_status kith__encoder_prefetch(kith__encoder *encoder, const uint32_t *queries, size_t count,
                                   kith_error *error);
/* Whether a query's vectors were prefetched and not used yet. */
bool kith__encoder_has_prefetched(const kith__encoder *encoder, uint32_t query);

/* ---- explanations ---- */

/* The neighbours that an encoding used, in the order of the list. */
const kith_neighbor *kith__encoder_neighbors(size_t *count, const kith__encoder *encoder,
                                             size_t encoding);
/* How the aggregator weights neighbours, and the weight of the k-th neighbour of an encoding. */
kith_weighing kith__encoder_weighing(const kith__encoder *encoder);
kith__neighbor_weight kith__encoder_weight(const kith__encoder *encoder, size_t encoding, size_t k);
/* What the k-th neighbour adds to the encoding's vector. Not for aggregators without weights, whose
 * vector is not a sum over neighbours. */
void kith__encoder_share(float *share, const kith__encoder *encoder, size_t encoding, size_t k);
/* T of the k-th neighbour. */
void kith__encoder_neighbor_vector(float *vector, const kith__encoder *encoder, size_t encoding,
                                   size_t k);

/* ---- gradients ---- */

/* The row for the gradient of an encoding's vector; marks the encoding as active. */
float *kith__encoder_grad(kith__encoder *encoder, size_t encoding);
/* Whether an encoding is active. */
bool kith__encoder_active(const kith__encoder *encoder, size_t encoding);
/* Back-propagate the grad rows of active encodings to the parameters. */
kith_status kith__encoder_backward(kith__encoder *encoder, kith__gradients *gradients,
                                   kith_error *error);

#endif
