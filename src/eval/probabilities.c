/* kith_evaluate_probabilities: sessions about newcomers with some of their facts hidden. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/options.h"
#include "eval/newcomers.h"

enum { BEST = 10, BINS = 10 };

/* Sums over answers, from which tables are made. */
typedef struct {
    size_t answers, correct, at_least_half, at_least_half_correct;
    double log_loss;
    kith_reliability bins[BINS];
} sums;

/* What the answers about one newcomer add to the sums. */
typedef struct {
    size_t queries;
    sums relations, pairs;
    kith__answer_list best; /* pairs */
} counted;

typedef struct {
    const kith__newcomers *newcomers;
    counted *counts; /* per newcomer */
} measuring;

/* The caller's result, and what it points to: the tables of relations and of pairs. */
typedef struct {
    kith_probability_eval shown;
    kith_probability_table table[2];
    kith_reliability bins[2][BINS];
    const kith_reliability *list[2][BINS];
} result;

/* ---- tables ---- */

static void add_answer(sums *t, double p, bool correct)
{
    size_t row = (size_t)(p * BINS);
    kith_reliability *bin = &t->bins[row < BINS ? row : BINS - 1];
    double bounded = fmin(fmax(p, 1e-6), 1 - 1e-6);

    bin->answers++;
    bin->predicted += p;
    bin->correct += correct;
    t->answers++;
    t->correct += correct;
    t->at_least_half += p >= .5;
    t->at_least_half_correct += p >= .5 && correct;
    t->log_loss -= log(correct ? bounded : 1 - bounded);
}

static void add_sums(sums *to, const sums *t)
{
    for (int i = 0; i < BINS; i++) {
        to->bins[i].answers += t->bins[i].answers;
        to->bins[i].predicted += t->bins[i].predicted;
        to->bins[i].correct += t->bins[i].correct;
    }
    to->answers += t->answers;
    to->correct += t->correct;
    to->at_least_half += t->at_least_half;
    to->at_least_half_correct += t->at_least_half_correct;
    to->log_loss += t->log_loss;
}

static void sum_up_bins(result *out, int table, const sums *s)
{
    kith_probability_table *t = &out->table[table];

    t->bins = out->list[table];
    t->bin_count = BINS;
    for (int i = 0; i < BINS; i++) {
        kith_reliability *bin = &out->bins[table][i];
        *bin = s->bins[i];
        out->list[table][i] = bin;
        t->calibration_error += fabs(bin->predicted - bin->correct);
        if (bin->answers > 0) {
            bin->predicted /= (double)bin->answers;
            bin->correct /= (double)bin->answers;
        }
    }
}

static void sum_up(result *out, int table, const sums *s)
{
    kith_probability_table *t = &out->table[table];
    double rate = s->answers ? (double)s->correct / (double)s->answers : 0;

    *t = (kith_probability_table){.answers = s->answers,
                                  .correct = s->correct,
                                  .at_least_half = s->at_least_half,
                                  .at_least_half_correct = s->at_least_half_correct};
    sum_up_bins(out, table, s);
    if (t->answers == 0)
        return;
    t->calibration_error /= (double)t->answers;
    t->log_loss = s->log_loss / (double)t->answers;
    if (rate > 0 && rate < 1)
        t->base_rate_log_loss = -rate * log(rate) - (1 - rate) * log(1 - rate);
}

/* ---- answers ---- */

static uint32_t query_of(const kith_answer *answer, const kith_graph *graph)
{
    return answer->relation + (answer->is_subject ? kith_graph_seen_relation_count(graph) : 0);
}

static void count_answers(sums *t, const measuring *m, size_t newcomer,
                          const kith__answer_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const kith_answer *a = &list->at[i];
        add_answer(t, a->probability,
                   kith__newcomer_hides(m->newcomers, newcomer,
                                        query_of(a, m->newcomers->model->graph), a->entity));
    }
}

/* Compute answers as in a session, so that their probabilities are the same. */
static kith_status take_question(void *context, const kith__newcomer_question *q,
                                 kith_error *error)
{
    measuring *m = context;
    counted *c = &m->counts[q->newcomer];
    kith__workspace *a = q->workspace;
    kith__answer_list list = {.most = BEST < a->width ? BEST : a->width};
    kith_status status;

    c->best.most = list.most;
    TRY(kith__answers_add(&list, a, &q->row, false, 0, true, error));
    TRY(kith__answers_add(&c->best, a, &q->row, true, 0, true, error));
    c->queries++;
    count_answers(&c->relations, m, q->newcomer, &list);
cleanup:
    kith__free(list.at);
    return status;
}

static kith_status measure(result *out, const kith__newcomers *newcomers, kith__watch *watch,
                           kith_error *error)
{
    measuring m = {newcomers, kith__calloc(newcomers->count, sizeof *m.counts)};
    sums relations = {0}, pairs = {0};
    kith_status status = KITH_OK;

    if (!m.counts)
        return kith__no_memory(error);
    TRY(kith__newcomers_ask(newcomers, 0, watch, take_question, &m, error));
    for (size_t i = 0; i < newcomers->count; i++) {
        count_answers(&m.counts[i].pairs, &m, i, &m.counts[i].best);
        out->shown.queries += m.counts[i].queries;
        add_sums(&relations, &m.counts[i].relations);
        add_sums(&pairs, &m.counts[i].pairs);
    }
    sum_up(out, 0, &relations);
    sum_up(out, 1, &pairs);
    out->shown.entities = newcomers->count;
    out->shown.relations = &out->table[0];
    out->shown.pairs = &out->table[1];
cleanup:
    for (size_t i = 0; i < newcomers->count; i++)
        kith__free(m.counts[i].best.at);
    kith__free(m.counts);
    return status;
}

/* ---- the call ---- */

void(kith_probability_options_init)(kith_probability_options *options, size_t size)
{
    const kith_probability_options defaults = {.entities = 500, .seed = 1};

    kith__options_give(options, size, &defaults, sizeof defaults);
}

static kith_status check_model(const kith_model *model, kith_error *error)
{
    if (!model->has.fitted || !model->calibration.fitted || !model->fused)
        return kith__fail(error, KITH_ERR_ARGUMENT, "the model has no overall probabilities");
    return KITH_OK;
}

kith_status kith_evaluate_probabilities(kith_probability_eval **shown, const kith_model *model,
                                        const kith_probability_options *given, kith_error *error)
{
    if (!shown || !model)
        return kith__null_argument(error, __func__);

    kith__descriptions described = {0};
    kith__newcomers newcomers = {0};
    result *out = NULL;
    kith_probability_options options;
    kith__watch watch;

    kith_probability_options_init(&options);
    kith_status status =
        kith__options_copy(&options, sizeof options, sizeof options, given, error);
    kith__watch_init(&watch, options.watch, options.context);
    TRY(status);
    TRY(check_model(model, error));
    const kith__description_options drawn = {
        .most = options.entities, .times = 1, .seed = options.seed};
    TRY(kith__descriptions_init(&described, model->graph, &drawn, error));
    TRY(kith__newcomers_init(&newcomers, (kith_model *)model, &described, error));
    if (newcomers.count == 0)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT,
                       "the graph has no unseen entities with at least two facts"));
    if (!(out = kith__calloc(1, sizeof *out)))
        TRY(kith__no_memory(error));
    TRY(measure(out, &newcomers, &watch, error));
    *shown = &out->shown;
    out = NULL;
cleanup:
    kith__free(out);
    kith__newcomers_release(&newcomers);
    kith__descriptions_release(&described);
    kith__watch_release(&watch);
    return status;
}

void kith_probability_eval_free(kith_probability_eval *shown)
{
    kith__free(shown);
}
