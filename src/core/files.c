#include "core/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

static kith_status system_error(kith_error *error, const char *path, const char *doing)
{
    return kith__fail(error, KITH_ERR_IO, "%s: cannot %s: %s", path, doing, strerror(errno));
}

char *kith__name_beside(const char *path)
{
    size_t length = strlen(path);
    char *name = kith__alloc(length + 32, 1);

    while (length > 1 && path[length - 1] == '/')
        length--;
    if (name)
        snprintf(name, length + 32, "%.*s.tmp-%ld", (int)length, path, (long)gettid());
    return name;
}

/* What is neither a file nor a folder would be replaced by one. */
static bool is_special(const char *path)
{
    struct stat there;

    return stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
}

kith_status kith__new_file_open(kith__new_file *file, const char *path, kith_error *error)
{
    bool special = is_special(path);

    memset(file, 0, sizeof *file);
    file->path = kith__strdup(path);
    file->temporary = special ? NULL : kith__name_beside(path);
    if (!file->path || (!special && !file->temporary)) {
        kith__new_file_abandon(file);
        return kith__no_memory(error);
    }
    file->stream = fopen(special ? path : file->temporary, "we");
    if (!file->stream) {
        kith_status status = system_error(error, path, "write");
        kith__new_file_abandon(file);
        return status;
    }
    return KITH_OK;
}

void kith__new_file_abandon(kith__new_file *file)
{
    if (file->stream) {
        fclose(file->stream);
        if (file->temporary)
            unlink(file->temporary);
    }
    kith__free(file->path);
    kith__free(file->temporary);
    memset(file, 0, sizeof *file);
}

kith_status kith__sync_folder(const char *path, kith_error *error)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    kith_status status = KITH_OK;

    /* Some file systems cannot sync a folder and say EINVAL; that is no failure of ours. */
    if (folder < 0 || (fsync(folder) != 0 && errno != EINVAL))
        status = system_error(error, path, "sync");
    if (folder >= 0)
        close(folder);
    return status;
}

static kith_status sync_parent(const char *path, kith_error *error)
{
    char *parent = kith__strdup(path);

    if (!parent)
        return kith__no_memory(error);
    size_t length = strlen(parent);
    while (length > 1 && parent[length - 1] == '/')
        parent[--length] = '\0';
    char *slash = strrchr(parent, '/');
    if (slash)
        slash[slash == parent ? 1 : 0] = '\0';
    kith_status status = kith__sync_folder(slash ? parent : ".", error);
    kith__free(parent);
    return status;
}

kith_status kith__new_file_commit(kith__new_file *file, kith_error *error)
{
    kith_status status = KITH_OK;
    FILE *stream = file->stream;

    if (ferror(stream) || fflush(stream) != 0 || (file->temporary && fsync(fileno(stream)) != 0))
        status = system_error(error, file->path, "write");
    file->stream = NULL;
    if (fclose(stream) != 0 && status == KITH_OK)
        status = system_error(error, file->path, "write");
    if (status == KITH_OK && file->temporary && rename(file->temporary, file->path) != 0)
        status = system_error(error, file->path, "rename the finished file to it");
    /* So that files that were written one after the other are there in that order after a power
     * cut. */
    if (status == KITH_OK && file->temporary)
        (void)sync_parent(file->path, NULL);
    if (status != KITH_OK && file->temporary)
        unlink(file->temporary);
    kith__new_file_abandon(file);
    return status;
}

kith_status kith__place_folder(const char *folder, const char *path, bool replace,
                               kith_error *error)
{
    int failed = replace ? renameat2(AT_FDCWD, folder, AT_FDCWD, path, RENAME_EXCHANGE)
                         : rename(folder, path);
    if (failed)
        return system_error(error, path, "put the finished folder there");
    return sync_parent(path, error);
}

void kith__remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    if (!folder)
        return;
    while ((entry = readdir(folder)))
        unlinkat(dirfd(folder), entry->d_name, 0); /* folders refuse, and stay */
    closedir(folder);
    rmdir(path);
}

static void remove_whole(const char *path)
{
    char inner[4096];

    if (unlink(path) == 0)
        return;
    /* A run's folder, in which a graph's may be, each whole or in the making. */
    if (snprintf(inner, sizeof inner, "%s/graph", path) < (int)sizeof inner)
        kith__remove_folder(inner);
    kith__remove_leftovers(path);
    kith__remove_folder(path);
}

void kith__remove_leftovers(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    char inner[4096];

    while (folder && (entry = readdir(folder)))
        if (strstr(entry->d_name, ".tmp-") &&
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < (int)sizeof inner)
            remove_whole(inner);
    if (folder)
        closedir(folder);
}
