/* Questions of every kind, answered one by one or together. */
#include <stdlib.h>

#include "cli/answers.h"
#include "cli/progress.h"

question_kind kind_of(const kith_question *q)
{
    if (!q->subject && !q->object)
        return ASKS_MISSING;
    return q->subject && q->relation && q->object ? ASKS_TRUTH : ASKS_ENTITIES;
}

static kith_status ask_one(result *r, asking *a, const kith_question *q, bool both,
                           kith_error *error)
{
    kith_ask_options ask = a->ask;
    kith_missing_options missing;

    if (r->kind == ASKS_TRUTH)
        return kith_session_judge(&r->verdict, a->session, q, error);
    if (r->kind == ASKS_MISSING) {
        kith_missing_options_init(&missing);
        missing.top = a->ask.top;
        missing.queries = (size_t)a->questions;
        missing.min_probability = a->min_probability > 0 ? a->min_probability : 0;
        missing.threads = a->ask.threads;
        return kith_session_find_missing(&r->missing, a->session, q->relation, &missing, error);
    }
    ask.both = both;
    return kith_session_ask(&r->answers, a->session, q, &ask, error);
}

/* Entities are asked for at once where all questions are of that kind: on several threads. */
static bool ask_together(result *results, asking *a, const questions *q)
{
    kith_answers *answers = calloc(q->count, sizeof *answers);
    bool done = answers && q->about == q->count;

    for (size_t i = 0; done && i < q->count; i++)
        done = kind_of(&q->at[i]) == ASKS_ENTITIES;
    done = done &&
           kith_session_ask_all(answers, NULL, a->session, q->at, q->count, &a->ask, NULL) ==
               KITH_OK;
    for (size_t i = 0; done && i < q->count; i++)
        results[i] = (result){.kind = ASKS_ENTITIES, .answers = answers[i]};
    free(answers);
    return done;
}

/* Answers that are not likely enough are left out; NAN counts as such. */
static void keep_likely(result *r, double least)
{
    size_t kept = 0;

    if (!(least > 0))
        return;
    for (size_t i = 0; i < r->answers.count; i++) {
        const kith_answer *a = &r->answers.at[i];
        if (a->overall >= least)
            r->answers.at[kept++] = *a;
    }
    r->answers.count = kept;
}

kith_status ask_questions(result *results, asking *a, const questions *q, kith_error *error)
{
    bool together = q->count > 1 && ask_together(results, a, q);

    for (size_t i = 0; i < q->count; i++) {
        result *r = &results[i];
        if (!together) {
            *r = (result){.kind = kind_of(&q->at[i])};
            kith_status status = ask_one(r, a, &q->at[i], i >= q->about, &r->error);
            if (status == KITH_OK)
                r->error.status = KITH_OK;
            else if (status == KITH_ERR_MEMORY || status == KITH_ERR_STOPPED) {
                *error = r->error;
                return status;
            }
        }
        keep_likely(r, a->min_probability);
    }
    return KITH_OK;
}

void release_results(result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        kith_answers_release(&results[i].answers);
        kith_missing_free(results[i].missing);
    }
}
