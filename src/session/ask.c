/* Questions, one or many at once. */
#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "session/question_batch.h"

/* Resolved questions that are being answered. */
typedef struct {
    kith_session *session;
    const kith_ask_options *options;
    const kith__resolved *resolved;
    kith__answers *answers;
} answering;

/* One question, whose entity is gathered in the workspace and, if it has a relation, scored in a
 * row. */
static kith_status answer_one(answering *k, kith__workspace *a, const kith__query_entity *entity,
                              size_t row, uint32_t question, kith_error *error)
{
    const kith__resolved *r = &k->resolved[question];
    kith__answers *answers = &k->answers[question];
    float *scores = a->scores + row * a->width;
    kith__scored_query scored;
    kith_status status;

    if (r->query == KITH__NO_ID)
        return r->other != KITH__NO_ID
                   ? kith__answer_relations(answers, k->session, a, entity, r->other, k->options,
                                            error)
                   : kith__answer_pairs(answers, k->session, a, entity, k->options, error);
    TRY(kith__leave_out_self(scores, a, k->session, r->entity, r->query, error));
    TRY(kith__scored_query_of(&scored, k->session->cache, a, entity, scores, &a->shares[row],
                              r->query, error));
    TRY(kith__best_answers(answers, a, &scored, k->options, error));
cleanup:
    return status;
}

static kith_status answer_chunk(void *context, kith__workspace *a, const uint32_t *at,
                                size_t count, kith_error *error)
{
    answering *k = context;
    kith__query_entity gathered[KITH__QUERIES_TOGETHER];
    uint32_t entities[KITH__QUERIES_TOGETHER], query = k->resolved[at[0]].query;
    kith_status status;

    for (size_t i = 0; i < count; i++)
        entities[i] = k->resolved[at[i]].entity;
    TRY(kith__gather_facts(gathered, NULL, k->session, a, entities, count, error));
    if (query != KITH__NO_ID) {
        if (kith__workspace_reserve(a, count))
            TRY(kith__no_memory(error));
        TRY(kith__answer_scores(a->scores, k->session->cache, a, gathered, count, &query, 1,
                                error));
    }
    for (size_t i = 0; i < count; i++)
        TRY(answer_one(k, a, &gathered[i], i, at[i], error));
cleanup:
    return status;
}

/* If a minimum probability is given, answers without one are dropped too, but not known ones. */
static void keep_likely(kith__answers *answers, double least)
{
    size_t kept = 0;

    if (!(least > 0))
        return;
    for (size_t i = 0; i < answers->count; i++)
        if (answers->at[i].known || answers->at[i].probability >= least)
            answers->at[kept++] = answers->at[i];
    answers->count = kept;
}

kith_status kith__ask_resolved(kith__answers *answers, kith_session *s,
                               const kith__resolved *resolved, size_t count,
                               const kith_ask_options *options, kith__watch *watch,
                               kith_error *error)
{
    kith_ask_options used;
    answering k = {s, &used, resolved, answers};
    const kith__chunks chunks = {.session = s,
                                 .resolved = resolved,
                                 .count = count,
                                 .candidates = options->candidates,
                                 .threads = options->threads,
                                 .watch = watch,
                                 .call = answer_chunk,
                                 .context = &k};
    kith_status status;

    for (size_t i = 0; i < count; i++)
        answers[i] = (kith__answers){
            .subject_asked = resolved[i].subject_asked, .relations = 1, .all_relations = 1};
    TRY(kith__ask_options(&used, options, error));
    TRY(kith__chunks_run(&chunks, error));
    for (size_t i = 0; i < count; i++)
        keep_likely(&answers[i], used.min_probability);
cleanup:
    for (size_t i = 0; status != KITH_OK && i < count; i++) {
        kith__answers_release(&answers[i]);
        answers[i] = (kith__answers){0};
    }
    return status;
}

/* Answer the questions of a call: `at` gets those of each question, NULL where it has an error. */
static kith_status ask(kith_answers **at, kith__question_batch *b, kith_error *error)
{
    kith__answers *found = kith__calloc(b->good, sizeof *found);
    kith_status status;

    if (!found)
        return kith__no_memory(error);
    TRY(kith__watch_begin(&b->watch, "answering", b->good, error));
    TRY(kith__ask_resolved(found, b->session, b->resolved, b->good, &b->options, &b->watch,
                           error));
    for (size_t i = 0; i < b->good; i++)
        if (!(at[b->which[i]] = kith__answers_public(&found[i])))
            TRY(kith__no_memory(error));
cleanup:
    for (size_t i = 0; i < b->good; i++)
        kith__answers_release(&found[i]);
    kith__free(found);
    return status;
}

/* ---- many ---- */

static kith_status ask_all(kith_answers_batch **batch, kith_session *s, kith__questions questions,
                           const kith_ask_options *options, kith_error *error)
{
    kith_answers_batch *out = kith__calloc(1, sizeof *out);
    kith_answers **at = NULL;
    kith__question_batch b;
    kith_status status = kith__question_batch_init(&b, s, questions, options, kith__resolve, error);

    TRY(status);
    if (!out || !(at = kith__calloc(b.count, sizeof *at)))
        TRY(kith__no_memory(error));
    out->at = (const kith_answers *const *)at;
    out->count = b.count;
    TRY(ask(at, &b, error));
    out->errors = kith__errors_take(&b.errors);
    out->failed = b.count - b.good;
    *batch = out;
    out = NULL;
cleanup:
    kith_answers_batch_free(out);
    kith__question_batch_release(&b);
    return status;
}

kith_status kith_session_ask_all(kith_answers_batch **batch, kith_session *s,
                                 const kith_question *questions, size_t count,
                                 const kith_ask_options *options, kith_error *error)
{
    if (!batch || !s || (count > 0 && !questions))
        return kith__null_argument(error, __func__);
    return ask_all(batch, s, (kith__questions){questions, NULL, count}, options, error);
}

kith_status kith_session_ask_all_ids(kith_answers_batch **batch, kith_session *s,
                                     const kith_triple *questions, size_t count,
                                     const kith_ask_options *options, kith_error *error)
{
    if (!batch || !s || (count > 0 && !questions))
        return kith__null_argument(error, __func__);
    return ask_all(batch, s, (kith__questions){NULL, questions, count}, options, error);
}

void kith_answers_batch_free(kith_answers_batch *batch)
{
    if (!batch)
        return;
    for (size_t i = 0; batch->at && i < batch->count; i++)
        kith_answers_free((kith_answers *)(uintptr_t)batch->at[i]);
    kith__errors_free(batch->errors, batch->count);
    kith__free((void *)(uintptr_t)batch->at);
    kith__free(batch);
}

/* ---- one ---- */

static kith_status ask_one(kith_answers **answers, kith_session *s, kith__questions question,
                           const kith_ask_options *options, kith_error *error)
{
    kith_answers *out = NULL;
    kith__question_batch b;
    kith_status status = kith__question_batch_init(&b, s, question, options, kith__resolve, error);

    TRY(status);
    TRY(kith__question_batch_first_error(&b, error));
    TRY(ask(&out, &b, error));
    *answers = out;
cleanup:
    kith__question_batch_release(&b);
    return status;
}

kith_status kith_session_ask(kith_answers **answers, kith_session *s, const kith_question *question,
                             const kith_ask_options *options, kith_error *error)
{
    if (!answers || !s || !question)
        return kith__null_argument(error, __func__);
    return ask_one(answers, s, (kith__questions){question, NULL, 1}, options, error);
}

kith_status kith_session_ask_ids(kith_answers **answers, kith_session *s, kith_triple question,
                                 const kith_ask_options *options, kith_error *error)
{
    if (!answers || !s)
        return kith__null_argument(error, __func__);
    return ask_one(answers, s, (kith__questions){NULL, &question, 1}, options, error);
}
