#include "session/contributions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/lists.h"
#include "core/mem.h"
#include "embed/query_vector.h"
#include "graph/graph.h"

typedef struct {
    kith__score_parts *out;
    kith_session *session;
    kith__workspace *workspace;
    const kith__query_entity *queried;
    uint32_t query;
    const float *scores;
    kith_contributions *contributions;
    size_t count;
    kith_reason **reasons; /* of each answer, finally sorted strongest first */
    size_t *reason_capacity;
    double **neighbors; /* contribution to each answer by neighbour, or NULL */
    bool no_memory;
    /* For the embedding: vectors of the encoder's stride. */
    float *visit, *shifted, *start, *toward;
} finding;

void kith__contributions_free(kith_contributions *contributions, size_t count)
{
    for (size_t i = 0; contributions && i < count; i++) {
        kith__list_free(contributions[i].features);
        kith__list_free(contributions[i].reasons);
        kith__list_free(contributions[i].path);
        kith__free((void *)(uintptr_t)contributions[i].neighbors);
    }
    kith__free(contributions);
}

/* ---- rules ---- */

static void set_relation(uint32_t *relation, int *inverse, const kith_graph *g, uint32_t directed)
{
    bool is = directed != KITH__NO_RELATION;

    *relation = is ? kith__undirected(g, directed) : UINT32_MAX;
    *inverse = is && directed >= g->seen_relations;
}

static kith_reason public_reason(const kith_graph *g, const kith__reason *r)
{
    kith_reason made = {.kind = (kith_evidence_part)kith__rule_kinds[r->kind]->part,
                        .between = r->between[0],
                        .between_second = r->between[1],
                        .confidence = r->confidence,
                        .support = r->support,
                        .body_count = r->body_count};

    set_relation(&made.first, &made.first_inverse, g, r->relation[0]);
    set_relation(&made.second, &made.second_inverse, g, r->relation[1]);
    set_relation(&made.third, &made.third_inverse, g, r->relation[2]);
    return made;
}

static void take_reason(void *context, const kith__reason *r)
{
    finding *f = context;
    const kith_graph *g = f->session->model->graph;

    for (size_t i = 0; i < f->count; i++) {
        kith_contributions *to = &f->contributions[i];
        if (to->entity != r->candidate)
            continue;
        if (kith__reserve(&f->reasons[i], &f->reason_capacity[i], to->reason_count + 1,
                          sizeof *f->reasons[i])) {
            f->no_memory = true;
            return;
        }
        f->reasons[i][to->reason_count++] = public_reason(g, r);
    }
}

static int stronger_first(const void *a, const void *b)
{
    const kith_reason *x = a, *y = b;

    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->between != y->between)
        return x->between < y->between ? -1 : 1;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    if (x->between_second != y->between_second)
        return x->between_second < y->between_second ? -1 : 1;
    return x->third < y->third ? -1 : x->third > y->third;
}

/* The contribution of each feature: its weight times its value. */
static kith_status add_parts(kith_contributions *to, const kith__fusion_workspace *workspace,
                             kith_error *error)
{
    bool unseen = to->entity >= workspace->at.candidates;
    const float *weight = unseen ? workspace->unseen_weight : workspace->weight;
    float feature[KITH__FEATURES_COUNT];
    kith_feature **features = kith__list_new(KITH__FEATURES_COUNT, sizeof **features);

    if (!features)
        return kith__no_memory(error);
    to->features = (const kith_feature *const *)features;
    kith__case_features(feature, unseen ? &workspace->unseen_at : &workspace->at, to->entity, 0);
    to->prior = unseen ? workspace->shift : 0;
    for (int k = 0; k < KITH__FEATURES_COUNT; k++) {
        double points = (double)weight[k] * feature[k];
        kith_evidence_part part = kith__feature_part(k);
        if (part == KITH_PART_EMBEDDING)
            to->embedding += points;
        else if (part == KITH_PART_PROXIMITY)
            to->proximity += points;
        else if (part == KITH_PART_NONE)
            to->prior += points;
        else
            to->rules += points;
        *features[to->feature_count++] =
            (kith_feature){kith__feature_name(k), part, feature[k], points};
    }
    return KITH_OK;
}

static kith_status add_path(finding *f, kith_contributions *to, kith_error *error)
{
    const kith_graph *g = f->session->model->graph;
    kith_neighbor path[KITH__PROXIMITY_STEPS];
    kith_step **steps;
    kith_status status;
    size_t count;

    TRY(kith__proximity_path(path, &count, f->workspace->fusion->evidence_query.view,
                             (kith__span){f->queried->facts, f->queried->count}, f->queried->entity,
                             to->entity, error));
    steps = kith__list_new(count, sizeof **steps);
    if (!steps)
        TRY(kith__no_memory(error));
    to->path = (const kith_step *const *)steps;
    to->path_count = count;
    for (size_t i = 0; i < count; i++)
        *steps[i] = (kith_step){kith__undirected(g, path[i].relation),
                                path[i].relation >= g->seen_relations, path[i].entity};
cleanup:
    return status;
}

/* Find the supporting rules again, now that the answers to explain are known. */
static kith_status find_reasons(finding *f, kith_error *error)
{
    kith__evidence_query *rules = &f->workspace->fusion->evidence_query;

    rules->report = take_reason;
    rules->context = f;
    kith_status status =
        kith__evidence_query_run(rules, f->queried->sorted, f->queried->entity, f->query, error);
    rules->report = NULL;
    return status == KITH_OK && f->no_memory ? kith__no_memory(error) : status;
}

static kith_status add_rules(finding *f, kith_error *error)
{
    kith_status status = find_reasons(f, error);

    for (size_t i = 0; status == KITH_OK && i < f->count; i++) {
        kith_contributions *to = &f->contributions[i];
        if (to->reason_count > 1)
            qsort(f->reasons[i], to->reason_count, sizeof *f->reasons[i], stronger_first);
        to->reasons = kith__list_of(f->reasons[i], to->reason_count, sizeof *f->reasons[i]);
        status = !to->reasons ? kith__no_memory(error) : add_parts(to, f->workspace->fusion, error);
        if (status == KITH_OK)
            status = add_path(f, to, error);
    }
    return status;
}

/* ---- the embedding, by neighbours ---- */

/* Compute the query vector, which is linear in the entity's vector, except for a zero vector. */
static void find_query_vector(finding *f, float *query_vector, const float *vector)
{
    const kith_model *model = f->session->model;

    kith__query_vector_from_scaled(query_vector, &model->settings, &model->params, vector, f->query,
                                   f->workspace->query_vectors +
                                       KITH__QUERIES_TOGETHER * f->workspace->stride);
}

/* The derivative of the score, -|v - x|_1 or v . x, with respect to each coordinate of the query
 * vector v. */
static void find_slope(finding *f, const float *candidate)
{
    bool distance = kith__decoder_get(f->session->model->settings.decoder)->distance;
    const float *query_vector = f->workspace->query_vectors;

    for (size_t k = 0; k < f->workspace->stride; k++) {
        float off = query_vector[k] - candidate[k];
        f->toward[k] = !distance ? candidate[k] : off > 0 ? -1 : off < 0 ? 1 : 0;
    }
}

/* The factor by which the entity's vector is scaled before it is compared. */
static float scale_of(const finding *f, const float *vector)
{
    double length = 0;

    for (size_t k = 0; k < f->workspace->stride; k++)
        length += (double)vector[k] * vector[k];
    return kith__is_unit(&f->session->model->settings) && length > 0 ? (float)(1 / sqrt(length))
                                                                     : 1;
}

/* Add each neighbour's contribution to the score of a candidate with this vector, times
 * `factor`. */
static kith_status add_neighbors(finding *f, double *points, const float *candidate, double factor,
                                 kith_error *error)
{
    const kith__encoder *e = f->workspace->encoder;
    float scale = scale_of(f, kith__encoder_vector(e, 0));
    size_t count, ds = f->workspace->stride;
    kith_status status = KITH_OK;

    kith__encoder_neighbors(&count, e, 0);
    double *by_visit = kith__calloc(count, sizeof *by_visit);
    if (!by_visit)
        TRY(kith__no_memory(error));
    find_slope(f, candidate);
    memset(f->visit, 0, ds * sizeof *f->visit);
    find_query_vector(f, f->start, f->visit);
    for (size_t v = 0; v < count; v++) {
        kith__encoder_share(f->visit, e, 0, v);
        for (size_t k = 0; k < ds; k++)
            f->visit[k] *= scale;
        find_query_vector(f, f->shifted, f->visit);
        for (size_t k = 0; k < ds; k++)
            by_visit[v] += (double)f->toward[k] * (f->shifted[k] - f->start[k]);
    }
    for (size_t i = 0; i < f->out->neighbor_count; i++)
        if (f->out->neighbors[i].place < count)
            points[i] += factor * by_visit[f->out->neighbors[i].place];
cleanup:
    kith__free(by_visit);
    return status;
}

/* The change of the total score per unit of the embedding's score; all features are linear in
 * it. */
static double points_per_score(const finding *f, uint32_t candidate)
{
    const kith__fusion_workspace *workspace = f->workspace->fusion;
    float change[KITH__FEATURES_COUNT];
    double sum = 0;

    if (!f->session->model->fused)
        return 1;
    kith__case_slopes(change, &workspace->at, candidate, 0);
    for (int k = 0; k < KITH__FEATURES_COUNT; k++)
        sum += (double)workspace->weight[k] * change[k];
    return sum;
}

static kith_status take_apart(finding *f, const kith__candidates *rows, kith_error *error)
{
    kith_status status = KITH_OK;

    for (size_t i = 0; status == KITH_OK && i < f->count; i++) {
        kith_contributions *to = &f->contributions[i];
        if (!f->neighbors[i])
            to->neighbors = f->neighbors[i] =
                kith__calloc(f->out->neighbor_count, sizeof *f->neighbors[i]);
        if (f->neighbors[i] && to->entity >= f->workspace->candidates)
            continue; /* the embedding does not score it */
        status = !f->neighbors[i] ? kith__no_memory(error)
                                  : add_neighbors(f, f->neighbors[i],
                                                  rows->rows + to->entity * f->workspace->stride,
                                                  points_per_score(f, to->entity), error);
    }
    return status;
}

static kith_status add_embedding(finding *f, kith_error *error)
{
    bool by_input = f->session->model->settings.candidate_vectors == KITH_CANDIDATES_INPUT;
    const kith__candidates *rows = NULL;
    uint32_t query = kith__query_inverse(f->session->model->graph, f->query);
    kith_status status = KITH_OK;

    if (by_input)
        TRY(kith__candidates_pin_inputs(&rows, f->session->cache, f->workspace->watch, error));
    else
        TRY(kith__candidates_pin(&rows, f->session->cache, &query, 1, f->workspace->watch,
                                 error));
    TRY(take_apart(f, rows, error));
cleanup:
    kith__candidates_unpin(f->session->cache, rows);
    return status;
}

/* Add the rest of the embedding's contribution, which comes from the relation and the candidate. */
static void add_rest(finding *f)
{
    for (size_t i = 0; i < f->count; i++) {
        kith_contributions *to = &f->contributions[i];
        to->score = f->scores[to->entity];
        if (!f->session->model->fused)
            to->embedding = to->score;
        to->rest = to->embedding;
        for (size_t k = 0; to->neighbors && k < f->out->neighbor_count; k++)
            to->rest -= to->neighbors[k];
    }
}

static int make_buffers(finding *f)
{
    size_t ds = f->workspace->stride;

    f->contributions = kith__calloc(f->count, sizeof *f->contributions);
    f->reasons = kith__calloc(f->count, sizeof *f->reasons);
    f->reason_capacity = kith__calloc(f->count, sizeof *f->reason_capacity);
    f->neighbors = kith__calloc(f->count, sizeof *f->neighbors);
    f->visit = kith__calloc_aligned(4 * ds, sizeof *f->visit);
    if (!f->visit || !f->contributions || !f->reasons || !f->reason_capacity || !f->neighbors)
        return -1;
    f->shifted = f->visit + ds;
    f->start = f->shifted + ds;
    f->toward = f->start + ds;
    return 0;
}

kith_status kith__find_contributions(kith__score_parts *out, kith_session *s, kith__workspace *a,
                                     const kith__query_entity *queried, uint32_t query,
                                     const float *scores, kith_error *error)
{
    finding f = {.out = out,
                 .session = s,
                 .workspace = a,
                 .queried = queried,
                 .query = query,
                 .scores = scores,
                 .count = out->compared};
    kith_status status = KITH_OK;

    if (make_buffers(&f))
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < f.count; i++)
        f.contributions[i].entity = out->answers.at[i].entity;
    if (s->model->fused)
        TRY(add_rules(&f, error));
    if (kith__model_scores_vectors(s->model) && out->weighing != KITH_WEIGH_NONE)
        TRY(add_embedding(&f, error));
    add_rest(&f);
    out->contributions = f.contributions;
    out->contribution_count = f.count;
    f.contributions = NULL;
cleanup:
    kith__contributions_free(f.contributions, f.count);
    for (size_t i = 0; f.reasons && i < f.count; i++)
        kith__free(f.reasons[i]);
    kith__free(f.reasons);
    kith__free(f.reason_capacity);
    kith__free(f.neighbors);
    kith__free(f.visit);
    return status;
}
