#include "rules/evidence.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* Bounds on what one fact of s may cost, so that hubs do not stall a query. Beyond them lists are
 * thinned out evenly. */
enum {
    MOST_FITTING = 1 << 22,
    MOST_FELLOWS = 256,
    MOST_LOCAL = 256,
    MOST_STEPS = 512,
    MOST_KNOWN = 32,
    MOST_SHARING = 256
};

kith_status kith__evidence_new(kith__evidence **out, const kith_graph *graph, kith__pool *pool,
                               kith_error *error)
{
    kith__evidence *e = kith__calloc(1, sizeof *e);
    kith_status status;

    if (!e)
        return kith__no_memory(error);
    TRY(kith__index_new(&e->index, graph, pool, error));
    TRY(kith__mine_pairs(&e->pairs, e->index, pool, error));
    TRY(kith__mine_paths(&e->paths, e->index, pool, error));
    *out = e;
    e = NULL;
cleanup:
    kith__evidence_free(e);
    return status;
}

void kith__evidence_free(kith__evidence *e)
{
    if (!e)
        return;
    kith__index_free(e->index);
    kith__rules_release(&e->pairs);
    kith__rules_release(&e->paths);
    kith__free(e);
}

kith_status kith__evidence_query_init(kith__evidence_query *a, const kith__evidence *evidence,
                                      kith_error *error)
{
    const kith__index *x = evidence->index;

    *a = (kith__evidence_query){.evidence = evidence, .query = UINT32_MAX};
    a->pair_confidence = kith__calloc(x->relations, sizeof *a->pair_confidence);
    a->answers_at = kith__calloc(x->entities, sizeof *a->answers_at);
    a->answered = kith__calloc(x->entities, sizeof *a->answered);
    a->row_of = kith__calloc(x->entities, sizeof *a->row_of);
    a->tally = kith__calloc(x->entities, sizeof *a->tally);
    a->fits = kith__calloc(x->entities, sizeof *a->fits);
    a->type_score_all = kith__calloc(x->entities, sizeof *a->type_score_all);
    a->together = kith__calloc(x->relations, sizeof *a->together);
    a->met = kith__alloc(x->relations, sizeof *a->met);
    a->speaks = kith__calloc(x->relations, sizeof *a->speaks);
    if (!a->fits || !a->type_score_all || !a->together || !a->met || !a->speaks ||
        !a->pair_confidence || !a->answers_at || !a->answered || !a->row_of || !a->tally)
        return kith__no_memory(error);
    return kith__proximity_init(&a->proximity, x, error);
}

void kith__evidence_query_release(kith__evidence_query *a)
{
    kith__proximity_release(&a->proximity);
    kith__free(a->pair_confidence);
    kith__free(a->answers_at);
    kith__free(a->answered);
    kith__free(a->fits);
    kith__free(a->type_score_all);
    kith__free(a->together);
    kith__free(a->met);
    kith__free(a->speaks);
    kith__free(a->row_of);
    kith__free(a->rows);
    kith__free(a->tally);
    kith__free(a->tallied);
    kith__free(a->shared);
    memset(a, 0, sizeof *a);
}

/* ---- what queries with the same relation share ---- */

static void each_owner(kith__evidence_query *a, uint32_t query, bool set)
{
    const kith__index *x = a->evidence->index;

    for (uint32_t e = x->seen; a->unseen && e < x->entities; e++)
        a->answered[e] = set ? (uint32_t)kith__reached(x, e, kith__inverse(x, query)).count : 0;

    for (uint64_t i = x->owner_offset[query]; i < x->owner_offset[query + 1]; i++) {
        kith__span answers = kith__reached(x, x->owner[i], query);
        a->answers_at[x->owner[i]] = set ? (uint64_t)(answers.at - x->at) + 1 : 0;
        for (size_t k = 0; k < answers.count; k++)
            a->answered[answers.at[k].entity] = set ? a->answered[answers.at[k].entity] + 1 : 0;
    }
}

/* How many of the answers have each relation; returns how many relations there are in `met`. */
static size_t count_together(kith__evidence_query *a, uint32_t answering)
{
    const kith__index *x = a->evidence->index;
    size_t count = 0;

    for (uint64_t i = x->owner_offset[answering]; i < x->owner_offset[answering + 1]; i++) {
        kith__span facts = kith__facts_of(x, x->owner[i]);
        for (size_t k = 0; k < facts.count; k++) {
            uint32_t r = facts.at[k].relation;
            if (r == answering || (k > 0 && facts.at[k - 1].relation == r))
                continue;
            if (a->together[r]++ == 0)
                a->met[count++] = r;
        }
    }
    return count;
}

/* The same for unseen entities, by their own facts. */
static void fit_unseen(kith__evidence_query *a)
{
    const kith__index *x = a->evidence->index;

    for (uint32_t e = x->seen; e < x->entities; e++) {
        kith__span facts = kith__facts_of(x, e);
        for (size_t k = 0; k < facts.count; k++) {
            float confidence = a->speaks[facts.at[k].relation];
            if (confidence == 0 || (k > 0 && facts.at[k - 1].relation == facts.at[k].relation))
                continue;
            a->fits[e] = fmaxf(a->fits[e], logf(1 + 100 * confidence));
            a->type_score_all[e] += -logf(1 - (confidence < .999f ? confidence : .999f));
        }
    }
}

/* What speaks for an entity being an answer to anybody. Beyond MOST_FITTING looks the rest goes
 * without. */
static void find_fitting(kith__evidence_query *a, uint32_t query)
{
    const kith__index *x = a->evidence->index;
    size_t count = count_together(a, kith__inverse(x, query)), looks = 0;

    memset(a->fits, 0, x->entities * sizeof *a->fits);
    memset(a->type_score_all, 0, x->entities * sizeof *a->type_score_all);
    for (size_t m = 0; m < count; m++) {
        uint32_t r = a->met[m];
        uint64_t owners = x->owner_offset[r + 1] - x->owner_offset[r];
        float confidence = kith__shrunk(a->together[r], (double)owners);
        a->together[r] = 0;
        if (confidence < .01f || (looks += (size_t)owners) > MOST_FITTING)
            continue;
        float adds = -logf(1 - (confidence < .999f ? confidence : .999f));
        a->speaks[r] = confidence;
        confidence = logf(1 + 100 * confidence);
        for (uint64_t i = x->owner_offset[r]; i < x->owner_offset[r + 1]; i++) {
            if (confidence > a->fits[x->owner[i]])
                a->fits[x->owner[i]] = confidence;
            a->type_score_all[x->owner[i]] += adds;
        }
    }
    if (a->unseen)
        fit_unseen(a);
    for (size_t m = 0; m < count; m++)
        a->speaks[a->met[m]] = 0;
    for (uint32_t e = 0; e < (a->unseen ? x->entities : x->seen); e++)
        if (a->type_score_all[e] > 0)
            a->type_score_all[e] = logf(1 + a->type_score_all[e]);
}

static void set_query(kith__evidence_query *a, uint32_t query)
{
    const kith__rules *pairs = &a->evidence->pairs;

    if (query == a->query && a->unseen == a->proximity.through)
        return;
    if (a->query != UINT32_MAX) {
        for (uint64_t i = pairs->offset[a->query]; i < pairs->offset[a->query + 1]; i++)
            a->pair_confidence[pairs->at[i].first] = 0;
        each_owner(a, a->query, false);
    }
    a->query = query;
    a->unseen = a->proximity.through;
    for (uint64_t i = pairs->offset[query]; i < pairs->offset[query + 1]; i++)
        a->pair_confidence[pairs->at[i].first] = pairs->at[i].confidence;
    each_owner(a, query, true);
    find_fitting(a, query);
}

/* The answers of a seen entity to the query relation at hand. */
static kith__span answers_of(const kith__evidence_query *a, uint32_t entity)
{
    const kith__index *x = a->evidence->index;
    kith__span found = {NULL, 0};

    if (entity >= x->seen || a->answers_at[entity] == 0)
        return found;
    uint64_t at = a->answers_at[entity] - 1;
    found.at = x->at + at;
    for (; at < x->offset[entity + 1] && x->at[at].relation == a->query; at++)
        found.count++;
    return found;
}

/* ---- rows ---- */

static float *row_for(kith__evidence_query *a, uint32_t entity)
{
    if (a->row_of[entity] == 0) {
        if (kith__reserve(&a->rows, &a->capacity, a->count + 1, sizeof *a->rows)) {
            a->no_memory = 1;
            return NULL;
        }
        a->rows[a->count] = (kith__candidate_evidence){.entity = entity};
        a->row_of[entity] = (uint32_t)++a->count;
    }
    return a->rows[a->row_of[entity] - 1].figure;
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

static void tell(const kith__evidence_query *a, kith__reason reason)
{
    if (a->tell)
        a->tell(a->context, &reason);
}

/* ---- A: the same two entities ---- */

/* How often r(., o) comes with q(., o), among those that have some q. Loops of q's inverse are the same
 * facts as q's. */
static void count_at_object(uint32_t *support, uint32_t *body_count, const kith__evidence_query *a,
                            uint32_t o, uint32_t relation, uint32_t self)
{
    const kith__index *x = a->evidence->index;
    kith__span facts = kith__facts_of(x, o);
    kith__span with = kith__span_of(facts, kith__inverse(x, relation));
    kith__span right = kith__span_of(facts, kith__inverse(x, a->query));
    size_t taken = with.count < MOST_LOCAL ? with.count : MOST_LOCAL;

    for (size_t i = 0; i < taken; i++) {
        uint32_t s = with.at[taken == with.count ? i : i * with.count / taken].entity;
        if (s == self || s >= x->seen || a->answers_at[s] == 0 ||
            (s == o && relation == kith__inverse(x, a->query)))
            continue;
        ++*body_count;
        *support += (uint32_t)kith__span_has(right, s);
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
        float *figure = row_for(a, at[i].entity);
        if (figure)
            figure[KITH__A_LINKS]++;
    }
}

/* With the rule's own counts, which say more to a person than those around here. */
static void tell_pair(const kith__evidence_query *a, uint32_t relation, uint32_t candidate,
                      float confidence)
{
    const kith__rules *pairs = &a->evidence->pairs;
    uint64_t low = pairs->offset[a->query], high = pairs->offset[a->query + 1];

    if (!a->tell)
        return;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (pairs->at[middle].first < relation)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < pairs->offset[a->query + 1] && pairs->at[low].first == relation)
        tell(a, (kith__reason){KITH_PART_DIRECT, relation, KITH__NO_RELATION, UINT32_MAX, candidate,
                               confidence, pairs->at[low].support, pairs->at[low].body_count});
}

static void ask_pairs(kith__evidence_query *a, kith__span facts, kith__span known, uint32_t self)
{
    for (size_t from = 0, to; from < facts.count; from = to) {
        uint32_t r = facts.at[from].relation, hits_here = 0, bodies_here = 0;
        float mined = a->pair_confidence[r];
        for (to = from; to < facts.count && facts.at[to].relation == r; to++)
            ;
        if (r == a->query)
            continue;
        count_links(a, facts.at + from, to - from);
        if (mined == 0)
            continue;
        bool inverse = r == kith__inverse(a->evidence->index, a->query);
        count_at_subject(&hits_here, &bodies_here, (kith__span){facts.at + from, to - from}, known,
                         inverse ? self : UINT32_MAX);
        for (size_t i = from; i < to; i++) {
            uint32_t o = facts.at[i].entity, support = hits_here, body_count = bodies_here;
            if (inverse && o == self)
                continue;
            float *figure = row_for(a, o);
            if (!figure)
                return;
            /* The candidate at hand is neither right nor wrong yet. */
            if (body_count > 0 && !kith__span_has(known, o))
                body_count--;
            count_at_object(&support, &body_count, a, o, r, self);
            float local =
                (mined * KITH__SHRINK + (float)support) / (KITH__SHRINK + (float)body_count);
            add_confidence(&figure[KITH__A_BEST], NULL, &figure[KITH__A_ALL], local);
            if (mined > figure[KITH__A_GLOBAL])
                figure[KITH__A_GLOBAL] = mined;
            figure[KITH__A_COUNT]++;
            tell_pair(a, r, o, local);
        }
    }
}

/* ---- B: two steps ---- */

static void walk(kith__evidence_query *a, const kith__rule *rule, uint32_t x, uint32_t self)
{
    kith__span ends = kith__reached(a->evidence->index, x, rule->second);
    size_t taken = ends.count < MOST_STEPS ? ends.count : MOST_STEPS;

    for (size_t i = 0; i < taken; i++) {
        uint32_t o = ends.at[taken == ends.count ? i : i * ends.count / taken].entity;
        float *figure = o == self || o == x ? NULL : row_for(a, o);
        if (!figure)
            continue;
        add_confidence(&figure[KITH__B_BEST], NULL, &figure[KITH__B_ALL], rule->confidence);
        figure[KITH__B_COUNT]++;
        tell(a, (kith__reason){KITH_PART_PATH, rule->first, rule->second, x, o, rule->confidence,
                               rule->support, rule->body_count});
    }
}

static void ask_paths(kith__evidence_query *a, kith__span facts, uint32_t self)
{
    const kith__rules *paths = &a->evidence->paths;

    for (uint64_t i = paths->offset[a->query]; i < paths->offset[a->query + 1]; i++) {
        kith__span first = kith__span_of(facts, paths->at[i].first);
        for (size_t k = 0; k < first.count && !a->no_memory; k++)
            if (first.at[k].entity != self)
                walk(a, &paths->at[i], first.at[k].entity, self);
    }
}

/* ---- C: constants ---- */

static void tally(kith__evidence_query *a, uint32_t entity)
{
    if (a->tally[entity]++ == 0) {
        if (kith__reserve(&a->tallied, &a->tallied_capacity, a->tallied_count + 1,
                          sizeof *a->tallied)) {
            a->no_memory = 1;
            a->tally[entity] = 0;
            return;
        }
        a->tallied[a->tallied_count++] = entity;
    }
}

static void ask_constant(kith__evidence_query *a, kith_neighbor fact, uint32_t self)
{
    const kith__index *x = a->evidence->index;
    kith__span fellows = kith__reached(x, fact.entity, kith__inverse(x, fact.relation));
    size_t taken = fellows.count < MOST_FELLOWS ? fellows.count : MOST_FELLOWS;
    uint32_t body_count = 0;

    for (size_t i = 0; i < taken; i++) {
        uint32_t s = fellows.at[taken == fellows.count ? i : i * fellows.count / taken].entity;
        kith__span answers = s == self ? (kith__span){NULL, 0} : answers_of(a, s);
        body_count += answers.count > 0;
        for (size_t k = 0; k < answers.count; k++)
            tally(a, answers.at[k].entity);
    }
    for (size_t i = 0; i < a->tallied_count; i++) {
        uint32_t o = a->tallied[i], support = a->tally[o];
        float confidence = kith__shrunk(support, body_count);
        float *figure = o == self ? NULL : row_for(a, o);
        a->tally[o] = 0;
        if (!figure)
            continue;
        add_confidence(&figure[KITH__C_BEST], &figure[KITH__C_SECOND], &figure[KITH__C_ALL],
                       confidence);
        figure[KITH__C_COUNT]++;
        tell(a, (kith__reason){KITH_PART_CONSTANT, fact.relation, KITH__NO_RELATION, fact.entity, o,
                               confidence, support, body_count});
    }
    a->tallied_count = 0;
}

/* ---- D: what the known answers have in common ---- */

static int by_fact(const void *a, const void *b)
{
    const kith_neighbor *x = a, *y = b;

    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    return x->entity < y->entity ? -1 : x->entity > y->entity;
}

/* All facts of the known answers, sorted; -1 where memory is short. */
static size_t gather_shared(kith__evidence_query *a, kith__span known, size_t taken)
{
    const kith__index *x = a->evidence->index;
    size_t count = 0;

    for (size_t i = 0; i < taken; i++) {
        kith__span facts =
            kith__facts_of(x, known.at[taken == known.count ? i : i * known.count / taken].entity);
        size_t some = facts.count < MOST_SHARING ? facts.count : MOST_SHARING;
        if (kith__reserve(&a->shared, &a->shared_capacity, count + some, sizeof *a->shared)) {
            a->no_memory = 1;
            return 0;
        }
        for (size_t k = 0; k < some; k++)
            a->shared[count++] = facts.at[some == facts.count ? k : k * facts.count / some];
    }
    if (count > 1)
        qsort(a->shared, count, sizeof *a->shared, by_fact);
    return count;
}

static void ask_shared(kith__evidence_query *a, kith_neighbor fact, uint32_t support, size_t known,
                       uint32_t self)
{
    const kith__index *x = a->evidence->index;
    kith__span having = kith__reached(x, fact.entity, kith__inverse(x, fact.relation));
    float confidence = kith__shrunk(support, (double)having.count);
    float share = (float)support / ((float)known + 1);

    if (having.count > MOST_SHARING || having.count <= support)
        return;
    for (size_t i = 0; i < having.count; i++) {
        uint32_t o = having.at[i].entity;
        float *figure = o == self ? NULL : row_for(a, o);
        if (!figure)
            continue;
        if (confidence > figure[KITH__D_BEST])
            figure[KITH__D_BEST] = confidence;
        if (share > figure[KITH__D_SHARED])
            figure[KITH__D_SHARED] = share;
        figure[KITH__D_SUM] += confidence;
        tell(a, (kith__reason){KITH_PART_SHARED, fact.relation, KITH__NO_RELATION, fact.entity, o,
                               confidence, support, (uint32_t)having.count});
    }
}

static void ask_known(kith__evidence_query *a, kith__span known, uint32_t self)
{
    size_t taken = known.count < MOST_KNOWN ? known.count : MOST_KNOWN;
    size_t count = gather_shared(a, known, taken);

    for (size_t from = 0, to; from < count && !a->no_memory; from = to) {
        for (to = from; to < count && by_fact(&a->shared[from], &a->shared[to]) == 0; to++)
            ;
        /* Having q from s itself is what is asked. */
        if (a->shared[from].entity == self)
            continue;
        if (to - from > 1 || taken < 3)
            ask_shared(a, a->shared[from], (uint32_t)(to - from), taken, self);
    }
}

/* ---- all ---- */

static void close_rows(kith__evidence_query *a)
{
    for (size_t i = 0; i < a->count; i++) {
        float *f = a->rows[i].figure;
        f[KITH__A_ALL] = 1 - expf(-f[KITH__A_ALL]);
        f[KITH__B_ALL] = 1 - expf(-f[KITH__B_ALL]);
        f[KITH__C_ALL] = 1 - expf(-f[KITH__C_ALL]);
    }
}

kith_status kith__evidence_query_run(kith__evidence_query *a, kith__span facts, uint32_t self,
                                     uint32_t query, kith_error *error)
{
    for (size_t i = 0; i < a->count; i++)
        a->row_of[a->rows[i].entity] = 0;
    a->count = 0;
    a->no_memory = 0;
    set_query(a, query);
    kith__span known = kith__span_of(facts, query);
    a->known = known.count;
    ask_pairs(a, facts, known, self);
    ask_paths(a, facts, self);
    for (size_t i = 0; i < facts.count && !a->no_memory; i++)
        ask_constant(a, facts.at[i], self);
    ask_known(a, known, self);
    kith__proximity_find(&a->proximity, facts, self);
    close_rows(a);
    return a->no_memory ? kith__no_memory(error) : KITH_OK;
}
