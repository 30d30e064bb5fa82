/* The best answers by scores. */
#include <stdlib.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "nn/topk.h"
#include "session/answer.h"

enum { USUAL_TOP = 10, USUAL_RELATIONS = 64 };

kith_ask_options kith__ask_options(const kith_ask_options *options)
{
    kith_ask_options used = options ? *options : (kith_ask_options){0};

    if (used.top == 0)
        used.top = USUAL_TOP;
    if (used.relations == 0)
        used.relations = USUAL_RELATIONS;
    return used;
}

static bool is_worse(const kith_answer *a, const kith_answer *b)
{
    if (a->score != b->score)
        return a->score < b->score;
    if (a->entity != b->entity)
        return a->entity > b->entity;
    return a->relation > b->relation;
}

static int better_first(const void *a, const void *b)
{
    const kith_answer *x = a, *y = b;
    return is_worse(x, y) - is_worse(y, x);
}

static void keep_best(kith__answer_list *b)
{
    qsort(b->at, b->count, sizeof *b->at, better_first);
    b->count = b->count < b->most ? b->count : b->most;
}

kith_status kith__answers_add(kith__answer_list *b, kith__workspace *a, const float *scores,
                              const kith__shares *shares, float shift, uint32_t query,
                              bool new_only, kith_error *error)
{
    uint32_t m = a->model->graph->seen_relations;

    if (kith__reserve(&a->best, &a->best_capacity, b->most, sizeof *a->best) ||
        kith__reserve(&b->at, &b->capacity, b->count + b->most, sizeof *b->at))
        return kith__no_memory(error);
    size_t count =
        new_only ? kith__best_unknown(a->best, b->most, scores, a->candidates, shares->known)
                 : kith__topk_of(a->best, b->most, scores, a->candidates, NULL);
    for (size_t i = 0; i < count; i++) {
        uint32_t c = a->best[i];
        b->at[b->count++] = (kith_answer){
            .relation = query < m ? query : query - m,
            .entity = c,
            .score = scores[c] + shift,
            .probability = kith__probability(&a->model->calibration, shares, scores[c]),
            .known = kith__span_has(shares->known, c)};
    }
    keep_best(b);
    return KITH_OK;
}

kith__answer_list kith__answer_list_of(const kith__workspace *a, const kith_ask_options *options)
{
    return (kith__answer_list){.most =
                                   options->top < a->candidates ? options->top : a->candidates};
}

kith_status kith__best_answers(kith_answers *answers, kith__workspace *a, const float *scores,
                               const kith__shares *shares, uint32_t query,
                               const kith_ask_options *options, kith_error *error)
{
    kith__answer_list b = kith__answer_list_of(a, options);
    kith_status status =
        kith__answers_add(&b, a, scores, shares, 0, query, options->new_only, error);

    if (status == KITH_OK) {
        answers->at = b.at;
        answers->count = b.count;
    } else {
        kith__free(b.at);
    }
    return status;
}

void kith_answers_release(kith_answers *answers)
{
    if (!answers)
        return;
    kith__free(answers->at);
    *answers = (kith_answers){0};
}
