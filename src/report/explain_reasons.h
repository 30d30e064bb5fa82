/* Why an answer was given: the rules behind it as paths in words. For pages only. */
#ifndef KITH_REPORT_EXPLAIN_REASONS_H
#define KITH_REPORT_EXPLAIN_REASONS_H

#include "report/document.h"

/* The label of a name, or the name itself. */
const char *label_of(const kith_graph *graph, const char *name);
/* The label of an object with "entity" and "label". */
const char *short_name(const json_t *object, const kith_graph *graph);
/* Where the keys of the verdict are, or NULL if the query is not a fact. Results of jobs that were
 * run by earlier versions have them in an object of their own. */
const json_t *verdict_of(const json_t *explained);
/* The entity whose facts explain the answers. */
const char *known_entity(const json_t *explained);

/* Score and rules of the first answers. */
void explain_reasons(json_t *document, const json_t *explained, const kith_graph *graph);
/* Confidence of the best rule that leads from a fact of the entity to the first answer; 0 if there
 * is none. */
double rule_weight(const json_t *explained, const json_t *neighbor);

#endif
