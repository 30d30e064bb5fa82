/* Every function of the public header with hostile arguments: NULL, names that are none, ids,
 * counts and enums out of range, strange options. tests/api/hostile.py writes the calls from the
 * header and a table. Each function has a process of its own, so that a crash is one failed test that
 * names the call. */
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kith/kith.h>

static const char facts[] =
    "ann\tborn_in\tparis\nbob\tborn_in\trome\ncleo\tborn_in\tparis\ndan\tborn_in\tlyon\n"
    "paris\tlocated_in\tfrance\nlyon\tlocated_in\tfrance\nrome\tlocated_in\titaly\n"
    "ann\tcitizen_of\tfrance\nbob\tcitizen_of\titaly\ncleo\tcitizen_of\tfrance\n"
    "ann\tknows\tbob\nbob\tknows\tann\ncleo\tknows\tdan\n";
static const char test_facts[] = "dan\tcitizen_of\tfrance\nbob\tknows\tcleo\n";

static kith_graph *graph, *other_graph;
static kith_model *model, *table_model;
static kith_session *session, *table_session; /* with rules; with an embedding */
static kith_settings *settings;
static kith_error error;
static uint32_t ids[16];
static char text[64];
static float vector[4096];
static char *long_text;
static const char *const names[] = {"one", "t\tw\no"};
static const char *const names_missing[] = {"one", NULL};
static int child;

/* ---- which call it was ---- */

static const char *current = "the preparation";
static size_t call_count, failure_count;

/* Seen by the parent as one failed test; printf is not for handlers of signals. */
static void tell_call(void)
{
    static const char before[] = "# the call was ";

    if (!child)
        return;
    (void)!write(STDOUT_FILENO, before, sizeof before - 1);
    (void)!write(STDOUT_FILENO, current, strlen(current));
    (void)!write(STDOUT_FILENO, "\n", 1);
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void die(int number)
{
    tell_call();
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_for_crashes(void)
{
    signal(SIGALRM, die);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(tell_call);
        return;
    }
    signal(SIGSEGV, die);
    signal(SIGBUS, die);
    signal(SIGFPE, die);
    signal(SIGABRT, die);
}

static void begin_call(const char *call)
{
    memset(&error, 0, sizeof error);
    current = call;
    call_count++;
    alarm(60);
}

static void complain(const char *what)
{
    failure_count++;
    printf("# %s: %s\n", current, what);
}

static void check_status(kith_status status, int null_given, int with_error)
{
    if ((unsigned)status > KITH_ERR_STOPPED)
        complain("the status is none");
    if (null_given && status != KITH_ERR_ARGUMENT)
        complain("NULL for a required argument, expected KITH_ERR_ARGUMENT");
    if (with_error && status != KITH_OK && !error.message[0])
        complain("it failed without a message");
    if (with_error && status != KITH_OK && error.status != status)
        complain("the error has another status than the call");
}

static void check_text(const char *found)
{
    if (found && strlen(found) > 4096)
        complain("the text is very long");
}

/* ---- what the calls are made of ---- */

static const char *new_path(void)
{
    static char path[64];
    static unsigned count;

    snprintf(path, sizeof path, "new-%d-%u", (int)getpid(), count++);
    return path;
}

/* With one fact; the one of the call before goes. */
static kith_builder *made_builder;

static kith_builder *a_builder(void)
{
    kith_builder_free(made_builder);
    made_builder = NULL;
    if (kith_builder_new(&made_builder, NULL) != KITH_OK ||
        kith_builder_add(made_builder, KITH_TRAIN, "a", "r", "b", 1, NULL) != KITH_OK)
        abort();
    return made_builder;
}

/* A result with one rank, which lives until the next. */
static const kith_eval *a_rank(kith_rank given, int classification)
{
    static kith_rank rank;
    static const kith_rank *const ranks[] = {&rank};
    static kith_eval result;

    rank = given;
    result = (kith_eval){.classification = classification, .ranks = ranks, .rank_count = 1};
    return &result;
}

static kith_graph *new_graph(void)
{
    kith_graph *opened = NULL;

    if (kith_graph_open(&opened, "data", NULL, NULL) != KITH_OK)
        abort();
    return opened;
}

static const kith_dataset_options *usual_dataset(int strategy, double rate, double valid,
                                                 double test)
{
    static kith_dataset_options options;

    kith_dataset_options_init(&options);
    options.strategy = (kith_strategy)strategy;
    options.rate = rate;
    options.valid = valid;
    options.test = test;
    return &options;
}

/* Two, the second of which can be answered. */
static const kith_question *questions(const char *subject, const char *relation, const char *object)
{
    static kith_question pair[2];

    pair[0] = (kith_question){subject, relation, object};
    pair[1] = (kith_question){"bob", "citizen_of", NULL};
    return pair;
}

static int stop_at_once(void *context, const kith_stage *stage)
{
    (void)context;
    (void)stage;
    return 1;
}

static int stop_training(void *context, const kith_progress *progress)
{
    (void)context;
    (void)progress;
    return 1;
}

#include "hostile_calls.h"

/* ---- preparation ---- */

static void must(kith_status status)
{
    if (status == KITH_OK)
        return;
    printf("Bail out! %s\n", error.message);
    exit(1);
}

static void write_text(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");

    if (!file || fputs(content, file) < 0 || fclose(file) != 0)
        must(KITH_ERR_IO);
}

static kith_settings *small_settings(const char *preset)
{
    kith_settings *made = NULL;

    must(kith_settings_new(&made, preset, &error));
    must(kith_settings_set(made, "dim", "4", &error));
    must(kith_settings_set(made, "epochs", "1", &error));
    return made;
}

/* In the current folder: a data set, a file of facts and a finished run. */
static void make_files(void)
{
    kith_settings *small;
    kith_graph *opened = NULL;
    kith_train_end end;

    if (mkdir("data", 0777) != 0)
        must(KITH_ERR_IO);
    write_text("facts.tsv", facts);
    write_text("data/train", facts);
    write_text("data/dev", test_facts);
    write_text("data/test", test_facts);
    small = small_settings("rules");
    must(kith_graph_open(&opened, "data", NULL, &error));
    must(kith_train(&end, "run", opened, small, &(kith_train_options){.threads = 1}, &error));
    kith_graph_free(opened);
    kith_settings_free(small);
}

static void open_all(void)
{
    long_text = malloc(100001);
    if (!long_text)
        must(KITH_ERR_MEMORY);
    memset(long_text, 'x', 100000);
    long_text[100000] = 0;
    settings = small_settings("release");
    must(kith_graph_open(&graph, "data", NULL, &error));
    must(kith_graph_open(&other_graph, "facts.tsv", NULL, &error));
    must(kith_model_open(&model, "run", &(kith_work_options){.threads = 1}, &error));
    must(kith_model_new(&table_model, graph, settings, &(kith_work_options){.threads = 1}, &error));
    must(kith_session_new(&session, model, &error));
    must(kith_session_add(NULL, session, "eve", "born_in", "paris", &error));
    must(kith_session_new(&table_session, table_model, &error));
    must(kith_session_add(NULL, table_session, "eve", "born_in", "paris", &error));
}

static void close_all(void)
{
    begin_call("the end");
    kith_builder_free(made_builder);
    kith_session_free(table_session);
    kith_session_free(session);
    kith_model_free(table_model);
    kith_model_free(model);
    kith_graph_free(other_graph);
    kith_graph_free(graph);
    kith_settings_free(settings);
    free(long_text);
}

/* ---- running ---- */

static int run_function(void (*run)(void))
{
    child = 1;
    watch_for_crashes();
    open_all();
    run();
    close_all();
    printf("# %zu calls\n", call_count - 1);
    return failure_count > 0;
}

static void try_function(const char *name, void (*run)(void))
{
    int status = 0;

    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        exit(run_function(run));
    if (process > 0)
        waitpid(process, &status, 0);
    printf("%s - hostile__%s\n", process > 0 && status == 0 ? "ok" : "not ok", name);
    if (status != 0 && WIFSIGNALED(status))
        printf("# ended by signal %d\n", WTERMSIG(status));
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/kith-hostile-XXXXXX";

    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    make_files();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (argc < 2 || strcmp(argv[1], calls[i].name) == 0)
            try_function(calls[i].name, calls[i].run);
    (void)!chdir("/");
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
