#include "train/adam.h"

#include <math.h>
#include <string.h>

#include "nn/kernels.h"

enum { PIECES = 16, ROWS_AHEAD = 3 };
#define INLINE static inline __attribute__((always_inline))

kith_status kith__adam_init(kith__adam_state *adam, const kith__params *params, kith_error *error)
{
    memset(adam, 0, sizeof *adam);
    kith_status status = kith__params_like(&adam->m, params, error);
    if (status == KITH_OK)
        status = kith__params_like(&adam->v, params, error);
    if (status != KITH_OK)
        kith__adam_release(adam);
    return status;
}

void kith__adam_release(kith__adam_state *adam)
{
    kith__params_release(&adam->m);
    kith__params_release(&adam->v);
}

typedef struct {
    kith__adam_state *adam;
    kith__params *params;
    const kith__gradients *gradients;
    kith__adam_rates rates,
        table_rates; /* table_rates: for tables with their own learning rate */
    bool lazy;
} moving;

/* The gradient of a row, NULL if it has none. */
static const float *gradient_at(const kith__gradients *g, size_t table, size_t row)
{
    if (table == 0)
        return g->row_of[row] ? g->ent.at + (g->row_of[row] - 1) * g->stride : NULL;
    return g->touched[table][row] ? kith__row(&g->dense.table[table], row) : NULL;
}

/* Prefetch the rows of one entity, which are far away from those of other entities. */
INLINE void fetch_rows(const moving *c, size_t entity)
{
    const kith__params *all[] = {c->params, &c->adam->m, &c->adam->v};

    for (size_t k = 0; k < 3; k++)
        for (size_t at = 0; at < kith__ent(all[k])->stride; at += 16)
            __builtin_prefetch(kith__row(kith__ent(all[k]), entity) + at, 1);
}

/* Only entities with a gradient move. */
static void move_touched(moving *c, size_t piece)
{
    const kith__gradients *g = c->gradients;
    size_t to = g->rows * (piece + 1) / PIECES;

    for (size_t k = g->rows * piece / PIECES; k < to; k++) {
        if (k + ROWS_AHEAD < to)
            fetch_rows(c, g->entity[k + ROWS_AHEAD]);
        kith__adam_row(kith__row(kith__ent(c->params), g->entity[k]),
                       kith__row(kith__ent(&c->adam->m), g->entity[k]),
                       kith__row(kith__ent(&c->adam->v), g->entity[k]), g->ent.at + k * g->stride,
                       &c->rates, g->stride);
    }
}

static void move_piece(void *context, size_t piece)
{
    moving *c = context;

    if (c->lazy)
        move_touched(c, piece);
    for (size_t i = c->lazy; i < c->params->tables; i++) {
        kith__table *p = &c->params->table[i];
        const kith__adam_rates *rates = p->spec->own_rate ? &c->table_rates : &c->rates;
        size_t to = p->rows * (piece + 1) / PIECES;
        for (size_t r = p->rows * piece / PIECES; r < to; r++) {
            const float *gradient = gradient_at(c->gradients, i, r);
            if (gradient || !c->lazy)
                kith__adam_row(kith__row(p, r), kith__row(&c->adam->m.table[i], r),
                               kith__row(&c->adam->v.table[i], r), gradient, rates, p->stride);
        }
    }
}

void kith__adam_step(kith__adam_state *adam, kith__params *params, const kith__gradients *gradients,
                     const kith_settings *settings, double rate, kith__pool *pool)
{
    const double beta1 = .9, beta2 = .999, epsilon = 1e-8;
    double t = (double)++adam->steps, c1 = 1 - pow(beta1, t), c2 = 1 - pow(beta2, t);
    double lr = settings->lr * rate;
    bool outside = settings->epsilon == KITH_EPSILON_OUTSIDE;
    moving c = {.adam = adam, .params = params, .gradients = gradients};

    c.lazy = settings->adam == KITH_ADAM_LAZY;
    c.rates = (kith__adam_rates){
        .beta1 = (float)beta1,
        .beta2 = (float)beta2,
        .step = (float)(outside ? lr * sqrt(c2) / c1 : lr / c1),
        .epsilon = (float)epsilon,
        .v_scale = (float)(outside ? 1 : 1 / c2)};
    c.table_rates = c.rates;
    c.table_rates.step *= (float)settings->table_lr;
    kith__pool_run(pool, move_piece, &c, PIECES);
}
