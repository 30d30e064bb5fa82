/* Metrics over ranks, and the reliability of probabilities. */
#ifndef KITH_MODEL_METRICS_H
#define KITH_MODEL_METRICS_H

#include "kith/kith.h"

enum { KITH__RELIABILITY_BINS = 10 };

/* Add ranks to metrics that are all 0, then finish: sums become means. */
void kith__metrics_add(kith_metrics *metrics, double rank);
void kith__metrics_finish(kith_metrics *metrics);

/* The same for answers, in KITH__RELIABILITY_BINS bins by probability; NAN is ignored. */
void kith__reliability_add(kith_reliability *bins, double probability, int correct);
/* Returns the expected calibration error (Naeini et al. 2015), below 0 without answers. */
double kith__reliability_finish(kith_reliability *bins);

#endif
