/* Names of aggregators and decoders, from the library's own tables: a new one is tested with the rest. */
#ifndef KITH_TESTS_TABLES_H
#define KITH_TESTS_TABLES_H

#include "embed/aggregators/aggregator.h"
#include "embed/decoders/decoder.h"

#define KITH__NAME_OF_AGGREGATOR(object, name) name,
static const char *const aggregators[] = {KITH__AGGREGATORS(KITH__NAME_OF_AGGREGATOR)};
#undef KITH__NAME_OF_AGGREGATOR

#define KITH__NAME_OF_DECODER(name) #name,
static const char *const decoders[] = {KITH__DECODERS(KITH__NAME_OF_DECODER)};
#undef KITH__NAME_OF_DECODER

enum {
    AGGREGATORS = sizeof aggregators / sizeof *aggregators,
    DECODERS = sizeof decoders / sizeof *decoders
};

#endif
