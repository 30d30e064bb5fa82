#include "rules/evidence.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* Bounds on what one fact of s may cost, so that hubs do not stall a query. Beyond them lists are
 * thinned out evenly. */
enum {
    MOST_SUBJECTS = 256,
    MOST_LOCAL = 256,
    MOST_STEPS = 512,
    MOST_KNOWN = 32,
    MOST_SHARING = 256
};

kith_status kith__evidence_over(kith__evidence **out, const kith_graph *graph, bool with_aux,
                                kith__rule_set *rules, bool borrowed, kith__pool *pool,
                                kith_error *error)
{
    kith__evidence *e = kith__calloc(1, sizeof *e);
    kith_status status;

    if (!e)
        return kith__no_memory(error);
    e->borrowed = true; /* until nothing can fail any more */
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

/* The answers of an entity that may not be used unless rules may go on from it. */
static kith__spans answers_of(const kith__evidence_query *a, uint32_t entity)
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

static bool has_answers(const kith__evidence_query *a, uint32_t entity)
{
    if (a->view.added)
        return answers_of(a, entity).count > 0;
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

/* An array by slot, zero past those that there were. */
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

static float *row_for(kith__evidence_query *a, uint32_t entity)
{
    uint32_t slot = slot_for(a, entity);
    return slot == KITH__NO_SLOT ? NULL : row_of_slot(a, slot);
}

/* Best, second best and all of a kind. `all` is kept as -log(1 - all) while rules are added. */
static void add_confidence(float *best, float *second, float *all, float confidence)
{
    if (confidence > *best) {
        if (second)
            *second = *best;
        *best = confidence;
    } else if (second && confidence > *second) {
        *second = confidence;
    }
    *all += -logf(1 - (confidence < .999f ? confidence : .999f));
}

static void report(const kith__evidence_query *a, kith__reason reason)
{
    if (a->report)
        a->report(a->context, &reason);
}

/* ---- direct rules: facts between the same two entities ---- */

/* How often r(., o) comes with q(., o), among those that have some q. Loops of q's inverse are the same
 * facts as q's. */
static void count_at_object(uint32_t *support, uint32_t *body_count, const kith__evidence_query *a,
                            uint32_t o, uint32_t relation, uint32_t self)
{
    uint32_t inverse = kith__inverse(a->view.base, a->query);
    kith__spans facts = kith__view_facts(&a->view, o);
    kith__spans with = kith__spans_of(&facts, kith__inverse(a->view.base, relation));
    kith__spans right = kith__spans_of(&facts, inverse);
    size_t taken = with.count < MOST_LOCAL ? with.count : MOST_LOCAL;

    for (size_t i = 0; i < taken; i++) {
        uint32_t s = kith__spans_pick(&with, taken, i).entity;
        if (s == self || !has_answers(a, s) || (s == o && relation == inverse))
            continue;
        ++*body_count;
        *support += (uint32_t)kith__spans_has(&right, s);
    }
}

/* How often r(s, .) comes with q(s, .), but for one entity. */
static void count_at_subject(uint32_t *support, uint32_t *body_count, kith__span with,
                             kith__span known, uint32_t but)
{
    size_t k = 0;

    for (size_t i = 0; known.count > 0 && i < with.count; i++) {
        if (with.at[i].entity == but)
            continue;
        ++*body_count;
        while (k < known.count && known.at[k].entity < with.at[i].entity)
            k++;
        *support += k < known.count && known.at[k].entity == with.at[i].entity;
    }
}

static void count_links(kith__evidence_query *a, const kith_neighbor *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float *feature = row_for(a, at[i].entity);
        if (feature)
            feature[KITH__A_LINKS]++;
    }
}

/* With the rule's own counts, which say more to a person than those around here. */
static void report_direct(const kith__evidence_query *a, const kith__rule *rule, uint32_t candidate,
                          float confidence)
{
    report(a, (kith__reason){KITH_PART_DIRECT, rule->first, KITH__NO_RELATION, UINT32_MAX,
                             candidate, confidence, rule->support, rule->body_count});
}

static void find_direct(kith__evidence_query *a, kith__span facts, kith__span known, uint32_t self)
{
    for (size_t from = 0, to; from < facts.count; from = to) {
        uint32_t r = facts.at[from].relation, support_here = 0, body_count_here = 0;
        for (to = from; to < facts.count && facts.at[to].relation == r; to++)
            ;
        if (r == a->query)
            continue;
        count_links(a, facts.at + from, to - from);
        const kith__rule *rule = kith__rule_set_direct(a->evidence->rules, a->query, r);
        float mined = rule ? rule->confidence : 0;
        if (mined == 0)
            continue;
        bool inverse = r == kith__inverse(a->view.base, a->query);
        count_at_subject(&support_here, &body_count_here, (kith__span){facts.at + from, to - from},
                         known, inverse ? self : UINT32_MAX);
        for (size_t i = from; i < to; i++) {
            uint32_t o = facts.at[i].entity, support = support_here, body_count = body_count_here;
            if (inverse && o == self)
                continue;
            float *feature = row_for(a, o);
            if (!feature)
                return;
            /* The candidate at hand is neither right nor wrong yet. */
            if (body_count > 0 && !kith__span_has(known, o))
                body_count--;
            count_at_object(&support, &body_count, a, o, r, self);
            float local =
                (mined * KITH__SHRINK + (float)support) / (KITH__SHRINK + (float)body_count);
            add_confidence(&feature[KITH__A_BEST], NULL, &feature[KITH__A_ALL], local);
            if (mined > feature[KITH__A_GLOBAL])
                feature[KITH__A_GLOBAL] = mined;
            feature[KITH__A_COUNT]++;
            report_direct(a, rule, o, local);
        }
    }
}

/* ---- path rules: two steps ---- */

static void walk(kith__evidence_query *a, const kith__rule *rule, uint32_t x, uint32_t self)
{
    kith__spans ends = kith__view_reached(&a->view, x, rule->second);
    size_t taken = ends.count < MOST_STEPS ? ends.count : MOST_STEPS;

    for (size_t i = 0; i < taken; i++) {
        uint32_t o = kith__spans_pick(&ends, taken, i).entity;
        float *feature = o == self || o == x ? NULL : row_for(a, o);
        if (!feature)
            continue;
        add_confidence(&feature[KITH__B_BEST], NULL, &feature[KITH__B_ALL], rule->confidence);
        feature[KITH__B_COUNT]++;
        report(a, (kith__reason){KITH_PART_PATH, rule->first, rule->second, x, o, rule->confidence,
                                 rule->support, rule->body_count});
    }
}

static void find_paths(kith__evidence_query *a, kith__span facts, uint32_t self)
{
    const kith__rules *paths = &a->evidence->rules->paths;

    for (uint64_t i = paths->offset[a->query]; i < paths->offset[a->query + 1]; i++) {
        kith__span first = kith__span_of(facts, paths->at[i].first);
        for (size_t k = 0; k < first.count && !a->no_memory; k++)
            if (first.at[k].entity != self)
                walk(a, &paths->at[i], first.at[k].entity, self);
    }
}

/* ---- constant rules ---- */

static void tally(kith__evidence_query *a, uint32_t entity)
{
    uint32_t slot = slot_for(a, entity);

    if (slot != KITH__NO_SLOT && a->tally[slot]++ == 0)
        a->tallied[a->tallied_count++] = slot;
}

/* Returns how many of those that share a fact with s have some q, and tallies what it is. */
static uint32_t tally_answers(kith__evidence_query *a, kith_neighbor fact, uint32_t self)
{
    kith__spans sharing =
        kith__view_reached(&a->view, fact.entity, kith__inverse(a->view.base, fact.relation));
    size_t taken = sharing.count < MOST_SUBJECTS ? sharing.count : MOST_SUBJECTS;
    uint32_t body_count = 0;

    for (size_t i = 0; i < taken; i++) {
        uint32_t s = kith__spans_pick(&sharing, taken, i).entity;
        if (s == self)
            continue;
        kith__spans answers = answers_of(a, s);
        body_count += answers.count > 0;
        for (size_t k = 0; k < answers.count; k++)
            tally(a, kith__spans_at(&answers, k).entity);
    }
    return body_count;
}

static void find_constant(kith__evidence_query *a, kith_neighbor fact, uint32_t self)
{
    uint32_t body_count = tally_answers(a, fact, self);

    for (size_t i = 0; i < a->tallied_count; i++) {
        uint32_t slot = a->tallied[i], support = a->tally[slot],
                 o = kith__slot_entity(&a->slots, slot);
        float confidence = kith__shrunk(support, body_count);
        float *feature = o == self ? NULL : row_of_slot(a, slot);
        a->tally[slot] = 0;
        if (!feature)
            continue;
        add_confidence(&feature[KITH__C_BEST], &feature[KITH__C_SECOND], &feature[KITH__C_ALL],
                       confidence);
        feature[KITH__C_COUNT]++;
        report(a, (kith__reason){KITH_PART_CONSTANT, fact.relation, KITH__NO_RELATION, fact.entity,
                                 o, confidence, support, body_count});
    }
    a->tallied_count = 0;
}

/* ---- shared-answer rules: what the known answers have in common ---- */

static int by_fact(const void *a, const void *b)
{
    const kith_neighbor *x = a, *y = b;

    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    return x->entity < y->entity ? -1 : x->entity > y->entity;
}

/* Facts of the known answers, sorted; none if out of memory. */
static size_t gather_shared(kith__evidence_query *a, kith__span known, size_t taken)
{
    size_t count = 0;

    for (size_t i = 0; i < taken; i++) {
        size_t place = taken == known.count ? i : i * known.count / taken;
        kith__spans facts = kith__view_facts(&a->view, known.at[place].entity);
        size_t some = facts.count < MOST_SHARING ? facts.count : MOST_SHARING;
        if (kith__reserve(&a->shared, &a->shared_capacity, count + some, sizeof *a->shared)) {
            a->no_memory = 1;
            return 0;
        }
        for (size_t k = 0; k < some; k++)
            a->shared[count++] = kith__spans_pick(&facts, some, k);
    }
    if (count > 1)
        qsort(a->shared, count, sizeof *a->shared, by_fact);
    return count;
}

static void find_shared_by(kith__evidence_query *a, kith_neighbor fact, uint32_t support,
                           size_t known, uint32_t self)
{
    kith__spans having =
        kith__view_reached(&a->view, fact.entity, kith__inverse(a->view.base, fact.relation));
    float confidence = kith__shrunk(support, (double)having.count);
    float share = (float)support / ((float)known + 1);

    if (having.count > MOST_SHARING || having.count <= support)
        return;
    for (size_t i = 0; i < having.count; i++) {
        uint32_t o = kith__spans_at(&having, i).entity;
        float *feature = o == self ? NULL : row_for(a, o);
        if (!feature)
            continue;
        if (confidence > feature[KITH__D_BEST])
            feature[KITH__D_BEST] = confidence;
        if (share > feature[KITH__D_SHARED])
            feature[KITH__D_SHARED] = share;
        feature[KITH__D_SUM] += confidence;
        report(a, (kith__reason){KITH_PART_SHARED, fact.relation, KITH__NO_RELATION, fact.entity, o,
                                 confidence, support, (uint32_t)having.count});
    }
}

static void find_shared(kith__evidence_query *a, kith__span known, uint32_t self)
{
    size_t taken = known.count < MOST_KNOWN ? known.count : MOST_KNOWN;
    size_t count = gather_shared(a, known, taken);

    for (size_t from = 0, to; from < count && !a->no_memory; from = to) {
        for (to = from; to < count && by_fact(&a->shared[from], &a->shared[to]) == 0; to++)
            ;
        /* Having q from s itself is the query. */
        if (a->shared[from].entity == self)
            continue;
        if (to - from > 1 || taken < 3)
            find_shared_by(a, a->shared[from], (uint32_t)(to - from), taken, self);
    }
}

/* ---- the query ---- */

static void close_rows(kith__evidence_query *a)
{
    for (size_t i = 0; i < a->count; i++) {
        float *f = a->rows[i].feature;
        f[KITH__A_ALL] = 1 - expf(-f[KITH__A_ALL]);
        f[KITH__B_ALL] = 1 - expf(-f[KITH__B_ALL]);
        f[KITH__C_ALL] = 1 - expf(-f[KITH__C_ALL]);
    }
}

/* All that is by slot is 0 between queries. */
static void begin(kith__evidence_query *a)
{
    for (size_t i = 0; i < a->count; i++)
        a->row[kith__slot_find(&a->slots, a->rows[i].entity)] = 0;
    for (size_t i = 0; i < a->tallied_count; i++) /* if memory ran out */
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
    a->known = known.count;
    find_direct(a, facts, known, self);
    find_paths(a, facts, self);
    for (size_t i = 0; i < facts.count && !a->no_memory; i++)
        find_constant(a, facts.at[i], self);
    find_shared(a, known, self);
    TRY(kith__proximity_find(&a->proximity, facts, self, error));
    close_rows(a);
    if (a->no_memory)
        TRY(kith__no_memory(error));
cleanup:
    return status;
}
