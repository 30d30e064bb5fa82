/* What a model answers, as text, to compare before and after something. */
#ifndef KITH_TESTS_ANSWERS_H
#define KITH_TESTS_ANSWERS_H

#include "support.h"

/* A random folder in which every other entity has a label. */
const char *labelled_source(const random_shape *shape, uint64_t seed);

/* All that a reader of the graph sees, and the answers about each `step`-th entity. To be freed. */
char *answers_of(kith_model *model, uint32_t step);

#endif
