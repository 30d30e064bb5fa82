#include "rules/evidence.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

kith_status kith__evidence_over(kith__evidence **out, const kith_graph *graph, bool with_aux,
                                kith__rule_set *rules, bool borrowed, kith__pool *pool,
                                kith_error *error)
{
    kith__evidence *e = kith__calloc(1, sizeof *e);
    kith_status status;

    if (!e)
        return kith__no_memory(error);
    e->borrowed = true; /* the caller keeps the rules if this fails */
    TRY(kith__fact_base_new(&e->base, graph, with_aux, pool, error));
    e->rules = rules;
    e->borrowed = borrowed;
    *out = e;
    e = NULL;
cleanup:
    kith__evidence_free(e);
    return status;
}

kith_status kith__evidence_new(kith__evidence **out, const kith_graph *graph, bool with_aux,
                               kith__pool *pool, kith_error *error)
{
    kith__evidence *e = NULL;
    kith__index *train = NULL;
    kith_status status;

    TRY(kith__evidence_over(&e, graph, with_aux, NULL, false, pool, error));
    if (e->base->index->seen > kith_graph_seen_entity_count(graph))
        TRY(kith__index_new(&train, graph, pool, error));
    TRY(kith__rule_set_new(&e->rules, train ? train : e->base->index, pool, error));
    *out = e;
    e = NULL;
cleanup:
    kith__index_free(train);
    kith__evidence_free(e);
    return status;
}

void kith__evidence_free(kith__evidence *e)
{
    if (!e)
        return;
    kith__fact_base_free(e->base);
    if (!e->borrowed)
        kith__rule_set_free(e->rules);
    kith__free(e);
}

void kith__evidence_query_init(kith__evidence_query *a, const kith__evidence *evidence,
                               const kith__overlay *added)
{
    kith__view view = {evidence->base->index, added};

    *a = (kith__evidence_query){.evidence = evidence, .view = view, .query = UINT32_MAX};
    kith__proximity_init(&a->proximity, view);
}

void kith__evidence_query_release(kith__evidence_query *a)
{
    if (a->evidence)
        kith__fact_base_give(a->evidence->base, a->table);
    kith__proximity_release(&a->proximity);
    kith__slots_release(&a->slots);
    kith__free(a->row);
    kith__free(a->tally);
    kith__free(a->rows);
    kith__free(a->tallied);
    kith__free(a->shared);
    memset(a, 0, sizeof *a);
}

/* ---- the relation ---- */

static kith_status set_query(kith__evidence_query *a, uint32_t query, kith_error *error)
{
    bool unseen = a->unseen || a->proximity.through;

    if (a->table && query == a->query && unseen == a->table->unseen)
        return KITH_OK;
    kith__fact_base_give(a->evidence->base, a->table);
    a->table = NULL;
    a->query = query;
    return kith__fact_base_take(&a->table, a->evidence->base, query, unseen, error);
}

kith__spans kith__evidence_answers(const kith__evidence_query *a, uint32_t entity)
{
    const kith__index *x = a->view.base;
    kith__spans found = {{NULL, 0}, {NULL, 0}, 0};

    if (a->view.added && kith__view_knows(&a->view, entity))
        return kith__view_reached(&a->view, entity, a->query);
    if (entity >= x->seen || a->table->answer_first[entity] == 0)
        return found;
    uint64_t at = x->offset[entity] + a->table->answer_first[entity] - 1;
    found.base.at = x->at + at;
    for (; at < x->offset[entity + 1] && x->at[at].relation == a->query; at++)
        found.count++;
    found.base.count = found.count;
    return found;
}

bool kith__evidence_has_answers(const kith__evidence_query *a, uint32_t entity)
{
    if (a->view.added)
        return kith__evidence_answers(a, entity).count > 0;
    return entity < a->view.base->seen && a->table->answer_first[entity] != 0;
}

void kith__evidence_type(float *best, float *all, const kith__evidence_query *a, uint32_t candidate)
{
    kith__spans facts = {{NULL, 0}, {NULL, 0}, 0};

    if (a->view.added)
        facts = kith__view_facts(&a->view, candidate);
    if (facts.added.count > 0 || candidate >= a->view.base->entities) {
        kith__type_scores(best, all, a->table, facts.base, facts.added);
        return;
    }
    *best = a->table->type_score[candidate];
    *all = a->table->type_score_all[candidate];
}

float kith__evidence_log_degree(const kith__evidence_query *a, uint32_t candidate)
{
    if (!a->view.added)
        return a->evidence->base->log_degree[candidate];
    return logf(1 + (float)kith__view_facts(&a->view, candidate).count);
}

/* ---- rows ---- */

/* Grow an array indexed by slot; new items are 0. */
static int widen(uint32_t **array, size_t *capacity, size_t need)
{
    size_t before = *capacity;

    if (kith__reserve(array, capacity, need, sizeof **array))
        return -1;
    memset(*array + before, 0, (*capacity - before) * sizeof **array);
    return 0;
}

static int reserve_slot(kith__evidence_query *a, size_t need)
{
    return kith__slots_reserve(&a->slots, 1) || widen(&a->row, &a->row_capacity, need) ||
           widen(&a->tally, &a->tally_capacity, need) ||
           kith__reserve(&a->tallied, &a->tallied_capacity, need, sizeof *a->tallied);
}

/* The slot of an entity; KITH__NO_SLOT if out of memory. */
static uint32_t slot_for(kith__evidence_query *a, uint32_t entity)
{
    size_t need = kith__slots_length(&a->slots, 1);

    if ((need > a->tallied_capacity || !kith__slots_fit(&a->slots, 1)) && reserve_slot(a, need)) {
        a->no_memory = 1;
        return KITH__NO_SLOT;
    }
    return kith__slot_add(&a->slots, entity);
}

static float *row_of_slot(kith__evidence_query *a, uint32_t slot)
{
    if (a->row[slot] == 0) {
        if (kith__reserve(&a->rows, &a->capacity, a->count + 1, sizeof *a->rows)) {
            a->no_memory = 1;
            return NULL;
        }
        a->rows[a->count] =
            (kith__candidate_evidence){.entity = kith__slot_entity(&a->slots, slot)};
        a->row[slot] = (uint32_t)++a->count;
    }
    return a->rows[a->row[slot] - 1].feature;
}

float *kith__evidence_row_for(kith__evidence_query *a, uint32_t entity)
{
    uint32_t slot = slot_for(a, entity);
    return slot == KITH__NO_SLOT ? NULL : row_of_slot(a, slot);
}

/* Update best, second best, noisy-or and count of a kind. The noisy-or is kept as -log(1 - p) while
 * rules are added. */
static void add_confidence(float *of_kind, float confidence)
{
    float *best = &of_kind[0], *second = &of_kind[1], *all = &of_kind[2], *count = &of_kind[3];

    if (confidence > *best) {
        *second = *best;
        *best = confidence;
    } else if (confidence > *second) {
        *second = confidence;
    }
    *all += -logf(1 - (confidence < .999f ? confidence : .999f));
    ++*count;
}

static void add_support(kith__evidence_query *a, float *row, const kith__reason *rule)
{
    if (!row)
        return;
    add_confidence(row + (size_t)KITH__FEATURES_OF_KIND * rule->kind, rule->confidence);
    kith__evidence_report(a, rule);
}

float *kith__evidence_support(kith__evidence_query *a, const kith__reason *rule)
{
    float *row = kith__evidence_row_for(a, rule->candidate);

    add_support(a, row, rule);
    return row;
}

/* ---- rules that count what entities have in common ---- */

void kith__evidence_tally(kith__evidence_query *a, uint32_t entity)
{
    uint32_t slot = slot_for(a, entity);

    if (slot != KITH__NO_SLOT && a->tally[slot]++ == 0)
        a->tallied[a->tallied_count++] = slot;
}

void kith__evidence_support_tallied(kith__evidence_query *a, kith__reason rule, uint32_t self)
{
    for (size_t i = 0; i < a->tallied_count; i++) {
        uint32_t slot = a->tallied[i];
        rule.candidate = kith__slot_entity(&a->slots, slot);
        rule.support = a->tally[slot];
        rule.confidence = kith__shrunk(rule.support, rule.body_count);
        a->tally[slot] = 0;
        if (rule.candidate != self)
            add_support(a, row_of_slot(a, slot), &rule);
    }
    a->tallied_count = 0;
}

/* ---- the query ---- */

static void close_rows(kith__evidence_query *a)
{
    for (size_t i = 0; i < a->count; i++) {
        float *f = a->rows[i].feature;
        for (size_t k = 0; k < KITH__RULE_KINDS; k++) {
            float *all = &f[k * KITH__FEATURES_OF_KIND + KITH__DIRECT_ALL];
            *all = *all > 0 ? 1 - expf(-*all) : 0;
        }
    }
}

/* Everything indexed by slot is 0 between queries. */
static void begin(kith__evidence_query *a)
{
    for (size_t i = 0; i < a->count; i++)
        a->row[kith__slot_find(&a->slots, a->rows[i].entity)] = 0;
    for (size_t i = 0; i < a->tallied_count; i++) /* only if the query ran out of memory */
        a->tally[a->tallied[i]] = 0;
    a->count = a->tallied_count = 0;
    a->no_memory = 0;
    a->proximity.view = a->view;
    kith__slots_begin(&a->slots, kith__view_entities(&a->view));
}

kith_status kith__evidence_query_run(kith__evidence_query *a, kith__span facts, uint32_t self,
                                     uint32_t relation, kith_error *error)
{
    kith_status status;

    begin(a);
    TRY(set_query(a, relation, error));
    kith__span known = kith__span_of(facts, relation);
    const kith__query_facts queried = {facts, known, self};
    a->known = known.count;
    for (size_t i = 0; i < KITH__RULE_KINDS && !a->no_memory; i++)
        kith__rule_kinds[i]->find(a, &queried);
    TRY(kith__proximity_find(&a->proximity, facts, self, error));
    close_rows(a);
    if (a->no_memory)
        TRY(kith__no_memory(error));
cleanup:
    return status;
}
