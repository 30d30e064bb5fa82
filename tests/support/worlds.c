#include "worlds.h"

uint8_t *mark_of(const world *w, uint32_t r, uint32_t s, uint32_t o)
{
    return &w->fact[((size_t)r * w->entities + s) * w->entities + o];
}

bool is_fact(const world *w, uint32_t r, uint32_t s, uint32_t o)
{
    return *mark_of(w, r, s, o);
}

bool has_relation(const world *w, uint32_t r, uint32_t s)
{
    for (uint32_t o = 0; o < w->entities; o++)
        if (is_fact(w, r, s, o))
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
        *mark_of(w, t.relation, t.subject, t.object) = 1;
        *mark_of(w, t.relation + m, t.object, t.subject) = 1;
    }
    for (size_t i = 0; i < aux.count; i++) {
        kith_triple t = aux.at[i];
        if (t.relation >= m)
            continue;
        if (t.subject >= w->seen && t.object < w->seen)
            *mark_of(w, t.relation, t.subject, t.object) = 1;
        if (t.object >= w->seen && t.subject < w->seen)
            *mark_of(w, t.relation + m, t.object, t.subject) = 1;
    }
}

void world_open(world *w, const char *path, unsigned threads)
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

void world_close(world *w)
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

const char *world_folder(kith__rng *rng, unsigned entities, unsigned relations, unsigned facts)
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

void random_world(world *w, kith__rng *rng)
{
    unsigned entities = 10 + below(rng, 31), relations = 3 + below(rng, 6);

    world_open(w, world_folder(rng, entities, relations, 20 + below(rng, 50)), 1 + below(rng, 3));
}

enum { WORLDS = 12 };

void in_worlds(uint64_t seed, void (*check)(world *w, kith__rng *rng))
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

bool is_same_fact(const world *w, uint32_t q, uint32_t r, uint32_t s, uint32_t o)
{
    return s == o && q == (r + w->relations / 2) % w->relations;
}

const kith__rule *find_rule(const kith__rules *p, uint32_t q, uint32_t first, uint32_t second)
{
    for (uint64_t i = p->offset[q]; i < p->offset[q + 1]; i++)
        if (p->at[i].relation[0] == first && p->at[i].relation[1] == second)
            return &p->at[i];
    return NULL;
}

static void check_same_patterns(const kith__rules *a, const kith__rules *b)
{
    assert_int_equal(a->relations, b->relations);
    assert_memory_equal(a->offset, b->offset, (a->relations + 1) * sizeof *a->offset);
    if (a->offset[a->relations] > 0)
        assert_memory_equal(a->at, b->at, a->offset[a->relations] * sizeof *a->at);
}

void check_same_rules(const kith__rule_set *a, const kith__rule_set *b)
{
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i]->mine)
            check_same_patterns(&a->of[i], &b->of[i]);
        else
            assert_true(!a->of[i].at && !b->of[i].at);
}

void ask_rules(kith__evidence_query *a, kith__span facts, uint32_t self, uint32_t query)
{
    kith_error error;
    assert_int_equal(kith__evidence_query_run(a, facts, self, query, &error), KITH_OK);
}

void query_open(kith__evidence_query *a, const world *w)
{
    kith__evidence_query_init(a, w->evidence, NULL);
}

const float *query_row(const kith__evidence_query *a, uint32_t entity)
{
    return kith__evidence_row(a, entity);
}

uint32_t world_entity(const world *w, const char *name)
{
    uint32_t id = 0;
    assert_int_equal(kith_graph_find_entity(&id, w->graph, name), KITH_OK);
    return id;
}
