/* Collects the best answers by score. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/lists.h"
#include "core/mem.h"
#include "core/options.h"
#include "graph/graph.h"
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

static void keep_best_pairs(kith__answer_list *b)
{
    qsort(b->at, b->count, sizeof *b->at, better_pair_first);
    b->count = b->count < b->most ? b->count : b->most;
}

void kith__answer_of(kith_answer *answer, const kith__workspace *a, const kith__scored_query *row,
                     uint32_t entity)
{
    uint32_t m = a->model->graph->seen_relations;
    bool known = kith__span_has(row->shares->known, entity);
    kith__probabilities p = {NAN, NAN, NAN, NAN, NAN, NAN};

    if (!known)
        p = kith__probabilities_of(a, row, entity);
    memset(answer, 0, sizeof *answer); /* callers compare answers as bytes */
    answer->relation = row->query < m ? row->query : row->query - m;
    answer->entity = entity;
    answer->score = row->scores[entity];
    answer->known = known;
    answer->is_subject = row->query >= m;
    answer->probability = p.overall;
    answer->probability_if_any = p.if_any;
    answer->probability_if_one = p.if_one;
    answer->low = p.low;
    answer->high = p.high;
}

kith_status kith__answers_add(kith__answer_list *b, kith__workspace *a,
                              const kith__scored_query *row, bool pairs, float shift, bool new_only,
                              kith_error *error)
{
    size_t count;
    kith_status status;

    if (kith__reserve(&b->at, &b->capacity, b->count + 2 * b->most, sizeof *b->at))
        TRY(kith__no_memory(error));
    /* Of pairs, unknown ones come first, so there must be enough of them. */
    for (int known = 0; known <= (pairs && !new_only); known++) {
        TRY(kith__likeliest(&count, a, row, b->most, known || !(new_only || pairs), error));
        for (size_t i = 0; i < count; i++) {
            kith_answer *next = &b->at[b->count];
            kith__answer_of(next, a, row, a->best[i]);
            next->score = pairs && next->probability >= 0
                              ? (float)log(fmax(next->probability, 1e-30))
                              : next->score + shift;
            b->count += !known || next->known;
        }
    }
    if (pairs)
        keep_best_pairs(b);
cleanup:
    return status;
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

kith_status kith__chances_of(kith__chances *chances, kith__candidate_cache *cache,
                             kith__workspace *a, double has, uint32_t query, kith_error *error)
{
    const kith__relation_counts *counts;
    kith_status status = kith__candidate_cache_counts(&counts, cache, a->watch, error);

    if (status != KITH_OK)
        return status;
    chances->has = has;
    kith__again(chances->again, counts, kith__query_inverse(a->model->graph, query));
    return KITH_OK;
}

kith_status kith__scored_query_of(kith__scored_query *row, kith__candidate_cache *cache,
                                  kith__workspace *a, const kith__query_entity *queried,
                                  const float *scores, const kith__shares *shares, uint32_t query,
                                  kith_error *error)
{
    double has;
    kith_status status;

    *row = (kith__scored_query){
        .scores = scores, .shares = shares, .entity = queried->entity, .query = query};
    TRY(kith__has_relations(&has, cache, a, queried, &query, 1, error));
    TRY(kith__chances_of(&row->chances, cache, a, has, query, error));
cleanup:
    return status;
}

kith_status kith__best_answers(kith__answers *answers, kith__workspace *a,
                               const kith__scored_query *row, const kith_ask_options *options,
                               kith_error *error)
{
    kith__answer_list b = kith__answer_list_of(a, options);
    kith_status status = kith__answers_add(&b, a, row, false, 0, options->new_only, error);

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
