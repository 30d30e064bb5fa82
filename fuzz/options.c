/* Command lines: the first line is a command, each further line an argument. Accepted values are in
 * their option's range, facts and questions have three fields, and messages contain no raw control
 * characters. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "fuzz.h"

enum { MOST_ARGUMENTS = 64 };

static const command *const commands[] = {
    &cmd_stats, &cmd_split,   &cmd_rules,   &cmd_train, &cmd_tune,  &cmd_eval,   &cmd_compare,
    &cmd_info,  &cmd_predict, &cmd_explain, &cmd_check, &cmd_shell, &cmd_export, &cmd_reproduce};

static const command *find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return &cmd_train;
}

static size_t count_choices(const char *choices)
{
    size_t count = 1;

    for (; *choices; choices++)
        count += *choices == '|';
    return count;
}

static void check_value(const void *to, const option_row *row)
{
    switch (row->type) {
    case OPTION_INTEGER:
        if (*(const uint64_t *)to != 0) /* not given */
            require((double)*(const uint64_t *)to >= row->low &&
                        (double)*(const uint64_t *)to <= row->high,
                    "an integer is in its range");
        break;
    case OPTION_NUMBER:
        require(isnan(*(const double *)to) ||
                    (*(const double *)to >= row->low && *(const double *)to <= row->high),
                "a number is in its range");
        break;
    case OPTION_CHOICE:
        require(*(const int *)to >= 0 && (size_t)*(const int *)to < count_choices(row->argument),
                "a choice is one");
        break;
    default:
        break;
    }
}

static void check_settings(const setting_list *given)
{
    kith_settings *settings = NULL;
    kith_error error = {0};

    if (make_settings(&settings, "release", given, &error) != KITH_OK)
        require(error.message[0] != 0, "a refusal says why");
    kith_settings_free(settings);
}

static void check_fields(const char *text)
{
    char why[256] = "";
    fields f = {0};

    if (cut_any_question(&f, text, why))
        free(f.copy);
    else
        require(why[0] != 0, "a refusal says why");
    if (cut_question(&f, text, why)) {
        require(!f.name[0] || !f.name[1] || !f.name[2], "a question asks for something");
        free(f.copy);
    }
}

static void parse(const command *self, int count, char **arguments)
{
    common_arguments *a = calloc(1, self->arguments_size);

    require(a != NULL, "there is memory for arguments");
    optind = 0;
    int status = parse_arguments(a, self, count, arguments);
    require(status >= -1 && status <= EXIT_USAGE, "an exit status is one");
    if (status == -1) {
        for (size_t i = 0; i < self->option_count; i++)
            check_value((const char *)a + self->options[i].to, &self->options[i]);
        check_settings(&a->settings);
        for (size_t i = 0; i < a->operands.count; i++)
            check_fields(a->operands.at[i]);
    }
    release_arguments(a, self);
    free(a);
}

static void check_output(const char *text)
{
    for (; *text; text++)
        require(*text == '\n' || !((unsigned char)*text < 0x20 || *text == 0x7f),
                "a message shows control characters as escapes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text, *arguments[MOST_ARGUMENTS + 1] = {0};
    char *printed = NULL;
    size_t length = 0;
    int count = 0;
    FILE *streams[2] = {stdout, stderr}, *memory = open_memstream(&printed, &length);

    require(text && memory, "there is memory for the input");
    memcpy(text, data, size);
    text[size] = 0;
    for (char *line; count < MOST_ARGUMENTS && (line = strsep(&rest, "\n"));)
        arguments[count++] = line;
    stdout = stderr = memory;
    parse(find(arguments[0]), count, arguments);
    stdout = streams[0];
    stderr = streams[1];
    fclose(memory);
    check_output(printed);
    free(printed);
    free(text);
    return 0;
}
