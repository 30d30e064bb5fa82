/* Tables of how well probabilities are calibrated, as kith_probability_eval shows them. */
#ifndef KITH_MODEL_PROBABILITY_TABLES_H
#define KITH_MODEL_PROBABILITY_TABLES_H

#include <stdbool.h>

#include "core/status.h"
#include "model/metrics.h"

/* Which answers a table is about: the best ones of each query; the best pairs; those of queries
 * that a hidden fact answers, by `probability_if_any`. */
enum { KITH__OF_RELATIONS, KITH__OF_PAIRS, KITH__IF_ANY, KITH__PROBABILITY_TABLES };

/* The best answers that each table has of a query, and the best pairs of an entity. */
enum { KITH__TABLE_ANSWERS = 10 };

typedef struct kith__probability_table {
    kith_probability_table shown; /* without `bins` */
    kith_reliability bins[KITH__RELIABILITY_BINS];
} kith__probability_table;

typedef struct kith__probability_tables {
    size_t entities, queries; /* no entities: nothing was measured */
    kith__probability_table of[KITH__PROBABILITY_TABLES];
} kith__probability_tables;

/* Add answers to a table that is all 0, and tables to each other; then finish: sums become
 * means. */
void kith__probability_table_add(kith__probability_table *table, double probability, bool correct);
void kith__probability_tables_join(kith__probability_tables *to,
                                   const kith__probability_tables *tables);
void kith__probability_tables_finish(kith__probability_tables *tables);

/* What callers see, in one block; NULL if out of memory. */
kith_probability_eval *kith__probability_eval_of(const kith__probability_tables *tables);

#endif
