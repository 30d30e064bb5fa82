/* Sessions need few bytes, and little time to open. */
#include <malloc.h>
#include <time.h>

#include "support.h"
#include "people.h"

enum { MANY = 100000 };

/* The run's rules on a graph with many entities, so that what grows with their number shows. */
static kith_model *on_many_entities(void)
{
    kith_builder *builder;
    kith_graph *many;
    kith_model *made;
    char person[16], other[16];

    assert_int_equal(kith_builder_new(&builder, NULL), KITH_OK);
    for (int i = 0; i < MANY; i++) {
        snprintf(person, sizeof person, "p%d", i);
        snprintf(other, sizeof other, "p%d", (int)(i * 7919L % MANY));
        assert_int_equal(kith_builder_add(builder, KITH_TRAIN, person, "knows", other, 1, NULL),
                         KITH_OK);
    }
    assert_int_equal(kith_builder_finish(&many, builder, NULL, NULL), KITH_OK);
    assert_int_equal(kith_model_open_on(&made, run, many, NULL, NULL), KITH_OK);
    kith_builder_free(builder);
    kith_graph_free(many);
    return made;
}

/* Memory that is in use, by the C library's own count. */
static size_t bytes_in_use(void)
{
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A question needs a row of scores and one that the fusion works on, of 4 bytes per entity, and the
 * table of its relation, which all sessions share. Neither other sessions nor many questions need
 * more. */
static void light__questions_need_few_bytes_per_entity(void **state)
{
    enum { QUESTIONS = 40 };
    const kith_ask_options options = {.threads = 1};
    kith_model *large = on_many_entities();
    kith_question questions[QUESTIONS];
    kith_session *first, *second;
    kith_answers *answers;
    kith_answers_batch *batch;
    kith_explanation *explanation;

    (void)state;
    for (uint32_t i = 0; i < QUESTIONS; i++)
        questions[i] =
            (kith_question){kith_graph_entity_name(kith_model_graph(large), i), "knows", NULL};
    assert_int_equal(kith_session_new(&first, large, NULL), KITH_OK);
    size_t before = bytes_in_use();
    assert_int_equal(kith_session_ask(&answers, first, questions, &options, NULL), KITH_OK);
    kith_answers_free(answers);
    size_t one = bytes_in_use() - before;
    if (one > 40 * (size_t)MANY)
        fail_msg("a question needs %zu bytes per entity", one / MANY);
    before = bytes_in_use();
    assert_int_equal(kith_session_new(&second, large, NULL), KITH_OK);
    assert_int_equal(
        kith_session_ask_all(&batch, second, questions, QUESTIONS, &options, NULL), KITH_OK);
    kith_answers_batch_free(batch);
    assert_int_equal(kith_session_explain(&explanation, second, questions, &options, NULL),
                     KITH_OK);
    kith_explanation_free(explanation);
    size_t more = bytes_in_use() > before ? bytes_in_use() - before : 0;
    if (more > 8 * (size_t)MANY)
        fail_msg("more questions need %zu bytes per entity", more / MANY);
    kith_session_free(first);
    kith_session_free(second);
    kith_model_free(large);
}

static void light__a_session_with_rules_is_opened_in_microseconds(void **state)
{
    enum { SESSIONS = 500 };
    kith_model *large = on_many_entities();
    kith_session *sessions[SESSIONS];

    (void)state;
    assert_int_equal(kith_session_new(&sessions[0], large, NULL), KITH_OK);
    size_t before = bytes_in_use();
    double began = cpu_seconds();
    for (int i = 1; i < SESSIONS; i++)
        assert_int_equal(kith_session_new(&sessions[i], large, NULL), KITH_OK);
    double each = (cpu_seconds() - began) / (SESSIONS - 1);
    size_t used = (bytes_in_use() - before) / (SESSIONS - 1);
    if (used > 100000 || each > 50e-6 * 20) /* 8 by measurement; sanitizers take longer */
        fail_msg("a session takes %zu bytes and %.1f microseconds", used, each * 1e6);
    for (int i = 0; i < SESSIONS; i++)
        kith_session_free(sessions[i]);
    kith_model_free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light__questions_need_few_bytes_per_entity),
        cmocka_unit_test(light__a_session_with_rules_is_opened_in_microseconds),
    };
    return cmocka_run_group_tests(tests, make_world, free_world);
}
