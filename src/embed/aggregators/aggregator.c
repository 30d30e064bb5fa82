#include "embed/aggregators/aggregator.h"

const kith__aggregator *kith__aggregator_get(int index)
{
#define ROW(object, name) &kith__agg_##object,
    static const kith__aggregator *const aggregators[] = {KITH__AGGREGATORS(ROW)};
#undef ROW
    return aggregators[index];
}

const char *kith__aggregator_names(void)
{
#define ROW(object, name) "|" name
    return &KITH__AGGREGATORS(ROW)[1];
#undef ROW
}
