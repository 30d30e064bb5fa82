/* Link prediction and triplet classification over a split. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "core/files.h"
#include "core/mem.h"
#include "core/numbers.h"
#include "core/options.h"
#include "core/rng.h"
#include "model/classify.h"
#include "eval/rank.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *kith_eval_kind_name(int kind)
{
    static const char *const names[KITH_RELATION_KINDS] = {"1-1", "1-N", "N-1", "N-N"};
    return kind >= 0 && kind < KITH_RELATION_KINDS ? names[kind] : NULL;
}

const char *kith_eval_bucket_name(int bucket)
{
    static const char *const names[KITH_FACT_BUCKETS] = {"0",    "1",     "2",   "3-5",
                                                         "6-10", "11-50", "51+"};
    return bucket >= 0 && bucket < KITH_FACT_BUCKETS ? names[bucket] : NULL;
}

static int bucket_of(uint64_t facts)
{
    static const uint64_t most[] = {0, 1, 2, 5, 10, 50};
    for (int i = 0; i < KITH_FACT_BUCKETS - 1; i++)
        if (facts <= most[i])
            return i;
    return KITH_FACT_BUCKETS - 1;
}

/* ---- metrics ---- */

static void add_rank(kith_metrics *m, double rank)
{
    m->queries++;
    m->mr += rank;
    m->mrr += 1 / rank;
    m->hits1 += rank <= 1;
    m->hits3 += rank <= 3;
    m->hits10 += rank <= 10;
}

static void divide(kith_metrics *m)
{
    double n = m->queries ? (double)m->queries : 1;
    m->mr /= n;
    m->mrr /= n;
    m->hits1 /= n;
    m->hits3 /= n;
    m->hits10 /= n;
}

/* Kinds of relations as Bordes et al. 2013 have them: "N" where a side has 1.5 entities or more on
 * average for each entity on the other. */
static kith_status find_kinds(uint8_t **out, const kith_graph *graph, kith_error *error)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    uint32_t m = kith_graph_seen_relation_count(graph);
    kith__item *items = kith__alloc(train.count, sizeof *items);
    kith__item *spare = kith__alloc(train.count, sizeof *spare);
    size_t *count = kith__calloc(3 * (size_t)m, sizeof *count); /* facts, subjects, objects */
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

/* What the neighbourhood of the known side says of a query: whether some fact links it to the hidden
 * one, and how many answers are known. */
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
    for (uint32_t i = 0; i < r->judgements; i++) {
        if (isnan(r->judged[i].probability))
            continue;
        int row = (int)(r->judged[i].probability * KITH_RELIABILITY);
        kith_reliability *to = &table[row < KITH_RELIABILITY ? row : KITH_RELIABILITY - 1];
        to->answers++;
        to->probability += r->judged[i].probability;
        to->right += r->judged[i].right;
    }
}

/* Means, and the expected calibration error (Naeini et al. 2015). */
static double sum_up_reliability(kith_reliability *table)
{
    double error = 0, answers = 0;

    for (int i = 0; i < KITH_RELIABILITY; i++) {
        double n = (double)table[i].answers;
        error += fabs(table[i].probability - table[i].right);
        answers += n;
        table[i].probability /= n > 0 ? n : 1;
        table[i].right /= n > 0 ? n : 1;
    }
    return answers > 0 ? error / answers : -1;
}

static kith_status sum_up(kith_eval *result, const kith_model *model, kith_error *error)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(model->graph);
    size_t count = result->realistic.queries;
    uint8_t *kinds;
    kith_status status = find_kinds(&kinds, model->graph, error);

    if (status != KITH_OK)
        return status;
    result->realistic.queries = 0;
    for (size_t i = 0; i < count; i++) {
        kith_rank *r = &result->ranks[i];
        uint32_t known = r->subject_hidden ? r->fact.object : r->fact.subject;
        uint64_t facts = hood.offset[known + 1] - hood.offset[known];
        r->kind = kinds[r->fact.relation];
        r->facts = bucket_of(facts);
        add_rank(&result->realistic, r->realistic);
        add_rank(&result->optimistic, r->optimistic);
        add_rank(&result->pessimistic, r->pessimistic);
        add_rank(&result->by_kind[r->kind], r->realistic);
        add_rank(&result->by_facts[r->facts], r->realistic);
        result->no_neighbors += facts == 0;
        bool direct;
        uint64_t answers;
        look_around(&direct, &answers, model->graph, r);
        add_rank(&result->by_direct[direct], r->realistic);
        add_rank(&result->by_known[bucket_of(answers)], r->realistic);
        add_judged(result->reliability, r);
    }
    divide(&result->realistic);
    divide(&result->optimistic);
    divide(&result->pessimistic);
    for (int i = 0; i < KITH_RELATION_KINDS; i++)
        divide(&result->by_kind[i]);
    for (int i = 0; i < KITH_FACT_BUCKETS; i++)
        divide(&result->by_facts[i]);
    for (int i = 0; i < KITH_FACT_BUCKETS; i++)
        divide(&result->by_known[i]);
    divide(&result->by_direct[0]);
    divide(&result->by_direct[1]);
    result->calibration_error = sum_up_reliability(result->reliability);
    kith__free(kinds);
    return KITH_OK;
}

/* ---- queries ---- */

/* The facts to look at: usable ones, or a random choice of them, in the order of the file. */
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

/* Of the queries, those that hide a candidate; returns how many. */
static size_t with_candidates(kith__query *queries, size_t count, const kith__answer_set *among)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (kith__is_candidate(among, kith__hidden_side(&queries[i])))
            queries[kept++] = queries[i];
    return kept;
}

static kith_status rank_part(kith_eval *result, kith_model *model, const kith_triple *facts,
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
    result->no_candidate = sides * count - made;
    result->ranks = kith__alloc(made, sizeof *result->ranks);
    if (!result->ranks)
        TRY(kith__no_memory(error));
    double began = now();
    TRY(kith__rank_all(result->ranks, model, queries, made, &among, options, error));
    result->seconds = now() - began;
    result->realistic.queries = made;
    TRY(sum_up(result, model, error));
cleanup:
    kith__answer_set_release(&among);
    kith__free(queries);
    return status;
}

/* The group that each classified fact belongs to. */
static kith_status group_verdicts(kith_eval *result, const kith_model *model, kith_error *error)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(model->graph);
    uint8_t *kinds;
    kith_status status = find_kinds(&kinds, model->graph, error);

    for (size_t i = 0; status == KITH_OK && i < result->realistic.queries; i++) {
        kith_rank *r = &result->ranks[i];
        uint32_t s = r->fact.subject, o = r->fact.object;
        uint64_t of_subject = hood.offset[s + 1] - hood.offset[s];
        uint64_t of_object = hood.offset[o + 1] - hood.offset[o];
        r->kind = kinds[r->fact.relation];
        r->facts = bucket_of(of_subject < of_object ? of_subject : of_object);
    }
    if (status == KITH_OK)
        kith__free(kinds);
    return status;
}

static kith_status check_without(const kith_model *model, unsigned without, kith_error *error)
{
    if (without && !model->fused)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the run has no rules, so there is nothing that can be left out");
    if (without == KITH_PART_ALL)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "all evidence is left out, expected some to stay");
    if (without & ~(unsigned)KITH_PART_ALL)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the evidence has no part %u that can be left out", without);
    return KITH_OK;
}

static kith_status evaluate(kith_eval *out, kith_model *model, const kith_eval_options *options,
                          kith_error *error)
{
    static const char *const names[KITH_SPLITS] = {"train", "dev", "test", "aux"};
    kith_facts facts = {0};
    kith_eval result = {0};
    kith_triple *chosen = NULL;
    int8_t *truth = NULL;
    size_t count = 0;
    kith_status status = check_without(model, options->without, error);

    TRY(status);
    if ((unsigned)options->split >= KITH_SPLITS)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT,
                       "there is no split %d, expected train, dev, test or aux",
                       (int)options->split));
    facts = kith_graph_facts(model->graph, options->split);
    result.classification = facts.truth != NULL;
    if (facts.count == 0)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "the run has no %s facts to evaluate on",
                       names[options->split]));
    TRY(choose_facts(&chosen, &truth, &count, &result, model, options, error));
    if (result.classification) {
        double began = now();
        TRY(kith__classify(&result, model, chosen, truth, count, options->without, error));
        result.seconds = now() - began;
        TRY(group_verdicts(&result, model, error));
    } else {
        TRY(rank_part(&result, model, chosen, count, options, error));
    }
    *out = result;
    result.ranks = NULL;
cleanup:
    kith__free(chosen);
    kith__free(truth);
    kith__free(result.ranks);
    return status;
}

void(kith_eval_options_init)(kith_eval_options *options, size_t size)
{
    const kith_eval_options defaults = {0};
    kith__options_give(options, size, &defaults, sizeof defaults);
}

/* Ranking uses the model's own threads and encoder, so evaluations take turns. */
kith_status kith_evaluate(kith_eval *out, const kith_model *shown,
                          const kith_eval_options *options, kith_error *error)
{
    if (!out || !shown || !options)
        return kith__null_argument(error, __func__);

    kith_model *model = (kith_model *)shown;
    kith_eval_options used = {0};
    kith_status status =
        kith__options_copy(&used, sizeof used, sizeof used, options, error);

    if (status != KITH_OK)
        return status;
    pthread_mutex_lock(&model->sweeping);
    status = evaluate(out, model, &used, error);
    pthread_mutex_unlock(&model->sweeping);
    return status;
}

/* Ids that the graph lacks are another's. */
static kith_status check_names(const kith_eval *result, const kith_graph *graph, kith_error *error)
{
    uint32_t entities = kith_graph_entity_count(graph);
    uint32_t relations = kith_graph_relation_count(graph);

    if (!result->classification && result->realistic.queries > 0 && !result->ranks)
        return kith__fail(error, KITH_ERR_ARGUMENT, "the result has %zu queries and no ranks",
                          result->realistic.queries);
    for (size_t i = 0; result->ranks && i < result->realistic.queries; i++) {
        kith_triple t = result->ranks[i].fact;
        if (t.subject >= entities || t.object >= entities || t.relation >= relations)
            return kith__fail(error, KITH_ERR_ARGUMENT,
                              "the ranks are of another graph: it has no fact %u, %u, %u",
                              t.subject, t.relation, t.object);
    }
    return KITH_OK;
}

kith_status kith_eval_write_ranks(const kith_eval *result, const kith_graph *graph,
                                  const char *path, kith_error *error)
{
    if (!result || !graph || !path)
        return kith__null_argument(error, __func__);

    kith__new_file file;
    kith_status status = check_names(result, graph, error);

    if (status == KITH_OK)
        status = kith__new_file_open(&file, path, error);
    if (status != KITH_OK)
        return status;
    fputs("subject\trelation\tobject\thidden\toptimistic\tpessimistic\trealistic\tcandidates\n",
          file.stream);
    locale_t before = kith__plain_numbers();
    for (size_t i = 0; !result->classification && i < result->realistic.queries; i++) {
        const kith_rank *r = &result->ranks[i];
        fprintf(file.stream, "%s\t%s\t%s\t%s\t%u\t%u\t%.1f\t%u\n",
                kith_graph_entity_name(graph, r->fact.subject),
                kith_graph_relation_name(graph, r->fact.relation),
                kith_graph_entity_name(graph, r->fact.object),
                r->subject_hidden ? "subject" : "object", r->optimistic, r->pessimistic,
                r->realistic, r->candidates);
    }
    kith__usual_numbers(before);
    return kith__new_file_commit(&file, error);
}

void kith_eval_release(kith_eval *result)
{
    if (!result)
        return;
    kith__free(result->ranks);
    result->ranks = NULL;
}
