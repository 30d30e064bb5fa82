/* Link prediction and triplet classification over a split. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "core/files.h"
#include "core/lists.h"
#include "core/mem.h"
#include "core/numbers.h"
#include "core/options.h"
#include "core/rng.h"
#include "eval/rank.h"
#include "model/classify.h"
#include "model/entity_encoder.h"
#include "model/metrics.h"

enum { RELATION_KINDS = 4, FACT_BUCKETS = 7 };

/* The caller's result, and the arrays it points to. */
typedef struct {
    kith_eval shown;
    kith_metrics realistic, optimistic, pessimistic, linked, not_linked;
    kith_metrics by_kind[RELATION_KINDS], by_facts[FACT_BUCKETS], by_known[FACT_BUCKETS];
    kith_reliability reliability[KITH__RELIABILITY_BINS];
    const kith_metrics *kinds[RELATION_KINDS], *facts[FACT_BUCKETS], *known[FACT_BUCKETS];
    const kith_reliability *bins[KITH__RELIABILITY_BINS];
    kith__ranked **ranks; /* a list */
} evaluation;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *kith_eval_kind_name(int kind)
{
    static const char *const names[RELATION_KINDS] = {"1-1", "1-N", "N-1", "N-N"};
    return kind >= 0 && kind < RELATION_KINDS ? names[kind] : NULL;
}

const char *kith_eval_bucket_name(int bucket)
{
    static const char *const names[FACT_BUCKETS] = {"0", "1", "2", "3-5", "6-10", "11-50", "51+"};
    return bucket >= 0 && bucket < FACT_BUCKETS ? names[bucket] : NULL;
}

static int bucket_of(uint64_t facts)
{
    static const uint64_t most[] = {0, 1, 2, 5, 10, 50};
    for (int i = 0; i < FACT_BUCKETS - 1; i++)
        if (facts <= most[i])
            return i;
    return FACT_BUCKETS - 1;
}

/* ---- metrics ---- */

/* Kinds of relations as in Bordes et al. 2013: a side is "N" if it has 1.5 or more entities on
 * average for each entity on the other. */
static kith_status find_kinds(uint8_t **out, const kith_graph *graph, kith_error *error)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    uint32_t m = kith_graph_seen_relation_count(graph);
    kith__item *items = kith__alloc(train.count, sizeof *items);
    kith__item *spare = kith__alloc(train.count, sizeof *spare);
    /* numbers of facts, distinct subjects, distinct objects */
    size_t *count = kith__calloc(3 * (size_t)m, sizeof *count);
    uint8_t *kinds = kith__calloc(m, 1);
    kith_status status = KITH_OK;

    if (!items || !spare || !count || !kinds)
        TRY(kith__no_memory(error));
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < train.count; i++)
            items[i] = (kith__item){train.at[i].relation,
                                    side ? train.at[i].object : train.at[i].subject, 0};
        kith__radix_sort(items, spare, train.count, m, kith_graph_entity_count(graph));
        for (size_t i = 0; i < train.count; i++)
            count[(size_t)(1 + side) * m + items[i].major] +=
                i == 0 || items[i].major != items[i - 1].major ||
                items[i].minor != items[i - 1].minor;
    }
    for (size_t i = 0; i < train.count; i++)
        count[train.at[i].relation]++;
    for (uint32_t r = 0; r < m; r++) {
        double facts = (double)count[r];
        bool many_objects = facts / (double)count[m + r] >= 1.5;
        bool many_subjects = facts / (double)count[2 * (size_t)m + r] >= 1.5;
        kinds[r] = (uint8_t)(2 * many_subjects + many_objects);
    }
    *out = kinds;
    kinds = NULL;
cleanup:
    kith__free(items);
    kith__free(spare);
    kith__free(count);
    kith__free(kinds);
    return status;
}

/* Look up the known side of a query: whether some fact links it to the hidden side, and how many
 * answers are known. */
static void look_around(bool *direct, uint64_t *known, const kith_graph *graph, const kith_rank *r)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    uint32_t s = r->subject_hidden ? r->fact.object : r->fact.subject;
    uint32_t hidden = r->subject_hidden ? r->fact.subject : r->fact.object;
    uint32_t relation =
        r->fact.relation + (r->subject_hidden ? kith_graph_relation_count(graph) : 0);

    *direct = false;
    *known = 0;
    for (uint64_t i = hood.offset[s]; i < hood.offset[s + 1]; i++) {
        *direct |= hood.at[i].entity == hidden;
        *known += hood.at[i].relation == relation;
    }
}

static void add_judged(kith_reliability *table, const kith_rank *r)
{
    for (size_t i = 0; i < r->answer_count; i++)
        kith__reliability_add(table, r->answers[i]->probability_if_one, r->answers[i]->correct);
}

/* Whether the embedding can encode an entity of the graph. */
static bool leads_to_seen(const kith_model *model, uint32_t entity)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(model->graph);
    const kith__view known = {.base = kith__model_facts(model)};

    if (!known.base || hood.offset[entity + 1] > hood.offset[entity])
        return hood.offset[entity + 1] > hood.offset[entity];
    return kith__leads_to_seen(&known, kith__facts_of(known.base, entity),
                              kith_graph_seen_entity_count(model->graph));
}

static kith_status sum_up(evaluation *result, const kith_model *model, kith_error *error)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(model->graph);
    size_t count = result->shown.rank_count;
    uint8_t *kinds;
    kith_status status = find_kinds(&kinds, model->graph, error);

    if (status != KITH_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        kith_rank *r = &result->ranks[i]->shown;
        uint32_t known = r->subject_hidden ? r->fact.object : r->fact.subject;
        uint64_t facts = hood.offset[known + 1] - hood.offset[known];
        r->kind = kinds[r->fact.relation];
        r->facts = bucket_of(facts);
        kith__metrics_add(&result->realistic, r->realistic);
        kith__metrics_add(&result->optimistic, r->optimistic);
        kith__metrics_add(&result->pessimistic, r->pessimistic);
        kith__metrics_add(&result->by_kind[r->kind], r->realistic);
        kith__metrics_add(&result->by_facts[r->facts], r->realistic);
        result->shown.no_neighbors += facts == 0 && !leads_to_seen(model, known);
        bool direct;
        uint64_t answers;
        look_around(&direct, &answers, model->graph, r);
        kith__metrics_add(direct ? &result->linked : &result->not_linked, r->realistic);
        kith__metrics_add(&result->by_known[bucket_of(answers)], r->realistic);
        add_judged(result->reliability, r);
    }
    kith__metrics_finish(&result->realistic);
    kith__metrics_finish(&result->optimistic);
    kith__metrics_finish(&result->pessimistic);
    for (int i = 0; i < RELATION_KINDS; i++)
        kith__metrics_finish(&result->by_kind[i]);
    for (int i = 0; i < FACT_BUCKETS; i++)
        kith__metrics_finish(&result->by_facts[i]);
    for (int i = 0; i < FACT_BUCKETS; i++)
        kith__metrics_finish(&result->by_known[i]);
    kith__metrics_finish(&result->linked);
    kith__metrics_finish(&result->not_linked);
    result->shown.calibration_error = kith__reliability_finish(result->reliability);
    kith__free(kinds);
    return KITH_OK;
}

/* ---- queries ---- */

/* The usable facts, or a random sample of them, in file order. */
static kith_status choose_facts(kith_triple **out, int8_t **truth, size_t *count, kith_eval *result,
                                const kith_model *model, const kith_eval_options *options,
                                kith_error *error)
{
    kith_facts facts = kith_graph_facts(model->graph, options->split);
    uint32_t m = kith_graph_seen_relation_count(model->graph);
    size_t usable = 0, wanted;
    kith__rng rng;

    *out = kith__alloc(facts.count, sizeof **out);
    *truth = kith__alloc(facts.count, 1);
    if (!*out || !*truth)
        return kith__no_memory(error);
    for (size_t i = 0; i < facts.count; i++) {
        if (facts.at[i].relation >= m)
            continue;
        (*truth)[usable] = facts.truth ? facts.truth[i] : 1;
        (*out)[usable++] = facts.at[i];
    }
    result->facts = facts.count;
    result->unusable = facts.count - usable;
    wanted = options->sample && options->sample < usable ? options->sample : usable;
    kith__rng_init(&rng, options->seed, UINT64_C(1) << 42);
    *count = 0;
    for (size_t i = 0; i < usable; i++)
        if (kith__rng_below(&rng, usable - i) < wanted - *count) {
            (*truth)[*count] = (*truth)[i];
            (*out)[(*count)++] = (*out)[i];
        }
    return KITH_OK;
}

/* Keep the queries whose hidden side is a candidate; returns how many. */
static size_t with_candidates(kith__query *queries, size_t count, const kith__answer_set *among)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (kith__is_candidate(among, kith__hidden_side(&queries[i])))
            queries[kept++] = queries[i];
    return kept;
}

static kith_status reserve_ranks(evaluation *e, size_t count, kith_error *error)
{
    e->ranks = kith__list_new(count, sizeof **e->ranks);
    e->shown.rank_count = e->ranks ? count : 0;
    e->shown.ranks = (const kith_rank *const *)e->ranks;
    return e->ranks ? KITH_OK : kith__no_memory(error);
}

static kith_status rank_split(evaluation *e, kith_model *model, const kith_triple *facts,
                              size_t count, const kith_eval_options *options, kith_error *error)
{
    kith_candidate_set which = options->candidates;
    kith__query *queries = kith__alloc(2 * count, sizeof *queries);
    kith__answer_set among = {0};
    kith_status status = KITH_OK;

    if (!queries)
        TRY(kith__no_memory(error));
    TRY(kith__answer_set_init(&among, model, model->fused ? model->fused->evidence : NULL,
                              which == KITH_ANSWERS_USUAL ? KITH_ANSWERS_SEEN : which, error));
    size_t made = with_candidates(
        queries,
        kith__queries_of(queries, facts, count, model->settings.predict, (uint32_t)among.width),
        &among);
    size_t sides = model->settings.predict == KITH_PREDICT_BOTH ? 2 : 1;
    e->shown.no_candidate = sides * count - made;
    TRY(reserve_ranks(e, made, error));
    double began = now();
    TRY(kith__watch_begin(kith__pool_watch(model->pool), "ranking", made, error));
    if (made > 0)
        TRY(kith__rank_all(e->ranks[0], model, queries, made, &among, options, error));
    e->shown.seconds = now() - began;
    TRY(sum_up(e, model, error));
cleanup:
    kith__answer_set_release(&among);
    kith__free(queries);
    return status;
}

/* The group of each classified fact, and how many are correct. */
static kith_status sum_up_classified(evaluation *e, const kith_model *model, kith_error *error)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(model->graph);
    size_t count = e->shown.rank_count, right = 0;
    uint8_t *kinds;
    kith_status status = find_kinds(&kinds, model->graph, error);

    if (status != KITH_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        kith_rank *r = &e->ranks[i]->shown;
        uint32_t s = r->fact.subject, o = r->fact.object;
        uint64_t of_subject = hood.offset[s + 1] - hood.offset[s];
        uint64_t of_object = hood.offset[o + 1] - hood.offset[o];
        r->kind = kinds[r->fact.relation];
        r->facts = bucket_of(of_subject < of_object ? of_subject : of_object);
        right += r->correct != 0;
        e->shown.no_neighbors += !leads_to_seen(model, s) || !leads_to_seen(model, o);
    }
    e->shown.accuracy = count ? (double)right / (double)count : 0;
    e->realistic.queries = count;
    kith__free(kinds);
    return KITH_OK;
}

static kith_status classify_split(evaluation *e, kith_model *model, const kith_triple *facts,
                                  const int8_t *truth, size_t count, unsigned without,
                                  kith_error *error)
{
    bool *correct = kith__alloc(count, sizeof *correct);
    double began = now();
    kith_status status = KITH_OK;

    if (!correct)
        TRY(kith__no_memory(error));
    TRY(reserve_ranks(e, count, error));
    TRY(kith__watch_begin(kith__pool_watch(model->pool), "classifying", 0, error));
    if (count > 0)
        TRY(kith__classify(correct, model, facts, truth, count, without, error));
    for (size_t i = 0; i < count; i++)
        e->ranks[i]->shown = (kith_rank){.fact = facts[i], .correct = correct[i]};
    e->shown.seconds = now() - began;
    TRY(sum_up_classified(e, model, error));
cleanup:
    kith__free(correct);
    return status;
}

static kith_status check_without(const kith_model *model, unsigned without, kith_error *error)
{
    if (without && !model->fused)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the run has no rules, so no part of the evidence can be left out");
    if (kith__existing_parts(without) == kith__existing_parts(KITH_PART_ALL))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "all evidence is left out, expected some to remain");
    if (without & ~(unsigned)KITH_PART_ALL)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the evidence has no part %u that can be left out", without);
    return KITH_OK;
}

static kith_status check_options(const kith_model *model, const kith_eval_options *options,
                                 kith_error *error)
{
    static const char *const names[KITH_SPLITS] = {"train", "dev", "test", "aux"};
    kith_status status;

    TRY(check_without(model, options->without, error));
    if ((unsigned)options->split >= KITH_SPLITS)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT,
                       "there is no split %d, expected dev or test",
                       (int)options->split));
    if (kith_graph_facts(model->graph, options->split).count == 0)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the graph has no %s facts to evaluate on",
                       names[options->split]));
cleanup:
    return status;
}

static void make_lists(evaluation *e)
{
    kith_eval *shown = &e->shown;

    for (int i = 0; i < RELATION_KINDS; i++)
        e->kinds[i] = &e->by_kind[i];
    for (int i = 0; i < FACT_BUCKETS; i++) {
        e->facts[i] = &e->by_facts[i];
        e->known[i] = &e->by_known[i];
    }
    for (int i = 0; i < KITH__RELIABILITY_BINS; i++)
        e->bins[i] = &e->reliability[i];
    shown->realistic = &e->realistic;
    shown->optimistic = &e->optimistic;
    shown->pessimistic = &e->pessimistic;
    shown->linked = &e->linked;
    shown->not_linked = &e->not_linked;
    shown->by_kind = e->kinds;
    shown->by_facts = e->facts;
    shown->by_known = e->known;
    shown->reliability = e->bins;
    shown->kind_count = RELATION_KINDS;
    shown->bucket_count = FACT_BUCKETS;
    shown->reliability_count = KITH__RELIABILITY_BINS;
}

static kith_status evaluate(kith_eval **out, kith_model *model, const kith_eval_options *options,
                            kith_error *error)
{
    evaluation *e = kith__calloc(1, sizeof *e);
    kith_triple *chosen = NULL;
    int8_t *truth = NULL;
    size_t count = 0;
    kith_status status = e ? KITH_OK : kith__no_memory(error);

    TRY(status);
    TRY(check_options(model, options, error));
    e->shown.classification = kith_graph_facts(model->graph, options->split).truth != NULL;
    TRY(choose_facts(&chosen, &truth, &count, &e->shown, model, options, error));
    TRY(e->shown.classification
            ? classify_split(e, model, chosen, truth, count, options->without, error)
            : rank_split(e, model, chosen, count, options, error));
    make_lists(e);
    *out = &e->shown;
    e = NULL;
cleanup:
    kith__free(chosen);
    kith__free(truth);
    kith_eval_free(e ? &e->shown : NULL);
    return status;
}

void(kith_eval_options_init)(kith_eval_options *options, size_t size)
{
    const kith_eval_options defaults = {.split = KITH_TEST};
    kith__options_give(options, size, &defaults, sizeof defaults);
}

/* Ranking uses the model's own threads and encoder, so only one evaluation runs at a time. */
kith_status kith_evaluate(kith_eval **out, const kith_model *shown, const kith_eval_options *given,
                          kith_error *error)
{
    if (!out || !shown)
        return kith__null_argument(error, __func__);

    kith_model *model = (kith_model *)shown;
    kith_eval_options options;
    kith__watch watch;

    kith_eval_options_init(&options);
    kith_status status = kith__options_copy(&options, sizeof options, sizeof options, given, error);
    if (status != KITH_OK)
        return status;
    kith__watch_init(&watch, options.watch, options.context);
    pthread_mutex_lock(&model->sweeping);
    kith__watch *before = kith__pool_watch(model->pool);
    if (options.watch)
        kith__pool_set_watch(model->pool, &watch);
    status = evaluate(out, model, &options, error);
    kith__pool_set_watch(model->pool, before);
    pthread_mutex_unlock(&model->sweeping);
    kith__watch_release(&watch);
    return status;
}

/* If the graph lacks an id, the result belongs to another graph. */
static kith_status check_names(const kith_eval *result, const kith_graph *graph, kith_error *error)
{
    uint32_t entities = kith_graph_entity_count(graph);
    uint32_t relations = kith_graph_relation_count(graph);

    if (result->rank_count > 0 && !result->ranks)
        return kith__fail(error, KITH_ERR_ARGUMENT, "the result has %zu queries and no ranks",
                          result->rank_count);
    for (size_t i = 0; i < result->rank_count; i++) {
        kith_triple t = result->ranks[i]->fact;
        if (t.subject >= entities || t.object >= entities || t.relation >= relations)
            return kith__fail(error, KITH_ERR_ARGUMENT,
                              "the ranks are of another graph: it has no fact %u, %u, %u",
                              t.subject, t.relation, t.object);
    }
    return KITH_OK;
}

static void write_rank(FILE *out, const kith_rank *r, const kith_graph *graph)
{
    fprintf(out, "%s\t%s\t%s\t%s\t%u\t%u\t%.1f\t%u\n",
            kith_graph_entity_name(graph, r->fact.subject),
            kith_graph_relation_name(graph, r->fact.relation),
            kith_graph_entity_name(graph, r->fact.object), r->subject_hidden ? "subject" : "object",
            r->optimistic, r->pessimistic, r->realistic, r->candidates);
}

static void write_verdict(FILE *out, const kith_rank *r, const kith_graph *graph)
{
    fprintf(out, "%s\t%s\t%s\t%d\n", kith_graph_entity_name(graph, r->fact.subject),
            kith_graph_relation_name(graph, r->fact.relation),
            kith_graph_entity_name(graph, r->fact.object), r->correct != 0);
}

static kith_status write_ranks(FILE *out, const kith_eval *result, const kith_graph *graph,
                               kith__watch *watch, kith_error *error)
{
    size_t count = result->rank_count;
    locale_t before;
    kith_status status = kith__watch_begin(watch, "writing ranks", count, error);

    if (status != KITH_OK)
        return status;
    fputs(
        result->classification
            ? "subject\trelation\tobject\tcorrect\n"
            : "subject\trelation\tobject\thidden\toptimistic\tpessimistic\trealistic\tcandidates\n",
        out);
    before = kith__plain_numbers();
    for (size_t i = 0; i < count && !kith__watch_add(watch, 1); i++)
        (result->classification ? write_verdict : write_rank)(out, result->ranks[i], graph);
    kith__usual_numbers(before);
    return kith__watch_status(watch, error);
}

kith_status kith_eval_write_ranks(const kith_eval *result, const kith_graph *graph,
                                  const char *path, const kith_work_options *given,
                                  kith_error *error)
{
    if (!result || !graph || !path)
        return kith__null_argument(error, __func__);

    kith_work_options options = {0};
    kith__new_file file = {0};
    kith__watch watch;
    kith_status status = kith__options_copy(&options, sizeof options, sizeof options, given, error);

    kith__watch_init(&watch, options.watch, options.context);
    TRY(status);
    TRY(check_names(result, graph, error));
    TRY(kith__new_file_open(&file, path, error));
    TRY(write_ranks(file.stream, result, graph, &watch, error));
    TRY(kith__new_file_commit(&file, error));
cleanup:
    kith__new_file_abandon(&file);
    kith__watch_release(&watch);
    return status;
}

void kith_eval_free(kith_eval *result)
{
    if (result)
        kith__list_free(((evaluation *)result)->ranks);
    kith__free(result);
}
