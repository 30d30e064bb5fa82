/* One LSTM over the neighbours in order; the vector is the mean of its outputs (Hamilton et al.
 * 2017). z = Wx x + Wh h + b, gates in the order i, f, g, o; c = f c + i g; h = o tanh(c). With x =
 * T = e - c w, Wx x is Wx e - c Wx w: the encoder computes both products once per batch for each
 * neighbour and relation, and takes the gradients back through them, so a step multiplies by Wh
 * alone. Sequences are cut into groups that take their steps together (sequences.h). Gates and
 * states are kept for the backward pass up to a memory bound; those beyond it are computed again in
 * that pass. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "embed/decoders/decoder.h"
#include "embed/aggregators/sequences.h"
#include "embed/encoder/pairs.h"
#include "nn/kernels.h"
#include "nn/lstm.h"

enum {
    SEQUENCES_A_GROUP = KITH__SEQUENCES_A_GROUP,
    LSTM_PIECES = 4,
    INNER_AT_ONCE = 208 /* rows of Wh that stay in the first-level cache */
};

/* The workspace of one piece. */
typedef struct {
    kith__buffers buffers;
    kith__sequence_rows own;
    float *gh, *gc, *gz, *outer; /* gz: of padding, for one step */
    float *gwh, *gb, *gpad;      /* the piece's sums; gpad: the gradient of the padding's z */
    kith__lstm_row forward[SEQUENCES_A_GROUP];
    kith__lstm_back backward[SEQUENCES_A_GROUP];
    const float *gradients[SEQUENCES_A_GROUP], *states[SEQUENCES_A_GROUP];
} piece_state;

typedef struct {
    kith__buffers buffers;
    piece_state piece[LSTM_PIECES];
    kith__sequences all, active; /* for the forward and the backward pass */
    kith__sequence_rows kept;
    float *wh;                   /* 4 ds x ds, in the kernels' order of gates */
    float *wh_forward, *wh_back; /* the same in panels, transposed and not */
    float *visit_gradient;       /* of visits whose gates are not kept */
    const float **gradient_of;   /* per visit */
    uint32_t *row_of;            /* per visit, its neighbour's row of B e */
    float *pad; /* T of the padding neighbour, its unit vector, two rows of scratch, zeros */
    float *pad_input, *pad_sum;
} state;

static size_t steps_of(const kith__encoder *e, size_t i)
{
    size_t degree = kith__degree(e, i), cap = e->settings->max_neighbors;
    return e->settings->padding && degree > 0 && degree < cap ? cap : degree;
}

/* ---- groups ---- */

/* Each piece needs rows for the largest of the groups that borrow its rows. */
static int reserve_own_rows(state *s, const kith__sequences *p, const kith__encoder *e)
{
    for (size_t piece = 0; piece < LSTM_PIECES; piece++) {
        size_t most = 0;
        for (size_t k = piece; k < p->group_count; k += LSTM_PIECES) {
            const kith__sequence_group *g = &p->groups[k];
            bool lends = !g->in && !p->sequences[g->first].home;
            most = lends && g->rows > most ? g->rows : most;
        }
        if (most > 0 && kith__sequence_rows_reserve(&s->piece[piece].own, e, most))
            return -1;
    }
    return 0;
}

/* ---- forward ---- */

static const float *zeros(const state *s, const kith__encoder *e)
{
    return s->pad + 4 * e->ds;
}

/* The input of a visit: B e - c B w + b. */
static void read_input(float *input, const state *s, const kith__encoder *e, size_t visit)
{
    size_t r = e->products.relation_row[e->visits.neighbor[visit].relation] - 1;
    kith__minus(input, e->products.be + s->row_of[visit] * e->hs, e->visits.c[visit],
                e->products.bw + r * e->hs, e->hs);
}

static void begin_row(kith__lstm_row *row, const state *s, kith__encoder *e,
                      const kith__sequence *q, size_t t)
{
    const kith__sequence_rows *in = q->home->in;
    size_t at = kith__sequence_row(q, t), before = t > 0 ? kith__sequence_row(q, t - 1) : 0,
           next = t + 1;
    size_t visit = e->plan.first_visit[q->encoding] + t;
    float *gates = in->gates + at * e->hs;

    *row = (kith__lstm_row){s->pad_input,
                            gates,
                            t > 0 ? in->h + before * e->ds : zeros(s, e),
                            t > 0 ? in->c + before * e->ds : zeros(s, e),
                            in->h + at * e->ds,
                            in->c + at * e->ds,
                            e->plan.out + q->encoding * e->ds,
                            1 / (float)q->steps};
    if (next < q->degree)
        kith__fetch_row(e->products.be + s->row_of[visit + 1] * e->hs, e->hs);
    if (t < q->degree) {
        read_input(gates, s, e, visit);
        row->input = gates;
    }
}

static void group_forward(piece_state *w, const state *s, kith__encoder *e,
                          const kith__sequences *p, const kith__sequence_group *g)
{
    for (size_t t = 0, running = g->count; t < g->steps; t++) {
        running = kith__sequences_running(p, g, t, running);
        for (size_t k = 0; k < running; k++)
            begin_row(&w->forward[k], s, e, &p->sequences[g->first + k], t);
        kith__lstm_forward(w->forward, running, s->wh_forward, e->d, e->ds, t == 0);
    }
}

static void forward_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    state *s = e->aggregator_state;

    for (size_t k = piece; k < s->all.group_count; k += LSTM_PIECES) {
        kith__sequence_group *g = &s->all.groups[k];
        if (!g->in)
            g->in = &s->piece[piece].own;
        kith__sequences_settle(&s->all, g);
        if (!kith__encoder_stops(e)) /* if stopped, the groups are still cleaned up */
            group_forward(&s->piece[piece], s, e, &s->all, g);
        if (g->in != &s->kept) /* the next group will overwrite them */
            for (size_t i = 0; i < g->count; i++)
                s->all.sequences[g->first + i].home = NULL;
    }
}

/* Copies Wh in the kernels' order and scale, and in panels. */
static void pack_weights(state *s, const kith__encoder *e)
{
    const kith__table *wh = kith__params_find(e->params, "lstm_wh");
    float *transposed = s->wh_back; /* used as scratch; its own values are computed last */

    memset(s->wh, 0, e->hs * e->ds * sizeof(float));
    memset(transposed, 0, e->hs * e->ds * sizeof(float));
    for (size_t gate = 0; gate < KITH__GATES; gate++)
        for (size_t unit = 0; unit < e->d; unit++)
            for (size_t c = 0; c < e->d; c++) {
                size_t place = kith__gate_place(gate, unit);
                float w = kith__gate_scale(gate) * kith__row(wh, gate * e->d + unit)[c];
                s->wh[place * e->ds + c] = w;
                transposed[c * e->hs + place] = w;
            }
    kith__pack_panels(s->wh_forward, transposed, e->d, e->hs, e->d);
    kith__pack_panels(s->wh_back, s->wh, e->hs, e->ds, INNER_AT_ONCE);
}

/* B is Wx, in the kernels' order and scale. */
static void make_matrix(kith__encoder *e)
{
    const kith__table *wx = kith__params_find(e->params, "lstm_wx");
    const float *b = kith__params_find(e->params, "lstm_b")->at;

    memset(e->products.b_plain, 0, e->hs * e->ds * sizeof(float));
    memset(e->products.b_transposed, 0, e->hs * e->ds * sizeof(float));
    memset(e->products.b_bias, 0, e->hs * sizeof(float));
    for (size_t gate = 0; gate < KITH__GATES; gate++)
        for (size_t unit = 0; unit < e->d; unit++) {
            size_t place = kith__gate_place(gate, unit), row = gate * e->d + unit;
            e->products.b_bias[place] = kith__gate_scale(gate) * b[row];
            for (size_t c = 0; c < e->d; c++)
                e->products.b_plain[place * e->ds + c] =
                    e->products.b_transposed[c * e->hs + place] =
                        kith__gate_scale(gate) * kith__row(wx, row)[c];
        }
}

/* Writes T of the padding neighbour to pad, followed by its unit vector; returns c. */
static float make_pad(state *s, const kith__encoder *e, float *inverse)
{
    float *unit = s->pad + e->ds;

    const float *p = kith__params_find(e->params, "pad_ent")->at;
    *inverse = kith__normalize(unit, kith__params_find(e->params, "pad_trans")->at, e->d);
    float c = kith__dot(unit, p, e->ds);
    kith__minus(s->pad, p, c, unit, e->ds);
    return c;
}

static void make_pad_input(state *s, const kith__encoder *e)
{
    const float *pad = s->pad;
    float inverse;

    if (!e->settings->padding)
        return;
    make_pad(s, e, &inverse);
    memcpy(s->pad_input, e->products.b_bias, e->hs * sizeof(float));
    kith__rows_times(s->pad_input, &pad, 1, e->products.b_transposed, e->d, e->hs, 1);
}

static void forward_all(kith__encoder *e)
{
    state *s = e->aggregator_state;

    for (uint32_t row = 0; row < e->visits.rows; row++)
        for (size_t k = e->visits.row_start[row]; k < e->visits.row_start[row + 1]; k++)
            s->row_of[e->visits.items[k].index] = row;
    memset(s->pad + 4 * e->ds, 0, e->ds * sizeof(float));
    pack_weights(s, e);
    make_pad_input(s, e);
    kith__pool_run(e->pool, forward_piece, e, LSTM_PIECES);
}

/* ---- backward ---- */

/* Where a step's gradient of z is stored: a visit's must stay until the encoder has read it. */
static float *gradient_at(piece_state *w, state *s, const kith__encoder *e, const kith__sequence *q,
                          size_t t, size_t k)
{
    size_t visit = e->plan.first_visit[q->encoding] + t;
    float *to;

    if (t >= q->degree)
        return w->gz + k * e->hs;
    to = q->home->in == &s->kept ? s->kept.gates + kith__sequence_row(q, t) * e->hs
                                 : s->visit_gradient + (q->gradient + t) * e->hs;
    s->gradient_of[visit] = to;
    return to;
}

static void begin_back(piece_state *w, state *s, const kith__encoder *e, const kith__sequence *q,
                       size_t t, size_t k)
{
    const kith__sequence_rows *in = q->home->in;
    size_t at = kith__sequence_row(q, t), before = t > 0 ? kith__sequence_row(q, t - 1) : 0;
    float *gz = gradient_at(w, s, e, q, t, k);

    w->gradients[k] = gz;
    w->states[k] = in->h + before * e->ds;
    w->backward[k] = (kith__lstm_back){in->gates + at * e->hs,
                                       in->c + at * e->ds,
                                       t > 0 ? in->c + before * e->ds : zeros(s, e),
                                       w->gh + k * e->ds,
                                       e->plan.grad + q->encoding * e->ds,
                                       w->gc + k * e->ds,
                                       gz,
                                       t < q->degree ? w->gb : w->gpad,
                                       1 / (float)q->steps};
}

static void group_backward(piece_state *w, state *s, const kith__encoder *e,
                           const kith__sequences *p, const kith__sequence_group *g)
{
    memset(w->gh, 0, g->count * e->ds * sizeof(float));
    memset(w->gc, 0, g->count * e->ds * sizeof(float));
    for (size_t t = g->steps; t-- > 0;) {
        size_t running = kith__sequences_running(p, g, t, g->count);
        for (size_t k = 0; k < running; k++)
            begin_back(w, s, e, &p->sequences[g->first + k], t, k);
        kith__lstm_backward(w->backward, running, e->ds);
        if (t == 0) /* the previous h was 0 */
            break;
        /* gh before = gz Wh, gWh += gz^T h before */
        kith__panels_times(w->gh, w->gradients, running, s->wh_back, e->hs, e->ds, INNER_AT_ONCE);
        kith__outer_add(w->gwh, w->gradients, w->states, running, e->hs, e->ds, w->outer);
    }
}

static void clear_sums(piece_state *w, const kith__encoder *e)
{
    memset(w->gwh, 0, e->hs * e->ds * sizeof(float));
    memset(w->gb, 0, e->hs * sizeof(float));
    memset(w->gpad, 0, e->hs * sizeof(float));
}

static void backward_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    state *s = e->aggregator_state;
    piece_state *w = &s->piece[piece];

    clear_sums(w, e);
    for (size_t k = piece; k < s->active.group_count; k += LSTM_PIECES) {
        kith__sequence_group *g = &s->active.groups[k];
        if (kith__encoder_stops(e))
            return;
        if (!s->active.sequences[g->first].home) {
            g->in = &w->own;
            kith__sequences_settle(&s->active, g);
            group_forward(w, s, e, &s->active, g);
        }
        group_backward(w, s, e, &s->active, g);
    }
}

/* Adds scale times a gradient in the kernels' order to a table of four gates. */
static void add_gates(kith__encoder *e, const char *name, const float *sum)
{
    const kith__table *t = kith__params_find(&e->back.gradients->dense, name);

    for (size_t gate = 0; gate < KITH__GATES; gate++)
        for (size_t unit = 0; unit < e->d; unit++)
            kith__axpy(kith__gradient_row(e->back.gradients, t, gate * e->d + unit),
                       kith__gate_scale(gate), sum + kith__gate_place(gate, unit) * e->ds, e->ds);
}

static void add_matrix(kith__encoder *e, const float *gradient)
{
    add_gates(e, "lstm_wx", gradient);
}

static void add_bias(kith__encoder *e, const float *sum)
{
    float *to = kith__gradient_row(e->back.gradients,
                                   kith__params_find(&e->back.gradients->dense, "lstm_b"), 0);

    for (size_t gate = 0; gate < KITH__GATES; gate++)
        for (size_t unit = 0; unit < e->d; unit++)
            to[gate * e->d + unit] += kith__gate_scale(gate) * sum[kith__gate_place(gate, unit)];
}

/* T = p - c w, c = w . p, w = pad_trans / |pad_trans|: as for every neighbour. */
static void back_through_transform(kith__encoder *e, state *s, const float *sum)
{
    float inverse = 0, c = make_pad(s, e, &inverse), *unit = s->pad + e->ds;
    float along = kith__dot(sum, unit, e->ds), *gw = unit + e->ds;
    const kith__table *ge = kith__params_find(&e->back.gradients->dense, "pad_ent");
    const kith__table *gt = kith__params_find(&e->back.gradients->dense, "pad_trans");

    kith__axpy2(kith__gradient_row(e->back.gradients, ge, 0), 1, sum, -along, unit, e->ds);
    memset(gw, 0, e->ds * sizeof *gw);
    kith__axpy2(gw, -c, sum, -along, kith__params_find(e->params, "pad_ent")->at, e->ds);
    kith__normalize_backward(kith__gradient_row(e->back.gradients, gt, 0), gw, unit, inverse, e->d);
}

/* The padding's z = Wx T + b: gWx += gz^T T, gT = gz Wx. */
static void back_through_pad(kith__encoder *e, state *s, const float *gz)
{
    const kith__table *wx = kith__params_find(&e->back.gradients->dense, "lstm_wx");
    float *sum = s->pad + 3 * e->ds;

    for (size_t gate = 0; gate < KITH__GATES; gate++)
        for (size_t unit = 0; unit < e->d; unit++)
            kith__axpy(kith__gradient_row(e->back.gradients, wx, gate * e->d + unit),
                       kith__gate_scale(gate) * gz[kith__gate_place(gate, unit)], s->pad, e->ds);
    kith__rows_times(sum, &gz, 1, e->products.b_plain, e->hs, e->ds, 0);
    back_through_transform(e, s, sum);
}

/* Sequences with a gradient; those that were not kept have no home until they are run again. */
static int plan_backward(kith__encoder *e, state *s)
{
    kith__sequences *p = &s->active;
    size_t unkept = 0; /* visits that need a row for their gradients */

    p->count = 0;
    if (KITH__GROW(p, sequences, s->all.count) || KITH__GROW(s, gradient_of, e->visits.count))
        return -1;
    for (size_t i = 0; i < s->all.count; i++)
        if (e->plan.active[s->all.sequences[i].encoding]) {
            kith__sequence *q = &p->sequences[p->count++];
            *q = s->all.sequences[i];
            q->gradient = unkept;
            unkept += q->home ? 0 : q->degree;
        }
    if (kith__sequences_cut(p) || reserve_own_rows(s, p, e))
        return -1;
    return KITH__GROW(s, visit_gradient, unkept * e->hs);
}

static void backward_all(kith__encoder *e)
{
    state *s = e->aggregator_state;

    if (plan_backward(e, s)) {
        e->no_memory = true;
        return;
    }
    kith__pool_run(e->pool, backward_piece, e, LSTM_PIECES);
    memset(s->pad_sum, 0, e->hs * sizeof(float));
    for (size_t p = 0; p < LSTM_PIECES; p++) {
        add_gates(e, "lstm_wh", s->piece[p].gwh);
        add_bias(e, s->piece[p].gb);
        kith__axpy(s->pad_sum, 1, s->piece[p].gpad, e->hs);
    }
    if (e->settings->padding) {
        add_bias(e, s->pad_sum);
        back_through_pad(e, s, s->pad_sum);
    }
}

static const float *gate_gradient(const kith__encoder *e, size_t visit)
{
    return ((const state *)e->aggregator_state)->gradient_of[visit];
}

/* ---- memory ---- */

static void free_state(void *pointer)
{
    state *s = pointer;

    for (size_t p = 0; p < LSTM_PIECES; p++) {
        kith__buffers_release(&s->piece[p].own.buffers);
        kith__buffers_release(&s->piece[p].buffers);
    }
    kith__buffers_release(&s->kept.buffers);
    kith__buffers_release(&s->all.buffers);
    kith__buffers_release(&s->active.buffers);
    kith__buffers_release(&s->buffers);
    kith__free(s);
}

static int plan_forward(kith__encoder *e, state *s)
{
    kith__sequences *p = &s->all;

    p->count = 0;
    if (KITH__GROW(p, sequences, e->plan.count))
        return -1;
    for (size_t i = 0; i < e->plan.count; i++)
        if (steps_of(e, i) > 0)
            p->sequences[p->count++] = (kith__sequence){
                .encoding = i, .steps = steps_of(e, i), .degree = kith__degree(e, i)};
    qsort(p->sequences, p->count, sizeof *p->sequences, kith__sequence_longer);
    return kith__sequences_cut(p);
}

/* Keep the first groups, up to the memory bound. */
static int keep_groups(kith__encoder *e, state *s)
{
    size_t most = e->keep_bytes / ((e->hs + 2 * e->ds) * sizeof(float)), kept = 0;

    for (size_t k = 0; e->keeps && k < s->all.group_count; k++) {
        kith__sequence_group *g = &s->all.groups[k];
        if (kept + g->rows > most)
            break;
        g->in = &s->kept;
        g->row = kept;
        kept += g->rows;
    }
    return (kept > 0 && kith__sequence_rows_reserve(&s->kept, e, kept)) ||
           reserve_own_rows(s, &s->all, e);
}

static int reserve_piece(piece_state *w, const kith__encoder *e)
{
    return KITH__GROW(w, gh, SEQUENCES_A_GROUP * e->ds) ||
           KITH__GROW(w, gc, SEQUENCES_A_GROUP * e->ds) ||
           KITH__GROW(w, gz, SEQUENCES_A_GROUP * e->hs) ||
           KITH__GROW(w, outer, KITH__OUTER_ROWS * (e->hs + e->ds)) ||
           KITH__GROW(w, gwh, e->hs * e->ds) || KITH__GROW(w, gb, e->hs) ||
           KITH__GROW(w, gpad, e->hs);
}

static int prepare(kith__encoder *e)
{
    size_t square = e->hs * e->ds;
    int failed;

    if (!e->aggregator_state) {
        e->aggregator_state = kith__calloc(1, sizeof(state));
        e->free_state = free_state;
    }
    state *s = e->aggregator_state;
    if (!s)
        return -1;
    failed = plan_forward(e, s) || keep_groups(e, s) || KITH__GROW(s, wh, square) ||
             KITH__GROW(s, wh_forward, square) || KITH__GROW(s, wh_back, square) ||
             KITH__GROW(s, pad, 5 * e->ds) || KITH__GROW(s, pad_input, e->hs) ||
             KITH__GROW(s, pad_sum, e->hs) || KITH__GROW(s, row_of, e->visits.count);
    for (size_t p = 0; p < LSTM_PIECES && !failed; p++)
        failed = reserve_piece(&s->piece[p], e);
    return failed ? -1 : 0;
}

const kith__aggregator kith__agg_lstm = {
    .name = "lstm",
    .ordered = true,
    .gated = true,
    .tables = 5,
    .table = {{{"lstm_wx", KITH__4DIM, KITH__DIM, false, KITH__XAVIER}, false},
              {{"lstm_wh", KITH__4DIM, KITH__DIM, false, KITH__XAVIER}, false},
              {{"lstm_b", KITH__ONE, KITH__4DIM, false, KITH__LSTM_BIAS}, false},
              {{"pad_ent", KITH__ONE, KITH__DIM, false, KITH__XAVIER}, true},
              {{"pad_trans", KITH__ONE, KITH__DIM, false, KITH__XAVIER}, true}},
    .prepare = prepare,
    .forward_all = forward_all,
    .backward_all = backward_all,
    .make_matrix = make_matrix,
    .gate_gradient = gate_gradient,
    .add_matrix = add_matrix,
};
