#include "train/fit.h"

#include "core/mem.h"
#include "model/linear.h"
#include "train/fit_calibration.h"
#include "train/fit_regularization.h"
#include "train/fit_rows.h"
#include "train/fit_weights.h"
#include "train/held_out.h"

enum { ROUNDS = 2 };

/* ---- measuring ---- */

/* Rank the queries of a list that have a seen answer, with weights that were not fitted on them;
 * increments `ranked` by their number. */
static kith_status rank_list(kith__held_out_query *out, size_t *ranked, const kith__fit_data *c,
                             const kith__query_list *g, const kith__fusion *fusion,
                             kith_error *error)
{
    size_t seen = c->among.candidates, count = 0;
    const kith__held_out_data data = {c->model, c->evidence, c->embedding, seen, c->known};
    kith__query *queries = kith__alloc(g->count, sizeof *queries);

    if (!queries)
        return kith__no_memory(error);
    for (size_t i = 0; i < g->count; i++)
        if (kith__hidden_side(&c->queries[g->at[i]]) < seen)
            queries[count++] = c->queries[g->at[i]];
    kith_status status = kith__held_out_rank(out + *ranked, &data, fusion, queries, count, error);
    *ranked += count;
    kith__free(queries);
    return status;
}

/* Two-fold: rank each half of the entities with weights fitted on the other half. */
static kith_status rank_halves(kith__held_out_query *out, size_t *ranked, const kith__fit_data *c,
                               const kith__weight_fit *f, float strength, kith_error *error)
{
    kith_status status = KITH_OK;

    for (int k = 0; k < 2 && status == KITH_OK; k++) {
        kith__fusion half = {0};
        kith__default_weights(&half.common, c->embedding);
        status =
            kith__fit_weights(&half, f, k ? KITH__OTHER_HALF : KITH__ONE_HALF, strength, error);
        if (status == KITH_OK)
            status = rank_list(out, ranked, c, &f->lists[k ? KITH__ONE_HALF : KITH__OTHER_HALF],
                               &half, error);
        kith__fusion_release(&half);
    }
    return status;
}

/* Measure on the calibration split or, if it has fewer than ENOUGH queries, on all queries by
 * two-fold cross-validation. */
static kith_status measure(kith__held_out *held_out, const kith__fit_data *c,
                           const kith__weight_fit *f, const kith__fusion *some, float strength,
                           kith_error *error)
{
    enum { ENOUGH = 200 };
    const kith__query_list *calibration = &f->lists[KITH__CALIBRATION_SPLIT];
    bool halves = calibration->count < ENOUGH;
    size_t count = halves ? c->count : calibration->count, ranked = 0;
    kith__held_out_query *queries = kith__alloc(count, sizeof *queries);
    kith_status status;

    TRY(queries ? KITH_OK : kith__no_memory(error));
    TRY(kith__watch_begin(kith__pool_watch(c->model->pool), "measuring on held-out entities", count,
                          error));
    TRY(halves ? rank_halves(queries, &ranked, c, f, strength, error)
               : rank_list(queries, &ranked, c, calibration, some, error));
    TRY(kith__held_out_sum_up(held_out, queries, ranked, error));
cleanup:
    kith__free(queries);
    return status;
}

/* ---- fitting ---- */

static float calibration_loss(const kith__fusion *fusion, const kith__row_table *rows)
{
    double sum = 0;
    size_t count = 0;

    for (size_t q = 0; q < rows->queries; q++)
        if (rows->in_calibration[q] && !rows->unseen[rows->right[q]]) {
            const float *weight = kith__fusion_weights(fusion, rows->relation[q])->all;
            sum += kith__linear_loss(weight, rows, q);
            count++;
        }
    return count ? (float)(sum / (double)count) : 0;
}

/* Rows are first chosen with default weights and then with weights fitted on these rows, so that
 * the rows include candidates that the fitted weights score too high. */
static kith_status fit_rounds(kith__fusion *fusion, kith__fusion *some, kith__held_out *held_out,
                              kith__fit_data *c, kith_error *error)
{
    kith__row_table rows = {0};
    kith__weight_fit f = {0};
    float strength = 0;
    kith_status status = KITH_OK;

    for (int round = 0; round < ROUNDS; round++) {
        kith__weight_fit_release(&f);
        kith__fit_rows_release(&rows);
        TRY(kith__fit_rows(&rows, c, fusion, error));
        TRY(kith__weight_fit_init(&f, &rows, c, error));
        f.every = round > 0;
        if (round > 0)
            TRY(kith__choose_regularization(&strength, &f, error));
        TRY(kith__fit_weights(fusion, &f, KITH__ALL_QUERIES, strength, error));
    }
    /* The steps below use only queries with a seen answer. */
    f.every = false;
    TRY(kith__fit_weights(some, &f, KITH__FITTING_SPLIT, strength, error));
    fusion->queries = (uint32_t)f.lists[KITH__ALL_QUERIES].count;
    fusion->calibration_queries = (uint32_t)f.lists[KITH__CALIBRATION_SPLIT].count;
    fusion->loss = calibration_loss(some, &f.rows);
    if (held_out)
        TRY(measure(held_out, c, &f, some, strength, error));
cleanup:
    kith__weight_fit_release(&f);
    kith__fit_rows_release(&rows);
    return status;
}

kith_status kith__fusion_fit_both(kith__fusion *out, kith__fusion *out_some,
                                  kith__calibration *calibration, kith__held_out *held_out,
                                  kith_model *model, const kith__evidence *evidence,
                                  const kith__holdout *holdout, bool embedding, kith_error *error)
{
    kith__fit_data c = {.model = model, .evidence = evidence, .embedding = embedding};
    kith__fusion fusion = {0}, some = {0};
    kith_status status;

    TRY(kith__fit_data_init(&c, holdout, error));
    kith__default_weights(&fusion.common, embedding);
    some = fusion;
    TRY(fit_rounds(&fusion, &some, held_out, &c, error));
    TRY(kith__calibrate_fusion(calibration, &c, &some, error));
    *out = fusion;
    *out_some = some;
    fusion.own = some.own = NULL;
cleanup:
    kith__fit_data_release(&c);
    kith__fusion_release(&some);
    kith__fusion_release(&fusion);
    return status;
}

kith_status kith__fusion_fit(kith__fusion *out, kith__calibration *calibration, kith_model *model,
                             const kith__evidence *evidence, bool embedding, kith_error *error)
{
    kith__fusion some = {0};
    kith__holdout holdout;
    kith_status status;

    TRY(kith__holdout_init(&holdout, model->graph, model->settings.predict, model->settings.seed,
                           error));
    status = kith__fusion_fit_both(out, &some, calibration, NULL, model, evidence, &holdout,
                                   embedding, error);
    kith__fusion_release(&some);
    kith__holdout_release(&holdout);
cleanup:
    return status;
}
