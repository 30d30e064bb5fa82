#include "session/answer.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "embed/query_vector.h"
#include "nn/kernels.h"
#include "nn/log_sum.h"
#include "nn/topk.h"

enum { CANDIDATES_AT_ONCE = 64, USUAL_TOP = 10, USUAL_RELATIONS = 64 };

/* ---- askers ---- */

static void free_asker(kith__workspace *a)
{
    kith__encoder_free(a->encoder);
    kith__pool_free(a->pool);
    kith__free(a->lists.own_offset);
    kith__free(a->lists.own_at);
    kith__free(a->lists.denominator);
    kith__free(a->facts);
    kith__free(a->kept);
    kith__free(a->relations);
    kith__free(a->marks);
    kith__free(a->query_vectors);
    kith__free(a->scores);
    kith__free(a->block);
    kith__free(a->sorted);
    kith__free(a->best);
    if (a->fusing)
        kith__fusion_workspace_release(a->fusing);
    kith__free(a->fusing);
    kith__free(a);
}

void kith__workspaces_free(kith__workspace *workspaces)
{
    for (kith__workspace *next; workspaces; workspaces = next) {
        next = workspaces->next;
        free_asker(workspaces);
    }
}

static int add_fusing(kith__workspace *a, const struct kith__fused *fused)
{
    a->fusing = kith__calloc(1, sizeof *a->fusing);
    return !a->fusing || kith__fusion_workspace_init(a->fusing, &fused->fusion, fused->evidence,
                                                     fused->log_degree, 0, NULL) != KITH_OK;
}

static kith__workspace *new_asker(const kith_model *model)
{
    kith__workspace *a = kith__calloc(1, sizeof *a);
    size_t n = model->lists->seen, together = KITH__QUERIES_TOGETHER;

    if (!a)
        return NULL;
    a->lists.seen = model->lists->seen;
    a->lists.relations = model->lists->relations;
    a->lists.offset = a->lists.own_offset =
        kith__calloc(together + 1, sizeof *a->lists.own_offset);
    a->lists.cap = SIZE_MAX; /* they are cut before they get there */
    a->pool = kith__pool_new(1);
    if (!a->lists.offset || !a->pool ||
        kith__encoder_new(&a->encoder, &model->settings, &a->lists, model->rules, &model->params,
                           a->pool, NULL) != KITH_OK) {
        free_asker(a);
        return NULL;
    }
    a->stride = kith__encoder_stride(a->encoder);
    a->relations = kith__calloc(a->lists.relations, 1);
    a->marks = kith__calloc(n, 1);
    a->query_vectors =
        kith__calloc_aligned((together + 2) * a->stride, sizeof *a->query_vectors);
    a->scores = kith__calloc_aligned(together * n, sizeof *a->scores);
    a->block = kith__calloc_aligned(together * KITH__PANEL, sizeof *a->block);
    if (!a->relations || !a->marks || !a->query_vectors || !a->scores || !a->block ||
        (model->fused && add_fusing(a, model->fused))) {
        free_asker(a);
        return NULL;
    }
    return a;
}

kith__workspace *kith__workspace_at(kith_session *s, size_t index)
{
    kith__workspace **at = &s->workspaces;

    for (; *at && index > 0; index--)
        at = &(*at)->next;
    if (!*at)
        *at = new_asker(s->model);
    return *at;
}

/* ---- scores ---- */

static int cut_lists(kith_session *s, kith__workspace *a, const kith__query_entity *asked,
                     size_t count)
{
    const kith_model *model = s->model;
    kith__neighbor_lists *lists = &a->lists;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        size_t need = used + asked[i].count;
        if (kith__reserve(&lists->own_at, &a->at_capacity, need, sizeof *lists->own_at) ||
            kith__reserve(&a->kept, &a->kept_capacity, asked[i].count, 1) ||
            (model->rules && kith__reserve(&lists->denominator, &a->denominator_capacity, need,
                                           sizeof *lists->denominator)))
            return -1;
        if (asked[i].count > 0)
            memcpy(lists->own_at + used, asked[i].facts,
                   asked[i].count * sizeof *lists->own_at);
        lists->own_offset[i] = used;
        used += kith__list_cut(
            lists->own_at + used, model->rules ? lists->denominator + used : NULL, asked[i].count,
            asked[i].entity, model->rules, &model->settings, a->kept, a->relations);
    }
    lists->own_offset[count] = used;
    lists->at = lists->own_at;
    lists->entities = (uint32_t)count;
    return 0;
}

kith_status kith__encode_entities(kith_session *s, kith__workspace *a,
                                  const kith__query_entity *asked, size_t count, uint32_t query,
                                  kith_error *error)
{
    if (cut_lists(s, a, asked, count))
        return kith__no_memory(error);
    kith__encoder_begin(a->encoder);
    for (size_t i = 0; i < count; i++)
        kith__encoder_request(a->encoder, (uint32_t)i, query, NULL);
    return kith__encoder_forward(a->encoder, error);
}

/* A block of candidates stays in the cache while all aims are compared with it. With `mix` the
 * scores become the mean of what they were and these. */
static void compare(float *scores, const kith_session *s, const kith__workspace *a, size_t count,
                    const float *rows, bool mix)
{
    bool distance = kith__decoder_get(s->model->settings.decoder)->distance;
    size_t n = a->lists.seen, ds = a->stride;

    for (size_t from = 0, to; from < n; from = to) {
        to = n - from < CANDIDATES_AT_ONCE ? n : from + CANDIDATES_AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            const float *query_vector = a->query_vectors + i * ds;
            for (size_t c = from; c < to; c++) {
                float score = distance ? -kith__l1(query_vector, rows + c * ds, ds)
                                       : kith__dot(query_vector, rows + c * ds, ds);
                float *at = &scores[i * n + c];
                *at = mix ? (*at + score) / 2 : score;
            }
        }
    }
}

/* In panels, as ranking does, because sums in another order differ in their last bits. */
static void compare_inputs(float *scores, const kith_session *s, const kith__workspace *a,
                           size_t count, const kith__panels *inputs)
{
    bool distance = kith__decoder_get(s->model->settings.decoder)->distance;
    const float *query_vectors[KITH__QUERIES_TOGETHER];

    for (size_t i = 0; i < count; i++)
        query_vectors[i] = a->query_vectors + i * a->stride;
    for (size_t p = 0; p < kith__panel_count(inputs); p++)
        kith__panel_score(scores, a->lists.seen, inputs, p, query_vectors, count, distance, 1,
                          false, a->block);
}

/* By the candidates' input embeddings, by their encodings, or by both, as the settings say. */
static kith_status compare_all(float *scores, kith_session *s, kith__workspace *a, size_t count,
                               const uint32_t *queries, size_t query_count, kith_error *error)
{
    kith_candidate_vectors by = s->model->settings.candidate_vectors;
    const kith__candidates *candidates = NULL;
    const kith__panels *inputs;
    uint32_t ahead[KITH__LOOKAHEAD];
    size_t ahead_count = query_count < KITH__LOOKAHEAD ? query_count : KITH__LOOKAHEAD;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < ahead_count; i++)
        ahead[i] = kith__opposite(s, queries[i]);
    if (by != KITH_CANDIDATES_ENCODED) {
        TRY(kith__candidate_cache_inputs(&inputs, s->shared, error));
        compare_inputs(scores, s, a, count, inputs);
    }
    if (by != KITH_CANDIDATES_INPUT) {
        TRY(kith__candidates_pin(&candidates, s->shared, ahead, ahead_count, error));
        compare(scores, s, a, count, candidates->rows, by == KITH_CANDIDATES_MIX);
    }
cleanup:
    kith__candidates_unpin(s->shared, candidates);
    return status;
}

kith_status kith__embedding_scores(float *scores, kith_session *s, kith__workspace *a,
                                   const kith__query_entity *asked, size_t count,
                                   const uint32_t *queries, size_t query_count, kith_error *error)
{
    size_t ds = a->stride;
    kith_status status;

    TRY(kith__encode_entities(s, a, asked, count, queries[0], error));
    for (size_t i = 0; i < count; i++)
        kith__query_vector_of(a->query_vectors + i * ds, &s->model->settings, &s->model->params,
                              kith__encoder_answer(a->encoder, i), queries[0],
                              a->query_vectors + KITH__QUERIES_TOGETHER * ds); /* room for two */
    TRY(compare_all(scores, s, a, count, queries, query_count, error));
cleanup:
    return status;
}

kith_status kith__fuse_entity(kith_session *s, kith__workspace *a, const kith__query_entity *asked,
                             uint32_t query, const float *embedding, kith_error *error)
{
    bool newcomer = asked->entity >= kith_graph_entity_count(s->model->graph);

    if (kith__reserve(&a->sorted, &a->sorted_capacity, asked->count, sizeof *a->sorted))
        return kith__no_memory(error);
    if (asked->count > 0)
        memcpy(a->sorted, asked->facts, asked->count * sizeof *a->sorted);
    size_t count = kith__sort_facts(a->sorted, asked->count);
    return kith__fusion_run(a->fusing, (kith__span){a->sorted, count},
                      newcomer ? UINT32_MAX : asked->entity, query, embedding,
                      a->lists.seen, error);
}

kith_status kith__answer_scores(float *scores, kith_session *s, kith__workspace *a,
                                const kith__query_entity *asked, size_t count,
                                const uint32_t *queries, size_t query_count, kith_error *error)
{
    const struct kith__fused *fused = s->model->fused;
    bool embedding = !fused || fused->embedding;
    size_t n = a->lists.seen;
    kith_status status = KITH_OK;

    if (embedding)
        TRY(kith__embedding_scores(scores, s, a, asked, count, queries, query_count, error));
    for (size_t i = 0; fused && i < count; i++) {
        TRY(kith__fuse_entity(s, a, &asked[i], queries[0], embedding ? scores + i * n : NULL,
                              error));
        memcpy(scores + i * n, a->fusing->scores, n * sizeof *scores);
        a->shares[i].log_sum = a->fusing->log_sum;
        a->shares[i].log_known = a->fusing->at.log_known;
    }
cleanup:
    return status;
}

/* Of a model without rule evidence: what the shares are of, where known answers are marked. */
static void sum_up(kith__workspace *a, size_t row, const float *scores)
{
    size_t n = a->lists.seen, known = 0;

    for (size_t c = 0; c < n; c++)
        known += a->marks[c];
    a->shares[row].log_sum = kith__log_sum(kith__exp_sum_of(scores, n, a->marks));
    a->shares[row].log_known = log1p((double)known);
}

double kith__answer_probability(const kith_session *s, const kith__workspace *a, size_t row,
                                float score)
{
    const kith_model *model = s->model;

    if (!model->fused && !model->calibrated)
        return NAN;
    return kith__calibrated(model->fused ? model->fused->fusion.calibration : model->calibration,
                            score - a->shares[row].log_sum, a->shares[row].log_known);
}

/* ---- the best of many ---- */

/* The best answers so far, in no order; those of one row of scores are added at a time. */
typedef struct {
    kith_answer *at;
    size_t count, capacity, most;
} best;

static bool is_worse(const kith_answer *a, const kith_answer *b)
{
    if (a->score != b->score)
        return a->score < b->score;
    if (a->entity != b->entity)
        return a->entity > b->entity;
    return a->relation > b->relation;
}

static int better_first(const void *a, const void *b)
{
    const kith_answer *x = a, *y = b;
    return is_worse(x, y) - is_worse(y, x);
}

static void keep_best(best *b)
{
    qsort(b->at, b->count, sizeof *b->at, better_first);
    b->count = b->count < b->most ? b->count : b->most;
}

/* Add the best of the scores of one entity and query, which are a row of the workspace's, each with
 * `shift` added. */
static kith_status add_best(best *b, const kith_session *s, kith__workspace *a, const float *scores,
                            float shift, uint32_t relation, bool new_only, kith_error *error)
{
    size_t n = a->lists.seen, row = (size_t)(scores - a->scores) / n;

    if (!s->model->fused && s->model->calibrated)
        sum_up(a, row, scores);
    if (kith__reserve(&a->best, &a->best_capacity, b->most, sizeof *a->best) ||
        kith__reserve(&b->at, &b->capacity, b->count + b->most, sizeof *b->at))
        return kith__no_memory(error);
    size_t count = kith__topk_of(a->best, b->most, scores, n, new_only ? a->marks : NULL);
    for (size_t i = 0; i < count; i++) {
        uint32_t c = a->best[i];
        b->at[b->count++] =
            (kith_answer){.relation = relation, .entity = c, .score = scores[c] + shift,
                          .probability = kith__answer_probability(s, a, row, scores[c]),
                          .known = a->marks[c]};
    }
    keep_best(b);
    return KITH_OK;
}

/* ---- known answers ---- */

/* Neighbours by the query's relation are known answers, and so are facts of dev and test. */
static kith_status mark_known(const kith_session *s, kith__workspace *a,
                              const kith__query_entity *asked, uint32_t query, uint8_t value,
                              kith_error *error)
{
    const kith_graph *g = s->model->graph;
    uint32_t m = a->lists.relations / 2;
    bool subject_asked = query >= m;

    for (size_t i = 0; i < asked->count; i++)
        if (asked->facts[i].relation == query)
            a->marks[asked->facts[i].entity] = value;
    if (asked->entity >= g->entities.count)
        return KITH_OK;
    const kith__known *known;
    kith_status status = kith__candidate_cache_known(&known, s->shared, error);
    if (status == KITH_OK)
        kith__known_mark(a->marks, a->lists.seen, &known[subject_asked], asked->entity,
                         query - (subject_asked ? m : 0), value);
    return status;
}

static kith_status add_known(best *b, const kith_session *s, kith__workspace *a,
                             const kith__query_entity *asked, uint32_t query, const float *scores,
                               float shift, bool new_only, kith_error *error)
{
    uint32_t m = a->lists.relations / 2;
    kith_status status = mark_known(s, a, asked, query, 1, error);

    if (status == KITH_OK)
        status = add_best(b, s, a, scores, shift, query < m ? query : query - m, new_only, error);
    if (mark_known(s, a, asked, query, 0, error) != KITH_OK)
        memset(a->marks, 0, a->lists.seen);
    return status;
}

/* ---- questions ---- */

static kith_status resolve_entity(uint32_t *entity, const kith_session *s, const char *name,
                                  kith_error *error)
{
    char text[KITH__QUOTED], meant[KITH__MEANT];
    const kith_graph *g = s->model->graph;

    *entity = kith__session_find(s, name);
    if (*entity == KITH__NO_ID)
        return kith__fail(error, KITH_ERR_NOT_FOUND,
                          "nothing is known about %s: neither the graph nor a fact that was given "
                          "has this name%s", kith__quote(text, name, strlen(name)),
                          kith__did_you_mean(meant, g, name, false));
    const kith__described *d = kith__session_described(s, *entity);
    bool has = *entity < g->entities.count && g->offset[*entity + 1] > g->offset[*entity];
    if (!has && (!d || d->facts == 0))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "no usable fact tells about %s; a usable one has a relation and a "
                          "neighbour that training has seen",
                          kith__quote(text, name, strlen(name)));
    return KITH_OK;
}

static kith_status resolve_relation(uint32_t *relation, const kith_session *s, const char *name,
                                    kith_error *error)
{
    char text[KITH__QUOTED], meant[KITH__MEANT];
    const kith_graph *g = s->model->graph;

    if (kith_graph_find_relation(relation, g, name) == KITH_OK && *relation < g->seen_relations)
        return KITH_OK;
    return kith__fail(error, KITH_ERR_NOT_FOUND, "training has no fact with the relation %s%s",
                      kith__quote(text, name, strlen(name)),
                      kith__did_you_mean(meant, g, name, true));
}

kith_status kith__resolve(kith__resolved *r, const kith_session *s, const kith_question *q,
                          kith_error *error)
{
    uint32_t relation = 0;
    kith_status status = KITH_OK;

    if (q->subject && q->object)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the question names both a subject and an object, "
                       "expected '?' for one of them"));
    if (!q->subject && !q->object)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the question names no entity, expected a subject "
                       "or an object"));
    if (q->relation)
        TRY(resolve_relation(&relation, s, q->relation, error));
    r->subject_asked = !q->subject;
    TRY(resolve_entity(&r->entity, s, q->subject ? q->subject : q->object, error));
    r->query = !q->relation ? KITH__NO_ID
                            : relation + (r->subject_asked ? s->model->lists->relations / 2 : 0);
cleanup:
    return status;
}

/* ---- pairs ---- */

typedef struct {
    uint32_t query;
    float implied;
} likely;

static int likelier_first(const void *a, const void *b)
{
    const likely *x = a, *y = b;
    if (x->implied != y->implied)
        return x->implied < y->implied ? 1 : -1;
    return (x->query > y->query) - (x->query < y->query);
}

/* How much the entity's relations imply one: 1 where it is among them, else the largest confidence.
 * Rules stand strongest first, so the first from a relation that is there is the one. */
static float implied(uint32_t query, const kith__implications *rules, const uint8_t *there)
{
    if (there[query])
        return 1;
    for (uint64_t i = rules->offset[query]; i < rules->offset[query + 1]; i++)
        if (there[rules->at[i].relation])
            return rules->at[i].confidence;
    return 0;
}

/* The m queries of one side, those that the entity's relations imply most first. */
static kith_status order_queries(likely *order, kith_session *s, kith__workspace *a,
                                 const kith__query_entity *asked, bool subject_asked,
                                 kith_error *error)
{
    uint32_t m = a->lists.relations / 2, first = subject_asked ? m : 0;
    const kith__implications *rules;
    kith_status status = kith__candidate_cache_implications(&rules, s->shared, error);

    if (status != KITH_OK)
        return status;
    for (size_t i = 0; i < asked->count; i++)
        a->relations[asked->facts[i].relation] = 1;
    for (uint32_t r = 0; r < m; r++)
        order[r] = (likely){first + r, implied(first + r, rules, a->relations)};
    for (size_t i = 0; i < asked->count; i++)
        a->relations[asked->facts[i].relation] = 0;
    qsort(order, m, sizeof *order, likelier_first);
    return KITH_OK;
}

/* Scores of different relations do not compare. What does is the logarithm of a likelihood: that the
 * entity has the relation at all, by the rules, times the candidate's share of exp(score). */
static float to_likelihood(const float *scores, size_t n, float relation_implied)
{
    const float least = 1e-6f; /* so that a relation that no rule leads to is unlikely, not out */

    return (float)(log(relation_implied > least ? relation_implied : least) -
                   kith__log_sum(kith__exp_sum_of(scores, n, NULL)));
}

static kith_status answer_pairs(best *b, kith_answers *answers, kith_session *s, kith__workspace *a,
                                const kith__query_entity *asked, const kith_ask_options *options,
                                kith_error *error)
{
    uint32_t m = a->lists.relations / 2;
    size_t wanted = options->relations ? options->relations : USUAL_RELATIONS;
    size_t count = wanted < m ? wanted : m;
    uint32_t *queries = kith__alloc(m, sizeof *queries);
    likely *order = kith__alloc(m, sizeof *order);
    kith_status status = KITH_OK;

    if (!queries || !order)
        TRY(kith__no_memory(error));
    TRY(order_queries(order, s, a, asked, answers->subject_asked, error));
    for (size_t i = 0; i < m; i++)
        queries[i] = order[i].query;
    for (size_t i = 0; i < count; i++) {
        TRY(kith__answer_scores(a->scores, s, a, asked, 1, queries + i, count - i, error));
        float shift = to_likelihood(a->scores, a->lists.seen, order[i].implied);
        TRY(add_known(b, s, a, asked, queries[i], a->scores, shift, options->new_only, error));
    }
    answers->relations = count;
    answers->all_relations = m;
cleanup:
    kith__free(queries);
    kith__free(order);
    return status;
}

/* ---- asking ---- */

typedef struct {
    kith_session *session;
    kith_ask_options options;
    kith__resolved *resolved;
    kith__item *order; /* major: query, index: question */
    size_t *chunk;     /* where each begins in `order`, and the end */
    size_t chunks;
    kith_answers *answers;
    atomic_size_t next;
    pthread_mutex_t lock; /* of what follows */
    kith_status status;
    kith_error error;
} asking;

static kith_status make_room(best *b, const asking *k, kith_error *error)
{
    size_t all = k->session->model->lists->seen;

    /* Pairs are more than there are candidates, and few want more than that. */
    *b = (best){.most = k->options.top < all ? k->options.top : all};
    return kith__reserve(&b->at, &b->capacity, b->most + 1, sizeof *b->at) ? kith__no_memory(error)
                                                                           : KITH_OK;
}

static void finish(const asking *k, size_t question, best *b)
{
    kith_answers *answers = &k->answers[question];

    answers->at = b->at;
    answers->count = b->count;
}

static kith_status answer_chunk(asking *k, kith__workspace *a, size_t chunk, kith_error *error)
{
    kith_session *s = k->session;
    kith__query_entity asked[KITH__QUERIES_TOGETHER] = {{0}};
    size_t from = k->chunk[chunk], count = k->chunk[chunk + 1] - from, start = 0;
    uint32_t query = k->resolved[k->order[from].index].query;
    best b = {0};
    kith_status status = KITH_OK;

    a->fact_count = 0;
    for (size_t i = 0; i < count; i++) {
        asked[i].entity = k->resolved[k->order[from + i].index].entity;
        TRY(kith__session_facts(&asked[i].count, NULL, a, s, asked[i].entity, error));
    }
    for (size_t i = 0; i < count; start += asked[i++].count) /* where they lie is known now */
        asked[i].facts = a->facts + start;
    if (query != KITH__NO_ID)
        TRY(kith__answer_scores(a->scores, s, a, asked, count, &query, 1, error));
    for (size_t i = 0; i < count; i++) {
        size_t question = k->order[from + i].index;
        TRY(make_room(&b, k, error));
        if (query == KITH__NO_ID)
            TRY(answer_pairs(&b, &k->answers[question], s, a, &asked[i], &k->options, error));
        else
            TRY(add_known(&b, s, a, &asked[i], query, a->scores + i * a->lists.seen, 0,
                            k->options.new_only, error));
        finish(k, question, &b);
        b.at = NULL;
    }
cleanup:
    kith__free(b.at);
    return status;
}

static void answer_piece(void *context, size_t piece)
{
    asking *k = context;
    kith__workspace *a = k->session->workspaces;
    kith_error error;
    size_t chunk;

    for (size_t i = 0; i < piece; i++)
        a = a->next;
    while ((chunk = atomic_fetch_add(&k->next, 1)) < k->chunks) {
        kith_status status = answer_chunk(k, a, chunk, &error);
        if (status == KITH_OK)
            continue;
        pthread_mutex_lock(&k->lock);
        k->status = status;
        k->error = error;
        pthread_mutex_unlock(&k->lock);
    }
}

/* Questions with one query in a row, a few at a time; pairs one by one. */
static void cut_chunks(asking *k, size_t count)
{
    size_t in_chunk = 0;

    k->chunks = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t query = k->resolved[k->order[i].index].query;
        bool same = i > 0 && query != KITH__NO_ID && k->order[i].major == k->order[i - 1].major &&
                    in_chunk < KITH__QUERIES_TOGETHER;
        if (!same) {
            k->chunk[k->chunks++] = i;
            in_chunk = 0;
        }
        in_chunk++;
    }
    k->chunk[k->chunks] = count;
}

static kith_status resolve_all(asking *k, const kith_question *questions, size_t count,
                               kith_error *error)
{
    uint32_t relations = k->session->model->lists->relations;
    kith__item *spare = kith__alloc(count, sizeof *spare);
    kith_status status = KITH_OK;

    k->resolved = kith__alloc(count, sizeof *k->resolved);
    k->order = kith__alloc(count, sizeof *k->order);
    k->chunk = kith__alloc(count + 1, sizeof *k->chunk);
    if (!spare || !k->resolved || !k->order || !k->chunk)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < count; i++) {
        TRY(kith__resolve(&k->resolved[i], k->session, &questions[i], error));
        uint32_t query = k->resolved[i].query;
        k->order[i] = (kith__item){query == KITH__NO_ID ? relations : query, 0, (uint32_t)i};
        k->answers[i] = (kith_answers){.subject_asked = k->resolved[i].subject_asked,
                                       .relations = 1, .all_relations = 1};
    }
    kith__radix_sort(k->order, spare, count, (uint64_t)relations + 1, 1);
    cut_chunks(k, count);
cleanup:
    kith__free(spare);
    return status;
}

static kith_status run_asking(asking *k, unsigned threads, kith_error *error)
{
    kith__pool *pool = k->chunks > 1 && threads != 1 ? kith__pool_new(threads) : NULL;
    size_t pieces = pool ? kith__pool_size(pool) : 1;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < pieces; i++)
        if (!kith__workspace_at(k->session, i))
            TRY(kith__no_memory(error));
    if (pool)
        kith__pool_run(pool, answer_piece, k, pieces);
    else
        answer_piece(k, 0);
    status = k->status;
    if (status != KITH_OK && error)
        *error = k->error;
cleanup:
    kith__pool_free(pool);
    return status;
}

kith_status kith_session_ask_all(kith_answers *answers, kith_session *s,
                                 const kith_question *questions, size_t count,
                                 const kith_ask_options *options, kith_error *error)
{
    asking k = {.session = s, .answers = kith__calloc(count, sizeof *answers)};
    kith_status status = KITH_OK;

    pthread_mutex_init(&k.lock, NULL);
    if (options)
        k.options = *options;
    if (k.options.top == 0)
        k.options.top = USUAL_TOP;
    if (!k.answers)
        TRY(kith__no_memory(error));
    if (count >= UINT32_MAX)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "found %zu questions, expected fewer than 2^32",
                       count));
    TRY(resolve_all(&k, questions, count, error));
    TRY(run_asking(&k, k.options.threads, error));
    memcpy(answers, k.answers, count * sizeof *answers);
cleanup:
    for (size_t i = 0; status != KITH_OK && k.answers && i < count; i++)
        kith_answers_release(&k.answers[i]);
    kith__free(k.answers);
    kith__free(k.resolved);
    kith__free(k.order);
    kith__free(k.chunk);
    pthread_mutex_destroy(&k.lock);
    return status;
}

kith_status kith_session_ask(kith_answers *answers, kith_session *s, const kith_question *question,
                             const kith_ask_options *options, kith_error *error)
{
    return kith_session_ask_all(answers, s, question, 1, options, error);
}

void kith_answers_release(kith_answers *answers)
{
    kith__free(answers->at);
    *answers = (kith_answers){0};
}

kith_status kith_session_encode(float *vector, kith_session *s, const char *entity,
                                const char *relation, int inverse, kith_error *error)
{
    kith_question question = {inverse ? NULL : entity, relation, inverse ? entity : NULL};
    kith__workspace *a = kith__workspace_at(s, 0);
    kith__resolved r;
    kith__query_entity asked = {0};
    kith_status status;

    if (!a)
        return kith__no_memory(error);
    TRY(kith__resolve(&r, s, &question, error));
    a->fact_count = 0;
    asked.entity = r.entity;
    TRY(kith__session_facts(&asked.count, NULL, a, s, r.entity, error));
    asked.facts = a->facts;
    TRY(kith__encode_entities(s, a, &asked, 1, r.query, error));
    memcpy(vector, kith__encoder_answer(a->encoder, 0),
           s->model->settings.dim * sizeof *vector);
cleanup:
    return status;
}
