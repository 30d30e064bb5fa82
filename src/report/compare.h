/* Comparing models over the same queries: means with standard errors, and paired differences. */
#ifndef KITH_REPORT_COMPARE_H
#define KITH_REPORT_COMPARE_H

#include <jansson.h>
#include <stdbool.h>

#include "core/status.h"

typedef enum metric {
    METRIC_MR,
    METRIC_MRR,
    METRIC_HITS1,
    METRIC_HITS3,
    METRIC_HITS10,
    METRIC_ACCURACY,
    METRICS
} metric;

typedef struct metric_info {
    const char *key, *title;
    bool higher_is_better;
    double scale; /* factor for tables: 100 for percentages */
    int decimals; /* decimal places in tables */
} metric_info;
extern const metric_info metric_table[METRICS];
/* Returns METRICS if there is no such key. */
metric metric_by_key(const char *key);

/* The key of the metric in "hits" of JSON: "1", "3" or "10"; NULL for other metrics. */
const char *hits_at(metric m);

/* One query, or one classified fact, and a model's result. A value that does not apply is NAN. */
typedef struct outcome {
    uint64_t key; /* identifies the query, equal in all runs */
    double value[METRICS];
    int kind;  /* the kind of the relation, or -1 */
    int facts; /* the bucket of the number of facts of the known entity, or -1 */
} outcome;

/* Sorted by key. */
typedef struct outcomes {
    outcome *at;
    size_t count, capacity;
} outcomes;

/* The key of a query: the names of the fact, and the side that was hidden ("subject", "object",
 * ""). */
uint64_t outcome_key(const char *subject, const char *relation, const char *object,
                     const char *hidden);
kith_status outcomes_add_rank(outcomes *o, uint64_t key, double rank, int kind, int facts,
                              kith_error *error);
kith_status outcomes_add_verdict(outcomes *o, uint64_t key, bool correct, int kind, int facts,
                                 kith_error *error);
/* Call this once after the last outcome was added. */
void outcomes_sort(outcomes *o);
void outcomes_release(outcomes *o);

/* The results of kith_evaluate, by the names of the model's graph. */
kith_status outcomes_of_eval(outcomes *o, const kith_eval *result, const kith_graph *graph,
                             kith_error *error);
/* Read the TSV of ranks, or of classified facts, that `kith eval --ranks` writes; it has neither
 * kinds nor buckets. */
kith_status outcomes_read(outcomes *o, const char *path, kith_error *error);
/* The mean over several runs, query by query, over the queries that all runs have. */
kith_status outcomes_average(outcomes *mean, const outcomes *of, size_t count, kith_error *error);
/* Keep only the queries that all have; returns their number. Groups are those of the first, because
 * in another graph the same relation may be of another kind. */
size_t outcomes_intersect(outcomes *of, size_t count);

/* Which queries: all, those of a kind of relation, or of a bucket of known facts. */
typedef enum grouping { GROUP_ALL, GROUP_KIND, GROUP_FACTS } grouping;

/* A mean over queries and its standard error; NAN if there are too few queries. */
typedef struct estimate {
    size_t queries;
    double mean, error;
} estimate;
estimate outcomes_estimate(const outcomes *o, metric m, grouping by, int group);
/* The mean of b - a, paired, over the queries that both have. */
estimate outcomes_difference(const outcomes *a, const outcomes *b, metric m, grouping by,
                             int group);

/* The distance of a difference from 0 in standard errors: 0 below two, 2, or 3 for three or
 * more. */
int significance(const estimate *difference);

#endif
