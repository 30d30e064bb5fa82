#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/cli.h"
#include "cli/signals.h"

static const command *const commands[] = {
    &cmd_stats, &cmd_split,   &cmd_rules,   &cmd_train, &cmd_tune,   &cmd_eval,     &cmd_compare,
    &cmd_info,  &cmd_predict, &cmd_explain, &cmd_check, &cmd_shell, &cmd_export, &cmd_reproduce};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const char *const groups[COMMAND_GROUPS] = {
    [GROUP_DATA] = "inspect graphs and make data sets",
    [GROUP_MODELS] = "train and evaluate models",
    [GROUP_QUESTIONS] = "query a trained model",
    [GROUP_EXCHANGE] = "exchange data with other programs",
};

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static void print_overview(FILE *out)
{
    fprintf(out, "kith predicts missing facts about entities added to a knowledge graph after\n"
                 "training, and explains its predictions.\n\n"
                 "usage: kith COMMAND [ARGUMENTS]\n");
    for (int group = 0; group < COMMAND_GROUPS; group++) {
        fprintf(out, "\n%s\n", groups[group]);
        for (size_t i = 0; i < COMMANDS; i++)
            if ((int)commands[i]->group == group)
                fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    }
    fprintf(out, "\nhelp\n"
                 "  help     show how to use a command: kith help COMMAND\n"
                 "  version  print the version\n\n"
                 "A SOURCE is a folder with train, dev, test and aux; an OpenKE folder; WordNet's\n"
                 "database folder; or one file of triples: TSV, CSV, N-Triples or Turtle, plain,\n"
                 ".gz or .zst. A RUN is a folder that kith train writes.\n\n"
                 "To begin: kith train FACTS.tsv -o RUN\n"
                 "          kith explain RUN --fact 'S R O' --query 'S R ?'\n");
}

static const char *command_at(const void *context, size_t i)
{
    (void)context;
    return i < COMMANDS        ? commands[i]->name
           : i == COMMANDS     ? "help"
           : i == COMMANDS + 1 ? "version"
                               : NULL;
}

static int unknown_command(const char *name)
{
    const char *nearest = nearest_name(name, command_at, NULL);

    put(stderr, "kith: unknown command '%s'", name);
    if (nearest)
        put(stderr, " (did you mean '%s'?)", nearest);
    put(stderr, "\nTry 'kith help'.\n");
    return EXIT_USAGE;
}

static int help(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stdout);
        return EXIT_SUCCESS;
    }
    if (strcmp(argv[1], "--dump") == 0) {
        for (size_t i = 0; i < COMMANDS; i++)
            dump_options(commands[i]);
        return EXIT_SUCCESS;
    }
    const command *wanted = find_command(argv[1]);
    if (!wanted && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "version") == 0)) {
        print_overview(stdout);
        return EXIT_SUCCESS;
    }
    return wanted ? print_help(wanted) : unknown_command(argv[1]);
}

static int run_command(const command *self, int argc, char **argv)
{
    common_arguments *arguments = calloc(1, self->arguments_size);
    int status = arguments ? parse_arguments(arguments, self, argc, argv) : out_of_memory();

    if (status == -1) {
        set_quiet(arguments->quiet);
        status = self->run(self, arguments);
        clear_status();
        if (is_stopping())
            status = stopped_status();
    }
    if (arguments)
        release_arguments(arguments, self);
    free(arguments);
    return status;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0) {
        printf("kith %s\n", kith_version());
        return EXIT_SUCCESS;
    }
    const command *wanted = find_command(argv[1]);
    return wanted ? run_command(wanted, argc - 1, argv + 1) : unknown_command(argv[1]);
}

/* By default, malloc keeps more freed memory the larger the freed blocks are. It would then keep
 * memory during training that only reading needs. */
static void free_to_the_system(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

int main(int argc, char **argv)
{
    free_to_the_system();
    watch_json();
    catch_signals();
    int status = run(argc, argv);

    /* A full disk or a closed pipe is noticed only when the last bytes are flushed. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        put(stderr, "kith: cannot write the output: %s\n", strerror(errno));
        return status == EXIT_SUCCESS ? EXIT_FAILED : status;
    }
    return status == EXIT_SUCCESS && !json_is_whole() ? out_of_memory() : status;
}
