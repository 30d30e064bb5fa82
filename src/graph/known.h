/* Known answers: every true fact of a graph, by its known side and relation. */
#ifndef KITH_GRAPH_KNOWN_H
#define KITH_GRAPH_KNOWN_H

#include <stdbool.h>

#include "core/radix.h"
#include "core/status.h"

/* Sorted by (known side, relation); index is the hidden side. */
typedef struct kith__known {
    kith__item *at;
    size_t count;
} kith__known;

/* `more` (may be NULL) is another graph whose facts are included, matched by name. */
kith_status kith__known_init(kith__known *known, const kith_graph *graph, const kith_graph *more,
                             bool subject_hidden, kith_error *error);
void kith__known_release(kith__known *known);
/* Set the marks (one byte per candidate) of the known answers to `value`. */
void kith__known_mark(uint8_t *marks, size_t count, const kith__known *known, uint32_t entity,
                      uint32_t relation, uint8_t value);

bool kith__known_has(const kith__known *known, uint32_t entity, uint32_t relation, uint32_t answer);

#endif
