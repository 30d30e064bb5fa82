/* Shared-answer rules, r(o, c) => q(s, o), where c and s are constants: facts that the known
 * answers of q(s, ?) have in common. */
#include <stdlib.h>

#include "core/mem.h"
#include "rules/evidence.h"

/* The maximum number of known answers, and of facts of each, that are considered. */
enum { MOST_KNOWN = 32, MOST_SHARING = 256 };

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

static void find_by(kith__evidence_query *a, kith_neighbor fact, uint32_t support,
                           size_t known, uint32_t self)
{
    kith__spans having =
        kith__view_reached(&a->view, fact.entity, kith__inverse(a->view.base, fact.relation));
    float confidence = kith__shrunk(support, (double)having.count);
    float share = (float)support / ((float)known + 1);
    kith__reason reason = {.kind = KITH__SHARED_KIND,
                           .relation = {fact.relation, KITH__NO_RELATION, KITH__NO_RELATION},
                           .between = {fact.entity, UINT32_MAX},
                           .confidence = confidence,
                           .support = support,
                           .body_count = (uint32_t)having.count};

    if (having.count > MOST_SHARING || having.count <= support)
        return;
    for (size_t i = 0; i < having.count; i++) {
        uint32_t o = kith__spans_at(&having, i).entity;
        float *feature = o == self ? NULL : kith__evidence_row_for(a, o);
        if (!feature)
            continue;
        if (confidence > feature[KITH__SHARED_BEST])
            feature[KITH__SHARED_BEST] = confidence;
        if (share > feature[KITH__SHARED_SHARE])
            feature[KITH__SHARED_SHARE] = share;
        feature[KITH__SHARED_SUM] += confidence;
        reason.candidate = o;
        kith__evidence_report(a, &reason);
    }
}

static void find(kith__evidence_query *a, const kith__query_facts *queried)
{
    kith__span known = queried->known;
    size_t taken = known.count < MOST_KNOWN ? known.count : MOST_KNOWN;
    size_t count = gather_shared(a, known, taken);

    for (size_t from = 0, to; from < count && !a->no_memory; from = to) {
        for (to = from; to < count && by_fact(&a->shared[from], &a->shared[to]) == 0; to++)
            ;
        /* The fact q(s, .) that all answers share is the query itself. */
        if (a->shared[from].entity == queried->self)
            continue;
        if (to - from > 1 || taken < 3)
            find_by(a, a->shared[from], (uint32_t)(to - from), taken, queried->self);
    }
}

const kith__rule_kind kith__shared_rules = {.part = KITH__PART_SHARED,
                                            .letter = 'D',
                                            .name = "shared-answer",
                                            .form = "r(o, c) => q(s, o), c and s constants",
                                            .find = find};
