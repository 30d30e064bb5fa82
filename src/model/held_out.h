/* What training measured on entities that it had held out, by weights that were not fitted on them. */
#ifndef KITH_MODEL_HELD_OUT_H
#define KITH_MODEL_HELD_OUT_H

#include "eval/metrics.h"

typedef struct kith__held_out {
    uint32_t entities; /* 0: nothing was measured */
    kith_metrics metrics;
    kith_reliability bins[KITH__RELIABILITY_BINS];
    double calibration_error; /* below 0: too few answers to calibrate on some and measure on others */
} kith__held_out;

#endif
