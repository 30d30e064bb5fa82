/* Fitting the fusion on a graph, and what training measures on held-out entities. */
#include <math.h>
#include <unistd.h>

#include "model/fusion_sweep.h"
#include "train/fit.h"
#include "train/held_out.h"
#include "support.h"
#include "fusions.h"

/* ---- fitting on a graph ---- */

static void check_fusion_numbers(const kith__fusion *f, const kith__calibration *c)
{
    for (uint32_t i = 0; i <= f->own_count; i++) {
        const kith__weights *w = i == 0 ? &f->common : &f->own[i - 1].weights;
        for (int k = 0; k < N_FEATURES; k++) {
            assert_true(isfinite(w->all[k]) && isfinite(w->bare[k]) && isfinite(w->unseen[k]));
            if (kith__feature_part(k) == KITH_PART_EMBEDDING)
                assert_true(w->bare[k] == 0 && w->unseen[k] == 0);
        }
    }
    for (uint32_t i = 1; i < f->own_count; i++)
        assert_true(f->own[i].query > f->own[i - 1].query);
    assert_int_equal(f->regularization > 0, f->own_count > 0);
    for (int k = 0; k < KITH__CALIBRATION; k++)
        assert_true(c->fitted && isfinite(c->weight[k]));
    assert_true(isfinite(f->loss) && f->loss >= 0);
    assert_true(f->calibration_queries <= f->queries);
}

static void fit__is_the_same_at_any_number_of_threads(void **state)
{
    const char *folder = group_folder(81, 120, 40);

    (void)state;
    for (int embedding = 0; embedding < 2; embedding++) {
        kith__fusion first, more;
        kith__calibration c[2] = {{0}};
        for (unsigned threads = 1; threads < 4; threads++) {
            fusion_setup s;
            kith_error error;
            fusion_setup_open(&s, folder, embedding ? "kith" : "rules", threads);
            assert_int_equal(kith__fusion_fit(threads == 1 ? &first : &more, &c[threads > 1],
                                              s.model, s.evidence, embedding, &error),
                             KITH_OK);
            assert_int_equal(first.queries, kith_graph_facts(s.graph, KITH_TEST).count);
            if (threads > 1) {
                check_same_fusion(&first, &more);
                assert_memory_equal(c[0].weight, c[1].weight, sizeof c[0].weight);
                kith__fusion_release(&more);
            }
            fusion_setup_close(&s);
        }
        check_fusion_numbers(&first, &c[0]);
        assert_true(first.calibration_queries > 0 && first.calibration_queries < first.queries);
        kith__fusion_release(&first);
    }
}

static void fit__gives_no_weight_to_an_embedding_that_is_not_there(void **state)
{
    kith__fusion f;
    kith__calibration c = {0};
    kith_error error;
    fusion_setup s;

    (void)state;
    fusion_setup_open(&s, group_folder(82, 80, 30), "rules", 1);
    assert_int_equal(kith__fusion_fit(&f, &c, s.model, s.evidence, false, &error), KITH_OK);
    for (int k = 0; k < N_FEATURES; k++)
        if (kith__feature_part(k) == KITH_PART_EMBEDDING)
            assert_float_equal(f.common.all[k], 0, 0);
    kith__fusion_release(&f);
    fusion_setup_close(&s);
}

/* Releases them, too. */
static void put_drafts(const char *folder, draft *train, draft *test, draft *aux)
{
    put(folder, "train", train->at);
    put(folder, "test", test->at);
    put(folder, "aux", aux->at);
    draft_release(train);
    draft_release(test);
    draft_release(aux);
}

/* What is often answered to one question is right for newcomers too; to the other, where `split`,
 * it never is. Their own facts support no answer, so rules of any kind say nothing. */
static const char *contrary_folder_of(bool split, int unseen)
{
    const char *folder = new_folder();
    draft train = {0}, test = {0}, aux = {0};

    for (int i = 0; i < 200; i++)
        add(&train, "e%d\tin\tg%d\ne%d\tspeaks\tl%d\ne%d\tbears\tp%d\n", i, i % 5, i,
            i % 7 < 5 ? 0 : i % 7, i, i % 10);
    for (int i = 0; i < 20; i++)
        add(&train, "p%d\tis\tk\nl%d\tis\tk\nh%d\tnear\thub\n", i, i, i);
    for (int i = 0; i < unseen; i++) {
        add(&aux, "u%d\tnear\thub\n", i);
        add(&test, "u%d\tspeaks\tl%d\nu%d\tbears\tp%d\n", i, i % 7 < 5 ? 0 : i % 7, i,
            (split ? 10 : 0) + i % 10);
    }
    put_drafts(folder, &train, &test, &aux);
    return folder;
}

static const char *contrary_folder(bool split)
{
    return contrary_folder_of(split, 150);
}

static void fit__relations_that_differ_get_weights_of_their_own(void **state)
{
    (void)state;
    for (int split = 0; split < 2; split++) {
        kith__fusion f;
        kith__calibration c = {0};
        kith_error error;
        uint32_t speaks = 0, bears = 0;
        fusion_setup s;
        fusion_setup_open(&s, contrary_folder(split), "rules", 2);
        assert_int_equal(kith_graph_find_relation(&speaks, s.graph, "speaks"), KITH_OK);
        assert_int_equal(kith_graph_find_relation(&bears, s.graph, "bears"), KITH_OK);
        assert_int_equal(kith__fusion_fit(&f, &c, s.model, s.evidence, false, &error), KITH_OK);
        check_fusion_numbers(&f, &c);
        const kith__weights *one = kith__fusion_weights(&f, speaks);
        const kith__weights *other = kith__fusion_weights(&f, bears);
        if (split) {
            assert_true(f.own_count == 2 && one != other);
            assert_true(one->all[KITH__F_PRIOR] > other->all[KITH__F_PRIOR]);
        } else {
            assert_ptr_equal(kith__fusion_weights(&f, 2 * s.relations), &f.common);
        }
        kith__fusion_release(&f);
        fusion_setup_close(&s);
    }
}

/* Two graphs with the same relations in another order. */
static void fit__weights_follow_their_relation_to_another_graph(void **state)
{
    kith_graph *from = opened(file("from.tsv", "a\tr\tb\na\ts\tb\na\tt\tb\n"));
    kith_graph *to = opened(file("to.tsv", "a\tt\tb\na\tv\tb\na\ts\tb\na\tr\tb\n"));
    kith_graph *less = opened(file("less.tsv", "a\tr\tb\na\ts\tb\n"));
    kith__fusion f = {.own_count = 6, .own = kith__calloc(6, sizeof *f.own)};
    kith_error error;

    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        f.own[i].query = i;
        f.own[i].weights.all[0] = (float)i;
    }
    assert_int_equal(kith__fusion_translate(&f, from, to, &error), KITH_OK);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t id = 0;
        bool inverse = i >= 3;
        const char *name = kith_graph_relation_name(from, i % 3);
        assert_int_equal(kith_graph_find_relation(&id, to, name), KITH_OK);
        const kith__weights *found = kith__fusion_weights(&f, id + (inverse ? 4 : 0));
        assert_true(found != &f.common && found->all[0] == (float)i);
    }
    assert_int_equal(kith__fusion_translate(&f, to, less, &error), KITH_ERR_NOT_FOUND);
    assert_contains(error.message, "t");
    kith__fusion_release(&f);
    kith_graph_free(from);
    kith_graph_free(to);
    kith_graph_free(less);
}

/* Newcomers to ten groups whose members agree on an answer; where `fooled` says so, a newcomer's is
 * that of the next group. */
static const char *sure_folder(const uint8_t *fooled)
{
    enum { GROUPS = 10, MEMBERS = 30, NEWCOMERS = 200 };
    const char *folder = new_folder();
    draft train = {0}, test = {0}, aux = {0};

    for (int e = 0; e < GROUPS * MEMBERS; e++)
        add(&train, "e%d\tin\tg%d\ne%d\tspeaks\tl%d\n", e, e % GROUPS, e, e % GROUPS);
    for (int u = 0; u < NEWCOMERS; u++) {
        add(&aux, "u%d\tin\tg%d\n", u, u % GROUPS);
        add(&test, "u%d\tspeaks\tl%d\n", u, (u + (fooled && fooled[u])) % GROUPS);
    }
    put_drafts(folder, &train, &test, &aux);
    return folder;
}

static void fit__probabilities_are_calibrated_even_where_the_fit_was_far_too_sure(void **state)
{
    uint8_t fooled[200];
    kith__fusion f;
    kith__calibration c = {0};
    kith_error error;
    fusion_setup s;

    (void)state;
    fusion_setup_open(&s, sure_folder(NULL), "rules", 1);
    for (int u = 0; u < 200; u++) {
        uint32_t id = 0;
        assert_int_equal(kith_graph_find_entity(&id, s.graph, format("u%d", u)), KITH_OK);
        fooled[u] = ((id + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % 5 == 0;
    }
    fusion_setup_close(&s);
    fusion_setup_open(&s, sure_folder(fooled), "rules", 1);
    assert_int_equal(kith__fusion_fit(&f, &c, s.model, s.evidence, false, &error), KITH_OK);
    check_fusion_numbers(&f, &c);
    /* The fit is wrong about all that were set aside, so that shares must hardly count. */
    assert_true(f.loss > 2);
    for (int k = 0; k < KITH__CALIBRATION; k++)
        if (!(fabsf(c.weight[k]) < 5))
            fail_msg("calibration %d: found %g", k, (double)c.weight[k]);
    kith__fusion_release(&f);
    fusion_setup_close(&s);
}

/* The mean rank that a fusion gives the hidden objects of test. */
typedef struct {
    const kith__query *queries;
    double sum;
} rank_sum;

static void add_rank(void *context, size_t query, kith__fusion_workspace *f)
{
    rank_sum *r = context;
    uint32_t gold = kith__hidden_side(&r->queries[query]);

    for (uint32_t e = 0; e < f->at.candidates; e++)
        r->sum += f->scores[e] > f->scores[gold] ? 1 : f->scores[e] == f->scores[gold] ? .5 : 0;
}

static double mean_rank(const fusion_setup *s, const kith__fusion *f)
{
    kith__query *queries;
    size_t count = test_queries(&queries, s), used = 0;
    kith_error error;

    for (size_t i = 0; i < count; i++)
        if (!queries[i].subject_hidden)
            queries[used++] = queries[i];
    rank_sum r = {queries, 0};
    const kith__answer_set among = kith__answers_below(s->seen);
    assert_int_equal(kith__fusion_sweep(s->model, f, s->evidence, queries, used, &among, 0, false,
                                        add_rank, &r, &error),
                     KITH_OK);
    free(queries);
    return r.sum / (double)used;
}

static void fit__without_anything_to_fit_on_still_ranks_by_rules(void **state)
{
    const char *folder = group_folder(83, 80, 30);
    kith__fusion f, none = {0};
    kith__calibration c = {0};
    kith_error error;
    fusion_setup s, empty;

    (void)state;
    fusion_setup_open(&s, folder, "rules", 1);
    unlink(format("%s/test", folder));
    fusion_setup_open(&empty, folder, "rules", 1);
    assert_int_equal(kith__fusion_fit(&f, &c, empty.model, empty.evidence, false, &error), KITH_OK);
    check_fusion_numbers(&f, &c);
    assert_int_equal(f.queries, 0);
    assert_true(mean_rank(&s, &f) < .5 * mean_rank(&s, &none));
    fusion_setup_close(&s);
    fusion_setup_close(&empty);
}

/* ---- what training measures ---- */

/* The queries of test that hide a seen entity; returns how many. */
static size_t seen_queries(kith__query **queries, const fusion_setup *s)
{
    kith_facts test = kith_graph_facts(s->graph, KITH_TEST);

    *queries = calloc(test.count, sizeof **queries);
    for (size_t i = 0; i < test.count; i++)
        (*queries)[i] = (kith__query){test.at[i], test.at[i].object >= s->seen};
    return test.count;
}

static void held_out__ranks_are_those_of_evaluation(void **state)
{
    kith__known known[2];
    kith__query *queries;
    kith_error error;
    fusion_setup s;

    (void)state;
    fusion_setup_open(&s, contrary_folder(true), "rules", 2);
    for (int side = 0; side < 2; side++)
        assert_int_equal(kith__known_init(&known[side], s.graph, NULL, side, &error), KITH_OK);
    const kith__held_out_data data = {s.model, s.evidence, false, s.seen, known};
    kith__fusion fusion = {.regularization = 0};
    fusion.common.all[KITH__F_PRIOR] = fusion.common.bare[KITH__F_PRIOR] = .7f;
    fusion.common.all[KITH__F_ALL] = fusion.common.bare[KITH__F_ALL] = 1.3f;
    size_t count = seen_queries(&queries, &s);
    kith__held_out_query *ranked = calloc(count, sizeof *ranked);
    assert_int_equal(kith__held_out_rank(ranked, &data, &fusion, queries, count, &error), KITH_OK);
    give_fusion(&s, &fusion);
    kith_eval *e = evaluated_setup(&s, &(kith_eval_options){.split = KITH_TEST});
    assert_int_equal(e->rank_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_memory_equal(&e->ranks[i]->fact, &queries[i].fact, sizeof queries[i].fact);
        assert_true(fabs(e->ranks[i]->realistic - ranked[i].rank) < 1e-9);
        assert_int_equal(e->ranks[i]->answer_count, ranked[i].samples);
    }
    kith_eval_free(e);
    kith__known_release(&known[0]);
    kith__known_release(&known[1]);
    free(ranked);
    free(queries);
    fusion_setup_close(&s);
}

/* All queries where the calibration split is small, else that split alone. */
static void held_out__measures_the_calibration_split_or_both_halves(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        kith__fusion f, some;
        kith__calibration c = {0};
        kith__held_out h = {0}, again = {0};
        kith__holdout holdout;
        kith_error error;
        for (unsigned threads = 1; threads < (large ? 2 : 3); threads++) {
            fusion_setup s;
            fusion_setup_open(&s, contrary_folder_of(true, large ? 540 : 60), "rules", threads);
            assert_int_equal(kith__holdout_init(&holdout, s.graph, s.model->settings.predict, 1,
                                                &error), KITH_OK);
            assert_int_equal(kith__fusion_fit_both(&f, &some, &c, threads == 1 ? &h : &again,
                                                   s.model, s.evidence, &holdout, false, &error),
                             KITH_OK);
            assert_int_equal(h.metrics.queries, large ? f.calibration_queries : f.queries);
            kith__holdout_release(&holdout);
            kith__fusion_release(&f);
            kith__fusion_release(&some);
            fusion_setup_close(&s);
        }
        if (!large)
            assert_memory_equal(&h, &again, sizeof h);
        assert_int_equal(h.entities, h.metrics.queries / 2);
        assert_true(h.metrics.mrr > .1 && h.metrics.mrr <= 1 && h.metrics.mr >= 1);
        assert_true(h.calibration_error >= 0 && h.calibration_error < .2);
    }
}

static void held_out__sums_are_means_and_few_entities_have_no_probabilities(void **state)
{
    kith__held_out_query queries[] = {{.entity = 7, .rank = 4}, {.entity = 5, .rank = 1},
                                      {.entity = 7, .rank = 1.5}, {.entity = 6, .rank = 20}};
    kith__held_out h;
    kith_error error;

    (void)state;
    assert_int_equal(kith__held_out_sum_up(&h, queries, 4, &error), KITH_OK);
    assert_int_equal(h.entities, 3);
    assert_int_equal(h.metrics.queries, 4);
    assert_true(fabs(h.metrics.mrr - (1 / 4. + 1 + 1 / 1.5 + 1 / 20.) / 4) < 1e-12);
    assert_true(fabs(h.metrics.hits1 - .25) < 1e-12 && fabs(h.metrics.hits3 - .5) < 1e-12);
    assert_true(h.calibration_error < 0);
    assert_int_equal(kith__held_out_sum_up(&h, queries, 0, &error), KITH_OK);
    assert_int_equal(h.entities, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_out__ranks_are_those_of_evaluation),
        cmocka_unit_test(held_out__measures_the_calibration_split_or_both_halves),
        cmocka_unit_test(held_out__sums_are_means_and_few_entities_have_no_probabilities),
        cmocka_unit_test(fit__is_the_same_at_any_number_of_threads),
        cmocka_unit_test(fit__gives_no_weight_to_an_embedding_that_is_not_there),
        cmocka_unit_test(fit__relations_that_differ_get_weights_of_their_own),
        cmocka_unit_test(fit__weights_follow_their_relation_to_another_graph),
        cmocka_unit_test(fit__probabilities_are_calibrated_even_where_the_fit_was_far_too_sure),
        cmocka_unit_test(fit__without_anything_to_fit_on_still_ranks_by_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
