#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/run_files.h"
#include "cli/settings.h"
#include "cli/signals.h"

typedef struct {
    common_arguments common;
    const char *preset, *folder, *resume, *from;
    double checkpoint_seconds;
    int force;
} arguments;

/* ---- training ---- */

/* The default preset: for ranking, or for classification if dev has labels. */
static const char *preset_for(const kith_graph *graph)
{
    return kith_graph_facts(graph, KITH_DEV).truth ? "triplets" : "kith";
}

static kith_status copy_settings(kith_settings *settings, const char *folder, kith_error *error)
{
    const char *name;
    char value[64];
    kith_model *old = NULL;
    kith_status status = kith_model_open(&old, folder, NULL, error);

    for (size_t i = 0; status == KITH_OK && (name = kith_settings_name(i, NULL, NULL)); i++)
        status = kith_settings_set(
            settings, name, kith_settings_get(value, sizeof value, kith_model_settings(old), name),
            error);
    kith_model_free(old);
    return status;
}

/* With --from: the settings of the preset if one is given, else of the earlier run, adapted to
 * fewer epochs and overridden by those of the command line. */
static kith_status settings_to_start_from(kith_settings **settings, const arguments *a,
                                          kith_error *error)
{
    const setting_list none = {0};
    kith_status status = make_settings(settings, a->preset ? a->preset : "kith", &none, error);

    if (status == KITH_OK && !a->preset)
        status = copy_settings(*settings, a->from, error);
    if (status == KITH_OK)
        status = kith_settings_start_from(*settings, error);
    return status == KITH_OK ? apply_settings(*settings, &a->common.settings, error) : status;
}

/* Note settings that were given but have no effect. */
static void note_unused(const kith_settings *settings, const setting_list *given)
{
    for (size_t i = 0; i < given->names.count; i++)
        if (!kith_settings_applies(settings, given->names.at[i]))
            note("--%s has no effect with the other settings of this run\n", given->names.at[i]);
}

static kith_status train(kith_train_end *end, const arguments *a, const kith_train_options *options,
                         kith_error *error)
{
    kith_graph *graph = NULL;
    kith_settings *settings = NULL;
    kith_status status;

    if (a->resume) {
        stop_gently();
        return kith_train_resume(end, a->resume, options, error);
    }
    /* Check the settings before reading a source that may be large. */
    status = make_settings(&settings, a->preset ? a->preset : "kith", &a->common.settings, error);
    if (status == KITH_OK)
        status = open_source(&graph, a->common.operand, &a->common, error);
    if (status == KITH_OK && !a->common.json)
        note("%s: %s\n", a->common.operand, kith_graph_layout(graph));
    if (status == KITH_OK && a->from)
        status = settings_to_start_from(&settings, a, error);
    else if (status == KITH_OK && !a->preset)
        status = make_settings(&settings, preset_for(graph), &a->common.settings, error);
    if (status == KITH_OK)
        note_unused(settings, &a->common.settings);
    stop_gently();
    if (status == KITH_OK)
        status = kith_train_consuming(end, a->folder, graph, settings, options, error);
    else
        kith_graph_free(graph);
    kith_settings_free(settings);
    return status;
}

/* Suggest a next command that works: eval if there are test facts that it can evaluate, otherwise a
 * query about the graph. */
static void tell_next(const char *folder)
{
    char *run = shell_word(folder), *question = NULL;

    if (!can_evaluate(folder))
        question = example_question(folder);
    if (question)
        say("%s: finished; to query it: kith predict %s --query %s\n", folder, run ? run : "",
            question);
    else
        say("%s: finished; see how good it is with: kith eval %s\n", folder, run ? run : "");
    free(run);
    free(question);
}

static int tell_end(kith_train_end end, const arguments *a)
{
    enum { FEW = 50 };
    static const char *const words[] = {"finished", "stopped", "was finished"};
    const char *folder = a->resume ? a->resume : a->folder;

    if (a->common.json)
        return print_json(json_pack("{so ss}", "run", text_json(folder), "state", words[end]));
    if (end == KITH_TRAIN_STOPPED) {
        char *run = shell_word(folder);
        say("%s: stopped; continue with: kith train --resume %s\n", folder, run ? run : "");
        free(run);
    }
    if (end == KITH_TRAIN_WAS_FINISHED)
        say("%s: is finished already, nothing to do\n", folder);
    else if (end == KITH_TRAIN_FINISHED)
        tell_next(folder);
    long long fitted = end == KITH_TRAIN_FINISHED ? facts_fitted_on(folder) : -1;
    long long calibrated = end == KITH_TRAIN_FINISHED ? facts_calibrated_on(folder) : -1;
    if (calibrated >= 0 && calibrated < FEW)
        say("The validation set is small: probabilities were fitted on %lld fact%s, so they are "
            "rough estimates.\n", calibrated, calibrated == 1 ? "" : "s");
    if (fitted >= 0 && fitted < FEW)
        say("The graph is small: the weights were fitted on %lld fact%s of held-out entities, so "
            "probabilities are rough estimates.\n",
            fitted, fitted == 1 ? "" : "s");
    return EXIT_SUCCESS;
}

static int go(const arguments *a)
{
    display d;
    const kith_train_options options = {.threads = (unsigned)a->common.threads,
                                        .progress = show_progress,
                                        .context = &d,
                                        .watch = show_stage,
                                        .watch_context = &d,
                                        .checkpoint_seconds = a->checkpoint_seconds,
                                        .replace = a->force,
                                        .from = a->from};
    kith_train_end end;
    kith_error error;

    display_begin(&d, a->common.quiet || a->common.json, "");
    kith_status status = train(&end, a, &options, &error);
    display_end(&d);
    if (status != KITH_OK)
        return failure(&error);
    int reported = tell_end(end, a);
    return reported == EXIT_SUCCESS && end == KITH_TRAIN_STOPPED ? stopped_status() : reported;
}

static int check(const arguments *a, const command *self)
{
    if (a->resume &&
        (a->common.operand || a->folder || a->from || a->common.settings.names.count > 0))
        return usage_error(self, "--resume takes its source, folder and settings from the run");
    if (!a->resume && !a->common.operand)
        return usage_error(self, "missing SOURCE");
    if (!a->resume && !a->folder)
        return usage_error(self, "missing -o DIR");
    return -1;
}

static int run(const command *self, void *given)
{
    int status = check(given, self);
    return status == -1 ? go(given) : status;
}

static const option_row options[] = {
    /* not needed with --resume */
    OPTION_OUTPUT("the folder for the run, which is created, with its parents", arguments, folder,
                  .required = false),
    OPTION_PRESETS(arguments, preset, .otherwise = "kith; triplets if dev has labels"),
    {"force", 0, NULL, "replace DIR if it is a run made by kith", OPTION_FLAG,
     offsetof(arguments, force)},
    {"from", 0, "RUN",
     "start from a finished run on the same graph or a smaller version of it; "
     "without --preset, use its settings",
     OPTION_TEXT, offsetof(arguments, from)},
    {"resume", 0, "RUN", "continue a run that was stopped", OPTION_TEXT,
     offsetof(arguments, resume)},
    {"checkpoint-every", 0, "SECONDS", "minimum time between checkpoints", OPTION_NUMBER,
     offsetof(arguments, checkpoint_seconds), "10", .high = 1e9, .expected = "a number of seconds"},
    OPTION_SKIP_BAD,
    OPTION_COLUMNS,
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_JSON,
};

const command cmd_train = {
    .name = "train",
    .group = GROUP_MODELS,
    .summary = "train a model on a knowledge graph",
    .operand = "SOURCE",
    .also = "-o DIR",
    .most_operands = 0,
    .about =
        "Trains a model on the train facts of the source, and writes it to a folder, the run,\n"
        "with all that later commands need. Ctrl-C stops with a checkpoint. After that, or after\n"
        "a crash, --resume continues; on the same machine, the result is the same, byte for byte,\n"
        "as without the interruption.",
    OPTIONS(options),
    .takes_settings = true,
    .arguments_size = sizeof(arguments),
    .examples =
        "  kith train subject-10 -o run\n"
        "  kith train subject-10 -o quick --preset embedding\n"
        "  kith train subject-10 -o lan --preset release --epochs 200\n"
        "  kith train subject-10 -o mean --preset release --aggregator mean --dim 50 --lr 0.005\n"
        "  kith train --resume lan\n"
        "  kith train grown -o new --from run\n",
    .run = run,
};
