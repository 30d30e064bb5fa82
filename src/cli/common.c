#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/numbers.h"
#include "cli/signals.h"

int usage_error(const command *self, const char *format, ...)
{
    va_list arguments;

    put(stderr, "kith %s: ", self->name);
    va_start(arguments, format);
    vput(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nusage: kith %s %s\nTry 'kith help %s'.\n", self->name, self->usage,
            self->name);
    return EXIT_USAGE;
}

int bad_option(const command *self, int option, char **argv)
{
    if (option == ':')
        return usage_error(self, "the option '%s' needs a value", argv[optind - 1]);
    return usage_error(self, "cannot use the option '%s'", argv[optind - 1]);
}

int failure(const kith_error *error)
{
    if (error->status == KITH_ERR_STOPPED) {
        put(stderr, "kith: stopped\n");
        return stopped_status();
    }
    put(stderr, "kith: %s\n", error->message);
    return error->status == KITH_ERR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
}

int print_help(const command *self)
{
    printf("kith %s - %s\n\nusage: kith %s %s\n\n%s", self->name, self->summary, self->name,
           self->usage, self->help);
    if (self->more_help)
        self->more_help();
    return EXIT_SUCCESS;
}

bool parse_count(uint64_t *value, const char *text)
{
    return kith__parse_count(value, text, 0, UINT64_MAX);
}

bool parse_share(double *value, const char *text, double low, double high)
{
    return kith__parse_real(value, text, low, high);
}

json_t *text_json(const char *text)
{
    json_t *value = json_string(text);
    char *plain = value ? NULL : strdup(text);

    for (char *c = plain; c && *c; c++)
        if ((unsigned char)*c > 0x7f)
            *c = '?';
    if (plain)
        value = json_string(plain);
    free(plain);
    return value;
}

int print_json(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) : NULL;

    json_decref(value);
    if (!text)
        return out_of_memory();
    put_json_text(stdout, text);
    free(text);
    if (putchar('\n') == EOF) {
        put(stderr, "kith: cannot write the result: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    return EXIT_SUCCESS;
}

int out_of_memory(void)
{
    put(stderr, "kith: out of memory\n");
    return EXIT_FAILED;
}

kith_status open_source(kith_graph **graph, const char *path, const kith_open_options *options,
                        kith_error *error)
{
    kith_status status = kith_graph_open(graph, path, options, error);

    if (status == KITH_OK) {
        kith_load_report report = kith_graph_report(*graph);
        if (report.bad_lines > 0)
            put(stderr, "kith: skipped %zu bad line%s; the first: %s\n", report.bad_lines,
                    report.bad_lines == 1 ? "" : "s", report.first_bad);
        if (report.duplicates > 0)
            put(stderr, "kith: dropped %zu duplicate fact%s\n", report.duplicates,
                    report.duplicates == 1 ? "" : "s");
    }
    return status;
}

kith_status open_run(kith_model **model, const char *folder, unsigned threads, kith_error *error)
{
    kith_status status = kith_model_open(model, folder, threads, error);
    const char *warning;

    for (size_t i = 0; status == KITH_OK && (warning = kith_model_warning(*model, i)); i++)
        fprintf(stderr, "kith: warning: %s\n", warning);
    return status;
}
