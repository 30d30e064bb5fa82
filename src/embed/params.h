/* The model's parameters: one block, described by one table, so that sizes, gradients, the
 * optimiser's state and files cannot drift apart. */
#ifndef KITH_EMBED_PARAMS_H
#define KITH_EMBED_PARAMS_H

#include <stdbool.h>

#include "core/stages.h"
#include "embed/settings.h"

/* Sizes that a table's shape can name. */
typedef enum kith__size {
    KITH__ONE,
    KITH__ENTITIES,  /* n */
    KITH__RELATIONS, /* m */
    KITH__DIRECTED,  /* 2m */
    KITH__DIM,       /* d */
    KITH__2DIM,
    KITH__4DIM,
    KITH__HIDDEN, /* width of the attention layer */
    KITH__LANE,   /* columns of a table that is a list of numbers, so that it needs no padding */
    KITH__ENTITY_ROWS, /* rows of such a list with one number per seen entity */
    KITH__PAIR_ROWS,   /* with one per rule between relations, and one per relation */
    KITH__SIZES
} kith__size;

typedef struct kith__table_spec {
    const char *name;
    kith__size rows, cols;
    bool decayed; /* counts in the L2 penalty */
    enum { KITH__XAVIER, KITH__LSTM_BIAS, KITH__ZERO } start;
    bool own_rate; /* the setting table_lr applies to its learning rate */
} kith__table_spec;

typedef struct kith__table {
    const kith__table_spec *spec;
    size_t rows, cols, stride; /* a row has `stride` floats; those after `cols` are 0 */
    float *at;
} kith__table;

enum { KITH__MOST_TABLES = 12 };
/* The tables that every model has, in this order; those of its aggregator follow. */
enum { KITH__ENT, KITH__REL, KITH__TRANS };

typedef struct kith__params {
    kith__table table[KITH__MOST_TABLES];
    size_t tables;
    size_t floats; /* in the whole block */
    float *block;
} kith__params;

/* The tables for a model with these settings, with n seen entities, m relations and this many rules
 * between them, all 0. */
kith_status kith__params_init(kith__params *params, const kith_settings *settings,
                              uint32_t entities, uint32_t relations, size_t rules,
                              kith_error *error);
/* Another block of the same shape, all 0. */
kith_status kith__params_like(kith__params *params, const kith__params *model, kith_error *error);
void kith__params_release(kith__params *params);
/* Initial values, drawn from the seed: Xavier-normal unless the table's specification says
 * otherwise. */
kith_status kith__params_start(kith__params *params, uint64_t seed, kith__watch *watch,
                               kith_error *error);

/* Input embeddings of the seen entities, the decoder's relations, and the relations' transforms. */
static inline const kith__table *kith__ent(const kith__params *params)
{
    return &params->table[KITH__ENT];
}
static inline const kith__table *kith__rel(const kith__params *params)
{
    return &params->table[KITH__REL];
}
static inline const kith__table *kith__trans(const kith__params *params)
{
    return &params->table[KITH__TRANS];
}

/* The decoder's relation for a query, one of the 2m directed relations: inverse relations have
 * their own row, or share that of the relation with the sides swapped. */
static inline bool kith__has_reciprocal(const kith__params *params)
{
    return kith__rel(params)->rows == kith__trans(params)->rows;
}
static inline size_t kith__relation_row(const kith__params *params, size_t query)
{
    return query % kith__rel(params)->rows;
}

/* NULL if the model has no table of that name. */
const kith__table *kith__params_find(const kith__params *params, const char *name);

static inline float *kith__row(const kith__table *table, size_t row)
{
    return table->at + row * table->stride;
}

/* Whether a value of the table is not finite. */
bool kith__table_broken(const kith__table *table);
/* The first table with a value that is not finite, NULL if there is none. */
const kith__table *kith__params_broken(const kith__params *params);

#endif
