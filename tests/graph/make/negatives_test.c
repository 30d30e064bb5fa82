/* False facts of data sets: what is replaced, and by what. */
#include "support.h"
#include "splits.h"

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

static bool on_side(const triple_list *l, uint32_t relation, int side, uint32_t e)
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
            if (same_triple(all.at[i], f))
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
    triple_list all = {.count = 0};

    for (int split = KITH_DEV; split <= KITH_TEST; split++)
        for (size_t i = 0; i < t->split[split].count; i++) {
            assert_false(list_holds(&all, t->split[split].at[i]));
            list_add(&all, t->split[split].at[i]);
        }
}

static void labels__no_false_fact_is_given_twice(void **state)
{
    (void)state;
    over_random_splits(verify_once, true);
}

static bool is_free(const trial *t, kith_triple f)
{
    return !is_known(t, f) && !list_holds(&t->split[KITH_DEV], f) &&
           !list_holds(&t->split[KITH_TEST], f);
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
        triple_list truths = {.count = 0};
        for (size_t i = 0; i < f.count; i++) {
            if (!f.truth[i])
                continue;
            list_add(&truths, t->split[split].at[i]);
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
        kith_graph *made = split_of(&report, source, &options);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels__one_side_is_replaced_by_an_entity_seen_there),
        cmocka_unit_test(labels__a_false_fact_is_never_a_known_one),
        cmocka_unit_test(labels__no_false_fact_is_given_twice),
        cmocka_unit_test(labels__each_true_fact_has_a_false_one_where_there_can_be_one),
        cmocka_unit_test(labels__the_only_false_fact_there_can_be_is_found),
        cmocka_unit_test(labels__false_test_facts_are_about_unseen_entities_too),
        cmocka_unit_test(labels__train_and_aux_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
