#include "rules/mine.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/flag.h"
#include "core/mem.h"
#include "rules/counter.h"

/* Work is cut in PIECES of the entities. What is counted is bounded: by MOST_KEYS different rules,
 * and by MOST_STEPS two-step paths, beyond which the neighbours in the middle of paths are thinned
 * out evenly. */
enum { PIECES = 16, MOST_KEYS = 1 << 24, LEAST_SUPPORT = 2, MOST_BETWEEN = 64 };
static const uint64_t most_steps = UINT64_C(400000000);
static const float least_confidence = .004f;

typedef struct {
    const kith__index *index;
    kith__counter counter[PIECES];
    size_t thin;       /* second steps taken from an entity at most */
    bool paths;
    kith__flag no_memory;
    kith__watch *watch;
    /* The second pass: rules in the order of their bodies, and of their heads. */
    kith__counter number;     /* (first, second) -> 1 + the number of that body */
    size_t *start;            /* per body, where its rules begin; and where the last ones end */
    uint32_t *rule, *head;    /* per place in that order */
    uint64_t *body_count;         /* the same: how often the body was met where the head is there */
    size_t rules, different;  /* rules, and bodies */
} mining;

static uint64_t key_of(uint32_t head, uint32_t first, uint32_t second)
{
    return (uint64_t)head << (2 * KITH__RELATION_BITS) | (uint64_t)first << KITH__RELATION_BITS |
           second;
}

static uint32_t head_of(uint64_t key)
{
    return (uint32_t)(key >> (2 * KITH__RELATION_BITS));
}

static uint64_t body_of(uint64_t key)
{
    return key & ((UINT64_C(1) << (2 * KITH__RELATION_BITS)) - 1);
}

/* A direct rule has its relation in both places of the body. */
static uint32_t first_of(uint64_t key)
{
    return (uint32_t)(key >> KITH__RELATION_BITS) & ((1u << KITH__RELATION_BITS) - 1);
}

static uint32_t second_of(uint64_t key)
{
    return (uint32_t)key & ((1u << KITH__RELATION_BITS) - 1);
}

/* ---- an entity's neighbours by who they are ---- */

typedef struct {
    uint32_t *first;  /* per entity: 1 + where its relations to s begin in `relation`; 0: none */
    kith_neighbor *by_entity;
    size_t capacity;
} links;

static int by_entity(const void *a, const void *b)
{
    const kith_neighbor *x = a, *y = b;

    if (x->entity != y->entity)
        return x->entity < y->entity ? -1 : 1;
    return x->relation < y->relation ? -1 : x->relation > y->relation;
}

static int links_set(links *l, kith__span facts)
{
    if (kith__reserve(&l->by_entity, &l->capacity, facts.count + 1, sizeof *l->by_entity))
        return -1;
    memcpy(l->by_entity, facts.at, facts.count * sizeof *facts.at);
    if (facts.count > 1)
        qsort(l->by_entity, facts.count, sizeof *l->by_entity, by_entity);
    for (size_t i = facts.count; i-- > 0;)
        l->first[l->by_entity[i].entity] = (uint32_t)i + 1;
    l->by_entity[facts.count] = (kith_neighbor){0, UINT32_MAX};
    return 0;
}

static void links_clear(links *l, kith__span facts)
{
    for (size_t i = 0; i < facts.count; i++)
        l->first[facts.at[i].entity] = 0;
}

/* ---- first pass: support ---- */

/* Every two relations between the same two entities; more than MOST_BETWEEN of them are cut. A loop
 * and its inverse are one fact, which says nothing about itself. */
static int count_pairs(kith__counter *counter, const mining *m, const links *l, uint32_t s,
                       size_t count)
{
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && l->by_entity[to].entity == l->by_entity[from].entity; to++)
            ;
        size_t end = to - from > MOST_BETWEEN ? from + MOST_BETWEEN : to;
        for (size_t i = from; i < end; i++)
            for (size_t j = from; j < end; j++) {
                uint32_t r = l->by_entity[i].relation, q = l->by_entity[j].relation;
                bool same = l->by_entity[i].entity == s && q == kith__inverse(m->index, r);
                if (i != j && !same && kith__counter_add(counter, key_of(q, r, r), 1))
                    return -1;
            }
    }
    return 0;
}

/* The i-th of the second steps that are taken from an entity. */
static const kith_neighbor *step_at(kith__span facts, size_t taken, size_t i)
{
    return &facts.at[taken == facts.count ? i : i * facts.count / taken];
}

static size_t steps_taken(const mining *m, kith__span facts)
{
    return facts.count < m->thin ? facts.count : m->thin;
}

/* Every two steps from s that end where some q does; none is a loop, so none is the fact with q. */
static int count_paths(kith__counter *counter, const mining *m, const links *l, uint32_t s,
                       kith__span facts)
{
    for (size_t f = 0; f < facts.count; f++) {
        uint32_t x = facts.at[f].entity;
        kith__span next = kith__facts_of(m->index, x);
        size_t taken = x == s ? 0 : steps_taken(m, next);
        for (size_t k = 0; k < taken; k++) {
            const kith_neighbor *step = step_at(next, taken, k);
            if (step->entity == s || step->entity == x || !l->first[step->entity])
                continue;
            const kith_neighbor *link = &l->by_entity[l->first[step->entity] - 1];
            for (; link->entity == step->entity; link++)
                if (kith__counter_add(counter,
                                      key_of(link->relation, facts.at[f].relation, step->relation),
                                      1))
                    return -1;
        }
    }
    return 0;
}

static uint32_t piece_start(const kith__index *index, size_t piece)
{
    return (uint32_t)((uint64_t)index->seen * piece / PIECES);
}

static void count_piece(void *context, size_t piece)
{
    mining *m = context;
    kith__counter *counter = &m->counter[piece];
    links l = {.first = kith__calloc(m->index->entities, sizeof *l.first)};
    bool failed = !l.first;

    counter->most = MOST_KEYS / PIECES;
    for (uint32_t s = piece_start(m->index, piece); !failed && s < piece_start(m->index, piece + 1);
         s++) {
        if (kith__watch_add(m->watch, 1))
            break;
        kith__span facts = kith__facts_of(m->index, s);
        failed = links_set(&l, facts) || (m->paths ? count_paths(counter, m, &l, s, facts)
                                                   : count_pairs(counter, m, &l, s, facts.count));
        if (!failed)
            links_clear(&l, facts);
    }
    kith__free(l.first);
    kith__free(l.by_entity);
    if (failed)
        kith__flag_raise(&m->no_memory);
}

/* ---- second pass: body counts ---- */

/* One entity s: its relations, and how often it meets which bodies. */
typedef struct {
    uint8_t *has;        /* per relation */
    uint32_t *relation;  /* those that it has, in order */
    size_t relations;
    uint64_t *count;     /* per body; 0 between entities */
    uint32_t *met;       /* bodies with a count */
    size_t met_count;
} meeting;

static int meeting_init(meeting *e, const mining *m)
{
    memset(e, 0, sizeof *e);
    e->has = kith__calloc(m->index->relations, sizeof *e->has);
    e->relation = kith__alloc(m->index->relations, sizeof *e->relation);
    e->count = kith__calloc(m->different, sizeof *e->count);
    e->met = kith__alloc(m->different, sizeof *e->met);
    return e->has && e->relation && e->count && e->met ? 0 : -1;
}

static void meeting_release(meeting *e)
{
    kith__free(e->has);
    kith__free(e->relation);
    kith__free(e->count);
    kith__free(e->met);
}

static void meet(meeting *e, const mining *m, uint32_t first, uint32_t second, uint64_t count)
{
    const kith__count *found = kith__counter_find(&m->number, key_of(0, first, second));

    if (!found)
        return;
    uint32_t body = (uint32_t)found->count - 1;
    if (!e->count[body])
        e->met[e->met_count++] = body;
    e->count[body] += count;
}

static void meet_pairs(meeting *e, const mining *m, kith__span facts)
{
    for (size_t from = 0, to; from < facts.count; from = to) {
        uint32_t r = facts.at[from].relation;
        for (to = from; to < facts.count && facts.at[to].relation == r; to++)
            ;
        meet(e, m, r, r, to - from);
    }
}

static void meet_paths(meeting *e, const mining *m, uint32_t s, kith__span facts)
{
    for (size_t f = 0; f < facts.count; f++) {
        uint32_t x = facts.at[f].entity;
        kith__span next = kith__facts_of(m->index, x);
        size_t taken = x == s ? 0 : steps_taken(m, next);
        for (size_t from = 0, to; from < taken; from = to) {
            uint32_t r = step_at(next, taken, from)->relation;
            uint64_t count = 0;
            for (to = from; to < taken && step_at(next, taken, to)->relation == r; to++) {
                uint32_t o = step_at(next, taken, to)->entity;
                count += o != s && o != x;
            }
            if (count)
                meet(e, m, facts.at[f].relation, r, count);
        }
    }
}

static void add_at(const mining *m, size_t place, uint64_t count)
{
    __atomic_fetch_add(&m->body_count[place], count, __ATOMIC_RELAXED);
}

/* The place of the rule with this head among those from..to - 1, or `to`. */
static size_t find_head(const mining *m, size_t from, size_t to, uint32_t head)
{
    size_t end = to;

    while (from < to) {
        size_t middle = (from + to) / 2;
        if (m->head[middle] < head)
            from = middle + 1;
        else
            to = middle;
    }
    return from < end && m->head[from] == head ? from : end;
}

/* A body counts for the rules whose conclusion s has. Either the rules or the relations of s are gone
 * through, whichever is less. */
static void add_bodies(meeting *e, const mining *m)
{
    enum { STEPS = 16 }; /* of finding a head, about */

    for (size_t i = 0; i < e->met_count; i++) {
        uint32_t body = e->met[i];
        size_t from = m->start[body], to = m->start[body + 1];
        if (to - from <= STEPS * e->relations) {
            for (size_t k = from; k < to; k++)
                if (e->has[m->head[k]])
                    add_at(m, k, e->count[body]);
        } else {
            for (size_t k = 0; k < e->relations; k++) {
                size_t place = find_head(m, from, to, e->relation[k]);
                if (place < to)
                    add_at(m, place, e->count[body]);
            }
        }
        e->count[body] = 0;
    }
    e->met_count = 0;
}

/* A loop is no body of what its inverse concludes, as it is no hit. */
static void take_back_loops(const mining *m, uint32_t s, kith__span facts)
{
    for (size_t i = 0; i < facts.count; i++) {
        uint32_t r = facts.at[i].relation;
        const kith__count *found =
            facts.at[i].entity == s ? kith__counter_find(&m->number, key_of(0, r, r)) : NULL;
        if (!found)
            continue;
        size_t to = m->start[found->count];
        size_t place = find_head(m, m->start[found->count - 1], to, kith__inverse(m->index, r));
        if (place < to)
            add_at(m, place, UINT64_MAX); /* minus 1 */
    }
}

static void bodies_piece(void *context, size_t piece)
{
    mining *m = context;
    meeting e;

    if (meeting_init(&e, m)) {
        kith__flag_raise(&m->no_memory);
        meeting_release(&e);
        return;
    }
    for (uint32_t s = piece_start(m->index, piece); s < piece_start(m->index, piece + 1); s++) {
        kith__span facts = kith__facts_of(m->index, s);
        if (kith__watch_add(m->watch, 1))
            break;
        e.relations = 0;
        for (size_t i = 0; i < facts.count; i++)
            if (i == 0 || facts.at[i].relation != facts.at[i - 1].relation)
                e.relation[e.relations++] = facts.at[i].relation;
        for (size_t i = 0; i < e.relations; i++)
            e.has[e.relation[i]] = 1;
        if (m->paths)
            meet_paths(&e, m, s, facts);
        else
            meet_pairs(&e, m, facts);
        add_bodies(&e, m);
        if (!m->paths)
            take_back_loops(m, s, facts);
        for (size_t i = 0; i < e.relations; i++)
            e.has[e.relation[i]] = 0;
    }
    meeting_release(&e);
}

static int by_body_then_head(const void *a, const void *b)
{
    const kith__count *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int order_bodies(mining *m, const kith__counter *all)
{
    kith__count *order = kith__alloc(m->rules, sizeof *order);
    int failed = !order || !m->start || !m->rule || !m->head || !m->body_count;

    for (size_t i = 0; !failed && i < m->rules; i++)
        order[i] = (kith__count){
            body_of(all->at[i].key) << KITH__RELATION_BITS | head_of(all->at[i].key), i};
    if (!failed && m->rules > 0)
        qsort(order, m->rules, sizeof *order, by_body_then_head);
    for (size_t i = 0; !failed && i < m->rules; i++) {
        uint64_t key = all->at[order[i].count].key;
        m->rule[i] = (uint32_t)order[i].count;
        m->head[i] = head_of(key);
        if (i > 0 && body_of(all->at[m->rule[i - 1]].key) == body_of(key))
            continue;
        m->start[m->different++] = i;
        failed = kith__counter_add(&m->number, body_of(key), m->different);
    }
    if (!failed)
        m->start[m->different] = m->rules;
    kith__free(order);
    return failed;
}

/* ---- the rules ---- */

static int stronger_first(const void *a, const void *b)
{
    const kith__rule *x = a, *y = b;

    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

static int by_premise(const void *a, const void *b)
{
    const kith__rule *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

static kith__rule make_pattern(const mining *m, uint64_t key, uint64_t support, uint64_t body_count)
{
    return (kith__rule){.first = first_of(key),
                        .second = m->paths ? second_of(key) : KITH__NO_RELATION,
                        .support = support < UINT32_MAX ? (uint32_t)support : UINT32_MAX,
                        .body_count = body_count < UINT32_MAX ? (uint32_t)body_count : UINT32_MAX,
                        .confidence = kith__shrunk((double)support, (double)body_count)};
}

/* Keep what is confident enough, of paths the best of each conclusion. */
static int keep_rules(kith__rules *p, const mining *m, const kith__counter *all,
                      const uint64_t *body_count)
{
    size_t kept = 0, used = 0;
    uint32_t head = 0;

    p->relations = m->index->relations;
    p->offset = kith__calloc((size_t)p->relations + 1, sizeof *p->offset);
    p->at = kith__alloc(m->rules, sizeof *p->at);
    if (!p->offset || !p->at)
        return -1;
    while (head < p->relations) {
        size_t from = kept;
        for (; used < m->rules && head_of(all->at[used].key) == head; used++) {
            kith__rule made =
                make_pattern(m, all->at[used].key, all->at[used].count, body_count[used]);
            if (made.confidence >= least_confidence)
                p->at[kept++] = made;
        }
        if (m->paths && kept - from > KITH__MOST_PATH_RULES) {
            qsort(p->at + from, kept - from, sizeof *p->at, stronger_first);
            kept = from + KITH__MOST_PATH_RULES;
            qsort(p->at + from, kept - from, sizeof *p->at, by_premise);
        }
        p->offset[++head] = kept;
    }
    kith__rule *less = kith__realloc(p->at, kept, sizeof *p->at);
    if (less)
        p->at = less;
    return 0;
}

static size_t thin_out(const kith__index *index)
{
    size_t thin = SIZE_MAX / 2;
    uint64_t steps;

    do {
        steps = 0;
        for (uint32_t e = 0; e < index->seen; e++) {
            uint64_t degree = index->offset[e + 1] - index->offset[e];
            steps += degree * (degree < thin ? degree : thin);
        }
        if (steps > most_steps)
            thin = thin > index->offset[index->seen] ? 1 << 16 : thin / 2;
    } while (steps > most_steps && thin > 1);
    return thin;
}

/* All pieces' counts as one, without rules that were right too seldom. */
static int merge_counts(kith__counter *all, mining *m)
{
    for (size_t i = 0; i < PIECES; i++) {
        for (size_t k = 0; k < m->counter[i].places; k++)
            if (m->counter[i].at[k].key != UINT64_MAX &&
                kith__counter_add(all, m->counter[i].at[k].key, m->counter[i].at[k].count))
                return -1;
        kith__counter_release(&m->counter[i]);
    }
    kith__counter_sort(all);
    m->rules = 0;
    for (size_t i = 0; i < all->used; i++)
        if (all->at[i].count >= LEAST_SUPPORT)
            all->at[m->rules++] = all->at[i];
    return 0;
}

static kith_status mine(kith__rules *patterns, const kith__index *index, bool paths,
                        kith__pool *pool, kith_error *error)
{
    mining m = {.index = index, .paths = paths, .watch = kith__pool_watch(pool)};
    kith__counter all = {0};
    uint64_t *body_count = NULL;
    kith_status status = KITH_OK;

    memset(patterns, 0, sizeof *patterns);
    TRY(kith__watch_begin(m.watch, paths ? "mining path rules" : "mining direct rules",
                          2 * (uint64_t)index->seen, error));
    m.thin = paths ? thin_out(index) : 0;
    if (index->relations <= 1u << KITH__RELATION_BITS)
        kith__pool_run(pool, count_piece, &m, PIECES);
    TRY(kith__watch_status(m.watch, error));
    if (kith__flag_raised(&m.no_memory) || merge_counts(&all, &m))
        TRY(kith__no_memory(error));
    m.start = kith__alloc(m.rules + 1, sizeof *m.start);
    m.rule = kith__alloc(m.rules, sizeof *m.rule);
    m.head = kith__alloc(m.rules, sizeof *m.head);
    m.body_count = kith__calloc(m.rules, sizeof *m.body_count);
    body_count = kith__alloc(m.rules, sizeof *body_count);
    if (!body_count || order_bodies(&m, &all))
        TRY(kith__no_memory(error));
    kith__pool_run(pool, bodies_piece, &m, PIECES);
    TRY(kith__watch_status(m.watch, error));
    for (size_t i = 0; i < m.rules; i++)
        body_count[m.rule[i]] = m.body_count[i];
    if (kith__flag_raised(&m.no_memory) || keep_rules(patterns, &m, &all, body_count))
        TRY(kith__no_memory(error));
cleanup:
    for (size_t i = 0; i < PIECES; i++)
        kith__counter_release(&m.counter[i]);
    kith__counter_release(&all);
    kith__counter_release(&m.number);
    kith__free(m.start);
    kith__free(m.rule);
    kith__free(m.head);
    kith__free(m.body_count);
    kith__free(body_count);
    if (status != KITH_OK)
        kith__rules_release(patterns);
    return status;
}

kith_status kith__mine_pairs(kith__rules *patterns, const kith__index *index, kith__pool *pool,
                             kith_error *error)
{
    return mine(patterns, index, false, pool, error);
}

kith_status kith__mine_paths(kith__rules *patterns, const kith__index *index, kith__pool *pool,
                             kith_error *error)
{
    return mine(patterns, index, true, pool, error);
}

void kith__rules_release(kith__rules *patterns)
{
    kith__free(patterns->offset);
    kith__free(patterns->at);
    memset(patterns, 0, sizeof *patterns);
}
