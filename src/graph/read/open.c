/* Opening a source: chooses the reader by what is at the path. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "core/options.h"
#include "graph/labels.h"
#include "graph/read/foreign.h"
#include "graph/read/readers.h"

#define ROW(name) &kith__reader_##name,
static const kith__reader *const readers[] = {KITH__READERS(ROW)};
#undef ROW
enum { READERS = sizeof readers / sizeof *readers };

static void name_layout(kith_graph *graph, const kith__reader *reader)
{
    snprintf(graph->layout, sizeof graph->layout, "%s", reader->name);
}

/* ---- single files ---- */

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    return length >= n && strncasecmp(text + length - n, ending, n) == 0;
}

static const kith__reader *reader_by_ending(const char *path)
{
    size_t length = strlen(path);

    if (ends_with(path, length, ".gz"))
        length -= 3;
    else if (ends_with(path, length, ".zst"))
        length -= 4;
    for (size_t i = 0; i < READERS; i++)
        for (const char *const *ending = readers[i]->endings; ending && *ending; ending++)
            if (ends_with(path, length, *ending))
                return readers[i];
    return NULL;
}

static const kith__reader *reader_by_content(const char *text, size_t length)
{
    size_t i = 0;

    /* the last one accepts every file */
    while (!readers[i]->begins || !readers[i]->begins(text, length))
        i++;
    return readers[i];
}

/* Columns can be chosen only for a file in columns. */
static kith_status refuse_columns(kith__loader *loader, const char *path,
                                  const kith__reader *reader)
{
    if (!loader->columns || reader == &kith__reader_columns)
        return KITH_OK;
    return kith__fail(loader->error, KITH_ERR_ARGUMENT,
                      "%s: columns were given for a source of the kind '%s', expected them for a "
                      "file in columns only", path, reader->name);
}

static kith_status read_file(kith__loader *loader, const char *path)
{
    const kith__reader *reader = reader_by_ending(path);
    kith__input *input = NULL;
    const char *text;
    size_t length;
    kith_status status;

    TRY(kith__input_open(&input, path, loader->watch, loader->error));
    TRY(kith__input_refuse_utf16(input, loader->error));
    if (!reader) {
        TRY(kith__input_peek(&text, &length, input, loader->error));
        reader = reader_by_content(text, length);
    }
    name_layout(loader->graph, reader);
    TRY(kith__refuse_foreign(input, reader == &kith__reader_columns, loader->error));
    TRY(refuse_columns(loader, path, reader));
    TRY(reader->read_file(loader, input));
    if (loader->graph->splits[KITH_TRAIN].count == 0)
        TRY(kith__fail(loader->error, KITH_ERR_INPUT, "%s: no line is a fact; the first: %s",
                       path, loader->graph->first_bad));
cleanup:
    kith__input_close(input);
    return status;
}

/* ---- folders ---- */

/* "a, b or c": the files by which readers recognise folders. */
static void list_expected(char *text, size_t size)
{
    size_t used = 0, left = 0;

    for (size_t i = 0; i < READERS; i++)
        left += readers[i]->holds != NULL;
    for (size_t i = 0; i < READERS && used < size; i++) {
        if (!readers[i]->holds)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used == 0 ? "" : left == 1 ? ", or " : ", ", readers[i]->holds);
        left--;
    }
}

static kith_status read_directory(kith__loader *loader, const char *path)
{
    char expected[512] = "";

    for (size_t i = 0; i < READERS; i++)
        if (readers[i]->is_folder && readers[i]->is_folder(path)) {
            kith_status status = refuse_columns(loader, path, readers[i]);
            name_layout(loader->graph, readers[i]);
            return status == KITH_OK ? readers[i]->read_folder(loader, path) : status;
        }
    list_expected(expected, sizeof expected);
    return kith__fail(loader->error, KITH_ERR_INPUT,
                      "%s: no knowledge graph in this folder, expected %s", path, expected);
}

/* ---- any source ---- */

/* Remember the folder, so that nobody overwrites it with something made from it. For a file, it is
 * the folder that contains it. */
static void note_source(kith_graph *graph, const char *path, struct stat info)
{
    char folder[PATH_MAX];

    if (!S_ISDIR(info.st_mode)) {
        const char *slash = strrchr(path, '/');
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1,
                 slash ? path : ".");
        if (stat(folder[0] ? folder : "/", &info) != 0)
            return;
    }
    graph->source[0] = (uint64_t)info.st_dev;
    graph->source[1] = (uint64_t)info.st_ino;
}

void(kith_open_options_init)(kith_open_options *options, size_t size)
{
    static const kith_open_options defaults = {0};

    kith__options_give(options, size, &defaults, sizeof defaults);
}

kith_status kith_graph_open(kith_graph **out, const char *path, const kith_open_options *given,
                            kith_error *error)
{
    kith_open_options options = {0};
    kith_status status = kith__options_copy(&options, sizeof options, sizeof options, given, error);

    if (status != KITH_OK)
        return status;
    if (!out || !path)
        return kith__fail(error, KITH_ERR_ARGUMENT, "no path given to open");
    kith__watch watch;
    kith_graph *graph = kith__graph_new();
    kith__label_set labels = {0};
    kith__loader loader = {.graph = graph,
                           .watch = &watch,
                           .columns = options.columns,
                           .labels = &labels,
                           .row = options.row,
                           .row_context = options.row_context,
                           .error = error};
    struct stat info;

    kith__watch_init(&watch, options.watch, options.context);
    loader.skip_bad = options.skip_bad;
    loader.pool = kith__pool_new(options.row ? 1 : options.threads);
    if (!graph || !loader.pool)
        TRY(kith__no_memory(error));
    if (stat(path, &info) != 0)
        TRY(kith__fail(error, KITH_ERR_IO, "%s: cannot open: %s", path, strerror(errno)));
    note_source(graph, path, info);
    TRY(S_ISDIR(info.st_mode) ? read_directory(&loader, path) : read_file(&loader, path));
    graph->report.labels = labels.met;
    if (kith__label_set_apply(graph, &labels))
        TRY(kith__no_memory(error));
    TRY(kith__graph_finish(graph, loader.pool, &watch, error));
    *out = graph;
    graph = NULL;
cleanup:
    kith__pool_free(loader.pool);
    kith__watch_release(&watch);
    kith__label_set_release(&labels);
    kith_graph_free(graph);
    return status;
}
