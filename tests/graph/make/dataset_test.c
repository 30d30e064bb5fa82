/* Data sets with unseen entities, against an oracle written from the protocol's text. */
#include <math.h>

#include "support.h"
#include "splits.h"
#include "threads.h"

/* ---- what was made, in the source's ids ---- */

static bool equal(const triple_list *a, const triple_list *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_triple(a->at[i], b->at[i]))
            return false;
    return true;
}

/* ---- one rule after the other, over random graphs ---- */

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
    triple_list all = {.count = 0};

    list_true(&all, t->source, KITH_TEST);
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
        triple_list source = {.count = 0};
        list_true(&source, t->source, from[split]);
        for (size_t i = 0; i < t->split[split].count; i++)
            assert_true(list_holds(&source, t->split[split].at[i]));
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
                assert_false(list_holds(&t->split[b], t->split[a].at[i]));
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

static void choose(triple_list *chosen, triple_list *rest, const triple_list *from, unsigned mask)
{
    chosen->count = rest->count = 0;
    for (size_t i = 0; i < from->count; i++)
        list_add(mask >> i & 1 ? chosen : rest, from->at[i]);
}

static bool matches(const outcome *o, const triple_list split[KITH_SPLITS])
{
    for (int i = 0; i < KITH_SPLITS; i++)
        if (!equal(&o->split[i], &split[i]))
            return false;
    return true;
}

/* Whether some choice of `wanted` test facts explains what was made. */
static bool some_sample_explains(const kith_graph *source, const kith_graph *made, unsigned wanted,
                                 const triple_list *train, const triple_list *dev,
                                 const triple_list *test, kith_strategy strategy)
{
    static triple_list split[KITH_SPLITS], sampled, rest;
    static outcome o;

    for (int i = 0; i < KITH_SPLITS; i++)
        list_split(&split[i], made, source, i);
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
        triple_list train = {.count = 0}, dev = {.count = 0}, test = {.count = 0};
        kith_graph *made = NULL;
        kith_dataset_options_init(&options);
        options.strategy = (kith_strategy)(round % 3);
        options.rate = rate;
        options.count = count;
        options.seed = round;
        list_true(&train, source, KITH_TRAIN);
        list_true(&dev, source, KITH_DEV);
        list_true(&test, source, KITH_TEST);
        if (test.count == 8 && make_split(&made, &report, source, &options, NULL) == KITH_OK) {
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
        kith_graph *made = split_of(NULL, source, &options);
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
    static triple_list all, test, kept, dev, train;

    all.count = 0;
    list_true(&all, source, KITH_TRAIN);
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
        if (make_split(&made, &report, source, &options, NULL) == KITH_OK) {
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
    kith_graph *made = split_of(&report, source, &options);
    assert_true(kith_graph_facts(made, KITH_DEV).count > 20);
    assert_true(kith_graph_facts(made, KITH_TRAIN).count <= 50);
    kith_graph_free(made);
    options.valid = 0;
    made = split_of(&report, source, &options);
    assert_int_equal(kith_graph_facts(made, KITH_DEV).count, 0);
    kith_graph_free(made);
    kith_graph_free(source);
    draft_release(&t);
}

/* ---- seeds ---- */

static const char *const part_names[KITH_SPLITS] = {"train", "dev", "test", "aux"};

static void compare_seeds(uint64_t a, uint64_t b, bool expected)
{
    kith_graph *source = middle_sized_graph();
    const char *folders[2];
    kith_dataset_options options;

    kith_dataset_options_init(&options);
    options.rate = 30;
    options.labels = 1;
    for (int i = 0; i < 2; i++) {
        options.seed = i ? b : a;
        kith_graph *made = split_of(NULL, source, &options);
        folders[i] = saved_graph(made, NULL);
        kith_graph_free(made);
    }
    bool all_same = true;
    for (int split = 0; split < KITH_SPLITS; split++)
        all_same &=
            same_bytes(in(folders[0], part_names[split]), in(folders[1], part_names[split]));
    assert_int_equal(all_same, expected);
    kith_graph_free(source);
}

static void split__the_same_seed_gives_the_same_bytes(void **state)
{
    (void)state;
    compare_seeds(7, 7, true);
}

static void split__makes_as_many_threads_as_the_options_say(void **state)
{
    kith_graph *source = middle_sized_graph();
    kith_dataset_options options;

    (void)state;
    kith_dataset_options_init(&options);
    for (unsigned threads = 1; threads <= 3; threads++) {
        options.threads = threads;
        threads_made = 0;
        kith_graph_free(split_of(NULL, source, &options));
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
    kith_graph *source = middle_sized_graph();
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
        cmocka_unit_test(split__the_same_seed_gives_the_same_bytes),
        cmocka_unit_test(split__makes_as_many_threads_as_the_options_say),
        cmocka_unit_test(split__another_seed_gives_another_split),
        cmocka_unit_test(split__options_that_make_no_sense_are_refused),
        cmocka_unit_test(split__a_source_with_nothing_to_sample_or_train_on_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
