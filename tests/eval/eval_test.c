/* Ranking against a brute force over single scores. */
#include <math.h>

#include "eval/rank.h"
#include "support.h"
#include "rankings.h"
#include "tables.h"

/* ---- the rank of one among scores ---- */

static void rank__ties_share_the_mean_rank(void **state)
{
    const float scores[] = {3, 1, 3, 2, 3, 0};
    const uint8_t known[6] = {0};
    uint32_t optimistic, pessimistic, candidates;

    (void)state;
    kith__rank_of(&optimistic, &pessimistic, &candidates, scores, 6, 2, known);
    assert_int_equal(optimistic, 1);
    assert_int_equal(pessimistic, 3);
    assert_int_equal(candidates, 6);
    kith__rank_of(&optimistic, &pessimistic, &candidates, scores, 6, 3, known);
    assert_int_equal(optimistic, 4);
    assert_int_equal(pessimistic, 4);
}

static void rank__known_answers_do_not_count_but_the_right_one_does(void **state)
{
    const float scores[] = {5, 4, 3, 2, 1};
    const uint8_t known[] = {1, 0, 1, 1, 0};
    uint32_t optimistic, pessimistic, candidates;

    (void)state;
    kith__rank_of(&optimistic, &pessimistic, &candidates, scores, 5, 3, known);
    assert_int_equal(optimistic, 2);
    assert_int_equal(pessimistic, 2);
    assert_int_equal(candidates, 3);
}

static void rank__a_score_that_is_no_number_never_helps(void **state)
{
    const float scores[] = {NAN, 1, 0};
    const uint8_t known[3] = {0};
    uint32_t optimistic, pessimistic, candidates;

    (void)state;
    kith__rank_of(&optimistic, &pessimistic, &candidates, scores, 3, 0, known);
    assert_int_equal(optimistic, 3);
    assert_int_equal(pessimistic, 3);
    kith__rank_of(&optimistic, &pessimistic, &candidates, scores, 3, 2, known);
    assert_true(optimistic >= 2 && pessimistic <= 3);
}

/* All weights equal to 0: every score is the same, and no better than a guess. */
static void rank__a_constant_scorer_gets_the_mean_rank(void **state)
{
    kith_graph *graph = random_graph(1, false);

    (void)state;
    for (int a = 0; a < AGGREGATORS; a++)
        for (int d = 0; d < DECODERS; d++) {
            kith_settings s = quick(aggregators[a], "both");
            set(&s, "decoder", decoders[d]);
            kith_model *model = model_with(graph, &s);
            memset(model->params.block, 0, model->params.floats * sizeof(float));
            kith_eval *e = evaluated(model, KITH_TEST, 0);
            assert_true(e->realistic->queries > 20);
            double mean = 0;
            for (size_t i = 0; i < e->realistic->queries; i++) {
                const kith_rank *r = e->ranks[i];
                assert_int_equal(r->optimistic, 1);
                assert_int_equal(r->pessimistic, r->candidates);
                assert_true(r->realistic == (1 + (double)r->candidates) / 2);
                mean += r->realistic / (double)e->realistic->queries;
            }
            assert_true(fabs(e->realistic->mr - mean) < 1e-9 && mean > 5);
            kith_eval_free(e);
            kith_model_free(model);
        }
    kith_graph_free(graph);
}

/* ---- brute force ---- */

static bool is_known(const kith_graph *graph, kith_triple t)
{
    for (int split = 0; split < KITH_SPLITS; split++) {
        kith_facts facts = kith_graph_facts(graph, split);
        for (size_t i = 0; i < facts.count; i++)
            if (memcmp(&facts.at[i], &t, sizeof t) == 0 && (!facts.truth || facts.truth[i]))
                return true;
    }
    return false;
}

static kith_triple with(kith_triple fact, bool subject, uint32_t entity)
{
    *(subject ? &fact.subject : &fact.object) = entity;
    return fact;
}

/* Ranks between those with what is as good as equal counted for and against. Returns whether they
 * leave no doubt. */
static bool check_rank(kith_model *model, const kith_rank *r, uint32_t candidates, const char *what)
{
    float right = score_of(model, r->fact), error = 1e-5f * (1 + fabsf(right));
    uint32_t better = 0, perhaps = 0, left = 1;

    for (uint32_t c = 0; c < candidates; c++) {
        kith_triple other = with(r->fact, r->subject_hidden, c);
        if (memcmp(&other, &r->fact, sizeof other) == 0 || is_known(model->graph, other))
            continue;
        float found = score_of(model, other);
        left++;
        better += found > right + error;
        perhaps += found >= right - error;
    }
    if (r->candidates != left)
        fail_msg("%s: found %u candidates, expected %u", what, r->candidates, left);
    if (r->optimistic < 1 + better || r->pessimistic > 1 + perhaps ||
        r->optimistic > r->pessimistic)
        fail_msg("%s: found the ranks %u to %u, expected %u to %u", what, r->optimistic,
                 r->pessimistic, 1 + better, 1 + perhaps);
    assert_true(r->realistic == ((double)r->optimistic + r->pessimistic) / 2);
    return better == perhaps;
}

static void check_ranks(const kith_graph *graph, const kith_settings *s, int all, const char *what)
{
    kith_model *model = model_with(graph, s);
    uint32_t candidates =
        all ? kith_graph_entity_count(graph) : kith_graph_seen_entity_count(graph);
    kith_eval *e = evaluated(model, KITH_TEST, all);
    size_t sure = 0, hidden[2] = {0};

    for (size_t i = 0; i < e->realistic->queries; i++) {
        sure += check_rank(model, e->ranks[i], candidates, what);
        hidden[e->ranks[i]->subject_hidden]++;
    }
    assert_true(e->realistic->queries > 20 && sure * 10 >= e->realistic->queries * 8);
    assert_int_equal(hidden[0] > 0, s->predict != KITH_PREDICT_SUBJECT);
    assert_int_equal(hidden[1] > 0, s->predict != KITH_PREDICT_OBJECT);
    kith_eval_free(e);
    kith_model_free(model);
}

static void rank__equals_a_brute_force_for_every_aggregator_and_decoder(void **state)
{
    kith_graph *graph = random_graph(2, false);

    (void)state;
    for (int a = 0; a < AGGREGATORS; a++)
        for (int d = 0; d < DECODERS + 1; d++) {
            kith_settings s = quick(aggregators[a], "both");
            set(&s, "decoder", decoders[d % DECODERS]);
            s.normalize = d == DECODERS;
            check_ranks(graph, &s, 0,
                        keep(format("%s %s", aggregators[a], decoders[d % DECODERS])));
        }
    kith_graph_free(graph);
}

/* Of all entities some are not seen, and are scored by their encodings. */
static void rank__equals_a_brute_force_for_candidates_by_input_embedding(void **state)
{
    static const char *const models[] = {"mean", "lan", "table"};
    kith_graph *graph = random_graph(4, false);

    (void)state;
    for (int i = 0; i < 3 * (DECODERS + 1) * 8; i++) {
        int decoder = i / 8 % (DECODERS + 1);
        kith_settings s = quick(models[i / 8 / (DECODERS + 1)], i % 2 ? "subject" : "object");
        set(&s, "decoder", decoders[decoder % DECODERS]);
        set(&s, "candidate-vectors", i / 2 % 2 ? "input" : "encoded");
        set(&s, "loss", "softmax");
        set(&s, "reciprocal", i / 3 % 2 ? "on" : "off");
        s.normalize = decoder == DECODERS;
        check_ranks(graph, &s, i / 4 % 2, keep(format("%d", i)));
    }
    kith_graph_free(graph);
}

static void rank__hides_the_side_that_is_predicted(void **state)
{
    static const char *const sides[] = {"object", "subject", "both"};

    (void)state;
    for (uint64_t seed = 3; seed < 6; seed++)
        for (int i = 0; i < 3; i++)
            for (int all = 0; all < 2; all++) {
                kith_graph *graph = random_graph(seed, false);
                kith_settings s = quick("lan", sides[i]);
                check_ranks(graph, &s, all, sides[i]);
                kith_graph_free(graph);
            }
}

static void rank__the_same_at_any_number_of_threads(void **state)
{
    kith_graph *graph = random_graph(7, false);
    kith_settings s = quick("lan", "both");
    kith_eval *first = NULL;

    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++) {
        kith_model *model = NULL;
        assert_int_equal(
            kith_model_new(&model, graph, &s, &(kith_work_options){.threads = threads}, NULL),
            KITH_OK);
        kith_eval *e = evaluated(model, KITH_TEST, 0);
        if (threads == 1)
            first = e;
        else {
            assert_int_equal(e->realistic->queries, first->realistic->queries);
            assert_true(equal_ranks(e, first));
            kith_eval_free(e);
        }
        kith_model_free(model);
    }
    kith_eval_free(first);
    kith_graph_free(graph);
}

/* ---- filter and candidates ---- */

/* The candidates of a's only question, with one more answer to it in one of the parts. */
static uint32_t candidates_with(const char *split)
{
    static const char *const names[KITH_SPLITS] = {"train", "dev", "test", "aux"};
    static const char *const facts[KITH_SPLITS] = {"a\tr\tb\nb\tr\tc\nc\tr\td\nd\tq\te\n",
                                                  "b\tq\tc\n", "x\tq\tb\n", "x\tr\tc\n"};
    const char *folder = new_folder();

    for (int i = 0; i < KITH_SPLITS; i++)
        put(folder, names[i],
            format("%s%s", facts[i], strcmp(split, names[i]) == 0 ? "x\tq\td\n" : ""));
    kith_graph *graph = opened(folder);
    kith_settings s = quick("mean", "object");
    kith_model *model = model_with(graph, &s);
    kith_eval *e = evaluated(model, KITH_TEST, 0);
    uint32_t found = e->ranks[0]->candidates, seen = kith_graph_seen_entity_count(graph);
    assert_string_equal(kith_graph_entity_name(graph, e->ranks[0]->fact.object), "b");
    kith_eval_free(e);
    kith_model_free(model);
    kith_graph_free(graph);
    return seen - found;
}

static void filter__leaves_in_what_no_part_holds(void **state)
{
    (void)state;
    assert_int_equal(candidates_with("none"), 0);
}

static void filter__leaves_out_what_train_holds(void **state)
{
    (void)state;
    assert_int_equal(candidates_with("train"), 1);
}

static void filter__leaves_out_what_dev_holds(void **state)
{
    (void)state;
    assert_int_equal(candidates_with("dev"), 1);
}

static void filter__leaves_out_what_test_holds(void **state)
{
    (void)state;
    assert_int_equal(candidates_with("test"), 1);
}

static void filter__leaves_out_what_aux_holds(void **state)
{
    (void)state;
    assert_int_equal(candidates_with("aux"), 1);
}

static void candidates__are_the_seen_entities_or_all(void **state)
{
    const char *folder = new_folder();
    kith_settings s = quick("mean", "both");

    (void)state;
    put(folder, "train", "a\tr\tb\nb\tr\tc\n");
    put(folder, "test", "x\tr\ta\nx\tr\ty\n");
    put(folder, "aux", "x\tr\tb\ny\tr\tb\n");
    kith_graph *graph = opened(folder);
    kith_model *model = model_with(graph, &s);
    kith_eval *seen = evaluated(model, KITH_TEST, 0), *all = evaluated(model, KITH_TEST, 1);
    /* Only a is among the seen; of all, x and y are too. */
    assert_int_equal(seen->realistic->queries, 1);
    assert_int_equal(seen->ranks[0]->candidates, 3 - 1); /* b is known from aux */
    assert_int_equal(all->realistic->queries, 4);
    assert_int_equal(all->ranks[0]->candidates, 5 - 2);
    assert_int_equal(seen->facts, 2);
    kith_eval_free(seen);
    kith_eval_free(all);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- metrics ---- */

static void tally(kith_metrics *m, double rank)
{
    m->queries++;
    m->mr += rank;
    m->mrr += 1 / rank;
    m->hits1 += rank <= 1;
    m->hits3 += rank <= 3;
    m->hits10 += rank <= 10;
}

static void check_metrics(const kith_metrics *found, const kith_metrics *sum, const char *what)
{
    double n = sum->queries ? (double)sum->queries : 1;
    const double a[] = {found->mr, found->mrr, found->hits1, found->hits3, found->hits10};
    const double b[] = {sum->mr / n, sum->mrr / n, sum->hits1 / n, sum->hits3 / n, sum->hits10 / n};

    if (found->queries != sum->queries)
        fail_msg("%s: found %zu queries, expected %zu", what, found->queries, sum->queries);
    for (int i = 0; i < 5; i++)
        if (fabs(a[i] - b[i]) > 1e-9)
            fail_msg("%s, figure %d: found %.9g, expected %.9g", what, i, a[i], b[i]);
}

enum { RELATION_KINDS = 4, FACT_BUCKETS = 7 };

/* Bordes et al. 2013: on average fewer than 1.5 objects per subject are one, and so for
 * subjects. */
static int plain_kind(const kith_graph *graph, uint32_t relation)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    uint32_t n = kith_graph_entity_count(graph);
    uint8_t *subjects = calloc(n, 1), *objects = calloc(n, 1);
    double facts = 0, heads = 0, tails = 0;

    for (size_t i = 0; i < train.count; i++)
        if (train.at[i].relation == relation) {
            facts++;
            heads += !subjects[train.at[i].subject];
            tails += !objects[train.at[i].object];
            subjects[train.at[i].subject] = objects[train.at[i].object] = 1;
        }
    free(subjects);
    free(objects);
    bool many_objects = facts / heads >= 1.5, many_subjects = facts / tails >= 1.5;
    const char *name = many_subjects  ? (many_objects ? "N-N" : "N-1")
                       : many_objects ? "1-N"
                                      : "1-1";
    for (int kind = 0; kind < RELATION_KINDS; kind++)
        if (strcmp(kith_eval_kind_name(kind), name) == 0)
            return kind;
    fail_msg("found no kind %s", name);
    return -1;
}

static int plain_bucket(uint64_t facts)
{
    const char *name = facts == 0 ? "0" : facts == 1 ? "1" : facts == 2 ? "2" : facts <= 5 ? "3-5"
                       : facts <= 10 ? "6-10" : facts <= 50 ? "11-50" : "51+";
    for (int bucket = 0; bucket < FACT_BUCKETS; bucket++)
        if (strcmp(kith_eval_bucket_name(bucket), name) == 0)
            return bucket;
    fail_msg("found no bucket %s", name);
    return -1;
}

/* Relations of each kind, entities with from 0 to 60 facts. */
static kith_graph *graph_of_kinds(void)
{
    const char *folder = new_folder();
    draft train = {0}, test = {0}, aux = {0};

    for (int i = 0; i < 12; i++)
        add(&train, "p%d\tone\tp%d\np0\tmany\tp%d\np%d\tto\tp0\n", i, (i + 1) % 12, i, i);
    for (int i = 0; i < 60; i++)
        add(&train, "p%d\tmix\tp%d\n", i % 6, i * 7 % 11);
    static const int counts[] = {0, 1, 2, 3, 5, 6, 10, 11, 12};
    static const char *const relations[] = {"one", "many", "to", "mix"};
    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < counts[i]; k++)
            add(&aux, "u%d\tmix\tp%d\n", i, k);
        for (int k = 0; k < 4; k++)
            add(&test, "u%d\t%s\tp%d\n", i, relations[k], (i + k) % 12);
    }
    for (int i = 0; i < 60; i++)
        add(&train, "hub\tmix\tq%d\n", i);
    add(&test, "hub\tone\tp1\n");
    put(folder, "train", train.at);
    put(folder, "test", test.at);
    put(folder, "aux", aux.at);
    draft_release(&train);
    draft_release(&test);
    draft_release(&aux);
    return opened(folder);
}

static void metrics__equal_a_brute_force_over_the_ranks(void **state)
{
    kith_graph *graph = graph_of_kinds();
    kith_settings s = quick("lan", "object");
    kith_model *model = model_with(graph, &s);
    kith_eval *e = evaluated(model, KITH_TEST, 0);
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    kith_metrics total = {0}, low = {0}, high = {0};
    kith_metrics kinds[RELATION_KINDS] = {{0}}, buckets[FACT_BUCKETS] = {{0}};

    (void)state;
    for (size_t i = 0; i < e->realistic->queries; i++) {
        const kith_rank *r = e->ranks[i];
        uint32_t known = r->fact.subject;
        tally(&total, r->realistic);
        tally(&low, r->optimistic);
        tally(&high, r->pessimistic);
        tally(&kinds[plain_kind(graph, r->fact.relation)], r->realistic);
        tally(&buckets[plain_bucket(hood.offset[known + 1] - hood.offset[known])], r->realistic);
    }
    assert_int_equal(total.queries, 37);
    check_metrics(e->realistic, &total, "realistic");
    check_metrics(e->optimistic, &low, "optimistic");
    check_metrics(e->pessimistic, &high, "pessimistic");
    for (int i = 0; i < RELATION_KINDS; i++) {
        assert_true(kinds[i].queries > 0);
        check_metrics(e->by_kind[i], &kinds[i], kith_eval_kind_name(i));
    }
    for (int i = 0; i < FACT_BUCKETS; i++) {
        assert_true(buckets[i].queries > 0);
        check_metrics(e->by_facts[i], &buckets[i], kith_eval_bucket_name(i));
    }
    assert_int_equal(e->no_neighbors, 4);
    kith_eval_free(e);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void evaluate__facts_whose_relation_train_lacks_are_left_out_and_counted(void **state)
{
    const char *folder = new_folder();
    kith_settings s = quick("mean", "object");

    (void)state;
    put(folder, "train", "a\tr\tb\nb\tr\tc\n");
    put(folder, "test", "a\tnew\tb\na\tr\tc\nb\tnew\tc\n");
    kith_graph *graph = opened(folder);
    kith_model *model = model_with(graph, &s);
    kith_eval *e = evaluated(model, KITH_TEST, 0);
    assert_int_equal(e->facts, 3);
    assert_int_equal(e->unusable, 2);
    assert_int_equal(e->realistic->queries, 1);
    kith_eval_free(e);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void evaluate__a_sample_has_that_size_and_the_seed_decides(void **state)
{
    kith_graph *graph = random_graph(8, false);
    kith_settings s = quick("mean", "object");
    kith_model *model = model_with(graph, &s);
    kith_triple first[10], again[10], other[10];
    kith_triple *const into[] = {first, again, other};

    (void)state;
    for (int i = 0; i < 3; i++) {
        kith_eval_options options = {.split = KITH_TEST,
                                     .candidates = KITH_ANSWERS_ALL,
                                     .sample = 10,
                                     .seed = i == 2 ? 2 : 1};
        kith_eval *e;
        assert_int_equal(kith_evaluate(&e, model, &options, NULL), KITH_OK);
        assert_int_equal(e->realistic->queries, 10);
        for (int k = 0; k < 10; k++)
            into[i][k] = e->ranks[k]->fact;
        kith_eval_free(e);
    }
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void evaluate__a_part_without_facts_is_named(void **state)
{
    kith_graph *graph = opened(file("train", "a\tr\tb\n"));
    kith_settings s = quick("mean", "object");
    kith_model *model = model_with(graph, &s);
    kith_eval *e;
    kith_error error;

    (void)state;
    assert_int_equal(kith_evaluate(&e, model, &(kith_eval_options){.split = KITH_DEV}, &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "no dev facts");
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- arguments that make no sense ---- */

static void arguments__names_of_what_does_not_exist_are_null(void **state)
{
    (void)state;
    assert_string_equal(kith_eval_kind_name(3), "N-N");
    assert_null(kith_eval_kind_name(4));
    assert_null(kith_eval_kind_name(-1));
    assert_string_equal(kith_eval_bucket_name(6), "51+");
    assert_null(kith_eval_bucket_name(7));
    assert_null(kith_eval_bucket_name(-1));
    kith_eval_free(NULL);
}

static void arguments__a_split_that_does_not_exist_is_refused(void **state)
{
    kith_graph *graph = random_graph(1, false);
    kith_settings s = quick("mean", "both");
    kith_model *model = model_with(graph, &s);
    kith_eval *result;
    kith_error error;

    (void)state;
    for (int split = -1; split <= KITH_SPLITS; split += KITH_SPLITS + 1) {
        const kith_eval_options options = {.split = (kith_split)split};
        assert_int_equal(kith_evaluate(&result, model, &options, &error), KITH_ERR_ARGUMENT);
        assert_contains(error.message, "split");
    }
    kith_model_free(model);
    kith_graph_free(graph);
}

static void arguments__ranks_are_not_written_by_the_names_of_another_graph(void **state)
{
    kith_graph *graph = random_graph(1, false), *other = opened(file("one.tsv", "a\tr\tb\n"));
    kith_settings s = quick("mean", "both");
    kith_model *model = model_with(graph, &s);
    kith_eval *result = evaluated(model, KITH_TEST, 0);
    const char *path = keep(format("%s/ranks.tsv", new_folder()));
    kith_error error;

    (void)state;
    assert_int_equal(kith_eval_write_ranks(result, other, path, NULL, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "graph");
    assert_false(exists(path));
    assert_int_equal(kith_eval_write_ranks(result, graph, path, NULL, &error), KITH_OK);
    kith_eval_free(result);
    kith_model_free(model);
    kith_graph_free(graph);
    kith_graph_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank__ties_share_the_mean_rank),
        cmocka_unit_test(rank__known_answers_do_not_count_but_the_right_one_does),
        cmocka_unit_test(rank__a_score_that_is_no_number_never_helps),
        cmocka_unit_test(rank__a_constant_scorer_gets_the_mean_rank),
        cmocka_unit_test(rank__equals_a_brute_force_for_every_aggregator_and_decoder),
        cmocka_unit_test(rank__equals_a_brute_force_for_candidates_by_input_embedding),
        cmocka_unit_test(rank__hides_the_side_that_is_predicted),
        cmocka_unit_test(rank__the_same_at_any_number_of_threads),
        cmocka_unit_test(filter__leaves_in_what_no_part_holds),
        cmocka_unit_test(filter__leaves_out_what_train_holds),
        cmocka_unit_test(filter__leaves_out_what_dev_holds),
        cmocka_unit_test(filter__leaves_out_what_test_holds),
        cmocka_unit_test(filter__leaves_out_what_aux_holds),
        cmocka_unit_test(candidates__are_the_seen_entities_or_all),
        cmocka_unit_test(metrics__equal_a_brute_force_over_the_ranks),
        cmocka_unit_test(evaluate__facts_whose_relation_train_lacks_are_left_out_and_counted),
        cmocka_unit_test(evaluate__a_sample_has_that_size_and_the_seed_decides),
        cmocka_unit_test(evaluate__a_part_without_facts_is_named),
        cmocka_unit_test(arguments__names_of_what_does_not_exist_are_null),
        cmocka_unit_test(arguments__a_split_that_does_not_exist_is_refused),
        cmocka_unit_test(arguments__ranks_are_not_written_by_the_names_of_another_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
