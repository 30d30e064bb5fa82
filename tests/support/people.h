/* People and cities: a graph, a run trained on it, and a model, made once. */
#ifndef KITH_TESTS_PEOPLE_H
#define KITH_TESTS_PEOPLE_H

#include "support.h"

enum { PEOPLE = 60, CITIES = 12, UNSEEN = 8 };
extern kith_graph *graph;
extern kith_model *model;
extern const char *run, *source;
int make_world(void **state);
int free_world(void **state);
kith_session *new_session(void);

#endif
