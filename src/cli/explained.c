/* Answers a question of any kind with an explanation, for explain and shell. */
#include <stdlib.h>

#include "cli/answers.h"

/* For a question about missing facts, the most likely one is explained. */
static kith_status likeliest_missing(kith_question *fact, query_arguments *a,
                                     const kith_question *q, kith_error *error)
{
    const kith_graph *graph = kith_model_graph(a->model);
    kith_missing *missing = NULL;
    kith_status status = find_missing(&missing, a, q->relation, 1, NULL, NULL, error);

    if (status == KITH_OK && missing->count == 0) {
        *error = (kith_error){KITH_ERR_NOT_FOUND, "no missing fact was found"};
        status = error->status;
    } else if (status == KITH_OK) {
        kith_triple t = missing->at[0]->fact;
        *fact = (kith_question){name_of_entity(graph, t.subject),
                                kith_graph_relation_name(graph, t.relation),
                                name_of_entity(graph, t.object)};
    }
    kith_missing_free(missing);
    return status;
}

kith_status explain_question(explained *out, query_arguments *a, kith_question q, bool both,
                             kith_error *error)
{
    enum { COMPARED = 4 }; /* the entity of a fact, and answers that may rank above it */
    kith_ask_options ask = a->ask;
    kith_status status = KITH_OK;

    ask.both = both;
    *out = (explained){.question = q};
    if (kind_of(&q) == ASKS_MISSING)
        status = likeliest_missing(&out->question, a, &q, error);
    if (status == KITH_OK && kind_of(&out->question) == ASKS_TRUTH)
        status = kith_session_judge(&out->verdict, a->session, &out->question, error);
    if (out->verdict && ask.top > 0 && ask.top < COMPARED)
        ask.top = COMPARED;
    if (status == KITH_OK)
        status = kith_session_explain(&out->why, a->session, &out->question, &ask, error);
    if (status != KITH_OK)
        release_explained(out);
    return status;
}

void release_explained(explained *e)
{
    kith_explanation_free(e->why);
    kith_verdict_free(e->verdict);
    e->why = NULL;
    e->verdict = NULL;
}

void print_explained(const explained *e, const kith_graph *graph)
{
    if (e->verdict) {
        print_verdict(e->verdict, &e->question, graph);
        print_against(e->verdict, e->why, &e->question, graph);
    } else {
        print_answers(e->why->answers, &e->question, graph);
    }
    print_explanation(e->why, &e->question, graph);
}

json_t *explained_json(const explained *e, const kith_graph *graph)
{
    json_t *object = json_pack("{so so}", "query", question_json(&e->question), "answers",
                               answers_json(e->why->answers, &e->question, graph));

    if (object && e->verdict)
        json_object_update_new(object, verdict_json(e->verdict));
    if (object)
        explanation_json(object, e->why, graph);
    return object;
}
