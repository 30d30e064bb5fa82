/* Small models, which are not trained. */
#ifndef KITH_TESTS_MODELS_H
#define KITH_TESTS_MODELS_H

#include "support.h"

enum { DIM = 12 };
kith_settings preset(const char *name);
kith_settings small(const char *aggregator);
uint32_t entity(const kith_graph *graph, const char *name);
kith_graph *hub_graph(int neighbors);

#endif
