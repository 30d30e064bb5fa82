/* Decoders: how plausible a fact is, from three vectors. To add one, write <name>.c and add a
 * row to KITH__DECODERS. */
#ifndef KITH_EMBED_DECODERS_DECODER_H
#define KITH_EMBED_DECODERS_DECODER_H

#include <stdbool.h>

#include "core/status.h"

typedef struct kith__decoder {
    const char *name;
    uint32_t width_multiple; /* the width must be a multiple of this */
    /* phi(s, q, o); `width` is that of the settings, rows are padded with zeros. */
    float (*score)(const float *s, const float *q, const float *o, size_t width);
    /* gs += g dphi/ds and so on; the three are different rows. */
    void (*backward)(float *gs, float *gq, float *go, float g, const float *s, const float *q,
                     const float *o, size_t width);
    /* For ranking: a vector v such that phi = -|v - x|_1 (distance) or v . x, where x is the hidden
     * side, `known` the other one. v is padded with zeros. */
    void (*query_vector)(float *v, const float *known, const float *q, bool subject_hidden,
                         size_t width);
    bool distance;
    /* gknown += dv/dknown gv and so on. NULL if the score is linear in each vector: then v . x is
     * the score, so the derivative of v . gv is that of the score with gv as the hidden side. */
    void (*query_vector_backward)(float *gknown, float *gq, const float *gv, bool subject_hidden,
                         size_t width);
} kith__decoder;

/* The table: one row per decoder, in the order of the setting's values. */
#define KITH__DECODERS(ROW) ROW(transe) ROW(distmult) ROW(complex) ROW(analogy)

#define KITH__DECLARE(name) extern const kith__decoder kith__##name;
KITH__DECODERS(KITH__DECLARE)
#undef KITH__DECLARE

const kith__decoder *kith__decoder_get(int index);
const char *kith__decoder_names(void); /* "a|b|c" */

/* phi, with s, q and o scaled to length 1 first if `normalize` is set and the decoder is a
 * distance. `scratch` holds 3 padded rows. */
float kith__decode(const kith__decoder *decoder, bool normalize, const float *s, const float *q,
                   const float *o, size_t width, float *scratch);

/* y = x / |x|; returns 1 / |x|. A zero vector stays 0. */
float kith__normalize(float *y, const float *x, size_t width);
/* Adds the gradient of normalising to gx, given gy, y and 1 / |x|. */
void kith__normalize_backward(float *gx, const float *gy, const float *y, float inverse,
                              size_t width);

#endif
