/* Lists the strongest rules that name an answer for users, with facts for which they hold and
 * fail. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/options.h"
#include "rules/list_rules.h"

/* maximum number of examples that hold, and of those that fail */
enum { PIECES = KITH__LISTING_PIECES, EXAMPLES = 2 };

/* A rule that is being listed; in the end, the public rule points to its examples. */
typedef struct {
    kith_rule rule;
    kith_rule_example holds[EXAMPLES], fails[EXAMPLES];
} listed;

static int stronger_first(const void *a, const void *b)
{
    const kith_rule *x = &((const listed *)a)->rule, *y = &((const listed *)b)->rule;

    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    if (x->support != y->support)
        return x->support < y->support ? 1 : -1;
    /* A total order, so that the list does not depend on which thread found a rule first. */
    const uint32_t p[] = {x->conclusion,    (uint32_t)x->conclusion_inverse,
                          x->first,         (uint32_t)x->first_inverse,
                          x->second,        (uint32_t)x->second_inverse,
                          x->third,         (uint32_t)x->third_inverse,
                          x->constant,      x->answer,
                          (uint32_t)x->kind};
    const uint32_t q[] = {y->conclusion,    (uint32_t)y->conclusion_inverse,
                          y->first,         (uint32_t)y->first_inverse,
                          y->second,        (uint32_t)y->second_inverse,
                          y->third,         (uint32_t)y->third_inverse,
                          y->constant,      y->answer,
                          (uint32_t)y->kind};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

void kith__listing_add(kith__listing *l, size_t piece, const kith_rule *rule)
{
    const listed item = {.rule = *rule};

    if (rule->support >= l->options->min_support && kith__best_add(&l->best[piece], &item))
        kith__flag_raise(&l->no_memory);
}

static void set_relation(uint32_t *relation, int *inverse, const kith__listing *l,
                         uint32_t directed)
{
    bool is = directed != KITH__NO_RELATION;

    *relation = is ? kith__undirected(l->graph, directed) : UINT32_MAX;
    *inverse = is && directed >= l->index->relations / 2;
}

kith_rule kith__listing_rule(const kith__listing *l, unsigned part, uint32_t conclusion,
                             const kith__rule *rule)
{
    kith_rule made = {.kind = (kith_evidence_part)part,
                      .constant = UINT32_MAX,
                      .answer = UINT32_MAX,
                      .support = rule->support,
                      .body_count = rule->body_count,
                      .confidence = kith__shrunk(rule->support, rule->body_count)};

    set_relation(&made.first, &made.first_inverse, l, rule->relation[0]);
    set_relation(&made.second, &made.second_inverse, l, rule->relation[1]);
    set_relation(&made.third, &made.third_inverse, l, rule->relation[2]);
    set_relation(&made.conclusion, &made.conclusion_inverse, l, conclusion);
    return made;
}

bool kith__listing_concludes(const kith__listing *l, uint32_t conclusion)
{
    return l->options->conclusion == UINT32_MAX ||
           kith__undirected(l->graph, conclusion) == l->options->conclusion;
}

static void list_mined(kith__listing *l, const kith__rules *p, unsigned part)
{
    for (uint32_t q = 0; q < p->relations; q++)
        for (uint64_t i = p->offset[q]; kith__listing_concludes(l, q) && i < p->offset[q + 1];
             i++) {
            kith_rule rule = kith__listing_rule(l, part, q, &p->at[i]);
            kith__listing_add(l, PIECES, &rule);
        }
}

/* ---- examples ---- */

uint32_t kith__listing_relation(const kith__listing *l, uint32_t relation, int inverse)
{
    return relation + (inverse ? l->index->relations / 2 : 0);
}

const kith_rule *kith__listed_rule(const void *at)
{
    return &((const listed *)at)->rule;
}

void kith__listed_example(void *at, bool holds, kith_rule_example example)
{
    listed *to = at;
    kith_rule_example *examples = holds ? to->holds : to->fails;
    size_t *count = holds ? &to->rule.holds_count : &to->rule.fails_count;

    if (*count < EXAMPLES)
        examples[(*count)++] = example;
}

static bool wants_more(const kith_rule *rule)
{
    return rule->holds_count < EXAMPLES || rule->fails_count < EXAMPLES;
}

/* A chain of facts from s along a rule's body. */
typedef struct {
    listed *to;
    const kith__listing *listing;
    uint32_t relation[KITH__MOST_STEPS];
    size_t steps;
    uint32_t entity[KITH__MOST_STEPS + 1]; /* s first */
    kith__span answers;
} chain;

/* Paths do not return to an entity, and a loop is not evidence for its own inverse. */
static bool may_go(const chain *c, size_t step, uint32_t entity)
{
    const kith_rule *rule = &c->to->rule;

    if (c->steps == 1)
        return entity != c->entity[0] || rule->first != rule->conclusion ||
               rule->first_inverse == rule->conclusion_inverse;
    for (size_t i = 0; i <= step; i++)
        if (c->entity[i] == entity)
            return false;
    return true;
}

static void note_chain(const chain *c)
{
    const uint32_t *e = c->entity;

    kith__listed_example(c->to, kith__span_has(c->answers, e[c->steps]),
                         (kith_rule_example){.subject = e[0],
                                             .between = c->steps > 1 ? e[1] : UINT32_MAX,
                                             .object = e[c->steps],
                                             .between_second = c->steps > 2 ? e[2] : UINT32_MAX});
}

static void follow(chain *c, size_t step)
{
    kith__span next = kith__reached(c->listing->index, c->entity[step], c->relation[step]);

    for (size_t i = 0; i < next.count && wants_more(&c->to->rule); i++) {
        if (!may_go(c, step, next.at[i].entity))
            continue;
        c->entity[step + 1] = next.at[i].entity;
        if (step + 1 < c->steps)
            follow(c, step + 1);
        else
            note_chain(c);
    }
}

static void follow_from(listed *to, const kith__listing *l, size_t steps, uint32_t s,
                        kith__span answers)
{
    const kith_rule *r = &to->rule;
    chain c = {.to = to,
               .listing = l,
               .relation = {kith__listing_relation(l, r->first, r->first_inverse),
                            kith__listing_relation(l, r->second, r->second_inverse),
                            kith__listing_relation(l, r->third, r->third_inverse)},
               .steps = steps,
               .entity = {s},
               .answers = answers};

    follow(&c, 0);
}

static void find_examples(listed *to, kith__listing *l)
{
    const kith__index *x = l->index;
    const kith_rule *rule = &to->rule;
    const kith__rule_kind *kind = kith__rule_kind_of(rule->kind);
    uint32_t q = kith__listing_relation(l, rule->conclusion, rule->conclusion_inverse);

    for (uint64_t i = x->owner_offset[q]; i < x->owner_offset[q + 1] && wants_more(rule); i++) {
        kith__span answers = kith__reached(x, x->owner[i], q);
        if (kind->find_examples)
            kind->find_examples(l, to, x->owner[i], answers);
        else if (kind->steps > 0)
            follow_from(to, l, kind->steps, x->owner[i], answers);
    }
}

/* ---- the list ---- */

static int gather(kith__listing *l)
{
    for (size_t i = 0; i < PIECES; i++) {
        kith__best_sort(&l->best[i]);
        const listed *at = l->best[i].at;
        for (size_t k = 0; k < l->best[i].count; k++)
            kith__listing_add(l, PIECES, &at[k].rule);
        kith__best_release(&l->best[i]);
    }
    kith__best_sort(&l->best[PIECES]);
    return kith__flag_raised(&l->no_memory) ? -1 : 0;
}

void(kith_rules_options_init)(kith_rules_options *options, size_t size)
{
    const kith_rules_options defaults = {
        .kinds = KITH_PART_RULES, .conclusion = UINT32_MAX, .min_support = 1, .top = 20};

    kith__options_give(options, size, &defaults, sizeof defaults);
}

kith_status kith__rules_options(kith_rules_options *used, const kith_graph *graph,
                                const kith_rules_options *given, kith_error *error)
{
    uint32_t relations = kith_graph_relation_count(graph);
    kith_status status;

    kith_rules_options_init(used);
    TRY(kith__options_copy(used, sizeof *used, sizeof *used, given, error));
    if (used->conclusion != UINT32_MAX && used->conclusion >= relations)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "no relation has the id %u; there are %u",
                       used->conclusion, relations));
cleanup:
    return status;
}

/* The public list, and the rules with their examples. */
typedef struct {
    kith_rules shown;
    listed *at;
    const kith_rule_example **examples;
} result;

static const kith_rule_example *const *point_to(const kith_rule_example **slots,
                                                const kith_rule_example *at)
{
    for (size_t i = 0; i < EXAMPLES; i++)
        slots[i] = &at[i];
    return slots;
}

/* Takes ownership of the rules, even if out of memory. */
static kith_status publish(kith_rules **rules, listed *at, size_t count, kith_error *error)
{
    result *out = kith__calloc(1, sizeof *out);
    const kith_rule **list = kith__alloc(count, sizeof *list);
    const kith_rule_example **examples = kith__alloc(count, 2 * EXAMPLES * sizeof *examples);

    if (!out || !list || !examples) {
        kith__free(out);
        kith__free(list);
        kith__free(examples);
        kith__free(at);
        return kith__no_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        at[i].rule.holds = point_to(examples + 2 * EXAMPLES * i, at[i].holds);
        at[i].rule.fails = point_to(examples + 2 * EXAMPLES * i + EXAMPLES, at[i].fails);
        list[i] = &at[i].rule;
    }
    *out = (result){.shown = {.at = list, .count = count}, .at = at, .examples = examples};
    *rules = &out->shown;
    return KITH_OK;
}

/* List the kinds that the options select, merged into the last list. */
static kith_status list_kinds(kith__listing *l, const kith__evidence *evidence, kith__pool *pool,
                              kith_error *error)
{
    unsigned kinds = l->options->kinds ? l->options->kinds : KITH_PART_RULES;
    kith_status status = KITH_OK;

    l->index = evidence->base->index;
    for (size_t i = 0; i < KITH__RULE_KINDS; i++) {
        const kith__rule_kind *kind = kith__rule_kinds[i];
        if (!(kinds & kind->part))
            continue;
        if (kind->steps > 0)
            list_mined(l, &evidence->rules->of[i], kind->part);
        if (kind->list)
            TRY(kind->list(l, pool, error));
    }
    if (gather(l))
        TRY(kith__no_memory(error));
cleanup:
    return status;
}

static kith_status add_examples(kith__listing *l, listed *at, size_t count, kith_error *error)
{
    kith_status status = kith__watch_begin(l->watch, "looking for examples", count, error);

    for (size_t i = 0; status == KITH_OK && i < count; i++) {
        find_examples(&at[i], l);
        if (kith__watch_add(l->watch, 1))
            status = kith__watch_status(l->watch, error);
    }
    return status;
}

/* Without evidence, rules are mined from the graph. */
static kith_status list_all(kith_rules **rules, const kith_graph *graph,
                            const kith__evidence *given, kith__pool *pool,
                            const kith_rules_options *options, kith__watch *watch,
                            kith_error *error)
{
    kith__listing l = {.graph = graph, .options = options, .watch = watch};
    kith__best *all = &l.best[PIECES];
    kith__evidence *evidence = NULL;
    kith_status status = KITH_OK;

    for (size_t i = 0; i <= PIECES; i++)
        l.best[i] = (kith__best){
            .size = sizeof(listed), .top = options->top, .compare = stronger_first};
    if (!pool)
        TRY(kith__no_memory(error));
    kith__pool_set_watch(pool, watch);
    TRY(kith__watch_begin(watch, "indexing facts", 0, error));
    if (!given)
        TRY(kith__evidence_new(&evidence, graph, false, pool, error));
    TRY(list_kinds(&l, given ? given : evidence, pool, error));
    TRY(add_examples(&l, all->at, all->count, error));
    status = publish(rules, all->at, all->count, error);
    all->at = NULL;
cleanup:
    for (size_t i = 0; i <= PIECES; i++)
        kith__best_release(&l.best[i]);
    kith__evidence_free(evidence);
    if (pool)
        kith__pool_set_watch(pool, NULL);
    return status;
}

kith_status kith__rules_list(kith_rules **rules, const kith_graph *graph,
                             const kith__evidence *evidence, kith__pool *pool,
                             const kith_rules_options *options, kith_error *error)
{
    kith__watch watch;

    kith__watch_init(&watch, options->watch, options->context);
    kith_status status = list_all(rules, graph, evidence, pool, options, &watch, error);
    kith__watch_release(&watch);
    return status;
}

kith_status kith_graph_rules(kith_rules **rules, const kith_graph *graph,
                             const kith_rules_options *given, kith_error *error)
{
    if (!rules || !graph)
        return kith__null_argument(error, __func__);

    kith_rules_options options;
    kith_status status = kith__rules_options(&options, graph, given, error);

    if (status != KITH_OK)
        return status;
    kith__pool *pool = kith__pool_new(options.threads);
    status = kith__rules_list(rules, graph, NULL, pool, &options, error);
    kith__pool_free(pool);
    return status;
}

void kith_rules_free(kith_rules *rules)
{
    result *kept = (result *)rules;

    if (!rules)
        return;
    kith__free((void *)(uintptr_t)rules->at);
    kith__free(kept->examples);
    kith__free(kept->at);
    kith__free(kept);
}
