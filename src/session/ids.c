/* Questions and facts by ids of the model's graph instead of names. */
#include "core/mem.h"
#include "graph/graph.h"
#include "session/session.h"

/* Whether an id is below `count`, or stands for the unknown side. */
static bool exists(uint32_t id, uint32_t count)
{
    return id < count || id == UINT32_MAX;
}

static bool exist(const kith_graph *g, kith_triple ids)
{
    return exists(ids.subject, g->entities.count) && exists(ids.object, g->entities.count) &&
           exists(ids.relation, g->relations.count);
}

static kith_status wrong_ids(kith_triple ids, kith_error *error)
{
    return kith__fail(error, KITH_ERR_NOT_FOUND,
                      "the graph has not all ids of the question %u, %u, %u", ids.subject,
                      ids.relation, ids.object);
}

static kith_question names_of(const kith_graph *g, kith_triple ids)
{
    return (kith_question){kith_graph_entity_name(g, ids.subject),
                           kith_graph_relation_name(g, ids.relation),
                           kith_graph_entity_name(g, ids.object)};
}

kith_status kith_session_ask_ids(kith_answers **answers, kith_session *s, kith_triple question,
                                 const kith_ask_options *options, kith_error *error)
{
    if (!answers || !s)
        return kith__null_argument(error, __func__);

    const kith_graph *g = s->model->graph;
    const kith_question named = names_of(g, question);

    return exist(g, question) ? kith_session_ask(answers, s, &named, options, error)
                              : wrong_ids(question, error);
}

/* ---- batches ---- */

/* The names for each question, to be freed. A question with an id that does not exist has no names,
 * so it fails, and tell_wrong_ids gives the reason. */
static kith_status name_all(kith_question **named, const kith_graph *g, const kith_triple *ids,
                            size_t count, kith_error *error)
{
    if (count >= UINT32_MAX)
        return kith__fail(error, KITH_ERR_ARGUMENT, "found %zu questions, expected fewer than 2^32",
                          count);
    *named = kith__alloc(count, sizeof **named);
    for (size_t i = 0; *named && i < count; i++)
        (*named)[i] = exist(g, ids[i]) ? names_of(g, ids[i]) : (kith_question){0};
    return *named ? KITH_OK : kith__no_memory(error);
}

static void tell_wrong_ids(const kith_error *const *errors, const kith_graph *g,
                           const kith_triple *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!exist(g, ids[i]))
            wrong_ids(ids[i], (kith_error *)(uintptr_t)errors[i]);
}

kith_status kith_session_ask_all_ids(kith_answers_batch **batch, kith_session *s,
                                     const kith_triple *questions, size_t count,
                                     const kith_ask_options *options, kith_error *error)
{
    if (!batch || !s || (count > 0 && !questions))
        return kith__null_argument(error, __func__);

    const kith_graph *g = s->model->graph;
    kith_question *named = NULL;
    kith_status status = name_all(&named, g, questions, count, error);

    if (status == KITH_OK)
        status = kith_session_ask_all(batch, s, named, count, options, error);
    if (status == KITH_OK)
        tell_wrong_ids((*batch)->errors, g, questions, count);
    kith__free(named);
    return status;
}

kith_status kith_session_judge_all_ids(kith_verdicts **verdicts, kith_session *s,
                                       const kith_triple *facts, size_t count,
                                       const kith_ask_options *options, kith_error *error)
{
    if (!verdicts || !s || (count > 0 && !facts))
        return kith__null_argument(error, __func__);

    const kith_graph *g = s->model->graph;
    kith_question *named = NULL;
    kith_status status = name_all(&named, g, facts, count, error);

    if (status == KITH_OK)
        status = kith_session_judge_all(verdicts, s, named, count, options, error);
    if (status == KITH_OK)
        tell_wrong_ids((*verdicts)->errors, g, facts, count);
    kith__free(named);
    return status;
}
