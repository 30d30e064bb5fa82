/* What the commands share. A command is one file, cmd_<name>.c, and one row in main.c's table. */
#ifndef KITH_CLI_CLI_H
#define KITH_CLI_CLI_H

#include <jansson.h>
#include <kith/kith.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options.h"
#include "cli/text.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* The group under which `kith help` lists a command. */
typedef enum command_group {
    GROUP_DATA,
    GROUP_MODELS,
    GROUP_QUESTIONS,
    GROUP_EXCHANGE,
    COMMAND_GROUPS
} command_group;

typedef struct command {
    const char *name;
    command_group group;
    const char *summary; /* one line */
    const char *operand; /* "SOURCE", "RUN" */
    /* what follows the operand in the usage line, besides required options; or NULL */
    const char *also;
    int most_operands;  /* 1, or more; 0: none or one; negative: any number */
    const char *about;  /* what it does, in one or two paragraphs */
    void (*more)(void); /* prints help text generated from tables; may be NULL */
    const option_row *options;
    size_t option_count;
    bool takes_settings;   /* has one more option for each setting of a model */
    size_t arguments_size; /* size of a struct that begins with common_arguments */
    const char *examples;
    int (*run)(const struct command *self, void *arguments);
} command;

#define OPTIONS(rows) .options = (rows), .option_count = sizeof(rows) / sizeof *(rows)

extern const command cmd_check, cmd_compare, cmd_eval, cmd_explain, cmd_export, cmd_info,
    cmd_predict, cmd_reproduce, cmd_rules, cmd_shell, cmd_split, cmd_stats, cmd_train, cmd_tune;

/* Report an error in the command line and how to get help; returns EXIT_USAGE. */
int usage_error(const command *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Report an error; returns EXIT_FAILED, EXIT_USAGE for KITH_ERR_ARGUMENT, or the status of a
 * signal. */
int failure(const kith_error *error);
int out_of_memory(void); /* reports it and returns EXIT_FAILED */
int print_help(const command *self);

/* External text as a JSON string, even if it is not valid UTF-8. */
json_t *text_json(const char *text);
/* The value of a setting or option as a JSON number or boolean if it is one, otherwise as a
 * string. */
json_t *value_json(const char *text);
/* {"train": 5, "dev": 0, ...} */
json_t *splits_json(const size_t counts[KITH_SPLITS]);
json_t *facts_json(const kith_graph *graph);
/* {"relation": NAME, "inverse": false}, as relations appear in rules */
json_t *relation_json(const kith_graph *graph, uint32_t relation, int inverse);
json_t *implication_json(const kith_implication *rule, const kith_graph *graph);
/* The model's warnings as a list of strings. */
json_t *warnings_json(const kith_model *model);
/* Commands do not check each call that adds to a JSON value. Instead, Jansson's allocations are
 * watched, and nothing is printed after one has failed: a member may be missing. */
void watch_json(void);
bool json_is_whole(void);
/* Print JSON and free it; returns the exit status. */
int print_json(json_t *value);

/* Open a run and print its warnings on stderr. */
kith_status open_run(kith_model **model, const char *folder, const common_arguments *a,
                     kith_error *error);
/* Open the run that is the operand, with its own graph or with that of --on. */
kith_status open_run_on(kith_model **model, const common_arguments *a, kith_error *error);
/* Report on stderr what was skipped or dropped while reading. */
void note_report(const kith_graph *graph);
/* The path of a file or source argument: "-" means standard input. */
const char *source_path(const char *given);
/* Open a source with the shared options, and report on stderr what was skipped or dropped. */
kith_status open_source(kith_graph **graph, const char *path, const common_arguments *a,
                        kith_error *error);

/* Find a relation of train by its name, prefixed name or label. Returns false and sets `why` if
 * that fails. */
bool find_train_relation(uint32_t *relation, const kith_graph *graph, const char *name,
                         char why[512]);

#endif
