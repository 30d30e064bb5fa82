/* Evaluation with a fusion: breakdowns, filters, labelled facts, unseen candidates. */
#include <math.h>

#include "train/held_out.h"
#include "support.h"
#include "fusions.h"

static void check_sums(const kith_metrics *const *at, size_t count, const kith_metrics *total)
{
    double queries = 0, mr = 0, mrr = 0, hits1 = 0, hits10 = 0;

    for (size_t i = 0; i < count; i++) {
        double n = (double)at[i]->queries;
        queries += n;
        mr += n * at[i]->mr;
        mrr += n * at[i]->mrr;
        hits1 += n * at[i]->hits1;
        hits10 += n * at[i]->hits10;
    }
    assert_int_equal(queries, total->queries);
    assert_true(fabs(mr / queries - total->mr) < 1e-9);
    assert_true(fabs(mrr / queries - total->mrr) < 1e-9);
    assert_true(fabs(hits1 / queries - total->hits1) < 1e-9);
    assert_true(fabs(hits10 / queries - total->hits10) < 1e-9);
}

enum { RELIABILITY_BINS = 10 };

static void check_reliability(const kith_eval *e)
{
    size_t answers[RELIABILITY_BINS] = {0};
    double error = 0, total = 0;

    assert_int_equal(e->reliability_count, RELIABILITY_BINS);
    for (size_t i = 0; i < e->realistic->queries; i++)
        for (size_t k = 0; k < e->ranks[i]->answer_count; k++) {
            double probability = (double)e->ranks[i]->answers[k]->probability_if_one;
            answers[(int)fmin(9, floor(probability * 10))]++;
        }
    for (int i = 0; i < RELIABILITY_BINS; i++) {
        const kith_reliability *r = e->reliability[i];
        assert_int_equal(r->answers, answers[i]);
        assert_true(r->answers == 0 ||
                    (r->predicted >= i / 10. - 1e-6 && r->predicted <= (i + 1) / 10. + 1e-6));
        error += (double)r->answers * fabs(r->predicted - r->correct);
        total += (double)r->answers;
    }
    assert_true(fabs(e->calibration_error - error / total) < 1e-9);
}

/* Known answers and links, counted in the facts that the known side is known by. */
static void check_breakdown(const fusion_setup *s, const kith_eval *e)
{
    size_t linked = 0, without = 0;
    kith_facts train = kith_graph_facts(s->graph, KITH_TRAIN);
    kith_facts aux = kith_graph_facts(s->graph, KITH_AUX);

    for (size_t i = 0; i < e->realistic->queries; i++) {
        kith_triple t = e->ranks[i]->fact;
        size_t known = 0, links = 0;
        kith_facts f = t.subject < s->seen ? train : aux;
        for (size_t k = 0; k < f.count; k++) {
            kith_triple u = f.at[k];
            known += u.subject == t.subject && u.relation == t.relation;
            links += (u.subject == t.subject && u.object == t.object) ||
                     (u.subject == t.object && u.object == t.subject);
        }
        linked += links > 0;
        without += known == 0;
    }
    assert_true(linked > 0 && linked < e->realistic->queries);
    assert_int_equal(e->linked->queries, linked);
    assert_int_equal(e->by_known[0]->queries, without);
}

static void eval__breakdowns_sum_to_the_total(void **state)
{
    kith__rng rng;
    fusion_setup s;

    (void)state;
    kith__rng_init(&rng, 101, 0);
    kith__fusion fusion = random_fusion(&rng);
    fusion_setup_open(&s, group_folder(101, 60, 20), "rules", 2);
    give_fusion(&s, &fusion);
    kith_eval *e = evaluated_setup(&s, &(kith_eval_options){.split = KITH_TEST});
    check_sums((const kith_metrics *[]){e->not_linked, e->linked}, 2, e->realistic);
    check_sums(e->by_known, e->bucket_count, e->realistic);
    check_sums(e->by_facts, e->bucket_count, e->realistic);
    check_sums(e->by_kind, e->kind_count, e->realistic);
    check_breakdown(&s, e);
    check_reliability(e);
    kith_eval_free(e);
    fusion_setup_close(&s);
}

/* Ranks by sorting nothing: every candidate is looked at, known ones by name. */
static void check_ranks(const fusion_setup *s, const kith_eval *e, const kith__fusion *fusion,
                        const kith_graph *filter)
{
    const kith__fused *fused = s->model->fused;
    kith__fusion_workspace f;
    kith_error error;

    assert_int_equal(
        kith__fusion_workspace_init(&f, fusion, fused->evidence, s->log_degree, 0, &error),
        KITH_OK);
    for (size_t i = 0; i < e->realistic->queries; i++) {
        kith_triple t = e->ranks[i]->fact;
        uint32_t better = 0, equal = 0, left = 0;
        kith__span facts = kith__facts_of(fused->evidence->base->index, t.subject);
        assert_int_equal(kith__fusion_run(&f, facts, t.subject, t.relation, NULL, s->seen, &error),
                         KITH_OK);
        for (uint32_t c = 0; c < s->seen; c++) {
            const char *names[] = {kith_graph_entity_name(s->graph, t.subject),
                                   kith_graph_relation_name(s->graph, t.relation),
                                   kith_graph_entity_name(s->graph, c)};
            if (c != t.object && (graph_holds(s->graph, names[0], names[1], names[2]) ||
                                  (filter && graph_holds(filter, names[0], names[1], names[2]))))
                continue;
            left++;
            better += f.scores[c] > f.scores[t.object];
            equal += f.scores[c] == f.scores[t.object];
        }
        assert_int_equal(e->ranks[i]->optimistic, 1 + better);
        assert_int_equal(e->ranks[i]->pessimistic, better + equal);
        assert_int_equal(e->ranks[i]->candidates, left);
    }
    kith__fusion_workspace_release(&f);
}

static void eval__a_filter_takes_away_what_it_knows_and_nothing_else(void **state)
{
    draft more = {0};
    kith__rng rng;
    fusion_setup s;

    (void)state;
    kith__rng_init(&rng, 102, 0);
    kith__fusion fusion = random_fusion(&rng);
    fusion_setup_open(&s, group_folder(102, 40, 12), "rules", 2);
    give_fusion(&s, &fusion);
    for (int i = 40; i < 52; i++)
        add(&more,
            "e%d\tspeaks\tl%d\ne%d\tlikes\tt%d\ne%d\tlikes\tunknown\ne%d\tnever\tt1\n"
            "nobody\tlikes\tt1\n",
            i, i % 3, i, i % 7, i, i);
    kith_graph *filter = opened(file("more.tsv", more.at));
    kith_eval *plain = evaluated_setup(&s, &(kith_eval_options){.split = KITH_TEST});
    kith_eval *filtered =
        evaluated_setup(&s, &(kith_eval_options){.split = KITH_TEST, .filter = filter});
    check_ranks(&s, plain, &fusion, NULL);
    check_ranks(&s, filtered, &fusion, filter);
    assert_true(filtered->realistic->mr < plain->realistic->mr);
    for (size_t i = 0; i < plain->realistic->queries; i++)
        assert_true(filtered->ranks[i]->realistic <= plain->ranks[i]->realistic);
    kith_eval_free(plain);
    kith_eval_free(filtered);
    kith_graph_free(filter);
    draft_release(&more);
    fusion_setup_close(&s);
}

/* Facts with a label: for one relation what is common in train is true, for the other it is
 * false. */
static void add_labelled(draft *to, char who, int from, int until)
{
    for (int i = from; i < until; i++)
        add(to,
            "%c%d\tspeaks\tl0\t1\n%c%d\tspeaks\tl%d\t-1\n%c%d\tbears\tp%d\t1\n"
            "%c%d\tbears\tp0\t-1\n",
            who, i, who, i, 1 + i % 3, who, i, 1 + i % 3, who, i);
}

static void eval__facts_are_judged_by_what_counts_for_their_relation(void **state)
{
    const char *folder = new_folder();
    draft train = {0}, dev = {0}, test = {0}, aux = {0};
    fusion_setup s;

    (void)state;
    for (int i = 0; i < 120; i++)
        add(&train, "e%d\tin\tg%d\ne%d\tspeaks\tl%d\ne%d\tbears\tp%d\n", i, i % 5, i,
            i % 8 ? 0 : 1 + i / 8 % 3, i, i % 8 ? 0 : 1 + i / 8 % 3);
    for (int i = 120; i < 200; i++)
        add(&train, "e%d\tin\tg%d\n", i, i % 5);
    for (int i = 0; i < 60; i++)
        add(&aux, "u%d\tin\tg%d\n", i, i % 5);
    add_labelled(&dev, 'e', 120, 200);
    add_labelled(&test, 'u', 0, 60);
    put(folder, "train", train.at);
    put(folder, "dev", dev.at);
    put(folder, "test", test.at);
    put(folder, "aux", aux.at);
    fusion_setup_open(&s, folder, "rules", 1);
    kith__fusion fusion = {.common.all = {[KITH__F_ALL] = 1}, .common.bare = {[KITH__F_ALL] = 1}};
    give_fusion(&s, &fusion);
    kith_eval *e = evaluated_setup(&s, &(kith_eval_options){.split = KITH_TEST});
    assert_true(e->classification);
    if (!(e->accuracy > .95))
        fail_msg("found the accuracy %g", e->accuracy);
    kith_eval_free(e);
    fusion_setup_close(&s);
    draft_release(&train);
    draft_release(&dev);
    draft_release(&test);
    draft_release(&aux);
}

/* Only seen candidates have an input embedding. It orders them in the same way whether unseen ones
 * are candidates or not, and these only push ranks down. */
static void eval__the_embedding_counts_beside_unseen_candidates_too(void **state)
{
    kith__rng rng;
    fusion_setup s;

    (void)state;
    kith__rng_init(&rng, 105, 0);
    kith__fusion fusion = random_fusion(&rng);
    fusion_setup_open(&s, group_folder(105, 60, 20), "kith", 1);
    give_fusion(&s, &fusion);
    kith_eval_options options = {.split = KITH_TEST, .candidates = KITH_ANSWERS_ALL};
    kith_eval *all = evaluated_setup(&s, &options);
    options.candidates = KITH_ANSWERS_SEEN;
    kith_eval *seen = evaluated_setup(&s, &options);
    options.without = KITH_PART_EMBEDDING;
    kith_eval *without = evaluated_setup(&s, &options);
    assert_true(seen->realistic->queries > 0);
    assert_int_equal(seen->realistic->queries, without->realistic->queries);
    assert_false(equal_ranks(seen, without));
    for (size_t i = 0, k = 0; i < all->realistic->queries && k < seen->realistic->queries; i++) {
        const kith_rank *a = all->ranks[i], *b = seen->ranks[k];
        if (memcmp(&a->fact, &b->fact, sizeof a->fact) || a->subject_hidden != b->subject_hidden)
            continue;
        assert_true(a->realistic >= b->realistic);
        assert_true(a->candidates > b->candidates);
        k++;
    }
    kith_eval_free(all);
    kith_eval_free(seen);
    kith_eval_free(without);
    fusion_setup_close(&s);
}

static void eval__parts_that_do_not_exist_are_refused(void **state)
{
    kith__fusion fusion = {0};
    kith_eval *result;
    kith_error error;
    fusion_setup s;

    (void)state;
    fusion_setup_open(&s, group_folder(103, 20, 6), "rules", 1);
    give_fusion(&s, &fusion);
    assert_int_equal(kith_evaluate(&result, s.model,
                                   &(kith_eval_options){.split = KITH_TEST,
                                                        .without = KITH_PART_DIRECT | 1 << 20},
                                   &error),
                     KITH_ERR_ARGUMENT);
    assert_contains(error.message, "no part 1048577");
    fusion_setup_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eval__breakdowns_sum_to_the_total),
        cmocka_unit_test(eval__a_filter_takes_away_what_it_knows_and_nothing_else),
        cmocka_unit_test(eval__facts_are_judged_by_what_counts_for_their_relation),
        cmocka_unit_test(eval__the_embedding_counts_beside_unseen_candidates_too),
        cmocka_unit_test(eval__parts_that_do_not_exist_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
