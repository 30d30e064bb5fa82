/* Creating the folder of a new run, with its parents, optionally replacing an older run. */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "core/mem.h"
#include "graph/graph.h"
#include "run/config.h"
#include "run/json_file.h"
#include "run/lock.h"
#include "run/run.h"

/* ---- parents ---- */

/* Create the parent folders of `path`. `first` becomes the length of the first one that was
 * missing, or 0 if none was. */
static kith_status make_parents(size_t *first, const char *path, kith_error *error)
{
    char *part = kith__strdup(path);
    kith_status status = KITH_OK;
    size_t length = part ? strlen(part) : 0;

    *first = 0;
    if (!part)
        return kith__no_memory(error);
    while (length > 1 && part[length - 1] == '/')
        part[--length] = '\0';
    for (size_t i = 1; i < length && status == KITH_OK; i++) {
        if (part[i] != '/' || part[i - 1] == '/')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0777) == 0)
            *first = *first ? *first : i;
        else if (errno != EEXIST && errno != EISDIR)
            status = kith__fail(error, KITH_ERR_IO, "%s: cannot create the folder %s: %s", path,
                                part, strerror(errno));
        part[i] = '/';
    }
    kith__free(part);
    return status;
}

/* Remove these parents again, the deepest first; folders that are not empty stay. */
static void remove_parents(size_t first, const char *path)
{
    char *part = first > 0 ? kith__strdup(path) : NULL;

    for (size_t i = part ? strlen(part) : 0; i-- > first;)
        if (part[i] == '/' && i > 0) {
            part[i] = '\0';
            rmdir(part);
        }
    if (part) {
        part[first] = '\0';
        rmdir(part);
    }
    kith__free(part);
}

/* ---- replacing ---- */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* Becomes the first entry of a folder that kith does not create there, to be freed, or stays NULL.
 * What is not a folder, or cannot be looked into, is one itself. */
static kith_status find_foreign(char **foreign, const char *path, const char *const *names,
                                kith_error *error)
{
    DIR *folder = opendir(path);
    bool unreadable = !folder && errno != ENOENT, found = false;
    struct dirent *entry;

    while (folder && !found && (entry = readdir(folder))) {
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                !is_one_of(entry->d_name, names);
        if (found)
            *foreign = kith__path_join(path, entry->d_name);
    }
    if (folder)
        closedir(folder);
    if (unreadable)
        *foreign = kith__strdup(path);
    return (found || unreadable) && !*foreign ? kith__no_memory(error) : KITH_OK;
}

/* Not a link to a folder: what it leads to is not kith's to delete. */
static bool is_real_folder(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The same for the run, its graph, and the run in heldout/. */
static kith_status find_foreign_in_run(char **foreign, const char *folder, kith_error *error)
{
    static const char *const of_run[] = {
        "config.json",      "graph",           "model.safetensors", "checkpoint.safetensors",
        "calibration.json", "classifier.json", "has_relation.json", "metrics.json",
        "overall.json",     "fusion.json",     "rules.safetensors", "history.jsonl",
        "cache.bin",        "lock",            "heldout",           "carried_fusion.json",
        NULL};
    static const char *const of_graph[] = {"train", "dev", "test", "aux", "entity2id.txt",
                                           "relation2id.txt", "entity_name.txt", "split.json",
                                           "relation_name.txt", "prefixes.txt",
                                           NULL};
    char *graph = kith__path_join(folder, "graph"), *inner = kith__path_join(folder, "heldout");
    kith_status status = KITH_OK;

    if (!graph || !inner)
        TRY(kith__no_memory(error));
    if (!is_real_folder(folder)) {
        *foreign = kith__strdup(folder);
        if (!*foreign)
            TRY(kith__no_memory(error));
        goto cleanup;
    }
    kith__remove_leftovers(folder); /* of killed processes */
    TRY(find_foreign(foreign, folder, of_run, error));
    if (!*foreign)
        TRY(find_foreign(foreign, graph, of_graph, error));
    if (!*foreign && kith__path_exists(folder, "heldout"))
        TRY(find_foreign_in_run(foreign, inner, error));
cleanup:
    kith__free(graph);
    kith__free(inner);
    return status;
}

/* Whether config.json was written by kith. */
static bool is_run(const char *folder)
{
    json_t *config = NULL;
    bool good = kith__json_load(&config, NULL, folder, "config.json", false, NULL) == KITH_OK &&
                json_object_get(config, "kith") && json_object_get(config, "settings");

    json_decref(config);
    return good;
}

static kith_status check_replaceable(const char *folder, kith_error *error)
{
    struct stat info;

    if (lstat(folder, &info) == 0 && S_ISLNK(info.st_mode))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%s: is a symbolic link, which is not replaced; name the folder itself",
                          folder);
    if (!is_run(folder))
        return kith__fail(
            error, KITH_ERR_ARGUMENT,
            "%s: is not a run made by kith, so it is not replaced; choose another name", folder);
    return KITH_OK;
}

static kith_status check_nothing_foreign(const char *folder, kith_error *error)
{
    char *foreign = NULL;
    kith_status status = find_foreign_in_run(&foreign, folder, error);

    if (status == KITH_OK && foreign)
        status = kith__fail(error, KITH_ERR_ARGUMENT,
                            "%s: is not part of a run, so %s is not replaced; move it away first",
                            foreign, folder);
    kith__free(foreign);
    return status;
}

static bool holds_anything(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    bool found = false;

    while (entries && !found && (entry = readdir(entries)))
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (entries)
        closedir(entries);
    return found;
}

/* The target may be an older run to be replaced, missing, or an empty folder. */
static kith_status check_target(bool *full, const char *folder, bool replace, kith_error *error)
{
    struct stat info;

    *full = stat(folder, &info) == 0 && kith__path_exists(folder, "config.json");
    if (!*full && holds_anything(folder))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%s: is not empty and not a run; choose another name%s", folder,
                          replace ? " (--force replaces only runs made by kith)" : "");
    if (!*full)
        return KITH_OK; /* moving the folder there will report a problem, if any */
    if (!replace)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%s: already contains a run; resume it with --resume, replace it with "
                          "--force, or choose another name", folder);
    return check_replaceable(folder, error);
}

bool kith__run_removable(const char *folder)
{
    char *foreign = NULL;
    bool good = find_foreign_in_run(&foreign, folder, NULL) == KITH_OK && !foreign;

    kith__free(foreign);
    return good;
}

void kith__run_remove(const char *folder)
{
    if (!is_real_folder(folder))
        return;
    char *graph = kith__path_join(folder, "graph"), *inner = kith__path_join(folder, "heldout");

    if (inner && is_real_folder(inner))
        kith__run_remove(inner);
    if (graph)
        kith__remove_folder(graph);
    kith__remove_folder(folder);
    kith__free(graph);
    kith__free(inner);
}

/* ---- making ---- */

static kith_status fill_work_folder(const char *work, const kith_graph *graph,
                                    const kith_settings *settings,
                                    const kith__run_options *options, kith_error *error)
{
    const kith_save_options ids = {
        .ids = 1, .watch = options->watch, .context = options->watch_context};
    char *inner = kith__path_join(work, "graph");
    kith_status status = KITH_OK;

    if (!inner)
        TRY(kith__no_memory(error));
    TRY(kith_graph_save(graph, inner, &ids, error));
    TRY(kith__config_save(work, graph, settings, options->derived, error));
    if (options->fill)
        TRY(options->fill(options->context, work, error));
    TRY(kith__sync_folder(work, error));
cleanup:
    kith__free(inner);
    return status;
}

kith_status kith__run_create(const char *folder, const kith_graph *graph,
                             const kith_settings *settings, const kith__run_options *options,
                             kith_error *error)
{
    static const kith__run_options usual = {0};
    kith__new_folder work = {0};
    kith__run_lock lock = KITH__NO_LOCK, own = KITH__NO_LOCK; /* of the replaced run, and of this */
    char *older = NULL, *lock_path = NULL; /* where the replaced run is afterwards */
    bool full = false;
    size_t parent = 0;
    kith_status status;

    options = options ? options : &usual;
    TRY(check_target(&full, folder, options->replace, error));
    if (full) {
        TRY(kith__run_lock_take(&lock, folder, error));
        TRY(check_nothing_foreign(folder, error));
    }
    TRY(make_parents(&parent, folder, error));
    TRY(kith__new_folder_open(&work, folder, error));
    TRY(fill_work_folder(work.temporary, graph, settings, options, error));
    older = kith__strdup(work.temporary);
    lock_path = kith__path_join(folder, "lock");
    if (!older || !lock_path)
        TRY(kith__no_memory(error));
    if (options->lock)
        TRY(kith__run_lock_take(&own, work.temporary, error));
    if (full) /* writing the graph may have taken long */
        TRY(check_nothing_foreign(folder, error));
    TRY(kith__new_folder_commit(&work, full, error));
    if (options->lock) {
        kith__run_lock_moved(&own, lock_path);
        lock_path = NULL;
        *options->lock = own;
        own = KITH__NO_LOCK;
    }
    if (full)
        kith__run_remove(older);
cleanup:
    kith__run_lock_release(&own);
    kith__run_lock_release(&lock);
    kith__new_folder_abandon(&work);
    if (status != KITH_OK)
        remove_parents(parent, folder);
    kith__free(older);
    kith__free(lock_path);
    return status;
}
