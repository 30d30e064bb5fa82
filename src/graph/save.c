/* Writing a graph as a folder. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "core/mem.h"
#include "core/options.h"
#include "graph/labels.h"

static const char *const part_files[KITH_SPLITS] = {"train", "dev", "test", "aux"};

typedef kith_status (*writer)(FILE *out, const kith_graph *graph, const void *context,
                              kith_error *error);

static kith_status write_file(const char *folder, const char *name, writer write,
                              const kith_graph *graph, const void *context, kith_error *error)
{
    kith__new_file file = {0};
    char *path = kith__path_join(folder, name);
    kith_status status = KITH_OK;

    if (!path)
        TRY(kith__no_memory(error));
    TRY(kith__new_file_replace(&file, path, error));
    TRY(write(file.stream, graph, context, error));
    TRY(kith__new_file_commit(&file, error));
cleanup:
    kith__new_file_abandon(&file);
    kith__free(path);
    return status;
}

/* Readers drop a byte order mark at the beginning of a file, so if the first name begins with one,
 * a second one is written before it. */
static void guard_mark(FILE *out, const char *first_name)
{
    static const char mark[] = "\xef\xbb\xbf";

    if (strncmp(first_name, mark, strlen(mark)) == 0)
        fputs(mark, out);
}

typedef struct {
    int split;
    bool ids;
    kith__watch *watch;
} part_choice;

enum { TICK = 1024 };

static kith_status write_part(FILE *out, const kith_graph *graph, const void *context,
                              kith_error *error)
{
    const part_choice *choice = context;
    const kith__facts *facts = &graph->splits[choice->split];

    /* A failed write is reported when the file is committed. */
    if (!choice->ids && facts->count > 0)
        guard_mark(out, kith_graph_entity_name(graph, facts->at[0].subject));
    for (size_t i = 0; i < facts->count; i++) {
        kith_triple t = facts->at[i];
        if (i % TICK == 0 && i > 0 && kith__watch_add(choice->watch, TICK))
            return kith__watch_status(choice->watch, error);
        if (choice->ids)
            fprintf(out, "%u\t%u\t%u", t.subject, t.relation, t.object);
        else
            fprintf(out, "%s\t%s\t%s", kith_graph_entity_name(graph, t.subject),
                    kith_graph_relation_name(graph, t.relation),
                    kith_graph_entity_name(graph, t.object));
        if (facts->truth)
            fprintf(out, "\t%d", facts->truth[i]);
        fputc('\n', out);
    }
    return KITH_OK;
}

static kith_status write_vocabulary(FILE *out, const kith_graph *graph, const void *context,
                                    kith_error *error)
{
    const kith__names *names = context;

    (void)graph;
    (void)error;
    if (names->count > 0)
        guard_mark(out, kith__names_get(names, 0));
    for (uint32_t i = 0; i < names->count; i++)
        fprintf(out, "%s\t%u\n", kith__names_get(names, i), i);
    return KITH_OK;
}

static uint32_t first_labelled(const kith_graph *graph)
{
    for (uint32_t e = 0; graph->label_start && e < graph->entities.count; e++)
        if (graph->label_start[e] > 0)
            return e;
    return KITH__NO_ID;
}

static kith_status write_labels(FILE *out, const kith_graph *graph, const void *context,
                                kith_error *error)
{
    (void)context;
    (void)error;
    guard_mark(out, kith_graph_entity_name(graph, first_labelled(graph)));
    for (uint32_t e = 0; e < graph->entities.count; e++)
        if (graph->label_start[e] > 0)
            fprintf(out, "%s\t%s\n", kith_graph_entity_name(graph, e),
                    kith_graph_entity_label(graph, e));
    return KITH_OK;
}

static kith_status write_relation_labels(FILE *out, const kith_graph *graph, const void *context,
                                         kith_error *error)
{
    const kith__label_set *set = graph->relation_labels;

    (void)context;
    (void)error;
    guard_mark(out, kith__names_get(&set->names, 0));
    for (uint32_t i = 0; i < set->names.count; i++)
        fprintf(out, "%s\t%s\n", kith__names_get(&set->names, i), set->bytes + set->at[i].start);
    return KITH_OK;
}

static kith_status write_prefixes(FILE *out, const kith_graph *graph, const void *context,
                                  kith_error *error)
{
    const kith__prefixes *p = &graph->prefixes;

    (void)context;
    (void)error;
    for (size_t i = 0; i < p->count; i++)
        fprintf(out, "%s:\t%s\n", p->bytes + p->at[i].name, p->bytes + p->at[i].iri);
    return KITH_OK;
}

static kith_status write_note(FILE *out, const kith_graph *graph, const void *context,
                              kith_error *error)
{
    (void)graph;
    (void)error;
    fprintf(out, "%s\n", (const char *)context);
    return KITH_OK;
}

/* Refuse names that the format cannot hold, rather than write them so that they read back as
 * something else. */
static kith_status check_names(const kith__names *names, const char *what, kith_error *error)
{
    for (uint32_t i = 0; i < names->count; i++) {
        const char *name = kith__names_get(names, i);
        size_t length = kith__names_length(names, i);
        char quoted[KITH__QUOTED];
        if (length == 0 || strpbrk(name, "\t\n") || name[length - 1] == '\r')
            return kith__fail(error, KITH_ERR_INPUT,
                              "the %s %s cannot be written in columns: its name holds a tab or a "
                              "line end", what, kith__quote(quoted, name, length));
    }
    return KITH_OK;
}

static kith_status write_all(const kith_graph *graph, const char *folder,
                             const kith_save_options *options, kith__watch *watch,
                             kith_error *error)
{
    size_t facts = 0;
    kith_status status;

    for (int split = 0; split < KITH_SPLITS; split++)
        facts += graph->splits[split].count;
    TRY(kith__watch_begin(watch, "writing facts", facts, error));
    for (int split = 0; split < KITH_SPLITS; split++) {
        part_choice choice = {split, options->ids, watch};
        if (graph->splits[split].count > 0)
            TRY(write_file(folder, part_files[split], write_part, graph, &choice, error));
    }
    if (options->ids) {
        TRY(write_file(folder, "entity2id.txt", write_vocabulary, graph, &graph->entities, error));
        TRY(write_file(folder, "relation2id.txt", write_vocabulary, graph, &graph->relations,
                       error));
    }
    /* All entities with labels may have been dropped, and readers refuse an empty file. */
    if (first_labelled(graph) != KITH__NO_ID)
        TRY(write_file(folder, "entity_name.txt", write_labels, graph, NULL, error));
    if (graph->relation_labels)
        TRY(write_file(folder, "relation_name.txt", write_relation_labels, graph, NULL, error));
    if (graph->prefixes.count > 0)
        TRY(write_file(folder, "prefixes.txt", write_prefixes, graph, NULL, error));
    if (options->note)
        TRY(write_file(folder, "split.json", write_note, graph, options->note, error));
    TRY(kith__sync_folder(folder, error));
cleanup:
    return status;
}

static bool is_ours(const char *name)
{
    static const char *const others[] = {"entity2id.txt", "relation2id.txt", "entity_name.txt",
                                         "relation_name.txt", "prefixes.txt", "split.json"};

    for (size_t i = 0; i < KITH_SPLITS; i++)
        if (strcmp(name, part_files[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return false;
}

/* Whether a folder contains anything, and the name of one entry that kith did not write. */
static void look_inside(bool *full, char foreign[256], DIR *entries)
{
    struct dirent *entry;

    *full = false;
    foreign[0] = '\0';
    while ((entry = readdir(entries))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        *full = true;
        if (!is_ours(entry->d_name))
            snprintf(foreign, 256, "%s", entry->d_name);
    }
}

/* Replacing a link would leave the folder that it points to unchanged or empty, which is not what
 * the user asked for. */
static bool is_link(const char *folder)
{
    char path[PATH_MAX];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s", folder);

    while (length > 1 && length < (int)sizeof path && path[length - 1] == '/')
        path[--length] = '\0';
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

static bool is_source(const kith_graph *graph, const struct stat *info)
{
    return (graph->source[0] || graph->source[1]) && graph->source[0] == (uint64_t)info->st_dev &&
           graph->source[1] == (uint64_t)info->st_ino;
}

/* Whether a folder may be written to; *full says that it is not empty. */
static kith_status look_at_target(bool *full, const kith_graph *graph, const char *folder,
                                  bool replace, kith_error *error)
{
    struct stat info;
    char foreign[256];
    DIR *entries;

    *full = false;
    if (is_link(folder))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%s: is a symbolic link; give the folder it points to, or choose "
                          "another name", folder);
    if (stat(folder, &info) != 0)
        return errno == ENOENT ? KITH_OK
                               : kith__fail(error, KITH_ERR_IO, "%s: cannot access it: %s", folder,
                                            strerror(errno));
    if (replace && is_source(graph, &info))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%s: is the source of these facts, which would be lost; choose another "
                          "name", folder);
    entries = S_ISDIR(info.st_mode) ? opendir(folder) : NULL;
    if (!entries)
        return kith__fail(error, KITH_ERR_ARGUMENT, "%s: exists and is not a readable folder",
                          folder);
    look_inside(full, foreign, entries);
    closedir(entries);
    bool written = kith__path_exists(folder, "split.json");
    if (!*full || (replace && written && !foreign[0]))
        return KITH_OK;
    if (replace && written)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%s: holds %s, which kith did not write; move it away or choose another "
                          "name", folder, foreign);
    return kith__fail(error, KITH_ERR_ARGUMENT,
                      replace
                          ? "%s: is not a folder that kith wrote (it has no split.json); remove "
                            "it yourself or choose another name"
                          : "%s: exists and is not empty; choose another name, or replace it "
                            "with --force",
                      folder);
}

void(kith_save_options_init)(kith_save_options *options, size_t size)
{
    static const kith_save_options defaults = {0};

    kith__options_give(options, size, &defaults, sizeof defaults);
}

kith_status kith_graph_save(const kith_graph *graph, const char *folder,
                            const kith_save_options *given, kith_error *error)
{
    kith_save_options options = {0};
    kith__new_folder work = {0};
    kith__watch watch;
    bool full;
    kith_status status;

    if (!graph || !folder)
        return kith__fail(error, KITH_ERR_ARGUMENT, "no graph or no folder given to save to");
    status = kith__options_copy(&options, sizeof options, sizeof options, given, error);
    kith__watch_init(&watch, options.watch, options.context);
    TRY(status);
    TRY(check_names(&graph->entities, "entity", error));
    TRY(check_names(&graph->relations, "relation", error));
    TRY(look_at_target(&full, graph, folder, options.replace, error));
    TRY(kith__new_folder_open(&work, folder, error));
    TRY(write_all(graph, work.temporary, &options, &watch, error));
    TRY(kith__new_folder_commit(&work, full, error));
cleanup:
    kith__new_folder_abandon(&work);
    kith__watch_release(&watch);
    return status;
}

kith_status kith__write_text(const char *folder, const char *name, const char *text,
                             kith_error *error)
{
    kith__new_file file = {0};
    char *path = kith__path_join(folder, name);
    kith_status status = KITH_OK;

    if (!path || !text)
        TRY(kith__no_memory(error));
    TRY(kith__new_file_replace(&file, path, error));
    fprintf(file.stream, "%s\n", text);
    TRY(kith__new_file_commit(&file, error));
cleanup:
    kith__new_file_abandon(&file);
    kith__free(path);
    return status;
}
