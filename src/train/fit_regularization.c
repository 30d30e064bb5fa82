#include "train/fit_regularization.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"

/* How well a query is answered: the negative log share of the correct row, and its reciprocal rank
 * among the rows. */
typedef struct {
    double loss, reciprocal;
} mark;

static mark mark_of(const kith__fusion *fusion, const kith__row_table *rows, size_t query)
{
    const float *weight = kith__fusion_weights(fusion, rows->relation[query])->all;
    float right = kith__linear(weight, rows->feature + rows->right[query] * KITH__FEATURES_COUNT);
    double rank = .5; /* the correct row ties with itself, which adds one half */

    for (size_t i = rows->first[query]; i < rows->first[query + 1]; i++) {
        float score = kith__linear(weight, rows->feature + i * KITH__FEATURES_COUNT);
        if (rows->offset[i] == kith__no_share)
            continue;
        rank += score > right ? 1 : score == right ? .5 : 0;
    }
    return (mark){kith__linear_loss(weight, rows, query), 1 / rank};
}

static double mean_loss(const mark *marks, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += marks[i].loss;
    return sum / (double)count;
}

/* Whether reciprocal ranks rose by more than two standard errors. */
static bool has_risen(const mark *now, const mark *before, size_t count)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        double by = now[i].reciprocal - before[i].reciprocal;
        sum += by;
        squares += by * by;
    }
    return sum > 2 * sqrt(fmax(squares - sum * sum / (double)count, 0));
}

/* Score each half of the entities with weights fitted on the other half. The common weights are
 * already fitted; with a strength of 0 only these are used. */
static kith_status cross_validate(mark *marks, kith__fusion fusions[2], const kith__weight_fit *f,
                                  float strength, kith_error *error)
{
    kith_status status = KITH_OK;

    for (int k = 0; k < 2; k++) {
        const kith__query_list *judged = &f->lists[k ? KITH__ONE_HALF : KITH__OTHER_HALF];
        if (strength > 0)
            TRY(kith__fit_own(&fusions[k], f, k ? KITH__OTHER_HALF : KITH__ONE_HALF, strength,
                              error));
        for (size_t i = 0; i < judged->count; i++)
            marks[judged->at[i]] = mark_of(&fusions[k], &f->rows, judged->at[i]);
    }
cleanup:
    return status;
}

kith_status kith__choose_regularization(float *strength, const kith__weight_fit *all,
                                        kith_error *error)
{
    static const float strengths[] = {300, 100, 30, 10, 3};
    kith__weight_fit first = *all, *f = &first;
    size_t n = f->rows.queries;
    mark *common = kith__alloc(3 * n, sizeof *common), *best = common + n, *next = best + n;
    kith__fusion fusions[2] = {{.regularization = 0}, {.regularization = 0}};
    kith_status status = KITH_OK;

    *strength = 0;
    first.every = false;
    if (!common)
        TRY(kith__no_memory(error));
    TRY(kith__fit_common(&fusions[0], f, KITH__ONE_HALF, error));
    TRY(kith__fit_common(&fusions[1], f, KITH__OTHER_HALF, error));
    TRY(cross_validate(common, fusions, f, 0, error));
    memcpy(best, common, n * sizeof *best);
    for (size_t i = 0; i < sizeof strengths / sizeof *strengths; i++) {
        TRY(cross_validate(next, fusions, f, strengths[i], error));
        if (!(mean_loss(next, n) < mean_loss(best, n)))
            break;
        memcpy(best, next, n * sizeof *best);
        *strength = strengths[i];
    }
    if (!has_risen(best, common, n))
        *strength = 0;
cleanup:
    kith__fusion_release(&fusions[0]);
    kith__fusion_release(&fusions[1]);
    kith__free(common);
    return status;
}
