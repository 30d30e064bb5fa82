#include "eval/rank.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "model/decoder.h"
#include "nn/kernels.h"

enum { PIECES = 16, TOGETHER = 64, KNOWN_AT_ONCE = 1024 };

void kith__rank_of(uint32_t *optimistic, uint32_t *pessimistic, uint32_t *candidates,
                   const float *scores, size_t count, uint32_t gold, const uint8_t *known)
{
    uint32_t better = 0, equal = 0, left = 1;
    float right = scores[gold];

    for (size_t i = 0; i < count; i++) {
        if (known[i] || i == gold)
            continue;
        left++;
        /* A score that is no number is no better than any, and no worse if the right one is none. */
        if (scores[i] > right || (isnan(right) && !isnan(scores[i])))
            better++;
        else if (scores[i] == right || (isnan(right) && isnan(scores[i])))
            equal++;
    }
    *optimistic = 1 + better;
    *pessimistic = 1 + better + equal;
    *candidates = left;
}

/* ---- known facts ---- */

/* All true facts, sorted by (known side, relation); index is the hidden side. */
typedef struct {
    kith__item *at;
    size_t count;
} known_facts;

static kith_status known_init(known_facts *k, const kith_graph *graph, bool subject_hidden,
                              kith_error *error)
{
    kith__item *spare;
    size_t total = 0;

    for (int part = 0; part < KITH_PARTS; part++)
        total += kith_graph_facts(graph, part).count;
    k->count = 0;
    k->at = kith__alloc(total, sizeof *k->at);
    spare = kith__alloc(total, sizeof *spare);
    if (!k->at || !spare) {
        kith__free(spare);
        return kith__no_memory(error);
    }
    for (int part = 0; part < KITH_PARTS; part++) {
        kith_facts facts = kith_graph_facts(graph, part);
        for (size_t i = 0; i < facts.count; i++) {
            kith_triple t = facts.at[i];
            if (facts.truth && !facts.truth[i])
                continue;
            k->at[k->count++] = subject_hidden ? (kith__item){t.object, t.relation, t.subject}
                                               : (kith__item){t.subject, t.relation, t.object};
        }
    }
    kith__radix_sort(k->at, spare, k->count, kith_graph_entity_count(graph),
                     kith_graph_relation_count(graph));
    kith__free(spare);
    return KITH_OK;
}

/* The first fact with this known side and relation, or behind where it would be. */
static size_t known_find(const known_facts *k, uint32_t entity, uint32_t relation)
{
    size_t low = 0, high = k->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const kith__item *at = &k->at[middle];
        if (at->major < entity || (at->major == entity && at->minor < relation))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void mark_known(uint8_t *marks, size_t count, const known_facts *k, uint32_t entity,
                       uint32_t relation, uint8_t value)
{
    for (size_t i = known_find(k, entity, relation);
         i < k->count && k->at[i].major == entity && k->at[i].minor == relation; i++)
        if (k->at[i].index < count)
            marks[k->at[i].index] = value;
}

/* ---- ranking ---- */

typedef struct {
    kith_model *model;
    kith__encoder known;      /* of the queries' known sides; candidates use the model's */
    const kith__query *queries;
    kith__item *order;        /* major: relation, minor: side, index: query */
    known_facts facts[2];     /* [subject hidden] */
    size_t count, candidates;
    float *vectors;           /* known sides, one row per query, in the order of `order` */
    float *aims, *scores;     /* of TOGETHER queries */
    float *unit;              /* candidates scaled to length 1 */
    uint8_t *marks[TOGETHER];
    kith_rank *ranks;
    /* The queries at hand: order[from] .. order[to - 1]. */
    size_t from, to;
    size_t expected; /* those before it were told ahead */
} ranking;

static uint32_t known_side(const kith__query *q)
{
    return q->subject_hidden ? q->fact.object : q->fact.subject;
}

static uint32_t hidden_side(const kith__query *q)
{
    return q->subject_hidden ? q->fact.subject : q->fact.object;
}

/* The query that encodes a side: subjects by q, objects by its inverse. */
static uint32_t query_for(const ranking *r, uint32_t relation, bool subject)
{
    return subject ? relation : relation + r->model->lists->relations / 2;
}

static kith_status encode_known(ranking *r, kith_error *error)
{
    kith__encoder *e = &r->known;
    kith_status status = KITH_OK;

    for (size_t from = 0; from < r->count; from += KNOWN_AT_ONCE) {
        size_t to = from + KNOWN_AT_ONCE < r->count ? from + KNOWN_AT_ONCE : r->count;
        kith__encoder_begin(e);
        for (size_t i = from; i < to; i++) {
            const kith__query *q = &r->queries[r->order[i].index];
            kith__encoder_request(e, known_side(q),
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

/* The queries that the candidates are encoded for next, as many as may be told ahead. */
static kith_status expect_queries(ranking *r, kith_error *error)
{
    uint32_t queries[KITH__QUERIES_AHEAD];
    size_t count = 0, i = r->from;

    for (; i < r->count; i++) {
        uint32_t query = query_for(r, r->order[i].major, r->order[i].minor);
        if (count > 0 && queries[count - 1] == query)
            continue;
        if (count == KITH__QUERIES_AHEAD)
            break;
        queries[count++] = query;
    }
    r->expected = i;
    return kith__encoder_expect(&r->model->encoder, queries, count, error);
}

/* The first query that the candidates are encoded for makes what later ones share. */
static kith_status encode_candidates(ranking *r, uint32_t query, bool first, kith_error *error)
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

static bool is_unit(const ranking *r)
{
    return r->model->settings.normalize && kith__decoder_get(r->model->settings.decoder)->distance;
}

static void make_aim(ranking *r, size_t i, float *aim)
{
    const kith__decoder *decoder = kith__decoder_get(r->model->settings.decoder);
    const kith__query *q = &r->queries[r->order[i].index];
    size_t ds = r->known.ds, d = r->known.d;
    const float *vector = r->vectors + i * ds;
    const float *relation = kith__row(&r->model->params.table[1], q->fact.relation);
    float *unit = r->aims + TOGETHER * ds; /* room for two more */

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
    ranking *r = context;
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
        for (size_t i = r->from; i < r->to; i++) {
            const float *aim = r->aims + (i - r->from) * e->ds;
            r->scores[(i - r->from) * r->candidates + c] =
                distance ? -kith__l1(aim, x, e->ds) : kith__dot(aim, x, e->ds);
        }
    }
}

static void rank_piece(void *context, size_t piece)
{
    ranking *r = context;

    for (size_t i = r->from + piece; i < r->to; i += PIECES) {
        const kith__query *q = &r->queries[r->order[i].index];
        kith_rank *rank = &r->ranks[r->order[i].index];
        uint8_t *marks = r->marks[i - r->from];
        const known_facts *facts = &r->facts[q->subject_hidden];
        *rank = (kith_rank){.fact = q->fact, .subject_hidden = q->subject_hidden};
        mark_known(marks, r->candidates, facts, known_side(q), q->fact.relation, 1);
        kith__rank_of(&rank->optimistic, &rank->pessimistic, &rank->candidates,
                      r->scores + (i - r->from) * r->candidates, r->candidates, hidden_side(q),
                      marks);
        mark_known(marks, r->candidates, facts, known_side(q), q->fact.relation, 0);
        rank->realistic = ((double)rank->optimistic + rank->pessimistic) / 2;
    }
}

static kith_status rank_groups(ranking *r, kith_error *error)
{
    kith_status status = KITH_OK;

    for (r->from = 0; r->from < r->count; r->from = r->to) {
        kith__item first = r->order[r->from];
        bool same = r->from > 0 && r->order[r->from - 1].major == first.major &&
                    r->order[r->from - 1].minor == first.minor;
        for (r->to = r->from + 1; r->to < r->count && r->to - r->from < TOGETHER; r->to++)
            if (r->order[r->to].major != first.major || r->order[r->to].minor != first.minor)
                break;
        if (!same)
            TRY(encode_candidates(r, query_for(r, first.major, first.minor), r->from == 0, error));
        for (size_t i = r->from; i < r->to; i++)
            make_aim(r, i, r->aims + (i - r->from) * r->known.ds);
        kith__pool_run(r->model->pool, score_piece, r, PIECES);
        kith__pool_run(r->model->pool, rank_piece, r, PIECES);
    }
cleanup:
    return status;
}

static kith_status ranking_init(ranking *r, kith_error *error)
{
    kith_model *model = r->model;
    kith__item *spare = kith__alloc(r->count, sizeof *spare);
    kith_status status;

    TRY(kith__encoder_init(&r->known, &model->settings, model->lists, model->rules, &model->params,
                           model->pool, error));
    for (int side = 0; side < 2; side++)
        TRY(known_init(&r->facts[side], model->graph, side, error));
    size_t ds = r->known.ds;
    r->order = kith__alloc(r->count, sizeof *r->order);
    r->vectors = kith__calloc_aligned(r->count * ds, sizeof *r->vectors);
    r->aims = kith__calloc_aligned((TOGETHER + 2) * ds, sizeof *r->aims);
    r->scores = kith__calloc_aligned(TOGETHER * r->candidates, sizeof *r->scores);
    r->unit = kith__calloc_aligned(PIECES * ds, sizeof *r->unit);
    bool failed = !spare || !r->order || !r->vectors || !r->aims || !r->scores || !r->unit;
    for (int i = 0; i < TOGETHER; i++)
        failed |= !(r->marks[i] = kith__calloc(r->candidates, 1));
    if (failed)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < r->count; i++)
        r->order[i] = (kith__item){r->queries[i].fact.relation, r->queries[i].subject_hidden,
                                   (uint32_t)i};
    kith__radix_sort(r->order, spare, r->count, kith_graph_relation_count(model->graph), 2);
cleanup:
    kith__free(spare);
    return status;
}

static void ranking_release(ranking *r)
{
    kith__encoder_release(&r->known);
    kith__free(r->facts[0].at);
    kith__free(r->facts[1].at);
    kith__free(r->order);
    kith__free(r->vectors);
    kith__free(r->aims);
    kith__free(r->scores);
    kith__free(r->unit);
    for (int i = 0; i < TOGETHER; i++)
        kith__free(r->marks[i]);
}

kith_status kith__rank_all(kith_rank *ranks, kith_model *model, const kith__query *queries,
                           size_t count, bool all_candidates, kith_error *error)
{
    ranking r = {.model = model, .queries = queries, .count = count, .ranks = ranks};
    kith_status status = KITH_OK;

    if (count == 0)
        return KITH_OK;
    r.candidates = all_candidates ? kith_graph_entity_count(model->graph)
                                  : kith_graph_seen_entity_count(model->graph);
    TRY(ranking_init(&r, error));
    TRY(encode_known(&r, error));
    TRY(rank_groups(&r, error));
cleanup:
    ranking_release(&r);
    return status;
}
