/* Direct rules, r(s, o) => q(s, o): facts between the same two entities. The mined confidence is
 * mixed with how often the rule holds at this s and at this o. */
#include <stdbool.h>

#include "rules/evidence.h"
#include "rules/mine.h"

enum { MOST_BETWEEN = 64, MOST_LOCAL = 256 }; /* beyond these, facts are cut or sampled */

/* ---- mining ---- */

/* Count every pair of relations between the same two entities, for at most MOST_BETWEEN relations.
 * A loop and its inverse are the same fact, which is not evidence for itself. */
static int count_support(const kith__mining_entity *s)
{
    const kith_neighbor *at = s->by_entity;

    for (size_t from = 0, to; from < s->facts.count; from = to) {
        for (to = from; to < s->facts.count && at[to].entity == at[from].entity; to++)
            ;
        size_t end = to - from > MOST_BETWEEN ? from + MOST_BETWEEN : to;
        for (size_t i = from; i < end; i++)
            for (size_t j = from; j < end; j++) {
                uint32_t r = at[i].relation, q = at[j].relation;
                bool same = at[i].entity == s->self && q == kith__inverse(s->index, r);
                if (i != j && !same && kith__mining_support(s, q, &r))
                    return -1;
            }
    }
    return 0;
}

/* A loop is neither counted as a body nor as support of a conclusion that is its inverse. */
static void count_bodies(const kith__mining_entity *s)
{
    for (size_t from = 0, to; from < s->facts.count; from = to) {
        uint32_t r = s->facts.at[from].relation;
        for (to = from; to < s->facts.count && s->facts.at[to].relation == r; to++)
            if (s->facts.at[to].entity == s->self)
                kith__mining_take_back(s, kith__inverse(s->index, r), &r);
        kith__mining_body(s, &r, to - from);
    }
}

static kith_status mine(kith__rules *rules, const kith__index *index, kith__pool *pool,
                        kith_error *error)
{
    static const kith__mining_method method = {.stage = "mining direct rules",
                                               .steps = 1,
                                               .most_keys = 1 << 24,
                                               .count_support = count_support,
                                               .count_bodies = count_bodies};
    return kith__mine(rules, index, &method, pool, error);
}

/* ---- a query ---- */

/* Local counts at o: of the entities x with r(x, o) and some q-fact, how many have q(x, o). Loops
 * of the inverse of q are the same facts as those of q. */
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
        if (s == self || !kith__evidence_has_answers(a, s) || (s == o && relation == inverse))
            continue;
        ++*body_count;
        *support += (uint32_t)kith__spans_has(&right, s);
    }
}

/* Local counts at s: of the entities x with r(s, x), how many have q(s, x). One entity is
 * excluded. */
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
        float *feature = kith__evidence_row_for(a, at[i].entity);
        if (feature)
            feature[KITH__DIRECT_LINKS]++;
    }
}

static void find_at(kith__evidence_query *a, const kith__query_facts *queried,
                    const kith__rule *rule, kith__span facts)
{
    uint32_t r = rule->relation[0], support_here = 0, body_count_here = 0;
    bool inverse = r == kith__inverse(a->view.base, a->query);

    count_at_subject(&support_here, &body_count_here, facts, queried->known,
                     inverse ? queried->self : UINT32_MAX);
    for (size_t i = 0; i < facts.count; i++) {
        uint32_t o = facts.at[i].entity, support = support_here, body_count = body_count_here;
        if (inverse && o == queried->self)
            continue;
        /* The candidate itself must not count as a wrong answer, because it is unknown. */
        if (body_count > 0 && !kith__span_has(queried->known, o))
            body_count--;
        count_at_object(&support, &body_count, a, o, r, queried->self);
        kith__reason reason = kith__rule_reason(KITH__DIRECT_KIND, rule, o);
        reason.confidence = (rule->confidence * KITH__SHRINK + (float)support) /
                            (KITH__SHRINK + (float)body_count);
        float *feature = kith__evidence_support(a, &reason);
        if (!feature)
            return;
        if (rule->confidence > feature[KITH__DIRECT_MINED])
            feature[KITH__DIRECT_MINED] = rule->confidence;
    }
}

static void find(kith__evidence_query *a, const kith__query_facts *queried)
{
    kith__span facts = queried->facts;

    for (size_t from = 0, to; from < facts.count; from = to) {
        uint32_t r = facts.at[from].relation;
        for (to = from; to < facts.count && facts.at[to].relation == r; to++)
            ;
        if (r == a->query)
            continue;
        count_links(a, facts.at + from, to - from);
        const kith__rule *rule = kith__rule_set_direct(a->evidence->rules, a->query, r);
        if (rule && rule->confidence > 0)
            find_at(a, queried, rule, (kith__span){facts.at + from, to - from});
    }
}

const kith__rule_kind kith__direct_rules = {.part = KITH__PART_DIRECT,
                                            .letter = 'A',
                                            .name = "direct",
                                            .form = "r(s, o) => q(s, o)",
                                            .steps = 1,
                                            .array = "a",
                                            .mine = mine,
                                            .find = find};
