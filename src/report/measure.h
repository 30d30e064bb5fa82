/* The results of an experiment's model on a data set, over all seeds. */
#ifndef KITH_REPORT_MEASURE_H
#define KITH_REPORT_MEASURE_H

#include "report/compare.h"
#include "report/plan.h"

typedef struct measurement {
    json_t *results; /* an array of the results of each finished seed */
    outcomes of;     /* by query, the mean over seeds; empty for labelled facts */
} measurement;

/* Collect the results of a model on a data set. */
kith_status measure(measurement *m, const plan *p, const json_t *experiment, const char *model,
                    const char *data, kith_error *error);
void measurement_release(measurement *m);
/* The mean over seeds of a metric, with its standard error over queries. */
estimate measured(const measurement *m, metric which);
/* The evaluation of the first seed, NULL if none is done. */
const json_t *measured_eval(const measurement *m);
/* A published result as a fraction, not in percent; NAN if there is none. */
double published_metric(const json_t *experiment, const char *model, const char *data,
                        metric which);

#endif
