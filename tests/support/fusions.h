/* Random fusions over a graph of groups, and rows to fit weights on. */
#ifndef KITH_TESTS_FUSIONS_H
#define KITH_TESTS_FUSIONS_H

#include "model/features.h"
#include "model/fusion.h"
#include "model/linear.h"
#include "model/query.h"
#include "rules/evidence.h"
#include "support.h"

enum { N_FEATURES = KITH__FEATURES_COUNT };

/* Features that vary, spread over the list; one is far larger than the others. */
static const int varied[] = {0, 3, 7, 20, N_FEATURES - 1};

static const double true_weights[] = {1.5, -2, .8, .02, 3};
enum { VARIED = 5, CHOICES = 4000 };
kith__row_table rows_new(size_t queries, size_t per);
void rows_free(kith__row_table *r);
kith__row_table choices(uint64_t seed, size_t queries);

/* Entities in groups: what holds for a group's members tends to hold for a newcomer in it. */
const char *group_folder(uint64_t seed, unsigned entities, unsigned newcomers);

/* A graph with its evidence and a model over it, whose embedding has start values. */
typedef struct {
    kith_graph *graph;
    kith_model *model;
    kith__evidence *evidence;
    float *log_degree;
    uint32_t seen, relations; /* relations: 2m */
} fusion_setup;

void fusion_setup_open(fusion_setup *s, const char *folder, const char *preset, unsigned threads);
void fusion_setup_close(fusion_setup *s);
static const kith__calibration some_calibration = {true, {.8f, -.3f, .2f}};

/* To be released. Some relations have weights of their own. */
kith__fusion random_fusion(kith__rng *rng);

void check_same_fusion(const kith__fusion *a, const kith__fusion *b);
size_t test_queries(kith__query **out, const fusion_setup *s);
bool graph_holds(const kith_graph *graph, const char *s, const char *r, const char *o);
void give_fusion(fusion_setup *s, const kith__fusion *fusion);
kith_eval *evaluated_setup(fusion_setup *s, const kith_eval_options *options);

#endif
