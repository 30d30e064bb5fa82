/* P(has r): what it says about entities of two types, and how often that is the case. */
#include <math.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "support.h"
#include "train/fit_has_relation.h"

enum { PEOPLE = 300, CITIES = 60 };

typedef struct {
    kith_graph *graph;
    kith__pool *pool;
    kith__index *index;
    kith__implications *implications;
    kith__relation_counts counts;
    kith__has_relation has;
} fixture;

/* People have one birthplace, mostly a citizenship, and several friends; cities lie in a
 * country. */
static const char *people_and_cities(void)
{
    draft text = {0};
    kith__rng rng;

    kith__rng_init(&rng, 5, 0);
    for (int i = 0; i < CITIES; i++)
        add(&text, "city%d\tlocated_in\tcountry%d\n", i, i % 7);
    for (int i = 0; i < PEOPLE; i++) {
        int city = (int)kith__rng_below(&rng, CITIES);
        add(&text, "p%d\tborn_in\tcity%d\n", i, city);
        if (kith__rng_unit(&rng) < .8)
            add(&text, "p%d\tcitizen_of\tcountry%d\n", i, city % 7);
        for (int k = 0; k < 4; k++)
            add(&text, "p%d\tknows\tp%d\n", i, (i + 1 + k * 37) % PEOPLE);
    }
    const char *path = keep(file("facts.tsv", text.at));
    draft_release(&text);
    return path;
}

static fixture fitted(uint64_t seed)
{
    fixture f = {.graph = opened(people_and_cities()), .pool = kith__pool_new(1)};

    assert_int_equal(kith__index_new(&f.index, f.graph, f.pool, NULL), KITH_OK);
    assert_int_equal(kith__implications_new(&f.implications, f.graph, SIZE_MAX, f.pool, NULL),
                     KITH_OK);
    assert_int_equal(kith__relation_counts_init(&f.counts, f.index, f.implications, NULL), KITH_OK);
    assert_int_equal(kith__has_relation_fit(&f.has, &f.counts, f.index, NULL, seed, NULL), KITH_OK);
    assert_true(f.has.fitted);
    return f;
}

static void release(fixture *f)
{
    kith__relation_counts_release(&f->counts);
    kith__implications_free(f->implications);
    kith__index_free(f->index);
    kith__pool_free(f->pool);
    kith_graph_free(f->graph);
}

static uint32_t relation(const fixture *f, const char *name)
{
    uint32_t r;

    assert_int_equal(kith_graph_find_relation(&r, f->graph, name), KITH_OK);
    return r;
}

static double probability(const fixture *f, kith_neighbor *facts, size_t count, uint32_t r)
{
    uint8_t has[64] = {0};

    for (size_t i = 0; i < count; i++)
        has[facts[i].relation] = 1;
    count = kith__sort_facts(facts, count);
    return kith__has_probability(&f->has, &f->counts,
                                 &(kith__known_facts){{facts, count}, has, NULL}, r);
}

static void has_relation__follows_the_type_of_the_entity(void **state)
{
    fixture f = fitted(1);
    uint32_t knows = relation(&f, "knows"), citizen = relation(&f, "citizen_of");
    uint32_t located = relation(&f, "located_in");

    (void)state;
    kith_neighbor person[] = {{knows, 0}};
    double as_person = probability(&f, person, 1, citizen);
    double as_city = probability(&f, person, 1, located);
    assert_true(as_person > .4);
    assert_true(as_city < .05);
    release(&f);
}

static void has_relation__one_birthplace_is_enough_and_friends_are_not(void **state)
{
    fixture f = fitted(1);
    uint32_t knows = relation(&f, "knows"), born = relation(&f, "born_in");

    (void)state;
    kith_neighbor person[] = {{born, 0}, {knows, 1}};
    assert_true(probability(&f, person, 2, born) < .05);
    assert_true(probability(&f, person, 2, knows) > .5);
    release(&f);
}

static void has_relation__who_has_the_only_possible_fact_hardly_gets_another(void **state)
{
    fixture f = fitted(1);
    double again[KITH__MOST_COUNTED + 1];

    (void)state;
    kith__again(again, &f.counts, relation(&f, "born_in")); /* everyone has one */
    assert_true(again[0] == 1 && again[1] > 0 && again[1] < .05);
    kith__again(again, &f.counts, relation(&f, "knows")); /* everyone has four */
    assert_true(again[0] == 1 && again[1] > .9 && again[3] > .9 && again[4] < .05);
    kith__again(again, NULL, 0); /* a model that counts nothing */
    assert_true(again[1] == 1 && again[KITH__MOST_COUNTED] == 1);
    release(&f);
}

/* Other shares of the same entities' facts are hidden than those it was fitted on. */
static void has_relation__is_as_often_the_case_as_it_says(void **state)
{
    fixture f = fitted(1), other = fitted(99);
    double expected = 0, met = 0;

    (void)state;
    kith__rng rng;
    kith__rng_init(&rng, 3, 0);
    for (uint32_t e = 0; e < f.index->seen; e++) {
        kith__span all = kith__facts_of(f.index, e);
        kith_neighbor *known = kith__alloc(all.count + 1, sizeof *known);
        uint8_t hidden[64] = {0};
        double share = .1 + .8 * kith__rng_unit(&rng);
        size_t count = 0;
        for (size_t i = 0; i < all.count; i++)
            if (kith__rng_unit(&rng) < share)
                hidden[all.at[i].relation] = 1;
            else
                known[count++] = all.at[i];
        for (uint32_t r = 0; count > 0 && r < f.index->relations; r++) {
            expected += probability(&f, known, count, r);
            met += hidden[r];
        }
        kith__free(known);
    }
    assert_true(fabs(expected - met) < .1 * met);
    for (int k = 0; k < KITH__HAS_INPUTS; k++) /* and seeds agree about what counts */
        assert_true(fabs(f.has.weight[k] - other.has.weight[k]) < 1.5);
    release(&f);
    release(&other);
}

static void has_relation__nothing_is_said_where_nothing_was_learned(void **state)
{
    fixture f = fitted(1);
    kith_neighbor person[] = {{0, 0}};

    (void)state;
    f.has.fitted = false;
    assert_true(isnan(probability(&f, person, 1, 0)));
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_relation__follows_the_type_of_the_entity),
        cmocka_unit_test(has_relation__one_birthplace_is_enough_and_friends_are_not),
        cmocka_unit_test(has_relation__who_has_the_only_possible_fact_hardly_gets_another),
        cmocka_unit_test(has_relation__is_as_often_the_case_as_it_says),
        cmocka_unit_test(has_relation__nothing_is_said_where_nothing_was_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
