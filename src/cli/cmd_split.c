#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"

typedef struct {
    common_arguments common;
    const char *folder;
    int strategy, labels, ids, force;
    uint64_t count;
    double rate, valid, test; /* NAN if not given */
} arguments;

#define STRATEGIES "subject|object|both"
static const char *const strategies[] = {"subject", "object", "both"};

static kith_dataset_options dataset_options(const arguments *a)
{
    kith_dataset_options o;

    kith_dataset_options_init(&o);
    o.strategy = (kith_strategy)a->strategy;
    o.count = (size_t)a->count;
    o.seed = a->common.seed;
    o.labels = a->labels;
    o.watch = show_stage;
    o.context = watching(&a->common);
    o.threads = a->common.threads;
    o.rate = isnan(a->rate) ? o.rate : a->rate;
    o.valid = isnan(a->valid) ? o.valid : a->valid;
    o.test = isnan(a->test) ? o.test : a->test;
    return o;
}

/* The content of split.json and of --json. */
static json_t *split_json(const arguments *a, const kith_dataset_report *r, const kith_graph *graph)
{
    const kith_dataset_options o = dataset_options(a);
    json_t *object =
        json_pack("{ss ss sI sb}", "kith", kith_version(), "strategy", strategies[o.strategy],
                  "seed", (json_int_t)o.seed, "labels", o.labels);

    if (!object)
        return NULL;
    if (o.count)
        json_object_set_new(object, "count", json_integer((json_int_t)o.count));
    else
        json_object_set_new(object, "rate", json_real(o.rate));
    json_object_update_new(
        object, json_pack("{sI sI sI sI sI sI sI sI sI so}", "relations",
                          (json_int_t)kith_graph_seen_relation_count(graph), "seen_entities",
                          (json_int_t)kith_graph_seen_entity_count(graph), "sampled_facts",
                          (json_int_t)r->sampled, "candidates", (json_int_t)r->candidates,
                          "unseen_entities", (json_int_t)r->unseen, "dropped_entities",
                          (json_int_t)r->dropped, "already_known", (json_int_t)r->known,
                          "without_false", (json_int_t)r->without_false, "ignored_facts",
                          (json_int_t)r->ignored, "facts", facts_json(graph)));
    return object;
}

static void print_split(const arguments *a, const kith_dataset_report *r, const kith_graph *graph)
{
    char b[8][GROUPED];

    say("%s: from %s\n\n", a->folder, a->common.operand);
    say("  %12s test facts sampled, %s candidates to be unseen\n", grouped(b[0], r->sampled),
        grouped(b[1], r->candidates));
    say("  %12s of them are unseen entities now; the others have no seen neighbour\n",
        grouped(b[2], r->unseen));
    say("  %12s source entities dropped\n", grouped(b[3], r->dropped));
    if (r->known > 0)
        say("  %12s dev and test facts dropped because train or aux holds them\n",
            grouped(b[0], r->known));
    if (r->ignored > 0)
        say("  %12s source facts ignored (aux, and facts labelled false)\n",
            grouped(b[0], r->ignored));
    if (r->without_false > 0)
        say("  %12s true facts without a false counterpart\n", grouped(b[0], r->without_false));
    say("\n  train %s, dev %s, test %s, aux %s facts\n",
        grouped(b[4], kith_graph_facts(graph, KITH_TRAIN).count),
        grouped(b[5], kith_graph_facts(graph, KITH_DEV).count),
        grouped(b[6], kith_graph_facts(graph, KITH_TEST).count),
        grouped(b[7], kith_graph_facts(graph, KITH_AUX).count));
}

/* A share that would have no effect is an error, because the user expects one. */
static kith_status check_shares(const arguments *a, const kith_graph *source, kith_error *error)
{
    bool dev = !isnan(a->valid) && kith_graph_facts(source, KITH_DEV).count > 0;
    bool test = !isnan(a->test) && kith_graph_facts(source, KITH_TEST).count > 0;

    if (!dev && !test)
        return KITH_OK;
    snprintf(error->message, sizeof error->message,
             "%s has its own %s facts, so none are held out: omit --%s", a->common.operand,
             dev ? "dev" : "test", dev ? "valid" : "test");
    return error->status = KITH_ERR_ARGUMENT;
}

static kith_status split_and_save(json_t **report, const arguments *a, kith_error *error)
{
    kith_graph *source = NULL, *graph = NULL;
    kith_dataset_report *r = NULL;
    const kith_dataset_options options = dataset_options(a);
    kith_save_options save = {.ids = a->ids,
                              .replace = a->force,
                              .watch = show_stage,
                              .context = watching(&a->common)};
    char *text = NULL;
    kith_status status = open_source(&source, a->common.operand, &a->common, error);

    if (status == KITH_OK)
        status = check_shares(a, source, error);
    if (status == KITH_OK)
        status = kith_dataset_make(&graph, &r, source, &options, error);
    if (status == KITH_OK) {
        *report = split_json(a, r, graph);
        text = *report ? json_dumps(*report, JSON_INDENT(2)) : NULL;
        save.note = text;
        if (!text || !json_is_whole())
            *error = (kith_error){KITH_ERR_MEMORY, "out of memory"};
        status = text && json_is_whole() ? kith_graph_save(graph, a->folder, &save, error)
                                         : KITH_ERR_MEMORY;
    }
    if (status == KITH_OK && !a->common.json)
        print_split(a, r, graph);
    free(text);
    kith_dataset_report_free(r);
    kith_graph_free(graph);
    kith_graph_free(source);
    return status;
}

static int run(const command *self, void *given)
{
    const arguments *a = given;
    kith_error error;
    json_t *report = NULL;

    if (!isnan(a->rate) && a->count > 0)
        return usage_error(self, "found both --rate and --count, expected one of them");
    if (split_and_save(&report, a, &error) != KITH_OK) {
        json_decref(report);
        return failure(&error);
    }
    if (a->common.json)
        return print_json(report);
    json_decref(report);
    return EXIT_SUCCESS;
}

static const option_row options[] = {
    OPTION_OUTPUT("the folder to write; it must not exist, or be empty", arguments, folder,
                  .required = true),
    {"strategy", 0, STRATEGIES, "which ends of the sampled test facts become unseen", OPTION_CHOICE,
     offsetof(arguments, strategy), "subject"},
    {"rate", 0, "PERCENT", "percentage of test facts to sample", OPTION_NUMBER,
     offsetof(arguments, rate), .otherwise = "10", .low = 1e-300, .high = 100,
     .expected = "a percentage above 0, up to 100"},
    {"count", 0, "N", "sample N test facts instead", OPTION_INTEGER, offsetof(arguments, count),
     .low = 1, .high = 1e15},
    {"valid", 0, "SHARE", "share of train to hold out as dev, if the source has no dev",
     OPTION_NUMBER, offsetof(arguments, valid), .otherwise = "0.05", .high = .999,
     .expected = "a share from 0 to 1, such as 0.05"},
    {"test", 0, "SHARE", "share of train to hold out as test, if the source has no test",
     OPTION_NUMBER, offsetof(arguments, test), .otherwise = "0.1", .high = .999,
     .expected = "a share from 0 to 1, such as 0.05"},
    {"labels", 0, NULL, "add one false fact per true one to dev and test", OPTION_FLAG,
     offsetof(arguments, labels)},
    {"ids", 0, NULL, "write ids, with entity2id.txt and relation2id.txt", OPTION_FLAG,
     offsetof(arguments, ids)},
    OPTION_SEED("seed of the sample; the same seed gives the same data set"),
    {"force", 0, NULL, "replace DIR if kith wrote it", OPTION_FLAG, offsetof(arguments, force)},
    OPTION_SKIP_BAD,
    OPTION_COLUMNS,
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_JSON,
};

const command cmd_split = {
    .name = "split",
    .group = GROUP_DATA,
    .summary = "make a data set with unseen entities",
    .operand = "SOURCE",
    .most_operands = 1,
    .about =
        "Samples test facts, makes their subjects (or objects, or both) unseen, and divides the\n"
        "facts of the source into train, dev (the validation set), test, and aux (support facts:\n"
        "what is known about unseen entities) by the protocol of Wang et al. 2019.",
    OPTIONS(options),
    .arguments_size = sizeof(arguments),
    .examples = "  kith split /usr/share/wordnet -o wordnet-subject-10\n"
                "  kith split FB15k -o fb-object-20 --strategy object --rate 20 --seed 7\n"
                "  kith split triples.tsv -o few --count 500 --valid 0.1 --test 0.1 --labels\n",
    .run = run,
};
