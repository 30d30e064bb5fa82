/* What the sessions of a model share, and how little they need. */
#include <malloc.h>

#include "session/answer.h"
#include "support.h"
#include "sessions.h"

/* ---- arguments that make no sense ---- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Memory that is in use, by the C library's own count. */
static size_t bytes_in_use(void)
{
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static size_t threads_now(void)
{
    return entries("/proc/self/task");
}

/* Opening one costs next to nothing once the model has answered, and questions make no threads
 * then. */
static void sharing__sessions_are_light(void **state)
{
    enum { SESSIONS = 200 };
    const random_shape shape = {.entities = 20000, .relations = 5, .train = 40000, .dev = 1,
                                .test = 1, .aux = 1};
    kith_settings s = settings_with("lan");
    kith_session *sessions[SESSIONS];
    kith_question questions[64];
    kith_answers_batch *batch;
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 23, 5);
    kith_graph *graph = opened(random_folder(&rng, &shape));
    kith_model *model = model_on(graph, &s, 2);
    uint32_t relations = kith_graph_seen_relation_count(graph);
    for (int i = 0; i < 64; i++)
        questions[i] =
            (kith_question){name_of(graph, (uint32_t)i),
                            kith_graph_relation_name(graph, (uint32_t)i % relations), NULL};
    const kith_ask_options options = {.threads = 2};
    kith_session *first = session_of(model);
    size_t threads = 0;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(
            kith_session_ask_all(&batch, first, questions, 64, &options, NULL), KITH_OK);
        kith_answers_batch_free(batch);
        if (round > 0)
            assert_int_equal(threads_now(), threads);
        threads = threads_now();
    }
    size_t before = bytes_in_use();
    double began = seconds(), each;
    for (int i = 0; i < SESSIONS; i++)
        sessions[i] = session_of(model);
    each = (seconds() - began) / SESSIONS;
    size_t used = (bytes_in_use() - before) / SESSIONS;
    if (used > 100000 || each > 50e-6 * 20) /* other processes may want the core */
        fail_msg("a session takes %zu bytes and %.1f microseconds", used, each * 1e6);
    for (int i = 0; i < SESSIONS; i++)
        kith_session_free(sessions[i]);
    kith_session_free(first);
    kith_model_free(model);
    kith_graph_free(graph);
}

/* ---- sharing ---- */

typedef struct {
    kith_model *model;
    kith_answers **expected;
    size_t relations;
    int failures;
} visitor;

static void *visit(void *argument)
{
    visitor *v = argument;
    const kith_graph *graph = kith_model_graph(v->model);
    kith_session *session;

    v->failures = kith_session_new(&session, v->model, NULL) != KITH_OK;
    if (v->failures)
        return NULL;
    kith_session_add(NULL, session, "new", kith_graph_relation_name(graph, 0), name_of(graph, 1),
                     NULL);
    for (size_t round = 0; round < 40; round++) {
        uint32_t r = (uint32_t)(round % v->relations);
        kith_question q = {"new", kith_graph_relation_name(graph, r), NULL};
        kith_answers *answers;
        if (kith_session_ask(&answers, session, &q, NULL, NULL) != KITH_OK) {
            v->failures++;
            continue;
        }
        for (size_t i = 0; i < answers->count; i++)
            v->failures += answers->at[i]->score != v->expected[r]->at[i]->score ||
                           answers->at[i]->entity != v->expected[r]->at[i]->entity;
        kith_answers_free(answers);
    }
    kith_session_free(session);
    return NULL;
}

/* With room for all encodings, for some, and for none. */
static void sharing__sessions_on_many_threads_give_the_same_answers(void **state)
{
    static const size_t bytes[] = {SIZE_MAX, 4000, 0};
    kith_graph *graph = graph_with_unseen(5);
    kith_settings s = settings_with("lan");
    enum { THREADS = 4 };

    (void)state;
    for (int b = 0; b < 3; b++) {
        kith_model *model = model_on(graph, &s, 2);
        size_t relations = kith_graph_seen_relation_count(graph);
        kith_answers **expected = calloc(relations, sizeof *expected);
        pthread_t threads[THREADS];
        visitor visitors[THREADS];
        kith_session *session = session_of(model);
        say(session, "new", kith_graph_relation_name(graph, 0), name_of(graph, 1));
        for (uint32_t r = 0; r < relations; r++)
            expected[r] = asked_with(session, "new", kith_graph_relation_name(graph, r), NULL,
                                     (kith_ask_options){0});
        kith_session_free(session);
        kith_model_free(model);
        model = model_on(graph, &s, 2);
        assert_int_equal(kith_model_set_cache(model, bytes[b], NULL), KITH_OK);
        for (int t = 0; t < THREADS; t++) {
            visitors[t] = (visitor){model, expected, relations, 0};
            assert_int_equal(pthread_create(&threads[t], NULL, visit, &visitors[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            pthread_join(threads[t], NULL);
            assert_int_equal(visitors[t].failures, 0);
        }
        assert_true(model->cache->bytes <= bytes[b]);
        kith_model_free(model);
        for (uint32_t r = 0; r < relations; r++)
            kith_answers_free(expected[r]);
        free(expected);
    }
    kith_graph_free(graph);
}

/* Rows of what was used longest ago go first. */
static void sharing__the_cache_keeps_to_its_bytes(void **state)
{
    kith_graph *graph = graph_with_unseen(6);
    kith_settings s = settings_with("lan");
    kith_model *model = model_on(graph, &s, 2);
    kith_session *session = session_of(model);
    kith__candidate_cache *shared = model->cache;
    size_t one = (size_t)kith_graph_seen_entity_count(graph) * shared->stride * sizeof(float);
    static const uint32_t order[] = {0, 1, 0, 2, 0, 1};

    (void)state;
    assert_int_equal(kith_model_set_cache(model, 2 * one, NULL), KITH_OK);
    for (size_t i = 0; i < 6; i++) {
        kith_answers *a =
            asked(session, name_of(graph, 0), kith_graph_relation_name(graph, order[i]), NULL);
        kith_answers_free(a);
        assert_true(shared->bytes <= 2 * one && shared->bytes >= one);
    }
    uint32_t m = kith_graph_seen_relation_count(graph);
    assert_int_equal(shared->first->query, m + 1); /* made last */
    assert_int_equal(shared->first->next->query, m); /* used in between, and kept */
    kith_session_free(session);
    kith_model_free(model);
    kith_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharing__sessions_are_light),
        cmocka_unit_test(sharing__sessions_on_many_threads_give_the_same_answers),
        cmocka_unit_test(sharing__the_cache_keeps_to_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
