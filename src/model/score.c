#include "model/score.h"

#include <string.h>

#include "core/mem.h"
#include "model/decoder.h"
#include "nn/kernels.h"

enum { PIECES = 16, KNOWN_AT_ONCE = 1024, BYTES_AHEAD = 64 << 20 };

typedef struct {
    kith_model *model;
    kith__encoder known;      /* of the queries' known sides; candidates use the model's */
    const kith__query *queries;
    kith__item *order;        /* major: relation, minor: side, index: query */
    size_t count, candidates;
    float *vectors;           /* known sides, one row per query, in the order of `order` */
    float *aims, *scores;     /* of KITH__SCORED_TOGETHER queries */
    float *unit;              /* candidates scaled to length 1 */
    kith__scored_call call;
    void *context;
    /* The queries at hand: order[from] .. order[to - 1]. */
    size_t from, to;
    size_t expected; /* those before it were told ahead */
} scoring;

/* The query that encodes a side: subjects by q, objects by its inverse. */
static uint32_t query_for(const scoring *r, uint32_t relation, bool subject)
{
    return subject ? relation : relation + r->model->lists->relations / 2;
}

static kith_status encode_known(scoring *r, kith_error *error)
{
    kith__encoder *e = &r->known;
    kith_status status = KITH_OK;

    for (size_t from = 0; from < r->count; from += KNOWN_AT_ONCE) {
        size_t to = from + KNOWN_AT_ONCE < r->count ? from + KNOWN_AT_ONCE : r->count;
        kith__encoder_begin(e);
        for (size_t i = from; i < to; i++) {
            const kith__query *q = &r->queries[r->order[i].index];
            kith__encoder_request(e, kith__known_side(q),
                                  query_for(r, q->fact.relation, !q->subject_hidden), NULL);
        }
        TRY(kith__encoder_forward(e, error));
        for (size_t i = from; i < to; i++)
            memcpy(r->vectors + i * e->ds, e->out.at + e->encoding_of[i - from] * e->ds,
                   e->ds * sizeof *r->vectors);
    }
cleanup:
    return status;
}

/* How many queries are told ahead: the vectors of all candidates are made for each. */
static size_t most_ahead(const scoring *r)
{
    size_t most = BYTES_AHEAD / (r->candidates * r->known.ds * sizeof(float) + 1);
    return most < 1 ? 1 : most < KITH__QUERIES_AHEAD ? most : KITH__QUERIES_AHEAD;
}

/* The queries that the candidates are encoded for next. */
static kith_status expect_queries(scoring *r, kith_error *error)
{
    uint32_t queries[KITH__QUERIES_AHEAD];
    size_t count = 0, i = r->from, most = most_ahead(r);

    for (; i < r->count; i++) {
        uint32_t query = query_for(r, r->order[i].major, r->order[i].minor);
        if (count > 0 && queries[count - 1] == query)
            continue;
        if (count == most)
            break;
        queries[count++] = query;
    }
    r->expected = i;
    return kith__encoder_expect(&r->model->encoder, queries, count, error);
}

/* The first query that the candidates are encoded for makes what later ones share. */
static kith_status encode_candidates(scoring *r, uint32_t query, bool first, kith_error *error)
{
    kith__encoder *e = &r->model->encoder;
    kith_status status = KITH_OK;

    if (!first && r->from >= r->expected)
        status = expect_queries(r, error);
    if (!first)
        return status == KITH_OK ? kith__encoder_requery(e, query, error) : status;
    kith__encoder_begin(e);
    for (size_t i = 0; i < r->candidates; i++)
        kith__encoder_request(e, (uint32_t)i, query, NULL);
    return kith__encoder_forward(e, error);
}

static bool is_unit(const scoring *r)
{
    return r->model->settings.normalize && kith__decoder_get(r->model->settings.decoder)->distance;
}

static void make_aim(scoring *r, size_t i, float *aim)
{
    const kith__decoder *decoder = kith__decoder_get(r->model->settings.decoder);
    const kith__query *q = &r->queries[r->order[i].index];
    size_t ds = r->known.ds, d = r->known.d;
    const float *vector = r->vectors + i * ds;
    const float *relation = kith__row(&r->model->params.table[1], q->fact.relation);
    float *unit = r->aims + KITH__SCORED_TOGETHER * ds; /* room for two more */

    if (is_unit(r)) {
        kith__normalize(unit, vector, d);
        kith__normalize(unit + ds, relation, d);
        vector = unit;
        relation = unit + ds;
    }
    decoder->aim(aim, vector, relation, q->subject_hidden, d);
}

static void score_piece(void *context, size_t piece)
{
    scoring *r = context;
    const kith__encoder *e = &r->model->encoder;
    bool distance = kith__decoder_get(r->model->settings.decoder)->distance, unit = is_unit(r);
    size_t to = r->candidates * (piece + 1) / PIECES;

    for (size_t c = r->candidates * piece / PIECES; c < to; c++) {
        const float *x = e->out.at + e->encoding_of[c] * e->ds;
        if (unit) {
            float *scaled = r->unit + piece * e->ds;
            kith__normalize(scaled, x, e->d);
            x = scaled;
        }
        float *scores = r->scores + c;
        if (distance)
            kith__l1_rows(scores, r->candidates, x, r->aims, r->to - r->from, e->ds);
        for (size_t i = 0; i < r->to - r->from; i++)
            scores[i * r->candidates] = distance ? -scores[i * r->candidates]
                                                 : kith__dot(r->aims + i * e->ds, x, e->ds);
    }
}

static void call_piece(void *context, size_t piece)
{
    scoring *r = context;

    for (size_t i = r->from + piece; i < r->to; i += PIECES)
        r->call(r->context, r->order[i].index, i - r->from,
                r->scores + (i - r->from) * r->candidates);
}

static kith_status score_groups(scoring *r, kith_error *error)
{
    kith_status status = KITH_OK;

    for (r->from = 0; r->from < r->count; r->from = r->to) {
        kith__item first = r->order[r->from];
        bool same = r->from > 0 && r->order[r->from - 1].major == first.major &&
                    r->order[r->from - 1].minor == first.minor;
        for (r->to = r->from + 1; r->to < r->count && r->to - r->from < KITH__SCORED_TOGETHER; r->to++)
            if (r->order[r->to].major != first.major || r->order[r->to].minor != first.minor)
                break;
        if (!same)
            TRY(encode_candidates(r, query_for(r, first.major, first.minor), r->from == 0, error));
        for (size_t i = r->from; i < r->to; i++)
            make_aim(r, i, r->aims + (i - r->from) * r->known.ds);
        kith__pool_run(r->model->pool, score_piece, r, PIECES);
        kith__pool_run(r->model->pool, call_piece, r, PIECES);
    }
cleanup:
    return status;
}

static kith_status scoring_init(scoring *r, kith_error *error)
{
    kith_model *model = r->model;
    kith__item *spare = kith__alloc(r->count, sizeof *spare);
    kith_status status;

    TRY(kith__encoder_init(&r->known, &model->settings, model->lists, model->rules, &model->params,
                           model->pool, error));
    size_t ds = r->known.ds;
    r->order = kith__alloc(r->count, sizeof *r->order);
    r->vectors = kith__calloc_aligned(r->count * ds, sizeof *r->vectors);
    r->aims = kith__calloc_aligned((KITH__SCORED_TOGETHER + 2) * ds, sizeof *r->aims);
    r->scores = kith__calloc_aligned(KITH__SCORED_TOGETHER * r->candidates, sizeof *r->scores);
    r->unit = kith__calloc_aligned(PIECES * ds, sizeof *r->unit);
    if (!spare || !r->order || !r->vectors || !r->aims || !r->scores || !r->unit)
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
    kith__encoder_release(&r->known);
    kith__free(r->order);
    kith__free(r->vectors);
    kith__free(r->aims);
    kith__free(r->scores);
    kith__free(r->unit);
}

kith_status kith__score_all(kith_model *model, const kith__query *queries, size_t count,
                            size_t candidates, kith__scored_call call, void *context,
                            kith_error *error)
{
    scoring r = {.model = model,
                 .queries = queries,
                 .count = count,
                 .candidates = candidates,
                 .call = call,
                 .context = context};
    kith_status status = KITH_OK;

    if (count == 0)
        return KITH_OK;
    TRY(scoring_init(&r, error));
    TRY(encode_known(&r, error));
    TRY(score_groups(&r, error));
cleanup:
    scoring_release(&r);
    return status;
}
