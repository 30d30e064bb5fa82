#include "train/query_block.h"

#include <string.h>

#include "core/mem.h"
#include "embed/query_vector.h"
#include "nn/kernels.h"
#include "nn/match.h"

enum {
    PIECES = KITH__QUERY_PIECES,
    BLOCK = KITH__QUERY_BLOCK,
    ID_LISTS = BLOCK + BLOCK / KITH__L1_ROWS,
    VECTORS = 8
};

/* For distances, shared candidates with a smaller share than this are included in the gradients
 * only at random, and then with this share. The threshold is 1 / the number of candidates if that
 * is less. */
#define LEAST_SHARE 1e-3f

/* ---- workspace ---- */

typedef kith__query_run running;

/* The workspace of a piece. */
typedef struct {
    float *scores, *panel, *row, *vectors;
    uint32_t *ids;  /* lists of candidates: one per query, then one per group of KITH__L1_ROWS */
    size_t *listed; /* per query */
} workspace;

static size_t workspace_floats(const kith__query_scores *x)
{
    return BLOCK * x->stride + BLOCK * KITH__PANEL + x->stride + VECTORS * x->scoring->ds;
}

static workspace workspace_of(const kith__query_scores *x, size_t piece)
{
    workspace w = {.scores = x->scratch.at + piece * workspace_floats(x)};

    w.panel = w.scores + BLOCK * x->stride;
    w.row = w.panel + BLOCK * KITH__PANEL;
    w.vectors = w.row + x->stride;
    w.ids = x->ids + piece * ID_LISTS * (x->stride + 1);
    w.listed = x->listed + piece * BLOCK;
    return w;
}

int kith__query_blocks_reserve(kith__query_scores *x)
{
    return kith__floats_reserve(&x->scratch, PIECES * workspace_floats(x)) ||
           kith__renew(&x->listed, &x->listed_capacity, PIECES * BLOCK, sizeof *x->listed) ||
           kith__renew(&x->ids, &x->id_capacity, PIECES * ID_LISTS * (x->stride + 1),
                       sizeof *x->ids);
}

float *kith__query_block_vectors(const kith__query_scores *x, size_t piece)
{
    return workspace_of(x, piece).vectors;
}

/* ---- vectors ---- */

/* The shared candidates of a pass, and where the piece's gradients go. */
static const kith__shared_candidates *view_of(const running *c, size_t piece, float **gradient)
{
    kith__query_scores *x = c->x;
    bool own = c->by_encoding && !kith__query_is_fixed(x);
    kith__shared_candidates *view = c->by_encoding ? &x->encoded[own ? piece : 0] : &x->input;

    *gradient = kith__shared_gradient(view, x->scoring, own ? 0 : piece);
    return view;
}

static void make_query_vectors(const running *c, const workspace *w, size_t from, size_t to)
{
    kith__query_scores *x = c->x;
    size_t ds = x->scoring->ds;

    for (size_t i = from; i < to; i++)
        kith__query_vector_of(c->pass->query_vectors.at + i * ds, x->scoring->settings,
                              x->scoring->params,
                              c->encoded_known ? kith__query_encoded(x, i)
                                               : kith__query_input(x, kith__query_at(x, i)->known),
                              kith__query_at(x, i)->query, w->vectors);
    memset(c->pass->query_vector_gradients.at + from * ds, 0, (to - from) * ds * sizeof(float));
}

/* The unscaled vector of a query's answer. */
static const float *answer_vector(const running *c, size_t i)
{
    return c->by_encoding ? kith__query_encoded(c->x, kith__answer_request(c->x, i))
                          : kith__query_input(c->x, kith__query_at(c->x, i)->answer);
}

static const float *scaled(const kith__query_scores *x, const float *vector, float *scratch)
{
    if (!x->scoring->unit)
        return vector;
    kith__normalize(scratch, vector, x->scoring->d);
    return scratch;
}

/* ---- scores and their loss ---- */

/* The factor of the decoder's scores. */
static float scale_of(const kith__query_scores *x)
{
    return x->scoring->loss->scaled ? (float)x->scoring->settings->scale : 1;
}

static void score_shared(const running *c, const workspace *w, size_t piece, size_t from, size_t to)
{
    const kith__query_scores *x = c->x;
    const kith__shared_negatives *negatives = x->batch->shared;
    const float *query_vectors[BLOCK];
    float *gradient;
    const kith__shared_candidates *view = view_of(c, piece, &gradient);

    for (size_t i = from; i < to; i++)
        query_vectors[i - from] = c->pass->query_vectors.at + i * x->scoring->ds;
    for (size_t p = 0; p < kith__panel_count(&view->panels); p++)
        kith__panel_score(w->scores, x->stride, &view->panels, p, query_vectors, to - from,
                          x->scoring->decoder->distance, scale_of(x), w->panel);
    for (size_t i = from; i < to; i++) {
        float *row = w->scores + (i - from) * x->stride;
        size_t index = x->order[i].index;
        for (size_t j = negatives->shared_count; j < x->stride; j++)
            row[j] = KITH__LEFT_OUT;
        for (size_t k = negatives->left_start[index]; k < negatives->left_start[index + 1]; k++)
            row[negatives->left_out[k]] = KITH__LEFT_OUT;
    }
}

static float score_answer(const running *c, const workspace *w, size_t i)
{
    const kith__query_scores *x = c->x;
    const float *query_vector = c->pass->query_vectors.at + i * x->scoring->ds;
    const float *answer = scaled(x, answer_vector(c, i), w->vectors);

    return scale_of(x) * (x->scoring->decoder->distance
                                            ? -kith__l1(query_vector, answer, x->scoring->ds)
                                            : kith__dot(query_vector, answer, x->scoring->ds));
}

/* The derivatives with respect to the scores of shared candidates: of all of them, or for distances
 * of those that are included. */
static void weigh_shared(const running *c, const workspace *w, size_t i, size_t place, float factor)
{
    const kith__query_scores *x = c->x;
    float unit = scale_of(x) / (float)x->count, *row = w->scores + place * x->stride;
    size_t shared = x->batch->shared->shared_count;
    float least = shared > 1 / LEAST_SHARE ? 1 / (float)shared : LEAST_SHARE;
    uint32_t seed = x->batch->shared->seed + x->order[i].index * 0x9e3779b1u;

    if (x->scoring->decoder->distance)
        w->listed[place] = kith__row_thin(row, w->ids + place * (x->stride + 1), factor,
                                          least * unit, seed, x->stride);
    else
        kith__row_scale(row, factor, x->stride);
}

static void run_loss(const running *c, const workspace *w, size_t i, size_t place)
{
    const kith__query_scores *x = c->x;
    float *answer = &c->pass->by_answer.at[i];
    kith__scores scores = {.positive = answer,
                           .negative = w->scores + place * x->stride,
                           .count = x->stride,
                           .groups = x->count,
                           .settings = x->scoring->settings,
                           .scratch = w->row,
                           .factor = 1};

    *answer = score_answer(c, w, i);
    c->pass->loss.at[i] = (float)x->scoring->loss->run(&scores);
    weigh_shared(c, w, i, place, scores.factor);
}

/* ---- gradients ---- */

/* The score of the answer's vector a is v . a or -|v - a|_1 for the query vector v. */
void kith__query_answer_backward(float *to, const running *c, size_t i, float *scratch)
{
    const kith__query_scores *x = c->x;
    size_t ds = x->scoring->ds, d = x->scoring->d;
    const float *query_vector = c->pass->query_vectors.at + i * ds, *vector = answer_vector(c, i);
    float *unit = scratch, *gradient = scratch + ds, g = c->pass->by_answer.at[i];

    if (!x->scoring->decoder->distance) {
        kith__axpy(to, g, query_vector, ds);
    } else if (!x->scoring->unit) {
        kith__sign_axpy(to, g, query_vector, vector, ds);
    } else {
        float inverse = kith__normalize(unit, vector, d);
        memset(gradient, 0, ds * sizeof *gradient);
        kith__sign_axpy(gradient, g, query_vector, unit, ds);
        kith__normalize_backward(to, gradient, unit, inverse, d);
    }
}

static void query_vector_from_answer(const running *c, const workspace *w, size_t i)
{
    const kith__query_scores *x = c->x;
    size_t ds = x->scoring->ds;
    const float *query_vector = c->pass->query_vectors.at + i * ds;
    float *to = c->pass->query_vector_gradients.at + i * ds, g = c->pass->by_answer.at[i];

    if (g == 0)
        return;
    const float *answer = scaled(x, answer_vector(c, i), w->vectors);
    if (x->scoring->decoder->distance)
        kith__sign_axpy(to, -g, query_vector, answer, ds);
    else
        kith__axpy(to, g, answer, ds);
}

/* Queries with the same candidates: their indices in the block, and these candidates. */
typedef struct {
    size_t place, rows;
    const uint32_t *ids;
    size_t count;
} meeting;

/* Queries are grouped if they share enough candidates that the kernel for several queries, which is
 * faster per query, need not process many more. */
static size_t find_meetings(meeting *met, const kith__query_scores *x, const workspace *w,
                            size_t queries)
{
    size_t count = 0, length = x->stride + 1;

    for (size_t i = 0; i < queries; i += KITH__L1_ROWS) {
        size_t rows = queries - i < KITH__L1_ROWS ? queries - i : KITH__L1_ROWS, sum = 0;
        uint32_t *ids = w->ids + (BLOCK + i / KITH__L1_ROWS) * length;
        size_t all = kith__rows_used(ids, w->scores + i * x->stride, rows, x->stride, x->stride);
        for (size_t r = i; r < i + rows; r++)
            sum += w->listed[r];
        if (rows == KITH__L1_ROWS && 2 * sum > 5 * all)
            met[count++] = (meeting){i, rows, ids, all};
        else
            for (size_t r = i; r < i + rows; r++)
                met[count++] = (meeting){r, 1, w->ids + r * length, w->listed[r]};
    }
    return count;
}

/* A few candidates at a time stay in the cache for all queries of the block. */
static void shared_distances_backward(const running *c, const workspace *w,
                                      const kith__shared_candidates *view, float *gradient,
                                      size_t from, size_t to)
{
    const kith__query_scores *x = c->x;
    size_t ds = x->scoring->ds;
    meeting met[BLOCK];
    size_t count = find_meetings(met, x, w, to - from);

    for (size_t end = KITH__L1_CANDIDATES; end < x->stride + KITH__L1_CANDIDATES;
         end += KITH__L1_CANDIDATES)
        for (meeting *m = met; m < met + count; m++) {
            size_t used = 0, at = (from + m->place) * ds;
            while (used < m->count && m->ids[used] < end)
                used++;
            if (used > 0)
                kith__l1_backward(c->pass->query_vector_gradients.at + at, gradient,
                                  c->pass->query_vectors.at + at, m->rows, view->rows.at, m->ids,
                                  used, w->scores + m->place * x->stride, x->stride, ds);
            m->ids += used;
            m->count -= used;
        }
}

static void shared_products_backward(const running *c, const workspace *w,
                                     const kith__shared_candidates *view, float *gradient,
                                     size_t from, size_t to)
{
    const kith__query_scores *x = c->x;
    size_t ds = x->scoring->ds;
    const float *g[BLOCK], *query_vectors[BLOCK];

    for (size_t i = from; i < to; i++) {
        g[i - from] = w->scores + (i - from) * x->stride;
        query_vectors[i - from] = c->pass->query_vectors.at + i * ds;
    }
    kith__rows_times(c->pass->query_vector_gradients.at + from * ds, g, to - from, view->rows.at,
                     x->batch->shared->shared_count, ds, 1);
    kith__outer_sum(gradient, w->scores, query_vectors, to - from, x->stride, ds);
}

static void block_backward(const running *c, const workspace *w, size_t piece, size_t from,
                           size_t to)
{
    const kith__query_scores *x = c->x;
    size_t ds = x->scoring->ds, d = x->scoring->d;
    float *gradient;
    const kith__shared_candidates *view = view_of(c, piece, &gradient);

    if (x->scoring->decoder->distance)
        shared_distances_backward(c, w, view, gradient, from, to);
    else
        shared_products_backward(c, w, view, gradient, from, to);
    for (size_t i = from; i < to; i++) {
        memset(c->pass->query_vector_gradients.at + i * ds + d, 0, (ds - d) * sizeof(float));
        query_vector_from_answer(c, w, i);
    }
}

void kith__query_block_run(const running *c, size_t piece, size_t from, size_t to)
{
    workspace w = workspace_of(c->x, piece);

    make_query_vectors(c, &w, from, to);
    score_shared(c, &w, piece, from, to);
    for (size_t i = from; i < to; i++)
        run_loss(c, &w, i, i - from);
    block_backward(c, &w, piece, from, to);
}
