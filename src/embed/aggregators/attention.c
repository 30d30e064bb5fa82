/* Weights from rules, from neural attention, or from the sum of both: the Logic Attention Network
 * (paper, eq. 5-9) and its parts that the paper's table 5 compares. */
#include <math.h>

#include "embed/encoder/state.h"
#include "nn/kernels.h"

/* Replaces the logits by their softmax. */
static void softmax(kith__encoder *e, size_t i)
{
    float *a = e->visits.logit + e->plan.first_visit[i],
          all = kith__softmax_row(a, kith__degree(e, i));

    for (size_t k = 0; isnan(all) && k < kith__degree(e, i); k++)
        a[k] = all;
}

static void attention_forward(kith__encoder *e, size_t i)
{
    softmax(e, i);
    for (size_t v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++)
        e->visits.weight[v] = e->visits.logit[v];
    kith__sum_weighted(e, i);
}

static void logic_forward(kith__encoder *e, size_t i)
{
    for (size_t v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++)
        e->visits.weight[v] = e->visits.logic[v];
    kith__sum_weighted(e, i);
}

static void lan_forward(kith__encoder *e, size_t i)
{
    softmax(e, i);
    for (size_t v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++)
        e->visits.weight[v] = e->visits.logic[v] + e->visits.logit[v];
    kith__sum_weighted(e, i);
}

/* a = softmax(l): gl = a (ga - sum a ga). */
static void softmax_backward(kith__encoder *e, size_t i)
{
    const float *a = e->visits.logit, *ga = e->back.weight_gradient;
    float mean = 0;

    for (size_t v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++)
        mean += a[v] * ga[v];
    for (size_t v = e->plan.first_visit[i]; v < e->plan.first_visit[i + 1]; v++)
        e->back.logit_gradient[v] = a[v] * (ga[v] - mean);
}

/* The softmax has already replaced the logits. */
static void attention_explain(kith__neighbor_weight *to, const kith__encoder *e, size_t i, size_t v)
{
    (void)i;
    to->weight = e->visits.weight[v];
    to->attention = e->visits.logit[v];
}

static void logic_explain(kith__neighbor_weight *to, const kith__encoder *e, size_t i, size_t v)
{
    (void)i;
    to->weight = e->visits.weight[v];
    to->logic = e->visits.logic[v];
}

static void lan_explain(kith__neighbor_weight *to, const kith__encoder *e, size_t i, size_t v)
{
    attention_explain(to, e, i, v);
    logic_explain(to, e, i, v);
}

#define ATTENTION_TABLES                                                                           \
    {{"att_w", KITH__HIDDEN, KITH__2DIM, true, KITH__XAVIER}, false},                              \
    {                                                                                              \
        {"att_u", KITH__ONE, KITH__HIDDEN, true, KITH__XAVIER}, false                              \
    }
#define QUERY_TABLE                                                                                \
    {                                                                                              \
        {"query", KITH__DIRECTED, KITH__DIM, true, KITH__XAVIER}, false                            \
    }

const kith__aggregator kith__agg_attention_global = {
    .name = "attention-global",
    .attention = KITH__GLOBAL_ATTENTION,
    .weighted = true,
    .tables = 2,
    .table = {ATTENTION_TABLES},
    .forward = attention_forward,
    .backward = softmax_backward,
    .weighing = KITH_WEIGH_ATTENTION,
    .explain = attention_explain,
};

const kith__aggregator kith__agg_attention_query = {
    .name = "attention-query",
    .query_aware = true,
    .attention = KITH__QUERY_ATTENTION,
    .weighted = true,
    .tables = 3,
    .table = {QUERY_TABLE, ATTENTION_TABLES},
    .forward = attention_forward,
    .backward = softmax_backward,
    .weighing = KITH_WEIGH_ATTENTION,
    .explain = attention_explain,
};

const kith__aggregator kith__agg_logic = {
    .name = "logic",
    .query_aware = true,
    .logic = true,
    .weighted = true,
    .forward = logic_forward,
    .weighing = KITH_WEIGH_ATTENTION,
    .explain = logic_explain,
};

const kith__aggregator kith__agg_lan = {
    .name = "lan",
    .query_aware = true,
    .logic = true,
    .attention = KITH__QUERY_ATTENTION,
    .weighted = true,
    .tables = 3,
    .table = {QUERY_TABLE, ATTENTION_TABLES},
    .forward = lan_forward,
    .backward = softmax_backward,
    .weighing = KITH_WEIGH_ATTENTION,
    .explain = lan_explain,
};
