#include "train/softmax.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "embed/query_vector.h"
#include "nn/kernels.h"
#include "nn/match.h"

enum {
    PIECES = KITH__SOFTMAX_PIECES,
    BLOCK = 32,
    ID_LISTS = BLOCK + BLOCK / KITH__L1_ROWS,
    VECTORS = 8,
    LANES = 8
};

/* Of distances, only shared candidates with a larger share always take part in the gradients; the
 * others now and then, with this share. This is 1 over the number of candidates where that is less. */
#define LEAST_SHARE 1e-3f

void kith__softmax_init(kith__softmax *x, kith__encoder *encoder, const kith__params *params,
                        const kith_settings *settings)
{
    memset(x, 0, sizeof *x);
    x->encoder = encoder;
    x->params = params;
    x->settings = settings;
    x->d = settings->dim;
    x->ds = kith__encoder_stride(encoder);
    x->by_encoding = settings->candidate_vectors == KITH_CANDIDATES_ENCODED;
}

static void release_shared(kith__shared_candidates *s)
{
    kith__free(s->rows.at);
    kith__free(s->inverse.at);
    kith__free(s->gradient.at);
    kith__panels_release(&s->panels);
}

static void release_pass(kith__softmax_pass *p)
{
    kith__free(p->query_vectors.at);
    kith__free(p->query_vector_gradients.at);
    kith__free(p->by_answer.at);
    kith__free(p->loss.at);
}

void kith__softmax_release(kith__softmax *x)
{
    release_shared(&x->input);
    for (int i = 0; i < PIECES; i++)
        release_shared(&x->encoded[i]);
    release_pass(&x->out);
    release_pass(&x->in);
    kith__free(x->order);
    kith__free(x->spare);
    kith__free(x->request);
    kith__free(x->group);
    kith__free(x->scratch.at);
    kith__free(x->ids);
    kith__free(x->listed);
    memset(x, 0, sizeof *x);
}

/* ---- what is what ---- */

static const kith__decoder *decoder_of(const kith__softmax *x)
{
    return kith__decoder_get(x->settings->decoder);
}

static bool is_unit(const kith__softmax *x)
{
    return kith__is_unit(x->settings);
}

/* Whether shared candidates have the same vectors for all queries. */
static bool is_fixed(const kith__softmax *x)
{
    return !x->by_encoding || !kith__encoder_query_aware(x->encoder);
}

static uint32_t half_of(const kith__softmax *x)
{
    return (uint32_t)kith__trans(x->params)->rows / 2;
}

static uint32_t inverse_of(const kith__softmax *x, uint32_t query)
{
    return query < half_of(x) ? query + half_of(x) : query - half_of(x);
}

static const kith__softmax_query *asked_at(const kith__softmax *x, size_t i)
{
    return &x->asked[x->order[i].index];
}

static const float *input_row(const kith__softmax *x, uint32_t entity)
{
    return kith__row(kith__ent(x->params), entity);
}

/* ---- encodings ---- */

static size_t encoding_of(const kith__softmax *x, size_t request)
{
    return kith__encoder_find(x->encoder, x->request[request]);
}

static const float *encoded(const kith__softmax *x, size_t request)
{
    return kith__encoder_vector(x->encoder, encoding_of(x, request));
}

static size_t answer_request(const kith__softmax *x, size_t i)
{
    return x->count + i;
}

static size_t shared_request(const kith__softmax *x, size_t group, size_t place)
{
    return 2 * x->count + group * x->shared + place;
}

static void find_groups(kith__softmax *x)
{
    x->groups = 0;
    for (size_t i = 0; i < x->count; i++) {
        x->groups += i == 0 || (!is_fixed(x) && x->order[i].major != x->order[i - 1].major);
        x->group[i] = (uint32_t)x->groups - 1;
    }
}

static int sort_queries(kith__softmax *x)
{
    if (kith__renew(&x->order, &x->order_capacity, x->count, sizeof *x->order) ||
        kith__renew(&x->spare, &x->spare_capacity, x->count, sizeof *x->spare) ||
        kith__renew(&x->group, &x->group_capacity, x->count, sizeof *x->group))
        return -1;
    for (size_t i = 0; i < x->count; i++)
        x->order[i] = (kith__item){x->asked[i].query, x->asked[i].known, (uint32_t)i};
    kith__radix_sort(x->order, x->spare, x->count, kith__trans(x->params)->rows,
                     kith__ent(x->params)->rows);
    find_groups(x);
    return 0;
}

/* The known side for the query, candidates for its inverse. Where the fact is hidden from its ends, it
 * is hidden from the known side and the right answer. */
static void request_query(kith__softmax *x, size_t i)
{
    const kith__softmax_query *a = asked_at(x, i);
    uint32_t back = inverse_of(x, a->query);
    kith_neighbor from_known = {a->query, a->answer}, from_answer = {back, a->known};
    bool mask = x->settings->mask;

    x->request[i] =
        kith__encoder_request(x->encoder, a->known, a->query, mask ? &from_known : NULL);
    if (x->by_encoding)
        x->request[answer_request(x, i)] =
            kith__encoder_request(x->encoder, a->answer, back, mask ? &from_answer : NULL);
}

static kith_status encode(kith__softmax *x, kith_error *error)
{
    size_t more = x->by_encoding ? x->count + x->groups * x->shared : 0;

    if (kith__renew(&x->request, &x->request_capacity, x->count + more, sizeof *x->request))
        return kith__no_memory(error);
    kith__encoder_begin(x->encoder);
    kith__encoder_keep(x->encoder);
    for (size_t i = 0; i < x->count; i++)
        request_query(x, i);
    for (size_t i = 0; x->by_encoding && i < x->count; i++)
        for (size_t j = 0; (i == 0 || x->group[i] != x->group[i - 1]) && j < x->shared; j++)
            x->request[shared_request(x, x->group[i], j)] =
                kith__encoder_request(x->encoder, x->negatives->shared[j],
                                      inverse_of(x, asked_at(x, i)->query), NULL);
    return kith__encoder_forward(x->encoder, error);
}

/* ---- shared candidates ---- */

static int room_for_shared(const kith__softmax *x, kith__shared_candidates *s, size_t pieces)
{
    size_t floats = x->stride * x->ds;

    if (kith__floats_reserve(&s->rows, floats) || kith__floats_reserve(&s->inverse, x->stride) ||
        kith__floats_reserve(&s->gradient, pieces * floats) ||
        kith__panels_reserve(&s->panels, x->shared, x->d))
        return -1;
    memset(s->rows.at, 0, floats * sizeof(float));
    memset(s->gradient.at, 0, pieces * floats * sizeof(float));
    return 0;
}

/* Copy the vectors, scaled where the decoder wants that: by encodings of a group, or by inputs. */
static void load_shared(const kith__softmax *x, kith__shared_candidates *s, bool encodings,
                        size_t group)
{
    size_t ds = x->ds;

    for (size_t j = 0; j < x->shared; j++) {
        const float *from = encodings ? encoded(x, shared_request(x, group, j))
                                      : input_row(x, x->negatives->shared[j]);
        float *to = s->rows.at + j * ds;
        if (is_unit(x))
            s->inverse.at[j] = kith__normalize(to, from, x->d);
        else
            memcpy(to, from, ds * sizeof *to);
    }
    kith__panels_pack(&s->panels, s->rows.at, ds);
}

static int prepare_shared(kith__softmax *x)
{
    if (!x->by_encoding || x->settings->subtask) {
        if (room_for_shared(x, &x->input, PIECES))
            return -1;
        load_shared(x, &x->input, false, 0);
    }
    if (!x->by_encoding)
        return 0;
    for (int i = 0; i < (is_fixed(x) ? 1 : PIECES); i++)
        if (room_for_shared(x, &x->encoded[i], is_fixed(x) ? PIECES : 1))
            return -1;
    if (is_fixed(x))
        load_shared(x, &x->encoded[0], true, 0);
    return 0;
}

/* Add a row's gradient to that of the vector that the row was made from. */
static void add_shared(const kith__softmax *x, float *to, const kith__shared_candidates *s,
                       size_t j, float *gradient)
{
    size_t ds = x->ds, d = x->d;

    memset(gradient + d, 0, (ds - d) * sizeof *gradient); /* kernels leave something there */
    if (is_unit(x))
        kith__normalize_backward(to, gradient, s->rows.at + j * ds, s->inverse.at[j], d);
    else
        kith__axpy(to, 1, gradient, ds);
}

/* What the pieces found, all in the first one's place. */
static void sum_pieces(const kith__softmax *x, kith__shared_candidates *s)
{
    size_t floats = x->stride * x->ds;

    for (size_t p = 1; p < PIECES; p++)
        kith__axpy(s->gradient.at, 1, s->gradient.at + p * floats, floats);
}

/* ---- a block of queries ---- */

typedef struct {
    kith__softmax *x;
    kith__softmax_pass *pass;
    bool encoded_known, by_encoding; /* else by input embeddings */
} running;

/* The workspace of a piece. */
typedef struct {
    float *scores, *panel, *row, *vectors;
    uint32_t *ids;  /* lists of places: one per query, then one per group of KITH__L1_ROWS */
    size_t *listed; /* per query */
} workspace;

static size_t workspace_floats(const kith__softmax *x)
{
    return BLOCK * x->stride + BLOCK * KITH__PANEL + x->stride + VECTORS * x->ds;
}

static workspace workspace_of(const kith__softmax *x, size_t piece)
{
    workspace w = {.scores = x->scratch.at + piece * workspace_floats(x)};

    w.panel = w.scores + BLOCK * x->stride;
    w.row = w.panel + BLOCK * KITH__PANEL;
    w.vectors = w.row + x->stride;
    w.ids = x->ids + piece * ID_LISTS * (x->stride + 1);
    w.listed = x->listed + piece * BLOCK;
    return w;
}

/* The shared candidates that a pass compares with, and where the piece's gradients go. */
static const kith__shared_candidates *view_of(const running *c, size_t piece, float **gradient)
{
    kith__softmax *x = c->x;
    bool own = c->by_encoding && !is_fixed(x);
    kith__shared_candidates *view = c->by_encoding ? &x->encoded[own ? piece : 0] : &x->input;

    *gradient = view->gradient.at + (own ? 0 : piece * x->stride * x->ds);
    return view;
}

static void make_query_vectors(const running *c, const workspace *w, size_t from, size_t to)
{
    kith__softmax *x = c->x;
    size_t ds = x->ds;

    for (size_t i = from; i < to; i++)
        kith__query_vector_of(
            c->pass->query_vectors.at + i * ds, x->settings, x->params,
            c->encoded_known ? encoded(x, i) : input_row(x, asked_at(x, i)->known),
            asked_at(x, i)->query, w->vectors);
    memset(c->pass->query_vector_gradients.at + from * ds, 0, (to - from) * ds * sizeof(float));
}

static void score_shared(const running *c, const workspace *w, size_t piece, size_t from, size_t to)
{
    const kith__softmax *x = c->x;
    const kith__softmax_negatives *negatives = x->negatives;
    const float *query_vectors[BLOCK];
    float *gradient;
    const kith__shared_candidates *view = view_of(c, piece, &gradient);

    for (size_t i = from; i < to; i++)
        query_vectors[i - from] = c->pass->query_vectors.at + i * x->ds;
    for (size_t p = 0; p < kith__panel_count(&view->panels); p++)
        kith__panel_score(w->scores, x->stride, &view->panels, p, query_vectors, to - from,
                          decoder_of(x)->distance, (float)x->settings->scale, w->panel);
    for (size_t i = from; i < to; i++) {
        float *row = w->scores + (i - from) * x->stride;
        size_t index = x->order[i].index;
        for (size_t j = x->shared; j < x->stride; j++)
            row[j] = KITH__LEFT_OUT;
        for (size_t k = negatives->left_start[index]; k < negatives->left_start[index + 1]; k++)
            row[negatives->left_out[k]] = KITH__LEFT_OUT;
    }
}

/* The vector of a query's answer, as it is. */
static const float *answer_vector(const running *c, size_t i)
{
    return c->by_encoding ? encoded(c->x, answer_request(c->x, i))
                          : input_row(c->x, asked_at(c->x, i)->answer);
}

static const float *scaled(const kith__softmax *x, const float *vector, float *scratch)
{
    if (!is_unit(x))
        return vector;
    kith__normalize(scratch, vector, x->d);
    return scratch;
}

static float score_answer(const running *c, const workspace *w, size_t i)
{
    const kith__softmax *x = c->x;
    const float *query_vector = c->pass->query_vectors.at + i * x->ds;
    const float *answer = scaled(x, answer_vector(c, i), w->vectors);

    return (float)x->settings->scale * (decoder_of(x)->distance
                                            ? -kith__l1(query_vector, answer, x->ds)
                                            : kith__dot(query_vector, answer, x->ds));
}

/* Derivatives by the scores of shared candidates, from their exponentials. */
static void weigh_shared(const running *c, const workspace *w, size_t i, size_t place, float sum)
{
    const kith__softmax *x = c->x;
    float unit = (float)x->settings->scale / (float)x->count, *row = w->scores + place * x->stride;
    float least = x->shared > 1 / LEAST_SHARE ? 1 / (float)x->shared : LEAST_SHARE;
    uint32_t seed = x->negatives->seed + x->order[i].index * 0x9e3779b1u;

    if (decoder_of(x)->distance)
        w->listed[place] = kith__row_thin(row, w->ids + place * (x->stride + 1), unit / sum,
                                          least * unit, seed, x->stride);
    else
        kith__row_scale(row, unit / sum, x->stride);
}

/* From scores to derivatives of the loss by the decoder's: (share - 1 if right) scale / count. */
static void close_query(const running *c, const workspace *w, size_t i, size_t place)
{
    const kith__softmax *x = c->x;
    float *row = w->scores + place * x->stride, unit = (float)x->settings->scale / (float)x->count;
    float answer = score_answer(c, w, i);
    _Alignas(64) float own[LANES] = {answer};

    for (size_t k = 1; k < LANES; k++)
        own[k] = KITH__LEFT_OUT;
    float most = fmaxf(kith__row_most(row, x->stride), answer);
    bool broken = kith__row_broken(row, x->stride) || kith__row_broken(own, LANES);
    float sum = kith__row_exp(row, most, x->stride, w->row);

    sum += kith__row_exp(own, most, LANES, w->row);
    c->pass->loss.at[i] = broken ? NAN : logf(sum) + (most - answer);
    weigh_shared(c, w, i, place, sum);
    kith__row_scale(own, unit / sum, LANES);
    c->pass->by_answer.at[i] = own[0] - unit;
}

/* ---- and back ---- */

/* to += the gradient by the answer's vector: the score is v . x or -|v - x|_1 for the query vector v. */
static void answer_backward(const kith__softmax *x, float *to, float g, const float *query_vector,
                         const float *vector, float *scratch)
{
    size_t ds = x->ds;
    float *unit = scratch, *gradient = scratch + ds;

    if (!decoder_of(x)->distance) {
        kith__axpy(to, g, query_vector, ds);
    } else if (!is_unit(x)) {
        kith__sign_axpy(to, g, query_vector, vector, ds);
    } else {
        float inverse = kith__normalize(unit, vector, x->d);
        memset(gradient, 0, ds * sizeof *gradient);
        kith__sign_axpy(gradient, g, query_vector, unit, ds);
        kith__normalize_backward(to, gradient, unit, inverse, x->d);
    }
}

static void query_vector_from_answer(const running *c, const workspace *w, size_t i)
{
    const kith__softmax *x = c->x;
    size_t ds = x->ds;
    const float *query_vector = c->pass->query_vectors.at + i * ds;
    float *to = c->pass->query_vector_gradients.at + i * ds, g = c->pass->by_answer.at[i];

    if (g == 0)
        return;
    const float *answer = scaled(x, answer_vector(c, i), w->vectors);
    if (decoder_of(x)->distance)
        kith__sign_axpy(to, -g, query_vector, answer, ds);
    else
        kith__axpy(to, g, answer, ds);
}

/* Queries that meet the same candidates: where they stand in the block, and which those are. */
typedef struct {
    size_t place, rows;
    const uint32_t *ids;
    size_t count;
} meeting;

/* Queries are taken together where they share enough candidates that the kernel for several, which is
 * faster for each, need not look at many more. */
static size_t find_meetings(meeting *met, const kith__softmax *x, const workspace *w,
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

/* Candidates are taken a few at a time, which stay in the cache for all queries of the block. */
static void shared_distances_backward(const running *c, const workspace *w,
                                      const kith__shared_candidates *view, float *gradient,
                                      size_t from, size_t to)
{
    const kith__softmax *x = c->x;
    size_t ds = x->ds;
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
    const kith__softmax *x = c->x;
    size_t ds = x->ds;
    const float *g[BLOCK], *query_vectors[BLOCK];

    for (size_t i = from; i < to; i++) {
        g[i - from] = w->scores + (i - from) * x->stride;
        query_vectors[i - from] = c->pass->query_vectors.at + i * ds;
    }
    kith__rows_times(c->pass->query_vector_gradients.at + from * ds, g, to - from, view->rows.at,
                     x->shared, ds, 1);
    kith__outer_sum(gradient, w->scores, query_vectors, to - from, x->stride, ds);
}

static void block_backward(const running *c, const workspace *w, size_t piece, size_t from,
                           size_t to)
{
    const kith__softmax *x = c->x;
    size_t ds = x->ds, d = x->d;
    float *gradient;
    const kith__shared_candidates *view = view_of(c, piece, &gradient);

    if (decoder_of(x)->distance)
        shared_distances_backward(c, w, view, gradient, from, to);
    else
        shared_products_backward(c, w, view, gradient, from, to);
    for (size_t i = from; i < to; i++) {
        memset(c->pass->query_vector_gradients.at + i * ds + d, 0, (ds - d) * sizeof(float));
        query_vector_from_answer(c, w, i);
    }
}

static void run_block(const running *c, size_t piece, size_t from, size_t to)
{
    workspace w = workspace_of(c->x, piece);

    make_query_vectors(c, &w, from, to);
    score_shared(c, &w, piece, from, to);
    for (size_t i = from; i < to; i++)
        close_query(c, &w, i, i - from);
    block_backward(c, &w, piece, from, to);
}

/* ---- pieces ---- */

/* Where a piece begins; between groups, where each has candidates of its own. */
static size_t piece_start(const kith__softmax *x, size_t piece)
{
    size_t i = x->count * piece / PIECES;

    while (!is_fixed(x) && i > 0 && i < x->count && x->group[i] == x->group[i - 1])
        i++;
    return i;
}

/* Shared candidates of a group back to its encodings, which no other group has. */
static void close_group(const kith__softmax *x, size_t piece, size_t group)
{
    kith__shared_candidates *s = (kith__shared_candidates *)&x->encoded[piece];
    size_t ds = x->ds;

    for (size_t j = 0; j < x->shared; j++)
        add_shared(x, kith__encoder_grad(x->encoder, encoding_of(x, shared_request(x, group, j))),
                   s, j, s->gradient.at + j * ds);
    memset(s->gradient.at, 0, x->stride * ds * sizeof(float));
}

static void run_piece(void *context, size_t piece)
{
    const running *c = context;
    kith__softmax *x = c->x;
    bool grouped = c->by_encoding && !is_fixed(x);
    size_t last = piece_start(x, piece + 1), to;

    for (size_t from = piece_start(x, piece); from < last; from = to) {
        bool first = from == 0 || x->group[from] != x->group[from - 1];
        for (to = from + 1; to < last && to - from < BLOCK && x->group[to] == x->group[from]; to++)
            ;
        if (grouped && first)
            load_shared(x, &x->encoded[piece], true, x->group[from]);
        run_block(c, piece, from, to);
        if (grouped && (to == x->count || x->group[to] != x->group[from]))
            close_group(x, piece, x->group[from]);
    }
}

static int room_for_pass(const kith__softmax *x, kith__softmax_pass *p)
{
    size_t floats = x->count * x->ds;
    return kith__floats_reserve(&p->query_vectors, floats) || kith__floats_reserve(&p->query_vector_gradients, floats) ||
           kith__floats_reserve(&p->by_answer, x->count) || kith__floats_reserve(&p->loss, x->count);
}

/* Returns the loss. */
static double run_pass(kith__softmax *x, kith__softmax_pass *pass, bool main)
{
    running c = {.x = x,
                 .pass = pass,
                 .encoded_known = main,
                 .by_encoding = main && x->by_encoding};
    double sum = 0;

    kith__pool_run(kith__encoder_pool(x->encoder), run_piece, &c, PIECES);
    for (size_t i = 0; i < x->count; i++)
        sum += pass->loss.at[i];
    return sum / (double)x->count;
}

/* ---- gradients to where they belong ---- */

static void close_known(kith__softmax *x, const kith__softmax_pass *pass, size_t i, float *known,
                        const float *vector)
{
    uint32_t query = asked_at(x, i)->query;
    float *relation = kith__gradient_row(x->gradients, kith__rel(&x->gradients->dense),
                                         kith__relation_row(x->params, query));

    kith__query_vector_backward(known, relation,
                                pass->query_vector_gradients.at + i * x->ds, x->settings,
                                x->params, vector, query, x->scratch.at);
}

/* Before the encoder's backward pass: all that goes to encodings. */
static void close_encodings(kith__softmax *x)
{
    kith__encoder *e = x->encoder;

    for (size_t i = 0; i < x->count; i++)
        close_known(x, &x->out, i, kith__encoder_grad(e, encoding_of(x, i)), encoded(x, i));
    if (!x->by_encoding)
        return;
    for (size_t i = 0; i < x->count; i++) {
        float g = x->out.by_answer.at[i];
        size_t request = answer_request(x, i);
        if (g != 0)
            answer_backward(x, kith__encoder_grad(e, encoding_of(x, request)), g,
                            x->out.query_vectors.at + i * x->ds, encoded(x, request),
                            x->scratch.at);
    }
    if (!is_fixed(x))
        return;
    sum_pieces(x, &x->encoded[0]);
    for (size_t j = 0; j < x->shared; j++)
        add_shared(x, kith__encoder_grad(e, encoding_of(x, shared_request(x, 0, j))),
                   &x->encoded[0], j, x->encoded[0].gradient.at + j * x->ds);
}

/* Answers whose entity is this piece's, in the order of queries. */
static void answer_piece(void *context, size_t piece)
{
    const running *c = context;
    const kith__softmax *x = c->x;
    float *scratch = workspace_of(x, piece).vectors;

    for (size_t i = 0; i < x->count; i++) {
        float g = c->pass->by_answer.at[i];
        uint32_t entity = asked_at(x, i)->answer;
        if (g != 0 && entity % PIECES == piece)
            answer_backward(x, kith__gradient_of(x->gradients, entity), g,
                            c->pass->query_vectors.at + i * x->ds, input_row(x, entity), scratch);
    }
}

static int make_rows(kith__softmax *x)
{
    int failed = 0;

    for (size_t j = 0; j < x->shared; j++)
        failed |= kith__gradient_make(x->gradients, x->negatives->shared[j]);
    for (size_t i = 0; i < x->count; i++) {
        failed |= kith__gradient_make(x->gradients, asked_at(x, i)->known);
        failed |= kith__gradient_make(x->gradients, asked_at(x, i)->answer);
    }
    return failed;
}

/* After it, because the encoder must be the first to make rows: all that goes to input embeddings. */
static int close_inputs(kith__softmax *x)
{
    running c = {.x = x};

    if (x->by_encoding && !x->settings->subtask)
        return 0;
    if (make_rows(x))
        return -1;
    sum_pieces(x, &x->input);
    for (size_t j = 0; j < x->shared; j++)
        add_shared(x, kith__gradient_of(x->gradients, x->negatives->shared[j]), &x->input, j,
                   x->input.gradient.at + j * x->ds);
    c.pass = &x->out;
    if (!x->by_encoding)
        kith__pool_run(kith__encoder_pool(x->encoder), answer_piece, &c, PIECES);
    c.pass = &x->in;
    if (!x->settings->subtask)
        return 0;
    kith__pool_run(kith__encoder_pool(x->encoder), answer_piece, &c, PIECES);
    for (size_t i = 0; i < x->count; i++) {
        uint32_t known = asked_at(x, i)->known;
        close_known(x, &x->in, i, kith__gradient_of(x->gradients, known), input_row(x, known));
    }
    return 0;
}

static int prepare(kith__softmax *x)
{
    return prepare_shared(x) || room_for_pass(x, &x->out) ||
           (x->settings->subtask && room_for_pass(x, &x->in)) ||
           kith__floats_reserve(&x->scratch, PIECES * workspace_floats(x)) ||
           kith__renew(&x->listed, &x->listed_capacity, PIECES * BLOCK, sizeof *x->listed) ||
           kith__renew(&x->ids, &x->id_capacity, PIECES * ID_LISTS * (x->stride + 1),
                       sizeof *x->ids);
}

kith_status kith__softmax_run(kith__softmax *x, kith__gradients *gradients,
                              const kith__softmax_query *asked, size_t count,
                              const kith__softmax_negatives *negatives, kith_error *error)
{
    kith_status status;

    x->gradients = gradients;
    x->asked = asked;
    x->negatives = negatives;
    x->count = count;
    x->shared = negatives->shared_count;
    x->stride = kith__padded(x->shared);
    if (sort_queries(x))
        return kith__no_memory(error);
    TRY(encode(x, error));
    if (prepare(x))
        TRY(kith__no_memory(error));
    x->loss_out = run_pass(x, &x->out, true);
    x->loss_in = x->settings->subtask ? run_pass(x, &x->in, false) : 0;
    close_encodings(x);
    TRY(kith__encoder_backward(x->encoder, gradients, error));
    if (close_inputs(x))
        TRY(kith__no_memory(error));
cleanup:
    return status;
}
