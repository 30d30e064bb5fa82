#include "report/cases.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "report/document.h"

typedef struct sampling {
    const kith_graph *graph;
    double min_facts, max_facts;
    bool labels; /* only entities with a label */
} sampling;

static double number_or(const json_t *object, const char *key, double otherwise)
{
    double found = number_of(object, key);
    return isfinite(found) ? found : otherwise;
}

static bool is_unseen(const kith_graph *graph, uint32_t entity)
{
    return entity >= kith_graph_seen_entity_count(graph);
}

/* Whether the query hides the subject: only the object is unseen. */
static bool asks_for_subject(const kith_graph *graph, const kith_triple *fact)
{
    return is_unseen(graph, fact->object) && !is_unseen(graph, fact->subject);
}

static bool has_label(const kith_graph *graph, uint32_t entity)
{
    return strcmp(kith_graph_entity_name(graph, entity), kith_graph_entity_label(graph, entity)) !=
           0;
}

static bool is_suitable(const sampling *s, const kith_triple *fact)
{
    bool subject = asks_for_subject(s->graph, fact);
    uint32_t known = subject ? fact->object : fact->subject;
    uint32_t hidden = subject ? fact->subject : fact->object;
    kith_neighborhoods hood = kith_graph_neighborhoods(s->graph);
    double facts = (double)(hood.offset[known + 1] - hood.offset[known]);

    return facts >= s->min_facts && facts <= s->max_facts && !is_unseen(s->graph, hidden) &&
           fact->relation < kith_graph_seen_relation_count(s->graph) &&
           (!s->labels || (has_label(s->graph, known) && has_label(s->graph, hidden)));
}

/* ---- questions ---- */

static json_t *name_or_null(const char *name)
{
    return name ? safe_string(name) : json_null();
}

static json_t *question(const char *subject, const char *relation, const char *object)
{
    return json_pack("{so so so so s[] s[]}", "subject", name_or_null(subject), "relation",
                     name_or_null(relation), "object", name_or_null(object), "text",
                     format_string("%s\t%s\t%s", subject ? subject : "?", relation ? relation : "?",
                                   object ? object : "?"),
                     "answers", "ranked");
}

/* Add an answer of test, and the fact whose verdict tells its rank: only seen entities are
 * candidates, and a few ranks suffice. */
static void add_answer(json_t *query, const kith_graph *graph, const kith_triple *f,
                       uint32_t answer)
{
    enum { MOST_RANKED = 5 };
    const char *name = kith_graph_entity_name(graph, answer);
    json_t *ranked = json_object_get(query, "ranked");

    json_array_append_new(json_object_get(query, "answers"), safe_string(name));
    if (is_unseen(graph, answer) || json_array_size(ranked) == MOST_RANKED)
        return;
    json_array_append_new(
        ranked, json_pack("{so so}", "answer", safe_string(name), "text",
                          format_string("%s\t%s\t%s", kith_graph_entity_name(graph, f->subject),
                                        kith_graph_relation_name(graph, f->relation),
                                        kith_graph_entity_name(graph, f->object))));
}

/* Add the answers that test has. */
static void add_answers(json_t *query, const kith_graph *graph)
{
    kith_facts test = kith_graph_facts(graph, KITH_TEST);
    const char *subject = json_string_value(json_object_get(query, "subject"));
    const char *relation = text_of(query, "relation");
    const char *known = subject ? subject : text_of(query, "object");

    for (size_t i = 0; i < test.count; i++) {
        const kith_triple *f = &test.at[i];
        uint32_t side = subject ? f->subject : f->object, answer = subject ? f->object : f->subject;
        if ((!test.truth || test.truth[i] == 1) &&
            strcmp(kith_graph_entity_name(graph, side), known) == 0 &&
            strcmp(kith_graph_relation_name(graph, f->relation), relation) == 0)
            add_answer(query, graph, f, answer);
    }
}

static json_t *question_of(const kith_graph *graph, const kith_triple *fact)
{
    bool subject = asks_for_subject(graph, fact);
    return question(subject ? NULL : kith_graph_entity_name(graph, fact->subject),
                    kith_graph_relation_name(graph, fact->relation),
                    subject ? kith_graph_entity_name(graph, fact->object) : NULL);
}

/* Whether no earlier question has the same relation and entity. */
static bool is_new(const json_t *questions, const kith_graph *graph, const kith_triple *fact)
{
    json_t *one = question_of(graph, fact), *other;
    bool found = false;
    size_t i;

    json_array_foreach(questions, i, other)
        found |= json_equal(json_object_get(one, "relation"), json_object_get(other, "relation")) ||
                 (json_equal(json_object_get(one, "subject"), json_object_get(other, "subject")) &&
                  json_equal(json_object_get(one, "object"), json_object_get(other, "object")));
    json_decref(one);
    return !found;
}

static kith_status draw(json_t *questions, const sampling *s, double count, double seed,
                        kith_error *error)
{
    kith_facts test = kith_graph_facts(s->graph, KITH_TEST);
    uint32_t *order = kith__alloc(test.count, sizeof *order);
    kith__rng rng;

    if (!order)
        return kith__no_memory(error);
    kith__rng_init(&rng, (uint64_t)seed, 0);
    kith__rng_order(&rng, order, test.count);
    for (size_t i = 0; i < test.count && (double)json_array_size(questions) < count; i++) {
        const kith_triple *fact = &test.at[order[i]];
        if ((!test.truth || test.truth[order[i]] == 1) && is_suitable(s, fact) &&
            is_new(questions, s->graph, fact))
            json_array_append_new(questions, question_of(s->graph, fact));
    }
    kith__free(order);
    return KITH_OK;
}

static kith_status sample(json_t *questions, const kith_graph *graph, const json_t *wanted,
                          kith_error *error)
{
    sampling s = {graph, number_or(wanted, "min_facts", 3), number_or(wanted, "max_facts", 20),
                  true};
    double count = number_or(wanted, "count", 6), seed = number_or(wanted, "seed", 1);
    kith_status status = draw(questions, &s, count, seed, error);

    s.labels = false; /* too few entities have labels */
    if (status == KITH_OK && (double)json_array_size(questions) < count)
        status = draw(questions, &s, count, seed, error);
    s.min_facts = 1;
    if (status == KITH_OK && json_array_size(questions) == 0)
        status = draw(questions, &s, count, seed, error);
    return status;
}

kith_status cases_sample(json_t **out, const char *source, const json_t *wanted, unsigned threads,
                         kith_error *error)
{
    const kith_open_options options = {.threads = threads};
    const json_t *given = json_object_get(wanted, "questions"), *one;
    json_t *questions = json_array(), *query;
    kith_graph *graph;
    kith_status status = kith_graph_open(&graph, source, &options, error);
    size_t i;

    if (status != KITH_OK) {
        json_decref(questions);
        return status;
    }
    json_array_foreach(given, i, one)
        json_array_append_new(questions, question(json_string_value(json_array_get(one, 0)),
                                                  json_string_value(json_array_get(one, 1)),
                                                  json_string_value(json_array_get(one, 2))));
    if (!given)
        status = sample(questions, graph, wanted, error);
    json_array_foreach(questions, i, query)
        add_answers(query, graph);
    if (status == KITH_OK && json_array_size(questions) == 0)
        status = kith__fail(error, KITH_ERR_INPUT, "%s: found no test fact to sample", source);
    kith_graph_free(graph);
    if (status == KITH_OK)
        *out = questions;
    else
        json_decref(questions);
    return status;
}
