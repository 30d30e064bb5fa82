#include "cli/options.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/settings.h"
#include "core/numbers.h"

enum { FIRST_OWN = 256, FIRST_SETTING = 1024, HELP = 'h' };

/* ---- names ---- */

static const char *option_at(const void *self, size_t i)
{
    const command *c = self;

    if (i < c->option_count)
        return c->options[i].name;
    i -= c->option_count;
    if (i == 0)
        return "help";
    return c->takes_settings ? kith_settings_name(i - 1, NULL, NULL) : NULL;
}

static const option_row *find_row(const command *self, int option)
{
    for (size_t i = 0; i < self->option_count; i++)
        if (option == FIRST_OWN + (int)i || option == self->options[i].letter)
            return &self->options[i];
    return NULL;
}

/* "--threads" */
static const char *shown_name(char out[64], const option_row *row)
{
    snprintf(out, 64, "--%.50s", row->name);
    return out;
}

/* ---- values ---- */

/* "a|b|c" as "a, b or c"; the text lives in `out`. */
static const char *list_choices(char *out, size_t size, const char *choices)
{
    size_t used = 0;

    for (const char *c = choices; *c && used + 6 < size; c++)
        if (*c != '|')
            out[used++] = *c;
        else
            used += (size_t)snprintf(out + used, size - used, strchr(c + 1, '|') ? ", " : " or ");
    out[used] = '\0';
    return out;
}

static int bad_value(const command *self, const option_row *row, const char *text)
{
    char name[64], range[96];

    shown_name(name, row);
    if (row->expected)
        return usage_error(self, "%s: '%s' is not %s", name, text, row->expected);
    if (row->type == OPTION_CHOICE)
        return usage_error(self, "%s: '%s' is not %s", name, text,
                           list_choices(range, sizeof range, row->argument));
    if (row->high >= 1e6 && strtod(text, NULL) > row->high)
        snprintf(range, sizeof range, "%.0f or less", row->high);
    else if (row->low == 1)
        snprintf(range, sizeof range, "a positive integer");
    else if (row->high < 1e6)
        snprintf(range, sizeof range, "an integer from %g to %g", row->low, row->high);
    else
        snprintf(range, sizeof range, "an integer that is not negative");
    return usage_error(self, "%s: '%s' is not %s", name, text, range);
}

/* The index of a word in "a|b|c", or -1 if it does not occur there. */
static int place_among(const char *choices, const char *word)
{
    size_t length = strlen(word);

    for (int i = 0;; i++) {
        size_t one = strcspn(choices, "|");
        if (one == length && strncmp(choices, word, length) == 0)
            return i;
        if (choices[one] == '\0')
            return -1;
        choices += one + 1;
    }
}

static bool take_choice(int *to, const option_row *row, const char *text)
{
    int place = place_among(row->argument, text);

    if (place >= 0)
        *to = place;
    return place >= 0;
}

/* A list is allocated for as many values as there are arguments. */
static bool add_text(text_list *list, const char *text, int argc)
{
    if (!list->at)
        list->at = calloc((size_t)argc, sizeof *list->at);
    if (!list->at)
        return false;
    list->at[list->count++] = text;
    return true;
}

static bool take_value(void *to, const option_row *row, const char *text, int argc)
{
    switch (row->type) {
    case OPTION_FLAG:
        *(int *)to = 1;
        return true;
    case OPTION_TEXT:
    case OPTION_PRESET:
        *(const char **)to = text;
        return true;
    case OPTION_TEXTS:
        return add_text(to, text, argc);
    case OPTION_INTEGER:
        return kith__parse_count(to, text, (uint64_t)row->low, (uint64_t)row->high);
    case OPTION_NUMBER:
        return kith__parse_real(to, text, row->low, row->high);
    case OPTION_CHOICE:
        return take_choice(to, row, text);
    default:
        return row->take(to, text);
    }
}

/* ---- the command line ---- */

/* The table for getopt_long; to be freed. */
static struct option *getopt_table(const command *self, char *letters)
{
    size_t count = 0, used = 0;
    const char *name;

    while (option_at(self, count))
        count++;
    struct option *table = calloc(count + 1, sizeof *table);
    letters[used++] = ':';
    letters[used++] = HELP;
    for (size_t i = 0; table && (name = option_at(self, i)); i++) {
        const option_row *row = i < self->option_count ? &self->options[i] : NULL;
        bool argument = row ? row->type != OPTION_FLAG : i > self->option_count;
        table[i] = (struct option){name, argument ? required_argument : no_argument, NULL,
                                   row                       ? FIRST_OWN + (int)i
                                   : i == self->option_count ? HELP
                                                             : FIRST_SETTING + (int)i};
        if (row && row->letter) {
            letters[used++] = row->letter;
            if (argument)
                letters[used++] = ':';
        }
    }
    letters[used] = '\0';
    return table;
}

/* The long option that a word with one dash may mean, such as --query for -query. getopt_long reads
 * it as several letters, and has not passed it yet unless the last one is wrong. */
static const char *meant_long(const command *self, const char **word, char **argv)
{
    for (int back = 0; back < 2; back++) {
        *word = argv[optind - back];
        if (*word && (*word)[0] == '-' && (*word)[1] != '-' && strlen(*word) > 3 &&
            strchr(*word, optopt))
            return nearest_name(*word + 1, option_at, self);
    }
    return NULL;
}

static int bad_option(const command *self, int option, char **argv)
{
    const char *given = argv[optind - 1];
    char text[256], name[64];

    if (option == ':' && optopt && optopt < 256)
        snprintf(text, sizeof text, "-%c", optopt);
    else if (optopt && optopt < 256 && strncmp(given, "--", 2) != 0)
        snprintf(text, sizeof text, "-%c", optopt);
    else
        snprintf(text, sizeof text, "%.200s", given);
    if (option == ':')
        return usage_error(self, "option '%s' needs a value", text);
    const option_row *row = find_row(self, optopt);
    if (strncmp(given, "--", 2) == 0 && row && strchr(given, '='))
        return usage_error(self, "option '%s' takes no value", shown_name(name, row));
    text[strcspn(text, "=")] = '\0';
    const char *nearest = NULL, *word;
    if (strncmp(text, "--", 2) == 0)
        nearest = nearest_name(text + 2, option_at, self);
    else if ((nearest = meant_long(self, &word, argv)))
        snprintf(text, sizeof text, "%.200s", word);
    if (nearest)
        return usage_error(self, "unknown option '%s' (did you mean '--%s'?)", text, nearest);
    return usage_error(self, "unknown option '%s'", text);
}

static int take_option(common_arguments *a, const command *self, int option, int argc, char **argv)
{
    const option_row *row = find_row(self, option);

    if (option == HELP)
        return print_help(self);
    if (option == '?' || option == ':')
        return bad_option(self, option, argv);
    if (option >= FIRST_SETTING) {
        setting_list *s = &a->settings;
        bool added = add_text(&s->names, option_at(self, (size_t)(option - FIRST_SETTING)), argc) &&
                     add_text(&s->values, optarg, argc);
        return added ? -1 : out_of_memory();
    }
    return take_value((char *)a + row->to, row, optarg, argc) ? -1 : bad_value(self, row, optarg);
}

/* Whether the arguments have a query, of which a shell may have made several. */
static bool asks(const command *self, int argc, char **argv)
{
    bool has_query = false;

    for (size_t i = 0; i < self->option_count; i++)
        has_query |= strcmp(self->options[i].name, "query") == 0;
    for (int i = 1; has_query && i < argc; i++)
        if (strncmp(argv[i], "--query", 7) == 0)
            return true;
    return false;
}

/* Take as many operands as the command expects. 0: none or one; negative: any number. */
static int take_operands(common_arguments *a, const command *self, int argc, char **argv)
{
    int count = argc - optind, most = self->most_operands;

    if (count == 0 && most > 0)
        return usage_error(self, "missing %s", self->operand);
    if (most == 1 && count > 1 && asks(self, argc, argv))
        return usage_error(self, "found %d arguments, expected %s; put the whole query in single "
                           "quotes: --query 'S R ?'", count, self->operand);
    if ((most >= 0 && count > (most ? most : 1)) || (most > 1 && count < 2))
        return usage_error(self, "found %d arguments, expected %s", count,
                           most > 1 ? "two or more runs" : self->operand);
    for (int i = 0; i < count; i++)
        if (!add_text(&a->operands, argv[optind + i], argc))
            return out_of_memory();
    a->operand = count ? argv[optind] : NULL;
    return -1;
}

/* A required option is missing if its pointer or list is still empty. */
static int check_required(const common_arguments *a, const command *self)
{
    for (size_t i = 0; i < self->option_count; i++) {
        const option_row *row = &self->options[i];
        const void *const *to = (const void *const *)((const char *)a + row->to);
        if (row->required && !*to)
            return row->letter ? usage_error(self, "missing -%c %s", row->letter, row->argument)
                               : usage_error(self, "missing --%s %s", row->name, row->argument);
    }
    return -1;
}

static void set_initial(common_arguments *a, const option_row *row, int argc)
{
    void *to = (char *)a + row->to;

    if (row->initial)
        take_value(to, row, row->initial, argc);
    else if (row->type == OPTION_NUMBER)
        *(double *)to = NAN;
}

int parse_arguments(void *arguments, const command *self, int argc, char **argv)
{
    common_arguments *a = arguments;
    char letters[2 * 64];
    struct option *table = getopt_table(self, letters);
    int option, status = table ? -1 : out_of_memory();

    for (size_t i = 0; i < self->option_count; i++)
        set_initial(a, &self->options[i], argc);
    opterr = 0;
    while (status == -1 && (option = getopt_long(argc, argv, letters, table, NULL)) != -1)
        status = take_option(a, self, option, argc, argv);
    free(table);
    if (status == -1)
        status = take_operands(a, self, argc, argv);
    return status == -1 && a->operand ? check_required(a, self) : status;
}

void release_arguments(void *arguments, const command *self)
{
    common_arguments *a = arguments;

    for (size_t i = 0; i < self->option_count; i++)
        if (self->options[i].type == OPTION_TEXTS)
            free(((text_list *)((char *)a + self->options[i].to))->at);
    free(a->operands.at);
    free(a->settings.names.at);
    free(a->settings.values.at);
}

/* ---- help ---- */

enum { INDENT = 26, COLUMNS = 96 };

/* Print words from a column on, in lines of at most COLUMNS. */
static void print_wrapped(const char *text, int column)
{
    int at = column;

    while (*text) {
        int length = (int)strcspn(text, " ");
        if (at > column && at + 1 + length > COLUMNS) {
            printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s%.*s", at > column ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* "N", "a|b" or nothing. */
static const char *argument_of(const option_row *row)
{
    if (row->type == OPTION_PRESET)
        return preset_names();
    return row->argument ? row->argument : "";
}

static void print_option(const option_row *row)
{
    char left[128], *help = NULL;
    const char *usual = row->initial ? row->initial : row->otherwise;
    int used = row->letter ? snprintf(left, sizeof left, "  -%c, ", row->letter)
                           : snprintf(left, sizeof left, "      ");

    const char *argument = argument_of(row);
    used += snprintf(left + used, sizeof left - (size_t)used, "--%s%s%s", row->name,
                     *argument ? " " : "", argument);
    printf("%-*s", INDENT, left);
    if (used >= INDENT)
        printf("\n%*s", INDENT, "");
    if (asprintf(&help, "%s%s%s%s", row->help, usual ? " (default: " : "", usual ? usual : "",
                 usual ? ")" : "") >= 0)
        print_wrapped(help, INDENT);
    free(help);
}

void print_options(const command *self)
{
    static const option_row help = {"help", 'h', NULL, "print this help", OPTION_FLAG, 0};

    for (size_t i = 0; i < self->option_count; i++)
        print_option(&self->options[i]);
    print_option(&help);
}

void dump_options(const command *self)
{
    const char *name, *help, *choices;

    printf("command\t%s\t%s\t%s\n", self->name, self->operand, self->summary);
    for (size_t i = 0; i < self->option_count; i++) {
        const option_row *r = &self->options[i];
        printf("option\t%s\t--%s\t%.1s\t%s\t%s\t%s\t%s\n", self->name, r->name,
               r->letter ? (char[]){r->letter, 0} : "", argument_of(r),
               r->initial     ? r->initial
               : r->otherwise ? r->otherwise
                              : "",
               r->required ? "required" : "", r->help);
    }
    printf("option\t%s\t--help\th\t\t\t\tprint this help\n", self->name);
    for (size_t i = 0; self->takes_settings && (name = kith_settings_name(i, &help, &choices));
         i++) {
        char value[64];
        printf("setting\t%s\t--%s\t\t%s\t%s\t\t%s\n", self->name, name, choices,
               setting_default(value, sizeof value, default_preset(self), name), help);
    }
}

/* ---- near names ---- */

/* Edits (insertions, deletions, replacements, swaps of neighbours) between two short names. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    size_t d[LONGEST + 1][LONGEST + 1], n = strlen(a), m = strlen(b);

    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    for (size_t i = 0; i <= n; i++)
        for (size_t k = 0; k <= m; k++) {
            if (i == 0 || k == 0) {
                d[i][k] = i + k;
                continue;
            }
            size_t best = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
            best = d[i - 1][k] + 1 < best ? d[i - 1][k] + 1 : best;
            best = d[i][k - 1] + 1 < best ? d[i][k - 1] + 1 : best;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
                d[i - 2][k - 2] + 1 < best)
                best = d[i - 2][k - 2] + 1;
            d[i][k] = best;
        }
    return d[n][m];
}

/* The distance between two names. A name that begins with the text or the other way round, or whose
 * part after the last '-' is the text, has distance 1. */
static size_t how_far(const char *text, const char *name)
{
    size_t length = strlen(text), own = strlen(name);
    const char *dash = strrchr(name, '-');

    if (length >= 3 && own >= 3 && strncmp(name, text, length < own ? length : own) == 0)
        return 1;
    if (length >= 3 && dash && strcmp(dash + 1, text) == 0)
        return 1;
    return distance(text, name);
}

const char *nearest_name(const char *text, const char *(*name_at)(const void *, size_t),
                         const void *context)
{
    size_t least = strlen(text) < 4 ? 1 : strlen(text) < 8 ? 2 : 3;
    const char *nearest = NULL, *name;

    for (size_t i = 0; (name = name_at(context, i)); i++) {
        size_t far = how_far(text, name);
        if (far < least || (far == least && !nearest)) {
            least = far;
            nearest = name;
        }
    }
    return nearest;
}
