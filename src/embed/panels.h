/* Candidates packed so that many queries are scored against many of them at once: cut into panels
 * of KITH__PANEL candidates, each panel transposed. */
#ifndef KITH_EMBED_PANELS_H
#define KITH_EMBED_PANELS_H

#include "embed/encoder/encoder.h"

enum { KITH__PANEL = 64 };

typedef struct kith__panels {
    kith__floats at; /* per panel d rows of KITH__PANEL floats */
    size_t count, d;
} kith__panels;

/* Reserve memory, so that packing cannot fail; -1 if out of memory. */
int kith__panels_reserve(kith__panels *panels, size_t count, size_t d);
/* Pack `count` rows that are `stride` floats apart, as many as were reserved. */
void kith__panels_pack(kith__panels *panels, const float *rows, size_t stride);
void kith__panels_release(kith__panels *panels);

static inline size_t kith__panel_count(const kith__panels *panels)
{
    return (panels->count + KITH__PANEL - 1) / KITH__PANEL;
}

/* Scores of one panel's candidates for `count` query vectors: sets scores[i * stride + j], where j
 * is the candidate's number, to weight times the score. `scratch` holds count x KITH__PANEL
 * floats. */
void kith__panel_score(float *scores, size_t stride, const kith__panels *panels, size_t panel,
                       const float *const *query_vectors, size_t count, bool distance, float weight,
                       float *scratch);

#endif
