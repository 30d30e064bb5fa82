#include "model/sweep.h"

#include <string.h>

#include "core/mem.h"
#include "model/candidates.h"
#include "model/entity_encoder.h"
#include "embed/query_vector.h"
#include "nn/kernels.h"

enum { PIECES = 16, BYTES_AHEAD = 64 << 20 };

typedef struct {
    kith_model *model;
    /* Encodes the known sides of queries; candidates use the model's encoder. */
    kith__entity_encoder known;
    const kith__index *facts; /* with unseen entities, or NULL */
    size_t d, ds;             /* width of vectors, and their stride */
    const kith__query *queries;
    kith__item *order; /* major: relation, minor: side, index: query */
    size_t count, candidates;
    float *vectors;                /* known sides, one row per query, in the order of `order` */
    float *query_vectors, *scores; /* of KITH__SCORED_TOGETHER queries */
    float *unit;                   /* candidates scaled to length 1 */
    /* Candidates from here on are scored by encodings, others by input embeddings. */
    size_t encoded;
    kith__panels panels; /* of input embeddings */
    float *block;        /* scores of a panel, per piece */
    kith__scored_call call;
    void *context;
    /* The current queries: order[from] .. order[to - 1]. */
    size_t from, to;
    size_t prefetched; /* queries before this one were prefetched */
} scoring;

/* The query that encodes a side: subjects by q, objects by its inverse. */
static uint32_t query_for(const scoring *r, uint32_t relation, bool subject)
{
    return subject ? relation : relation + r->model->lists->relations / 2;
}

static kith_status encode_known(scoring *r, kith_error *error)
{
    kith__encode_request *requests = kith__alloc(r->count, sizeof *requests);
    kith_status status;

    if (!requests)
        return kith__no_memory(error);
    for (size_t i = 0; i < r->count; i++) {
        const kith__query *q = &r->queries[r->order[i].index];
        requests[i] = (kith__encode_request){
            kith__known_side(q), query_for(r, q->fact.relation, !q->subject_hidden)};
    }
    status = kith__encode_from_graph(r->vectors, &r->known, r->facts, requests, r->count, error);
    kith__free(requests);
    return status;
}

/* How many queries are prefetched together; vectors of all candidates are computed for each. */
static size_t most_ahead(const scoring *r)
{
    size_t most = BYTES_AHEAD / (r->candidates * r->ds * sizeof(float) + 1);
    return most < 1 ? 1 : most < KITH__LOOKAHEAD ? most : KITH__LOOKAHEAD;
}

/* Prefetch the next queries that the candidates are encoded for. */
static kith_status prefetch_queries(scoring *r, kith_error *error)
{
    uint32_t queries[KITH__LOOKAHEAD];
    size_t count = 0, i = r->from, most = most_ahead(r);

    for (; i < r->count; i++) {
        uint32_t query = query_for(r, r->order[i].major, r->order[i].minor);
        if (count > 0 && queries[count - 1] == query)
            continue;
        if (count == most)
            break;
        queries[count++] = query;
    }
    r->prefetched = i;
    return kith__encoder_prefetch(r->model->encoder, queries, count, error);
}

/* The first query that candidates are encoded for computes what later ones share. */
static kith_status encode_candidates(scoring *r, uint32_t query, bool first, kith_error *error)
{
    kith__encoder *e = r->model->encoder;
    kith_status status = KITH_OK;

    if (!first && r->from >= r->prefetched)
        status = prefetch_queries(r, error);
    if (!first)
        return status == KITH_OK ? kith__encoder_reencode(e, query, error) : status;
    kith__encoder_begin(e);
    for (size_t i = r->encoded; i < r->candidates; i++)
        kith__encoder_request(e, (uint32_t)i, query, NULL);
    return kith__encoder_forward(e, error);
}

static void make_query_vector(scoring *r, size_t i, float *query_vector)
{
    const kith__query *q = &r->queries[r->order[i].index];
    size_t ds = r->ds;

    kith__query_vector_of(query_vector, &r->model->settings, &r->model->params,
                          r->vectors + i * ds,
                          query_for(r, q->fact.relation, !q->subject_hidden),
                          r->query_vectors + KITH__SCORED_TOGETHER * ds); /* holds 2 more rows */
}

/* Score each candidate in the piece by its encoding. */
static void score_piece(void *context, size_t piece)
{
    scoring *r = context;
    const kith__encoder *e = r->model->encoder;
    bool distance = kith__decoder_get(r->model->settings.decoder)->distance,
         unit = kith__is_unit(&r->model->settings);
    size_t count = r->candidates - r->encoded, to = r->encoded + count * (piece + 1) / PIECES;

    for (size_t c = r->encoded + count * piece / PIECES; c < to; c++) {
        const float *x = kith__encoder_answer(e, c - r->encoded);
        if (unit) {
            float *scaled = r->unit + piece * kith__apart(r->ds);
            kith__normalize(scaled, x, r->d);
            x = scaled;
        }
        float *scores = r->scores + c;
        size_t query_vectors = r->to - r->from;
        if (distance)
            kith__l1_rows(scores, r->candidates, x, r->query_vectors, query_vectors, r->ds);
        for (size_t i = 0; i < query_vectors; i++) {
            float *score = &scores[i * r->candidates];
            *score = distance ? -*score : kith__dot(r->query_vectors + i * r->ds, x, r->ds);
        }
    }
}

static void score_panels(void *context, size_t piece)
{
    scoring *r = context;
    bool distance = kith__decoder_get(r->model->settings.decoder)->distance;
    const float *query_vectors[KITH__SCORED_TOGETHER];

    for (size_t i = 0; i < r->to - r->from; i++)
        query_vectors[i] = r->query_vectors + i * r->ds;
    for (size_t p = piece; p < kith__panel_count(&r->panels); p += PIECES)
        kith__panel_score(r->scores, r->candidates, &r->panels, p, query_vectors, r->to - r->from,
                          distance, 1,
                          r->block + piece * KITH__SCORED_TOGETHER * KITH__PANEL);
}

static void score_candidates(scoring *r)
{
    if (r->encoded > 0)
        kith__pool_run(r->model->pool, score_panels, r, PIECES);
    if (r->encoded < r->candidates)
        kith__pool_run(r->model->pool, score_piece, r, PIECES);
}

static void call_piece(void *context, size_t piece)
{
    scoring *r = context;

    for (size_t i = r->from + piece; i < r->to; i += PIECES)
        r->call(r->context, r->order[i].index, i - r->from,
                r->scores + (i - r->from) * r->candidates);
}

static bool same_query(const kith__item *a, const kith__item *b)
{
    return a->major == b->major && a->minor == b->minor;
}

/* Queries that are scored together share the candidates' vectors. These depend on the relation and
 * the side only if they are encodings. */
static void choose_group(scoring *r)
{
    bool encodes = r->encoded < r->candidates;

    for (r->to = r->from + 1; r->to < r->count && r->to - r->from < KITH__SCORED_TOGETHER; r->to++)
        if (encodes && !same_query(&r->order[r->to], &r->order[r->from]))
            break;
}

static kith_status score_groups(scoring *r, kith_error *error)
{
    kith__watch *watch = kith__pool_watch(r->model->pool);
    kith_status status = KITH_OK;

    for (r->from = 0; r->from < r->count; r->from = r->to) {
        const kith__item *first = &r->order[r->from];
        choose_group(r);
        if (r->encoded < r->candidates && (r->from == 0 || !same_query(first - 1, first)))
            TRY(encode_candidates(r, query_for(r, first->major, first->minor), r->from == 0,
                                  error));
        for (size_t i = r->from; i < r->to; i++)
            make_query_vector(r, i, r->query_vectors + (i - r->from) * r->ds);
        score_candidates(r);
        kith__pool_run(r->model->pool, call_piece, r, PIECES);
        kith__watch_add(watch, r->to - r->from);
        TRY(kith__watch_status(watch, error));
    }
cleanup:
    return status;
}

/* Choose which candidates are scored by their input embeddings; only seen entities have one. */
static kith_status pack_inputs(scoring *r, kith_error *error)
{
    const kith__table *ent = kith__ent(&r->model->params);
    bool by_input = r->model->settings.candidate_vectors == KITH_CANDIDATES_INPUT;
    size_t seen = ent->rows < r->candidates ? ent->rows : r->candidates;

    r->encoded = by_input ? seen : 0;
    if (r->encoded == 0)
        return KITH_OK;
    r->block = kith__calloc_aligned((size_t)PIECES * KITH__SCORED_TOGETHER * KITH__PANEL,
                                    sizeof *r->block);
    if (!r->block)
        return kith__no_memory(error);
    return kith__pack_inputs(&r->panels, r->model, seen, error);
}

static kith_status scoring_init(scoring *r, kith_error *error)
{
    kith_model *model = r->model;
    kith__item *spare = kith__alloc(r->count, sizeof *spare);
    kith_status status;

    TRY(kith__entity_encoder_init(&r->known, model, model->pool, error));
    size_t ds = r->ds = kith__encoder_stride(r->known.encoder);
    r->d = model->settings.dim;
    r->order = kith__alloc(r->count, sizeof *r->order);
    r->vectors = kith__calloc_aligned(r->count * ds, sizeof *r->vectors);
    r->query_vectors =
        kith__calloc_aligned((KITH__SCORED_TOGETHER + 2) * ds, sizeof *r->query_vectors);
    r->scores = kith__calloc_aligned(KITH__SCORED_TOGETHER * r->candidates, sizeof *r->scores);
    r->unit = kith__calloc_aligned(PIECES * kith__apart(ds), sizeof *r->unit);
    if (!spare || !r->order || !r->vectors || !r->query_vectors || !r->scores || !r->unit)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < r->count; i++)
        r->order[i] = (kith__item){r->queries[i].fact.relation, r->queries[i].subject_hidden,
                                   (uint32_t)i};
    kith__radix_sort(r->order, spare, r->count, kith_graph_relation_count(model->graph), 2);
cleanup:
    kith__free(spare);
    return status;
}

static void scoring_release(scoring *r)
{
    kith__entity_encoder_release(&r->known);
    kith__free(r->order);
    kith__free(r->vectors);
    kith__free(r->query_vectors);
    kith__free(r->scores);
    kith__free(r->unit);
    kith__free(r->block);
    kith__panels_release(&r->panels);
}

kith_status kith__score_all(kith_model *model, const kith__query *queries, size_t count,
                            size_t candidates, const kith__index *known, kith__scored_call call,
                            void *context, kith_error *error)
{
    scoring r = {.model = model,
                 .facts = known,
                 .queries = queries,
                 .count = count,
                 .candidates = candidates,
                 .call = call,
                 .context = context};
    kith_status status = KITH_OK;

    if (count == 0)
        return KITH_OK;
    TRY(scoring_init(&r, error));
    kith__encoder_set_watch(r.known.encoder, kith__pool_watch(model->pool));
    kith__encoder_set_watch(model->encoder, kith__pool_watch(model->pool));
    TRY(pack_inputs(&r, error));
    TRY(encode_known(&r, error));
    TRY(score_groups(&r, error));
cleanup:
    kith__encoder_set_watch(model->encoder, NULL);
    scoring_release(&r);
    return status;
}
