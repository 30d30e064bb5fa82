/* Path rules of two steps, r1(s, x), r2(x, o) => q(s, o). */
#include "rules/evidence.h"
#include "rules/mine.h"

enum { MOST_ENDS = 512 }; /* steps from x that a query follows, spread evenly */

/* ---- mining ---- */

static uint64_t count_walks(const kith__index *index, size_t thin)
{
    uint64_t walks = 0;

    for (uint32_t e = 0; e < index->seen; e++) {
        uint64_t degree = index->offset[e + 1] - index->offset[e];
        walks += degree * (degree < thin ? degree : thin);
    }
    return walks;
}

/* Count every path of two steps from s to an entity that some fact q(s, .) leads to. Loops are
 * skipped, so no step is the q-fact itself. */
static int count_support(const kith__mining_entity *s)
{
    for (size_t f = 0; f < s->facts.count; f++) {
        uint32_t x = s->facts.at[f].entity;
        kith__mining_steps next = kith__mining_steps_from(s, x);
        for (size_t k = 0; x != s->self && k < next.count; k++) {
            kith_neighbor step = kith__mining_step(&next, k);
            if (step.entity == s->self || step.entity == x || !s->first[step.entity])
                continue;
            const uint32_t body[] = {s->facts.at[f].relation, step.relation};
            const kith_neighbor *link = &s->by_entity[s->first[step.entity] - 1];
            for (; link->entity == step.entity; link++)
                if (kith__mining_support(s, link->relation, body))
                    return -1;
        }
    }
    return 0;
}

static void count_bodies(const kith__mining_entity *s)
{
    for (size_t f = 0; f < s->facts.count; f++) {
        uint32_t x = s->facts.at[f].entity;
        kith__mining_steps next = kith__mining_steps_from(s, x);
        for (size_t from = 0, to; x != s->self && from < next.count; from = to) {
            const uint32_t body[] = {s->facts.at[f].relation,
                                     kith__mining_step(&next, from).relation};
            uint64_t count = 0;
            for (to = from; to < next.count; to++) {
                kith_neighbor step = kith__mining_step(&next, to);
                if (step.relation != body[1])
                    break;
                count += step.entity != s->self && step.entity != x;
            }
            if (count)
                kith__mining_body(s, body, count);
        }
    }
}

static kith_status mine(kith__rules *rules, const kith__index *index, kith__pool *pool,
                        kith_error *error)
{
    static const kith__mining_method method = {.stage = "mining path rules",
                                               .steps = 2,
                                               .most_rules = KITH__MOST_PATH_RULES,
                                               .most_keys = 1 << 24,
                                               .walks = count_walks,
                                               .most_walks = UINT64_C(400000000),
                                               .least_steps = 1,
                                               .count_support = count_support,
                                               .count_bodies = count_bodies};
    return kith__mine(rules, index, &method, pool, error);
}

/* ---- a query ---- */

static void walk(kith__evidence_query *a, const kith__rule *rule, uint32_t x, uint32_t self)
{
    kith__spans ends = kith__view_reached(&a->view, x, rule->relation[1]);
    size_t taken = ends.count < MOST_ENDS ? ends.count : MOST_ENDS;

    for (size_t i = 0; i < taken; i++) {
        uint32_t o = kith__spans_pick(&ends, taken, i).entity;
        if (o == self || o == x)
            continue;
        kith__reason reason = kith__rule_reason(KITH__PATH_KIND, rule, o);
        reason.between[0] = x;
        kith__evidence_support(a, &reason);
    }
}

static void find(kith__evidence_query *a, const kith__query_facts *queried)
{
    const kith__rules *rules = &a->evidence->rules->of[KITH__PATH_KIND];

    for (uint64_t i = rules->offset[a->query]; i < rules->offset[a->query + 1]; i++) {
        kith__span first = kith__span_of(queried->facts, rules->at[i].relation[0]);
        for (size_t k = 0; k < first.count && !a->no_memory; k++)
            if (first.at[k].entity != queried->self)
                walk(a, &rules->at[i], first.at[k].entity, queried->self);
    }
}

const kith__rule_kind kith__path_rules = {.part = KITH__PART_PATH,
                                          .letter = 'B',
                                          .name = "path",
                                          .form = "r1(s, x), r2(x, o) => q(s, o)",
                                          .steps = 2,
                                          .array = "b",
                                          .mine = mine,
                                          .find = find};
