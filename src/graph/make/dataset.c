/* Data sets with unseen entities: the construction of Wang et al. 2019, for KITH_BOTH that of
 * Hamaguchi et al. 2017. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/options.h"
#include "core/rng.h"
#include "core/stages.h"
#include "graph/graph.h"
#include "graph/make/negatives.h"
#include "graph/triple_set.h"

typedef struct {
    const kith_graph *source;
    const kith_dataset_options *options;
    kith__rng rng;
    kith__facts train, dev, test;  /* the source's true facts, or those held out of train */
    kith__facts split[KITH_SPLITS];  /* the new splits, in the source's ids */
    uint8_t *candidate, *seen, *unseen; /* per source entity */
    kith_dataset_report report;
    kith__watch watch;
} splitting;

static const kith_dataset_options defaults = {
    .strategy = KITH_SUBJECT, .rate = 10, .valid = .05, .test = .10, .seed = 1};

void(kith_dataset_options_init)(kith_dataset_options *options, size_t size)
{
    kith__options_give(options, size, &defaults, sizeof defaults);
}

/* ---- the source's splits ---- */

static int copy_true(kith__facts *to, const kith__facts *from, size_t *untrue)
{
    for (size_t i = 0; i < from->count; i++) {
        if (from->truth && !from->truth[i])
            ++*untrue;
        else if (kith__facts_add(to, from->at[i]))
            return -1;
    }
    return 0;
}

/* Move `wanted` facts to another list, every subset being equally likely; both lists keep the
 * source's order (Knuth, algorithm S). */
static int move_sample(kith__facts *to, kith__facts *from, size_t wanted, kith__rng *rng)
{
    size_t kept = 0, count = from->count;

    for (size_t i = 0; i < count; i++) {
        if (kith__rng_below(rng, count - i) < wanted) {
            if (kith__facts_add(to, from->at[i]))
                return -1;
            wanted--;
        } else {
            from->at[kept++] = from->at[i];
        }
    }
    from->count = kept;
    return 0;
}

static size_t share_of(size_t count, double share)
{
    return (size_t)((double)count * share + .5);
}

static kith_status take_source(splitting *s, kith_error *error)
{
    const kith_graph *g = s->source;
    size_t untrue = 0, all = g->splits[KITH_TRAIN].count;
    size_t test = g->splits[KITH_TEST].count ? 0 : share_of(all, s->options->test);
    size_t dev = g->splits[KITH_DEV].count ? 0 : share_of(all, s->options->valid);

    if (test + dev >= all)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the shares held out for valid and test leave none of the %zu facts to "
                          "train on", all);
    if (copy_true(&s->train, &g->splits[KITH_TRAIN], &untrue) ||
        copy_true(&s->dev, &g->splits[KITH_DEV], &untrue) ||
        copy_true(&s->test, &g->splits[KITH_TEST], &untrue) ||
        move_sample(&s->test, &s->train, test, &s->rng) ||
        move_sample(&s->dev, &s->train, dev, &s->rng))
        return kith__no_memory(error);
    s->report.ignored = untrue + g->splits[KITH_AUX].count;
    return KITH_OK;
}

/* ---- the protocol ---- */

static kith_status sample_test(splitting *s, kith__facts *sampled, kith_error *error)
{
    size_t all = s->test.count;
    size_t wanted = s->options->count ? s->options->count : share_of(all, s->options->rate / 100);

    if (wanted > all)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%zu test facts requested, but the source has only %zu", wanted, all);
    if (wanted == 0)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%g %% of %zu test facts is less than one fact",
                          s->options->rate, all);
    s->report.sampled = wanted;
    return move_sample(sampled, &s->test, wanted, &s->rng) ? kith__no_memory(error)
                                                                   : KITH_OK;
}

static void mark_candidates(splitting *s, const kith__facts *sampled)
{
    for (size_t i = 0; i < sampled->count; i++) {
        if (s->options->strategy != KITH_OBJECT)
            s->candidate[sampled->at[i].subject] = 1;
        if (s->options->strategy != KITH_SUBJECT)
            s->candidate[sampled->at[i].object] = 1;
    }
    for (uint32_t e = 0; e < s->source->entities.count; e++)
        s->report.candidates += s->candidate[e];
}

/* Train keeps the facts without candidates; the entities in them are seen. */
static int make_train(splitting *s)
{
    for (size_t i = 0; i < s->train.count; i++) {
        kith_triple t = s->train.at[i];
        if (s->candidate[t.subject] || s->candidate[t.object])
            continue;
        s->seen[t.subject] = s->seen[t.object] = 1;
        if (kith__facts_add(&s->split[KITH_TRAIN], t))
            return -1;
    }
    return 0;
}

/* Aux keeps the facts that link a candidate to a seen entity; that makes the candidate unseen
 * rather than dropped. */
static int make_aux(splitting *s)
{
    for (size_t i = 0; i < s->train.count; i++) {
        kith_triple t = s->train.at[i];
        uint32_t newcomer;
        if (s->candidate[t.subject] && s->seen[t.object])
            newcomer = t.subject;
        else if (s->candidate[t.object] && s->seen[t.subject])
            newcomer = t.object;
        else
            continue;
        s->report.unseen += !s->unseen[newcomer];
        s->unseen[newcomer] = 1;
        if (kith__facts_add(&s->split[KITH_AUX], t))
            return -1;
    }
    return 0;
}

/* Whether a sampled fact queries unseen entities in the way the strategy wants. */
static bool is_test_fact(const splitting *s, kith_triple t)
{
    switch (s->options->strategy) {
    case KITH_SUBJECT:
        return s->unseen[t.subject] && s->seen[t.object];
    case KITH_OBJECT:
        return s->seen[t.subject] && s->unseen[t.object];
    default:
        return (s->unseen[t.subject] || s->unseen[t.object]) &&
               (s->unseen[t.subject] || s->seen[t.subject]) &&
               (s->unseen[t.object] || s->seen[t.object]);
    }
}

/* Move a fact into a split, unless `known` holds it: a source may have a fact in two splits, a data
 * set must not. */
static int keep_unknown(splitting *s, kith_split split, kith_triple t,
                        const kith__triple_set *known)
{
    if (kith__triple_set_has(known, t)) {
        s->report.known++;
        return 0;
    }
    return kith__facts_add(&s->split[split], t);
}

static int remember(kith__triple_set *known, const kith__facts *facts,
                    const kith__triple_set *queried)
{
    for (size_t i = 0; i < facts->count; i++)
        if (kith__triple_set_has(queried, facts->at[i]) &&
            kith__triple_set_add(known, facts->at[i]) < 0)
            return -1;
    return 0;
}

static kith_status make_dev_and_test(splitting *s, const kith__facts *sampled, kith_error *error)
{
    kith__triple_set queried = {0}, known = {0};
    bool failed = kith__triple_set_init(&queried, sampled->count + s->dev.count) ||
                  kith__triple_set_init(&known, 0);

    /* Of train and aux, only facts that are also in dev or test need to be remembered. */
    for (size_t i = 0; !failed && i < sampled->count; i++)
        failed = kith__triple_set_add(&queried, sampled->at[i]) < 0;
    for (size_t i = 0; !failed && i < s->dev.count; i++)
        failed = kith__triple_set_add(&queried, s->dev.at[i]) < 0;
    failed = failed || remember(&known, &s->split[KITH_TRAIN], &queried) ||
             remember(&known, &s->split[KITH_AUX], &queried);
    for (size_t i = 0; !failed && i < s->dev.count; i++) {
        kith_triple t = s->dev.at[i];
        if (s->seen[t.subject] && s->seen[t.object])
            failed = keep_unknown(s, KITH_DEV, t, &known);
    }
    for (size_t i = 0; !failed && i < sampled->count; i++)
        if (is_test_fact(s, sampled->at[i]))
            failed = keep_unknown(s, KITH_TEST, sampled->at[i], &known);
    kith__triple_set_release(&queried);
    kith__triple_set_release(&known);
    return failed ? kith__no_memory(error) : KITH_OK;
}

/* ---- building the data set ---- */

static kith_status check_options(const kith_dataset_options *o, kith_error *error)
{
    if ((unsigned)o->strategy > KITH_BOTH)
        return kith__fail(error, KITH_ERR_ARGUMENT, "found the strategy %d, expected 0 to %d",
                          (int)o->strategy, KITH_BOTH);
    if (o->count == 0 && !(o->rate > 0 && o->rate <= 100))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the rate is %g %%, expected more than 0 and at most 100", o->rate);
    if (!(o->valid >= 0 && o->test >= 0 && o->valid + o->test < 1))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the shares for valid and test are %g and %g, expected at least 0 and "
                          "together less than 1", o->valid, o->test);
    return KITH_OK;
}

static kith_status add_false_facts(splitting *s, kith_error *error)
{
    const kith__facts *known[] = {&s->source->splits[KITH_TRAIN], &s->source->splits[KITH_DEV],
                                  &s->source->splits[KITH_TEST], &s->source->splits[KITH_AUX]};
    kith__negatives_plan plan = {.strategy = s->options->strategy,
                                 .known = known,
                                 .known_count = 4,
                                 .train = &s->split[KITH_TRAIN],
                                 .aux = &s->split[KITH_AUX],
                                 .unseen = s->unseen,
                                 .entities = s->source->entities.count,
                                 .relations = s->source->relations.count,
                                 .rng = &s->rng,
                                 .watch = &s->watch,
                                 .missing = &s->report.without_false};
    return kith__add_negatives(&s->split[KITH_DEV], &s->split[KITH_TEST], &plan, error);
}

static kith_status give_report(kith_dataset_report **report, const kith_dataset_report *own,
                               kith_error *error)
{
    if (!report)
        return KITH_OK;
    *report = kith__alloc(1, sizeof **report);
    if (!*report)
        return kith__no_memory(error);
    **report = *own;
    return KITH_OK;
}

void kith_dataset_report_free(kith_dataset_report *report)
{
    kith__free(report);
}

/* The steps of the construction, in order. */
static kith_status make_splits(splitting *s, kith__facts *sampled, kith_error *error)
{
    kith_status status;

    TRY(kith__watch_begin(&s->watch, "sampling test facts", 0, error));
    TRY(take_source(s, error));
    TRY(sample_test(s, sampled, error));
    mark_candidates(s, sampled);
    TRY(kith__watch_begin(&s->watch, "taking unseen entities out of train", 0, error));
    if (make_train(s) || make_aux(s))
        TRY(kith__no_memory(error));
    if (s->split[KITH_TRAIN].count == 0)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT,
                       "every training fact touches one of the %zu sampled entities, so none is "
                       "left to train on; sample fewer", s->report.candidates));
    TRY(make_dev_and_test(s, sampled, error));
    if (s->options->labels) {
        TRY(kith__watch_begin(&s->watch, "making false facts", 0, error));
        TRY(add_false_facts(s, error));
    }
cleanup:
    return status;
}

static void splitting_release(splitting *s)
{
    kith__facts_release(&s->train);
    kith__facts_release(&s->dev);
    kith__facts_release(&s->test);
    for (int split = 0; split < KITH_SPLITS; split++)
        kith__facts_release(&s->split[split]);
    kith__free(s->candidate);
    kith__free(s->seen);
    kith__free(s->unseen);
    kith__watch_release(&s->watch);
}

kith_status kith_dataset_make(kith_graph **out, kith_dataset_report **report,
                              const kith_graph *source, const kith_dataset_options *given,
                              kith_error *error)
{
    kith_dataset_options options = defaults;
    splitting s = {.source = source, .options = &options};
    kith__facts sampled = {0};
    kith__pool *pool = NULL;
    kith_graph *graph = NULL;
    kith_status status = kith__options_copy(&options, sizeof options, sizeof options, given, error);

    if (status != KITH_OK)
        return status;
    if (!out || !source)
        return kith__fail(error, KITH_ERR_ARGUMENT, "no graph given to make a data set from");
    kith__watch_init(&s.watch, options.watch, options.context);
    TRY(check_options(&options, error));
    kith__rng_init(&s.rng, options.seed, 0);
    s.candidate = kith__calloc(source->entities.count, 1);
    s.seen = kith__calloc(source->entities.count, 1);
    s.unseen = kith__calloc(source->entities.count, 1);
    pool = kith__pool_new(options.threads);
    if (!s.candidate || !s.seen || !s.unseen || !pool)
        TRY(kith__no_memory(error));
    kith__pool_set_watch(pool, &s.watch);
    TRY(make_splits(&s, &sampled, error));
    TRY(kith__graph_adopt(&graph, source, s.split, pool, error));
    s.report.dropped = source->entities.count - graph->entities.count;
    TRY(give_report(report, &s.report, error));
    *out = graph;
    graph = NULL;
cleanup:
    kith_graph_free(graph);
    kith__pool_free(pool);
    kith__facts_release(&sampled);
    splitting_release(&s);
    return status;
}
