#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "fuzz: violated: %s\n", what);
    abort();
}

/* ---- files ---- */

static char folder[64];

static void empty_folder(const char *path)
{
    char name[512];
    DIR *entries = opendir(path);

    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (unlink(name) != 0) {
            empty_folder(name);
            rmdir(name);
        }
    }
    if (entries)
        closedir(entries);
}

static void remove_folder(void)
{
    empty_folder(folder);
    rmdir(folder);
}

const char *scratch_folder(void)
{
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/kith-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        require(mkdtemp(folder) != NULL, "a scratch folder can be made");
        atexit(remove_folder);
    }
    empty_folder(folder);
    return folder;
}

const char *scratch_folder_kept(void)
{
    return folder;
}

const char *scratch_path(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void scratch_keep_folder(const char *name)
{
    mkdir(scratch_path(name), 0700);
}

void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");

    require(file != NULL, "a scratch file can be written");
    require(fwrite(bytes, 1, length, file) == length, "a scratch file can be written");
    fclose(file);
}

void write_input(const char *path, const uint8_t *data, size_t size)
{
    enum { SEVERAL_PIECES = 9 << 18, LEAST = 10 }; /* a million lines would take seconds */
    FILE *file;

    if (size < LEAST || data[0] != '\f') {
        write_file(path, data, size);
        return;
    }
    file = fopen(path, "wb");
    require(file != NULL, "a scratch file can be written");
    for (size_t written = 0; written < SEVERAL_PIECES; written += size) {
        fwrite(data + 1, 1, size - 1, file);
        fputc('\n', file);
    }
    fclose(file);
}

/* A name without a slash that is neither "." nor ".."; others are skipped. */
static int plain_name(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/');
}

void unpack(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    char name[64] = "train";

    scratch_folder();
    while (at < end) {
        const char *next = at;
        while (next < end && !(end - next > 4 && memcmp(next, "=== ", 4) == 0 &&
                               (next == at || next[-1] == '\n')))
            next++;
        if (next > at && plain_name(name))
            write_file(scratch_path(name), at, (size_t)(next - at));
        if (next >= end)
            break;
        const char *line_end = memchr(next, '\n', (size_t)(end - next));
        size_t length = (size_t)((line_end ? line_end : end) - next - 4);
        snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), next + 4);
        at = line_end ? line_end + 1 : end;
    }
}

/* ---- graphs ---- */

static void check_facts(const kith_graph *graph)
{
    for (int split = KITH_TRAIN; split < KITH_SPLITS; split++) {
        kith_facts facts = kith_graph_facts(graph, (kith_split)split);
        for (size_t i = 0; i < facts.count; i++) {
            kith_triple t = facts.at[i];
            require(kith_graph_entity_name(graph, t.subject) != NULL, "a subject has a name");
            require(kith_graph_entity_name(graph, t.object) != NULL, "an object has a name");
            require(kith_graph_relation_name(graph, t.relation) != NULL, "a relation has a name");
        }
    }
}

static void check_neighbors(const kith_graph *graph)
{
    kith_neighborhoods n = kith_graph_neighborhoods(graph);
    uint32_t entities = kith_graph_entity_count(graph), seen = kith_graph_seen_entity_count(graph);
    uint32_t relations = kith_graph_relation_count(graph);

    for (uint32_t e = 0; e < entities; e++) {
        require(n.offset[e] <= n.offset[e + 1], "neighbourhoods follow each other");
        for (uint64_t k = n.offset[e]; k < n.offset[e + 1]; k++) {
            require(n.at[k].entity < entities, "a neighbour exists");
            require(n.at[k].relation < 2 * relations, "a neighbour's relation exists");
        }
    }
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    size_t untrue = 0;
    for (size_t i = 0; train.truth && i < train.count; i++)
        untrue += train.truth[i] == 0;
    require(n.offset[seen] == 2 * (uint64_t)(train.count - untrue),
            "each fact of train is seen from both ends");
}

static void check_names(const kith_graph *graph)
{
    uint32_t found;

    for (uint32_t e = 0; e < kith_graph_entity_count(graph); e++)
        require(kith_graph_find_entity(&found, graph, kith_graph_entity_name(graph, e)) ==
                        KITH_OK &&
                    found == e,
                "a name leads back to its entity");
}

void try_columns(const char *path, const char *columns)
{
    for (int skip_bad = 0; skip_bad < 2; skip_bad++) {
        uint64_t hash[2] = {0, 0};
        for (unsigned threads = 1; threads <= 2; threads++) {
            kith_graph *graph = NULL;
            kith_error error = {0};
            kith_open_options options = {
                .skip_bad = skip_bad, .threads = threads, .columns = columns};
            kith_status status = kith_graph_open(&graph, path, &options, &error);
            require((status == KITH_OK) == (graph != NULL), "a graph is returned only on success");
            if (status != KITH_OK) {
                require(error.message[0] != 0, "a refusal says why");
                continue;
            }
            check_facts(graph);
            check_neighbors(graph);
            check_names(graph);
            hash[threads - 1] = kith_graph_hash(graph);
            kith_graph_free(graph);
        }
        require(hash[0] == hash[1], "the number of threads makes no difference");
    }
}

void try_source(const char *path)
{
    try_columns(path, NULL);
}
