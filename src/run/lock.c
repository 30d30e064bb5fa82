#include "run/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "graph/graph.h"

/* Whether the locked file still has that name: its last holder may have removed it. */
static bool is_current(int file, const char *path)
{
    struct stat mine, there;

    return fstat(file, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
}

static void note_holder(int file)
{
    time_t now = time(NULL);
    struct tm when;
    char text[96], day[64];

    gmtime_r(&now, &when);
    strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S UTC", &when);
    int length = snprintf(text, sizeof text, "process %ld since %s\n", (long)getpid(), day);
    if (ftruncate(file, 0) != 0 || pwrite(file, text, (size_t)length, 0) != length)
        return; /* the lock is held nevertheless; others only get less information */
}

static kith_status held(int file, const char *folder, kith_error *error)
{
    char text[96] = "";
    ssize_t length = pread(file, text, sizeof text - 1, 0);

    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return kith__fail(error, KITH_ERR_IO,
                      "%s: is being trained by %s; wait for it to end, or stop it", folder,
                      strncmp(text, "process ", 8) == 0 ? text : "another process");
}

kith_status kith__run_lock_take(kith__run_lock *lock, const char *folder, kith_error *error)
{
    kith_status status = KITH_OK;

    *lock = KITH__NO_LOCK;
    lock->path = kith__path_join(folder, "lock");
    if (!lock->path)
        return kith__no_memory(error);
    for (;;) {
        lock->file = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (lock->file < 0)
            TRY(kith__fail(error, KITH_ERR_IO, "%s: cannot open: %s", lock->path,
                           strerror(errno)));
        if (flock(lock->file, LOCK_EX | LOCK_NB) != 0)
            TRY(errno == EWOULDBLOCK
                    ? held(lock->file, folder, error)
                    : kith__fail(error, KITH_ERR_IO, "%s: cannot lock: %s", lock->path,
                                 strerror(errno)));
        if (is_current(lock->file, lock->path))
            break;
        close(lock->file);
    }
    note_holder(lock->file);
cleanup:
    if (status != KITH_OK) {
        if (lock->file >= 0)
            close(lock->file);
        lock->file = -1;
        kith__run_lock_release(lock);
    }
    return status;
}

void kith__run_lock_moved(kith__run_lock *lock, char *path)
{
    kith__free(lock->path);
    lock->path = path;
}

void kith__run_lock_release(kith__run_lock *lock)
{
    if (lock->file >= 0) {
        /* The file is removed while the lock is held, so that a waiting process notices. If the
         * folder was replaced by a new run, the name may belong to another process's lock. */
        if (is_current(lock->file, lock->path))
            unlink(lock->path);
        close(lock->file);
    }
    kith__free(lock->path);
    *lock = KITH__NO_LOCK;
}
