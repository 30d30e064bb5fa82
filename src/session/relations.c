/* Finds which relations link two entities. */
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "session/answer.h"

/* Score one relation with the candidate as its answer, in the same way as pairs
 * (kith__answers_add). */
static kith_status judge_relation(kith_answer *answer, kith_session *s, kith__workspace *a,
                                  uint32_t entity, const kith__likely *likely, uint32_t other,
                                  kith_error *error)
{
    float shift = kith__likelihood_shift(a->scores, a->width, likely->implied);
    kith__scored_query row = {a->scores, &a->shares[0], entity, likely->query, {0}};
    kith_status status =
        kith__chances_of(&row.chances, s->cache, a, likely->has, likely->query, error);

    if (status != KITH_OK)
        return status;
    kith__answer_of(answer, a, &row, other);
    answer->score = answer->probability >= 0 ? (float)log(fmax(answer->probability, 1e-30))
                                             : answer->score + shift;
    return KITH_OK;
}

/* Relations that are known to link the two come first. */
static int better_first(const void *a, const void *b)
{
    const kith_answer *x = a, *y = b;
    return x->known != y->known ? (x->known < y->known) - (x->known > y->known)
                                : kith__better_answer_first(a, b);
}

kith_status kith__answer_relations(kith__answers *answers, kith_session *s, kith__workspace *a,
                                   const kith__query_entity *queried, uint32_t other,
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
    TRY(kith__order_queries(order, s, a, queried, answers->subject_asked, error));
    for (size_t i = 0; i < m; i++)
        queries[i] = order[i].query;
    for (size_t i = 0; i < count; i++) {
        bool is_candidate = other != queried->entity;
        if (!is_candidate)
            TRY(kith__has_loops(&is_candidate, s, queries[i], error));
        if (!is_candidate)
            continue;
        TRY(kith__answer_scores(a->scores, s->cache, a, queried, 1, queries + i, count - i, error));
        TRY(judge_relation(&list[found], s, a, queried->entity, &order[i], other, error));
        found += !(options->new_only && list[found].known);
    }
    qsort(list, found, sizeof *list, better_first);
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
