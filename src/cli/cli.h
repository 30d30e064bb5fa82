/* What the commands share. A command is one file, cmd_<name>.c, and one row in main.c's table. */
#ifndef KITH_CLI_CLI_H
#define KITH_CLI_CLI_H

#include <getopt.h>
#include <jansson.h>
#include <kith/kith.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/text.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct command {
    const char *name;
    const char *summary; /* one line */
    const char *usage;   /* what follows "kith NAME" */
    const char *help;    /* options and examples */
    void (*more_help)(void); /* printed behind it; may be NULL */
    int (*run)(const struct command *self, int argc, char **argv);
} command;

extern const command cmd_compare, cmd_eval, cmd_explain, cmd_export, cmd_info, cmd_predict,
    cmd_reproduce, cmd_rules, cmd_shell, cmd_split, cmd_stats, cmd_train, cmd_tune;

/* Say what is wrong with the command line and how to get help; returns EXIT_USAGE. */
int usage_error(const command *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What getopt_long gave for an option that is wrong: '?' unknown, ':' without its value. */
int bad_option(const command *self, int option, char **argv);
/* Say what failed; returns EXIT_FAILED, EXIT_USAGE for KITH_ERR_ARGUMENT, or the status of a signal. */
int failure(const kith_error *error);
int out_of_memory(void); /* says so and returns EXIT_FAILED */
int print_help(const command *self);

/* Numbers from the command line; false where the text is none or out of range. */
bool parse_count(uint64_t *value, const char *text);
bool parse_share(double *value, const char *text, double low, double high);

/* Text from outside as JSON, also where it is not UTF-8. */
json_t *text_json(const char *text);
/* Print JSON and free it; returns the exit status. */
int print_json(json_t *value);

/* Open a run and say on stderr what there is to warn of. */
kith_status open_run(kith_model **model, const char *folder, unsigned threads, kith_error *error);
/* Open a source and say on stderr what was skipped or dropped. */
kith_status open_source(kith_graph **graph, const char *path, const kith_open_options *options,
                        kith_error *error);

#endif
