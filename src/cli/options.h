/* Options of commands as tables: parsing, help, man pages and completion all come from them. */
#ifndef KITH_CLI_OPTIONS_H
#define KITH_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kith/kith.h>

struct command;

typedef enum option_type {
    OPTION_FLAG,    /* int: 1 if given */
    OPTION_TEXT,    /* const char * */
    OPTION_TEXTS,   /* text_list: may be given more than once */
    OPTION_INTEGER, /* uint64_t from `low` to `high` */
    OPTION_NUMBER,  /* double from `low` to `high`; NAN if not given */
    OPTION_CHOICE,  /* int: the index of the value in `argument`, "a|b|c" */
    OPTION_PRESET,  /* const char *: the name of a preset; the library lists them */
    OPTION_CHECKED  /* a value that `take` parses */
} option_type;

typedef struct option_row {
    const char *name;
    char letter;          /* the short form; 0: none */
    const char *argument; /* "N", or the choices "a|b"; NULL for a flag and a preset */
    const char *help;     /* what it does, for the help */
    option_type type;
    size_t to;             /* offset of the value in the command's arguments */
    const char *initial;   /* default value as text; NULL: 0, or none */
    const char *otherwise; /* what the default means, in words, if `initial` does not say it */
    double low, high;
    const char
        *expected; /* for messages about invalid values; derived from `low` and `high` if NULL */
    bool (*take)(void *to, const char *text);
    bool required;
} option_row;

typedef struct text_list {
    const char **at;
    size_t count;
} text_list;

/* Settings given as options, in order; the library defines their names. */
typedef struct setting_list {
    text_list names, values;
} setting_list;

/* The first member of every command's arguments. */
typedef struct common_arguments {
    const char *operand; /* the source or the run; the first of `operands` */
    const char *on;      /* another graph to apply the run to, or NULL */
    text_list operands;
    uint64_t threads, top, seed;
    int json, quiet, skip_bad;
    const char *columns; /* columns of a source in columns, or NULL */
    setting_list settings;
} common_arguments;

/* Options shared by several commands, so that they look and mean the same everywhere. */
#define OPTION_THREADS                                                                             \
    {                                                                                              \
        "threads", 'j', "N", "use N threads; results do not depend on N", OPTION_INTEGER,          \
            offsetof(common_arguments, threads), .high = 1024, .otherwise = "one per core"         \
    }
#define OPTION_JSON                                                                                \
    {                                                                                              \
        "json", 0, NULL, "print one JSON object (see docs/JSON.md)", OPTION_FLAG,                  \
            offsetof(common_arguments, json)                                                       \
    }
#define OPTION_QUIET                                                                               \
    {                                                                                              \
        "quiet", 'q', NULL, "print no progress and no notes on standard error", OPTION_FLAG,       \
            offsetof(common_arguments, quiet)                                                      \
    }
#define OPTION_SKIP_BAD                                                                            \
    {                                                                                              \
        "skip-bad", 0, NULL,                                                                       \
            "skip and count lines that cannot be read, instead of stopping at the first",          \
            OPTION_FLAG, offsetof(common_arguments, skip_bad)                                      \
    }
#define OPTION_COLUMNS                                                                             \
    {                                                                                              \
        "columns", 0, "S,R,O",                                                                     \
            "the columns of subject, relation and object in a file, by their names in the "        \
            "header row or by number",                                                             \
            OPTION_TEXT, offsetof(common_arguments, columns),                                      \
            .otherwise = "detected from a header row; without one, there must be three columns"    \
    }
/* With a default, or with `.otherwise` if it depends. */
#define OPTION_TOP(what, ...)                                                                      \
    {                                                                                              \
        "top", 'n', "N", what, OPTION_INTEGER, offsetof(common_arguments, top), __VA_ARGS__,       \
            .low = 1, .high = UINT32_MAX                                                           \
    }
#define OPTION_ON                                                                                  \
    {                                                                                              \
        "on", 0, "SOURCE",                                                                         \
            "apply the run to another graph that shares its relations: its train and aux are "     \
            "the known facts, its entities the candidates; a run without rules ranks them "        \
            "roughly and gives no probabilities",                                                  \
            OPTION_TEXT, offsetof(common_arguments, on)                                            \
    }
#define OPTION_SPLIT(type, field)                                                                  \
    {                                                                                              \
        "split", 0, "dev|test", "the split to evaluate on", OPTION_CHOICE, offsetof(type, field),  \
            "test"                                                                                 \
    }
#define OPTION_CANDIDATES(type, field, usual, more)                                                \
    {                                                                                              \
        "candidates", 0, "seen|all|new",                                                           \
            "which entities may be answers: those in train (seen), all, or only new ones, "        \
            "which are in support or added facts but not in train" more,                           \
            OPTION_CHOICE, offsetof(type, field), usual                                            \
    }
/* Converts the index of a choice of OPTION_CANDIDATES. */
static inline kith_candidate_set candidate_set_at(int place)
{
    static const kith_candidate_set sets[] = {KITH_ANSWERS_SEEN, KITH_ANSWERS_ALL,
                                              KITH_ANSWERS_NEW};
    return sets[place];
}
#define OPTION_SEED(what)                                                                          \
    {                                                                                              \
        "seed", 0, "N", what, OPTION_INTEGER, offsetof(common_arguments, seed), "1",               \
            .high = (double)INT64_MAX                                                              \
    }
/* With `.required = true` or a default after the field. */
#define OPTION_OUTPUT(what, type, field, ...)                                                      \
    {                                                                                              \
        "output", 'o', "DIR", what, OPTION_TEXT, offsetof(type, field), __VA_ARGS__                \
    }
/* With a default, or with `.otherwise` if it depends. */
#define OPTION_PRESETS(type, field, ...)                                                           \
    {                                                                                              \
        "preset", 0, NULL, "sets all settings (see below)", OPTION_PRESET, offsetof(type, field),  \
            __VA_ARGS__                                                                            \
    }

/* Parse a command line into zeroed `arguments`. Returns -1 if the command should run. Otherwise
 * returns the exit status, after printing help or an error message. */
int parse_arguments(void *arguments, const struct command *self, int argc, char **argv);
void release_arguments(void *arguments, const struct command *self);

/* The options of a command with their help, as `kith help COMMAND` shows them. */
void print_options(const struct command *self);
/* One line per option for scripts: command, name, letter, argument, default, required, help. */
void dump_options(const struct command *self);

/* The name closest to `text`, or NULL if none is close enough. */
const char *nearest_name(const char *text, const char *(*name_at)(const void *, size_t),
                         const void *context);

#endif
