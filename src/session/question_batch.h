/* Many questions at once: what they ask for, each with an error of its own, and the work on several
 * threads. A single question is a batch of one. */
#ifndef KITH_SESSION_QUESTION_BATCH_H
#define KITH_SESSION_QUESTION_BATCH_H

#include "session/answer.h"
#include "session/errors.h"

/* What a caller asks, by names or by ids; the other is NULL. */
typedef struct kith__questions {
    const kith_question *names;
    const kith_triple *ids;
    size_t count;
} kith__questions;

/* The questions of a call that can be answered, and the errors of the others. */
typedef struct kith__question_batch {
    kith_session *session;
    kith_ask_options options;
    kith__watch watch;
    kith__resolved *resolved; /* the first `good` ones */
    uint32_t *which;          /* of each, its index among all questions */
    size_t count, good;
    kith__errors errors;
} kith__question_batch;

/* Look up the questions of a call, with `set` as candidates. Only running out of memory and a stop
 * fail as a whole. Release the batch in any case. */
typedef kith_status (*kith__resolver)(kith__resolved *resolved, const kith_session *session,
                                      const kith__question *question, kith_candidate_set set,
                                      kith_error *error);
kith_status kith__question_batch_init(kith__question_batch *batch, kith_session *session,
                                      kith__questions questions, const kith_ask_options *options,
                                      kith__resolver resolver, kith_error *error);
void kith__question_batch_release(kith__question_batch *batch);
/* What a call about a single question returns if the question has an error. */
kith_status kith__question_batch_first_error(const kith__question_batch *batch, kith_error *error);

/* Answers `count` resolved questions about one query, or one without a relation, in a workspace
 * whose candidates are chosen; `at` has their indices. */
typedef kith_status (*kith__chunk_call)(void *context, kith__workspace *workspace,
                                        const uint32_t *at, size_t count, kith_error *error);

/* Resolved questions, and what to do with them. */
typedef struct kith__chunks {
    kith_session *session;
    const kith__resolved *resolved;
    size_t count;
    kith_candidate_set candidates;
    unsigned threads;
    kith__watch *watch; /* may be NULL; each question adds 1 to the stage that the caller began */
    kith__chunk_call call;
    void *context;
} kith__chunks;
/* Call it for all questions, those with the same query together, on several threads. */
kith_status kith__chunks_run(const kith__chunks *chunks, kith_error *error);

#endif
