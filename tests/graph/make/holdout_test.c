/* The hold-out that weights, P(has r) and both calibrations are fitted on: who is held out, what is
 * hidden, and that nothing of it is known where it is asked for. And the hidden facts of seen
 * entities, for whole new graphs. */
#include <math.h>

#include "graph/make/hidden_facts.h"
#include "graph/make/holdout.h"
#include "train/fit.h"
#include "train/fit_new_graphs.h"
#include "support.h"
#include "threads.h"

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

enum { PEOPLE = 300, CITIES = 30 };

/* People who know each other, live in cities and work where they live. */
static kith_graph *town_of(int people)
{
    draft text = {0};
    kith__rng rng;

    kith__rng_init(&rng, 5, 0);
    for (int i = 0; i < CITIES; i++)
        add(&text, "city%d\tlocated_in\tcountry%d\n", i, i % 5);
    for (int i = 0; i < people; i++) {
        int city = (int)kith__rng_below(&rng, CITIES);
        add(&text, "p%d\tborn_in\tcity%d\n", i, city);
        add(&text, "p%d\tlives_in\tcity%d\n", i, city);
        add(&text, "p%d\tcitizen_of\tcountry%d\n", i, city % 5);
        for (int k = 0; k < 4; k++) {
            int other = (i + 1 + k * 7) % people;
            add(&text, "p%d\tknows\tp%d\n", i, other);
            add(&text, "p%d\tknows\tp%d\n", other, i);
        }
    }
    kith_graph *graph = opened(keep(file("facts.tsv", text.at)));
    draft_release(&text);
    return graph;
}

static kith_graph *town(void)
{
    return town_of(PEOPLE);
}

static kith_graph *held_out_of(const kith_graph *source, bool between)
{
    const kith__holdout_options options = {.subjects = true,
                                           .objects = true,
                                           .between = between,
                                           .share = .2,
                                           .most_hidden = 8,
                                           .most_queries = 8000,
                                           .seed = 1};
    kith__pool *pool = kith__pool_new(1);
    kith_graph *graph = NULL;

    assert_int_equal(kith__graph_hold_out(&graph, source, &options, pool, NULL), KITH_OK);
    kith__pool_free(pool);
    return graph;
}

static kith__holdout drawn_from(const kith_graph *graph, uint64_t seed)
{
    kith__holdout h;

    assert_int_equal(kith__holdout_init(&h, graph, KITH_PREDICT_BOTH, seed, NULL), KITH_OK);
    return h;
}

/* Facts of a split with both ends held out. */
static size_t between(const kith_graph *graph, kith_split split)
{
    kith_facts facts = kith_graph_facts(graph, split);
    uint32_t seen = kith_graph_seen_entity_count(graph);
    size_t count = 0;

    for (size_t i = 0; i < facts.count; i++)
        count += facts.at[i].subject >= seen && facts.at[i].object >= seen;
    return count;
}

static void holdout__entities_keep_facts_among_themselves_where_asked_to(void **state)
{
    (void)state;
    kith_graph *source = town();

    for (int on = 0; on < 2; on++) {
        kith_graph *graph = held_out_of(source, on);
        size_t kept = between(graph, KITH_AUX), hidden = between(graph, KITH_TEST);
        assert_int_equal(between(graph, KITH_TRAIN), 0);
        if (on) {
            assert_true(kept > 20);
            assert_int_equal(hidden, (kept + hidden) / 5);
        } else {
            assert_int_equal(kept + hidden, 0);
        }
        kith_graph_free(graph);
    }
    kith_graph_free(source);
}

/* Every one that is between others is also linked to a seen entity by a fact that stays. */
static void holdout__entities_are_known_by_a_seen_one(void **state)
{
    (void)state;
    kith_graph *source = town(), *graph = held_out_of(source, true);
    uint32_t seen = kith_graph_seen_entity_count(graph), all = kith_graph_entity_count(graph);
    kith_facts aux = kith_graph_facts(graph, KITH_AUX);
    uint8_t *linked = kith__calloc(all, 1);

    for (size_t i = 0; i < aux.count; i++) {
        linked[aux.at[i].subject] |= aux.at[i].object < seen;
        linked[aux.at[i].object] |= aux.at[i].subject < seen;
    }
    for (uint32_t e = seen; e < all; e++)
        if (!linked[e])
            fail_msg("%s has no fact left with a seen entity", kith_graph_entity_name(graph, e));
    kith__free(linked);
    kith_graph_free(graph);
    kith_graph_free(source);
}

/* ---- queries ---- */

static bool index_has(const kith__index *index, uint32_t entity, uint32_t relation, uint32_t other)
{
    return kith__span_has(kith__reached(index, entity, relation), other);
}

static void holdout__hidden_facts_are_unknown_where_they_are_asked_for(void **state)
{
    (void)state;
    kith_graph *source = town(), *graph = held_out_of(source, true);
    kith__holdout h = drawn_from(graph, 1);
    kith__pool *pool = kith__pool_new(1);
    kith__evidence *evidence = NULL;
    uint32_t m = kith_graph_seen_relation_count(graph), seen = kith_graph_seen_entity_count(graph);
    size_t unseen_answers = 0;

    assert_int_equal(kith__evidence_new(&evidence, graph, true, pool, NULL), KITH_OK);
    const kith__index *index = evidence->base->index;
    for (size_t i = 0; i < h.query_count; i++) {
        kith_triple t = h.queries[i].fact;
        assert_true(kith__known_side(&h.queries[i]) >= seen);
        unseen_answers += kith__hidden_side(&h.queries[i]) >= seen;
        assert_false(index_has(index, t.subject, t.relation, t.object));
        assert_false(index_has(index, t.object, t.relation + m, t.subject));
    }
    assert_int_equal(unseen_answers, between(graph, KITH_TEST));
    assert_true(unseen_answers > 10 && h.query_count > 2 * unseen_answers);
    kith__evidence_free(evidence);
    kith__pool_free(pool);
    kith__holdout_release(&h);
    kith_graph_free(graph);
    kith_graph_free(source);
}

static void holdout__directions_are_those_that_are_predicted(void **state)
{
    (void)state;
    kith_graph *source = town(), *graph = held_out_of(source, true);
    uint32_t seen = kith_graph_seen_entity_count(graph);
    kith__holdout h;

    assert_int_equal(kith__holdout_init(&h, graph, KITH_PREDICT_OBJECT, 1, NULL), KITH_OK);
    for (size_t i = 0; i < h.query_count; i++)
        if (kith__hidden_side(&h.queries[i]) >= seen)
            assert_false(h.queries[i].subject_hidden);
    kith__holdout_release(&h);
    kith_graph_free(graph);
    kith_graph_free(source);
}

/* ---- descriptions ---- */

/* Drawn as ends of facts, all of the few cities and occupations would be held out. */
static void holdout__few_hubs_leave_facts_to_train_on(void **state)
{
    draft text = {0};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 3, 0);
    for (int i = 0; i < 1000; i++)
        add(&text, "p%d\tlives_in\tcity%d\np%d\tis_a\toccupation%d\n", i,
            (int)kith__rng_below(&rng, 12), i, (int)kith__rng_below(&rng, 8));
    kith_graph *source = opened(keep(file("facts.tsv", text.at)));
    for (int sides = 1; sides < 4; sides++) {
        const kith__holdout_options options = {.subjects = sides & 1,
                                               .objects = sides >> 1,
                                               .share = .1,
                                               .most_hidden = 8,
                                               .most_queries = 8000,
                                               .seed = 1};
        kith__pool *pool = kith__pool_new(1);
        kith_graph *graph = NULL;
        assert_int_equal(kith__graph_hold_out(&graph, source, &options, pool, NULL), KITH_OK);
        kith__pool_free(pool);
        size_t kept = kith_graph_facts(graph, KITH_TRAIN).count;
        uint32_t hubs = 0, seen = kith_graph_seen_entity_count(graph);
        uint32_t held_out = kith_graph_entity_count(graph) - seen;
        for (uint32_t e = seen; e < seen + held_out; e++)
            hubs += kith_graph_entity_name(graph, e)[0] != 'p';
        if (kept < 1000 || kept > 1900)
            fail_msg("train keeps %zu of 2000 facts", kept);
        assert_in_range(held_out - hubs, sides & 1 ? 80 : 0, sides & 1 ? 110 : 0);
        assert_in_range(hubs, sides == 2, sides >> 1 ? 6 : 0);
        assert_true(kith_graph_facts(graph, KITH_TEST).count >= 2);
        kith_graph_free(graph);
    }
    kith_graph_free(source);
    draft_release(&text);
}

static void check_descriptions(const kith__descriptions *d, const kith_graph *graph,
                               bool calibration)
{
    for (size_t i = 0; i < d->count; i++) {
        size_t kept = 0;
        assert_true(d->entities[i] >= kith_graph_seen_entity_count(graph));
        assert_int_equal(kith__is_calibration_entity(d->entities[i]), calibration);
        assert_int_equal(d->entities[i], d->entities[i % d->distinct]);
        for (size_t k = d->first[i]; k < d->first[i + 1]; k++) {
            kept += !d->facts[k].hidden;
            assert_true(d->facts[k].neighbor.entity < kith_graph_seen_entity_count(graph));
        }
        assert_true(kept > 0);
    }
}

/* Whether two descriptions of one entity hide the same facts. */
static bool same_hidden(const kith__descriptions *d, size_t one, size_t other)
{
    size_t count = d->first[one + 1] - d->first[one];

    assert_int_equal(d->first[other + 1] - d->first[other], count);
    for (size_t k = 0; k < count; k++) {
        const kith__described_fact *a = &d->facts[d->first[one] + k];
        const kith__described_fact *b = &d->facts[d->first[other] + k];
        assert_memory_equal(&a->neighbor, &b->neighbor, sizeof a->neighbor);
        if (a->hidden != b->hidden)
            return false;
    }
    return true;
}

static void holdout__nobody_is_both_fitted_on_and_in_the_calibration_split(void **state)
{
    (void)state;
    const kith__description_options some = {kith__is_calibration_entity, 1000, 3, 1};
    kith_graph *source = town(), *graph = held_out_of(source, true);
    kith__holdout h = drawn_from(graph, 1);
    kith__descriptions d;
    size_t same = 0;

    assert_true(h.fitting.count > 20);
    check_descriptions(&h.fitting, graph, false);
    /* Too few here: then all are described. */
    assert_true(h.calibration.distinct > h.fitting.distinct);
    assert_int_equal(kith__descriptions_init(&d, graph, &some, NULL), KITH_OK);
    assert_int_equal(d.count, 3 * d.distinct);
    assert_int_equal(d.distinct + h.fitting.distinct, h.calibration.distinct);
    check_descriptions(&d, graph, true);
    for (size_t i = 0; i < d.distinct; i++)
        same += same_hidden(&d, i, i + d.distinct);
    assert_true(same < d.distinct);
    kith__descriptions_release(&d);
    kith__holdout_release(&h);
    kith_graph_free(graph);
    kith_graph_free(source);
}

static void assert_same_descriptions(const kith__descriptions *a, const kith__descriptions *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->entities, b->entities, a->count * sizeof *a->entities);
    assert_memory_equal(a->first, b->first, (a->count + 1) * sizeof *a->first);
    for (size_t i = 0; i < a->first[a->count]; i++)
        assert_true(a->facts[i].hidden == b->facts[i].hidden);
}

static void holdout__is_the_same_for_the_same_seed(void **state)
{
    (void)state;
    kith_graph *source = town(), *graph = held_out_of(source, true);
    kith__holdout h = drawn_from(graph, 1), again = drawn_from(graph, 1),
                  other = drawn_from(graph, 2);

    assert_int_equal(h.query_count, again.query_count);
    for (size_t i = 0; i < h.query_count; i++) {
        assert_memory_equal(&h.queries[i].fact, &again.queries[i].fact, sizeof(kith_triple));
        assert_true(h.queries[i].subject_hidden == again.queries[i].subject_hidden);
    }
    assert_same_descriptions(&h.fitting, &again.fitting);
    assert_same_descriptions(&h.calibration, &again.calibration);
    assert_memory_not_equal(h.fitting.entities, other.fitting.entities,
                            h.fitting.count * sizeof *h.fitting.entities);
    kith__holdout_release(&h);
    kith__holdout_release(&again);
    kith__holdout_release(&other);
    kith_graph_free(graph);
    kith_graph_free(source);
}

/* ---- hidden facts of seen entities ---- */

static kith_graph *hidden_in(const kith_graph *source, uint64_t draw)
{
    const kith__hidden_facts_options options = {.share = .1, .most = 1000, .draw = draw};
    kith__pool *pool = kith__pool_new(1);
    kith_graph *graph = NULL;

    assert_int_equal(kith__graph_hide_facts(&graph, source, &options, pool, NULL), KITH_OK);
    kith__pool_free(pool);
    return graph;
}

static void hidden__facts_are_a_tenth_and_leave_every_entity_seen(void **state)
{
    (void)state;
    kith_graph *source = town(), *graph = hidden_in(source, 0);
    size_t all = kith_graph_facts(source, KITH_TRAIN).count;

    assert_int_equal(kith_graph_facts(graph, KITH_TEST).count, all / 10);
    assert_int_equal(kith_graph_facts(graph, KITH_TRAIN).count, all - all / 10);
    assert_int_equal(kith_graph_facts(graph, KITH_AUX).count, 0);
    assert_int_equal(kith_graph_seen_entity_count(graph), kith_graph_entity_count(source));
    kith_graph_free(graph);
    kith_graph_free(source);
}

static void hidden__the_last_fact_of_an_entity_is_never(void **state)
{
    (void)state;
    draft text = {0};

    for (int i = 0; i < 50; i++)
        add(&text, "hub\tr\tleaf%d\n", i);
    kith_graph *source = opened(keep(file("star.tsv", text.at))), *graph = hidden_in(source, 0);
    assert_int_equal(kith_graph_facts(graph, KITH_TEST).count, 0);
    kith_graph_free(graph);
    kith_graph_free(source);
    draft_release(&text);
}

static void hidden__facts_differ_between_draws_alone(void **state)
{
    (void)state;
    kith_graph *source = town(), *graphs[3];
    kith_facts test[3];

    for (int i = 0; i < 3; i++) {
        graphs[i] = hidden_in(source, i == 2);
        test[i] = kith_graph_facts(graphs[i], KITH_TEST);
    }
    assert_int_equal(test[0].count, test[2].count);
    assert_memory_equal(test[0].at, test[1].at, test[0].count * sizeof *test[0].at);
    assert_memory_not_equal(test[0].at, test[2].at, test[0].count * sizeof *test[0].at);
    for (int i = 0; i < 3; i++)
        kith_graph_free(graphs[i]);
    kith_graph_free(source);
}

static void hidden__facts_are_asked_for_from_both_ends(void **state)
{
    (void)state;
    kith_graph *source = town(), *graph = hidden_in(source, 0);
    kith_facts test = kith_graph_facts(graph, KITH_TEST);
    kith__holdout h;

    assert_int_equal(kith__holdout_init_of_facts(&h, graph, NULL), KITH_OK);
    assert_int_equal(h.query_count, 2 * test.count);
    for (size_t i = 0; i < h.query_count; i++) {
        assert_memory_equal(&h.queries[i].fact, &test.at[i / 2], sizeof(kith_triple));
        assert_int_equal(h.queries[i].subject_hidden, i % 2);
    }
    kith__holdout_release(&h);
    kith_graph_free(graph);
    kith_graph_free(source);
}

/* ---- what is fitted on it ---- */

static const char *run_of(const kith_graph *graph, unsigned threads)
{
    const char *folder = new_run();
    kith_settings *s = NULL;
    kith_train_end end;
    kith_error error;

    if (kith_settings_new(&s, "rules", &error) != KITH_OK ||
        kith_train(&end, folder, graph, s, &(kith_train_options){.threads = threads}, &error) !=
            KITH_OK)
        fail_msg("%s", error.message);
    kith_settings_free(s);
    return folder;
}

static size_t embeddings;

kith_status __real_kith__params_init(kith__params *, const kith_settings *, uint32_t, uint32_t,
                                     size_t, kith_error *);

kith_status __wrap_kith__params_init(kith__params *, const kith_settings *, uint32_t, uint32_t,
                                     size_t, kith_error *);

kith_status __wrap_kith__params_init(kith__params *params, const kith_settings *settings,
                                     uint32_t entities, uint32_t relations, size_t rules,
                                     kith_error *error)
{
    embeddings++;
    return __real_kith__params_init(params, settings, entities, relations, rules, error);
}

static void holdout__rules_alone_are_fitted_without_an_embedding(void **state)
{
    (void)state;
    kith_graph *graph = town_of(160);

    embeddings = 0;
    run_of(graph, 1);
    assert_int_equal(embeddings, 0);
    kith_graph_free(graph);
}

static void holdout__training_on_one_thread_makes_no_other(void **state)
{
    (void)state;
    kith_graph *graph = town_of(160);

    threads_made = 0;
    run_of(graph, 1);
    assert_int_equal(threads_made, 0);
    kith_graph_free(graph);
}

static void holdout__fits_the_same_at_any_number_of_threads(void **state)
{
    (void)state;
    static const char *const files[] = {"fusion.json", "has_relation.json", "overall.json"};
    kith_graph *graph = town_of(160);
    const char *one = run_of(graph, 1), *three = run_of(graph, 3);

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t length;
        char *a = contents(format("%s/%s", one, files[i]), &length);
        char *b = contents(format("%s/%s", three, files[i]), &length);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
    kith_graph_free(graph);
}

static kith__fusion fusion_of(kith_graph *graph)
{
    kith_model *model = NULL;
    kith_settings *s = NULL;
    kith__evidence *evidence = NULL;
    kith__calibration calibration;
    kith__fusion fusion = {0};

    assert_int_equal(kith_settings_new(&s, "rules", NULL), KITH_OK);
    assert_int_equal(kith_model_new(&model, graph, s, &(kith_work_options){.threads = 1}, NULL),
                     KITH_OK);
    assert_int_equal(kith__evidence_new(&evidence, graph, true, model->pool, NULL), KITH_OK);
    assert_int_equal(kith__fusion_fit(&fusion, &calibration, model, evidence, false, NULL),
                     KITH_OK);
    kith__evidence_free(evidence);
    kith_model_free(model);
    kith_settings_free(s);
    return fusion;
}

static void holdout__unseen_answers_have_a_part_in_the_weights(void **state)
{
    (void)state;
    kith_graph *source = town(), *with = held_out_of(source, true);
    kith_graph *without = held_out_of(source, false);
    kith__holdout h = drawn_from(with, 1);
    kith__fusion fusion = fusion_of(with), seen_only = fusion_of(without);

    assert_int_equal(fusion.queries, h.query_count);
    assert_true(fusion.queries > seen_only.queries);
    assert_memory_not_equal(&fusion.common, &seen_only.common, sizeof fusion.common);
    kith__fusion_release(&fusion);
    kith__fusion_release(&seen_only);
    kith__holdout_release(&h);
    kith_graph_free(with);
    kith_graph_free(without);
    kith_graph_free(source);
}

static void new_graphs__weights_are_the_mean_of_the_draws(void **state)
{
    (void)state;
    kith_graph *source = town_of(60);
    kith_model *model = NULL;
    kith_settings *s = NULL;
    kith__fusion fusion = {0}, other = {0};
    kith__calibration calibration;
    bool exists = false;

    assert_int_equal(kith_settings_new(&s, "rules", NULL), KITH_OK);
    assert_int_equal(kith_model_new(&model, source, s, &(kith_work_options){.threads = 1}, NULL),
                     KITH_OK);
    assert_int_equal(kith__fit_for_new_graphs(&fusion, &calibration, &exists, model, 1, NULL, NULL),
                     KITH_OK);
    assert_true(exists && calibration.fitted);
    size_t hidden = kith_graph_facts(source, KITH_TRAIN).count / 10;
    assert_int_equal(fusion.queries, 3 * 2 * hidden);
    assert_int_equal(kith__fit_for_new_graphs(&other, &calibration, &exists, model, 3, NULL, NULL),
                     KITH_OK);
    assert_memory_equal(&fusion.common, &other.common, sizeof fusion.common);
    assert_int_equal(fusion.own_count, other.own_count);
    for (uint32_t i = 1; i < fusion.own_count; i++)
        assert_true(fusion.own[i - 1].query < fusion.own[i].query);
    kith__fusion_release(&fusion);
    kith__fusion_release(&other);
    kith_model_free(model);
    kith_settings_free(s);
    kith_graph_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holdout__parts_are_what_they_are_said_to_be),
        cmocka_unit_test(holdout__another_seed_holds_out_others),
        cmocka_unit_test(holdout__entities_keep_facts_among_themselves_where_asked_to),
        cmocka_unit_test(holdout__entities_are_known_by_a_seen_one),
        cmocka_unit_test(holdout__hidden_facts_are_unknown_where_they_are_asked_for),
        cmocka_unit_test(holdout__few_hubs_leave_facts_to_train_on),
        cmocka_unit_test(holdout__directions_are_those_that_are_predicted),
        cmocka_unit_test(holdout__nobody_is_both_fitted_on_and_in_the_calibration_split),
        cmocka_unit_test(holdout__is_the_same_for_the_same_seed),
        cmocka_unit_test(hidden__facts_are_a_tenth_and_leave_every_entity_seen),
        cmocka_unit_test(hidden__the_last_fact_of_an_entity_is_never),
        cmocka_unit_test(hidden__facts_differ_between_draws_alone),
        cmocka_unit_test(hidden__facts_are_asked_for_from_both_ends),
        cmocka_unit_test(new_graphs__weights_are_the_mean_of_the_draws),
        cmocka_unit_test(holdout__rules_alone_are_fitted_without_an_embedding),
        cmocka_unit_test(holdout__training_on_one_thread_makes_no_other),
        cmocka_unit_test(holdout__fits_the_same_at_any_number_of_threads),
        cmocka_unit_test(holdout__unseen_answers_have_a_part_in_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
