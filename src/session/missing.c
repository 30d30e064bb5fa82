/* Finds the most likely missing facts of the graph. P(has r), the probability that S has another
 * fact of r, bounds the probability of an answer to S r ?. Queries are therefore made in the order
 * of this bound, in batches, until no later query can give a more likely fact. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/lists.h"
#include "core/mem.h"
#include "core/options.h"
#include "core/stages.h"
#include "graph/graph.h"
#include "session/answer.h"

enum { USUAL_TOP = 10, USUAL_QUERIES = 1000, FIRST_BATCH = 16, BATCH = 128 };

/* A query S r ?, the upper bound of the probability of its answers, and the probability that it has
 * an answer that is not known. */
typedef struct {
    double likely, has;
    uint32_t entity, relation;
} source;

typedef struct {
    kith_session *session;
    kith_missing_options options;
    kith__watch watch;
    uint32_t first, count; /* of the relations queried */
    source *sources;       /* a heap, least likely first; in the end sorted, most likely first */
    size_t source_count;
    kith_missing_fact *found; /* sorted between batches, most likely first */
    size_t found_count, found_capacity;
    size_t made;
    bool bounded; /* the limit on queries is below the number of possible queries */
    size_t reported;  /* number of `found` that were reported */
    bool complete;
} finding;

/* ---- choosing questions ---- */

static bool is_likelier(const source *a, const source *b)
{
    if (a->likely != b->likely)
        return a->likely > b->likely;
    return a->entity != b->entity ? a->entity < b->entity : a->relation < b->relation;
}

static int likelier_first(const void *a, const void *b)
{
    return is_likelier(b, a) - is_likelier(a, b);
}

static void sift_down(source *heap, size_t count)
{
    for (size_t at = 0, next; (next = 2 * at + 1) < count; at = next) {
        if (next + 1 < count && is_likelier(&heap[next], &heap[next + 1]))
            next++;
        if (!is_likelier(&heap[at], &heap[next]))
            return;
        source swapped = heap[at];
        heap[at] = heap[next];
        heap[next] = swapped;
    }
}

static void offer(finding *f, source next)
{
    if (f->source_count < f->options.queries) {
        size_t at = f->source_count++;
        for (; at > 0 && is_likelier(&f->sources[(at - 1) / 2], &next); at = (at - 1) / 2)
            f->sources[at] = f->sources[(at - 1) / 2];
        f->sources[at] = next;
    } else if (is_likelier(&next, &f->sources[0])) {
        f->sources[0] = next;
        sift_down(f->sources, f->source_count);
    }
}

/* If the model has no P(has r), the confidence of implications is used instead. */
static kith_status offer_entity(finding *f, kith__workspace *a, uint32_t entity,
                                kith__likely *order, kith_error *error)
{
    kith__query_entity queried;
    kith_status status = KITH_OK;

    if (!kith__has_facts(f->session, entity))
        goto cleanup;
    TRY(kith__gather_facts(&queried, NULL, f->session, a, &entity, 1, error));
    if (queried.count == 0)
        goto cleanup;
    TRY(kith__likely_queries(order, f->session, a, &queried, f->first, f->count, error));
    for (uint32_t i = 0; i < f->count; i++) {
        double likely = isnan(order[i].has) ? order[i].implied : order[i].has;
        double most = isnan(order[i].has)
                          ? likely
                          : kith__overall_most(&a->model->overall,
                                               kith__span_of(queried.sorted, order[i].query).count,
                                               queried.sorted.count, order[i].has);
        if (most > 0 && most >= f->options.min_probability)
            offer(f, (source){most, likely, entity, order[i].query});
    }
cleanup:
    return status;
}

/* Entities of train, of the support facts and of the session; those without a usable fact are
 * passed over. */
static uint32_t subjects_of(const kith_session *s)
{
    return s->model->graph->entities.count + s->entities.count;
}

static kith_status choose_sources(finding *f, kith__workspace *a, kith_error *error)
{
    uint32_t entities = subjects_of(f->session);
    kith__likely *order = kith__alloc(f->count, sizeof *order);
    size_t possible = (size_t)entities * f->count;
    kith_status status = KITH_OK;

    f->bounded = f->options.queries < possible;
    f->options.queries = f->bounded ? f->options.queries : possible;
    f->sources = kith__alloc(f->options.queries, sizeof *f->sources);
    if (!order || !f->sources)
        TRY(kith__no_memory(error));
    TRY(kith__watch_begin(&f->watch, "choosing questions", entities, error));
    for (uint32_t e = 0; e < entities; e++) {
        TRY(offer_entity(f, a, e, order, error));
        if (kith__watch_tick(&f->watch, e + 1, entities))
            TRY(kith__watch_status(&f->watch, error));
    }
    qsort(f->sources, f->source_count, sizeof *f->sources, likelier_first);
cleanup:
    kith__free(order);
    return status;
}

/* ---- answers ---- */

static int better_first(const void *a, const void *b)
{
    const kith_missing_fact *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->fact.subject != y->fact.subject)
        return x->fact.subject < y->fact.subject ? -1 : 1;
    if (x->fact.relation != y->fact.relation)
        return x->fact.relation < y->fact.relation ? -1 : 1;
    return (x->fact.object > y->fact.object) - (x->fact.object < y->fact.object);
}

/* Scores are logarithms of probabilities, so that answers of different queries can be compared. */
static kith_missing_fact missing_fact(const source *from, const kith_answer *answer)
{
    bool known = !isnan(answer->probability);
    double if_any = answer->probability_if_any, has = NAN;
    double likelihood = known ? answer->probability : isnan(if_any) ? 0 : from->has * if_any;

    if (known)
        has = kith__overall_has(&if_any, from->has, answer->probability);

    return (kith_missing_fact){.fact = {from->entity, from->relation, answer->entity},
                               .score = (float)log(fmax(likelihood, 1e-30)),
                               .probability = answer->probability,
                               .has = has,
                               .probability_if_any = if_any,
                               .low = answer->low,
                               .high = answer->high};
}

static int take_answers(finding *f, const source *from, const kith__answers *answers)
{
    if (kith__reserve(&f->found, &f->found_capacity, f->found_count + answers->count,
                      sizeof *f->found))
        return -1;
    for (size_t i = 0; i < answers->count; i++) {
        kith_missing_fact next = missing_fact(from, &answers->at[i]);
        if (!(next.probability < f->options.min_probability))
            f->found[f->found_count++] = next;
    }
    return 0;
}

static kith_status ask_batch(finding *f, const source *batch, size_t count, kith_error *error)
{
    const kith_ask_options options = {
        .top = f->options.top,
        .new_only = 1,
        .threads = f->options.threads,
        .candidates = f->options.candidates ? f->options.candidates : KITH_ANSWERS_ALL};
    kith__resolved resolved[BATCH] = {{0}};
    kith__answers answers[BATCH];
    int failed = 0;
    kith_status status;

    for (size_t i = 0; i < count; i++)
        resolved[i] = (kith__resolved){.entity = batch[i].entity,
                                       .query = batch[i].relation,
                                       .other = KITH__NO_ID};
    TRY(kith__ask_resolved(answers, f->session, resolved, count, &options, &f->watch, error));
    for (size_t i = 0; i < count; i++) {
        failed = failed || take_answers(f, &batch[i], &answers[i]);
        kith__answers_release(&answers[i]);
    }
    if (failed)
        TRY(kith__no_memory(error));
    if (f->found_count > 1)
        qsort(f->found, f->found_count, sizeof *f->found, better_first);
    f->found_count = f->found_count < f->options.top ? f->found_count : f->options.top;
cleanup:
    return status;
}

/* Whether no query with this bound can give a fact that belongs in the list. */
static bool is_enough(const finding *f, double likely)
{
    return f->found_count == f->options.top &&
           f->found[f->found_count - 1].score >= (float)log(fmax(likely, 1e-30));
}

/* Report the facts that no answer of a query with this bound can precede. */
static kith_status tell_found(finding *f, double likely, kith_error *error)
{
    float most = (float)log(fmax(likely, 1e-30));

    while (f->reported < f->found_count && (likely <= 0 || f->found[f->reported].score > most)) {
        const kith_missing_fact *next = &f->found[f->reported++];
        if (f->options.found && f->options.found(f->options.found_context, next))
            return kith__fail(error, KITH_ERR_STOPPED, "stopped");
    }
    return KITH_OK;
}

static kith_status ask_sources(finding *f, kith_error *error)
{
    size_t count, most = FIRST_BATCH; /* the first batch is small, so that facts appear soon */
    kith_status status;

    TRY(kith__watch_begin(&f->watch, "answering", f->source_count, error));
    for (size_t at = 0; at < f->source_count && !f->complete; at += count) {
        count = f->source_count - at < most ? f->source_count - at : most;
        most = most < BATCH ? 2 * most : BATCH;
        TRY(ask_batch(f, f->sources + at, count, error));
        f->made += count;
        if (kith__watch_tick(&f->watch, f->made, f->source_count))
            TRY(kith__watch_status(&f->watch, error));
        size_t next = f->made < f->source_count ? f->made : f->made - 1;
        f->complete = is_enough(f, f->sources[next].likely);
        TRY(tell_found(f, f->sources[next].likely, error));
    }
    TRY(tell_found(f, 0, error));
    /* If there were fewer queries than the limit, all were made. */
    f->complete = f->complete || !f->bounded || f->source_count < f->options.queries;
cleanup:
    return status;
}

/* ---- the call ---- */

void(kith_missing_options_init)(kith_missing_options *options, size_t size)
{
    const kith_missing_options defaults = {.size = sizeof defaults};

    kith__options_give(options, size, &defaults, sizeof defaults);
}

static kith_status begin(finding *f, kith_session *s, const char *relation,
                         const kith_missing_options *options, kith_error *error)
{
    kith_status status;

    *f = (finding){.session = s, .count = s->model->graph->seen_relations};
    kith__watch_init(&f->watch, NULL, NULL);
    TRY(kith__options_copy(&f->options, sizeof f->options, sizeof f->options, options, error));
    if (f->options.top == 0)
        f->options.top = USUAL_TOP;
    if (f->options.queries == 0)
        f->options.queries = USUAL_QUERIES;
    f->watch.call = f->options.watch;
    f->watch.context = f->options.context;
    if (relation) {
        TRY(kith__resolve_relation(&f->first, s, relation, error));
        f->count = 1;
    }
    if (!s->model->calibration.fitted)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT,
                       "missing facts are ordered by probability, which this run does not have"));
cleanup:
    return status;
}

kith_status kith_session_find_missing(kith_missing **missing, kith_session *s, const char *relation,
                                      const kith_missing_options *options, kith_error *error)
{
    kith_missing *out;
    kith_missing_fact **found;
    kith__workspace *a = NULL;
    finding f;
    kith_status status;

    if (!missing || !s)
        return kith__null_argument(error, __func__);
    out = kith__calloc(1, sizeof *out);

    TRY(begin(&f, s, relation, options, error));
    if (!out || !(a = kith__workspace_take(s->cache)))
        TRY(kith__no_memory(error));
    TRY(choose_sources(&f, a, error));
    TRY(ask_sources(&f, error));
    found = kith__list_of(f.found, f.found_count, sizeof *f.found);
    if (!found)
        TRY(kith__no_memory(error));
    *out = (kith_missing){.at = (const kith_missing_fact *const *)found,
                          .count = f.found_count,
                          .queries = f.made,
                          .possible = (size_t)subjects_of(s) * f.count,
                          .complete = f.complete};
    *missing = out;
    out = NULL;
cleanup:
    kith_missing_free(out);
    if (a)
        kith__workspace_give(s->cache, a);
    kith__free(f.sources);
    kith__free(f.found);
    kith__watch_release(&f.watch);
    return status;
}

void kith_missing_free(kith_missing *missing)
{
    if (missing)
        kith__list_free(missing->at);
    kith__free(missing);
}
