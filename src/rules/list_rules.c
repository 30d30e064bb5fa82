/* The strongest rules that name an answer, for people, with facts that they hold for and fail on. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/flag.h"
#include "core/mem.h"
#include "core/options.h"
#include "rules/best.h"
#include "rules/implication.h"
#include "rules/counter.h"
#include "rules/list_rules.h"

enum { PIECES = 64, MOST_SUBJECTS = 1024 };

enum { EXAMPLES = 2 }; /* of each sort */

/* A rule while it is listed; the caller's points to its examples in the end. */
typedef struct {
    kith_rule rule;
    kith_rule_example holds[EXAMPLES], fails[EXAMPLES];
} listed;

typedef struct {
    const kith_graph *graph;
    const kith__index *index;
    kith__watch *watch;
    const kith_rules_options *options;
    /* Per piece: the best rules so far. */
    kith__best best[PIECES + 1];
    kith__flag no_memory;
} listing;

static int stronger_first(const void *a, const void *b)
{
    const kith_rule *x = &((const listed *)a)->rule, *y = &((const listed *)b)->rule;

    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    if (x->support != y->support)
        return x->support < y->support ? 1 : -1;
    /* A total order, so that the list does not depend on who found what first. */
    const uint32_t p[] = {x->conclusion, (uint32_t)x->conclusion_inverse, x->first,
                          (uint32_t)x->first_inverse, x->second, (uint32_t)x->second_inverse,
                          x->constant, x->answer, (uint32_t)x->kind};
    const uint32_t q[] = {y->conclusion, (uint32_t)y->conclusion_inverse, y->first,
                          (uint32_t)y->first_inverse, y->second, (uint32_t)y->second_inverse,
                          y->constant, y->answer, (uint32_t)y->kind};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static void add(listing *l, size_t piece, const kith_rule *rule)
{
    const listed item = {.rule = *rule};

    if (rule->support >= l->options->min_support && kith__best_add(&l->best[piece], &item))
        kith__flag_raise(&l->no_memory);
}

static kith_rule made(const listing *l, kith_evidence_part kind, uint32_t first, uint32_t second,
                      uint32_t head, uint32_t support, uint32_t body_count)
{
    uint32_t m = l->index->relations / 2;
    bool two = second != KITH__NO_RELATION;

    return (kith_rule){.kind = kind,
                              .first = kith__undirected(l->graph, first),
                              .first_inverse = first >= m,
                              .second = two ? kith__undirected(l->graph, second) : UINT32_MAX,
                              .second_inverse = two && second >= m,
                              .constant = UINT32_MAX,
                              .answer = UINT32_MAX,
                              .conclusion = kith__undirected(l->graph, head),
                              .conclusion_inverse = head >= m,
                              .support = support,
                              .body_count = body_count,
                              .confidence = kith__shrunk(support, body_count)};
}

static bool concludes(const listing *l, uint32_t head)
{
    return l->options->conclusion == UINT32_MAX ||
           kith__undirected(l->graph, head) == l->options->conclusion;
}

static void list_patterns(listing *l, const kith__rules *p, kith_evidence_part kind)
{
    for (uint32_t q = 0; q < p->relations; q++)
        for (uint64_t i = p->offset[q]; concludes(l, q) && i < p->offset[q + 1]; i++) {
            kith_rule rule = made(l, kind, p->at[i].first, p->at[i].second, q, p->at[i].support,
                                         p->at[i].body_count);
            add(l, PIECES, &rule);
        }
}

/* ---- constant rules ---- */

/* Count what the entities with r(., c) have in common; `spans` are those entities. */
static int list_group(listing *l, size_t piece, uint32_t relation, uint32_t constant,
                      kith__span subjects)
{
    kith__counter answers = {0}, owners = {0};
    const kith__index *x = l->index;
    uint32_t r = kith__inverse(x, relation);
    size_t taken = subjects.count < MOST_SUBJECTS ? subjects.count : MOST_SUBJECTS;
    int failed = 0;

    for (size_t i = 0; i < taken && !failed; i++) {
        kith__span facts = kith__facts_of(x, subjects.at[i * subjects.count / taken].entity);
        for (size_t k = 0; k < facts.count && !failed; k++) {
            uint32_t q = facts.at[k].relation;
            if (!concludes(l, q))
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
        kith_rule rule =
            made(l, KITH_PART_CONSTANT, r, KITH__NO_RELATION, q, (uint32_t)answers.at[i].count,
                 (uint32_t)kith__counter_find(&owners, q)->count);
        rule.constant = constant;
        rule.answer = o;
        add(l, piece, &rule);
    }
    kith__counter_release(&answers);
    kith__counter_release(&owners);
    return failed;
}

static void constants_piece(void *context, size_t piece)
{
    listing *l = context;
    const kith__index *x = l->index;
    uint32_t to = (uint32_t)((uint64_t)x->seen * (piece + 1) / PIECES);

    for (uint32_t c = (uint32_t)((uint64_t)x->seen * piece / PIECES); c < to; c++) {
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
    kith__best_sort(&l->best[piece]);
}

/* ---- examples ---- */

static uint32_t directed(const listing *l, uint32_t relation, int inverse)
{
    return relation + (inverse ? l->index->relations / 2 : 0);
}

static void note_example(listed *to, bool holds, uint32_t s, uint32_t x, uint32_t o)
{
    kith_rule_example *at = holds ? to->holds : to->fails;
    size_t *count = holds ? &to->rule.holds_count : &to->rule.fails_count;

    if (*count < EXAMPLES)
        at[(*count)++] = (kith_rule_example){s, x, o};
}

static bool wants_more(const kith_rule *rule)
{
    return rule->holds_count < EXAMPLES || rule->fails_count < EXAMPLES;
}

static void find_at(listed *to, const listing *l, uint32_t s, kith__span answers)
{
    const kith_rule *rule = &to->rule;
    const kith__index *x = l->index;
    kith__span first = kith__reached(x, s, directed(l, rule->first, rule->first_inverse));

    if (rule->kind == KITH_PART_CONSTANT) {
        if (kith__span_has(first, rule->constant))
            note_example(to, kith__span_has(answers, rule->answer), s, rule->constant,
                         rule->answer);
        return;
    }
    for (size_t i = 0; i < first.count && wants_more(rule); i++) {
        uint32_t between = first.at[i].entity;
        bool inverse = rule->first == rule->conclusion &&
                       rule->first_inverse != rule->conclusion_inverse;
        if (rule->kind == KITH_PART_DIRECT) {
            if (between != s || !inverse)
                note_example(to, kith__span_has(answers, between), s, UINT32_MAX, between);
            continue;
        }
        if (between == s)
            continue;
        kith__span ends =
            kith__reached(x, between, directed(l, rule->second, rule->second_inverse));
        for (size_t k = 0; k < ends.count && wants_more(rule); k++)
            if (ends.at[k].entity != s && ends.at[k].entity != between)
                note_example(to, kith__span_has(answers, ends.at[k].entity), s, between,
                             ends.at[k].entity);
    }
}

static void find_examples(listed *to, const listing *l)
{
    const kith__index *x = l->index;
    const kith_rule *rule = &to->rule;
    uint32_t q = directed(l, rule->conclusion, rule->conclusion_inverse);

    for (uint64_t i = x->owner_offset[q]; i < x->owner_offset[q + 1] && wants_more(rule); i++)
        find_at(to, l, x->owner[i], kith__reached(x, x->owner[i], q));
}

/* ---- the list ---- */

static int gather(listing *l)
{
    for (size_t i = 0; i < PIECES; i++) {
        const listed *at = l->best[i].at;
        for (size_t k = 0; k < l->best[i].count; k++)
            add(l, PIECES, &at[k].rule);
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

kith_status kith__rules_options(kith_rules_options *used, const kith_rules_options *given,
                                kith_error *error)
{
    kith_rules_options_init(used);
    return kith__options_copy(used, sizeof *used, sizeof *used, given, error);
}

/* What the caller sees, and the rules with their examples. */
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

/* Takes over the rules, also if out of memory. */
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

/* The kinds that the options ask for, into the last list. */
static kith_status list_kinds(listing *l, const kith__evidence *evidence, kith__pool *pool,
                              kith_error *error)
{
    unsigned kinds = l->options->kinds ? l->options->kinds : KITH_PART_RULES;
    kith_status status = KITH_OK;

    l->index = evidence->base->index;
    if (kinds & KITH_PART_DIRECT)
        list_patterns(l, &evidence->rules->pairs, KITH_PART_DIRECT);
    if (kinds & KITH_PART_PATH)
        list_patterns(l, &evidence->rules->paths, KITH_PART_PATH);
    if (kinds & KITH_PART_CONSTANT) {
        TRY(kith__watch_begin(l->watch, "counting constant rules", l->index->seen, error));
        kith__pool_run(pool, constants_piece, l, PIECES);
        TRY(kith__watch_status(l->watch, error));
    }
    if (gather(l))
        TRY(kith__no_memory(error));
cleanup:
    return status;
}

static kith_status add_examples(listing *l, listed *at, size_t count, kith_error *error)
{
    kith_status status = kith__watch_begin(l->watch, "looking for examples", count, error);

    for (size_t i = 0; status == KITH_OK && i < count; i++) {
        find_examples(&at[i], l);
        if (kith__watch_add(l->watch, 1))
            status = kith__watch_status(l->watch, error);
    }
    return status;
}

/* Rules of the graph are mined where no evidence is given. */
static kith_status list_all(kith_rules **rules, const kith_graph *graph,
                            const kith__evidence *given, const kith_rules_options *options,
                            kith__watch *watch, kith_error *error)
{
    listing l = {.graph = graph, .options = options, .watch = watch};
    kith__best *all = &l.best[PIECES];
    kith__pool *pool = kith__pool_new(options->threads);
    kith__evidence *evidence = NULL;
    kith_status status = KITH_OK;

    for (size_t i = 0; i <= PIECES; i++)
        l.best[i] = (kith__best){
            .size = sizeof(listed), .top = options->top, .compare = stronger_first};
    if (!pool)
        TRY(kith__no_memory(error));
    kith__pool_set_watch(pool, watch);
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
    kith__pool_free(pool);
    return status;
}

kith_status kith__rules_list(kith_rules **rules, const kith_graph *graph,
                             const kith__evidence *evidence, const kith_rules_options *given,
                             kith_error *error)
{
    kith_rules_options options;
    kith__watch watch;
    kith_status status = kith__rules_options(&options, given, error);

    if (status != KITH_OK)
        return status;
    kith__watch_init(&watch, options.watch, options.context);
    status = list_all(rules, graph, evidence, &options, &watch, error);
    kith__watch_release(&watch);
    return status;
}

kith_status kith_graph_rules(kith_rules **rules, const kith_graph *graph,
                             const kith_rules_options *options, kith_error *error)
{
    if (!rules || !graph)
        return kith__null_argument(error, __func__);
    return kith__rules_list(rules, graph, NULL, options, error);
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
