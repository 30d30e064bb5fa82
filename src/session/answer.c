/* Collects the best answers by score. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/lists.h"
#include "core/mem.h"
#include "core/options.h"
#include "graph/graph.h"
#include "nn/topk.h"
#include "session/answer.h"

enum { USUAL_TOP = 10, USUAL_RELATIONS = 64 };

void(kith_ask_options_init)(kith_ask_options *options, size_t size)
{
    const kith_ask_options defaults = {0};
    kith__options_give(options, size, &defaults, sizeof defaults);
}

kith_status kith__ask_options(kith_ask_options *used, const kith_ask_options *options,
                              kith_error *error)
{
    kith_status status;

    *used = (kith_ask_options){0};
    TRY(kith__options_copy(used, sizeof *used, sizeof *used, options, error));
    if (used->top == 0)
        used->top = USUAL_TOP;
    if (used->candidates == KITH_ANSWERS_USUAL)
        used->candidates = KITH_ANSWERS_ALL;
    if (used->relations == 0)
        used->relations = USUAL_RELATIONS;
cleanup:
    return status;
}

static bool is_worse(const kith_answer *a, const kith_answer *b)
{
    if (a->score != b->score)
        return a->score < b->score;
    if (a->entity != b->entity)
        return a->entity > b->entity;
    if (a->relation != b->relation)
        return a->relation > b->relation;
    return a->is_subject > b->is_subject;
}

int kith__better_answer_first(const void *a, const void *b)
{
    const kith_answer *x = a, *y = b;
    return is_worse(x, y) - is_worse(y, x);
}

/* Pairs that are known are not news. Their scores are no logarithms of a probability, either. */
static int better_pair_first(const void *a, const void *b)
{
    const kith_answer *x = a, *y = b;
    return x->known != y->known ? (x->known > y->known) - (x->known < y->known)
                                : kith__better_answer_first(a, b);
}

static void keep_best(kith__answer_list *b, bool pairs)
{
    qsort(b->at, b->count, sizeof *b->at, pairs ? better_pair_first : kith__better_answer_first);
    b->count = b->count < b->most ? b->count : b->most;
}

void kith__answer_of(kith_answer *answer, const kith__workspace *a, const kith__shares *shares,
                     float score, uint32_t entity, double has, uint32_t query)
{
    uint32_t m = a->model->graph->seen_relations;
    bool known = kith__span_has(shares->known, entity);
    double if_any = known ? NAN : kith__probability(&a->model->calibration, shares, score);

    memset(answer, 0, sizeof *answer); /* callers compare answers as bytes */
    answer->relation = query < m ? query : query - m;
    answer->entity = entity;
    answer->score = score;
    answer->known = known;
    answer->is_subject = query >= m;
    answer->probability_if_any = if_any;
    answer->probability = answer->low = answer->high = NAN;
    if (known)
        return;
    answer->probability = kith__overall_probability(&a->model->overall, shares, has, if_any);
    kith__overall_interval(&answer->low, &answer->high, &a->model->overall, shares, has, if_any);
}

kith_status kith__answers_add(kith__answer_list *b, kith__workspace *a, const float *scores,
                              const kith__shares *shares, double has, bool pairs, float shift,
                              uint32_t query, bool new_only, kith_error *error)
{
    if (kith__reserve(&a->best, &a->best_capacity, b->most, sizeof *a->best) ||
        kith__reserve(&b->at, &b->capacity, b->count + 2 * b->most, sizeof *b->at))
        return kith__no_memory(error);
    /* Of pairs, unknown ones come first, so there must be enough of them. */
    for (int known = 0; known <= (pairs && !new_only); known++) {
        size_t count = (new_only || pairs) && !known
                           ? kith__best_unknown(a->best, b->most, scores, a->width, shares->known)
                           : kith__topk_of(a->best, b->most, scores, a->width, NULL);
        for (size_t i = 0; i < count; i++) {
            kith_answer *next = &b->at[b->count];
            kith__answer_of(next, a, shares, scores[a->best[i]], a->best[i], has, query);
            next->score = pairs && next->probability >= 0
                              ? (float)log(fmax(next->probability, 1e-30))
                              : next->score + shift;
            b->count += !known || next->known;
        }
    }
    keep_best(b, pairs);
    return KITH_OK;
}

kith__answer_list kith__answer_list_of(const kith__workspace *a, const kith_ask_options *options)
{
    return (kith__answer_list){.most =
                                   options->top < a->width ? options->top : a->width};
}

kith_status kith__has_relations(double *has, kith__candidate_cache *cache, kith__workspace *a,
                                const kith__query_entity *queried, const uint32_t *queries,
                                size_t count, kith_error *error)
{
    const kith__relation_counts *counts;
    kith__known_facts known = {queried->sorted, a->relations, NULL};
    kith_status status = kith__candidate_cache_counts(&counts, cache, a->watch, error);

    if (status != KITH_OK)
        return status;
    for (size_t i = 0; i < queried->count; i++)
        a->relations[queried->facts[i].relation] = 1;
    for (size_t i = 0; i < count; i++)
        has[i] = counts ? kith__has_probability(&a->model->has, counts, &known, queries[i]) : NAN;
    for (size_t i = 0; i < queried->count; i++)
        a->relations[queried->facts[i].relation] = 0;
    return KITH_OK;
}

kith_status kith__best_answers(kith__answers *answers, kith__candidate_cache *cache,
                               kith__workspace *a, const kith__query_entity *queried,
                               const float *scores, const kith__shares *shares, uint32_t query,
                               const kith_ask_options *options, kith_error *error)
{
    kith__answer_list b = kith__answer_list_of(a, options);
    double has;
    kith_status status = kith__has_relations(&has, cache, a, queried, &query, 1, error);

    if (status == KITH_OK)
        status = kith__answers_add(&b, a, scores, shares, has, false, 0, query, options->new_only,
                                   error);
    if (status == KITH_OK) {
        answers->at = b.at;
        answers->count = b.count;
    } else {
        kith__free(b.at);
    }
    return status;
}

void kith__answers_release(kith__answers *answers)
{
    kith__free(answers->at);
    *answers = (kith__answers){0};
}

kith_answers *kith__answers_public(const kith__answers *answers)
{
    kith_answers *out = kith__alloc(1, sizeof *out);
    kith_answer **at = kith__list_of(answers->at, answers->count, sizeof *answers->at);

    if (!out || !at) {
        kith__free(out);
        kith__list_free(at);
        return NULL;
    }
    *out = (kith_answers){.at = (const kith_answer *const *)at,
                          .count = answers->count,
                          .subject_asked = answers->subject_asked,
                          .relations = answers->relations,
                          .all_relations = answers->all_relations};
    return out;
}

void kith_answers_free(kith_answers *answers)
{
    if (answers)
        kith__list_free(answers->at);
    kith__free(answers);
}
