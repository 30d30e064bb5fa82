/* Answers and explanations as JSON, described in docs/JSON.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"

/* ---- answers ---- */

/* A line that is not a question has "" for what is missing. */
static json_t *name_json(const char *name)
{
    return name && *name ? text_json(name) : json_null();
}

json_t *question_json(const kith_question *q)
{
    return json_pack("{so so so}", "subject", name_json(q->subject), "relation",
                     name_json(q->relation), "object", name_json(q->object));
}

static void set_entity(json_t *object, const kith_graph *graph, uint32_t entity)
{
    const char *name = name_of_entity(graph, entity);
    const char *label = label_of_entity(graph, entity);

    json_object_set_new(object, "entity", text_json(name));
    if (strcmp(name, label) != 0)
        json_object_set_new(object, "label", text_json(label));
}

void set_relation_label(json_t *object, const kith_graph *graph, uint32_t relation)
{
    const char *label = kith_graph_relation_label(graph, relation);

    if (strcmp(label, kith_graph_relation_name(graph, relation)) != 0)
        json_object_set_new(object, "relation_label", text_json(label));
}

json_t *answers_json(const kith_answers *answers, const kith_question *q, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < answers->count; i++) {
        const kith_answer *a = answers->at[i];
        json_t *answer = json_object();
        if (!q->relation) {
            json_object_set_new(answer, "relation",
                                text_json(kith_graph_relation_name(graph, a->relation)));
            set_relation_label(answer, graph, a->relation);
        }
        set_entity(answer, graph, a->entity);
        json_object_set_new(answer, "score", json_real(a->score));
        if (!isnan(a->probability_if_any))
            json_object_set_new(answer, "probability_if_any", json_real(a->probability_if_any));
        if (!isnan(a->probability)) {
            json_object_set_new(answer, "probability", json_real(a->probability));
            json_object_set_new(answer, "low", json_real(a->low));
            json_object_set_new(answer, "high", json_real(a->high));
        }
        json_object_set_new(answer, "known", json_boolean(a->known));
        if (!q->relation)
            json_object_set_new(answer, "is_subject", json_boolean(a->is_subject));
        json_array_append_new(list, answer);
    }
    return list;
}

json_t *ignored_json(const kith_session *session)
{
    json_t *list = json_array();

    for (size_t i = 0; i < kith_session_fact_count(session); i++) {
        kith_session_fact f = kith_session_fact_at(session, i);
        if (f.use != KITH_FACT_USED)
            json_array_append_new(list,
                                  json_pack("{so so so ss}", "subject", text_json(f.subject),
                                            "relation", text_json(f.relation), "object",
                                            text_json(f.object), "why", kith_fact_use_text(f.use)));
    }
    return list;
}

/* ---- explanations: one function per section ---- */

static void set_real(json_t *object, const char *key, double value)
{
    if (!isnan(value))
        json_object_set_new(object, key, json_real(value));
}

static json_t *reason_json(const kith_reason *r, const kith_graph *graph)
{
    json_t *one = json_pack("{ss so sf sI sI}", "kind", kith_part_name(r->kind), "first",
                            relation_json(graph, r->first, r->first_inverse), "confidence",
                            r->confidence, "support", (json_int_t)r->support, "body_count",
                            (json_int_t)r->body_count);

    if (r->second != UINT32_MAX)
        json_object_set_new(one, "second", relation_json(graph, r->second, r->second_inverse));
    if (r->between != UINT32_MAX)
        json_object_set_new(one, "between", text_json(name_of_entity(graph, r->between)));
    if (r->third != UINT32_MAX)
        json_object_set_new(one, "third", relation_json(graph, r->third, r->third_inverse));
    if (r->between_second != UINT32_MAX)
        json_object_set_new(one, "between_second",
                            text_json(name_of_entity(graph, r->between_second)));
    return one;
}

static json_t *step_json(const kith_step *s, const kith_graph *graph)
{
    json_t *one =
        json_pack("{so sb}", "relation", text_json(kith_graph_relation_name(graph, s->relation)),
                  "inverse", s->inverse);
    set_entity(one, graph, s->entity);
    return one;
}

static void contributions_json(json_t *object, const kith_explanation *e, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->contribution_count; i++) {
        const kith_contributions *g = e->contributions[i];
        json_t *one =
            json_pack("{sf sf sf sf sf sf}", "score", g->score, "rules", g->rules, "proximity",
                      g->proximity, "prior", g->prior, "embedding", g->embedding, "rest", g->rest);
        json_t *features = json_array(), *reasons = json_array(), *neighbors = json_array();
        json_t *path = json_array();
        set_entity(one, graph, g->entity);
        for (size_t k = 0; k < g->feature_count; k++)
            json_array_append_new(
                features, json_pack("{ss ss sf sf}", "name", g->features[k]->name, "part",
                                    kith_part_name(g->features[k]->part), "value",
                                    g->features[k]->value, "points", g->features[k]->points));
        for (size_t k = 0; k < g->reason_count; k++)
            json_array_append_new(reasons, reason_json(g->reasons[k], graph));
        for (size_t k = 0; g->neighbors && k < e->neighbor_count; k++)
            json_array_append_new(neighbors, json_real(g->neighbors[k]));
        json_object_set_new(one, "features", features);
        for (size_t k = 0; k < g->path_count; k++)
            json_array_append_new(path, step_json(g->path[k], graph));
        json_object_set_new(one, "reasons", reasons);
        json_object_set_new(one, "path", path);
        json_object_set_new(one, "neighbors", neighbors);
        json_array_append_new(list, one);
    }
    json_object_set_new(object, "contributions", list);
}

static void neighbors_json(json_t *object, const kith_explanation *e, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->neighbor_count; i++) {
        const kith_weighted_neighbor *n = e->neighbors[i];
        json_t *entry = json_pack("{so sb sb}", "relation",
                                  text_json(kith_graph_relation_name(graph, n->relation)),
                                  "inverse", n->inverse, "added", n->added);
        set_entity(entry, graph, n->entity);
        set_real(entry, "weight", n->weight);
        set_real(entry, "logic", n->logic);
        set_real(entry, "attention", n->attention);
        if (e->weighing == KITH_WEIGH_MAX && n->place != SIZE_MAX)
            json_object_set_new(entry, "wins", json_integer(n->wins));
        if (n->rule)
            json_object_set_new(entry, "rule", implication_json(n->rule, graph));
        if (n->redundant_with)
            json_object_set_new(entry, "redundant_with",
                                implication_json(n->redundant_with, graph));
        json_array_append_new(list, entry);
    }
    json_object_set_new(object, "neighbors", list);
    json_object_set_new(object, "unread", json_integer((json_int_t)e->unread));
}

static void ablations_json(json_t *object, const kith_explanation *e, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->ablation_count; i++) {
        const kith_ablation *l = e->ablations[i];
        json_t *moves = json_array();
        for (size_t k = 0; k < e->compared; k++) {
            json_t *move =
                json_pack("{sI sI sf sf}", "rank", (json_int_t)l->changes[k]->rank, "rank_masked",
                          (json_int_t)l->changes[k]->rank_masked, "score", l->changes[k]->score,
                          "score_masked", l->changes[k]->score_masked);
            set_entity(move, graph, e->answers->at[k]->entity);
            json_array_append_new(moves, move);
        }
        json_array_append_new(
            list, json_pack("{sI so so}", "neighbor", (json_int_t)l->neighbor, "best",
                            text_json(name_of_entity(graph, l->best)), "answers", moves));
    }
    json_object_set_new(object, "ablations", list);
}

void explanation_json(json_t *object, const kith_explanation *e, const kith_graph *graph)
{
    static void (*const sections[])(json_t *, const kith_explanation *, const kith_graph *) = {
        contributions_json, neighbors_json, ablations_json};

    json_object_set_new(object, "explained",
                        text_json(kith_graph_relation_name(graph, e->relation)));
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        sections[i](object, e, graph);
}
