/* What training measured on held-out entities, with weights that were not fitted on them. */
#ifndef KITH_MODEL_HELD_OUT_H
#define KITH_MODEL_HELD_OUT_H

#include "model/probability_tables.h"

typedef struct kith__held_out {
    uint32_t entities; /* 0: nothing was measured */
    kith_metrics metrics;
    kith_reliability bins[KITH__RELIABILITY_BINS];
    /* below 0: not measured, because there are too few answers to calibrate on some and measure on
     * others */
    double calibration_error;
    kith__probability_tables probabilities; /* of overall probabilities; may have no entities */
} kith__held_out;

#endif
