/* Random walks, against walking over the whole graph. */
#include <math.h>

#include "support.h"
#include "worlds.h"

/* Facts that lead from one entity to another. */
static double links(const world *w, uint32_t from, uint32_t to)
{
    double count = 0;

    for (uint32_t r = 0; r < w->relations; r++)
        count +=
            is_fact(w, r, from, to) + (from < w->seen && to >= w->seen && is_fact(w, r, to, from));
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
                    if (o != s && steps[o] == 0 && is_fact(w, r, x, o))
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
                assert_true(
                    is_fact(w, path[i].relation, i ? path[i - 1].entity : s, path[i].entity));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near__is_what_all_walks_together_meet),
        cmocka_unit_test(near__the_way_is_the_shortest),
        cmocka_unit_test(near__no_facts_lead_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
