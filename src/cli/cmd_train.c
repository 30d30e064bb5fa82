#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/run_files.h"
#include "cli/settings.h"
#include "cli/signals.h"

enum { MOST_SETTINGS = 64 };

typedef struct {
    const char *preset, *folder, *resume;
    const char *name[MOST_SETTINGS], *value[MOST_SETTINGS]; /* settings as given */
    size_t given;
    kith_open_options open;
    kith_train_options train;
    bool json, quiet;
} arguments;

/* ---- training ---- */

/* Without a preset, what the data asks for: ranking, or classification where dev has labels. */
static const char *preset_for(const kith_graph *graph)
{
    return kith_graph_facts(graph, KITH_DEV).truth ? "triplets" : "kith";
}

/* In place of those that are there. */
static kith_status make_settings(kith_settings **s, const arguments *a, const char *preset,
                                 kith_error *error)
{
    kith_settings_free(*s);
    kith_status status = kith_settings_new(s, preset, error);
    for (size_t i = 0; i < a->given && status == KITH_OK; i++)
        status = kith_settings_set(*s, a->name[i], a->value[i], error);
    return status;
}

static kith_status train(kith_train_end *end, const arguments *a, const char *source,
                         kith_error *error)
{
    kith_graph *graph = NULL;
    kith_settings *settings = NULL;
    kith_status status;

    if (a->resume) {
        stop_gently();
        return kith_train_resume(end, a->resume, &a->train, error);
    }
    /* What is wrong with the settings is said before a large source is read. */
    status = make_settings(&settings, a, a->preset ? a->preset : "kith", error);
    if (status == KITH_OK)
        status = open_source(&graph, source, &a->open, error);
    if (status == KITH_OK && !a->preset)
        status = make_settings(&settings, a, preset_for(graph), error);
    stop_gently();
    if (status == KITH_OK)
        status = kith_train_consuming(end, a->folder, graph, settings, &a->train, error);
    else
        kith_graph_free(graph);
    kith_settings_free(settings);
    return status;
}

static int tell_end(kith_train_end end, const arguments *a)
{
    enum { FEW = 50 };
    static const char *const words[] = {"finished", "stopped", "was finished"};
    const char *folder = a->resume ? a->resume : a->folder;

    if (a->json)
        return print_json(json_pack("{ss ss}", "run", folder, "state", words[end]));
    if (end == KITH_TRAIN_STOPPED)
        say("%s: stopped with a checkpoint; go on with: kith train --resume %s\n", folder,
               folder);
    else if (end == KITH_TRAIN_WAS_FINISHED)
        say("%s: is finished already, nothing to do\n", folder);
    else
        say("%s: finished; see how good it is with: kith eval %s\n", folder, folder);
    long long fitted = end == KITH_TRAIN_FINISHED ? facts_fitted_on(folder) : -1;
    if (fitted >= 0 && fitted < FEW)
        say("The graph is small: %lld facts of held-out entities were there to weigh evidence "
               "on, so "
               "take probabilities as a guess.\n",
               fitted);
    return EXIT_SUCCESS;
}

static int go(const arguments *a, const char *source)
{
    arguments with = *a;
    display d;
    kith_train_end end;
    kith_error error;

    display_begin(&d, a->quiet, "");
    with.train.progress = show_progress;
    with.train.context = &d;
    kith_status status = train(&end, &with, source, &error);
    display_end(&d);
    if (status != KITH_OK)
        return failure(&error);
    int told = tell_end(end, a);
    return told == EXIT_SUCCESS && end == KITH_TRAIN_STOPPED ? stopped_status() : told;
}

enum { PRESET = 256, RESUME, THREADS, SKIP_BAD, JSON, QUIET, EVERY };

static int take_option(arguments *a, const command *self, int option, char **argv)
{
    const char *setting = setting_of_option(option);
    uint64_t number;

    if (setting) {
        if (a->given == MOST_SETTINGS)
            return usage_error(self, "more than %d settings given", MOST_SETTINGS);
        a->name[a->given] = setting;
        a->value[a->given++] = optarg;
        return 0;
    }
    switch (option) {
    case 'o':
        a->folder = optarg;
        return 0;
    case PRESET:
        a->preset = optarg;
        return 0;
    case RESUME:
        a->resume = optarg;
        return 0;
    case THREADS:
        if (!parse_count(&number, optarg) || number > 1024)
            return usage_error(self, "--threads is '%s', expected a number up to 1024", optarg);
        a->train.threads = a->open.threads = (unsigned)number;
        return 0;
    case EVERY:
        if (!parse_share(&a->train.checkpoint_seconds, optarg, 0, 1e9))
            return usage_error(self, "--checkpoint-every is '%s', expected seconds", optarg);
        return 0;
    case SKIP_BAD:
        a->open.skip_bad = 1;
        return 0;
    case JSON:
        a->json = a->quiet = true;
        return 0;
    case QUIET:
        a->quiet = true;
        return 0;
    default:
        return bad_option(self, option, argv);
    }
}

static int check(const arguments *a, const command *self, int sources)
{
    if (a->resume && (sources > 0 || a->folder || a->given > 0))
        return usage_error(self, "--resume takes its source, folder and settings from the run");
    if (!a->resume && sources != 1)
        return usage_error(self, "found %d sources, expected one", sources);
    if (!a->resume && !a->folder)
        return usage_error(self, "found no output folder, expected -o RUN");
    return 0;
}

static int run(const command *self, int argc, char **argv)
{
    static const struct option own[] = {{"output", required_argument, NULL, 'o'},
                                        {"preset", required_argument, NULL, PRESET},
                                        {"resume", required_argument, NULL, RESUME},
                                        {"threads", required_argument, NULL, THREADS},
                                        {"checkpoint-every", required_argument, NULL, EVERY},
                                        {"skip-bad", no_argument, NULL, SKIP_BAD},
                                        {"json", no_argument, NULL, JSON},
                                        {"quiet", no_argument, NULL, QUIET},
                                        {"help", no_argument, NULL, 'h'}};
    struct option *options = setting_options(own, sizeof own / sizeof *own);
    arguments a = {.preset = NULL, .train = {.checkpoint_seconds = 10}};
    int option, status = 0;

    opterr = 0;
    while (options && !status && (option = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
        if (option == 'h') {
            free(options);
            return print_help(self);
        }
        status = take_option(&a, self, option, argv);
    }
    free(options);
    if (!status)
        status = check(&a, self, argc - optind);
    return status ? status : go(&a, argv[optind]);
}

const command cmd_train = {
    .name = "train",
    .summary = "train a model on a knowledge graph",
    .usage = "SOURCE -o RUN [--preset NAME] [SETTINGS] | --resume RUN",
    .help =
        "Trains on the source's train facts and keeps all that later commands need in the folder\n"
        "RUN. Ctrl-C stops with a checkpoint; after that, or after a crash, --resume goes on and\n"
        "gives the same bytes as a run without a break.\n\n"
        "  -o, --output RUN        the folder to make; it must not exist, or be empty\n"
        "  --preset NAME           kith: rules and an embedding, fused (default); triplets: the "
        "same\n"
        "                          for facts with labels (default there); rules: no embedding;\n"
        "                          embedding: no rules; release: LAN as the authors' program has "
        "it;\n"
        "                          paper: as their text has it. Settings beside it override it\n"
        "  --resume RUN            go on with a run\n"
        "  --threads N             use N threads (default: one per core)\n"
        "  --checkpoint-every S    least seconds between checkpoints (default: 10)\n"
        "  --skip-bad              count bad lines and go on, instead of stopping at the first\n"
        "  --quiet                 say nothing while training\n"
        "  --json                  print one JSON object at the end\n"
        "  -h, --help              print this help\n\n"
        "examples:\n"
        "  kith train subject-10 -o quick --preset embedding\n"
        "  kith train subject-10 -o run\n"
        "  kith train subject-10 -o lan --preset release --epochs 200\n"
        "  kith train subject-10 -o mean --preset release --aggregator mean --dim 50 --lr 0.005\n"
        "  kith train --resume lan\n\n",
    .more_help = print_settings_help,
    .run = run,
};
