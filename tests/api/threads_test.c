/* Work on several threads at once. `make test` also builds this program with the thread sanitizer,
 * so that a data race fails it. Results must not depend on the number of threads either. */
#include <pthread.h>
#include <unistd.h>

#include "core/mem.h"
#include "support.h"
#include "tables.h"

enum { THREADS = 4, USERS = 6 };

static const char *data_folder(void)
{
    const random_shape shape = {.entities = 60, .relations = 4, .train = 300, .dev = 10,
                                .test = 10, .aux = 20};
    static const char *folder;
    kith__rng rng;

    if (!folder) {
        kith__rng_init(&rng, 5, 0);
        folder = keep(random_folder(&rng, &shape));
    }
    return folder;
}

/* Run `call` on USERS threads at once, each with its own item of `users`. */
static void run_at_once(void *(*call)(void *), void *users, size_t size)
{
    pthread_t thread[USERS];

    for (size_t i = 0; i < USERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, call, (char *)users + i * size), 0);
    for (size_t i = 0; i < USERS; i++)
        pthread_join(thread[i], NULL);
}

/* ---- graphs and rules ---- */

/* Enough lines that they are read and merged in several pieces. */
static const char *large_file(const char *name, const char *pattern)
{
    draft t = {0};

    for (int i = 0; i < 6000; i++)
        add(&t, pattern, i % 700, i % 5, i * 37 % 1100);
    const char *path = file(name, t.at);
    draft_release(&t);
    return path;
}

static void check_loading(const char *path)
{
    kith_graph *one = opened_with(path, 1, false), *many = opened_with(path, THREADS, false);

    assert_same_graph(one, many);
    kith_graph_free(one);
    kith_graph_free(many);
}

static void threads__load_a_graph(void **state)
{
    (void)state;
    check_loading(data_folder());
    check_loading(large_file("g.tsv", "e%d\tr%d\te%d\n"));
    check_loading(large_file("g.nt", "<http://x/%d> <http://x/r%d> <http://x/%d> .\n"));
}

typedef struct {
    const kith_graph *graph;
    uint64_t hash;
    size_t sum;
} reader;

static void *read_graph(void *context)
{
    reader *r = context;
    kith_neighborhoods n = kith_graph_neighborhoods(r->graph);
    uint32_t found[4], id;

    r->hash = kith_graph_hash(r->graph);
    for (uint32_t e = 0; e < kith_graph_entity_count(r->graph); e++) {
        r->sum += n.offset[e + 1] - n.offset[e];
        r->sum += kith_graph_find_entity(&id, r->graph, kith_graph_entity_name(r->graph, e));
    }
    r->sum += kith_graph_suggest_entities(found, 4, r->graph, "e");
    kith_stats *stats = NULL;
    if (kith_graph_stats(&stats, r->graph, NULL, NULL) == KITH_OK)
        r->sum += stats->connected;
    kith_stats_free(stats);
    return NULL;
}

static void threads__read_one_graph_at_once(void **state)
{
    kith_graph *graph = opened(data_folder());
    reader readers[USERS] = {0};

    (void)state;
    for (size_t i = 0; i < USERS; i++)
        readers[i].graph = graph;
    run_at_once(read_graph, readers, sizeof *readers);
    for (size_t i = 1; i < USERS; i++) {
        assert_true(readers[i].hash == readers[0].hash);
        assert_int_equal(readers[i].sum, readers[0].sum);
    }
    kith_graph_free(graph);
}

static void threads__list_rules_and_implications(void **state)
{
    kith_graph *graph = opened(data_folder());
    kith_implications *implications[2];
    kith_rules *rules[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        const unsigned threads = i ? THREADS : 1;
        const kith_rules_options options = {.conclusion = UINT32_MAX, .min_support = 2, .top = 20,
                                            .threads = threads};
        assert_int_equal(kith_graph_implications(&implications[i], graph,
                                                 &(kith_rules_options){.conclusion = UINT32_MAX,
                                                                       .min_support = 1,
                                                                       .top = 20,
                                                                       .threads = threads},
                                                 NULL),
                         KITH_OK);
        assert_int_equal(kith_graph_rules(&rules[i], graph, &options, NULL), KITH_OK);
    }
    assert_true(implications[0]->count > 0 && rules[0]->count > 0);
    assert_int_equal(implications[0]->count, implications[1]->count);
    assert_int_equal(rules[0]->count, rules[1]->count);
    for (size_t i = 0; i < implications[0]->count; i++)
        assert_true(implications[0]->at[i]->confidence == implications[1]->at[i]->confidence);
    for (size_t i = 0; i < rules[0]->count; i++)
        assert_true(rules[0]->at[i]->confidence == rules[1]->at[i]->confidence);
    for (int i = 0; i < 2; i++) {
        kith_implications_free(implications[i]);
        kith_rules_free(rules[i]);
    }
    kith_graph_free(graph);
}

/* An allocation that fails on one thread is seen by the others, and reported. */
static void threads__one_of_several_runs_out_of_memory(void **state)
{
    const kith_rules_options options = {.conclusion = UINT32_MAX, .top = 20, .threads = THREADS};
    kith_graph *graph = opened(data_folder());
    int failures = 0;

    (void)state;
    for (size_t n = 1; n < 80; n++) {
        kith_implications *implications = NULL;
        kith_rules *rules = NULL;
        kith__mem_fail_at(n);
        kith_status status = kith_graph_implications(
            &implications, graph,
            &(kith_rules_options){
                .conclusion = UINT32_MAX, .min_support = 1, .top = 20, .threads = THREADS},
            NULL);
        kith__mem_fail_at(n);
        kith_status other = kith_graph_rules(&rules, graph, &options, NULL);
        kith__mem_fail_at(0);
        assert_true(status == KITH_OK || status == KITH_ERR_MEMORY);
        assert_true(other == KITH_OK || other == KITH_ERR_MEMORY);
        failures += (status != KITH_OK) + (other != KITH_OK);
        kith_implications_free(implications);
        kith_rules_free(rules);
    }
    assert_true(failures > 40);
    kith_graph_free(graph);
}

/* ---- training and evaluation ---- */

typedef struct {
    const char *preset, *aggregator, *loss; /* NULL: the preset's */
} kind_of_run;

static kith_settings *settings_of(const kind_of_run *kind)
{
    kith_settings *s = NULL;

    assert_int_equal(kith_settings_new(&s, kind->preset, NULL), KITH_OK);
    if (kind->aggregator) {
        assert_int_equal(kith_settings_set(s, "aggregator", kind->aggregator, NULL), KITH_OK);
        assert_int_equal(kith_settings_set(s, "dim", "8", NULL), KITH_OK);
        assert_int_equal(kith_settings_set(s, "batch", "100", NULL), KITH_OK);
        assert_int_equal(kith_settings_set(s, "epochs", "2", NULL), KITH_OK);
    }
    if (kind->loss)
        assert_int_equal(kith_settings_set(s, "loss", kind->loss, NULL), KITH_OK);
    return s;
}

static int stop_later(void *context, const kith_progress *progress)
{
    (void)progress;
    return ++*(int *)context > 3;
}

static int never_stop(void *context, const kith_stage *stage)
{
    *(double *)context += stage->seconds;
    return 0;
}

static const char *trained(const kind_of_run *kind, unsigned threads, bool stops)
{
    kith_graph *graph = opened(data_folder());
    kith_settings *s = settings_of(kind);
    const char *run = new_run();
    int calls = 0;
    double seconds = 0;
    kith_train_options options = {.threads = threads, .progress = stops ? stop_later : NULL,
                                  .context = &calls, .watch = never_stop,
                                  .watch_context = &seconds};
    kith_train_end end;

    assert_int_equal(kith_train(&end, run, graph, s, &options, NULL), KITH_OK);
    assert_int_equal(end, stops ? KITH_TRAIN_STOPPED : KITH_TRAIN_FINISHED);
    kith_settings_free(s);
    kith_graph_free(graph);
    return run;
}

static kith_eval *evaluate(const char *run, unsigned threads)
{
    kith_eval *result = NULL;
    kith_eval_options options;
    kith_model *model = NULL;

    kith_eval_options_init(&options);
    options.split = KITH_TEST;
    assert_int_equal(kith_model_open(&model, run, &(kith_work_options){.threads = threads}, NULL),
                     KITH_OK);
    assert_int_equal(kith_evaluate(&result, model, &options, NULL), KITH_OK);
    assert_true(result->realistic->queries > 0);
    kith_model_free(model);
    return result;
}

/* Trained and evaluated on one thread and on several: the same ranks. */
static void check_training(const kind_of_run *kind)
{
    kith_eval *one = evaluate(trained(kind, 1, false), 1);
    kith_eval *many = evaluate(trained(kind, THREADS, false), THREADS);

    assert_true(one->realistic->mrr == many->realistic->mrr);
    assert_true(one->realistic->mr == many->realistic->mr);
    kith_eval_free(one);
    kith_eval_free(many);
}

static const kind_of_run lan = {"release", "lan", NULL}, rules_alone = {"rules", NULL, NULL};

static void threads__train_and_evaluate(void **state)
{
    (void)state;
    check_training(&lan);
    check_training(&(kind_of_run){"release", "lstm", "margin"});
    check_training(&rules_alone);
}

static void threads__train_every_aggregator(void **state)
{
    (void)state;
    for (size_t i = 0; i < AGGREGATORS; i++)
        trained(&(kind_of_run){"release", aggregators[i], i % 2 ? "logistic" : "softmax"}, THREADS,
                false);
}

static void threads__stop_and_resume(void **state)
{
    kith_train_end end;

    (void)state;
    const char *run = trained(&lan, THREADS, true);
    assert_int_equal(
        kith_train_resume(&end, run, &(kith_train_options){.threads = THREADS}, NULL), KITH_OK);
    assert_int_equal(end, KITH_TRAIN_FINISHED);
    kith_eval_free(evaluate(run, THREADS));
}

/* ---- sessions ---- */

typedef struct {
    kith_model *model;
    unsigned number;
    int failed; /* assertions belong to the main thread */
    float score, judged, missing;
} user;

static void check(user *u, kith_status status)
{
    u->failed += status != KITH_OK;
}

static void ask_at_once(user *u, kith_session *session, const kith_question *questions)
{
    kith_ask_options options;
    kith_answers_batch *batch = NULL;

    kith_ask_options_init(&options);
    options.threads = 2;
    check(u, kith_session_ask_all(&batch, session, questions, 2, &options, NULL));
    if (batch && batch->failed == 0 && batch->at[0]->count > 0)
        u->score += batch->at[0]->at[0]->score;
    kith_answers_batch_free(batch);
}

static void judge_at_once(user *u, kith_session *session, const char *relation, const char *known)
{
    const kith_graph *graph = kith_model_graph(u->model);
    const kith_question facts[2] = {{"newcomer", relation, known},
                                    {kith_graph_entity_name(graph, 3), relation, known}};
    kith_ask_options options;
    kith_verdicts *verdicts = NULL;

    kith_ask_options_init(&options);
    options.threads = 2;
    check(u, kith_session_judge_all(&verdicts, session, facts, 2, &options, NULL));
    u->failed += !verdicts || verdicts->failed > 0;
    if (verdicts && verdicts->failed == 0)
        u->judged += verdicts->at[0]->score + verdicts->at[1]->score;
    kith_verdicts_free(verdicts);
}

static void list_missing(user *u, kith_session *session, const char *relation)
{
    kith_missing_options options;
    kith_missing *missing = NULL;

    kith_missing_options_init(&options);
    options.queries = 20;
    options.threads = 2;
    check(u, kith_session_find_missing(&missing, session, relation, &options, NULL));
    if (missing && missing->count > 0)
        u->missing += missing->at[0]->score;
    kith_missing_free(missing);
}

static void use_session(user *u, kith_session *session)
{
    const kith_graph *graph = kith_model_graph(u->model);
    const char *known = kith_graph_entity_name(graph, 2);
    const char *relation = kith_graph_relation_name(graph, 1);
    const kith_question questions[2] = {{"newcomer", relation, NULL}, {known, NULL, NULL}};
    kith_explanation *explanation = NULL;

    check(u, kith_session_add(NULL, session, "newcomer", relation, known, NULL));
    ask_at_once(u, session, questions);
    judge_at_once(u, session, relation, known);
    list_missing(u, session, relation);
    check(u, kith_session_explain(&explanation, session, questions, NULL, NULL));
    kith_explanation_free(explanation);
    check(u, kith_session_undo(session));
}

static void *open_and_ask(void *context)
{
    user *u = context;

    for (int i = 0; i < 2; i++) {
        kith_session *session = NULL;
        check(u, kith_session_new(&session, u->model, NULL));
        if (session)
            use_session(u, session);
        kith_session_free(session);
    }
    return NULL;
}

/* A user who evaluates and changes the size of the cache while the others ask. */
static void *evaluate_meanwhile(user *u)
{
    kith_eval_options options;
    kith_eval *result = NULL;

    kith_eval_options_init(&options);
    options.split = KITH_TEST;
    check(u, kith_evaluate(&result, u->model, &options, NULL));
    kith_eval_free(result);
    check(u, kith_model_set_cache(u->model, 4096, NULL));
    return NULL;
}

static void *use_model(void *context)
{
    user *u = context;

    return u->number == 0 ? evaluate_meanwhile(u) : open_and_ask(u);
}

static void check_sessions(const char *run)
{
    user users[USERS] = {0};
    kith_model *model = NULL;

    assert_int_equal(kith_model_open(&model, run, &(kith_work_options){.threads = 2}, NULL),
                     KITH_OK);
    for (unsigned i = 0; i < USERS; i++)
        users[i] = (user){.model = model, .number = i};
    run_at_once(use_model, users, sizeof *users);
    for (size_t i = 0; i < USERS; i++)
        assert_int_equal(users[i].failed, 0);
    for (size_t i = 2; i < USERS; i++) {
        assert_true(users[i].score == users[1].score);
        assert_true(users[i].judged == users[1].judged);
        assert_true(users[i].missing == users[1].missing);
    }
    kith_model_free(model);
}

static void threads__sessions_share_a_model(void **state)
{
    (void)state;
    check_sessions(trained(&rules_alone, THREADS, false));
    check_sessions(trained(&lan, THREADS, false));
}

/* ---- evaluations ---- */

typedef struct {
    const kith_model *model;
    unsigned number;
    int failed;
    double found;
} evaluator;

static void *evaluate_again(void *context)
{
    evaluator *e = context;

    for (int i = 0; i < 4; i++) {
        kith_probability_eval *probabilities = NULL;
        kith_eval *ranks = NULL;
        bool good = e->number % 2 ? kith_evaluate(&ranks, e->model, NULL, NULL) == KITH_OK
                                  : kith_evaluate_probabilities(&probabilities, e->model, NULL,
                                                                NULL) == KITH_OK;
        double found = !good ? 0 : ranks ? ranks->realistic->mrr : probabilities->pairs->log_loss;
        e->failed += !good || (i > 0 && found != e->found);
        e->found = found;
        kith_eval_free(ranks);
        kith_probability_eval_free(probabilities);
    }
    return NULL;
}

/* People, of whom some are unseen. */
static const char *run_of_people(void)
{
    const char *folder = new_folder(), *run = new_run();
    static const char *const names[] = {"train", "aux", "test"};
    draft split[3] = {{0}};
    kith_settings *s = NULL;
    kith_train_end end;

    for (int i = 0; i < 150; i++) {
        int city = i * 7 % 11, known = i < 120 ? 0 : 1, hidden = i < 120 ? 0 : 2;
        add(&split[known], "p%d\tborn_in\tcity%d\n", i, city);
        add(&split[known], "p%d\tspeaks\tlanguage%d\n", i, city % 3);
        add(&split[hidden], "p%d\tlives_in\tcity%d\n", i, i % 5 ? city : i % 11);
        add(&split[hidden], "p%d\tcitizen_of\tcountry%d\n", i, city % 4);
    }
    for (int i = 0; i < 3; i++) {
        put(folder, names[i], split[i].at);
        draft_release(&split[i]);
    }
    kith_graph *graph = opened(folder);
    assert_int_equal(kith_settings_new(&s, "rules", NULL), KITH_OK);
    assert_int_equal(kith_train(&end, run, graph, s, NULL, NULL), KITH_OK);
    kith_settings_free(s);
    kith_graph_free(graph);
    return run;
}

static void threads__evaluations_take_turns(void **state)
{
    const char *run = run_of_people();
    evaluator users[USERS] = {0};
    kith_model *model = NULL;

    (void)state;
    assert_int_equal(kith_model_open(&model, run, &(kith_work_options){.threads = THREADS}, NULL),
                     KITH_OK);
    for (unsigned i = 0; i < USERS; i++)
        users[i] = (evaluator){.model = model, .number = i};
    run_at_once(evaluate_again, users, sizeof *users);
    for (size_t i = 0; i < USERS; i++) {
        assert_int_equal(users[i].failed, 0);
        assert_true(users[i].found > 0 && users[i].found == users[i % 2].found);
    }
    kith_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads__load_a_graph),
        cmocka_unit_test(threads__read_one_graph_at_once),
        cmocka_unit_test(threads__list_rules_and_implications),
        cmocka_unit_test(threads__one_of_several_runs_out_of_memory),
        cmocka_unit_test(threads__train_and_evaluate),
        cmocka_unit_test(threads__train_every_aggregator),
        cmocka_unit_test(threads__stop_and_resume),
        cmocka_unit_test(threads__sessions_share_a_model),
        cmocka_unit_test(threads__evaluations_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
