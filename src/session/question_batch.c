#include "session/question_batch.h"

#include <stdatomic.h>

#include "core/mem.h"
#include "core/radix.h"
#include "graph/graph.h"
#include "model/idle_pools.h"

/* ---- looking questions up ---- */

static kith__question question_at(const kith__questions *questions, size_t i)
{
    static const kith_triple no_ids = {KITH__NO_ID, KITH__NO_ID, KITH__NO_ID};

    return questions->names ? (kith__question){questions->names[i], no_ids}
                            : (kith__question){{NULL, NULL, NULL}, questions->ids[i]};
}

static kith_status resolve_all(kith__question_batch *b, const kith__questions *questions,
                               kith__resolver resolver, kith_error *error)
{
    kith_error wrong;
    kith_status status;

    TRY(kith__watch_begin(&b->watch, "looking up names", b->count, error));
    for (size_t i = 0; i < b->count; i++) {
        kith__question next = question_at(questions, i);
        status = resolver(&b->resolved[b->good], b->session, &next, b->options.candidates, &wrong);
        if (status == KITH_OK)
            b->which[b->good++] = (uint32_t)i;
        else if (status == KITH_ERR_MEMORY || kith__errors_set(&b->errors, i, &wrong))
            return kith__no_memory(error);
        if (kith__watch_tick(&b->watch, i + 1, b->count))
            return kith__watch_status(&b->watch, error);
    }
    status = KITH_OK;
cleanup:
    return status;
}

kith_status kith__question_batch_init(kith__question_batch *b, kith_session *s,
                                      kith__questions questions, const kith_ask_options *options,
                                      kith__resolver resolver, kith_error *error)
{
    kith_status status;

    *b = (kith__question_batch){.session = s, .count = questions.count};
    status = kith__ask_options(&b->options, options, error);
    kith__watch_init(&b->watch, b->options.watch, b->options.context);
    TRY(status);
    if (b->count >= UINT32_MAX)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "found %zu questions, expected fewer than 2^32",
                       b->count));
    b->resolved = kith__alloc(b->count, sizeof *b->resolved);
    b->which = kith__alloc(b->count, sizeof *b->which);
    if (!b->resolved || !b->which || kith__errors_init(&b->errors, b->count))
        TRY(kith__no_memory(error));
    TRY(resolve_all(b, &questions, resolver, error));
cleanup:
    return status;
}

void kith__question_batch_release(kith__question_batch *b)
{
    kith__errors_release(&b->errors);
    kith__watch_release(&b->watch);
    kith__free(b->resolved);
    kith__free(b->which);
}

kith_status kith__question_batch_first_error(const kith__question_batch *b, kith_error *error)
{
    const kith_error *first = b->errors.at[0];

    if (first && error)
        *error = *first;
    return first ? first->status : KITH_OK;
}

/* ---- work on several threads ---- */

typedef struct {
    const kith__chunks *of;
    kith__item *order; /* major: query, index: question */
    size_t *first;     /* of each chunk in `order`, and the end */
    size_t count;      /* of chunks */
    atomic_size_t next;
    pthread_mutex_t lock; /* guards the members below */
    kith_status status;
    kith_error error;
} work;

static void fail(work *w, kith_status status, const kith_error *error)
{
    pthread_mutex_lock(&w->lock);
    w->status = status;
    w->error = *error;
    pthread_mutex_unlock(&w->lock);
}

static kith_status run_chunk(work *w, kith__workspace *a, size_t chunk, kith_error *error)
{
    uint32_t at[KITH__QUERIES_TOGETHER];
    size_t from = w->first[chunk], count = w->first[chunk + 1] - from;

    for (size_t i = 0; i < count; i++)
        at[i] = w->order[from + i].index;
    return w->of->call(w->of->context, a, at, count, error);
}

static void run_piece(void *context, size_t piece)
{
    work *w = context;
    const kith__chunks *of = w->of;
    kith__workspace *a = kith__workspace_take(of->session->cache);
    kith_error error;
    kith_status status = KITH_OK;
    size_t chunk;

    (void)piece;
    if (!a)
        TRY(kith__no_memory(&error));
    a->watch = of->watch;
    TRY(kith__choose_candidates(a, of->session, of->candidates, &error));
    while ((chunk = atomic_fetch_add(&w->next, 1)) < w->count) {
        TRY(run_chunk(w, a, chunk, &error));
        if (kith__watch_add(of->watch, w->first[chunk + 1] - w->first[chunk]))
            break;
    }
cleanup:
    if (status != KITH_OK)
        fail(w, status, &error);
    kith__workspace_give(of->session->cache, a);
}

/* Put questions with the same query into a chunk, a few at a time; each without a relation is a
 * chunk of its own. */
static void cut_chunks(work *w, uint32_t no_relation)
{
    size_t most = kith__queries_at_once(w->of->session->model);

    for (size_t i = 0, first = 0; i < w->of->count; i++) {
        uint32_t query = w->order[i].major;
        if (i == 0 || query == no_relation || query != w->order[i - 1].major || i - first == most)
            w->first[w->count++] = first = i;
    }
    w->first[w->count] = w->of->count;
}

static kith_status order_all(work *w, kith_error *error)
{
    uint32_t relations = 2 * w->of->session->model->graph->seen_relations;
    size_t count = w->of->count;
    kith__item *spare = kith__alloc(count, sizeof *spare);
    kith_status status = KITH_OK;

    w->order = kith__alloc(count, sizeof *w->order);
    w->first = kith__alloc(count + 1, sizeof *w->first);
    if (!spare || !w->order || !w->first)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < count; i++) {
        uint32_t query = w->of->resolved[i].query;
        w->order[i] = (kith__item){query == KITH__NO_ID ? relations : query, 0, (uint32_t)i};
    }
    kith__radix_sort(w->order, spare, count, (uint64_t)relations + 1, 1);
    cut_chunks(w, relations);
cleanup:
    kith__free(spare);
    return status;
}

kith_status kith__chunks_run(const kith__chunks *chunks, kith_error *error)
{
    const kith_model *model = chunks->session->model;
    work w = {.of = chunks};
    kith__pool *pool = NULL;
    kith_status status = KITH_OK;

    if (chunks->count == 0)
        return KITH_OK;
    pthread_mutex_init(&w.lock, NULL);
    TRY(order_all(&w, error));
    if (w.count > 1 && chunks->threads != 1)
        pool = kith__model_take_pool(model, chunks->threads);
    if (pool) {
        kith__pool_run(pool, run_piece, &w, kith__pool_size(pool));
        kith__model_give_pool(model, pool);
    } else {
        run_piece(&w, 0);
    }
    if (w.status != KITH_OK && error)
        *error = w.error;
    status = w.status != KITH_OK ? w.status : kith__watch_status(chunks->watch, error);
cleanup:
    kith__free(w.order);
    kith__free(w.first);
    pthread_mutex_destroy(&w.lock);
    return status;
}
