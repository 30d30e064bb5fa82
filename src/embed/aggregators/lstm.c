/* One LSTM over the neighbours in order; the vector is the mean of its outputs (Hamilton et al.
 * 2017). z = Wx x + Wh h + b, gates in the order i, f, g, o; c = f c + i g; h = o tanh(c).
 *
 * Encodings are taken in groups small enough to keep every state of theirs; within a group all
 * encodings make their t-th step together, longest first, so that a step is one matrix product.
 * The backward pass runs the group's forward pass again rather than keeping all groups. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "embed/decoders/decoder.h"
#include "embed/encoder/state.h"
#include "nn/kernels.h"

enum { STEPS_A_GROUP = 4096, LSTM_PIECES = 4 };

typedef struct {
    size_t encoding, steps, degree;
} sequence;

/* What one piece works with: one group at a time. */
typedef struct {
    sequence *sequences;
    size_t sequence_capacity, count;
    size_t *begin, *width; /* of step t: its first row, and how many sequences still run */
    size_t begin_capacity, width_capacity, steps, rows;
    kith__floats x, z, c, h, gx, gh, gc;
    const float **at;
    size_t at_capacity;
    kith__floats gwx, gwh, gb, gpad; /* sums of the piece */
} group;

typedef struct {
    group piece[LSTM_PIECES];
    size_t *group_end; /* encodings up to here are in group k */
    size_t group_capacity, groups;
    kith__floats wx_t, wh_t;  /* transposed: d x 4d */
    kith__floats visit_grad;  /* per visit, of T */
    kith__floats pad;         /* T of the padding neighbour, unit, sums */
    bool backward;
} state;

static size_t gates(const kith__encoder *e)
{
    return kith__padded(4 * e->d);
}

static size_t steps_of(const kith__encoder *e, size_t i)
{
    size_t degree = kith__degree(e, i), cap = e->settings->max_neighbors;
    return e->settings->padding && degree > 0 && degree < cap ? cap : degree;
}

/* ---- groups ---- */

static int longer_first(const void *a, const void *b)
{
    const sequence *x = a, *y = b;
    if (x->steps != y->steps)
        return x->steps < y->steps ? 1 : -1;
    return (x->encoding > y->encoding) - (x->encoding < y->encoding);
}

static int room(kith__floats *floats, size_t need)
{
    return kith__renew(&floats->at, &floats->capacity, need, sizeof *floats->at);
}

static int room_for_group(group *g, const kith__encoder *e)
{
    size_t states = (g->rows + g->count) * e->ds;

    return kith__renew(&g->at, &g->at_capacity, g->rows + 1, sizeof *g->at) ||
           room(&g->x, g->rows * e->ds) || room(&g->z, g->rows * gates(e)) || room(&g->c, states) ||
           room(&g->h, states) || room(&g->gx, g->rows * e->ds) || room(&g->gh, states) ||
           room(&g->gc, g->count * e->ds);
}

static int lay_out(group *g, const kith__encoder *e, size_t from, size_t to)
{
    g->count = g->rows = g->steps = 0;
    if (kith__renew(&g->sequences, &g->sequence_capacity, to - from, sizeof *g->sequences))
        return -1;
    for (size_t i = from; i < to; i++)
        if (steps_of(e, i) > 0 && (e->active[i] || !((state *)e->aggregator_state)->backward))
            g->sequences[g->count++] = (sequence){i, steps_of(e, i), kith__degree(e, i)};
    qsort(g->sequences, g->count, sizeof *g->sequences, longer_first);
    g->steps = g->count ? g->sequences[0].steps : 0;
    if (kith__renew(&g->begin, &g->begin_capacity, g->steps + 1, sizeof *g->begin) ||
        kith__renew(&g->width, &g->width_capacity, g->steps + 1, sizeof *g->width))
        return -1;
    for (size_t t = 0, running = g->count; t < g->steps; t++) {
        while (running > 0 && g->sequences[running - 1].steps <= t)
            running--;
        g->begin[t] = g->rows;
        g->width[t] = running;
        g->rows += running;
    }
    return room_for_group(g, e);
}

/* ---- forward ---- */

static void read_inputs(group *g, const kith__encoder *e, const float *pad)
{
    for (size_t t = 0; t < g->steps; t++)
        for (size_t k = 0; k < g->width[t]; k++) {
            const sequence *q = &g->sequences[k];
            float *x = g->x.at + (g->begin[t] + k) * e->ds;
            if (t < q->degree)
                kith__visit_vector(x, e, e->first_visit[q->encoding] + t);
            else
                memcpy(x, pad, e->ds * sizeof *x);
        }
}

/* h of step t is at row begin[t] + count, so that the first `count` rows are the zeros before it. */
static float *state_row(const kith__floats *floats, const group *g, const kith__encoder *e,
                        size_t t, size_t k)
{
    size_t row = t == SIZE_MAX ? k : g->count + g->begin[t] + k;
    return floats->at + row * e->ds;
}

/* Gates in place: z becomes i, f, g, o. sigmoid(x) = (1 + tanh(x / 2)) / 2 */
static void open_gates(float *restrict z, const float *restrict bias, size_t d, size_t width)
{
    for (size_t k = 0; k < 4 * d; k++)
        z[k] = (z[k] + bias[k]) * .5f;
    for (size_t k = 2 * d; k < 3 * d; k++) /* g is a tanh */
        z[k] *= 2;
    kith__tanh(z, z, width);
    for (size_t k = 0; k < 2 * d; k++)
        z[k] = .5f + .5f * z[k];
    for (size_t k = 3 * d; k < 4 * d; k++)
        z[k] = .5f + .5f * z[k];
}

static void step_forward(group *g, const kith__encoder *e, const state *s, size_t t)
{
    const float *bias = kith__params_find(e->params, "lstm_b")->at;
    size_t d = e->d, width = gates(e), before = t == 0 ? SIZE_MAX : t - 1;

    for (size_t k = 0; k < g->width[t]; k++)
        g->at[k] = state_row(&g->h, g, e, before, k);
    kith__rows_times(g->z.at + g->begin[t] * width, g->at, g->width[t], s->wh_t.at, d, width, 1);
    for (size_t k = 0; k < g->width[t]; k++) {
        float *z = g->z.at + (g->begin[t] + k) * width;
        const float *c_before = state_row(&g->c, g, e, before, k);
        float *c = state_row(&g->c, g, e, t, k), *h = state_row(&g->h, g, e, t, k);
        open_gates(z, bias, d, width);
        memset(c, 0, e->ds * sizeof *c);
        for (size_t j = 0; j < d; j++)
            c[j] = z[d + j] * c_before[j] + z[j] * z[2 * d + j];
        kith__tanh(h, c, e->ds);
        for (size_t j = 0; j < d; j++)
            h[j] *= z[3 * d + j];
    }
}

static void group_forward(group *g, const kith__encoder *e, const state *s)
{
    memset(g->c.at, 0, g->count * e->ds * sizeof(float));
    memset(g->h.at, 0, g->count * e->ds * sizeof(float));
    read_inputs(g, e, s->pad.at);
    for (size_t r = 0; r < g->rows; r++)
        g->at[r] = g->x.at + r * e->ds;
    kith__rows_times(g->z.at, g->at, g->rows, s->wx_t.at, e->d, gates(e), 0);
    for (size_t t = 0; t < g->steps; t++)
        step_forward(g, e, s, t);
}

static void write_outputs(group *g, kith__encoder *e)
{
    for (size_t t = 0; t < g->steps; t++)
        for (size_t k = 0; k < g->width[t]; k++)
            kith__axpy(e->out.at + g->sequences[k].encoding * e->ds,
                       1 / (float)g->sequences[k].steps, state_row(&g->h, g, e, t, k), e->ds);
}

/* ---- backward ---- */

/* From the gradients by h and c to the ones by the gates' z, in their place, and by c before. With `y`
 * the tanh of c, and `grad` the output's gradient: the output is the mean of the h's. */
static void close_gates(float *restrict i, float *restrict f, float *restrict a, float *restrict o,
                        float *restrict gc, const float *restrict gh, const float *restrict grad,
                        float share, const float *restrict y, const float *restrict c_before,
                        size_t d)
{
    for (size_t j = 0; j < d; j++) {
        float by_h = gh[j] + share * grad[j];
        float by_c = gc[j] + by_h * o[j] * (1 - y[j] * y[j]), by_a = by_c * i[j];
        gc[j] = by_c * f[j];
        i[j] = by_c * a[j] * i[j] * (1 - i[j]);
        f[j] = by_c * c_before[j] * f[j] * (1 - f[j]);
        a[j] = by_a * (1 - a[j] * a[j]);
        o[j] = by_h * y[j] * o[j] * (1 - o[j]);
    }
}

static void step_backward(group *g, const kith__encoder *e, size_t t)
{
    size_t d = e->d, width = gates(e), before = t == 0 ? SIZE_MAX : t - 1;
    float *y = g->gx.at; /* has room, and no gradients yet */

    for (size_t k = 0; k < g->width[t]; k++) {
        float *z = g->z.at + (g->begin[t] + k) * width;
        kith__tanh(y, state_row(&g->c, g, e, t, k), e->ds);
        close_gates(z, z + d, z + 2 * d, z + 3 * d, g->gc.at + k * e->ds,
                    state_row(&g->gh, g, e, t, k),
                    e->grad.at + g->sequences[k].encoding * e->ds,
                    1 / (float)g->sequences[k].steps, y, state_row(&g->c, g, e, before, k), d);
        g->at[k] = z;
    }
    /* gh before += gz Wh */
    kith__rows_times(state_row(&g->gh, g, e, before, 0), g->at, g->width[t],
                     kith__params_find(e->params, "lstm_wh")->at, 4 * d, e->ds, 1);
}

static void group_gradients(group *g, const kith__encoder *e, state *s)
{
    size_t width = gates(e);

    for (size_t r = 0; r < g->rows; r++)
        g->at[r] = g->z.at + r * width;
    kith__rows_times(g->gx.at, g->at, g->rows, kith__params_find(e->params, "lstm_wx")->at,
                     4 * e->d, e->ds, 0);
    for (size_t r = 0; r < g->rows; r++)
        g->at[r] = g->x.at + r * e->ds;
    kith__outer_sum(g->gwx.at, g->z.at, g->at, g->rows, width, e->ds);
    for (size_t t = 0; t < g->steps; t++)
        for (size_t k = 0; k < g->width[t]; k++) {
            size_t row = g->begin[t] + k;
            const sequence *q = &g->sequences[k];
            g->at[row] = state_row(&g->h, g, e, t == 0 ? SIZE_MAX : t - 1, k);
            kith__axpy(g->gb.at, 1, g->z.at + row * width, width);
            if (t < q->degree)
                memcpy(s->visit_grad.at + (e->first_visit[q->encoding] + t) * e->ds,
                       g->gx.at + row * e->ds, e->ds * sizeof(float));
            else
                kith__axpy(g->gpad.at, 1, g->gx.at + row * e->ds, e->ds);
        }
    kith__outer_sum(g->gwh.at, g->z.at, g->at, g->rows, width, e->ds);
}

static void group_backward(group *g, const kith__encoder *e, state *s)
{
    memset(g->gh.at, 0, (g->rows + g->count) * e->ds * sizeof(float));
    memset(g->gc.at, 0, g->count * e->ds * sizeof(float));
    for (size_t t = g->steps; t-- > 0;)
        step_backward(g, e, t);
    group_gradients(g, e, s);
}

/* ---- all encodings ---- */

static void run_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    state *s = e->aggregator_state;
    group *g = &s->piece[piece];

    for (size_t k = piece; k < s->groups; k += LSTM_PIECES) {
        if (lay_out(g, e, k == 0 ? 0 : s->group_end[k - 1], s->group_end[k])) {
            e->no_memory = true;
            return;
        }
        group_forward(g, e, s);
        if (s->backward)
            group_backward(g, e, s);
        else
            write_outputs(g, e);
    }
}

static void transpose(float *to, const kith__table *table, size_t width)
{
    for (size_t r = 0; r < table->rows; r++)
        for (size_t c = 0; c < table->cols; c++)
            to[c * width + r] = kith__row(table, r)[c];
}

/* T of the padding neighbour at pad.at, its unit vector behind it; returns c. */
static float make_pad(state *s, const kith__encoder *e, float *inverse)
{
    float *unit = s->pad.at + e->ds;

    if (!e->settings->padding)
        return 0;
    const float *p = kith__params_find(e->params, "pad_ent")->at;
    *inverse = kith__normalize(unit, kith__params_find(e->params, "pad_trans")->at, e->d);
    float c = kith__dot(unit, p, e->ds);
    kith__minus(s->pad.at, p, c, unit, e->ds);
    return c;
}

static void forward_all(kith__encoder *e)
{
    state *s = e->aggregator_state;
    float inverse;

    s->backward = false;
    transpose(s->wx_t.at, kith__params_find(e->params, "lstm_wx"), gates(e));
    transpose(s->wh_t.at, kith__params_find(e->params, "lstm_wh"), gates(e));
    make_pad(s, e, &inverse);
    kith__pool_run(e->pool, run_piece, e, LSTM_PIECES);
}

static void add_table(kith__encoder *e, const char *name, const float *sum)
{
    const kith__table *t = kith__params_find(&e->gradients->dense, name);
    for (size_t r = 0; r < t->rows; r++)
        kith__axpy(kith__gradient_row(e->gradients, t, r), 1, sum + r * t->stride, t->stride);
}

/* T = p - c w, c = w . p, w = pad_trans / |pad_trans|: as for every neighbour. */
static void back_through_pad(kith__encoder *e, state *s, const float *sum)
{
    float inverse = 0, c = make_pad(s, e, &inverse), *unit = s->pad.at + e->ds;
    float along = kith__dot(sum, unit, e->ds), *gw = unit + e->ds;
    const kith__table *ge = kith__params_find(&e->gradients->dense, "pad_ent");
    const kith__table *gt = kith__params_find(&e->gradients->dense, "pad_trans");

    kith__axpy2(kith__gradient_row(e->gradients, ge, 0), 1, sum, -along, unit, e->ds);
    memset(gw, 0, e->ds * sizeof *gw);
    kith__axpy2(gw, -c, sum, -along, kith__params_find(e->params, "pad_ent")->at, e->ds);
    kith__normalize_backward(kith__gradient_row(e->gradients, gt, 0), gw, unit, inverse, e->d);
}

static void backward_all(kith__encoder *e)
{
    state *s = e->aggregator_state;
    size_t width = gates(e), square = width * e->ds;

    if (room(&s->visit_grad, e->visits * e->ds)) {
        e->no_memory = true;
        return;
    }
    for (size_t p = 0; p < LSTM_PIECES; p++) {
        group *g = &s->piece[p];
        memset(g->gwx.at, 0, square * sizeof(float));
        memset(g->gwh.at, 0, square * sizeof(float));
        memset(g->gb.at, 0, width * sizeof(float));
        memset(g->gpad.at, 0, e->ds * sizeof(float));
    }
    s->backward = true;
    kith__pool_run(e->pool, run_piece, e, LSTM_PIECES);
    for (size_t p = 0; p < LSTM_PIECES; p++) {
        add_table(e, "lstm_wx", s->piece[p].gwx.at);
        add_table(e, "lstm_wh", s->piece[p].gwh.at);
        add_table(e, "lstm_b", s->piece[p].gb.at);
        if (e->settings->padding)
            back_through_pad(e, s, s->piece[p].gpad.at);
    }
}

static void visit_gradient(float *gradient, const kith__encoder *e, size_t i, size_t visit)
{
    (void)i;
    memcpy(gradient, ((state *)e->aggregator_state)->visit_grad.at + visit * e->ds,
           e->ds * sizeof *gradient);
}

static void free_state(void *pointer)
{
    state *s = pointer;

    for (size_t p = 0; p < LSTM_PIECES; p++) {
        group *g = &s->piece[p];
        kith__floats *floats[] = {&g->x, &g->z, &g->c, &g->h, &g->gx, &g->gh, &g->gc,
                                  &g->gwx, &g->gwh, &g->gb, &g->gpad};
        for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
            kith__free(floats[i]->at);
        kith__free(g->sequences);
        kith__free(g->begin);
        kith__free(g->width);
        kith__free(g->at);
    }
    kith__free(s->group_end);
    kith__free(s->wx_t.at);
    kith__free(s->wh_t.at);
    kith__free(s->visit_grad.at);
    kith__free(s->pad.at);
    kith__free(s);
}

static int cut_groups(state *s, const kith__encoder *e)
{
    size_t steps = 0;

    s->groups = 0;
    if (kith__renew(&s->group_end, &s->group_capacity, e->count + 1, sizeof *s->group_end))
        return -1;
    for (size_t i = 0; i < e->count; i++) {
        steps += steps_of(e, i);
        if (steps >= STEPS_A_GROUP || i + 1 == e->count) {
            s->group_end[s->groups++] = i + 1;
            steps = 0;
        }
    }
    return 0;
}

static int prepare(kith__encoder *e)
{
    size_t width = gates(e), square = width * e->ds;
    int failed;

    if (!e->aggregator_state) {
        e->aggregator_state = kith__calloc(1, sizeof(state));
        e->free_state = free_state;
    }
    state *s = e->aggregator_state;
    if (!s)
        return -1;
    failed = cut_groups(s, e) || room(&s->wx_t, square) || room(&s->wh_t, square) ||
             room(&s->pad, 4 * e->ds);
    for (size_t p = 0; p < LSTM_PIECES && !failed; p++) {
        group *g = &s->piece[p];
        failed = room(&g->gwx, square) || room(&g->gwh, square) || room(&g->gb, width) ||
                 room(&g->gpad, e->ds);
    }
    return failed ? -1 : 0;
}

const kith__aggregator kith__agg_lstm = {
    .name = "lstm",
    .ordered = true,
    .tables = 5,
    .table = {{{"lstm_wx", KITH__4DIM, KITH__DIM, false, KITH__XAVIER}, false},
              {{"lstm_wh", KITH__4DIM, KITH__DIM, false, KITH__XAVIER}, false},
              {{"lstm_b", KITH__ONE, KITH__4DIM, false, KITH__LSTM_BIAS}, false},
              {{"pad_ent", KITH__ONE, KITH__DIM, false, KITH__XAVIER}, true},
              {{"pad_trans", KITH__ONE, KITH__DIM, false, KITH__XAVIER}, true}},
    .prepare = prepare,
    .forward_all = forward_all,
    .backward_all = backward_all,
    .visit_gradient = visit_gradient,
};
