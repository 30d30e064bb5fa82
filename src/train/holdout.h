/* The hold-out, on which everything about unseen entities is fitted. Entities that were removed
 * from train with all their facts (graph/make/holdout.h) are the unseen entities of its graph. One
 * in five of them is in the calibration split, the others are in the fitting split. They provide
 *   - queries for hidden facts, for the weights and the first calibration (train/fit.h);
 *   - descriptions of the fitting split, for P(has r) (train/fit_has_relation.h);
 *   - descriptions of the calibration split, for the second calibration (train/fit_overall.h).
 * It depends only on the graph and the seed. */
#ifndef KITH_TRAIN_HOLDOUT_H
#define KITH_TRAIN_HOLDOUT_H

#include "graph/make/descriptions.h"
#include "model/query.h"

typedef struct kith__holdout {
    const kith_graph *graph;
    kith__query *queries; /* the answers are seen or held out */
    size_t query_count;
    kith__descriptions fitting, calibration;
} kith__holdout;

/* Make the hold-out of a graph from kith__graph_hold_out, or one with the same splits. The graph
 * must outlive it. */
kith_status kith__holdout_init(kith__holdout *holdout, const kith_graph *graph,
                               kith_predict predict, uint64_t seed, kith_error *error);
/* Make the hold-out of a graph with hidden facts (graph/make/hidden_facts.h): each is queried from
 * both ends, and there are no descriptions. */
kith_status kith__holdout_init_of_facts(kith__holdout *holdout, const kith_graph *graph,
                                        kith_error *error);
void kith__holdout_release(kith__holdout *holdout);
/* Whether a held-out entity belongs to the calibration split. */
bool kith__is_calibration_entity(uint32_t entity);
/* Which half of the held-out entities one belongs to, for cross-validation. */
bool kith__is_first_half(uint32_t entity);

#endif
