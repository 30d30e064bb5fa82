/* kith_evaluate_probabilities: sessions about newcomers with some of their facts hidden. */
#include "core/mem.h"
#include "core/options.h"
#include "eval/newcomers.h"
#include "model/probability_tables.h"

/* What the answers about one newcomer add to the sums. */
typedef struct {
    kith__probability_tables tables;
    kith__answer_list best; /* pairs */
} counted;

typedef struct {
    const kith__newcomers *newcomers;
    counted *counts; /* per newcomer */
} measuring;

/* ---- answers ---- */

static uint32_t query_of(const kith_answer *answer, const kith_graph *graph)
{
    return answer->relation + (answer->is_subject ? kith_graph_seen_relation_count(graph) : 0);
}

static void count_answers(counted *c, int table, const measuring *m, size_t newcomer,
                          const kith__answer_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const kith_answer *a = &list->at[i];
        bool correct = kith__newcomer_hides(m->newcomers, newcomer,
                                            query_of(a, m->newcomers->model->graph), a->entity);
        kith__probability_table_add(&c->tables.of[table],
                                    table == KITH__IF_ANY ? a->probability_if_any : a->probability,
                                    correct);
    }
}

/* Compute answers as in a session, so that their probabilities are the same. */
static kith_status take_question(void *context, const kith__newcomer_question *q,
                                 kith_error *error)
{
    measuring *m = context;
    counted *c = &m->counts[q->newcomer];
    kith__workspace *a = q->workspace;
    size_t most = KITH__TABLE_ANSWERS < a->width ? KITH__TABLE_ANSWERS : a->width;
    kith__answer_list list = {.most = most};
    kith_status status;

    c->best.most = most;
    TRY(kith__answers_add(&list, a, &q->row, false, 0, true, error));
    TRY(kith__answers_add(&c->best, a, &q->row, true, 0, true, error));
    c->tables.queries++;
    count_answers(c, KITH__OF_RELATIONS, m, q->newcomer, &list);
    if (kith__newcomer_hides_any(m->newcomers, q->newcomer, q->query))
        count_answers(c, KITH__IF_ANY, m, q->newcomer, &list);
cleanup:
    kith__free(list.at);
    return status;
}

static kith_status measure(kith_probability_eval **out, const kith__newcomers *newcomers,
                           kith__watch *watch, kith_error *error)
{
    measuring m = {newcomers, kith__calloc(newcomers->count, sizeof *m.counts)};
    kith__probability_tables all = {0};
    kith_status status = KITH_OK;

    if (!m.counts)
        return kith__no_memory(error);
    TRY(kith__newcomers_ask(newcomers, 0, watch, take_question, &m, error));
    for (size_t i = 0; i < newcomers->count; i++) {
        count_answers(&m.counts[i], KITH__OF_PAIRS, &m, i, &m.counts[i].best);
        m.counts[i].tables.entities = 1;
        kith__probability_tables_join(&all, &m.counts[i].tables);
    }
    kith__probability_tables_finish(&all);
    if (!(*out = kith__probability_eval_of(&all)))
        TRY(kith__no_memory(error));
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
    TRY(measure(shown, &newcomers, &watch, error));
cleanup:
    kith__newcomers_release(&newcomers);
    kith__descriptions_release(&described);
    kith__watch_release(&watch);
    return status;
}
