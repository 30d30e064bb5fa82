/* Explanations of questions, one or many at once, and the results that callers get. */
#include "core/lists.h"
#include "core/mem.h"
#include "session/question_batch.h"
#include "session/contributions.h"

/* ---- the caller's result ---- */

/* The caller's result, and the arrays its lists point to. */
typedef struct {
    kith_explanation shown;
    kith_implication *implications;
    kith_rank_change **changes;
} result;

static void release(kith__score_parts *out)
{
    kith__answers_release(&out->answers);
    kith__contributions_free(out->contributions, out->contribution_count);
    kith__free(out->neighbors);
    kith__free(out->implications);
    kith__free(out->ablations);
    kith__list_free(out->changes);
}

/* Nonzero if out of memory. The caller's result takes ownership of the elements' own lists. */
static int make_lists(kith_explanation *to, const kith__score_parts *from)
{
    to->answers = kith__answers_public(&from->answers);
    to->contributions = kith__list_of(from->contributions, from->contribution_count,
                                      sizeof *from->contributions);
    to->neighbors = kith__list_of(from->neighbors, from->neighbor_count, sizeof *from->neighbors);
    to->ablations = kith__list_of(from->ablations, from->ablation_count, sizeof *from->ablations);
    return to->answers && to->contributions && to->neighbors && to->ablations ? 0 : -1;
}

static kith_status publish(kith_explanation **explanation, kith__score_parts *from,
                           kith_error *error)
{
    result *to = kith__calloc(1, sizeof *to);

    if (!to || make_lists(&to->shown, from)) {
        if (to)
            kith_explanation_free(&to->shown);
        return kith__no_memory(error);
    }
    to->shown.relation = from->relation;
    to->shown.contribution_count = from->contribution_count;
    to->shown.weighing = from->weighing;
    to->shown.neighbor_count = from->neighbor_count;
    to->shown.unread = from->unread;
    to->shown.ablation_count = from->ablation_count;
    to->shown.compared = from->compared;
    to->implications = from->implications;
    to->changes = from->changes;
    kith__free(from->contributions);
    from->contributions = NULL;
    from->implications = NULL;
    from->changes = NULL;
    *explanation = &to->shown;
    return KITH_OK;
}

static void free_contributions(const kith_explanation *e)
{
    for (size_t i = 0; e->contributions && i < e->contribution_count; i++) {
        const kith_contributions *c = e->contributions[i];
        kith__list_free(c->features);
        kith__list_free(c->reasons);
        kith__list_free(c->path);
        kith__free((void *)(uintptr_t)c->neighbors);
    }
    kith__list_free(e->contributions);
}

void kith_explanation_free(kith_explanation *explanation)
{
    result *kept = (result *)explanation;

    if (!explanation)
        return;
    kith_answers_free((kith_answers *)(uintptr_t)explanation->answers);
    free_contributions(explanation);
    kith__list_free(explanation->neighbors);
    kith__list_free(explanation->ablations);
    kith__free(kept->implications);
    kith__list_free(kept->changes);
    kith__free(kept);
}

/* ---- questions ---- */

/* As in kith_session_judge, all entities with a score are candidates for a fact. */
static kith_candidate_set candidates_for(bool is_fact, kith_candidate_set queried)
{
    return is_fact ? KITH_ANSWERS_ALL : queried;
}

static kith_status explain_one(kith_explanation **explanation, const kith__question_batch *b,
                               kith__workspace *a, const kith__resolved *r, kith_error *error)
{
    kith_candidate_set set = candidates_for(r->is_fact, b->options.candidates);
    kith__score_parts found = {0};
    kith_status status;

    TRY(kith__choose_candidates(a, b->session, set, error));
    TRY(kith__explain(&found, b->session, a, r, &b->options, error));
    TRY(publish(explanation, &found, error));
cleanup:
    release(&found);
    return status;
}

/* The questions of a call, and the explanation of each; NULL where it has an error. */
typedef struct {
    const kith__question_batch *batch;
    kith_explanation **at;
} many;

static kith_status explain_chunk(void *context, kith__workspace *a, const uint32_t *at,
                                 size_t count, kith_error *error)
{
    many *m = context;
    const kith__question_batch *b = m->batch;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < count && status == KITH_OK; i++)
        status = explain_one(&m->at[b->which[at[i]]], b, a, &b->resolved[at[i]], error);
    return status;
}

static kith_status resolve(kith__resolved *resolved, const kith_session *s,
                           const kith__question *question, kith_candidate_set set,
                           kith_error *error)
{
    bool is_fact = kith__is_fact(question);

    set = candidates_for(is_fact, set);
    return is_fact ? kith__resolve_fact(resolved, s, question, set, error)
                   : kith__resolve(resolved, s, question, set, error);
}

static kith_status explain(kith_explanation **at, kith__question_batch *b, kith_error *error)
{
    many m = {b, at};
    const kith__chunks chunks = {.session = b->session,
                                 .resolved = b->resolved,
                                 .count = b->good,
                                 .candidates = KITH_ANSWERS_SEEN, /* until one is explained */
                                 .threads = b->options.threads,
                                 .watch = &b->watch,
                                 .call = explain_chunk,
                                 .context = &m};
    kith_status status;

    TRY(kith__watch_begin(&b->watch, "explaining", b->good, error));
    TRY(kith__chunks_run(&chunks, error));
cleanup:
    return status;
}

/* ---- many ---- */

static kith_status explain_all(kith_explanations **explanations, kith_session *s,
                               kith__questions questions, const kith_ask_options *options,
                               kith_error *error)
{
    kith_explanations *out = kith__calloc(1, sizeof *out);
    kith_explanation **at = NULL;
    kith__question_batch b;
    kith_status status = kith__question_batch_init(&b, s, questions, options, resolve, error);

    TRY(status);
    if (!out || !(at = kith__calloc(b.count, sizeof *at)))
        TRY(kith__no_memory(error));
    out->at = (const kith_explanation *const *)at;
    out->count = b.count;
    TRY(explain(at, &b, error));
    out->errors = kith__errors_take(&b.errors);
    out->failed = b.count - b.good;
    *explanations = out;
    out = NULL;
cleanup:
    kith_explanations_free(out);
    kith__question_batch_release(&b);
    return status;
}

kith_status kith_session_explain_all(kith_explanations **explanations, kith_session *s,
                                     const kith_question *questions, size_t count,
                                     const kith_ask_options *options, kith_error *error)
{
    if (!explanations || !s || (count > 0 && !questions))
        return kith__null_argument(error, __func__);
    return explain_all(explanations, s, (kith__questions){questions, NULL, count}, options, error);
}

kith_status kith_session_explain_all_ids(kith_explanations **explanations, kith_session *s,
                                         const kith_triple *questions, size_t count,
                                         const kith_ask_options *options, kith_error *error)
{
    if (!explanations || !s || (count > 0 && !questions))
        return kith__null_argument(error, __func__);
    return explain_all(explanations, s, (kith__questions){NULL, questions, count}, options, error);
}

void kith_explanations_free(kith_explanations *explanations)
{
    if (!explanations)
        return;
    for (size_t i = 0; explanations->at && i < explanations->count; i++)
        kith_explanation_free((kith_explanation *)(uintptr_t)explanations->at[i]);
    kith__errors_free(explanations->errors, explanations->count);
    kith__free((void *)(uintptr_t)explanations->at);
    kith__free(explanations);
}

/* ---- one ---- */

static kith_status explain_single(kith_explanation **explanation, kith_session *s,
                                  kith__questions question, const kith_ask_options *options,
                                  kith_error *error)
{
    kith_explanation *out = NULL;
    kith__question_batch b;
    kith_status status = kith__question_batch_init(&b, s, question, options, resolve, error);

    TRY(status);
    TRY(kith__question_batch_first_error(&b, error));
    TRY(explain(&out, &b, error));
    *explanation = out;
    out = NULL;
cleanup:
    kith_explanation_free(out); /* stopped after it was finished */
    kith__question_batch_release(&b);
    return status;
}

kith_status kith_session_explain(kith_explanation **explanation, kith_session *s,
                                 const kith_question *question, const kith_ask_options *options,
                                 kith_error *error)
{
    if (!explanation || !s || !question)
        return kith__null_argument(error, __func__);
    return explain_single(explanation, s, (kith__questions){question, NULL, 1}, options, error);
}

kith_status kith_session_explain_ids(kith_explanation **explanation, kith_session *s,
                                     kith_triple question, const kith_ask_options *options,
                                     kith_error *error)
{
    if (!explanation || !s)
        return kith__null_argument(error, __func__);
    return explain_single(explanation, s, (kith__questions){NULL, &question, 1}, options, error);
}
