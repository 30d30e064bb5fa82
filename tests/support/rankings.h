/* Small models over random graphs, evaluated. */
#ifndef KITH_TESTS_RANKINGS_H
#define KITH_TESTS_RANKINGS_H

#include "support.h"

kith_settings quick(const char *aggregator, const char *predict);
kith_eval *evaluated(kith_model *model, kith_split split, int all_candidates);
kith_graph *random_graph(uint64_t seed, bool labels);

#endif
