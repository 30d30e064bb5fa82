/* Overall probabilities: the second calibration, its file, and how newcomers are asked about. */
#include <math.h>

#include "core/mem.h"
#include "eval/newcomers.h"
#include "run/held_out_file.h"
#include "run/overall_file.h"
#include "support.h"
#include "train/fit_overall.h"

/* ---- fitting ---- */

enum { ENTITIES = 200, ANSWERS = 100 };

static kith__shares shares_of(size_t known, size_t facts)
{
    return (kith__shares){.log_known = logf(1 + (float)known), .log_facts = logf(1 + (float)facts)};
}

static kith__chance chance_of(double has, double if_one)
{
    return (kith__chance){has, if_one, 1};
}

/* What is really the case: answers given much are right in at most six of ten. */
static double truth_of(double product)
{
    return fmin(1.8 * product, .6);
}

static kith__overall fitted_on(int entities, uint64_t seed)
{
    kith__overall_example *examples = kith__calloc((size_t)entities * ANSWERS, sizeof *examples);
    kith__overall overall;
    kith__rng rng;

    kith__rng_init(&rng, seed, 0);
    for (int i = 0; i < entities * ANSWERS; i++) {
        double has = .05 + .9 * kith__rng_unit(&rng), p = kith__rng_unit(&rng);
        kith__shares shares = shares_of(kith__rng_below(&rng, 3), 2 + kith__rng_below(&rng, 9));
        p *= p;
        kith__overall_inputs(examples[i].inputs, &shares, chance_of(has, p));
        examples[i].entity = (uint32_t)(i / ANSWERS);
        examples[i].right = kith__rng_unit(&rng) < truth_of(has * p);
    }
    assert_int_equal(kith__overall_fit_examples(&overall, examples, (size_t)entities * ANSWERS,
                                                (uint32_t)entities, NULL),
                     KITH_OK);
    kith__free(examples);
    return overall;
}

static void overall__is_right_as_often_as_it_says(void **state)
{
    (void)state;
    kith__overall overall = fitted_on(ENTITIES, 1);
    kith__shares shares = shares_of(1, 5);

    assert_true(overall.fitted && overall.knots > 3);
    for (double has = .2; has < 1; has += .2)
        for (double p = .05; p < 1; p += .1) {
            double found = kith__overall_probability(&overall, &shares, chance_of(has, p));
            if (fabs(found - truth_of(has * p)) > .08)
                fail_msg("found %.3f for P(has) %.1f and %.2f, expected %.3f", found, has, p,
                         truth_of(has * p));
        }
}

static void overall__a_likelier_answer_never_comes_out_less_likely(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        kith__overall overall = fitted_on(seed == 1 ? ENTITIES : (int)seed, seed);
        kith__shares shares = shares_of(0, 3);
        double before = 0;
        for (double p = 1e-6; p < 1; p = p * 1.05 + 1e-6) {
            double now = kith__overall_probability(&overall, &shares, chance_of(.7, p));
            double more = kith__overall_probability(&overall, &shares, chance_of(.8, p));
            if (!(now > before) || !(more >= now) || !(now < 1))
                fail_msg("found %.9g after %.9g, and %.9g for a larger P(has)", now, before, more);
            before = now;
        }
        assert_true(kith__overall_most(&overall, 0, 3, .7) >= before);
    }
}

static void overall__few_entities_give_a_wide_interval(void **state)
{
    (void)state;
    kith__overall many = fitted_on(ENTITIES, 1), few = fitted_on(4, 1), none = {0};
    kith__shares shares = shares_of(1, 5);
    double low[3], high[3], p = kith__overall_probability(&many, &shares, chance_of(.8, .5));

    kith__overall_interval(&low[0], &high[0], &many, &shares, chance_of(.8, .5));
    kith__overall_interval(&low[1], &high[1], &few, &shares, chance_of(.8, .5));
    kith__overall_interval(&low[2], &high[2], &none, &shares, chance_of(.8, .5));
    assert_true(low[0] <= p && p <= high[0] && high[0] - low[0] < .3);
    assert_true(high[1] - low[1] > .5);
    assert_true(low[2] == 0 && high[2] == 1);
}

static void overall__is_the_product_where_nothing_was_fitted(void **state)
{
    (void)state;
    kith__overall none = {0};
    kith__shares shares = shares_of(0, 1);

    assert_true(kith__overall_probability(&none, &shares, chance_of(.5, .25)) == .125);
    assert_true(isnan(kith__overall_probability(&none, &shares, chance_of(NAN, .25))));
    assert_int_equal(kith__overall_fit_examples(&none, NULL, 0, 0, NULL), KITH_OK);
    assert_false(none.fitted);
}

/* ---- measuring ---- */

enum { OF_QUERY = 20, QUERIES = 3 };

/* Answers about even entities are right, those about odd ones wrong, so the calibration of each
 * half expects the opposite of the other one. */
static void measure__uses_the_calibration_of_the_other_half(void **state)
{
    enum { COUNT = ENTITIES * QUERIES * OF_QUERY };
    kith__overall_example *examples = kith__calloc(COUNT, sizeof *examples);
    const kith__shares shares = shares_of(0, 3);
    kith__probability_tables tables;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        kith__overall_example *e = &examples[i];
        e->entity = e->description = (uint32_t)(i / (QUERIES * OF_QUERY));
        e->query = (uint32_t)(i / OF_QUERY % QUERIES);
        e->answered = e->query == 0;
        e->right = e->entity % 2 == 0 && i % 2 == 0;
        kith__overall_inputs(e->inputs, &shares, chance_of(.5, .4 + .01 * (i % OF_QUERY)));
    }
    assert_int_equal(kith__overall_measure(&tables, examples, COUNT, ENTITIES, NULL), KITH_OK);
    assert_int_equal(tables.entities, ENTITIES);
    assert_int_equal(tables.queries, ENTITIES * QUERIES);
    assert_int_equal(tables.of[KITH__OF_RELATIONS].shown.answers, ENTITIES * QUERIES * 10);
    assert_int_equal(tables.of[KITH__OF_PAIRS].shown.answers, ENTITIES * 10);
    assert_int_equal(tables.of[KITH__IF_ANY].shown.answers, ENTITIES * 10);
    assert_true(tables.of[KITH__OF_PAIRS].shown.calibration_error > .2);
    assert_int_equal(kith__overall_measure(&tables, examples, COUNT / 10, ENTITIES / 10, NULL),
                     KITH_OK);
    assert_int_equal(tables.entities, 0); /* too few */
    kith__free(examples);
}

static void measure__tables_are_read_as_they_were_written(void **state)
{
    (void)state;
    const char *folder = new_folder();
    kith__held_out written = {.entities = 7, .calibration_error = -1};
    kith_model *model = kith__calloc(1, sizeof *model);
    kith__probability_tables *t = &written.probabilities;

    t->entities = 5;
    t->queries = 6;
    for (int i = 0; i < 40; i++)
        kith__probability_table_add(&t->of[i % 3], i / 40., i % 7 < 3);
    kith__probability_tables_finish(t);
    assert_int_equal(kith__held_out_save(folder, &written, NULL), KITH_OK);
    assert_int_equal(kith__held_out_open(model, folder, NULL), KITH_OK);
    const kith__probability_tables *read = &model->held_out.probabilities;
    assert_int_equal(read->entities, 5);
    assert_int_equal(read->queries, 6);
    for (int i = 0; i < KITH__PROBABILITY_TABLES; i++) {
        const kith_probability_table *x = &t->of[i].shown, *y = &read->of[i].shown;
        assert_true(x->answers == y->answers && x->correct == y->correct &&
                    x->at_least_half == y->at_least_half && x->answers > 0 &&
                    x->at_least_half_correct == y->at_least_half_correct);
        assert_true(fabs(x->log_loss - y->log_loss) < 1e-6 &&
                    fabs(x->calibration_error - y->calibration_error) < 1e-6);
        for (int k = 0; k < KITH__RELIABILITY_BINS; k++)
            assert_true(t->of[i].bins[k].answers == read->of[i].bins[k].answers &&
                        fabs(t->of[i].bins[k].correct - read->of[i].bins[k].correct) < 1e-6);
    }
    kith__free(model);
}

/* ---- the file ---- */

static kith_model *reading(kith__overall *overall, const char *folder, kith_status expected)
{
    kith_model *model = kith__calloc(1, sizeof *model);
    kith_error error;

    model->has.fitted = true;
    assert_int_equal(kith__overall_open(model, folder, true, &error), expected);
    *overall = model->overall;
    return model;
}

static void overall_file__gives_the_same_probabilities(void **state)
{
    (void)state;
    const char *folder = new_folder();
    kith__overall overall = fitted_on(ENTITIES, 1), read;

    assert_int_equal(kith__overall_save(folder, &overall, NULL), KITH_OK);
    kith_model *model = reading(&read, folder, KITH_OK);
    assert_int_equal(read.knots, overall.knots);
    for (size_t i = 0; i < read.knots; i++)
        assert_int_equal(read.knot[i].entities, overall.knot[i].entities);
    kith__shares shares = shares_of(1, 5);
    for (double p = .001; p < 1; p *= 1.3) {
        double found = kith__overall_probability(&read, &shares, chance_of(.8, p));
        double expected = kith__overall_probability(&overall, &shares, chance_of(.8, p));
        if (fabs(found - expected) > 1e-7)
            fail_msg("found %.9g, expected %.9g", found, expected);
    }
    assert_null(warning_of(model, 0));
    kith__free(model);
}

/* Of answers with equal scores, or of shares that are all but 0, several knots may be equal. */
static void overall_file__opens_whatever_was_fitted(void **state)
{
    enum { COUNT = 20000, OF_ENTITIES = 400 };
    kith__overall_example *examples = kith__calloc(COUNT, sizeof *examples);
    const kith__shares shares = shares_of(0, 3);
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 7, 0);
    for (int tied = 0; tied < 2; tied++) {
        kith__overall overall, read;
        for (int i = 0; i < COUNT; i++) {
            double p = tied ? .1 + .2 * (double)kith__rng_below(&rng, 4)
                            : .001 + pow(kith__rng_unit(&rng), 8);
            kith__overall_inputs(examples[i].inputs, &shares, chance_of(.5, fmin(p, .999)));
            examples[i].entity = (uint32_t)(i / (COUNT / OF_ENTITIES));
            examples[i].right = (tied || p > .2) && kith__rng_unit(&rng) < .5 * p;
        }
        assert_int_equal(kith__overall_fit_examples(&overall, examples, COUNT, OF_ENTITIES, NULL),
                         KITH_OK);
        assert_true(overall.knots > 2);
        for (double p = .1; tied && p < .8; p += .2) { /* what ties get is their common share */
            double given = kith__overall_probability(&overall, &shares, chance_of(.5, p));
            if (fabs(given - .5 * p) > .03)
                fail_msg("ties at %.1f are given %.3f, expected about %.3f", p, given, .5 * p);
        }
        const char *folder = new_folder();
        assert_int_equal(kith__overall_save(folder, &overall, NULL), KITH_OK);
        kith__free(reading(&read, folder, KITH_OK));
        double before = 0;
        for (double p = .001; p < 1; p *= 1.1) {
            double now = kith__overall_probability(&read, &shares, chance_of(.5, p));
            assert_true(now >= before && now < 1);
            before = now;
        }
    }
    kith__free(examples);
}

static void overall_file__refuses_knots_that_fall(void **state)
{
    (void)state;
    const char *folder = new_folder();
    kith__overall overall = fitted_on(ENTITIES, 1), read;

    overall.knot[1].probability = overall.knot[0].probability / 2;
    assert_int_equal(kith__overall_save(folder, &overall, NULL), KITH_OK);
    kith__free(reading(&read, folder, KITH_ERR_INPUT));
}

/* Rounding to the digits that are written can make neighbouring knots equal. */
static void overall_file__opens_knots_that_are_equal(void **state)
{
    (void)state;
    const char *folder = new_folder();
    kith__overall overall = fitted_on(ENTITIES, 1), read;

    overall.knot[1].at = overall.knot[0].at;
    assert_int_equal(kith__overall_save(folder, &overall, NULL), KITH_OK);
    kith__free(reading(&read, folder, KITH_OK));
    assert_true(read.fitted);
}

static void overall_file__a_run_without_it_opens_with_a_warning(void **state)
{
    (void)state;
    kith__overall read;
    kith_model *model = reading(&read, new_folder(), KITH_OK);

    assert_false(read.fitted);
    assert_contains(warning_of(model, 0), "overall.json");
    assert_null(warning_of(model, 1));
    kith__free(model);
}

/* ---- newcomers ---- */

/* People who were born in cities. One in five is unseen, or left out without `newcomers`. */
static kith_graph *people(bool newcomers)
{
    const char *folder = new_folder();
    draft train = {0}, aux = {0}, test = {0};

    for (int i = 0; i < 40; i++)
        add(&train, "city%d\tlocated_in\tcountry%d\n", i, i % 5);
    for (int i = 0; i < 200; i++) {
        draft *to = i % 5 == 0 ? &aux : &train;
        add(to, "p%d\tborn_in\tcity%d\n", i, i % 40);
        add(i % 10 == 0 ? &test : to, "p%d\tcitizen_of\tcountry%d\n", i, i % 5);
        add(to, "p%d\tlives_in\tcity%d\n", i, i * 7 % 40);
    }
    put(folder, "train", train.at);
    if (newcomers) {
        put(folder, "aux", aux.at);
        put(folder, "test", test.at);
    }
    draft_release(&train);
    draft_release(&aux);
    draft_release(&test);
    return opened(folder);
}

static kith_model *trained(const kith_graph *graph, unsigned threads)
{
    const char *folder = new_run();
    const kith_train_options options = {.threads = threads};
    kith_settings *s = NULL;
    kith_train_end end;
    kith_model *model = NULL;
    kith_error error;

    if (kith_settings_new(&s, "rules", &error) != KITH_OK ||
        kith_train(&end, folder, graph, s, &options, &error) != KITH_OK ||
        kith_model_open(&model, folder, &(kith_work_options){.threads = threads}, &error) !=
            KITH_OK)
        fail_msg("%s", error.message);
    kith_settings_free(s);
    return model;
}

static void newcomers__keep_something_and_hide_something_by_the_seed(void **state)
{
    (void)state;
    kith_graph *graph = people(true);
    const kith__description_options options = {.most = 1000, .times = 1, .seed = 3};
    kith__descriptions n, again;
    size_t hidden = 0, facts;

    assert_int_equal(kith__descriptions_init(&n, graph, &options, NULL), KITH_OK);
    assert_int_equal(kith__descriptions_init(&again, graph, &options, NULL), KITH_OK);
    assert_int_equal(n.count, 40);
    facts = n.first[n.count];
    assert_int_equal(facts, 120);
    for (size_t i = 0; i < facts; i++)
        assert_true(n.facts[i].hidden == again.facts[i].hidden);
    for (size_t i = 0; i < n.count; i++) {
        size_t kept = 0;
        for (size_t k = n.first[i]; k < n.first[i + 1]; k++)
            kept += !n.facts[k].hidden;
        assert_true(kept > 0);
        hidden += n.first[i + 1] - n.first[i] - kept;
    }
    assert_in_range(hidden, facts / 4, facts * 3 / 4);
    kith__descriptions_release(&n);
    kith__descriptions_release(&again);
    kith_graph_free(graph);
}

/* The same question to the same session, by whatever is set in the options. */
static kith_answers *ask(kith_session *s, const char *subject, const char *relation,
                         const char *object, const kith_ask_options *options)
{
    kith_answers *answers = NULL;
    kith_error error;

    if (kith_session_ask(&answers, s, &(kith_question){subject, relation, object}, options,
                         &error) != KITH_OK)
        fail_msg("%s", error.message);
    return answers;
}

/* The answers that evaluation makes about some newcomers, to one question each. */
enum { COMPARED = 12 };

typedef struct {
    uint32_t query;
    kith__answer_list list[COMPARED];
} wanted;

static kith_status take(void *context, const kith__newcomer_question *q, kith_error *error)
{
    wanted *w = context;

    if (q->query != w->query || q->newcomer >= COMPARED)
        return KITH_OK;
    w->list[q->newcomer].most = 10;
    return kith__answers_add(&w->list[q->newcomer], q->workspace, &q->row, false, 0, true, error);
}

/* Tell a session the facts of a description that are not hidden. */
static void tell(kith_session *session, const kith__descriptions *d, size_t newcomer,
                 const kith_graph *graph)
{
    uint32_t m = kith_graph_seen_relation_count(graph);

    for (size_t i = d->first[newcomer]; i < d->first[newcomer + 1]; i++) {
        kith_neighbor n = d->facts[i].neighbor;
        const char *other = kith_graph_entity_name(graph, n.entity);
        if (!d->facts[i].hidden)
            assert_int_equal(kith_session_add(NULL, session, n.relation < m ? "somebody" : other,
                                              kith_graph_relation_name(graph, n.relation % m),
                                              n.relation < m ? other : "somebody", NULL),
                             KITH_OK);
    }
}

static void same_answers(kith_session *session, kith_candidate_set candidates,
                         const kith__answer_list *list)
{
    const kith_ask_options options = {
        .top = 10, .new_only = 1, .candidates = candidates, .threads = 1};
    kith_answers *answers = ask(session, "somebody", "citizen_of", NULL, &options);

    assert_int_equal(answers->count, list->count);
    for (size_t i = 0; i < answers->count; i++)
        assert_memory_equal(answers->at[i], &list->at[i], sizeof list->at[i]);
    kith_answers_free(answers);
}

/* Without other new entities, a session that is told about a newcomer gives the answers that
 * evaluation measures, digit for digit, with the candidates that predict has by default and with
 * seen ones. */
static void newcomers__answers_are_those_of_predict(void **state)
{
    (void)state;
    kith_graph *graph = people(true), *train = people(false);
    kith_model *model = trained(train, 1);
    const kith__description_options some = {.most = COMPARED, .times = 1, .seed = 3};
    kith__descriptions d;
    kith__newcomers n;
    wanted w = {0};

    /* The facts of the descriptions are facts with entities of train, which have the same ids. */
    assert_int_equal(kith_graph_entity_count(train), kith_graph_seen_entity_count(graph));
    for (uint32_t e = 0; e < kith_graph_entity_count(train); e++)
        assert_string_equal(kith_graph_entity_name(train, e), kith_graph_entity_name(graph, e));
    assert_int_equal(kith_graph_find_relation(&w.query, train, "citizen_of"), KITH_OK);
    assert_int_equal(kith__descriptions_init(&d, graph, &some, NULL), KITH_OK);
    assert_int_equal(kith__newcomers_init(&n, model, &d, NULL), KITH_OK);
    assert_int_equal(kith__newcomers_ask(&n, 0, NULL, take, &w, NULL), KITH_OK);
    for (size_t i = 0; i < COMPARED; i++) {
        kith_session *session;
        assert_true(w.list[i].count == 10);
        assert_int_equal(kith_session_new(&session, model, NULL), KITH_OK);
        tell(session, &d, i, train);
        same_answers(session, KITH_ANSWERS_USUAL, &w.list[i]);
        same_answers(session, KITH_ANSWERS_SEEN, &w.list[i]);
        kith_session_free(session);
        kith__free(w.list[i].at);
    }
    kith__newcomers_release(&n);
    kith__descriptions_release(&d);
    kith_model_free(model);
    kith_graph_free(graph);
    kith_graph_free(train);
}

/* What support facts say about the newcomer itself must not count as another entity's. */
static void newcomers__support_facts_about_them_are_not_known(void **state)
{
    (void)state;
    kith_graph *graph = people(true);
    kith_model *model = trained(graph, 1);
    const kith__description_options one = {.most = 1, .times = 1, .seed = 3};
    kith__descriptions d;
    kith__newcomers n;

    assert_int_equal(kith__descriptions_init(&d, graph, &one, NULL), KITH_OK);
    assert_int_equal(kith__newcomers_init(&n, model, &d, NULL), KITH_OK);
    assert_true(model->fused->evidence->base->index->seen > kith_graph_seen_entity_count(graph));
    assert_int_equal(n.apart->fused->evidence->base->index->seen,
                     kith_graph_seen_entity_count(graph));
    kith__newcomers_release(&n);
    kith__descriptions_release(&d);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* Everyone is the citizen of one country at most, that of the birthplace. p1 has another one
 * already. */
static void answers__who_has_the_only_possible_fact_is_unlikely(void **state)
{
    (void)state;
    kith_graph *graph = people(true);
    kith_model *model = trained(graph, 1);
    const kith_ask_options options = {.top = 1000, .new_only = 1};
    double full = NAN, free_one = NAN;
    kith_session *s;

    assert_int_equal(kith_session_new(&s, model, NULL), KITH_OK);
    assert_int_equal(kith_session_add(NULL, s, "somebody", "born_in", "city2", NULL), KITH_OK);
    assert_int_equal(kith_session_add(NULL, s, "p1", "born_in", "city2", NULL), KITH_OK);
    kith_answers *answers = ask(s, NULL, "citizen_of", "country2", &options);
    for (size_t i = 0; i < answers->count; i++) {
        const char *name = kith_session_entity_name(s, answers->at[i]->entity);
        if (strcmp(name, "p1") == 0)
            full = answers->at[i]->probability;
        if (strcmp(name, "somebody") == 0)
            free_one = answers->at[i]->probability;
    }
    if (!(full < .2 && free_one > 4 * full))
        fail_msg("found %.3f for a citizen of another country, %.3f for somebody else", full,
                 free_one);
    kith_answers_free(answers);
    kith_session_free(s);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void same_product(double overall, double has, double if_any)
{
    if (!(overall <= has && overall <= if_any && has <= 1 && if_any <= 1 &&
          fabs(overall - has * if_any) < 1e-12))
        fail_msg("%.17g is not %.17g times %.17g", overall, has, if_any);
}

/* A list is in the order of what it shows, a short one is the beginning of a long one, and the
 * verdict on each of its facts has the same numbers and its place in the list. */
static size_t check_list(kith_session *s, const char *subject, const char *relation,
                         const char *object)
{
    const kith_ask_options all = {.top = 10000, .new_only = 1}, some = {.top = 7, .new_only = 1};
    kith_answers *long_list = ask(s, subject, relation, object, &all);
    kith_answers *short_list = ask(s, subject, relation, object, &some);
    size_t compared = 0, step = long_list->count / 12 + 1;

    for (size_t i = 0; i < long_list->count; i++) {
        const kith_answer *a = long_list->at[i], *before = i ? long_list->at[i - 1] : a;
        assert_true(a->probability <= before->probability);
        assert_true(a->probability < before->probability || a->score <= before->score);
        if (i < short_list->count)
            assert_memory_equal(a, short_list->at[i], sizeof *a);
    }
    for (size_t i = 0; i < long_list->count; i += i < 3 ? 1 : step) {
        const kith_answer *a = long_list->at[i];
        const char *name = kith_session_entity_name(s, a->entity);
        kith_verdict *v = NULL;
        const kith_question fact = {subject ? subject : name, relation, object ? object : name};
        assert_int_equal(kith_session_judge(&v, s, &fact, NULL), KITH_OK);
        same_product(v->probability, v->has, v->probability_if_any);
        if (!v->subject_asked == !!subject) {
            assert_true(v->probability == a->probability &&
                        v->probability_if_any == a->probability_if_any);
            assert_int_equal(v->rank, i + 1);
            compared++;
        }
        kith_verdict_free(v);
    }
    kith_answers_free(long_list);
    kith_answers_free(short_list);
    return compared;
}

static void verdicts__and_lists_say_the_same_and_has_times_if_any_is_the_probability(void **state)
{
    (void)state;
    kith_graph *graph = people(true);
    kith_model *model = trained(graph, 1);
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    kith_session *s;
    size_t compared = 0;

    assert_int_equal(kith_session_new(&s, model, NULL), KITH_OK);
    assert_int_equal(kith_session_add(NULL, s, "somebody", "born_in", "city1", NULL), KITH_OK);
    for (size_t i = 0; i < train.count; i += 29) { /* known facts, each with itself hidden */
        kith_verdict *v = NULL;
        const kith_question fact = {kith_graph_entity_name(graph, train.at[i].subject),
                                    kith_graph_relation_name(graph, train.at[i].relation),
                                    kith_graph_entity_name(graph, train.at[i].object)};
        assert_int_equal(kith_session_judge(&v, s, &fact, NULL), KITH_OK);
        assert_true(v->known);
        same_product(v->probability, v->has, v->probability_if_any);
        kith_verdict_free(v);
        compared += check_list(s, fact.subject, fact.relation, NULL);
        check_list(s, NULL, fact.relation, fact.object);
    }
    compared += check_list(s, "somebody", "citizen_of", NULL);
    kith_missing *missing = NULL;
    assert_int_equal(kith_session_find_missing(&missing, s, NULL, NULL, NULL), KITH_OK);
    assert_true(missing->count > 5);
    for (size_t i = 0; i < missing->count; i++) {
        const kith_missing_fact *f = missing->at[i];
        same_product(f->probability, f->has, f->probability_if_any);
    }
    kith_missing_free(missing);
    assert_true(compared > 100);
    kith_session_free(s);
    kith_model_free(model);
    kith_graph_free(graph);
}

static void evaluation__does_not_depend_on_threads(void **state)
{
    (void)state;
    kith_graph *graph = people(true);
    kith_model *one = trained(graph, 1), *three = trained(graph, 3);
    kith_probability_eval *x, *y;

    assert_true(one->overall.fitted);
    assert_memory_equal(&one->overall, &three->overall, sizeof one->overall);
    assert_int_equal(kith_evaluate_probabilities(&x, one, NULL, NULL), KITH_OK);
    assert_int_equal(kith_evaluate_probabilities(&y, three, NULL, NULL), KITH_OK);
    assert_int_equal(x->entities, 40);
    assert_int_equal(x->queries, 40 * 8);
    assert_int_equal(x->pairs->answers, 400);
    assert_true(x->relations->correct > 0);
    assert_true(x->pairs->log_loss == y->pairs->log_loss &&
                x->relations->calibration_error == y->relations->calibration_error);
    for (size_t i = 0; i < x->pairs->bin_count; i++)
        assert_memory_equal(x->pairs->bins[i], y->pairs->bins[i], sizeof *x->pairs->bins[i]);
    kith_probability_eval_free(x);
    kith_probability_eval_free(y);
    kith_model_free(one);
    kith_model_free(three);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overall__is_right_as_often_as_it_says),
        cmocka_unit_test(overall__a_likelier_answer_never_comes_out_less_likely),
        cmocka_unit_test(overall__few_entities_give_a_wide_interval),
        cmocka_unit_test(overall__is_the_product_where_nothing_was_fitted),
        cmocka_unit_test(measure__uses_the_calibration_of_the_other_half),
        cmocka_unit_test(measure__tables_are_read_as_they_were_written),
        cmocka_unit_test(overall_file__gives_the_same_probabilities),
        cmocka_unit_test(overall_file__opens_whatever_was_fitted),
        cmocka_unit_test(overall_file__refuses_knots_that_fall),
        cmocka_unit_test(overall_file__opens_knots_that_are_equal),
        cmocka_unit_test(overall_file__a_run_without_it_opens_with_a_warning),
        cmocka_unit_test(newcomers__keep_something_and_hide_something_by_the_seed),
        cmocka_unit_test(newcomers__answers_are_those_of_predict),
        cmocka_unit_test(newcomers__support_facts_about_them_are_not_known),
        cmocka_unit_test(answers__who_has_the_only_possible_fact_is_unlikely),
        cmocka_unit_test(verdicts__and_lists_say_the_same_and_has_times_if_any_is_the_probability),
        cmocka_unit_test(evaluation__does_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
