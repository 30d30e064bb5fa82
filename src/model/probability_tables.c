#include "model/probability_tables.h"

#include <math.h>

#include "core/mem.h"

void kith__probability_table_add(kith__probability_table *t, double p, bool correct)
{
    double bounded = fmin(fmax(p, 1e-6), 1 - 1e-6);

    kith__reliability_add(t->bins, p, correct);
    t->shown.answers++;
    t->shown.correct += correct;
    t->shown.at_least_half += p >= .5;
    t->shown.at_least_half_correct += p >= .5 && correct;
    t->shown.log_loss -= log(correct ? bounded : 1 - bounded);
}

static void join_table(kith__probability_table *to, const kith__probability_table *t)
{
    for (int i = 0; i < KITH__RELIABILITY_BINS; i++) {
        to->bins[i].answers += t->bins[i].answers;
        to->bins[i].predicted += t->bins[i].predicted;
        to->bins[i].correct += t->bins[i].correct;
    }
    to->shown.answers += t->shown.answers;
    to->shown.correct += t->shown.correct;
    to->shown.at_least_half += t->shown.at_least_half;
    to->shown.at_least_half_correct += t->shown.at_least_half_correct;
    to->shown.log_loss += t->shown.log_loss;
}

void kith__probability_tables_join(kith__probability_tables *to, const kith__probability_tables *t)
{
    to->entities += t->entities;
    to->queries += t->queries;
    for (int i = 0; i < KITH__PROBABILITY_TABLES; i++)
        join_table(&to->of[i], &t->of[i]);
}

static void finish(kith__probability_table *table)
{
    kith_probability_table *t = &table->shown;
    double error = kith__reliability_finish(table->bins);
    double rate = t->answers ? (double)t->correct / (double)t->answers : 0;

    if (t->answers == 0)
        return;
    t->calibration_error = error;
    t->log_loss /= (double)t->answers;
    if (rate > 0 && rate < 1)
        t->base_rate_log_loss = -rate * log(rate) - (1 - rate) * log(1 - rate);
}

void kith__probability_tables_finish(kith__probability_tables *tables)
{
    for (int i = 0; i < KITH__PROBABILITY_TABLES; i++)
        finish(&tables->of[i]);
}

/* The caller's result, and what it points to. */
typedef struct {
    kith_probability_eval shown;
    kith__probability_tables own;
    const kith_reliability *bins[KITH__PROBABILITY_TABLES][KITH__RELIABILITY_BINS];
} result;

kith_probability_eval *kith__probability_eval_of(const kith__probability_tables *tables)
{
    result *out = kith__calloc(1, sizeof *out);

    if (!out)
        return NULL;
    out->own = *tables;
    for (int t = 0; t < KITH__PROBABILITY_TABLES; t++) {
        for (int i = 0; i < KITH__RELIABILITY_BINS; i++)
            out->bins[t][i] = &out->own.of[t].bins[i];
        out->own.of[t].shown.bins = out->bins[t];
        out->own.of[t].shown.bin_count = KITH__RELIABILITY_BINS;
    }
    out->shown = (kith_probability_eval){.entities = tables->entities,
                                         .queries = tables->queries,
                                         .relations = &out->own.of[KITH__OF_RELATIONS].shown,
                                         .pairs = &out->own.of[KITH__OF_PAIRS].shown,
                                         .if_any = &out->own.of[KITH__IF_ANY].shown};
    return &out->shown;
}

void kith_probability_eval_free(kith_probability_eval *shown)
{
    kith__free(shown);
}
