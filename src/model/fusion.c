#include "model/fusion.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "core/mem.h"
#include "core/radix.h"
#include "model/linear.h"
#include "nn/log_sum.h"
#include "nn/topk.h"

float *kith__log_degrees(const kith__index *x)
{
    float *degrees = kith__alloc(x->entities, sizeof *degrees);

    for (uint32_t e = 0; degrees && e < x->entities; e++)
        degrees[e] = logf(1 + (float)(x->offset[e + 1] - x->offset[e]));
    return degrees;
}

void kith__fusion_release(kith__fusion *f)
{
    kith__free(f->own);
    f->own = NULL;
    f->own_count = 0;
}

const kith__weights *kith__fusion_weights(const kith__fusion *f, uint32_t query)
{
    size_t low = 0, high = f->own_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (f->own[middle].query < query)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->own_count && f->own[low].query == query ? &f->own[low].weights : &f->common;
}

kith_status kith__fusion_workspace_init(kith__fusion_workspace *f, const kith__fusion *fusion,
                                        const kith__evidence *evidence, const float *log_degree,
                                        unsigned without, kith_error *error)
{
    memset(f, 0, sizeof *f);
    f->fusion = fusion;
    f->log_degree = log_degree;
    f->without = without;
    (void)error;
    kith__evidence_query_init(&f->asking, evidence, NULL);
    return KITH_OK;
}

void kith__fusion_workspace_release(kith__fusion_workspace *f)
{
    kith__evidence_query_release(&f->asking);
    kith__free(f->scores);
    f->scores = NULL;
}

/* ---- scores ---- */

static float plain_score(const kith__fusion_workspace *f, kith__plain plain)
{
    float feature[KITH__FEATURES_COUNT];

    kith__case_plain(feature, &f->at, plain);
    return kith__linear(f->weight, feature);
}

/* Candidates that no rule speaks for: what they differ in counts by as much as a change of 1 does. */
static void score_untold(kith__fusion_workspace *f)
{
    const kith__case *c = &f->at;
    const kith__relation_table *table = c->asked->table;
    float *scores = f->scores, never = logf(.2f) - c->log_answers;
    float start = plain_score(f, (kith__plain){0});
    float prior = plain_score(f, (kith__plain){.prior = 1}) - start;
    float degree = plain_score(f, (kith__plain){.degree = 1}) - start;
    float fits = plain_score(f, (kith__plain){.fits = 1}) - start;
    float type_score_all = plain_score(f, (kith__plain){.type_score_all = 1}) - start;
    float proximity = plain_score(f, (kith__plain){.proximity = 1}) - start;
    float by_score = plain_score(f, (kith__plain){.e_score = 1}) - start;
    float by_share = plain_score(f, (kith__plain){.e_logp = 1}) - start;
    float slope = by_score * c->e_scale + by_share;
    float base = start + prior * never;

    /* The mean is taken out first: it may be far larger than what scores differ by. */
    if (c->embedding)
        base += by_share * (c->e_mean - c->log_sum);
    for (size_t i = 0; i < c->candidates; i++)
        scores[i] = base + degree * c->log_degree[i] + fits * table->type_score[i] +
                    type_score_all * table->type_score_all[i];
    const kith__proximity *n = &c->asked->proximity;
    size_t reached = f->without & KITH_PART_PROXIMITY ? 0 : n->reached_count;
    for (size_t i = 0; i < reached; i++)
        if (kith__proximity_entity(n, i) < c->candidates)
            scores[kith__proximity_entity(n, i)] += proximity * kith__proximity_value(n, i);
    for (size_t i = 0; c->embedding && i < c->candidates; i++)
        scores[i] += slope * (c->embedding[i] - c->e_mean);
    for (size_t i = 0; i < c->candidates; i++)
        if (table->answered[i])
            scores[i] += prior * (logf(.2f + (float)table->answered[i]) - logf(.2f));
}

static void score_told(kith__fusion_workspace *f)
{
    const kith__evidence_query *asking = &f->asking;
    float feature[KITH__FEATURES_COUNT];

    for (size_t i = 0; i < asking->count; i++) {
        uint32_t e = asking->rows[i].entity;
        if (e >= f->at.candidates)
            continue;
        kith__case_features(feature, &f->at, e, f->without);
        f->scores[e] = kith__linear(f->weight, feature);
    }
}

/* The candidates between two known answers, which are sorted by entity: the run that begins at `from`;
 * `next` goes up with the runs. */
static size_t run_end(size_t *next, const kith__fusion_workspace *f, size_t from)
{
    while (*next < f->known.count && f->known.at[*next].entity < from)
        ++*next;
    size_t end = *next < f->known.count ? f->known.at[*next].entity : f->at.candidates;
    return end < f->at.candidates ? end : f->at.candidates;
}

/* The log of the sum of exponentials, without known answers: one may be so good that beside it nothing
 * counts, so it must not set the scale. */
static double log_sum(const kith__fusion_workspace *f)
{
    kith__exp_sum s = {.top = -INFINITY};
    size_t count = f->at.candidates;

    for (size_t from = 0, to, next = 0; from < count; from = to + 1) {
        to = run_end(&next, f, from);
        kith__exp_sum_show(&s, f->scores + from, to - from, NULL);
    }
    for (size_t from = 0, to, next = 0; from < count; from = to + 1) {
        to = run_end(&next, f, from);
        kith__exp_sum_add(&s, f->scores + from, to - from, NULL);
    }
    return kith__log_sum(s);
}

kith_status kith__fusion_run(kith__fusion_workspace *f, kith__span facts, uint32_t self,
                             uint32_t query, const float *embedding, size_t candidates,
                             kith_error *error)
{
    kith_status status;

    f->asking.proximity.through = candidates > f->asking.evidence->base->index->seen;
    TRY(kith__evidence_query_run(&f->asking, facts, self, query, error));
    if (kith__renew(&f->scores, &f->score_capacity, candidates, sizeof *f->scores))
        TRY(kith__no_memory(error));
    kith__case_init(&f->at, &f->asking, facts, embedding, f->log_degree, candidates, f->without);
    f->known = kith__span_of(facts, query);
    const kith__weights *weights = kith__fusion_weights(f->fusion, query);
    f->weight = f->at.embedding ? weights->all : weights->alone;
    score_untold(f);
    score_told(f);
    f->log_sum = log_sum(f);
cleanup:
    return status;
}

size_t kith__fusion_best(uint32_t *best, size_t most, const kith__fusion_workspace *f)
{
    kith__topk t = kith__topk_begin(best, most, f->scores);

    for (size_t from = 0, to, next = 0; from < f->at.candidates; from = to + 1) {
        to = run_end(&next, f, from);
        for (size_t e = from; e < to; e++)
            kith__topk_offer(&t, (uint32_t)e);
    }
    kith__topk_sort(&t);
    return t.count;
}

float kith__fusion_probability(const kith__fusion_workspace *f, uint32_t candidate)
{
    return (float)kith__calibrated(f->fusion->calibration, f->scores[candidate] - f->log_sum,
                                   f->at.log_known);
}

/* ---- many queries ---- */

enum { MOST_ROOMS = KITH__SCORED_TOGETHER };

typedef struct {
    kith_model *model;
    const kith__evidence *evidence;
    const kith__query *queries;
    const uint32_t *order; /* without an embedding: queries by relation */
    size_t count, candidates;
    kith__fusion_call call;
    void *context;
    /* Rooms that no thread uses. */
    pthread_mutex_t lock;
    pthread_cond_t given;
    kith__fusion_workspace *room[MOST_ROOMS];
    size_t rooms;
    kith_status status;
    kith_error error;
} fusing_all;

static kith__fusion_workspace *take_room(fusing_all *a)
{
    kith__fusion_workspace *room;

    pthread_mutex_lock(&a->lock);
    while (a->rooms == 0)
        pthread_cond_wait(&a->given, &a->lock);
    room = a->room[--a->rooms];
    pthread_mutex_unlock(&a->lock);
    return room;
}

static void give_room(fusing_all *a, kith__fusion_workspace *room)
{
    pthread_mutex_lock(&a->lock);
    a->room[a->rooms++] = room;
    pthread_cond_signal(&a->given);
    pthread_mutex_unlock(&a->lock);
}

static void fuse_one(void *context, size_t query, size_t slot, const float *embedding)
{
    fusing_all *a = context;
    const kith__query *q = &a->queries[query];
    const kith__index *x = a->evidence->base->index;
    uint32_t s = kith__known_side(q);
    uint32_t relation = kith__query_relation(q, x);
    kith__fusion_workspace *room = take_room(a);
    kith_error error;

    (void)slot;
    kith_status status = kith__fusion_run(room, kith__facts_of(x, s), s, relation, embedding,
                                    a->candidates, &error);
    if (status == KITH_OK) {
        a->call(a->context, query, room);
    } else {
        pthread_mutex_lock(&a->lock);
        a->status = status;
        a->error = error;
        pthread_mutex_unlock(&a->lock);
    }
    give_room(a, room);
}

enum { PIECES = 64 };

static void fuse_piece(void *context, size_t piece)
{
    fusing_all *a = context;

    for (size_t i = a->count * piece / PIECES; i < a->count * (piece + 1) / PIECES; i++)
        fuse_one(a, a->order[i], 0, NULL);
}

static kith_status fuse_without_embedding(fusing_all *a, kith_error *error)
{
    kith__item *items = kith__alloc(2 * a->count, sizeof *items);
    uint32_t *order = kith__alloc(a->count, sizeof *order);

    if (items && order) {
        for (size_t i = 0; i < a->count; i++)
            items[i] = (kith__item){a->queries[i].fact.relation, a->queries[i].subject_hidden,
                                    (uint32_t)i};
        kith__radix_sort(items, items + a->count, a->count, a->evidence->base->index->relations, 2);
        for (size_t i = 0; i < a->count; i++)
            order[i] = items[i].index;
        a->order = order;
        kith__pool_run(a->model->pool, fuse_piece, a, PIECES);
    }
    bool failed = !items || !order;
    kith__free(items);
    kith__free(order);
    return failed ? kith__no_memory(error) : KITH_OK;
}

/* Whether the embedding has a score for each: only seen entities have an input embedding, and beside
 * them encodings do not compare. */
static bool has_scores(const kith_model *model, size_t candidates)
{
    return model->settings.candidate_vectors == KITH_CANDIDATES_ENCODED ||
           candidates <= kith_graph_seen_entity_count(model->graph);
}

kith_status kith__fusion_sweep(kith_model *model, const kith__fusion *fusion,
                               const kith__evidence *evidence, const kith__query *queries,
                               size_t count, size_t candidates, unsigned without, bool embedding,
                               kith__fusion_call call, void *context, kith_error *error)
{
    fusing_all a = {.model = model,
                    .evidence = evidence,
                    .queries = queries,
                    .count = count,
                    .candidates = candidates,
                    .call = call,
                    .context = context,
                    .lock = PTHREAD_MUTEX_INITIALIZER,
                    .given = PTHREAD_COND_INITIALIZER};
    float *degrees = kith__log_degrees(evidence->base->index);
    size_t wanted = kith__pool_size(model->pool), made = 0; /* as many as run at once */
    kith__fusion_workspace *rooms = kith__calloc(wanted, sizeof *rooms);
    kith_status status = KITH_OK;

    /* One that the embedding sharpens for some candidates only is unfair to the others. */
    if ((without & KITH_PART_EMBEDDING) || !has_scores(model, candidates))
        embedding = false;
    if (!degrees || !rooms)
        TRY(kith__no_memory(error));
    for (; made < wanted && made < MOST_ROOMS; made++) {
        a.room[a.rooms++] = &rooms[made];
        TRY(kith__fusion_workspace_init(&rooms[made], fusion, evidence, degrees, without, error));
        rooms[made].room = made;
    }
    TRY(embedding ? kith__score_all(model, queries, count, candidates, fuse_one, &a, error)
                  : fuse_without_embedding(&a, error));
    if (a.status != KITH_OK) {
        if (error)
            *error = a.error;
        status = a.status;
    }
cleanup:
    for (size_t i = 0; rooms && i < wanted; i++)
        kith__fusion_workspace_release(&rooms[i]);
    kith__free(rooms);
    kith__free(degrees);
    return status;
}
