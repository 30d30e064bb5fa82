/* Parts of the report on one experiment. */
#ifndef KITH_REPORT_SECTION_H
#define KITH_REPORT_SECTION_H

#include "report/compare.h"
#include "report/document.h"
#include "report/plan.h"

typedef struct section {
    const plan *p;
    const json_t *experiment;
    json_t *document;
    json_t *figures; /* machine-readable: the "results" of report.json */
} section;

/* Models of the experiment, then those with published results only. */
json_t *model_names(const json_t *experiment);
/* Data sets that have at least one job. */
json_t *data_names(const json_t *experiment);
/* The experiment's metrics, by default MRR and Hits; returns how many. */
size_t chosen_metrics(metric out[METRICS], const json_t *experiment);
/* The job of a cell. */
const job *cell_job(const plan *p, const json_t *cell);
json_t *real_or_null(double value);

/* Measured and published results, by model. */
kith_status section_tables(section *s, const json_t *models, const json_t *datas,
                           kith_error *error);
/* MRR, or accuracy, of each model compared with the first, over the same queries. */
kith_status section_pairs(section *s, const json_t *models, const json_t *datas, json_t *figures,
                          kith_error *error);
kith_status section_charts(section *s, const json_t *models, const json_t *datas,
                           kith_error *error);
void section_statistics(section *s);
/* Sample questions of a data set; the weights shown are those of the first model. */
void section_cases(section *s, const char *data, const json_t *questions);
/* Settings, seeds, commands and durations in a closed details block; runs are added to `runs`. */
void section_runs(section *s, json_t *runs);

#endif
