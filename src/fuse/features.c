#include "fuse/features.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const char *kith__feature_name(int feature)
{
    static const char *const names[] = {
#define NAME(name, text, part) text,
        KITH__FEATURES(NAME)
#undef NAME
    };
    return names[feature];
}

char kith__feature_part(int feature)
{
    static const char parts[] = {
#define PART(name, text, part) part,
        KITH__FEATURES(PART)
#undef PART
    };
    return parts[feature];
}

/* Confidences on a scale on which .01 and .1 are as far apart as .1 and 1. */
static float log_of(float confidence)
{
    return logf(confidence + .01f);
}

static const float *figures_of(const kith__asking *asked, uint32_t candidate)
{
    uint32_t row = asked->row_of[candidate];
    return row ? asked->rows[row - 1].figure : NULL;
}

static bool leaves_out(const char *without, char part)
{
    return without && strchr(without, part);
}

static void copy_figures(float *to, const float *from, const char *without)
{
    static const char kind[KITH__FIGURES + 1] = "AAAABBBCCCCDDD";

    for (int i = 0; i < KITH__FIGURES; i++)
        to[i] = from && !leaves_out(without, kind[i]) ? from[i] : 0;
}

static float best_of(const float *figure)
{
    return fmaxf(fmaxf(figure[KITH__A_BEST], figure[KITH__B_BEST]), figure[KITH__C_BEST]);
}

static void sum_up_embedding(kith__case *c)
{
    double sum = 0, squares = 0, exponentials = 0;
    float top = -INFINITY;

    for (size_t i = 0; i < c->candidates; i++) {
        sum += c->embedding[i];
        top = fmaxf(top, c->embedding[i]);
    }
    double mean = sum / (double)c->candidates;
    for (size_t i = 0; i < c->candidates; i++) {
        double off = c->embedding[i] - mean;
        squares += off * off;
        exponentials += expf(c->embedding[i] - top);
    }
    double deviation = sqrt(squares / (double)c->candidates);
    c->e_mean = (float)mean;
    c->e_scale = deviation > 0 ? (float)(1 / deviation) : 0;
    c->e_top = top;
    c->log_sum = top + (float)log(exponentials);
}

static void describe(kith__case *c, kith__feature feature, double value)
{
    c->query[feature - KITH__LINEAR_FEATURES] = (float)value;
}

void kith__case_init(kith__case *c, const kith__asking *asked, kith__span facts,
                     const float *embedding, const float *log_degree, size_t candidates,
                     const char *without)
{
    const kith__index *x = asked->evidence->index;
    uint32_t q = asked->query;
    kith__span known = kith__span_of(facts, q);
    float best_a = 0, best = 0, figure[KITH__FIGURES];
    double owners = (double)(x->owner_offset[q + 1] - x->owner_offset[q]), answers = 0;

    *c = (kith__case){.asked = asked,
                      .embedding = leaves_out(without, 'E') ? NULL : embedding,
                      .log_degree = log_degree,
                      .candidates = candidates,
                      .facts = facts.count};
    if (c->embedding)
        sum_up_embedding(c);
    for (size_t i = 0; i < asked->count; i++) {
        if (asked->rows[i].entity >= candidates || kith__span_has(known, asked->rows[i].entity))
            continue;
        copy_figures(figure, asked->rows[i].figure, without);
        best_a = fmaxf(best_a, figure[KITH__A_BEST]);
        best = fmaxf(best, best_of(figure));
    }
    for (uint64_t i = x->owner_offset[q]; i < x->owner_offset[q + 1]; i++)
        answers += (double)kith__reached(x, x->owner[i], q).count;
    c->gate = 1 - best_a;
    c->log_answers = (float)log(answers + 1);
    describe(c, KITH__F_PLACE, 0);
    describe(c, KITH__F_Q_FACTS, log1p((double)facts.count));
    describe(c, KITH__F_Q_KNOWN, log1p((double)known.count));
    describe(c, KITH__F_Q_A, best_a);
    describe(c, KITH__F_Q_BEST, best);
    describe(c, KITH__F_Q_EMBEDDING, c->embedding ? c->e_top - c->log_sum : 0);
    describe(c, KITH__F_Q_RELATION, c->log_answers);
    describe(c, KITH__F_Q_ANSWERS, log((answers + 1) / (owners + 1)));
    describe(c, KITH__F_Q_TOLD, log1p((double)asked->count));
}

void kith__case_features(float *f, const kith__case *c, uint32_t candidate, const char *without)
{
    const kith__asking *asked = c->asked;
    float figure[KITH__FIGURES];

    copy_figures(figure, figures_of(asked, candidate), without);
    f[KITH__F_A_BEST] = figure[KITH__A_BEST];
    f[KITH__F_A_LOG] = log_of(figure[KITH__A_BEST]);
    f[KITH__F_A_ALL] = figure[KITH__A_ALL];
    f[KITH__F_A_GLOBAL] = figure[KITH__A_GLOBAL];
    f[KITH__F_A_COUNT] = logf(1 + figure[KITH__A_COUNT]);
    f[KITH__F_B_BEST] = figure[KITH__B_BEST];
    f[KITH__F_B_LOG] = log_of(figure[KITH__B_BEST]);
    f[KITH__F_B_ALL] = figure[KITH__B_ALL];
    f[KITH__F_B_COUNT] = logf(1 + figure[KITH__B_COUNT]);
    f[KITH__F_C_BEST] = figure[KITH__C_BEST];
    f[KITH__F_C_LOG] = log_of(figure[KITH__C_BEST]);
    f[KITH__F_C_SECOND] = figure[KITH__C_SECOND];
    f[KITH__F_C_ALL] = figure[KITH__C_ALL];
    f[KITH__F_C_COUNT] = logf(1 + figure[KITH__C_COUNT]);
    f[KITH__F_D_BEST] = figure[KITH__D_BEST];
    f[KITH__F_D_LOG] = log_of(figure[KITH__D_BEST]);
    f[KITH__F_D_SHARED] = figure[KITH__D_SHARED];
    f[KITH__F_D_SUM] = logf(1 + figure[KITH__D_SUM]);
    f[KITH__F_BEST] = best_of(figure);
    f[KITH__F_BEST_LOG] = log_of(f[KITH__F_BEST]);
    f[KITH__F_ALL] = 1 - (1 - figure[KITH__A_ALL]) * (1 - figure[KITH__B_ALL]) *
                             (1 - figure[KITH__C_ALL]);
    f[KITH__F_PRIOR] = logf(.2f + (float)asked->answered[candidate]) - c->log_answers;
    f[KITH__F_DEGREE] = c->log_degree[candidate];
    f[KITH__F_E_SCORE] = f[KITH__F_E_LOGP] = 0;
    if (c->embedding) {
        f[KITH__F_E_SCORE] = (c->embedding[candidate] - c->e_mean) * c->e_scale;
        f[KITH__F_E_LOGP] = c->embedding[candidate] - c->log_sum;
    }
    f[KITH__F_E_GATED] = c->gate * f[KITH__F_E_SCORE];
    f[KITH__F_E_LOGP_GATED] = c->gate * f[KITH__F_E_LOGP];
    memcpy(f + KITH__LINEAR_FEATURES, c->query, sizeof c->query);
}
