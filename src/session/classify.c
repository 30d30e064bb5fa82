#include "session/classify.h"

#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "model/classify.h"
#include "model/sweep.h"

/* One end of a fact, and the query about it. */
typedef struct {
    uint32_t entity, query, hidden;
} side;

/* What is known about the entity of a side, without the fact itself. */
static kith_status gather(kith__query_entity *queried, bool *known, kith_session *s,
                          kith__workspace *a, side at, kith_error *error)
{
    kith_status status = kith__gather_facts(queried, NULL, s, a, &at.entity, 1, error);

    if (status == KITH_OK)
        *known |= kith__mask_fact(queried, a, at.query, at.hidden);
    return status;
}

/* The embedding's scores of the first `all` candidates, in the workspace. */
static kith_status score_all(kith_session *s, kith__workspace *a, const kith__query_entity *queried,
                             uint32_t query, uint32_t all, kith_error *error)
{
    size_t usual = a->candidates;
    kith_status status = KITH_OK;

    a->candidates = a->width = all;
    if (kith__workspace_reserve(a, 1))
        TRY(kith__no_memory(error));
    TRY(kith__embedding_scores(a->scores, s->cache, a, queried, 1, &query, 1, error));
cleanup:
    a->candidates = a->width = usual;
    return status;
}

/* Add a new entity as another candidate: the session's facts give its type score. */
static void add_candidate(kith_session *s, kith__workspace *a, const uint32_t *hidden)
{
    a->fusion->evidence_query.view.added = &s->added;
    a->fusion->unseen = (kith__unseen_set){hidden, 1, (size_t)*hidden + 1, false};
}

/* Compute the evidence for a side. Classifiers are fitted with all entities of the graph as
 * candidates. Shares include the embedding only if each candidate has a vector to compare. */
static kith_status evidence_features(kith__sample *sample, bool *known, kith_session *s,
                                    kith__workspace *a, side at, bool subject, kith_error *error)
{
    uint32_t all = kith_graph_entity_count(a->model->graph);
    bool added = at.hidden >= all;
    uint32_t compared = added ? (uint32_t)a->candidates : all;
    kith__query_entity queried;
    kith_status status;

    TRY(gather(&queried, known, s, a, at, error));
    a->fusion->unseen = (kith__unseen_set){0};
    if (added)
        add_candidate(s, a, &at.hidden);
    bool embedding = kith__embedding_counts(a, &queried) &&
                     (compared == a->candidates || kith__classifies_encoded(a->model));
    if (embedding)
        TRY(score_all(s, a, &queried, at.query, compared, error));
    TRY(kith__fusion_run(a->fusion, queried.sorted, at.entity, at.query,
                         embedding ? a->scores : NULL, compared, error));
    kith__side_features(sample, a->fusion, at.hidden, subject);
cleanup:
    a->fusion->unseen = (kith__unseen_set){0}; /* it refers to `at` */
    return status;
}

static kith_status encode(float *vector, bool *known, kith_session *s, kith__workspace *a, side at,
                          kith_error *error)
{
    kith__query_entity queried;
    kith_status status;

    TRY(gather(&queried, known, s, a, at, error));
    TRY(kith__encode_entities(a, &queried, 1, at.query, error));
    memcpy(vector, kith__encoder_answer(a->encoder, 0), a->stride * sizeof *vector);
cleanup:
    return status;
}

static kith_status embedding_feature(kith__sample *sample, bool *known, kith_session *s,
                                     kith__workspace *a, kith_triple fact, const side sides[2],
                                     kith_error *error)
{
    float *rows = kith__calloc_aligned(8 * a->stride, sizeof *rows);
    kith_status status = KITH_OK;

    if (!rows)
        return kith__no_memory(error);
    TRY(encode(rows, known, s, a, sides[0], error));
    TRY(encode(rows + a->stride, known, s, a, sides[1], error));
    sample->x[KITH__FACT_PHI] =
        kith__score_fact(a->model, fact, rows, rows + a->stride, rows + 2 * a->stride);
cleanup:
    kith__free(rows);
    return status;
}

kith_status kith__classify_fact(kith_verdict *verdict, kith_session *s, kith__workspace *a,
                                kith_triple fact, kith_error *error)
{
    uint32_t m = kith_graph_seen_relation_count(a->model->graph);
    const side sides[2] = {{fact.subject, fact.relation, fact.object},
                           {fact.object, fact.relation + m, fact.subject}};
    const size_t width = a->width;
    const kith__unseen_set unseen = a->fusion ? a->fusion->unseen : (kith__unseen_set){0};
    const kith__judgement *judgement;
    kith__sample sample = {{0}, false};
    bool known = false;
    kith_status status;

    TRY(kith__choose_judgement(&judgement, a->model, 0, error));
    for (int k = 0; a->fusion && k < 2; k++)
        TRY(evidence_features(&sample, &known, s, a, sides[k], k == 1, error));
    if (kith__model_scores_vectors(a->model))
        TRY(embedding_feature(&sample, &known, s, a, fact, sides, error));
    verdict->classified = 1;
    verdict->known = known;
    verdict->likely = kith__judge_fact(&verdict->probability, judgement, &sample, fact.relation);
    verdict->low = 0;
    verdict->high = 1;
cleanup:
    a->width = width; /* the candidates that were chosen */
    if (a->fusion)
        a->fusion->unseen = unseen;
    return status;
}
