/* Data sets with unseen entities, against an oracle written from the protocol's text; and folders
 * written and read back. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

/* ---- the oracle ---- */

enum { MOST = 600 };

typedef struct {
    kith_triple at[MOST];
    size_t count;
} list;

typedef struct {
    list split[KITH_SPLITS]; /* in the source's ids and order */
    bool candidate[MOST], seen[MOST], unseen[MOST];
    size_t candidates, unseens, dropped, known;
} outcome;

static void append(list *l, kith_triple t)
{
    assert_true(l->count < MOST);
    l->at[l->count++] = t;
}

static bool same(kith_triple a, kith_triple b)
{
    return a.subject == b.subject && a.relation == b.relation && a.object == b.object;
}

static bool holds(const list *l, kith_triple t)
{
    for (size_t i = 0; i < l->count; i++)
        if (same(l->at[i], t))
            return true;
    return false;
}

static void add_true(list *l, const kith_graph *graph, kith_split split)
{
    kith_facts f = kith_graph_facts(graph, split);

    for (size_t i = 0; i < f.count; i++)
        if (!f.truth || f.truth[i])
            append(l, f.at[i]);
}

/* Candidates, the new train, who is seen, aux, who is unseen. */
static void part_entities(outcome *o, const list *train, const list *sampled,
                          kith_strategy strategy)
{
    for (size_t i = 0; i < sampled->count; i++) {
        if (strategy == KITH_SUBJECT || strategy == KITH_BOTH)
            o->candidate[sampled->at[i].subject] = true;
        if (strategy == KITH_OBJECT || strategy == KITH_BOTH)
            o->candidate[sampled->at[i].object] = true;
    }
    for (size_t i = 0; i < train->count; i++) {
        kith_triple t = train->at[i];
        if (!o->candidate[t.subject] && !o->candidate[t.object]) {
            append(&o->split[KITH_TRAIN], t);
            o->seen[t.subject] = o->seen[t.object] = true;
        }
    }
    for (size_t i = 0; i < train->count; i++) {
        kith_triple t = train->at[i];
        if ((o->candidate[t.subject] && o->seen[t.object]))
            o->unseen[t.subject] = true;
        if ((o->candidate[t.object] && o->seen[t.subject]))
            o->unseen[t.object] = true;
    }
    for (size_t i = 0; i < train->count; i++) {
        kith_triple t = train->at[i];
        if ((o->unseen[t.subject] && o->seen[t.object]) ||
            (o->seen[t.subject] && o->unseen[t.object]))
            append(&o->split[KITH_AUX], t);
    }
}

static bool asks_about_unseen(const outcome *o, kith_triple t, kith_strategy strategy)
{
    bool subject_new = o->unseen[t.subject], object_new = o->unseen[t.object];

    if (strategy == KITH_SUBJECT)
        return subject_new && !object_new && o->seen[t.object];
    if (strategy == KITH_OBJECT)
        return object_new && !subject_new && o->seen[t.subject];
    return (subject_new || object_new) && (subject_new || o->seen[t.subject]) &&
           (object_new || o->seen[t.object]);
}

/* A fact that train or aux has already cannot be in another part. */
static void keep_unless_known(outcome *o, kith_split split, kith_triple t)
{
    if (holds(&o->split[KITH_TRAIN], t) || holds(&o->split[KITH_AUX], t))
        o->known++;
    else
        append(&o->split[split], t);
}

static void expect_split(outcome *o, const list *train, const list *dev, const list *sampled,
                         kith_strategy strategy, uint32_t entities)
{
    memset(o, 0, sizeof *o);
    part_entities(o, train, sampled, strategy);
    for (size_t i = 0; i < dev->count; i++)
        if (o->seen[dev->at[i].subject] && o->seen[dev->at[i].object])
            keep_unless_known(o, KITH_DEV, dev->at[i]);
    for (size_t i = 0; i < sampled->count; i++)
        if (asks_about_unseen(o, sampled->at[i], strategy))
            keep_unless_known(o, KITH_TEST, sampled->at[i]);
    for (uint32_t e = 0; e < entities; e++) {
        o->candidates += o->candidate[e];
        o->unseens += o->unseen[e];
        o->dropped += !o->seen[e] && !o->unseen[e];
    }
}

/* ---- what was made, in the source's ids ---- */

static kith_triple in_source(const kith_graph *made, const kith_graph *source, kith_triple t)
{
    kith_triple out;

    assert_int_equal(kith_graph_find_entity(&out.subject, source,
                                            kith_graph_entity_name(made, t.subject)), KITH_OK);
    assert_int_equal(kith_graph_find_relation(&out.relation, source,
                                              kith_graph_relation_name(made, t.relation)), KITH_OK);
    assert_int_equal(kith_graph_find_entity(&out.object, source,
                                            kith_graph_entity_name(made, t.object)), KITH_OK);
    return out;
}

static void take_part(list *l, const kith_graph *made, const kith_graph *source, kith_split split)
{
    kith_facts f = kith_graph_facts(made, split);

    l->count = 0;
    for (size_t i = 0; i < f.count; i++)
        append(l, in_source(made, source, f.at[i]));
}

static bool equal(const list *a, const list *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same(a->at[i], b->at[i]))
            return false;
    return true;
}

static void check_list(const list *found, const list *expected, const kith_graph *source)
{
    for (size_t i = 0; i < found->count && i < expected->count; i++)
        if (!same(found->at[i], expected->at[i]))
            fail_msg("fact %zu: found %s %s %s, expected %s %s %s", i,
                     kith_graph_entity_name(source, found->at[i].subject),
                     kith_graph_relation_name(source, found->at[i].relation),
                     kith_graph_entity_name(source, found->at[i].object),
                     kith_graph_entity_name(source, expected->at[i].subject),
                     kith_graph_relation_name(source, expected->at[i].relation),
                     kith_graph_entity_name(source, expected->at[i].object));
    assert_int_equal(found->count, expected->count);
}

/* The report goes into the caller's struct, and is left alone where there is none. */
static kith_status make(kith_graph **made, kith_dataset_report *copy, const kith_graph *source,
                        const kith_dataset_options *options, kith_error *error)
{
    kith_dataset_report *report = NULL;
    kith_status status = kith_dataset_make(made, copy ? &report : NULL, source, options, error);

    if (report)
        *copy = *report;
    kith_dataset_report_free(report);
    return status;
}

static kith_graph *split(kith_dataset_report *report, const kith_graph *source,
                         const kith_dataset_options *options)
{
    kith_graph *made = NULL;
    kith_error error = {KITH_OK, ""};

    if (make(&made, report, source, options, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a split", error.message);
    return made;
}

/* ---- one rule after the other, over random graphs ---- */

typedef struct {
    const kith_graph *source, *made;
    const kith_dataset_options *options;
    kith_dataset_report report;
    outcome expected;
    list split[KITH_SPLITS];
} trial;

/* A split that leaves nothing to train on is refused; such graphs are passed over. */
static bool try_split(trial *t, kith_graph *source, const kith_dataset_options *options)
{
    list train = {.count = 0}, dev = {.count = 0}, sampled = {.count = 0};
    kith_graph *made = NULL;
    kith_error error;

    add_true(&train, source, KITH_TRAIN);
    add_true(&dev, source, KITH_DEV);
    add_true(&sampled, source, KITH_TEST);
    expect_split(&t->expected, &train, &dev, &sampled, options->strategy,
                 kith_graph_entity_count(source));
    kith_status status = make(&made, &t->report, source, options, &error);
    if (sampled.count == 0 || t->expected.split[KITH_TRAIN].count == 0) {
        assert_int_equal(status, KITH_ERR_ARGUMENT);
        return false;
    }
    if (status != KITH_OK)
        fail_msg("found the error \"%s\", expected a split", error.message);
    t->source = source;
    t->made = made;
    t->options = options;
    for (int split = 0; split < KITH_SPLITS; split++)
        take_part(&t->split[split], made, source, split);
    return true;
}

/* All test facts are sampled, so that the oracle knows which. */
static void over_random_splits(void (*verify)(const trial *t), bool labels)
{
    static trial t;
    kith__rng rng;
    unsigned tried = 0;

    kith__rng_init(&rng, 31, 0);
    for (unsigned round = 0; round < 100; round++) {
        random_shape shape = {.entities = 8 + round % 60,
                              .relations = 1 + round % 6,
                              .train = 20 + round,
                              .dev = 3 + round % 20,
                              .test = 1 + round % 9,
                              .aux = round % 4,
                              .labels = round % 4 == 1,
                              .overlap = round % 3 == 0,
                              .maps = round % 5 == 0};
        kith_dataset_options options;
        kith_dataset_options_init(&options);
        options.strategy = (kith_strategy)(round % 3);
        options.rate = 100;
        options.labels = labels;
        options.seed = round;
        kith_graph *source = opened_with(random_folder(&rng, &shape), 1, false);
        if (try_split(&t, source, &options)) {
            verify(&t);
            kith_graph_free((kith_graph *)t.made);
            tried++;
        }
        kith_graph_free(source);
    }
    assert_true(tried > 60);
}

static void verify_train(const trial *t)
{
    check_list(&t->split[KITH_TRAIN], &t->expected.split[KITH_TRAIN], t->source);
}

static void split__train_is_the_sources_without_what_touches_a_candidate(void **state)
{
    (void)state;
    over_random_splits(verify_train, false);
}

static void verify_aux(const trial *t)
{
    check_list(&t->split[KITH_AUX], &t->expected.split[KITH_AUX], t->source);
}

static void split__aux_is_every_training_fact_between_unseen_and_seen(void **state)
{
    (void)state;
    over_random_splits(verify_aux, false);
}

static void verify_test(const trial *t)
{
    check_list(&t->split[KITH_TEST], &t->expected.split[KITH_TEST], t->source);
}

static void split__test_keeps_sampled_facts_with_unseen_ends_on_the_strategys_side(void **state)
{
    (void)state;
    over_random_splits(verify_test, false);
}

static void verify_dev(const trial *t)
{
    check_list(&t->split[KITH_DEV], &t->expected.split[KITH_DEV], t->source);
}

static void split__dev_keeps_valid_facts_between_seen_entities(void **state)
{
    (void)state;
    over_random_splits(verify_dev, false);
}

static void verify_entities(const trial *t)
{
    for (uint32_t e = 0; e < kith_graph_entity_count(t->source); e++) {
        uint32_t id;
        bool there = kith_graph_find_entity(&id, t->made, kith_graph_entity_name(t->source, e)) ==
                     KITH_OK;
        assert_int_equal(there, t->expected.seen[e] || t->expected.unseen[e]);
        if (there) /* seen means: in the new train */
            assert_int_equal(id < kith_graph_seen_entity_count(t->made), t->expected.seen[e]);
    }
}

static void split__entities_without_a_seen_neighbor_are_in_no_part(void **state)
{
    (void)state;
    over_random_splits(verify_entities, false);
}

static void verify_report(const trial *t)
{
    list all = {.count = 0};

    add_true(&all, t->source, KITH_TEST);
    assert_int_equal(t->report.sampled, all.count);
    assert_int_equal(t->report.candidates, t->expected.candidates);
    assert_int_equal(t->report.unseen, t->expected.unseens);
    assert_int_equal(t->report.dropped, t->expected.dropped);
    assert_int_equal(t->report.known, t->expected.known);
    size_t ignored = kith_graph_facts(t->source, KITH_AUX).count;
    for (int split = 0; split < KITH_SPLITS; split++) {
        kith_facts f = kith_graph_facts(t->source, split);
        for (size_t i = 0; f.truth && i < f.count; i++)
            ignored += !f.truth[i];
    }
    assert_int_equal(t->report.ignored, ignored);
}

static void split__report_counts_what_the_oracle_counts(void **state)
{
    (void)state;
    over_random_splits(verify_report, false);
}

/* Straight from the rules, without the oracle's lists. */
static void verify_sources(const trial *t)
{
    static const kith_split from[KITH_SPLITS] = {KITH_TRAIN, KITH_DEV, KITH_TEST, KITH_TRAIN};

    for (int split = 0; split < KITH_SPLITS; split++) {
        list source = {.count = 0};
        add_true(&source, t->source, from[split]);
        for (size_t i = 0; i < t->split[split].count; i++)
            assert_true(holds(&source, t->split[split].at[i]));
    }
}

static void split__nothing_is_invented(void **state)
{
    (void)state;
    over_random_splits(verify_sources, false);
}

static void verify_disjoint(const trial *t)
{
    for (int a = 0; a < KITH_SPLITS; a++)
        for (int b = 0; b < a; b++)
            for (size_t i = 0; i < t->split[a].count; i++)
                assert_false(holds(&t->split[b], t->split[a].at[i]));
    assert_int_equal(kith_graph_report(t->made)->duplicates, 0);
}

static void split__no_fact_is_in_two_splits(void **state)
{
    (void)state;
    over_random_splits(verify_disjoint, false);
    over_random_splits(verify_disjoint, true);
}

/* The leak that this field knows: no training fact may mention an entity that is asked about. */
static void verify_no_leak(const trial *t)
{
    for (size_t i = 0; i < t->split[KITH_TEST].count; i++) {
        kith_triple asked = t->split[KITH_TEST].at[i];
        uint32_t newcomer = t->options->strategy == KITH_OBJECT ? asked.object : asked.subject;
        for (size_t k = 0; k < t->split[KITH_TRAIN].count; k++) {
            kith_triple f = t->split[KITH_TRAIN].at[k];
            assert_true(f.subject != newcomer && f.object != newcomer);
        }
    }
}

static void split__train_never_mentions_an_unseen_entity(void **state)
{
    (void)state;
    over_random_splits(verify_no_leak, false);
}

/* ---- which facts are sampled ---- */

/* The next choice of `wanted` of `count` places, as a mask; 0 after the last. */
static unsigned next_choice(unsigned mask, unsigned count)
{
    unsigned wanted = (unsigned)__builtin_popcount(mask);

    do
        mask++;
    while (mask < 1u << count && (unsigned)__builtin_popcount(mask) != wanted);
    return mask < 1u << count ? mask : 0;
}

static void choose(list *chosen, list *rest, const list *from, unsigned mask)
{
    chosen->count = rest->count = 0;
    for (size_t i = 0; i < from->count; i++)
        append(mask >> i & 1 ? chosen : rest, from->at[i]);
}

static bool matches(const outcome *o, const list split[KITH_SPLITS])
{
    for (int i = 0; i < KITH_SPLITS; i++)
        if (!equal(&o->split[i], &split[i]))
            return false;
    return true;
}

/* Whether some choice of `wanted` test facts explains what was made. */
static bool some_sample_explains(const kith_graph *source, const kith_graph *made, unsigned wanted,
                                 const list *train, const list *dev, const list *test,
                                 kith_strategy strategy)
{
    static list split[KITH_SPLITS], sampled, rest;
    static outcome o;

    for (int i = 0; i < KITH_SPLITS; i++)
        take_part(&split[i], made, source, i);
    for (unsigned mask = (1u << wanted) - 1; mask;
         mask = next_choice(mask, (unsigned)test->count)) {
        choose(&sampled, &rest, test, mask);
        expect_split(&o, train, dev, &sampled, strategy, kith_graph_entity_count(source));
        if (matches(&o, split))
            return true;
    }
    return false;
}

static void check_sampling(double rate, size_t count, unsigned wanted, uint64_t seed)
{
    kith__rng rng;

    kith__rng_init(&rng, seed, 0);
    for (unsigned round = 0; round < 40; round++) {
        random_shape shape = {12, 3, 40, 6, 8, 0};
        kith_graph *source = opened(random_folder(&rng, &shape));
        kith_dataset_options options;
        kith_dataset_report report;
        list train = {.count = 0}, dev = {.count = 0}, test = {.count = 0};
        kith_graph *made = NULL;
        kith_dataset_options_init(&options);
        options.strategy = (kith_strategy)(round % 3);
        options.rate = rate;
        options.count = count;
        options.seed = round;
        add_true(&train, source, KITH_TRAIN);
        add_true(&dev, source, KITH_DEV);
        add_true(&test, source, KITH_TEST);
        if (test.count == 8 &&
            make(&made, &report, source, &options, NULL) == KITH_OK) {
            assert_int_equal(report.sampled, wanted);
            assert_true(some_sample_explains(source, made, wanted, &train, &dev, &test,
                                             options.strategy));
        }
        kith_graph_free(made);
        kith_graph_free(source);
    }
}

static void split__rate_samples_that_share_of_the_test_facts(void **state)
{
    (void)state;
    check_sampling(25, 0, 2, 41);
    check_sampling(37.5, 0, 3, 42);
}

static void split__count_samples_that_many_test_facts(void **state)
{
    (void)state;
    check_sampling(100, 1, 1, 43);
    check_sampling(100, 4, 4, 44);
}

/* Over many seeds each fact is sampled about as often as any other. */
static void split__each_test_fact_is_as_likely_as_another(void **state)
{
    const char *folder = new_folder();
    draft t = {0};
    unsigned chosen[8] = {0};

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        add(&t, "u%u\tr\ta\nu%u\tr\tb\n", i, i);
    add(&t, "a\tr\tb\n");
    put(folder, "train", t.at);
    t.length = 0;
    for (unsigned i = 0; i < 8; i++)
        add(&t, "u%u\ts\ta\n", i);
    put(folder, "test", t.at);
    kith_graph *source = opened(folder);
    kith_dataset_options options;
    kith_dataset_options_init(&options);
    options.count = 2;
    options.valid = 0;
    for (options.seed = 0; options.seed < 2000; options.seed++) {
        kith_graph *made = split(NULL, source, &options);
        assert_int_equal(kith_graph_facts(made, KITH_TEST).count, 2);
        for (size_t i = 0; i < 2; i++)
            chosen[fact(made, KITH_TEST, i)[1] - '0']++;
        kith_graph_free(made);
    }
    for (int i = 0; i < 8; i++) /* 500 each, give or take five deviations */
        assert_in_range(chosen[i], 403, 597);
    kith_graph_free(source);
    draft_release(&t);
}

/* ---- sources with only train ---- */

static bool some_shares_explain(const kith_graph *source, const kith_graph *made,
                                unsigned test_count, unsigned dev_count, unsigned wanted,
                                kith_strategy strategy)
{
    static list all, test, kept, dev, train;

    all.count = 0;
    add_true(&all, source, KITH_TRAIN);
    for (unsigned a = (1u << test_count) - 1; a; a = next_choice(a, (unsigned)all.count)) {
        choose(&test, &kept, &all, a);
        for (unsigned b = (1u << dev_count) - 1; b; b = next_choice(b, (unsigned)kept.count)) {
            choose(&dev, &train, &kept, b);
            if (some_sample_explains(source, made, wanted, &train, &dev, &test, strategy))
                return true;
        }
    }
    return false;
}

static void split__a_single_file_has_valid_and_test_set_aside_first(void **state)
{
    kith__rng rng;
    unsigned tried = 0;

    (void)state;
    kith__rng_init(&rng, 45, 0);
    for (unsigned round = 0; round < 60; round++) {
        random_shape shape = {9, 2, 14, 0, 0, 0};
        kith_graph *source = opened(format("%s/train", random_folder(&rng, &shape)));
        size_t all = kith_graph_facts(source, KITH_TRAIN).count;
        kith_dataset_options options;
        kith_dataset_report report;
        kith_graph *made = NULL;
        kith_dataset_options_init(&options);
        options.strategy = (kith_strategy)(round % 3);
        options.test = 2. / (double)all;
        options.valid = 1. / (double)all;
        options.rate = 50;
        options.seed = round;
        if (make(&made, &report, source, &options, NULL) == KITH_OK) {
            assert_int_equal(report.sampled, 1);
            assert_true(some_shares_explain(source, made, 2, 1, 1, options.strategy));
            tried++;
        }
        kith_graph_free(made);
        kith_graph_free(source);
    }
    assert_true(tried > 30);
}

static void split__a_missing_dev_or_test_alone_is_set_aside_from_train(void **state)
{
    const char *folder = new_folder();
    kith_dataset_options options;
    kith_dataset_report report;

    (void)state;
    draft t = {0};
    for (int i = 0; i < 100; i++)
        add(&t, "e%d\tr\te%d\n", i % 20, (i * 7 + 1 + i / 20) % 20);
    put(folder, "train", t.at);
    put(folder, "test", "e1\ts\te2\ne3\ts\te4\n");
    kith_graph *source = opened(folder);
    kith_dataset_options_init(&options);
    options.count = 1;
    options.valid = .5;
    kith_graph *made = split(&report, source, &options);
    assert_true(kith_graph_facts(made, KITH_DEV).count > 20);
    assert_true(kith_graph_facts(made, KITH_TRAIN).count <= 50);
    kith_graph_free(made);
    options.valid = 0;
    made = split(&report, source, &options);
    assert_int_equal(kith_graph_facts(made, KITH_DEV).count, 0);
    kith_graph_free(made);
    kith_graph_free(source);
    draft_release(&t);
}

/* ---- labels ---- */

static uint32_t end_of(kith_triple t, int side)
{
    return side ? t.object : t.subject;
}

static kith_triple with_end(kith_triple t, int side, uint32_t e)
{
    if (side)
        t.object = e;
    else
        t.subject = e;
    return t;
}

static bool on_side(const list *l, uint32_t relation, int side, uint32_t e)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->at[i].relation == relation && end_of(l->at[i], side) == e)
            return true;
    return false;
}

/* Whether an entity may stand in for an end of a fact: it was seen on that side of that relation in
 * the new train, or for an unseen one of a test fact, in aux. */
static bool may_stand_in(const trial *t, kith_split split, kith_triple f, int side, uint32_t e)
{
    if (t->expected.seen[e])
        return on_side(&t->split[KITH_TRAIN], f.relation, side, e);
    return split == KITH_TEST && t->expected.unseen[e] && t->expected.unseen[end_of(f, side)] &&
           on_side(&t->split[KITH_AUX], f.relation, side, e);
}

static bool is_known(const trial *t, kith_triple f)
{
    for (int split = 0; split < KITH_SPLITS; split++) {
        kith_facts all = kith_graph_facts(t->source, split);
        for (size_t i = 0; i < all.count; i++)
            if (same(all.at[i], f))
                return true;
    }
    return false;
}

typedef void (*pair_check)(const trial *t, kith_split split, size_t truth, size_t untrue);

/* For every fact that is labelled false, with the true one that it was made from. */
static void over_pairs(const trial *t, pair_check verify)
{
    for (int split = KITH_DEV; split <= KITH_TEST; split++) {
        kith_facts f = kith_graph_facts(t->made, split);
        if (f.count == 0)
            continue;
        assert_non_null(f.truth);
        for (size_t i = 0; i < f.count; i++)
            if (!f.truth[i]) {
                assert_true(i > 0 && f.truth[i - 1]); /* one false behind each true one */
                verify(t, split, i - 1, i);
            }
    }
}

static int changed_side(const trial *t, kith_split split, size_t truth, size_t untrue)
{
    kith_triple a = t->split[split].at[truth], b = t->split[split].at[untrue];

    assert_int_equal(a.relation, b.relation);
    assert_int_equal((a.subject != b.subject) + (a.object != b.object), 1);
    return a.object != b.object;
}

static void verify_one_side(const trial *t, kith_split split, size_t truth, size_t untrue)
{
    kith_triple f = t->split[split].at[truth];
    int side = changed_side(t, split, truth, untrue);

    assert_true(may_stand_in(t, split, f, side, end_of(t->split[split].at[untrue], side)));
}

static void verify_corruption(const trial *t)
{
    over_pairs(t, verify_one_side);
}

static void labels__one_side_is_replaced_by_an_entity_seen_there(void **state)
{
    (void)state;
    over_random_splits(verify_corruption, true);
}

static void verify_unknown(const trial *t, kith_split split, size_t truth, size_t untrue)
{
    (void)truth;
    assert_false(is_known(t, t->split[split].at[untrue]));
}

static void verify_never_known(const trial *t)
{
    over_pairs(t, verify_unknown);
}

static void labels__a_false_fact_is_never_a_known_one(void **state)
{
    (void)state;
    over_random_splits(verify_never_known, true);
}

static void verify_once(const trial *t)
{
    list all = {.count = 0};

    for (int split = KITH_DEV; split <= KITH_TEST; split++)
        for (size_t i = 0; i < t->split[split].count; i++) {
            assert_false(holds(&all, t->split[split].at[i]));
            append(&all, t->split[split].at[i]);
        }
}

static void labels__no_false_fact_is_given_twice(void **state)
{
    (void)state;
    over_random_splits(verify_once, true);
}

static bool is_free(const trial *t, kith_triple f)
{
    return !is_known(t, f) && !holds(&t->split[KITH_DEV], f) && !holds(&t->split[KITH_TEST], f);
}

/* Whether a true fact that stayed alone could have had a false one. */
static bool could_be_falsified(const trial *t, kith_split split, kith_triple f)
{
    for (int side = 0; side < 2; side++) {
        /* A question about a newcomer stays one about a newcomer. */
        if (split == KITH_TEST && t->options->strategy != KITH_BOTH &&
            t->expected.unseen[end_of(f, side)]) {
            for (uint32_t e = 0; e < kith_graph_entity_count(t->source); e++)
                if (t->expected.unseen[e] && may_stand_in(t, split, f, side, e) &&
                    is_free(t, with_end(f, side, e)))
                    return true;
            continue;
        }
        for (uint32_t e = 0; e < kith_graph_entity_count(t->source); e++)
            if (may_stand_in(t, split, f, side, e) && is_free(t, with_end(f, side, e)))
                return true;
    }
    return false;
}

static void verify_each_has_one(const trial *t)
{
    size_t alone = 0;

    for (int split = KITH_DEV; split <= KITH_TEST; split++) {
        kith_facts f = kith_graph_facts(t->made, split);
        list truths = {.count = 0};
        for (size_t i = 0; i < f.count; i++) {
            if (!f.truth[i])
                continue;
            append(&truths, t->split[split].at[i]);
            if (i + 1 < f.count && !f.truth[i + 1])
                continue;
            alone++;
            assert_false(could_be_falsified(t, split, t->split[split].at[i]));
        }
        check_list(&truths, &t->expected.split[split], t->source);
    }
    assert_int_equal(t->report.without_false, alone);
}

static void labels__each_true_fact_has_a_false_one_where_there_can_be_one(void **state)
{
    (void)state;
    over_random_splits(verify_each_has_one, true);
}

/* Only one of 400 objects gives a false fact: drawing would miss it, so it has to be looked for. */
static void labels__the_only_false_fact_there_can_be_is_found(void **state)
{
    const char *folder = new_folder();
    kith_dataset_options options;
    kith_dataset_report report;
    draft t = {0};

    (void)state;
    for (int i = 0; i < 400; i++)
        add(&t, i < 398 ? "a\tr\to%d\nb\tr\to%d\n" : "b\tr\to%d\n", i, i);
    add(&t, "x\ts\ta\n");
    put(folder, "train", t.at);
    put(folder, "dev", "a\tr\to398\n");
    put(folder, "test", "x\tr\to1\n");
    kith_graph *source = opened(folder);
    kith_dataset_options_init(&options);
    options.rate = 100;
    options.labels = 1;
    for (options.seed = 1; options.seed <= 10; options.seed++) {
        kith_graph *made = split(&report, source, &options);
        assert_string_equal(facts(made, KITH_DEV), "a r o398 true;a r o399 false;");
        kith_graph_free(made);
    }
    kith_graph_free(source);
    draft_release(&t);
}

/* Whether another unseen entity in place of an end would have given a false fact too. */
static bool has_unseen_stand_in(const trial *t, kith_triple f)
{
    for (int side = 0; side < 2; side++)
        for (uint32_t e = 0; e < kith_graph_entity_count(t->source); e++)
            if (t->expected.unseen[e] && may_stand_in(t, KITH_TEST, f, side, e) &&
                is_free(t, with_end(f, side, e)))
                return true;
    return false;
}

static void verify_newcomer(const trial *t, kith_split split, size_t truth, size_t untrue)
{
    kith_triple f = t->split[split].at[untrue];

    if (split == KITH_TEST && t->options->strategy == KITH_BOTH &&
        !(t->expected.unseen[f.subject] && t->expected.unseen[f.object]))
        assert_false(has_unseen_stand_in(t, t->split[split].at[truth]));
    if (split == KITH_TEST && t->options->strategy == KITH_SUBJECT)
        assert_true(t->expected.unseen[f.subject] && t->expected.seen[f.object]);
    if (split == KITH_TEST && t->options->strategy == KITH_OBJECT)
        assert_true(t->expected.unseen[f.object] && t->expected.seen[f.subject]);
    if (split == KITH_DEV)
        assert_true(t->expected.seen[f.subject] && t->expected.seen[f.object]);
}

static void verify_newcomers(const trial *t)
{
    over_pairs(t, verify_newcomer);
}

static void labels__false_test_facts_are_about_unseen_entities_too(void **state)
{
    (void)state;
    over_random_splits(verify_newcomers, true);
}

static void verify_plain_parts(const trial *t)
{
    assert_null(kith_graph_facts(t->made, KITH_TRAIN).truth);
    assert_null(kith_graph_facts(t->made, KITH_AUX).truth);
    check_list(&t->split[KITH_TRAIN], &t->expected.split[KITH_TRAIN], t->source);
    check_list(&t->split[KITH_AUX], &t->expected.split[KITH_AUX], t->source);
}

static void labels__train_and_aux_are_left_alone(void **state)
{
    (void)state;
    over_random_splits(verify_plain_parts, true);
}

/* ---- seeds ---- */

static const char *const part_names[KITH_SPLITS] = {"train", "dev", "test", "aux"};

static kith_graph *middle_sized(void)
{
    kith__rng rng;
    random_shape shape = {150, 6, 900, 60, 60, 0};

    kith__rng_init(&rng, 51, 0);
    return opened(random_folder(&rng, &shape));
}

static const char *saved(const kith_graph *graph, const kith_save_options *options)
{
    const char *parent = new_folder(), *folder = keep(format("%s/out", parent));
    kith_error error = {KITH_OK, ""};

    if (kith_graph_save(graph, folder, options, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a folder", error.message);
    assert_int_equal(entries(parent), 1); /* nothing is left beside it */
    return folder;
}

static bool same_file(const char *a, const char *b)
{
    size_t m, n;
    char *x = contents(a, &m), *y = contents(b, &n);
    bool equal_bytes = m == n && memcmp(x, y, m) == 0;

    free(x);
    free(y);
    return equal_bytes;
}

static void compare_seeds(uint64_t a, uint64_t b, bool expected)
{
    kith_graph *source = middle_sized();
    const char *folders[2];
    kith_dataset_options options;

    kith_dataset_options_init(&options);
    options.rate = 30;
    options.labels = 1;
    for (int i = 0; i < 2; i++) {
        options.seed = i ? b : a;
        kith_graph *made = split(NULL, source, &options);
        folders[i] = saved(made, NULL);
        kith_graph_free(made);
    }
    bool all_same = true;
    for (int split = 0; split < KITH_SPLITS; split++)
        all_same &= same_file(format("%s/%s", folders[0], part_names[split]),
                              format("%s/%s", folders[1], part_names[split]));
    assert_int_equal(all_same, expected);
    kith_graph_free(source);
}

static void split__the_same_seed_gives_the_same_bytes(void **state)
{
    (void)state;
    compare_seeds(7, 7, true);
}

static size_t threads_made;

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    threads_made++;
    return __real_pthread_create(thread, attributes, run, argument);
}

static void split__makes_as_many_threads_as_the_options_say(void **state)
{
    kith_graph *source = middle_sized();
    kith_dataset_options options;

    (void)state;
    kith_dataset_options_init(&options);
    for (unsigned threads = 1; threads <= 3; threads++) {
        options.threads = threads;
        threads_made = 0;
        kith_graph_free(split(NULL, source, &options));
        assert_int_equal(threads_made, threads - 1);
    }
    kith_graph_free(source);
}

static void split__another_seed_gives_another_split(void **state)
{
    (void)state;
    compare_seeds(7, 8, false);
}

/* ---- what is refused ---- */

static void refuse_split(const kith_graph *source, const kith_dataset_options *options,
                         const char *message)
{
    kith_graph *made = NULL;
    kith_error error = {KITH_OK, ""};

    assert_int_equal(kith_dataset_make(&made, NULL, source, options, &error), KITH_ERR_ARGUMENT);
    assert_null(made);
    assert_contains(error.message, message);
}

static void split__options_that_make_no_sense_are_refused(void **state)
{
    static const double rates[] = {0, -1, 100.5, NAN, INFINITY};
    kith_graph *source = middle_sized();
    kith_dataset_options options;

    (void)state;
    for (int i = 0; i < 5; i++) {
        kith_dataset_options_init(&options);
        options.rate = rates[i];
        refuse_split(source, &options, "the rate is");
    }
    kith_dataset_options_init(&options);
    options.count = 100000;
    refuse_split(source, &options, "100000 test facts requested, but the source has only");
    kith_dataset_options_init(&options);
    options.rate = .001;
    refuse_split(source, &options, "is less than one fact");
    kith_dataset_options_init(&options);
    options.valid = -.1;
    refuse_split(source, &options, "shares");
    kith_dataset_options_init(&options);
    options.valid = .5;
    options.test = .5;
    refuse_split(source, &options, "shares");
    kith_dataset_options_init(&options);
    options.test = NAN;
    refuse_split(source, &options, "shares");
    kith_graph_free(source);
}

static void split__a_source_with_nothing_to_sample_or_train_on_is_refused(void **state)
{
    kith_graph *source = opened(file("g.tsv", "a\tr\tb\nb\tr\tc\nc\tr\ta\n"));
    kith_dataset_options options;

    (void)state;
    kith_dataset_options_init(&options);
    options.test = 0;
    refuse_split(source, &options, "of 0 test facts is less than one");
    kith_dataset_options_init(&options);
    options.valid = .4;
    options.test = .5;
    refuse_split(source, &options, "leave none of the 3 facts");
    kith_dataset_options_init(&options);
    options.strategy = KITH_BOTH;
    options.valid = 0;
    options.test = .34;
    options.rate = 100;
    refuse_split(source, &options, "every training fact touches one of the 2 sampled entities");
    kith_graph_free(source);
}

/* ---- folders written and read back ---- */

static kith_graph *with_labels_and_odd_names(void)
{
    const char *folder = new_folder();

    put(folder, "train", "a b\tlikes\t\xe2\x82\xac\n\xe2\x82\xac\tlikes\t7\n7\tlikes\ta b\n"
                         "x\tlikes\t7\n7\tknows\t\"q\"\n");
    put(folder, "dev", "7\tlikes\t7\n");
    put(folder, "test", "x\tknows\ta b\n");
    put(folder, "entity_name.txt", "7\tSeven of nine\nx\tthe unknown\nunused\tnobody\n");
    return opened(folder);
}

static void check_saved(kith_graph *graph, bool ids)
{
    kith_save_options options = {.ids = ids, .note = "{}\n"};
    kith_graph *again = opened(saved(graph, &options));

    assert_same_graph(again, graph);
    kith_graph_free(again);
}

static void save__a_split_reads_back_as_the_same_graph(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 52, 0);
    for (unsigned round = 0; round < 20; round++) {
        random_shape shape = {40, 5, 150, 20, 20, 0, .maps = round % 3 == 0};
        kith_graph *source = opened(random_folder(&rng, &shape));
        kith_dataset_options options;
        kith_dataset_options_init(&options);
        options.strategy = (kith_strategy)(round % 3);
        options.rate = 30;
        options.labels = round % 2;
        kith_graph *made = split(NULL, source, &options);
        check_saved(made, false);
        check_saved(made, true);
        kith_graph_free(made);
        kith_graph_free(source);
    }
}

static void save__labels_and_odd_names_read_back(void **state)
{
    kith_graph *graph = with_labels_and_odd_names();

    (void)state;
    check_saved(graph, false);
    check_saved(graph, true);
    kith_graph_free(graph);
}

static void save__names_that_are_numbers_or_blank_read_back(void **state)
{
    kith_graph *graph = opened(file("g.tsv", "2\t1\t0\n0\t0\t1\n1\t1\t2\n"));
    kith_graph *blank = opened(file("g.tsv", " \t  \tb\nb\t  \t \n"));

    (void)state;
    check_saved(graph, false);
    check_saved(graph, true);
    check_saved(blank, false);
    check_saved(blank, true);
    kith_graph_free(blank);
    kith_graph_free(graph);
}

static void save__ids_keep_entities_that_are_in_no_fact(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "entity2id.txt", "lonely\t0\na\t1\nb\t2\n");
    put(folder, "relation2id.txt", "r\t1\nunused\t0\n");
    put(folder, "train", "1\t1\t2\n");
    kith_graph *graph = opened(folder);
    check_saved(graph, true);
    kith_graph_free(graph);
}

static void save__a_split_keeps_the_labels_of_its_entities(void **state)
{
    kith_graph *source = with_labels_and_odd_names();
    kith_dataset_options options;
    uint32_t id;

    (void)state;
    kith_dataset_options_init(&options);
    options.rate = 100;
    kith_graph *made = split(NULL, source, &options);
    assert_int_equal(kith_graph_find_entity(&id, made, "x"), KITH_OK);
    assert_string_equal(kith_graph_entity_label(made, id), "the unknown");
    check_saved(made, false);
    kith_graph_free(made);
    kith_graph_free(source);
}

/* A byte order mark at the beginning of a file is no part of a name; one in a name is. */
static void save__names_that_begin_with_a_byte_order_mark_read_back(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", "\xef\xbb\xbf\xef\xbb\xbf" "a\tr\tb\n");
    put(folder, "entity_name.txt", "\xef\xbb\xbf\xef\xbb\xbf" "a\tAlpha\n");
    kith_graph *graph = opened(folder);
    assert_string_equal(kith_graph_entity_name(graph, 0), "\xef\xbb\xbf" "a");
    assert_string_equal(kith_graph_entity_label(graph, 0), "Alpha");
    check_saved(graph, false);
    check_saved(graph, true);
    kith_graph_free(graph);
}

static void save__labels_of_nobody_make_no_file(void **state)
{
    const char *folder = new_folder();

    (void)state;
    put(folder, "train", "a\tr\tb\n");
    put(folder, "entity_name.txt", "unused\tnobody\n");
    kith_graph *graph = opened(folder);
    check_saved(graph, false);
    kith_graph_free(graph);
}

static kith_graph *small(void)
{
    return opened(file("g.tsv", "a\tr\tb\n"));
}

static void refuse_save(const kith_graph *graph, const char *folder, bool replace,
                        kith_status status, const char *message)
{
    kith_save_options options = {.replace = replace};
    kith_error error = {KITH_OK, ""};

    assert_int_equal(kith_graph_save(graph, folder, &options, &error), status);
    assert_contains(error.message, message);
}

static void save__an_empty_folder_is_filled(void **state)
{
    kith_graph *graph = small();
    const char *parent = new_folder(), *folder = keep(format("%s/out", parent));

    (void)state;
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(kith_graph_save(graph, folder, NULL, NULL), KITH_OK);
    assert_true(exists(format("%s/train", folder)));
    assert_false(exists(format("%s/dev", folder)));
    assert_int_equal(entries(parent), 1);
    kith_graph_free(graph);
}

static void save__a_folder_that_is_not_empty_is_refused(void **state)
{
    kith_graph *graph = small();
    const char *folder = new_folder();

    (void)state;
    put(folder, "mine", "precious");
    refuse_save(graph, folder, false, KITH_ERR_ARGUMENT, "is not empty");
    refuse_save(graph, folder, true, KITH_ERR_ARGUMENT, "not a folder that kith wrote");
    for (int replace = 0; replace < 2; replace++)
        refuse_save(graph, format("%s/mine", folder), replace, KITH_ERR_ARGUMENT,
                    "is not a readable folder");
    assert_int_equal(entries(folder), 1);
    kith_graph_free(graph);
}

static void save__replace_takes_only_what_kith_wrote(void **state)
{
    kith_graph *graph = small(), *other = opened(file("g.tsv", "x\tr\ty\n"));
    kith_save_options options = {.note = "{}", .ids = 1}, again = {.note = "{}", .replace = 1};
    const char *folder = saved(graph, &options);

    (void)state;
    refuse_save(other, folder, false, KITH_ERR_ARGUMENT, "is not empty");
    assert_int_equal(kith_graph_save(other, folder, &again, NULL), KITH_OK);
    assert_false(exists(format("%s/entity2id.txt", folder)));
    kith_graph *read = opened(folder);
    assert_string_equal(facts(read, KITH_TRAIN), "x r y;");
    assert_int_equal(entries(format("%s/..", folder)), 1);
    put(folder, "notes.txt", "precious");
    refuse_save(graph, folder, true, KITH_ERR_ARGUMENT, "notes.txt");
    assert_true(exists(format("%s/notes.txt", folder)));
    kith_graph_free(read);
    kith_graph_free(graph);
    kith_graph_free(other);
}

static void save__the_work_folder_of_another_is_left_alone(void **state)
{
    kith_graph *graph = small();
    const char *parent = new_folder(), *out = keep(format("%s/out", parent));
    const char *work = keep(format("%s/out.tmp-0123456789ab", parent));

    (void)state;
    assert_int_equal(mkdir(work, 0755), 0);
    put(work, "train", "half done");
    int lock = open(work, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(kith_graph_save(graph, out, NULL, NULL), KITH_OK);
    assert_true(exists(format("%s/train", work)));
    close(lock);
    kith_graph_free(graph);
}

/* As in a container, where every process has the number 1. */
static void save__what_a_killed_process_left_is_removed_and_nothing_else(void **state)
{
    static const char *const users[] = {"out.tmp-old", "out.tmp-1", "out.tmp-0123456789AB",
                                        "other.tmp-0123456789ab", "out2.tmp-0123456789ab"};
    kith_graph *graph = small();
    const char *parent = new_folder(), *work = keep(format("%s/out.tmp-0123456789ab", parent));

    (void)state;
    assert_int_equal(mkdir(work, 0755), 0);
    put(work, "train", "half done");
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        put(parent, users[i], "precious");
    put(parent, format("out.tmp-%d", (int)getpid()), "precious");
    assert_int_equal(kith_graph_save(graph, format("%s/out", parent), NULL, NULL), KITH_OK);
    assert_false(exists(work));
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        assert_true(exists(format("%s/%s", parent, users[i])));
    kith_graph_free(graph);
}

static void save__a_link_is_not_replaced(void **state)
{
    kith_graph *graph = small();
    const char *parent = new_folder(), *real = keep(format("%s/real", parent));
    const char *link = keep(format("%s/link", parent));
    const kith_save_options noted = {.note = "{}"};

    (void)state;
    assert_int_equal(kith_graph_save(graph, real, &noted, NULL), KITH_OK);
    assert_int_equal(symlink("real", link), 0);
    refuse_save(graph, link, true, KITH_ERR_ARGUMENT, "symbolic link");
    refuse_save(graph, keep(format("%s//", link)), true, KITH_ERR_ARGUMENT, "symbolic link");
    assert_true(exists(format("%s/train", real)));
    kith_graph_free(graph);
}

static void save__the_source_is_not_replaced(void **state)
{
    kith_graph *graph, *read, *made, *part;
    const char *folder = keep(format("%s/out", new_folder()));
    const kith_save_options noted = {.note = "{}"};
    kith_dataset_options options;
    draft ring = {0};

    (void)state;
    for (int i = 0; i < 60; i++)
        add(&ring, "e%d\tr\te%d\n", i % 30, (i * 7 + 1) % 30);
    graph = opened(file("g.tsv", ring.at));
    draft_release(&ring);
    assert_int_equal(kith_graph_save(graph, folder, &noted, NULL), KITH_OK);
    read = opened(folder);
    refuse_save(read, folder, true, KITH_ERR_ARGUMENT, "is the source of these facts");
    part = opened(format("%s/train", folder));
    refuse_save(part, folder, true, KITH_ERR_ARGUMENT, "is the source of these facts");
    kith_dataset_options_init(&options);
    options.test = .2;
    options.count = 1;
    assert_int_equal(kith_dataset_make(&made, NULL, read, &options, NULL), KITH_OK);
    refuse_save(made, folder, true, KITH_ERR_ARGUMENT, "is the source of these facts");
    kith_graph_free(made);
    kith_graph_free(part);
    kith_graph_free(read);
    kith_graph_free(graph);
}

static void save__a_missing_parent_is_named(void **state)
{
    kith_graph *graph = small();
    const char *parent = new_folder();

    (void)state;
    refuse_save(graph, format("%s/no/out", parent), false, KITH_ERR_IO, "/no/out");
    refuse_save(graph, format("%s/out", put(parent, "file", "x")), false, KITH_ERR_IO, "/file/out");
    assert_int_equal(entries(parent), 1);
    kith_graph_free(graph);
}

static void save__an_unwritable_parent_is_named(void **state)
{
    kith_graph *graph = small();
    const char *parent = new_folder();
    bool root = geteuid() == 0;

    (void)state;
    assert_int_equal(chmod(parent, 0555), 0);
    if (root) /* who may write everywhere */
        assert_int_equal(seteuid(65534), 0);
    refuse_save(graph, format("%s/out", parent), false, KITH_ERR_IO, "Permission denied");
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(entries(parent), 0);
    kith_graph_free(graph);
}

/* The disk is full after some bytes, whichever: nothing half-written stays, and what was there
 * does. */
static void save__a_full_disk_leaves_nothing_half_written(void **state)
{
    kith_graph *graph = middle_sized();
    kith_save_options options = {.ids = 1, .note = "{}", .replace = 1};
    const char *parent = new_folder(), *folder = keep(format("%s/out", parent));
    struct rlimit old, small_files;
    kith_error error;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small_files = old;
    for (int there = 0; there < 2; there++) {
        small_files.rlim_cur = 2000;
        setrlimit(RLIMIT_FSIZE, &small_files);
        kith_status status = kith_graph_save(graph, folder, &options, &error);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(status, KITH_ERR_IO);
        assert_contains(error.message, "cannot write");
        assert_int_equal(entries(parent), there);
        if (there)
            break;
        assert_int_equal(kith_graph_save(graph, folder, &options, NULL), KITH_OK);
    }
    kith_graph *read = opened(folder);
    assert_same_graph(read, graph);
    kith_graph_free(read);
    kith_graph_free(graph);
    signal(SIGXFSZ, SIG_DFL);
}

static void save__names_that_columns_cannot_hold_are_refused(void **state)
{
    const char *folder = new_folder(), *parent = new_folder();

    (void)state;
    put(folder, "entity2id.txt", "a\tb\t0\nc\t1\n");
    put(folder, "relation2id.txt", "r\t0\n");
    put(folder, "train", "0\t0\t1\n");
    kith_graph *graph = opened(folder);
    refuse_save(graph, format("%s/out", parent), false, KITH_ERR_INPUT, "'a\\x09b'");
    assert_int_equal(entries(parent), 0);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split__train_is_the_sources_without_what_touches_a_candidate),
        cmocka_unit_test(split__aux_is_every_training_fact_between_unseen_and_seen),
        cmocka_unit_test(split__test_keeps_sampled_facts_with_unseen_ends_on_the_strategys_side),
        cmocka_unit_test(split__dev_keeps_valid_facts_between_seen_entities),
        cmocka_unit_test(split__entities_without_a_seen_neighbor_are_in_no_part),
        cmocka_unit_test(split__report_counts_what_the_oracle_counts),
        cmocka_unit_test(split__nothing_is_invented),
        cmocka_unit_test(split__no_fact_is_in_two_splits),
        cmocka_unit_test(split__train_never_mentions_an_unseen_entity),
        cmocka_unit_test(split__rate_samples_that_share_of_the_test_facts),
        cmocka_unit_test(split__count_samples_that_many_test_facts),
        cmocka_unit_test(split__each_test_fact_is_as_likely_as_another),
        cmocka_unit_test(split__a_single_file_has_valid_and_test_set_aside_first),
        cmocka_unit_test(split__a_missing_dev_or_test_alone_is_set_aside_from_train),
        cmocka_unit_test(labels__one_side_is_replaced_by_an_entity_seen_there),
        cmocka_unit_test(labels__a_false_fact_is_never_a_known_one),
        cmocka_unit_test(labels__no_false_fact_is_given_twice),
        cmocka_unit_test(labels__each_true_fact_has_a_false_one_where_there_can_be_one),
        cmocka_unit_test(labels__the_only_false_fact_there_can_be_is_found),
        cmocka_unit_test(labels__false_test_facts_are_about_unseen_entities_too),
        cmocka_unit_test(labels__train_and_aux_are_left_alone),
        cmocka_unit_test(split__the_same_seed_gives_the_same_bytes),
        cmocka_unit_test(split__makes_as_many_threads_as_the_options_say),
        cmocka_unit_test(split__another_seed_gives_another_split),
        cmocka_unit_test(split__options_that_make_no_sense_are_refused),
        cmocka_unit_test(split__a_source_with_nothing_to_sample_or_train_on_is_refused),
        cmocka_unit_test(save__a_split_reads_back_as_the_same_graph),
        cmocka_unit_test(save__labels_and_odd_names_read_back),
        cmocka_unit_test(save__names_that_are_numbers_or_blank_read_back),
        cmocka_unit_test(save__ids_keep_entities_that_are_in_no_fact),
        cmocka_unit_test(save__a_split_keeps_the_labels_of_its_entities),
        cmocka_unit_test(save__names_that_begin_with_a_byte_order_mark_read_back),
        cmocka_unit_test(save__labels_of_nobody_make_no_file),
        cmocka_unit_test(save__an_empty_folder_is_filled),
        cmocka_unit_test(save__a_folder_that_is_not_empty_is_refused),
        cmocka_unit_test(save__replace_takes_only_what_kith_wrote),
        cmocka_unit_test(save__the_work_folder_of_another_is_left_alone),
        cmocka_unit_test(save__what_a_killed_process_left_is_removed_and_nothing_else),
        cmocka_unit_test(save__a_link_is_not_replaced),
        cmocka_unit_test(save__the_source_is_not_replaced),
        cmocka_unit_test(save__a_missing_parent_is_named),
        cmocka_unit_test(save__an_unwritable_parent_is_named),
        cmocka_unit_test(save__a_full_disk_leaves_nothing_half_written),
        cmocka_unit_test(save__names_that_columns_cannot_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
