#ifndef KITH_EMBED_GRADIENTS_H
#define KITH_EMBED_GRADIENTS_H

#include "embed/floats.h"
#include "embed/params.h"

/* Gradients of a step. Tables but `ent` have a dense block, in which only touched rows are not 0;
 * of `ent` only the rows of entities that were touched exist. */
typedef struct kith__gradients {
    kith__params dense; /* its first table, ent, has no rows */
    uint8_t *touched[KITH__MOST_TABLES]; /* per row of a dense table */
    uint32_t *row_of;   /* per seen entity, its row + 1; 0 where it has none */
    uint32_t *entity;   /* per row */
    size_t rows, entity_capacity;
    kith__floats ent;
    size_t stride;
} kith__gradients;

kith_status kith__gradients_init(kith__gradients *gradients, const kith__params *params,
                                 kith_error *error);
void kith__gradients_release(kith__gradients *gradients);
/* Make room for so many rows, so that it need not grow step by step; -1 where memory is short. */
int kith__gradients_reserve(kith__gradients *gradients, size_t rows);
/* Make sure that an entity has a row; -1 where memory is short. Rows move when others are made. */
int kith__gradient_make(kith__gradients *gradients, uint32_t entity);
/* The same, but a new row is not cleared: the caller does it. */
int kith__gradient_make_raw(kith__gradients *gradients, uint32_t entity);
static inline float *kith__gradient_of(const kith__gradients *g, uint32_t entity)
{
    return g->ent.at + (g->row_of[entity] - 1) * g->stride;
}
/* A row of a table but ent, marked as touched. */
float *kith__gradient_row(kith__gradients *gradients, const kith__table *table, size_t row);
/* All 0 again. */
void kith__gradients_clear(kith__gradients *gradients);

#endif
