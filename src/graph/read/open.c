/* Opening a source: what is at the path decides which reader takes it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "core/options.h"
#include "graph/read/fields.h"
#include "graph/read/rdf.h"
#include "graph/read/table.h"

typedef enum { TABLE, NTRIPLES, TURTLE } syntax;

/* ---- single files ---- */

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    return length >= n && strncasecmp(text + length - n, ending, n) == 0;
}

static bool syntax_by_name(syntax *found, const char *path)
{
    size_t length = strlen(path);

    if (ends_with(path, length, ".gz"))
        length -= 3;
    else if (ends_with(path, length, ".zst"))
        length -= 4;
    if (ends_with(path, length, ".nt") || ends_with(path, length, ".ntriples"))
        *found = NTRIPLES;
    else if (ends_with(path, length, ".ttl") || ends_with(path, length, ".turtle"))
        *found = TURTLE;
    else if (ends_with(path, length, ".tsv") || ends_with(path, length, ".txt"))
        *found = TABLE;
    else
        return false;
    return true;
}

static bool starts_with(kith__field line, const char *word)
{
    size_t n = strlen(word);
    return line.length >= n && strncasecmp(line.text, word, n) == 0;
}

/* By the first line that is neither blank nor a comment. */
static syntax syntax_by_content(const char *text, size_t length)
{
    const char *end = text + length;

    text += kith__skip_bom(text, length);
    while (text < end) {
        kith__field line = kith__next_line(&text, end);
        if (kith__is_blank(line))
            continue;
        if (starts_with(line, "@prefix") || starts_with(line, "@base") ||
            starts_with(line, "prefix ") || starts_with(line, "base "))
            return TURTLE;
        if (line.text[0] == '#')
            continue;
        while (kith__is_blank((kith__field){line.text + line.length - 1, 1}))
            line.length--;
        bool node = line.text[0] == '<' || starts_with(line, "_:");
        bool tabs = memchr(line.text, '\t', line.length) != NULL;
        return node && (!tabs || line.text[line.length - 1] == '.') ? NTRIPLES : TABLE;
    }
    return TABLE;
}

kith_status kith__read_file(kith__loader *loader, const char *path)
{
    static const char *const described[] = {"file of triples in columns", "N-Triples file",
                                            "Turtle file"};
    const kith__table_form names = {KITH__NEW_NAMES, KITH__NEW_NAMES, false, false, false};
    kith__input *input = NULL;
    syntax found = TABLE;
    kith_status status;

    TRY(kith__input_open(&input, path, loader->watch, loader->error));
    if (!syntax_by_name(&found, path)) {
        const char *text;
        size_t length;
        TRY(kith__input_peek(&text, &length, input, loader->error));
        found = syntax_by_content(text, length);
    }
    snprintf(loader->graph->layout, sizeof loader->graph->layout, "%s", described[found]);
    if (found == TABLE)
        TRY(kith__read_table(loader, input, KITH_TRAIN, &names));
    else
        TRY(kith__read_rdf(loader, input, found == TURTLE));
    if (loader->graph->splits[KITH_TRAIN].count == 0)
        TRY(kith__fail(loader->error, KITH_ERR_INPUT, "%s: no line of it is a fact; the first: %s",
                       path, loader->graph->first_bad));
cleanup:
    kith__input_close(input);
    return status;
}

/* ---- any source ---- */

static bool has_any(const char *folder, const char *const *names)
{
    for (; *names; names++)
        if (kith__path_exists(folder, *names))
            return true;
    return false;
}

static kith_status read_directory(kith__loader *loader, const char *path)
{
    static const char *const wordnet[] = {"data.noun", "data.verb", "data.adj", "data.adv", NULL};
    static const char *const train[] = {"train",        "train.txt",     "train.tsv",
                                        "train.gz",     "train.txt.gz",  "train.tsv.gz",
                                        "train.zst",    "train.txt.zst", "train.tsv.zst",
                                        NULL};
    if (kith__path_exists(path, "train2id.txt"))
        return kith__read_openke(loader, path);
    if (has_any(path, train))
        return kith__read_folder(loader, path);
    if (has_any(path, wordnet))
        return kith__read_wordnet(loader, path);
    return kith__fail(loader->error, KITH_ERR_INPUT,
                      "%s: no knowledge graph in this folder, expected train (or train.txt, "
                      "train.tsv), train2id.txt with entity2id.txt and relation2id.txt, or "
                      "WordNet's data.noun", path);
}

/* So that nobody replaces the folder by what was made from it. Of a file it is the one it is in. */
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
        return kith__fail(error, KITH_ERR_ARGUMENT, "found no path to open");
    kith__watch watch;
    kith_graph *graph = kith__graph_new();
    kith__loader loader = {.graph = graph, .watch = &watch, .error = error};
    struct stat info;

    kith__watch_init(&watch, options.watch, options.context);
    loader.skip_bad = options.skip_bad;
    loader.pool = kith__pool_new(options.threads);
    if (!graph || !loader.pool)
        TRY(kith__no_memory(error));
    if (stat(path, &info) != 0)
        TRY(kith__fail(error, KITH_ERR_IO, "%s: cannot open: %s", path, strerror(errno)));
    note_source(graph, path, info);
    TRY(S_ISDIR(info.st_mode) ? read_directory(&loader, path) : kith__read_file(&loader, path));
    TRY(kith__graph_finish(graph, loader.pool, &watch, error));
    *out = graph;
    graph = NULL;
cleanup:
    kith__pool_free(loader.pool);
    kith__watch_release(&watch);
    kith_graph_free(graph);
    return status;
}
