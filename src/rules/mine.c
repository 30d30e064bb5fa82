#include "rules/mine.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/flag.h"
#include "core/mem.h"
#include "rules/counter.h"

/* The entities are divided into PIECES, the units of work. */
enum { PIECES = 16, LEAST_SUPPORT = 2 };
static const float least_confidence = .004f;

struct kith__mining {
    const kith__index *index;
    const kith__mining_method *method;
    unsigned bits; /* number of bits of a relation in a key */
    kith__counter counter[PIECES];
    size_t thin;
    uint32_t stride; /* walks start from every stride-th entity */
    bool too_many;   /* there would be too many walks, so no walk is followed */
    kith__flag no_memory;
    kith__watch *watch;
    /* The second pass: rules sorted by body, then by head (the conclusion). */
    kith__counter number;    /* body -> 1 + its number */
    size_t *start;           /* per body, the index of its first rule; then the end */
    uint32_t *rule, *head;   /* per rule, in this order */
    uint64_t *body_count;    /* per rule: how often the body held for an s that has the head */
    size_t rules, different; /* number of rules, and of different bodies */
};

/* ---- keys: the conclusion, then the relations of the body ---- */

enum { MOST_BITS = 21 };

static uint64_t key_of(const kith__mining *m, uint32_t head, const uint32_t *relations)
{
    uint64_t key = head;

    for (size_t k = 0; k < m->method->steps; k++)
        key = key << m->bits | relations[k];
    return key;
}

static uint32_t head_of(const kith__mining *m, uint64_t key)
{
    return (uint32_t)(key >> (m->bits * m->method->steps));
}

static uint64_t body_of(const kith__mining *m, uint64_t key)
{
    return key & ((UINT64_C(1) << (m->bits * m->method->steps)) - 1);
}

static uint32_t relation_of(const kith__mining *m, uint64_t key, size_t step)
{
    return (uint32_t)(key >> (m->bits * (m->method->steps - 1 - step))) & ((1u << m->bits) - 1);
}

/* ---- an entity's neighbours, by entity ---- */

typedef struct {
    uint32_t *first; /* per entity: 1 + the index of its first entry in `by_entity`; 0: none */
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

int kith__mining_support(const kith__mining_entity *s, uint32_t conclusion,
                         const uint32_t *relations)
{
    return kith__counter_add(s->state, key_of(s->mining, conclusion, relations), 1);
}

static uint32_t piece_start(const kith__index *index, size_t piece)
{
    return (uint32_t)((uint64_t)index->seen * piece / PIECES);
}

static kith__mining_entity entity_at(kith__mining *m, uint32_t s, void *state)
{
    return (kith__mining_entity){.mining = m,
                                 .index = m->index,
                                 .self = s,
                                 .facts = kith__facts_of(m->index, s),
                                 .thin = m->thin,
                                 .state = state};
}

static void support_piece(void *context, size_t piece)
{
    kith__mining *m = context;
    kith__counter *counter = &m->counter[piece];
    links l = {.first = kith__calloc(m->index->entities, sizeof *l.first)};
    bool failed = !l.first;

    counter->most = m->method->most_keys / PIECES;
    for (uint32_t s = piece_start(m->index, piece); !failed && s < piece_start(m->index, piece + 1);
         s++) {
        if (kith__watch_add(m->watch, 1))
            break;
        if (s % m->stride != 0)
            continue;
        kith__mining_entity e = entity_at(m, s, counter);
        failed = links_set(&l, e.facts);
        e.by_entity = l.by_entity;
        e.first = l.first;
        failed = failed || m->method->count_support(&e);
        if (!failed)
            links_clear(&l, e.facts);
    }
    kith__free(l.first);
    kith__free(l.by_entity);
    if (failed)
        kith__flag_raise(&m->no_memory);
}

/* ---- second pass: body counts ---- */

/* One entity s: its relations, and how often each body holds for it. */
typedef struct {
    uint8_t *has;       /* per relation */
    uint32_t *relation; /* the relations of s, ascending */
    size_t relations;
    uint64_t *count; /* per body; 0 between entities */
    uint32_t *met;   /* bodies with a count above 0 */
    size_t met_count;
} meeting;

static int meeting_init(meeting *e, const kith__mining *m)
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

void kith__mining_body(const kith__mining_entity *s, const uint32_t *relations, uint64_t count)
{
    meeting *e = s->state;
    const kith__count *found =
        kith__counter_find(&s->mining->number, key_of(s->mining, 0, relations));

    if (!found)
        return;
    uint32_t body = (uint32_t)found->count - 1;
    if (!e->count[body])
        e->met[e->met_count++] = body;
    e->count[body] += count;
}

static void add_at(const kith__mining *m, size_t place, uint64_t count)
{
    __atomic_fetch_add(&m->body_count[place], count, __ATOMIC_RELAXED);
}

/* The index of the rule with this head among from..to - 1, or `to`. */
static size_t find_head(const kith__mining *m, size_t from, size_t to, uint32_t head)
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

/* Add the counts of bodies to the rules whose conclusion s has. Loops over the rules of a body or
 * over the relations of s, whichever is cheaper. */
static void add_bodies(meeting *e, const kith__mining *m)
{
    enum { STEPS = 16 }; /* approximate cost of a binary search for a head */

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

void kith__mining_take_back(const kith__mining_entity *s, uint32_t conclusion,
                            const uint32_t *relations)
{
    const kith__mining *m = s->mining;
    const kith__count *found = kith__counter_find(&m->number, key_of(m, 0, relations));

    if (!found)
        return;
    size_t to = m->start[found->count];
    size_t place = find_head(m, m->start[found->count - 1], to, conclusion);
    if (place < to)
        add_at(m, place, UINT64_MAX); /* subtracts 1 */
}

static void list_relations(meeting *e, kith__span facts)
{
    e->relations = 0;
    for (size_t i = 0; i < facts.count; i++)
        if (i == 0 || facts.at[i].relation != facts.at[i - 1].relation)
            e->relation[e->relations++] = facts.at[i].relation;
}

static void mark_relations(const meeting *e, uint8_t value)
{
    for (size_t i = 0; i < e->relations; i++)
        e->has[e->relation[i]] = value;
}

static void bodies_piece(void *context, size_t piece)
{
    kith__mining *m = context;
    meeting e;

    if (meeting_init(&e, m)) {
        kith__flag_raise(&m->no_memory);
        meeting_release(&e);
        return;
    }
    for (uint32_t s = piece_start(m->index, piece); s < piece_start(m->index, piece + 1); s++) {
        kith__mining_entity at = entity_at(m, s, &e);
        if (kith__watch_add(m->watch, 1))
            break;
        if (s % m->stride != 0)
            continue;
        list_relations(&e, at.facts);
        mark_relations(&e, 1);
        m->method->count_bodies(&at);
        add_bodies(&e, m);
        mark_relations(&e, 0);
    }
    meeting_release(&e);
}

static int by_body_then_head(const void *a, const void *b)
{
    const kith__count *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int order_bodies(kith__mining *m, const kith__counter *all)
{
    kith__count *order = kith__alloc(m->rules, sizeof *order);
    int failed = !order || !m->start || !m->rule || !m->head || !m->body_count;

    for (size_t i = 0; !failed && i < m->rules; i++)
        order[i] = (kith__count){
            body_of(m, all->at[i].key) << m->bits | head_of(m, all->at[i].key), i};
    if (!failed && m->rules > 0)
        qsort(order, m->rules, sizeof *order, by_body_then_head);
    for (size_t i = 0; !failed && i < m->rules; i++) {
        uint64_t key = all->at[order[i].count].key;
        m->rule[i] = (uint32_t)order[i].count;
        m->head[i] = head_of(m, key);
        if (i > 0 && body_of(m, all->at[m->rule[i - 1]].key) == body_of(m, key))
            continue;
        m->start[m->different++] = i;
        failed = kith__counter_add(&m->number, body_of(m, key), m->different);
    }
    if (!failed)
        m->start[m->different] = m->rules;
    kith__free(order);
    return failed;
}

/* ---- the rules ---- */

static int by_body(const void *a, const void *b)
{
    return kith__rule_compare(a, b);
}

static int stronger_first(const void *a, const void *b)
{
    const kith__rule *x = a, *y = b;

    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    return kith__rule_compare(x, y);
}

static uint32_t clipped(uint64_t count)
{
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static kith__rule make_rule(const kith__mining *m, uint64_t key, uint64_t support,
                            uint64_t body_count)
{
    kith__rule made = {.support = clipped(support),
                       .body_count = clipped(body_count),
                       .confidence = kith__shrunk((double)support, (double)body_count)};

    for (size_t k = 0; k < KITH__MOST_STEPS; k++)
        made.relation[k] =
            k < m->method->steps ? relation_of(m, key, k) : KITH__NO_RELATION;
    return made;
}

/* Keep the rules that are confident enough; if a conclusion has too many, the best ones. */
static int keep_rules(kith__rules *p, const kith__mining *m, const kith__counter *all,
                      const uint64_t *body_count)
{
    size_t kept = 0, used = 0, most = m->method->most_rules;
    uint32_t head = 0;

    p->relations = m->index->relations;
    p->offset = kith__calloc((size_t)p->relations + 1, sizeof *p->offset);
    p->at = kith__alloc(m->rules, sizeof *p->at);
    if (!p->offset || !p->at)
        return -1;
    while (head < p->relations) {
        size_t from = kept;
        for (; used < m->rules && head_of(m, all->at[used].key) == head; used++) {
            kith__rule made =
                make_rule(m, all->at[used].key, all->at[used].count, body_count[used]);
            if (made.confidence >= least_confidence)
                p->at[kept++] = made;
        }
        if (most > 0 && kept - from > most) {
            qsort(p->at + from, kept - from, sizeof *p->at, stronger_first);
            kept = from + most;
            qsort(p->at + from, kept - from, sizeof *p->at, by_body);
        }
        p->offset[++head] = kept;
    }
    kith__rule *less = kith__realloc(p->at, kept, sizeof *p->at);
    if (less)
        p->at = less;
    return 0;
}

/* Bound the number of walks: first follow fewer steps from entities in the middle, then start from
 * fewer entities. */
static void bound_walks(kith__mining *m)
{
    const kith__mining_method *method = m->method;
    const kith__index *index = m->index;

    m->thin = SIZE_MAX / 2;
    m->stride = 1;
    if (!method->walks)
        return;
    uint64_t walks = method->walks(index, m->thin);
    while (walks > method->most_walks && m->thin > method->least_steps) {
        m->thin = m->thin > 1 << 16 ? 1 << 16 : m->thin / 2;
        walks = method->walks(index, m->thin);
    }
    if (walks <= method->most_walks)
        return;
    m->stride = (uint32_t)(walks / method->most_walks) + 1;
    m->too_many = method->most_each > 0 && walks / method->most_each > index->seen;
}

/* Merge the counts of all pieces, without rules whose support is too low. */
static int merge_counts(kith__counter *all, kith__mining *m)
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

/* Whether the keys have enough bits for the relations. */
static bool can_mine(const kith__mining *m)
{
    return !m->too_many && m->index->relations <= UINT64_C(1) << m->bits;
}

kith_status kith__mine(kith__rules *rules, const kith__index *index,
                       const kith__mining_method *method, kith__pool *pool, kith_error *error)
{
    unsigned bits = 63 / (unsigned)(method->steps + 1); /* no key is UINT64_MAX */
    kith__mining m = {.index = index,
                      .method = method,
                      .bits = bits < MOST_BITS ? bits : MOST_BITS,
                      .watch = kith__pool_watch(pool)};
    kith__counter all = {0};
    uint64_t *body_count = NULL;
    kith_status status = KITH_OK;

    memset(rules, 0, sizeof *rules);
    bound_walks(&m);
    TRY(kith__watch_begin(m.watch, method->stage, 2 * (uint64_t)index->seen, error));
    if (can_mine(&m))
        kith__pool_run(pool, support_piece, &m, PIECES);
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
    if (m.rules > 0)
        kith__pool_run(pool, bodies_piece, &m, PIECES);
    TRY(kith__watch_status(m.watch, error));
    for (size_t i = 0; i < m.rules; i++)
        body_count[m.rule[i]] = m.body_count[i];
    if (kith__flag_raised(&m.no_memory) || keep_rules(rules, &m, &all, body_count))
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
        kith__rules_release(rules);
    return status;
}
