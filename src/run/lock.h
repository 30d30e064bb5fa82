/* Only one process trains a run at a time: it holds a lock (flock) on RUN/lock, which is released
 * when the process ends in any way. Readers need no lock: files are replaced whole. */
#ifndef KITH_RUN_LOCK_H
#define KITH_RUN_LOCK_H

#include "core/status.h"

typedef struct kith__run_lock {
    int file; /* -1: none */
    char *path;
} kith__run_lock;

#define KITH__NO_LOCK ((kith__run_lock){.file = -1})

/* Fails at once if another process holds it, and says which and since when. */
kith_status kith__run_lock_take(kith__run_lock *lock, const char *folder, kith_error *error);
/* The folder of the run was renamed; takes ownership of the new path of the file. */
void kith__run_lock_moved(kith__run_lock *lock, char *path);
void kith__run_lock_release(kith__run_lock *lock);

#endif
