#ifndef KITH_EMBED_GRADIENTS_H
#define KITH_EMBED_GRADIENTS_H

#include "embed/floats.h"
#include "embed/params.h"

/* Gradients of a step. All tables except `ent` have a dense block, in which only touched rows are
 * nonzero; `ent` has rows only for touched entities. */
typedef struct kith__gradients {
    kith__params dense; /* its first table, ent, has no rows */
    uint8_t *touched[KITH__MOST_TABLES]; /* per row of a dense table */
    uint32_t *row_of;   /* per seen entity, its row + 1; 0 if it has none */
    uint32_t *entity;   /* per row */
    size_t rows, entity_capacity;
    kith__floats ent;
    size_t stride;
} kith__gradients;

kith_status kith__gradients_init(kith__gradients *gradients, const kith__params *params,
                                 kith_error *error);
void kith__gradients_release(kith__gradients *gradients);
/* Reserve this many rows, to save growing step by step; -1 if out of memory. */
int kith__gradients_reserve(kith__gradients *gradients, size_t rows);
/* Make sure that an entity has a row; -1 if out of memory. Rows move when others are added. */
int kith__gradient_make(kith__gradients *gradients, uint32_t entity);
/* Like kith__gradient_make, but the caller clears a new row. */
int kith__gradient_make_raw(kith__gradients *gradients, uint32_t entity);
static inline float *kith__gradient_of(const kith__gradients *g, uint32_t entity)
{
    return g->ent.at + (g->row_of[entity] - 1) * g->stride;
}
/* A row of any table except ent, marked as touched. */
float *kith__gradient_row(kith__gradients *gradients, const kith__table *table, size_t row);
/* Set all gradients to 0. */
void kith__gradients_clear(kith__gradients *gradients);

#endif
