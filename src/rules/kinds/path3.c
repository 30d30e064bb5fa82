/* Path rules of three steps, r1(s, x), r2(x, y), r3(y, o) => q(s, o). They matter on sparse graphs.
 * On dense ones none are mined, because shorter rules find the same answers. */
#include "rules/evidence.h"
#include "rules/mine.h"

enum {
    MOST_RULES = 100, /* per conclusion, the most confident ones */
    MOST_FIRST = 64,  /* steps from s that a query follows for one rule, */
    MOST_NEXT = 20,   /* from x, and from y, spread evenly */
};

/* ---- mining ---- */

/* The number of walks if at most `thin` steps are followed from x and from y. */
static uint64_t count_walks(const kith__index *index, size_t thin)
{
    uint64_t walks = 0;

    for (uint32_t x = 0; x < index->seen; x++) {
        kith__span facts = kith__facts_of(index, x);
        uint64_t ends = 0;
        for (size_t i = 0; i < facts.count; i++) {
            uint32_t y = facts.at[i].entity;
            uint64_t degree = index->offset[y + 1] - index->offset[y];
            ends += degree < thin ? degree : thin;
        }
        walks += facts.count > thin ? ends * thin : ends * facts.count;
    }
    return walks;
}

/* Count the ends of a path whose first two steps, from s through x to y, are in `body`; -1 if out
 * of memory. */
typedef int ends_call(const kith__mining_entity *s, uint32_t body[3], uint32_t x, uint32_t y);

/* Call `count` for each path of two steps. No entity occurs twice in a path, so none of its facts
 * is the q-fact itself. */
static int for_each_path(const kith__mining_entity *s, ends_call *count)
{
    for (size_t f = 0; f < s->facts.count; f++) {
        uint32_t x = s->facts.at[f].entity;
        kith__mining_steps next = kith__mining_steps_from(s, x);
        for (size_t i = 0; x != s->self && i < next.count; i++) {
            kith_neighbor step = kith__mining_step(&next, i);
            uint32_t body[] = {s->facts.at[f].relation, step.relation, 0};
            if (step.entity != s->self && step.entity != x && count(s, body, x, step.entity))
                return -1;
        }
    }
    return 0;
}

static int support_of_ends(const kith__mining_entity *s, uint32_t body[3], uint32_t x, uint32_t y)
{
    kith__mining_steps next = kith__mining_steps_from(s, y);

    for (size_t i = 0; i < next.count; i++) {
        kith_neighbor step = kith__mining_step(&next, i);
        if (!s->first[step.entity] || step.entity == s->self || step.entity == x ||
            step.entity == y)
            continue;
        body[2] = step.relation;
        const kith_neighbor *link = &s->by_entity[s->first[step.entity] - 1];
        for (; link->entity == step.entity; link++)
            if (kith__mining_support(s, link->relation, body))
                return -1;
    }
    return 0;
}

static int count_support(const kith__mining_entity *s)
{
    return for_each_path(s, support_of_ends);
}

static int bodies_of_ends(const kith__mining_entity *s, uint32_t body[3], uint32_t x, uint32_t y)
{
    kith__mining_steps next = kith__mining_steps_from(s, y);

    for (size_t from = 0, to; from < next.count; from = to) {
        uint64_t count = 0;
        body[2] = kith__mining_step(&next, from).relation;
        for (to = from; to < next.count; to++) {
            kith_neighbor step = kith__mining_step(&next, to);
            if (step.relation != body[2])
                break;
            count += step.entity != s->self && step.entity != x && step.entity != y;
        }
        if (count)
            kith__mining_body(s, body, count);
    }
    return 0;
}

static void count_bodies(const kith__mining_entity *s)
{
    for_each_path(s, bodies_of_ends);
}

static kith_status mine(kith__rules *rules, const kith__index *index, kith__pool *pool,
                        kith_error *error)
{
    static const kith__mining_method method = {.stage = "mining path rules of three steps",
                                               .steps = 3,
                                               .most_rules = MOST_RULES,
                                               .most_keys = 1 << 22,
                                               .walks = count_walks,
                                               .most_walks = UINT64_C(10000000),
                                               .most_each = 8000,
                                               .least_steps = 32,
                                               .count_support = count_support,
                                               .count_bodies = count_bodies};
    return kith__mine(rules, index, &method, pool, error);
}

/* ---- a query ---- */

static size_t taken_of(const kith__spans *all)
{
    return all->count < MOST_NEXT ? all->count : MOST_NEXT;
}

static void walk_last(kith__evidence_query *a, const kith__rule *rule, uint32_t self, uint32_t x,
                      uint32_t y)
{
    kith__spans ends = kith__view_reached(&a->view, y, rule->relation[2]);
    size_t taken = taken_of(&ends);

    for (size_t i = 0; i < taken; i++) {
        uint32_t o = kith__spans_pick(&ends, taken, i).entity;
        if (o == self || o == x || o == y)
            continue;
        kith__reason reason = kith__rule_reason(KITH__PATH3_KIND, rule, o);
        reason.between[0] = x;
        reason.between[1] = y;
        kith__evidence_support(a, &reason);
    }
}

static void walk(kith__evidence_query *a, const kith__rule *rule, uint32_t self, uint32_t x)
{
    kith__spans next = kith__view_reached(&a->view, x, rule->relation[1]);
    size_t taken = taken_of(&next);

    for (size_t i = 0; i < taken && !a->no_memory; i++) {
        uint32_t y = kith__spans_pick(&next, taken, i).entity;
        if (y != self && y != x)
            walk_last(a, rule, self, x, y);
    }
}

static void find(kith__evidence_query *a, const kith__query_facts *queried)
{
    const kith__rules *rules = &a->evidence->rules->of[KITH__PATH3_KIND];

    for (uint64_t i = rules->offset[a->query]; i < rules->offset[a->query + 1]; i++) {
        kith__span first = kith__span_of(queried->facts, rules->at[i].relation[0]);
        size_t taken = first.count < MOST_FIRST ? first.count : MOST_FIRST;
        for (size_t k = 0; k < taken && !a->no_memory; k++) {
            uint32_t x = first.at[taken == first.count ? k : k * first.count / taken].entity;
            if (x != queried->self)
                walk(a, &rules->at[i], queried->self, x);
        }
    }
}

const kith__rule_kind kith__path3_rules = {.part = KITH__PART_PATH3,
                                           .letter = 'F',
                                           .name = "path3",
                                           .form = "r1(s, x), r2(x, y), r3(y, o) => q(s, o)",
                                           .steps = 3,
                                           .array = "path3",
                                           .mine = mine,
                                           .find = find};
