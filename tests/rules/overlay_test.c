/* Facts added on top of a fact base: evidence is that of one graph with all facts. */
#include <math.h>

#include "support.h"
#include "worlds.h"

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
        ask_rules(&a, (kith__span){facts, count}, t->id[s], query);
        ask_rules(&b, (kith__span){whole, whole_count}, t->whole_id[s], query);
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
    kith_triple known = {world_entity(&w, "a"), 0, world_entity(&w, "b")};
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
    uint32_t newcomer = w.entities, z = world_entity(&w, "z");
    kith_triple fact = {newcomer, 2, z};
    assert_int_equal(kith__overlay_add(&overlay, fact, NULL, &error), KITH_OK);
    kith__evidence_query_init(&a, w.evidence, &overlay);
    uint32_t s = world_entity(&w, "c");
    ask_rules(&a, kith__facts_of(w.evidence->base->index, s), s, 0);
    kith__evidence_type(&best, &all, &a, newcomer);
    kith__type_scores(&expected_best, &expected_all, a.table,
                      (kith__span){&(kith_neighbor){2, z}, 1}, (kith__span){NULL, 0});
    assert_true(best > 0);
    assert_true(best == expected_best && all == expected_all);
    kith__evidence_type(&best, &all, &a, world_entity(&w, "y"));
    assert_true(best == a.table->type_score[world_entity(&w, "y")]);
    kith__evidence_query_release(&a);
    kith__overlay_release(&overlay);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlay__evidence_is_that_of_one_graph_with_all_facts),
        cmocka_unit_test(overlay__the_same_holds_where_entities_are_hashed),
        cmocka_unit_test(overlay__what_is_known_is_not_added_and_only_added_facts_are_taken_back),
        cmocka_unit_test(overlay__types_of_new_entities_are_those_of_their_relations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
