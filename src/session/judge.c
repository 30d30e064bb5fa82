/* Verdicts: the probability of one candidate, with the fact itself hidden. */
#include <math.h>

#include "core/lists.h"
#include "core/mem.h"
#include "graph/graph.h"
#include "session/question_batch.h"
#include "session/classify.h"

/* ---- hiding a fact ---- */

static size_t drop(kith_neighbor *at, size_t count, kith_neighbor gone)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++)
        if (at[i].relation != gone.relation || at[i].entity != gone.entity)
            at[left++] = at[i];
    return left;
}

static bool drop_one(kith__query_entity *queried, kith__workspace *a, kith_neighbor gone)
{
    size_t before = queried->count;

    queried->count = drop(a->facts + (queried->facts - a->facts), queried->count, gone);
    queried->sorted.count =
        drop(a->sorted + (queried->sorted.at - a->sorted), queried->sorted.count, gone);
    return queried->count < before;
}

bool kith__mask_fact(kith__query_entity *queried, kith__workspace *a, uint32_t query,
                     uint32_t other)
{
    bool known = drop_one(queried, a, (kith_neighbor){query, other});

    if (queried->entity == other) /* a loop: both ends have the fact */
        known |= drop_one(queried, a,
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

static kith_status set_verdict(kith_verdict *verdict, kith__workspace *a,
                               const kith__scored_query *row, const kith__resolved *r, bool known,
                               bool alone, kith_error *error)
{
    kith__probabilities p = {NAN, NAN, NAN, NAN, NAN, NAN};

    if (!alone)
        p = kith__probabilities_of(a, row, r->other);

    *verdict = (kith_verdict){.known = known,
                              .subject_asked = r->subject_asked,
                              .probability = p.overall,
                              .has = p.has,
                              .probability_if_any = p.if_any,
                              .alone = alone,
                              .low = p.low,
                              .high = p.high,
                              .score = row->scores[r->other],
                              .likely = isnan(p.overall) ? -1 : p.overall >= .5,
                              .candidates = unknown_of(row->scores, a->width, row->shares->known)};
    return kith__rank_listed(&verdict->rank, a, row, r->other, error);
}

/* ---- a few facts at once ---- */

typedef struct {
    kith_session *session;
    const kith__resolved *resolved;
    const uint32_t *which;  /* the fact of each */
    kith_verdict *verdicts; /* by fact */
} verdict_work;

/* Choose the facts that can be ranked; the others have no verdict before they are classified. */
static size_t choose_ranked(uint32_t ranked[KITH__QUERIES_TOGETHER], verdict_work *j,
                            const uint32_t *at, size_t count)
{
    size_t chosen = 0;

    for (size_t i = 0; i < count; i++)
        if (!j->resolved[at[i]].unranked)
            ranked[chosen++] = at[i];
        else
            j->verdicts[j->which[at[i]]] = (kith_verdict){.probability = NAN,
                                                          .probability_if_any = NAN,
                                                          .has = NAN,
                                                          .score = NAN,
                                                          .likely = -1};
    return chosen;
}

/* Facts about the same query; those that cannot be ranked are left for the classifier. */
static kith_status judge_ranked(verdict_work *j, kith__workspace *a, const uint32_t *facts,
                                size_t count, kith_error *error)
{
    kith_session *s = j->session;
    uint32_t query = j->resolved[facts[0]].query, at[KITH__QUERIES_TOGETHER];
    uint32_t entities[KITH__QUERIES_TOGETHER];
    kith__query_entity gathered[KITH__QUERIES_TOGETHER];
    bool known[KITH__QUERIES_TOGETHER];
    kith_status status = KITH_OK;

    count = choose_ranked(at, j, facts, count);
    if (count == 0)
        return KITH_OK;
    for (size_t i = 0; i < count; i++)
        entities[i] = j->resolved[at[i]].entity;
    TRY(kith__gather_facts(gathered, NULL, s, a, entities, count, error));
    for (size_t i = 0; i < count; i++)
        known[i] = kith__mask_fact(&gathered[i], a, query, j->resolved[at[i]].other);
    if (kith__workspace_reserve(a, count))
        TRY(kith__no_memory(error));
    TRY(kith__answer_scores(a->scores, s->cache, a, gathered, count, &query, 1, error));
    for (size_t i = 0; i < count; i++) {
        const kith__resolved *r = &j->resolved[at[i]];
        float *scores = a->scores + i * a->width;
        kith__scored_query row;
        if (entities[i] != r->other)
            TRY(kith__leave_out_self(scores, a, s, entities[i], query, error));
        TRY(kith__scored_query_of(&row, s->cache, a, &gathered[i], scores, &a->shares[i], query,
                                  error));
        TRY(set_verdict(&j->verdicts[j->which[at[i]]], a, &row, r, known[i],
                        gathered[i].count == 0, error));
    }
cleanup:
    return status;
}

/* Classify with the run's classifier, which was fitted on labels. */
static kith_status classify(verdict_work *j, kith__workspace *a, uint32_t at, kith_error *error)
{
    uint32_t m = j->session->model->graph->seen_relations;
    const kith__resolved *r = &j->resolved[at];
    kith_triple fact = {r->entity, r->query, r->other};

    if (r->query >= m)
        fact = (kith_triple){r->other, r->query - m, r->entity};
    return kith__classify_fact(&j->verdicts[j->which[at]], j->session, a, fact, error);
}

static kith_status judge_chunk(void *context, kith__workspace *a, const uint32_t *at, size_t count,
                               kith_error *error)
{
    verdict_work *j = context;
    kith_status status;

    TRY(judge_ranked(j, a, at, count, error));
    for (size_t i = 0; j->session->model->classifier && i < count; i++)
        TRY(classify(j, a, at[i], error));
cleanup:
    return status;
}

/* All entities with a score are candidates, whatever the options say. A fact that cannot be ranked
 * may still be classified. */
static kith_status resolve(kith__resolved *resolved, const kith_session *s,
                           const kith__question *fact, kith_candidate_set set, kith_error *error)
{
    kith_status status = kith__resolve_fact(resolved, s, fact, KITH_ANSWERS_ALL, error);

    (void)set;
    return status == KITH_ERR_ARGUMENT && s->model->classifier && kith__is_fact(fact)
               ? kith__resolve_unranked(resolved, s, fact, error)
               : status;
}

static kith_status judge(kith_verdict *verdicts, kith__question_batch *b, kith_error *error)
{
    verdict_work j = {b->session, b->resolved, b->which, verdicts};
    const kith__chunks chunks = {.session = b->session,
                                 .resolved = b->resolved,
                                 .count = b->good,
                                 .candidates = KITH_ANSWERS_ALL,
                                 .threads = b->options.threads,
                                 .watch = &b->watch,
                                 .call = judge_chunk,
                                 .context = &j};
    kith_status status;

    TRY(kith__watch_begin(&b->watch, "judging", b->good, error));
    TRY(kith__chunks_run(&chunks, error));
cleanup:
    return status;
}

/* ---- many ---- */

static kith_status judge_all(kith_verdicts **verdicts, kith_session *s, kith__questions facts,
                             const kith_ask_options *options, kith_error *error)
{
    kith_verdicts *out = kith__calloc(1, sizeof *out);
    kith_verdict **at = NULL;
    kith__question_batch b;
    kith_status status = kith__question_batch_init(&b, s, facts, options, resolve, error);

    TRY(status);
    if (!out || !(at = kith__list_new(b.count, sizeof **at)))
        TRY(kith__no_memory(error));
    out->at = (const kith_verdict *const *)at;
    TRY(judge(b.count > 0 ? at[0] : NULL, &b, error));
    for (size_t i = 0; i < b.count; i++)
        if (b.errors.at[i])
            at[i] = NULL;
    out->errors = kith__errors_take(&b.errors);
    out->count = b.count;
    out->failed = b.count - b.good;
    *verdicts = out;
    out = NULL;
cleanup:
    kith_verdicts_free(out);
    kith__question_batch_release(&b);
    return status;
}

kith_status kith_session_judge_all(kith_verdicts **verdicts, kith_session *s,
                                   const kith_question *facts, size_t count,
                                   const kith_ask_options *options, kith_error *error)
{
    if (!verdicts || !s || (count > 0 && !facts))
        return kith__null_argument(error, __func__);
    return judge_all(verdicts, s, (kith__questions){facts, NULL, count}, options, error);
}

kith_status kith_session_judge_all_ids(kith_verdicts **verdicts, kith_session *s,
                                       const kith_triple *facts, size_t count,
                                       const kith_ask_options *options, kith_error *error)
{
    if (!verdicts || !s || (count > 0 && !facts))
        return kith__null_argument(error, __func__);
    return judge_all(verdicts, s, (kith__questions){NULL, facts, count}, options, error);
}

void kith_verdicts_free(kith_verdicts *verdicts)
{
    if (!verdicts)
        return;
    kith__errors_free(verdicts->errors, verdicts->count);
    kith__list_free(verdicts->at);
    kith__free(verdicts);
}

/* ---- one ---- */

static kith_status judge_one(kith_verdict **verdict, kith_session *s, kith__questions fact,
                             kith_error *error)
{
    kith_verdict *out = kith__alloc(1, sizeof *out);
    kith__question_batch b;
    kith_status status = kith__question_batch_init(&b, s, fact, NULL, resolve, error);

    TRY(status);
    TRY(kith__question_batch_first_error(&b, error));
    if (!out)
        TRY(kith__no_memory(error));
    TRY(judge(out, &b, error));
    *verdict = out;
    out = NULL;
cleanup:
    kith__free(out);
    kith__question_batch_release(&b);
    return status;
}

kith_status kith_session_judge(kith_verdict **verdict, kith_session *s, const kith_question *fact,
                               kith_error *error)
{
    if (!verdict || !s || !fact)
        return kith__null_argument(error, __func__);
    return judge_one(verdict, s, (kith__questions){fact, NULL, 1}, error);
}

kith_status kith_session_judge_ids(kith_verdict **verdict, kith_session *s, kith_triple fact,
                                   kith_error *error)
{
    if (!verdict || !s)
        return kith__null_argument(error, __func__);
    return judge_one(verdict, s, (kith__questions){NULL, &fact, 1}, error);
}

void kith_verdict_free(kith_verdict *verdict)
{
    kith__free(verdict);
}
