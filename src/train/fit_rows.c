#include "train/fit_rows.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "model/fusion_sweep.h"

/* The rows of a query are its BEST candidates and OTHERS drawn from the rest, which represent all
 * of the rest. */
enum { BEST = 100, OTHERS = 24, MOST_ROWS = BEST + OTHERS + 1 };
_Static_assert((int)MOST_ROWS <= (int)KITH__MOST_ROWS, "a query's rows must fit");

/* ---- the queries ---- */

/* Held-out entities are candidates if some hidden fact links two of them. */
static bool asks_for_unseen(const kith__fit_data *c)
{
    uint32_t seen = kith_graph_seen_entity_count(c->model->graph);

    for (size_t i = 0; i < c->count; i++)
        if (kith__hidden_side(&c->queries[i]) >= seen)
            return true;
    return false;
}

kith_status kith__fit_data_init(kith__fit_data *c, const kith__holdout *holdout, kith_error *error)
{
    kith_status status = KITH_OK;

    c->queries = holdout->queries;
    c->count = holdout->query_count;
    TRY(kith__answer_set_init(&c->among, c->model, c->evidence,
                              asks_for_unseen(c) ? KITH_ANSWERS_ALL : KITH_ANSWERS_SEEN, error));
    for (int side = 0; side < 2; side++)
        TRY(kith__known_init(&c->known[side], holdout->graph, NULL, side, error));
    c->feature = kith__alloc(c->count * MOST_ROWS * KITH__FEATURES_COUNT, sizeof *c->feature);
    c->offset = kith__alloc(c->count * MOST_ROWS, sizeof *c->offset);
    c->unseen = kith__alloc(c->count * MOST_ROWS, 1);
    c->taken = kith__alloc(c->count, sizeof *c->taken);
    c->right = kith__alloc(c->count, sizeof *c->right);
    if (!c->feature || !c->offset || !c->unseen || !c->taken || !c->right)
        TRY(kith__no_memory(error));
cleanup:
    return status;
}

void kith__fit_data_release(kith__fit_data *c)
{
    kith__answer_set_release(&c->among);
    kith__known_release(&c->known[0]);
    kith__known_release(&c->known[1]);
    kith__free(c->feature);
    kith__free(c->offset);
    kith__free(c->unseen);
    kith__free(c->taken);
    kith__free(c->right);
}

/* ---- rows of one query ---- */

static bool is_known(const kith__fit_data *c, const kith__query *q, uint32_t candidate)
{
    return candidate != kith__hidden_side(q) &&
           kith__known_has(&c->known[q->subject_hidden], kith__known_side(q), q->fact.relation,
                           candidate);
}

static void add_row(kith__fit_data *c, size_t query, const kith__fusion_workspace *f,
                    uint32_t candidate, float offset)
{
    size_t row = query * MOST_ROWS + c->taken[query];

    if (candidate == kith__hidden_side(&c->queries[query]))
        c->right[query] = (uint32_t)c->taken[query];
    kith__fusion_features(c->feature + row * KITH__FEATURES_COUNT, f, candidate);
    c->offset[row] = offset;
    c->unseen[row] = candidate >= c->among.candidates;
    c->taken[query]++;
}

static bool is_among(const uint32_t *list, size_t count, uint32_t candidate)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == candidate)
            return true;
    return false;
}

static uint32_t draw_candidate(const kith__answer_set *among, kith__rng *rng)
{
    size_t i = (size_t)kith__rng_below(rng, among->candidates + among->unseen_count);
    return i < among->candidates ? (uint32_t)i : among->unseen[i - among->candidates];
}

static void collect(void *context, size_t query, kith__fusion_workspace *f)
{
    kith__fit_data *c = context;
    const kith__query *q = &c->queries[query];
    uint32_t best[BEST], gold = kith__hidden_side(q);
    size_t listed = kith__best_unknown(best, BEST, f->scores, c->among.width, f->shares.known);
    size_t all = c->among.candidates + c->among.unseen_count;
    size_t rest = all - listed - f->shares.known.count;
    float offset = logf((float)(rest + 1) / OTHERS);
    kith__rng rng;

    c->taken[query] = 0;
    for (size_t i = 0; i < listed; i++)
        if (!is_known(c, q, best[i]))
            add_row(c, query, f, best[i], 0);
    if (!is_among(best, listed, gold))
        add_row(c, query, f, gold, 0);
    kith__rng_init(&rng, c->model->settings.seed, UINT64_C(1) << 44 | query);
    for (int i = 0; rest > 2 * OTHERS && rest < all && i < OTHERS; i++) {
        uint32_t e = draw_candidate(&c->among, &rng);
        if (e != gold && !isnan(f->scores[e]) && !is_among(best, listed, e) && !is_known(c, q, e))
            add_row(c, query, f, e, offset);
    }
}

/* ---- rows of all queries ---- */

void kith__fit_rows_release(kith__row_table *r)
{
    kith__free(r->first);
    kith__free(r->right);
    kith__free(r->feature);
    kith__free(r->offset);
    kith__free(r->unseen);
    kith__free(r->in_calibration);
    kith__free(r->relation);
    memset(r, 0, sizeof *r);
}

/* Move the rows of all queries together. */
static int gather_rows(kith__row_table *r, const kith__fit_data *c)
{
    size_t total = 0;

    memset(r, 0, sizeof *r);
    for (size_t q = 0; q < c->count; q++)
        total += c->taken[q];
    r->first = kith__calloc(c->count + 1, sizeof *r->first);
    r->right = kith__alloc(c->count, sizeof *r->right);
    r->in_calibration = kith__alloc(c->count, 1);
    r->relation = kith__alloc(c->count, sizeof *r->relation);
    r->feature = kith__alloc(total * KITH__FEATURES_COUNT, sizeof *r->feature);
    r->offset = kith__alloc(total, sizeof *r->offset);
    r->unseen = kith__alloc(total, 1);
    if (!r->first || !r->right || !r->in_calibration || !r->relation || !r->feature || !r->offset ||
        !r->unseen)
        return -1;
    for (size_t q = 0; q < c->count; q++) {
        memcpy(r->feature + r->rows * KITH__FEATURES_COUNT,
               c->feature + q * MOST_ROWS * KITH__FEATURES_COUNT,
               c->taken[q] * KITH__FEATURES_COUNT * sizeof *r->feature);
        memcpy(r->offset + r->rows, c->offset + q * MOST_ROWS, c->taken[q] * sizeof *r->offset);
        memcpy(r->unseen + r->rows, c->unseen + q * MOST_ROWS, c->taken[q]);
        r->right[r->queries] = (uint32_t)r->rows + c->right[q];
        r->relation[r->queries] = kith__directed_query(c->model->graph, &c->queries[q]);
        r->in_calibration[r->queries++] =
            kith__is_calibration_entity(kith__known_side(&c->queries[q]));
        r->first[r->queries] = r->rows += c->taken[q];
    }
    return 0;
}

kith_status kith__fit_rows(kith__row_table *rows, kith__fit_data *c, const kith__fusion *fusion,
                           kith_error *error)
{
    kith__watch *watch = kith__pool_watch(c->model->pool);
    kith_status status;

    TRY(kith__watch_begin(watch, "collecting evidence", c->count, error));
    TRY(kith__fusion_sweep(c->model, fusion, c->evidence, c->queries, c->count, &c->among, 0,
                           c->embedding, collect, c, error));
    if (gather_rows(rows, c))
        TRY(kith__no_memory(error));
    TRY(kith__watch_begin(watch, "fitting weights", 0, error));
cleanup:
    return status;
}
