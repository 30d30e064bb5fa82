/* Pages made from the output of `kith eval --json` and `kith explain --json`. Only these functions
 * know the keys of that JSON. */
#ifndef KITH_REPORT_PAGES_H
#define KITH_REPORT_PAGES_H

#include "report/compare.h"
#include "report/document.h"

/* A metric of an evaluation, or of a group in it; NAN if it has none. */
double eval_metric(const json_t *eval, metric m);
/* The number of its queries, or of classified facts. */
double eval_queries(const json_t *eval);
/* MRR by number of known facts as a series of a chart, the mean of several seeds' evaluations of
 * the same queries. The chart's categories are the groups that have queries; its note says how many
 * these are. Adds no series if there are no groups. */
void eval_add_facts_series(json_t *chart, const json_t *evals, const char *name);
/* A reliability diagram, or NULL if the evaluation has no probabilities. */
json_t *eval_reliability(const json_t *eval, const char *title);

/* The page of an evaluation; the outcomes of its queries give the standard errors. */
json_t *eval_page(const json_t *eval, const char *run, const outcomes *of);

/* Add one explained question: its answers, neighbourhood and reasons, with the labels of the
 * graph. */
void explain_blocks(json_t *document, const json_t *explained, const kith_graph *graph);
json_t *explain_page(const json_t *explained, size_t count, const char *run,
                     const kith_graph *graph);
/* "Subject relation ?" with labels. */
json_t *question_title(const json_t *explained, const kith_graph *graph);
/* The facts of the entity, highest weight first: a neighbourhood chart. */
json_t *explain_graph(const json_t *explained, const kith_graph *graph, const char *title);
/* "Label (name)" of an object with "entity" and "label", or the name alone. */
json_t *entity_title(const json_t *object);

#endif
