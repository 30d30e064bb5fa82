#include "model/features.h"
#include "nn/log_sum.h"
#include "rules/rule.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const char *kith__feature_name(int feature)
{
    static const char *const names[] = {
#define NAME(name, text, part, value) text,
        KITH__FEATURES(NAME)
#undef NAME
    };
    return names[feature];
}

kith_evidence_part kith__feature_part(int feature)
{
    static const unsigned parts[] = {
#define PART(name, text, part, value) KITH__PART_##part,
        KITH__FEATURES(PART)
#undef PART
    };
    return (kith_evidence_part)parts[feature];
}

/* The logarithmic scale of confidences: .1 and .3 are about as far apart as .3 and .9. 0 without a
 * confidence. */
static float log_of(float confidence)
{
    return logf(1 + 100 * confidence);
}

static void copy_rules(float *to, const float *from, unsigned without)
{
    for (int i = 0; i < KITH__RULE_FEATURES; i++)
        to[i] = from && !(without & kith__rule_feature_part((kith__rule_feature)i)) ? from[i] : 0;
}

static float best_of(const float *r)
{
    float best = 0;

#define COMBINED_BEST(name) best = fmaxf(best, r[KITH__##name##_BEST]);
#define SEPARATE_BEST(name)
#define BEST(use, name, object, bit, combined) combined##_BEST(name)
    KITH__RULE_KINDS_TABLE(BEST, )
    return best;
}

static float all_of(const float *r)
{
    float none = 1;

#define COMBINED_ALL(name) none *= 1 - r[KITH__##name##_ALL];
#define SEPARATE_ALL(name)
#define ALL(use, name, object, bit, combined) combined##_ALL(name)
    KITH__RULE_KINDS_TABLE(ALL, )
    return 1 - none;
}

/* The log of the number of facts of the entity, relative to about 20, which is usual. */
static float usual_facts(const kith__case *c)
{
    return c->log_facts - 3;
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

void kith__case_init(kith__case *c, const kith__evidence_query *evidence, kith__span facts,
                     const float *embedding, const float *log_degree, size_t candidates,
                     unsigned without)
{
    kith__span known = kith__span_of(facts, evidence->query);
    uint32_t answers = kith__view_answer_count(&evidence->view, evidence->query);
    float direct = 0;

    if (without & KITH_PART_EMBEDDING)
        embedding = NULL;
    *c = (kith__case){.evidence = evidence,
                      .embedding = embedding,
                      .log_degree = log_degree,
                      .candidates = candidates,
                      .log_answers = logf(1 + (float)answers),
                      .log_known = logf(1 + (float)known.count),
                      .log_facts = logf(1 + (float)facts.count)};
    if (c->embedding)
        sum_up_embedding(c);
    for (size_t i = 0; i < evidence->count && !(without & KITH_PART_DIRECT); i++) {
        uint32_t entity = evidence->rows[i].entity;
        if (entity < candidates && !kith__span_has(known, entity))
            direct = fmaxf(direct, evidence->rows[i].feature[KITH__DIRECT_BEST]);
    }
    c->gate = 1 - direct;
}

/* The effect of a feature may depend on the number of known answers of the query and of known facts
 * of the entity. */
static void fill(float *f, const kith__case *c, const float *r, const kith__plain *p)
{
#define FILL(name, text, part, value) f[KITH__F_##name] = value;
    KITH__FEATURES(FILL)
#undef FILL
}

void kith__case_plain(float f[KITH__FEATURES_COUNT], const kith__case *c, kith__plain plain)
{
    static const float none[KITH__RULE_FEATURES];
    fill(f, c, none, &plain);
}

float kith__type_by_answers(uint32_t answered)
{
    return answered > 0 ? log_of(kith__shrunk(answered, answered)) : 0;
}

void kith__case_features(float f[KITH__FEATURES_COUNT], const kith__case *c, uint32_t candidate,
                         unsigned without)
{
    float rules[KITH__RULE_FEATURES];
    uint32_t answered = kith__evidence_answered(c->evidence, candidate);
    kith__plain plain = {.prior = logf(.2f + (float)answered) - c->log_answers,
                         .degree = kith__evidence_log_degree(c->evidence, candidate),
                         .proximity = without & KITH_PART_PROXIMITY
                                          ? 0
                                          : kith__proximity_of(&c->evidence->proximity, candidate)};

    kith__evidence_type(&plain.type_score, &plain.type_score_all, c->evidence, candidate);
    plain.type_score = fmaxf(plain.type_score, kith__type_by_answers(answered));
    copy_rules(rules, kith__evidence_row(c->evidence, candidate), without);
    if (c->embedding) {
        plain.e_score = (c->embedding[candidate] - c->e_mean) * c->e_scale;
        plain.e_logp = c->embedding[candidate] - c->log_sum;
    }
    fill(f, c, rules, &plain);
}

void kith__case_slopes(float change[KITH__FEATURES_COUNT], const kith__case *c, uint32_t candidate,
                       unsigned without)
{
    float rules[KITH__RULE_FEATURES], at[KITH__FEATURES_COUNT];

    copy_rules(rules, kith__evidence_row(c->evidence, candidate), without);
    fill(at, c, rules, &(kith__plain){0});
    fill(change, c, rules, &(kith__plain){.e_score = c->e_scale, .e_logp = 1});
    for (int k = 0; k < KITH__FEATURES_COUNT; k++)
        change[k] -= at[k];
}
