/* Answers questions of every kind, one at a time or in a batch. */
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"

question_kind kind_of(const kith_question *q)
{
    if (!q->subject && !q->object)
        return ASKS_MISSING;
    return q->subject && q->relation && q->object ? ASKS_TRUTH : ASKS_ENTITIES;
}

kith_status find_missing(kith_missing **missing, query_arguments *a, const char *relation,
                         size_t top, kith_missing_call found, void *context, kith_error *error)
{
    kith_missing_options options;

    kith_missing_options_init(&options);
    options.top = top;
    options.queries = (size_t)a->questions;
    options.min_probability = a->min_probability > 0 ? a->min_probability : 0;
    options.threads = a->ask.threads;
    options.candidates = a->ask.candidates;
    options.watch = a->ask.watch;
    options.context = a->ask.context;
    options.found = found;
    options.found_context = context;
    return kith_session_find_missing(missing, a->session, relation, &options, error);
}

/* Like other answers, a fact that is not known and less likely than wanted is omitted. */
static void set_verdict(result *r, const query_arguments *a, const kith_verdict *verdict)
{
    r->verdict = verdict;
    r->omitted = verdict && a->min_probability > 0 && !verdict->known &&
                 !(verdict->probability >= a->min_probability);
}

/* The search for missing facts uses several threads itself; other questions are answered faster in
 * a batch. */
bool can_ask_together(const questions *q)
{
    for (size_t i = 0; i < q->count; i++)
        if (kind_of(&q->at[i]) == ASKS_MISSING)
            return false;
    return q->count > 1 && q->about == q->count;
}

/* Select the questions of one kind, with their indices; returns their number. */
static size_t choose_kind(kith_question *chosen, size_t *places, const questions *q,
                          question_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < q->count; i++)
        if (kind_of(&q->at[i]) == kind) {
            chosen[count] = q->at[i];
            places[count++] = i;
        }
    return count;
}

static kith_status ask_entities(result *results, query_arguments *a, const kith_question *chosen,
                                const size_t *places, size_t count, kith_error *error)
{
    kith_answers_batch *batch = NULL;
    kith_status status = kith_session_ask_all(&batch, a->session, chosen, count, &a->ask, error);

    results[0].batch = batch;
    for (size_t i = 0; status == KITH_OK && i < count; i++) {
        results[places[i]].answers = batch->at[i];
        if (batch->errors[i])
            results[places[i]].error = *batch->errors[i];
    }
    return status;
}

static kith_status judge_facts(result *results, query_arguments *a, const kith_question *chosen,
                               const size_t *places, size_t count, kith_error *error)
{
    kith_verdicts *verdicts = NULL;
    kith_status status =
        kith_session_judge_all(&verdicts, a->session, chosen, count, &a->ask, error);

    results[0].verdicts = verdicts;
    for (size_t i = 0; status == KITH_OK && i < count; i++) {
        results[places[i]].kind = ASKS_TRUTH;
        set_verdict(&results[places[i]], a, verdicts->at[i]);
        if (verdicts->errors[i])
            results[places[i]].error = *verdicts->errors[i];
    }
    return status;
}

static kith_status ask_together(result *results, query_arguments *a, const questions *q,
                                kith_error *error)
{
    kith_question *chosen = calloc(q->count, sizeof *chosen);
    size_t *places = calloc(q->count, sizeof *places), count;
    kith_status status = KITH_OK;

    memset(results, 0, q->count * sizeof *results);
    if (!chosen || !places) {
        *error = (kith_error){KITH_ERR_MEMORY, "out of memory"};
        status = KITH_ERR_MEMORY;
    }
    if (status == KITH_OK && (count = choose_kind(chosen, places, q, ASKS_ENTITIES)) > 0)
        status = ask_entities(results, a, chosen, places, count, error);
    if (status == KITH_OK && (count = choose_kind(chosen, places, q, ASKS_TRUTH)) > 0)
        status = judge_facts(results, a, chosen, places, count, error);
    free(chosen);
    free(places);
    return status;
}

kith_status ask_question(result *r, query_arguments *a, const questions *q, size_t index,
                         kith_missing_call found, void *context, kith_error *error)
{
    const kith_question *question = &q->at[index];
    kith_ask_options ask = a->ask;
    kith_status status;

    *r = (result){.kind = kind_of(question)};
    ask.both = index >= q->about;
    ask.min_probability = a->min_probability > 0 ? a->min_probability : 0;
    if (r->kind == ASKS_TRUTH)
        status = kith_session_judge(&r->own_verdict, a->session, question, &r->error);
    else if (r->kind == ASKS_MISSING)
        status = find_missing(&r->missing, a, question->relation, a->ask.top, found, context,
                              &r->error);
    else
        status = kith_session_ask(&r->own, a->session, question, &ask, &r->error);
    r->answers = r->own;
    set_verdict(r, a, r->own_verdict);
    r->error.status = status;
    if (status != KITH_ERR_MEMORY && status != KITH_ERR_STOPPED)
        return KITH_OK;
    *error = r->error;
    return status;
}

kith_status ask_questions(result *results, query_arguments *a, const questions *q,
                          kith_error *error)
{
    kith_status status = KITH_OK;

    a->ask.min_probability = a->min_probability > 0 ? a->min_probability : 0;
    if (can_ask_together(q))
        return ask_together(results, a, q, error);
    for (size_t i = 0; status == KITH_OK && i < q->count; i++)
        status = ask_question(&results[i], a, q, i, NULL, NULL, error);
    return status;
}

void release_results(result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        kith_answers_free(results[i].own);
        kith_answers_batch_free(results[i].batch);
        kith_verdict_free(results[i].own_verdict);
        kith_verdicts_free(results[i].verdicts);
        kith_missing_free(results[i].missing);
        results[i] = (result){0};
    }
}
