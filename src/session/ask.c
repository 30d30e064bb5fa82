/* Questions, one or many at once. */
#include <stdatomic.h>
#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "model/idle_pools.h"
#include "session/answer.h"
#include "session/errors.h"

typedef struct {
    kith_session *session;
    kith_ask_options options;
    const kith__resolved *resolved;
    kith__item *order; /* major: query, index: question */
    size_t *chunk;     /* where each chunk begins in `order`, and the end */
    size_t chunks;
    kith__answers *answers;
    kith__watch *watch;
    atomic_size_t next;
    pthread_mutex_t lock; /* guards the members below */
    kith_status status;
    kith_error error;
} question_batch;

static kith_status answer_chunk(question_batch *k, kith__workspace *a, size_t chunk,
                                kith_error *error)
{
    kith_session *s = k->session;
    kith__query_entity asked[KITH__QUERIES_TOGETHER];
    uint32_t entities[KITH__QUERIES_TOGETHER];
    size_t from = k->chunk[chunk], count = k->chunk[chunk + 1] - from;
    uint32_t query = k->resolved[k->order[from].index].query;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < count; i++)
        entities[i] = k->resolved[k->order[from + i].index].entity;
    TRY(kith__gather_facts(asked, NULL, s, a, entities, count, error));
    if (query != KITH__NO_ID) {
        if (kith__workspace_reserve(a, count))
            TRY(kith__no_memory(error));
        TRY(kith__answer_scores(a->scores, s->cache, a, asked, count, &query, 1, error));
    }
    for (size_t i = 0; i < count; i++) {
        kith__answers *answers = &k->answers[k->order[from + i].index];
        uint32_t other = k->resolved[k->order[from + i].index].other;
        if (query == KITH__NO_ID && other != KITH__NO_ID)
            TRY(kith__answer_relations(answers, s, a, &asked[i], other, &k->options, error));
        else if (query == KITH__NO_ID)
            TRY(kith__answer_pairs(answers, s, a, &asked[i], &k->options, error));
        else {
            float *scores = a->scores + i * a->width;
            kith__scored_query row;
            TRY(kith__leave_out_self(scores, a, s, entities[i], query, error));
            TRY(kith__scored_query_of(&row, s->cache, a, &asked[i], scores, &a->shares[i], query,
                                      error));
            TRY(kith__best_answers(answers, a, &row, &k->options, error));
        }
    }
cleanup:
    return status;
}

static void fail(question_batch *k, kith_status status, const kith_error *error)
{
    pthread_mutex_lock(&k->lock);
    k->status = status;
    k->error = *error;
    pthread_mutex_unlock(&k->lock);
}

static void answer_piece(void *context, size_t piece)
{
    question_batch *k = context;
    kith__workspace *a = kith__workspace_take(k->session->cache);
    kith_error error;
    size_t chunk;

    (void)piece;
    if (!a) {
        kith_status status = kith__no_memory(&error);
        fail(k, status, &error);
        return;
    }
    a->watch = k->watch;
    kith_status chosen = kith__choose_candidates(a, k->session, k->options.candidates, &error);
    if (chosen != KITH_OK)
        fail(k, chosen, &error);
    while (chosen == KITH_OK && (chunk = atomic_fetch_add(&k->next, 1)) < k->chunks) {
        kith_status status = answer_chunk(k, a, chunk, &error);
        if (status != KITH_OK)
            fail(k, status, &error);
        if (kith__watch_add(k->watch, k->chunk[chunk + 1] - k->chunk[chunk]))
            break;
    }
    kith__workspace_give(k->session->cache, a);
}

/* Put questions with the same query into a chunk, a few at a time; each question for pairs is a
 * chunk of its own. */
static void cut_chunks(question_batch *k, size_t count)
{
    size_t in_chunk = 0, most = kith__queries_at_once(k->session->model);

    k->chunks = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t query = k->resolved[k->order[i].index].query;
        bool same = i > 0 && query != KITH__NO_ID && k->order[i].major == k->order[i - 1].major &&
                    in_chunk < most;
        if (!same) {
            k->chunk[k->chunks++] = i;
            in_chunk = 0;
        }
        in_chunk++;
    }
    k->chunk[k->chunks] = count;
}

static kith_status order_all(question_batch *k, size_t count, kith_error *error)
{
    uint32_t relations = 2 * k->session->model->graph->seen_relations;
    kith__item *spare = kith__alloc(count, sizeof *spare);
    kith_status status = KITH_OK;

    k->order = kith__alloc(count, sizeof *k->order);
    k->chunk = kith__alloc(count + 1, sizeof *k->chunk);
    if (!spare || !k->order || !k->chunk)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < count; i++) {
        uint32_t query = k->resolved[i].query;
        k->order[i] = (kith__item){query == KITH__NO_ID ? relations : query, 0, (uint32_t)i};
        k->answers[i] = (kith__answers){
            .subject_asked = k->resolved[i].subject_asked, .relations = 1, .all_relations = 1};
    }
    kith__radix_sort(k->order, spare, count, (uint64_t)relations + 1, 1);
    cut_chunks(k, count);
cleanup:
    kith__free(spare);
    return status;
}

static kith_status run_asking(question_batch *k, unsigned threads, kith_error *error)
{
    const kith_model *model = k->session->model;
    kith__pool *pool = k->chunks > 1 && threads != 1 ? kith__model_take_pool(model, threads) : NULL;

    if (pool) {
        kith__pool_run(pool, answer_piece, k, kith__pool_size(pool));
        kith__model_give_pool(model, pool);
    } else {
        answer_piece(k, 0);
    }
    if (k->status != KITH_OK && error)
        *error = k->error;
    return k->status != KITH_OK ? k->status : kith__watch_status(k->watch, error);
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
    question_batch k = {.session = s,
                        .resolved = resolved,
                        .watch = watch,
                        .answers = kith__calloc(count, sizeof *answers)};
    kith_status status = KITH_OK;

    pthread_mutex_init(&k.lock, NULL);
    if (!k.answers)
        TRY(kith__no_memory(error));
    TRY(kith__ask_options(&k.options, options, error));
    TRY(order_all(&k, count, error));
    TRY(run_asking(&k, k.options.threads, error));
    for (size_t i = 0; i < count; i++)
        keep_likely(&k.answers[i], k.options.min_probability);
    memcpy(answers, k.answers, count * sizeof *answers);
cleanup:
    for (size_t i = 0; status != KITH_OK && k.answers && i < count; i++)
        kith__answers_release(&k.answers[i]);
    kith__free(k.answers);
    kith__free(k.order);
    kith__free(k.chunk);
    pthread_mutex_destroy(&k.lock);
    return status;
}

/* ---- batches of questions ---- */

/* Resolve the questions that can be asked. For the others, which have wrong names or no known
 * facts, store the reason in their errors. Only running out of memory stops all of them. */
static kith_status resolve_all(kith__resolved *resolved, uint32_t *which, size_t *good,
                               kith__errors *errors, const kith_session *s,
                               const kith_question *questions, size_t count, kith_candidate_set set,
                               kith__watch *watch, kith_error *error)
{
    kith_error wrong;
    kith_status status;

    TRY(kith__watch_begin(watch, "looking up names", count, error));
    for (size_t i = 0; i < count; i++) {
        status = kith__resolve(&resolved[*good], s, &questions[i], set, &wrong);
        if (status == KITH_OK)
            which[(*good)++] = (uint32_t)i;
        else if (status == KITH_ERR_MEMORY || kith__errors_set(errors, i, &wrong))
            return kith__no_memory(error);
        if (kith__watch_tick(watch, i + 1, count))
            return kith__watch_status(watch, error);
    }
    status = KITH_OK;
cleanup:
    return status;
}

static kith_status publish(kith_answers_batch *batch, const kith__answers *found,
                           const uint32_t *which, size_t good, kith_error *error)
{
    kith_answers **at = kith__calloc(batch->count, sizeof *at);

    batch->at = (const kith_answers *const *)at;
    if (!at)
        return kith__no_memory(error);
    for (size_t i = 0; i < good; i++)
        if (!(at[which[i]] = kith__answers_public(&found[i])))
            return kith__no_memory(error);
    return KITH_OK;
}

static kith_status ask_all(kith_answers_batch *batch, kith_session *s,
                           const kith_question *questions, const kith_ask_options *options,
                           kith__watch *watch, kith_error *error)
{
    size_t count = batch->count, good = 0;
    kith__resolved *resolved = kith__alloc(count, sizeof *resolved);
    uint32_t *which = kith__alloc(count, sizeof *which);
    kith__answers *found = kith__calloc(count, sizeof *found);
    kith__errors errors;
    kith_status status = kith__errors_init(&errors, count) ? kith__no_memory(error) : KITH_OK;

    TRY(status);
    if (!resolved || !which || !found)
        TRY(kith__no_memory(error));
    TRY(resolve_all(resolved, which, &good, &errors, s, questions, count, options->candidates,
                    watch, error));
    TRY(kith__watch_begin(watch, "answering", good, error));
    if (good > 0)
        TRY(kith__ask_resolved(found, s, resolved, good, options, watch, error));
    TRY(publish(batch, found, which, good, error));
    batch->errors = kith__errors_take(&errors);
    batch->failed = count - good;
cleanup:
    for (size_t i = 0; found && i < good; i++)
        kith__answers_release(&found[i]);
    kith__errors_release(&errors);
    kith__free(resolved);
    kith__free(which);
    kith__free(found);
    return status;
}

kith_status kith_session_ask_all(kith_answers_batch **batch, kith_session *s,
                                 const kith_question *questions, size_t count,
                                 const kith_ask_options *options, kith_error *error)
{
    if (!batch || !s || (count > 0 && !questions))
        return kith__null_argument(error, __func__);
    if (count >= UINT32_MAX)
        return kith__fail(error, KITH_ERR_ARGUMENT, "found %zu questions, expected fewer than 2^32",
                          count);

    kith_answers_batch *out = kith__calloc(1, sizeof *out);
    kith_ask_options used;
    kith__watch watch;
    kith_status status = kith__ask_options(&used, options, error);

    kith__watch_init(&watch, used.watch, used.context);
    TRY(status);
    if (!out)
        TRY(kith__no_memory(error));
    out->count = count;
    TRY(ask_all(out, s, questions, &used, &watch, error));
    *batch = out;
    out = NULL;
cleanup:
    kith_answers_batch_free(out);
    kith__watch_release(&watch);
    return status;
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

/* ---- a single question ---- */

kith_status kith_session_ask(kith_answers **answers, kith_session *s, const kith_question *question,
                             const kith_ask_options *options, kith_error *error)
{
    if (!answers || !s || !question)
        return kith__null_argument(error, __func__);

    kith__resolved resolved;
    kith__answers found = {0};
    kith_ask_options used;
    kith_answers *out = NULL;
    kith__watch watch;
    kith_status status = kith__ask_options(&used, options, error);

    kith__watch_init(&watch, used.watch, used.context);
    TRY(status);
    TRY(kith__resolve(&resolved, s, question, used.candidates, error));
    TRY(kith__watch_begin(&watch, "answering", 1, error));
    TRY(kith__ask_resolved(&found, s, &resolved, 1, &used, &watch, error));
    if (!(out = kith__answers_public(&found)))
        TRY(kith__no_memory(error));
    *answers = out;
cleanup:
    kith__answers_release(&found);
    kith__watch_release(&watch);
    return status;
}
