/* Questions of every kind, answered one by one or together. */
#include <stdlib.h>

#include "cli/answers.h"

question_kind kind_of(const kith_question *q)
{
    if (!q->subject && !q->object)
        return ASKS_MISSING;
    return q->subject && q->relation && q->object ? ASKS_TRUTH : ASKS_ENTITIES;
}

kith_status find_missing(kith_missing **missing, query_arguments *a, const char *relation,
                         size_t top, kith_error *error)
{
    kith_missing_options options;

    kith_missing_options_init(&options);
    options.top = top;
    options.queries = (size_t)a->questions;
    options.min_probability = a->min_probability > 0 ? a->min_probability : 0;
    options.threads = a->ask.threads;
    options.watch = a->ask.watch;
    options.context = a->ask.context;
    return kith_session_find_missing(missing, a->session, relation, &options, error);
}

static kith_status ask_one(result *r, query_arguments *a, const kith_question *q, bool both,
                           kith_error *error)
{
    kith_ask_options ask = a->ask;

    if (r->kind == ASKS_TRUTH)
        return kith_session_judge(&r->verdict, a->session, q, error);
    if (r->kind == ASKS_MISSING)
        return find_missing(&r->missing, a, q->relation, a->ask.top, error);
    ask.both = both;
    kith_status status = kith_session_ask(&r->own, a->session, q, &ask, error);
    r->answers = r->own;
    return status;
}

/* Entities are asked for at once where all questions are of that kind: on several threads. */
static bool can_ask_together(const questions *q)
{
    for (size_t i = 0; i < q->count; i++)
        if (kind_of(&q->at[i]) != ASKS_ENTITIES)
            return false;
    return q->count > 1 && q->about == q->count;
}

static kith_status ask_together(result *results, query_arguments *a, const questions *q,
                                kith_error *error)
{
    kith_answers_batch *batch = NULL;
    kith_status status = kith_session_ask_all(&batch, a->session, q->at, q->count, &a->ask, error);

    for (size_t i = 0; status == KITH_OK && i < q->count; i++) {
        results[i] = (result){.kind = ASKS_ENTITIES, .answers = batch->at[i]};
        if (batch->errors[i])
            results[i].error = *batch->errors[i];
    }
    results[0].batch = batch;
    return status;
}

kith_status ask_questions(result *results, query_arguments *a, const questions *q,
                          kith_error *error)
{
    a->ask.min_probability = a->min_probability > 0 ? a->min_probability : 0;
    if (can_ask_together(q))
        return ask_together(results, a, q, error);
    for (size_t i = 0; i < q->count; i++) {
        result *r = &results[i];
        *r = (result){.kind = kind_of(&q->at[i])};
        kith_status status = ask_one(r, a, &q->at[i], i >= q->about, &r->error);
        if (status == KITH_OK) {
            r->error.status = KITH_OK;
        } else if (status == KITH_ERR_MEMORY || status == KITH_ERR_STOPPED) {
            *error = r->error;
            return status;
        }
    }
    return KITH_OK;
}

void release_results(result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        kith_answers_free(results[i].own);
        kith_answers_batch_free(results[i].batch);
        kith_verdict_free(results[i].verdict);
        kith_missing_free(results[i].missing);
        results[i] = (result){0};
    }
}
