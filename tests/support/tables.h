/* Names of aggregators, decoders and losses, from the library's own tables: a new one is tested
 * with the rest. */
#ifndef KITH_TESTS_TABLES_H
#define KITH_TESTS_TABLES_H

#include "embed/aggregators/aggregator.h"
#include "embed/decoders/decoder.h"
#include "embed/losses/loss.h"

#define KITH__NAME_OF_AGGREGATOR(object, name) name,
static const char *const aggregators[] = {KITH__AGGREGATORS(KITH__NAME_OF_AGGREGATOR)};
#undef KITH__NAME_OF_AGGREGATOR

#define KITH__NAME_OF_DECODER(name) #name,
static const char *const decoders[] = {KITH__DECODERS(KITH__NAME_OF_DECODER)};
#undef KITH__NAME_OF_DECODER

#define KITH__NAME_OF_LOSS(name) #name,
static const char *const losses[] = {KITH__LOSSES(KITH__NAME_OF_LOSS)};
#undef KITH__NAME_OF_LOSS

enum {
    AGGREGATORS = sizeof aggregators / sizeof *aggregators,
    DECODERS = sizeof decoders / sizeof *decoders,
    LOSSES = sizeof losses / sizeof *losses
};

#endif
