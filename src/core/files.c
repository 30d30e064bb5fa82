#include "core/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"

static kith_status system_error(kith_error *error, const char *path, const char *doing)
{
    return kith__fail(error, KITH_ERR_IO, "%s: cannot %s: %s", path, doing, strerror(errno));
}

/* ---- temporary names ---- */

enum { DRAWN = 12, TRIES = 100 };
static const char mark[] = ".tmp-";

/* The length of a path without trailing slashes. */
static size_t trimmed(const char *path)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

static uint64_t draw(void)
{
    uint64_t number;
    struct timespec t;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number)
        return number;
    clock_gettime(CLOCK_MONOTONIC, &t); /* if the name is taken, another one is drawn */
    return ((uint64_t)t.tv_nsec << 32 ^ (uint64_t)gettid()) * 0x9e3779b97f4a7c15u;
}

/* Allocates a name beside `path`; NULL if out of memory. */
static char *alloc_name(const char *path)
{
    return kith__alloc(strlen(path) + sizeof mark + DRAWN, 1);
}

static void draw_name(char *name, const char *path)
{
    sprintf(name, "%.*s%s%0*" PRIx64, (int)trimmed(path), path, mark, DRAWN,
            draw() & ((UINT64_C(1) << 4 * DRAWN) - 1));
}

/* Whether draw_name made this name, and where its suffix begins. */
static bool is_drawn(const char *name, size_t *base)
{
    size_t length = strlen(name), tail = sizeof mark - 1 + DRAWN;

    if (length <= tail || strncmp(name + length - tail, mark, sizeof mark - 1) != 0)
        return false;
    *base = length - tail;
    return strspn(name + length - DRAWN, "0123456789abcdef") == DRAWN;
}

/* Lock a file that was just created. False if another process took it for a leftover and removed
 * it. */
static bool lock_new(int file)
{
    struct stat info;

    return (flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
           fstat(file, &info) == 0 && info.st_nlink > 0;
}

/* ---- leftovers ---- */

void kith__remove_folder(const char *path)
{
    int file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = file < 0 ? NULL : fdopendir(file);
    struct dirent *entry;

    if (!folder && file >= 0)
        close(file);
    if (!folder)
        return;
    while ((entry = readdir(folder)))
        unlinkat(dirfd(folder), entry->d_name, 0); /* fails on folders, which stay */
    closedir(folder);
    rmdir(path);
}

static void remove_whole(const char *path)
{
    char inner[PATH_MAX];

    if (unlink(path) == 0)
        return;
    /* A run's folder may contain a graph's folder; either may be finished or temporary. */
    if (snprintf(inner, sizeof inner, "%s/graph", path) < (int)sizeof inner)
        kith__remove_folder(inner);
    kith__remove_leftovers(path);
    kith__remove_folder(path);
}

/* The lock is held meanwhile: the writer of a new file may be about to take it. */
static void remove_if_abandoned(const char *path)
{
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
        remove_whole(path);
    if (file >= 0)
        close(file);
}

/* Remove the leftovers of one name, or of every name if it is NULL. */
static void sweep(const char *path, const char *of)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    char whole[PATH_MAX];
    size_t base;

    while (folder && (entry = readdir(folder))) {
        if (!is_drawn(entry->d_name, &base) ||
            (of && (strlen(of) != base || memcmp(of, entry->d_name, base) != 0)))
            continue;
        if (snprintf(whole, sizeof whole, "%s/%s", path, entry->d_name) < (int)sizeof whole)
            remove_if_abandoned(whole);
    }
    if (folder)
        closedir(folder);
}

void kith__remove_leftovers(const char *path)
{
    sweep(path, NULL);
}

/* Split a path without trailing slashes into its parent and its name. */
static const char *split_path(char parent[PATH_MAX], char name[PATH_MAX], const char *path)
{
    snprintf(parent, PATH_MAX, "%.*s", (int)trimmed(path), path);
    char *slash = strrchr(parent, '/');
    snprintf(name, PATH_MAX, "%s", slash ? slash + 1 : parent);
    if (!slash)
        return ".";
    slash[slash == parent ? 1 : 0] = '\0';
    return parent;
}

static void sweep_beside(const char *path)
{
    char parent[PATH_MAX], name[PATH_MAX];
    const char *folder = split_path(parent, name, path);

    sweep(folder, name);
}

/* ---- files ---- */

/* The standard stream that a path leads to, as /dev/stdout does; -1 if it is none. */
static int standard_stream(const struct stat *there)
{
    struct stat own;

    for (int file = STDOUT_FILENO; file <= STDERR_FILENO; file++)
        if (fstat(file, &own) == 0 && own.st_ino == there->st_ino && own.st_dev == there->st_dev)
            return file;
    return -1;
}

/* What a rename must not replace: a pipe, a device, or whatever a standard stream goes to. */
static bool is_special(const char *path)
{
    struct stat there;

    return stat(path, &there) == 0 && !S_ISDIR(there.st_mode) &&
           (!S_ISREG(there.st_mode) || standard_stream(&there) >= 0);
}

/* A standard stream is shared, so that nothing written to it before is lost. */
static FILE *open_special(const char *path)
{
    struct stat there;
    int stream = stat(path, &there) == 0 ? standard_stream(&there) : -1;

    if (stream < 0)
        return fopen(path, "we");
    int file = fcntl(stream, F_DUPFD_CLOEXEC, 0);
    FILE *made = file < 0 ? NULL : fdopen(file, "w");
    if (!made && file >= 0)
        close(file);
    return made;
}

/* A new locked file beside `path`; NULL if it cannot be created. */
static FILE *open_drawn(char *name, const char *path)
{
    for (int i = 0; i < TRIES; i++) {
        draw_name(name, path);
        int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            return NULL;
        if (file >= 0 && lock_new(file)) {
            FILE *stream = fdopen(file, "w");
            if (!stream) {
                close(file);
                unlink(name);
            }
            return stream;
        }
        if (file >= 0)
            close(file);
    }
    return NULL;
}

static kith_status open_new(kith__new_file *file, const char *path, bool special,
                            kith_error *error)
{
    memset(file, 0, sizeof *file);
    file->path = kith__strdup(path);
    file->temporary = special ? NULL : alloc_name(path);
    if (!file->path || (!special && !file->temporary)) {
        kith__new_file_abandon(file);
        return kith__no_memory(error);
    }
    if (!special)
        sweep_beside(path);
    file->stream = special ? open_special(path) : open_drawn(file->temporary, path);
    if (!file->stream) {
        kith_status status = system_error(error, path, "write");
        kith__new_file_abandon(file);
        return status;
    }
    return KITH_OK;
}

kith_status kith__new_file_open(kith__new_file *file, const char *path, kith_error *error)
{
    char target[PATH_MAX];
    struct stat there;
    bool special = is_special(path), link = lstat(path, &there) == 0 && S_ISLNK(there.st_mode);

    return open_new(file, !special && link && realpath(path, target) ? target : path, special,
                    error);
}

kith_status kith__new_file_replace(kith__new_file *file, const char *path, kith_error *error)
{
    return open_new(file, path, false, error);
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

    /* Some file systems cannot sync a folder and return EINVAL; that is not an error. */
    if (folder < 0 || (fsync(folder) != 0 && errno != EINVAL))
        status = system_error(error, path, "sync");
    if (folder >= 0)
        close(folder);
    return status;
}

static kith_status sync_parent(const char *path, kith_error *error)
{
    char parent[PATH_MAX], name[PATH_MAX];

    return kith__sync_folder(split_path(parent, name, path), error);
}

kith_status kith__new_file_commit(kith__new_file *file, kith_error *error)
{
    kith_status status = KITH_OK;
    FILE *stream = file->stream;

    if (ferror(stream) || fflush(stream) != 0 || (file->temporary && fsync(fileno(stream)) != 0))
        status = system_error(error, file->path, "write");
    /* Closing the file releases the lock; an unlocked temporary file would look like a leftover to
     * others. */
    if (status == KITH_OK && file->temporary && rename(file->temporary, file->path) != 0)
        status = system_error(error, file->path, "rename the finished file to it");
    file->stream = NULL;
    if (fclose(stream) != 0 && status == KITH_OK && !file->temporary)
        status = system_error(error, file->path, "write");
    /* Sync the folder, so that after a power cut files appear in the order in which they were
     * written. */
    if (status == KITH_OK && file->temporary)
        (void)sync_parent(file->path, NULL);
    if (status != KITH_OK && file->temporary)
        unlink(file->temporary);
    kith__new_file_abandon(file);
    return status;
}

FILE *kith__regular_open(const char *path, bool append)
{
    int flags = append ? O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW : O_RDONLY;
    int file = open(path, flags | O_NONBLOCK | O_CLOEXEC, 0666);
    struct stat info = {0};
    FILE *stream = NULL;

    if (file < 0)
        return NULL;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode))
        stream = fdopen(file, append ? "a" : "r");
    else
        errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    if (!stream) {
        int why = errno;
        close(file);
        errno = why;
    }
    return stream;
}

/* ---- folders ---- */

/* A new locked folder beside `path`; -1 if it cannot be created. */
static int make_drawn(char *name, const char *path)
{
    for (int i = 0; i < TRIES; i++) {
        draw_name(name, path);
        if (mkdir(name, 0777) != 0) {
            if (errno != EEXIST)
                return -1;
            continue;
        }
        int lock = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (lock >= 0 && lock_new(lock))
            return lock;
        if (lock < 0 && errno != ENOENT)
            return -1;
        if (lock >= 0)
            close(lock);
    }
    return -1;
}

static void forget_folder(kith__new_folder *folder)
{
    if (folder->temporary)
        close(folder->lock);
    kith__free(folder->path);
    kith__free(folder->temporary);
    memset(folder, 0, sizeof *folder);
}

kith_status kith__new_folder_open(kith__new_folder *folder, const char *path, kith_error *error)
{
    char *name = alloc_name(path);

    memset(folder, 0, sizeof *folder);
    folder->path = kith__strdup(path);
    if (!name || !folder->path) {
        kith__free(name);
        forget_folder(folder);
        return kith__no_memory(error);
    }
    sweep_beside(path);
    folder->lock = make_drawn(name, path);
    if (folder->lock < 0) {
        kith_status status = system_error(error, path, "make a folder");
        kith__free(name);
        forget_folder(folder);
        return status;
    }
    folder->temporary = name;
    return KITH_OK;
}

kith_status kith__new_folder_commit(kith__new_folder *folder, bool replace, kith_error *error)
{
    const char *from = folder->temporary, *to = folder->path;
    int failed = replace ? renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE)
                         : rename(from, to);
    kith_status status;

    if (failed) {
        status = system_error(error, to, "put the finished folder there");
        kith__new_folder_abandon(folder);
        return status;
    }
    if (replace)
        kith__remove_folder(from);
    status = sync_parent(to, error);
    forget_folder(folder);
    return status;
}

void kith__new_folder_abandon(kith__new_folder *folder)
{
    if (folder->temporary)
        remove_whole(folder->temporary);
    forget_folder(folder);
}
