/* Computes the query vector v from a query and the vector of its known side. A candidate x scores
 * -|v - x|_1 if the decoder is a distance, and v . x if it is a product. Every score that kith
 * gives an embedding goes through these functions. Queries are the 2m directed relations: r asks
 * for objects, r + m for subjects. If kith__is_unit, candidates must be scaled to length 1. */
#ifndef KITH_EMBED_QUERY_VECTOR_H
#define KITH_EMBED_QUERY_VECTOR_H

#include "embed/decoders/decoder.h"
#include "embed/params.h"

/* Whether vectors are scaled to length 1 before they are compared. */
bool kith__is_unit(const kith_settings *settings);

/* The decoder's relation for a query, and whether the answer takes the subject's place in it: an
 * inverse query shares the relation's row with the sides swapped, unless it has its own row
 * (reciprocal), which leads from the known side to the hidden one like any other. */
const float *kith__query_relation_row(const kith__params *params, uint32_t query);
bool kith__answer_is_subject(const kith__params *params, uint32_t query);

/* `known` is the known side's vector. `scratch` holds 2 padded rows. */
void kith__query_vector_of(float *v, const kith_settings *settings, const kith__params *params,
                           const float *known, uint32_t query, float *scratch);
/* For a `known` that is already scaled as the decoder needs it: v is then linear in it, except for
 * a zero vector. `scratch` holds 1 padded row. */
void kith__query_vector_from_scaled(float *v, const kith_settings *settings,
                                    const kith__params *params, const float *known, uint32_t query,
                                    float *scratch);
/* gknown += dv/dknown gv, grelation += dv/drelation gv. `scratch` holds 5 padded rows. */
void kith__query_vector_backward(float *gknown, float *grelation, const float *gv,
                                 const kith_settings *settings, const kith__params *params,
                                 const float *known, uint32_t query, float *scratch);

/* The decoder's score of one answer by its vector, both vectors unscaled. `scratch` holds 3 padded
 * rows. */
float kith__answer_score(const kith_settings *settings, const kith__params *params,
                         const float *known, uint32_t query, const float *answer, float *scratch);

#endif
