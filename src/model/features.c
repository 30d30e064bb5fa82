#include "model/features.h"
#include "nn/log_sum.h"

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

kith_evidence_part kith__feature_part(int feature)
{
    static const kith_evidence_part features[] = {
#define PART(name, text, part) KITH_PART_##part,
        KITH__FEATURES(PART)
#undef PART
    };
    return features[feature];
}

/* Confidences on a scale on which .1 and .3 are about as far apart as .3 and .9; 0 where there is
 * none. */
static float log_of(float confidence)
{
    return logf(1 + 100 * confidence);
}

static const float *figures_of(const kith__evidence_query *asked, uint32_t candidate)
{
    return kith__evidence_row(asked, candidate);
}

static void copy_figures(float *to, const float *from, unsigned without)
{
    for (int i = 0; i < KITH__RULE_FEATURES; i++)
        to[i] = from && !(without & kith__rule_feature_part((kith__rule_feature)i)) ? from[i] : 0;
}

static float best_of(const float *figure)
{
    return fmaxf(fmaxf(figure[KITH__A_BEST], figure[KITH__B_BEST]), figure[KITH__C_BEST]);
}

static void sum_up_embedding(kith__case *c)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < c->candidates; i++)
        sum += c->embedding[i];
    double mean = sum / (double)c->candidates;
    for (size_t i = 0; i < c->candidates; i++) {
        double off = c->embedding[i] - mean;
        squares += off * off;
    }
    double deviation = sqrt(squares / (double)c->candidates);
    c->e_mean = (float)mean;
    c->e_scale = deviation > 0 ? (float)(1 / deviation) : 0;
    kith__exp_sum all = kith__exp_sum_of(c->embedding, c->candidates, NULL);
    c->log_sum = all.top + (float)log(all.sum);
}

void kith__case_init(kith__case *c, const kith__evidence_query *asked, kith__span facts,
                     const float *embedding, const float *log_degree, size_t candidates,
                     unsigned without)
{
    kith__span known = kith__span_of(facts, asked->query);
    float best_a = 0;

    if (without & KITH_PART_EMBEDDING)
        embedding = NULL;
    *c = (kith__case){.asked = asked,
                      .embedding = embedding,
                      .log_degree = log_degree,
                      .candidates = candidates,
                      .log_answers =
                          logf(1 + (float)kith__view_answer_count(&asked->view, asked->query)),
                      .log_known = logf(1 + (float)known.count),
                      .log_facts = logf(1 + (float)facts.count)};
    if (c->embedding)
        sum_up_embedding(c);
    for (size_t i = 0; i < asked->count && !(without & KITH_PART_DIRECT); i++)
        if (asked->rows[i].entity < candidates && !kith__span_has(known, asked->rows[i].entity))
            best_a = fmaxf(best_a, asked->rows[i].feature[KITH__A_BEST]);
    c->gate = 1 - best_a;
}

static void copy_rules(float *f, const float *figure)
{
    f[KITH__F_A_BEST] = figure[KITH__A_BEST];
    f[KITH__F_A_LOG] = log_of(figure[KITH__A_BEST]);
    f[KITH__F_A_ALL] = figure[KITH__A_ALL];
    f[KITH__F_A_GLOBAL] = figure[KITH__A_GLOBAL];
    f[KITH__F_A_COUNT] = logf(1 + figure[KITH__A_COUNT]);
    f[KITH__F_A_LINKS] = logf(1 + figure[KITH__A_LINKS]);
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
}

static void copy_plain(float *f, const kith__case *c, kith__plain plain)
{
    f[KITH__F_PRIOR] = plain.prior;
    f[KITH__F_DEGREE] = plain.degree;
    f[KITH__F_TYPE] = plain.fits;
    f[KITH__F_TYPE_ALL] = plain.type_score_all;
    f[KITH__F_PROXIMITY] = f[KITH__F_PROXIMITY_UNLINKED] = plain.proximity;
    f[KITH__F_PROXIMITY_KNOWN] = c->log_known * plain.proximity;
    f[KITH__F_TYPE_KNOWN] = c->log_known * plain.fits;
    f[KITH__F_E_SCORE] = plain.e_score;
    f[KITH__F_E_LOGP] = plain.e_logp;
    f[KITH__F_E_GATED] = c->gate * plain.e_score;
    f[KITH__F_E_LOGP_GATED] = c->gate * plain.e_logp;
}

/* How much a figure counts may depend on how much is known: of the query's answers, and of the
 * entity. */
static void cross(float *f, const kith__case *c)
{
    float known = c->log_known, facts = c->log_facts - 3; /* about 20 facts are usual */

    if (f[KITH__F_A_LINKS] > 0)
        f[KITH__F_PROXIMITY_UNLINKED] = 0;
    f[KITH__F_E_LINKED] = f[KITH__F_A_LINKS] > 0 ? f[KITH__F_E_LOGP] : 0;
    f[KITH__F_BEST_LOG_KNOWN] = known * f[KITH__F_BEST_LOG];
    f[KITH__F_ALL_KNOWN] = known * f[KITH__F_ALL];
    f[KITH__F_C_LOG_KNOWN] = known * f[KITH__F_C_LOG];
    f[KITH__F_D_LOG_KNOWN] = known * f[KITH__F_D_LOG];
    f[KITH__F_D_SHARED_KNOWN] = known * f[KITH__F_D_SHARED];
    f[KITH__F_PRIOR_KNOWN] = known * f[KITH__F_PRIOR];
    f[KITH__F_E_KNOWN] = known * f[KITH__F_E_LOGP];
    f[KITH__F_BEST_LOG_FACTS] = facts * f[KITH__F_BEST_LOG];
    f[KITH__F_ALL_FACTS] = facts * f[KITH__F_ALL];
    f[KITH__F_C_LOG_FACTS] = facts * f[KITH__F_C_LOG];
    f[KITH__F_D_LOG_FACTS] = facts * f[KITH__F_D_LOG];
    f[KITH__F_PRIOR_FACTS] = facts * f[KITH__F_PRIOR];
    f[KITH__F_E_FACTS] = facts * f[KITH__F_E_LOGP];
}

static void fill(float *f, const kith__case *c, const float *figure, kith__plain plain)
{
    copy_rules(f, figure);
    copy_plain(f, c, plain);
    cross(f, c);
}

void kith__case_plain(float f[KITH__FEATURES_COUNT], const kith__case *c, kith__plain plain)
{
    static const float none[KITH__RULE_FEATURES];
    fill(f, c, none, plain);
}

void kith__case_features(float f[KITH__FEATURES_COUNT], const kith__case *c, uint32_t candidate,
                         unsigned without)
{
    float figure[KITH__RULE_FEATURES];
    kith__plain plain = {.prior = logf(.2f + (float)kith__evidence_answered(c->asked, candidate)) -
                                  c->log_answers,
                         .degree = kith__evidence_log_degree(c->asked, candidate),
                         .proximity = without & KITH_PART_PROXIMITY
                                          ? 0
                                          : kith__proximity_of(&c->asked->proximity, candidate)};

    kith__evidence_type(&plain.fits, &plain.type_score_all, c->asked, candidate);
    copy_figures(figure, figures_of(c->asked, candidate), without);
    if (c->embedding) {
        plain.e_score = (c->embedding[candidate] - c->e_mean) * c->e_scale;
        plain.e_logp = c->embedding[candidate] - c->log_sum;
    }
    fill(f, c, figure, plain);
}

void kith__case_slopes(float change[KITH__FEATURES_COUNT], const kith__case *c, uint32_t candidate,
                       unsigned without)
{
    float figure[KITH__RULE_FEATURES], at[KITH__FEATURES_COUNT];

    copy_figures(figure, figures_of(c->asked, candidate), without);
    fill(at, c, figure, (kith__plain){0});
    fill(change, c, figure, (kith__plain){.e_score = c->e_scale, .e_logp = 1});
    for (int k = 0; k < KITH__FEATURES_COUNT; k++)
        change[k] -= at[k];
}
