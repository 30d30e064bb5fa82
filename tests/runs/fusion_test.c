/* The files that rules and fusion are kept in, also of older formats and damaged. */
#include "run/fusion_files.h"
#include "train/fit.h"
#include "support.h"
#include "fusions.h"

/* ---- files ---- */

/* A finished run, made once. */
static const char *run;

static kith_graph *run_graph;

static int make_run(void **state)
{
    kith_settings settings;
    kith_train_end end;
    kith_error error;

    (void)state;
    run = new_run();
    run_graph = opened(group_folder(111, 60, 15));
    assert_int_equal(kith__settings_init(&settings, "rules", &error), KITH_OK);
    if (kith_train(&end, run, run_graph, &settings, NULL, &error) != KITH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(end, KITH_TRAIN_FINISHED);
    return 0;
}

static int free_run(void **state)
{
    (void)state;
    kith_graph_free(run_graph);
    return 0;
}

static kith_model *opened_run(void)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_open(&model, run, &(kith_work_options){.threads = 1}, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return model;
}

static void check_same_patterns(const kith__rules *a, const kith__rules *b)
{
    assert_int_equal(a->relations, b->relations);
    assert_memory_equal(a->offset, b->offset, (a->relations + 1) * sizeof *a->offset);
    assert_true(a->offset[a->relations] > 0);
    assert_memory_equal(a->at, b->at, a->offset[a->relations] * sizeof *a->at);
}

static void files__hold_all_that_was_mined_and_fitted(void **state)
{
    kith_model *model = opened_run();
    kith__evidence *mined;
    kith_error error;

    (void)state;
    assert_int_equal(kith__evidence_new(&mined, model->graph, false, model->pool, &error), KITH_OK);
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i]->mine)
            check_same_patterns(&mined->rules->of[i], &model->fused->evidence->rules->of[i]);
    kith__evidence_free(mined);
    kith_model_free(model);
}

static void files__a_fusion_comes_back_bit_by_bit(void **state)
{
    kith_model *model = opened_run();
    kith__rng rng;
    kith_error error;

    (void)state;
    kith__rng_init(&rng, 112, 0);
    const char *folder = new_folder();
    assert_false(kith__fusion_saved(folder));
    assert_int_equal(kith__rules_save(folder, model->fused->evidence->rules, &error), KITH_OK);
    for (int i = 0; i < 20; i++) {
        kith__fusion f = random_fusion(&rng);
        f.common.all[0] = 0;
        f.common.all[1] = 1e-38f * f.common.all[1];
        f.own[1].weights.unseen[2] = 1e4f * f.own[1].weights.unseen[2];
        const kith__fitted_fusion fitted = {f, some_calibration};
        assert_int_equal(kith__fusion_save(folder, &fitted, NULL, &error), KITH_OK);
        assert_true(kith__fusion_saved(folder));
        fusion_setup s;
        s.graph = run_graph;
        kith_settings settings = *kith_model_settings(model);
        assert_int_equal(kith_model_new(&s.model, run_graph, &settings,
                                        &(kith_work_options){.threads = 1}, &error),
                         KITH_OK);
        assert_int_equal(kith__fused_open(s.model, folder, i % 2, &error), KITH_OK);
        check_same_fusion(&s.model->fused->fusion, &f);
        assert_memory_equal(s.model->calibration.weight, some_calibration.weight,
                            sizeof some_calibration.weight);
        kith_model_free(s.model);
        kith__fusion_release(&f);
    }
    kith_model_free(model);
}

static void check_opened(const kith_model *like, const char *folder, bool new_graph,
                         const kith__fitted_fusion *expected)
{
    kith_model *model;
    kith_error error;

    assert_int_equal(kith_model_new(&model, run_graph, kith_model_settings(like),
                                    &(kith_work_options){.threads = 1}, &error),
                     KITH_OK);
    assert_int_equal(kith__fused_open(model, folder, new_graph, &error), KITH_OK);
    check_same_fusion(&model->fused->fusion, &expected->fusion);
    assert_memory_equal(model->calibration.weight, expected->calibration.weight,
                        sizeof expected->calibration.weight);
    kith_model_free(model);
}

static void files__a_new_graph_has_a_fusion_of_its_own(void **state)
{
    kith_model *model = opened_run();
    const char *folder = new_folder();
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 113, 0);
    kith__fitted_fusion trained = {random_fusion(&rng), some_calibration};
    kith__fitted_fusion other = {random_fusion(&rng), some_calibration};
    other.calibration.weight[0] += 1;
    assert_int_equal(kith__rules_save(folder, model->fused->evidence->rules, NULL), KITH_OK);
    assert_int_equal(kith__fusion_save(folder, &trained, &other, NULL), KITH_OK);
    check_opened(model, folder, false, &trained);
    check_opened(model, folder, true, &other);
    kith__fusion_release(&trained.fusion);
    kith__fusion_release(&other.fusion);
    kith_model_free(model);
}

/* The first features, as they were called until format 2 and as they are now. */
static const char *const former[][2] = {
    {"a", "direct best"},
    {"log a", "direct log best"},
    {"a all", "direct noisy-or"},
    {"a mined", "direct best as mined"},
    {"a count", "direct count"},
    {"links", "linking facts"},
    {"b", "path best"},
    {"log b", "path log best"},
    {"b all", "path noisy-or"},
    {"b count", "path count"},
    {"c", "constant best"},
    {"log c", "constant log best"},
    {"c second", "constant second best"},
    {"c all", "constant noisy-or"},
    {"c count", "constant count"},
    {"d", "shared best"},
    {"log d", "shared log best"},
    {"d shared", "shared share of known answers"},
    {"d sum", "shared sum"},
    {"best", "rules best"},
    {"log best", "rules log best"},
    {"all", "rules noisy-or"},
    {"answers often", "answer frequency"},
    {"facts of it", "degree"},
    {"fits", "type score"},
    {"fits by known answers", "type score x known answers"},
    {"fits in all", "type score of all relations"},
    {"near", "proximity"},
    {"near and not linked", "proximity if not linked"},
    {"near by known answers", "proximity x known answers"},
    {"embedding", "embedding"},
    {"embedding log p", "embedding log p"},
    {"embedding without a", "embedding x no direct rule"},
    {"embedding log p without a", "embedding log p x no direct rule"},
    {"embedding log p of linked", "embedding log p if linked"},
    {"log best by known answers", "rules log best x known answers"},
    {"all by known answers", "rules noisy-or x known answers"},
    {"log c by known answers", "constant log best x known answers"},
    {"log d by known answers", "shared log best x known answers"},
    {"d shared by known answers", "shared share x known answers"},
    {"answers often by known answers", "answer frequency x known answers"},
    {"embedding log p by known answers", "embedding log p x known answers"},
    {"log best by facts", "rules log best x facts"},
    {"all by facts", "rules noisy-or x facts"},
    {"log c by facts", "constant log best x facts"},
    {"log d by facts", "shared log best x facts"},
    {"answers often by facts", "answer frequency x facts"},
    {"embedding log p by facts", "embedding log p x facts"},
};

enum { FORMER = sizeof former / sizeof *former };

static int feature_called(const char *name)
{
    int i = 0;

    while (i < N_FEATURES && strcmp(kith__feature_name(i), name) != 0)
        i++;
    if (i == N_FEATURES)
        fail_msg("found no feature '%s'", name);
    return i;
}

/* With names, or in a list by position. */
static void add_former(draft *t, const float *weight, bool named)
{
    for (int i = 0; i < FORMER; i++) {
        float one = weight[feature_called(former[i][1])];
        add(t, i ? ", " : named ? "{" : "[");
        if (named)
            add(t, "\"%s\": ", former[i][0]);
        add(t, "%.9g", one);
    }
    add(t, named ? "}" : "]");
}

static void write_former(draft *t, const kith__fusion *f, int format)
{
    add(t, "{\"format\": %d, \"queries\": 7, \"set_aside\": 2, \"loss\": 0.5, \"pull\": 30, "
           "\"calibration\": [0.8, -0.3, 0.2], \"weights\": ", format);
    add_former(t, f->common.all, true);
    add(t, ", \"weights_without_embedding\": ");
    add_former(t, f->common.unseen, true);
    for (uint32_t i = 0; i < f->own_count; i++) {
        add(t, "%s{\"query\": %u, \"weights\": ", i ? ", " : ", \"by_relation\": [",
            f->own[i].query);
        add_former(t, f->own[i].weights.all, format == 2);
        add(t, ", \"weights_without_embedding\": ");
        add_former(t, f->own[i].weights.unseen, format == 2);
        add(t, "}");
    }
    add(t, "]}");
}

/* Later features have no weight there. */
static void drop_later(float *weight)
{
    float kept[N_FEATURES] = {0};

    for (int i = 0; i < FORMER; i++)
        kept[feature_called(former[i][1])] = weight[feature_called(former[i][1])];
    memcpy(weight, kept, sizeof kept);
}

static void drop_embedding(float *weight)
{
    for (int k = 0; k < N_FEATURES; k++)
        if (kith__feature_part(k) == KITH_PART_EMBEDDING)
            weight[k] = 0;
}

/* Such files have one set without the embedding, which is for unseen candidates too; in those of
 * rules alone the first set holds for seen ones. */
static void make_former(kith__weights *w, bool embedding)
{
    drop_later(w->all);
    drop_later(w->unseen);
    if (!embedding)
        drop_embedding(w->all);
    memcpy(w->bare, embedding ? w->unseen : w->all, sizeof w->bare);
}

static void check_former(int format, bool embedding)
{
    kith_model *model = opened_run(), *other = NULL;
    const char *folder = new_folder();
    kith__rng rng;
    kith_error error;
    draft t = {0};

    kith__rng_init(&rng, 113, 0);
    kith__fusion f = random_fusion(&rng);
    make_former(&f.common, embedding);
    for (uint32_t i = 0; i < f.own_count; i++)
        make_former(&f.own[i].weights, embedding);
    write_former(&t, &f, format);
    put(folder, "fusion.json", t.at);
    assert_int_equal(kith__rules_save(folder, model->fused->evidence->rules, &error), KITH_OK);
    assert_int_equal(kith_model_new(&other, run_graph, kith_model_settings(model),
                                    &(kith_work_options){.threads = 1}, &error),
                     KITH_OK);
    if (kith__fused_open(other, folder, false, &error) != KITH_OK)
        fail_msg("%s", error.message);
    check_same_fusion(&other->fused->fusion, &f);
    kith__fusion_release(&f);
    draft_release(&t);
    kith_model_free(other);
    kith_model_free(model);
}

/* As version 0.1 wrote it, and the first of 0.2: former names of features, weights of relations by
 * position. */
static void files__former_names_of_features_are_still_read(void **state)
{
    (void)state;
    for (int format = 1; format <= 2; format++) {
        check_former(format, true);
        check_former(format, false);
    }
}

static void files__a_run_opened_twice_evaluates_the_same(void **state)
{
    kith_eval *e[2];
    kith_error error;

    (void)state;
    for (int i = 0; i < 2; i++) {
        kith_model *model = opened_run();
        const kith_eval_options options = {.split = KITH_TEST};
        assert_int_equal(kith_evaluate(&e[i], model, &options, &error), KITH_OK);
        kith_model_free(model);
    }
    assert_int_equal(e[0]->realistic->queries, e[1]->realistic->queries);
    assert_true(equal_ranks(e[0], e[1]));
    kith_eval_free(e[0]);
    kith_eval_free(e[1]);
}

/* Put bytes in a file's place, look what opening says, and put the file back. */
static void check_damaged(const char *name, const char *bytes, size_t length, const char *part)
{
    const char *path = keep(format("%s/%s", run, name));
    size_t size;
    char *good = contents(path, &size);
    kith_model *model = NULL;
    kith_error error = {KITH_OK, ""};

    put_bytes(run, name, bytes, length);
    if (memmem(bytes, length, "\"checksum\"", 10))
        reseal(run, name);
    kith_status status = kith_model_open(&model, run, &(kith_work_options){.threads = 1}, &error);
    put_bytes(run, name, good, size);
    free(good);
    if (status == KITH_OK)
        fail_msg("%s: found a model, expected \"%s\"", name, part);
    assert_null(model);
    assert_int_equal(status, KITH_ERR_INPUT);
    assert_contains(error.message, path);
    assert_contains(error.message, part);
}

static void check_damaged_text(const char *name, const char *old, const char *new, const char *part)
{
    size_t size;
    char *good = contents(format("%s/%s", run, name), &size), *at = strstr(good, old);
    draft t = {0};

    assert_non_null(at);
    add(&t, "%.*s%s%s", (int)(at - good), good, new, at + strlen(old));
    check_damaged(name, t.at, t.length, part);
    draft_release(&t);
    free(good);
}

static void files__a_damaged_fusion_is_refused(void **state)
{
    (void)state;
    check_damaged("fusion.json", "", 0, "expected");
    check_damaged("fusion.json", "[1]", 3, "checksum");
    check_damaged("fusion.json", "{}", 2, "checksum");
    check_damaged_text("fusion.json", "\"format\": 3", "\"format\": 4", "format 4");
    check_damaged_text("fusion.json", "\"format\": 3", "\"format\": \"3\"", "format");
    check_damaged_text("fusion.json", "\"direct log best\"", "\"direct log worst\"", "weight");
    check_damaged_text("fusion.json", "\"by_relation\": []", "\"by_relation\": [{\"query\": 0}]",
                       "weight");
    check_damaged_text("fusion.json",
                       "\"direct log best\": ", "\"direct log best\": NaN, \"x\": ", "expected");
    check_damaged_text("fusion.json",
                       "\"direct log best\": ", "\"direct log best\": \"1\", \"x\": ", "weight");
    check_damaged_text("fusion.json",
                       "\"direct log best\": ", "\"direct log best\": 1e39, \"x\": ", "finite");
    check_damaged_text("fusion.json",
                       "\"direct log best\": ", "\"direct log best\": null, \"x\": ", "weight");
    check_damaged_text("fusion.json", "\"calibration\"", "\"calibrated\"", "calibration");
}

static void files__a_fusion_cut_off_anywhere_is_refused(void **state)
{
    size_t size;
    char *good = contents(format("%s/fusion.json", run), &size);

    (void)state;
    for (size_t length = 0; length + 2 < size; length += 1 + size / 40)
        check_damaged("fusion.json", good, length, "fusion.json");
    free(good);
}

static void files__damaged_rules_are_refused(void **state)
{
    size_t size;
    char *good = contents(format("%s/rules.safetensors", run), &size);

    (void)state;
    for (size_t length = 0; length < size; length += 1 + size / 60)
        check_damaged("rules.safetensors", good, length, "rules.safetensors");
    check_damaged("rules.safetensors", good, size - 1, "rules.safetensors");
    memset(good, 0xff, 8); /* a header longer than anything */
    check_damaged("rules.safetensors", good, size, "rules.safetensors");
    free(good);
}

/* A rule whose number at `column` of its row is another. */
static void check_bad_rule(size_t from_end, uint32_t value)
{
    size_t size;
    char *bytes = contents(format("%s/rules.safetensors", run), &size);

    memcpy(bytes + size - 4 * from_end, &value, 4);
    check_damaged("rules.safetensors", bytes, size, "rule");
    free(bytes);
}

static void files__rules_that_cannot_be_are_refused(void **state)
{
    (void)state;
    /* The last row of kind B, from its end: bodies, hits, second, first, conclusion. */
    check_bad_rule(1, 0);
    check_bad_rule(2, UINT32_MAX);
    check_bad_rule(3, 4000);
    check_bad_rule(4, UINT32_MAX);
    check_bad_rule(5, 0);
    check_bad_rule(5, 4000);
}

static void files__rules_of_another_graph_are_refused(void **state)
{
    kith_model *model = opened_run();
    const char *folder = new_folder();
    kith_graph *other = opened(file("g.tsv", "a\tr\tb\nb\tr\tc\na\ts\tb\n"));
    kith_settings settings = *kith_model_settings(model);
    kith_model *foreign;
    kith_error error = {KITH_OK, ""};

    (void)state;
    assert_int_equal(kith__rules_save(folder, model->fused->evidence->rules, &error), KITH_OK);
    const kith__fitted_fusion fitted = {model->fused->fusion, model->calibration};
    assert_int_equal(kith__fusion_save(folder, &fitted, NULL, &error), KITH_OK);
    assert_int_equal(
        kith_model_new(&foreign, other, &settings, &(kith_work_options){.threads = 1}, &error),
        KITH_OK);
    assert_int_equal(kith__fused_open(foreign, folder, false, &error), KITH_ERR_INPUT);
    assert_contains(error.message, "rules.safetensors");
    assert_contains(error.message, "4");
    kith_model_free(foreign);
    kith_model_free(model);
    kith_graph_free(other);
}

static void files__a_run_without_a_fusion_is_not_finished(void **state)
{
    const char *path = keep(format("%s/fusion.json", run)), *aside = keep(format("%s/x", run));
    kith_model *model = NULL;
    kith_error error;

    (void)state;
    assert_int_equal(rename(path, aside), 0);
    kith_status status = kith_model_open(&model, run, &(kith_work_options){.threads = 1}, &error);
    assert_int_equal(rename(aside, path), 0);
    assert_int_equal(status, KITH_ERR_INPUT);
    assert_contains(error.message, "kith train --resume");
}

/* ---- failing allocations ---- */

static kith_status try_linear(void *context, kith_error *error)
{
    kith__pool *pool = kith__pool_new(1);
    static const uint32_t queries[] = {0, 1};
    float weight[N_FEATURES] = {0};
    double scale[N_FEATURES];
    kith_status status = KITH_ERR_MEMORY;

    if (pool) {
        kith__linear_scales(scale, context, 0);
        status = kith__linear_fit(weight, context, scale, queries, 2, 2, pool, error);
    }

    if (!pool)
        strcpy(error->message, "out of memory");
    kith__pool_free(pool);
    return status;
}

static kith_status try_fit(void *context, kith_error *error)
{
    fusion_setup *s = context;
    kith__fusion f = {0};
    kith__calibration c = {0};
    kith_status status =
        kith__fusion_fit(&f, &c, s->model, s->evidence, s->model->settings.dim > 1, error);

    kith__fusion_release(&f);
    return status;
}

static kith_status try_open(void *context, kith_error *error)
{
    kith_model *model = NULL;
    kith_status status =
        kith_model_open(&model, context, &(kith_work_options){.threads = 1}, error);

    assert_int_equal(model != NULL, status == KITH_OK);
    kith_model_free(model);
    return status;
}

static kith_status try_evaluate(void *context, kith_error *error)
{
    kith_eval *result = NULL;
    kith_status status =
        kith_evaluate(&result, context, &(kith_eval_options){.split = KITH_TEST}, error);

    kith_eval_free(result);
    return status;
}

static void torture__fitting_opening_and_evaluating(void **state)
{
    kith__row_table rows = choices(121, 30);
    fusion_setup s;

    (void)state;
    fail_each_allocation(try_linear, &rows);
    rows_free(&rows);
    for (int embedding = 0; embedding < 2; embedding++) {
        fusion_setup_open(&s, group_folder(121, 30, 8), embedding ? "kith" : "rules", 1);
        fail_each_allocation(try_fit, &s);
        fusion_setup_close(&s);
    }
    fail_each_allocation(try_open, (void *)run);
    kith_model *model = opened_run();
    fail_each_allocation(try_evaluate, model);
    kith_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files__hold_all_that_was_mined_and_fitted),
        cmocka_unit_test(files__a_fusion_comes_back_bit_by_bit),
        cmocka_unit_test(files__a_new_graph_has_a_fusion_of_its_own),
        cmocka_unit_test(files__former_names_of_features_are_still_read),
        cmocka_unit_test(files__a_run_opened_twice_evaluates_the_same),
        cmocka_unit_test(files__a_damaged_fusion_is_refused),
        cmocka_unit_test(files__a_fusion_cut_off_anywhere_is_refused),
        cmocka_unit_test(files__damaged_rules_are_refused),
        cmocka_unit_test(files__rules_that_cannot_be_are_refused),
        cmocka_unit_test(files__rules_of_another_graph_are_refused),
        cmocka_unit_test(files__a_run_without_a_fusion_is_not_finished),
        cmocka_unit_test(torture__fitting_opening_and_evaluating),
    };
    return cmocka_run_group_tests(tests, make_run, free_run);
}
