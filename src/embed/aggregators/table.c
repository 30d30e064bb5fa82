/* Attention from a table: the weights are the softmax over the neighbours of
 *
 * log(logic weight) + T[q][r] + b[j]
 *
 * for query q and a neighbour j that relation r leads to. T has one parameter for each rule r => q
 * that train supports and one for r = q; b has one for each seen entity. A pair without a rule has
 * the logic weight 0, which is replaced by LEAST_WEIGHT, and no parameter: in training, the
 * entities of a query have q, so all their other relations have a rule that implies it. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "embed/encoder/state.h"
#include "nn/kernels.h"

enum { PIECES = 16 };
#define LEAST_WEIGHT 1e-6f

typedef struct {
    uint32_t *pair; /* per visit: T's parameter + 1, 0 if it has none */
    size_t pair_capacity;
    uint32_t *column; /* per piece: parameters by relation, for one query */
    const kith__table *t, *b;
} table_state;

static void free_state(void *state)
{
    table_state *s = state;

    kith__free(s->pair);
    kith__free(s->column);
    kith__free(s);
}

static table_state *state_of(kith__encoder *e)
{
    if (e->aggregator_state)
        return e->aggregator_state;
    table_state *s = kith__calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->column = kith__calloc(PIECES * (size_t)e->lists->relations, sizeof *s->column);
    if (!s->column) {
        kith__free(s);
        return NULL;
    }
    s->t = kith__params_find(e->params, "table_pair");
    s->b = kith__params_find(e->params, "table_entity");
    e->aggregator_state = s;
    e->free_state = free_state;
    return s;
}

/* Parameters fill rows of KITH__LANES completely, without padding. */
static float *value_at(const kith__table *table, uint32_t index)
{
    return kith__row(table, index / KITH__LANES) + index % KITH__LANES;
}

/* ---- parameters of the visits ---- */

static void spread_pairs(uint32_t *column, const kith__implications *rules, uint32_t query,
                         bool set)
{
    for (uint64_t i = rules->offset[query]; i < rules->offset[query + 1]; i++)
        column[rules->at[i].relation] = set ? (uint32_t)i + 1 : 0;
    column[query] = set ? (uint32_t)rules->offset[rules->relations] + query + 1 : 0;
}

static void pair_piece(void *context, size_t piece)
{
    kith__encoder *e = context;
    const table_state *s = e->aggregator_state;
    uint32_t *column = s->column + piece * e->lists->relations;
    size_t from = e->plan.count * piece / PIECES, to = e->plan.count * (piece + 1) / PIECES;

    for (size_t i = from; i < to; i++) {
        if (i == from || e->plan.query[i] != e->plan.query[i - 1]) {
            if (i > from)
                spread_pairs(column, e->rules, e->plan.query[i - 1], false);
            spread_pairs(column, e->rules, e->plan.query[i], true);
        }
        for (size_t v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++)
            s->pair[v] = column[e->visits.neighbor[v].relation];
    }
    if (to > from)
        spread_pairs(column, e->rules, e->plan.query[to - 1], false);
}

static int prepare(kith__encoder *e)
{
    table_state *s = state_of(e);

    if (!s || kith__renew(&s->pair, &s->pair_capacity, e->visits.count, sizeof *s->pair))
        return -1;
    kith__pool_run(e->pool, pair_piece, e, PIECES);
    return 0;
}

/* ---- forward and backward ---- */

static float logit_of(const kith__encoder *e, const table_state *s, size_t v)
{
    float logic = e->visits.logic[v], t = s->pair[v] ? *value_at(s->t, s->pair[v] - 1) : 0;
    uint32_t neighbor = e->visits.neighbor[v].entity;
    float b = neighbor < e->lists->seen ? *value_at(s->b, neighbor) : 0;
    return logf(logic > LEAST_WEIGHT ? logic : LEAST_WEIGHT) + t + b;
}

static void forward(kith__encoder *e, size_t i)
{
    size_t from = e->plan.first_visit[i], to = e->plan.first_visit[i + 1];
    float *a = e->visits.weight, most = -INFINITY, sum = 0;

    for (size_t v = from; v < to; v++) {
        a[v] = logit_of(e, e->aggregator_state, v);
        most = a[v] > most ? a[v] : most;
    }
    for (size_t v = from; v < to; v++)
        sum += a[v] = expf(a[v] - most);
    for (size_t v = from; v < to; v++)
        a[v] /= sum;
    kith__sum_weighted(e, i);
}

/* a = softmax(l): gl = a (ga - sum a ga). */
static void backward(kith__encoder *e, size_t i)
{
    const float *a = e->visits.weight, *ga = e->back.weight_gradient;
    float mean = 0;

    for (size_t v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++)
        mean += a[v] * ga[v];
    for (size_t v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++)
        e->back.logit_gradient[v] = a[v] * (ga[v] - mean);
}

static void add_gradient(kith__gradients *g, const kith__table *table, uint32_t index, float value)
{
    kith__gradient_row(g, table, index / KITH__LANES)[index % KITH__LANES] += value;
}

/* l = log logic + T + b: gT += gl, gb += gl, in the order of visits. */
static void backward_all(kith__encoder *e)
{
    const table_state *s = e->aggregator_state;
    kith__gradients *g = e->back.gradients;
    const kith__table *t = kith__params_find(&g->dense, "table_pair");
    const kith__table *b = kith__params_find(&g->dense, "table_entity");

    for (size_t i = 0; i < e->plan.count; i++)
        for (size_t v = e->plan.first_visit[i]; e->plan.active[i] && v < e->plan.first_visit[i + 1];
             v++) {
            if (s->pair[v])
                add_gradient(g, t, s->pair[v] - 1, e->back.logit_gradient[v]);
            add_gradient(g, b, e->visits.neighbor[v].entity, e->back.logit_gradient[v]);
        }
}

static void explain(kith__neighbor_weight *to, const kith__encoder *e, size_t i, size_t v)
{
    (void)i;
    to->weight = e->visits.weight[v];
    to->logic = e->visits.logic[v];
}

const kith__aggregator kith__agg_table = {
    .name = "table",
    .query_aware = true,
    .logic = true,
    .tables = 2,
    .table = {{{"table_pair", KITH__PAIR_ROWS, KITH__LANE, true, KITH__ZERO, true}, false},
              {{"table_entity", KITH__ENTITY_ROWS, KITH__LANE, true, KITH__ZERO, true}, false}},
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
    .backward_all = backward_all,
    .weighing = KITH_WEIGH_ATTENTION,
    .explain = explain,
};
