/* Constant rules, r(s, c) => q(s, o), where c and o are constants. They are counted over the
 * entities that share the fact (r, c) with s and have some q-fact. */
#include "core/mem.h"
#include "rules/counter.h"
#include "rules/evidence.h"
#include "rules/list_rules.h"

/* The maximum number of entities with a fact that are counted, at even intervals: for a query, and
 * for a list. */
enum { MOST_SUBJECTS = 256, MOST_LISTED = 1024 };

/* ---- a query ---- */

/* Tally the answers of the entities that share a fact with s; returns how many of these have some
 * answer. */
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
        kith__spans answers = kith__evidence_answers(a, s);
        body_count += answers.count > 0;
        for (size_t k = 0; k < answers.count; k++)
            kith__evidence_tally(a, kith__spans_at(&answers, k).entity);
    }
    return body_count;
}

static void find(kith__evidence_query *a, const kith__query_facts *queried)
{
    for (size_t i = 0; i < queried->facts.count && !a->no_memory; i++) {
        kith_neighbor fact = queried->facts.at[i];
        kith__reason rule = {.kind = KITH__CONSTANT_KIND,
                             .relation = {fact.relation, KITH__NO_RELATION, KITH__NO_RELATION},
                             .between = {fact.entity, UINT32_MAX}};
        rule.body_count = tally_answers(a, fact, queried->self);
        kith__evidence_support_tallied(a, rule, queried->self);
    }
}

/* ---- listing ---- */

/* Count what the entities with r(., c) have in common; `spans` are those entities. */
static int list_group(kith__listing *l, size_t piece, uint32_t relation, uint32_t constant,
                      kith__span subjects)
{
    kith__counter answers = {0}, owners = {0};
    const kith__index *x = l->index;
    uint32_t r = kith__inverse(x, relation);
    size_t taken = subjects.count < MOST_LISTED ? subjects.count : MOST_LISTED;
    int failed = 0;

    for (size_t i = 0; i < taken && !failed; i++) {
        kith__span facts = kith__facts_of(x, subjects.at[i * subjects.count / taken].entity);
        for (size_t k = 0; k < facts.count && !failed; k++) {
            uint32_t q = facts.at[k].relation;
            if (!kith__listing_concludes(l, q))
                continue;
            failed = kith__counter_add(&answers, (uint64_t)q << 32 | facts.at[k].entity, 1);
            if (!failed && (k == 0 || facts.at[k - 1].relation != q))
                failed = kith__counter_add(&owners, q, 1);
        }
    }
    for (size_t i = 0; i < answers.places && !failed; i++) {
        uint32_t q = (uint32_t)(answers.at[i].key >> 32), o = (uint32_t)answers.at[i].key;
        if (answers.at[i].key == UINT64_MAX || (q == r && o == constant))
            continue;
        kith__rule made = {.relation = {r, KITH__NO_RELATION, KITH__NO_RELATION},
                           .support = (uint32_t)answers.at[i].count,
                           .body_count = (uint32_t)kith__counter_find(&owners, q)->count};
        kith_rule rule = kith__listing_rule(l, KITH__PART_CONSTANT, q, &made);
        rule.constant = constant;
        rule.answer = o;
        kith__listing_add(l, piece, &rule);
    }
    kith__counter_release(&answers);
    kith__counter_release(&owners);
    return failed;
}

static void list_piece(void *context, size_t piece)
{
    kith__listing *l = context;
    const kith__index *x = l->index;
    uint32_t to = (uint32_t)((uint64_t)x->seen * (piece + 1) / KITH__LISTING_PIECES);

    for (uint32_t c = (uint32_t)((uint64_t)x->seen * piece / KITH__LISTING_PIECES); c < to; c++) {
        if (kith__watch_add(l->watch, 1))
            return;
        kith__span facts = kith__facts_of(x, c);
        for (size_t from = 0, end; from < facts.count; from = end) {
            for (end = from;
                 end < facts.count && facts.at[end].relation == facts.at[from].relation;)
                end++;
            if (end - from >= l->options->min_support && end - from > 1 &&
                list_group(l, piece, facts.at[from].relation, c,
                           (kith__span){facts.at + from, end - from}))
                kith__flag_raise(&l->no_memory);
        }
    }
}

static kith_status list(kith__listing *l, kith__pool *pool, kith_error *error)
{
    kith_status status;

    TRY(kith__watch_begin(l->watch, "counting constant rules", l->index->seen, error));
    kith__pool_run(pool, list_piece, l, KITH__LISTING_PIECES);
    TRY(kith__watch_status(l->watch, error));
cleanup:
    return status;
}

static void find_examples(kith__listing *l, void *rule, uint32_t subject, kith__span answers)
{
    const kith_rule *r = kith__listed_rule(rule);
    kith__span first =
        kith__reached(l->index, subject, kith__listing_relation(l, r->first, r->first_inverse));

    if (kith__span_has(first, r->constant))
        kith__listed_example(rule, kith__span_has(answers, r->answer),
                             (kith_rule_example){.subject = subject,
                                                 .between = r->constant,
                                                 .object = r->answer,
                                                 .between_second = UINT32_MAX});
}

const kith__rule_kind kith__constant_rules = {.part = KITH__PART_CONSTANT,
                                              .letter = 'C',
                                              .name = "constant",
                                              .form = "r(s, c) => q(s, o), c and o constants",
                                              .find = find,
                                              .list = list,
                                              .find_examples = find_examples};
