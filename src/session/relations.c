/* Finds which relations link two entities. */
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "session/answer.h"

/* Score one relation with the candidate as its answer, in the same way as pairs
 * (kith__answers_add). */
static kith_answer judge_relation(const kith__workspace *a, const kith__likely *likely,
                                  uint32_t other)
{
    uint32_t m = a->model->graph->seen_relations;
    float score = a->scores[other];
    double if_any = kith__probability(&a->model->calibration, &a->shares[0], score);
    double probability =
        kith__overall_probability(&a->model->overall, &a->shares[0], likely->has, if_any);
    kith_answer answer = {
        .relation = likely->query < m ? likely->query : likely->query - m,
        .entity = other,
        .score = probability >= 0
                     ? (float)log(fmax(probability, 1e-30))
                     : score + kith__likelihood_shift(a->scores, a->width, likely->implied),
        .probability = probability,
        .probability_if_any = if_any,
        .known = kith__span_has(a->shares[0].known, other),
        .is_subject = likely->query >= m};

    kith__overall_interval(&answer.low, &answer.high, &a->model->overall, &a->shares[0],
                           likely->has, if_any);
    return answer;
}

kith_status kith__answer_relations(kith__answers *answers, kith_session *s, kith__workspace *a,
                                   const kith__query_entity *asked, uint32_t other,
                                   const kith_ask_options *options, kith_error *error)
{
    uint32_t m = a->model->graph->seen_relations;
    size_t count = options->relations < m ? options->relations : m, found = 0;
    uint32_t *queries = kith__alloc(m, sizeof *queries);
    kith__likely *order = kith__alloc(m, sizeof *order);
    kith_answer *list = kith__alloc(count, sizeof *list);
    kith_status status = KITH_OK;

    if (!queries || !order || !list || kith__workspace_reserve(a, 1))
        TRY(kith__no_memory(error));
    TRY(kith__order_queries(order, s, a, asked, answers->subject_asked, error));
    for (size_t i = 0; i < m; i++)
        queries[i] = order[i].query;
    for (size_t i = 0; i < count; i++) {
        bool fits = other != asked->entity;
        if (!fits)
            TRY(kith__has_loops(&fits, s, queries[i], error));
        if (!fits)
            continue;
        TRY(kith__answer_scores(a->scores, s->cache, a, asked, 1, queries + i, count - i, error));
        list[found] = judge_relation(a, &order[i], other);
        found += !(options->new_only && list[found].known);
    }
    qsort(list, found, sizeof *list, kith__better_answer_first);
    answers->relations = count;
    answers->all_relations = m;
    answers->count = found < options->top ? found : options->top;
    answers->at = list;
    list = NULL;
cleanup:
    kith__free(list);
    kith__free(queries);
    kith__free(order);
    return status;
}
