#include <math.h>

#include "fusions.h"
#include "model/classify.h"
#include "run/fusion_files.h"

kith__row_table rows_new(size_t queries, size_t per)
{
    kith__row_table r = {.queries = queries,
                         .rows = queries * per,
                         .first = calloc(queries + 1, sizeof *r.first),
                         .right = calloc(queries, sizeof *r.right),
                         .feature = calloc(queries * per * N_FEATURES, sizeof *r.feature),
                         .offset = calloc(queries * per, sizeof *r.offset),
                         .in_calibration = calloc(queries, 1),
                         .relation = calloc(queries, sizeof *r.relation)};

    for (size_t q = 0; q <= queries; q++)
        r.first[q] = q * per;
    return r;
}

void rows_free(kith__row_table *r)
{
    free(r->first);
    free(r->right);
    free(r->feature);
    free(r->offset);
    free(r->in_calibration);
    free(r->relation);
}

static double true_score(const float *feature)
{
    double sum = 0;
    for (int k = 0; k < VARIED; k++)
        sum += true_weights[k] * feature[varied[k]];
    return sum;
}

/* The right row is drawn by its share under the true weights. */
static void draw_right(kith__row_table *r, size_t query, kith__rng *rng)
{
    double sum = 0, draw;
    size_t i = r->first[query];

    for (size_t k = i; k < r->first[query + 1]; k++)
        sum += exp(true_score(r->feature + k * N_FEATURES));
    draw = kith__rng_unit(rng) * sum;
    for (; i + 1 < r->first[query + 1]; i++) {
        draw -= exp(true_score(r->feature + i * N_FEATURES));
        if (draw < 0)
            break;
    }
    r->right[query] = (uint32_t)i;
}

kith__row_table choices(uint64_t seed, size_t queries)
{
    kith__row_table r = rows_new(queries, 8);
    kith__rng rng;

    kith__rng_init(&rng, seed, 0);
    for (size_t i = 0; i < r.rows; i++) {
        for (int k = 0; k < VARIED; k++)
            r.feature[i * N_FEATURES + (size_t)varied[k]] =
                uniform(&rng, -1, 1) * (varied[k] == 20 ? 50 : 1);
        r.feature[i * N_FEATURES + 5] = 4; /* never varies */
    }
    for (size_t q = 0; q < queries; q++) {
        draw_right(&r, q, &rng);
        r.in_calibration[q] = q % 5 == 0;
    }
    return r;
}

const char *group_folder(uint64_t seed, unsigned entities, unsigned newcomers)
{
    const char *folder = new_folder();
    draft part[KITH_SPLITS] = {0};
    kith__rng rng;

    kith__rng_init(&rng, seed, 0);
    for (unsigned e = 0; e < entities + newcomers; e++) {
        unsigned group = below(&rng, 5), redundant_with = below(&rng, entities);
        bool new = e >= entities;
        draft *to = &part[new ? KITH_AUX : KITH_TRAIN];
        add(to, "e%u\tin\tg%u\n", e, group);
        add(to, "e%u\tlikes\tt%u\n", e, (group + below(&rng, 3)) % 7);
        add(to, "e%u\tlikes\tt%u\n", e, group);
        if (!new || below(&rng, 2)) {
            add(to, "e%u\tknows\te%u\n", e, redundant_with);
            if (new)
                add(&part[KITH_TEST], "e%u\tmet\te%u\n", e, redundant_with);
        }
        if (!new)
            add(to, "e%u\tmet\te%u\ng%u\thas\te%u\n", e, redundant_with, group, e);
        if (e % 4 == 0)
            add(&part[new ? KITH_TEST : KITH_DEV], "e%u\tspeaks\tl%u\n", e, group % 3);
        else
            add(to, "e%u\tspeaks\tl%u\n", e, group % 3);
        if (new)
            add(&part[KITH_TEST], "e%u\tlikes\tt%u\n", e, (group + 5) % 7);
    }
    put(folder, "train", part[KITH_TRAIN].at);
    put(folder, "dev", part[KITH_DEV].at);
    put(folder, "test", part[KITH_TEST].at);
    put(folder, "aux", part[KITH_AUX].at);
    for (int i = 0; i < KITH_SPLITS; i++)
        draft_release(&part[i]);
    return folder;
}

void fusion_setup_open(fusion_setup *s, const char *folder, const char *preset, unsigned threads)
{
    kith_settings settings;
    kith_error error;

    s->graph = opened(folder);
    assert_int_equal(kith__settings_init(&settings, preset, &error), KITH_OK);
    settings.dim = strcmp(preset, "rules") == 0 ? 1 : 8;
    if (kith_model_new(&s->model, s->graph, &settings, &(kith_work_options){.threads = threads},
                       &error) != KITH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(kith__evidence_new(&s->evidence, s->graph, false, s->model->pool, &error),
                     KITH_OK);
    s->log_degree = kith__log_degrees(s->evidence->base->index);
    s->seen = kith_graph_seen_entity_count(s->graph);
    s->relations = s->evidence->base->index->relations;
}

void fusion_setup_close(fusion_setup *s)
{
    kith__evidence_free(s->evidence);
    kith__free(s->log_degree);
    kith_model_free(s->model);
    kith_graph_free(s->graph);
}

static void random_weights(kith__weights *w, kith__rng *rng)
{
    for (int k = 0; k < N_FEATURES; k++) {
        w->all[k] = uniform(rng, -1, 1);
        w->bare[k] = uniform(rng, -1, 1);
        w->unseen[k] = uniform(rng, -1, 1);
    }
}

kith__fusion random_fusion(kith__rng *rng)
{
    static const uint32_t with_own[] = {0, 2, 3, 7};
    kith__fusion f = {.queries = 7,
                      .calibration_queries = 2,
                      .loss = .5f,
                      .regularization = 30,
                      .own_count = 4,
                      .own = kith__calloc(4, sizeof *f.own)};

    random_weights(&f.common, rng);
    for (size_t i = 0; i < 4; i++) {
        f.own[i].query = with_own[i];
        random_weights(&f.own[i].weights, rng);
    }
    return f;
}

void check_same_fusion(const kith__fusion *a, const kith__fusion *b)
{
    kith__fusion x = *a, y = *b;

    x.own = y.own = NULL;
    assert_memory_equal(&x, &y, sizeof x);
    assert_memory_equal(a->own, b->own, a->own_count * sizeof *a->own);
}

size_t test_queries(kith__query **out, const fusion_setup *s)
{
    kith_facts test = kith_graph_facts(s->graph, KITH_TEST);
    size_t count = 0;

    *out = malloc(2 * test.count * sizeof **out);
    for (size_t i = 0; i < test.count; i++)
        for (int hidden = 0; hidden < 2; hidden++)
            (*out)[count++] = (kith__query){test.at[i], hidden};
    return count;
}

bool graph_holds(const kith_graph *graph, const char *s, const char *r, const char *o)
{
    for (int part = 0; part < KITH_SPLITS; part++) {
        kith_facts f = kith_graph_facts(graph, part);
        for (size_t i = 0; i < f.count; i++)
            if ((!f.truth || f.truth[i]) &&
                strcmp(kith_graph_entity_name(graph, f.at[i].subject), s) == 0 &&
                strcmp(kith_graph_relation_name(graph, f.at[i].relation), r) == 0 &&
                strcmp(kith_graph_entity_name(graph, f.at[i].object), o) == 0)
                return true;
    }
    return false;
}

void give_fusion(fusion_setup *s, const kith__fusion *fusion)
{
    kith_error error;
    assert_int_equal(kith__fused_give(s->model, s->evidence, fusion, &some_calibration, &error),
                     KITH_OK);
    s->evidence = NULL;
}

kith_eval *evaluated_setup(fusion_setup *s, const kith_eval_options *options)
{
    kith_eval *result;
    kith_error error;

    if (kith_graph_facts(s->graph, options->split).truth)
        assert_int_equal(kith__classifier_fit(s->model, &error), KITH_OK);
    if (kith_evaluate(&result, s->model, options, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return result;
}
