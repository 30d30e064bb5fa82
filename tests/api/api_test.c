/* The public header as a caller sees it: versions, options of callers that know fewer members, and
 * what no other test calls. */
#include <math.h>

#include "support.h"
#include "people.h"

/* ---- a small world ---- */

/* A model with an embedding, which is not trained. */
static kith_model *embedding(void)
{
    kith_settings *settings;
    kith_model *made = NULL;

    assert_int_equal(kith_settings_new(&settings, "embedding", NULL), KITH_OK);
    assert_int_equal(kith_settings_set(settings, "dim", "4", NULL), KITH_OK);
    assert_int_equal(kith_model_new(&made, graph, settings, NULL, NULL), KITH_OK);
    kith_settings_free(settings);
    return made;
}

/* ---- versions ---- */

static void version__header_and_library_agree(void **state)
{
    (void)state;
    assert_string_equal(kith_version(), format("%d.%d.%d", KITH_VERSION_MAJOR, KITH_VERSION_MINOR,
                                               KITH_VERSION_PATCH));
    assert_int_equal(KITH_VERSION,
                     KITH_VERSION_MAJOR * 10000 + KITH_VERSION_MINOR * 100 + KITH_VERSION_PATCH);
}

/* ---- options of an older caller ---- */

/* A struct of which the caller knows the size alone, in a block of its own: to read behind it is an
 * error that the address sanitizer sees. */
static void *oldest(void)
{
    size_t *options = malloc(sizeof *options);

    *options = sizeof *options;
    return options;
}

static void options__an_old_graph_caller_is_served(void **state)
{
    void *old = oldest();
    kith_graph *made = NULL;
    kith_stats *stats = NULL;
    kith_implications *implications = NULL;
    kith_rules *rules = NULL;

    (void)state;
    assert_int_equal(kith_graph_open(&made, source, old, NULL), KITH_OK);
    kith_graph_free(made);
    assert_int_equal(kith_graph_save(graph, format("%s/out", new_folder()), old, NULL), KITH_OK);
    assert_int_equal(kith_dataset_make(&made, NULL, graph, old, NULL), KITH_OK);
    kith_graph_free(made);
    assert_int_equal(kith_graph_stats(&stats, graph, old, NULL), KITH_OK);
    kith_stats_free(stats);
    assert_int_equal(kith_graph_implications(&implications, graph, old, NULL), KITH_OK);
    assert_true(implications->count > 0 && implications->count <= 20);
    kith_implications_free(implications);
    assert_int_equal(kith_graph_rules(&rules, graph, old, NULL), KITH_OK);
    assert_true(rules->count > 0 && rules->at[0]->holds_count > 0);
    kith_rules_free(rules);
    free(old);
}

static void options__an_old_model_caller_is_served(void **state)
{
    void *old = oldest();
    kith_rules *rules = NULL;
    kith_session *session = new_session();
    kith_eval *eval = NULL;
    kith_probability_eval *probabilities = NULL;
    kith_answers *answers = NULL;
    kith_missing *missing = NULL;
    kith_model *made = NULL;
    kith_settings *settings = NULL;
    const char *folder = new_run();

    (void)state;
    assert_int_equal(kith_evaluate(&eval, model, old, NULL), KITH_OK); /* of test */
    assert_int_equal(eval->facts, UNSEEN);
    kith_eval_free(eval);
    assert_int_equal(kith_evaluate_probabilities(&probabilities, model, old, NULL), KITH_OK);
    assert_true(probabilities->entities > 0);
    kith_probability_eval_free(probabilities);
    assert_int_equal(kith_session_ask(&answers, session, &(kith_question){"p1", "knows", NULL}, old,
                                      NULL), KITH_OK);
    assert_int_equal(answers->count, 10);
    kith_answers_free(answers);
    assert_int_equal(kith_session_find_missing(&missing, session, "knows", old, NULL), KITH_OK);
    kith_missing_free(missing);
    assert_int_equal(kith_model_rules(&rules, model, old, NULL), KITH_OK);
    assert_true(rules->count > 0);
    kith_rules_free(rules);
    assert_int_equal(kith_model_open(&made, run, old, NULL), KITH_OK);
    kith_model_free(made);
    assert_int_equal(kith_settings_new(&settings, "rules", NULL), KITH_OK);
    assert_int_equal(kith_train(NULL, folder, graph, settings, old, NULL), KITH_OK);
    assert_int_equal(kith_train_resume(NULL, folder, old, NULL), KITH_OK);
    assert_int_equal(kith_vectors_save(old, format("%s/none", new_folder()), KITH_VECTORS_NPY, old,
                                       NULL), KITH_OK);
    kith_settings_free(settings);
    kith_session_free(session);
    free(old);
}

/* An _init of a struct that the caller knows the first bytes of touches no other. */
#define check_init(type)                                                                           \
    do {                                                                                           \
        union {                                                                                    \
            type known;                                                                            \
            unsigned char bytes[sizeof(type)];                                                     \
        } u;                                                                                       \
        memset(&u, 0xee, sizeof u);                                                                \
        (type##_init)(&u.known, sizeof(size_t));                                                   \
        assert_int_equal(u.known.size, sizeof(size_t));                                            \
        for (size_t i = sizeof(size_t); i < sizeof(type); i++)                                     \
            assert_int_equal(u.bytes[i], 0xee);                                                    \
        type##_init(&u.known);                                                                     \
        assert_int_equal(u.known.size, sizeof(type));                                              \
    } while (0)

static void options__init_keeps_to_the_size_that_the_caller_knows(void **state)
{
    (void)state;
    check_init(kith_work_options);
    check_init(kith_open_options);
    check_init(kith_save_options);
    check_init(kith_dataset_options);
    check_init(kith_rules_options);
    check_init(kith_train_options);
    check_init(kith_eval_options);
    check_init(kith_probability_options);
    check_init(kith_ask_options);
    check_init(kith_missing_options);
    check_init(kith_vectors);
}

/* ---- watching and stopping ---- */

static void rules__of_a_run_without_any_are_refused(void **state)
{
    kith_model *plain = embedding();
    kith_rules *rules = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith_model_rules(&rules, plain, NULL, &error), KITH_ERR_ARGUMENT);
    assert_null(rules);
    kith_model_free(plain);
}

/* ---- what is missing ---- */

typedef struct {
    kith_triple facts[64];
    size_t count, most;
    uint64_t queries, queries_first; /* made, when the first fact came */
} stream;

static int count_asked(void *context, const kith_stage *stage)
{
    stream *s = context;

    if (strcmp(stage->name, "answering") == 0)
        s->queries = stage->done;
    return 0;
}

static int take_fact(void *context, const kith_missing_fact *fact)
{
    stream *s = context;

    if (s->count == 0)
        s->queries_first = s->queries;
    s->facts[s->count++] = fact->fact;
    return s->count == s->most;
}

static void missing__facts_are_told_as_they_are_found(void **state)
{
    stream s = {.most = 64};
    kith_session *session = new_session();
    kith_missing *missing = NULL;
    kith_missing_options options;

    (void)state;
    kith_missing_options_init(&options);
    options.top = 20;
    options.watch = count_asked;
    options.found = take_fact;
    options.context = options.found_context = &s;
    assert_int_equal(kith_session_find_missing(&missing, session, NULL, &options, NULL), KITH_OK);
    assert_int_equal(s.count, missing->count);
    assert_int_equal(s.count, 20);
    for (size_t i = 0; i < s.count; i++)
        assert_memory_equal(&s.facts[i], &missing->at[i]->fact, sizeof s.facts[i]);
    assert_true(s.queries_first < missing->queries);
    kith_missing_free(missing);
    s = (stream){.most = 3};
    missing = NULL;
    assert_int_equal(kith_session_find_missing(&missing, session, NULL, &options, NULL),
                     KITH_ERR_STOPPED);
    assert_int_equal(s.count, 3);
    assert_null(missing);
    kith_session_free(session);
}

/* ---- labels ---- */

static void labels__of_a_relation_without_one_are_its_name(void **state)
{
    const kith_graph *g = kith_model_graph(model);

    (void)state;
    assert_string_equal(kith_graph_relation_label(g, 0), kith_graph_relation_name(g, 0));
    assert_null(kith_graph_relation_label(g, 1000));
}

/* ---- what training measured ---- */

static void held_out__is_there_for_a_run_with_rules_only(void **state)
{
    kith_model *plain = embedding();
    kith_held_out *found = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith_model_held_out(&found, plain, &error), KITH_ERR_NOT_FOUND);
    assert_null(found);
    assert_int_equal(kith_model_held_out(&found, model, &error), KITH_OK);
    assert_true(found->entities > 0 && found->metrics->queries > 0);
    assert_true(found->metrics->mrr > 0 && found->metrics->mrr <= 1);
    kith_held_out_free(found);
    kith_model_free(plain);
}

/* ---- ids ---- */

static uint32_t entity(const char *name)
{
    uint32_t id = UINT32_MAX;

    assert_int_equal(kith_graph_find_entity(&id, kith_model_graph(model), name), KITH_OK);
    return id;
}

static void ids__give_the_answers_of_names_and_each_an_error_of_its_own(void **state)
{
    const kith_question named[] = {{"p1", "knows", NULL}, {NULL, "knows", "p2"}};
    kith_session *session = new_session();
    kith_answers_batch *by_name = NULL, *by_id = NULL;
    kith_error error;
    uint32_t knows;

    (void)state;
    assert_int_equal(kith_graph_find_relation(&knows, kith_model_graph(model), "knows"), KITH_OK);
    const kith_triple ids[] = {{entity("p1"), knows, UINT32_MAX},
                               {UINT32_MAX, knows, entity("p2")},
                               {entity("p1"), 1000, UINT32_MAX}};
    assert_int_equal(kith_session_ask_all(&by_name, session, named, 2, NULL, NULL), KITH_OK);
    assert_int_equal(kith_session_ask_all_ids(&by_id, session, ids, 3, NULL, NULL), KITH_OK);
    assert_int_equal(by_id->failed, 1);
    assert_int_equal(by_id->errors[2]->status, KITH_ERR_NOT_FOUND);
    assert_contains(by_id->errors[2]->message, "1000");
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < by_name->at[i]->count; k++)
            assert_true(by_name->at[i]->at[k]->entity == by_id->at[i]->at[k]->entity &&
                        by_name->at[i]->at[k]->score == by_id->at[i]->at[k]->score);
    assert_int_equal(kith_session_ask_all_ids(&by_id, session, NULL, 3, NULL, &error),
                     KITH_ERR_ARGUMENT);
    kith_answers_batch_free(by_name);
    kith_answers_batch_free(by_id);
    kith_session_free(session);
}

static void ids__of_facts_are_judged_as_names_are(void **state)
{
    kith_session *session = new_session();
    kith_verdict *one = NULL;
    kith_verdicts *many = NULL;
    kith_error error;
    uint32_t knows;

    (void)state;
    assert_int_equal(kith_graph_find_relation(&knows, kith_model_graph(model), "knows"), KITH_OK);
    const kith_triple facts[] = {{entity("p1"), knows, entity("p8")},
                                 {entity("p1"), knows, UINT32_MAX - 1}};
    assert_int_equal(
        kith_session_judge(&one, session, &(kith_question){"p1", "knows", "p8"}, NULL), KITH_OK);
    assert_int_equal(kith_session_judge_all_ids(&many, session, facts, 2, NULL, NULL), KITH_OK);
    assert_true(many->at[0]->probability == one->probability && many->at[0]->rank == one->rank);
    assert_int_equal(many->errors[1]->status, KITH_ERR_NOT_FOUND);
    assert_int_equal(kith_session_judge_all_ids(&many, session, NULL, 2, NULL, &error),
                     KITH_ERR_ARGUMENT);
    kith_verdict_free(one);
    kith_verdicts_free(many);
    kith_session_free(session);
}

/* ---- failures that no other test sees ---- */

static void failures__of_calls_about_graphs_and_models(void **state)
{
    kith_settings *settings = NULL;
    kith_implications *implications = NULL;
    kith_rules *rules = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith_builder_new(NULL, &error), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_implications(&implications, NULL, NULL, &error), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_graph_rules(&rules, NULL, NULL, &error), KITH_ERR_ARGUMENT);
    assert_true(!implications && !rules);
    assert_int_equal(kith_model_tables(NULL, model, &error), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_model_set_cache(NULL, 1, &error), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_new(NULL, model, &error), KITH_ERR_ARGUMENT);
    assert_int_equal(kith_settings_new(&settings, "rules", NULL), KITH_OK);
    /* The folder is not empty; the graph is freed nonetheless. */
    assert_int_equal(kith_train_consuming(NULL, source, opened(source), settings, NULL, &error),
                     KITH_ERR_ARGUMENT);
    assert_true(strstr(error.message, source) != NULL);
    kith_settings_free(settings);
}

static void failures__of_calls_about_facts_and_questions(void **state)
{
    const kith_question wrong = {"p1", "knows", "nobody"};
    kith_session *session = new_session();
    kith_answers_batch *batch = NULL;
    kith_verdict *verdict = NULL;
    kith_verdicts *verdicts = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_judge(&verdict, session, &wrong, &error), KITH_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, "nobody"));
    assert_int_equal(kith_session_ask_all(&batch, session, &wrong, SIZE_MAX, NULL, &error),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_session_judge_all(&verdicts, session, &wrong, SIZE_MAX, NULL, &error),
                     KITH_ERR_ARGUMENT);
    assert_true(!verdict && !batch && !verdicts);
    kith_session_free(session);
}

/* ---- what is judged ---- */

static void judge__one_or_many_give_the_same_and_errors_stay_with_their_facts(void **state)
{
    const kith_question facts[] = {{"p1", "citizen_of", "country1"},
                                   {"nobody", "citizen_of", "country1"},
                                   {"p1", "born_in", NULL},
                                   {"p3", "knows", "p22"}};
    kith_session *session = new_session();
    kith_verdicts *all = NULL;
    kith_verdict *one = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(kith_session_judge_all(&all, session, facts, 4, NULL, &error), KITH_OK);
    assert_int_equal(all->count, 4);
    assert_int_equal(all->failed, 2);
    for (int i = 0; i < 4; i++) {
        kith_status status = kith_session_judge(&one, session, &facts[i], &error);
        if (status != KITH_OK) {
            assert_null(all->at[i]);
            assert_int_equal(all->errors[i]->status, status);
            assert_string_equal(all->errors[i]->message, error.message);
            continue;
        }
        assert_null(all->errors[i]);
        assert_true(all->at[i]->probability == one->probability && all->at[i]->rank == one->rank);
        assert_true(one->known && one->probability >= 0 && one->probability <= 1);
        kith_verdict_free(one);
    }
    kith_verdicts_free(all);
    assert_int_equal(kith_session_judge_all(&all, session, NULL, 0, NULL, &error), KITH_OK);
    assert_int_equal(all->count, 0);
    kith_verdicts_free(all);
    kith_session_free(session);
}

static void ask__min_probability_leaves_out_what_is_less_likely(void **state)
{
    const kith_question question = {"p1", "knows", NULL};
    kith_session *session = new_session();
    kith_ask_options options;
    kith_answers *all = NULL, *some = NULL;

    (void)state;
    kith_ask_options_init(&options);
    assert_int_equal(kith_session_ask(&all, session, &question, &options, NULL), KITH_OK);
    size_t unknown = 0, expected = 0;
    for (size_t i = 0; i < all->count; i++)
        if (!all->at[i]->known && ++unknown == 3)
            options.min_probability = all->at[i]->probability;
    assert_true(unknown > 3 && unknown < all->count && options.min_probability > 0);
    assert_int_equal(kith_session_ask(&some, session, &question, &options, NULL), KITH_OK);
    for (size_t i = 0; i < all->count; i++) /* known answers are facts and have no probability */
        expected += all->at[i]->known || all->at[i]->probability >= options.min_probability;
    assert_int_equal(some->count, expected);
    assert_true(expected < all->count);
    for (size_t i = 0; i < some->count; i++)
        assert_true(some->at[i]->known ? isnan(some->at[i]->probability)
                                       : some->at[i]->probability >= options.min_probability);
    kith_answers_free(all);
    kith_answers_free(some);
    kith_session_free(session);
}

/* ---- parts and weights ---- */

static void ask__no_questions_give_an_empty_batch(void **state)
{
    kith_session *session = new_session();
    kith_answers_batch *batch = NULL;

    (void)state;
    assert_int_equal(kith_session_ask_all(&batch, session, NULL, 0, NULL, NULL), KITH_OK);
    assert_int_equal(batch->count, 0);
    assert_int_equal(batch->failed, 0);
    kith_answers_batch_free(batch);
    kith_session_free(session);
}

static void parts__names_letters_and_forms_belong_together(void **state)
{
    unsigned named = 0;

    (void)state;
    for (unsigned part = 1; part < KITH_PART_ALL; part <<= 1) {
        const char *name = kith_part_name((kith_evidence_part)part);
        const char letter[] = {kith_part_letter((kith_evidence_part)part), '\0'};
        if (!name)
            continue;
        named |= part;
        assert_int_equal(kith_part_find(name, strlen(name)), part);
        assert_int_equal(kith_part_find(letter, 1), part);
        assert_int_equal(kith_part_form((kith_evidence_part)part) != NULL,
                         (part & KITH_PART_RULES) != 0);
        assert_true(kith_part_listed((kith_evidence_part)part) >=
                    kith_part_mined((kith_evidence_part)part));
    }
    assert_int_equal(named & 0x3f, 0x3f);
    assert_true(kith_part_mined(KITH_PART_PATH) && !kith_part_mined(KITH_PART_CONSTANT));
    assert_true(kith_part_listed(KITH_PART_CONSTANT) && !kith_part_listed(KITH_PART_SHARED));
    assert_int_equal(kith_part_find("rules", 5), KITH_PART_RULES);
    assert_int_equal(kith_part_find("nothing", 7), KITH_PART_NONE);
    assert_null(kith_part_name((kith_evidence_part)(KITH_PART_DIRECT | KITH_PART_PROXIMITY)));
    assert_int_equal(kith_part_letter((kith_evidence_part)4096), 0);
    assert_null(kith_part_form(KITH_PART_PROXIMITY));
}

static void fusion__info_and_weights_are_those_of_the_run(void **state)
{
    kith_fusion_info *info = NULL;
    kith_model *plain = embedding();
    kith_evidence_part part;
    double weight, of_relation;
    size_t count = 0;

    (void)state;
    assert_int_equal(kith_model_fusion(&info, model, NULL), KITH_OK);
    assert_true(info->fused && !info->embedding && info->queries > 0);
    assert_true(kith_model_rule_count(model, KITH_PART_DIRECT) +
                    kith_model_rule_count(model, KITH_PART_PATH) > 0);
    assert_int_equal(kith_model_rule_count(model, KITH_PART_CONSTANT), 0);
    kith_fusion_info_free(info);
    for (; kith_model_fusion_weight(&weight, &part, model, count); count++) {
        int own = kith_model_relation_weight(&of_relation, model, 0, 0, count);
        assert_true(isfinite(weight) && isfinite(of_relation));
        assert_true(own || of_relation == weight);
    }
    assert_true(count > 10);
    assert_int_equal(kith_model_relation_weight(&of_relation, model, 1000, 0, 0), 0);
    assert_int_equal(kith_model_fusion(&info, plain, NULL), KITH_OK);
    assert_false(info->fused);
    kith_fusion_info_free(info);
    assert_null(kith_model_fusion_weight(&weight, &part, plain, 0));
    assert_int_equal(kith_model_fusion(NULL, plain, NULL), KITH_ERR_ARGUMENT);
    kith_model_free(plain);
}

/* ---- probabilities ---- */

static void check_table(const kith_probability_table *t)
{
    size_t answers = 0;

    assert_int_equal(t->bin_count, 10);
    for (size_t i = 0; i < t->bin_count; i++)
        answers += t->bins[i]->answers;
    assert_true(answers > 0 && answers == t->answers && t->correct <= t->answers);
    assert_true(t->log_loss > 0 && t->at_least_half_correct <= t->at_least_half);
}

static void probabilities__are_measured_on_unseen_entities(void **state)
{
    kith_probability_options options;
    kith_probability_eval *result = NULL;
    kith_model *plain = embedding();
    kith_error error;

    (void)state;
    kith_probability_options_init(&options);
    options.entities = 5;
    assert_int_equal(kith_evaluate_probabilities(&result, model, &options, &error), KITH_OK);
    assert_int_equal(result->entities, 5);
    assert_true(result->queries >= 5);
    check_table(result->relations);
    check_table(result->pairs);
    kith_probability_eval_free(result);
    kith_probability_eval_free(NULL);
    assert_int_equal(kith_evaluate_probabilities(&result, plain, NULL, &error), KITH_ERR_ARGUMENT);
    assert_contains(error.message, "probabilities");
    kith_model_free(plain);
}

/* ---- vectors ---- */

static void vectors__of_a_table_are_saved_in_each_format(void **state)
{
    static const char *const files[][2] = {{"ent.npy", "ent.names.tsv"},
                                           {"ent.txt", NULL},
                                           {"ent.vectors.tsv", "ent.metadata.tsv"}};
    kith_model *plain = embedding();
    kith_tables *tables = NULL;
    kith_vectors vectors;
    kith_error error;

    (void)state;
    assert_int_equal(kith_model_tables(&tables, plain, &error), KITH_OK);
    assert_true(tables->count > 1);
    const kith_table *ent = tables->at[0];
    assert_string_equal(ent->name, "ent");
    assert_int_equal(ent->rows, kith_graph_seen_entity_count(graph));
    const char **names = calloc(ent->rows, sizeof *names);
    for (uint32_t i = 0; i < ent->rows; i++)
        names[i] = kith_graph_entity_name(graph, i);
    kith_vectors_init(&vectors);
    vectors.at = ent->at;
    vectors.rows = ent->rows;
    vectors.columns = ent->columns;
    vectors.stride = ent->stride;
    vectors.names = names;
    for (int format_number = 0; format_number < 3; format_number++) {
        const char *folder = keep(new_folder());
        assert_int_equal(kith_vectors_save(&vectors, format("%s/ent", folder),
                                           (kith_vector_format)format_number, NULL, &error),
                         KITH_OK);
        for (int i = 0; i < 2 && files[format_number][i]; i++)
            assert_true(exists(format("%s/%s", folder, files[format_number][i])));
    }
    assert_int_equal(kith_vectors_save(&vectors, "x", (kith_vector_format)9, NULL, &error),
                     KITH_ERR_ARGUMENT);
    assert_int_equal(kith_vectors_save(&vectors, format("%s/no/such/stem", source),
                                       KITH_VECTORS_NPY, NULL, &error), KITH_ERR_IO);
    vectors.stride = 1;
    assert_int_equal(kith_vectors_save(&vectors, "x", KITH_VECTORS_NPY, NULL, &error),
                     KITH_ERR_ARGUMENT);
    free(names);
    kith_tables_free(tables);
    kith_model_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version__header_and_library_agree),
        cmocka_unit_test(options__an_old_graph_caller_is_served),
        cmocka_unit_test(options__an_old_model_caller_is_served),
        cmocka_unit_test(options__init_keeps_to_the_size_that_the_caller_knows),
        cmocka_unit_test(rules__of_a_run_without_any_are_refused),
        cmocka_unit_test(missing__facts_are_told_as_they_are_found),
        cmocka_unit_test(labels__of_a_relation_without_one_are_its_name),
        cmocka_unit_test(held_out__is_there_for_a_run_with_rules_only),
        cmocka_unit_test(ids__give_the_answers_of_names_and_each_an_error_of_its_own),
        cmocka_unit_test(ids__of_facts_are_judged_as_names_are),
        cmocka_unit_test(failures__of_calls_about_graphs_and_models),
        cmocka_unit_test(failures__of_calls_about_facts_and_questions),
        cmocka_unit_test(judge__one_or_many_give_the_same_and_errors_stay_with_their_facts),
        cmocka_unit_test(ask__min_probability_leaves_out_what_is_less_likely),
        cmocka_unit_test(ask__no_questions_give_an_empty_batch),
        cmocka_unit_test(parts__names_letters_and_forms_belong_together),
        cmocka_unit_test(fusion__info_and_weights_are_those_of_the_run),
        cmocka_unit_test(probabilities__are_measured_on_unseen_entities),
        cmocka_unit_test(vectors__of_a_table_are_saved_in_each_format),
    };
    return cmocka_run_group_tests(tests, make_world, free_world);
}
