#include "train/fit_weights.h"

#include <string.h>

#include "core/flag.h"
#include "core/mem.h"

/* Ridge per query. Strongly regularised weights do better on entities that are unlike those fitted
 * on. The value was chosen on graphs held out from train within held-out graphs. */
static const double ridge = .25;
/* With fewer queries than FEW, weights are also regularised towards the usual ones; the fewer
 * queries, the more strongly. */
enum { FEW = 400 };
static const double usual_strength = 300;

/* Usual weights on small graphs, fitted on all held-out queries of 73 small graphs together,
 * without products of features. From these queries alone, the weight of answer frequency would be
 * near 0: many queries ask about a hub, and the only fact of the relation that the answers had was
 * held out with the hub. That weight is set to the value that does best on entities held out of
 * these graphs (docs/TRIED.md). */
static const float usual[KITH__FEATURES_COUNT] = {
    [KITH__F_DIRECT_BEST] = .91f,
    [KITH__F_DIRECT_LOG] = .16f,
    [KITH__F_DIRECT_ALL] = .52f,
    [KITH__F_DIRECT_COUNT] = -.09f,
    [KITH__F_PATH_BEST] = -.17f,
    [KITH__F_PATH_LOG] = .05f,
    [KITH__F_PATH_ALL] = .08f,
    [KITH__F_PATH_COUNT] = .02f,
    [KITH__F_CONSTANT_BEST] = .45f,
    [KITH__F_CONSTANT_LOG] = -.02f,
    [KITH__F_CONSTANT_ALL] = -.13f,
    [KITH__F_CONSTANT_COUNT] = -.07f,
    [KITH__F_DIRECT_MINED] = 2.27f,
    [KITH__F_LINKS] = .83f,
    [KITH__F_CONSTANT_SECOND] = .46f,
    [KITH__F_SHARED_BEST] = 2.81f,
    [KITH__F_SHARED_LOG] = .15f,
    [KITH__F_SHARED_SHARE] = .64f,
    [KITH__F_SHARED_SUM] = .39f,
    [KITH__F_PATH3_LOG] = .25f,
    [KITH__F_BEST] = 2.09f,
    [KITH__F_BEST_LOG] = .18f,
    [KITH__F_ALL] = .49f,
    [KITH__F_PRIOR] = .30f,
    [KITH__F_DEGREE] = -.28f,
    [KITH__F_TYPE] = .26f,
    [KITH__F_TYPE_ALL] = .15f,
    [KITH__F_PROXIMITY] = .15f,
    [KITH__F_PROXIMITY_UNLINKED] = .08f,
};

void kith__default_weights(kith__weights *w, bool embedding)
{
    w->bare[KITH__F_BEST_LOG] = 1;
    w->bare[KITH__F_ALL] = 1;
    w->bare[KITH__F_PRIOR] = .3f;
    memcpy(w->unseen, w->bare, sizeof w->unseen);
    memcpy(w->all, w->bare, sizeof w->all);
    w->all[KITH__F_E_SCORE] = embedding ? .5f : 0;
}

static void usual_weights(kith__weights *w, bool embedding, float factor)
{
    memset(w, 0, sizeof *w);
    for (int k = 0; k < KITH__FEATURES_COUNT; k++)
        w->all[k] = w->bare[k] = w->unseen[k] = factor * usual[k];
    w->all[KITH__F_E_SCORE] = embedding ? .5f * factor : 0;
}

static int list_queries(kith__weight_fit *f, const kith__fit_data *c)
{
    size_t n = f->rows.queries, relations = c->evidence->base->index->relations;
    size_t *start = kith__calloc(relations + 1, sizeof *start);
    bool failed = !start;

    for (int k = 0; k < KITH__QUERY_LISTS; k++)
        failed |= !(f->lists[k].at = kith__alloc(n, sizeof *f->lists[k].at));
    for (size_t q = 0; !failed && q < n; q++)
        start[f->rows.relation[q] + 1]++;
    for (size_t r = 1; !failed && r <= relations; r++)
        start[r] += start[r - 1];
    for (size_t q = 0; !failed && q < n; q++)
        f->lists[KITH__ALL_QUERIES].at[start[f->rows.relation[q]]++] = (uint32_t)q;
    for (size_t i = 0; !failed && i < n; i++) {
        uint32_t q = f->lists[KITH__ALL_QUERIES].at[i];
        kith__query_list *half =
            &f->lists[kith__is_first_half(kith__known_side(&c->queries[q])) ? KITH__ONE_HALF
                                                                            : KITH__OTHER_HALF];
        half->at[half->count++] = q;
        kith__query_list *split =
            &f->lists[f->rows.in_calibration[q] ? KITH__CALIBRATION_SPLIT : KITH__FITTING_SPLIT];
        split->at[split->count++] = q;
    }
    f->lists[KITH__ALL_QUERIES].count = n;
    kith__free(start);
    return failed;
}

/* Offsets that give unseen candidates a share of 0, and queries with an unseen answer a loss of
 * 0. */
static float *offsets_of_seen(const kith__row_table *rows)
{
    float *offset = kith__alloc(rows->rows, sizeof *offset);

    for (size_t q = 0; offset && q < rows->queries; q++) {
        size_t right = rows->right[q];
        for (size_t i = rows->first[q]; i < rows->first[q + 1]; i++) {
            bool counts = i == right || !(rows->unseen[i] || rows->unseen[right]);
            offset[i] = counts ? rows->offset[i] : kith__no_share;
        }
    }
    return offset;
}

/* The features with those of the embedding set to 0. */
static float *features_without_embedding(const kith__row_table *rows)
{
    size_t floats = rows->rows * KITH__FEATURES_COUNT;
    float *feature = kith__alloc(floats, sizeof *feature);

    for (size_t i = 0; feature && i < floats; i++) {
        bool by_embedding =
            kith__feature_part((int)(i % KITH__FEATURES_COUNT)) == KITH_PART_EMBEDDING;
        feature[i] = by_embedding ? 0 : rows->feature[i];
    }
    return feature;
}

kith_status kith__weight_fit_init(kith__weight_fit *f, const kith__row_table *rows,
                                  const kith__fit_data *c, kith_error *error)
{
    *f = (kith__weight_fit){.rows = *rows,
                            .bare = *rows,
                            .unseen = *rows,
                            .embedding = c->embedding,
                            .with_unseen = c->among.unseen_count > 0,
                            .every = true,
                            .pool = c->model->pool};
    f->rows.offset = f->bare.offset = offsets_of_seen(rows);
    f->bare.feature = f->unseen.feature = features_without_embedding(rows);
    if (!f->rows.offset || !f->bare.feature || list_queries(f, c))
        return kith__no_memory(error);
    double least = rows->queries < FEW ? .05 : .005;
    kith__linear_scales(f->scale, &f->rows, least);
    kith__linear_scales(f->unseen_scale, &f->unseen, least);
    return KITH_OK;
}

void kith__weight_fit_release(kith__weight_fit *f)
{
    kith__free(f->rows.offset);
    kith__free(f->bare.feature);
    for (int k = 0; k < KITH__QUERY_LISTS; k++)
        kith__free(f->lists[k].at);
    memset(f, 0, sizeof *f);
}

/* Fit the sets of weights, each regularised towards its values on entry. Sets that would be equal
 * are fitted once: the first two without an embedding, the last two without unseen candidates. */
static kith_status fit(kith__weights *w, const kith__weight_fit *f, kith__query_list g,
                       double strength, kith__pool *pool, kith_error *error)
{
    kith_status status;

    TRY(kith__linear_fit(w->all, &f->rows, f->scale, g.at, g.count, strength, pool, error));
    if (f->every && f->embedding)
        TRY(kith__linear_fit(w->bare, &f->bare, f->scale, g.at, g.count, strength, pool, error));
    else
        memcpy(w->bare, w->all, sizeof w->bare);
    if (f->every && f->with_unseen)
        TRY(kith__linear_fit(w->unseen, &f->unseen, f->unseen_scale, g.at, g.count, strength, pool,
                             error));
    else
        memcpy(w->unseen, w->bare, sizeof w->unseen);
cleanup:
    return status;
}

kith_status kith__fit_common(kith__fusion *fusion, const kith__weight_fit *f, int which,
                             kith_error *error)
{
    double n = (double)f->lists[KITH__ALL_QUERIES].count, to_zero = ridge * n;
    double to_usual = n < FEW ? usual_strength * (1 - n / FEW) : 0;

    kith__fusion_release(fusion);
    fusion->regularization = 0;
    usual_weights(&fusion->common, f->embedding, (float)(to_usual / (to_usual + to_zero)));
    return fit(&fusion->common, f, f->lists[which], to_usual + to_zero, f->pool, error);
}

typedef struct {
    const kith__weight_fit *f;
    const kith__query_list *groups;
    kith__fusion *fusion;
    kith__flag no_memory;
} relation_fit;

static void fit_one(void *context, size_t index)
{
    relation_fit *o = context;
    kith__own_weights *own = &o->fusion->own[index];
    kith__query_list g = o->groups[index];

    own->query = o->f->rows.relation[g.at[0]];
    own->weights = o->fusion->common;
    if (kith__watch_add(kith__pool_watch(o->f->pool), 1))
        return;
    if (fit(&own->weights, o->f, g, (double)o->fusion->regularization, NULL, NULL) != KITH_OK)
        kith__flag_raise(&o->no_memory);
}

kith_status kith__fit_own(kith__fusion *fusion, const kith__weight_fit *f, int which,
                          float strength, kith_error *error)
{
    const uint32_t *relation = f->rows.relation;
    kith__query_list all = f->lists[which], *groups = kith__alloc(all.count, sizeof *groups);
    relation_fit o = {.f = f, .groups = groups, .fusion = fusion};
    kith_status status = KITH_OK;

    kith__fusion_release(fusion);
    fusion->regularization = strength;
    if (!groups)
        TRY(kith__no_memory(error));
    for (size_t from = 0, to; from < all.count; from = to) {
        for (to = from; to < all.count && relation[all.at[to]] == relation[all.at[from]]; to++)
            ;
        groups[fusion->own_count++] = (kith__query_list){all.at + from, to - from};
    }
    fusion->own = kith__alloc(fusion->own_count, sizeof *fusion->own);
    if (!fusion->own)
        TRY(kith__no_memory(error));
    kith__pool_run(f->pool, fit_one, &o, fusion->own_count);
    if (kith__flag_raised(&o.no_memory))
        TRY(kith__no_memory(error));
    TRY(kith__watch_status(kith__pool_watch(f->pool), error));
cleanup:
    if (status != KITH_OK)
        kith__fusion_release(fusion);
    kith__free(groups);
    return status;
}

kith_status kith__fit_weights(kith__fusion *fusion, const kith__weight_fit *f, int which,
                              float strength, kith_error *error)
{
    kith_status status = KITH_OK;

    if (f->lists[which].count == 0)
        return KITH_OK;
    TRY(kith__fit_common(fusion, f, which, error));
    if (strength > 0)
        TRY(kith__fit_own(fusion, f, which, strength, error));
cleanup:
    return status;
}
