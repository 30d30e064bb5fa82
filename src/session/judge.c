/* Verdicts: the probability of one candidate, with the fact itself hidden. */
#include <math.h>
#include <stdatomic.h>

#include "core/lists.h"
#include "core/mem.h"
#include "core/radix.h"
#include "core/stages.h"
#include "graph/graph.h"
#include "model/idle_pools.h"
#include "session/answer.h"
#include "session/classify.h"
#include "session/errors.h"

/* ---- hiding a fact ---- */

static size_t drop(kith_neighbor *at, size_t count, kith_neighbor gone)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++)
        if (at[i].relation != gone.relation || at[i].entity != gone.entity)
            at[left++] = at[i];
    return left;
}

static bool drop_one(kith__query_entity *asked, kith__workspace *a, kith_neighbor gone)
{
    size_t before = asked->count;

    asked->count = drop(a->facts + (asked->facts - a->facts), asked->count, gone);
    asked->sorted.count =
        drop(a->sorted + (asked->sorted.at - a->sorted), asked->sorted.count, gone);
    return asked->count < before;
}

bool kith__mask_fact(kith__query_entity *asked, kith__workspace *a, uint32_t query, uint32_t other)
{
    bool known = drop_one(asked, a, (kith_neighbor){query, other});

    if (asked->entity == other) /* a loop: both ends have the fact */
        known |= drop_one(asked, a,
                          (kith_neighbor){kith__query_inverse(a->model->graph, query), other});
    return known;
}

/* ---- one verdict ---- */

/* The number of candidates that are not known answers; entities without a score are not
 * candidates. */
static size_t unknown_of(const float *scores, size_t width, kith__span known)
{
    size_t count = 0;

    for (size_t c = 0; c < width; c++)
        count += !isnan(scores[c]);
    for (size_t i = 0; i < known.count; i++)
        count -= known.at[i].entity < width && !isnan(scores[known.at[i].entity]);
    return count;
}

static kith_status judge_one(kith_verdict *verdict, kith__workspace *a,
                             const kith__scored_query *row, const kith__resolved *r, bool known,
                             kith_error *error)
{
    kith__probabilities p = kith__probabilities_of(a, row, r->other);

    *verdict = (kith_verdict){.known = known,
                              .subject_asked = r->subject_asked,
                              .probability = p.overall,
                              .has = p.has,
                              .probability_if_any = p.if_any,
                              .low = p.low,
                              .high = p.high,
                              .score = row->scores[r->other],
                              .likely = isnan(p.overall) ? -1 : p.overall >= .5,
                              .candidates = unknown_of(row->scores, a->width, row->shares->known)};
    return kith__rank_listed(&verdict->rank, a, row, r->other, error);
}

/* ---- batches of facts ---- */

typedef struct {
    kith_session *session;
    kith__resolved *resolved;
    kith__item *order; /* the facts that can be checked; major: query, index: fact */
    size_t count;
    size_t *chunk; /* where each chunk begins in `order`, and the end */
    size_t chunks;
    kith_verdict *verdicts;
    kith__errors errors;
    kith__watch watch;
    atomic_size_t next;
    pthread_mutex_t lock; /* guards the members below */
    kith_status status;
    kith_error error;
} judging;

/* Choose the facts of a chunk that can be ranked; the others have no verdict before they are
 * classified. */
static size_t choose_ranked(kith__item ranked[KITH__QUERIES_TOGETHER], judging *j, size_t chunk)
{
    size_t count = 0;

    for (size_t i = j->chunk[chunk]; i < j->chunk[chunk + 1]; i++)
        if (!j->resolved[j->order[i].index].unranked)
            ranked[count++] = j->order[i];
        else
            j->verdicts[j->order[i].index] = (kith_verdict){.probability = NAN,
                                                            .probability_if_any = NAN,
                                                            .has = NAN,
                                                            .score = NAN,
                                                            .likely = -1};
    return count;
}

static kith_status judge_chunk(judging *j, kith__workspace *a, size_t chunk, kith_error *error)
{
    kith_session *s = j->session;
    kith__item items[KITH__QUERIES_TOGETHER];
    size_t count = choose_ranked(items, j, chunk);
    uint32_t query = j->order[j->chunk[chunk]].major, entities[KITH__QUERIES_TOGETHER];
    kith__query_entity asked[KITH__QUERIES_TOGETHER];
    bool known[KITH__QUERIES_TOGETHER];
    kith_status status = KITH_OK;

    if (count == 0)
        return KITH_OK;
    for (size_t i = 0; i < count; i++)
        entities[i] = j->resolved[items[i].index].entity;
    TRY(kith__gather_facts(asked, NULL, s, a, entities, count, error));
    for (size_t i = 0; i < count; i++)
        known[i] = kith__mask_fact(&asked[i], a, query, j->resolved[items[i].index].other);
    if (kith__workspace_reserve(a, count))
        TRY(kith__no_memory(error));
    TRY(kith__answer_scores(a->scores, s->cache, a, asked, count, &query, 1, error));
    for (size_t i = 0; i < count; i++) {
        const kith__resolved *r = &j->resolved[items[i].index];
        float *scores = a->scores + i * a->width;
        kith__scored_query row;
        if (entities[i] != r->other)
            TRY(kith__leave_out_self(scores, a, s, entities[i], query, error));
        TRY(kith__scored_query_of(&row, s->cache, a, &asked[i], scores, &a->shares[i], query,
                                  error));
        TRY(judge_one(&j->verdicts[items[i].index], a, &row, r, known[i], error));
    }
cleanup:
    return status;
}

/* Classify with the run's classifier, which was fitted on labels. */
static kith_status classify_chunk(judging *j, kith__workspace *a, size_t chunk, kith_error *error)
{
    uint32_t m = j->session->model->graph->seen_relations;
    kith_status status = KITH_OK;

    for (size_t i = j->chunk[chunk]; status == KITH_OK && i < j->chunk[chunk + 1]; i++) {
        const kith__resolved *r = &j->resolved[j->order[i].index];
        kith_triple fact = {r->entity, r->query, r->other};
        if (r->query >= m)
            fact = (kith_triple){r->other, r->query - m, r->entity};
        status = kith__classify_fact(&j->verdicts[j->order[i].index], j->session, a, fact, error);
    }
    return status;
}

static void fail(judging *j, kith_status status, const kith_error *error)
{
    pthread_mutex_lock(&j->lock);
    j->status = status;
    j->error = *error;
    pthread_mutex_unlock(&j->lock);
}

static void judge_piece(void *context, size_t piece)
{
    judging *j = context;
    kith__workspace *a = kith__workspace_take(j->session->cache);
    kith_error error;
    size_t chunk;

    (void)piece;
    if (!a) {
        kith_status status = kith__no_memory(&error);
        fail(j, status, &error);
        return;
    }
    a->watch = &j->watch;
    kith_status status = KITH_OK;
    while (status == KITH_OK && (chunk = atomic_fetch_add(&j->next, 1)) < j->chunks) {
        status = kith__choose_candidates(a, j->session, KITH_ANSWERS_ALL, &error);
        if (status == KITH_OK)
            status = judge_chunk(j, a, chunk, &error);
        if (status == KITH_OK && j->session->model->classifier)
            status = classify_chunk(j, a, chunk, &error);
        if (status != KITH_OK)
            fail(j, status, &error);
        if (kith__watch_add(&j->watch, j->chunk[chunk + 1] - j->chunk[chunk]))
            break;
    }
    kith__workspace_give(j->session->cache, a);
}

/* Put facts with the same query into a chunk, a few at a time. */
static kith_status cut_chunks(judging *j, kith_error *error)
{
    kith__item *spare = kith__alloc(j->count, sizeof *spare);
    uint32_t relations = 2 * j->session->model->graph->seen_relations;
    size_t most = kith__queries_at_once(j->session->model);

    j->chunk = kith__alloc(j->count + 1, sizeof *j->chunk);
    if (!spare || !j->chunk) {
        kith__free(spare);
        return kith__no_memory(error);
    }
    kith__radix_sort(j->order, spare, j->count, relations, 1);
    for (size_t i = 0, first = 0; i < j->count; i++)
        if (i == 0 || j->order[i].major != j->order[i - 1].major ||
            i - first == most)
            j->chunk[j->chunks++] = first = i;
    j->chunk[j->chunks] = j->count;
    kith__free(spare);
    return KITH_OK;
}

static bool can_classify(const kith_session *s, const kith_question *fact)
{
    return s->model->classifier && fact->subject && fact->relation && fact->object;
}

/* An error in a fact is stored with it; only running out of memory stops the others. */
static kith_status resolve_all(judging *j, const kith_question *facts, size_t count,
                               kith_error *error)
{
    kith_error wrong;
    kith_status status;

    j->resolved = kith__calloc(count, sizeof *j->resolved);
    j->order = kith__alloc(count, sizeof *j->order);
    j->verdicts = kith__calloc(count, sizeof *j->verdicts);
    if (!j->resolved || !j->order || !j->verdicts || kith__errors_init(&j->errors, count))
        return kith__no_memory(error);
    TRY(kith__watch_begin(&j->watch, "looking up names", count, error));
    for (size_t i = 0; i < count; i++) {
        status = kith__resolve_fact(&j->resolved[i], j->session, &facts[i], KITH_ANSWERS_ALL,
                                    &wrong);
        if (status == KITH_ERR_ARGUMENT && can_classify(j->session, &facts[i]))
            status = kith__resolve_unranked(&j->resolved[i], j->session, &facts[i], &wrong);
        if (status == KITH_OK)
            j->order[j->count++] = (kith__item){j->resolved[i].query, 0, (uint32_t)i};
        else if (status == KITH_ERR_MEMORY || kith__errors_set(&j->errors, i, &wrong))
            return kith__no_memory(error);
        if (kith__watch_tick(&j->watch, i + 1, count))
            return kith__watch_status(&j->watch, error);
    }
    status = KITH_OK;
cleanup:
    return status;
}

static kith_status run_judging(judging *j, unsigned threads, kith_error *error)
{
    const kith_model *model = j->session->model;
    kith__pool *pool =
        j->chunks > 1 && threads != 1 ? kith__model_take_pool(model, threads) : NULL;

    if (pool) {
        kith__pool_run(pool, judge_piece, j, kith__pool_size(pool));
        kith__model_give_pool(model, pool);
    } else {
        judge_piece(j, 0);
    }
    if (j->status != KITH_OK && error)
        *error = j->error;
    return j->status != KITH_OK ? j->status : kith__watch_status(&j->watch, error);
}

static kith_status judge_all(judging *j, const kith_question *facts, size_t count, unsigned threads,
                             kith_error *error)
{
    kith_status status;

    if (count >= UINT32_MAX)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "found %zu facts, expected fewer than 2^32",
                       count));
    TRY(resolve_all(j, facts, count, error));
    TRY(cut_chunks(j, error));
    TRY(kith__watch_begin(&j->watch, "judging", j->count, error));
    if (j->count > 0)
        TRY(run_judging(j, threads, error));
cleanup:
    return status;
}

static void begin(judging *j, kith_session *s, const kith_ask_options *options)
{
    *j = (judging){.session = s};
    pthread_mutex_init(&j->lock, NULL);
    kith__watch_init(&j->watch, options->watch, options->context);
}

static void end(judging *j)
{
    kith__free(j->resolved);
    kith__free(j->order);
    kith__free(j->chunk);
    kith__free(j->verdicts);
    kith__errors_release(&j->errors);
    kith__watch_release(&j->watch);
    pthread_mutex_destroy(&j->lock);
}

/* The public list of verdicts, in which those that failed are hidden. */
static kith_status publish(kith_verdicts **verdicts, judging *j, size_t count, kith_error *error)
{
    kith_verdicts *out = kith__calloc(1, sizeof *out);
    kith_verdict **at = kith__list_of(j->verdicts, count, sizeof *j->verdicts);

    if (!out || !at) {
        kith__free(out);
        kith__list_free(at);
        return kith__no_memory(error);
    }
    for (size_t i = 0; i < count; i++)
        if (j->errors.at[i])
            at[i] = NULL;
    *out = (kith_verdicts){.at = (const kith_verdict *const *)at,
                           .errors = kith__errors_take(&j->errors),
                           .count = count,
                           .failed = count - j->count};
    *verdicts = out;
    return KITH_OK;
}

kith_status kith_session_judge_all(kith_verdicts **verdicts, kith_session *s,
                                   const kith_question *facts, size_t count,
                                   const kith_ask_options *options, kith_error *error)
{
    if (!verdicts || !s || (count > 0 && !facts))
        return kith__null_argument(error, __func__);

    kith_ask_options used;
    judging j;
    kith_status status = kith__ask_options(&used, options, error);

    begin(&j, s, &used);
    TRY(status);
    TRY(judge_all(&j, facts, count, used.threads, error));
    TRY(publish(verdicts, &j, count, error));
cleanup:
    end(&j);
    return status;
}

void kith_verdicts_free(kith_verdicts *verdicts)
{
    if (!verdicts)
        return;
    kith__errors_free(verdicts->errors, verdicts->count);
    kith__list_free(verdicts->at);
    kith__free(verdicts);
}

kith_status kith_session_judge(kith_verdict **verdict, kith_session *s, const kith_question *fact,
                               kith_error *error)
{
    if (!verdict || !s || !fact)
        return kith__null_argument(error, __func__);

    kith_verdict *out = kith__alloc(1, sizeof *out);
    judging j;
    kith_status status = out ? KITH_OK : kith__no_memory(error);

    begin(&j, s, &(kith_ask_options){0});
    TRY(status);
    TRY(judge_all(&j, fact, 1, 1, error));
    if (j.count == 0) {
        if (error)
            *error = *j.errors.at[0];
        TRY(j.errors.at[0]->status);
    }
    *out = j.verdicts[0];
    *verdict = out;
    out = NULL;
cleanup:
    kith__free(out);
    end(&j);
    return status;
}

void kith_verdict_free(kith_verdict *verdict)
{
    kith__free(verdict);
}
