#include "train/holdout.h"

#include <string.h>

#include "core/mem.h"

enum {
    SPLITS = 5,
    MOST_FITTING = 2000,
    MOST_CALIBRATION = 600,
    FEWEST_CALIBRATION = 50,
    TIMES = 3
};

/* ---- splits of the entities ---- */

static uint64_t hash_of(uint32_t entity)
{
    return (entity + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
}

bool kith__is_calibration_entity(uint32_t entity)
{
    return (hash_of(entity) >> 40) % SPLITS == 0;
}

bool kith__is_first_half(uint32_t entity)
{
    return hash_of(entity) >> 63;
}

static bool is_fitting_entity(uint32_t entity)
{
    return !kith__is_calibration_entity(entity);
}

/* ---- queries ---- */

/* A hidden fact is queried from its held-out end. If both ends are held out and both sides are
 * predicted, the ends take turns. */
static kith__query query_of(kith_triple fact, uint32_t seen, kith_predict predict, size_t turn)
{
    bool between = fact.subject >= seen && fact.object >= seen;
    bool subject_hidden = predict == KITH_PREDICT_SUBJECT ||
                          (predict == KITH_PREDICT_BOTH && turn % 2 == 1);

    return (kith__query){fact, between ? subject_hidden : fact.object >= seen};
}

static kith_status list_queries(kith__holdout *h, kith_predict predict, kith_error *error)
{
    kith_facts test = kith_graph_facts(h->graph, KITH_TEST);
    uint32_t m = h->graph->seen_relations;

    if (!(h->queries = kith__alloc(test.count, sizeof *h->queries)))
        return kith__no_memory(error);
    for (size_t i = 0; i < test.count; i++)
        if (test.at[i].relation < m)
            h->queries[h->query_count++] =
                query_of(test.at[i], h->graph->seen_entities, predict, i);
    return KITH_OK;
}

/* ---- descriptions ---- */

/* If the calibration split is too small, all entities are described. */
static kith_status describe(kith__holdout *h, uint64_t seed, kith_error *error)
{
    kith__description_options for_fitting = {is_fitting_entity, MOST_FITTING, 1, seed};
    kith__description_options for_calibration = {kith__is_calibration_entity, MOST_CALIBRATION,
                                                 TIMES, seed};
    kith_status status;

    TRY(kith__descriptions_init(&h->fitting, h->graph, &for_fitting, error));
    TRY(kith__descriptions_init(&h->calibration, h->graph, &for_calibration, error));
    if (h->calibration.distinct < FEWEST_CALIBRATION) {
        kith__descriptions_release(&h->calibration);
        for_calibration.is_wanted = NULL;
        TRY(kith__descriptions_init(&h->calibration, h->graph, &for_calibration, error));
    }
cleanup:
    return status;
}

kith_status kith__holdout_init(kith__holdout *h, const kith_graph *graph, kith_predict predict,
                               uint64_t seed, kith_error *error)
{
    kith_status status;

    *h = (kith__holdout){.graph = graph};
    TRY(list_queries(h, predict, error));
    TRY(describe(h, seed, error));
cleanup:
    if (status != KITH_OK)
        kith__holdout_release(h);
    return status;
}

kith_status kith__holdout_init_of_facts(kith__holdout *h, const kith_graph *graph,
                                        kith_error *error)
{
    kith_facts test = kith_graph_facts(graph, KITH_TEST);

    *h = (kith__holdout){.graph = graph,
                         .queries = kith__alloc(2 * test.count, sizeof *h->queries)};
    if (!h->queries)
        return kith__no_memory(error);
    for (size_t i = 0; i < test.count; i++)
        for (int subject_hidden = 0; subject_hidden < 2; subject_hidden++)
            if (test.at[i].relation < graph->seen_relations)
                h->queries[h->query_count++] = (kith__query){test.at[i], subject_hidden};
    return KITH_OK;
}

void kith__holdout_release(kith__holdout *h)
{
    kith__free(h->queries);
    kith__descriptions_release(&h->fitting);
    kith__descriptions_release(&h->calibration);
    memset(h, 0, sizeof *h);
}
