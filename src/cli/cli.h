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

/* What a command is for: `kith help` lists them by that. */
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
    const char *also;    /* what follows it in the usage line, besides required options; or NULL */
    int most_operands;   /* 1, or more; 0: none or one; below 0: any number */
    const char *about;   /* what it does, in a paragraph or two */
    void (*more)(void);  /* prints what follows from tables; may be NULL */
    const option_row *options;
    size_t option_count;
    bool takes_settings;   /* one more option for each setting of a model */
    size_t arguments_size; /* of a struct that begins with common_arguments */
    const char *examples;
    int (*run)(const struct command *self, void *arguments);
} command;

#define OPTIONS(rows) .options = (rows), .option_count = sizeof(rows) / sizeof *(rows)

extern const command cmd_check, cmd_compare, cmd_eval, cmd_explain, cmd_export, cmd_info,
    cmd_predict, cmd_reproduce, cmd_rules, cmd_shell, cmd_split, cmd_stats, cmd_train, cmd_tune;

/* Say what is wrong with the command line and how to get help; returns EXIT_USAGE. */
int usage_error(const command *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Say what failed; returns EXIT_FAILED, EXIT_USAGE for KITH_ERR_ARGUMENT, or the status of a
 * signal. */
int failure(const kith_error *error);
int out_of_memory(void); /* says so and returns EXIT_FAILED */
int print_help(const command *self);

/* Text from outside as JSON, also where it is not UTF-8. */
json_t *text_json(const char *text);
/* A setting's or an option's value: a number, true or false where it is one, else text. */
json_t *value_json(const char *text);
/* {"train": 5, "dev": 0, ...} */
json_t *splits_json(const size_t counts[KITH_SPLITS]);
json_t *facts_json(const kith_graph *graph);
/* {"relation": NAME, "inverse": false}: a relation as rules have it */
json_t *relation_json(const kith_graph *graph, uint32_t relation, int inverse);
json_t *implication_json(const kith_implication *rule, const kith_graph *graph);
/* What there is to warn of, as a list of texts. */
json_t *warnings_json(const kith_model *model);
/* Print JSON and free it; returns the exit status. */
int print_json(json_t *value);

/* Open a run and note on stderr what there is to warn of. */
kith_status open_run(kith_model **model, const char *folder, const common_arguments *a,
                     kith_error *error);
/* The run that is the operand, on its own graph or on that of --on. */
kith_status open_run_on(kith_model **model, const common_arguments *a, kith_error *error);
/* Note on stderr what was skipped or dropped while reading. */
void note_report(const kith_graph *graph);
/* The path of a file or source that was given: "-" is standard input. */
const char *source_path(const char *given);
/* Open a source as the shared options say, and note on stderr what was skipped or dropped. */
kith_status open_source(kith_graph **graph, const char *path, const common_arguments *a,
                        kith_error *error);

/* A relation of train by its name, prefixed name or label; false with the reason. */
bool find_train_relation(uint32_t *relation, const kith_graph *graph, const char *name,
                         char why[512]);

#endif
