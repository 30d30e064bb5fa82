#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct {
    kith_dataset_options split;
    kith_save_options save;
    kith_open_options open;
    const char *source, *folder;
    bool json, rate_given, valid_given, test_given;
} arguments;

static const char *const strategies[] = {"subject", "object", "both"};

static json_t *settings_json(const arguments *a)
{
    const kith_dataset_options *s = &a->split;
    json_t *object = json_pack("{ss ss sI sb}", "kith", kith_version(), "strategy",
                               strategies[s->strategy], "seed", (json_int_t)s->seed, "labels",
                               s->labels);
    if (s->count)
        json_object_set_new(object, "count", json_integer((json_int_t)s->count));
    else
        json_object_set_new(object, "rate", json_real(s->rate));
    return object;
}

/* What split.json says and --json prints. */
static json_t *split_json(const arguments *a, const kith_dataset_report *r, const kith_graph *graph)
{
    static const char *const splits[KITH_SPLITS] = {"train", "dev", "test", "aux"};
    json_t *object = settings_json(a);

    if (!object)
        return NULL;
    json_object_update_new(
        object,
        json_pack("{sI sI sI sI sI sI sI sI sI}", "relations",
                  (json_int_t)kith_graph_seen_relation_count(graph), "seen",
                  (json_int_t)kith_graph_seen_entity_count(graph), "sampled",
                  (json_int_t)r->sampled, "candidates", (json_int_t)r->candidates, "unseen",
                  (json_int_t)r->unseen, "left_out", (json_int_t)r->left_out, "already_known",
                  (json_int_t)r->known, "without_false", (json_int_t)r->without_false,
                  "ignored", (json_int_t)r->ignored));
    for (int split = 0; split < KITH_SPLITS; split++)
        json_object_set_new(object, splits[split],
                            json_integer((json_int_t)kith_graph_facts(graph, split).count));
    return object;
}

static void print_split(const arguments *a, const kith_dataset_report *r, const kith_graph *graph)
{
    char b[8][GROUPED];

    say("%s: from %s\n\n", a->folder, a->source);
    say("  %12s test facts sampled, %s candidates to be unseen\n", grouped(b[0], r->sampled),
           grouped(b[1], r->candidates));
    say("  %12s of them have a seen neighbour and are unseen entities now\n",
           grouped(b[2], r->unseen));
    say("  %12s entities of the source are in no part\n", grouped(b[3], r->left_out));
    if (r->known > 0)
        say("  %12s dev and test facts dropped because train or aux holds them\n",
               grouped(b[0], r->known));
    if (r->ignored > 0)
        say("  %12s facts of the source not looked at (its aux, and facts labelled false)\n",
               grouped(b[0], r->ignored));
    if (r->without_false > 0)
        say("  %12s true facts for which no false one could be made\n",
               grouped(b[0], r->without_false));
    say("\n  train %s, dev %s, test %s, aux %s facts\n",
           grouped(b[4], kith_graph_facts(graph, KITH_TRAIN).count),
           grouped(b[5], kith_graph_facts(graph, KITH_DEV).count),
           grouped(b[6], kith_graph_facts(graph, KITH_TEST).count),
           grouped(b[7], kith_graph_facts(graph, KITH_AUX).count));
}

/* A share that would change nothing is a misunderstanding. */
static kith_status check_shares(const arguments *a, const kith_graph *source, kith_error *error)
{
    bool dev = a->valid_given && kith_graph_facts(source, KITH_DEV).count > 0;
    bool test = a->test_given && kith_graph_facts(source, KITH_TEST).count > 0;

    if (!dev && !test)
        return KITH_OK;
    snprintf(error->message, sizeof error->message,
             "%s has %s facts of its own, so there is nothing to set aside: leave out --%s",
             a->source, dev ? "dev" : "test", dev ? "valid" : "test");
    return error->status = KITH_ERR_ARGUMENT;
}

static kith_status split_and_save(json_t **report, const arguments *a, kith_error *error)
{
    kith_graph *source = NULL, *graph = NULL;
    kith_dataset_report r;
    kith_save_options save = a->save;
    char *note = NULL;
    kith_status status = open_source(&source, a->source, &a->open, error);

    if (status == KITH_OK)
        status = check_shares(a, source, error);
    if (status == KITH_OK)
        status = kith_dataset_make(&graph, &r, source, &a->split, error);
    if (status == KITH_OK) {
        *report = split_json(a, &r, graph);
        note = *report ? json_dumps(*report, JSON_INDENT(2)) : NULL;
        save.note = note ? note : "{}";
        status = kith_graph_save(graph, a->folder, &save, error);
    }
    if (status == KITH_OK && !a->json)
        print_split(a, &r, graph);
    free(note);
    kith_graph_free(graph);
    kith_graph_free(source);
    return status;
}

static int take_strategy(arguments *a, const command *self, const char *text)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(text, strategies[i]) == 0) {
            a->split.strategy = (kith_strategy)i;
            return 0;
        }
    return usage_error(self, "--strategy is '%s', expected subject, object or both", text);
}

enum { STRATEGY = 256, RATE, COUNT, VALID, TEST, SEED, LABELS, IDS, FORCE, SKIP_BAD, JSON };

/* 0, or the exit status. */
static int take_option(arguments *a, const command *self, int option, const char *given)
{
    uint64_t number;

    switch (option) {
    case 'o':
        a->folder = given;
        return 0;
    case STRATEGY:
        return take_strategy(a, self, given);
    case RATE:
        if (!parse_share(&a->split.rate, given, 0, 100) || a->split.rate == 0)
            return usage_error(self, "--rate is '%s', expected a percentage above 0, up to 100",
                               given);
        a->rate_given = true;
        return 0;
    case COUNT:
        if (!parse_count(&number, given) || number == 0)
            return usage_error(self, "--count is '%s', expected a number of facts", given);
        a->split.count = (size_t)number;
        return 0;
    case VALID:
    case TEST:
        *(option == VALID ? &a->valid_given : &a->test_given) = true;
        if (!parse_share(option == VALID ? &a->split.valid : &a->split.test, given, 0, .999))
            return usage_error(self, "--%s is '%s', expected a share of the facts from 0 to 1, "
                               "such as 0.05", option == VALID ? "valid" : "test", given);
        return 0;
    case SEED:
        if (!parse_count(&a->split.seed, given) || a->split.seed > INT64_MAX)
            return usage_error(self, "--seed is '%s', expected a whole number", given);
        return 0;
    default:
        return EXIT_USAGE;
    }
}

static int take_flag(arguments *a, int option)
{
    switch (option) {
    case LABELS:
        return a->split.labels = 1;
    case IDS:
        return a->save.ids = 1;
    case FORCE:
        return a->save.replace = 1;
    case SKIP_BAD:
        return a->open.skip_bad = 1;
    case JSON:
        return a->json = true;
    default:
        return 0;
    }
}

static int run(const command *self, int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"strategy", required_argument, NULL, STRATEGY},
                                            {"rate", required_argument, NULL, RATE},
                                            {"count", required_argument, NULL, COUNT},
                                            {"valid", required_argument, NULL, VALID},
                                            {"test", required_argument, NULL, TEST},
                                            {"seed", required_argument, NULL, SEED},
                                            {"labels", no_argument, NULL, LABELS},
                                            {"ids", no_argument, NULL, IDS},
                                            {"force", no_argument, NULL, FORCE},
                                            {"skip-bad", no_argument, NULL, SKIP_BAD},
                                            {"json", no_argument, NULL, JSON},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    arguments a = {0};
    kith_error error;
    json_t *report = NULL;
    int option, status;

    kith_dataset_options_init(&a.split);
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
        if (option == 'h')
            return print_help(self);
        if (take_flag(&a, option))
            continue;
        if (option == '?' || option == ':')
            return bad_option(self, option, argv);
        status = take_option(&a, self, option, optarg);
        if (status)
            return status;
    }
    if (argc - optind != 1)
        return usage_error(self, "found %d sources, expected one", argc - optind);
    if (a.rate_given && a.split.count > 0)
        return usage_error(self, "found both --rate and --count, expected one of them");
    if (!a.folder)
        return usage_error(self, "found no output folder, expected -o DIR");
    a.source = argv[optind];
    if (split_and_save(&report, &a, &error) != KITH_OK) {
        json_decref(report);
        return failure(&error);
    }
    if (a.json)
        return print_json(report);
    json_decref(report);
    return EXIT_SUCCESS;
}

const command cmd_split = {
    .name = "split",
    .summary = "make a data set with unseen entities",
    .usage = "SOURCE -o DIR [--strategy subject|object|both] [--rate PERCENT | --count N] ...",
    .help =
        "Samples test facts, makes their subjects (objects, or both) unseen, and sorts the\n"
        "source's facts into train, dev, test and aux by the protocol of Wang et al. 2019.\n\n"
        "  -o, --output DIR   the folder to write; it must not exist, or be empty\n"
        "  --strategy WHICH   which ends of the sampled facts become unseen: subject\n"
        "                     (default), object or both\n"
        "  --rate PERCENT     sample that part of the test facts (default: 10)\n"
        "  --count N          sample N test facts instead\n"
        "  --valid SHARE      for a source that has only train: the share of its facts to set\n"
        "                     aside for dev before sampling (default: 0.05)\n"
        "  --test SHARE       the same for test (default: 0.1)\n"
        "  --labels           add one false fact per true one to dev and test\n"
        "  --ids              write ids, with entity2id.txt and relation2id.txt\n"
        "  --seed N           the same seed gives the same bytes (default: 1)\n"
        "  --force            replace DIR if kith wrote it\n"
        "  --skip-bad         count bad lines and go on, instead of stopping at the first\n"
        "  --json             print one JSON object\n"
        "  -h, --help         print this help\n\n"
        "examples:\n"
        "  kith split /usr/share/wordnet -o wordnet-subject-10\n"
        "  kith split FB15k -o fb-object-20 --strategy object --rate 20 --seed 7\n"
        "  kith split triples.tsv -o few --count 500 --valid 0.1 --test 0.1 --labels\n",
    .run = run,
};
