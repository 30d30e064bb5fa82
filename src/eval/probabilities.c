/* kith_evaluate_probabilities: newcomers with a share of their facts hidden, asked about in a session. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/options.h"
#include "core/rng.h"
#include "core/stages.h"
#include "graph/graph.h"
#include "model/model.h"

enum { BEST = 10, BINS = 10 };

/* A fact of a newcomer, and whether it is hidden. */
typedef struct {
    kith_triple fact;
    bool hidden;
} held_fact;

/* What the caller sees, and what it points to: the tables of relations and of pairs. */
typedef struct {
    kith_probability_eval shown;
    kith_probability_table table[2];
    kith_reliability bins[2][BINS];
    const kith_reliability *list[2][BINS];
} result;

typedef struct {
    kith_model *model;
    const kith_graph *graph;
    kith__rng rng;
    held_fact *facts; /* of the entity at hand */
    size_t count, capacity;
    result *out;
    double log_loss[2];
    kith_session *session;
    const char *name; /* of the newcomer in it */
} measuring;

/* ---- tables ---- */

enum { RELATIONS, PAIRS };

static void add_answer(measuring *m, int table, double p, bool right)
{
    kith_probability_table *t = &m->out->table[table];
    size_t row = (size_t)(p * BINS);
    kith_reliability *bin = &m->out->bins[table][row < BINS ? row : BINS - 1];
    double bounded = fmin(fmax(p, 1e-6), 1 - 1e-6);

    bin->answers++;
    bin->probability += p;
    bin->right += right;
    t->answers++;
    t->right += right;
    t->given_half += p >= .5;
    t->given_half_right += p >= .5 && right;
    m->log_loss[table] -= log(right ? bounded : 1 - bounded);
}

static void sum_up(measuring *m, int table)
{
    kith_probability_table *t = &m->out->table[table];
    double rate = t->answers ? (double)t->right / (double)t->answers : 0;

    for (int i = 0; i < BINS; i++) {
        kith_reliability *bin = &m->out->bins[table][i];
        m->out->list[table][i] = bin;
        t->calibration_error += fabs(bin->probability - bin->right);
        if (bin->answers > 0) {
            bin->probability /= (double)bin->answers;
            bin->right /= (double)bin->answers;
        }
    }
    t->bins = m->out->list[table];
    t->bin_count = BINS;
    if (t->answers == 0)
        return;
    t->calibration_error /= (double)t->answers;
    t->log_loss = m->log_loss[table] / (double)t->answers;
    if (rate > 0 && rate < 1)
        t->base_rate_log_loss = -rate * log(rate) - (1 - rate) * log(1 - rate);
}

/* ---- newcomers ---- */

static int add_fact(measuring *m, kith_triple t)
{
    if (kith__reserve(&m->facts, &m->capacity, m->count + 1, sizeof *m->facts))
        return -1;
    m->facts[m->count++] = (held_fact){t, false};
    return 0;
}

/* True facts of aux and test that link the entity to a seen one by a relation of train. */
static int gather(measuring *m, uint32_t entity)
{
    static const kith_split from[] = {KITH_AUX, KITH_TEST};
    const kith_graph *g = m->graph;

    m->count = 0;
    for (int i = 0; i < 2; i++) {
        kith_facts facts = kith_graph_facts(g, from[i]);
        for (size_t k = 0; k < facts.count; k++) {
            kith_triple t = facts.at[k];
            uint32_t other = t.subject == entity ? t.object : t.subject;
            if ((t.subject != entity && t.object != entity) || other >= g->seen_entities ||
                t.relation >= g->seen_relations || (facts.truth && facts.truth[k] == 0))
                continue;
            if (add_fact(m, t))
                return -1;
        }
    }
    return 0;
}

static void hide(measuring *m)
{
    double share = .1 + .8 * kith__rng_unit(&m->rng);
    size_t kept = 0;

    for (size_t i = 0; i < m->count; i++) {
        m->facts[i].hidden = kith__rng_unit(&m->rng) < share;
        kept += !m->facts[i].hidden;
    }
    if (kept == 0)
        m->facts[kith__rng_below(&m->rng, m->count)].hidden = false;
}

static kith_status describe(measuring *m, uint32_t entity, kith_error *error)
{
    const kith_graph *g = m->graph;
    kith_status status = kith_session_new(&m->session, m->model, error);

    for (size_t i = 0; status == KITH_OK && i < m->count; i++) {
        kith_triple t = m->facts[i].fact;
        if (m->facts[i].hidden)
            continue;
        status = kith_session_add(
            NULL, m->session, t.subject == entity ? m->name : kith_graph_entity_name(g, t.subject),
            kith_graph_relation_name(g, t.relation),
            t.object == entity ? m->name : kith_graph_entity_name(g, t.object), error);
    }
    return status;
}

static bool is_hidden(const measuring *m, uint32_t relation, uint32_t answer, bool subject_asked)
{
    for (size_t i = 0; i < m->count; i++) {
        kith_triple t = m->facts[i].fact;
        if (m->facts[i].hidden && t.relation == relation &&
            (subject_asked ? t.subject : t.object) == answer)
            return true;
    }
    return false;
}

static kith_status ask(kith_answers **answers, const measuring *m, uint32_t relation,
                       bool subject_asked, kith_error *error)
{
    const char *name =
        relation == UINT32_MAX ? NULL : kith_graph_relation_name(m->graph, relation);
    kith_question question = {subject_asked ? NULL : m->name, name, subject_asked ? m->name : NULL};
    kith_ask_options options = {.top = BEST, .new_only = 1, .threads = 1};

    return kith_session_ask(answers, m->session, &question, &options, error);
}

/* ---- questions ---- */

static bool has_before(const measuring *m, uint32_t entity, size_t fact)
{
    kith_triple t = m->facts[fact].fact;

    for (size_t i = 0; i < fact; i++)
        if (m->facts[i].fact.relation == t.relation &&
            (m->facts[i].fact.subject == entity) == (t.subject == entity))
            return true;
    return false;
}

static kith_status ask_relations(measuring *m, uint32_t entity, kith_error *error)
{
    kith_status status = KITH_OK;

    for (size_t i = 0; status == KITH_OK && i < m->count; i++) {
        kith_triple t = m->facts[i].fact;
        bool subject_asked = t.subject != entity;
        kith_answers *answers = NULL;
        if (has_before(m, entity, i))
            continue;
        status = ask(&answers, m, t.relation, subject_asked, error);
        m->out->shown.queries++;
        for (size_t k = 0; answers && k < answers->count; k++)
            add_answer(m, RELATIONS, answers->at[k]->overall,
                       is_hidden(m, t.relation, answers->at[k]->entity, subject_asked));
        kith_answers_free(answers);
    }
    return status;
}

static kith_status ask_pairs(measuring *m, kith_error *error)
{
    kith_answers *side[2] = {NULL, NULL};
    size_t at[2] = {0, 0};
    kith_status status = KITH_OK;

    for (int s = 0; s < 2; s++)
        TRY(ask(&side[s], m, UINT32_MAX, s == 1, error));
    for (int n = 0; n < BEST && at[0] < side[0]->count + (at[1] < side[1]->count); n++) {
        bool second = at[0] >= side[0]->count ||
                      (at[1] < side[1]->count &&
                       side[1]->at[at[1]]->overall > side[0]->at[at[0]]->overall);
        if (at[second] >= side[second]->count)
            break;
        const kith_answer *a = side[second]->at[at[second]++];
        add_answer(m, PAIRS, a->overall,
                   is_hidden(m, a->relation, a->entity, second));
    }
cleanup:
    kith_answers_free(side[0]);
    kith_answers_free(side[1]);
    return status;
}

static kith_status measure(measuring *m, uint32_t entity, kith_error *error)
{
    kith_status status = KITH_OK;

    if (gather(m, entity))
        return kith__no_memory(error);
    if (m->count < 2)
        return KITH_OK;
    hide(m);
    TRY(describe(m, entity, error));
    TRY(ask_relations(m, entity, error));
    TRY(ask_pairs(m, error));
    m->out->shown.entities++;
cleanup:
    kith_session_free(m->session);
    m->session = NULL;
    return status;
}

/* A name that the graph lacks. */
static void choose_name(char name[32], const kith_graph *graph)
{
    uint32_t found;

    strcpy(name, "newcomer");
    while (kith_graph_find_entity(&found, graph, name) == KITH_OK && strlen(name) < 31)
        strcat(name, "'");
}

static kith_status check_model(const kith_model *model, kith_error *error)
{
    if (!model->has.fitted || !model->calibration.fitted)
        return kith__fail(error, KITH_ERR_ARGUMENT, "the model has no overall probabilities");
    if (model->graph->entities.count == model->graph->seen_entities)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the graph has no unseen entities to ask about");
    return KITH_OK;
}

static void shuffle_unseen(uint32_t *order, measuring *m)
{
    uint32_t unseen = m->graph->entities.count - m->graph->seen_entities;

    for (uint32_t i = 0; i < unseen; i++) {
        uint32_t other = (uint32_t)kith__rng_below(&m->rng, i + 1);
        order[i] = order[other];
        order[other] = m->graph->seen_entities + i;
    }
}

static kith_status measure_all(measuring *m, size_t entities, kith__watch *watch,
                               kith_error *error)
{
    uint32_t unseen = m->graph->entities.count - m->graph->seen_entities;
    uint32_t *order = kith__alloc(unseen, sizeof *order);
    size_t most = entities < unseen ? entities : unseen;
    kith_status status = KITH_OK;

    if (!order)
        TRY(kith__no_memory(error));
    shuffle_unseen(order, m);
    TRY(kith__watch_begin(watch, "querying unseen entities", most, error));
    for (uint32_t i = 0; i < unseen && m->out->shown.entities < entities; i++) {
        TRY(measure(m, order[i], error));
        if (kith__watch_tick(watch, m->out->shown.entities, most))
            TRY(kith__watch_status(watch, error));
    }
    sum_up(m, RELATIONS);
    sum_up(m, PAIRS);
    m->out->shown.relations = &m->out->table[RELATIONS];
    m->out->shown.pairs = &m->out->table[PAIRS];
cleanup:
    kith__free(order);
    return status;
}

void(kith_probability_options_init)(kith_probability_options *options, size_t size)
{
    const kith_probability_options defaults = {.entities = 1000, .seed = 1};

    kith__options_give(options, size, &defaults, sizeof defaults);
}

kith_status kith_evaluate_probabilities(kith_probability_eval **out, const kith_model *model,
                                        const kith_probability_options *given, kith_error *error)
{
    if (!out || !model)
        return kith__null_argument(error, __func__);

    measuring m = {.model = (kith_model *)model, .graph = model->graph};
    char name[32];
    kith_probability_options options;
    kith__watch watch;

    kith_probability_options_init(&options);
    kith_status status =
        kith__options_copy(&options, sizeof options, sizeof options, given, error);
    kith__watch_init(&watch, options.watch, options.context);
    TRY(status);
    TRY(check_model(model, error));
    choose_name(name, m.graph);
    m.name = name;
    kith__rng_init(&m.rng, options.seed, UINT64_C(1) << 46);
    m.out = kith__calloc(1, sizeof *m.out);
    if (!m.out)
        TRY(kith__no_memory(error));
    TRY(measure_all(&m, options.entities, &watch, error));
    *out = &m.out->shown;
    m.out = NULL;
cleanup:
    kith__free(m.out);
    kith__free(m.facts);
    kith__watch_release(&watch);
    return status;
}

void kith_probability_eval_free(kith_probability_eval *result_shown)
{
    kith__free(result_shown);
}
