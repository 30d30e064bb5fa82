/* Rules that name answers: the index, the counter, mining and asking, each against a brute-force
 * twin that looks at every triple of a small random graph. */
#include <math.h>

#include "core/mem.h"
#include "graph/align.h"
#include "graph/graph.h"
#include "graph/make/holdout.h"
#include "rules/counter.h"
#include "rules/evidence.h"
#include "rules/implication.h"
#include "support.h"

static unsigned below(kith__rng *rng, unsigned bound)
{
    return (unsigned)kith__rng_below(rng, bound);
}

/* ---- small worlds ---- */

/* A graph, and which triples its index must have: fact[(r * entities + s) * entities + o]. */
typedef struct {
    kith_graph *graph;
    kith__pool *pool;
    kith__evidence *evidence;
    uint32_t relations, seen, entities; /* relations: 2m */
    uint8_t *fact;
} world;

static uint8_t *at(const world *w, uint32_t r, uint32_t s, uint32_t o)
{
    return &w->fact[((size_t)r * w->entities + s) * w->entities + o];
}

static bool is(const world *w, uint32_t r, uint32_t s, uint32_t o)
{
    return *at(w, r, s, o);
}

static bool has(const world *w, uint32_t r, uint32_t s)
{
    for (uint32_t o = 0; o < w->entities; o++)
        if (is(w, r, s, o))
            return true;
    return false;
}

/* Train in both directions; aux only at its unseen end, towards seen ones. */
static void mark_facts(world *w)
{
    kith_facts train = kith_graph_facts(w->graph, KITH_TRAIN);
    kith_facts aux = kith_graph_facts(w->graph, KITH_AUX);
    uint32_t m = w->relations / 2;

    for (size_t i = 0; i < train.count; i++) {
        kith_triple t = train.at[i];
        *at(w, t.relation, t.subject, t.object) = 1;
        *at(w, t.relation + m, t.object, t.subject) = 1;
    }
    for (size_t i = 0; i < aux.count; i++) {
        kith_triple t = aux.at[i];
        if (t.relation >= m)
            continue;
        if (t.subject >= w->seen && t.object < w->seen)
            *at(w, t.relation, t.subject, t.object) = 1;
        if (t.object >= w->seen && t.subject < w->seen)
            *at(w, t.relation + m, t.object, t.subject) = 1;
    }
}

static void world_open(world *w, const char *path, unsigned threads)
{
    kith_error error;

    *w = (world){.graph = opened(path), .pool = kith__pool_new(threads)};
    w->relations = 2 * kith_graph_seen_relation_count(w->graph);
    w->seen = kith_graph_seen_entity_count(w->graph);
    w->entities = kith_graph_entity_count(w->graph);
    w->fact = calloc((size_t)w->relations * w->entities, w->entities);
    assert_non_null(w->fact);
    mark_facts(w);
    assert_int_equal(kith__evidence_new(&w->evidence, w->graph, false, w->pool, &error), KITH_OK);
}

static void world_close(world *w)
{
    kith__evidence_free(w->evidence);
    kith__pool_free(w->pool);
    kith_graph_free(w->graph);
    free(w->fact);
}

/* Facts that bring others with them, so that there are rules to find. */
static void add_train(draft *t, kith__rng *rng, unsigned entities, unsigned relations)
{
    unsigned s = below(rng, entities), o = below(rng, below(rng, 2) ? entities : 1 + entities / 3);
    unsigned r = below(rng, relations), x = below(rng, entities);

    add(t, "e%u\tr%u\te%u\n", s, r, o);
    if (below(rng, 2))
        add(t, "e%u\tr%u\te%u\n", s, (r + 1) % relations, o);
    if (below(rng, 3) == 0)
        add(t, "e%u\tr%u\te%u\n", o, (r + 2) % relations, s);
    if (below(rng, 2))
        add(t, "e%u\tr%u\te%u\ne%u\tr%u\te%u\n", s, (r + 1) % relations, x, x, r, o);
}

/* Newcomers with links to seen entities, to each other, and by a relation that train lacks. */
static void put_newcomers(const char *folder, kith__rng *rng, unsigned entities, unsigned relations)
{
    draft aux = {0}, test = {0};

    for (unsigned u = 0; u < 5; u++) {
        for (unsigned i = 0; i < 1 + 3 * u; i++) {
            unsigned r = below(rng, relations), e = below(rng, entities);
            if (below(rng, 3))
                add(&aux, "u%u\tr%u\te%u\n", u, r, e);
            else
                add(&aux, "e%u\tr%u\tu%u\n", e, r, u);
        }
        add(&aux, "u%u\tr0\tu%u\n", u, (u + 1) % 5);
        add(&aux, "u%u\tother\te0\n", u);
        add(&test, "u%u\tr%u\te%u\n", u, below(rng, relations), below(rng, entities));
    }
    add(&aux, "e0\tr0\te1\n");
    put(folder, "aux", aux.at);
    put(folder, "test", test.at);
    draft_release(&aux);
    draft_release(&test);
}

static const char *world_folder(kith__rng *rng, unsigned entities, unsigned relations,
                                unsigned facts)
{
    const char *folder = new_folder();
    draft train = {0};

    for (unsigned i = 0; i < facts; i++)
        add_train(&train, rng, entities, relations);
    put(folder, "train", train.at);
    draft_release(&train);
    put_newcomers(folder, rng, entities, relations);
    return folder;
}

static void random_world(world *w, kith__rng *rng)
{
    unsigned entities = 10 + below(rng, 31), relations = 3 + below(rng, 6);

    world_open(w, world_folder(rng, entities, relations, 20 + below(rng, 50)), 1 + below(rng, 3));
}

enum { WORLDS = 12 };

static void in_worlds(uint64_t seed, void (*check)(world *w, kith__rng *rng))
{
    kith__rng rng;

    kith__rng_init(&rng, seed, 0);
    for (int i = 0; i < WORLDS; i++) {
        world w;
        random_world(&w, &rng);
        check(&w, &rng);
        world_close(&w);
    }
}

/* ---- index ---- */

static void check_lists(world *w, kith__rng *rng)
{
    const kith__index *x = w->evidence->base->index;

    (void)rng;
    assert_int_equal(x->entities, w->entities);
    assert_int_equal(x->seen, w->seen);
    assert_int_equal(x->relations, w->relations);
    for (uint32_t e = 0; e < w->entities; e++) {
        kith__span all = kith__facts_of(x, e);
        size_t k = 0;
        for (uint32_t r = 0; r < w->relations; r++) {
            kith__span some = kith__reached(x, e, r);
            assert_ptr_equal(some.at, all.at + k);
            for (uint32_t o = 0; o < w->entities; o++) {
                assert_int_equal(kith__span_has(some, o), is(w, r, e, o));
                if (!is(w, r, e, o))
                    continue;
                assert_true(k < all.count);
                assert_int_equal(all.at[k].relation, r);
                assert_int_equal(all.at[k++].entity, o);
            }
            assert_int_equal(some.count, all.at + k - some.at);
        }
        assert_int_equal(all.count, k);
    }
}

static void index__lists_hold_every_fact_once_by_relation_and_entity(void **state)
{
    (void)state;
    in_worlds(101, check_lists);
}

static void check_owners(world *w, kith__rng *rng)
{
    const kith__index *x = w->evidence->base->index;

    (void)rng;
    for (uint32_t r = 0; r < w->relations; r++) {
        uint64_t next = x->owner_offset[r], facts = 0;
        for (uint32_t e = 0; e < w->seen; e++) {
            for (uint32_t o = 0; o < w->entities; o++)
                facts += is(w, r, e, o);
            if (has(w, r, e))
                assert_int_equal(x->owner[next++], e);
        }
        assert_int_equal(next, x->owner_offset[r + 1]);
        assert_int_equal(kith__answer_count(x, r), facts);
        assert_int_equal(kith__inverse(x, kith__inverse(x, r)), r);
        assert_int_not_equal(kith__inverse(x, r), r);
    }
}

static void index__owners_are_the_seen_entities_that_have_a_relation(void **state)
{
    (void)state;
    in_worlds(102, check_owners);
}

static void index__facts_of_unseen_entities_come_from_aux_alone(void **state)
{
    const char *folder = new_folder();
    uint32_t u, a;
    world w;

    (void)state;
    put(folder, "train", "a\tr\tb\nb\ts\tc\n");
    put(folder, "dev", "u\tr\tb\n");
    put(folder, "test", "u\ts\tb\na\ts\tb\n");
    put(folder, "aux", "u\tr\ta\nv\tr\tu\na\ts\tc\nc\ts\tu\nu\tt\ta\n");
    world_open(&w, folder, 1);
    assert_int_equal(kith_graph_find_entity(&u, w.graph, "u"), KITH_OK);
    assert_int_equal(kith_graph_find_entity(&a, w.graph, "a"), KITH_OK);
    assert_int_equal(kith__facts_of(w.evidence->base->index, u).count, 2);
    assert_int_equal(kith__facts_of(w.evidence->base->index, a).count, 1);
    check_lists(&w, NULL);
    world_close(&w);
}

static void index__sorting_facts_drops_what_is_there_twice(void **state)
{
    kith_neighbor list[] = {{3, 1}, {0, 9}, {3, 0}, {0, 9}, {3, 1}, {1, 4}};
    const kith_neighbor expected[] = {{0, 9}, {1, 4}, {3, 0}, {3, 1}};

    (void)state;
    assert_int_equal(kith__sort_facts(list, 6), 4);
    assert_memory_equal(list, expected, sizeof expected);
    assert_int_equal(kith__sort_facts(NULL, 0), 0);
    assert_int_equal(kith__span_of((kith__span){NULL, 0}, 3).count, 0);
    assert_int_equal(kith__span_of((kith__span){list, 4}, 2).count, 0);
    assert_int_equal(kith__span_of((kith__span){list, 4}, 3).count, 2);
    assert_int_equal(kith__span_of((kith__span){list, 4}, 7).count, 0);
}

/* ---- counter ---- */

static void counter__counts_as_a_plain_array_does(void **state)
{
    enum { KEYS = 5000 };
    static uint64_t plain[KEYS];
    kith__counter c = {0};
    kith__rng rng;
    size_t used = 0, k = 0;

    (void)state;
    kith__rng_init(&rng, 7, 0);
    assert_null(kith__counter_find(&c, 3));
    for (int i = 0; i < 40000; i++) {
        /* Keys that are far apart and others that are next to each other. */
        unsigned key = below(&rng, below(&rng, KEYS) + 1), count = 1 + below(&rng, 3);
        used += plain[key] == 0;
        plain[key] += count;
        assert_int_equal(kith__counter_add(&c, (uint64_t)key << (key % 2 ? 42 : 0), count), 0);
    }
    assert_int_equal(c.used, used);
    for (uint64_t key = 0; key < KEYS; key++) {
        const kith__count *found = kith__counter_find(&c, key << (key % 2 ? 42 : 0));
        assert_int_equal(found ? found->count : 0, plain[key]);
    }
    kith__counter_sort(&c);
    for (k = 1; k < used; k++)
        assert_true(c.at[k - 1].key < c.at[k].key);
    for (k = 0; k < used; k++)
        assert_int_equal(c.at[k].count,
                         plain[c.at[k].key >= KEYS ? c.at[k].key >> 42 : c.at[k].key]);
    kith__counter_release(&c);
}

static void counter__takes_no_new_key_past_its_bound(void **state)
{
    kith__counter c = {.most = 1500};

    (void)state;
    for (uint64_t round = 0; round < 2; round++)
        for (uint64_t key = 0; key < 4000; key++)
            assert_int_equal(kith__counter_add(&c, key, 2), 0);
    assert_int_equal(c.used, 1500);
    for (uint64_t key = 0; key < 4000; key++) {
        const kith__count *found = kith__counter_find(&c, key);
        assert_int_equal(found ? found->count : 0, key < 1500 ? 4 : 0);
    }
    kith__counter_sort(&c);
    assert_int_equal(c.at[1499].key, 1499);
    kith__counter_release(&c);
    kith__counter_release(&c);
}

/* ---- implications ---- */

/* A hub with so many relations: each implies all others. */
static kith_graph *hub_of(unsigned relations)
{
    const char *folder = new_folder();
    draft train = {0};

    for (unsigned r = 0; r < relations; r++)
        add(&train, "hub\tr%u\te%u\n", r, r % 7);
    put(folder, "train", train.at);
    draft_release(&train);
    return opened(folder);
}

static void implications__a_list_keeps_no_more_than_it_returns(void **state)
{
    enum { RELATIONS = 1500, TOP = 20 };
    kith_graph *graph = hub_of(RELATIONS);
    kith_implications *list;
    kith_error error;

    (void)state;
    kith__mem_count(1);
    assert_int_equal(kith_graph_implications(
                         &list, graph,
                         &(kith_rules_options){
                             .conclusion = UINT32_MAX, .min_support = 1, .top = TOP, .threads = 2},
                         &error),
                     KITH_OK);
    kith__mem_count(0);
    assert_int_equal(list->count, TOP);
    assert_true(kith__mem_counted() < 1 << 20); /* all pairs would be 27 MB */
    kith_implications_free(list);
    kith_graph_free(graph);
}

static void check_same_implications(const kith_implications *list,
                                    const kith__implications *table)
{
    uint32_t m = table->relations / 2;

    for (size_t i = 0; i < list->count; i++) {
        const kith_implication *a = list->at[i];
        uint32_t q = a->conclusion + (a->conclusion_inverse ? m : 0);
        uint32_t r = a->premise + (a->premise_inverse ? m : 0);
        uint64_t k = table->offset[q];
        while (k < table->offset[q + 1] && table->at[k].relation != r)
            k++;
        assert_true(k < table->offset[q + 1]);
        assert_int_equal(a->support, table->at[k].support);
        assert_true(a->confidence == (double)table->at[k].confidence);
        if (i > 0)
            assert_true(list->at[i - 1]->confidence >= a->confidence);
    }
}

static void check_same_implication(const kith_implication *a, const kith_implication *b)
{
    assert_int_equal(a->premise, b->premise);
    assert_int_equal(a->premise_inverse, b->premise_inverse);
    assert_int_equal(a->conclusion, b->conclusion);
    assert_int_equal(a->conclusion_inverse, b->conclusion_inverse);
    assert_int_equal(a->support, b->support);
    assert_true(a->confidence == b->confidence);
}

/* The best of a list are the same whether or not the rest is asked for. */
static void check_listed(world *w, kith__rng *rng)
{
    kith__implications *table;
    kith_implications *all, *some;
    kith_error error;

    (void)rng;
    assert_int_equal(
        kith__implications_new(&table, w->graph, KITH__MOST_IMPLICATIONS, w->pool, &error),
        KITH_OK);
    assert_int_equal(kith_graph_implications(&all, w->graph,
                                             &(kith_rules_options){.conclusion = UINT32_MAX,
                                                                   .min_support = 0,
                                                                   .top = SIZE_MAX,
                                                                   .threads = 2},
                                             &error),
                     KITH_OK);
    assert_int_equal(all->count, table->offset[table->relations]);
    check_same_implications(all, table);
    for (size_t top = 0; top < 40; top += 13) {
        assert_int_equal(kith_graph_implications(&some, w->graph,
                                                 &(kith_rules_options){.conclusion = UINT32_MAX,
                                                                       .min_support = 0,
                                                                       .top = top,
                                                                       .threads = 3},
                                                 &error),
                         KITH_OK);
        assert_int_equal(some->count, top < all->count ? top : all->count);
        for (size_t i = 0; i < some->count; i++)
            check_same_implication(some->at[i], all->at[i]);
        kith_implications_free(some);
    }
    kith_implications_free(all);
    kith__implications_free(table);
}

static void implications__a_list_is_the_top_of_the_table(void **state)
{
    (void)state;
    in_worlds(120, check_listed);
}

static void implications__too_many_pairs_are_refused_by_name(void **state)
{
    kith_graph *graph = hub_of(100); /* 100 * 99 pairs at the hub, and those of the objects */
    kith__pool *pool = kith__pool_new(2);
    kith__implications *table = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith__implications_new(&table, graph, 12000, pool, &error), KITH_OK);
    kith__implications_free(table);
    table = NULL;
    assert_int_equal(kith__implications_new(&table, graph, 5000, pool, &error),
                     KITH_ERR_ARGUMENT);
    assert_null(table);
    assert_contains(error.message, "5000 pairs");
    assert_contains(error.message, "'hub' has 100");
    assert_contains(error.message, "--preset rules");
    kith__pool_free(pool);
    kith_graph_free(graph);
}

static void implications__refusing_takes_no_more_memory_than_the_limit(void **state)
{
    kith_graph *graph = hub_of(1500);
    kith__pool *pool = kith__pool_new(1);
    kith__implications *table = NULL;
    kith_error error;

    (void)state;
    kith__mem_count(1);
    assert_int_equal(kith__implications_new(&table, graph, 10000, pool, &error),
                     KITH_ERR_ARGUMENT);
    kith__mem_count(0);
    assert_true(kith__mem_counted() < 1 << 19);
    kith__pool_free(pool);
    kith_graph_free(graph);
}

/* ---- mining ---- */

/* Rules with fewer hits, or with less confidence, are not kept. */
enum { LEAST_HITS = 2 };
static const float least_confidence = .004f;

/* r(s, o) and q(s, o) are one fact: a loop, which way it is read. */
static bool is_same_fact(const world *w, uint32_t q, uint32_t r, uint32_t s, uint32_t o)
{
    return s == o && q == (r + w->relations / 2) % w->relations;
}

static void count_pair(uint32_t *support, uint32_t *body_count, const world *w, uint32_t q,
                       uint32_t r)
{
    *support = *body_count = 0;
    for (uint32_t s = 0; s < w->seen; s++)
        for (uint32_t o = 0; has(w, q, s) && o < w->entities; o++) {
            if (is_same_fact(w, q, r, s, o))
                continue;
            *body_count += is(w, r, s, o);
            *support += is(w, r, s, o) && is(w, q, s, o);
        }
}

static void count_path(uint32_t *support, uint32_t *body_count, const world *w, uint32_t q,
                       uint32_t r1, uint32_t r2)
{
    *support = *body_count = 0;
    for (uint32_t s = 0; s < w->seen; s++)
        for (uint32_t x = 0; has(w, q, s) && x < w->seen; x++)
            for (uint32_t o = 0; is(w, r1, s, x) && o < w->seen; o++) {
                if (!is(w, r2, x, o) || o == s || o == x || x == s)
                    continue;
                ++*body_count;
                *support += is(w, q, s, o);
            }
}

static const kith__rule *find_rule(const kith__rules *p, uint32_t q, uint32_t first,
                                      uint32_t second)
{
    for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++)
        if (p->at[i].relation[0] == first && p->at[i].relation[1] == second)
            return &p->at[i];
    return NULL;
}

static void check_rule(const kith__rules *p, uint32_t q, uint32_t first, uint32_t second,
                       uint32_t support, uint32_t body_count)
{
    const kith__rule *rule = find_rule(p, q, first, second);
    float confidence = (float)((double)support / (body_count + 5));

    if (support < LEAST_HITS || confidence < least_confidence) {
        assert_null(rule);
        return;
    }
    if (!rule)
        fail_msg("found no rule %u, %u => %u, expected one with %u hits", first, second, q,
                 support);
    assert_int_equal(rule->support, support);
    assert_int_equal(rule->body_count, body_count);
    assert_float_equal(rule->confidence, confidence, 0);
}

static void check_order(const kith__rules *p)
{
    assert_int_equal(p->offset[0], 0);
    for (uint32_t q = 0; q < p->relations; q++)
        for (uint64_t i = p->offset[q] + 1; i < p->offset[q + 1]; i++)
            assert_true(kith__rule_compare(&p->at[i - 1], &p->at[i]) < 0);
}

static void check_pairs(world *w, kith__rng *rng)
{
    const kith__rules *p = &w->evidence->rules->of[KITH__DIRECT_KIND];

    (void)rng;
    assert_int_equal(p->relations, w->relations);
    check_order(p);
    for (uint32_t q = 0; q < w->relations; q++)
        for (uint32_t r = 0; r < w->relations; r++) {
            uint32_t support, body_count;
            count_pair(&support, &body_count, w, q, r);
            check_rule(p, q, r, KITH__NO_RELATION, q == r ? 0 : support, body_count);
        }
}

static void mine__pairs_are_counted_as_by_brute_force(void **state)
{
    (void)state;
    in_worlds(201, check_pairs);
}

static void check_paths(world *w, kith__rng *rng)
{
    const kith__rules *p = &w->evidence->rules->of[KITH__PATH_KIND];

    (void)rng;
    check_order(p);
    for (uint32_t q = 0; q < w->relations; q++)
        for (uint32_t r1 = 0; r1 < w->relations; r1++)
            for (uint32_t r2 = 0; r2 < w->relations; r2++) {
                uint32_t support, body_count;
                count_path(&support, &body_count, w, q, r1, r2);
                check_rule(p, q, r1, r2, support, body_count);
            }
}

static void mine__paths_are_counted_as_by_brute_force(void **state)
{
    (void)state;
    in_worlds(202, check_paths);
}

static void count_path3(uint32_t *support, uint32_t *body_count, const world *w, uint32_t q,
                        const uint32_t *r)
{
    *support = *body_count = 0;
    for (uint32_t s = 0; s < w->seen; s++)
        for (uint32_t x = 0; has(w, q, s) && x < w->seen; x++)
            for (uint32_t y = 0; x != s && is(w, r[0], s, x) && y < w->seen; y++)
                for (uint32_t o = 0; y != s && y != x && is(w, r[1], x, y) && o < w->seen; o++) {
                    if (!is(w, r[2], y, o) || o == s || o == x || o == y)
                        continue;
                    ++*body_count;
                    *support += is(w, q, s, o);
                }
}

static const kith__rule *find_path3(const kith__rules *p, uint32_t q, const uint32_t *r)
{
    for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++)
        if (memcmp(p->at[i].relation, r, sizeof p->at[i].relation) == 0)
            return &p->at[i];
    return NULL;
}

/* All bodies of a few conclusions; where a conclusion has 100 rules, the others are no stronger. */
static void check_paths3(world *w, kith__rng *rng)
{
    const kith__rules *p = &w->evidence->rules->of[KITH__PATH3_KIND];
    uint32_t q = below(rng, w->relations), n = w->relations;
    uint64_t kept = p->offset[q + 1] - p->offset[q];
    float weakest = 1;

    check_order(p);
    assert_true(kept <= 100);
    for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++)
        weakest = fminf(weakest, p->at[i].confidence);
    for (uint32_t body = 0; body < n * n * n; body++) {
        const uint32_t r[] = {body / n / n, body / n % n, body % n};
        const kith__rule *rule = find_path3(p, q, r);
        uint32_t support, body_count;
        count_path3(&support, &body_count, w, q, r);
        float confidence = kith__shrunk(support, body_count);
        bool good = support >= LEAST_HITS && confidence >= least_confidence;
        assert_true(rule ? good : !good || (kept == 100 && confidence <= weakest));
        if (rule) {
            assert_int_equal(rule->support, support);
            assert_int_equal(rule->body_count, body_count);
        }
    }
}

static void mine__paths_of_three_steps_are_counted_as_by_brute_force(void **state)
{
    (void)state;
    in_worlds(205, check_paths3);
}

/* A hub that everything is linked with has too many paths of three steps. */
static void mine__paths_of_three_steps_are_bounded(void **state)
{
    kith__rng rng;
    draft t = {0};
    kith_error error;

    (void)state;
    kith__rng_init(&rng, 206, 0);
    for (int i = 0; i < 6000; i++)
        add(&t, "e%d\tin\thub\ne%d\tnext\te%u\n", i, i, below(&rng, 6000));
    kith_graph *graph = opened(file("hub.tsv", t.at));
    kith__pool *pool = kith__pool_new(2);
    kith__index *index = NULL;
    kith__rule_set *rules = NULL;
    assert_int_equal(kith__index_new(&index, graph, pool, &error), KITH_OK);
    assert_int_equal(kith__rule_set_new(&rules, index, pool, &error), KITH_OK);
    check_order(&rules->of[KITH__PATH3_KIND]);
    kith__rule_set_free(rules);
    kith__index_free(index);
    kith__pool_free(pool);
    kith_graph_free(graph);
    draft_release(&t);
}

static void mine__paths_that_come_back_or_stay_are_no_paths(void **state)
{
    draft t = {0};
    world w;

    (void)state;
    /* Each has a loop, and a friend who is one back: neither makes a path to anyone else. */
    for (int i = 0; i < 10; i++)
        add(&t, "a%d\tloop\ta%d\na%d\tfriend\tb%d\nb%d\tfriend\ta%d\nb%d\tloop\tb%d\n", i, i, i, i,
            i, i, i, i);
    world_open(&w, file("g.tsv", t.at), 1);
    assert_int_equal(w.evidence->rules->of[KITH__PATH_KIND].offset[w.relations], 0);
    check_paths(&w, NULL);
    world_close(&w);
    draft_release(&t);
}

static void check_same_patterns(const kith__rules *a, const kith__rules *b)
{
    assert_int_equal(a->relations, b->relations);
    assert_memory_equal(a->offset, b->offset, (a->relations + 1) * sizeof *a->offset);
    if (a->offset[a->relations] > 0)
        assert_memory_equal(a->at, b->at, a->offset[a->relations] * sizeof *a->at);
}

static void check_same_rules(const kith__rule_set *a, const kith__rule_set *b)
{
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i]->mine)
            check_same_patterns(&a->of[i], &b->of[i]);
        else
            assert_true(!a->of[i].at && !b->of[i].at);
}

static void check_threads(world *w, kith__rng *rng)
{
    (void)rng;
    for (unsigned threads = 1; threads < 8; threads += 2) {
        kith__pool *pool = kith__pool_new(threads);
        kith__rule_set *rules = NULL;
        kith_error error;
        assert_int_equal(kith__rule_set_new(&rules, w->evidence->base->index, pool, &error),
                         KITH_OK);
        check_same_rules(rules, w->evidence->rules);
        kith__rule_set_free(rules);
        kith__pool_free(pool);
    }
}

static void mine__threads_do_not_matter(void **state)
{
    (void)state;
    in_worlds(203, check_threads);
}

/* So dense that nearly every two relations make a rule for every third. */
static const char *crowded(kith__rng *rng)
{
    draft t = {0};

    for (int i = 0; i < 500; i++)
        add(&t, "e%u\tr%u\te%u\n", below(rng, 8), below(rng, 12), below(rng, 8));
    const char *path = file("g.tsv", t.at);
    draft_release(&t);
    return path;
}

static void mine__only_the_most_confident_paths_of_a_conclusion_are_kept(void **state)
{
    kith__rng rng;
    world w;

    (void)state;
    kith__rng_init(&rng, 204, 0);
    world_open(&w, crowded(&rng), 2);
    const kith__rules *p = &w.evidence->rules->of[KITH__PATH_KIND];
    check_order(p);
    for (uint32_t q = 0; q < w.relations; q++) {
        float weakest = 1;
        assert_int_equal(p->offset[q + 1] - p->offset[q], KITH__MOST_PATH_RULES);
        for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++)
            weakest = fminf(weakest, p->at[i].confidence);
        for (uint32_t body = 0; body < w.relations * w.relations; body++) {
            uint32_t support, body_count, first = body / w.relations, second = body % w.relations;
            count_path(&support, &body_count, &w, q, first, second);
            if (find_rule(p, q, first, second))
                check_rule(p, q, first, second, support, body_count);
            else
                assert_true(kith__shrunk(support, body_count) <= weakest);
        }
    }
    world_close(&w);
}

static void mine__a_graph_without_rules_has_none(void **state)
{
    world w;

    (void)state;
    world_open(&w, file("g.tsv", "a\tr\tb\n"), 1);
    assert_int_equal(w.evidence->rules->of[KITH__DIRECT_KIND].offset[w.relations], 0);
    assert_int_equal(w.evidence->rules->of[KITH__PATH_KIND].offset[w.relations], 0);
    world_close(&w);
}

/* ---- asking: the brute-force version ---- */

/* What is asked: the facts of s as a table, and who it is. */
typedef struct {
    const world *w;
    uint8_t *fact; /* relation x entity */
    uint32_t self, query;
    size_t known;
} question;

static bool own(const question *q, uint32_t r, uint32_t o)
{
    return q->fact[(size_t)r * q->w->entities + o];
}

static void question_init(question *q, const world *w, kith__span facts, uint32_t self,
                          uint32_t query)
{
    *q = (question){w, calloc(w->relations, w->entities), self, query, 0};
    for (size_t i = 0; i < facts.count; i++)
        q->fact[(size_t)facts.at[i].relation * w->entities + facts.at[i].entity] = 1;
    for (uint32_t o = 0; o < w->entities; o++)
        q->known += own(q, query, o);
}

/* Another seen entity that has some answer. */
static bool is_witness(const question *q, uint32_t s)
{
    return s != q->self && has(q->w, q->query, s);
}

/* Best, second best, noisy-or and count of a kind. */
static void add_rule(double *f, int kind, double confidence)
{
    double capped = fmin(confidence, .999), *of = f + KITH__FEATURES_OF_KIND * kind;

    of[1] = fmax(of[1], fmin(of[0], confidence));
    of[0] = fmax(of[0], confidence);
    of[2] = 1 - (1 - of[2]) * (1 - capped);
    of[3]++;
}

/* The mined confidence counts as much as 5 cases; beside it count those at s, but for the candidate
 * itself while its truth is not known, and those at o. */
static double local_confidence(const question *q, uint32_t r, uint32_t o, double mined)
{
    const world *w = q->w;
    double support = 0, body_count = 0;

    for (uint32_t e = 0; q->known && e < w->entities; e++) {
        if (is_same_fact(w, q->query, r, q->self, e))
            continue;
        body_count += own(q, r, e) && (e != o || own(q, q->query, o));
        support += own(q, r, e) && own(q, q->query, e);
    }
    for (uint32_t s = 0; s < w->seen; s++) {
        if (!is_witness(q, s) || !is(w, r, s, o) || is_same_fact(w, q->query, r, s, o))
            continue;
        body_count++;
        support += is(w, q->query, s, o);
    }
    return (5 * mined + support) / (5 + body_count);
}

static void expect_direct(double *f, const question *q, uint32_t o)
{
    for (uint32_t r = 0; r < q->w->relations; r++) {
        const kith__rule *rule = find_rule(&q->w->evidence->rules->of[KITH__DIRECT_KIND], q->query,
                                           r, KITH__NO_RELATION);
        f[KITH__DIRECT_LINKS] += r != q->query && own(q, r, o);
        if (!rule || !own(q, r, o) || is_same_fact(q->w, q->query, r, q->self, o))
            continue;
        add_rule(f, KITH__DIRECT_KIND, local_confidence(q, r, o, rule->confidence));
        f[KITH__DIRECT_MINED] = fmax(f[KITH__DIRECT_MINED], rule->confidence);
    }
}

static void expect_path(double *f, const question *q, uint32_t o)
{
    const kith__rules *p = &q->w->evidence->rules->of[KITH__PATH_KIND];

    for (uint64_t i = p->offset[q->query]; i < p->offset[q->query + 1]; i++)
        for (uint32_t x = 0; o != q->self && x < q->w->seen; x++) {
            if (x == o || x == q->self || !own(q, p->at[i].relation[0], x) ||
                !is(q->w, p->at[i].relation[1], x, o))
                continue;
            add_rule(f, KITH__PATH_KIND, p->at[i].confidence);
        }
}

static void expect_path3(double *f, const question *q, uint32_t o)
{
    const kith__rules *p = &q->w->evidence->rules->of[KITH__PATH3_KIND];

    for (uint64_t i = p->offset[q->query]; i < p->offset[q->query + 1]; i++) {
        const uint32_t *r = p->at[i].relation;
        for (uint32_t x = 0; o != q->self && x < q->w->seen; x++)
            for (uint32_t y = 0; own(q, r[0], x) && y < q->w->seen; y++)
                if (x != q->self && x != o && y != q->self && y != x && y != o &&
                    is(q->w, r[1], x, y) && is(q->w, r[2], y, o))
                    add_rule(f, KITH__PATH3_KIND, p->at[i].confidence);
    }
}

static void expect_constant(double *f, const question *q, uint32_t o)
{
    const world *w = q->w;

    for (uint32_t r = 0; o != q->self && r < w->relations; r++)
        for (uint32_t c = 0; c < w->entities; c++) {
            double right = 0, body_count = 0;
            for (uint32_t s = 0; own(q, r, c) && s < w->seen; s++) {
                body_count += is_witness(q, s) && is(w, r, s, c);
                right += is_witness(q, s) && is(w, r, s, c) && is(w, q->query, s, o);
            }
            if (right > 0)
                add_rule(f, KITH__CONSTANT_KIND, right / (body_count + 5));
        }
}

/* Facts that two known answers share, or where there are only one or two answers all of theirs; not
 * those with s, and not those that nobody else has. */
static void expect_shared(double *f, const question *q, uint32_t o)
{
    const world *w = q->w;

    for (uint32_t r = 0; o != q->self && r < w->relations; r++)
        for (uint32_t c = 0; c < w->seen; c++) {
            double shared = 0, having = 0;
            for (uint32_t e = 0; is(w, r, o, c) && c != q->self && e < w->seen; e++) {
                shared += own(q, q->query, e) && is(w, r, e, c);
                having += is(w, r, e, c);
            }
            if (shared == 0 || having <= shared || (shared < 2 && q->known > 2))
                continue;
            f[KITH__SHARED_BEST] = fmax(f[KITH__SHARED_BEST], shared / (having + 5));
            f[KITH__SHARED_SHARE] = fmax(f[KITH__SHARED_SHARE], shared / ((double)q->known + 1));
            f[KITH__SHARED_SUM] += shared / (having + 5);
        }
}

static void expect(double *figure, const question *q, uint32_t o)
{
    memset(figure, 0, KITH__RULE_FEATURES * sizeof *figure);
    expect_direct(figure, q, o);
    if (o < q->w->seen) {
        expect_path(figure, q, o);
        expect_path3(figure, q, o);
        expect_constant(figure, q, o);
        expect_shared(figure, q, o);
    }
}

/* ---- nearness ---- */

/* Facts that lead from one entity to another. */
static double links(const world *w, uint32_t from, uint32_t to)
{
    double count = 0;

    for (uint32_t r = 0; r < w->relations; r++)
        count += is(w, r, from, to) + (from < w->seen && to >= w->seen && is(w, r, to, from));
    return count;
}

static double degree(const world *w, uint32_t e)
{
    double sum = 0;

    for (uint32_t o = 0; o < w->entities; o++)
        sum += links(w, e, o);
    return sum;
}

/* One step of all walks that are likely enough; returns how many facts they followed. */
static double step_all(double *next, const double *mass, const world *w, uint32_t self, bool first,
                       bool through)
{
    double followed = 0;

    memset(next, 0, w->entities * sizeof *next);
    for (uint32_t e = 0; e < w->entities; e++) {
        double each = mass[e] / degree(w, e);
        if (mass[e] == 0 || degree(w, e) == 0 || each < 1e-5)
            continue;
        if (!first && !through && e >= w->seen)
            continue;
        followed += degree(w, e);
        for (uint32_t o = 0; o < w->entities; o++)
            next[o] += o == self ? 0 : each * links(w, e, o);
    }
    return followed;
}

static void expect_near(double *proximity, const world *w, uint32_t self, bool through)
{
    double *mass = calloc(w->entities, sizeof *mass), *next = calloc(w->entities, sizeof *next);
    double followed = 0, weight = 1;

    memset(proximity, 0, w->entities * sizeof *proximity);
    mass[self] = 1;
    for (int step = 0; step < 8 && (step == 0 || followed < 20000); step++, weight *= .7) {
        followed += step_all(next, mass, w, self, step == 0, through);
        for (uint32_t e = 0; e < w->entities; e++)
            proximity[e] += weight * (mass[e] = next[e]);
    }
    for (uint32_t e = 0; e < w->entities; e++)
        proximity[e] = log(1 + 1e6 * fmin(1, 20 / degree(w, self)) * proximity[e]);
    free(mass);
    free(next);
}

/* A seen entity's own facts with unseen ones are no facts of its, so walks that begin at one
 * differ: only unseen ones are looked at. */
static void check_near(world *w, kith__rng *rng)
{
    kith__proximity n;
    kith_error error;
    double *expected = malloc(w->entities * sizeof *expected);

    (void)rng;
    kith__proximity_init(&n, (kith__view){.base = w->evidence->base->index});
    for (uint32_t s = w->seen; s < w->entities; s++) {
        n.through = s % 2;
        kith__span facts = kith__facts_of(w->evidence->base->index, s);
        assert_int_equal(kith__proximity_find(&n, facts, s, &error), KITH_OK);
        expect_near(expected, w, s, n.through);
        for (uint32_t e = 0; e < w->entities; e++)
            if (!(fabs(kith__proximity_of(&n, e) - expected[e]) <= 1e-3 * (1 + expected[e])))
                fail_msg("from %u to %u: found %g, expected %g", s, e,
                         (double)kith__proximity_of(&n, e), expected[e]);
    }
    kith__proximity_release(&n);
    free(expected);
}

static void near__is_what_all_walks_together_meet(void **state)
{
    (void)state;
    in_worlds(21, check_near);
}

/* How many facts lead from s to each entity at least, by way of all but s; 0 where none do. */
static void count_steps(uint32_t *steps, const world *w, uint32_t s)
{
    memset(steps, 0, w->entities * sizeof *steps);
    for (uint32_t k = 1; k <= KITH__PROXIMITY_STEPS; k++)
        for (uint32_t x = 0; x < w->entities; x++)
            for (uint32_t o = 0; (k == 1 ? x == s : steps[x] == k - 1) && o < w->entities; o++)
                for (uint32_t r = 0; r < w->relations; r++)
                    if (o != s && steps[o] == 0 && is(w, r, x, o))
                        steps[o] = k;
}

static void check_path(world *w, kith__rng *rng)
{
    uint32_t *steps = malloc(w->entities * sizeof *steps);
    kith_neighbor path[KITH__PROXIMITY_STEPS];
    kith_error error;
    size_t count;

    (void)rng;
    for (uint32_t s = w->seen; s < w->entities; s++) {
        count_steps(steps, w, s);
        for (uint32_t o = 0; o < w->seen; o++) {
            assert_int_equal(
                kith__proximity_path(path, &count, (kith__view){.base = w->evidence->base->index},
                                     kith__facts_of(w->evidence->base->index, s), s, o, &error),
                KITH_OK);
            if (count > 0 || steps[o] <= 3) /* a long way may be too unlikely */
                assert_int_equal(count, steps[o]);
            for (size_t i = 0; i < count; i++)
                assert_true(is(w, path[i].relation, i ? path[i - 1].entity : s, path[i].entity));
            assert_true(count == 0 || path[count - 1].entity == o);
        }
    }
    free(steps);
}

static void near__the_way_is_the_shortest(void **state)
{
    (void)state;
    in_worlds(23, check_path);
}

static void near__no_facts_lead_nowhere(void **state)
{
    kith__rng rng;
    world w;
    kith__proximity n;
    kith_error error;

    (void)state;
    kith__rng_init(&rng, 22, 0);
    random_world(&w, &rng);
    kith__span facts = kith__facts_of(w.evidence->base->index, 0);
    kith__proximity_init(&n, (kith__view){.base = w.evidence->base->index});
    assert_int_equal(kith__proximity_find(&n, facts, 0, &error), KITH_OK);
    assert_true(n.reached_count > 0);
    assert_int_equal(kith__proximity_find(&n, (kith__span){NULL, 0}, UINT32_MAX, &error), KITH_OK);
    assert_int_equal(n.reached_count, 0);
    for (uint32_t e = 0; e < w.entities; e++)
        assert_true(kith__proximity_of(&n, e) == 0);
    kith__proximity_release(&n);
    world_close(&w);
}

/* ---- asking ---- */

static void ask(kith__evidence_query *a, kith__span facts, uint32_t self, uint32_t query)
{
    kith_error error;
    assert_int_equal(kith__evidence_query_run(a, facts, self, query, &error), KITH_OK);
}

static void asking_open(kith__evidence_query *a, const world *w)
{
    kith__evidence_query_init(a, w->evidence, NULL);
}

static const float *row_of(const kith__evidence_query *a, uint32_t entity)
{
    return kith__evidence_row(a, entity);
}

static void check_figures(const kith__evidence_query *a, const question *q, uint32_t o)
{
    const float *found = row_of(a, o);
    double expected[KITH__RULE_FEATURES];

    expect(expected, q, o);
    bool told = false;
    for (int k = 0; k < KITH__RULE_FEATURES; k++) {
        told |= expected[k] > 0;
        if (!(fabs((found ? found[k] : 0) - expected[k]) <= 2e-5 * (1 + expected[k])))
            fail_msg("query %u of %u, candidate %u, figure %d: found %g, expected %g", q->query,
                     q->self, o, k, found ? (double)found[k] : 0, expected[k]);
    }
    assert_int_equal(found != NULL, told);
}

/* Facts of an unseen entity stand at it alone. */
static void check_answered(const kith__evidence_query *a, const world *w, uint32_t query)
{
    uint32_t inverse = (query + w->relations / 2) % w->relations;

    for (uint32_t o = 0; o < w->entities; o++) {
        uint32_t count = 0;
        for (uint32_t s = 0; s < w->seen; s++)
            count +=
                is(w, query, s, o) || (a->table->unseen && o >= w->seen && is(w, inverse, o, s));
        assert_int_equal(kith__evidence_answered(a, o), count);
    }
}

static void check_query(kith__evidence_query *a, const world *w, uint32_t self, uint32_t query)
{
    kith__span facts = kith__facts_of(w->evidence->base->index, self);
    question q;

    question_init(&q, w, facts, self, query);
    ask(a, facts, self, query);
    assert_int_equal(a->known, q.known);
    check_answered(a, w, query);
    for (uint32_t o = 0; o < w->entities; o++)
        check_figures(a, &q, o);
    for (size_t i = 0; i < a->count; i++)
        assert_ptr_equal(row_of(a, a->rows[i].entity), a->rows[i].feature);
    free(q.fact);
}

static void check_asking(world *w, kith__rng *rng)
{
    kith__evidence_query a;

    asking_open(&a, w);
    for (int i = 0; i < 12; i++)
        check_query(&a, w, below(rng, w->seen), below(rng, w->relations));
    for (uint32_t u = w->seen; u < w->entities; u++)
        check_query(&a, w, u, below(rng, w->relations));
    kith__evidence_query_release(&a);
}

static void ask__figures_are_those_of_brute_force(void **state)
{
    (void)state;
    in_worlds(301, check_asking);
}

/* What was asked, kept to compare with. */
typedef struct {
    kith__candidate_evidence *rows;
    size_t count;
} answer;

static answer keep_answer(const kith__evidence_query *a)
{
    answer k = {malloc((a->count + 1) * sizeof *a->rows), a->count};
    if (a->count > 0)
        memcpy(k.rows, a->rows, a->count * sizeof *a->rows);
    return k;
}

static void check_same_answer(const kith__evidence_query *a, const answer *k)
{
    assert_int_equal(a->count, k->count);
    if (k->count > 0)
        assert_memory_equal(a->rows, k->rows, k->count * sizeof *k->rows);
}

static void check_newcomers(world *w, kith__rng *rng)
{
    kith__evidence_query a, b;

    asking_open(&a, w);
    asking_open(&b, w);
    for (uint32_t u = w->seen; u < w->entities; u++) {
        kith__span facts = kith__facts_of(w->evidence->base->index, u);
        kith_neighbor *list = malloc((2 * facts.count + 1) * sizeof *list);
        size_t count = 0;
        /* In another order, and each twice. */
        for (size_t i = 0; i < 2 * facts.count; i++)
            list[count++] = facts.at[facts.count - 1 - i / 2];
        count = kith__sort_facts(list, count);
        uint32_t query = below(rng, w->relations);
        ask(&a, facts, u, query);
        ask(&b, (kith__span){list, count}, UINT32_MAX, query);
        answer k = keep_answer(&a);
        check_same_answer(&b, &k);
        free(k.rows);
        free(list);
    }
    kith__evidence_query_release(&a);
    kith__evidence_query_release(&b);
}

static void ask__a_newcomer_gets_what_an_unseen_entity_with_its_facts_gets(void **state)
{
    (void)state;
    in_worlds(302, check_newcomers);
}

static void check_repeats(world *w, kith__rng *rng)
{
    kith__evidence_query a;

    asking_open(&a, w);
    for (int i = 0; i < 10; i++) {
        uint32_t s = below(rng, w->entities), query = below(rng, w->relations);
        kith__span facts = kith__facts_of(w->evidence->base->index, s);
        ask(&a, facts, s, query);
        answer k = keep_answer(&a);
        ask(&a, facts, s, query);
        check_same_answer(&a, &k);
        for (int other = 0; other < 4; other++) {
            uint32_t e = below(rng, w->entities);
            ask(&a, kith__facts_of(w->evidence->base->index, e), e, below(rng, w->relations));
        }
        ask(&a, facts, s, query);
        check_same_answer(&a, &k);
        check_answered(&a, w, query);
        free(k.rows);
    }
    kith__evidence_query_release(&a);
}

static void ask__other_questions_in_between_change_nothing(void **state)
{
    (void)state;
    in_worlds(303, check_repeats);
}

static uint32_t entity(const world *w, const char *name)
{
    uint32_t id = 0;
    assert_int_equal(kith_graph_find_entity(&id, w->graph, name), KITH_OK);
    return id;
}

static void ask__an_entity_is_not_its_own_witness(void **state)
{
    kith__evidence_query a;
    world w;

    (void)state;
    world_open(&w, file("g.tsv", "s\tlives\tx\ns\tspeaks\to\nt\tlives\tx\n"), 1);
    asking_open(&a, &w);
    uint32_t s = entity(&w, "s"), t = entity(&w, "t"), o = entity(&w, "o");
    ask(&a, kith__facts_of(w.evidence->base->index, s), s, 1);
    assert_null(row_of(&a, o));
    ask(&a, kith__facts_of(w.evidence->base->index, t), t, 1);
    assert_non_null(row_of(&a, o));
    assert_float_equal(row_of(&a, o)[KITH__CONSTANT_BEST], 1. / 6, 1e-6);
    ask(&a, kith__facts_of(w.evidence->base->index, s), UINT32_MAX, 1);
    assert_non_null(row_of(&a, o));
    kith__evidence_query_release(&a);
    world_close(&w);
}

static void ask__no_facts_say_nothing(void **state)
{
    kith__evidence_query a;
    world w;

    (void)state;
    world_open(&w, file("g.tsv", "a\tr\tb\nc\tr\tb\n"), 1);
    asking_open(&a, &w);
    ask(&a, (kith__span){NULL, 0}, UINT32_MAX, 0);
    assert_int_equal(a.count, 0);
    assert_int_equal(kith__evidence_answered(&a, entity(&w, "b")), 2);
    kith__evidence_query_release(&a);
    kith__evidence_query_release(&a);
    world_close(&w);
}

/* ---- reasons ---- */

/* Figures made from the reasons told, per entity. */
typedef struct {
    const question *q;
    float (*figure)[KITH__RULE_FEATURES];
} telling;

static void check_reason(const question *q, const kith__reason *r)
{
    const world *w = q->w;
    float counted = kith__shrunk(r->support, r->body_count);

    assert_true(r->support <= r->body_count && r->confidence > 0 && r->confidence <= 1);
    if (r->kind == KITH__DIRECT_KIND)
        assert_true(own(q, r->relation[0], r->candidate));
    else
        assert_float_equal(r->confidence, counted, 0);
    size_t steps = kith__rule_kinds[r->kind]->steps;
    uint32_t ends[] = {r->between[0], r->between[1], r->candidate};
    if (steps > 1) {
        ends[steps - 1] = r->candidate;
        assert_true(own(q, r->relation[0], ends[0]));
        for (size_t k = 1; k < steps; k++)
            assert_true(is(w, r->relation[k], ends[k - 1], ends[k]));
    }
    for (size_t k = steps > 1 ? steps : 1; k < KITH__MOST_STEPS; k++)
        assert_int_equal(r->relation[k], KITH__NO_RELATION);
    if (r->kind == KITH__CONSTANT_KIND)
        assert_true(own(q, r->relation[0], r->between[0]));
    if (r->kind == KITH__SHARED_KIND)
        assert_true(is(w, r->relation[0], r->candidate, r->between[0]));
}

static void hear(void *context, const kith__reason *r)
{
    telling *t = context;
    float *f = t->figure[r->candidate];
    float *of = f + KITH__FEATURES_OF_KIND * r->kind;
    bool shared = r->kind == KITH__SHARED_KIND;

    check_reason(t->q, r);
    of[1] = shared ? 0 : fmaxf(of[1], fminf(of[0], r->confidence));
    of[0] = fmaxf(of[0], r->confidence);
    of[3] += !shared;
    f[KITH__SHARED_SUM] += shared ? r->confidence : 0;
}

static void check_told(const kith__evidence_query *a, const telling *t)
{
    for (uint32_t o = 0; o < t->q->w->entities; o++) {
        const float *found = row_of(a, o);
        for (int k = 0; k < KITH__RULE_KINDS * KITH__FEATURES_OF_KIND; k++)
            if (k % KITH__FEATURES_OF_KIND != 2)
                assert_float_equal(t->figure[o][k], (found ? found[k] : 0), 0);
        assert_float_equal(t->figure[o][KITH__SHARED_SUM], (found ? found[KITH__SHARED_SUM] : 0),
                           0);
    }
}

static void check_reasons(world *w, kith__rng *rng)
{
    kith__evidence_query a;

    asking_open(&a, w);
    for (int i = 0; i < 12; i++) {
        uint32_t s = below(rng, w->entities), query = below(rng, w->relations);
        kith__span facts = kith__facts_of(w->evidence->base->index, s);
        question q;
        question_init(&q, w, facts, s, query);
        telling t = {&q, calloc(w->entities, sizeof *t.figure)};
        ask(&a, facts, s, query);
        answer silent = keep_answer(&a);
        a.report = hear;
        a.context = &t;
        ask(&a, facts, s, query);
        a.report = NULL;
        check_same_answer(&a, &silent);
        check_told(&a, &t);
        free(silent.rows);
        free(t.figure);
        free(q.fact);
    }
    kith__evidence_query_release(&a);
}

static void ask__reasons_add_up_to_the_figures(void **state)
{
    (void)state;
    in_worlds(304, check_reasons);
}

/* ---- hubs ---- */

static void ask__a_hub_of_5000_facts_is_asked_like_any_other(void **state)
{
    draft t = {0};
    kith__evidence_query a;
    world w;

    (void)state;
    for (int i = 0; i < 5000; i++)
        add(&t, "p%d\tin\thub\n", i);
    for (int i = 0; i < 1000; i++)
        add(&t, "p%d\tspeaks\tl%d\n", i, i % 2);
    /* Too large for a table of all triples. */
    const char *path = file("g.tsv", t.at);
    kith_error error;
    w = (world){.graph = opened(path), .pool = kith__pool_new(2)};
    assert_int_equal(kith__evidence_new(&w.evidence, w.graph, false, w.pool, &error), KITH_OK);
    asking_open(&a, &w);
    uint32_t s = entity(&w, "p4000"), hub = entity(&w, "hub");
    ask(&a, kith__facts_of(w.evidence->base->index, s), s, 1);
    for (int l = 0; l < 2; l++) {
        const float *f = row_of(&a, entity(&w, format("l%d", l)));
        assert_non_null(f);
        assert_true(fabsf(f[KITH__CONSTANT_BEST] - .5f) < .1f);
    }
    ask(&a, kith__facts_of(w.evidence->base->index, hub), hub, 2);
    for (size_t i = 0; i < a.count; i++)
        for (int k = 0; k < KITH__RULE_FEATURES; k++)
            assert_true(isfinite(a.rows[i].feature[k]) && a.rows[i].feature[k] >= 0);
    kith__evidence_query_release(&a);
    world_close(&w);
    draft_release(&t);
}

/* ---- added facts ---- */

/* Facts over entities x0, x1, ..; those of the base come first. */
enum { PEOPLE = 26, KNOWN_PEOPLE = 18, RELATIONS_USED = 5 };

typedef struct {
    unsigned s, r, o;
} plain_fact;

typedef struct {
    plain_fact at[400];
    size_t count;
} plain_facts;

/* Each relation once, in order, so that its id is the same in every graph. */
static void begin_facts(plain_facts *f)
{
    f->count = 0;
    for (unsigned r = 0; r < RELATIONS_USED; r++)
        f->at[f->count++] = (plain_fact){r, r, r + 1};
}

static void draw_facts(plain_facts *f, kith__rng *rng, unsigned people, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned s = below(rng, people), o = below(rng, people), r = below(rng, RELATIONS_USED);
        f->at[f->count++] = (plain_fact){s, r, o};
        if (below(rng, 2)) /* what direct rules are made of */
            f->at[f->count++] = (plain_fact){s, (r + 1) % RELATIONS_USED, o};
        if (below(rng, 3) == 0) /* and a cycle */
            f->at[f->count++] = (plain_fact){o, (r + 2) % RELATIONS_USED, s};
    }
}

static kith_graph *graph_of(const plain_facts *f, const plain_facts *more)
{
    draft t = {0};

    for (size_t i = 0; i < f->count; i++)
        add(&t, "x%u\tr%u\tx%u\n", f->at[i].s, f->at[i].r, f->at[i].o);
    for (size_t i = 0; more && i < more->count; i++)
        add(&t, "x%u\tr%u\tx%u\n", more->at[i].s, more->at[i].r, more->at[i].o);
    kith_graph *graph = opened(file("g.tsv", t.at));
    draft_release(&t);
    return graph;
}

/* The same facts known twice: as a base with added facts, and as one graph. */
typedef struct {
    kith__evidence *grown, *whole;
    kith__overlay overlay;
    uint32_t id[PEOPLE], whole_id[PEOPLE]; /* UINT32_MAX where the whole lacks it */
} twins;

static void number_people(uint32_t *id, const kith_graph *graph, uint32_t first_new)
{
    for (unsigned x = 0; x < PEOPLE; x++)
        if (kith_graph_find_entity(&id[x], graph, format("x%u", x)) != KITH_OK)
            id[x] = first_new == UINT32_MAX ? UINT32_MAX : first_new + x;
}

static kith_triple triple_of(const twins *t, plain_fact f)
{
    return (kith_triple){t->id[f.s], f.r, t->id[f.o]};
}

static void set_whole(twins *t, const plain_facts *base, const plain_facts *added,
                      kith__pool *pool)
{
    kith_graph *graph = graph_of(base, added);
    kith_error error;

    kith__evidence_free(t->whole);
    assert_int_equal(kith_graph_seen_relation_count(graph), RELATIONS_USED);
    assert_int_equal(
        kith__evidence_over(&t->whole, graph, false, t->grown->rules, true, pool, &error), KITH_OK);
    number_people(t->whole_id, graph, UINT32_MAX);
    kith_graph_free(graph);
}

static kith_neighbor *all_facts(size_t *count, kith__view view, uint32_t entity)
{
    kith__spans spans = kith__view_facts(&view, entity);
    kith_neighbor *list = malloc((spans.count + 1) * sizeof *list);

    for (size_t i = 0; i < spans.count; i++)
        list[i] = kith__spans_at(&spans, i);
    *count = kith__sort_facts(list, spans.count);
    assert_int_equal(*count, spans.count);
    return list;
}

static void check_close(double found, double expected, double tolerance, const char *what,
                        unsigned x)
{
    if (!(fabs(found - expected) <= tolerance * (1 + fabs(expected))))
        fail_msg("%s of x%u: found %g, expected %g", what, x, found, expected);
}

static void check_twin_candidate(const kith__evidence_query *a, const kith__evidence_query *b,
                                 const twins *t, unsigned x)
{
    const float *found = kith__evidence_row(a, t->id[x]);

    if (t->whole_id[x] == UINT32_MAX) { /* all its facts were taken back */
        assert_null(found);
        assert_true(kith__proximity_of(&a->proximity, t->id[x]) == 0);
        return;
    }
    const float *expected = kith__evidence_row(b, t->whole_id[x]);
    assert_int_equal(found != NULL, expected != NULL);
    for (int k = 0; found && k < KITH__RULE_FEATURES; k++)
        check_close(found[k], expected[k], 1e-5, format("feature %d", k), x);
    check_close(kith__proximity_of(&a->proximity, t->id[x]),
                kith__proximity_of(&b->proximity, t->whole_id[x]), 1e-4, "proximity", x);
    assert_int_equal(kith__evidence_answered(a, t->id[x]),
                     kith__evidence_answered(b, t->whole_id[x]));
    assert_true(kith__evidence_log_degree(a, t->id[x]) ==
                kith__evidence_log_degree(b, t->whole_id[x]));
}

static size_t check_twins(const twins *t, kith__rng *rng, int queries)
{
    kith__evidence_query a, b;
    size_t rows = 0;

    kith__evidence_query_init(&a, t->grown, &t->overlay);
    kith__evidence_query_init(&b, t->whole, NULL);
    for (int i = 0; i < queries; i++) {
        unsigned s = below(rng, PEOPLE);
        uint32_t query = below(rng, 2 * RELATIONS_USED);
        if (t->whole_id[s] == UINT32_MAX)
            continue;
        size_t count, whole_count;
        kith_neighbor *facts = all_facts(&count, a.view, t->id[s]);
        kith_neighbor *whole = all_facts(&whole_count, b.view, t->whole_id[s]);
        assert_int_equal(count, whole_count);
        ask(&a, (kith__span){facts, count}, t->id[s], query);
        ask(&b, (kith__span){whole, whole_count}, t->whole_id[s], query);
        assert_int_equal(a.count, b.count);
        assert_int_equal(a.known, b.known);
        assert_int_equal(kith__view_answer_count(&a.view, query),
                         kith__view_answer_count(&b.view, query));
        for (unsigned x = 0; x < PEOPLE; x++)
            check_twin_candidate(&a, &b, t, x);
        rows += a.count;
        free(facts);
        free(whole);
    }
    kith__evidence_query_release(&a);
    kith__evidence_query_release(&b);
    return rows;
}

static void shuffle(plain_facts *f, kith__rng *rng)
{
    for (size_t i = f->count; i > 1; i--) {
        size_t k = below(rng, (unsigned)i);
        plain_fact swap = f->at[i - 1];
        f->at[i - 1] = f->at[k];
        f->at[k] = swap;
    }
}

/* Keeps those that were not known yet. */
static void add_all(twins *t, plain_facts *added)
{
    kith_error error;
    size_t kept = 0;

    for (size_t i = 0; i < added->count; i++) {
        bool changed;
        assert_int_equal(
            kith__overlay_add(&t->overlay, triple_of(t, added->at[i]), &changed, &error), KITH_OK);
        if (changed)
            added->at[kept++] = added->at[i];
    }
    added->count = kept;
}

static void remove_last(twins *t, plain_facts *added, size_t count)
{
    for (; count > 0 && added->count > 0; count--) {
        kith_triple fact = triple_of(t, added->at[--added->count]);
        bool changed;
        kith__overlay_remove(&t->overlay, fact, &changed);
        assert_true(changed);
        kith__overlay_remove(&t->overlay, fact, &changed);
        assert_false(changed);
    }
}

static void check_growth(uint64_t seed, uint32_t gap)
{
    plain_facts base, added = {.count = 0};
    kith__pool *pool = kith__pool_new(1);
    kith_error error;
    kith__rng rng;
    twins t = {0};

    kith__rng_init(&rng, seed, 0);
    begin_facts(&base);
    draw_facts(&base, &rng, KNOWN_PEOPLE, 30);
    draw_facts(&added, &rng, PEOPLE, 25);
    kith_graph *graph = graph_of(&base, NULL);
    assert_int_equal(kith__evidence_new(&t.grown, graph, false, pool, &error), KITH_OK);
    number_people(t.id, graph, kith_graph_entity_count(graph) + gap);
    kith_graph_free(graph);
    assert_int_equal(kith__overlay_init(&t.overlay, t.grown->base->index, &error), KITH_OK);
    shuffle(&added, &rng);
    add_all(&t, &added);
    set_whole(&t, &base, &added, pool);
    assert_true(check_twins(&t, &rng, 40) > 0);
    shuffle(&added, &rng);
    remove_last(&t, &added, added.count / 2);
    set_whole(&t, &base, &added, pool);
    assert_true(check_twins(&t, &rng, 40) > 0);
    remove_last(&t, &added, added.count);
    set_whole(&t, &base, &added, pool);
    assert_true(check_twins(&t, &rng, 20) > 0);
    kith__overlay_release(&t.overlay);
    kith__evidence_free(t.whole);
    kith__evidence_free(t.grown);
    kith__pool_free(pool);
}

static void overlay__evidence_is_that_of_one_graph_with_all_facts(void **state)
{
    (void)state;
    for (uint64_t seed = 700; seed < 712; seed++)
        check_growth(seed, 0);
}

/* Ids beyond 65,536 are hashed. */
static void overlay__the_same_holds_where_entities_are_hashed(void **state)
{
    (void)state;
    for (uint64_t seed = 720; seed < 732; seed++)
        check_growth(seed, 1000000);
}

static void overlay__what_is_known_is_not_added_and_only_added_facts_are_taken_back(void **state)
{
    kith__overlay overlay;
    kith_error error;
    bool changed;
    world w;

    (void)state;
    world_open(&w, file("g.tsv", "a\tr\tb\nb\ts\tc\n"), 1);
    const kith__index *x = w.evidence->base->index;
    assert_int_equal(kith__overlay_init(&overlay, x, &error), KITH_OK);
    kith_triple known = {entity(&w, "a"), 0, entity(&w, "b")};
    assert_int_equal(kith__overlay_add(&overlay, known, &changed, &error), KITH_OK);
    assert_false(changed);
    kith__overlay_remove(&overlay, known, &changed);
    assert_false(changed);
    assert_int_equal(overlay.entities, w.entities);
    kith_triple loop = {w.entities + 2, 1, w.entities + 2};
    assert_int_equal(kith__overlay_add(&overlay, loop, &changed, &error), KITH_OK);
    assert_true(changed);
    assert_int_equal(kith__overlay_facts(&overlay, loop.subject).count, 2);
    assert_int_equal(overlay.entities, w.entities + 3);
    assert_int_equal(overlay.facts[1], 1);
    kith__overlay_remove(&overlay, loop, &changed);
    assert_true(changed);
    assert_int_equal(kith__overlay_facts(&overlay, loop.subject).count, 0);
    assert_int_equal(overlay.facts[1], 0);
    kith__overlay_release(&overlay);
    world_close(&w);
}

/* A new entity fits where an entity of the base with its relations does. */
static void overlay__types_of_new_entities_are_those_of_their_relations(void **state)
{
    kith__evidence_query a;
    kith__overlay overlay;
    kith_error error;
    float best, all, expected_best, expected_all;
    world w;

    (void)state;
    world_open(&w,
               file("g.tsv", "a\tlives\tx\na\tspeaks\tp\nb\tlives\tx\nb\tspeaks\tp\nc\tlives\ty\n"
                             "x\tin\tz\ny\tin\tz\n"),
               1);
    assert_int_equal(kith__overlay_init(&overlay, w.evidence->base->index, &error), KITH_OK);
    uint32_t newcomer = w.entities, z = entity(&w, "z");
    kith_triple fact = {newcomer, 2, z};
    assert_int_equal(kith__overlay_add(&overlay, fact, NULL, &error), KITH_OK);
    kith__evidence_query_init(&a, w.evidence, &overlay);
    uint32_t s = entity(&w, "c");
    ask(&a, kith__facts_of(w.evidence->base->index, s), s, 0);
    kith__evidence_type(&best, &all, &a, newcomer);
    kith__type_scores(&expected_best, &expected_all, a.table,
                      (kith__span){&(kith_neighbor){2, z}, 1}, (kith__span){NULL, 0});
    assert_true(best > 0);
    assert_true(best == expected_best && all == expected_all);
    kith__evidence_type(&best, &all, &a, entity(&w, "y"));
    assert_true(best == a.table->type_score[entity(&w, "y")]);
    kith__evidence_query_release(&a);
    kith__overlay_release(&overlay);
    world_close(&w);
}

/* ---- other graphs with the same relations ---- */

static void align__relations_have_the_ids_they_were_learned_by(void **state)
{
    const char *folder = new_folder();
    kith__pool *pool = kith__pool_new(2);
    kith__alignment report;
    kith_graph *graph, *source;
    kith_error error;
    uint32_t id;
    world w;

    (void)state;
    world_open(&w, file("g.tsv", "a\tr\tb\nb\ts\tc\nc\tt\td\n"), 1);
    put(folder, "train", "x\tother\ty\nx\tt\ty\nx\tt\ty\n");
    put(folder, "aux", "u\tr\tx\nv\tr\tu\nu\tmore\tx\n");
    put(folder, "test", "u\tt\ty\nu\tother\ty\n");
    source = opened(folder);
    assert_int_equal(kith__graph_align(&graph, &report, source, w.graph, pool, &error), KITH_OK);
    assert_int_equal(report.shared, 2);
    assert_int_equal(report.dropped_relations, 2);
    assert_int_equal(report.dropped_facts, 2);
    assert_string_equal(kith_graph_relation_name(source, report.first_dropped[0]), "other");
    assert_string_equal(kith_graph_relation_name(source, report.first_dropped[1]), "more");
    assert_int_equal(kith_graph_relation_count(graph), 4); /* one of test, which is not seen */
    assert_int_equal(kith_graph_seen_relation_count(graph), 3);
    for (uint32_t r = 0; r < 3; r++)
        assert_string_equal(kith_graph_relation_name(graph, r),
                            kith_graph_relation_name(w.graph, r));
    assert_int_equal(kith_graph_seen_entity_count(graph), 4);
    assert_string_equal(facts(graph, KITH_TRAIN), "x t y;u r x;v r u;");
    assert_string_equal(facts(graph, KITH_TEST), "u t y;u other y;");
    assert_int_equal(kith_graph_facts(graph, KITH_AUX).count, 0);
    assert_int_equal(kith_graph_find_entity(&id, graph, "u"), KITH_OK);
    kith__evidence *other;
    assert_int_equal(
        kith__evidence_over(&other, graph, false, w.evidence->rules, true, pool, &error), KITH_OK);
    assert_int_equal(other->base->index->relations, 6);
    assert_int_equal(kith__facts_of(other->base->index, id).count, 2); /* of x and, inverse, of v */
    kith__evidence_free(other);
    kith_graph_free(graph);
    kith_graph_free(source);
    source = opened(file("h.tsv", "x\tq\ty\n"));
    assert_int_equal(kith__graph_align(&graph, NULL, source, w.graph, pool, &error),
                     KITH_ERR_INPUT);
    assert_contains(error.message, "none of the 1 relations");
    kith_graph_free(source);
    kith__pool_free(pool);
    world_close(&w);
}

/* Rules learned on one graph answer about strangers. */
static void align__learned_rules_answer_about_strangers(void **state)
{
    kith__evidence *other;
    kith__evidence_query a;
    kith_graph *graph, *source;
    kith_error error;
    uint32_t x, y;
    draft t = {0};
    world w;

    (void)state;
    for (int i = 0; i < 6; i++)
        add(&t, "p%d\tborn_in\tc%d\nc%d\tin\tn%d\np%d\tcitizen_of\tn%d\n", i, i, i, i % 2, i,
            i % 2);
    world_open(&w, file("g.tsv", t.at), 1);
    source = opened(file("h.tsv", "k\tin\tj\nm\tborn_in\tk\nl\tcitizen_of\tj\n"));
    assert_int_equal(kith__graph_align(&graph, NULL, source, w.graph, w.pool, &error), KITH_OK);
    assert_int_equal(
        kith__evidence_over(&other, graph, false, w.evidence->rules, true, w.pool, &error),
        KITH_OK);
    kith__evidence_query_init(&a, other, NULL);
    assert_int_equal(kith_graph_find_entity(&x, graph, "m"), KITH_OK);
    assert_int_equal(kith_graph_find_entity(&y, graph, "j"), KITH_OK);
    ask(&a, kith__facts_of(other->base->index, x), x, 2);
    assert_non_null(row_of(&a, y));
    assert_float_equal(row_of(&a, y)[KITH__PATH_BEST], 6. / 11, 1e-6);
    kith__evidence_query_release(&a);
    kith__evidence_free(other);
    kith_graph_free(graph);
    kith_graph_free(source);
    world_close(&w);
    draft_release(&t);
}

/* ---- memory of a query ---- */

static void ask__memory_grows_with_what_is_touched_and_not_with_the_graph(void **state)
{
    kith__evidence_query a;
    draft t = {0};
    kith_error error;

    (void)state;
    for (int i = 0; i < 70000; i++)
        add(&t, "p%d\tin\tc%d\n", i, i / 50);
    for (int i = 0; i < 100; i++)
        add(&t, "p%d\tspeaks\tl%d\n", i, i % 3);
    world w = {.graph = opened(file("g.tsv", t.at)), .pool = kith__pool_new(1)};
    assert_int_equal(kith__evidence_new(&w.evidence, w.graph, false, w.pool, &error), KITH_OK);
    uint32_t s = entity(&w, "p10");
    kith__span facts = kith__facts_of(w.evidence->base->index, s);
    asking_open(&a, &w);
    ask(&a, facts, s, 1); /* makes the relation's table, which all share */
    kith__evidence_query_release(&a);
    asking_open(&a, &w);
    kith__mem_count(1);
    ask(&a, facts, s, 1);
    kith__mem_count(0);
    assert_non_null(row_of(&a, entity(&w, "l0")));
    assert_true(kith__mem_counted() <
                64 << 10); /* an array of 4 bytes per entity would be 285 kB */
    kith__evidence_query_release(&a);
    world_close(&w);
    draft_release(&t);
}

static void tables__of_relations_are_bounded_and_shared(void **state)
{
    const kith__relation_table *held, *again, *other;
    kith_error error;
    kith__rng rng;
    world w;

    (void)state;
    kith__rng_init(&rng, 740, 0);
    random_world(&w, &rng);
    kith__fact_base *base = w.evidence->base;
    base->most_tables = 2;
    assert_int_equal(kith__fact_base_take(&held, base, 0, false, &error), KITH_OK);
    for (uint32_t r = 1; r < w.relations; r++) {
        assert_int_equal(kith__fact_base_take(&other, base, r, r % 2, &error), KITH_OK);
        assert_int_equal(other->relation, r);
        kith__fact_base_give(base, other);
        assert_true(base->tables <= 2);
    }
    assert_int_equal(kith__fact_base_take(&again, base, 0, false, &error), KITH_OK);
    assert_ptr_equal(again, held);
    kith__fact_base_give(base, again);
    kith__fact_base_give(base, held);
    world_close(&w);
}

/* x has in, y has not: here one of two with in is an answer of lives, there three of three. */
static void tables__facts_of_another_graph_count_for_types_only(void **state)
{
    const kith__relation_table *t;
    float alone, together;
    kith_graph *other;
    kith__index *there = NULL;
    kith__pool *pool = kith__pool_new(1);
    world here;

    (void)state;
    world_open(&here, file("g.tsv", "a\tlives\tx\nx\tin\tz\ny\tin\tz\n"), 1);
    other = opened(file("h.tsv", "b\tlives\tp\nb\tlives\tq\nb\tlives\tr\n"
                                     "p\tin\ts\nq\tin\ts\nr\tin\ts\n"));
    assert_int_equal(kith__index_new(&there, other, pool, NULL), KITH_OK);
    kith__fact_base *base = here.evidence->base;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kith__fact_base_take(&t, base, 0, i, NULL), KITH_OK);
        *(i ? &together : &alone) = t->type_score[entity(&here, "y")];
        assert_int_equal(t->answered[entity(&here, "x")], 1);
        assert_int_equal(t->answered[entity(&here, "y")], 0);
        kith__fact_base_give(base, t);
        if (i == 0)
            kith__fact_base_learn(base, there);
    }
    assert_true(fabsf(alone - logf(1 + 100 * kith__shrunk(1, 2))) < 1e-5f);
    assert_true(fabsf(together - logf(1 + 100 * kith__shrunk(4, 5))) < 1e-5f);
    kith__pool_free(pool);
    kith_graph_free(other);
    world_close(&here);
}

/* Queries on many threads, all of other relations, with room for two tables that nobody uses. */
typedef struct {
    const world *w;
    size_t rows[64];
} crowd;

static void ask_in_crowd(void *context, size_t piece)
{
    crowd *c = context;
    kith__evidence_query a;
    kith_error error;

    asking_open(&a, c->w);
    for (uint32_t i = 0; i < 2 * c->w->relations; i++) {
        uint32_t s = (uint32_t)piece % c->w->entities;
        kith__span facts = kith__facts_of(c->w->evidence->base->index, s);
        uint32_t relation = (i + (uint32_t)piece) % c->w->relations;
        if (kith__evidence_query_run(&a, facts, s, relation, &error) == KITH_OK)
            c->rows[piece] += a.count * (relation + 1);
    }
    kith__evidence_query_release(&a);
}

static void tables__threads_share_them(void **state)
{
    kith__pool *many = kith__pool_new(4), *one = kith__pool_new(1);
    kith__rng rng;
    world w;

    (void)state;
    kith__rng_init(&rng, 741, 0);
    random_world(&w, &rng);
    w.evidence->base->most_tables = 2;
    crowd alone = {.w = &w}, together = {.w = &w};
    kith__pool_run(one, ask_in_crowd, &alone, 64);
    for (int round = 0; round < 5; round++) {
        memset(together.rows, 0, sizeof together.rows);
        kith__pool_run(many, ask_in_crowd, &together, 64);
        assert_memory_equal(alone.rows, together.rows, sizeof alone.rows);
    }
    assert_true(w.evidence->base->tables <= 2 + 4);
    kith__pool_free(one);
    kith__pool_free(many);
    world_close(&w);
}

/* ---- holding out ---- */

typedef struct {
    const kith_graph *source, *made;
    const kith__holdout_options *options;
} held;

static bool seen_in(const kith_graph *graph, uint32_t e)
{
    return e < kith_graph_seen_entity_count(graph);
}

/* A fact of the made graph by names, in the ids of the source; it must be one of its train. */
static kith_triple in_source(const held *h, kith_triple t)
{
    kith_triple s;
    kith_facts train = kith_graph_facts(h->source, KITH_TRAIN);

    assert_int_equal(kith_graph_find_entity(&s.subject, h->source,
                                            kith_graph_entity_name(h->made, t.subject)), KITH_OK);
    assert_int_equal(kith_graph_find_entity(&s.object, h->source,
                                            kith_graph_entity_name(h->made, t.object)), KITH_OK);
    assert_int_equal(kith_graph_find_relation(&s.relation, h->source,
                                              kith_graph_relation_name(h->made, t.relation)),
                     KITH_OK);
    for (size_t i = 0; i < train.count; i++)
        if (memcmp(&train.at[i], &s, sizeof s) == 0)
            return s;
    fail_msg("found a fact that train of the source lacks");
    return s;
}

static void check_part_facts(const held *h, int split, uint8_t *met, uint32_t *hidden,
                             uint32_t *known)
{
    kith_facts facts = kith_graph_facts(h->made, split);
    kith_facts train = kith_graph_facts(h->source, KITH_TRAIN);

    for (size_t i = 0; i < facts.count; i++) {
        kith_triple t = facts.at[i], s = in_source(h, t);
        bool subject = !seen_in(h->made, t.subject), object = !seen_in(h->made, t.object);
        for (size_t k = 0; k < train.count; k++)
            if (memcmp(&train.at[k], &s, sizeof s) == 0)
                assert_int_equal(met[k]++, 0);
        if (split != KITH_TRAIN && subject && object) {
            assert_true(h->options->between);
            continue;
        }
        assert_int_equal(subject + object, split == KITH_TRAIN ? 0 : 1);
        if (split == KITH_TEST)
            assert_true(subject ? h->options->subjects : h->options->objects);
        if (split != KITH_TRAIN)
            ++(split == KITH_TEST ? hidden : known)[subject ? s.subject : s.object];
    }
}

/* Whether an entity of the source is seen in the made graph too. */
static bool stays_seen(const held *h, uint32_t e)
{
    const char *name = kith_graph_entity_name(h->source, e);
    uint32_t made;

    return kith_graph_find_entity(&made, h->made, name) == KITH_OK && seen_in(h->made, made);
}

/* Facts that touch nobody held out stay in train. */
static void check_train_kept(const held *h, const uint8_t *met)
{
    kith_facts train = kith_graph_facts(h->source, KITH_TRAIN);

    for (size_t k = 0; k < train.count; k++) {
        bool both = stays_seen(h, train.at[k].subject) && stays_seen(h, train.at[k].object);
        if (both)
            assert_int_equal(met[k], 1);
    }
}

static void check_held(const held *h)
{
    uint32_t n = kith_graph_entity_count(h->source);
    kith_neighborhoods hood = kith_graph_neighborhoods(h->source);
    uint8_t *met = calloc(kith_graph_facts(h->source, KITH_TRAIN).count, 1);
    uint32_t *hidden = calloc(n, sizeof *hidden), *known = calloc(n, sizeof *known);
    double wanted = floor(h->options->share * kith_graph_seen_entity_count(h->source) + .5);
    size_t held_out = 0;

    for (int split = 0; split < KITH_SPLITS; split++)
        check_part_facts(h, split, met, hidden, known);
    check_train_kept(h, met);
    assert_int_equal(kith_graph_facts(h->made, KITH_DEV).count, 0);
    assert_true(kith_graph_facts(h->made, KITH_TEST).count <= h->options->most_queries);
    for (uint32_t e = 0; e < n; e++) {
        uint64_t fifth = (hood.offset[e + 1] - hood.offset[e]) / 5;
        uint64_t most = fifth < h->options->most_hidden ? fifth : h->options->most_hidden;
        held_out += hidden[e] > 0 || known[e] > 0;
        assert_true(hidden[e] <= (most ? most : 1));
        if (hidden[e] > 0 && known[e] == 0)
            fail_msg("%s: found %u facts hidden and none left",
                     kith_graph_entity_name(h->source, e), hidden[e]);
    }
    assert_true((double)held_out <= fmax(wanted, 1));
    free(met);
    free(hidden);
    free(known);
}

static kith_graph *hold_out(const kith_graph *source, const kith__holdout_options *options)
{
    kith__pool *pool = kith__pool_new(1);
    kith_graph *made = NULL;
    kith_error error = {KITH_OK, ""};

    if (kith__graph_hold_out(&made, source, options, pool, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a graph", error.message);
    kith__pool_free(pool);
    return made;
}

static void holdout__parts_are_what_they_are_said_to_be(void **state)
{
    static const double shares[] = {0, .05, .1, .3, .6};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 401, 0);
    for (int i = 0; i < 60; i++) {
        random_shape shape = {8 + below(&rng, 50), 2 + below(&rng, 4), 20 + below(&rng, 200),
                              3, 3, 3};
        kith_graph *source = opened(random_folder(&rng, &shape));
        kith__holdout_options o = {.subjects = i % 3 != 1,
                                   .objects = i % 3 != 0,
                                   .between = i % 2 != 0,
                                   .share = shares[below(&rng, 5)],
                                   .most_hidden = 1 + below(&rng, 4),
                                   .most_queries = below(&rng, 2) ? 1000 : below(&rng, 5),
                                   .seed = (uint64_t)i};
        kith_graph *made = hold_out(source, &o), *again = hold_out(source, &o);
        check_held(&(held){source, made, &o});
        assert_same_graph(made, again);
        kith_graph_free(source);
        kith_graph_free(made);
        kith_graph_free(again);
    }
}

static void holdout__another_seed_holds_out_others(void **state)
{
    random_shape shape = {60, 4, 300, 3, 3, 3};
    kith__holdout_options o = {true, true, false, .2, 8, 1000, 1};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 402, 0);
    kith_graph *source = opened(random_folder(&rng, &shape));
    kith_graph *one = hold_out(source, &o);
    o.seed = 2;
    kith_graph *two = hold_out(source, &o);
    assert_true(kith_graph_hash(one) != kith_graph_hash(two));
    assert_true(kith_graph_facts(one, KITH_TEST).count > 0);
    kith_graph_free(one);
    kith_graph_free(two);
    kith_graph_free(source);
}

/* ---- failing allocations ---- */

typedef kith_status (*attempt)(const world *w, kith_error *error);

static void torture(attempt call, const world *w)
{
    for (size_t n = 1;; n++) {
        kith_error error = {KITH_OK, ""};
        kith__mem_fail_at(n);
        kith_status status = call(w, &error);
        kith__mem_fail_at(0);
        if (status == KITH_OK && n > 1)
            return;
        if (status != KITH_ERR_MEMORY)
            fail_msg("allocation %zu: found status %d (%s)", n, status, error.message);
        assert_string_equal(error.message, "out of memory");
    }
}

static kith_status try_mining(const world *w, kith_error *error)
{
    kith__evidence *evidence = NULL;
    kith_status status = kith__evidence_new(&evidence, w->graph, false, w->pool, error);

    if (status == KITH_OK) {
        check_same_rules(evidence->rules, w->evidence->rules);
    }
    kith__evidence_free(evidence);
    return status;
}

static kith_status try_asking(const world *w, kith_error *error)
{
    const kith__index *x = w->evidence->base->index;
    kith__evidence_query a;
    kith_status status = KITH_OK;

    asking_open(&a, w);
    for (uint32_t e = 0; status == KITH_OK && e < w->entities; e += 3)
        status = kith__evidence_query_run(&a, kith__facts_of(x, e), e, e % w->relations, error);
    kith__evidence_query_release(&a);
    return status;
}

/* One question fails, and the next is answered as if nothing had been. */
static void check_after_failures(const world *w)
{
    const kith__index *x = w->evidence->base->index;

    for (size_t n = 1; n < 12; n++) {
        kith__evidence_query a;
        kith_error error;
        asking_open(&a, w);
        kith__mem_fail_at(n);
        (void)kith__evidence_query_run(&a, kith__facts_of(x, 0), 0, 1, &error);
        kith__mem_fail_at(0);
        check_query(&a, w, 1, 1);
        check_query(&a, w, 0, 1);
        kith__evidence_query_release(&a);
    }
}

static kith_status try_holding_out(const world *w, kith_error *error)
{
    const kith__holdout_options options = {true, true, true, .2, 3, 100, 1};
    kith_graph *made = NULL;
    kith_status status = kith__graph_hold_out(&made, w->graph, &options, w->pool, error);

    assert_int_equal(made != NULL, status == KITH_OK);
    kith_graph_free(made);
    return status;
}

static kith_status try_listing(const world *w, kith_error *error)
{
    const kith_rules_options options = {
        .conclusion = UINT32_MAX, .min_support = 1, .top = 20, .threads = 1};
    kith_rules *rules = NULL;
    kith_status status = kith_graph_rules(&rules, w->graph, &options, error);

    kith_rules_free(rules);
    return status;
}

static void torture__mining_asking_and_holding_out(void **state)
{
    kith__rng rng;
    world w;

    (void)state;
    kith__rng_init(&rng, 501, 0);
    world_open(&w, world_folder(&rng, 30, 6, 60), 1);
    torture(try_mining, &w);
    torture(try_asking, &w);
    torture(try_holding_out, &w);
    torture(try_listing, &w);
    check_after_failures(&w);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index__lists_hold_every_fact_once_by_relation_and_entity),
        cmocka_unit_test(index__owners_are_the_seen_entities_that_have_a_relation),
        cmocka_unit_test(index__facts_of_unseen_entities_come_from_aux_alone),
        cmocka_unit_test(index__sorting_facts_drops_what_is_there_twice),
        cmocka_unit_test(counter__counts_as_a_plain_array_does),
        cmocka_unit_test(counter__takes_no_new_key_past_its_bound),
        cmocka_unit_test(implications__a_list_keeps_no_more_than_it_returns),
        cmocka_unit_test(implications__a_list_is_the_top_of_the_table),
        cmocka_unit_test(implications__too_many_pairs_are_refused_by_name),
        cmocka_unit_test(implications__refusing_takes_no_more_memory_than_the_limit),
        cmocka_unit_test(mine__pairs_are_counted_as_by_brute_force),
        cmocka_unit_test(mine__paths_are_counted_as_by_brute_force),
        cmocka_unit_test(mine__paths_of_three_steps_are_counted_as_by_brute_force),
        cmocka_unit_test(mine__paths_of_three_steps_are_bounded),
        cmocka_unit_test(mine__paths_that_come_back_or_stay_are_no_paths),
        cmocka_unit_test(mine__threads_do_not_matter),
        cmocka_unit_test(mine__only_the_most_confident_paths_of_a_conclusion_are_kept),
        cmocka_unit_test(mine__a_graph_without_rules_has_none),
        cmocka_unit_test(near__is_what_all_walks_together_meet),
        cmocka_unit_test(near__the_way_is_the_shortest),
        cmocka_unit_test(near__no_facts_lead_nowhere),
        cmocka_unit_test(ask__figures_are_those_of_brute_force),
        cmocka_unit_test(ask__a_newcomer_gets_what_an_unseen_entity_with_its_facts_gets),
        cmocka_unit_test(ask__other_questions_in_between_change_nothing),
        cmocka_unit_test(ask__an_entity_is_not_its_own_witness),
        cmocka_unit_test(ask__no_facts_say_nothing),
        cmocka_unit_test(ask__reasons_add_up_to_the_figures),
        cmocka_unit_test(ask__a_hub_of_5000_facts_is_asked_like_any_other),
        cmocka_unit_test(overlay__evidence_is_that_of_one_graph_with_all_facts),
        cmocka_unit_test(overlay__the_same_holds_where_entities_are_hashed),
        cmocka_unit_test(overlay__what_is_known_is_not_added_and_only_added_facts_are_taken_back),
        cmocka_unit_test(overlay__types_of_new_entities_are_those_of_their_relations),
        cmocka_unit_test(align__relations_have_the_ids_they_were_learned_by),
        cmocka_unit_test(align__learned_rules_answer_about_strangers),
        cmocka_unit_test(ask__memory_grows_with_what_is_touched_and_not_with_the_graph),
        cmocka_unit_test(tables__of_relations_are_bounded_and_shared),
        cmocka_unit_test(tables__facts_of_another_graph_count_for_types_only),
        cmocka_unit_test(tables__threads_share_them),
        cmocka_unit_test(holdout__parts_are_what_they_are_said_to_be),
        cmocka_unit_test(holdout__another_seed_holds_out_others),
        cmocka_unit_test(torture__mining_asking_and_holding_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
