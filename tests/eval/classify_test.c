/* Classification against a brute force, and the classifier of a run. */
#include <math.h>

#include "model/classify.h"
#include "support.h"
#include "rankings.h"
#include "tables.h"

/* ---- classification ---- */

static size_t right_at(const kith__scored *scored, size_t count, float threshold)
{
    size_t right = 0;
    for (size_t i = 0; i < count; i++)
        right += (scored[i].score >= threshold) == (scored[i].truth == 1);
    return right;
}

static size_t most_right(const kith__scored *scored, size_t count)
{
    size_t most = right_at(scored, count, INFINITY);
    for (size_t i = 0; i < count; i++) {
        size_t right = right_at(scored, count, scored[i].score);
        most = right > most ? right : most;
    }
    return most;
}

static void threshold__is_the_lowest_that_gets_most_right(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 31, 0);
    for (int round = 0; round < 2000; round++) {
        size_t count = 1 + kith__rng_below(&rng, 12), levels = 1 + kith__rng_below(&rng, 8);
        kith__scored scored[12] = {{0}};
        for (size_t i = 0; i < count; i++) {
            scored[i].score = (float)kith__rng_below(&rng, levels) - 3;
            scored[i].truth = (int8_t)kith__rng_below(&rng, 2);
        }
        float found = kith__best_threshold(scored, count);
        size_t most = most_right(scored, count);
        if (right_at(scored, count, found) != most)
            fail_msg("found %zu of %zu right at %g, expected %zu", right_at(scored, count, found),
                     count, (double)found, most);
        for (size_t i = 0; i < count; i++) /* anything lower that changes something is worse */
            if (scored[i].score < found)
                assert_true(right_at(scored, count, scored[i].score) < most);
    }
}

static void threshold__lies_between_scores_that_are_next_to_each_other(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        float low = k ? nextafterf(1, 2) : 1, high = nextafterf(low, 2);
        kith__scored scored[] = {{low, 0}, {high, 1}};
        float found = kith__best_threshold(scored, 2);
        assert_true(low < found && found <= high);
    }
    kith__scored huge[] = {{-3e38f, 0}, {3e38f, 1}, {2.9e38f, 1}, {2.8e38f, 0}};
    float found = kith__best_threshold(huge, 4);
    assert_true(found > 2.8e38f && found <= 2.9e38f);
}

/* Thresholds from dev and the accuracy on test, all by single scores. */
static double plain_accuracy(kith_model *model, kith_split split, double *doubtful)
{
    const kith_graph *graph = model->graph;
    kith_facts dev = kith_graph_facts(graph, KITH_DEV), test = kith_graph_facts(graph, split);
    uint32_t m = kith_graph_seen_relation_count(graph);
    kith__scored scored[256], some[256];
    uint32_t relation[256];
    size_t count = 0, usable = 0;
    double right = 0;

    *doubtful = 0;
    for (size_t i = 0; i < dev.count; i++)
        if (dev.at[i].relation < m) {
            relation[count] = dev.at[i].relation;
            scored[count++] = (kith__scored){score_of(model, dev.at[i]), dev.truth[i]};
        }
    for (size_t i = 0; i < test.count; i++) {
        size_t here = 0;
        if (test.at[i].relation >= m)
            continue;
        for (size_t k = 0; k < count; k++)
            if (relation[k] == test.at[i].relation)
                some[here++] = scored[k];
        if (here == 0) {
            memcpy(some, scored, count * sizeof *some);
            here = count;
        }
        float threshold = kith__best_threshold(some, here), phi = score_of(model, test.at[i]);
        usable++;
        right += (phi >= threshold) == (test.truth[i] == 1);
        *doubtful += fabsf(phi - threshold) < 1e-5f;
    }
    *doubtful /= (double)usable;
    return right / (double)usable;
}

static void classify__equals_a_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        kith_graph *graph = random_graph(40 + seed, true);
        for (int a = 0; a < AGGREGATORS; a++) {
            kith_settings s = quick(aggregators[a], "both");
            set(&s, "decoder", decoders[seed % DECODERS]);
            kith_model *model = model_with(graph, &s);
            for (kith_split split = KITH_DEV; split <= KITH_TEST; split++) {
                kith_eval *e = evaluated(model, split, 0);
                double doubtful, expected = plain_accuracy(model, split, &doubtful);
                size_t correct = 0;
                assert_true(e->classification);
                for (size_t i = 0; i < e->realistic->queries; i++)
                    correct += e->ranks[i]->correct != 0;
                assert_true(e->accuracy == (double)correct / (double)e->realistic->queries);
                if (fabs(e->accuracy - expected) > 1e-12 + doubtful)
                    fail_msg("%s: found %.6g, expected %.6g", aggregators[a], e->accuracy,
                             expected);
                assert_int_equal(e->realistic->queries, e->facts - e->unusable);
                kith_eval_free(e);
            }
            kith_model_free(model);
        }
        kith_graph_free(graph);
    }
}

/* dev has r and t; s takes the threshold over all of it, 2. Encodings are all alike, so that
 * DistMult gives each relation the score that is set below. */
static void classify__a_relation_that_dev_lacks_takes_the_overall_threshold(void **state)
{
    const float scores[] = {2.5f, 1.5f};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *folder = new_folder();
        kith_settings settings = quick("mean", "both");
        put(folder, "train", "a\tr\tb\nb\tr\ta\na\ts\tb\nb\ts\ta\na\tt\tb\nb\tt\ta\n");
        put(folder, "dev", "a\tr\tb\t1\nb\tr\ta\t1\na\tt\tb\t-1\nb\tt\ta\t-1\n");
        put(folder, "test", "a\ts\tb\t1\nb\ts\ta\t1\n");
        set(&settings, "decoder", "distmult");
        settings.padding = 0;
        kith_graph *graph = opened(folder);
        kith_model *model = model_with(graph, &settings);
        memset(model->params.block, 0, model->params.floats * sizeof(float));
        for (size_t k = 0; k < 2; k++)
            kith__row(kith__ent(&model->params), k)[0] = 1;
        for (size_t k = 0; k < 6; k++)
            kith__row(kith__trans(&model->params), k)[1] = 1;
        static const char *const names[] = {"r", "t", "s"};
        const float values[] = {3, 1, scores[i]};
        for (int k = 0; k < 3; k++) {
            uint32_t id;
            assert_int_equal(kith_graph_find_relation(&id, graph, names[k]), KITH_OK);
            kith__row(kith__rel(&model->params), id)[0] = values[k];
        }
        kith_eval *e = evaluated(model, KITH_TEST, 0);
        if (e->accuracy != (i == 0))
            fail_msg("found %g at a score of %g, expected %d", e->accuracy, (double)scores[i],
                     i == 0);
        kith_eval_free(e);
        kith_model_free(model);
        kith_graph_free(graph);
    }
}

static void classify__facts_without_a_usable_neighbour_stay_in_the_denominator(void **state)
{
    const char *folder = new_folder();
    kith_settings s = quick("lan", "both");

    (void)state;
    put(folder, "train", "a\tr\tb\nb\tr\tc\nc\tr\ta\n");
    put(folder, "dev", "a\tr\tb\t1\nc\tr\tb\t-1\n");
    put(folder, "test", "lone\tr\tb\t1\na\tr\tlone\t-1\na\tr\tc\t1\nlone\tr\tother\t-1\n");
    kith_graph *graph = opened(folder);
    kith_model *model = model_with(graph, &s);
    kith_eval *e = evaluated(model, KITH_TEST, 0);
    assert_int_equal(e->facts, 4);
    assert_int_equal(e->realistic->queries, 4);
    assert_int_equal(e->no_neighbors, 3);
    assert_true(fabs(e->accuracy * 4 - round(e->accuracy * 4)) < 1e-9);
    kith_eval_free(e);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void classify__without_labels_on_dev_says_so(void **state)
{
    const char *folder = new_folder();
    kith_settings s = quick("mean", "both");
    kith_eval *e;
    kith_error error;

    (void)state;
    put(folder, "train", "a\tr\tb\nb\tr\tc\n");
    put(folder, "test", "a\tr\tc\t1\nb\tr\ta\t-1\n");
    kith_graph *graph = opened(folder);
    kith_model *model = model_with(graph, &s);
    assert_int_equal(kith_evaluate(&e, model, &(kith_eval_options){.split = KITH_TEST}, &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "dev has no labelled facts");
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- the classifier of a run ---- */

static const unsigned leaving_out[] = {0, KITH_PART_EMBEDDING,
                                       KITH_PART_ALL & ~(unsigned)KITH_PART_EMBEDDING};

/* Accuracies with all parts, without the embedding and with it alone; -1 where there is none. */
static void accuracies(double out[3], const kith_model *model)
{
    for (int i = 0; i < 3; i++) {
        const kith_eval_options options = {.split = KITH_TEST, .without = leaving_out[i]};
        kith_eval *result;
        bool done = kith_evaluate(&result, model, &options, NULL) == KITH_OK;
        out[i] = done ? result->accuracy : -1;
        if (done)
            kith_eval_free(result);
    }
}

static const char *trained(const kith_graph *graph, const char *evidence)
{
    const char *folder = new_run();
    kith_settings s = quick("lan", "both");
    kith_train_end end;
    kith_error error;

    set(&s, "evidence", evidence);
    s.epochs = 2;
    if (kith_train(&end, folder, graph, &s, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return folder;
}

/* It is fitted in training and kept; a run that lost it fits it when it is opened, and says so. */
static void classifier__is_kept_with_the_run(void **state)
{
    static const char *const evidence[] = {"none", "rules", "fused"};
    kith_graph *graph = random_graph(4, true);

    (void)state;
    for (int k = 0; k < 3; k++) {
        const char *folder = trained(graph, evidence[k]);
        const char *path = keep(format("%s/classifier.json", folder));
        double first[3], again[3], without[3];
        kith_model *model = opened_model(folder);
        assert_true(exists(path));
        assert_null(warning_of(model, 0));
        accuracies(first, model);
        accuracies(again, model);
        kith_model_free(model);
        remove(path);
        model = opened_model(folder);
        assert_contains(warning_of(model, 0), "classifier.json");
        assert_false(exists(path));
        accuracies(without, model);
        kith_model_free(model);
        assert_true(first[0] >= 0);
        assert_memory_equal(first, again, sizeof first);
        assert_memory_equal(first, without, sizeof first);
        kith_train_end end;
        assert_int_equal(kith_train_resume(&end, folder, NULL, NULL), KITH_OK);
        assert_true(exists(path));
    }
    kith_graph_free(graph);
}

static void classifier__comes_back_bit_by_bit(void **state)
{
    kith_graph *graph = random_graph(4, true);
    const char *folder = trained(graph, "fused");
    kith_model *kept = opened_model(folder), *fitted;
    size_t m = kith_graph_seen_relation_count(kith_model_graph(kept));

    (void)state;
    remove(format("%s/classifier.json", folder));
    fitted = opened_model(folder);
    for (int by = 0; by < KITH__CLASSIFY_BY; by++) {
        const kith__judgement *a = &kept->classifier->by[by], *b = &fitted->classifier->by[by];
        assert_true(a->weight && b->weight);
        assert_memory_equal(a->weight, b->weight, m * sizeof *a->weight);
        assert_memory_equal(a->threshold, b->threshold, m * sizeof *a->threshold);
    }
    kith_model_free(kept);
    kith_model_free(fitted);
    kith_graph_free(graph);
}

static void classifier__a_damaged_one_is_refused(void **state)
{
    static const char *const texts[] = {"", "{}", "[]", "{\"format\": 1, \"relations\": 4}"};
    kith_graph *graph = random_graph(4, true);
    const char *folder = trained(graph, "none");
    kith_model *model = NULL;
    kith_error error;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put(folder, "classifier.json", texts[i]);
        assert_int_equal(
            kith_model_open(&model, folder, &(kith_work_options){.threads = 1}, &error),
            KITH_ERR_INPUT);
        assert_contains(error.message, "classifier.json");
    }
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classifier__is_kept_with_the_run),
        cmocka_unit_test(classifier__comes_back_bit_by_bit),
        cmocka_unit_test(classifier__a_damaged_one_is_refused),
        cmocka_unit_test(threshold__is_the_lowest_that_gets_most_right),
        cmocka_unit_test(threshold__lies_between_scores_that_are_next_to_each_other),
        cmocka_unit_test(classify__equals_a_brute_force),
        cmocka_unit_test(classify__a_relation_that_dev_lacks_takes_the_overall_threshold),
        cmocka_unit_test(classify__facts_without_a_usable_neighbour_stay_in_the_denominator),
        cmocka_unit_test(classify__without_labels_on_dev_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
